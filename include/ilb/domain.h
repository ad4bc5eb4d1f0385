/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_DOMAIN_H
#define ILB_DOMAIN_H

#include <stddef.h>
#include <stdint.h>
#include "ilb/behaviour.h"
#include "ilb/schedstat.h"
#include "ilb/topology.h"

/**
 * DOC: domain - the scheduling domains of every CPU
 *
 * What CPUs balance with each other, level by level. The CPUs that share a
 * domain are a span; the spans that it consists of are its groups, so that
 * spans and groups are one thing and form a tree. What is of one CPU alone,
 * when it balanced last and how often that failed, is a struct
 * ilb_sched_domain. All memory is the caller's and linear in CPUs, times
 * levels.
 */

/** enum ilb_level - levels, from the core upward */
enum ilb_level {
	ILB_LEVEL_SMT,
	ILB_LEVEL_CLS,		/* cluster: shares an inner cache */
	ILB_LEVEL_MC,		/* shares the last-level cache */
	ILB_LEVEL_PKG,		/* the CPUs of a node */
	ILB_LEVEL_NUMA,		/* and upward, one for each distance */
};

#define ILB_LEVELS_MAX	12U

/** enum ilb_sd_flag - what a domain is */
enum ilb_sd_flag {
	ILB_SD_SHARE_CAPACITY = 1 << 0,	/* threads of a core */
	ILB_SD_SHARE_LLC = 1 << 1,
	ILB_SD_CLUSTER = 1 << 2,
	ILB_SD_NUMA = 1 << 3,
	ILB_SD_SERIALIZE = 1 << 4,	/* one CPU at a time balances */
	ILB_SD_PREFER_SIBLING = 1 << 5,	/* spread over such groups */
	ILB_SD_NEWIDLE = 1 << 6,	/* balance when about to be idle */
	ILB_SD_FORK = 1 << 7,		/* place new tasks (and on exec) */
	ILB_SD_WAKE_AFFINE = 1 << 8,	/* a waker may pull the woken here */
	ILB_SD_ASYM_CAPACITY = 1 << 9,	/* two or more capacities */
	ILB_SD_ASYM_FULL = 1 << 10,	/* all capacities of the machine */
	ILB_SD_ASYM_PACKING = 1 << 11,	/* some CPUs are preferred */
};

/**
 * struct ilb_span - CPUs that share a domain; a group of the span above it
 * @cpus: ascending
 * @weight: their number
 * @level: enum ilb_level; a single CPU as a group is of none, ~0
 * @flags: enum ilb_sd_flag; of a span without a domain those of the largest
 *	domain inside it that spans the same CPUs
 * @imbalance_pct: imbalance that is tolerated, 117 or 110 per cent
 * @cache_nice_tries: failures after which cache-hot tasks move
 * @cores: cores of which CPUs are in it
 * @llcs: last-level caches likewise
 * @imb_numa_nr: tasks on a node up to which small imbalances are left alone;
 *	0 below the node
 * @groups: the spans it consists of, by lowest CPU
 * @nr_groups: 1: no domain
 * @imbalanced: tasks of this group could not move for their affinity; changed
 *	by balancing
 */
struct ilb_span {
	const unsigned int *cpus;
	unsigned int weight;
	unsigned int level;
	unsigned int flags;
	unsigned int imbalance_pct;
	unsigned int cache_nice_tries;
	unsigned int cores;
	unsigned int llcs;
	unsigned int imb_numa_nr;
	struct ilb_span *groups;
	unsigned int nr_groups;
	int imbalanced;
};

/**
 * struct ilb_sched_domain - one CPU's part in a span
 * @span: the CPUs
 * @local: the group that the CPU is in
 * @parent: next level upward, or NULL
 * @last_balance: jiffies
 * @balance_interval: now, in ms; between @min_interval and @max_interval
 *	(more, up to 512, if all tasks are pinned)
 * @busy_factor: a busy CPU waits this many times longer
 * @nr_balance_failed: since something moved or nothing was to move
 * @max_newidle_cost: ns; decays by 1 % a second
 * @last_decay: jiffies
 * @newidle_call, @newidle_success, @newidle_ratio: how often a newly idle CPU
 *	found something here, of 1024
 * @newidle_ns: time of the last @newidle_call
 * @counts: as schedstat has them, by enum ilb_idle_type
 * @alb_count, @alb_failed, @alb_pushed: active balancing, as schedstat counts
 */
