// SPDX-License-Identifier: GPL-2.0-only
/* When moments are handed over; the tick rate, found on the way. */

#include "machine_run.h"
#include "trace/machine.h"

#define KICKS	(ILB_PENDING_MAX + 905U)

/* Kick n, each with a kicker, a target and an idle set of its own. */
static void kick_n(struct run *run, unsigned int n)
{
	uint64_t us = 1000 + 20ULL * n;
	int runs = n & 1;

	FEED(run, SWITCH(us, 5, runs ? 0 : 51, runs ? 51 : 0),
	     KICK(us + 10, n % 2, 10, 2 + n % 3));
}

static void expect_kick_n(struct run *run, unsigned int n, unsigned long idle)
{
	const struct seen_moment *m = moment(run, n);

	if (n & 1)
		idle &= ~BIT(5);
	if (m->time_ns != (1010 + 20ULL * n) * 1000 || m->kicker != n % 2 ||
	    m->target != 2 + n % 3 || m->idle[0] != idle)
		fail_msg("moment %u: %llu ns, %u kicks %u, idle %#lx", n,
			 (unsigned long long)m->time_ns, m->kicker, m->target,
			 m->idle[0]);
}

/* CPU 7 is the one that is never seen. */
static void prepare(struct run *run)
{
	run_enter(run, 50, BIT(7));
	FEED(run, SWITCH(60, 0, 0, 10), SWITCH(60, 1, 0, 10));
}

static void a_full_queue_hands_over_its_oldest(void **state)
{
	struct run *run = *state;
	unsigned int n;

	prepare(run);
	for (n = 0; n < KICKS; n++) {
		kick_n(run, n);
		assert_int_equal(run->count, n < ILB_PENDING_MAX ?
					     0 : n - ILB_PENDING_MAX + 1);
	}
	run_finish(run);
	assert_int_equal(run->count, KICKS);
	for (n = 0; n < KICKS; n++)
		expect_kick_n(run, n, ALL & ~(BIT(0) | BIT(1)));
	run_finish(run);
	assert_int_equal(run->count, KICKS);
}

/* What is still there can still be put right, wherever the ring begins. */
static void evidence_reaches_all_that_wait(void **state)
{
	struct run *run = *state;
	unsigned long idle = ALL & ~(BIT(0) | BIT(1));
	unsigned int n;

	prepare(run);
	for (n = 0; n < KICKS; n++)
		kick_n(run, n);
	FEED(run, OTHER(1000000, 7, 57));
	run_finish(run);
	for (n = 0; n < KICKS; n++) {
		expect_kick_n(run, n, n < KICKS - ILB_PENDING_MAX ?
					      idle : idle & ~BIT(7));
		assert_int_equal(ilb_mask_test(moment(run, n)->mask, 7),
				 n < KICKS - ILB_PENDING_MAX);
	}
}

static void the_oldest_waits_no_longer_than_it_has_to(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, 0);
	FEED(run, KICK(100, 0, 10, 7), OTHER(105, 1, 0));
	assert_int_equal(run->count, 0);
	FEED(run, KICK(106, 0, 10, 6));
	assert_int_equal(run->count, 1);
	FEED(run, OTHER(111, 1, 0));
	assert_int_equal(run->count, 1);
	FEED(run, OTHER(112, 1, 0));
	assert_int_equal(run->count, 2);
	assert_int_equal(moment(run, 0)->target, 7);
	assert_int_equal(moment(run, 1)->target, 6);
}

static void it_waits_for_every_cpu_to_be_seen(void **state)
{
	struct run *run = *state;

	run->isolated[0] = BIT(4);
	run_enter(run, 50, BIT(3) | BIT(4));
	FEED(run, KICK(100, 0, 10, 7), STOP(200, 3, 0),
	     OTHER(300, 4, ILB_PID_UNKNOWN));
	assert_int_equal(run->count, 0);
	FEED(run, OTHER(400, 4, 57));
	assert_int_equal(run->count, 1);
	assert_int_equal(moment(run, 0)->idle[0], ALL & ~(BIT(0) | BIT(4)));
}

static void it_does_not_wait_for_cpus_that_are_not_there(void **state)
{
	struct run *run = *state;

	ilb_mask_clear(run->online, 5);
	run_enter(run, 50, BIT(5));
	FEED(run, KICK(100, 0, 10, 7), OTHER(200, 1, 0));
	assert_int_equal(run->count, 1);
}

/* Evidence that can no longer reach back is not waited for. */
static void it_waits_only_for_what_may_be_settled(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(3));
	FEED(run, OTHER(60, 3, 0), KICK(100, 0, 10, 7), OTHER(200, 1, 0));
	assert_int_equal(run->count, 0);
	FEED(run, STOP(300, 3, 0));
	assert_int_equal(run->count, 1);
	assert_int_equal(moment(run, 0)->assumed, 1);
	/* Nothing will ever tell what a loss hid. */
	FEED(run, LOST(400, 4), KICK(500, 0, 10, 7), OTHER(600, 1, 0));
	assert_int_equal(run->count, 2);
	assert_int_equal(moment(run, 1)->assumed, 1);
}

static void moments_come_in_order_of_time(void **state)
{
	struct run *run = *state;
	unsigned int i, cpu;

	for (i = 0; i < 100; i++)
		FEED(run, KICK(100 + i / 2, 0, 10, 1 + i % 7));
	for (cpu = 0; cpu < 8; cpu++)
		FEED(run, SWITCH(200, cpu, cpu ? 0 : 10, 20 + cpu),
		     TICK(300, cpu, 20 + cpu));
	for (i = 0; i < 100; i++)
		FEED(run, KICK(400 + i / 2, 0, 20, 1 + i % 7));
	run_finish(run);
	assert_int_equal(run->count, 200);
	for (i = 0; i < 200; i++) {
		assert_int_equal(moment(run, i)->target, 1 + i % 100 % 7);
		assert_int_equal(moment(run, i)->time_ns,
				 ((i < 100 ? 100 : 400) + i % 100 / 2) * 1000);
	}
}

