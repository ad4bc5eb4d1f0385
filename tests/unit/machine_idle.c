// SPDX-License-Identifier: GPL-2.0-only
/* Who is idle: idle_cpu() as it follows from switches, wakeups and calls. */

#include "machine_run.h"

static void a_cpu_never_seen_is_idle(void **state)
{
	struct run *run = *state;

	assert_int_equal(idle_set(run), ALL);
	assert_int_equal(cpu_of(run, 3)->pid, ILB_PID_UNKNOWN);
	assert_int_equal(cpu_of(run, 3)->since_ns, 0);
	FEED(run, KICK(100, 0, 10, 7));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
	assert_int_equal(cpu_of(run, 3)->pid, ILB_PID_UNKNOWN);
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], ALL & ~BIT(0));
}

static void a_cpu_that_is_not_online_is_not_idle(void **state)
{
	struct run *run = *state;

	ilb_mask_clear(run->online, 5);
	assert_int_equal(idle_set(run), ALL & ~BIT(5));
	assert_int_equal(members(run), ALL & ~BIT(5));
}

static void a_switch_says_what_runs(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH_COMM(100, 3, 0, 57, "spin2"));
	assert_int_equal(idle_set(run), ALL & ~BIT(3));
	assert_int_equal(cpu_of(run, 3)->pid, 57);
	assert_string_equal(cpu_of(run, 3)->comm, "spin2");
	assert_int_equal(cpu_of(run, 3)->since_ns, 100000);
	FEED(run, OTHER(150, 3, 57), SWITCH_COMM(200, 3, 57, 58, "next"));
	assert_int_equal(idle_set(run), ALL & ~BIT(3));
	assert_int_equal(cpu_of(run, 3)->pid, 58);
	assert_string_equal(cpu_of(run, 3)->comm, "next");
	assert_int_equal(cpu_of(run, 3)->since_ns, 200000);
	FEED(run, SWITCH(300, 3, 58, 0));
	assert_int_equal(idle_set(run), ALL);
	assert_int_equal(cpu_of(run, 3)->pid, 0);
}

static void before_the_first_switch_the_line_says_it(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(100, 3, 57), OTHER(110, 4, 0),
	     OTHER(120, 5, ILB_PID_UNKNOWN));
	assert_int_equal(idle_set(run), ALL & ~BIT(3));
	assert_int_equal(cpu_of(run, 3)->pid, 57);
	assert_string_equal(cpu_of(run, 3)->comm, "");
	assert_int_equal(cpu_of(run, 4)->pid, 0);
	assert_int_equal(cpu_of(run, 5)->pid, ILB_PID_UNKNOWN);
	FEED(run, OTHER(200, 5, 60));
	assert_int_equal(idle_set(run), ALL & ~(BIT(3) | BIT(5)));
}

static void first_seen_busy_was_busy_at_earlier_kicks(void **state)
{
	struct run *run = *state;

	FEED(run, KICK(100, 0, 10, 7), KICK(200, 0, 10, 7),
	     OTHER(900, 3, 57), SWITCH(910, 4, 58, 0), OTHER(920, 5, 0),
	     SWITCH(930, 6, 0, 59));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0],
			 ALL & ~(BIT(0) | BIT(3) | BIT(4)));
	assert_int_equal(moment(run, 1)->idle[0],
			 ALL & ~(BIT(0) | BIT(3) | BIT(4)));
}

/* Whatever a line begins with, a switch names the task that it leaves. */
static void a_switch_says_what_ran_before(void **state)
{
	struct run *run = *state;

	FEED(run, KICK(100, 0, 10, 7),
	     EVENT(900, 3, ILB_PID_UNKNOWN, SWITCH,
		   .u.sched_switch = { 57, 0, "", 0 }));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0], ALL & ~(BIT(0) | BIT(3)));
}

/* Only the first event looks back. */
static void later_events_leave_earlier_kicks_alone(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(50, 3, 0), SWITCH(60, 4, 0, 58), KICK(100, 0, 10, 7),
	     SWITCH(900, 3, 0, 57), SWITCH(910, 4, 58, 0));
	run_finish(run);
	assert_int_equal(moment(run, 0)->idle[0],
			 ALL & ~(BIT(0) | BIT(4)));
}

