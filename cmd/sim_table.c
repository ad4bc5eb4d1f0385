// SPDX-License-Identifier: GPL-2.0-only
/* Variants of a scenario side by side, on one screen. */

#include <inttypes.h>
#include <string.h>

#include "cmd/sim.h"

static double per_second(uint64_t count, const struct ilb_sim_row *row)
{
	return (double)count * 1e9 / (double)row->duration_ns;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* What was published is text, of which the first is the reference. */
static void print_published(FILE *out, const struct ilb_sim_row *rows,
			    unsigned int i)
{
	double own, first;

	if (!rows[i].published || !rows[0].published ||
	    sscanf(rows[i].published, "%lf", &own) != 1 ||
	    sscanf(rows[0].published, "%lf", &first) != 1 || first <= 0) {
		fprintf(out, " %9s %7s", "-", "-");
		return;
	}
	fprintf(out, " %9s %6.2fx", rows[i].published, own / first);
}

static void print_lost(FILE *out, const struct ilb_sim_row *rows,
		       unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (rows[i].lost_ns)
			fprintf(out, "%s: %.2f CPUs idle and not registered, in the mean.\n",
				rows[i].name,
				per_second(rows[i].lost_ns, &rows[i]) / 1e9);
}

static uint64_t sum(const uint64_t *values, unsigned int nr)
{
	uint64_t s = 0;

	while (nr--)
		s += values[nr];
	return s;
}

static uint64_t at_distance(const struct ilb_sim_row *r,
			    enum ilb_sim_distance distance)
{
	uint64_t s = 0;
	unsigned int i;

	for (i = 0; i < ILB_SIM_SHARED; i++)
		s += r->transfers[i][distance];
	return s;
}

static void print_lines(FILE *out, const struct ilb_sim_row *rows,
			unsigned int nr)
{
	unsigned int i, k;

	if (!rows[0].lines)
		return;
	fprintf(out, "\nCache lines that cores took from each other, per second\n"
		"%-14s %9s %9s %9s %11s %9s %9s\n", "", "fields", "mask",
		"LLC count", "within LLC", "node", "machine");
	for (i = 0; i < nr; i++) {
		const struct ilb_sim_row *r = &rows[i];

		fprintf(out, "%-14s", r->name);
		for (k = 0; k < ILB_SIM_SHARED; k++)
			fprintf(out, " %9.0f",
				per_second(sum(r->transfers[k],
					       ILB_SIM_DISTANCES), r));
		fprintf(out, " %11.0f %9.0f %9.0f\n",
			per_second(at_distance(r, ILB_SIM_NEAR), r),
			per_second(at_distance(r, ILB_SIM_NODE), r),
			per_second(at_distance(r, ILB_SIM_FAR), r));
	}
}

int ilb_sim_table(FILE *out, const struct ilb_sim_row *rows, unsigned int nr)
{
	unsigned int i;

	fprintf(out, "%-14s %8s %7s %9s %7s %8s %7s %7s %8s %8s\n", "variant",
		"work", "gain", rows[0].unit ? rows[0].unit : "published",
		"gain", "kicks/s", "on busy", "avoid.", "ILB us", "softirq/s");
	for (i = 0; i < nr; i++) {
		const struct ilb_sim_row *r = &rows[i];

		fprintf(out, "%-14s %7.2f %6.2fx", r->name,
			per_second(r->work_ns, r) / 1e9,
			rows[0].work_ns ? (double)r->work_ns /
					  (double)rows[0].work_ns : 0);
		print_published(out, rows, i);
		fprintf(out, " %8.1f %6.1f%% %6.1f%% %8.1f %9.1f\n",
			per_second(r->kicks, r),
			share(r->on_busy_core, r->kicks),
			share(r->avoidable, r->kicks),
			r->passes ? (double)r->pass_ns / 1e3 /
				    (double)r->passes : 0,
			per_second(r->sched, r));
	}
	fprintf(out, "\nwork: CPUs' worth of computing at full speed; gain: over %s.\n",
		rows[0].name);
	print_lost(out, rows, nr);
	print_lines(out, rows, nr);
	for (i = 0; i < nr; i++)
		if (rows[i].violations)
			fprintf(out, "%s: at %" PRIu64 " ticks a task had waited for one while a CPU idled; lost %.3f CPU seconds.\n",
				rows[i].name, rows[i].violations,
				(double)rows[i].wasted_ns / 1e9);
	return ferror(out) ? -ILB_ERR_IO : 0;
}

static void json_transfers(FILE *out, const struct ilb_sim_row *r)
{
	static const char *const what[] = { "fields", "mask", "llc_count" };
	unsigned int i;

	fprintf(out, ", \"transfers\": {");
	for (i = 0; i < ILB_SIM_SHARED; i++)
		fprintf(out, "%s\"%s\": {\"llc\": %" PRIu64
			", \"node\": %" PRIu64 ", \"machine\": %" PRIu64 "}",
			i ? ", " : "", what[i], r->transfers[i][ILB_SIM_NEAR],
			r->transfers[i][ILB_SIM_NODE],
			r->transfers[i][ILB_SIM_FAR]);
	fprintf(out, "}");
}

/* Published is text in the scenario, and a number if it looks like one. */
static void json_rest(FILE *out, const struct ilb_sim_row *r)
{
	double published;

	fprintf(out, ", \"lost_ns\": %" PRIu64 ", \"busy_sibling\": %" PRIu64
		", \"idle_sibling\": %" PRIu64, r->lost_ns, r->busy_sibling,
		r->idle_sibling);
	if (r->published && sscanf(r->published, "%lf", &published) == 1)
		fprintf(out, ", \"published\": %.10g", published);
	if (r->lines)
		json_transfers(out, r);
}

void ilb_sim_table_json(FILE *out, const char *scenario,
			const struct ilb_sim_row *rows, unsigned int nr)
{
	unsigned int i;

	fprintf(out, "{\"scenario\": \"%s\", \"variants\": [", scenario);
	for (i = 0; i < nr; i++) {
		const struct ilb_sim_row *r = &rows[i];

		fprintf(out, "%s{\"name\": \"%s\", \"duration_ns\": %" PRIu64
			", \"work_ns\": %" PRIu64 ", \"kicks\": %" PRIu64
			", \"on_busy_core\": %" PRIu64 ", \"avoidable\": %"
			PRIu64 ", \"dropped\": %" PRIu64 ", \"passes\": %"
			PRIu64 ", \"pass_ns\": %" PRIu64
			", \"disturbed_ns\": %" PRIu64 ", \"sched\": %" PRIu64
			", \"sched_ns\": %" PRIu64 ", \"violations\": %" PRIu64
			", \"wasted_ns\": %" PRIu64,
			i ? ", " : "", r->name, r->duration_ns,
			r->work_ns, r->kicks, r->on_busy_core, r->avoidable,
			r->dropped, r->passes, r->pass_ns, r->disturbed_ns,
			r->sched, r->sched_ns, r->violations, r->wasted_ns);
		json_rest(out, r);
		fprintf(out, "}");
	}
	fprintf(out, "]}\n");
}
