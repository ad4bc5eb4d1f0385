// SPDX-License-Identifier: GPL-2.0-only
/*
 * ILB runs, and whom they disturb. A run begins with nohz_csd_func on the
 * target and ends with its SCHED softirq (in ksoftirqd, at worst). A target
 * that was busy by then drops the kick: it raises no softirq. While the target
 * is awake for it, from its interrupt until it is idle again and for the
 * recovery interval after that, every task that runs on a sibling is
 * disturbed.
 */

#include "measure/meter.h"

/* @pid ran on @cpu and was disturbed for @ns. */
static void charge_task(struct ilb_meter *meter, unsigned int cpu, int32_t pid,
			uint64_t ns)
{
	struct ilb_task *t;

	if (pid <= 0)
		return;
	t = ilb_tasks_get(&meter->tasks, pid);
	t->disturbed_ns += ns;
	t->disturbed_cpu = cpu;
	meter->m.runs.disturbed_ns += ns;
}

/* Charge what is due so far on @cpu to the task that runs there. */
static void charge(struct ilb_meter *meter, unsigned int cpu)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];
	uint64_t from = c->from_ns, to = c->to_ns;

	if (!c->from_ns)
		return;
	if (from < c->since_ns)
		from = c->since_ns;
	if (to > meter->now_ns)
		to = meter->now_ns;
	if (to > from && c->seen)
		charge_task(meter, cpu, c->pid, to - from);
	else if (to > from)
		c->early_ns += to - from;
	c->charged_ns = to;
	c->from_ns = c->to_ns <= meter->now_ns ? 0 : meter->now_ns;
}

/*
 * A disturbance of @cpu began at @from_ns, but shows only now. What another
 * disturbance charged since then is not charged again, and what ran there
 * before the last switch has its part.
 */
static void begin_at(struct ilb_meter *meter, unsigned int cpu,
		     uint64_t from_ns)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];

	if (from_ns < c->charged_ns)
		from_ns = c->charged_ns;
	c->from_ns = from_ns;
	if (from_ns < c->left_ns)
		from_ns = c->left_ns;
	if (from_ns < c->since_ns)
		charge_task(meter, cpu, c->left_pid, c->since_ns - from_ns);
}

static void disturbed_by(struct ilb_meter *meter, unsigned int cpu,
			 uint64_t from_ns)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];
	struct ilb_task *t;

	charge(meter, cpu);
	if (!c->disturbers++) {
		/* Within the recovery of the one before: no gap. */
		if (!c->from_ns)
			begin_at(meter, cpu, from_ns);
		c->to_ns = UINT64_MAX;
	}
	c->early_kicks += !c->seen;
	if (c->pid > 0) {
		t = ilb_tasks_get(&meter->tasks, c->pid);
		t->kicks++;
		t->disturbed_cpu = cpu;
	}
}

static void begin_disturbing(struct ilb_meter *meter, unsigned int cpu)
{
	const unsigned int *sibling = meter->topology->sibling;
	struct ilb_meter_cpu *c = &meter->cpu[cpu];
	uint64_t from_ns = c->irq_ns ? c->irq_ns : meter->now_ns;
	unsigned int s;

	if (c->disturbs)
		return;
	c->disturbs = 1;
	for (s = sibling[cpu]; s != cpu; s = sibling[s])
		disturbed_by(meter, s, from_ns);
}

static void end_disturbing(struct ilb_meter *meter, unsigned int cpu)
{
	const unsigned int *sibling = meter->topology->sibling;
	struct ilb_meter_cpu *c = &meter->cpu[cpu];
	unsigned int s;

	if (!c->disturbs)
		return;
	c->disturbs = 0;
	for (s = sibling[cpu]; s != cpu; s = sibling[s]) {
		struct ilb_meter_cpu *v = &meter->cpu[s];

		if (--v->disturbers)
			continue;
		v->to_ns = meter->now_ns + meter->setup.recovery_ns;
		charge(meter, s);
	}
}

/* nohz_csd_func runs on @cpu. */
static void handler(struct ilb_meter *meter, unsigned int cpu)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];

	if (c->kick_ns) {
		ilb_hist_add(&meter->m.runs.latency,
			     meter->now_ns - c->kick_ns);
		/* An interrupt from before the kick was for something else. */
		if (c->irq_ns < c->kick_ns)
			c->irq_ns = 0;
		c->kick_ns = 0;
	}
	c->handler_ns = meter->now_ns;
	c->handler_idle = ilb_machine_cpu(meter->setup.machine, cpu)->idle;
	if (c->handler_idle)
		begin_disturbing(meter, cpu);
}

/* It found the CPU idle, and a run will follow. */
static void armed(struct ilb_meter *meter, unsigned int cpu)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];

	if (!c->armed_ns)
		c->armed_ns = c->handler_ns;
	c->handler_ns = 0;
	begin_disturbing(meter, cpu);
}

/*
 * The handler is over without having raised a softirq: it found the CPU busy
 * and dropped the kick. Where raises are not recorded, what the machine
 * thinks of the CPU has to do.
 */
