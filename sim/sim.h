/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_SIM_SIM_H
#define ILB_SIM_SIM_H

#include "ilb/balance.h"
#include "ilb/domain.h"
#include "ilb/nohz.h"
#include "ilb/sim.h"
#include "ilb/tick.h"
#include "sim/queue.h"
#include "sim/random.h"

/* A slice of the fair class on eight CPUs and more: 4 times 0.7 ms. */
#define ILB_SIM_SLICE_NS	2800000ULL
/* Work is counted in units that a thread at full speed does 1024 a ns. */
#define ILB_SIM_UNIT_BITS	10

/** enum ilb_sim_mode - what a CPU does; the STEP timer ends it */
enum ilb_sim_mode {
	ILB_SIM_SLEEPS,		/* in an idle state; no end */
	ILB_SIM_IDLES,		/* in the idle loop */
	ILB_SIM_COMPUTES,	/* runs its task; spinning has no end */
	ILB_SIM_BALANCES,	/* in the SCHED softirq */
};

/** enum ilb_sim_task_state - of a task */
enum ilb_sim_task_state {
	ILB_SIM_TASK_NEW,	/* waits for its start */
	ILB_SIM_TASK_ASLEEP,
	ILB_SIM_TASK_WAKING,	/* on the wake list of a CPU */
	ILB_SIM_TASK_QUEUED,
	ILB_SIM_TASK_RUNNING,
	ILB_SIM_TASK_DONE,
};

/**
 * struct ilb_sim_task - a task
 * @cpu: where it runs, waits, or slept
 * @recent: where it was before @cpu; ILB_CPU_NONE: nowhere
 * @step: of its program
 * @left: units of work until @step is done
 * @spins: at a barrier, on the CPU
 * @started_ns: timers count from then
 * @resumes: that came before it suspended
 * @vruntime: ns; while it does not wait or run, relative to its CPU's
 * @slice_from: vruntime at the start of its slice
 * @ran_ns: wall time when it was last accounted
 * @since_ns: since when it waits
 * @next, @prev: in the queue of waiting tasks, by vruntime; or in the wake
 *	list, by @next alone
 * @timer_next, @timer_prev: on the list of those that sleep on a timer
 * @wait_next: at the barrier
 */
struct ilb_sim_task {
	const struct ilb_sim_task_plan *plan;
	int32_t pid;
	enum ilb_sim_task_state state;
	unsigned int cpu, recent;
	unsigned int step;
	uint64_t loops[ILB_SIM_LOOPS];
	uint64_t left;
	int spins;
	uint64_t started_ns;
	unsigned int resumes;
	int64_t vruntime;
	int64_t slice_from;
	uint64_t ran_ns;
	uint64_t since_ns;
	uint64_t wakes_ns;
	struct ilb_sim_task *next, *prev;
	struct ilb_sim_task *timer_next, **timer_link;
	struct ilb_sim_task *wait_next;
};

#define ILB_SIM_HISTORY	8

/**
 * struct ilb_sim_cpu - a CPU
 * @current: what runs; NULL: the idle task
 * @head, @tail: waiting tasks, by vruntime
 * @since: up to when @current's work is counted; later than now: the kernel
 *	has the CPU until then
 * @ends: when the mode ends
 * @awake_siblings: threads of its core that do not sleep
 * @slow_until: with all of these asleep, slow nevertheless until then
 * @resched: what runs has to give way
 * @raised: the SCHED softirq is pending
 * @kicked: an ILB kick is under way to it
 * @pushes: its stopper is to run
 * @wakes: tasks that are being woken here from afar
 * @timers: tasks that sleep on a timer of this CPU
 * @idle_since, @idle_state, @in_state: how it idles
 * @slept_since: in its idle state
 * @lost_since: since when it idles and is lost, ILB_NEVER: it is not
 * @history: how long it slept lately, to predict the next time
 * @averaged: up to when its averages are
 */
