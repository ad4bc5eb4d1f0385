/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_MODEL_MACHINE_H
#define ILB_TESTS_UNIT_MODEL_MACHINE_H

/* A machine of any shape with its domains, for the tests of model/. */

#include "ilb/domain.h"
#include "test.h"

/**
 * struct machine - change what you like before machine_build()
 * @zero: a table of one set
 */
struct machine {
	struct ilb_behaviour behaviour;
	struct ilb_topology topology;
	struct ilb_domains_setup setup;
	struct ilb_domains domains;
	void *memory;
	unsigned long *online, *isolated;
	unsigned int *core, *sibling, *llc, *node, *cluster, *capacity, *zero;
};

/**
 * machine_new() - adjacent CPUs share a core, a cache, a node
 * @kernel: "linux-7.3"
 *
 * Fails the test if the shape is wrong.
 */
struct machine *machine_new(const char *kernel, unsigned int nr_cpus,
			    unsigned int per_core, unsigned int per_llc,
			    unsigned int per_node);

/** machine_vera() - mail A's and B's: 2 x 88 x 2; with domains */
struct machine *machine_vera(const char *kernel);

/** machine_offline() - take the highest CPU of its core offline */
void machine_offline(struct machine *m, unsigned int cpu);

/** machine_build() - build the domains (again); time is 1000 jiffies. */
void machine_build(struct machine *m);

void machine_free(struct machine *m);

#endif
