// SPDX-License-Identifier: GPL-2.0-only
/* The answer in one or two sentences, for who reads nothing else. */

#include <inttypes.h>
#include <string.h>

#include "report/needs.h"
#include "report/text.h"
#include "report/view.h"

static void add_rate(struct ilb_text *text, const struct ilb_measures *measures)
{
	double seconds = ilb_view_seconds(measures);

	if (seconds > 0)
		ilb_print_add(text, " (%s/s)",
			     ilb_word_rate(measures->kicks.total,
					   seconds).text);
}

static void add_avoidable(struct ilb_text *text, const struct ilb_kicks *kicks)
{
	if (!kicks->masks_known)
		ilb_print_add(text, "; whether a whole core was idle is unknown:"
			     " needs %s", ilb_print_needs(text, NEEDS_MASKS));
	else if (!kicks->avoidable)
		ilb_print_add(text, "; none was avoidable: no whole core was"
			     " idle");
	else if (kicks->avoidable < kicks->on_busy_core)
		ilb_print_add(text, "; %" PRIu64 " of them %s avoidable: a whole"
			     " core was idle", kicks->avoidable,
			     kicks->avoidable == 1 ? "was" : "were");
	else if (kicks->avoidable == 1)
		ilb_print_add(text, "; it was avoidable: a whole core was idle");
	else
		ilb_print_add(text, "; all %" PRIu64 " were avoidable: a whole"
			     " core was idle", kicks->avoidable);
	ilb_print_add(text, ".");
}

static void add_victim(struct ilb_text *text,
		       const struct ilb_measures *measures)
{
	const struct ilb_victim *victim = measures->victims;

	if (!measures->runs.known) {
		ilb_print_add(text, " How long that disturbed anyone is unknown:"
			     " needs %s.", ilb_print_needs(text, NEEDS_RUNS));
		return;
	}
	if (!measures->nr_victims || !victim->disturbed_ns) {
		ilb_print_add(text, " No task was seen disturbed.");
		return;
	}
	if (victim->comm[0])
		ilb_print_add(text, " %.*s", ILB_COMM_LEN - 1, victim->comm);
	else
		ilb_print_add(text, " pid %" PRId32, victim->pid);
	if (victim->running_ns)
		ilb_print_add(text, " was disturbed %s of its running time.",
			     ilb_word_share(victim->disturbed_ns,
					    victim->running_ns).text);
	else
		ilb_print_add(text, " was disturbed for %s.",
			     ilb_word_time(victim->disturbed_ns).text);
}

static void add_busy(struct ilb_text *text, const struct ilb_measures *measures)
{
	const struct ilb_kicks *kicks = &measures->kicks;

	ilb_print_add(text, "%" PRIu64 " of %" PRIu64 " ILB kick%s",
		     kicks->on_busy_core, kicks->total,
		     kicks->total == 1 ? "" : "s");
	add_rate(text, measures);
	ilb_print_add(text, " woke the idle sibling of a busy core");
	add_avoidable(text, kicks);
	add_victim(text, measures);
}

static void add_none_busy(struct ilb_text *text,
			  const struct ilb_report *report)
{
	const struct ilb_capture *capture = report->capture;
	const struct ilb_kicks *kicks = &report->measures->kicks;

	if (capture && !capture->topology.smt) {
		ilb_print_add(text, "No core has two CPUs here, so none of %"
			     PRIu64 " kicks", kicks->total);
		add_rate(text, report->measures);
		ilb_print_add(text, " could disturb a sibling.");
		return;
	}
	ilb_print_add(text, "None of %" PRIu64 " kicks", kicks->total);
	add_rate(text, report->measures);
	ilb_print_add(text, " woke the sibling of a busy core.");
}

static int has_word(const char *line, const char *word)
{
	size_t n = strlen(word), len;

	for (; *line; line += len + strspn(line + len, " ")) {
		len = strcspn(line, " ");
		if (len == n && !memcmp(line, word, n))
			return 1;
	}
	return 0;
}

/* The loop that polls restarts the tick first. */
static void add_no_kick(struct ilb_text *text, const struct ilb_report *report)
{
	const struct ilb_capture *capture = report->capture;

	ilb_print_add(text, "No CPU was kicked to balance for the idle ones.");
	if (capture && has_word(capture->system.cmdline, "idle=poll"))
		ilb_print_add(text, " None can be with idle=poll: idle CPUs keep"
			      " their ticks, so the kernel's mask of idle"
			      " CPUs stays empty, and each CPU balances for"
			      " itself.");
}

void ilb_verdict_print(struct ilb_text *text, const struct ilb_report *report)
{
	const struct ilb_measures *measures = report->measures;

	ilb_print_title(text, "Verdict");
	if (!text->err)
		fputs("  ", text->out);
	ilb_print_begin(text, 2, 2);
	if (!measures)
		ilb_print_add(text, "Nothing was measured.");
	else if (!measures->kicks.kicks_known && report->sources)
		ilb_print_add(text, "Kicks are unknown: needs %s.",
			     ilb_print_needs(text, NEEDS_KICKS));
	else if (!measures->kicks.kicks_known)
		ilb_print_add(text, "This trace cannot show kicks: record "
			     NEEDS_KICKS ".");
	else if (!measures->kicks.total)
		add_no_kick(text, report);
	else if (!measures->kicks.on_busy_core)
		add_none_busy(text, report);
	else
		add_busy(text, measures);
	ilb_print_end(text);
}
