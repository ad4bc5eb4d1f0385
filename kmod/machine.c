// SPDX-License-Identifier: GPL-2.0-only
/*
 * The topology as core/ takes it: tables of lowest CPUs, made anew whenever a
 * CPU comes or goes. Readers run with interrupts off, which holds RCU.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cacheinfo.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/topology.h>

#include "kmod/ilb_fix.h"

struct machine {
	struct rcu_head rcu;
	struct ilb_topology topology;
	unsigned int tables[];
};

static struct machine __rcu *machine;
static int hotplug_state __ro_after_init;

static struct cpu_cacheinfo *no_cacheinfo(unsigned int cpu)
{
	return NULL;
}

DEFINE_STATIC_CALL(ilb_cacheinfo, no_cacheinfo);

/* The caches' tables are by level; their last is the largest. */
static const struct cpumask *llc_mask(unsigned int cpu)
{
	struct cpu_cacheinfo *info = static_call(ilb_cacheinfo)(cpu);

	/* Not known: a core is known to share. */
	if (!info || !info->info_list || !info->num_leaves)
		return topology_sibling_cpumask(cpu);
	return &info->info_list[info->num_leaves - 1].shared_cpu_map;
}

static unsigned int lowest(const struct cpumask *shared,
			   const unsigned long *online, unsigned int cpu)
{
	unsigned int first = cpumask_first_and(shared, to_cpumask(online));

	return min(first, cpu);
}

/* Words for the mask of online CPUs, then the tables. */
static struct machine *alloc_machine(unsigned int nr)
{
	size_t mask = cpumask_size() / sizeof(unsigned int);
	struct machine *new;
	unsigned int *table;

	new = kvzalloc(struct_size(new, tables, mask + 4UL * nr), GFP_KERNEL);
	if (!new)
		return NULL;
	table = new->tables + mask;
	new->topology.nr_cpus = nr;
	new->topology.online = (unsigned long *)new->tables;
	new->topology.core = table;
	new->topology.llc = table + nr;
	new->topology.node = table + 2UL * nr;
	new->topology.sibling = table + 3UL * nr;
	return new;
}

static void fill_tables(struct machine *new, unsigned int *core,
			unsigned int leaving)
{
	unsigned int nr = new->topology.nr_cpus;
	unsigned long *online = (unsigned long *)new->tables;
	unsigned int *llc = core + nr, *node = llc + nr, *sibling = node + nr;
	unsigned int cpu;

	cpumask_copy(to_cpumask(online), cpu_online_mask);
	if (leaving < nr)
		cpumask_clear_cpu(leaving, to_cpumask(online));
	for (cpu = 0; cpu < nr; cpu++) {
		core[cpu] = cpu;
		llc[cpu] = cpu;
		node[cpu] = cpu;
		if (!ilb_mask_test(online, cpu))
			continue;
		core[cpu] = lowest(topology_sibling_cpumask(cpu), online, cpu);
		llc[cpu] = lowest(llc_mask(cpu), online, cpu);
		node[cpu] = lowest(cpumask_of_node(cpu_to_node(cpu)), online,
				   cpu);
	}
	new->topology.smt = ilb_topology_link(nr, core, sibling);
}

/* Not known is better than wrong: then the kernel chooses alone. */
static int renew(unsigned int leaving)
{
	struct machine *old, *new = alloc_machine(nr_cpu_ids);
	unsigned int cpu;
	int err = new ? 0 : -ENOMEM;

	if (new) {
		fill_tables(new, (unsigned int *)new->topology.core, leaving);
		if (ilb_topology_check(&new->topology, &cpu)) {
			pr_warn("CPU %u: its siblings, caches or node contradict those of others; leaving all choices to the kernel until CPUs change\n",
				cpu);
			kvfree(new);
			new = NULL;
			err = -EDOM;
		}
	}
	/* Called by one at a time: the hotplug lock is held. */
	old = rcu_replace_pointer(machine, new, true);
	if (old)
		kvfree_rcu(old, rcu);
	return err;
}

/* Never an error: this must not keep a CPU from coming or going. */
static int cpu_comes(unsigned int cpu)
{
	renew(ILB_CPU_NONE);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	renew(cpu);
	return 0;
}

const struct ilb_topology *ilb_machine(void)
{
	const struct machine *now = rcu_dereference_sched(machine);

	return now ? &now->topology : NULL;
}

int __init ilb_machine_init(void)
{
	unsigned long size, cacheinfo;
	int err;

	if (nr_cpu_ids > ILB_CPUS_MAX) {
		pr_err("%u CPUs: more than the %u that the rules handle\n",
		       nr_cpu_ids, ILB_CPUS_MAX);
		return -E2BIG;
	}
	cacheinfo = ilb_symbol_need("get_cpu_cacheinfo", &size);
	if (!cacheinfo)
		return -ESRCH;
	static_call_update(ilb_cacheinfo,
			   (struct cpu_cacheinfo *(*)(unsigned int))cacheinfo);

	cpus_read_lock();
	err = renew(ILB_CPU_NONE);
	if (!err)
		err = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_ONLINE_DYN,
							   "ilb_fix:online",
							   cpu_comes,
							   cpu_goes);
	cpus_read_unlock();
	if (err < 0) {
		kvfree(rcu_dereference_protected(machine, true));
		return err;
	}
	hotplug_state = err;
	return 0;
}

void ilb_machine_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	kvfree(rcu_dereference_protected(machine, true));
}
