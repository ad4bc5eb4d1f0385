// SPDX-License-Identifier: GPL-2.0-only
/* Probes that read the mask: they overrule what events would say. */

#include "machine_run.h"

static void a_reading_overrules_the_events(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0) | BIT(3));
	FEED(run, SWITCH(60, 3, 56, 57), TICK(70, 3, 57),
	     READ(100, 6, 0, TICK, 0x0fUL));
	assert_int_equal(members(run), 0x0f);
	assert_int_equal(membership(run, 3), ILB_IN);
	assert_int_equal(membership(run, 4), ILB_OUT);
	FEED(run, READ(200, 6, 0, PASS, 0x81UL));
	assert_int_equal(members(run), 0x81);
	assert_int_equal(membership(run, 0), ILB_IN);
	assert_int_equal(membership(run, 3), ILB_OUT);
}

static void after_a_reading_events_do_not_count(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, 0);
	FEED(run, READ(100, 6, 0, TICK, 0xf0UL), STOP(200, 3, 0),
	     SWITCH(300, 4, 0, 57), TICK(4000, 4, 57));
	assert_int_equal(members(run), 0xf0);
	assert_int_equal(cpu_of(run, 3)->tick_stopped, 1);
	assert_int_equal(cpu_of(run, 4)->tick_stopped, 0);
}

static void the_first_reading_settles_the_start(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0) | BIT(1) | BIT(2) | BIT(3));
	FEED(run, OTHER(60, 1, 57), OTHER(60, 2, 0), OTHER(60, 3, 0),
	     KICK(100, 0, 10, 7));
	assert_int_equal(run->count, 0);
	FEED(run, READ(200, 6, 0, TICK, 0xf6UL));
	assert_int_equal(run->count, 1);
	assert_int_equal(moment(run, 0)->mask[0], 0xf6);
	assert_int_equal(moment(run, 0)->assumed, 0);
	assert_int_equal(members(run), 0xf6);
}

/* It was a member all along, so no kicker came too early to see it. */
static void what_is_settled_did_not_just_enter(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(3));
	FEED(run, OTHER(60, 3, 57), OTHER(90, 0, 10),
	     READ(100, 6, 0, TICK, 0xfeUL), KICK(110, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->mask[0], 0xfe);
}

/* What it entered or left before the reading, it was not at the start. */
static void a_reading_settles_no_more_than_the_start(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0) | BIT(3));
	FEED(run, OTHER(60, 3, 0), KICK(100, 0, 10, 3), KICK(110, 0, 10, 7),
	     READ(200, 6, 0, TICK, 0x00UL));
	run_finish(run);
	assert_int_equal(moment(run, 0)->mask[0], 0xfe);
	assert_int_equal(moment(run, 0)->assumed, 1);
	assert_int_equal(moment(run, 1)->mask[0], 0xfe);
	assert_int_equal(members(run), 0);
}

static void a_reading_makes_an_assumption_known(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0));
	FEED(run, LOST(100, 3));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	FEED(run, READ(200, 6, 0, TICK, 0xfeUL));
	assert_int_equal(membership(run, 3), ILB_IN);
	/* Readings go on, so nothing is lost with the events. */
	FEED(run, LOST(300, 3));
	assert_int_equal(membership(run, 3), ILB_IN);
}

static void a_probe_without_a_mask_tells_nothing(void **state)
{
	struct run *run = *state;

	FEED(run, PROBE(100, 6, 0, TICK, .mask = 0x0f),
	     PROBE(110, 6, 0, PASS, 0));
	assert_int_equal(members(run), ALL);
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	assert_int_equal(ilb_machine_kind(run->machine),
			 ILB_MOMENT_RECONSTRUCTED);
}

