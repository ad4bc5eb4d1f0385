// SPDX-License-Identifier: GPL-2.0-only
/* A replay: which rule this kernel follows, and what each would have done. */

#include <inttypes.h>

#include "report/needs.h"
#include "report/text.h"

/* Below this agreement on decisive kicks no rule explains the kernel. */
#define EXPLAINS_PERCENT	90

static int has_kicks(const struct ilb_report *report)
{
	return report->policies && report->nr_policies &&
	       report->policies[0].kicks;
}

static int any_scored(const struct ilb_report *report)
{
	unsigned int i;

	for (i = 0; i < report->nr_policies; i++)
		if (report->policies[i].scored)
			return 1;
	return 0;
}

static uint64_t most_decisive(const struct ilb_report *report)
{
	uint64_t most = 0;
	unsigned int i;

	for (i = 0; i < report->nr_policies; i++)
		if (report->policies[i].agree_decisive > most)
			most = report->policies[i].agree_decisive;
	return most;
}

/*
 * The policies that agree as often as the best one, without @but, between
 * @lead and @tail; nothing if there are none.
 */
static void add_equals(struct ilb_text *text, const struct ilb_report *report,
		       int but, const char *lead, const char *tail)
{
	uint64_t most = most_decisive(report);
	unsigned int i, said = 0;

	for (i = 0; i < report->nr_policies; i++) {
		if ((int)i == but ||
		    report->policies[i].agree_decisive != most)
			continue;
		ilb_print_add(text, "%s%s", said++ ? ", " : lead,
			     report->policies[i].name);
	}
	if (said)
		ilb_print_add(text, "%s", tail);
}

static void add_agreement(struct ilb_text *text,
			  const struct ilb_policy_result *policy)
{
	ilb_print_add(text, "agrees in %" PRIu64 " of %" PRIu64 " kicks (%s)",
		     policy->agree, policy->scored,
		     ilb_word_share(policy->agree, policy->scored).text);
	if (policy->decisive_scored)
		ilb_print_add(text, ", %" PRIu64 " of %" PRIu64 " decisive",
			     policy->agree_decisive, policy->decisive_scored);
}

static void add_best(struct ilb_text *text, const struct ilb_report *report)
{
	const struct ilb_policy_result *best = &report->policies[report->best];

	if (best->agree_decisive * 100 <
	    best->decisive_scored * EXPLAINS_PERCENT) {
		ilb_print_add(text, "No policy listed explains this kernel's"
			     " choices; the nearest, %s, ", best->name);
		add_agreement(text, best);
		ilb_print_add(text, ".");
		return;
	}
	ilb_print_add(text, "This kernel behaves like %s: ", best->name);
	add_agreement(text, best);
	ilb_print_add(text, ".");
	if (best->decisive_scored)
		add_equals(text, report, report->best,
			   " With the same choices: ", ".");
}

static void add_behaviour(struct ilb_text *text,
			  const struct ilb_report *report)
{
	if (!has_kicks(report))
		ilb_print_add(text, "No kick to replay.");
	else if (!any_scored(report))
		ilb_print_add(text, "Which rule this kernel follows is unknown:"
			     " the trace does not say who kicked (needs "
			     NEEDS_KICKER ").");
	else if (report->what_if)
		ilb_print_add(text, "What if the housekeeping CPUs were %s: the"
			     " policies below choose with these. Agreement"
			     " then says how often one still names the CPU"
			     " that the kernel chose with its own.",
			     report->what_if[0] ? report->what_if : "none");
	else if (report->nr_policies > 1 &&
		 !report->policies[0].decisive_scored)
		ilb_print_add(text, "Which rule this kernel follows cannot be"
			     " told here: at every kick the rules that kernels"
			     " have name the same CPU.");
	else if (report->best >= 0 &&
		 (unsigned int)report->best < report->nr_policies)
		add_best(text, report);
	else
		add_equals(text, report, -1, "Several policies agree equally"
			   " often with this kernel, but differ among"
			   " themselves: ", ".");
}

