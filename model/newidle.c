// SPDX-License-Identifier: GPL-2.0-only
/*
 * Balancing of a CPU that has nothing to run, as in Linux 6.1 to 7.3 with the
 * dice of 7.0, which the stable 6.x kernels studied have too
 * (sched_balance_newidle(), nohz_newidle_balance()).
 */

#include "core/env.h"
#include "model/lb.h"

#define SIDES		1024U
#define RATE_SHIFT	22

/* DEVIATION(dice): a generator of our own; the kernel's is per CPU. */
static unsigned int roll(struct ilb_balance *b)
{
	b->dice = b->dice * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)(b->dice >> 40) % SIDES;
}

static uint64_t clock_ns(const struct ilb_balance *b)
{
	return b->setup.host->clock(b->setup.context);
}

/* Halved every 1024 calls; the ratio is of the last such lot. */
static void count_call(const struct ilb_balance *b,
		       struct ilb_sched_domain *sd, unsigned int success)
{
	sd->newidle_call++;
	sd->newidle_success += success;
	sd->newidle_ns = clock_ns(b);
	if (sd->newidle_call < SIDES)
		return;
	sd->newidle_ratio = sd->newidle_success;
	sd->newidle_call /= 2;
	sd->newidle_success /= 2;
}

/*
 * DEVIATION(newidle-rate): the time since the last call adds to the chance of
 * this one, 1 of 1024 for each 2^22 ns; the kernel's formula may differ.
 */
static unsigned int chance(const struct ilb_balance *b,
			   const struct ilb_sched_domain *sd)
{
	uint64_t rate = 0;

	if (ilb_lb_behaviour(b)->newidle_rate)
		rate = (clock_ns(b) - sd->newidle_ns) >> RATE_SHIFT;
	if (rate > SIDES)
		rate = SIDES;
	return 1 + sd->newidle_ratio + (unsigned int)rate;
}

static int dice_say_no(struct ilb_balance *b,
		       const struct ilb_sched_domain *sd)
{
	if (ilb_lb_behaviour(b)->newidle_rate && sd->newidle_ratio >= SIDES)
		return 0;
	return roll(b) > chance(b, sd);
}

static void note_cost(const struct ilb_balance *b, struct ilb_sched_domain *sd,
		      uint64_t cost)
{
	if (cost <= sd->max_newidle_cost) {
		ilb_lb_decay(b, sd);
		return;
	}
	sd->max_newidle_cost = cost;
	sd->last_decay = ilb_balance_jiffies(b);
}

/* A success counts for as many calls as the dice let through one. */
static unsigned int try_level(struct ilb_balance *b, unsigned int cpu,
			      struct ilb_sched_domain *sd, uint64_t *spent,
			      int *go_on)
{
	unsigned int weight, moved;
	uint64_t start, cost;

	if (dice_say_no(b, sd)) {
		count_call(b, sd, 0);
		return 0;
	}
	weight = chance(b, sd);
	weight = (SIDES + weight / 2) / weight;
	start = clock_ns(b);
	moved = ilb_lb_run(b, cpu, sd, ILB_IDLE_NEWLY, go_on);
	cost = clock_ns(b) - start;
	*spent += cost;
	count_call(b, sd, moved ? weight : 0);
	note_cost(b, sd, cost);
	return moved;
}

static void pull_forward(const struct ilb_balance *b,
			 const struct ilb_sched_domain *sd, uint64_t *next)
{
	uint64_t due = sd->last_balance + ilb_lb_interval(b, sd, 0);

	if (due < *next)
		*next = due;
}

static unsigned int try_levels(struct ilb_balance *b, unsigned int cpu,
			       uint64_t *next)
{
	struct ilb_balance_cpu *c = &b->setup.cpus[cpu];
	struct ilb_sched_domain *sd;
	unsigned int moved = 0;
	uint64_t spent = 0;
	int go_on = 1;

	ilb_lb_refresh(b, cpu);
	for (sd = b->setup.domains->base[cpu]; sd; sd = sd->parent) {
		pull_forward(b, sd, next);
		if (c->avg_idle < spent + sd->max_newidle_cost)
			break;
		if (sd->span->flags & ILB_SD_NEWIDLE)
			moved = try_level(b, cpu, sd, &spent, &go_on);
		if (moved || !go_on)
			break;
	}
	if (spent > c->max_cost)
		c->max_cost = spent;
	return moved;
}

/* Is it worth to look at all? */
static int promising(const struct ilb_balance *b, unsigned int cpu)
{
	const struct ilb_sched_domain *sd = b->setup.domains->base[cpu];

	return sd && b->overloaded &&
	       b->setup.cpus[cpu].avg_idle >= sd->max_newidle_cost;
}

/* Let it refresh blocked load on its way to idle, without an interrupt. */
static void ask_for_refresh(struct ilb_balance *b, unsigned int cpu)
{
	const struct ilb_nohz *nohz = b->setup.nohz;

	if (b->setup.cpus[cpu].avg_idle < b->setup.migration_cost_ns)
		return;
	if (!nohz->has_blocked || ilb_balance_jiffies(b) < nohz->next_blocked)
		return;
	ilb_lb_queue(b, cpu)->pending |= ILB_KICK_NEWILB;
}

static int is_active(const struct ilb_balance *b, unsigned int cpu)
{
	const struct ilb_nohz_setup *setup = &b->setup.nohz->setup;

	return ilb_mask_test(setup->active ? setup->active
					   : setup->topology->online, cpu);
}

unsigned int ilb_balance_newidle(struct ilb_balance *balance,
				 unsigned int cpu)
{
	const struct ilb_sched_domain *sd = balance->setup.domains->base[cpu];
	uint64_t next = ilb_balance_jiffies(balance) + balance->setup.hz;
	struct ilb_balance_cpu *c = &balance->setup.cpus[cpu];
	struct ilb_nohz_cpu *queue = ilb_lb_queue(balance, cpu);

	if (c->wakeup_pending)
		return 0;
	c->idle_stamp = clock_ns(balance);
	if (!is_active(balance, cpu))
		return 0;
	if (promising(balance, cpu))
		try_levels(balance, cpu, &next);
	else if (sd)
		pull_forward(balance, sd, &next);
	if (next < queue->next_balance)
		queue->next_balance = next;
	if (queue->nr_running)
		c->idle_stamp = 0;
	else
		ask_for_refresh(balance, cpu);
	return queue->nr_running;
}
