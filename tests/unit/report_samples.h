/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_REPORT_SAMPLES_H
#define ILB_TESTS_UNIT_REPORT_SAMPLES_H

#include "ilb/report.h"

#define SAMPLE_CPUS	16
#define SAMPLE_VICTIMS	1200
#define SAMPLE_POLICIES	4

/** struct sample - a report made by hand, with all that it points to */
struct sample {
	struct ilb_report report;
	struct ilb_capture capture;
	struct ilb_source_stats source;
	struct ilb_moments_totals moments;
	struct ilb_pair_counts pair;
	struct ilb_measures measures;
	struct ilb_findings findings;
	struct ilb_policy_result policies[SAMPLE_POLICIES];
	struct ilb_victim victims[SAMPLE_VICTIMS];
	struct ilb_lost_cpu lost_cpus[2];
	uint64_t by_target[SAMPLE_CPUS], by_kicker[SAMPLE_CPUS];
	unsigned long online[1], housekeeping[1], none[1];
	char path[512];
};

/** sample_names - every name that sample_make() knows, ended by NULL */
extern const char *const sample_names[];

/**
 * sample_make() - fill @sample, which the caller owns
 *
 * full: everything known; exact: and exact moments, some lost; unknown: measured, but nothing known; null: no part
 * at all; empty: no kick; replay, what-if, no-kicker: replays; hostile: strings
 * that no terminal and no parser would like, and the largest numbers.
 *
 * Returns 0, or -1 if there is no such sample.
 */
int sample_make(struct sample *sample, const char *name);

#endif