struct ilb_sim_cpu {
	enum ilb_sim_mode mode;
	struct ilb_sim_task *current;
	struct ilb_sim_task *head, *tail;
	uint64_t since, ends;
	unsigned int awake_siblings;
	uint64_t slow_until;
	unsigned int capacity;
	unsigned char resched, raised, kicked, pushes, full;
	unsigned char in_state, idle_state;
	int64_t min_vruntime;
	struct ilb_sim_task *wakes;
	struct ilb_sim_task *timers;
	uint64_t idle_since, slept_since;
	uint64_t lost_since;
	uint64_t history[ILB_SIM_HISTORY];
	unsigned int idles;
	uint64_t averaged;
};

/* Timers: three of each CPU, then one of each task. */
enum { ILB_SIM_TICK, ILB_SIM_STEP, ILB_SIM_IPI, ILB_SIM_CPU_TIMERS };

/** struct ilb_sim_barrier - who waits at it */
struct ilb_sim_barrier {
	unsigned int users, arrived;
	struct ilb_sim_task *first;
};

/**
 * struct ilb_sim_line - a cache line of what CPUs share
 * @source: the core that had it last, ILB_CPU_NONE: only memory
 * @dirty: nobody else has it
 * @sharers: cores that have it, by their lowest CPUs
 */
struct ilb_sim_line {
	unsigned int source;
	int dirty;
	unsigned long *sharers;
};

/** struct ilb_sim_lines_state - all of them; see lines.c */
struct ilb_sim_lines_state {
	struct ilb_sim_line *line;
	unsigned long *memory;
};

/**
 * struct ilb_sim - the whole machine
 * @period: of ticks, ns
 * @checked: up to when conservation was checked
 * @idle: idle_cpu() holds
 * @queued: CPUs where tasks wait
 * @ready: that idle for over a tick, when conservation is checked
 * @balancing: the CPU whose pass it is, ILB_CPU_NONE between passes
 * @pass_attempts, @pass_looked_at, @pass_visits: the model's counts at its
 *	beginning
 * @groups_left: per group: tasks that have not ended
 */
struct ilb_sim {
	const struct ilb_sim_plan *plan;
	const struct ilb_topology *topology;
	const struct ilb_sim_costs *costs;
	const struct ilb_sim_sink *sink;
	unsigned int nr_cpus;
	uint64_t now;
	uint64_t period;
	uint64_t checked;
	struct ilb_queue queue;
	struct ilb_random random;
	struct ilb_sim_cpu *cpu;
	struct ilb_sim_task *task;
	struct ilb_sim_barrier *barrier;
	unsigned int *groups_left;
	unsigned long *idle, *queued, *ready;

	struct ilb_nohz nohz;
	struct ilb_tick tick;
	struct ilb_tick_cpu *ticks;
	struct ilb_nohz_cpu *rq;
	unsigned int *nr_busy;
	unsigned long *mask, *choice_scratch;
	struct ilb_balance balance;
	struct ilb_balance_cpu *balance_cpu;
	struct ilb_llc *llc;
	unsigned long *balance_scratch;
	unsigned int balancing;
	uint64_t pass_attempts, pass_looked_at, pass_visits;
	struct ilb_domains domains;
	void *domain_memory;
	unsigned int *packing;
	unsigned char *unequal;

	struct ilb_sim_lines_state lines;

	struct ilb_sim_result result;
};

/* speed.c: how fast a thread computes */

/** ilb_sim_progress() - count @cpu's work up to now */
void ilb_sim_progress(struct ilb_sim *sim, unsigned int cpu);

/** ilb_sim_compute() - let @cpu's task go on; arms the end of its step */
void ilb_sim_compute(struct ilb_sim *sim, unsigned int cpu);

/** ilb_sim_steal() - the kernel takes @ns from whatever @cpu does */
void ilb_sim_steal(struct ilb_sim *sim, unsigned int cpu, uint64_t ns);

