// SPDX-License-Identifier: GPL-2.0-only
/* The machine as a whole: made from a plan, run, taken apart. */

#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "sim/writer.h"

void ilb_sim_emit(struct ilb_sim *sim, struct ilb_event *event,
		  unsigned int cpu, enum ilb_event_type type)
{
	const struct ilb_sim_task *t = sim->cpu[cpu].current;

	event->time_ns = sim->now;
	event->cpu = cpu;
	event->type = type;
	event->pid = t ? t->pid : 0;
	if (type == ILB_EVENT_SWITCH)
		event->pid = event->u.sched_switch.prev_pid;
	sim->sink->event(sim->sink->context, event);
}

static int allocate(struct ilb_sim *sim)
{
	unsigned int nr = sim->nr_cpus, words = ILB_MASK_WORDS(nr);
	const struct ilb_sim_plan *plan = sim->plan;

	sim->cpu = calloc(nr, sizeof(*sim->cpu));
	sim->task = calloc(plan->nr_tasks + 1, sizeof(*sim->task));
	sim->barrier = calloc(plan->nr_barriers + 1, sizeof(*sim->barrier));
	sim->groups_left = calloc(plan->nr_groups + 1,
				  sizeof(*sim->groups_left));
	sim->idle = calloc((size_t)words * 6, sizeof(*sim->idle));
	sim->rq = calloc(nr, sizeof(*sim->rq));
	sim->ticks = calloc(nr, sizeof(*sim->ticks));
	sim->nr_busy = calloc(nr, sizeof(*sim->nr_busy));
	if (!sim->cpu || !sim->task || !sim->barrier || !sim->groups_left ||
	    !sim->idle || !sim->rq || !sim->ticks || !sim->nr_busy)
		return -ILB_ERR_NOMEM;
	sim->queued = sim->idle + words;
	sim->mask = sim->queued + words;
	sim->choice_scratch = sim->mask + words;
	sim->balance_scratch = sim->choice_scratch + words;
	sim->ready = sim->balance_scratch + words;
	return ilb_queue_init(&sim->queue, ilb_sim_timer(nr, 0) +
						   plan->nr_tasks);
}

static void take_apart(struct ilb_sim *sim)
{
	ilb_sim_balance_free(sim);
	ilb_sim_lines_free(sim);
	ilb_queue_free(&sim->queue);
	free(sim->cpu);
	free(sim->task);
	free(sim->barrier);
	free(sim->groups_left);
	free(sim->idle);
	free(sim->rq);
	free(sim->ticks);
	free(sim->nr_busy);
}

static void init_cpus(struct ilb_sim *sim)
{
	const struct ilb_topology *t = sim->topology;
	unsigned int cpu, s;

	ilb_for_each_cpu(cpu, t->online, sim->nr_cpus) {
		struct ilb_sim_cpu *c = &sim->cpu[cpu];

		c->capacity = t->capacity ? t->capacity[cpu] : 1024;
		c->lost_since = ILB_NEVER;
		sim->rq[cpu].capacity = c->capacity;
		for (s = t->sibling[cpu]; s != cpu; s = t->sibling[s])
			c->awake_siblings++;
		ilb_mask_set(sim->idle, cpu);
	}
}

/* With all CPUs isolated there is none, and the lowest has to do. */
static unsigned int first_cpu(const struct ilb_sim *sim,
			      const struct ilb_sim_task *t)
{
	unsigned int cpu;

	ilb_for_each_cpu(cpu, sim->topology->online, sim->nr_cpus)
		if (ilb_sim_allowed(sim, t, cpu))
			return cpu;
	return ilb_mask_next(sim->topology->online, sim->nr_cpus, 0);
}

static void init_tasks(struct ilb_sim *sim)
{
	const struct ilb_sim_plan *plan = sim->plan;
	unsigned int i;

	for (i = 0; i < plan->nr_barriers; i++)
		sim->barrier[i].users = plan->barrier_users[i];
	for (i = 0; i < plan->nr_tasks; i++) {
		struct ilb_sim_task *t = &sim->task[i];

		t->plan = &plan->tasks[i];
		t->pid = ILB_SIM_FIRST_PID + (int32_t)i;
		t->cpu = first_cpu(sim, t);
		t->recent = ILB_CPU_NONE;
		sim->groups_left[t->plan->group]++;
	}
	for (i = 0; i < plan->nr_tasks; i++)
		if (plan->tasks[i].after == ~0U)
			ilb_sim_task_start(sim, &sim->task[i]);
}

