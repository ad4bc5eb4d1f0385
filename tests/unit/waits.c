// SPDX-License-Identifier: GPL-2.0-only
/* Tasks that wait over a tick (4 ms here) beside an idle CPU of their cache. */

#include "fixture.h"

/* Pid 7 runs on CPUs 0 and 1, so it is movable; 8 and 9 are others. */
#define MOVES								\
	SWITCH(1, 0, 0, 7), SWITCH(2, 0, 7, 0), MIGRATE(3, 1, 0, 7, 0, 1),\
	SWITCH(4, 1, 0, 7), SWITCH(5, 1, 7, 0)

static void a_wait_beside_an_idle_cpu_counts(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES,
		OTHER(10, 2, 0),
		SWITCH(1000, 1, 0, 8),
		WAKEUP(2000, 1, 8, 7, 1),
		SWITCH(9000, 0, 0, 9),		/* 0 was idle till now */
		SWITCH(10000, 1, 8, 7),		/* 2 since the start */
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_true(m->waiting.known);
	assert_int_equal(m->waiting.stretches, 1);
	assert_int_equal(m->waiting.longest_ns, US(8000));
	assert_int_equal(m->waiting.total_ns, US(8000));
	assert_int_equal(m->waiting.idle_cpu, 2);
	assert_int_equal(m->waiting.waiting_cpu, 1);
	assert_int_equal(m->waiting.pid, 7);
}

/* All of the cache is busy, apart from CPU 2. */
#define BUSY_BUT_2							\
	SWITCH(1000, 0, 0, 10), SWITCH(1000, 1, 0, 8), SWITCH(1000, 3, 0, 13)

static void only_since_the_cpu_is_idle(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES, BUSY_BUT_2,
		SWITCH(1000, 2, 0, 12),
		WAKEUP(2000, 1, 8, 7, 1),
		SWITCH(3000, 2, 12, 0),
		SWITCH(9000, 1, 8, 7),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->waiting.stretches, 1);
	assert_int_equal(m->waiting.longest_ns, US(6000));
}

static void up_to_a_tick_is_no_wait(void **state)
{
	static const struct ilb_event task[] = {
		MOVES, BUSY_BUT_2, OTHER(1000, 2, 0),
		WAKEUP(2000, 1, 8, 7, 1), SWITCH(6000, 1, 8, 7),
	};
	static const struct ilb_event cpu[] = {
		MOVES, BUSY_BUT_2, SWITCH(1000, 2, 0, 12),
		WAKEUP(2000, 1, 8, 7, 1), SWITCH(5000, 2, 12, 0),
		SWITCH(9000, 1, 8, 7),
	};
	struct fixture *f = *state;

	assert_int_equal(MEASURE(f, task)->waiting.stretches, 0);
	assert_int_equal(MEASURE(f, cpu)->waiting.stretches, 0);
	f->hz = 1000;
	assert_int_equal(MEASURE(f, task)->waiting.stretches, 1);
	assert_int_equal(MEASURE(f, cpu)->waiting.stretches, 1);
}

/* A pinned task may have to wait. */
static void a_task_that_never_moved_does_not_count(void **state)
{
	static const struct ilb_event pinned[] = {
		SWITCH(1, 1, 0, 7), SWITCH(5, 1, 7, 0), OTHER(6, 2, 0),
		SWITCH(1000, 1, 0, 8), WAKEUP(2000, 1, 8, 7, 1),
		SWITCH(10000, 1, 8, 7),
	};
	/* It is woken elsewhere than where it ran: that shows it too. */
	static const struct ilb_event woken_elsewhere[] = {
		SWITCH(1, 0, 0, 7), SWITCH(5, 0, 7, 0), OTHER(6, 2, 0),
		SWITCH(1000, 1, 0, 8), WAKEUP(2000, 1, 8, 7, 1),
		SWITCH(10000, 1, 8, 7),
	};
	struct fixture *f = *state;

	assert_int_equal(MEASURE(f, pinned)->waiting.stretches, 0);
	assert_int_equal(MEASURE(f, woken_elsewhere)->waiting.stretches, 1);
}

