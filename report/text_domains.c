// SPDX-License-Identifier: GPL-2.0-only
/* Load balancing per domain and idle type, as /proc/schedstat counts it. */

#include <inttypes.h>

#include "report/text.h"
#include "report/view.h"

static void add_count(struct ilb_table *table, int known, uint64_t count)
{
	if (known)
		ilb_table_add(table, "%" PRIu64, count);
	else
		ilb_table_add(table, "-");
}

static void add_type(struct ilb_table *table, const struct ilb_domain *domain,
		     unsigned int type, double seconds)
{
	int kinds = ilb_view_imbalance_kinds(domain);

	ilb_table_add(table, "%.*s", (int)sizeof(domain->name) - 1,
		      domain->name);
	ilb_table_add(table, "%s", ilb_view_idle_type(type));
	ilb_table_add(table, "%" PRIu64, domain->type[type].lb);
	if (seconds > 0)
		ilb_table_add(table, "%s",
			      ilb_word_rate(domain->type[type].lb,
					    seconds).text);
	else
		ilb_table_add(table, "unknown");
	ilb_table_add(table, "%" PRIu64, domain->type[type].balanced);
	ilb_table_add(table, "%" PRIu64, domain->type[type].failed);
	ilb_table_add(table, "%" PRIu64, domain->type[type].gained);
	ilb_table_add(table, "%" PRIu64, domain->type[type].imb_load);
	add_count(table, kinds, domain->type[type].imb_util);
	add_count(table, kinds, domain->type[type].imb_task);
	add_count(table, kinds, domain->type[type].imb_misfit);
}

static void print_table(struct ilb_text *text,
			const struct ilb_measures *measures, unsigned int nr)
{
	static const struct ilb_column columns[] = {
		{ "DOMAIN", 0 }, { "CPU WAS", 0 }, { "LB", 1 }, { "LB/S", 1 },
		{ "BALANCED", 1 }, { "FAILED", 1 }, { "GAINED", 1 },
		{ "IMB-LOAD", 1 }, { "UTIL", 1 }, { "TASK", 1 },
		{ "MISFIT", 1 },
	};
	struct ilb_table table;
	unsigned int i, type;

	ilb_table_begin(&table, columns, 11, 2);
	for (i = 0; i < nr; i++)
		for (type = 0; type < ILB_IDLE_TYPES; type++)
			add_type(&table, &measures->domains[i], type,
				 measures->schedstat_s);
	ilb_table_end(&table, text);
}

void ilb_domains_print(struct ilb_text *text, const struct ilb_report *report)
{
	const struct ilb_measures *measures = report->measures;
	unsigned int nr = measures->nr_domains;

	if (nr > ILB_DOMAINS_MAX)
		nr = ILB_DOMAINS_MAX;
	ilb_print_title(text, "Load balancing, all CPUs together");
	/* Otherwise no ilb_print_unknown(): no trace would tell. */
	if (report->sources && text->needs)
		ilb_print_unknown(text, "attempts", text->needs);
	else if (measures->schedstat_counts < 0)
		ilb_print_value(text, "attempts", "unknown: needs"
				" schedstat.before and schedstat.after (a"
				" kernel with CONFIG_SCHEDSTATS)");
	else if (!measures->schedstat_counts)
		ilb_print_value(text, "attempts", "unknown: needs"
				" kernel.sched_schedstats=1 while recording;"
				" it was off");
	else if (!nr)
		ilb_print_value(text, "attempts", "no domain was balanced");
	else
		print_table(text, measures, nr);
}
