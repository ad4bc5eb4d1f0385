// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures from events and moments, in one pass. Here: what runs and for how
 * long, contention on leaving idle, SCHED softirqs, tick stops. ILB runs and
 * whom they disturb are in runs.c, waiting tasks and lost CPUs in waits.c,
 * kicks in kicks.c.
 */

#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "measure/meter.h"

struct ilb_meter *ilb_meter_create(const struct ilb_meter_setup *setup)
{
	struct ilb_meter *meter = calloc(1, sizeof(*meter));
	unsigned int nr, cpu;

	if (!meter)
		return NULL;
	meter->setup = *setup;
	meter->topology = setup->topology;
	meter->nr_cpus = nr = setup->topology->nr_cpus;
	meter->cpu = calloc(nr, sizeof(*meter->cpu));
	meter->scratch = calloc(ILB_MASK_WORDS(nr), sizeof(*meter->scratch));
	meter->m.kicks.by_target = calloc(nr, sizeof(uint64_t));
	meter->m.kicks.by_kicker = calloc(nr, sizeof(uint64_t));
	if (!meter->cpu || !meter->scratch || !meter->m.kicks.by_target ||
	    !meter->m.kicks.by_kicker || ilb_tasks_init(&meter->tasks) ||
	    ilb_policy_parse(&meter->idle_core, "idle-core", nr)) {
		ilb_meter_destroy(meter);
		return NULL;
	}
	for (cpu = 0; cpu < nr; cpu++)
		meter->cpu[cpu].pid = ILB_PID_UNKNOWN;
	meter->m.nr_cpus = nr;
	meter->m.cpus = ilb_mask_weight(setup->topology->online, nr);
	meter->m.recorded = meter->m.cpus;
	if (setup->recorded_cpus)
		meter->m.recorded = ilb_mask_weight(setup->recorded_cpus, nr);
	meter->m.schedstat_counts = -1;
	return meter;
}

void ilb_meter_destroy(struct ilb_meter *meter)
{
	if (!meter)
		return;
	ilb_tasks_free(&meter->tasks);
	free(meter->m.kicks.by_target);
	free(meter->m.kicks.by_kicker);
	free(meter->m.victims);
	free(meter->m.lost_cpus);
	free(meter->scratch);
	free(meter->cpu);
	free(meter);
}

static void account(struct ilb_meter *meter, struct ilb_meter_cpu *c)
{
	uint64_t ran_ns = meter->now_ns - c->since_ns;

	if (c->pid <= 0)
		return;
	meter->m.utilisation.busy_ns += ran_ns;
	ilb_tasks_get(&meter->tasks, c->pid)->running_ns += ran_ns;
}

/* The time in which some CPU is busy, up to now. */
static void count_busy(struct ilb_meter *meter)
{
	if (meter->nr_busy)
		meter->some_busy_ns += meter->now_ns - meter->busy_from_ns;
	meter->busy_from_ns = meter->now_ns;
}

/* The first event on @cpu says what has run there since the start. */
static void first_event(struct ilb_meter *meter, unsigned int cpu, int32_t pid)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];

	if (pid == ILB_PID_UNKNOWN)
		return;
	c->seen = 1;
	c->pid = pid;
	c->since_ns = meter->m.start_ns;
	ilb_meter_runs_first(meter, cpu);
	if (pid <= 0)
		return;
	meter->nr_busy++;
	meter->busy_from_ns = meter->now_ns;
	meter->some_busy_ns = meter->now_ns - meter->m.start_ns;
}

/* Leaving idle restarts the tick, but not on every nohz_full CPU. */
static void leave_idle(struct ilb_meter *meter, struct ilb_meter_cpu *c,
		       const struct ilb_cpu *now)
{
	if (c->stopped_ns && !now->tick_stopped)
		meter->m.tick.short_stops += meter->now_ns - c->stopped_ns <
					     ilb_meter_period(meter);
	c->stopped_ns = 0;
}

/* Something else runs on @cpu now than before. */
static void switch_to(struct ilb_meter *meter, unsigned int cpu,
		      const struct ilb_cpu *now)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];
	struct ilb_task *t;

	ilb_meter_runs_switch(meter, cpu);
	account(meter, c);
	count_busy(meter);
	meter->nr_busy += (now->pid > 0) - (c->pid > 0);
	if (!c->pid)
		leave_idle(meter, c, now);
	c->idle_seen |= !now->pid;
	c->since_ns = meter->now_ns;
	c->pid = now->pid;
	if (now->pid <= 0)
		return;
	t = ilb_tasks_get(&meter->tasks, now->pid);
	if (now->comm[0])
		memcpy(t->comm, now->comm, ILB_COMM_LEN);
}