static void a_wakeup_pends_until_the_next_switch(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(50, 3, 0), WAKEUP(100, 0, 10, 57, 3));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3)));
	assert_int_equal(cpu_of(run, 3)->pid, 0);
	FEED(run, OTHER(105, 3, 0));
	assert_int_equal(cpu_of(run, 3)->idle, 0);
	FEED(run, SWITCH(110, 3, 0, 57), SWITCH(120, 3, 57, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

static void a_wakeup_makes_an_unseen_cpu_busy(void **state)
{
	struct run *run = *state;

	FEED(run, WAKEUP(100, 0, 10, 57, 3), WAKEUP(110, 0, 10, 58, 4));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3) | BIT(4)));
	FEED(run, OTHER(120, 3, 0));
	assert_int_equal(cpu_of(run, 3)->idle, 0);
	FEED(run, SWITCH(130, 3, 57, 0));
	assert_int_equal(cpu_of(run, 3)->idle, 1);
	/* Pulled away, it leaves the CPU as unknown as before. */
	FEED(run, MIGRATE(140, 0, 10, 58, 4, 5));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(5)));
	assert_int_equal(cpu_of(run, 4)->pid, ILB_PID_UNKNOWN);
}

static void a_queued_task_that_is_pulled_takes_the_wakeup_along(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(50, 3, 0), WAKEUP(100, 0, 10, 57, 3),
	     MIGRATE(110, 5, 0, 57, 3, 5));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(5)));
	FEED(run, MIGRATE(120, 5, 0, 57, 5, 6));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(6)));
	FEED(run, SWITCH(130, 6, 0, 57), SWITCH(140, 6, 57, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

/* Two were queued, and what is pulled need not be what was woken last. */
static void a_cpu_keeps_the_task_that_was_not_pulled(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(50, 3, 0), WAKEUP(100, 0, 10, 57, 3),
	     MIGRATE(110, 0, 10, 58, 3, 5));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3) | BIT(5)));
	FEED(run, SWITCH(120, 3, 0, 57), SWITCH(130, 3, 57, 0),
	     SWITCH(140, 5, 0, 58), SWITCH(150, 5, 58, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

/* Of two that were woken, each may be the one that leaves first. */
static void a_cpu_keeps_both_tasks_that_were_woken(void **state)
{
	struct run *run = *state;
	int32_t first;

	FEED(run, OTHER(40, 3, 0));
	for (first = 57; first <= 58; first++) {
		FEED(run, WAKEUP(50, 0, 10, 57, 3), WAKEUP(60, 0, 10, 58, 3),
		     WAKEUP(70, 0, 10, 57, 3),
		     MIGRATE(80, 0, 10, first, 3, 5));
		assert_int_equal(idle_set(run),
				 ALL & ~(BIT(0) | BIT(3) | BIT(5)));
		FEED(run, MIGRATE(90, 0, 10, 57 + 58 - first, 3, 5));
		assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(5)));
		FEED(run, SWITCH(95, 5, 0, 57), SWITCH(96, 5, 57, 0));
	}
}

/* More than the machine knows by name. */
static void a_cpu_keeps_count_of_many_tasks(void **state)
{
	struct run *run = *state;
	int32_t i;

	FEED(run, OTHER(40, 3, 0));
	for (i = 0; i < 9; i++)
		FEED(run, WAKEUP(50, 0, 10, 50 + i, 3));
	for (i = 8; i >= 0; i--) {
		assert_int_equal(cpu_of(run, 3)->idle, 0);
		FEED(run, MIGRATE(80, 0, 10, 50 + i, 3, 5));
	}
	assert_int_equal(cpu_of(run, 3)->idle, 1);
}

/*
 * The balancer queues what it pulls without a wakeup, and a task that is woken
 * elsewhere migrates first: either way its new CPU is idle no more.
 */
