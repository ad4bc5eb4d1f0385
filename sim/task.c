// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tasks do, step by step. Every step but a loop takes time or blocks, so
 * that no program can hold the clock: barriers and resumes cost what a wakeup
 * costs, and what a task does after it got a CPU waits for the switch.
 */

#include "sim/sim.h"

static void arm_timer(struct ilb_sim *sim, struct ilb_sim_task *t,
		      uint64_t time)
{
	struct ilb_sim_cpu *c = &sim->cpu[t->cpu];
	unsigned int id = ilb_sim_timer(sim->nr_cpus, 0) +
			  (unsigned int)(t - sim->task);

	t->wakes_ns = time;
	t->timer_next = c->timers;
	t->timer_link = &c->timers;
	if (c->timers)
		c->timers->timer_link = &t->timer_next;
	c->timers = t;
	ilb_queue_arm(&sim->queue, id, t->cpu, time);
}

void ilb_sim_task_timer(struct ilb_sim *sim, struct ilb_sim_task *t)
{
	unsigned int cpu = t->cpu;

	*t->timer_link = t->timer_next;
	if (t->timer_next)
		t->timer_next->timer_link = t->timer_link;
	ilb_sim_irq(sim, cpu, sim->costs->irq + ilb_sim_exit_ns(sim, cpu));
	ilb_sim_wake(sim, t, cpu);
	ilb_sim_irq_exit(sim, cpu);
}

void ilb_sim_task_start(struct ilb_sim *sim, struct ilb_sim_task *t)
{
	t->started_ns = sim->now + t->plan->start_ns;
	if (t->plan->spread_ns)
		t->started_ns += ilb_random_next(&sim->random) %
				 t->plan->spread_ns;
	arm_timer(sim, t, t->started_ns);
}

/* By at most the jitter longer or shorter. */
static uint64_t run_length(struct ilb_sim *sim, const struct ilb_sim_task *t,
			   uint64_t ns)
{
	uint64_t most = ns / 1000 * t->plan->jitter_ppm / 1000;

	if (most > UINT32_MAX / 2)
		most = UINT32_MAX / 2;
	if (most)
		ns += ilb_random_below(&sim->random, (uint32_t)(2 * most + 1)) -
		      most;
	return ns << ILB_SIM_UNIT_BITS;
}

static void block(struct ilb_sim *sim, unsigned int cpu)
{
	sim->cpu[cpu].current->state = ILB_SIM_TASK_ASLEEP;
	ilb_sim_schedule(sim, cpu);
}

/* The current task goes on with its next step after @ns of the kernel's. */
static void busy_for(struct ilb_sim *sim, unsigned int cpu, uint64_t ns)
{
	sim->cpu[cpu].current->left = 0;
	sim->cpu[cpu].since = sim->now + ns;
	ilb_sim_compute(sim, cpu);
}

static void let_go(struct ilb_sim *sim, struct ilb_sim_task *t,
		   unsigned int waker)
{
	if (!t->spins) {
		ilb_sim_wake(sim, t, waker);
		return;
	}
	ilb_sim_progress(sim, t->cpu);
	t->spins = 0;
	if (sim->cpu[t->cpu].current == t &&
	    sim->cpu[t->cpu].mode == ILB_SIM_COMPUTES)
		ilb_sim_steal(sim, t->cpu, sim->costs->wake);
}

static void barrier(struct ilb_sim *sim, unsigned int cpu,
		    const struct ilb_sim_step *step)
{
	struct ilb_sim_barrier *b = &sim->barrier[step->index];
	struct ilb_sim_task *t = sim->cpu[cpu].current, *next;
	uint64_t ns = sim->costs->wake;

	if (++b->arrived < b->users) {
		t->wait_next = b->first;
		b->first = t;
		t->left = 0;
		if (step->op == ILB_SIM_BARRIER) {
			block(sim, cpu);
			return;
		}
		t->spins = 1;
		ilb_sim_compute(sim, cpu);
		return;
	}
	b->arrived = 0;
	for (t = b->first, b->first = NULL; t; t = next) {
		next = t->wait_next;
		ns += t->spins ? 0 : sim->costs->wake;
		let_go(sim, t, cpu);
	}
	busy_for(sim, cpu, ns);
}

