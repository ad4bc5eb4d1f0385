// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a thread computes: its CPU's capacity, slower while siblings are
 * awake, and for a while after the last of them fell asleep. Work is settled
 * whenever the speed changes, so each stretch has one speed, or two.
 */

#include "sim/sim.h"

/* With @awake siblings that do not sleep; units per ns, at least 1. */
static uint64_t speed(const struct ilb_sim *sim, const struct ilb_sim_cpu *c,
		      unsigned int awake)
{
	uint64_t s = (uint64_t)c->capacity *
		     sim->plan->machine.smt_speed[awake] / ILB_SIM_SPEED;

	return s ? s : 1;
}

/* DEVIATION(recovery): of several siblings, only the last one's counts. */
static int recovers(const struct ilb_sim_cpu *c, uint64_t from)
{
	return !c->awake_siblings && from < c->slow_until;
}

static uint64_t done(const struct ilb_sim *sim, const struct ilb_sim_cpu *c,
		     uint64_t from, uint64_t to)
{
	uint64_t slow = 0;

	if (recovers(c, from)) {
		slow = (to < c->slow_until ? to : c->slow_until) - from;
		from += slow;
		slow *= speed(sim, c, 1);
	}
	return slow + (to - from) * speed(sim, c, c->awake_siblings);
}

/* When @left units from @from on are done. */
static uint64_t end_of(const struct ilb_sim *sim, const struct ilb_sim_cpu *c,
		       uint64_t from, uint64_t left)
{
	uint64_t s, slow;

	if (recovers(c, from)) {
		s = speed(sim, c, 1);
		slow = c->slow_until - from;
		if (left <= slow * s)
			return from + (left + s - 1) / s;
		left -= slow * s;
		from = c->slow_until;
	}
	s = speed(sim, c, c->awake_siblings);
	return from + (left + s - 1) / s;
}

void ilb_sim_progress(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	struct ilb_sim_task *t = c->current;
	uint64_t units;

	if (c->mode != ILB_SIM_COMPUTES || sim->now <= c->since)
		return;
	if (!t->spins) {
		units = done(sim, c, c->since, sim->now);
		if (units > t->left)
			units = t->left;
		t->left -= units;
		sim->result.work_ns += units;
	}
	c->since = sim->now;
}

void ilb_sim_end_at(struct ilb_sim *sim, unsigned int cpu, uint64_t time)
{
	sim->cpu[cpu].ends = time;
	ilb_queue_arm(&sim->queue, ilb_sim_timer(cpu, ILB_SIM_STEP), cpu, time);
}

void ilb_sim_compute(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	if (c->since < sim->now)
		c->since = sim->now;
	if (c->current->spins) {
		c->ends = ILB_NEVER;
		ilb_queue_cancel(&sim->queue,
				 ilb_sim_timer(cpu, ILB_SIM_STEP));
		return;
	}
	ilb_sim_end_at(sim, cpu, end_of(sim, c, c->since, c->current->left));
}

void ilb_sim_steal(struct ilb_sim *sim, unsigned int cpu, uint64_t ns)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	if (c->mode != ILB_SIM_COMPUTES) {
		ilb_sim_end_at(sim, cpu, c->ends + ns);
		return;
	}
	ilb_sim_progress(sim, cpu);
	if (c->since < sim->now)
		c->since = sim->now;
	c->since += ns;
	ilb_sim_compute(sim, cpu);
}

static void go_on(struct ilb_sim *sim, unsigned int sibling)
{
	if (sim->cpu[sibling].mode == ILB_SIM_COMPUTES)
		ilb_sim_compute(sim, sibling);
}

void ilb_sim_wake_thread(struct ilb_sim *sim, unsigned int cpu)
{
	const unsigned int *sibling = sim->topology->sibling;
	unsigned int s;

	for (s = sibling[cpu]; s != cpu; s = sibling[s]) {
		ilb_sim_progress(sim, s);
		sim->cpu[s].awake_siblings++;
		go_on(sim, s);
	}
}

void ilb_sim_sleep_thread(struct ilb_sim *sim, unsigned int cpu)
{
	const unsigned int *sibling = sim->topology->sibling;
	unsigned int s;

	for (s = sibling[cpu]; s != cpu; s = sibling[s]) {
		ilb_sim_progress(sim, s);
		sim->cpu[s].awake_siblings--;
		sim->cpu[s].slow_until = sim->now +
					 sim->plan->machine.recovery_ns;
		go_on(sim, s);
	}
}
