// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waking a task: on the waker's own CPU and on busy CPUs of the same cache it
 * is queued at once; elsewhere it goes on the CPU's wake list and an interrupt
 * lets that CPU queue it (sched_ttwu_pending()).
 */

#include "sim/sim.h"

static void say_wakeup(struct ilb_sim *sim, const struct ilb_sim_task *t,
		       unsigned int on)
{
	struct ilb_event event;

	sim->result.wakeups++;
	sim->result.events++;
	if (!sim->sink || !sim->sink->event)
		return;
	event.u.wakeup.pid = t->pid;
	event.u.wakeup.cpu = t->cpu;
	ilb_sim_emit(sim, &event, on, ILB_EVENT_WAKEUP);
}

static void queue(struct ilb_sim *sim, struct ilb_sim_task *t,
		  unsigned int cpu, unsigned int on)
{
	if (!sim->cpu[cpu].current)
		ilb_balance_woken(&sim->balance, cpu);
	ilb_sim_enqueue(sim, t, cpu);
	say_wakeup(sim, t, on);
}

static int goes_by_list(const struct ilb_sim *sim, unsigned int waker,
			unsigned int cpu)
{
	const unsigned int *llc = sim->topology->llc;

	return waker != cpu &&
	       (llc[waker] != llc[cpu] || !sim->cpu[cpu].current);
}

void ilb_sim_wake(struct ilb_sim *sim, struct ilb_sim_task *t,
		  unsigned int waker)
{
	unsigned int cpu = ilb_sim_place(sim, t, waker);
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	struct ilb_sim_task **end;

	ilb_sim_note(sim, (uint64_t)t->pid << 32 | cpu);
	if (t->state != ILB_SIM_TASK_NEW && t->cpu != cpu)
		ilb_sim_say_migrate(sim, t, waker, cpu);
	if (goes_by_list(sim, waker, cpu)) {
		for (end = &c->wakes; *end; end = &(*end)->next)
			;
		*end = t;
		t->next = NULL;
		t->cpu = cpu;
		t->state = ILB_SIM_TASK_WAKING;
		sim->balance_cpu[cpu].wakeup_pending = 1;
		ilb_sim_update_idle(sim, cpu);
		ilb_sim_say_call(sim, waker, ILB_EVENT_CSD_QUEUE, cpu,
				 ILB_FUNC_TTWU);
		ilb_sim_ipi(sim, cpu);
		return;
	}
	queue(sim, t, cpu, waker);
	if (cpu != waker && c->resched)
		ilb_sim_ipi(sim, cpu);
}

void ilb_sim_wake_list(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	struct ilb_sim_task *t;

	if (!c->wakes)
		return;
	ilb_sim_say_call(sim, cpu, ILB_EVENT_CSD_ENTRY, cpu, ILB_FUNC_TTWU);
	while ((t = c->wakes) != NULL) {
		c->wakes = t->next;
		queue(sim, t, cpu, cpu);
	}
	sim->balance_cpu[cpu].wakeup_pending = 0;
	ilb_sim_update_idle(sim, cpu);
	ilb_sim_say_call(sim, cpu, ILB_EVENT_CSD_EXIT, cpu, ILB_FUNC_TTWU);
}