static void resume(struct ilb_sim *sim, unsigned int cpu,
		   struct ilb_sim_task *t)
{
	const struct ilb_sim_step *at = &t->plan->steps[t->step];

	/* A step is passed when it begins: a suspended task is one behind. */
	if (t->state == ILB_SIM_TASK_ASLEEP && t->step &&
	    at[-1].op == ILB_SIM_SUSPEND && !t->resumes)
		ilb_sim_wake(sim, t, cpu);
	else if (t->resumes < UINT32_MAX)
		t->resumes++;
	busy_for(sim, cpu, sim->costs->wake);
}

static void suspend(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_task *t = sim->cpu[cpu].current;

	if (!t->resumes) {
		block(sim, cpu);
		return;
	}
	t->resumes--;
	busy_for(sim, cpu, sim->costs->wake);
}

static void sleep_until(struct ilb_sim *sim, unsigned int cpu, uint64_t time)
{
	arm_timer(sim, sim->cpu[cpu].current, time);
	block(sim, cpu);
}

/* Who comes too late goes on. */
static void sleep_until_if_early(struct ilb_sim *sim, unsigned int cpu,
				 uint64_t time)
{
	if (time > sim->now)
		sleep_until(sim, cpu, time);
	else
		busy_for(sim, cpu, sim->costs->wake);
}

static uint64_t next_period(const struct ilb_sim *sim,
			    const struct ilb_sim_task *t, uint64_t period)
{
	uint64_t since = sim->now - t->started_ns;

	return sim->now + period - since % period;
}

static void end(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_task *t = sim->cpu[cpu].current;
	unsigned int i, group = t->plan->group;

	t->state = ILB_SIM_TASK_DONE;
	if (!--sim->groups_left[group])
		for (i = 0; i < sim->plan->nr_tasks; i++)
			if (sim->plan->tasks[i].after == group)
				ilb_sim_task_start(sim, &sim->task[i]);
	ilb_sim_schedule(sim, cpu);
}

/* Goes back, or is done with. */
static void loop(struct ilb_sim_task *t, const struct ilb_sim_step *step)
{
	uint64_t *count = &t->loops[step->depth];

	if (!step->value || ++*count < step->value)
		t->step = step->index;
	else
		*count = 0;
}

void ilb_sim_task_step(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_task *t = sim->cpu[cpu].current;
	const struct ilb_sim_step *step;

	ilb_sim_progress(sim, cpu);
	do {
		if (t->step == t->plan->nr_steps) {
			end(sim, cpu);
			return;
		}
		step = &t->plan->steps[t->step++];
		if (step->op == ILB_SIM_LOOP)
			loop(t, step);
	} while (step->op == ILB_SIM_LOOP);
	switch (step->op) {
	case ILB_SIM_RUN:
		t->left = run_length(sim, t, step->value);
		ilb_sim_compute(sim, cpu);
		break;
	case ILB_SIM_SLEEP:
		sleep_until(sim, cpu, sim->now + step->value);
		break;
	case ILB_SIM_UNTIL:
		sleep_until_if_early(sim, cpu, step->value);
		break;
	case ILB_SIM_TIMER:
		sleep_until(sim, cpu, next_period(sim, t, step->value));
		break;
	case ILB_SIM_BARRIER:
	case ILB_SIM_SPIN:
		barrier(sim, cpu, step);
		break;
	case ILB_SIM_SUSPEND:
		suspend(sim, cpu);
		break;
	case ILB_SIM_RESUME:
		resume(sim, cpu, &sim->task[step->index]);
		break;
	case ILB_SIM_LOOP:
		break;
	}
}
