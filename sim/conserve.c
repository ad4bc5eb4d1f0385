// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work conservation: a CPU that idles for over a tick while a task that may
 * run there waits for over a tick is a failure of the balancer, or of the
 * model.
 */

#include "sim/sim.h"

static int long_idle(const struct ilb_sim *sim, unsigned int cpu)
{
	return sim->now - sim->cpu[cpu].idle_since > sim->period;
}

static int could_run(struct ilb_sim *sim, const struct ilb_sim_task *t)
{
	unsigned int cpu;

	ilb_for_each_cpu(cpu, sim->idle, sim->nr_cpus)
		if (ilb_sim_allowed(sim, t, cpu) && long_idle(sim, cpu))
			return 1;
	return 0;
}

void ilb_sim_conserve(struct ilb_sim *sim)
{
	const struct ilb_sim_task *t;
	unsigned int cpu;

	if (ilb_mask_empty(sim->queued, sim->nr_cpus) ||
	    ilb_mask_empty(sim->idle, sim->nr_cpus))
		return;
	ilb_for_each_cpu(cpu, sim->queued, sim->nr_cpus)
		for (t = sim->cpu[cpu].head; t; t = t->next) {
			if (sim->now - t->since_ns <= sim->period ||
			    !could_run(sim, t))
				continue;
			if (!sim->result.violations++)
				sim->result.violation_ns = sim->now;
			return;
		}
}
