/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_SIM_H
#define ILB_SIM_H

#include <stdint.h>
#include <stdio.h>
#include "ilb/behaviour.h"
#include "ilb/capture.h"
#include "ilb/error.h"
#include "ilb/event.h"
#include "ilb/moment.h"
#include "ilb/topology.h"

/**
 * DOC: sim - a machine that runs the model of the balancer
 *
 * A scenario file says what machine, what kernel and what load; the plan is
 * what it says, checked and complete; running it produces the events and the
 * moments that a recording of such a machine would have. Time is in integer
 * nanoseconds and nothing is decided in floating point: the same plan gives
 * the same events everywhere.
 */

#define ILB_SIM_THREADS_MAX	16	/* of a core */
#define ILB_SIM_STATES_MAX	8
#define ILB_SIM_NAME		64
#define ILB_SIM_TASKS_MAX	65536U
#define ILB_SIM_DURATION_MAX	(3600ULL * 1000000000)
#define ILB_SIM_SPEED		1024U	/* full speed */

/** struct ilb_sim_state - an idle state; exit latency and target residency */
struct ilb_sim_state {
	char name[16];
	uint64_t exit_ns;
	uint64_t residency_ns;
};

/**
 * struct ilb_sim_costs - time that the kernel takes, ns
 * @ipi: from sending an interrupt to its arrival on an awake CPU
 * @irq: an interrupt's handler, but a tick
 * @tick: a tick's handler
 * @switch_: a context switch
 * @wake: what waking a task takes the waker; so does a barrier
 * @idle: one round of the idle loop, before it sleeps
 * @softirq: a SCHED softirq that finds nothing to do
 * @visit: for each registered CPU that an ILB looks at
 * @attempt: balancing one domain, and
 * @attempt_cpu: for each CPU of it
 */
struct ilb_sim_costs {
	uint64_t ipi, irq, tick, switch_, wake, idle;
	uint64_t softirq, visit, attempt, attempt_cpu;
};

/**
 * struct ilb_sim_machine - the hardware
 * @name: for people
 * @topology: with capacities, where they differ
 * @topology_spec: what it was loaded from, see ilb_topology_load()
 * @smt_speed: [n - 1]: speed of a thread while n threads of its core are
 *	awake, of ILB_SIM_SPEED
 * @recovery_ns: a thread is fast again only after its sibling slept this long
 * @states: idle states, shallow first; none: the CPU just halts
 */
struct ilb_sim_machine {
	char name[ILB_SIM_NAME];
	struct ilb_topology *topology;
	char *topology_spec;
	unsigned int smt_speed[ILB_SIM_THREADS_MAX];
	uint64_t recovery_ns;
	struct ilb_sim_state states[ILB_SIM_STATES_MAX];
	unsigned int nr_states;
	struct ilb_sim_costs costs;
};

/**
 * struct ilb_sim_kernel - the software
 * @behaviour: the row of the kernel, and what was changed in it
 * @target: its target rule's name, where the scenario changed it
 * @housekeeping, @nohz_full, @isolated: masks
 */
struct ilb_sim_kernel {
	struct ilb_behaviour behaviour;
	char target[ILB_SIM_NAME];
	unsigned int hz;
	unsigned long *housekeeping, *nohz_full, *isolated;
};

/**
 * enum ilb_sim_op - one step of a task
 * @ILB_SIM_RUN: compute for .value ns, at full speed
 * @ILB_SIM_SLEEP: sleep for .value ns
 * @ILB_SIM_UNTIL: sleep until .value ns have passed since the run began
 * @ILB_SIM_TIMER: sleep until the next multiple of .value ns since its start
 * @ILB_SIM_BARRIER: wait until all users of barrier .index are there
 * @ILB_SIM_SPIN: likewise, without leaving the CPU
 * @ILB_SIM_SUSPEND: wait until resumed; a resume that came before counts
 * @ILB_SIM_RESUME: let task .index go on
 * @ILB_SIM_LOOP: go back to step .index, .value times in all; 0: for ever
 */
enum ilb_sim_op {
	ILB_SIM_RUN,
	ILB_SIM_SLEEP,
	ILB_SIM_UNTIL,
	ILB_SIM_TIMER,
	ILB_SIM_BARRIER,
	ILB_SIM_SPIN,
	ILB_SIM_SUSPEND,
	ILB_SIM_RESUME,
	ILB_SIM_LOOP,
};

