// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who runs on a CPU: the fair class in its simplest sound form. Waiting tasks
 * are in the order of their virtual run time; a slice ends at a tick; what a
 * task had too much or too little of is kept while it sleeps, up to a slice;
 * who wakes with less run time than the current task had when its slice began
 * takes the CPU.
 *
 * DEVIATION(fair): no weights, no deadlines other than the slice's end, no
 * delayed dequeue.
 */

#include <string.h>

#include "sim/sim.h"

void ilb_sim_update_idle(struct ilb_sim *sim, unsigned int cpu)
{
	const struct ilb_sim_cpu *c = &sim->cpu[cpu];

	if (!c->current && !c->head && !c->wakes)
		ilb_mask_set(sim->idle, cpu);
	else
		ilb_mask_clear(sim->idle, cpu);
}

static void count_running(struct ilb_sim *sim, unsigned int cpu, int step)
{
	struct ilb_nohz_cpu *rq = &sim->rq[cpu];

	ilb_sim_average(sim, cpu);
	rq->nr_running += (unsigned int)step;
	rq->nr_queued = rq->nr_running;
	rq->nr_runnable = rq->nr_running;
}

/* The queue is searched from its end: who comes has mostly run a lot. */
static void insert(struct ilb_sim *sim, unsigned int cpu,
		   struct ilb_sim_task *t)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	struct ilb_sim_task *after = c->tail;

	while (after && after->vruntime > t->vruntime)
		after = after->prev;
	t->prev = after;
	t->next = after ? after->next : c->head;
	if (t->next)
		t->next->prev = t;
	else
		c->tail = t;
	if (after)
		after->next = t;
	else
		c->head = t;
	ilb_mask_set(sim->queued, cpu);
	t->since_ns = sim->now;
	t->state = ILB_SIM_TASK_QUEUED;
}

static void take_out(struct ilb_sim *sim, struct ilb_sim_task *t)
{
	struct ilb_sim_cpu *c = &sim->cpu[t->cpu];

	if (t->prev)
		t->prev->next = t->next;
	else
		c->head = t->next;
	if (t->next)
		t->next->prev = t->prev;
	else
		c->tail = t->prev;
	if (!c->head)
		ilb_mask_clear(sim->queued, t->cpu);
}

static void update_min(struct ilb_sim_cpu *c)
{
	int64_t min;

	if (!c->current && !c->head)
		return;
	min = c->current ? c->current->vruntime : c->head->vruntime;
	if (c->head && c->head->vruntime < min)
		min = c->head->vruntime;
	if (min > c->min_vruntime)
		c->min_vruntime = min;
}

void ilb_sim_account(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	if (!c->current)
		return;
	c->current->vruntime += (int64_t)(sim->now - c->current->ran_ns);
	c->current->ran_ns = sim->now;
	update_min(c);
}

static int64_t clamp_lag(int64_t lag)
{
	const int64_t most = ILB_SIM_SLICE_NS;

	return lag > most ? most : lag < -most ? -most : lag;
}

void ilb_sim_enqueue(struct ilb_sim *sim, struct ilb_sim_task *t,
		     unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	ilb_sim_account(sim, cpu);
	t->cpu = cpu;
	t->vruntime = c->min_vruntime + clamp_lag(t->vruntime);
	insert(sim, cpu, t);
	count_running(sim, cpu, 1);
	ilb_balance_queued(&sim->balance, cpu);
	ilb_sim_update_idle(sim, cpu);
	if (!c->current || t->vruntime < c->current->slice_from)
		c->resched = 1;
	if (c->full && c->current)
		ilb_sim_tick_full(sim, cpu);
}

int ilb_sim_allowed(const struct ilb_sim *sim, const struct ilb_sim_task *t,
		    unsigned int cpu)
{
	return t->plan->allowed ? ilb_mask_test(t->plan->allowed, cpu)
				: sim->domains.base[cpu] != NULL ||
				  sim->nr_cpus == 1;
}

void ilb_sim_say_migrate(struct ilb_sim *sim, const struct ilb_sim_task *t,
			 unsigned int on, unsigned int to)
{
	struct ilb_event event;

	sim->result.migrations++;
	sim->result.events++;
	if (!sim->sink || !sim->sink->event)
		return;
	event.u.migrate.pid = t->pid;
	event.u.migrate.from = t->cpu;
	event.u.migrate.to = to;
	ilb_sim_emit(sim, &event, on, ILB_EVENT_MIGRATE);
}

