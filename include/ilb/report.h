/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_REPORT_H
#define ILB_REPORT_H

#include <stdio.h>
#include "ilb/capture.h"
#include "ilb/error.h"
#include "ilb/findings.h"
#include "ilb/measure.h"
#include "ilb/moments.h"
#include "ilb/pair.h"
#include "ilb/replay.h"
#include "ilb/source.h"

/** enum ilb_part - of what is measured live: each has a source of its own */
enum ilb_part {
	ILB_PART_KICKS,
	ILB_PART_MASKS,		/* moments: what could be avoided */
	ILB_PART_RUNS,
	ILB_PART_SWITCHES,	/* contention, who is disturbed */
	ILB_PART_SOFTIRQS,
	ILB_PART_UTILISATION,
	ILB_PART_DOMAINS,
	ILB_PARTS
};

/**
 * struct ilb_source_of - where a part comes from
 * @from: "raw_tp:csd_queue_cpu", "/proc/schedstat v17"; "": none
 * @needs: what would tell, or tell more; "": nothing is missing
 */
struct ilb_source_of {
	char from[96];
	char needs[sizeof(((struct ilb_error *)0)->text)];
};

/**
 * struct ilb_functions - share of CPU time in functions, by sampling
 * @from: "cycles", "cpu-clock"; @needs: why there are no samples
 * @samples: taken in all, also of idle CPUs if the counter runs there
 */
#define ILB_FUNCTIONS	4
struct ilb_functions {
	char from[32];
	char needs[300];
	uint64_t samples, lost;
	struct {
		const char *name;
		int listed;	/* 0: this kernel has it not, or inlined */
		uint64_t samples;
	} function[ILB_FUNCTIONS];
};

/**
 * struct ilb_report - all that report and replay print; parts may be NULL
 * @command: "report", "replay" or "stat"
 * @capture: where it came from
 * @hz: tick rate given or estimated, 0 unknown
 * @source: what the reading met; NULL: there was no trace
 * @moments: of the file of exact moments, NULL if there is none
 * @pair: how these and the trace went together, NULL if there are not both
 * @measures, @findings: report's; the text of a replay takes no more from
 *	@measures than time, CPUs and what its moments are
 * @policies, @nr_policies, @best: replay's, as ilb_replay_results() gave them
 * @sources: of a live kernel: ILB_PARTS of them; NULL: it is a capture
 * @functions: stat's; NULL: not asked for
 * @compact: JSON in one line
 * @what_if: housekeeping list of a replay's what-if, NULL if none
 */
struct ilb_report {
	const char *command;
	const struct ilb_capture *capture;
	unsigned int hz;
	const struct ilb_source_stats *source;
	const struct ilb_moments_totals *moments;
	const struct ilb_pair_counts *pair;
	const struct ilb_measures *measures;
	const struct ilb_findings *findings;
	const struct ilb_policy_result *policies;
	unsigned int nr_policies;
	int best;
	const struct ilb_source_of *sources;
	const struct ilb_functions *functions;
	int compact;
	const char *what_if;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_report_text() - for people: the verdict, then the evidence
 * @width: columns of the terminal, 0: not a terminal (no truncation there)
 * @colour: 1: severities are coloured as well as named
 *
 * Returns 0, or -ILB_ERR_IO, -ILB_ERR_NOMEM.
 */
int ilb_report_text(FILE *out, const struct ilb_report *report,
		    unsigned int width, int colour);

/**
 * ilb_report_line() - of an interval of a live kernel: one line
 * @nr: lines printed before; a heading is repeated now and then
 *
 * What is unknown is a "-".
 */
int ilb_report_line(FILE *out, const struct ilb_report *report,
		    unsigned int nr);

/** ilb_report_json() - one object, ilb-json(5), and a newline. As above. */
int ilb_report_json(FILE *out, const struct ilb_report *report);

#ifdef __cplusplus
}
#endif
#endif
