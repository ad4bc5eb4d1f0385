// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwloc's objects become tables: who shares a core, a last-level cache, a
 * node. Runs in a child process (topology.c), because hwloc trusts its input.
 *
 * The last-level cache is the kernel's: the largest data or unified cache
 * above the CPU, whatever its level, cut at the NUMA node's border (as
 * cpu_coregroup_mask() does on arm64, and x86 where a cache spans nodes).
 */

#include <fcntl.h>
#include <hwloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/topology.h"

#define NODE_NONE	UINT32_MAX

/* Where hwloc's messages go, in place of stderr. */
struct notes {
	int fd;
	char text[200];
};

/*
 * hwloc says on stderr what it does not like, and nowhere else. A pipe that
 * is full drops the rest; the first line is the one that matters.
 */
static void listen_to(struct notes *notes)
{
	int fds[2];

	notes->fd = -1;
	notes->text[0] = '\0';
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return;
	if (dup2(fds[1], STDERR_FILENO) < 0)
		return;
	notes->fd = fds[0];
	setenv("HWLOC_XML_VERBOSE", "1", 1);
	setenv("HWLOC_SYNTHETIC_VERBOSE", "1", 1);
}

/* The first message that is about the input; NULL if there is none. */
static const char *first_note(struct notes *notes)
{
	static const char harmless[] = "Inserting a NUMA level";
	static const char prefix[] = "xmlbuffer: ";
	char all[4096], *line, *save;
	ssize_t n;

	if (notes->text[0])
		return notes->text;
	n = notes->fd < 0 ? 0 : read(notes->fd, all, sizeof(all) - 1);
	if (n <= 0)
		return NULL;
	all[n] = '\0';
	for (line = strtok_r(all, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, harmless, sizeof(harmless) - 1))
			continue;
		if (!strncmp(line, prefix, sizeof(prefix) - 1))
			line += sizeof(prefix) - 1;
		strncpy(notes->text, line, sizeof(notes->text) - 1);
		notes->text[sizeof(notes->text) - 1] = '\0';
		return notes->text;
	}
	return NULL;
}

/*
 * Devices are of no interest here: their plug-ins (drivers of graphics cards
 * among them) cost a quarter of the time, and can go wrong.
 */
static void leave_out_devices(void)
{
	setenv("HWLOC_PLUGINS_BLACKLIST",
	       "hwloc_cuda.so,hwloc_gl.so,hwloc_levelzero.so,hwloc_nvml.so,"
	       "hwloc_opencl.so,hwloc_pci.so,hwloc_rsmi.so", 1);
}

static int refused(const struct ilb_hwloc_input *in, struct notes *notes,
		   struct ilb_error *error)
{
	const char *why = first_note(notes);

	if (!why)
		why = "it gives no reason";
	switch (in->kind) {
	case ILB_HWLOC_XML:
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: hwloc cannot read it: %s; save it again with `lstopo FILE.xml`",
				in->name, why);
	case ILB_HWLOC_SYNTHETIC:
		return ilb_fail(error, ILB_ERR_SYNTAX,
				"'%s': neither a file nor a topology: %s; write it as in 'pack:2 [numa] l3:1 core:8 pu:2'",
				in->name, why);
	default:
		return ilb_fail(error, ILB_ERR_IO,
				"%s: hwloc cannot read its topology: %s; name a file that lstopo wrote",
				in->name, why);
	}
}

static int load(hwloc_topology_t topology, const struct ilb_hwloc_input *in)
{
	int err = 0;

	/*
	 * A CPU that this process may not use (cgroups) is online all the
	 * same. Distances and the like are of no use, and code to trip over.
	 */
	if (hwloc_topology_set_flags(topology,
				     HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED |
				     HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
				     HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
				     HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS))
		return -1;
	if (in->kind == ILB_HWLOC_XML)
		err = hwloc_topology_set_xmlbuffer(topology, in->text,
						   (int)in->size + 1);
	else if (in->kind == ILB_HWLOC_SYNTHETIC)
		err = hwloc_topology_set_synthetic(topology, in->text);
	return err ? err : hwloc_topology_load(topology);
}