static void only_cpus_of_the_same_cache(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES, BUSY_BUT_2, SWITCH(1000, 2, 0, 12),
		OTHER(1000, 4, 0), OTHER(1000, 5, 0), OTHER(1000, 6, 0),
		WAKEUP(2000, 1, 8, 7, 1), SWITCH(10000, 1, 8, 7),
	};
	struct fixture *f = *state;

	assert_int_equal(MEASURE(f, trace)->waiting.stretches, 0);
	fixture_shape(f, 8, 2, 8);
	assert_int_equal(MEASURE(f, trace)->waiting.stretches, 1);
}

/* A CPU without any event may run one task all the time (nohz_full). */
static void a_cpu_that_was_never_seen_is_not_idle(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES, BUSY_BUT_2,
		WAKEUP(2000, 1, 8, 7, 1), SWITCH(10000, 1, 8, 7),
	};

	assert_int_equal(MEASURE(*state, trace)->waiting.stretches, 0);
}

static void a_preempted_task_waits_too(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES, BUSY_BUT_2, OTHER(1000, 2, 0),
		SWITCH(1500, 1, 8, 7),
		PREEMPT(2000, 1, 7, 8),
		SWITCH(7000, 1, 8, 7),		/* 5 ms */
		SWITCH(8000, 1, 7, 8),		/* sleeps */
		SWITCH(20000, 1, 8, 7),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->waiting.stretches, 1);
	assert_int_equal(m->waiting.longest_ns, US(5000));
}

/* Woken again, or before it had left: neither starts a wait anew. */
static void the_wait_starts_once(void **state)
{
	static const struct ilb_event twice[] = {
		MOVES, BUSY_BUT_2, OTHER(1000, 2, 0),
		WAKEUP(2000, 1, 8, 7, 1), WAKEUP(5000, 1, 8, 7, 1),
		SWITCH(8000, 1, 8, 7),
	};
	static const struct ilb_event running[] = {
		MOVES, BUSY_BUT_2, OTHER(1000, 2, 0),
		SWITCH(1500, 1, 8, 7), WAKEUP(2000, 0, 10, 7, 1),
		SWITCH(9000, 1, 7, 8), SWITCH(19000, 1, 8, 7),
	};
	struct fixture *f = *state;

	assert_int_equal(MEASURE(f, twice)->waiting.longest_ns, US(6000));
	assert_int_equal(MEASURE(f, running)->waiting.stretches, 0);
}

/* The usual end: the idle CPU pulls the task, and is idle no more. */
static void the_idle_cpu_pulls_it_at_last(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES, BUSY_BUT_2, OTHER(1000, 2, 0),
		WAKEUP(2000, 1, 8, 7, 1),
		MIGRATE(12000, 2, 0, 7, 1, 2),
		SWITCH(12010, 2, 0, 7),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->waiting.stretches, 1);
	assert_int_equal(m->waiting.longest_ns, US(10000));
	assert_int_equal(m->waiting.idle_cpu, 2);
	assert_int_equal(m->waiting.waiting_cpu, 1);
}

/* From one busy CPU to another: one wait, not two short ones. */
static void a_migrated_waiter_waits_on(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES, BUSY_BUT_2, OTHER(1000, 2, 0),
		WAKEUP(2000, 1, 8, 7, 1),
		MIGRATE(5000, 0, 10, 7, 1, 0),
		SWITCH(8000, 0, 10, 7),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->waiting.stretches, 1);
	assert_int_equal(m->waiting.longest_ns, US(6000));
	assert_int_equal(m->waiting.waiting_cpu, 0);
}

