// SPDX-License-Identifier: GPL-2.0-only
/* Lost CPUs: nohz_full, idle, tick stopped, and missing from the mask. */

#include "fixture.h"

#define MS(ms)	((ms) * 1000)

static int setup(void **state)
{
	struct fixture *f;

	if (fixture_setup(state))
		return -1;
	f = *state;
	ilb_mask_set(f->nohz_full, 2);
	ilb_mask_set(f->nohz_full, 3);
	ilb_mask_clear(f->housekeeping, 2);
	ilb_mask_clear(f->housekeeping, 3);
	return 0;
}

#define LOST_TEST(test)							\
	cmocka_unit_test_setup_teardown(test, setup, fixture_teardown)

/*
 * CPU 2 leaves the mask by a busy tick, its tick stops under the task, and
 * then it goes idle: lost from 10 ms on.
 */
#define LOSE(cpu)							\
	OTHER(1, 0, 0),							\
	SWITCH(MS(2), cpu, 0, 7),					\
	TICK(MS(4), cpu, 7), TICK(MS(8), cpu, 7),			\
	TICK_STOP(MS(9), cpu, 7),					\
	SWITCH(MS(10), cpu, 7, 0)

static void a_tick_stopped_under_a_task_loses_the_cpu(void **state)
{
	static const struct ilb_event trace[] = {
		LOSE(2),
		OTHER(MS(110), 0, 0),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->nr_lost_cpus, 1);
	assert_int_equal(m->lost_cpus[0].cpu, 2);
	assert_int_equal(m->lost_cpus[0].lost_ns, US(MS(100)));
	assert_int_equal(m->lost_cpus[0].probed, 0);
	assert_int_equal(m->missing_from_start, 0);
}

static void up_to_50_ms_are_no_loss(void **state)
{
	static const struct ilb_event trace[] = {
		LOSE(2), OTHER(MS(60), 0, 0),
	};
	static const struct ilb_event longer[] = {
		LOSE(2), OTHER(MS(60) + 1, 0, 0),
	};
	struct fixture *f = *state;

	assert_int_equal(MEASURE(f, trace)->nr_lost_cpus, 0);
	assert_int_equal(MEASURE(f, longer)->nr_lost_cpus, 1);
}

/* Each idle stretch for itself; only the long ones add up. */
static void long_stretches_add_up(void **state)
{
	static const struct ilb_event trace[] = {
		LOSE(2),
		SWITCH(MS(70), 2, 0, 7),	/* 60 */
		SWITCH(MS(71), 2, 7, 0),
		SWITCH(MS(111), 2, 0, 7),	/* 40 */
		SWITCH(MS(112), 2, 7, 0),
		WAKEUP(MS(192), 0, 0, 7, 2),	/* 80: busy from the wakeup */
		SWITCH(MS(193), 2, 0, 7),
		OTHER(MS(300), 0, 0),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->nr_lost_cpus, 1);
	assert_int_equal(m->lost_cpus[0].lost_ns, US(MS(140)));
}

static void a_tick_that_stops_in_idle_heals(void **state)
{
	static const struct ilb_event trace[] = {
		LOSE(2),
		TICK(MS(80), 2, 0), TICK(MS(84), 2, 0),
		TICK_STOP(MS(85), 2, 0),
		OTHER(MS(500), 0, 0),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->nr_lost_cpus, 1);
	assert_int_equal(m->lost_cpus[0].lost_ns, US(MS(74)));
}

/* Idle with a running tick it is not in the mask, and need not be. */
static void a_running_tick_is_no_loss(void **state)
{
	static const struct ilb_event trace[] = {
		OTHER(1, 0, 0),
		SWITCH(MS(2), 2, 0, 7),
		TICK(MS(4), 2, 7), TICK(MS(8), 2, 7),
		SWITCH(MS(10), 2, 7, 0),
		OTHER(MS(500), 0, 0),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->nr_lost_cpus, 0);
}

static void without_nohz_full_none_is_lost(void **state)
{
	static const struct ilb_event trace[] = {
		LOSE(1),
		OTHER(MS(500), 0, 0),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->nr_lost_cpus, 0);
	assert_int_equal(m->missing_from_start, 0);
}