static int too_large(const struct ilb_hwloc_input *in, unsigned int cpu,
		     struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"%s: has a CPU %u; CPUs 0-%u are supported",
			in->name, cpu, ILB_CPUS_MAX - 1);
}

/*
 * Offline CPUs count: a trace may show them coming online. hwloc has no
 * objects for them, and lists them in the complete set, which may be endless.
 */
static int count_cpus(hwloc_topology_t topology, unsigned int *nr_cpus,
		      const struct ilb_hwloc_input *in,
		      struct ilb_error *error)
{
	hwloc_const_cpuset_t complete;
	hwloc_obj_t pu = NULL;
	int last = -1;

	complete = hwloc_topology_get_complete_cpuset(topology);
	if (complete)
		last = hwloc_bitmap_last(complete);
	if (last >= (int)ILB_CPUS_MAX)
		last = (int)ILB_CPUS_MAX - 1;
	*nr_cpus = (unsigned int)(last + 1);
	while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
		if (pu->os_index >= ILB_CPUS_MAX)
			return too_large(in, pu->os_index, error);
		if (pu->os_index >= *nr_cpus)
			*nr_cpus = pu->os_index + 1;
	}
	if (hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) < 1)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: has no CPU; save it again with `lstopo FILE.xml`",
				in->name);
	return 0;
}

/* The lowest CPU that asked for this object; CPUs ask in ascending order. */
static unsigned int lowest(hwloc_obj_t obj, unsigned int cpu)
{
	if (!obj->userdata)
		obj->userdata = (void *)(uintptr_t)(cpu + 1);
	return (unsigned int)(uintptr_t)obj->userdata - 1;
}

static void place(struct ilb_tables *t, unsigned int cpu, hwloc_obj_t pu)
{
	hwloc_obj_t obj, core = NULL, cache = NULL, package = NULL;
	hwloc_obj_t top = pu;

	for (obj = pu->parent; obj; obj = obj->parent) {
		if (obj->type == HWLOC_OBJ_CORE && !core)
			core = obj;
		if (obj->type == HWLOC_OBJ_PACKAGE)
			package = obj;
		if (hwloc_obj_type_is_dcache(obj->type))
			cache = obj;
		top = obj;
	}
	if (core)
		t->core[cpu] = lowest(core, cpu);
	if (!cache)
		cache = package ? package : top;
	t->llc[cpu] = lowest(cache, cpu);
}

static int place_all(hwloc_topology_t topology, struct ilb_tables *t,
		     const struct ilb_hwloc_input *in,
		     struct ilb_error *error)
{
	unsigned int cpu, nr_cpus = t->topology.nr_cpus;
	hwloc_obj_t *pus, pu = NULL;

	pus = calloc(nr_cpus, sizeof(hwloc_obj_t));
	if (!pus)
		return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
				in->name);
	while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
		cpu = pu->os_index;
		if (pus[cpu]) {
			free(pus);
			return ilb_fail(error, ILB_ERR_FORMAT,
					"%s: has CPU %u twice; save it again with `lstopo FILE.xml`",
					in->name, cpu);
		}
		pus[cpu] = pu;
	}
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		if (!pus[cpu])
			continue;
		ilb_mask_set(t->online, cpu);
		place(t, cpu, pus[cpu]);
	}
	free(pus);
	return 0;
}

/*
 * Memory can be near to one CPU at several levels (an expander beside the
 * nodes of the packages): the CPU's own node is the one with the fewest CPUs.
 */
