/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CMD_SIM_H
#define ILB_CMD_SIM_H

#include <stdio.h>

#include "ilb/capture.h"
#include "ilb/findings.h"
#include "ilb/measure.h"
#include "ilb/sim.h"
#include "ilb/source.h"

/**
 * struct ilb_sim_one - a run and what was measured of it
 * @plan, @capture_dir: the caller's; @capture_dir NULL: write no capture
 * @capture: what a report says of where it comes from
 */
struct ilb_sim_one {
	const struct ilb_sim_plan *plan;
	const char *capture_dir;

	struct ilb_capture capture;
	struct ilb_machine *machine;
	struct ilb_meter *meter;
	struct ilb_sim_writer *writer;
	struct ilb_measures *measures;
	struct ilb_findings findings;
	struct ilb_source_stats stats;
	struct ilb_sim_result result;
};

/** ilb_sim_one_run() - run and measure; 0, or an error. Then _close(). */
int ilb_sim_one_run(struct ilb_sim_one *one, struct ilb_error *error);
void ilb_sim_one_close(struct ilb_sim_one *one);

/** struct ilb_sim_row - a variant in the comparison */
struct ilb_sim_row {
	const char *name;
	const char *published, *unit;	/* NULL: nothing was */
	uint64_t work_ns, duration_ns;
	uint64_t kicks, on_busy_core, avoidable, dropped;
	uint64_t passes, pass_ns, disturbed_ns;
	uint64_t sched, sched_ns;
	uint64_t violations, wasted_ns;
	uint64_t lost_ns;
	uint64_t busy_sibling, idle_sibling;
	int lines;			/* 1: transfers were counted */
	uint64_t transfers[ILB_SIM_SHARED][ILB_SIM_DISTANCES];
};

/** ilb_sim_table() - variants side by side; the first is the reference */
int ilb_sim_table(FILE *out, const struct ilb_sim_row *rows, unsigned int nr);
void ilb_sim_table_json(FILE *out, const char *scenario,
			const struct ilb_sim_row *rows, unsigned int nr);

#endif
