// SPDX-License-Identifier: GPL-2.0-only
/*
 * ilb fix trial: a user's own job with the repair and without. Signals are
 * blocked from before the module is loaded until all is as it was found.
 */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/fix.h"

struct trial {
	const struct ilb_fix_options *o;
	struct ilb_trial_sheet sheet;
	unsigned char first[ILB_TRIAL_MAX];
	struct ilb_trial_run runs[2 * ILB_TRIAL_MAX];
	struct ilb_trial_summary summary;
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
	snprintf(t->sheet.no_kicks, sizeof(t->sheet.no_kicks), "%.299s",
		 why.text);
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
	struct ilb_trial_sheet *sheet = &t->sheet;
	double seconds[2][ILB_TRIAL_MAX];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		sheet->sum[i].on = (int)i;
		sheet->sum[i].perf.known = sheet->sum[i].kicks_known = 1;
	}
	for (i = 0; i < 2 * sheet->pairs; i++) {
		add(&sheet->sum[t->runs[i].on], &t->runs[i]);
		seconds[t->runs[i].on][i / 2] = (double)t->runs[i].ns / 1e9;
	}
	if (ilb_trial_judge(&sheet->result, seconds[0], seconds[1],
			    sheet->pairs, sheet->seed))
		return ilb_fail(error, ILB_ERR_BUG,
				"a run took no time; please report it");
	sheet->runs = t->runs;
	sheet->no_perf = t->summary.no_perf;
	if (!sheet->no_kicks[0] && !(sheet->sum[0].kicks_known &&
				     sheet->sum[1].kicks_known))
		strcpy(sheet->no_kicks, "some moments could not be kept; the machine was overloaded");
	return 0;
}

static int print(const struct trial *t, struct ilb_error *error)
{
	struct ilb_output out;
	int err;

	err = ilb_output_open(&out, t->o->output, error);
	if (err)
		return err;
	if (t->o->json)
		err = ilb_fix_print_json(out.file, ilb_trial_json(&t->sheet),
					 error);
	else
		ilb_trial_print(out.file, &t->sheet);
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
	t->sheet.repairs = o->repairs;
	t->sheet.pairs = o->pairs;
	t->sheet.seed = o->seed;
	t->sheet.first = t->first;
	if (o->dry_run)
		return print(t, error);
	err = block(t, error);
	if (err)
		return err;
	err = run_and_restore(t, site, error);
	unblock(t);
	free(t->path);
	if (err || t->summary.status || t->summary.signal)
		return err;
	err = judge(t, error);
	return err ? err : print(t, error);
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
