// SPDX-License-Identifier: GPL-2.0-only
/* What ilb fix trial prints, as text and as JSON. */

#include <inttypes.h>

#include "cmd/fix.h"

#define NO_DISTURBED	"needs a trace, which would slow the runs: ilb record -- COMMAND, with 'ilb fix disable' and 'ilb fix enable'"

static void print_row(FILE *out, const char *name, uint64_t off, uint64_t on)
{
	fprintf(out, "%-22s %16" PRIu64 " %16" PRIu64 "\n", name, off, on);
}

static void print_sums(FILE *out, const struct ilb_trial_sheet *t)
{
	const struct ilb_trial_run *off = &t->sum[0], *on = &t->sum[1];
	const uint64_t *count = on->count;

	fprintf(out, "%-22s %16s %16s\n", "", "repair off", "repair on");
	fprintf(out, "%-22s %14.4f s %14.4f s\n", "time, geometric mean",
		t->result.off_s, t->result.on_s);
	if (!t->no_kicks[0]) {
		print_row(out, "kicks", off->kicks.total, on->kicks.total);
		print_row(out, "  on busy cores", off->kicks.on_busy_core,
			  on->kicks.on_busy_core);
		print_row(out, "  avoidable", off->kicks.avoidable,
			  on->kicks.avoidable);
	} else {
		fprintf(out, "kicks: unknown: %s\n", t->no_kicks);
	}
	if (off->perf.known && on->perf.known) {
		print_row(out, "cycles", off->perf.cycles, on->perf.cycles);
		print_row(out, "instructions", off->perf.instructions,
			  on->perf.instructions);
	} else {
		fprintf(out, "cycles, instructions: unknown: %s\n",
			t->no_perf);
	}
	if (t->repairs & ILB_REPAIR_IDLE_CORE)
		fprintf(out, "%-22s %16s %16" PRIu64 "\n",
			"led to another CPU", "-", count[ILB_FIX_NARROWED]);
	if (t->repairs & ILB_REPAIR_NOHZ_FULL)
		fprintf(out, "%-22s %16s %16" PRIu64 "\n",
			"lost CPUs registered", "-",
			count[ILB_FIX_REGISTERED]);
	fputs("disturbed time: unknown: " NO_DISTURBED "\n", out);
}

static void print_result(FILE *out, const struct ilb_trial_result *r)
{
	int outside = r->low > 1 || r->high < 1;

	fprintf(out, "\nspeed-up %.4f (95 %%: %.4f to %.4f; permutation p %.4f)\n",
		r->ratio, r->low, r->high, r->p);
	if (r->supported)
		fprintf(out, "%.2fx %s with the repair\n", r->ratio > 1 ?
			r->ratio : 1 / r->ratio, r->ratio > 1 ? "faster" :
			"slower");
	else if (outside && r->pairs < 6)
		fprintf(out, "the runs do not support a difference yet: %u pairs cannot, give -n 6 or more\n",
			r->pairs);
	else
		fputs("the runs do not support a difference\n", out);
}

static void print_runs(FILE *out, const struct ilb_trial_sheet *t)
{
	const struct ilb_trial_run *run;
	unsigned int i;

	fputs("\nrun  repair        seconds      kicks  on busy cores            cycles\n",
	      out);
	for (i = 0; i < 2 * t->pairs; i++) {
		run = &t->runs[i];
		fprintf(out, "%3u  %-6s  %13.6f", i + 1,
			run->on ? "on" : "off", (double)run->ns / 1e9);
		if (run->kicks_known)
			fprintf(out, " %10" PRIu64 " %14" PRIu64,
				run->kicks.total, run->kicks.on_busy_core);
		else
			fprintf(out, " %10s %14s", "-", "-");
		if (run->perf.known)
			fprintf(out, " %17" PRIu64 "\n", run->perf.cycles);
		else
			fprintf(out, " %17s\n", "-");
	}
}

static void print_plan(FILE *out, const struct ilb_trial_sheet *t)
{
	unsigned int i;

	fprintf(out, "trial of %s: %u pairs, seed %" PRIu64 "\norder:",
		ilb_fix_repairs_text(t->repairs), t->pairs, t->seed);
	for (i = 0; i < t->pairs; i++)
		fprintf(out, " %s", t->first[i] ? "on,off" : "off,on");
	fputc('\n', out);
}

void ilb_trial_print(FILE *out, const struct ilb_trial_sheet *t)
{
	print_plan(out, t);
	if (!t->runs)
		return;
	print_sums(out, t);
	print_result(out, &t->result);
	print_runs(out, t);
}

/* ---- JSON ---- */

static json_t *json_run(const struct ilb_trial_run *run)
{
	json_t *o = json_object();

	json_object_set_new(o, "repair_on", json_boolean(run->on));
	json_object_set_new(o, "time_s", json_real((double)run->ns / 1e9));
	if (run->kicks_known)
		json_object_set_new(o, "kicks",
				    ilb_fix_json_kicks(&run->kicks));
	if (run->perf.known) {
		json_object_set_new(o, "cycles", json_integer(
				    (json_int_t)run->perf.cycles));
		json_object_set_new(o, "instructions", json_integer(
				    (json_int_t)run->perf.instructions));
	}
	if (run->on)
		json_object_set_new(o, "counters",
				    ilb_fix_json_counters(run->count));
	return o;
}

static json_t *json_result(const struct ilb_trial_result *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "off_s", json_real(r->off_s));
	json_object_set_new(o, "on_s", json_real(r->on_s));
	json_object_set_new(o, "speed_up", json_real(r->ratio));
	json_object_set_new(o, "low", json_real(r->low));
	json_object_set_new(o, "high", json_real(r->high));
	json_object_set_new(o, "p", json_real(r->p));
	json_object_set_new(o, "supported", json_boolean(r->supported));
	return o;
}

/* Reasons for what is absent. */
static json_t *json_unknown(const struct ilb_trial_sheet *t)
{
	json_t *o = json_object();

	if (t->no_kicks[0])
		json_object_set_new(o, "kicks", json_string(t->no_kicks));
	if (t->no_perf[0])
		json_object_set_new(o, "cycles",
				    json_string(t->no_perf));
	json_object_set_new(o, "disturbed", json_string(NO_DISTURBED));
	return o;
}

json_t *ilb_trial_json(const struct ilb_trial_sheet *t)
{
	json_t *o = json_object(), *runs = json_array(), *order = json_array();
	unsigned int i;

	json_object_set_new(o, "command", json_string("fix trial"));
	json_object_set_new(o, "repairs",
			    ilb_fix_json_repairs(t->repairs));
	json_object_set_new(o, "pairs", json_integer(t->pairs));
	json_object_set_new(o, "seed", json_integer(
			    (json_int_t)t->seed));
	for (i = 0; i < 2 * t->pairs; i++) {
		json_array_append_new(order, json_string(
			(t->first[i / 2] ^ (i & 1)) ? "on" : "off"));
		if (t->runs)
			json_array_append_new(runs, json_run(&t->runs[i]));
	}
	json_object_set_new(o, "order", order);
	if (!t->runs) {
		json_decref(runs);
		return o;
	}
	json_object_set_new(o, "result", json_result(&t->result));
	json_object_set_new(o, "unknown", json_unknown(t));
	json_object_set_new(o, "runs", runs);
	return o;
}
