// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a trial counts of its command, where processors have no counters for
 * guests: the same code over two clocks of the kernel's, which count ns.
 */

#include <linux/perf_event.h>

/* Numbers 0 and 1 are cycles and instructions, or cpu-clock and task-clock. */
#define PERF_TYPE_HARDWARE	PERF_TYPE_SOFTWARE
#include "../../live/fix_run.c"

#include <stdlib.h>

#include "test.h"

#define BURN "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"

struct fixture {
	struct ilb_child child;
	struct ilb_trial_summary summary;
	struct ilb_fix_perf perf;
	struct ilb_error error;
	sigset_t mask;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	sigprocmask(SIG_SETMASK, NULL, &f->mask);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static void count(struct fixture *f, const char *script)
{
	char *const command[] = {
		(char *)"sh", (char *)"-c", (char *)script, NULL,
	};
	struct counting counting;

	assert_int_equal(ilb_child_prepare(&f->child, command, &f->mask,
					   &f->error), 0);
	counting_start(&counting, f->child.pid, &f->summary);
	assert_int_equal(ilb_child_start(&f->child, command[0], &f->error),
			 0);
	while (!ilb_child_ended(&f->child))
		usleep(1000);
	counting_end(&counting, &f->perf, &f->summary);
}

/* Reason enough not to go on. */
static int unknown(const struct fixture *f)
{
	if (f->perf.known)
		return 0;
	assert_memory_equal(f->summary.no_perf, "needs ", 6);
	printf("# skipped: %s\n", f->summary.no_perf);
	return 1;
}

/* Of the command and what it starts; not of waiting. */
static void of_all_processes(void **state)
{
	struct fixture *f = *state;
	uint64_t alone;

	count(f, BURN);
	if (unknown(f))
		return;
	alone = f->perf.cycles;
	assert_true(alone > 1000000 && f->perf.instructions > 1000000);
	count(f, "(" BURN ") & (" BURN ") & (" BURN ") & wait; sleep 0.3");
	assert_true(f->perf.cycles > 2 * alone);
	count(f, "sleep 0.3");
	assert_true(f->perf.known && f->perf.cycles < 200000000);
	assert_string_equal(f->summary.no_perf, "");
}

/* A counter that was never on the processor says why it is unknown. */
static void never_ran(void **state)
{
	struct fixture *f = *state;
	struct counting counting;

	counting_start(&counting, getpid(), &f->summary);
	counting_end(&counting, &f->perf, &f->summary);
	assert_false(f->perf.known);
	assert_memory_equal(f->summary.no_perf, "needs ", 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_all_processes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(never_ran, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