/* It has no domains, so it never was to be in the mask. */
static void an_isolated_cpu_is_never_lost(void **state)
{
	static const struct ilb_event trace[] = {
		LOSE(2),
		OTHER(MS(500), 0, 0),
	};
	static const struct ilb_event probed[] = {
		OTHER(1, 2, 0),
		PROBE(1, 0, TICK, 9, 0xf2),
		LOSE(3),
		PROBE(MS(500), 0, TICK, 9, 0xf2),
	};
	struct fixture *f = *state;
	struct ilb_measures *m;

	ilb_mask_set(f->isolated, 2);
	assert_int_equal(MEASURE(f, trace)->nr_lost_cpus, 0);
	m = MEASURE(f, probed);
	assert_int_equal(m->missing_from_start, 0);
	assert_int_equal(m->nr_lost_cpus, 1);
	assert_int_equal(m->lost_cpus[0].cpu, 3);
}

static void ascending_by_cpu(void **state)
{
	static const struct ilb_event trace[] = {
		LOSE(3),
		SWITCH(MS(12), 2, 0, 8),
		TICK(MS(16), 2, 8), TICK(MS(20), 2, 8),
		TICK_STOP(MS(21), 2, 8),
		SWITCH(MS(22), 2, 8, 0),
		OTHER(MS(110), 0, 0),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->nr_lost_cpus, 2);
	assert_int_equal(m->lost_cpus[0].cpu, 2);
	assert_int_equal(m->lost_cpus[0].lost_ns, US(MS(88)));
	assert_int_equal(m->lost_cpus[1].cpu, 3);
	assert_int_equal(m->lost_cpus[1].lost_ns, US(MS(100)));
}

/* ---- with probes, which also know of what was before the trace ---- */

#define OUT_2	0xfbU		/* all but CPU 2 */

static void a_mask_without_the_cpu_loses_it(void **state)
{
	static const struct ilb_event trace[] = {
		OTHER(1, 0, 9),
		SWITCH(MS(2), 2, 7, 0),
		PROBE(MS(10), 0, TICK, 9, OUT_2),
		PROBE(MS(90), 0, TICK, 9, 0xff),	/* healed */
		PROBE(MS(500), 0, TICK, 9, 0xff),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->nr_lost_cpus, 1);
	assert_int_equal(m->lost_cpus[0].cpu, 2);
	assert_int_equal(m->lost_cpus[0].lost_ns, US(MS(80)));
	assert_int_equal(m->lost_cpus[0].probed, 1);
	assert_int_equal(m->missing_from_start, 0);
}

