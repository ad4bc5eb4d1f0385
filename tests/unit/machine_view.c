// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kicker saw. It chose before its kick was recorded, so what was
 * recorded just before may have come too late for it, and what was recorded
 * just after may have happened already.
 */

#include "machine_run.h"

/* CPU 0 runs and ticks, all the REST are idle members. */
#define REST	(ALL & ~BIT(0))

static void begin(struct run *run)
{
	run_enter(run, 50, 0);
	FEED(run, SWITCH(60, 0, 0, 10), TICK(70, 0, 10), TTWU_END(80, 1, 0),
	     OTHER(900, 0, 10));
}

static void busy_for_less_than_settle_was_idle(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, SWITCH(992, 2, 0, 51), SWITCH(997, 3, 0, 52),
	     KICK(1000, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~BIT(2));
	/* It is only the moment that looks back. */
	assert_int_equal(idle_set(run), REST & ~(BIT(2) | BIT(3)));
}

static void a_wakeup_counts_the_same(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, WAKEUP(992, 1, 0, 51, 2), TTWU(992, 1, 0, 3),
	     WAKEUP(997, 1, 0, 52, 4), TTWU(997, 1, 0, 5),
	     KICK(1000, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~(BIT(2) | BIT(3)));
}

/* Woken at 992, it runs at 999: it was busy all the time. */
static void busy_counts_from_when_it_stopped_being_idle(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, WAKEUP(992, 1, 0, 51, 2), SWITCH(999, 2, 0, 51),
	     KICK(1000, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~BIT(2));
}

static void the_window_is_settle_ns_to_the_nanosecond(void **state)
{
	struct run *run = *state;
	struct ilb_event event = SWITCH(995, 2, 0, 51);

	begin(run);
	run_feed(run, &event, 1);
	event.cpu = 3;
	event.time_ns++;
	run_feed(run, &event, 1);
	FEED(run, KICK(1000, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~BIT(2));
}

static void another_settle_ns_is_another_window(void **state)
{
	struct run *run = *state;

	run->setup.settle_ns = 50000;
	begin(run);
	FEED(run, SWITCH(940, 2, 0, 51), SWITCH(960, 3, 0, 52),
	     SWITCH(970, 4, 0, 53), SWITCH(971, 5, 0, 54),
	     KICK(1000, 0, 10, 7), SWITCH(1040, 4, 53, 0),
	     SWITCH(1060, 5, 54, 0));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~BIT(2));
}

/* What came before an event of its own, the kicker could see. */
static void what_preceded_the_kickers_last_event_it_saw(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, SWITCH(997, 3, 0, 52), OTHER(998, 0, 10),
	     SWITCH(999, 4, 0, 53), KICK(1000, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~BIT(3));
}

/* The SEND probe is part of the sending, no event of its own in between. */
static void the_call_itself_is_no_such_event(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, KICK(910, 0, 10, 7), SWITCH(997, 3, 0, 52),
	     SEND(998, 0, 10, 7), KICK(1000, 0, 10, 7));
	run_finish(run);
	assert_int_equal(run->count, 2);
	assert_int_equal(moment(run, 1)->idle[0], REST);
}

static void the_call_sees_no_more_where_it_is_the_kick(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, SWITCH(997, 3, 0, 52), STOP(998, 4, 0),
	     SEND(1000, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST);
}

static void idle_soon_after_was_idle(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, SWITCH(500, 2, 0, 51), SWITCH(500, 3, 0, 52),
	     SWITCH(500, 4, 0, 53), KICK(1000, 0, 10, 7),
	     SWITCH(1003, 2, 51, 0), SWITCH(1005, 4, 53, 0),
	     SWITCH(1008, 3, 52, 0));
	assert_int_equal(run->count, 1);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~BIT(3));
}

static void with_a_wakeup_pending_it_did_not_become_idle(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, SWITCH(500, 2, 0, 51), TTWU(600, 1, 0, 2),
	     KICK(1000, 0, 10, 7), SWITCH(1003, 2, 51, 0));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~BIT(2));
}

/* Only a switch lags: a wakeup's end, and a pull, are recorded as they are. */
static void other_ways_to_idle_do_not_look_back(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, WAKEUP(900, 1, 0, 51, 2), TTWU(900, 1, 0, 3),
	     KICK(1000, 0, 10, 7), MIGRATE(1002, 4, 0, 51, 2, 4),
	     TTWU_END(1003, 3, 0));
	run_finish(run);
	assert_int_equal(idle_set(run), REST & ~BIT(4));
	assert_int_equal(moment(run, 0)->idle[0], REST & ~(BIT(2) | BIT(3)));
}

