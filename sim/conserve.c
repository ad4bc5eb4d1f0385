// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work conservation: a CPU that idles for over a tick while a task that may
 * run there waits for over a tick is a failure of the balancer, or of the
 * model. CPUs without domains are not the balancer's.
 */

#include "sim/sim.h"

/* Fills sim->ready; returns how many there are. */
static unsigned int find_ready(struct ilb_sim *sim)
{
	unsigned int cpu, nr = 0;

	ilb_mask_zero(sim->ready, sim->nr_cpus);
	ilb_for_each_cpu(cpu, sim->idle, sim->nr_cpus) {
		if (sim->now - sim->cpu[cpu].idle_since <= sim->period ||
		    !sim->domains.base[cpu])
			continue;
		ilb_mask_set(sim->ready, cpu);
		nr++;
	}
	return nr;
}

static int starves(const struct ilb_sim *sim, const struct ilb_sim_task *t)
{
	return sim->now - t->since_ns > sim->period &&
	       (!t->plan->allowed ||
		ilb_mask_next_and(t->plan->allowed, sim->ready, sim->nr_cpus,
				  0) < sim->nr_cpus);
}

void ilb_sim_conserve(struct ilb_sim *sim, uint64_t since)
{
	const struct ilb_sim_task *t;
	unsigned int cpu, ready, starving = 0;

	if (ilb_mask_empty(sim->queued, sim->nr_cpus))
		return;
	ready = find_ready(sim);
	if (!ready)
		return;
	ilb_for_each_cpu(cpu, sim->queued, sim->nr_cpus)
		for (t = sim->cpu[cpu].head; t && starving < ready; t = t->next)
			starving += (unsigned int)starves(sim, t);
	if (!starving)
		return;
	if (!sim->result.violations++)
		sim->result.violation_ns = sim->now;
	sim->result.wasted_ns += (sim->now - since) * starving;
}
