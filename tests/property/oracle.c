// SPDX-License-Identifier: GPL-2.0-only
/* The rules of mail A and B, as definitions; see oracle.h. */

#include "oracle.h"

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static void find_whole_cores(struct oracle *o, const struct machine *m,
			     const struct moment *t)
{
	unsigned int i, j, start, end, idle;

	for (i = 0; i < m->nr; i = end) {
		start = i;
		end = m->members_start[m->core_of[m->members[i]] + 1];
		idle = 0;
		for (j = start; j < end; j++)
			idle += t->idle[m->members[j]];
		for (j = start; j < end; j++)
			o->whole[m->members[j]] =
				m->smt ? idle == end - start
				       : t->idle[m->members[j]];
	}
}

void oracle_ask(struct oracle *o, const struct machine *m,
		const struct moment *t)
{
	unsigned int cpu;

	o->machine = m;
	o->moment = t;
	o->first_idle = ILB_CPU_NONE;
	o->first_whole = ILB_CPU_NONE;
	find_whole_cores(o, m, t);
	for (cpu = 0; cpu < m->nr; cpu++) {
		o->qualified[cpu] = t->mask[cpu] && t->housekeeping[cpu];
		if (o->qualified[cpu] && t->idle[cpu])
			o->first_idle = min(o->first_idle, cpu);
		if (o->qualified[cpu] && o->whole[cpu])
			o->first_whole = min(o->first_whole, cpu);
	}
}

struct ilb_choice oracle_from(const struct oracle *o, unsigned int start,
			      int skip_kicker)
{
	struct ilb_choice choice = { ILB_CPU_NONE, 0, 0 };
	unsigned int nr = o->machine->nr;
	unsigned int cpu, turn, best = ILB_CPU_NONE;

	start %= nr;
	for (cpu = 0; cpu < nr; cpu++) {
		turn = (cpu + nr - start) % nr;
		if (o->qualified[cpu] && o->moment->idle[cpu])
			best = min(best, turn);
	}
	if (best != ILB_CPU_NONE)
		choice.cpu = (best + start) % nr;
	for (cpu = 0; cpu < nr; cpu++) {
		turn = (cpu + nr - start) % nr;
		if (o->qualified[cpu] && turn <= best &&
		    !(skip_kicker && cpu == o->moment->kicker))
			choice.looked_at++;
	}
	return choice;
}

/* Tests of the other threads of @cpu's core, up to the first busy one. */
static unsigned int core_tests(const struct oracle *o, unsigned int cpu)
{
	const struct machine *m = o->machine;
	unsigned int label = m->core_of[cpu];
	unsigned int i, tests = 0;

	if (!m->smt)
		return 0;
	for (i = m->members_start[label];
	     i < m->members_start[label + 1]; i++) {
		if (m->members[i] == cpu)
			continue;
		tests++;
		if (!o->moment->idle[m->members[i]])
			break;
	}
	return tests;
}

/*
 * Has a lower thread of its core taken @cpu out of the scan? An idle one has:
 * the scan passed it, so its core was not whole. A busy one has if something
 * had been found by then, that is, if it is above the lowest idle CPU.
 */
static int pruned(const struct oracle *o, unsigned int cpu,
		  enum pruning pruning, int skip_kicker)
{
	const struct machine *m = o->machine;
	unsigned int label = m->core_of[cpu];
	unsigned int i, thread;

	if (pruning == PRUNE_NONE || !m->smt)
		return 0;
	for (i = m->members_start[label]; m->members[i] < cpu; i++) {
		thread = m->members[i];
		if (!o->qualified[thread])
			continue;
		if (skip_kicker && thread == o->moment->kicker)
			continue;
		if (o->moment->idle[thread])
			return 1;
		if (pruning == PRUNE_ALSO_BUSY && thread > o->first_idle)
			return 1;
	}
	return 0;
}

struct ilb_choice oracle_idle_core(const struct oracle *o,
				   enum pruning pruning, int skip_kicker)
{
	struct ilb_choice choice = { o->first_whole, 0, 0 };
	unsigned int cpu;

	if (o->first_whole == ILB_CPU_NONE && o->first_idle != ILB_CPU_NONE) {
		choice.cpu = o->first_idle;
		choice.fallback = 1;
	}
	for (cpu = 0; cpu < o->machine->nr; cpu++) {
		if (!o->qualified[cpu] || cpu > o->first_whole)
			continue;
		if (skip_kicker && cpu == o->moment->kicker)
			continue;
		if (pruned(o, cpu, pruning, skip_kicker))
			continue;
		choice.looked_at++;
		if (o->moment->idle[cpu])
			choice.looked_at += core_tests(o, cpu);
	}
	return choice;
}

/* 0 in the kicker's LLC, 1 in its node, else 2. */
static unsigned int distance(const struct oracle *o, unsigned int cpu)
{
	const struct machine *m = o->machine;
	unsigned int kicker = o->moment->kicker;

	if (kicker == ILB_CPU_NONE)
		return 2;
	if (m->llc_of[cpu] == m->llc_of[kicker])
		return 0;
	return m->node_of[cpu] == m->node_of[kicker] ? 1 : 2;
}

struct ilb_choice oracle_near(const struct oracle *o)
{
	struct ilb_choice choice = { ILB_CPU_NONE, 0, 0 };
	/* Lowest whole-core CPU at each distance; 3 is for none. */
	unsigned int lowest[4] = { ~0U, ~0U, ~0U, 0 };
	unsigned int cpu, d, nearer, best = 0;

	for (cpu = 0; cpu < o->machine->nr; cpu++)
		if (o->qualified[cpu] && o->whole[cpu])
			lowest[distance(o, cpu)] =
				min(lowest[distance(o, cpu)], cpu);
	while (lowest[best] == ~0U)
		best++;
	choice.cpu = best < 3 ? lowest[best] : o->first_idle;
	choice.fallback = best == 3 && choice.cpu != ILB_CPU_NONE;
	for (cpu = 0; cpu < o->machine->nr; cpu++) {
		/* A whole core as near as this CPU ends the interest in it. */
		nearer = ILB_CPU_NONE;
		for (d = 0; d <= distance(o, cpu); d++)
			nearer = min(nearer, lowest[d]);
		if (!o->qualified[cpu] || cpu > nearer)
			continue;
		if (pruned(o, cpu, PRUNE_ALSO_BUSY, 0))
			continue;
		choice.looked_at++;
		if (o->moment->idle[cpu])
			choice.looked_at += core_tests(o, cpu);
	}
	return choice;
}
