/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CMD_WORKLOAD_H
#define ILB_CMD_WORKLOAD_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "ilb/error.h"
#include "ilb/mask.h"

/**
 * enum ilb_workload_kind - what is run
 * @ILB_WORKLOAD_PIN: one busy loop on each of some CPUs
 * @ILB_WORKLOAD_MIX: unpinned tasks that run and sleep, and pairs that wake
 *                    each other
 * @ILB_WORKLOAD_IDLE: nothing
 * @ILB_WORKLOAD_LOSE: make a nohz_full CPU idle, its tick stopped, and not in
 *                     the kernel's mask: the tick stops when one of two tasks
 *                     leaves, the CPU goes idle when the other one sleeps
 * @ILB_WORKLOAD_HEAL: bring it back: a task that needs the tick runs there
 */
enum ilb_workload_kind {
	ILB_WORKLOAD_PIN,
	ILB_WORKLOAD_MIX,
	ILB_WORKLOAD_IDLE,
	ILB_WORKLOAD_LOSE,
	ILB_WORKLOAD_HEAL,
};

/** enum ilb_task_kind - what one task does; see workload_task.c */
enum ilb_task_kind {
	ILB_TASK_SPIN,
	ILB_TASK_BURST,
	ILB_TASK_PING,
	ILB_TASK_PONG,
	ILB_TASK_LEAVER,
	ILB_TASK_SLEEPER,
	ILB_TASK_HEALER,
};

#define ILB_LEAVER_NS	400000000ULL	/* its end, which stops the tick */
#define ILB_SLEEPER_NS	1000000000ULL	/* when it goes to sleep */
#define ILB_HEALER_NS	300000ULL	/* what it runs */
#define ILB_PINGS	20U		/* round trips between two sleeps */

/**
 * struct ilb_task - one process
 * @cpu: where it is pinned; ILB_CPU_NONE: nowhere
 * @seed: of its lengths (burst, ping)
 * @pid: 0: not started, or reaped
 *
 * A PING is followed in the array by its PONG.
 */
struct ilb_task {
	enum ilb_task_kind kind;
	char name[16];
	unsigned int cpu;
	uint64_t seed;
	pid_t pid;
};

/**
 * struct ilb_slot - what a task tells its parent, in shared memory
 * @loops: pieces of work done; of a ping: round trips
 * @done: it did all it had to do
 *
 * A cache line each: a task must not be slowed by its neighbour's counting.
 */
struct ilb_slot {
	_Alignas(128) _Atomic uint64_t loops;
	_Atomic int done;
};

/**
 * struct ilb_workload - tasks, and what became of them
 * @elapsed_ns: from their start to their end
 * @signal: what ended them early, or 0
 */
struct ilb_workload {
	enum ilb_workload_kind kind;
	uint64_t duration_ns;
	uint64_t seed;
	struct ilb_task *tasks;
	unsigned int nr_tasks;
	struct ilb_slot *slots;
	uint64_t elapsed_ns;
	int signal;
};

/** ilb_workload_name() - "pin", as on the command line; NULL beyond the last */
const char *ilb_workload_name(enum ilb_workload_kind kind);

/* workload_cpus.c */

/**
 * ilb_workload_list() - read a CPU list of /sys/devices/system/cpu
 * @name: "online", "nohz_full"
 *
 * @cpus has room for ILB_CPUS_MAX CPUs, as everywhere here. It is empty after
 * an error: -ILB_ERR_NOENT, or -ILB_ERR_FORMAT ("(null)" is none, too).
 */
int ilb_workload_list(unsigned long *cpus, const char *name);

/**
 * ilb_workload_per_core() - the first thread of each core of a NUMA node
 * @node: counted from 0 in the order of the nodes' lowest CPUs
 *
 * Returns 0; -ILB_ERR_PERM if there is no such node (nothing is supported
 * there), or an error of ilb_topology_load(), with @error filled.
 */
int ilb_workload_per_core(unsigned long *cpus, unsigned int node,
			  struct ilb_error *error);

/** ilb_workload_need_full() - -ILB_ERR_PERM if @cpu has no nohz_full. */
int ilb_workload_need_full(unsigned int cpu, struct ilb_error *error);

/* workload_plan.c */

/**
 * ilb_plan_pinned() - PIN, LOSE and HEAL: the tasks for the CPUs of @cpus
 *
 * @cpus has room for ILB_CPUS_MAX CPUs. Returns 0 or -ILB_ERR_NOMEM.
 */
int ilb_plan_pinned(struct ilb_workload *w, const unsigned long *cpus);

/** ilb_plan_mix() - MIX, from @seed; 0 or -ILB_ERR_NOMEM. */
int ilb_plan_mix(struct ilb_workload *w, unsigned int bursts,
		 unsigned int pairs);

/** ilb_workload_free() - forget the tasks, which must have ended. */
void ilb_workload_free(struct ilb_workload *w);

/**
 * ilb_task_length() - the next length of a burst or a ping
 * @state: starts as the task's seed
 *
 * Returns ns: of a burst 2 to 22 ms (a run, a sleep, a run and so on), of a
 * ping 1 to 5 ms (a sleep).
 */
uint64_t ilb_task_length(const struct ilb_task *task, uint64_t *state);

/* workload_task.c */

/** ilb_task_prepare() - what the task needs before it is let go */
void ilb_task_prepare(const struct ilb_task *task);

/**
 * ilb_task_run() - be the task, until killed or done
 * @in, @out: pipes of a ping or pong
 *
 * A LEAVER returns, all others only if their partner is gone.
 */
void ilb_task_run(const struct ilb_task *task, struct ilb_slot *slot, int in,
		  int out);

/** ilb_task_now() - CLOCK_MONOTONIC in ns */
uint64_t ilb_task_now(void);

/* workload_crew.c */

/**
 * ilb_crew_run() - start all tasks at once, wait, end all of them
 *
 * Ends early on SIGINT or SIGTERM, and when a task dies. No task outlives the
 * call, nor the process if that is killed. Signals it waits for stay blocked.
 *
 * Returns 0, or with nothing left running -ILB_ERR_PERM (a task may not run
 * where it should, or may not be started), -ILB_ERR_IO (a task died, or did
 * not get to run), -ILB_ERR_NOMEM, with @error filled.
 */
int ilb_crew_run(struct ilb_workload *w, struct ilb_error *error);

/* workload_print.c */

/** ilb_workload_print_json() - the summary; 0 or -ILB_ERR_NOMEM. */
int ilb_workload_print_json(FILE *out, const struct ilb_workload *w);

/** ilb_workload_print_plan() - what would run: --dry-run */
void ilb_workload_print_plan(FILE *out, const struct ilb_workload *w);

#endif
