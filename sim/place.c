// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a task goes: the model says so of one that wakes. A new task goes
 * anywhere that is idle, to a whole idle core if there is one.
 *
 * DEVIATION(fork): which of them is a matter of dice, not of the domains.
 */

#include "ilb/wake.h"
#include "sim/sim.h"

static int core_idle(const struct ilb_sim *sim, unsigned int cpu)
{
	const unsigned int *sibling = sim->topology->sibling;
	unsigned int s;

	for (s = sibling[cpu]; s != cpu; s = sibling[s])
		if (!ilb_mask_test(sim->idle, s))
			return 0;
	return 1;
}

static unsigned int place_new(struct ilb_sim *sim,
			      const struct ilb_sim_task *t)
{
	unsigned int cpu, best = ILB_CPU_NONE, equals = 0;
	int whole, best_whole = 0;

	ilb_for_each_cpu(cpu, sim->idle, sim->nr_cpus) {
		if (!ilb_sim_allowed(sim, t, cpu))
			continue;
		whole = core_idle(sim, cpu);
		if (whole < best_whole)
			continue;
		equals = whole > best_whole ? 1 : equals + 1;
		best_whole = whole;
		if (!ilb_random_below(&sim->random, equals))
			best = cpu;
	}
	/* All are busy: it starts where it would first be looked for. */
	return best == ILB_CPU_NONE ? t->cpu : best;
}

static unsigned long share(unsigned long of_cpu, unsigned int tasks)
{
	return of_cpu / (tasks ? tasks : 1);
}

unsigned int ilb_sim_place(struct ilb_sim *sim, struct ilb_sim_task *t,
			   unsigned int waker)
{
	const struct ilb_balance_cpu *b = &sim->balance_cpu[t->cpu];
	struct ilb_wakeup wakeup = {
		.prev = t->cpu,
		.waker = waker,
		.recent = t->recent,
		.load = 1024,
		.util = share(b->util, sim->rq[t->cpu].nr_running + 1),
		.allowed = t->plan->allowed,
		.waker_load = sim->cpu[waker].current ? 1024 : 0,
	};
	unsigned int cpu;

	if (t->state == ILB_SIM_TASK_NEW)
		return place_new(sim, t);
	cpu = ilb_wake_cpu(&sim->balance, &wakeup);
	if (cpu != t->cpu)
		t->recent = t->cpu;
	return cpu;
}