static void add_share(struct ilb_table *table, uint64_t part, uint64_t whole)
{
	ilb_table_add(table, "%s", ilb_word_share(part, whole).text);
}

/* Where the kicker is unknown so is the distance to it. */
static void add_placed(struct ilb_table *table,
		       const struct ilb_policy_result *policy, uint64_t count)
{
	if (policy->scored)
		ilb_table_add(table, "%" PRIu64, count);
	else
		ilb_table_add(table, "unknown");
}

static void add_policy(struct ilb_table *table,
		       const struct ilb_policy_result *policy)
{
	uint64_t kicks = policy->kicks;

	ilb_table_add(table, "%s", policy->name);
	add_share(table, policy->agree, policy->scored);
	add_share(table, policy->agree_decisive, policy->decisive_scored);
	ilb_table_add(table, "%" PRIu64, policy->on_busy_core);
	ilb_table_add(table, "%" PRIu64, policy->avoidable);
	ilb_table_add(table, "%" PRIu64, policy->fallback);
	ilb_table_add(table, "%" PRIu64, policy->none);
	ilb_table_add(table, "%.1f", (double)policy->looked_at / (double)kicks);
	ilb_table_add(table, "%u", policy->looked_at_max);
	ilb_table_add(table, "%" PRIu64, policy->idle_cores_woken);
	add_placed(table, policy, policy->same_llc);
	add_placed(table, policy, policy->same_node);
	add_share(table, policy->top, kicks - policy->none);
}

static void print_policies(struct ilb_text *text,
			   const struct ilb_report *report)
{
	static const struct ilb_column columns[] = {
		{ "POLICY", 0 }, { "AGREE", 1 }, { "DECISIVE", 1 },
		{ "ON-BUSY", 1 }, { "AVOIDABLE", 1 }, { "FALLBACK", 1 },
		{ "NONE", 1 }, { "LOOKED", 1 }, { "LOOKED-MAX", 1 },
		{ "WOKEN", 1 }, { "LLC", 1 }, { "NODE", 1 }, { "TOP-1", 1 },
	};
	struct ilb_table table;
	unsigned int i;

	ilb_table_begin(&table, columns, 13, 1);
	for (i = 0; i < report->nr_policies; i++)
		if (report->policies[i].kicks)
			add_policy(&table, &report->policies[i]);
	ilb_table_end(&table, text);
}

static void print_legend(struct ilb_text *text)
{
	ilb_print_line(text, 2, "AGREE: with the kernel's choice, where the"
		      " kicker is known. DECISIVE: the same of the kicks at"
		      " which the policies differ. ON-BUSY: a sibling was"
		      " busy; AVOIDABLE: and a whole core was idle. FALLBACK:"
		      " no whole core was idle. NONE: nobody qualified. LOOKED,"
		      " LOOKED-MAX: idle tests per kick, mean and most. WOKEN:"
		      " whole idle cores woken. LLC, NODE: shared with the"
		      " kicker. TOP-1: share of the CPU chosen most.");
}

void ilb_replay_print(struct ilb_text *text, const struct ilb_report *report)
{
	const struct ilb_policy_result *first = report->policies;

	ilb_print_title(text, "Verdict");
	if (!text->err)
		fputs("  ", text->out);
	ilb_print_begin(text, 2, 2);
	add_behaviour(text, report);
	ilb_print_end(text);
	if (!has_kicks(report))
		return;
	ilb_print_title(text, "Policies");
	ilb_print_value(text, "kicks replayed", "%" PRIu64, first->kicks);
	ilb_print_value(text, "with a known kicker", "%" PRIu64, first->scored);
	ilb_print_value(text, "decisive", "%" PRIu64, first->decisive);
	if (!text->err)
		fputc('\n', text->out);
	print_policies(text, report);
	if (!text->err)
		fputc('\n', text->out);
	print_legend(text);
	ilb_print_title(text, "Caveat");
	ilb_print_line(text, 2, "The recorded past does not react to a changed"
		      " choice: a replayed choice says where the kick would"
		      " have gone at that moment; what would have happened"
		      " after it is unknown. For that use ilb fix trial or ilb"
		      " sim.");
}