static void handler_over(struct ilb_meter *meter, unsigned int cpu)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];

	if (!c->handler_ns)
		return;
	if (c->handler_idle &&
	    !ilb_machine_seen(meter->setup.machine, ILB_EVENT_SOFTIRQ_RAISE)) {
		armed(meter, cpu);
		return;
	}
	c->handler_ns = 0;
	meter->m.kicks.dropped++;
}

static void softirq(struct ilb_meter *meter, const struct ilb_event *event)
{
	struct ilb_meter_cpu *c = &meter->cpu[event->cpu];

	if (event->u.value != ILB_SOFTIRQ_SCHED)
		return;
	if (event->type == ILB_EVENT_SOFTIRQ_RAISE) {
		if (c->handler_ns)
			armed(meter, event->cpu);
		return;
	}
	if (event->type == ILB_EVENT_SOFTIRQ_ENTRY) {
		handler_over(meter, event->cpu);
		c->run_ns = c->armed_ns;
		c->armed_ns = 0;
		return;
	}
	if (!c->run_ns)
		return;
	meter->m.runs.total++;
	ilb_hist_add(&meter->m.runs.duration, meter->now_ns - c->run_ns);
	c->run_ns = 0;
	/* Kicked again meanwhile: the next run follows at once. */
	if (!ilb_machine_seen(meter->setup.machine, ILB_EVENT_IDLE) &&
	    !c->armed_ns)
		end_disturbing(meter, event->cpu);
}

static void kicked(struct ilb_meter *meter)
{
	const struct ilb_kick *kick;
	struct ilb_meter_cpu *c;

	kick = ilb_machine_kick(meter->setup.machine);
	if (!kick)
		return;
	c = &meter->cpu[kick->target];
	if (kick->kicker == ILB_CPU_NONE)
		handler(meter, kick->target);	/* its raise is all we see */
	else if (!c->kick_ns)
		c->kick_ns = meter->now_ns;
}

/* What is under way on @cpu may have ended unseen. */
static void lost(struct ilb_meter *meter, unsigned int cpu)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];

	c->kick_ns = 0;
	c->irq_ns = 0;
	c->handler_ns = 0;
	c->armed_ns = 0;
	c->run_ns = 0;
	end_disturbing(meter, cpu);
}

void ilb_meter_runs(struct ilb_meter *meter, const struct ilb_event *event)
{
	struct ilb_meter_cpu *c = &meter->cpu[event->cpu];

	kicked(meter);
	switch (event->type) {
	case ILB_EVENT_IRQ_CALL:
		c->irq_ns = meter->now_ns;
		break;
	case ILB_EVENT_CSD_ENTRY:
		if (event->u.csd.func == ILB_FUNC_NOHZ_CSD)
			handler(meter, event->cpu);
		break;
	case ILB_EVENT_PROBE_CSD:
		if (!ilb_machine_seen(meter->setup.machine,
				      ILB_EVENT_CSD_ENTRY) &&
		    ilb_machine_seen(meter->setup.machine, event->type))
			handler(meter, event->cpu);
		break;
	case ILB_EVENT_CSD_EXIT:
		if (event->u.csd.func == ILB_FUNC_NOHZ_CSD)
			handler_over(meter, event->cpu);
		break;
	case ILB_EVENT_SOFTIRQ_RAISE:
	case ILB_EVENT_SOFTIRQ_ENTRY:
		softirq(meter, event);
		break;
	case ILB_EVENT_SOFTIRQ_EXIT:
		c->irq_ns = 0;		/* softirqs follow interrupts */
		softirq(meter, event);
		break;
	case ILB_EVENT_IDLE:
		c->irq_ns = 0;
		handler_over(meter, event->cpu);
		if (event->u.value == ILB_IDLE_EXIT)
			break;
		c->armed_ns = 0;
		end_disturbing(meter, event->cpu);
		break;
	case ILB_EVENT_LOST:
		lost(meter, event->cpu);
		break;
	}
}

void ilb_meter_runs_first(struct ilb_meter *meter, unsigned int cpu)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];

	charge(meter, cpu);
	if (c->pid <= 0 || !c->early_kicks)
		return;
	charge_task(meter, cpu, c->pid, c->early_ns);
	ilb_tasks_get(&meter->tasks, c->pid)->kicks += c->early_kicks;
}

void ilb_meter_runs_switch(struct ilb_meter *meter, unsigned int cpu)
{
	struct ilb_meter_cpu *c = &meter->cpu[cpu];

	c->irq_ns = 0;
	handler_over(meter, cpu);
	/* Another task has the CPU now, unless it is ksoftirqd for our run. */
	if (!c->armed_ns && !c->run_ns)
		end_disturbing(meter, cpu);
	charge(meter, cpu);
	c->left_pid = c->pid;
	c->left_ns = c->since_ns;
}

void ilb_meter_runs_finish(struct ilb_meter *meter, unsigned int cpu)
{
	end_disturbing(meter, cpu);
	charge(meter, cpu);
}