/* Mail B: a CPU leaves idle for a task; is a sibling busy? */
static void left_idle(struct ilb_meter *meter, unsigned int cpu)
{
	const struct ilb_topology *t = meter->topology;
	unsigned int s;

	for (s = t->sibling[cpu]; s != cpu; s = t->sibling[s]) {
		if (meter->cpu[s].pid > 0) {
			meter->m.contention.busy_sibling++;
			return;
		}
	}
	meter->m.contention.idle_sibling++;
}

static void softirq(struct ilb_meter *meter, const struct ilb_event *event)
{
	struct ilb_meter_cpu *c = &meter->cpu[event->cpu];

	if (event->u.value != ILB_SOFTIRQ_SCHED)
		return;
	if (event->type == ILB_EVENT_SOFTIRQ_RAISE) {
		c->raised = 1;
	} else if (event->type == ILB_EVENT_SOFTIRQ_ENTRY) {
		c->raised = 0;
		c->softirq_ns = meter->now_ns;
	} else if (c->softirq_ns) {
		meter->m.softirq.sched++;
		meter->m.softirq.sched_ns += meter->now_ns - c->softirq_ns;
		c->softirq_ns = 0;
	}
}

static void own_measures(struct ilb_meter *meter, const struct ilb_event *event)
{
	struct ilb_meter_cpu *c = &meter->cpu[event->cpu];

	switch (event->type) {
	case ILB_EVENT_SWITCH:
		if (!event->u.sched_switch.prev_pid &&
		    event->u.sched_switch.next_pid && meter->topology->smt)
			left_idle(meter, event->cpu);
		break;
	case ILB_EVENT_SOFTIRQ_RAISE:
	case ILB_EVENT_SOFTIRQ_ENTRY:
	case ILB_EVENT_SOFTIRQ_EXIT:
		softirq(meter, event);
		break;
	case ILB_EVENT_IDLE:
		if (event->u.value != ILB_IDLE_EXIT && c->raised) {
			meter->m.softirq.stranded++;
			c->raised = 0;
		}
		break;
	case ILB_EVENT_TICK_STOP:
		if (event->u.value && !c->pid) {
			meter->m.tick.stops++;
			c->stopped_ns = meter->now_ns;
		}
		break;
	case ILB_EVENT_LOST:
		/* What ends these may be among the lost. */
		c->raised = 0;
		c->softirq_ns = 0;
		c->stopped_ns = 0;
		meter->gap_ns = meter->now_ns;
		break;
	}
}

void ilb_meter_event(struct ilb_meter *meter, const struct ilb_event *event)
{
	struct ilb_meter_cpu *c = &meter->cpu[event->cpu];
	const struct ilb_cpu *now;

	now = ilb_machine_cpu(meter->setup.machine, event->cpu);
	meter->now_ns = event->time_ns;
	if (!meter->started) {
		meter->started = 1;
		meter->m.start_ns = event->time_ns;
	}
	if (!c->seen)
		first_event(meter, event->cpu,
			    event->type == ILB_EVENT_SWITCH ?
				    event->u.sched_switch.prev_pid : now->pid);
	if (c->seen && now->pid != c->pid)
		switch_to(meter, event->cpu, now);
	if (event->type == ILB_EVENT_OTHER)
		return;
	own_measures(meter, event);
	ilb_meter_runs(meter, event);
	ilb_meter_waits(meter, event);
	if (meter->setup.nohz_full)
		ilb_meter_lost(meter, event);
}

/* ---- results ---- */

void ilb_meter_exact(struct ilb_meter *meter, enum ilb_moment_kind kind,
		     int all, uint64_t start_ns, uint64_t end_ns)
{
	meter->exact = 1;
	meter->all_exact = all;
	meter->m.kind = kind;
	if (meter->started)
		return;
	meter->m.start_ns = start_ns;
	meter->now_ns = end_ns > start_ns ? end_ns : start_ns;
}

