// SPDX-License-Identifier: GPL-2.0-only
/* A machine of any shape with its domains; see model_machine.h. */

#include <stdlib.h>

#include "model_machine.h"

static unsigned int *table(unsigned int nr_cpus)
{
	unsigned int *t = calloc(nr_cpus, sizeof(*t));

	assert_non_null(t);
	return t;
}

static struct machine *allocate(const char *kernel, unsigned int nr_cpus)
{
	struct machine *m = calloc(1, sizeof(*m));
	const struct ilb_behaviour *row;

	assert_non_null(m);
	assert_int_equal(ilb_behaviour_find(kernel, &row), 0);
	m->behaviour = *row;
	m->online = calloc(ILB_MASK_WORDS(nr_cpus), sizeof(*m->online));
	m->isolated = calloc(ILB_MASK_WORDS(nr_cpus), sizeof(*m->isolated));
	assert_true(m->online && m->isolated);
	m->core = table(nr_cpus);
	m->sibling = table(nr_cpus);
	m->llc = table(nr_cpus);
	m->node = table(nr_cpus);
	m->cluster = table(nr_cpus);
	m->capacity = table(nr_cpus);
	m->zero = table(nr_cpus);
	ilb_mask_fill(m->online, nr_cpus);
	m->topology.nr_cpus = nr_cpus;
	m->topology.online = m->online;
	m->topology.core = m->core;
	m->topology.sibling = m->sibling;
	m->topology.llc = m->llc;
	m->topology.node = m->node;
	m->setup.topology = &m->topology;
	m->setup.behaviour = &m->behaviour;
	m->setup.now = 1000;
	return m;
}

static void link_cores(struct machine *m)
{
	m->topology.smt = ilb_topology_link(m->topology.nr_cpus, m->core,
					    m->sibling);
	assert_int_equal(ilb_topology_check(&m->topology, NULL), 0);
}

struct machine *machine_new(const char *kernel, unsigned int nr_cpus,
			    unsigned int per_core, unsigned int per_llc,
			    unsigned int per_node)
{
	struct machine *m = allocate(kernel, nr_cpus);
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		m->core[cpu] = cpu - cpu % per_core;
		m->llc[cpu] = cpu - cpu % per_llc;
		m->node[cpu] = cpu - cpu % per_node;
		m->capacity[cpu] = 1024;
	}
	link_cores(m);
	return m;
}

struct machine *machine_vera(const char *kernel)
{
	struct machine *m = allocate(kernel, 352);
	unsigned int cpu;

	for (cpu = 0; cpu < 352; cpu++) {
		m->core[cpu] = cpu % 176;
		m->llc[cpu] = m->node[cpu] = cpu % 176 < 88 ? 0 : 88;
		m->capacity[cpu] = 1024;
	}
	link_cores(m);
	machine_build(m);
	return m;
}

void machine_offline(struct machine *m, unsigned int cpu)
{
	ilb_mask_clear(m->online, cpu);
	m->core[cpu] = m->llc[cpu] = m->node[cpu] = cpu;
	link_cores(m);
}

void machine_build(struct machine *m)
{
	size_t size = ilb_domains_size(&m->setup);

	assert_int_not_equal(size, 0);
	free(m->memory);
	m->memory = malloc(size);
	assert_non_null(m->memory);
	assert_int_equal(ilb_domains_init(&m->domains, &m->setup, m->memory),
			 0);
}

void machine_free(struct machine *m)
{
	free(m->memory);
	free(m->online);
	free(m->isolated);
	free(m->core);
	free(m->sibling);
	free(m->llc);
	free(m->node);
	free(m->cluster);
	free(m->capacity);
	free(m->zero);
	free(m);
}