struct ilb_sim_step {
	enum ilb_sim_op op;
	unsigned int index;
	unsigned int depth;	/* LOOP: which of the task's loop counters */
	uint64_t value;
};

#define ILB_SIM_LOOPS	2	/* nested loops: a phase's, the task's */

/** enum ilb_sim_lines - are shared cache lines counted; with which masks? */
enum ilb_sim_lines {
	ILB_SIM_LINES_NO,
	ILB_SIM_LINES_GLOBAL,	/* one mask, as in every kernel */
	ILB_SIM_LINES_PER_LLC,	/* one for each last-level cache */
};

/**
 * struct ilb_sim_task_plan - one task
 * @allowed: CPUs that it may use; NULL: all that have domains
 * @steps: its program, shared by the instances of a task
 * @group: the tasks that the file names as one, all instances of it
 * @after: the group that has to end first, or ~0
 * @start_ns: when it starts, or later
 * @spread_ns: by less than this, as the seed has it
 * @jitter_ppm: each run is longer or shorter by at most this
 */
struct ilb_sim_task_plan {
	char comm[ILB_COMM_LEN];
	const unsigned long *allowed;
	const struct ilb_sim_step *steps;
	unsigned int nr_steps;
	unsigned int group;
	unsigned int after;
	unsigned int jitter_ppm;
	uint64_t start_ns;
	uint64_t spread_ns;
};

/** struct ilb_sim_plan - all that a run needs */
struct ilb_sim_plan {
	char name[ILB_SIM_NAME];
	struct ilb_sim_machine machine;
	struct ilb_sim_kernel kernel;
	struct ilb_sim_task_plan *tasks;
	unsigned int nr_tasks;
	unsigned int nr_groups;
	unsigned int *barrier_users;
	unsigned int nr_barriers;
	uint64_t duration_ns;
	uint64_t seed;
	enum ilb_sim_lines lines;
};

struct ilb_scenario;

/**
 * struct ilb_sim_sink - who gets what happens; members may be NULL
 * @event: in time order
 * @moment: at every kick; before the event that shows it
 */
struct ilb_sim_sink {
	void (*event)(void *context, const struct ilb_event *event);
	void (*moment)(void *context, const struct ilb_moment *moment);
	void *context;
};

/** enum ilb_sim_shared - what is on the lines */
enum ilb_sim_shared {
	ILB_SIM_FIELDS,		/* times, flags, the counter */
	ILB_SIM_MASK,
	ILB_SIM_BUSY,		/* each LLC's count of busy CPUs */
	ILB_SIM_SHARED
};

/** enum ilb_sim_distance - from where a line comes */
enum ilb_sim_distance {
	ILB_SIM_NEAR,		/* another core of the same LLC */
	ILB_SIM_NODE,		/* another LLC of the same node */
	ILB_SIM_FAR,
	ILB_SIM_DISTANCES
};

/**
 * struct ilb_sim_result - what the machine itself knows of a run
 * @steps: timers that fired: the engine's events
 * @events: given to the sink, or that would have been
 * @digest: of all that happened; equal runs have equal ones
 * @work_ns: computed by all tasks, in ns at full speed
 * @kicks, @no_target, @dropped: ILB kicks sent, that found nobody, in vain
 * @passes: ILB runs; @pass_ns: how long they took
 * @migrations, @switches, @wakeups: counts
 * @violations: ticks at which a CPU had been idle for over a tick and a task
 *	that could run there had waited for over a tick; @violation_ns: the
 *	first; @wasted_ns: CPU time that was lost so
 * @lost_ns: time that CPUs idled with a stopped tick and were not registered,
 *	summed (mail C)
 * @transfers: of cache lines, if they are counted
 */
