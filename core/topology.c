// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sibling rings, and the check of everything that a topology promises.
 */

#include "core/env.h"
#include "ilb/error.h"
#include "ilb/topology.h"

int ilb_topology_link(unsigned int nr_cpus, const unsigned int *core,
		      unsigned int *sibling)
{
	unsigned int cpu, last;
	int smt = 0;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		sibling[cpu] = core[cpu];
		if (core[cpu] == cpu)
			continue;
		smt = 1;
		/* The highest thread so far points back to the lowest. */
		for (last = core[cpu]; sibling[last] != core[cpu];)
			last = sibling[last];
		sibling[last] = cpu;
	}
	return smt;
}

/* Each table names, per CPU, the lowest CPU of its set: itself or a lower. */
static int lowest_(const struct ilb_topology *t, const unsigned int *table,
		   unsigned int cpu)
{
	unsigned int first = table[cpu];

	if (first > cpu || table[first] != first)
		return 0;
	return first == cpu || (ilb_mask_test(t->online, first) &&
				ilb_mask_test(t->online, cpu));
}

/* The next thread upward, or back to the lowest from the highest. */
static int ring_(const struct ilb_topology *t, unsigned int cpu)
{
	unsigned int next = t->sibling[cpu];
	unsigned int c;

	if (next >= t->nr_cpus || t->core[next] != t->core[cpu])
		return 0;
	if (next <= cpu)
		return next == t->core[cpu];
	for (c = cpu + 1; c < next; c++)
		if (t->core[c] == t->core[cpu])
			return 0;
	return 1;
}

static int cpu_ok_(const struct ilb_topology *t, unsigned int cpu)
{
	if (!lowest_(t, t->core, cpu) || !lowest_(t, t->llc, cpu) ||
	    !lowest_(t, t->node, cpu) || !ring_(t, cpu))
		return 0;
	if (t->capacity && (!t->capacity[cpu] || t->capacity[cpu] > 1024))
		return 0;
	return t->smt || t->sibling[cpu] == cpu;
}

int ilb_topology_check(const struct ilb_topology *topology, unsigned int *cpu)
{
	unsigned int c = 0;

	if (topology->nr_cpus && topology->nr_cpus <= ILB_CPUS_MAX)
		while (c < topology->nr_cpus && cpu_ok_(topology, c))
			c++;
	if (c && c == topology->nr_cpus)
		return 0;
	if (cpu)
		*cpu = c;
	return -ILB_ERR_BUG;
}
