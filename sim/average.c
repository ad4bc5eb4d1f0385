// SPDX-License-Identifier: GPL-2.0-only
/*
 * Averages of what a CPU does, which halve every 32 ms of 2^20 ns, as PELT's
 * do; in fixed point, brought up to date when something changes or is asked.
 *
 * DEVIATION(averages): of CPUs only. A task's share is an equal one.
 */

#include "sim/sim.h"

#define PERIOD_BITS	20
#define ONE		65536U
/* 65536 ln 2 / 32: what one period takes, for parts of one. */
#define PART		1420U

/* 65536 * 2^(-n/32) */
static const uint32_t decay[32] = {
	65536, 64132, 62757, 61413, 60097, 58809, 57549, 56316,
	55109, 53928, 52773, 51642, 50535, 49452, 48393, 47356,
	46341, 45348, 44376, 43425, 42495, 41584, 40693, 39821,
	38968, 38133, 37316, 36516, 35734, 34968, 34219, 33486,
};

/* What is left of an average after @ns, of ONE. */
static uint32_t left_after(uint64_t ns)
{
	uint64_t periods = ns >> PERIOD_BITS;
	uint32_t part = (uint32_t)(ns & ((1U << PERIOD_BITS) - 1)) >> 4;
	uint32_t left;

	if (periods >= 32 * 16)
		return 0;
	left = decay[periods % 32] >> (periods / 32);
	return left - (uint32_t)((uint64_t)left * (part * PART / ONE) / ONE);
}

static unsigned long approach(unsigned long average, unsigned long target,
			      uint32_t left)
{
	return (average * left + target * (ONE - left) + ONE / 2) / ONE;
}

void ilb_sim_average(struct ilb_sim *sim, unsigned int cpu)
{
	struct ilb_sim_cpu *c = &sim->cpu[cpu];
	struct ilb_balance_cpu *b = &sim->balance_cpu[cpu];
	unsigned long tasks = sim->rq[cpu].nr_running;
	uint32_t left;

	if (c->averaged == sim->now)
		return;
	left = left_after(sim->now - c->averaged);
	c->averaged = sim->now;
	b->load = approach(b->load, tasks * 1024, left);
	b->runnable = approach(b->runnable, tasks * 1024, left);
	b->util = approach(b->util, c->current ? c->capacity : 0, left);
}
