/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_BALANCE_H
#define ILB_BALANCE_H

#include <stdint.h>
#include "ilb/domain.h"
#include "ilb/nohz.h"

/**
 * DOC: balance - what a CPU does in its SCHED softirq, and before it idles
 *
 * The periodic pass over one CPU's domains, the pass of a kicked CPU on behalf
 * of all registered ones, and the pass of a CPU that is about to go idle.
 *
 * The seam to the host has two halves. What the balancer reads of every CPU
 * in every pass stands in memory, in two arrays (struct ilb_nohz_cpu and
 * struct ilb_balance_cpu) and in the mask of idle CPUs: the host keeps them
 * true at all times, and a pass over 8192 CPUs makes no calls. What changes
 * the machine, or concerns single tasks, is a call: struct ilb_host.
 *
 * Each function runs to its end at one moment of the host, which may let
 * clock() advance meanwhile. Jiffies are clock() divided by the tick's length;
 * what nohz.h calls now has to agree: ilb_balance_jiffies().
 */

/**
 * struct ilb_lb_task - a task as balancing sees it; the host fills all of it
 * @id: the host's name for it
 * @load, @util: its share of struct ilb_balance_cpu's
 * @allowed: CPUs that it may run on; NULL: all
 * @ran_ns: when it ran last; less than 500 us ago is cache-hot
 * @preferred_llc: lowest CPU of the cache that its process is gathered in,
 *	ILB_CPU_NONE for none
 * @running: it is the current task
 * @bound: it may never be moved: throttled, or a kernel thread of one CPU
 * @delayed: it sleeps, its dequeue delayed
 * @ineligible: it would not be eligible there
 * @degrades: its memory is nearer to where it is
 */
struct ilb_lb_task {
	uint64_t id;
	unsigned long load, util;
	const unsigned long *allowed;
	uint64_t ran_ns;
	unsigned int preferred_llc;
	int running;
	int bound;
	int delayed;
	int ineligible;
	int degrades;
};

/**
 * struct ilb_host - what the balancer asks of the machine
 * @clock: time in ns; never goes back
 * @need_resched: does @cpu have to leave idle now?
 * @refresh: bring the averages of @cpu up to date; 0: nothing there decays any
 *	more
 * @task: the fair task number @index of @cpu, 0 being the one that would be
 *	moved first (the kernel looks from the tail of its list); 0: there are
 *	not that many. The current task is one of them
 * @move: dequeue @id from @from, queue it on @to; both CPUs' entries and the
 *	mask of idle CPUs are true when this returns
 * @push: start the stopper of @from, which will call ilb_balance_push()
 */
struct ilb_host {
	uint64_t (*clock)(void *context);
	int (*need_resched)(void *context, unsigned int cpu);
	int (*refresh)(void *context, unsigned int cpu);
	int (*task)(void *context, unsigned int cpu, unsigned int index,
		    struct ilb_lb_task *task);
	void (*move)(void *context, uint64_t id, unsigned int from,
		     unsigned int to);
	void (*push)(void *context, unsigned int from, unsigned int to);
};

/**
 * struct ilb_balance_cpu - one CPU, beside its struct ilb_nohz_cpu
 * @load, @util, @runnable: averages of its fair tasks, as of the last refresh;
 *	1024 is one task of nice 0, one CPU of the largest kind. The host's,
 *	like the next two
 * @only_idle: it has tasks, all of SCHED_IDLE
 * @wakeup_pending: a wakeup is on its way here
 * @avg_idle: ns that it is idle on average; the model's, like the rest
 * @idle_stamp: since when it is idle, 0: it is not
 * @max_cost: of all newly idle balancing, in ns
 * @refreshed: jiffies of the last refresh
 * @push_to: where its stopper pushes to; ILB_CPU_NONE: it does not
 */
struct ilb_balance_cpu {
	unsigned long load, util, runnable;
	int only_idle;
	int wakeup_pending;
	uint64_t avg_idle;
	uint64_t idle_stamp;
	uint64_t max_cost;
	uint64_t refreshed;
	unsigned int push_to;
};

/**
 * struct ilb_llc - shared by the CPUs of a cache's domain; that of its lowest
 * @has_idle_cores: a hint: some core of it may be fully idle
 * @idle_scan: CPUs that a wakeup looks at
 */
struct ilb_llc {
	int has_idle_cores;
	unsigned int idle_scan;
};

