// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU numbers CPUs depth first: threads of a core side by side, then cores,
 * dies, packages. It gives each core its L1 and L2, and each die (each package
 * where it has no dies) an L3. What a description has beyond that is refused:
 * a guest that is not what was asked for would prove nothing.
 */

#include <hwloc.h>

#include "vm/vm.h"

static unsigned int count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(topology, type);

	/* At several depths: more than one can be asked for. */
	return n < 0 ? 1 : (unsigned int)n;
}

static unsigned int at_least(unsigned int n, unsigned int least)
{
	return n ? n : least;
}

static int cannot(const char *synthetic, const char *what,
		  struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"topology '%s': QEMU cannot build %s", synthetic,
			what);
}

static const char *bad_numbers(hwloc_topology_t topology)
{
	static const hwloc_obj_type_t types[] = {
		HWLOC_OBJ_PU, HWLOC_OBJ_NUMANODE,
	};
	hwloc_obj_t obj;
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (obj = hwloc_get_obj_by_type(topology, types[i], 0); obj;
		     obj = obj->next_cousin)
			if (obj->os_index != obj->logical_index)
				return "it with numbers of its own (indexes=): threads of a core are numbered side by side";
	return NULL;
}

static const char *bad_nodes(hwloc_topology_t topology,
			     const struct ilb_shape *s)
{
	unsigned int per = s->cpus / s->nodes;
	hwloc_obj_t node;

	for (node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, 0);
	     node; node = node->next_cousin)
		if (hwloc_bitmap_weight(node->cpuset) != (int)per)
			return "NUMA nodes that share CPUs";
	if (per % s->threads)
		return "a core that is split between NUMA nodes";
	if (s->nodes > s->packages * s->dies)
		return "NUMA nodes that share an L3: name a die for each";
	return NULL;
}

static const char *bad_caches(hwloc_topology_t topology,
			      const struct ilb_shape *s)
{
	static const hwloc_obj_type_t private[] = {
		HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
	};
	unsigned int n, cores = s->packages * s->dies * s->cores;
	size_t i;

	for (i = 0; i < sizeof(private) / sizeof(private[0]); i++) {
		n = count(topology, private[i]);
		if (n && n != cores)
			return "an L1 or L2 other than one per core";
	}
	if (count(topology, HWLOC_OBJ_L4CACHE) ||
	    count(topology, HWLOC_OBJ_L5CACHE))
		return "an L4 or L5";
	n = count(topology, HWLOC_OBJ_L3CACHE);
	if (n && n != s->packages * s->dies)
		return "several L3 in a package, or several packages with one: name a die for each L3, as in 'pack:1 die:2 l3:1 core:4 pu:2'";
	return NULL;
}

static const char *measure(struct ilb_shape *s, hwloc_topology_t topology,
			   const struct ilb_vm_machine *machine)
{
	unsigned int dies, cores, groups;

	s->cpus = count(topology, HWLOC_OBJ_PU);
	s->packages = at_least(count(topology, HWLOC_OBJ_PACKAGE), 1);
	dies = at_least(count(topology, HWLOC_OBJ_DIE), s->packages);
	cores = at_least(count(topology, HWLOC_OBJ_CORE), s->cpus);
	s->nodes = at_least(count(topology, HWLOC_OBJ_NUMANODE), 1);
	/* hwloc makes one of its own for each node. */
	groups = count(topology, HWLOC_OBJ_GROUP);
	if (groups && groups != s->nodes)
		return "groups";
	if (dies < s->packages || cores < dies)
		return "packages within dies or cores";
	if (dies > s->packages && !machine->dies)
		return "dies on this architecture";
	s->dies = dies / s->packages;
	s->cores = cores / dies;
	s->threads = s->cpus / cores;
	return NULL;
}

static int examine(struct ilb_shape *s, hwloc_topology_t topology,
		   const char *synthetic,
		   const struct ilb_vm_machine *machine,
		   struct ilb_error *error)
{
	const char *bad = measure(s, topology, machine);

	if (!bad)
		bad = bad_numbers(topology);
	if (!bad)
		bad = bad_caches(topology, s);
	if (!bad)
		bad = bad_nodes(topology, s);
	if (bad)
		return cannot(synthetic, bad, error);
	if (s->cpus <= machine->cpus_max)
		return 0;
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"topology '%s': %u CPUs; QEMU's %s machine has %u at most",
			synthetic, s->cpus, machine->name, machine->cpus_max);
}

int ilb_shape_read(struct ilb_shape *shape, const char *synthetic,
		   const struct ilb_vm_machine *machine,
		   struct ilb_error *error)
{
	hwloc_topology_t topology;
	int err;

	if (hwloc_topology_init(&topology))
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	if (hwloc_topology_set_synthetic(topology, synthetic) ||
	    hwloc_topology_load(topology))
		err = ilb_fail(error, ILB_ERR_SYNTAX,
			       "topology '%s': not a description such as '"
			       ILB_VM_TOPOLOGY "'", synthetic);
	else
		err = examine(shape, topology, synthetic, machine, error);
	hwloc_topology_destroy(topology);
	return err;
}

void ilb_shape_args(const struct ilb_shape *shape, unsigned int memory_mb,
		    const struct ilb_vm_machine *machine,
		    struct ilb_args *args)
{
	unsigned int per = shape->cpus / shape->nodes, i;
	unsigned int share = memory_mb / shape->nodes;

	ilb_args_add(args, "-smp");
	if (machine->dies)
		ilb_args_add(args, "%u,sockets=%u,dies=%u,cores=%u,threads=%u",
			     shape->cpus, shape->packages, shape->dies,
			     shape->cores, shape->threads);
	else
		ilb_args_add(args, "%u,sockets=%u,cores=%u,threads=%u",
			     shape->cpus, shape->packages, shape->cores,
			     shape->threads);
	ilb_args_add(args, "-m");
	ilb_args_add(args, "%uM", share * shape->nodes);
	for (i = 0; shape->nodes > 1 && i < shape->nodes; i++) {
		ilb_args_add(args, "-object");
		ilb_args_add(args, "memory-backend-ram,id=node%u,size=%uM", i,
			     share);
		ilb_args_add(args, "-numa");
		ilb_args_add(args, "node,nodeid=%u,cpus=%u-%u,memdev=node%u",
			     i, i * per, (i + 1) * per - 1, i);
	}
}
