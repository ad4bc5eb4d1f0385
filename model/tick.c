// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stopping and restarting the tick, in idle and, on nohz_full CPUs, while one
 * task runs; as in Linux 6.1 to 7.3 (tick-sched.c, idle.c).
 *
 * A nohz_full CPU that stops while busy and then goes idle is where every one
 * of these kernels loses a CPU (mail C): see ilb_nohz_stop_tick().
 */

#include "core/env.h"
#include "ilb/tick.h"

#define NEVER	UINT64_MAX

static const struct ilb_behaviour *behaviour(const struct ilb_tick *tick)
{
	return tick->setup.nohz->setup.behaviour;
}

static int is_full(const struct ilb_tick *tick, unsigned int cpu)
{
	return tick->setup.nohz_full &&
	       ilb_mask_test(tick->setup.nohz_full, cpu);
}

static uint64_t phase(const struct ilb_tick *tick, unsigned int cpu)
{
	unsigned int nr = tick->setup.nohz->setup.topology->nr_cpus;

	return tick->setup.skew ? cpu * (tick->setup.tick_ns / 2 / nr) : 0;
}

uint64_t ilb_tick_after(const struct ilb_tick *tick, unsigned int cpu,
			uint64_t now_ns)
{
	uint64_t period = tick->setup.tick_ns, start = phase(tick, cpu);

	if (now_ns < start)
		return start;
	return now_ns - (now_ns - start) % period + period;
}

void ilb_tick_init(struct ilb_tick *tick, const struct ilb_tick_setup *setup,
		   uint64_t now_ns)
{
	unsigned int cpu, nr = setup->nohz->setup.topology->nr_cpus;
	struct ilb_tick_cpu *c;

	tick->setup = *setup;
	for (cpu = 0; cpu < nr; cpu++) {
		c = &setup->cpus[cpu];
		c->next_ns = ilb_tick_after(tick, cpu, now_ns);
		c->stopped = 0;
		c->in_idle = 0;
		c->got_tick = 0;
		c->idle_since_ns = 0;
		c->idle_stops = 0;
	}
}

void ilb_tick_idle_enter(struct ilb_tick *tick, unsigned int cpu)
{
	tick->setup.cpus[cpu].in_idle = 1;
	tick->setup.cpus[cpu].got_tick = 0;
}

/* Most recent wakeups came before a tick would have: stopping is in vain. */
static int mostly_early(const struct ilb_idle_guess *guess)
{
	return guess->wakeups && 3 * guess->early >= 2 * guess->wakeups;
}

/*
 * DEVIATION(governors): what a governor predicts is the host's; only the rule
 * that makes a decision of it is here.
 */
static int wants_stop(const struct ilb_tick *tick, const struct ilb_tick_cpu *c,
		      int got_tick, const struct ilb_idle_guess *guess)
{
	if (c->stopped || (guess && guess->forced))
		return 1;
	if (tick->setup.governor == ILB_GOVERNOR_OTHER)
		return 1;
	if (tick->setup.governor == ILB_GOVERNOR_NONE || !guess)
		return got_tick || !behaviour(tick)->stop_after_idle_tick;
	if (tick->setup.governor == ILB_GOVERNOR_TEO && mostly_early(guess))
		return 0;
	return !guess->polling && guess->predicted_ns >= tick->setup.tick_ns;
}

static int may_stop(const struct ilb_tick *tick, unsigned int cpu)
{
	const struct ilb_tick_cpu *c = &tick->setup.cpus[cpu];

	if (c->need_resched || c->softirq_pending)
		return 0;
	/* Others may stop for good, so this one keeps their time. */
	return !tick->setup.nohz_full || cpu != tick->setup.timekeeper;
}

/* When @cpu has to be awake again, counted from the last tick's time. */
static uint64_t next_event(const struct ilb_tick *tick, unsigned int cpu,
			   uint64_t base)
{
	const struct ilb_tick_cpu *c = &tick->setup.cpus[cpu];
	uint64_t tick_end = base + tick->setup.tick_ns;

	if (c->needs_tick && c->next_timer_ns > tick_end)
		return tick_end;
	return c->next_timer_ns;
}

/* Stop, or stay stopped, until the next event; 0: not worth it. */
static int try_stop(struct ilb_tick *tick, unsigned int cpu, uint64_t now_ns)
{
	struct ilb_tick_cpu *c = &tick->setup.cpus[cpu];
	uint64_t base = ilb_tick_after(tick, cpu, now_ns) -
			tick->setup.tick_ns;
	uint64_t next = next_event(tick, cpu, base);

	if (!c->stopped && (c->refuses || next <= base + tick->setup.tick_ns))
		return 0;
	c->stopped = 1;
	c->next_ns = next;
	return 1;
}

int ilb_tick_idle_stop(struct ilb_tick *tick, unsigned int cpu,
		       uint64_t now_ns, const struct ilb_idle_guess *guess)
{
	struct ilb_tick_cpu *c = &tick->setup.cpus[cpu];
	int was_stopped = c->stopped, got_tick = c->got_tick;

	c->got_tick = 0;
	if (!wants_stop(tick, c, got_tick, guess) || !may_stop(tick, cpu))
		return c->stopped;
	if (!try_stop(tick, cpu, now_ns))
		return 0;
	/* Mail C counts the same transitions as before it. */
	if (!was_stopped) {
		c->idle_since_ns = now_ns;
		c->idle_stops++;
	}
	ilb_nohz_stop_tick(tick->setup.nohz, cpu, was_stopped, 1);
	return 1;
}

static void restart(struct ilb_tick *tick, unsigned int cpu, uint64_t now_ns)
{
	struct ilb_tick_cpu *c = &tick->setup.cpus[cpu];

	c->stopped = 0;
	c->next_ns = ilb_tick_after(tick, cpu, now_ns);
}

int ilb_tick_fired(struct ilb_tick *tick, unsigned int cpu, uint64_t now_ns)
{
	struct ilb_tick_cpu *c = &tick->setup.cpus[cpu];

	if (c->stopped) {
		c->next_ns = NEVER;
		return 0;
	}
	c->got_tick = c->in_idle;
	c->next_ns = ilb_tick_after(tick, cpu, now_ns);
	return 1;
}

static int depends(const struct ilb_tick *tick, unsigned int cpu)
{
	return tick->setup.cpus[cpu].depends ||
	       tick->setup.nohz->setup.cpus[cpu].nr_queued > 1 ||
	       !behaviour(tick)->full_tick_stop;
}

/* A nohz_full CPU's tick, while it is not in idle. */
static void update_full(struct ilb_tick *tick, unsigned int cpu,
			uint64_t now_ns)
{
	struct ilb_tick_cpu *c = &tick->setup.cpus[cpu];

	if (!depends(tick, cpu))
		try_stop(tick, cpu, now_ns);
	else if (c->stopped)
		restart(tick, cpu, now_ns);
}

void ilb_tick_idle_exit(struct ilb_tick *tick, unsigned int cpu,
			uint64_t now_ns)
{
	struct ilb_tick_cpu *c = &tick->setup.cpus[cpu];

	c->in_idle = 0;
	if (!c->stopped)
		return;
	if (is_full(tick, cpu))
		update_full(tick, cpu, now_ns);
	else
		restart(tick, cpu, now_ns);
}

void ilb_tick_irq_exit(struct ilb_tick *tick, unsigned int cpu,
		       uint64_t now_ns)
{
	if (is_full(tick, cpu) && !tick->setup.cpus[cpu].in_idle)
		update_full(tick, cpu, now_ns);
}
