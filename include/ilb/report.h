/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_REPORT_H
#define ILB_REPORT_H

#include <stdio.h>
#include "ilb/capture.h"
#include "ilb/findings.h"
#include "ilb/measure.h"
#include "ilb/moments.h"
#include "ilb/pair.h"
#include "ilb/replay.h"
#include "ilb/source.h"

/**
 * struct ilb_report - all that report and replay print; parts may be NULL
 * @command: "report" or "replay"
 * @capture: where it came from
 * @hz: tick rate given or estimated, 0 unknown
 * @source: what the reading met; NULL: there was no trace
 * @moments: of the file of exact moments, NULL if there is none
 * @pair: how these and the trace went together, NULL if there are not both
 * @measures, @findings: report's; the text of a replay takes no more from
 *	@measures than time, CPUs and what its moments are
 * @policies, @nr_policies, @best: replay's, as ilb_replay_results() gave them
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

/** ilb_report_json() - one object, ilb-json(5), and a newline. As above. */
int ilb_report_json(FILE *out, const struct ilb_report *report);

#ifdef __cplusplus
}
#endif
#endif
