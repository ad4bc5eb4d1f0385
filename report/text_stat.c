// SPDX-License-Identifier: GPL-2.0-only
/* What a live kernel tells: a summary, or a line per interval. */

#include <inttypes.h>
#include <string.h>

#include "ilb/error.h"
#include "report/text.h"
#include "report/view.h"

#define LINES_PER_HEADING	20U

static const char *needs_of(const struct ilb_report *report,
			    enum ilb_part part)
{
	const char *needs = report->sources[part].needs;

	return *needs ? needs : NULL;
}

static const char *verdict_needs(const struct ilb_report *report)
{
	static const enum ilb_part parts[] = {
		ILB_PART_KICKS, ILB_PART_RUNS, ILB_PART_MASKS,
	};
	unsigned int i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (needs_of(report, parts[i]))
			return needs_of(report, parts[i]);
	return NULL;
}

static void print_sources(struct ilb_text *text,
			  const struct ilb_report *report)
{
	static const char *const names[ILB_PARTS] = {
		[ILB_PART_KICKS] = "kicks",
		[ILB_PART_MASKS] = "exact moments",
		[ILB_PART_RUNS] = "runs",
		[ILB_PART_SWITCHES] = "SMT, tasks",
		[ILB_PART_SOFTIRQS] = "SCHED softirqs",
		[ILB_PART_UTILISATION] = "CPUs busy",
		[ILB_PART_DOMAINS] = "load balancing",
	};
	const struct ilb_source_of *s;
	unsigned int i;

	ilb_print_title(text, "Sources");
	for (i = 0; i < ILB_PARTS; i++) {
		s = &report->sources[i];
		if (s->from[0])
			ilb_print_value(text, names[i], "%s", s->from);
		else
			ilb_print_value(text, names[i], "none: needs %s",
					s->needs);
	}
}

static void print_functions(struct ilb_text *text,
			    const struct ilb_functions *functions)
{
	unsigned int i;
	double percent, error;

	ilb_print_title(text, "CPU time in functions, by sampling");
	if (functions->needs[0]) {
		ilb_print_unknown(text, "shares", functions->needs);
		return;
	}
	for (i = 0; i < ILB_FUNCTIONS; i++) {
		if (!functions->function[i].name)
			continue;
		if (!functions->function[i].listed) {
			ilb_print_value(text, functions->function[i].name,
					"unknown: this kernel lists no such"
					" function (it may be inlined)");
			continue;
		}
		error = ilb_view_error_pct(functions->function[i].samples,
					   functions->samples, &percent);
		ilb_print_value(text, functions->function[i].name,
				"%.3f %% +- %.3f, %" PRIu64 " samples",
				percent, error,
				functions->function[i].samples);
	}
	ilb_print_value(text, "samples", "%" PRIu64 " of %s, %" PRIu64 " lost",
			functions->samples, functions->from,
			functions->lost);
}

void ilb_stat_print(struct ilb_text *text, const struct ilb_report *report)
{
	const struct ilb_measures *measures = report->measures;

	text->needs = verdict_needs(report);
	ilb_verdict_print(text, report);
	text->needs = needs_of(report, measures->kicks.kicks_known ?
			       ILB_PART_MASKS : ILB_PART_KICKS);
	ilb_kicks_print(text, measures);
	text->needs = needs_of(report, ILB_PART_RUNS);
	ilb_runs_print(text, measures);
	text->needs = needs_of(report, ILB_PART_SWITCHES);
	ilb_system_print(text, report);
	text->needs = needs_of(report, ILB_PART_RUNS);
	ilb_victims_print(text, measures);
	text->needs = needs_of(report, ILB_PART_DOMAINS);
	ilb_domains_print(text, report);
	text->needs = NULL;
	if (report->functions)
		print_functions(text, report->functions);
	print_sources(text, report);
}

/* ---- a line ---- */

static void put_rate(FILE *out, int width, int known, uint64_t count,
		     double seconds)
{
	fprintf(out, " %*s", width, known && seconds > 0 ?
		ilb_word_rate(count, seconds).text : "-");
}

static void put_share(FILE *out, int width, int known, uint64_t part,
		      uint64_t whole)
{
	if (known && whole)
		fprintf(out, " %*.1f", width,
			100.0 * (double)part / (double)whole);
	else
		fprintf(out, " %*s", width, "-");
}

static void put_median(FILE *out, int width, int known,
		       const struct ilb_hist *hist)
{
	if (known && hist->count)
		fprintf(out, " %*.1f", width,
			(double)ilb_hist_percentile(hist, 50) / 1e3);
	else
		fprintf(out, " %*s", width, "-");
}

static uint64_t attempts(const struct ilb_measures *m)
{
	uint64_t sum = 0;
	unsigned int i, type;

	for (i = 0; i < m->nr_domains; i++)
		for (type = 0; type < ILB_IDLE_TYPES; type++)
			sum += m->domains[i].type[type].lb;
	return sum;
}

int ilb_report_line(FILE *out, const struct ilb_report *report,
		    unsigned int nr)
{
	const struct ilb_measures *m = report->measures;
	const struct ilb_kicks *k = &m->kicks;
	uint64_t left = m->contention.busy_sibling +
			m->contention.idle_sibling;
	double s = ilb_view_seconds(m);

	if (nr % LINES_PER_HEADING == 0)
		fputs("  kicks/s  busy%  avoid%   late-us   run-us  disturb%"
		      "  contend%  sched-si/s  si-time%  util%     lb/s\n",
		      out);
	put_rate(out, 8, k->kicks_known, k->total, s);
	put_share(out, 6, k->kicks_known, k->on_busy_core, k->total);
	put_share(out, 7, k->kicks_known && k->masks_known, k->avoidable,
		  k->total);
	put_median(out, 9, m->runs.known, &m->runs.latency);
	put_median(out, 8, m->runs.known, &m->runs.duration);
	put_share(out, 9, m->runs.known, m->runs.disturbed_ns,
		  m->utilisation.busy_ns);
	put_share(out, 9, m->contention.known, m->contention.busy_sibling,
		  left);
	put_rate(out, 11, m->softirq.known, m->softirq.sched, s);
	put_share(out, 9, m->softirq.time_known, m->softirq.sched_ns,
		  ilb_view_cpu_ns(m));
	put_share(out, 6, m->utilisation.known, m->utilisation.busy_ns,
		  ilb_view_cpu_ns(m));
	put_rate(out, 8, m->schedstat_counts > 0, attempts(m),
		 m->schedstat_s);
	fputc('\n', out);
	return fflush(out) || ferror(out) ? -ILB_ERR_IO : 0;
}
