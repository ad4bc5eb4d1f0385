// SPDX-License-Identifier: GPL-2.0-only
/*
 * The runs of a trial, with a made-up module: the command itself notes whether
 * the repair was on while it ran.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ilb/fix.h"
#include "test.h"

#define PARAMETERS	"/sys/module/ilb_fix/parameters"

struct fixture {
	char root[32];
	char script[400];
	char *command[4];
	unsigned char first[3];
	sigset_t mask;
	struct ilb_trial_plan plan;
	struct ilb_trial_run runs[6];
	struct ilb_trial_summary summary;
	struct ilb_error error;
	char log[100];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	sigset_t set;

	assert_non_null(f);
	strcpy(f->root, "/tmp/ilb-run-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	snprintf(f->script, sizeof(f->script),
		 "d=%s" PARAMETERS "; mkdir -p $d; cd $d; echo Y >idle_core;"
		 "for i in nohz_full enable dry_run; do echo N >$i; done;"
		 "echo near >policy; for i in calls narrowed would_narrow same"
		 " fallback no_target not_ready registered would_register"
		 " refused; do echo $i 0; done >counters", f->root);
	assert_int_equal(system(f->script), 0);
	f->command[0] = (char *)"sh";
	f->command[1] = (char *)"-c";
	f->command[2] = f->script;
	memcpy(f->first, "\1\0\1", 3);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &f->mask);
	f->plan = (struct ilb_trial_plan){
		.root = f->root, .pairs = 3, .first = f->first,
		.command = f->command, .mask = &f->mask,
		.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
	};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	int failed;

	close(f->plan.signals);
	sigprocmask(SIG_SETMASK, &f->mask, NULL);
	snprintf(f->script, sizeof(f->script), "rm -r %s", f->root);
	failed = system(f->script);
	free(f);
	return failed;
}

/* Runs "SCRIPT" with $on being the state of the repair; reads what it noted. */
static int run(struct fixture *f, const char *script)
{
	char path[64];
	FILE *file;
	int err;

	snprintf(f->script, sizeof(f->script),
		 "on=$(cat %s" PARAMETERS "/enable); log=%s/log; %s", f->root,
		 f->root, script);
	err = ilb_trial_run(&f->plan, f->runs, &f->summary, &f->error);
	snprintf(path, sizeof(path), "%s/log", f->root);
	file = fopen(path, "r");
	if (file && !fgets(f->log, sizeof(f->log), file))
		f->log[0] = '\0';
	if (file)
		fclose(file);
	return err;
}

static void in_order(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	assert_int_equal(run(f, "printf $on >>$log; sleep 0.02"), 0);
	assert_string_equal(f->log, "YNNYYN");
	assert_int_equal(f->summary.done, 6);
	assert_int_equal(f->summary.status, 0);
	for (i = 0; i < 6; i++) {
		assert_int_equal(f->runs[i].on, f->log[i] == 'Y');
		assert_true(f->runs[i].ns >= 20000000);
		assert_true(f->runs[i].ns < 10000000000U);
		assert_false(f->runs[i].kicks_known);
		assert_true(f->runs[i].perf.known ||
			    !strncmp(f->summary.no_perf, "needs ", 6));
	}
}

/* What the module counted in a run is that run's. */
static void counts(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f,
		"c=${log%/log}" PARAMETERS "/counters; test $on = N ||"
		" sed -i \"s/^narrowed .*/narrowed $(($(sed -n 's/^narrowed //p' $c) + 5))/\" $c"),
		0);
	assert_int_equal(f->summary.done, 6);
	assert_int_equal(f->runs[0].count[ILB_FIX_NARROWED], 5);
	assert_int_equal(f->runs[1].count[ILB_FIX_NARROWED], 0);
	assert_int_equal(f->runs[4].count[ILB_FIX_NARROWED], 5);
	assert_int_equal(f->runs[4].count[ILB_FIX_CALLS], 0);
}

static void failing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f, "printf $on >>$log; test $on = Y || exit 7"),
			 0);
	assert_string_equal(f->log, "YN");
	assert_int_equal(f->summary.done, 1);
	assert_int_equal(f->summary.status, 7);
}

static void no_such(void **state)
{
	struct fixture *f = *state;

	f->command[0] = (char *)"/nonexistent";
	assert_int_equal(run(f, ""), -ILB_ERR_NOENT);
	assert_int_equal(f->summary.done, 0);
	assert_int_equal(f->summary.status, 127);
}

/* The command is told, waited for, and nothing runs after it. */
static void ended(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f,
		"trap 'printf T >>$log; exit 0' TERM; kill -TERM $PPID;"
		" while :; do sleep 0.05; done"), 0);
	assert_string_equal(f->log, "T");
	assert_int_equal(f->summary.signal, SIGTERM);
	assert_int_equal(f->summary.done, 0);
}

/* No input, and nothing of it on our standard output. */
static void streams(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f,
		"cat >>$log; test /proc/self/fd/1 -ef /proc/self/fd/2 &&"
		" printf same >>$log"), 0);
	assert_string_equal(f->log, "samesamesamesamesamesame");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_such, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(streams, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
