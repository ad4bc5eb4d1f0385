/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_LIVE_EXACT_H
#define ILB_LIVE_EXACT_H

/*
 * Exact moments: a BPF program that runs in the kernel where a kick is sent,
 * and reads nohz.idle_cpus_mask and every runqueue.
 */

#include <stdint.h>

#include "ilb/error.h"
#include "ilb/moment.h"

struct ilb_exact;

/**
 * struct ilb_exact_counts - what the program counted itself
 * @kicks: seen
 * @lost: no room in the buffer
 * @run_ns: time spent in the program, 0 where the kernel does not measure it
 *	(kernel.bpf_stats_enabled)
 * @runs: how often it ran, calls other than kicks included; likewise
 */
struct ilb_exact_counts {
	uint64_t kicks;
	uint64_t lost;
	uint64_t run_ns;
	uint64_t runs;
};

/**
 * ilb_exact_open() - load and attach; moments flow from now on
 * @nr_cpus: of the machine (possible CPUs, 1 ... ILB_CPUS_MAX)
 * @moment: called by _read(); ->housekeeping is NULL
 *
 * In this order: raw_tp csd_queue_cpu; fentry, then kprobe, on
 * smp_call_function_single_async. The first that loads is used.
 *
 * Returns 0; -ILB_ERR_UNSUPPORTED (no BTF, no BPF, lockdown, a build without
 * BPF, a symbol missing), -ILB_ERR_PERM (names CAP_BPF, CAP_PERFMON,
 * CAP_SYSLOG), -ILB_ERR_NOMEM. @error says what is missing and what would do.
 */
int ilb_exact_open(struct ilb_exact **exact, unsigned int nr_cpus,
		   void (*moment)(void *context,
				  const struct ilb_moment *moment),
		   void *context, struct ilb_error *error);

/** ilb_exact_method() - see struct ilb_moments_header. */
const char *ilb_exact_method(const struct ilb_exact *exact);

/** ilb_exact_fd() - readable when there is something to read; for poll(2). */
int ilb_exact_fd(const struct ilb_exact *exact);

/** ilb_exact_read() - hand over what there is; an error, or their number. */
int ilb_exact_read(struct ilb_exact *exact, struct ilb_error *error);

/** ilb_exact_stop() - detach; what is buffered can still be read. */
void ilb_exact_stop(struct ilb_exact *exact);

void ilb_exact_counts(const struct ilb_exact *exact,
		      struct ilb_exact_counts *counts);

/** ilb_exact_close() - free all; NULL is fine. */
void ilb_exact_close(struct ilb_exact *exact);

#endif
