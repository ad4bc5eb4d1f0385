// SPDX-License-Identifier: GPL-2.0-only
/*
 * ilb fix trial: a user's own job with the repair and without. Signals are
 * blocked from before the module is loaded until all is as it was found.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/fix.h"

#define NO_DISTURBED	"needs a trace, which would slow the runs: ilb record -- COMMAND, with 'ilb fix disable' and 'ilb fix enable'"

/**
 * struct trial - @sum: of the runs of either side, off and on
 * @no_kicks: why kicks are unknown; "" they are known
 */
struct trial {
	const struct ilb_fix_options *o;
	unsigned char first[ILB_TRIAL_MAX];
	struct ilb_trial_run runs[2 * ILB_TRIAL_MAX];
	struct ilb_trial_summary summary;
	struct ilb_trial_result result;
	struct ilb_trial_run sum[2];
	char no_kicks[300];
	struct ilb_fix_state before;
	char *path;
	sigset_t mask;
	int signals;
};

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* ---- signals ---- */

static int block(struct trial *t, struct ilb_error *error)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(&set, ending[i]);
	sigaddset(&set, SIGCHLD);
	/* Of whoever reads what is printed. */
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, &t->mask);
	t->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (t->signals >= 0)
		return 0;
	sigprocmask(SIG_SETMASK, &t->mask, NULL);
	return ilb_fail(error, ILB_ERR_IO, "no signalfd can be had");
}

static void unblock(struct trial *t)
{
	struct signalfd_siginfo info;

	/* One that came as all was put back ends the trial as well. */
	while (read(t->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGPIPE)
			t->summary.signal = (int)info.ssi_signo;
	close(t->signals);
	sigprocmask(SIG_SETMASK, &t->mask, NULL);
}

/* So that a shell sees why it ended. */
static void end_by(int sig)
{
	fflush(stdout);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* ---- the runs ---- */

static void say_run(unsigned int run, int on)
{
	fprintf(stderr, "ilb fix trial: run %u, repair %s\n", run + 1,
		on ? "on" : "off");
}

static int run_all(struct trial *t, const struct ilb_fix_site *site,
		   struct ilb_error *error)
{
	struct ilb_trial_plan plan = {
		.root = "", .pairs = t->o->pairs, .first = t->first,
		.command = t->o->command, .signals = t->signals,
		.mask = &t->mask, .progress = say_run,
	};
	struct ilb_error why = { "" };
	int err;

	ilb_fix_watch_open(&plan.watch, site->topology,
			   site->check.site.housekeeping, &why);
	snprintf(t->no_kicks, sizeof(t->no_kicks), "%.299s", why.text);
	err = ilb_trial_run(&plan, t->runs, &t->summary, error);
	ilb_fix_watch_close(plan.watch);
	return err;
}

/* Whatever happened in between, the module is made what it was. */
static int run_and_restore(struct trial *t, const struct ilb_fix_site *site,
			   struct ilb_error *error)
{
	struct ilb_error restore = { "" };
	int err, left;

	err = ilb_fix_bring(t->o, site, 0, 0, &t->before, &t->path, error);
	if (err)
		return err;
	err = run_all(t, site, error);
	left = ilb_fix_restore(&t->before, "", &restore);
	if (left)
		fprintf(stderr, "ilb fix trial: the module is NOT as it was: %s\n",
			restore.text);
	return err ? err : left ? ilb_fail(error, ILB_ERR_IO, "%s",
					   restore.text) : 0;
}

/* ---- what they say ---- */

static void add(struct ilb_trial_run *sum, const struct ilb_trial_run *run)
{
	unsigned int i;

	sum->ns += run->ns;
	sum->perf.known &= run->perf.known;
	sum->perf.cycles += run->perf.cycles;
	sum->perf.instructions += run->perf.instructions;
	sum->kicks_known &= run->kicks_known;
	sum->kicks.total += run->kicks.total;
	sum->kicks.on_busy_core += run->kicks.on_busy_core;
	sum->kicks.avoidable += run->kicks.avoidable;
	for (i = 0; i < ILB_FIX_COUNTERS; i++)
		sum->count[i] += run->count[i];
}

static int judge(struct trial *t, struct ilb_error *error)
{
	double seconds[2][ILB_TRIAL_MAX];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		t->sum[i].on = (int)i;
		t->sum[i].perf.known = t->sum[i].kicks_known = 1;
	}
	for (i = 0; i < 2 * t->o->pairs; i++) {
		add(&t->sum[t->runs[i].on], &t->runs[i]);
		seconds[t->runs[i].on][i / 2] = (double)t->runs[i].ns / 1e9;
	}
	if (ilb_trial_judge(&t->result, seconds[0], seconds[1], t->o->pairs,
			    t->o->seed))
		return ilb_fail(error, ILB_ERR_BUG,
				"a run took no time; please report it");
	if (!t->no_kicks[0] && !(t->sum[0].kicks_known &&
				 t->sum[1].kicks_known))
		strcpy(t->no_kicks, "some moments could not be kept; the machine was overloaded");
	return 0;
}

static void print_row(FILE *out, const char *name, uint64_t off, uint64_t on)
{
	fprintf(out, "%-22s %16" PRIu64 " %16" PRIu64 "\n", name, off, on);
}

static void print_sums(FILE *out, const struct trial *t)
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
			t->summary.no_perf);
	}
	if (t->o->repairs & ILB_REPAIR_IDLE_CORE)
		fprintf(out, "%-22s %16s %16" PRIu64 "\n",
			"led to another CPU", "-", count[ILB_FIX_NARROWED]);
	if (t->o->repairs & ILB_REPAIR_NOHZ_FULL)
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

