/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TRACE_TOPOLOGY_H
#define ILB_TRACE_TOPOLOGY_H

#include <stddef.h>

#include "ilb/capture.h"

/**
 * struct ilb_tables - a topology and its memory, one block
 * @topology: first, so that its address is the block's
 * @online: and the others: what @topology points to, writable
 * @capacity: room for a table; @topology has it only when it is filled
 */
struct ilb_tables {
	struct ilb_topology topology;
	unsigned long *online;
	unsigned int *core, *sibling, *llc, *node, *capacity;
};

/** enum ilb_hwloc_kind - what a topology comes from */
enum ilb_hwloc_kind {
	ILB_HWLOC_XML,
	ILB_HWLOC_SYNTHETIC,
	ILB_HWLOC_SELF,
};

/**
 * struct ilb_hwloc_input - where hwloc is to read from
 * @name: for messages: a path, the description, "this machine"
 * @text: the XML or the description; NUL-terminated
 * @size: length of @text
 */
struct ilb_hwloc_input {
	enum ilb_hwloc_kind kind;
	const char *name;
	const char *text;
	size_t size;
};

/**
 * ilb_tables_alloc() - @nr_cpus offline CPUs, each alone with itself
 *
 * Returns a block that free() frees, NULL if out of memory.
 */
struct ilb_tables *ilb_tables_alloc(unsigned int nr_cpus);

/**
 * ilb_tables_bytes() - the length of online, core, sibling, llc and node
 *
 * They lie in this order and without a gap from @online on: what the child
 * process of ilb_topology_load() sends.
 */
size_t ilb_tables_bytes(unsigned int nr_cpus);

/**
 * ilb_hwloc_read() - ask hwloc, and make tables of its objects
 *
 * For a child process that is about to exit: it changes the environment and
 * takes stderr away. hwloc prints its reasons there, and this puts the first
 * of them into @error.
 *
 * Returns 0 and tables to free(), or -ILB_ERR_SYNTAX, -ILB_ERR_FORMAT,
 * -ILB_ERR_UNSUPPORTED, -ILB_ERR_IO, -ILB_ERR_NOMEM. hwloc may also crash.
 */
int ilb_hwloc_read(struct ilb_tables **tables,
		   const struct ilb_hwloc_input *input,
		   struct ilb_error *error);

/**
 * ilb_topology_restrict() - take CPUs offline
 * @topology: of ilb_topology_load()
 * @online: the CPUs that stay; a subset of the topology's, not empty
 */
void ilb_topology_restrict(struct ilb_topology *topology,
			   const unsigned long *online);

/**
 * ilb_topology_weigh() - give the CPUs capacities
 * @topology: of ilb_topology_load()
 * @capacity: nr_cpus numbers as struct ilb_topology wants them; copied
 */
void ilb_topology_weigh(struct ilb_topology *topology,
			const unsigned int *capacity);

#endif
