// SPDX-License-Identifier: GPL-2.0-only
/* What runs and for how long, contention, softirqs, ticks, what is known. */

#include "fixture.h"

/* ---- what runs ---- */

static void time_goes_to_the_task_that_runs(void **state)
{
	static const struct ilb_event trace[] = {
		OTHER(100, 0, 0),
		SWITCH(200, 0, 0, 10),
		SWITCH(230, 1, 0, 20),
		PREEMPT(300, 0, 10, 11),
		SWITCH(450, 0, 11, 10),
		SWITCH(500, 0, 10, 0),
		OTHER(1100, 0, 0),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(fixture_task(f, 10)->running_ns, US(100 + 50));
	assert_int_equal(fixture_task(f, 11)->running_ns, US(150));
	assert_int_equal(fixture_task(f, 20)->running_ns, US(870));
	assert_string_equal(fixture_task(f, 11)->comm, "t11");
	assert_int_equal(m->utilisation.busy_ns, US(300 + 870));
	assert_int_equal(m->start_ns, US(100));
	assert_int_equal(m->end_ns, US(1100));
	assert_int_equal(m->cpus, 8);
	assert_true(m->utilisation.known);
}

/* Whatever the first event on a CPU is, it says who ran there till then. */
static void the_first_event_tells_who_ran_from_the_start(void **state)
{
	static const struct ilb_event trace[] = {
		OTHER(100, 7, 0),
		TICK(400, 0, 10),
		SWITCH(500, 0, 10, 0),
		SWITCH(600, 1, 20, 0),
		SWITCH(700, 2, 30, 31),
		SWITCH(800, 3, 0, 40),
		OTHER(1000, 7, 0),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(fixture_task(f, 10)->running_ns, US(400));
	assert_int_equal(fixture_task(f, 20)->running_ns, US(500));
	assert_int_equal(fixture_task(f, 30)->running_ns, US(600));
	assert_int_equal(fixture_task(f, 31)->running_ns, US(300));
	assert_int_equal(fixture_task(f, 40)->running_ns, US(200));
	assert_int_equal(m->utilisation.busy_ns,
			 US(400 + 500 + 600 + 300 + 200));
}

/* After lost events another task may run than the last switch said. */
static void a_gap_ends_what_ran(void **state)
{
	static const struct ilb_event trace[] = {
		SWITCH(100, 0, 0, 10),
		LOST(200, 0),
		OTHER(300, 0, 11),
		OTHER(500, 0, 11),
	};
	struct fixture *f = *state;

	MEASURE(f, trace);
	assert_int_equal(fixture_task(f, 10)->running_ns, US(200));
	assert_int_equal(fixture_task(f, 11)->running_ns, US(200));
}

/* ---- contention ---- */

static void leaving_idle_beside_a_task_is_contention(void **state)
{
	static const struct ilb_event trace[] = {
		SWITCH(100, 0, 0, 10),		/* 1 is idle */
		SWITCH(200, 1, 0, 20),		/* 0 is busy */
		SWITCH(300, 0, 10, 11),		/* does not leave idle */
		SWITCH(400, 0, 11, 0),
		SWITCH(500, 0, 0, 10),		/* 1 is busy */
		SWITCH(600, 1, 20, 0),
		SWITCH(650, 0, 10, 0),
		SWITCH(660, 0, 0, 11),		/* 1 is idle again */
		SWITCH(700, 2, 0, 30),		/* another core */
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_true(m->contention.known);
	assert_int_equal(m->contention.busy_sibling, 2);
	assert_int_equal(m->contention.idle_sibling, 3);
}

static void of_four_threads_one_busy_is_enough(void **state)
{
	static const struct ilb_event trace[] = {
		SWITCH(100, 3, 0, 10),
		SWITCH(200, 0, 0, 20),
		SWITCH(300, 1, 0, 30),
		SWITCH(400, 4, 0, 40),
	};
	struct fixture *f = *state;
	struct ilb_measures *m;

	fixture_shape(f, 8, 4, 8);
	m = MEASURE(f, trace);
	assert_int_equal(m->contention.busy_sibling, 2);
	assert_int_equal(m->contention.idle_sibling, 2);
}

static void without_smt_there_is_no_contention(void **state)
{
	static const struct ilb_event trace[] = {
		SWITCH(100, 0, 0, 10),
	};
	struct fixture *f = *state;
	struct ilb_measures *m;

	fixture_shape(f, 8, 1, 8);
	m = MEASURE(f, trace);
	assert_false(m->contention.known);
	assert_int_equal(m->contention.idle_sibling, 0);
}

/* ---- softirqs ---- */

static void only_sched_softirqs_count(void **state)
{
	static const struct ilb_event trace[] = {
		EXIT(100, 0, 0),		/* began before the trace */
		ENTRY(200, 0, 0),
		ENTRY(205, 1, 0),
		EXIT(230, 0, 0),
		EXIT(245, 1, 0),
		AT(300, 0, SOFTIRQ_ENTRY, 0, .u.value = 1),
		AT(390, 0, SOFTIRQ_EXIT, 0, .u.value = 1),
		ENTRY(400, 0, 0),
		AT(405, 0, SOFTIRQ_EXIT, 0, .u.value = 9),
		EXIT(410, 0, 0),
		EXIT(420, 0, 0),		/* its entry was lost */
		ENTRY(500, 0, 0),		/* ends after the trace */
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_true(m->softirq.known);
	assert_int_equal(m->softirq.sched, 3);
	assert_int_equal(m->softirq.sched_ns, US(30 + 40 + 10));
}

static void stranded_is_raised_and_then_idle(void **state)
{
	static const struct ilb_event trace[] = {
		IDLE_LEAVE(100, 0),
		RAISE(101, 0, 0),
		ENTRY(102, 0, 0),
		EXIT(103, 0, 0),
		IDLE_ENTER(104, 0),		/* it had run */
		IDLE_LEAVE(200, 0),
		RAISE(201, 0, 0),
		IDLE_LEAVE(202, 0),		/* not into idle */
		IDLE_ENTER(203, 0),		/* stranded */
		IDLE_LEAVE(300, 0),
		IDLE_ENTER(301, 0),		/* counted already */
		AT(302, 1, SOFTIRQ_RAISE, 0, .u.value = 1),
		IDLE_ENTER(303, 1),		/* another vector */
		RAISE(400, 2, 0),
		LOST(401, 2),
		IDLE_ENTER(402, 2),		/* it may have run */
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(m->softirq.stranded, 1);
	assert_true(m->softirq.stranded_known);
}

/* ---- ticks ---- */

static void a_tick_stop_is_short_if_it_ends_within_a_tick(void **state)
{
	static const struct ilb_event trace[] = {
		OTHER(1, 0, 0),
		TICK_STOP(100, 0, 0),
		SWITCH(4099, 0, 0, 10),		/* 3999 us: short */
		TICK_STOP(5000, 0, 10),		/* under a task */
		SWITCH(5100, 0, 10, 0),
		TICK_STOP(10000, 0, 0),
		AT(10001, 0, TICK_STOP, 0, .u.value = 0),
		SWITCH(14000, 0, 0, 10),	/* 4000 us */
		SWITCH(15000, 0, 10, 0),
		SWITCH(15100, 0, 0, 10),	/* its tick had not stopped */
		SWITCH(15200, 0, 10, 0),
		TICK_STOP(20000, 0, 0),		/* till the end */
		OTHER(20100, 0, 0),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_true(m->tick.known);
	assert_int_equal(m->tick.stops, 3);
	assert_int_equal(m->tick.short_stops, 1);
}

/* Leaving idle does not restart the tick of a nohz_full CPU. */
static void nohz_full_keeps_its_tick_stopped(void **state)
{
	static const struct ilb_event trace[] = {
		OTHER(1, 0, 0),
		TICK_STOP(100, 0, 0),
		SWITCH(200, 0, 0, 10),
		OTHER(9000, 0, 10),
	};
	struct fixture *f = *state;
	struct ilb_measures *m;

	ilb_mask_set(f->nohz_full, 0);
	m = MEASURE(f, trace);
	assert_int_equal(m->tick.stops, 1);
	assert_int_equal(m->tick.short_stops, 0);
}

/* ---- kicks per tick ---- */

#define TICKS	1000

/* One kick a tick, all at one phase that may lie anywhere, with jitter. */
static void kick_each_tick(struct fixture *f, uint64_t phase_us)
{
	struct ilb_event trace[] = {
		OTHER(1, 4, 0), KICK(0, 0, 10, 4), KICK(0, 2, 20, 6),
	};
	uint64_t tick_ns;
	unsigned int i;

	fixture_restart(f);
	fixture_feed(f, trace, 1);
	for (i = 0; i < TICKS; i++) {
		tick_ns = US(4000 * i + phase_us + 10);
		trace[1].time_ns = tick_ns + (i % 2 ? US(3) : 0);
		trace[2].time_ns = trace[1].time_ns + US(1);
		fixture_feed(f, trace + 1, 2);
	}
}

static void every_tick_with_a_kick_counts_once(void **state)
{
	static const uint64_t phases_us[] = { 0, 1000, 3985, 3990, 3995 };
	struct fixture *f = *state;
	struct ilb_measures *m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(phases_us); i++) {
		kick_each_tick(f, phases_us[i]);
		m = fixture_finish(f);
		assert_true(m->every_tick.known);
		assert_int_equal(m->kicks.total, 2 * TICKS);
		assert_int_equal(m->every_tick.kicked, TICKS);
		assert_in_range(m->every_tick.jiffies, TICKS, TICKS + 1);
	}
}

/* Nobody can kick while all are idle. */
static void ticks_count_while_some_cpu_is_busy(void **state)
{
	static const struct ilb_event trace[] = {
		OTHER(1, 7, 0),
		SWITCH(8001, 0, 10, 0),		/* ran from the start */
		SWITCH(16001, 1, 20, 0),	/* the same: all of 4 ticks */
		SWITCH(40001, 0, 0, 10),
		SWITCH(44001, 1, 0, 20),
		KICK(44002, 0, 10, 4),
		SWITCH(52001, 0, 10, 11),
		SWITCH(56001, 1, 20, 0),
		SWITCH(60001, 0, 11, 0),	/* 5 more */
		SWITCH(100001, 2, 0, 30),
		OTHER(104001, 7, 0),		/* and 1 to the end */
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_true(m->every_tick.known);
	assert_int_equal(m->every_tick.jiffies, 10);
	assert_int_equal(m->every_tick.kicked, 1);
}

/* ---- what is known ---- */

/* One event of each kind that a full trace has. */
static const struct ilb_event full[] = {
	SWITCH(1000, 0, 0, 10),
	WAKEUP(1010, 0, 10, 20, 2),
	TICK(1020, 0, 10),
	TICK_STOP(1030, 1, 0),
	KICK(1040, 0, 10, 1),
	HANDLER(1050, 1, 0),
	RAISE(1060, 1, 0),
	ENTRY(1070, 1, 0),
	EXIT(1080, 1, 0),
	IDLE_ENTER(1090, 1),
};

enum {
	KICKS = 1, MASKS = 2, DROPPED = 4, RUNS = 8, CONTENTION = 16,
	SOFTIRQ = 32, STRANDED = 64, UTILISATION = 128, WAITING = 256,
	TICKS_STOP = 512, EVERY_TICK = 1024, EVERYTHING = 2047
};

static unsigned int known(const struct ilb_measures *m)
{
	return (m->kicks.kicks_known ? KICKS : 0) |
	       (m->kicks.masks_known ? MASKS : 0) |
	       (m->kicks.dropped_known ? DROPPED : 0) |
	       (m->runs.known ? RUNS : 0) |
	       (m->contention.known ? CONTENTION : 0) |
	       (m->softirq.known ? SOFTIRQ : 0) |
	       (m->softirq.stranded_known ? STRANDED : 0) |
	       (m->utilisation.known ? UTILISATION : 0) |
	       (m->waiting.known ? WAITING : 0) |
	       (m->tick.known ? TICKS_STOP : 0) |
	       (m->every_tick.known ? EVERY_TICK : 0);
}

static unsigned int known_without(struct fixture *f, unsigned int types)
{
	struct ilb_event trace[ARRAY_SIZE(full) + 2] = {
		OTHER(1, 0, ILB_PID_UNKNOWN),
	};
	static const struct ilb_event last = OTHER(2000, 0, ILB_PID_UNKNOWN);
	unsigned int i, n = 1;

	for (i = 0; i < ARRAY_SIZE(full); i++)
		if (!(types >> full[i].type & 1))
			trace[n++] = full[i];
	trace[n++] = last;
	fixture_restart(f);
	fixture_feed(f, trace, n);
	return known(fixture_finish(f));
}

#define NO(type)	(1U << ILB_EVENT_##type)

static void what_was_not_recorded_is_unknown(void **state)
{
	static const struct {
		unsigned int without, unknown;
	} tests[] = {
		{ 0, 0 },
		{ NO(SWITCH), CONTENTION | UTILISATION | WAITING |
			      TICKS_STOP },
		{ NO(WAKEUP), WAITING },
		{ NO(TICK_STOP), TICKS_STOP | MASKS },
		{ NO(CSD_ENTRY), DROPPED | RUNS },
		{ NO(SOFTIRQ_RAISE), STRANDED },
		{ NO(SOFTIRQ_ENTRY), RUNS | SOFTIRQ | STRANDED },
		{ NO(SOFTIRQ_EXIT), RUNS | SOFTIRQ },
		{ NO(IDLE), STRANDED },
		/* A raise outside of the tick is a kick where csd is not. */
		{ NO(CSD_QUEUE) | NO(CSD_ENTRY), DROPPED },
		{ NO(CSD_QUEUE) | NO(SOFTIRQ_RAISE),
		  KICKS | EVERY_TICK | STRANDED },
		{ NO(CSD_QUEUE) | NO(TICK), KICKS | EVERY_TICK },
		{ NO(CSD_QUEUE) | NO(CSD_ENTRY) | NO(TICK),
		  KICKS | EVERY_TICK | DROPPED | RUNS },
		{ ~0U, EVERYTHING },
	};
	struct fixture *f = *state;
	unsigned int i, got;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		got = EVERYTHING & ~known_without(f, tests[i].without);
		if (got != tests[i].unknown)
			fail_msg("without %x: %u is unknown, not %u",
				 tests[i].without, got, tests[i].unknown);
	}
}

/* Without a tick rate there are no ticks to count kicks by. */
static void the_tick_rate_can_be_unknown(void **state)
{
	struct fixture *f = *state;

	f->hz = 0;
	assert_int_equal(EVERYTHING & ~known_without(f, 0), EVERY_TICK);
}

/* Probes stand in for csd and for tick_stop's guesses about the mask. */
static void probes_make_known(void **state)
{
	static const struct ilb_event trace[] = {
		OTHER(1, 0, 10),
		PROBE(10, 0, TICK, 10, 0xfe),
		AT(20, 0, PROBE_SEND, 10, .u.probe = { 1, ILB_FUNC_NOHZ_CSD,
						       0, 0, 0 }),
		AT(30, 1, PROBE_CSD, 0),
		ENTRY(40, 1, 0),
		EXIT(50, 1, 0),
	};
	const unsigned int probed = KICKS | MASKS | DROPPED | RUNS | SOFTIRQ |
				    EVERY_TICK;
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(known(m), probed);
	assert_int_equal(m->kind, ILB_MOMENT_PROBED);
	assert_int_equal(m->kicks.total, 1);
	assert_int_equal(m->runs.total, 1);
	f->ignore_probes = 1;
	m = MEASURE(f, trace);
	assert_int_equal(known(m), SOFTIRQ);
	assert_int_equal(m->kind, ILB_MOMENT_RECONSTRUCTED);
}

static void a_sent_kick_alone_shows_no_run(void **state)
{
	static const struct ilb_event trace[] = {
		TICK(1, 0, 10),
		AT(20, 0, PROBE_SEND, 10, .u.probe = { 1, ILB_FUNC_NOHZ_CSD,
						       0, 0, 0 }),
		RAISE(30, 1, 0),
		ENTRY(40, 1, 0),
		EXIT(50, 1, 0),
	};
	struct ilb_measures *m = MEASURE(*state, trace);

	assert_true(m->kicks.kicks_known);
	assert_false(m->runs.known);
}

static void no_event_is_no_measure(void **state)
{
	static const struct ilb_event trace[] = { OTHER(1, 0, 0) };
	struct fixture *f = *state;
	struct ilb_measures *m;

	fixture_feed(f, trace, 0);
	m = fixture_finish(f);
	assert_int_equal(known(m), 0);
	assert_int_equal(m->start_ns, 0);
	assert_int_equal(m->end_ns, 0);
	assert_int_equal(m->nr_victims, 0);
	assert_int_equal(m->nr_lost_cpus, 0);
	assert_int_equal(m->schedstat_counts, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(time_goes_to_the_task_that_runs),
		FIXTURE_TEST(the_first_event_tells_who_ran_from_the_start),
		FIXTURE_TEST(a_gap_ends_what_ran),
		FIXTURE_TEST(leaving_idle_beside_a_task_is_contention),
		FIXTURE_TEST(of_four_threads_one_busy_is_enough),
		FIXTURE_TEST(without_smt_there_is_no_contention),
		FIXTURE_TEST(only_sched_softirqs_count),
		FIXTURE_TEST(stranded_is_raised_and_then_idle),
		FIXTURE_TEST(a_tick_stop_is_short_if_it_ends_within_a_tick),
		FIXTURE_TEST(nohz_full_keeps_its_tick_stopped),
		FIXTURE_TEST(every_tick_with_a_kick_counts_once),
		FIXTURE_TEST(ticks_count_while_some_cpu_is_busy),
		FIXTURE_TEST(what_was_not_recorded_is_unknown),
		FIXTURE_TEST(the_tick_rate_can_be_unknown),
		FIXTURE_TEST(probes_make_known),
		FIXTURE_TEST(a_sent_kick_alone_shows_no_run),
		FIXTURE_TEST(no_event_is_no_measure),
	};

	return cmocka_run_group_tests_name("meter", tests, NULL, NULL);
}
