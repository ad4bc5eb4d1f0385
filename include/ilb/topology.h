/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TOPOLOGY_H
#define ILB_TOPOLOGY_H

#include "ilb/mask.h"

/**
 * struct ilb_topology - who shares what with whom; the host fills it
 * @nr_cpus: CPU ids are below this, 1 to ILB_CPUS_MAX; ids may have holes
 * @online: the CPUs that exist and are online
 * @core: per CPU: the lowest online CPU of its core. An offline CPU is a core
 *        of its own (the kernel takes it out of its siblings' SMT masks)
 * @sibling: per CPU: the next higher online CPU of its core, the highest one
 *           pointing back to the lowest; the CPU itself where there is no
 *           other. So the threads of a core form a ring in ascending order.
 * @llc: per CPU: the lowest online CPU that shares its last-level cache
 * @node: per CPU: the lowest online CPU of its NUMA node
 * @capacity: per CPU: 1 to 1024, the largest CPU being 1024; NULL: all equal
 * @smt: 1 if some core has two or more online CPUs
 *
 * The arrays have @nr_cpus entries and belong to whoever filled the struct.
 * The core code only reads them.
 */
struct ilb_topology {
	unsigned int nr_cpus;
	const unsigned long *online;
	const unsigned int *core;
	const unsigned int *sibling;
	const unsigned int *llc;
	const unsigned int *node;
	const unsigned int *capacity;
	int smt;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_topology_link() - make the sibling rings
 * @core: as in struct ilb_topology
 * @sibling: filled
 *
 * Takes @nr_cpus steps, times the threads of a core.
 *
 * Returns 1 if some core has two or more CPUs (the value of smt), else 0.
 */
int ilb_topology_link(unsigned int nr_cpus, const unsigned int *core,
		      unsigned int *sibling);

/**
 * ilb_topology_check() - test every promise that struct ilb_topology makes
 *
 * Returns 0, or -ILB_ERR_BUG with *@cpu (may be NULL) set to the first CPU
 * whose entries break one; to 0 if it is the machine as a whole: @nr_cpus,
 * bits of @online beyond it, @smt, the largest @capacity.
 */
int ilb_topology_check(const struct ilb_topology *topology, unsigned int *cpu);

#ifdef __cplusplus
}
#endif
#endif