static void smallest_nodes(hwloc_topology_t topology,
			   const struct ilb_tables *t, uint32_t *own,
			   int *weight)
{
	unsigned int cpu, nr_cpus = t->topology.nr_cpus;
	hwloc_obj_t node = NULL;
	int w;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		own[cpu] = NODE_NONE;
	while ((node = hwloc_get_next_obj_by_type(topology,
						  HWLOC_OBJ_NUMANODE, node))) {
		w = node->cpuset ? hwloc_bitmap_weight(node->cpuset) : 0;
		for (cpu = 0; w && cpu < nr_cpus; cpu++) {
			if (!hwloc_bitmap_isset(node->cpuset, cpu))
				continue;
			if (own[cpu] != NODE_NONE && weight[cpu] <= w)
				continue;
			own[cpu] = node->logical_index;
			weight[cpu] = w;
		}
	}
}

/* CPUs without a node share one, as on a kernel without NUMA. */
static void number_nodes(struct ilb_tables *t, const uint32_t *own)
{
	unsigned int cpu, first, nr_cpus = t->topology.nr_cpus;

	ilb_for_each_cpu(cpu, t->online, nr_cpus) {
		for (first = 0; first < cpu; first++)
			if (ilb_mask_test(t->online, first) &&
			    own[first] == own[cpu])
				break;
		t->node[cpu] = first;
	}
}

/* No last-level cache of the kernel's is larger than a node. */
static void cut_llcs(struct ilb_tables *t, unsigned int *whole)
{
	unsigned int cpu, first, nr_cpus = t->topology.nr_cpus;

	memcpy(whole, t->llc, nr_cpus * sizeof(*whole));
	ilb_for_each_cpu(cpu, t->online, nr_cpus) {
		for (first = whole[cpu]; first < cpu; first++)
			if (ilb_mask_test(t->online, first) &&
			    whole[first] == whole[cpu] &&
			    t->node[first] == t->node[cpu])
				break;
		t->llc[cpu] = first;
	}
}

static int place_nodes(hwloc_topology_t topology, struct ilb_tables *t)
{
	unsigned int nr_cpus = t->topology.nr_cpus;
	uint32_t *own = calloc(nr_cpus, sizeof(*own));
	int *weight = calloc(nr_cpus, sizeof(*weight));
	unsigned int *whole = calloc(nr_cpus, sizeof(*whole));
	int err = -ILB_ERR_NOMEM;

	if (own && weight && whole) {
		smallest_nodes(topology, t, own, weight);
		number_nodes(t, own);
		cut_llcs(t, whole);
		err = 0;
	}
	free(own);
	free(weight);
	free(whole);
	return err;
}

static int build(hwloc_topology_t topology, struct ilb_tables **tables,
		 const struct ilb_hwloc_input *in, struct ilb_error *error)
{
	unsigned int nr_cpus;
	struct ilb_tables *t;
	int err;

	err = count_cpus(topology, &nr_cpus, in, error);
	if (err)
		return err;
	t = ilb_tables_alloc(nr_cpus);
	if (!t)
		return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
				in->name);
	err = place_all(topology, t, in, error);
	if (!err && place_nodes(topology, t))
		err = ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
			       in->name);
	if (err) {
		free(t);
		return err;
	}
	t->topology.smt = ilb_topology_link(nr_cpus, t->core, t->sibling);
	*tables = t;
	return 0;
}

int ilb_hwloc_read(struct ilb_tables **tables,
		   const struct ilb_hwloc_input *input,
		   struct ilb_error *error)
{
	hwloc_topology_t topology;
	struct notes notes;
	int err;

	leave_out_devices();
	if (hwloc_topology_init(&topology))
		return ilb_fail(error, ILB_ERR_NOMEM,
				"%s: hwloc cannot start: out of memory",
				input->name);
	listen_to(&notes);
	/*
	 * A synthetic description that hwloc half understands (indexes) is
	 * loaded without that half: only a message tells.
	 */
	if (load(topology, input) ||
	    (input->kind == ILB_HWLOC_SYNTHETIC && first_note(&notes)))
		err = refused(input, &notes, error);
	else
		err = build(topology, tables, input, error);
	hwloc_topology_destroy(topology);
	return err;
}