/** ilb_sim_end_at() - the mode of @cpu, not COMPUTES, ends at @time */
void ilb_sim_end_at(struct ilb_sim *sim, unsigned int cpu, uint64_t time);
void ilb_sim_wake_thread(struct ilb_sim *sim, unsigned int cpu);
void ilb_sim_sleep_thread(struct ilb_sim *sim, unsigned int cpu);

/* rq.c: who runs */

void ilb_sim_account(struct ilb_sim *sim, unsigned int cpu);
void ilb_sim_enqueue(struct ilb_sim *sim, struct ilb_sim_task *task,
		     unsigned int cpu);
void ilb_sim_schedule(struct ilb_sim *sim, unsigned int cpu);

/** ilb_sim_stop() - @cpu's stopper takes the CPU, pushes, and gives it back */
void ilb_sim_stop(struct ilb_sim *sim, unsigned int cpu);
int ilb_sim_tick_preempts(struct ilb_sim *sim, unsigned int cpu);

/** ilb_sim_say_migrate() - @task, on @on's account, goes to @to */
void ilb_sim_say_migrate(struct ilb_sim *sim, const struct ilb_sim_task *task,
			 unsigned int on, unsigned int to);

/** ilb_sim_move() - a waiting task goes to @cpu: what a balancer does */
void ilb_sim_move(struct ilb_sim *sim, struct ilb_sim_task *task,
		  unsigned int cpu);
int ilb_sim_allowed(const struct ilb_sim *sim, const struct ilb_sim_task *task,
		    unsigned int cpu);
void ilb_sim_update_idle(struct ilb_sim *sim, unsigned int cpu);

/* wake.c */

/** ilb_sim_wake() - @task becomes runnable; @waker does it */
void ilb_sim_wake(struct ilb_sim *sim, struct ilb_sim_task *task,
		  unsigned int waker);

/** ilb_sim_wake_list() - queue what was woken here from afar */
void ilb_sim_wake_list(struct ilb_sim *sim, unsigned int cpu);

/* irq.c: interrupts, and how a CPU leaves them */

/** ilb_sim_irq() - an interrupt begins, its handler takes @ns */
void ilb_sim_irq(struct ilb_sim *sim, unsigned int cpu, uint64_t ns);
void ilb_sim_irq_exit(struct ilb_sim *sim, unsigned int cpu);
void ilb_sim_ipi(struct ilb_sim *sim, unsigned int cpu);
void ilb_sim_ipi_arrives(struct ilb_sim *sim, unsigned int cpu);
void ilb_sim_softirq_ends(struct ilb_sim *sim, unsigned int cpu);

/** ilb_sim_exit_ns() - what leaving its idle state takes @cpu, 0: is awake */
uint64_t ilb_sim_exit_ns(const struct ilb_sim *sim, unsigned int cpu);

/* tick.c */

void ilb_sim_tick_init(struct ilb_sim *sim);
void ilb_sim_tick(struct ilb_sim *sim, unsigned int cpu);

/** ilb_sim_tick_arm() - let the next tick come when the model says */
void ilb_sim_tick_arm(struct ilb_sim *sim, unsigned int cpu);

/** ilb_sim_tick_full() - a nohz_full CPU's tick, as its tasks want it */
void ilb_sim_tick_full(struct ilb_sim *sim, unsigned int cpu);

/* idle.c */

/** ilb_sim_next_timer() - of tasks that sleep on @cpu; ILB_NEVER */
uint64_t ilb_sim_next_timer(const struct ilb_sim *sim, unsigned int cpu);

/** ilb_sim_idle() - a round of the idle loop is over */
void ilb_sim_idle(struct ilb_sim *sim, unsigned int cpu);
void ilb_sim_idle_begin(struct ilb_sim *sim, unsigned int cpu, uint64_t ns);
void ilb_sim_idle_lost(struct ilb_sim *sim, unsigned int cpu);
void ilb_sim_idle_end(struct ilb_sim *sim, unsigned int cpu);
void ilb_sim_idle_leave_state(struct ilb_sim *sim, unsigned int cpu);