/* Nobody saw how it came to that: told apart, not counted as a loss. */
static void idle_since_before_the_trace_is_told_apart(void **state)
{
	static const struct ilb_event trace[] = {
		OTHER(1, 2, 0),
		PROBE(MS(10), 0, TICK, 9, OUT_2),
		PROBE(MS(500), 0, TICK, 9, OUT_2),
	};
	static const struct ilb_event returns[] = {
		OTHER(1, 2, 0),
		PROBE(MS(10), 0, TICK, 9, OUT_2),
		PROBE(MS(100), 0, TICK, 9, 0xff),
		PROBE(MS(500), 0, TICK, 9, 0xff),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(m->nr_lost_cpus, 0);
	assert_int_equal(m->missing_from_start, 1);
	m = MEASURE(f, returns);
	assert_int_equal(m->nr_lost_cpus, 0);
	assert_int_equal(m->missing_from_start, 0);
}

static void out_with_a_running_tick_is_no_loss(void **state)
{
	static const struct ilb_event trace[] = {
		PROBE(1, 0, TICK, 9, OUT_2),
		SWITCH(MS(2), 2, 0, 7),
		TICK(MS(4), 2, 7), TICK(MS(8), 2, 7),
		SWITCH(MS(10), 2, 7, 0),
		PROBE(MS(500), 0, TICK, 9, OUT_2),
	};

	assert_int_equal(MEASURE(*state, trace)->nr_lost_cpus, 0);
}

/* A busy tick ran, and none since it is idle: the tick stopped all the same. */
static void out_without_any_tick_is_a_loss(void **state)
{
	static const struct ilb_event trace[] = {
		PROBE(1, 0, TICK, 9, OUT_2),
		SWITCH(MS(2), 2, 0, 7),
		TICK(MS(4), 2, 7), TICK(MS(8), 2, 7),
		SWITCH(MS(10), 2, 7, 0),
		PROBE(MS(15), 0, TICK, 9, OUT_2),
		PROBE(MS(100), 0, TICK, 9, OUT_2),
		PROBE(MS(500), 0, TICK, 9, OUT_2),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->nr_lost_cpus, 1);
	assert_int_equal(m->lost_cpus[0].cpu, 2);
	assert_int_equal(m->lost_cpus[0].lost_ns, 400000000);
}

static void a_busy_cpu_may_be_out(void **state)
{
	static const struct ilb_event trace[] = {
		SWITCH(1, 2, 0, 7),
		PROBE(MS(10), 0, TICK, 9, OUT_2),
		PROBE(MS(500), 0, TICK, 9, OUT_2),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_int_equal(m->nr_lost_cpus, 0);
	assert_int_equal(m->missing_from_start, 0);
}

/* Their masks have 64 bits: of CPU 66 they say nothing. */
static void probes_know_nothing_beyond_cpu_63(void **state)
{
	static const struct ilb_event trace[] = {
		OTHER(1, 0, 9),
		SWITCH(MS(2), 66, 0, 7),
		TICK(MS(4), 66, 7), TICK(MS(8), 66, 7),
		PROBE(MS(9), 0, TICK, 9, ~0ULL),
		SWITCH(MS(10), 66, 7, 0),
		PROBE(MS(500), 0, TICK, 9, ~0ULL),
	};
	static const struct ilb_event stopped[] = {
		PROBE(1, 0, TICK, 9, ~0ULL),
		LOSE(66),
		OTHER(MS(110), 0, 0),
	};
	static const struct ilb_event unclear[] = {
		PROBE(1, 0, TICK, 9, ~0ULL),
		SWITCH(MS(2), 66, 0, 7),
		TICK(MS(4), 66, 7),
		LOST(MS(5), 66),		/* does its tick run? */
		SWITCH(MS(10), 66, 7, 0),
		PROBE(MS(500), 0, TICK, 9, ~0ULL),
	};
	struct fixture *f = *state;
	struct ilb_measures *m;

	fixture_shape(f, 72, 2, 72);
	ilb_mask_set(f->nohz_full, 66);
	assert_int_equal(MEASURE(f, trace)->nr_lost_cpus, 0);
	assert_int_equal(MEASURE(f, unclear)->nr_lost_cpus, 0);
	m = MEASURE(f, stopped);
	assert_int_equal(m->nr_lost_cpus, 1);
	assert_int_equal(m->lost_cpus[0].cpu, 66);
	assert_int_equal(m->lost_cpus[0].probed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOST_TEST(a_tick_stopped_under_a_task_loses_the_cpu),
		LOST_TEST(up_to_50_ms_are_no_loss),
		LOST_TEST(long_stretches_add_up),
		LOST_TEST(a_tick_that_stops_in_idle_heals),
		LOST_TEST(a_running_tick_is_no_loss),
		LOST_TEST(without_nohz_full_none_is_lost),
		LOST_TEST(an_isolated_cpu_is_never_lost),
		LOST_TEST(ascending_by_cpu),
		LOST_TEST(a_mask_without_the_cpu_loses_it),
		LOST_TEST(idle_since_before_the_trace_is_told_apart),
		LOST_TEST(out_with_a_running_tick_is_no_loss),
		LOST_TEST(out_without_any_tick_is_a_loss),
		LOST_TEST(a_busy_cpu_may_be_out),
		LOST_TEST(probes_know_nothing_beyond_cpu_63),
	};

	return cmocka_run_group_tests_name("lost", tests, NULL, NULL);
}
