/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_MODEL_MACHINE_H
#define ILB_TESTS_UNIT_MODEL_MACHINE_H

/* A machine of any shape with its domains, for the tests of model/. */

#include "ilb/balance.h"
#include "ilb/domain.h"
#include "test.h"

/** enum linux_row - ilb_behaviours[]: "since" is >= */
enum linux_row { LINUX_6_1, LINUX_6_12, LINUX_7_2, LINUX_7_3 };

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

#define WORLD_TASKS	512

/** struct world_task - @lb as balancing sees it; @lb.id is its number */
struct world_task {
	struct ilb_lb_task lb;
	unsigned int cpu;
};

/**
 * struct world - a machine that hosts the balancer
 * @ns: what its clock says; @step_ns: what reading the clock adds to it
 * @resched: a CPU that needs rescheduling
 * @blocked: per CPU: refreshes after which its load has decayed
 * @refreshed: all refreshes so far
 * @push_from, @push_to, @pushes: the last of them, and how many
 */
struct world {
	struct machine *m;
	struct ilb_nohz nohz;
	struct ilb_balance balance;
	struct ilb_nohz_setup nohz_setup;
	struct ilb_balance_setup setup;
	struct ilb_nohz_cpu *queue;
	struct ilb_balance_cpu *cpu;
	struct ilb_llc *llc;
	unsigned long *masks, *idle, *registered, *housekeeping;
	unsigned int *nr_busy, *blocked;
	struct world_task task[WORLD_TASKS];
	unsigned int nr_tasks;
	uint64_t ns, step_ns;
	unsigned int resched, refreshed;
	unsigned int push_from, push_to, pushes;
};

/** world_new() - @m (owned now) with its domains, all idle, at 1 s */
struct world *world_new(struct machine *m, unsigned int hz);

void world_free(struct world *w);

/** world_set() - switch a feature; the domains are built again. */
void world_set(struct world *w, const char *feature);

/** world_add() - a busy task on @cpu, its cache cold; the first there runs */
struct world_task *world_add(struct world *w, unsigned int cpu);

/** world_sync() - make the facts about @cpu true after a change of tasks */
void world_sync(struct world *w, unsigned int cpu);

/** world_register() - @cpu has its tick stopped, and nothing else to tell */
void world_register(struct world *w, unsigned int cpu);

/** world_level() - domain number @n of @cpu, from the bottom */
struct ilb_sched_domain *world_level(struct world *w, unsigned int cpu,
				     unsigned int n);

#endif
