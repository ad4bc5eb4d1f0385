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

/*
 * The next thread upward, or back to the lowest from the highest. A ring that
 * closes too early would hide a thread from every test of its core.
 */
static int ring_(const struct ilb_topology *t, unsigned int cpu)
{
	unsigned int core = t->core[cpu];
	unsigned int next = cpu + 1;

	if (!t->smt)
		return core == cpu && t->sibling[cpu] == cpu;
	while (next < t->nr_cpus && t->core[next] != core)
		next++;
	return t->sibling[cpu] == (next < t->nr_cpus ? next : core);
}

static int cpu_ok_(const struct ilb_topology *t, unsigned int cpu)
{
	if (!lowest_(t, t->core, cpu) || !lowest_(t, t->llc, cpu) ||
	    !lowest_(t, t->node, cpu) || !ring_(t, cpu))
		return 0;
	return !t->capacity ||
	       (t->capacity[cpu] && t->capacity[cpu] <= 1024);
}

/* What holds for the machine, once it holds for each CPU. */
static int machine_ok_(const struct ilb_topology *t)
{
	unsigned int cpu, smt = 0, largest = t->capacity ? 0 : 1024;
	unsigned int used = t->nr_cpus % ILB_WORD_BITS;

	for (cpu = 0; cpu < t->nr_cpus; cpu++) {
		smt |= t->core[cpu] != cpu;
		if (t->capacity && t->capacity[cpu] > largest)
			largest = t->capacity[cpu];
	}
	if (used && t->online[t->nr_cpus / ILB_WORD_BITS] >> used)
		return 0;
	return largest == 1024 && smt == (unsigned int)!!t->smt;
}

int ilb_topology_check(const struct ilb_topology *topology, unsigned int *cpu)
{
	unsigned int c = 0;

	if (topology->nr_cpus && topology->nr_cpus <= ILB_CPUS_MAX)
		while (c < topology->nr_cpus && cpu_ok_(topology, c))
			c++;
	if (c && c == topology->nr_cpus) {
		if (machine_ok_(topology))
			return 0;
		c = 0;
	}
	if (cpu)
		*cpu = c;
	return -ILB_ERR_BUG;
}