static void a_task_is_queued_where_it_migrates_to(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH(50, 3, 0, 57), WAKEUP(60, 0, 10, 58, 3),
	     SWITCH(70, 3, 57, 58), SWITCH(80, 5, 57, 0),
	     MIGRATE(100, 3, 58, 57, 3, 5));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3) | BIT(5)));
	FEED(run, SWITCH(110, 5, 0, 57), SWITCH(120, 5, 57, 0),
	     SWITCH(130, 3, 58, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
	FEED(run, MIGRATE(140, 0, 10, 57, 5, 6));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(6)));
	FEED(run, WAKEUP(150, 6, 0, 57, 6), SWITCH(160, 6, 0, 57),
	     SWITCH(170, 6, 57, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

#define START(run)							\
	FEED(run, OTHER(10, 1, 0), OTHER(11, 2, 0), OTHER(12, 3, 0),	\
	     OTHER(13, 4, 0))

static void a_task_that_is_being_woken_makes_its_cpu_busy(void **state)
{
	struct run *run = *state;

	START(run);
	FEED(run, WAKING(100, 0, 10, 57, 3));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3)));
	assert_int_equal(cpu_of(run, 3)->pid, 0);
	FEED(run, WAKEUP(110, 3, 0, 57, 3));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3)));
	FEED(run, SWITCH(120, 3, 0, 57), SWITCH(130, 3, 57, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
	/* Its own CPU queues it at once. */
	FEED(run, WAKING(140, 3, 0, 57, 3));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

/* sched_waking has the CPU before the kernel chose another. */
static void a_task_is_woken_where_it_migrates_to(void **state)
{
	struct run *run = *state;

	START(run);
	FEED(run, WAKING(100, 0, 10, 57, 3), MIGRATE(101, 0, 10, 57, 3, 4));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(4)));
	FEED(run, WAKEUP(110, 4, 0, 57, 4), SWITCH(120, 4, 0, 57),
	     SWITCH(130, 4, 57, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
	/* From the waker's own CPU, and to it. */
	FEED(run, WAKING(200, 3, 0, 57, 3), MIGRATE(201, 3, 0, 57, 3, 4));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(4)));
	FEED(run, WAKEUP(210, 4, 0, 57, 4), SWITCH(220, 4, 0, 57),
	     SWITCH(230, 4, 57, 0), WAKING(240, 3, 0, 57, 4),
	     MIGRATE(250, 3, 0, 57, 4, 3));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3)));
	FEED(run, WAKEUP(260, 3, 0, 57, 3), SWITCH(270, 3, 0, 57),
	     SWITCH(280, 3, 57, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

static void a_wakeup_under_way_outlives_a_switch(void **state)
{
	struct run *run = *state;

	START(run);
	FEED(run, SWITCH(90, 3, 0, 57), SWITCH(91, 4, 0, 59),
	     WAKING(100, 0, 10, 58, 3), SWITCH(110, 3, 57, 0),
	     WAKING(120, 0, 10, 60, 2), MIGRATE(121, 0, 10, 60, 2, 4),
	     SWITCH(130, 4, 59, 0));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3) | BIT(4)));
	FEED(run, WAKEUP(140, 3, 0, 58, 3), SWITCH(150, 3, 0, 58),
	     SWITCH(160, 3, 58, 0), WAKEUP(170, 4, 0, 60, 4),
	     SWITCH(180, 4, 0, 60), SWITCH(190, 4, 60, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

/* One whose end was lost, or that nobody records, does not last for ever. */
static void a_wakeup_without_an_end_is_forgotten(void **state)
{
	struct run *run = *state;

	START(run);
	FEED(run, WAKING(100, 0, 10, 57, 3), LOST(110, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
	FEED(run, WAKING(120, 0, 10, 57, 3), SWITCH(130, 3, 0, 58),
	     SWITCH(101000, 3, 58, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
	FEED(run, WAKING(101100, 0, 10, 57, 7));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
	FEED(run, WAKING(101200, 0, 10, 57, 9999));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

/* Where calls are recorded, they tell it better. */
static void calls_overrule_waking(void **state)
{
	struct run *run = *state;

	START(run);
	FEED(run, TTWU(50, 0, 10, 4), TTWU_END(60, 4, 0),
	     WAKING(100, 0, 10, 57, 3));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

static void a_remote_wakeup_counts_from_queue_to_exit(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(50, 3, 0), TTWU_END(60, 1, 0), TTWU(100, 0, 10, 3));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3)));
	assert_int_equal(cpu_of(run, 3)->pid, 0);
	FEED(run, CSD(110, 3, 0, ENTRY, 0, TTWU),
	     CSD(120, 3, 0, EXIT, 0, OTHER), CSD(125, 3, 0, EXIT, 0, NOHZ_CSD),
	     TTWU_END(127, 4, 0));
	assert_int_equal(cpu_of(run, 3)->idle, 0);
	FEED(run, TTWU_END(130, 3, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

static void a_remote_wakeup_outlives_a_switch(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH(50, 3, 0, 56), TTWU_END(60, 1, 0),
	     TTWU(100, 0, 10, 3), SWITCH(110, 3, 56, 0));
	assert_int_equal(cpu_of(run, 3)->pid, 0);
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3)));
	FEED(run, WAKEUP(120, 3, 0, 57, 3), TTWU_END(125, 3, 0));
	assert_int_equal(cpu_of(run, 3)->idle, 0);
	FEED(run, SWITCH(130, 3, 0, 57), SWITCH(140, 3, 57, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

static void without_exits_a_remote_wakeup_ends_at_the_switch(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(50, 3, 0), TTWU(100, 0, 10, 3));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(3)));
	FEED(run, SWITCH(110, 3, 0, 57), SWITCH(120, 3, 57, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

static void other_calls_leave_their_cpu_idle(void **state)
{
	struct run *run = *state;

	FEED(run, CSD(100, 0, 10, QUEUE, 3, OTHER), KICK(110, 0, 10, 4));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

static void the_lines_pid_overrules_a_lost_switch(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH_COMM(50, 3, 0, 57, "spin2"), OTHER(600, 3, 57));
	assert_string_equal(cpu_of(run, 3)->comm, "spin2");
	FEED(run, OTHER(700, 3, 0));
	assert_int_equal(idle_set(run), ALL);
	assert_int_equal(cpu_of(run, 3)->pid, 0);
	assert_int_equal(cpu_of(run, 3)->since_ns, 700000);
	assert_string_equal(cpu_of(run, 3)->comm, "");
	FEED(run, OTHER(800, 3, ILB_PID_UNKNOWN));
	assert_int_equal(idle_set(run), ALL);
	FEED(run, OTHER(900, 3, 58));
	assert_int_equal(idle_set(run), ALL & ~BIT(3));
	assert_int_equal(cpu_of(run, 3)->pid, 58);
	assert_int_equal(cpu_of(run, 3)->since_ns, 900000);
	/* A switch from a task that nobody saw come. */
	FEED(run, SWITCH(1000, 3, 59, 0));
	assert_int_equal(idle_set(run), ALL);
}

/* perf script can print the process where the switch named the thread. */
static void which_task_runs_is_for_the_switch_to_say(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH_COMM(50, 3, 0, 57, "thread"), OTHER(100, 3, 56));
	assert_int_equal(cpu_of(run, 3)->pid, 57);
	assert_int_equal(cpu_of(run, 3)->since_ns, 50000);
	assert_string_equal(cpu_of(run, 3)->comm, "thread");
	/* A loss on another CPU does not change that. */
	FEED(run, LOST(150, 4), OTHER(160, 3, 56));
	assert_int_equal(cpu_of(run, 3)->pid, 57);
}

static void but_after_a_loss_the_line_is_newer(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH_COMM(50, 3, 0, 57, "thread"), LOST(100, 3),
	     OTHER(110, 3, 57), OTHER(200, 3, 58));
	assert_int_equal(cpu_of(run, 3)->pid, 58);
	assert_int_equal(cpu_of(run, 3)->since_ns, 200000);
	assert_string_equal(cpu_of(run, 3)->comm, "");
	/* Once, and not when a switch came after the loss. */
	FEED(run, OTHER(300, 3, 59));
	assert_int_equal(cpu_of(run, 3)->pid, 58);
	FEED(run, LOST(400, 3), SWITCH(500, 3, 58, 60), OTHER(600, 3, 59));
	assert_int_equal(cpu_of(run, 3)->pid, 60);
	assert_int_equal(idle_set(run), ALL & ~BIT(3));
}

/* The switch that would have ended the wakeup may be among what was lost. */
static void lost_events_end_what_pends(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(50, 3, 0), OTHER(50, 4, 0), OTHER(50, 5, 0),
	     TTWU_END(60, 1, 0), WAKEUP(100, 0, 10, 57, 3),
	     TTWU(110, 0, 10, 4), WAKEUP(120, 0, 10, 58, 5));
	assert_int_equal(idle_set(run),
			 ALL & ~(BIT(0) | BIT(3) | BIT(4) | BIT(5)));
	FEED(run, LOST(500, 3), LOST(500, 4));
	assert_int_equal(idle_set(run), ALL & ~(BIT(0) | BIT(5)));
	assert_int_equal(cpu_of(run, 3)->pid, 0);
}

/* Something ran in between, so the wakeup came to its end. */
static void an_unseen_switch_ends_a_wakeup(void **state)
{
	struct run *run = *state;

	FEED(run, SWITCH(50, 3, 0, 56), WAKEUP(100, 0, 10, 57, 3),
	     OTHER(200, 3, 0));
	assert_int_equal(idle_set(run), ALL & ~BIT(0));
}

static void cpus_beyond_the_machine_are_ignored(void **state)
{
	struct run *run = *state;

	FEED(run, OTHER(40, 3, 0), WAKEUP(50, 3, 0, 57, 3),
	     WAKEUP(100, 0, 0, 57, 8),
	     WAKEUP(110, 0, 0, 57, ILB_CPU_NONE), TTWU(120, 0, 0, 8),
	     TTWU(130, 0, 0, ILB_CPU_NONE), MIGRATE(140, 0, 0, 57, 8, 3),
	     MIGRATE(150, 0, 0, 57, 3, 8),
	     MIGRATE(160, 0, 0, 57, 3, ILB_CPU_NONE));
	assert_int_equal(idle_set(run), ALL & ~BIT(3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(a_cpu_never_seen_is_idle),
		RUN_TEST(a_cpu_that_is_not_online_is_not_idle),
		RUN_TEST(a_switch_says_what_runs),
		RUN_TEST(before_the_first_switch_the_line_says_it),
		RUN_TEST(first_seen_busy_was_busy_at_earlier_kicks),
		RUN_TEST(a_switch_says_what_ran_before),
		RUN_TEST(later_events_leave_earlier_kicks_alone),
		RUN_TEST(a_wakeup_pends_until_the_next_switch),
		RUN_TEST(a_wakeup_makes_an_unseen_cpu_busy),
		RUN_TEST(a_queued_task_that_is_pulled_takes_the_wakeup_along),
		RUN_TEST(a_cpu_keeps_the_task_that_was_not_pulled),
		RUN_TEST(a_cpu_keeps_both_tasks_that_were_woken),
		RUN_TEST(a_cpu_keeps_count_of_many_tasks),
		RUN_TEST(a_task_is_queued_where_it_migrates_to),
		RUN_TEST(a_task_that_is_being_woken_makes_its_cpu_busy),
		RUN_TEST(a_task_is_woken_where_it_migrates_to),
		RUN_TEST(a_wakeup_under_way_outlives_a_switch),
		RUN_TEST(a_wakeup_without_an_end_is_forgotten),
		RUN_TEST(calls_overrule_waking),
		RUN_TEST(a_remote_wakeup_counts_from_queue_to_exit),
		RUN_TEST(a_remote_wakeup_outlives_a_switch),
		RUN_TEST(without_exits_a_remote_wakeup_ends_at_the_switch),
		RUN_TEST(other_calls_leave_their_cpu_idle),
		RUN_TEST(the_lines_pid_overrules_a_lost_switch),
		RUN_TEST(which_task_runs_is_for_the_switch_to_say),
		RUN_TEST(but_after_a_loss_the_line_is_newer),
		RUN_TEST(lost_events_end_what_pends),
		RUN_TEST(an_unseen_switch_ends_a_wakeup),
		RUN_TEST(cpus_beyond_the_machine_are_ignored),
	};

	return cmocka_run_group_tests_name("machine_idle", tests, NULL, NULL);
}
