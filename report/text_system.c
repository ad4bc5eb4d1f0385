// SPDX-License-Identifier: GPL-2.0-only
/* What the system did meanwhile: SMT, softirqs, ticks, balancing, victims. */

#include <inttypes.h>

#include "report/needs.h"
#include "report/text.h"
#include "report/view.h"

#define VICTIMS_SHOWN	10U

static void print_contention(struct ilb_text *text,
			     const struct ilb_report *report)
{
	const struct ilb_measures *measures = report->measures;
	uint64_t busy = measures->contention.busy_sibling;
	uint64_t idle = measures->contention.idle_sibling;

	if (measures->contention.known) {
		ilb_print_value(text, "left idle for a task", "%" PRIu64
			       " beside a busy sibling (%s), %" PRIu64
			       " beside idle ones", busy,
			       ilb_word_share(busy, busy + idle).text, idle);
		return;
	}
	if (report->capture && !report->capture->topology.smt)
		ilb_print_value(text, "left idle for a task",
			       "no core has two CPUs");
	else
		ilb_print_unknown(text, "left idle for a task", NEEDS_SWITCH);
}

static void print_softirq(struct ilb_text *text,
			  const struct ilb_report *report)
{
	const struct ilb_measures *measures = report->measures;
	double seconds = ilb_view_seconds(measures);

	if (!measures->softirq.known) {
		ilb_print_unknown(text, "SCHED softirqs", NEEDS_SOFTIRQ);
		return;
	}
	if (seconds > 0)
		ilb_print_value(text, "SCHED softirqs", "%" PRIu64 " (%s/s)",
			       measures->softirq.sched,
			       ilb_word_rate(measures->softirq.sched,
					     seconds).text);
	else
		ilb_print_value(text, "SCHED softirqs", "%" PRIu64,
			       measures->softirq.sched);
	if (measures->softirq.time_known)
		ilb_print_value(text, "time in them", "%s",
			       ilb_word_time(measures->softirq.sched_ns).text);
	else
		ilb_print_unknown(text, "time in them", NEEDS_SOFTIRQ);
	if (report->sources)
		return;
	if (!measures->softirq.stranded_known) {
		ilb_print_unknown(text, "softirqs left behind",
				  NEEDS_STRANDED);
		return;
	}
	ilb_print_value(text, "softirqs left behind", "%" PRIu64
		       ", raised on a CPU that went idle before they ran",
		       measures->softirq.stranded);
}

static void print_utilisation(struct ilb_text *text,
			      const struct ilb_measures *measures)
{
	uint64_t all = ilb_view_cpu_ns(measures);

	if (measures->utilisation.known && all)
		ilb_print_value(text, "CPUs busy", "%s of their time",
			       ilb_word_share(measures->utilisation.busy_ns,
					      all).text);
	else
		ilb_print_unknown(text, "CPUs busy", NEEDS_SWITCH);
}

static void print_ticks(struct ilb_text *text,
			const struct ilb_measures *measures)
{
	if (measures->tick.known)
		ilb_print_value(text, "ticks stopped", "%" PRIu64 ", %" PRIu64
			       " of them for less than a tick",
			       measures->tick.stops,
			       measures->tick.short_stops);
	else
		ilb_print_unknown(text, "ticks stopped", NEEDS_MASKS);
	if (measures->every_tick.known)
		ilb_print_value(text, "jiffies with a kick", "%" PRIu64 " of %"
			       PRIu64 " in which a CPU was busy (%s)",
			       measures->every_tick.kicked,
			       measures->every_tick.jiffies,
			       ilb_word_share(measures->every_tick.kicked,
					      measures->every_tick.jiffies)
				       .text);
	else
		ilb_print_unknown(text, "jiffies with a kick",
				 "the tick rate: --hz, or hz in system.json");
}

static void print_waiting(struct ilb_text *text,
			  const struct ilb_measures *measures)
{
	struct ilb_word who = { "a task" };

	if (!measures->waiting.known) {
		ilb_print_unknown(text, "tasks that waited",
				 "sched:sched_switch and sched:sched_wakeup");
		return;
	}
	if (!measures->waiting.stretches) {
		ilb_print_value(text, "tasks that waited",
			       "never beside an idle CPU of their cache");
		return;
	}
	if (measures->waiting.pid != ILB_PID_UNKNOWN)
		snprintf(who.text, sizeof(who.text), "pid %" PRId32,
			 measures->waiting.pid);
	ilb_print_value(text, "tasks that waited", "%" PRIu64
		       " times beside an idle CPU of their cache, %s in all;"
		       " the longest: %s waited %s on CPU %u while CPU %u was"
		       " idle", measures->waiting.stretches,
		       ilb_word_time(measures->waiting.total_ns).text,
		       who.text,
		       ilb_word_time(measures->waiting.longest_ns).text,
		       measures->waiting.waiting_cpu,
		       measures->waiting.idle_cpu);
}

void ilb_system_print(struct ilb_text *text, const struct ilb_report *report)
{
	ilb_print_title(text, "System");
	print_contention(text, report);
	print_softirq(text, report);
	print_utilisation(text, report->measures);
	/* Live, these would cost more than they tell. */
	if (report->sources)
		return;
	print_ticks(text, report->measures);
	print_waiting(text, report->measures);
}

static void add_victim(struct ilb_table *table, const struct ilb_victim *victim)
{
	ilb_table_add(table, "%.*s", ILB_COMM_LEN - 1, victim->comm);
	ilb_table_add(table, "%" PRId32, victim->pid);
	ilb_table_add(table, "%u", victim->cpu);
	ilb_table_add(table, "%s", ilb_word_time(victim->running_ns).text);
	ilb_table_add(table, "%s", ilb_word_time(victim->disturbed_ns).text);
	ilb_table_add(table, "%s", ilb_word_share(victim->disturbed_ns,
						  victim->running_ns).text);
	ilb_table_add(table, "%" PRIu64, victim->kicks);
}

void ilb_victims_print(struct ilb_text *text,
		       const struct ilb_measures *measures)
{
	static const struct ilb_column columns[] = {
		{ "TASK", 0 }, { "PID", 1 }, { "CPU", 1 }, { "RUNNING", 1 },
		{ "DISTURBED", 1 }, { "SHARE", 1 }, { "KICKS", 1 },
	};
	unsigned int nr = measures->nr_victims, i;
	struct ilb_table table;

	ilb_print_title(text, "Tasks disturbed by a kicked sibling");
	if (!measures->runs.known) {
		ilb_print_unknown(text, "tasks", NEEDS_RUNS);
		return;
	}
	if (!nr)
		ilb_print_line(text, 2, "none");
	ilb_table_begin(&table, columns, 7, 2);
	for (i = 0; i < nr && i < VICTIMS_SHOWN; i++)
		add_victim(&table, &measures->victims[i]);
	ilb_table_end(&table, text);
	if (nr > VICTIMS_SHOWN)
		ilb_print_line(text, 2, "and %u more", nr - VICTIMS_SHOWN);
}
