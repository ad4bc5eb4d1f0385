// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work conservation: a task that waits for its CPU over a tick while another
 * CPU of the same cache is idle. Only tasks that ran on several CPUs count,
 * since a pinned one may have to wait.
 *
 * Lost CPUs (mail C): a nohz_full CPU whose tick stopped while a task ran, and
 * that then went idle, is not entered in nohz.idle_cpus_mask.
 */

#include <stdlib.h>

#include "ilb/error.h"
#include "measure/meter.h"

uint64_t ilb_meter_period(const struct ilb_meter *meter)
{
	unsigned int hz = ilb_machine_hz(meter->setup.machine);

	return hz ? 1000000000ULL / hz : ILB_DEFAULT_PERIOD_NS;
}

/* ---- waiting ---- */

struct idle_cpu {
	unsigned int cpu;
	uint64_t ns;
};

static void waited(struct ilb_meter *meter, const struct ilb_task *t,
		   const struct idle_cpu *beside)
{
	struct ilb_measures *m = &meter->m;

	m->waiting.stretches++;
	m->waiting.total_ns += beside->ns;
	if (beside->ns < m->waiting.longest_ns ||
	    (beside->ns == m->waiting.longest_ns && t->pid >= m->waiting.pid))
		return;
	m->waiting.longest_ns = beside->ns;
	m->waiting.idle_cpu = beside->cpu;
	m->waiting.waiting_cpu = t->cpu;
	m->waiting.pid = t->pid;
}

/* Was @cpu idle, beside @t's, for longer than the best so far? */
static void consider(const struct ilb_meter *meter, const struct ilb_task *t,
		     unsigned int cpu, struct idle_cpu *best)
{
	const struct ilb_meter_cpu *c = &meter->cpu[cpu];
	const unsigned int *llc = meter->topology->llc;
	uint64_t since_ns = c->since_ns;

	/* Without an event on it nothing proves that it is idle. */
	if (c->pid || cpu == t->cpu || llc[cpu] != llc[t->cpu])
		return;
	if (since_ns < t->wait_ns)
		since_ns = t->wait_ns;
	if (meter->now_ns - since_ns <= best->ns)
		return;
	best->ns = meter->now_ns - since_ns;
	best->cpu = cpu;
}

/*
 * @t has waited; for how long could an idle CPU have had it? Returns 1 if that
 * counts. Waits from before a gap in the trace may have ended in it. @puller
 * is idle no more, since @t was just queued there; ILB_CPU_NONE for none.
 */
static int has_waited(struct ilb_meter *meter, const struct ilb_task *t,
		      unsigned int puller)
{
	const unsigned long *idle =
		ilb_machine_idle_mask(meter->setup.machine);
	struct idle_cpu best = { 0, 0 };
	unsigned int cpu;

	if (!t->moved || t->cpu >= meter->nr_cpus ||
	    t->wait_ns < meter->gap_ns ||
	    meter->now_ns - t->wait_ns <= ilb_meter_period(meter))
		return 0;
	ilb_for_each_cpu(cpu, idle, meter->nr_cpus)
		consider(meter, t, cpu, &best);
	if (puller < meter->nr_cpus)
		consider(meter, t, puller, &best);
	if (best.ns <= ilb_meter_period(meter))
		return 0;
	waited(meter, t, &best);
	return 1;
}

static void waits_on(struct ilb_meter *meter, int32_t pid, unsigned int cpu)
{
	struct ilb_task *t = ilb_tasks_get(&meter->tasks, pid);

	if (!t->waits)
		t->wait_ns = meter->now_ns;
	t->waits = 1;
	t->moved |= t->cpu != ILB_CPU_NONE && t->cpu != cpu;
	t->cpu = cpu;
}

static void on_switch(struct ilb_meter *meter, const struct ilb_event *event)
{
	int32_t prev = event->u.sched_switch.prev_pid;
	int32_t next = event->u.sched_switch.next_pid;
	struct ilb_task *t;

	if (next > 0) {
		t = ilb_tasks_get(&meter->tasks, next);
		if (t->waits)
			has_waited(meter, t, ILB_CPU_NONE);
		t->waits = 0;
		t->moved |= t->cpu != ILB_CPU_NONE && t->cpu != event->cpu;
		t->cpu = event->cpu;
	}
	if (prev > 0 && event->u.sched_switch.prev_runnable)
		waits_on(meter, prev, event->cpu);
}

/* An idle CPU may have pulled it at last: judge before it counts as busy. */
static void on_migrate(struct ilb_meter *meter, const struct ilb_event *event)
{
	struct ilb_task *t;

	if (event->u.migrate.pid <= 0)
		return;
	t = ilb_tasks_get(&meter->tasks, event->u.migrate.pid);
	t->moved |= event->u.migrate.from != event->u.migrate.to;
	if (t->waits && has_waited(meter, t, event->u.migrate.to))
		t->wait_ns = meter->now_ns;
	t->cpu = event->u.migrate.to;
}