/* What counted when it was migrated does not count again. */
static void each_part_of_a_wait_counts_once(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES, BUSY_BUT_2, OTHER(1000, 2, 0),
		WAKEUP(2000, 1, 8, 7, 1),
		MIGRATE(12000, 0, 10, 7, 1, 0),	/* 10 ms */
		MIGRATE(15000, 1, 8, 7, 0, 1),
		SWITCH(18000, 1, 8, 7),		/* 6 ms since */
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->waiting.stretches, 2);
	assert_int_equal(m->waiting.longest_ns, US(10000));
	assert_int_equal(m->waiting.total_ns, US(16000));
}

static void who_waits_to_the_end_waited(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES, BUSY_BUT_2, OTHER(1000, 2, 0),
		WAKEUP(2000, 1, 8, 7, 1),
		OTHER(9000, 0, 10),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->waiting.stretches, 1);
	assert_int_equal(m->waiting.longest_ns, US(7000));
}

/* The longest is kept, whichever comes first; of equal ones the lower pid. */
static void the_longest_is_kept(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES, BUSY_BUT_2, OTHER(1000, 2, 0),
		WAKEUP(2000, 1, 8, 7, 1), SWITCH(10000, 1, 8, 7),
		PREEMPT(11000, 1, 7, 8), SWITCH(16000, 1, 8, 7),
		MIGRATE(17000, 1, 7, 5, 2, 3), WAKEUP(17000, 1, 7, 5, 1),
		SWITCH(25000, 1, 7, 5),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->waiting.stretches, 3);
	assert_int_equal(m->waiting.total_ns, US(8000 + 5000 + 8000));
	assert_int_equal(m->waiting.longest_ns, US(8000));
	assert_int_equal(m->waiting.pid, 5);
}

/* Its end may be among the lost events. */
static void no_wait_spans_a_gap(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES, BUSY_BUT_2, OTHER(1000, 2, 0),
		WAKEUP(2000, 1, 8, 7, 1), LOST(5000, 3),
		SWITCH(10000, 1, 8, 7),
		PREEMPT(11000, 1, 7, 8), SWITCH(17000, 1, 8, 7),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->waiting.stretches, 1);
	assert_int_equal(m->waiting.longest_ns, US(6000));
}

/* Numbers that no trace should have. */
static void impossible_numbers_do_no_harm(void **state)
{
	static const struct ilb_event trace[] = {
		MOVES,
		WAKEUP(1000, 0, 0, 7, 4000000000U),
		WAKEUP(1001, 0, 0, -5, 1),
		MIGRATE(1002, 0, 0, -5, 1, 2),
		MIGRATE(1003, 0, 0, 7, 1, 4000000000U),
		WAKEUP(1004, 0, 0, 9, 1),
		MIGRATE(1005, 0, 0, 9, 1, 4000000000U),
		SWITCH(1006, 0, -7, -9),
		SWITCH(1007, 0, -1, -1),
		OTHER(9000, 0, -1),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->waiting.stretches, 0);
	assert_in_range(m->utilisation.busy_ns, 2000, 8 * US(9000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_wait_beside_an_idle_cpu_counts),
		FIXTURE_TEST(only_since_the_cpu_is_idle),
		FIXTURE_TEST(up_to_a_tick_is_no_wait),
		FIXTURE_TEST(a_task_that_never_moved_does_not_count),
		FIXTURE_TEST(only_cpus_of_the_same_cache),
		FIXTURE_TEST(a_cpu_that_was_never_seen_is_not_idle),
		FIXTURE_TEST(a_preempted_task_waits_too),
		FIXTURE_TEST(the_wait_starts_once),
		FIXTURE_TEST(the_idle_cpu_pulls_it_at_last),
		FIXTURE_TEST(a_migrated_waiter_waits_on),
		FIXTURE_TEST(each_part_of_a_wait_counts_once),
		FIXTURE_TEST(who_waits_to_the_end_waited),
		FIXTURE_TEST(the_longest_is_kept),
		FIXTURE_TEST(no_wait_spans_a_gap),
		FIXTURE_TEST(impossible_numbers_do_no_harm),
	};

	return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
