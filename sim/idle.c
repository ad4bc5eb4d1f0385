// SPDX-License-Identifier: GPL-2.0-only
/*
 * The idle loop. A governor in the manner of menu: it expects to sleep until
 * the next timer, or as long as it lately slept where that was regular; it
 * takes the deepest state whose residency fits, and the model decides about
 * the tick.
 */

#include "sim/sim.h"

uint64_t ilb_sim_next_timer(const struct ilb_sim *sim, unsigned int cpu)
{
	const struct ilb_sim_task *t;
	uint64_t next = ILB_NEVER;

	for (t = sim->cpu[cpu].timers; t; t = t->timer_next)
		if (t->wakes_ns < next)
			next = t->wakes_ns;
	return next;
}

/* The usual length, ILB_NEVER if there is none: all within a factor of 2. */
static uint64_t usual(const struct ilb_sim_cpu *c)
{
	uint64_t least = ILB_NEVER, most = 0, sum = 0;
	unsigned int i;

	if (c->idles < ILB_SIM_HISTORY)
		return ILB_NEVER;
	for (i = 0; i < ILB_SIM_HISTORY; i++) {
		sum += c->history[i];
		if (c->history[i] < least)
			least = c->history[i];
		if (c->history[i] > most)
			most = c->history[i];
	}
	return most > 2 * least ? ILB_NEVER : sum / ILB_SIM_HISTORY;
}

static uint64_t predict(const struct ilb_sim *sim, unsigned int cpu)
{
	const struct ilb_sim_cpu *c = &sim->cpu[cpu];
	uint64_t next = sim->ticks[cpu].next_timer_ns;
	uint64_t expected = next == ILB_NEVER ? ILB_NEVER : next - sim->now;
	uint64_t typical = usual(c);

	return typical < expected ? typical : expected;
}

static unsigned int choose_state(const struct ilb_sim *sim, uint64_t predicted)
{
	const struct ilb_sim_machine *machine = &sim->plan->machine;
	unsigned int i, best = 0;

	for (i = 1; i < machine->nr_states; i++)
		if (machine->states[i].residency_ns <= predicted)
			best = i;
	return best;
}

/* One question about the tick, before a sleep. */
static void stop_tick(struct ilb_sim *sim, unsigned int cpu,
		      uint64_t predicted)
{
	struct ilb_idle_guess guess = { .predicted_ns = predicted };
	struct ilb_tick_cpu *t = &sim->ticks[cpu];
	int was_stopped = t->stopped;
	int menu = sim->tick.setup.governor != ILB_GOVERNOR_NONE;

	ilb_tick_idle_stop(&sim->tick, cpu, sim->now, menu ? &guess : NULL);
	if (t->stopped && !was_stopped)
		ilb_sim_say(sim, cpu, ILB_EVENT_TICK_STOP, 1);
	ilb_sim_tick_arm(sim, cpu);
}

/* Its time as a lost CPU ends, or goes on, or begins. */
void ilb_sim_idle_lost(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	if (c->lost_since != ILB_NEVER)
		sim->result.lost_ns += sim->now - c->lost_since;
	c->lost_since = ILB_NEVER;
	if (!c->current && sim->ticks[cpu].stopped &&
	    !sim->rq[cpu].tick_stopped && sim->domains.base[cpu])
		c->lost_since = sim->now;
}

void ilb_sim_idle(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	uint64_t predicted;

	if (c->head) {
		ilb_sim_schedule(sim, cpu);
		return;
	}
	sim->ticks[cpu].next_timer_ns = ilb_sim_next_timer(sim, cpu);
	predicted = predict(sim, cpu);
	stop_tick(sim, cpu, predicted);
	ilb_sim_idle_lost(sim, cpu);
	/* A tick that runs on ends the sleep. */
	if (!sim->ticks[cpu].stopped &&
	    sim->ticks[cpu].next_ns - sim->now < predicted)
		predicted = sim->ticks[cpu].next_ns - sim->now;
	c->idle_state = (unsigned char)choose_state(sim, predicted);
	c->in_state = 1;
	c->mode = ILB_SIM_SLEEPS;
	c->ends = ILB_NEVER;
	c->slept_since = sim->now;
	ilb_sim_say(sim, cpu, ILB_EVENT_IDLE, c->idle_state);
	ilb_sim_sleep_thread(sim, cpu);
}

/* Interrupts end a sleep, too, so they are learned from. */
void ilb_sim_idle_leave_state(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	if (!c->in_state)
		return;
	c->in_state = 0;
	c->history[c->idles++ % ILB_SIM_HISTORY] = sim->now - c->slept_since;
	ilb_sim_say(sim, cpu, ILB_EVENT_IDLE, ILB_IDLE_EXIT);
}

void ilb_sim_idle_begin(struct ilb_sim *sim, unsigned int cpu, uint64_t ns)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];

	c->mode = ILB_SIM_IDLES;
	c->idle_since = sim->now;
	ilb_tick_idle_enter(&sim->tick, cpu);
	ilb_balance_idle_enter(&sim->balance, cpu);
	ilb_sim_end_at(sim, cpu, sim->now + ns + sim->costs->switch_ +
					 sim->costs->idle);
}

void ilb_sim_idle_end(struct ilb_sim *sim, unsigned int cpu)
{
	ilb_sim_idle_lost(sim, cpu);
	ilb_tick_idle_exit(&sim->tick, cpu, sim->now);
	ilb_sim_tick_arm(sim, cpu);
}