static void every_kick_within_the_window_saw_it_idle(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, SWITCH(500, 2, 0, 51), KICK(990, 0, 10, 7),
	     KICK(1000, 0, 10, 7), KICK(1001, 0, 10, 7),
	     SWITCH(1003, 2, 51, 0));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~BIT(2));
	assert_int_equal(moment(run, 1)->idle[0], REST);
	assert_int_equal(moment(run, 2)->idle[0], REST);
}

static void a_tick_stopped_after_its_last_event_is_not_yet_in(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, SWITCH(100, 3, 0, 52), TICK(110, 3, 52),
	     SWITCH(120, 3, 52, 0), SWITCH(100, 4, 0, 53), TICK(110, 4, 53),
	     SWITCH(120, 4, 53, 0), STOP(130, 4, 0), OTHER(950, 0, 10),
	     STOP(960, 3, 0), KICK(1000, 0, 10, 7), KICK(1100, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->mask[0], REST & ~BIT(3));
	assert_int_equal(moment(run, 0)->idle[0], REST);
	/* The first kick is an event in between. */
	assert_int_equal(moment(run, 1)->mask[0], REST);
}

/* A busy tick took it out of the mask; now it is idle. */
static void leave(struct run *run, unsigned int cpu)
{
	FEED(run, SWITCH(100, cpu, 0, 52), TICK(110, cpu, 52),
	     SWITCH(120, cpu, 52, 0));
}

/*
 * Ticks stop after the kicker's last event: CPU 2 has not slept when the kick
 * is recorded, 3 has, 4 only just. Which of them are in the mask?
 */
static unsigned long seen_in(struct run *run, struct ilb_event last)
{
	begin(run);
	leave(run, 2);
	leave(run, 3);
	leave(run, 4);
	run_feed(run, &last, 1);
	FEED(run, STOP(950, 2, 0), STOP(951, 3, 0), STOP(952, 4, 0),
	     VALUE(960, 3, 0, IDLE, 1), VALUE(970, 2, 0, IDLE, ILB_IDLE_EXIT),
	     VALUE(995, 4, 0, IDLE, 1), KICK(1000, 0, 10, 7));
	run_finish(run);
	return moment(run, 0)->mask[0] & (BIT(2) | BIT(3) | BIT(4));
}

static void a_cpu_that_slept_was_in(void **state)
{
	struct run *run = *state;
	struct ilb_event tick = TICK(900, 0, 10);

	assert_int_equal(seen_in(run, tick), BIT(3));
}

/* RCU's is raised before the tick comes to the trigger. */
static void whatever_other_softirq_was_raised(void **state)
{
	struct run *run = *state;
	struct ilb_event raise = RAISE(900, 0, 10, 9);

	assert_int_equal(seen_in(run, raise), BIT(3));
}

/* The tick's trigger raises the softirq, then it chooses. */
static void but_not_if_the_choice_was_before(void **state)
{
	struct run *run = *state;
	struct ilb_event raise = RAISE(900, 0, 10, 7);

	assert_int_equal(seen_in(run, raise), 0);
}

static void nor_if_the_probes_tell_when_it_was(void **state)
{
	struct run *run = *state;
	struct ilb_event leaves = PROBE(900, 0, 10, EXIT, 0);

	assert_int_equal(seen_in(run, leaves), 0);
}

/* It slept, was woken and idle again, and then its tick stopped. */
static void an_earlier_sleep_does_not_count(void **state)
{
	struct run *run = *state;

	begin(run);
	leave(run, 2);
	FEED(run, TICK(901, 0, 10), VALUE(910, 2, 0, IDLE, 1),
	     STOP(950, 2, 0), KICK(1000, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->mask[0] & BIT(2), 0);
}

/* Its tick was stopped already, so stopping it again is no entry. */
static void a_member_does_not_enter_twice(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, STOP(960, 3, 0), KICK(1000, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->mask[0], REST);
}

static void the_kicker_is_never_idle(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, 0);
	FEED(run, KICK(1000, 0, 0, 7), SWITCH(2000, 0, 0, 10),
	     SWITCH(2998, 1, 0, 11), KICK(3000, 1, 11, 7),
	     SWITCH(3002, 1, 11, 0));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], ALL & ~BIT(0));
	assert_int_equal(moment(run, 1)->idle[0], ALL & ~(BIT(0) | BIT(1)));
}

