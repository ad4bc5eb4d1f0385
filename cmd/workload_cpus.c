// SPDX-License-Identifier: GPL-2.0-only
/* ilb workload: which CPUs, and whether they are of the kind needed. */

#include <stdio.h>
#include <string.h>

#include "cmd/workload.h"
#include "ilb/capture.h"

int ilb_workload_list(unsigned long *cpus, const char *name)
{
	char path[64], text[16384];
	size_t length;
	FILE *file;

	ilb_mask_zero(cpus, ILB_CPUS_MAX);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", name);
	file = fopen(path, "re");
	if (!file)
		return -ILB_ERR_NOENT;
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	/* A list that fills the buffer was cut: its last number may be. */
	if (length < sizeof(text) - 1 &&
	    !ilb_cpulist_parse(text, cpus, ILB_CPUS_MAX))
		return 0;
	ilb_mask_zero(cpus, ILB_CPUS_MAX);
	return -ILB_ERR_FORMAT;
}

/* The lowest CPU of the node, or ILB_CPU_NONE; and how many nodes there are. */
static unsigned int node_start(const struct ilb_topology *t, unsigned int node,
			       unsigned int *nr_nodes)
{
	unsigned int cpu;

	*nr_nodes = 0;
	ilb_for_each_cpu(cpu, t->online, t->nr_cpus)
		if (t->node[cpu] == cpu && (*nr_nodes)++ == node)
			return cpu;
	return ILB_CPU_NONE;
}

int ilb_workload_per_core(unsigned long *cpus, unsigned int node,
			  struct ilb_error *error)
{
	struct ilb_topology *t;
	unsigned int cpu, start, nr_nodes;
	int err;

	err = ilb_topology_load(&t, "self", error);
	if (err)
		return err;
	ilb_mask_zero(cpus, ILB_CPUS_MAX);
	start = node_start(t, node, &nr_nodes);
	ilb_for_each_cpu(cpu, t->online, t->nr_cpus)
		if (t->node[cpu] == start && t->core[cpu] == cpu)
			ilb_mask_set(cpus, cpu);
	ilb_topology_free(t);
	if (start != ILB_CPU_NONE)
		return 0;
	return ilb_fail(error, ILB_ERR_PERM,
			"--per-core %u: no such node; this machine has %u, counted from 0",
			node, nr_nodes);
}

int ilb_workload_need_full(unsigned int cpu, struct ilb_error *error)
{
	unsigned long full[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	char list[128];

	ilb_workload_list(full, "nohz_full");
	if (ilb_mask_test(full, cpu))
		return 0;
	ilb_cpulist_print(list, sizeof(list), full, ILB_CPUS_MAX);
	return ilb_fail(error, ILB_ERR_PERM,
			"CPU %u has no nohz_full (%s%s), its tick does not stop under a task; --force runs the tasks all the same",
			cpu, *list ? "only " : "no CPU has", list);
}