void ilb_sim_move(struct ilb_sim *sim, struct ilb_sim_task *t, unsigned int cpu)
{
	unsigned int from = t->cpu;

	ilb_sim_note(sim, (uint64_t)t->pid << 32 | cpu);
	ilb_sim_account(sim, from);
	take_out(sim, t);
	count_running(sim, from, -1);
	ilb_sim_update_idle(sim, from);
	t->vruntime -= sim->cpu[from].min_vruntime;
	ilb_sim_say_migrate(sim, t, from, cpu);
	ilb_sim_enqueue(sim, t, cpu);
}

int ilb_sim_tick_preempts(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	struct ilb_sim_task *t = c->current;

	ilb_sim_account(sim, cpu);
	if (t->vruntime - t->slice_from < (int64_t)ILB_SIM_SLICE_NS)
		return 0;
	t->slice_from = t->vruntime;
	return c->head && c->head->vruntime < t->vruntime;
}

static void say_switch(struct ilb_sim *sim, unsigned int cpu,
		       const struct ilb_sim_task *prev,
		       const struct ilb_sim_task *next)
{
	struct ilb_event event;

	sim->result.switches++;
	sim->result.events++;
	ilb_sim_note(sim, (uint64_t)(next ? next->pid : 0) << 32 | cpu);
	if (!sim->sink || !sim->sink->event)
		return;
	event.u.sched_switch.prev_pid = prev ? prev->pid : 0;
	event.u.sched_switch.next_pid = next ? next->pid : 0;
	event.u.sched_switch.prev_runnable =
		!prev || prev->state == ILB_SIM_TASK_QUEUED;
	memset(event.u.sched_switch.next_comm, 0, ILB_COMM_LEN);
	if (next)
		memcpy(event.u.sched_switch.next_comm, next->plan->comm,
		       ILB_COMM_LEN);
	else
		snprintf(event.u.sched_switch.next_comm, ILB_COMM_LEN,
			 "swapper/%u", cpu);
	ilb_sim_emit(sim, &event, cpu, ILB_EVENT_SWITCH);
}

/* The current task gives up the CPU: it waits, or it sleeps. */
static void put_back(struct ilb_sim *sim, unsigned int cpu,
		     struct ilb_sim_task *t)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	ilb_sim_average(sim, cpu);
	c->current = NULL;
	c->mode = ILB_SIM_IDLES;
	c->ends = sim->now;
	if (t->state == ILB_SIM_TASK_RUNNING) {
		insert(sim, cpu, t);
		return;
	}
	count_running(sim, cpu, -1);
	t->vruntime -= c->min_vruntime;
}

static void run(struct ilb_sim *sim, unsigned int cpu, struct ilb_sim_task *t)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	ilb_sim_average(sim, cpu);
	take_out(sim, t);
	t->state = ILB_SIM_TASK_RUNNING;
	t->ran_ns = sim->now;
	t->slice_from = t->vruntime;
	c->current = t;
	c->mode = ILB_SIM_COMPUTES;
}

/* @prev has left the CPU, which spent @ns on that. */
static void go_on(struct ilb_sim *sim, unsigned int cpu,
		  struct ilb_sim_task *prev, uint64_t ns)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	if (c->head)
		run(sim, cpu, c->head);
	if (c->current != prev)
		say_switch(sim, cpu, prev, c->current);
	ilb_sim_update_idle(sim, cpu);
	c->resched = 0;
	if (!c->current) {
		ilb_sim_idle_begin(sim, cpu, ns);
		return;
	}
	if (!prev)
		ilb_sim_idle_end(sim, cpu);
	if (c->current != prev)
		ns += sim->costs->switch_;
	c->since = sim->now + ns;
	ilb_sim_compute(sim, cpu);
	if (c->full)
		ilb_sim_tick_full(sim, cpu);
}

void ilb_sim_schedule(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	struct ilb_sim_task *prev = c->current;
	uint64_t ns = 0;

	ilb_sim_progress(sim, cpu);
	ilb_sim_account(sim, cpu);
	if (prev)
		put_back(sim, cpu, prev);
	c->resched = 0;
	if (prev && !c->head)
		ns = ilb_sim_newidle(sim, cpu);
	go_on(sim, cpu, prev, ns);
}

/* DEVIATION(stopper): it is no task, and no switch to it is seen. */
void ilb_sim_stop(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	struct ilb_sim_task *prev = c->current;

	c->pushes = 0;
	if (!prev) {
		ilb_sim_push(sim, cpu);
		return;
	}
	ilb_sim_progress(sim, cpu);
	ilb_sim_account(sim, cpu);
	put_back(sim, cpu, prev);
	ilb_sim_push(sim, cpu);
	go_on(sim, cpu, prev, 0);
}