static void an_empty_trace_has_no_moments(void **state)
{
	struct run *run = *state;

	run_finish(run);
	assert_int_equal(run->count, 0);
}

static void a_rate_that_is_given_stays(void **state)
{
	struct run *run = *state;
	unsigned int i;

	run->setup.hz = 300;
	for (i = 1; i < 100; i++)
		FEED(run, TICK(1000 * i, 3, 0));
	assert_int_equal(ilb_machine_hz(run->machine), 300);
}

/* Ticks of one CPU, every @us, wandering by up to @wander of 100 parts. */
static void tick_on(struct run *run, unsigned int cpu, unsigned int nr,
		    unsigned int us, unsigned int wander)
{
	uint64_t at = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		at += us + us * (i % 3) * wander / 200 - us * wander / 200;
		FEED(run, TICK(at, cpu, 0));
	}
}

static void a_rate_is_found_from_ticks(void **state)
{
	static const unsigned int hz[] = { 1000, 300, 250, 100 };
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(hz); i++) {
		void *own;
		struct run *run;

		run_new(&own);
		run = own;
		run->setup.hz = 0;
		tick_on(run, 3, 16, 1000000 / hz[i], 8);
		assert_int_equal(ilb_machine_hz(run->machine), 0);
		tick_on(run, 4, 20, 1000000 / hz[i], 8);
		assert_int_equal(ilb_machine_hz(run->machine), hz[i]);
		run_free(&own);
	}
}

/* Each CPU is measured by itself: all tick at once. */
static void a_rate_is_found_on_many_cpus(void **state)
{
	struct run *run = *state;
	unsigned int i;

	run->setup.hz = 0;
	for (i = 0; i < 32; i++)
		FEED(run, TICK(4000 * (i / 8 + 1) + i % 8, i % 8, 57));
	assert_int_equal(ilb_machine_hz(run->machine), 250);
}

static void a_sleeping_tick_is_no_rate(void **state)
{
	struct run *run = *state;
	unsigned int i;

	run->setup.hz = 0;
	tick_on(run, 3, 100, 2000, 0);
	tick_on(run, 4, 100, 7000, 0);
	tick_on(run, 5, 100, 20000, 0);
	tick_on(run, 6, 100, 120, 0);
	for (i = 0; i < 100; i++)
		FEED(run, TICK(5000000, 7, 0));
	assert_int_equal(ilb_machine_hz(run->machine), 0);
}

/* A few intervals that happen to fit are no rate either. */
static void a_few_intervals_are_no_rate(void **state)
{
	struct run *run = *state;

	run->setup.hz = 0;
	tick_on(run, 3, 16, 1000, 0);
	tick_on(run, 4, 16, 4000, 0);
	tick_on(run, 5, 16, 10000, 0);
	assert_int_equal(ilb_machine_hz(run->machine), 0);
	FEED(run, TICK(14000, 3, 0), TICK(18000, 3, 0));
	assert_int_equal(ilb_machine_hz(run->machine), 250);
}

/* From then on 2.5 periods are those of the rate that was found. */
static void the_rate_found_is_used(void **state)
{
	struct run *run = *state;

	run->setup.hz = 0;
	tick_on(run, 4, 20, 10000, 0);
	assert_int_equal(ilb_machine_hz(run->machine), 100);
	FEED(run, TICK(300000, 3, 0), TICK(324000, 3, 0), TICK(348000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
}

static void until_then_a_period_is_4_ms(void **state)
{
	struct run *run = *state;

	run->setup.hz = 0;
	FEED(run, TICK(10000, 3, 0), TICK(21000, 3, 0), TICK(32000, 3, 0),
	     TICK(10000, 4, 0), TICK(20000, 4, 0), TICK(30000, 4, 0));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	assert_int_equal(membership(run, 4), ILB_OUT);
}

static void kinds_have_names(void **state)
{
	(void)state;
	assert_string_equal(ilb_moment_kind_name(ILB_MOMENT_RECONSTRUCTED),
			    "reconstructed");
	assert_string_equal(ilb_moment_kind_name(ILB_MOMENT_PROBED), "probed");
	assert_string_equal(ilb_moment_kind_name(ILB_MOMENT_EXACT), "exact");
	assert_string_equal(ilb_moment_kind_name(ILB_MOMENT_SIMULATED),
			    "simulated");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(a_full_queue_hands_over_its_oldest),
		RUN_TEST(evidence_reaches_all_that_wait),
		RUN_TEST(the_oldest_waits_no_longer_than_it_has_to),
		RUN_TEST(it_waits_for_every_cpu_to_be_seen),
		RUN_TEST(it_does_not_wait_for_cpus_that_are_not_there),
		RUN_TEST(it_waits_only_for_what_may_be_settled),
		RUN_TEST(moments_come_in_order_of_time),
		RUN_TEST(an_empty_trace_has_no_moments),
		RUN_TEST(a_rate_that_is_given_stays),
		RUN_TEST(a_rate_is_found_from_ticks),
		RUN_TEST(a_rate_is_found_on_many_cpus),
		RUN_TEST(a_sleeping_tick_is_no_rate),
		RUN_TEST(a_few_intervals_are_no_rate),
		RUN_TEST(the_rate_found_is_used),
		RUN_TEST(until_then_a_period_is_4_ms),
		RUN_TEST(kinds_have_names),
	};

	return cmocka_run_group_tests_name("machine_queue", tests, NULL, NULL);
}