struct ilb_sched_domain {
	struct ilb_span *span;
	struct ilb_span *local;
	struct ilb_sched_domain *parent;
	uint64_t last_balance;
	unsigned int balance_interval;
	unsigned int min_interval, max_interval;
	unsigned int busy_factor;
	unsigned int nr_balance_failed;
	uint64_t max_newidle_cost;
	uint64_t last_decay;
	unsigned int newidle_call, newidle_success, newidle_ratio;
	uint64_t newidle_ns;
	struct ilb_lb_counts counts[ILB_IDLE_TYPES];
	uint64_t alb_count, alb_failed, alb_pushed;
};

/**
 * struct ilb_domains_setup - the host's side; stays referenced
 * @topology: the machine
 * @behaviour: the kernel
 * @isolated: CPUs without domains (isolcpus=domain); NULL: none
 * @cluster: per CPU: the lowest CPU of its cluster; NULL: no such level
 * @distance: @nr_nodes times @nr_nodes numbers, nodes in the order of their
 *	lowest CPUs, each node 10 from itself; NULL: all others are 20 away
 * @nr_nodes: for @distance only
 * @packing_levels: a bit per level that has asym packing
 * @now: jiffies
 */
struct ilb_domains_setup {
	const struct ilb_topology *topology;
	const struct ilb_behaviour *behaviour;
	const unsigned long *isolated;
	const unsigned int *cluster;
	const unsigned int *distance;
	unsigned int nr_nodes;
	unsigned int packing_levels;
	uint64_t now;
};

/**
 * struct ilb_domains - all of them
 * @setup: as given
 * @nr_levels: levels of the machine, those without domains included
 * @root: all CPUs that have domains; itself no domain unless its groups are
 * @base: per CPU: its lowest domain, or NULL
 */
struct ilb_domains {
	struct ilb_domains_setup setup;
	unsigned int nr_levels;
	struct ilb_span *root;
	struct ilb_sched_domain **base;
};

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_domains_size() - bytes that ilb_domains_init() needs; 0: see there */
size_t ilb_domains_size(const struct ilb_domains_setup *setup);

/**
 * ilb_domains_init() - build the domains
 * @memory: ilb_domains_size() bytes, aligned as for any type; the caller's,
 *	and in use as long as the domains are
 *
 * A domain whose CPUs are those of the domain below it is left out, as the
 * kernel does; so is one of a single CPU.
 *
 * Returns 0; -ILB_ERR_RANGE if there are more distances than levels, or
 * @nr_nodes is not the topology's; -ILB_ERR_SYNTAX if a distance is below
 * 10, or that of different nodes is 10.
 */
int ilb_domains_init(struct ilb_domains *domains,
		     const struct ilb_domains_setup *setup, void *memory);

/** ilb_level_name() - "SMT", "CLS", "MC", "PKG", "NUMA" */
const char *ilb_level_name(unsigned int level);

/** ilb_domains_llc() - @cpu's highest domain that shares an LLC, or NULL */
struct ilb_sched_domain *ilb_domains_llc(const struct ilb_domains *domains,
					 unsigned int cpu);

/**
 * ilb_domains_gates() - the arrays that struct ilb_nohz_setup asks for
 * @packing: filled; @unequal: filled
 */
void ilb_domains_gates(const struct ilb_domains *domains,
		       unsigned int *packing, unsigned char *unequal);

/**
 * ilb_domains_counts() - counters of one level, summed over the CPUs
 * @counts: one per enum ilb_idle_type; filled
 */
void ilb_domains_counts(const struct ilb_domains *domains, unsigned int level,
			struct ilb_lb_counts counts[ILB_IDLE_TYPES]);

#ifdef __cplusplus
}
#endif
#endif
