/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_CHECK_H
#define ILB_TESTS_UNIT_CHECK_H

/* Machines that are asked about, built by hand. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/check.h"
#include "test.h"

#define NR_MAX		352U

struct machine {
	unsigned long online[ILB_WIDE_WORDS];
	unsigned int core[NR_MAX], sibling[NR_MAX], llc[NR_MAX], node[NR_MAX];
	struct ilb_topology topology;
	struct ilb_facts facts;
	struct ilb_check check;
	unsigned long busy[ILB_WIDE_WORDS];
};

/* Every CPU of @nr a core of its own, of one node; all online. */
static inline void start_machine(struct machine *m, unsigned int nr)
{
	unsigned int cpu;

	memset(m, 0, sizeof(*m));
	ilb_mask_fill(m->online, nr);
	for (cpu = 0; cpu < nr; cpu++)
		m->core[cpu] = cpu;
	m->topology.nr_cpus = nr;
	m->topology.online = m->online;
	m->topology.core = m->core;
	m->topology.sibling = m->sibling;
	m->topology.llc = m->llc;
	m->topology.node = m->node;
}

static inline void link_machine(struct machine *m)
{
	m->topology.smt = ilb_topology_link(m->topology.nr_cpus, m->core,
					    m->sibling);
	assert_int_equal(ilb_topology_check(&m->topology, NULL), 0);
}

/* The guests of the captures: two nodes of four cores, siblings N, N + 1. */
static inline void build_guest(struct machine *m)
{
	unsigned int cpu;

	start_machine(m, 16);
	for (cpu = 0; cpu < 16; cpu++) {
		m->core[cpu] = cpu & ~1U;
		m->llc[cpu] = m->node[cpu] = cpu & ~7U;
	}
	link_machine(m);
}

/* NVIDIA Vera: two nodes of 88 cores, the sibling of c is (c + 176) % 352. */
static inline void build_vera(struct machine *m)
{
	unsigned int cpu;

	start_machine(m, 352);
	for (cpu = 0; cpu < 352; cpu++) {
		m->core[cpu] = cpu % 176;
		m->llc[cpu] = m->node[cpu] = cpu % 176 < 88 ? 0 : 88;
	}
	link_machine(m);
}

static inline void set_list(unsigned long *mask, const char *list)
{
	assert_int_equal(ilb_cpulist_parse(list, mask, ILB_CPUS_MAX), 0);
}

static inline void judge(struct machine *m, const char *kernel,
			 const char *busy)
{
	ilb_facts_rename(&m->facts, kernel);
	if (busy)
		set_list(m->busy, busy);
	ilb_check_judge(&m->check, &m->facts, &m->topology,
			busy ? m->busy : NULL);
}

static inline void expect_list(const unsigned long *mask, const char *list,
			       const char *what)
{
	char text[1024];

	ilb_cpulist_print(text, sizeof(text), mask, NR_MAX);
	if (strcmp(text, list))
		fail_msg("%s: CPUs %s, not %s", what, text, list);
}

static inline const struct ilb_finding *find(const struct machine *m,
					     const char *id)
{
	const struct ilb_findings *f = &m->check.findings;
	unsigned int i;

	for (i = 0; i < f->count; i++)
		if (!strcmp(f->finding[i].id, id))
			return &f->finding[i];
	return NULL;
}

#endif
