// SPDX-License-Identifier: GPL-2.0-only
/* Kicks: how many, of which kind, whom they hit; and the runs they caused. */

#include <inttypes.h>
#include <stdlib.h>

#include "report/needs.h"
#include "report/text.h"
#include "report/view.h"

#define RANKS_SHOWN	10U

static void print_ranks(struct ilb_text *text, const char *who,
			const struct ilb_rank *ranks, unsigned int nr,
			uint64_t total)
{
	const struct ilb_column columns[] = {
		{ who, 1 }, { "KICKS", 1 }, { "SHARE", 1 },
	};
	unsigned int shown = nr > RANKS_SHOWN ? RANKS_SHOWN : nr, i;
	struct ilb_table table;
	uint64_t others = 0;

	ilb_table_begin(&table, columns, 3, 1);
	for (i = 0; i < shown; i++) {
		ilb_table_add(&table, "%u", ranks[i].cpu);
		ilb_table_add(&table, "%" PRIu64, ranks[i].kicks);
		ilb_table_add(&table, "%s",
			      ilb_word_share(ranks[i].kicks, total).text);
	}
	for (; i < nr; i++)
		others += ranks[i].kicks;
	if (others) {
		ilb_table_add(&table, "%u others", nr - shown);
		ilb_table_add(&table, "%" PRIu64, others);
		ilb_table_add(&table, "%s", ilb_word_share(others, total).text);
	}
	ilb_table_end(&table, text);
}

static void print_ranking(struct ilb_text *text, const char *who,
			  const struct ilb_measures *measures,
			  const uint64_t *kicks)
{
	const uint64_t total = measures->kicks.total;
	struct ilb_rank *ranks;
	unsigned int nr;

	if (!kicks || text->err)
		return;
	text->err = ilb_rank_make(&ranks, &nr, kicks, measures->nr_cpus);
	if (text->err)
		return;
	if (nr) {
		fputc('\n', text->out);
		print_ranks(text, who, ranks, nr, total);
	}
	free(ranks);
}

static void print_total(struct ilb_text *text,
			const struct ilb_measures *measures)
{
	double seconds = ilb_view_seconds(measures);
	uint64_t total = measures->kicks.total;

	if (seconds > 0)
		ilb_print_value(text, "kicks", "%" PRIu64 " (%s/s)", total,
			       ilb_word_rate(total, seconds).text);
	else
		ilb_print_value(text, "kicks", "%" PRIu64, total);
}

static void print_shares(struct ilb_text *text,
			 const struct ilb_measures *measures)
{
	const struct ilb_kicks *kicks = &measures->kicks;
	uint64_t total = kicks->total;

	ilb_print_count(text, "on a busy core", kicks->on_busy_core, total);
	if (kicks->masks_known) {
		ilb_print_count(text, "avoidable", kicks->avoidable, total);
		ilb_print_count(text, "no whole core was idle", kicks->fallback,
			       total);
	} else {
		ilb_print_unknown(text, "avoidable", NEEDS_MASKS);
		ilb_print_unknown(text, "no whole core was idle", NEEDS_MASKS);
	}
	if (ilb_view_no_target(measures))
		ilb_print_count(text, "nobody qualified", kicks->no_target,
			       total);
	if (kicks->dropped_known)
		ilb_print_count(text, "target busy by then", kicks->dropped,
			       total);
	else
		ilb_print_unknown(text, "target busy by then", NEEDS_HANDLER);
	ilb_print_count(text, "whole idle cores woken", kicks->idle_cores_woken,
		       total);
}

static void print_placement(struct ilb_text *text,
			    const struct ilb_kicks *kicks)
{
	uint64_t placed = ilb_view_placed(kicks);

	if (!placed) {
		ilb_print_unknown(text, "target and kicker", NEEDS_KICKER);
		return;
	}
	ilb_print_count(text, "on the kicker's core", kicks->same_core, placed);
	ilb_print_count(text, "in the kicker's LLC", kicks->same_llc, placed);
	ilb_print_count(text, "on the kicker's node", kicks->same_node, placed);
	if (kicks->kicker_unknown)
		ilb_print_count(text, "kicker unknown", kicks->kicker_unknown,
			       kicks->total);
}

void ilb_kicks_print(struct ilb_text *text, const struct ilb_measures *measures)
{
	const struct ilb_kicks *kicks = &measures->kicks;

	ilb_print_title(text, "Kicks");
	if (!kicks->kicks_known) {
		ilb_print_unknown(text, "kicks", NEEDS_KICKS);
		return;
	}
	print_total(text, measures);
	if (!kicks->total)
		return;
	print_shares(text, measures);
	print_placement(text, kicks);
	print_ranking(text, "TARGET CPU", measures, kicks->by_target);
	print_ranking(text, "KICKER CPU", measures, kicks->by_kicker);
}

static void print_hist(struct ilb_text *text, const char *name,
		       const struct ilb_hist *hist)
{
	if (!hist->count) {
		ilb_print_line(text, 2, "%s: none seen", name);
		return;
	}
	ilb_print_line(text, 2, "%s: mean %s, p50 %s, p99 %s, max %s", name,
		      ilb_word_time(hist->sum_ns / hist->count).text,
		      ilb_word_time(ilb_hist_percentile(hist, 50)).text,
		      ilb_word_time(ilb_hist_percentile(hist, 99)).text,
		      ilb_word_time(hist->max_ns).text);
	ilb_histogram_print(text, hist);
}

void ilb_runs_print(struct ilb_text *text, const struct ilb_measures *measures)
{
	const struct ilb_runs *runs = &measures->runs;

	ilb_print_title(text, "Runs on the kicked CPUs, in us");
	if (!runs->known) {
		ilb_print_unknown(text, "runs", NEEDS_RUNS);
		return;
	}
	ilb_print_value(text, "runs", "%" PRIu64, runs->total);
	ilb_print_value(text, "siblings disturbed", "%s",
		       ilb_word_time(runs->disturbed_ns).text);
	print_hist(text, "kick to handler", &runs->latency);
	print_hist(text, "duration", &runs->duration);
}