void ilb_meter_waits(struct ilb_meter *meter, const struct ilb_event *event)
{
	switch (event->type) {
	case ILB_EVENT_SWITCH:
		on_switch(meter, event);
		break;
	case ILB_EVENT_WAKEUP:
		if (event->u.wakeup.pid > 0 &&
		    event->u.wakeup.cpu < meter->nr_cpus &&
		    meter->cpu[event->u.wakeup.cpu].pid != event->u.wakeup.pid)
			waits_on(meter, event->u.wakeup.pid,
				 event->u.wakeup.cpu);
		break;
	case ILB_EVENT_MIGRATE:
		on_migrate(meter, event);
		break;
	}
}

void ilb_meter_waits_finish(struct ilb_meter *meter)
{
	unsigned int i;

	for (i = 0; i < meter->tasks.size; i++)
		if (meter->tasks.slot[i].pid && meter->tasks.slot[i].waits)
			has_waited(meter, &meter->tasks.slot[i], ILB_CPU_NONE);
}

/* ---- lost CPUs ---- */

/* Probes read the mask's first 64 bits. */
static int probed(const struct ilb_meter *meter, unsigned int cpu)
{
	return cpu < 64 && ilb_machine_kind(meter->setup.machine) ==
				   ILB_MOMENT_PROBED;
}

static int may_be_lost(const struct ilb_meter *meter, unsigned int cpu)
{
	const unsigned long *isolated = meter->setup.isolated;

	return ilb_mask_test(meter->setup.nohz_full, cpu) &&
	       !(isolated && ilb_mask_test(isolated, cpu));
}

/* Idle, and for over two ticks none came: whatever it did before, it stopped. */
static int ticks_no_more(const struct ilb_meter *meter,
			 const struct ilb_cpu *c)
{
	uint64_t last_ns = c->ticked_ns > c->since_ns ? c->ticked_ns :
							c->since_ns;

	return (meter->now_ns - last_ns) * 2 > ilb_meter_period(meter) * 5;
}

static int is_lost(const struct ilb_meter *meter, unsigned int cpu)
{
	const struct ilb_cpu *c = ilb_machine_cpu(meter->setup.machine, cpu);

	if (!c->idle || c->membership != ILB_OUT)
		return 0;
	if (c->tick_stopped == 1)
		return 1;
	/* Without a probe's word only a stop that was seen is evidence. */
	return probed(meter, cpu) &&
	       (c->tick_stopped < 0 || ticks_no_more(meter, c));
}

static void found_again(struct ilb_meter *meter, struct ilb_meter_cpu *c)
{
	uint64_t ns = meter->now_ns - c->lost_ns;

	/* Idle since before the trace: nobody saw how it came to that. */
	if (ns > ILB_LOST_MIN_NS && c->idle_seen)
		c->lost_sum_ns += ns;
	c->lost_ns = 0;
}

static void follow(struct ilb_meter *meter, unsigned int cpu)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];
	int lost = may_be_lost(meter, cpu) && is_lost(meter, cpu);

	if (lost && !c->lost_ns)
		c->lost_ns = meter->now_ns;
	else if (!lost && c->lost_ns)
		found_again(meter, c);
}

void ilb_meter_lost(struct ilb_meter *meter, const struct ilb_event *event)
{
	const unsigned long *nohz_full = meter->setup.nohz_full;
	unsigned int cpu;

	if (event->type >= ILB_EVENT_PROBE_ENTER && event->u.probe.has_mask) {
		ilb_for_each_cpu(cpu, nohz_full, meter->nr_cpus)
			follow(meter, cpu);
		return;
	}
	if (event->type == ILB_EVENT_WAKEUP)
		cpu = event->u.wakeup.cpu;
	else if (event->type == ILB_EVENT_CSD_QUEUE)
		cpu = event->u.csd.cpu;
	else
		cpu = event->cpu;
	if (cpu < meter->nr_cpus)
		follow(meter, cpu);
}

int ilb_meter_lost_finish(struct ilb_meter *meter)
{
	struct ilb_measures *m = &meter->m;
	struct ilb_meter_cpu *c;
	unsigned int cpu;

	if (!meter->setup.nohz_full)
		return 0;
	m->lost_cpus = calloc(meter->nr_cpus, sizeof(*m->lost_cpus));
	if (!m->lost_cpus)
		return -ILB_ERR_NOMEM;
	ilb_for_each_cpu(cpu, meter->setup.nohz_full, meter->nr_cpus) {
		c = &meter->cpu[cpu];
		if (c->lost_ns && !c->idle_seen)
			m->missing_from_start++;
		if (c->lost_ns)
			found_again(meter, c);
		if (!c->lost_sum_ns)
			continue;
		m->lost_cpus[m->nr_lost_cpus].cpu = cpu;
		m->lost_cpus[m->nr_lost_cpus].lost_ns = c->lost_sum_ns;
		m->lost_cpus[m->nr_lost_cpus++].probed = probed(meter, cpu);
	}
	return 0;
}
