// SPDX-License-Identifier: GPL-2.0-only
/* Random machines and moments; see machine.h. */

#include <string.h>

#include "machine.h"

enum layout { ADJACENT, STRIDED, HYBRID, SHUFFLED, NR_LAYOUTS };

/*
 * Mostly small machines: they are quick, and what goes wrong on a large one
 * goes wrong on a small one too, unless it is at a border of words.
 */
static unsigned int random_size(uint64_t *state)
{
	unsigned int dice = below(state, 2048);

	if (dice == 0)
		return 1 + below(state, MACHINE_CPUS);
	if (dice < 32)
		return 1 + below(state, 512);
	if (dice < 64)
		return (1 + below(state, 4)) * ILB_WORD_BITS;
	return 1 + below(state, 1U << (2 + below(state, 5)));
}

static unsigned int core_label(enum layout layout, unsigned int cpu,
			       unsigned int nr, unsigned int threads,
			       uint64_t *state)
{
	unsigned int cores = (nr + threads - 1) / threads;

	switch (layout) {
	case ADJACENT:
		return cpu / threads;
	case STRIDED:
		return cpu % cores;
	case HYBRID:
		return cpu < nr / 2 ? cpu / threads : cpu;
	default:
		return below(state, cores);
	}
}

static void label_cpus(struct machine *m, uint64_t *state)
{
	enum layout layout = (enum layout)below(state, NR_LAYOUTS);
	unsigned int threads = 1U << below(state, 4);
	unsigned int per_llc = 1 + below(state, 1 + m->nr / threads);
	unsigned int per_node = 1 + below(state, 4);
	unsigned int cpu, offline, label;

	/* Of 16 CPUs, that many are offline. */
	offline = below(state, 2) ? 0 : below(state, 12);
	for (cpu = 0; cpu < m->nr; cpu++) {
		label = core_label(layout, cpu, m->nr, threads, state);
		m->online[cpu] = below(state, 16) >= offline;
		if (m->online[cpu]) {
			m->core_of[cpu] = label;
			m->llc_of[cpu] = label / per_llc;
			m->node_of[cpu] = label / per_llc / per_node;
		} else {
			m->core_of[cpu] = MACHINE_CPUS + cpu;
			m->llc_of[cpu] = MACHINE_CPUS + cpu;
			m->node_of[cpu] = MACHINE_CPUS + cpu;
		}
	}
}

/* Per CPU the lowest one with the same label. */
static void name_by_lowest(unsigned int *table, const unsigned int *label,
			   unsigned int nr)
{
	static unsigned int lowest[2 * MACHINE_CPUS];
	unsigned int cpu;

	for (cpu = nr; cpu-- > 0;)
		lowest[label[cpu]] = cpu;
	for (cpu = 0; cpu < nr; cpu++)
		table[cpu] = lowest[label[cpu]];
}

/* The members of each core, by counting; and the rings through them. */
static void list_members(struct machine *m)
{
	static unsigned int fill[2 * MACHINE_CPUS];
	unsigned int *start = m->members_start;
	unsigned int label, cpu, i;

	memset(start, 0, sizeof(m->members_start));
	for (cpu = 0; cpu < m->nr; cpu++)
		start[m->core_of[cpu] + 1]++;
	m->smt = 0;
	for (label = 0; label < 2 * MACHINE_CPUS; label++) {
		m->smt |= start[label + 1] > 1;
		start[label + 1] += start[label];
		fill[label] = start[label];
	}
	for (cpu = 0; cpu < m->nr; cpu++)
		m->members[fill[m->core_of[cpu]]++] = cpu;
	for (i = 0; i < m->nr; i++) {
		cpu = m->members[i];
		label = m->core_of[cpu];
		m->sibling[cpu] = m->members[i + 1 < start[label + 1] ?
					     i + 1 : start[label]];
	}
}

static void to_words(unsigned long *words, const unsigned char *bytes,
		     unsigned int nr)
{
	unsigned int cpu;

	memset(words, 0, ILB_MASK_WORDS(nr) * sizeof(*words));
	for (cpu = 0; cpu < nr; cpu++)
		if (bytes[cpu])
			words[cpu / ILB_WORD_BITS] |=
				1UL << (cpu % ILB_WORD_BITS);
}

void machine_make(struct machine *m, uint64_t *state)
{
	m->nr = random_size(state);
	label_cpus(m, state);
	list_members(m);
	name_by_lowest(m->core, m->core_of, m->nr);
	name_by_lowest(m->llc, m->llc_of, m->nr);
	name_by_lowest(m->node, m->node_of, m->nr);
	to_words(m->online_words, m->online, m->nr);
	memset(&m->topology, 0, sizeof(m->topology));
	m->topology.nr_cpus = m->nr;
	m->topology.online = m->online_words;
	m->topology.core = m->core;
	m->topology.sibling = m->sibling;
	m->topology.llc = m->llc;
	m->topology.node = m->node;
	m->topology.smt = m->smt;
}

/* A set of random density, often all. */
static void random_set(unsigned char *set, unsigned int nr, uint64_t *state)
{
	static const unsigned int densities[] = {
		16, 64, 128, 192, 224, 248, 256, 256,
	};
	unsigned int density = densities[below(state, 8)];
	unsigned int cpu;
	uint64_t bits = 0;

	for (cpu = 0; cpu < nr; cpu++, bits >>= 8) {
		if (cpu % 8 == 0)
			bits = rng(state);
		set[cpu] = (bits & 0xff) < density;
	}
}

/* Mail B's load: one task on each core, here of some of the nodes. */
static void one_task_per_core(unsigned char *idle, const struct machine *m,
			      uint64_t *state)
{
	unsigned int nodes = below(state, 4);
	unsigned int i, cpu, first, threads;

	memset(idle, 1, m->nr);
	for (i = 0; i < m->nr; i += threads) {
		cpu = m->members[i];
		first = m->members_start[m->core_of[cpu]];
		threads = m->members_start[m->core_of[cpu] + 1] - first;
		if (m->node_of[cpu] <= nodes)
			idle[m->members[i + below(state, threads)]] = 0;
	}
}

void moment_make(struct moment *moment, const struct machine *m,
		 uint64_t *state)
{
	random_set(moment->mask, m->nr, state);
	random_set(moment->housekeeping, m->nr, state);
	if (below(state, 4))
		random_set(moment->idle, m->nr, state);
	else
		one_task_per_core(moment->idle, m, state);
	moment->kicker = ILB_CPU_NONE;
	if (below(state, 8)) {
		moment->kicker = below(state, m->nr);
		moment->idle[moment->kicker] = 0;
	}
	to_words(moment->mask_words, moment->mask, m->nr);
	to_words(moment->housekeeping_words, moment->housekeeping, m->nr);
	to_words(moment->idle_words, moment->idle, m->nr);
	moment->scratch[ILB_MASK_WORDS(m->nr)] = SCRATCH_GUARD;
	moment->view.topology = &m->topology;
	moment->view.mask = moment->mask_words;
	moment->view.housekeeping = moment->housekeeping_words;
	moment->view.idle = moment->idle_words;
	moment->view.kicker = moment->kicker;
	moment->view.scratch = moment->scratch;
}