static void entering_and_leaving_is_told_by_their_probes(void **state)
{
	struct run *run = *state;

	FEED(run, READ(100, 6, 0, TICK, 0x0fUL), PROBE(200, 4, 0, ENTER, 0));
	assert_int_equal(members(run), 0x1f);
	FEED(run, PROBE(300, 3, 57, EXIT, 0));
	assert_int_equal(members(run), 0x17);
	assert_int_equal(membership(run, 3), ILB_OUT);
	assert_int_equal(membership(run, 4), ILB_IN);
}

/* The mask that such a probe reads is that before its function's change. */
static void the_change_comes_after_the_reading(void **state)
{
	struct run *run = *state;

	FEED(run, READ(100, 4, 0, ENTER, 0x0fUL));
	assert_int_equal(members(run), 0x1f);
	FEED(run, READ(200, 3, 57, EXIT, 0x1fUL));
	assert_int_equal(members(run), 0x17);
}

static void they_tell_nothing_before_the_first_reading(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH(50, 3, 56, 57), TICK(60, 3, 57), STOP(60, 4, 0),
	     PROBE(100, 3, 57, ENTER, 0), PROBE(110, 4, 0, EXIT, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
	assert_int_equal(membership(run, 4), ILB_IN);
}

/* It calls nohz_balance_enter_idle(), which turns it away. */
static void an_isolated_cpu_does_not_enter(void **state)
{
	struct run *run = *state;

	run->isolated[0] = BIT(4);
	FEED(run, READ(100, 4, 0, ENTER, 0x0fUL));
	assert_int_equal(members(run), 0x0f);
	assert_int_equal(membership(run, 4), ILB_OUT);
}

static void cpus_that_are_not_online_are_not_read(void **state)
{
	struct run *run = *state;

	ilb_mask_clear(run->online, 5);
	FEED(run, READ(100, 6, 0, TICK, 0xf0UL));
	assert_int_equal(members(run), 0xd0);
}

static void a_moment_says_that_its_mask_was_read(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0));
	FEED(run, KICK(100, 0, 10, 7), READ(200, 6, 0, TICK, 0xf0UL),
	     KICK(300, 0, 10, 7));
	assert_int_equal(ilb_machine_kind(run->machine), ILB_MOMENT_PROBED);
	run_finish(run);
	assert_int_equal(moment(run, 0)->kind, ILB_MOMENT_RECONSTRUCTED);
	assert_int_equal(moment(run, 1)->kind, ILB_MOMENT_PROBED);
	assert_int_equal(moment(run, 1)->mask[0], 0xf0);
	assert_int_equal(moment(run, 1)->assumed, 0);
}

static void ignored_probes_are_as_if_not_there(void **state)
{
	struct run *run = *state;
	unsigned int type;

	run->setup.ignore_probes = 1;
	run_enter(run, 50, BIT(0) | BIT(2) | BIT(3));
	for (type = ILB_EVENT_PROBE_ENTER; type < ILB_EVENT_TYPES; type++) {
		struct ilb_event event = READ(100, 3, 57, TICK, 0x0fUL);

		event.type = type;
		event.u.probe.cpu = 7;
		event.u.probe.func = ILB_FUNC_NOHZ_CSD;
		run_feed(run, &event, 1);
		assert_null(last_kick(run));
		assert_int_equal(ilb_machine_seen(run->machine, type), 0);
	}
	/* Not even what ran there. */
	assert_int_equal(cpu_of(run, 3)->pid, ILB_PID_UNKNOWN);
	assert_int_equal(members(run), ALL);
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	FEED(run, KICK(300, 0, 10, 7), STOP(400, 3, 0));
	assert_int_equal(membership(run, 3), ILB_IN);
	run_finish(run);
	assert_int_equal(run->count, 1);
	assert_int_equal(moment(run, 0)->kind, ILB_MOMENT_RECONSTRUCTED);
	assert_int_equal(ilb_machine_kind(run->machine),
			 ILB_MOMENT_RECONSTRUCTED);
}

