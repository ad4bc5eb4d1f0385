// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts between CPUs, the SCHED softirq, and what a CPU does when it
 * leaves them.
 *
 * DEVIATION(delivery): every call to another CPU is an interrupt, also to one
 * that polls in its idle loop. What a softirq changes, it changes at its
 * start; then it takes its time.
 */

#include "sim/sim.h"

uint64_t ilb_sim_exit_ns(const struct ilb_sim *sim, unsigned int cpu)
{
	const struct ilb_sim_cpu *c = &sim->cpu[cpu];
	const struct ilb_sim_machine *machine = &sim->plan->machine;

	if (c->mode != ILB_SIM_SLEEPS || !machine->nr_states)
		return 0;
	return machine->states[c->idle_state].exit_ns;
}

void ilb_sim_irq(struct ilb_sim *sim, unsigned int cpu, uint64_t ns)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	if (c->mode != ILB_SIM_SLEEPS) {
		ilb_sim_steal(sim, cpu, ns);
		return;
	}
	c->mode = ILB_SIM_IDLES;
	ilb_sim_wake_thread(sim, cpu);
	ilb_sim_end_at(sim, cpu, sim->now + ns + sim->costs->idle);
}

static void softirq_begins(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	uint64_t from = sim->now;

	c->raised = 0;
	if (c->mode == ILB_SIM_COMPUTES) {
		ilb_sim_progress(sim, cpu);
		if (c->since > from)
			from = c->since;
	}
	c->mode = ILB_SIM_BALANCES;
	ilb_sim_say(sim, cpu, ILB_EVENT_SOFTIRQ_ENTRY, ILB_SOFTIRQ_SCHED);
	ilb_sim_end_at(sim, cpu, from + ilb_sim_balance(sim, cpu));
}

void ilb_sim_softirq_ends(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	ilb_sim_say(sim, cpu, ILB_EVENT_SOFTIRQ_EXIT, ILB_SOFTIRQ_SCHED);
	if (c->current) {
		c->mode = ILB_SIM_COMPUTES;
		c->since = sim->now;
		ilb_sim_compute(sim, cpu);
	} else {
		c->mode = ILB_SIM_IDLES;
		ilb_sim_end_at(sim, cpu, sim->now + sim->costs->idle);
	}
	ilb_sim_irq_exit(sim, cpu);
}

void ilb_sim_irq_exit(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	if (c->mode == ILB_SIM_BALANCES)
		return;
	if (c->raised) {
		softirq_begins(sim, cpu);
		return;
	}
	if (c->pushes)
		ilb_sim_stop(sim, cpu);
	if (c->mode == ILB_SIM_IDLES) {
		ilb_sim_idle_leave_state(sim, cpu);
		return;
	}
	if (c->resched)
		ilb_sim_schedule(sim, cpu);
	else if (c->full)
		ilb_sim_tick_full(sim, cpu);
}

void ilb_sim_ipi(struct ilb_sim *sim, unsigned int cpu)
{
	unsigned int timer = ilb_sim_timer(cpu, ILB_SIM_IPI);

	if (!ilb_queue_armed(&sim->queue, timer))
		ilb_queue_arm(&sim->queue, timer, cpu,
			      sim->now + sim->costs->ipi +
				      ilb_sim_exit_ns(sim, cpu));
}

/* nohz_csd_func() on the CPU that was kicked. */
static void kick_arrives(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	c->kicked = 0;
	ilb_sim_say_call(sim, cpu, ILB_EVENT_CSD_ENTRY, cpu,
			 ILB_FUNC_NOHZ_CSD);
	if (ilb_nohz_kicked(&sim->nohz, cpu)) {
		c->raised = 1;
		ilb_sim_say(sim, cpu, ILB_EVENT_SOFTIRQ_RAISE,
			    ILB_SOFTIRQ_SCHED);
	} else {
		sim->result.dropped++;
	}
	ilb_sim_say_call(sim, cpu, ILB_EVENT_CSD_EXIT, cpu,
			 ILB_FUNC_NOHZ_CSD);
}

void ilb_sim_ipi_arrives(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	ilb_sim_irq(sim, cpu, sim->costs->irq);
	if (c->kicked || c->wakes)
		ilb_sim_say(sim, cpu, ILB_EVENT_IRQ_CALL, 0);
	if (c->kicked)
		kick_arrives(sim, cpu);
	ilb_sim_wake_list(sim, cpu);
	ilb_sim_irq_exit(sim, cpu);
}
