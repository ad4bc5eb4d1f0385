// SPDX-License-Identifier: GPL-2.0-only
/* The machines and moments that the target and registry benches use. */

#include <stdint.h>
#include <string.h>

#include "target_machine.h"

const struct bench_shape bench_shapes[] = {
	{ "16", 8, 2, 1, 4, 4 },
	{ "352-vera", 176, 2, 0, 88, 88 },
	{ "1024", 512, 2, 0, 16, 256 },
	{ "1920-smt8", 240, 8, 1, 2, 60 },
	{ "8192", 4096, 2, 0, 16, 512 },
	{ NULL, 0, 0, 0, 0, 0 },
};

const char *const bench_states[BENCH_STATES] = {
	[BENCH_HALF_NODE] = "half-node-busy",
	[BENCH_HPC] = "one-task-per-core",
	[BENCH_HPC_IN_MASK] = "one-task-per-core-all-in-mask",
	[BENCH_LAST_CORE] = "last-core-idle",
	[BENCH_ALL_IDLE] = "all-idle",
	[BENCH_RANDOM_10] = "random-10-busy",
	[BENCH_RANDOM_50] = "random-50-busy",
	[BENCH_RANDOM_90] = "random-90-busy",
};

unsigned int bench_thread(const struct bench_shape *shape, unsigned int core,
			  unsigned int t)
{
	return shape->adjacent ? core * shape->threads + t
			       : core + t * shape->cores;
}

void bench_build(struct bench_machine *m, const struct bench_shape *shape)
{
	unsigned int core, t, cpu;

	memset(m, 0, sizeof(*m));
	m->shape = shape;
	m->topology.nr_cpus = shape->cores * shape->threads;
	for (core = 0; core < shape->cores; core++) {
		for (t = 0; t < shape->threads; t++) {
			cpu = bench_thread(shape, core, t);
			m->core[cpu] = bench_thread(shape, core, 0);
			m->llc[cpu] = bench_thread(shape,
				core - core % shape->llc, 0);
			m->node[cpu] = bench_thread(shape,
				core - core % shape->node, 0);
		}
	}
	ilb_mask_fill(m->online, m->topology.nr_cpus);
	m->topology.online = m->online;
	m->topology.core = m->core;
	m->topology.sibling = m->sibling;
	m->topology.llc = m->llc;
	m->topology.node = m->node;
	m->topology.smt = ilb_topology_link(m->topology.nr_cpus, m->core,
					    m->sibling);
	m->view.topology = &m->topology;
	m->view.mask = m->mask;
	m->view.housekeeping = m->online;
	m->view.idle = m->idle;
	m->view.kicker = 0;
	m->view.scratch = m->scratch;
	bench_set(m, BENCH_ALL_IDLE);
}

static void random_busy(struct bench_machine *m, unsigned int percent)
{
	uint64_t x = 0x9e3779b97f4a7c15ULL;
	unsigned int cpu;

	for (cpu = 0; cpu < m->topology.nr_cpus; cpu++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x % 100 < percent)
			ilb_mask_clear(m->idle, cpu);
	}
}

static void first_threads_busy(struct bench_machine *m, unsigned int cores)
{
	unsigned int core;

	for (core = 0; core < cores; core++)
		ilb_mask_clear(m->idle, bench_thread(m->shape, core, 0));
}

static void only_last_core_idle(struct bench_machine *m)
{
	const struct bench_shape *shape = m->shape;
	unsigned int t;

	ilb_mask_zero(m->idle, m->topology.nr_cpus);
	for (t = 0; t < shape->threads; t++)
		ilb_mask_set(m->idle, bench_thread(shape, shape->cores - 1,
						   t));
}

void bench_set(struct bench_machine *m, enum bench_state state)
{
	ilb_mask_fill(m->idle, m->topology.nr_cpus);
	switch (state) {
	case BENCH_HALF_NODE:
		first_threads_busy(m, m->shape->node / 2);
		break;
	case BENCH_HPC:
	case BENCH_HPC_IN_MASK:
		first_threads_busy(m, m->shape->cores);
		break;
	case BENCH_LAST_CORE:
		only_last_core_idle(m);
		break;
	case BENCH_RANDOM_10:
		random_busy(m, 10);
		break;
	case BENCH_RANDOM_50:
		random_busy(m, 50);
		break;
	case BENCH_RANDOM_90:
		random_busy(m, 90);
		break;
	default:
		break;
	}
	ilb_mask_clear(m->idle, m->view.kicker);
	ilb_mask_copy(m->mask, state == BENCH_HPC_IN_MASK ? m->online
							  : m->idle,
		      m->topology.nr_cpus);
}
