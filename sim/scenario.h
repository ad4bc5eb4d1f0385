/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_SIM_SCENARIO_H
#define ILB_SIM_SCENARIO_H

#include "ilb/sim.h"
#include "sim/input.h"

/**
 * struct ilb_scenario - a scenario file
 * @file: its path, or what it was called
 * @text, @root: what is in it
 * @folders: where scenarios/ and machines/ are
 */
struct ilb_scenario {
	char *file;
	char *text;
	json_t *root;
	char **folders;
};

/**
 * struct ilb_plan_memory - a plan and what it owns
 * @plan: first, so that its address is the block's
 * @blocks: of ilb_plan_alloc()
 */
struct ilb_plan_memory {
	struct ilb_sim_plan plan;
	void **blocks;
	unsigned int nr_blocks;
};

/** ilb_plan_alloc() - zeroed memory that lives as long as the plan, or NULL */
void *ilb_plan_alloc(struct ilb_sim_plan *plan, size_t nr, size_t size);

/** ilb_scenario_find() - the path of machine or scenario @name; free() it */
char *ilb_scenario_find(const struct ilb_scenario *scenario,
			const char *kind, const char *name);

/** ilb_scenario_machine() - fill @plan->machine from @root's "machine" */
int ilb_scenario_machine(const struct ilb_scenario *scenario,
			 struct ilb_input *json, const json_t *root,
			 struct ilb_sim_plan *plan);

/** ilb_scenario_kernel() - likewise from "kernel" and "policy" */
int ilb_scenario_kernel(struct ilb_input *json, const json_t *root,
			struct ilb_sim_plan *plan);

/** ilb_scenario_workload() - likewise from "workload" */
int ilb_scenario_workload(struct ilb_input *json, const json_t *root,
			  struct ilb_sim_plan *plan);

/** ilb_scenario_recorded() - likewise from "recorded" of a workload */
int ilb_scenario_recorded(struct ilb_input *json, const json_t *object,
			  struct ilb_sim_plan *plan);

#endif
