// SPDX-License-Identifier: GPL-2.0-only
/* system.json, any bytes, for a machine of 2 cores with 2 threads. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/system.h"
#include "trace/topology.h"

#define NR_CPUS	4U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ilb_tables *machine(void)
{
	struct ilb_tables *t = ilb_tables_alloc(NR_CPUS);
	unsigned int cpu;

	if (!t)
		return NULL;
	ilb_mask_fill(t->online, NR_CPUS);
	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		t->core[cpu] = cpu & ~1U;
		t->llc[cpu] = t->node[cpu] = 0;
	}
	t->topology.smt = ilb_topology_link(NR_CPUS, t->core, t->sibling);
	return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ilb_error error = { "" };
	struct ilb_system system;
	struct ilb_tables *t = machine();
	int err;

	if (!t)
		return 0;
	err = ilb_system_parse(&system, &t->topology, (const char *)data, size,
			       "system.json", "topology.xml", &error);
	if (err ? !error.text[0] :
		  ilb_mask_empty(system.housekeeping, NR_CPUS) ||
		  ilb_topology_check(&t->topology, NULL))
		abort();
	if (err == -ILB_ERR_BUG || strchr(error.text, '\n'))
		abort();
	ilb_system_free(&system);
	free(t);
	return 0;
}