/* A probe carries 64 bits. CPU 63 is covered, 64 and 70 are not. */
static void cpus_above_63_are_left_to_the_events(void **state)
{
	struct run *run = *state;

	run_resize(run, 128);
	run_enter(run, 50, 0);
	FEED(run, SWITCH(60, 70, 0, 57), TICK(70, 70, 57));
	assert_int_equal(membership(run, 70), ILB_OUT);
	FEED(run, READ(100, 6, 0, TICK, 0x0fUL));
	assert_int_equal(members(run), 0x0f);
	assert_int_equal(membership(run, 63), ILB_OUT);
	assert_int_equal(membership(run, 64), ILB_IN);
	assert_int_equal(membership(run, 70), ILB_OUT);
	FEED(run, PROBE(200, 63, 0, ENTER, 0), PROBE(200, 70, 57, ENTER, 0),
	     PROBE(200, 64, 0, EXIT, 0));
	assert_int_equal(membership(run, 63), ILB_IN);
	assert_int_equal(membership(run, 64), ILB_IN);
	assert_int_equal(membership(run, 70), ILB_OUT);
	FEED(run, SWITCH(300, 64, 0, 58), TICK(400, 64, 58),
	     SWITCH(500, 70, 57, 0), STOP(600, 70, 0),
	     SWITCH(700, 63, 0, 59), TICK(800, 63, 59));
	assert_int_equal(membership(run, 63), ILB_IN);
	assert_int_equal(membership(run, 64), ILB_OUT);
	assert_int_equal(membership(run, 70), ILB_IN);
	FEED(run, LOST(900, 63), LOST(900, 70));
	assert_int_equal(membership(run, 63), ILB_IN);
	assert_int_equal(membership(run, 70), ILB_ASSUMED_IN);
}

static void above_63_the_start_stays_assumed(void **state)
{
	struct run *run = *state;

	run_resize(run, 128);
	run_enter(run, 50, 0);
	FEED(run, SWITCH(90, 0, 0, 10), LOST(95, 70),
	     READ(100, 6, 0, TICK, ~0UL), KICK(200, 0, 10, 70),
	     KICK(300, 0, 10, 127));
	run_finish(run);
	assert_int_equal(moment(run, 0)->kind, ILB_MOMENT_PROBED);
	assert_int_equal(moment(run, 0)->assumed, 1);
	assert_int_equal(moment(run, 1)->assumed, 0);
	assert_int_equal(moment(run, 1)->target, 127);
	assert_true(moment(run, 1)->mask[0] == ~0UL);
	assert_true(moment(run, 1)->mask[1] == ~0UL);
	assert_true(moment(run, 1)->idle[0] == (~0UL & ~BIT(0)));
	assert_true(moment(run, 1)->idle[1] == ~0UL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(a_reading_overrules_the_events),
		RUN_TEST(after_a_reading_events_do_not_count),
		RUN_TEST(the_first_reading_settles_the_start),
		RUN_TEST(what_is_settled_did_not_just_enter),
		RUN_TEST(a_reading_settles_no_more_than_the_start),
		RUN_TEST(a_reading_makes_an_assumption_known),
		RUN_TEST(a_probe_without_a_mask_tells_nothing),
		RUN_TEST(entering_and_leaving_is_told_by_their_probes),
		RUN_TEST(the_change_comes_after_the_reading),
		RUN_TEST(they_tell_nothing_before_the_first_reading),
		RUN_TEST(an_isolated_cpu_does_not_enter),
		RUN_TEST(cpus_that_are_not_online_are_not_read),
		RUN_TEST(a_moment_says_that_its_mask_was_read),
		RUN_TEST(ignored_probes_are_as_if_not_there),
		RUN_TEST(cpus_above_63_are_left_to_the_events),
		RUN_TEST(above_63_the_start_stays_assumed),
	};

	return cmocka_run_group_tests_name("machine_probes", tests, NULL,
					   NULL);
}