struct ilb_sim_result {
	uint64_t steps, events, digest;
	uint64_t work_ns;
	uint64_t kicks, no_target, dropped, passes, pass_ns;
	uint64_t migrations, switches, wakeups;
	uint64_t violations, violation_ns, wasted_ns;
	uint64_t lost_ns;
	uint64_t transfers[ILB_SIM_SHARED][ILB_SIM_DISTANCES];
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_scenario_load() - read a scenario file
 * @name: its path, or the name of a shipped one
 * @folders: where scenarios/ and machines/ are; ended by NULL
 *
 * Syntax is checked here, the content by ilb_scenario_plan().
 *
 * Returns 0 and a scenario that ilb_scenario_free() frees; -ILB_ERR_NOENT,
 * -ILB_ERR_IO, -ILB_ERR_FORMAT, -ILB_ERR_NOMEM with @error filled.
 */
int ilb_scenario_load(struct ilb_scenario **scenario, const char *name,
		      const char *const *folders, struct ilb_error *error);

/** ilb_scenario_parse() - likewise, from text; @file is for messages */
int ilb_scenario_parse(struct ilb_scenario **scenario, const char *file,
		       const char *text, const char *const *folders,
		       struct ilb_error *error);
void ilb_scenario_free(struct ilb_scenario *scenario);

/** ilb_scenario_summary() - its line for people, "" if it has none */
const char *ilb_scenario_summary(const struct ilb_scenario *scenario);

/** ilb_scenario_note() - what to read beside its table, NULL: nothing */
const char *ilb_scenario_note(const struct ilb_scenario *scenario);

/** ilb_scenario_variant() - name of variant @i; NULL past the last one */
const char *ilb_scenario_variant(const struct ilb_scenario *scenario,
				 unsigned int i);

/**
 * ilb_scenario_published() - the figure that was published for a variant
 * @unit: set, if there is one
 *
 * Returns it as text, NULL if there is none.
 */
const char *ilb_scenario_published(const struct ilb_scenario *scenario,
				   const char *variant, const char **unit);

/**
 * ilb_scenario_plan() - check all of a scenario
 * @variant: its name; NULL: the scenario without any
 *
 * An error names file, line, place and reason; of an unknown key the nearest
 * valid one.
 *
 * Returns 0 and a plan that ilb_sim_plan_free() frees; -ILB_ERR_FORMAT,
 * -ILB_ERR_RANGE, -ILB_ERR_NOENT, -ILB_ERR_MISMATCH, -ILB_ERR_NOMEM, or what
 * ilb_topology_load() returns.
 */
int ilb_scenario_plan(const struct ilb_scenario *scenario, const char *variant,
		      struct ilb_sim_plan **plan, struct ilb_error *error);
void ilb_sim_plan_free(struct ilb_sim_plan *plan);

/**
 * ilb_sim_run() - let the machine run
 * @sink: may be NULL
 * @schedstat: gets /proc/schedstat's text (version 17) from before and from
 *	after the run; NULL: nobody
 *
 * Returns 0; -ILB_ERR_NOMEM or -ILB_ERR_BUG with @error filled.
 */
int ilb_sim_run(const struct ilb_sim_plan *plan,
		const struct ilb_sim_sink *sink, FILE *schedstat[2],
		struct ilb_sim_result *result, struct ilb_error *error);

struct ilb_sim_writer;

/**
 * ilb_sim_writer_create() - a capture folder for a run's events
 * @dir: made; must not exist
 *
 * The events go to trace.txt, as the text of trace-cmd report; topology.xml
 * and system.json are written at once.
 *
 * Returns 0 and a writer that _commit() or _abandon() frees; -ILB_ERR_MISMATCH
 * if @dir exists, -ILB_ERR_IO, -ILB_ERR_NOMEM.
 */
int ilb_sim_writer_create(struct ilb_sim_writer **writer, const char *dir,
			  const struct ilb_sim_plan *plan,
			  struct ilb_error *error);
void ilb_sim_writer_event(struct ilb_sim_writer *writer,
			  const struct ilb_event *event);

/** ilb_sim_writer_schedstat() - the two files for ilb_sim_run() */
FILE **ilb_sim_writer_schedstat(struct ilb_sim_writer *writer);

/** ilb_sim_writer_commit() - 0 if all is on disk; frees @writer */
int ilb_sim_writer_commit(struct ilb_sim_writer *writer,
			  struct ilb_error *error);

/** ilb_sim_writer_abandon() - remove what was written; NULL is fine */
void ilb_sim_writer_abandon(struct ilb_sim_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
