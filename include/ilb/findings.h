/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_FINDINGS_H
#define ILB_FINDINGS_H

#include "ilb/measure.h"

/** enum ilb_severity - UNKNOWN: this input cannot judge; text says what would */
enum ilb_severity {
	ILB_UNKNOWN,
	ILB_INFO,
	ILB_WARNING,
	ILB_SERIOUS,
};

#define ILB_EVIDENCE_MAX	8

/**
 * struct ilb_finding - one judgement
 * @id: stable; "ilb-on-busy-core", ...
 * @text: what was found, with its numbers, one sentence
 * @why: why it matters, one sentence
 * @remedy: what to do; for ILB_UNKNOWN what to record
 * @evidence: JSON keys and numbers behind the text
 * @cpus: CPUs it is about, as a list; "" if none
 */
struct ilb_finding {
	const char *id;
	enum ilb_severity severity;
	char text[320];
	char why[320];
	char remedy[320];
	struct {
		const char *key;
		double value;
	} evidence[ILB_EVIDENCE_MAX];
	unsigned int nr_evidence;
	char cpus[128];
};

#define ILB_FINDINGS_MAX	16

struct ilb_findings {
	struct ilb_finding finding[ILB_FINDINGS_MAX];
	unsigned int count;
};

/** struct ilb_findings_input - what judging needs beside the measures */
struct ilb_findings_input {
	const struct ilb_measures *measures;
	const struct ilb_topology *topology;
	const unsigned long *housekeeping;
	const unsigned long *nohz_full;	/* may be NULL */
	unsigned int hz;		/* 0: unknown */
	uint64_t lost_events;
	int no_trace;			/* moments alone: no events at all */
	const char *kernel;		/* release, "" unknown */
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_findings_judge() - every finding that applies, gravest first
 *
 * Judgements that this input cannot make come last, with ILB_UNKNOWN. The
 * nine ids: ilb-on-busy-core, ilb-one-cpu, ilb-every-tick,
 * no-housekeeping-target, lost-nohz-full-cpu, idle-while-waiting, tick-churn,
 * softirq-stranded, lost-events.
 */
void ilb_findings_judge(struct ilb_findings *findings,
			const struct ilb_findings_input *input);

/** ilb_severity_name() - "unknown", "info", "warning", "serious" */
const char *ilb_severity_name(enum ilb_severity severity);

/** ilb_finding_known() - 1 if @id is one of the nine. */
int ilb_finding_known(const char *id);

#ifdef __cplusplus
}
#endif
#endif