/**
 * struct ilb_balance_setup - the host's side; stays referenced
 * @nohz: the registry; its setup has machine, kernel, idle and active CPUs
 * @domains: of the same machine
 * @host, @context: how to ask, and what is passed along
 * @hz: ticks per second
 * @nr_migrate: tasks that one attempt looks at; 0: 32 (8 on PREEMPT_RT)
 * @migration_cost_ns: 0: 500000
 * @preemptible: a newly idle CPU takes one task only
 * @energy: an energy model is in use: only overutilised machines balance
 * @gather: cache-aware balancing is enabled, where the kernel has it
 * @seed: of the dice of newly idle balancing
 * @cpus, @llcs: memory for one entry per CPU; the host's members of @cpus
 *	filled
 * @scratch: memory for a mask
 */
struct ilb_balance_setup {
	struct ilb_nohz *nohz;
	struct ilb_domains *domains;
	const struct ilb_host *host;
	void *context;
	unsigned int hz;
	unsigned int nr_migrate;
	uint64_t migration_cost_ns;
	int preemptible;
	int energy;
	int gather;
	uint64_t seed;
	struct ilb_balance_cpu *cpus;
	struct ilb_llc *llcs;
	unsigned long *scratch;
};

/**
 * struct ilb_balance - all of it
 * @setup: as given, zeroes replaced
 * @overloaded: some CPU got a second task since all were last looked at, or
 *	had two then
 * @overutilized: likewise, some CPU had no capacity left
 * @serializing: the CPU that balances across nodes, so that others may not;
 *	ILB_CPU_NONE for none. The host's, to say that such a pass takes its
 *	time; the model only reads it: DEVIATION(serializing)
 * @online: CPUs that are
 * @dice: state of the dice
 * @ilb_passes: of kicked CPUs and of those that enter idle
 * @ilb_aborts: of these, ended early
 * @visits: registered CPUs that were looked at on their behalf
 * @attempts: of balancing a domain
 * @looked_at: CPUs of these domains. The three tell the host how long it took
 */
struct ilb_balance {
	struct ilb_balance_setup setup;
	int overloaded;
	int overutilized;
	unsigned int serializing;
	unsigned int online;
	uint64_t dice;
	uint64_t ilb_passes;
	uint64_t ilb_aborts;
	uint64_t visits;
	uint64_t attempts;
	uint64_t looked_at;
};

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_balance_init() - nothing has been balanced yet. */
void ilb_balance_init(struct ilb_balance *balance,
		      const struct ilb_balance_setup *setup);

/** ilb_balance_jiffies() - the host's clock, in jiffies */
uint64_t ilb_balance_jiffies(const struct ilb_balance *balance);

/**
 * ilb_balance_queued() - add_nr_running(): @cpu has one task more
 *
 * A second one is reason enough for newly idle CPUs to look, until somebody
 * looks at all CPUs and finds none with two.
 */
void ilb_balance_queued(struct ilb_balance *balance, unsigned int cpu);

/**
 * ilb_balance_softirq() - sched_balance_softirq(): @cpu's SCHED softirq
 *
 * After ilb_nohz_tick() returned 1, or ilb_nohz_kicked() flags. A kicked CPU
 * balances for all registered ones, another one for itself.
 */
void ilb_balance_softirq(struct ilb_balance *balance, unsigned int cpu);

/**
 * ilb_balance_newidle() - sched_balance_newidle(): @cpu has nothing to run
 *
 * Before the idle task is picked: nr_running of @cpu is 0, and it is not in
 * the mask of idle CPUs yet.
 *
 * Returns the tasks that it has now; 0: it goes idle.
 */
unsigned int ilb_balance_newidle(struct ilb_balance *balance,
				 unsigned int cpu);

/**
 * ilb_balance_idle_enter() - @cpu enters the idle loop
 *
 * Refreshes blocked load if newly idle balancing asked for it
 * (nohz_run_idle_balance()), and notes a core that is fully idle now. Comes
 * before ilb_tick_idle_stop(), after @cpu is in the mask of idle CPUs.
 */
void ilb_balance_idle_enter(struct ilb_balance *balance, unsigned int cpu);

/** ilb_balance_woken() - a wakeup reaches idle @cpu: learn how long it was. */
void ilb_balance_woken(struct ilb_balance *balance, unsigned int cpu);

/**
 * ilb_balance_push() - active balancing: the stopper runs on @from
 *
 * Moves the task that ran there, or another one. Returns 1 if it moved one.
 */
int ilb_balance_push(struct ilb_balance *balance, unsigned int from);

#ifdef __cplusplus
}
#endif
#endif