/* All CPUs are awake, in their idle loops, with their ticks. */
static void start(struct ilb_sim *sim)
{
	unsigned int cpu;

	ilb_for_each_cpu(cpu, sim->topology->online, sim->nr_cpus)
		ilb_sim_idle_begin(sim, cpu, 0);
}

int ilb_sim_nohz_init(struct ilb_sim *sim, struct ilb_error *error)
{
	const struct ilb_sim_plan *plan = sim->plan;
	struct ilb_nohz_setup setup = {
		.topology = sim->topology,
		.behaviour = &plan->kernel.behaviour,
		.housekeeping = plan->kernel.housekeeping,
		.isolated = plan->kernel.isolated,
		.idle = sim->idle,
		.unequal = sim->unequal,
		.cpus = sim->rq,
		.nr_busy = sim->nr_busy,
		.touch = sim->lines.line ? ilb_sim_touch : NULL,
		.context = sim,
		.mask = sim->mask,
		.scratch = sim->choice_scratch,
	};
	int err;

	err = ilb_nohz_init(&sim->nohz, &setup, 0);
	if (!err)
		return 0;
	return ilb_fail(error, ILB_ERR_BUG,
			"%s: target '%s': %s; please report it", plan->name,
			plan->kernel.behaviour.target, ilb_strerror(err));
}

static int set_up(struct ilb_sim *sim, struct ilb_error *error)
{
	int err;

	if (allocate(sim) || ilb_sim_lines_init(sim))
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	init_cpus(sim);
	err = ilb_sim_balance_init(sim, error);
	if (err)
		return err;
	ilb_sim_tick_init(sim);
	start(sim);
	init_tasks(sim);
	return 0;
}

static void step_ends(struct ilb_sim *sim, unsigned int cpu)
{
	switch (sim->cpu[cpu].mode) {
	case ILB_SIM_COMPUTES:
		ilb_sim_task_step(sim, cpu);
		break;
	case ILB_SIM_BALANCES:
		ilb_sim_softirq_ends(sim, cpu);
		break;
	case ILB_SIM_IDLES:
		ilb_sim_idle(sim, cpu);
		break;
	case ILB_SIM_SLEEPS:
		break;
	}
}

static void fire(struct ilb_sim *sim, unsigned int timer)
{
	unsigned int cpu = timer / ILB_SIM_CPU_TIMERS;

	if (cpu >= sim->nr_cpus) {
		timer -= ilb_sim_timer(sim->nr_cpus, 0);
		ilb_sim_task_timer(sim, &sim->task[timer]);
		return;
	}
	switch (timer % ILB_SIM_CPU_TIMERS) {
	case ILB_SIM_TICK:
		ilb_sim_tick(sim, cpu);
		break;
	case ILB_SIM_STEP:
		step_ends(sim, cpu);
		break;
	case ILB_SIM_IPI:
		ilb_sim_ipi_arrives(sim, cpu);
		break;
	}
}

/* What goes on when the run ends counts up to its end. */
static void end_cpu(struct ilb_sim *sim, unsigned int cpu)
{
	ilb_sim_progress(sim, cpu);
	ilb_sim_idle_lost(sim, cpu);
}

static void go(struct ilb_sim *sim)
{
	unsigned int timer, cpu;
	uint64_t time;

	for (;;) {
		timer = ilb_queue_next(&sim->queue, &time);
		if (timer == ILB_TIMER_NONE || time >= sim->plan->duration_ns)
			break;
		sim->now = time;
		sim->result.steps++;
		ilb_sim_note(sim, time ^ (uint64_t)timer << 40);
		fire(sim, timer);
	}
	sim->now = sim->plan->duration_ns;
	ilb_for_each_cpu(cpu, sim->topology->online, sim->nr_cpus)
		end_cpu(sim, cpu);
	sim->result.work_ns >>= ILB_SIM_UNIT_BITS;
}

int ilb_sim_run(const struct ilb_sim_plan *plan,
		const struct ilb_sim_sink *sink, FILE *schedstat[2],
		struct ilb_sim_result *result, struct ilb_error *error)
{
	struct ilb_sim sim = {
		.plan = plan,
		.topology = plan->machine.topology,
		.costs = &plan->machine.costs,
		.sink = sink,
		.nr_cpus = plan->machine.topology->nr_cpus,
		.period = 1000000000ULL / plan->kernel.hz,
		.random = { plan->seed },
	};
	int err;

	err = set_up(&sim, error);
	if (!err) {
		if (schedstat)
			ilb_sim_schedstat(&sim, schedstat[0]);
		go(&sim);
		if (schedstat)
			ilb_sim_schedstat(&sim, schedstat[1]);
		*result = sim.result;
	}
	take_apart(&sim);
	return err;
}
