/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_NOHZ_H
#define ILB_TESTS_UNIT_NOHZ_H

/* A small machine that hosts the model, for its tests. */

#include <string.h>

#include "ilb/nohz.h"
#include "test.h"

#define NR	8
#define NOW	1000

#define BALANCE	(ILB_KICK_BALANCE | ILB_KICK_STATS)

/* Cores {0,1} {2,3} {4,5} {6,7}; LLCs and nodes 0-3 and 4-7. All idle. */
struct host {
	unsigned long online[1], housekeeping[1], idle[1], mask[1], scratch[1];
	unsigned long isolated[1], active[1];
	unsigned int core[NR], sibling[NR], llc[NR], capacity[NR];
	unsigned int packing[NR], nr_busy[NR];
	unsigned char unequal[NR];
	int priority[NR];
	struct ilb_nohz_cpu cpus[NR];
	struct ilb_topology topology;
	struct ilb_nohz_setup setup;
	struct ilb_behaviour behaviour;
	struct ilb_nohz nohz;
	struct ilb_kick kick;
};

static inline void describe(struct host *h)
{
	unsigned int cpu;

	memset(h, 0, sizeof(*h));
	h->online[0] = h->housekeeping[0] = h->idle[0] = 0xff;
	for (cpu = 0; cpu < NR; cpu++) {
		h->core[cpu] = cpu & ~1U;
		h->llc[cpu] = cpu & ~3U;
		h->capacity[cpu] = 1024;
		h->cpus[cpu].capacity = 1024;
		h->cpus[cpu].next_balance = NOW + 1;
	}
	h->topology.nr_cpus = NR;
	h->topology.online = h->online;
	h->topology.core = h->core;
	h->topology.sibling = h->sibling;
	h->topology.llc = h->llc;
	h->topology.node = h->llc;
	h->topology.capacity = h->capacity;
	h->topology.smt = ilb_topology_link(NR, h->core, h->sibling);
	assert_int_equal(ilb_topology_check(&h->topology, NULL), 0);
	h->setup.topology = &h->topology;
	h->setup.housekeeping = h->housekeeping;
	h->setup.idle = h->idle;
	h->setup.cpus = h->cpus;
	h->setup.nr_busy = h->nr_busy;
	h->setup.mask = h->mask;
	h->setup.scratch = h->scratch;
}

static inline void start(struct host *h, const struct ilb_behaviour *behaviour)
{
	h->behaviour = *behaviour;
	h->setup.behaviour = &h->behaviour;
	assert_int_equal(ilb_nohz_init(&h->nohz, &h->setup, NOW), 0);
}

static inline void boot(struct host *h, const char *kernel)
{
	const struct ilb_behaviour *row;

	assert_int_equal(ilb_behaviour_find(kernel, &row), 0);
	describe(h);
	start(h, row);
}

static inline void run_tasks(struct host *h, unsigned int cpu,
			     unsigned int tasks)
{
	h->cpus[cpu].nr_running = tasks;
	h->cpus[cpu].nr_queued = tasks;
	h->cpus[cpu].nr_runnable = tasks;
	if (tasks)
		ilb_mask_clear(h->idle, cpu);
	else
		ilb_mask_set(h->idle, cpu);
}

/* Register all of @mask, and forget what that leaves to be done. */
static inline void settle(struct host *h, unsigned long mask)
{
	unsigned int cpu;

	for (cpu = 0; cpu < NR; cpu++)
		if (mask >> cpu & 1)
			ilb_nohz_enter_idle(&h->nohz, cpu);
	h->nohz.has_blocked = 0;
	h->nohz.needs_update = 0;
}

static inline void expect_tick(struct host *h, unsigned int cpu,
			       enum ilb_gate gate, unsigned int flags)
{
	ilb_nohz_tick(&h->nohz, cpu, NOW, &h->kick);
	if (h->kick.gate != gate || h->kick.flags != flags)
		fail_msg("gate %s flags %#x, not %s %#x",
			 ilb_gate_name(h->kick.gate), h->kick.flags,
			 ilb_gate_name(gate), flags);
}

static inline void prefer_cpu_6(struct host *h)
{
	unsigned int cpu;

	for (cpu = 0; cpu < NR; cpu++)
		h->priority[cpu] = cpu == 6 ? 2 : 1;
	h->nohz.setup.packing = h->packing;
	h->nohz.setup.priority = h->priority;
}

#endif