static void print_runs(FILE *out, const struct trial *t)
{
	const struct ilb_trial_run *run;
	unsigned int i;

	fputs("\nrun  repair        seconds      kicks  on busy cores            cycles\n",
	      out);
	for (i = 0; i < 2 * t->o->pairs; i++) {
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

static void print_plan(FILE *out, const struct trial *t)
{
	unsigned int i;

	fprintf(out, "trial of %s: %u pairs, seed %" PRIu64 "\norder:",
		ilb_fix_repairs_text(t->o->repairs), t->o->pairs, t->o->seed);
	for (i = 0; i < t->o->pairs; i++)
		fprintf(out, " %s", t->first[i] ? "on,off" : "off,on");
	fputc('\n', out);
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
static json_t *json_unknown(const struct trial *t)
{
	json_t *o = json_object();

	if (t->no_kicks[0])
		json_object_set_new(o, "kicks", json_string(t->no_kicks));
	if (t->summary.no_perf[0])
		json_object_set_new(o, "cycles",
				    json_string(t->summary.no_perf));
	json_object_set_new(o, "disturbed", json_string(NO_DISTURBED));
	return o;
}

static json_t *json_all(const struct trial *t, int ran)
{
	json_t *o = json_object(), *runs = json_array(), *order = json_array();
	unsigned int i;

	json_object_set_new(o, "command", json_string("fix trial"));
	json_object_set_new(o, "repairs",
			    ilb_fix_json_repairs(t->o->repairs));
	json_object_set_new(o, "pairs", json_integer(t->o->pairs));
	json_object_set_new(o, "seed", json_integer(
			    (json_int_t)t->o->seed));
	for (i = 0; i < 2 * t->o->pairs; i++) {
		json_array_append_new(order, json_string(
			(t->first[i / 2] ^ (i & 1)) ? "on" : "off"));
		if (ran)
			json_array_append_new(runs, json_run(&t->runs[i]));
	}
	json_object_set_new(o, "order", order);
	if (!ran) {
		json_decref(runs);
		return o;
	}
	json_object_set_new(o, "result", json_result(&t->result));
	json_object_set_new(o, "unknown", json_unknown(t));
	json_object_set_new(o, "runs", runs);
	return o;
}

static int print(const struct trial *t, int ran, struct ilb_error *error)
{
	struct ilb_output out;
	int err;

	err = ilb_output_open(&out, t->o->output, error);
	if (err)
		return err;
	if (t->o->json) {
		err = ilb_fix_print_json(out.file, json_all(t, ran), error);
	} else {
		print_plan(out.file, t);
		if (ran) {
			print_sums(out.file, t);
			print_result(out.file, &t->result);
			print_runs(out.file, t);
		}
	}
	if (!err)
		return ilb_output_close(&out, error);
	ilb_output_abandon(&out);
	return err;
}

/* ---- the command ---- */

/* Returns 0, or an error; a status or signal is in ->summary. */
static int trial(struct trial *t, struct ilb_fix_options *o,
		 const struct ilb_fix_site *site, struct ilb_error *error)
{
	int err;

	t->o = o;
	ilb_trial_order(t->first, o->pairs, o->seed);
	err = ilb_fix_choose(o, site, error);
	if (err)
		return err;
	if (o->dry_run)
		return print(t, 0, error);
	err = block(t, error);
	if (err)
		return err;
	err = run_and_restore(t, site, error);
	unblock(t);
	free(t->path);
	if (err || t->summary.status || t->summary.signal)
		return err;
	err = judge(t, error);
	return err ? err : print(t, 1, error);
}

static int exit_code(const struct trial *t, int err,
		     const struct ilb_error *error)
{
	const struct ilb_trial_summary *s = &t->summary;

	if (err)
		ilb_fix_fail(err, error);
	if (s->signal) {
		fprintf(stderr, "ilb fix trial: ended by a signal after %u runs; the module is as it was\n",
			s->done);
		end_by(s->signal);
	}
	if (!err && s->status)
		fprintf(stderr, "ilb fix trial: run %u: the command failed with %d; no more runs, the module is as it was\n",
			s->done + 1, s->status);
	if (err == -ILB_ERR_NOENT && s->status)
		return s->status;
	return err ? ILB_FIX_EXIT_OWN : s->status;
}

int ilb_fix_trial(struct ilb_fix_options *options)
{
	struct ilb_error error = { "" };
	struct ilb_fix_site *site = ilb_fix_site_open(&error);
	struct trial *t = calloc(1, sizeof(*t));
	int err, code;

	if (!site || !t) {
		ilb_fix_fail(-ILB_ERR_NOMEM, &error);
		ilb_fix_site_close(site);
		free(t);
		return ILB_FIX_EXIT_OWN;
	}
	err = trial(t, options, site, &error);
	ilb_fix_site_close(site);
	code = exit_code(t, err, &error);
	free(t);
	return code;
}
