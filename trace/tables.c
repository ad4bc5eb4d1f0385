// SPDX-License-Identifier: GPL-2.0-only
/* The memory of a topology, and what may change in it after loading. */

#include <stdlib.h>
#include <string.h>

#include "trace/topology.h"

size_t ilb_tables_bytes(unsigned int nr_cpus)
{
	return ILB_MASK_WORDS(nr_cpus) * sizeof(unsigned long) +
	       (size_t)nr_cpus * 4 * sizeof(unsigned int);
}

struct ilb_tables *ilb_tables_alloc(unsigned int nr_cpus)
{
	struct ilb_tables *t;
	unsigned int cpu;

	t = calloc(1, sizeof(*t) + ilb_tables_bytes(nr_cpus) +
		   nr_cpus * sizeof(unsigned int));
	if (!t)
		return NULL;
	t->online = (unsigned long *)(t + 1);
	t->core = (unsigned int *)(t->online + ILB_MASK_WORDS(nr_cpus));
	t->sibling = t->core + nr_cpus;
	t->llc = t->sibling + nr_cpus;
	t->node = t->llc + nr_cpus;
	t->capacity = t->node + nr_cpus;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		t->core[cpu] = t->sibling[cpu] = t->llc[cpu] = t->node[cpu] =
			cpu;
	t->topology.nr_cpus = nr_cpus;
	t->topology.online = t->online;
	t->topology.core = t->core;
	t->topology.sibling = t->sibling;
	t->topology.llc = t->llc;
	t->topology.node = t->node;
	return t;
}

void ilb_topology_free(struct ilb_topology *topology)
{
	free(topology);
}

/* Each set is named after the lowest of its CPUs that stay online. */
static void rename_sets(unsigned int *table, const unsigned long *online,
			unsigned int *name, unsigned int nr_cpus)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		name[cpu] = ILB_CPU_NONE;
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		if (!ilb_mask_test(online, cpu)) {
			table[cpu] = cpu;
			continue;
		}
		if (name[table[cpu]] == ILB_CPU_NONE)
			name[table[cpu]] = cpu;
		table[cpu] = name[table[cpu]];
	}
}

void ilb_topology_restrict(struct ilb_topology *topology,
			   const unsigned long *online)
{
	struct ilb_tables *t = (struct ilb_tables *)topology;
	unsigned int nr_cpus = topology->nr_cpus;

	ilb_mask_copy(t->online, online, nr_cpus);
	/* The ring is made last, and until then is free to be written to. */
	rename_sets(t->core, online, t->sibling, nr_cpus);
	rename_sets(t->llc, online, t->sibling, nr_cpus);
	rename_sets(t->node, online, t->sibling, nr_cpus);
	topology->smt = ilb_topology_link(nr_cpus, t->core, t->sibling);
}

void ilb_topology_weigh(struct ilb_topology *topology,
			const unsigned int *capacity)
{
	struct ilb_tables *t = (struct ilb_tables *)topology;

	memcpy(t->capacity, capacity, topology->nr_cpus * sizeof(*capacity));
	topology->capacity = t->capacity;
}