/* Nobody knows when an unknown kicker chose. */
static void of_an_unknown_kicker_no_view_is_made_up(void **state)
{
	struct run *run = *state;

	begin(run);
	FEED(run, SWITCH(100, 3, 0, 52), TICK(110, 3, 52),
	     SWITCH(120, 3, 52, 0), STOP(995, 3, 0), SWITCH(997, 4, 0, 53),
	     IRQ_CALL(999, 7, 0), RAISE(1000, 7, 0, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->kicker, ILB_CPU_NONE);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~BIT(4));
	assert_int_equal(moment(run, 0)->mask[0], REST);
}

/* A CPU that was busy since the start did not just become so. */
static void first_seen_busy_just_before_is_busy(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(2) | BIT(3));
	FEED(run, OTHER(900, 0, 10), WAKEUP(997, 1, 0, 52, 3),
	     OTHER(998, 2, 51), OTHER(998, 3, 53), KICK(1000, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~(BIT(2) | BIT(3)));
}

static void an_unseen_cpu_woken_just_before_was_idle(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(2) | BIT(3));
	FEED(run, OTHER(900, 0, 10), WAKEUP(997, 1, 0, 51, 2),
	     WAKEUP(997, 1, 0, 52, 3), KICK(1000, 0, 10, 7),
	     SWITCH(1100, 2, 0, 51), OTHER(1100, 3, 53));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~BIT(3));
}

static void without_a_window_a_moment_is_as_recorded(void **state)
{
	struct run *run = *state;

	run->setup.settle_ns = 0;
	begin(run);
	FEED(run, SWITCH(100, 3, 0, 52), TICK(110, 3, 52),
	     SWITCH(120, 3, 52, 0), SWITCH(500, 5, 0, 54), STOP(998, 3, 0),
	     SWITCH(999, 4, 0, 53), KICK(1000, 0, 10, 7),
	     SWITCH(1001, 5, 54, 0));
	assert_int_equal(run->count, 1);
	assert_int_equal(moment(run, 0)->mask[0], REST);
	assert_int_equal(moment(run, 0)->idle[0], REST & ~(BIT(4) | BIT(5)));
}

/* Time may begin at zero, within a window of it. */
static void a_kick_may_be_younger_than_the_window(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(0, 3, 0), OTHER(0, 0, 10), SWITCH(1, 3, 0, 52),
	     KICK(2, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], REST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(busy_for_less_than_settle_was_idle),
		RUN_TEST(a_wakeup_counts_the_same),
		RUN_TEST(busy_counts_from_when_it_stopped_being_idle),
		RUN_TEST(the_window_is_settle_ns_to_the_nanosecond),
		RUN_TEST(another_settle_ns_is_another_window),
		RUN_TEST(what_preceded_the_kickers_last_event_it_saw),
		RUN_TEST(the_call_itself_is_no_such_event),
		RUN_TEST(the_call_sees_no_more_where_it_is_the_kick),
		RUN_TEST(idle_soon_after_was_idle),
		RUN_TEST(with_a_wakeup_pending_it_did_not_become_idle),
		RUN_TEST(other_ways_to_idle_do_not_look_back),
		RUN_TEST(every_kick_within_the_window_saw_it_idle),
		RUN_TEST(a_tick_stopped_after_its_last_event_is_not_yet_in),
		RUN_TEST(a_cpu_that_slept_was_in),
		RUN_TEST(whatever_other_softirq_was_raised),
		RUN_TEST(but_not_if_the_choice_was_before),
		RUN_TEST(nor_if_the_probes_tell_when_it_was),
		RUN_TEST(an_earlier_sleep_does_not_count),
		RUN_TEST(a_member_does_not_enter_twice),
		RUN_TEST(the_kicker_is_never_idle),
		RUN_TEST(of_an_unknown_kicker_no_view_is_made_up),
		RUN_TEST(first_seen_busy_just_before_is_busy),
		RUN_TEST(an_unseen_cpu_woken_just_before_was_idle),
		RUN_TEST(without_a_window_a_moment_is_as_recorded),
		RUN_TEST(a_kick_may_be_younger_than_the_window),
	};

	return cmocka_run_group_tests_name("machine_view", tests, NULL, NULL);
}
