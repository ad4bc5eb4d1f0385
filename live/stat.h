/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_LIVE_STAT_H
#define ILB_LIVE_STAT_H

/*
 * Inside of stat:
 *
 *	stat.c          the order of things, and when it ends
 *	stat_kernel.c   what BPF counts, with stat.bpf.c
 *	stat_tasks.c    how long victims ran
 *	stat_functions.c  CPU time in functions, by sampling
 *	stat_proc.c     what /proc counts
 */

#include <stdint.h>

#include "ilb/error.h"
#include "ilb/measure.h"
#include "ilb/report.h"
#include "ilb/topology.h"

/* ---- stat_kernel.c ---- */

struct ilb_stat_kernel;

/**
 * ilb_stat_kernel_open() - load and attach what this kernel takes
 * @sources: ->from and ->needs of the parts that BPF can tell are filled, even
 *	on error
 *
 * Returns 0, or an error if there will be nothing.
 */
int ilb_stat_kernel_open(struct ilb_stat_kernel **kernel,
			 const struct ilb_topology *topology,
			 struct ilb_source_of *sources,
			 struct ilb_error *error);

/** ilb_stat_kernel_start() - what was counted before does not count. */
void ilb_stat_kernel_start(struct ilb_stat_kernel *kernel);

/** ilb_stat_kernel_settle() - charge what is due; before each _take(). */
void ilb_stat_kernel_settle(const struct ilb_stat_kernel *kernel);

/**
 * ilb_stat_kernel_take() - what was counted since the last call, or the start
 * @measures: its parts that have a source are filled and known; kicks only
 *	where ->kicks.kicks_known is not set already
 *
 * Returns 0, -ILB_ERR_NOMEM.
 */
int ilb_stat_kernel_take(struct ilb_stat_kernel *kernel,
			 struct ilb_measures *measures);

/** ilb_stat_kernel_close() - NULL is fine. */
void ilb_stat_kernel_close(struct ilb_stat_kernel *kernel);

struct ilb_stat_hist;

/** ilb_stat_hist_since() - add to @sum what @after has more than @before */
void ilb_stat_hist_since(struct ilb_hist *sum,
			 const struct ilb_stat_hist *after,
			 const struct ilb_stat_hist *before);

/* ---- stat_tasks.c ---- */

/** struct ilb_runtimes - tasks and how long they had run at an instant */
struct ilb_runtimes {
	struct ilb_runtime {
		int32_t pid;
		uint64_t ns;
	} *task;
	size_t nr, room;
};

/** ilb_runtimes_scan() - all tasks; none where the kernel does not tell. */
void ilb_runtimes_scan(struct ilb_runtimes *runtimes);

/** ilb_runtimes_find() - NULL: not there */
struct ilb_runtime *ilb_runtimes_find(const struct ilb_runtimes *runtimes,
				      int32_t pid);

/** ilb_runtimes_set() - add or change one. */
void ilb_runtimes_set(struct ilb_runtimes *runtimes, int32_t pid, uint64_t ns);

/* ---- stat_functions.c ---- */

struct ilb_sampler;

/**
 * ilb_sampler_open() - sample from now on
 * @functions: names, and ->from or ->needs, are filled
 *
 * Returns 0, also where it cannot be done, or -ILB_ERR_NOMEM.
 */
int ilb_sampler_open(struct ilb_sampler **sampler,
		     struct ilb_functions *functions,
		     const struct ilb_topology *topology);

/** ilb_sampler_start() - what came before does not count; after a _read(). */
void ilb_sampler_start(struct ilb_functions *functions);

/** ilb_sampler_read() - add what there is; every few seconds at least. */
void ilb_sampler_read(struct ilb_sampler *sampler,
		      struct ilb_functions *functions);

/** ilb_sampler_close() - NULL is fine. */
void ilb_sampler_close(struct ilb_sampler *sampler);

/* ---- stat_proc.c ---- */

/** struct ilb_proc - the last reading of /proc; @root: "" or a prefix */
struct ilb_proc {
	const char *root;
	char *schedstat;
	uint64_t *softirqs;	/* SCHED, per CPU column */
	unsigned int nr_softirqs;
	uint64_t busy_ticks;
	int has_busy;
};

/**
 * ilb_proc_take() - what /proc counted since the last call
 * @measures: NULL: the first call
 *
 * Fills load balancing always, SCHED softirqs and utilisation where they are
 * not known.
 */
void ilb_proc_take(struct ilb_proc *proc, struct ilb_measures *measures,
		   unsigned int hz, struct ilb_source_of *sources);

void ilb_proc_free(struct ilb_proc *proc);

#endif