/* task.c: programs */

void ilb_sim_task_start(struct ilb_sim *sim, struct ilb_sim_task *task);
/** ilb_sim_task_step() - @cpu's task has done its step */
void ilb_sim_task_step(struct ilb_sim *sim, unsigned int cpu);
void ilb_sim_task_timer(struct ilb_sim *sim, struct ilb_sim_task *task);

/* balance.c: the balancer's side */

int ilb_sim_balance_init(struct ilb_sim *sim, struct ilb_error *error);
void ilb_sim_balance_free(struct ilb_sim *sim);

/** ilb_sim_balance() - the work of a SCHED softirq; returns its ns */
uint64_t ilb_sim_balance(struct ilb_sim *sim, unsigned int cpu);

/** ilb_sim_newidle() - @cpu is about to be idle; returns the ns it takes */
uint64_t ilb_sim_newidle(struct ilb_sim *sim, unsigned int cpu);

/** ilb_sim_push() - the stopper of @cpu runs: its task has left the CPU */
void ilb_sim_push(struct ilb_sim *sim, unsigned int cpu);

/* average.c */

/** ilb_sim_average() - bring @cpu's averages up to date */
void ilb_sim_average(struct ilb_sim *sim, unsigned int cpu);

/* place.c */

/** ilb_sim_place() - the CPU for a task that wakes */
unsigned int ilb_sim_place(struct ilb_sim *sim, struct ilb_sim_task *task,
			   unsigned int waker);

/* conserve.c */

/**
 * ilb_sim_conserve() - once a jiffy: does a CPU idle while tasks wait?
 * @since: when it was asked last
 */
void ilb_sim_conserve(struct ilb_sim *sim, uint64_t since);

/* lines.c: cache lines that CPUs take from each other */

/** ilb_sim_lines_init() - 0, also if none are counted; -ILB_ERR_NOMEM */
int ilb_sim_lines_init(struct ilb_sim *sim);
void ilb_sim_lines_free(struct ilb_sim *sim);

/** ilb_sim_touch() - what struct ilb_nohz_setup's touch does; @context: sim */
void ilb_sim_touch(void *context, unsigned int cpu, enum ilb_touch what);

/* schedstat.c */
void ilb_sim_schedstat(const struct ilb_sim *sim, FILE *out);

/* run.c */

int ilb_sim_nohz_init(struct ilb_sim *sim, struct ilb_error *error);
void ilb_sim_emit(struct ilb_sim *sim, struct ilb_event *event,
		  unsigned int cpu, enum ilb_event_type type);

/** ilb_sim_note() - fold @what into the digest */
static inline void ilb_sim_note(struct ilb_sim *sim, uint64_t what)
{
	uint64_t h = (sim->result.digest ^ what) * 0x9fb21c651e98df25ULL;

	sim->result.digest = h ^ h >> 32;
}

/* Events that need no more than a number, and are lost without a sink. */
static inline void ilb_sim_say(struct ilb_sim *sim, unsigned int cpu,
			       enum ilb_event_type type, uint32_t value)
{
	struct ilb_event event;

	sim->result.events++;
	if (!sim->sink || !sim->sink->event)
		return;
	event.u.value = value;
	ilb_sim_emit(sim, &event, cpu, type);
}

static inline void ilb_sim_say_call(struct ilb_sim *sim, unsigned int cpu,
				    enum ilb_event_type type, unsigned int to,
				    enum ilb_func func)
{
	struct ilb_event event;

	sim->result.events++;
	if (!sim->sink || !sim->sink->event)
		return;
	event.u.csd.cpu = to;
	event.u.csd.func = func;
	ilb_sim_emit(sim, &event, cpu, type);
}

static inline unsigned int ilb_sim_timer(unsigned int cpu, unsigned int which)
{
	return cpu * ILB_SIM_CPU_TIMERS + which;
}

#endif
