// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tick: it ends slices, asks the model whether balancing is due, and sends
 * the kicks that the model decides on. When it runs is the model's, too.
 */

#include "sim/sim.h"

void ilb_sim_tick_init(struct ilb_sim *sim)
{
	const struct ilb_sim_kernel *kernel = &sim->plan->kernel;
	struct ilb_tick_setup setup = {
		.nohz = &sim->nohz,
		.nohz_full = kernel->nohz_full,
		.timekeeper = ilb_mask_next(kernel->housekeeping,
					    sim->nr_cpus, 0),
		.governor = sim->plan->machine.nr_states > 1 ?
				    ILB_GOVERNOR_MENU :
				    ILB_GOVERNOR_NONE,
		.tick_ns = sim->period,
		.cpus = sim->ticks,
	};
	unsigned int cpu;

	if (ilb_mask_empty(kernel->nohz_full, sim->nr_cpus))
		setup.nohz_full = NULL;
	ilb_tick_init(&sim->tick, &setup, 0);
	ilb_for_each_cpu(cpu, sim->topology->online, sim->nr_cpus) {
		sim->cpu[cpu].full = setup.nohz_full &&
			ilb_mask_test(setup.nohz_full, cpu);
		ilb_sim_tick_arm(sim, cpu);
	}
}

void ilb_sim_tick_arm(struct ilb_sim *sim, unsigned int cpu)
{
	unsigned int timer = ilb_sim_timer(cpu, ILB_SIM_TICK);

	/* Timers of sleeping tasks have their own interrupts. */
	if (sim->ticks[cpu].stopped)
		ilb_queue_cancel(&sim->queue, timer);
	else
		ilb_queue_arm(&sim->queue, timer, cpu,
			      sim->ticks[cpu].next_ns);
}

void ilb_sim_tick_full(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_tick_cpu *t = &sim->ticks[cpu];
	int was_stopped = t->stopped;

	t->next_timer_ns = ilb_sim_next_timer(sim, cpu);
	ilb_tick_irq_exit(&sim->tick, cpu, sim->now);
	if (t->stopped == was_stopped)
		return;
	if (t->stopped)
		ilb_sim_say(sim, cpu, ILB_EVENT_TICK_STOP, 1);
	ilb_sim_tick_arm(sim, cpu);
}

static void hand_over(struct ilb_sim *sim, unsigned int kicker,
		      const struct ilb_kick *kick)
{
	struct ilb_moment moment = {
		.time_ns = sim->now,
		.kicker = kicker,
		.target = kick->choice.cpu,
		.flags = kick->flags,
		.kind = ILB_MOMENT_SIMULATED,
		.mask = sim->mask,
		.idle = sim->idle,
		.housekeeping = sim->plan->kernel.housekeeping,
	};

	if (sim->sink && sim->sink->moment)
		sim->sink->moment(sim->sink->context, &moment);
}

static void kick(struct ilb_sim *sim, unsigned int cpu,
		 const struct ilb_kick *kick)
{
	unsigned int target = kick->choice.cpu;

	ilb_sim_note(sim, (uint64_t)target << 32 | kick->flags);
	if (target == ILB_CPU_NONE) {
		sim->result.no_target++;
		hand_over(sim, cpu, kick);
		return;
	}
	if (!kick->sent)
		return;
	sim->result.kicks++;
	hand_over(sim, cpu, kick);
	ilb_sim_say_call(sim, cpu, ILB_EVENT_CSD_QUEUE, target,
			 ILB_FUNC_NOHZ_CSD);
	sim->cpu[target].kicked = 1;
	ilb_sim_ipi(sim, target);
}

void ilb_sim_tick(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	struct ilb_kick decision;
	int due;

	if (!ilb_tick_fired(&sim->tick, cpu, sim->now)) {
		ilb_sim_tick_arm(sim, cpu);
		return;
	}
	ilb_sim_irq(sim, cpu, sim->costs->tick + ilb_sim_exit_ns(sim, cpu));
	ilb_sim_say(sim, cpu, ILB_EVENT_TICK, 0);
	if (c->current && ilb_sim_tick_preempts(sim, cpu))
		c->resched = 1;
	due = ilb_nohz_tick(&sim->nohz, cpu, sim->now / sim->period,
			    &decision);
	if (due) {
		c->raised = 1;
		ilb_sim_say(sim, cpu, ILB_EVENT_SOFTIRQ_RAISE,
			    ILB_SOFTIRQ_SCHED);
	}
	if (decision.flags)
		kick(sim, cpu, &decision);
	ilb_sim_tick_arm(sim, cpu);
	ilb_sim_irq_exit(sim, cpu);
	if (sim->now != sim->checked) {
		ilb_sim_conserve(sim, sim->checked);
		sim->checked = sim->now;
	}
}
