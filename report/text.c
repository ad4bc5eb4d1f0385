// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frame of the text: lost events, the line that says what was read, the
 * verdict, the evidence, and what was assumed.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "report/needs.h"
#include "report/text.h"
#include "report/view.h"

#define WIDTH_MIN	40U
#define WIDTH_MAX	100U
#define WIDTH_DEFAULT	80U

static int is_replay(const struct ilb_report *report)
{
	return report->command && !strcmp(report->command, "replay");
}

/* Where there is a trace, it has the kicks of which the moment is lost. */
static void print_lost_moments(struct ilb_text *text,
			       const struct ilb_report *report)
{
	const struct ilb_moments_totals *totals = report->moments;
	unsigned int used;

	if (!totals || !totals->lost)
		return;
	used = ilb_print_severity(text, ILB_WARNING, "WARNING");
	ilb_print_begin(text, used, 4);
	ilb_print_add(text, ": of %" PRIu64 " kicks the exact moments of %"
		     PRIu64 " were lost; %s", totals->kicks, totals->lost,
		     report->source ?
			     "the trace is what tells of these" :
			     "counts below are too low");
	ilb_print_end(text);
}

static void print_lost(struct ilb_text *text, const struct ilb_report *report)
{
	unsigned int used;

	if (!report->source || !report->source->lost)
		return;
	used = ilb_print_severity(text, ILB_WARNING, "WARNING");
	ilb_print_begin(text, used, 4);
	ilb_print_add(text, ": %" PRIu64 " %s lost; counts below are too low",
		     report->source->lost,
		     report->source->lost == 1 ? "event was" : "events were");
	ilb_print_end(text);
}

static unsigned int cpus_of(const struct ilb_report *report)
{
	const struct ilb_topology *topology;

	if (report->measures)
		return report->measures->cpus;
	if (!report->capture)
		return 0;
	topology = &report->capture->topology;
	return topology->online ? ilb_mask_weight(topology->online,
						  topology->nr_cpus) : 0;
}

/* "6.12.95, 16 CPUs, 250 Hz, 6.82 s, moments: probed" */
static void add_facts(struct ilb_text *text, const struct ilb_report *report)
{
	const struct ilb_measures *measures = report->measures;
	unsigned int cpus = cpus_of(report);

	if (report->capture && report->capture->system.kernel[0])
		ilb_print_add(text, "%s", report->capture->system.kernel);
	else
		ilb_print_add(text, "kernel unknown");
	if (cpus)
		ilb_print_add(text, ", %u CPU%s", cpus, cpus == 1 ? "" : "s");
	if (report->hz)
		ilb_print_add(text, ", %u Hz", report->hz);
	else
		ilb_print_add(text, ", tick rate unknown");
	if (ilb_view_seconds(measures) > 0)
		ilb_print_add(text, ", %s",
			     ilb_word_time(measures->end_ns -
					   measures->start_ns).text);
	if (measures && measures->kicks.kicks_known)
		ilb_print_add(text, ", moments: %s",
			     ilb_moment_kind_name(measures->kind));
}

static void print_header(struct ilb_text *text, const struct ilb_report *report)
{
	const struct ilb_capture *capture = report->capture;

	ilb_print_begin(text, 0, 4);
	ilb_print_add(text, "ilb %s: %s (",
		     report->command ? report->command : "report",
		     capture && capture->path ? capture->path : "no capture");
	add_facts(text, report);
	ilb_print_add(text, ")");
	ilb_print_end(text);
}

static void print_evidence(struct ilb_text *text,
			   const struct ilb_report *report)
{
	const struct ilb_measures *measures = report->measures;

	ilb_verdict_print(text, report);
	if (report->findings)
		ilb_findings_print(text, report->findings);
	if (!measures)
		return;
	ilb_kicks_print(text, measures);
	ilb_runs_print(text, measures);
	ilb_system_print(text, report);
	ilb_victims_print(text, measures);
	ilb_domains_print(text, report);
}

static void print_reconstruction(struct ilb_text *text,
				 const struct ilb_pair_counts *pair)
{
	struct ilb_word mask = ilb_word_share(pair->mask_agree, pair->bits);
	struct ilb_word idle = ilb_word_share(pair->idle_agree, pair->bits);

	if (!pair->bits) {
		ilb_print_value(text, "reconstruction", "cannot be compared:"
				" no kick has an exact moment; %" PRIu64
				" moments are from before or after the trace,"
				" left out", pair->outside);
		return;
	}
	ilb_print_value(text, "reconstruction", "right in %s of the mask and %s"
			" of the idle set, at the %" PRIu64 " kicks with an"
			" exact moment; %" PRIu64 " have none and are"
			" reconstructed; of exact moments %" PRIu64 " are of"
			" kicks that the trace lacks, and %" PRIu64 " from"
			" before or after it, left out", mask.text, idle.text,
			pair->paired, pair->unpaired_kicks,
			pair->unpaired_moments, pair->outside);
}

void ilb_assumed_print(struct ilb_text *text, const struct ilb_report *report)
{
	const struct ilb_measures *measures = report->measures;
	const struct ilb_source_stats *source = report->source;

	int kicks = measures && measures->kicks.kicks_known;

	if (!source && !kicks)
		return;
	ilb_print_title(text, "What was assumed");
	if (kicks)
		ilb_print_value(text, "kicks on assumptions",
			       "%" PRIu64 " of %" PRIu64 " rest on one about"
			       " which CPUs were in the mask",
			       measures->kicks.assumed, measures->kicks.total);
	if (report->pair)
		print_reconstruction(text, report->pair);
	if (measures && measures->recorded < measures->cpus)
		ilb_print_value(text, "CPUs not recorded",
				"%u of %u, taken to be idle all the time",
				measures->cpus - measures->recorded,
				measures->cpus);
	if (!source)
		return;
	ilb_print_value(text, "not understood",
		       "%" PRIu64 " of %" PRIu64 " lines or records",
		       source->unparsed, source->events);
	ilb_print_value(text, "time ran backwards",
		       "%" PRIu64 " times, and was held instead",
		       source->backwards);
}

static void print_all(struct ilb_text *text, const struct ilb_report *report)
{
	print_lost(text, report);
	print_lost_moments(text, report);
	print_header(text, report);
	if (report->sources)
		ilb_stat_print(text, report);
	else if (is_replay(report))
		ilb_replay_print(text, report);
	else
		print_evidence(text, report);
	if (!report->sources)
		ilb_assumed_print(text, report);
}

static unsigned int wrap_at(unsigned int width)
{
	if (!width)
		return WIDTH_DEFAULT;
	if (width < WIDTH_MIN)
		return WIDTH_MIN;
	return width < WIDTH_MAX ? width : WIDTH_MAX;
}

int ilb_report_text(FILE *out, const struct ilb_report *report,
		    unsigned int width, int colour)
{
	struct ilb_text text = {
		.width = wrap_at(width),
		.columns = width,
		.colour = colour,
		.needs = report->moments && !report->source ? NEEDS_TRACE :
			 NULL,
	};
	char *content = NULL;
	size_t size = 0;

	text.out = open_memstream(&content, &size);
	if (!text.out)
		return -ILB_ERR_NOMEM;
	print_all(&text, report);
	if (ferror(text.out))
		text.err = -ILB_ERR_NOMEM;
	if (fclose(text.out))
		text.err = -ILB_ERR_NOMEM;
	if (!text.err && (fwrite(content, 1, size, out) != size || fflush(out)))
		text.err = -ILB_ERR_IO;
	free(content);
	return text.err;
}
