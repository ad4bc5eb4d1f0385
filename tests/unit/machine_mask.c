// SPDX-License-Identifier: GPL-2.0-only
/* Who is in nohz.idle_cpus_mask, as events alone tell it; and who ticks. */

#include "machine_run.h"

static void a_tick_stopped_in_idle_enters(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH(50, 3, 56, 57), TICK(100, 3, 57));
	assert_int_equal(membership(run, 3), ILB_OUT);
	FEED(run, SWITCH(200, 3, 57, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
	FEED(run, NO_STOP(210, 3, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
	FEED(run, STOP(220, 3, 0));
	assert_int_equal(membership(run, 3), ILB_IN);
	FEED(run, NO_STOP(230, 3, 0), SWITCH(240, 3, 0, 57));
	assert_int_equal(membership(run, 3), ILB_IN);
}

static void a_tick_stopped_under_a_task_does_not_enter(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH(50, 3, 56, 57), TICK(100, 3, 57), STOP(200, 3, 57));
	assert_int_equal(membership(run, 3), ILB_OUT);
	/* Nor does the idle task when it finds the tick stopped. */
	FEED(run, SWITCH(300, 3, 57, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
}

/* Membership needs a stopped tick, not idle_cpu(). */
static void a_tick_stopped_with_a_wakeup_pending_enters(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH(50, 3, 56, 57), TICK(100, 3, 57),
	     SWITCH(200, 3, 57, 0), WAKEUP(210, 0, 10, 58, 3),
	     STOP(220, 3, 0));
	assert_int_equal(membership(run, 3), ILB_IN);
}

static void the_first_busy_tick_leaves(void **state)
{
	struct run *run = *state;

	FEED(run, STOP(50, 3, 0), SWITCH(100, 3, 0, 57), OTHER(200, 3, 57));
	assert_int_equal(membership(run, 3), ILB_IN);
	FEED(run, TICK(4000, 3, 57));
	assert_int_equal(membership(run, 3), ILB_OUT);
}

static void a_tick_with_a_wakeup_pending_leaves(void **state)
{
	struct run *run = *state;

	FEED(run, STOP(50, 3, 0), STOP(50, 4, 0), TTWU_END(60, 1, 0),
	     WAKEUP(3990, 0, 10, 57, 3), TICK(4000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
	FEED(run, TTWU(7990, 0, 10, 4), TICK(8000, 4, 0));
	assert_int_equal(membership(run, 4), ILB_OUT);
}

static void an_idle_tick_does_not_leave(void **state)
{
	struct run *run = *state;

	FEED(run, STOP(50, 3, 0), TICK(4000, 3, 0), TICK(8000, 3, 0),
	     TICK(12000, 3, 0), TICK(16000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_IN);
	/* A burst shorter than a tick leaves no trace in the mask. */
	FEED(run, SWITCH(17000, 3, 0, 57), SWITCH(18000, 3, 57, 0),
	     TICK(20000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_IN);
}

static void the_start_is_assumed_from_what_ran(void **state)
{
	struct run *run = *state;

	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	FEED(run, OTHER(100, 3, 57), OTHER(110, 4, 0), SWITCH(120, 5, 58, 0),
	     SWITCH(130, 6, 0, 59));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_OUT);
	assert_int_equal(membership(run, 4), ILB_ASSUMED_IN);
	assert_int_equal(membership(run, 5), ILB_ASSUMED_OUT);
	assert_int_equal(membership(run, 6), ILB_ASSUMED_IN);
	assert_int_equal(membership(run, 7), ILB_ASSUMED_IN);
}

/* A CPU that was busy all the time was out at the kicks before that too. */
static void earlier_moments_assume_the_same_start(void **state)
{
	struct run *run = *state;

	run->nohz_full[0] = BIT(4);
	run_enter(run, 50, BIT(0) | BIT(3) | BIT(4));
	FEED(run, KICK(100, 0, 10, 7), OTHER(200, 3, 57), OTHER(210, 4, 58));
	run_finish(run);
	assert_int_equal(moment(run, 0)->mask[0], ALL & ~(BIT(0) | BIT(3)));
}

/* What is learnt later says nothing about before, but by a rule's leave. */
static void evidence_leaves_earlier_moments_alone(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0) | BIT(3) | BIT(4));
	FEED(run, OTHER(50, 3, 0), OTHER(50, 4, 57), KICK(100, 0, 10, 7),
	     SWITCH(200, 3, 0, 58), TICK(4000, 3, 58),
	     SWITCH(4100, 4, 57, 0), STOP(4200, 4, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
	assert_int_equal(membership(run, 4), ILB_IN);
	run_finish(run);
	assert_int_equal(moment(run, 0)->mask[0], ALL & ~(BIT(0) | BIT(4)));
	assert_int_equal(moment(run, 0)->assumed, 1);
}

static void a_moment_that_rests_on_nothing_assumed_says_so(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0));
	FEED(run, KICK(100, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->assumed, 0);
	assert_int_equal(moment(run, 0)->mask[0], ALL & ~BIT(0));
}

/* Nobody may be chosen who is busy, so a busy CPU's place does not matter. */
static void only_idle_cpus_make_a_moment_assumed(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0) | BIT(3));
	FEED(run, OTHER(60, 3, 57), KICK(100, 0, 10, 7),
	     SWITCH(200, 3, 57, 0), KICK(300, 0, 10, 7),
	     STOP(400, 3, 0), OTHER(450, 0, 10), KICK(500, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->assumed, 0);
	assert_int_equal(moment(run, 1)->assumed, 1);
	assert_int_equal(moment(run, 2)->assumed, 0);
	assert_int_equal(moment(run, 0)->mask[0], ALL & ~(BIT(0) | BIT(3)));
	assert_int_equal(moment(run, 1)->mask[0], ALL & ~(BIT(0) | BIT(3)));
	assert_int_equal(moment(run, 2)->mask[0], ALL & ~BIT(0));
}

static void only_housekeeping_makes_a_moment_assumed(void **state)
{
	struct run *run = *state;

	ilb_mask_clear(run->housekeeping, 3);
	run_enter(run, 50, BIT(0) | BIT(3));
	FEED(run, OTHER(60, 3, 0), KICK(100, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->assumed, 0);
	assert_int_equal(moment(run, 0)->mask[0], ALL & ~BIT(0));
}

static void a_busy_nohz_full_cpu_is_assumed_in(void **state)
{
	struct run *run = *state;

	run->nohz_full[0] = BIT(3);
	FEED(run, OTHER(100, 3, 57), OTHER(110, 4, 57));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	assert_int_equal(membership(run, 4), ILB_ASSUMED_OUT);
	/* Its own busy tick takes it out like any other. */
	FEED(run, TICK(4000, 3, 57));
	assert_int_equal(membership(run, 3), ILB_OUT);
}

static void an_idle_cpu_that_ticks_on_was_not_in(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0) | BIT(3));
	FEED(run, OTHER(60, 3, 0), TICK(90, 0, 10), KICK(100, 0, 10, 7),
	     TICK(4000, 3, 0), TICK(8000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	assert_int_equal(run->count, 0);
	FEED(run, TICK(12000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
	/* The moment waited for just that, with nothing assumed any more. */
	assert_int_equal(run->count, 1);
	assert_int_equal(moment(run, 0)->mask[0], ALL & ~(BIT(0) | BIT(3)));
	assert_int_equal(moment(run, 0)->assumed, 0);
}

static void ticks_far_apart_are_a_stopped_ticks_timer(void **state)
{
	struct run *run = *state;

	FEED(run, TICK(30000, 3, 0), TICK(60000, 3, 0), TICK(90000, 3, 0),
	     TICK(120000, 3, 0), TICK(150000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	/* Two and a half periods are the border. */
	FEED(run, TICK(160001, 3, 0), TICK(170002, 3, 0), TICK(180003, 3, 0));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	FEED(run, TICK(190003, 3, 0), TICK(200003, 3, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
}

/* It may have been a member that ticks for a while after a short burst. */
static void leaving_idle_starts_the_count_anew(void **state)
{
	struct run *run = *state;

	FEED(run, TICK(4000, 3, 0), TICK(8000, 3, 0), SWITCH(9000, 3, 0, 57),
	     SWITCH(10000, 3, 57, 0), TICK(12000, 3, 0), TICK(16000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	FEED(run, TICK(20000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
}

static void the_timekeepers_ticks_count_across_idle_exits(void **state)
{
	struct run *run = *state;

	run->nohz_full[0] = BIT(6) | BIT(7);
	FEED(run, TICK(4000, 3, 0), SWITCH(5000, 3, 0, 57),
	     SWITCH(6000, 3, 57, 0), TICK(8000, 3, 0),
	     SWITCH(9000, 3, 0, 57), SWITCH(10000, 3, 57, 0));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	FEED(run, TICK(12000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
}

static void a_tick_that_stopped_in_between_did_not_run_on(void **state)
{
	struct run *run = *state;

	run->nohz_full[0] = BIT(3) | BIT(7);
	FEED(run, TICK(4000, 3, 0), TICK(8000, 3, 0), SWITCH(9000, 3, 0, 57),
	     STOP(9500, 3, 57), SWITCH(10000, 3, 57, 0), TICK(12000, 3, 0),
	     TICK(16000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_IN);
	FEED(run, TICK(20000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_OUT);
}

/* Once its kick proved a CPU a member, ticking on proves nothing. */
static void only_the_start_is_settled_by_ticks(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(50, 3, 0), KICK(100, 0, 10, 3), TICK(4000, 3, 0),
	     TICK(8000, 3, 0), TICK(12000, 3, 0), TICK(16000, 3, 0));
	assert_int_equal(membership(run, 3), ILB_IN);
}

static void isolated_cpus_are_never_in(void **state)
{
	struct run *run = *state;

	run->isolated[0] = BIT(3) | BIT(4);
	assert_int_equal(membership(run, 3), ILB_OUT);
	run_enter(run, 50, BIT(0));
	assert_int_equal(membership(run, 3), ILB_OUT);
	FEED(run, OTHER(60, 3, 57), TICK(4000, 3, 57),
	     KICK(4100, 0, 10, 4), LOST(5000, 3), LOST(5000, 4));
	assert_int_equal(membership(run, 3), ILB_OUT);
	assert_int_equal(membership(run, 4), ILB_OUT);
	run_finish(run);
	assert_int_equal(moment(run, 0)->mask[0],
			 ALL & ~(BIT(0) | BIT(3) | BIT(4)));
	assert_int_equal(moment(run, 0)->assumed, 0);
}

static void none_are_isolated_or_nohz_full_without_a_list(void **state)
{
	struct run *run = *state;

	run->setup.isolated = NULL;
	run->setup.nohz_full = NULL;
	FEED(run, OTHER(50, 3, 57), OTHER(60, 4, 0), LOST(70, 4));
	assert_int_equal(members(run), ALL & ~BIT(3));
}

static void a_target_is_evidence_for_the_next_kick_only(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0) | BIT(3));
	FEED(run, OTHER(60, 3, 0), KICK(100, 0, 10, 3));
	assert_int_equal(membership(run, 3), ILB_IN);
	FEED(run, KICK(200, 0, 10, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->assumed, 1);
	assert_int_equal(moment(run, 1)->assumed, 0);
}

/* The same for a CPU that was wrongly assumed to be out. */
static void a_target_that_was_out_is_in_the_next_mask(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0) | BIT(3));
	FEED(run, SWITCH(60, 3, 57, 0));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_OUT);
	FEED(run, KICK(100, 0, 10, 3), KICK(110, 1, 11, 7));
	run_finish(run);
	assert_int_equal(moment(run, 0)->mask[0], ALL & ~(BIT(0) | BIT(3)));
	assert_int_equal(moment(run, 0)->assumed, 1);
	/* CPU 1 was silent since 50: the member is older than that. */
	assert_int_equal(moment(run, 1)->mask[0], ALL & ~BIT(0));
	assert_int_equal(moment(run, 1)->assumed, 0);
}

/* What was known to be out stays so, whatever a kick claims. */
static void a_target_known_to_be_out_stays_out(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH(60, 3, 56, 57), TICK(100, 3, 57),
	     KICK(200, 0, 10, 3));
	assert_int_equal(membership(run, 3), ILB_OUT);
}

static void lost_events_turn_knowledge_into_assumption(void **state)
{
	struct run *run = *state;

	run_enter(run, 50, BIT(0) | BIT(3) | BIT(4));
	FEED(run, SWITCH(60, 3, 56, 57), TICK(70, 3, 57),
	     SWITCH(80, 3, 57, 0), OTHER(80, 4, 57), LOST(500, 3),
	     LOST(500, 4), LOST(500, 5));
	assert_int_equal(membership(run, 3), ILB_ASSUMED_OUT);
	assert_int_equal(membership(run, 4), ILB_ASSUMED_OUT);
	assert_int_equal(membership(run, 5), ILB_ASSUMED_IN);
	assert_int_equal(membership(run, 6), ILB_IN);
	FEED(run, KICK(600, 0, 10, 7), STOP(700, 3, 0), KICK(800, 0, 10, 7),
	     STOP(900, 5, 0), KICK(1000, 0, 10, 7));
	assert_int_equal(membership(run, 3), ILB_IN);
	assert_int_equal(membership(run, 5), ILB_IN);
	run_finish(run);
	assert_int_equal(moment(run, 0)->assumed, 1);
	assert_int_equal(moment(run, 0)->mask[0],
			 ALL & ~(BIT(0) | BIT(3) | BIT(4)));
	assert_int_equal(moment(run, 1)->assumed, 1);
	assert_int_equal(moment(run, 2)->assumed, 0);
	assert_int_equal(moment(run, 2)->mask[0], ALL & ~(BIT(0) | BIT(4)));
}

static void the_tick_is_unknown_until_something_says(void **state)
{
	struct run *run = *state;

	assert_int_equal(cpu_of(run, 3)->tick_stopped, -1);
	assert_int_equal(cpu_of(run, 3)->ticked_ns, 0);
	FEED(run, OTHER(50, 3, 0));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, -1);
	FEED(run, STOP(60, 3, 0));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, 1);
	FEED(run, NO_STOP(70, 3, 0));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, 0);
	FEED(run, LOST(80, 3));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, -1);
	FEED(run, STOP(90, 3, 57));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, 1);
	FEED(run, TICK(100, 3, 57));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, 0);
	assert_int_equal(cpu_of(run, 3)->ticked_ns, 100000);
}

static void one_idle_tick_is_no_proof_but_two_are(void **state)
{
	struct run *run = *state;

	FEED(run, STOP(50, 3, 0), TICK(4000, 3, 0));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, 1);
	FEED(run, TICK(14001, 3, 0));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, 1);
	FEED(run, TICK(24001, 3, 0));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, 0);
	assert_int_equal(cpu_of(run, 3)->ticked_ns, 24001000);
}

static void leaving_idle_restarts_the_tick(void **state)
{
	struct run *run = *state;

	run->nohz_full[0] = BIT(4);
	FEED(run, SWITCH(40, 3, 57, 0), SWITCH(40, 4, 57, 0), STOP(50, 3, 0),
	     STOP(50, 4, 0), SWITCH(100, 3, 0, 57), SWITCH(100, 4, 0, 57));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, 0);
	/* nohz_full: it may well run the task without. */
	assert_int_equal(cpu_of(run, 4)->tick_stopped, 1);
	FEED(run, STOP(200, 3, 57), SWITCH(300, 3, 57, 58));
	assert_int_equal(cpu_of(run, 3)->tick_stopped, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(a_tick_stopped_in_idle_enters),
		RUN_TEST(a_tick_stopped_under_a_task_does_not_enter),
		RUN_TEST(a_tick_stopped_with_a_wakeup_pending_enters),
		RUN_TEST(the_first_busy_tick_leaves),
		RUN_TEST(a_tick_with_a_wakeup_pending_leaves),
		RUN_TEST(an_idle_tick_does_not_leave),
		RUN_TEST(the_start_is_assumed_from_what_ran),
		RUN_TEST(earlier_moments_assume_the_same_start),
		RUN_TEST(evidence_leaves_earlier_moments_alone),
		RUN_TEST(a_moment_that_rests_on_nothing_assumed_says_so),
		RUN_TEST(only_idle_cpus_make_a_moment_assumed),
		RUN_TEST(only_housekeeping_makes_a_moment_assumed),
		RUN_TEST(a_busy_nohz_full_cpu_is_assumed_in),
		RUN_TEST(an_idle_cpu_that_ticks_on_was_not_in),
		RUN_TEST(ticks_far_apart_are_a_stopped_ticks_timer),
		RUN_TEST(leaving_idle_starts_the_count_anew),
		RUN_TEST(the_timekeepers_ticks_count_across_idle_exits),
		RUN_TEST(a_tick_that_stopped_in_between_did_not_run_on),
		RUN_TEST(only_the_start_is_settled_by_ticks),
		RUN_TEST(isolated_cpus_are_never_in),
		RUN_TEST(none_are_isolated_or_nohz_full_without_a_list),
		RUN_TEST(a_target_is_evidence_for_the_next_kick_only),
		RUN_TEST(a_target_that_was_out_is_in_the_next_mask),
		RUN_TEST(a_target_known_to_be_out_stays_out),
		RUN_TEST(lost_events_turn_knowledge_into_assumption),
		RUN_TEST(the_tick_is_unknown_until_something_says),
		RUN_TEST(one_idle_tick_is_no_proof_but_two_are),
		RUN_TEST(leaving_idle_restarts_the_tick),
	};

	return cmocka_run_group_tests_name("machine_mask", tests, NULL, NULL);
}