static int more_disturbed(const void *a, const void *b)
{
	const struct ilb_victim *x = a, *y = b;

	if (x->disturbed_ns != y->disturbed_ns)
		return x->disturbed_ns < y->disturbed_ns ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int collect_victims(struct ilb_meter *meter)
{
	struct ilb_victim *v = NULL;
	unsigned int i, n = 0;

	for (i = 0; i < meter->tasks.size; i++)
		n += ilb_task_disturbed(&meter->tasks.slot[i]);
	if (n)
		v = calloc(n, sizeof(*v));
	if (n && !v)
		return -ILB_ERR_NOMEM;
	meter->m.victims = v;
	meter->m.nr_victims = n;
	for (i = 0; i < meter->tasks.size; i++) {
		const struct ilb_task *t = &meter->tasks.slot[i];

		if (!ilb_task_disturbed(t))
			continue;
		memcpy(v->comm, t->comm, ILB_COMM_LEN);
		v->pid = t->pid;
		v->cpu = t->disturbed_cpu;
		v->running_ns = t->running_ns;
		v->disturbed_ns = t->disturbed_ns;
		v->kicks = t->kicks;
		v++;
	}
	if (n)
		qsort(meter->m.victims, n, sizeof(*v), more_disturbed);
	return 0;
}

static int seen(const struct ilb_meter *meter, enum ilb_event_type type)
{
	return ilb_machine_seen(meter->setup.machine, type);
}

static void set_kicks_known(struct ilb_meter *meter)
{
	struct ilb_measures *m = &meter->m;
	int sent = seen(meter, ILB_EVENT_CSD_QUEUE) ||
		   seen(meter, ILB_EVENT_PROBE_SEND);
	int handler = seen(meter, ILB_EVENT_CSD_ENTRY) ||
		      seen(meter, ILB_EVENT_PROBE_CSD);
	/* As ilb_machine_kick() has it: where no sending is recorded. */
	int raised = !sent && !handler &&
		     seen(meter, ILB_EVENT_SOFTIRQ_RAISE) &&
		     seen(meter, ILB_EVENT_TICK);

	m->probed = ilb_machine_kind(meter->setup.machine) ==
		    ILB_MOMENT_PROBED;
	if (!meter->exact)
		m->kind = ilb_machine_kind(meter->setup.machine);
	m->kicks.kicks_known = meter->exact || sent || raised;
	m->kicks.masks_known = meter->all_exact || m->probed ||
			       seen(meter, ILB_EVENT_TICK_STOP);
	m->kicks.dropped_known = handler;
	m->runs.known = (handler || raised) && m->softirq.known;
	m->every_tick.known = meter->started && m->kicks.kicks_known &&
			      ilb_machine_hz(meter->setup.machine);
}

static void set_known(struct ilb_meter *meter)
{
	struct ilb_measures *m = &meter->m;
	int switches = seen(meter, ILB_EVENT_SWITCH);

	m->contention.known = switches && meter->topology->smt;
	m->softirq.known = seen(meter, ILB_EVENT_SOFTIRQ_ENTRY) &&
			   seen(meter, ILB_EVENT_SOFTIRQ_EXIT);
	m->softirq.time_known = m->softirq.known;
	m->softirq.stranded_known = seen(meter, ILB_EVENT_SOFTIRQ_RAISE) &&
				    seen(meter, ILB_EVENT_SOFTIRQ_ENTRY) &&
				    seen(meter, ILB_EVENT_IDLE);
	m->utilisation.known = switches && m->end_ns > m->start_ns;
	m->waiting.known = switches && seen(meter, ILB_EVENT_WAKEUP);
	m->tick.known = switches && seen(meter, ILB_EVENT_TICK_STOP);
	set_kicks_known(meter);
}

/* Jiffies in which some CPU was busy, in time: only busy CPUs kick. */
static void count_jiffies(struct ilb_meter *meter)
{
	struct ilb_measures *m = &meter->m;
	uint64_t period_ns = ilb_meter_period(meter);

	count_busy(meter);
	m->every_tick.jiffies = (meter->some_busy_ns + period_ns / 2) /
				period_ns;
	if (m->every_tick.kicked > m->every_tick.jiffies)
		m->every_tick.jiffies = m->every_tick.kicked;
}

struct ilb_measures *ilb_meter_finish(struct ilb_meter *meter)
{
	struct ilb_measures *m = &meter->m;
	unsigned int cpu;

	m->end_ns = meter->now_ns;
	for (cpu = 0; cpu < meter->nr_cpus; cpu++) {
		ilb_meter_runs_finish(meter, cpu);
		account(meter, &meter->cpu[cpu]);
	}
	ilb_meter_waits_finish(meter);
	if (collect_victims(meter) || ilb_meter_lost_finish(meter))
		return NULL;
	set_known(meter);
	count_jiffies(meter);
	return m;
}
