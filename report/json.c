// SPDX-License-Identifier: GPL-2.0-only
/* The JSON object of a report or replay: ilb-json(5). */

#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "report/json.h"
#include "report/view.h"

/* ns in us need 15 digits up to 11 days; more would show binary noise. */
#define REAL_DIGITS	15

static void set_topology(struct ilb_json *json, json_t *object,
			 const struct ilb_report *report)
{
	const struct ilb_topology *topology = &report->capture->topology;

	ilb_json_cpus(json, object, "cpus", topology->online,
		      topology->nr_cpus);
	if (topology->online)
		ilb_json_count(json, object, "nr_cpus",
			       ilb_mask_weight(topology->online,
					       topology->nr_cpus));
	ilb_json_cpus(json, object, "housekeeping",
		      report->capture->system.housekeeping, topology->nr_cpus);
	ilb_json_bool(json, object, "housekeeping_known",
		      report->capture->system.housekeeping_known);
}

static void set_source(struct ilb_json *json, json_t *object,
		       const struct ilb_source_stats *source)
{
	ilb_json_count(json, object, "events", source->events);
	ilb_json_count(json, object, "lost_events", source->lost);
	ilb_json_count(json, object, "unparsed", source->unparsed);
	ilb_json_count(json, object, "backwards", source->backwards);
}

static json_t *reconstruction_of(struct ilb_json *json,
				 const struct ilb_pair_counts *pair)
{
	json_t *object = json_object();

	ilb_json_count(json, object, "paired", pair->paired);
	ilb_json_count(json, object, "unpaired_kicks", pair->unpaired_kicks);
	ilb_json_count(json, object, "unpaired_moments",
		       pair->unpaired_moments);
	ilb_json_count(json, object, "outside_moments", pair->outside);
	ilb_json_percent(json, object, "mask_agree_pct", pair->mask_agree,
			 pair->bits);
	ilb_json_percent(json, object, "idle_agree_pct", pair->idle_agree,
			 pair->bits);
	return object;
}

static json_t *capture_of(struct ilb_json *json,
			  const struct ilb_report *report)
{
	const struct ilb_capture *capture = report->capture;
	const struct ilb_measures *measures = report->measures;
	json_t *object = json_object();

	if (capture && capture->path)
		ilb_json_text(json, object, "path", capture->path,
			      strlen(capture->path));
	if (capture && capture->system.kernel[0])
		ilb_json_text(json, object, "kernel", capture->system.kernel,
			      sizeof(capture->system.kernel));
	if (report->hz)
		ilb_json_count(json, object, "hz", report->hz);
	if (capture)
		set_topology(json, object, report);
	if (measures && measures->kicks.kicks_known) {
		ilb_json_text(json, object, "moments",
			      ilb_moment_kind_name(measures->kind), 32);
		ilb_json_count(json, object, "assumed",
			       measures->kicks.assumed);
	}
	if (measures && report->sources)
		ilb_json_real(json, object, "start_s",
			      (double)measures->start_ns / 1e9);
	if (ilb_view_seconds(measures) > 0)
		ilb_json_real(json, object, "duration_s",
			      ilb_view_seconds(measures));
	if (report->source)
		set_source(json, object, report->source);
	if (report->moments)
		ilb_json_count(json, object, "lost_moments",
			       report->moments->lost);
	if (report->pair)
		ilb_json_set(json, object, "reconstruction",
			     reconstruction_of(json, report->pair));
	return object;
}

/* {"kicks": {"from": "...", "needs": "..."}, ...} */
static json_t *sources_of(struct ilb_json *json,
			  const struct ilb_source_of *sources)
{
	static const char *const names[ILB_PARTS] = {
		"kicks", "moments", "runs", "contention", "softirq",
		"utilisation", "domains",
	};
	json_t *object = json_object(), *entry;
	unsigned int i;

	for (i = 0; i < ILB_PARTS; i++) {
		entry = json_object();
		if (sources[i].from[0])
			ilb_json_text(json, entry, "from", sources[i].from,
				      sizeof(sources[i].from));
		if (sources[i].needs[0])
			ilb_json_text(json, entry, "needs", sources[i].needs,
				      sizeof(sources[i].needs));
		ilb_json_set(json, object, names[i], entry);
	}
	return object;
}

static json_t *report_of(struct ilb_json *json, const struct ilb_report *report)
{
	const char *command = report->command ? report->command : "report";
	json_t *root = json_object();

	ilb_json_text(json, root, "command", command, 16);
	ilb_json_set(json, root, "capture", capture_of(json, report));
	if (report->measures) {
		ilb_json_measures(json, root, report->measures);
		ilb_json_domains(json, root, report->measures);
	}
	if (report->findings)
		ilb_json_findings(json, root, report->findings);
	if (report->policies)
		ilb_json_policies(json, root, report);
	if (report->functions)
		ilb_json_functions(json, root, report->functions);
	if (report->sources)
		ilb_json_set(json, root, "sources",
			     sources_of(json, report->sources));
	return root;
}

/* Of intervals each is a line, so that readers can tell them apart. */
static size_t layout_of(const struct ilb_report *report)
{
	return report->compact ? JSON_COMPACT : JSON_INDENT(2);
}

int ilb_report_json(FILE *out, const struct ilb_report *report)
{
	struct ilb_json json = { 0 };
	json_t *root = report_of(&json, report);
	char *content;
	size_t size;
	int err = 0;

	content = json.failed ? NULL :
		  json_dumps(root, layout_of(report) | JSON_ENSURE_ASCII |
				   JSON_REAL_PRECISION(REAL_DIGITS));
	json_decref(root);
	if (!content)
		return -ILB_ERR_NOMEM;
	size = strlen(content);
	if (fwrite(content, 1, size, out) != size || fputc('\n', out) == EOF ||
	    fflush(out))
		err = -ILB_ERR_IO;
	free(content);
	return err;
}
