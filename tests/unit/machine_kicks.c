// SPDX-License-Identifier: GPL-2.0-only
/* Which events show a kick, from whom, and to whom. */

#include "machine_run.h"

static void expect_kick(struct run *run, unsigned int kicker,
			unsigned int target)
{
	assert_non_null(last_kick(run));
	assert_int_equal(last_kick(run)->kicker, kicker);
	assert_int_equal(last_kick(run)->target, target);
}

static void expect_moment(struct run *run, unsigned int n, uint64_t us,
			  unsigned int kicker, unsigned int target)
{
	assert_int_equal(moment(run, n)->time_ns, us * 1000);
	assert_int_equal(moment(run, n)->kicker, kicker);
	assert_int_equal(moment(run, n)->target, target);
}

static void a_call_of_nohz_csd_func_is_a_kick(void **state)
{
	struct run *run = *state;

	assert_null(last_kick(run));
	FEED(run, OTHER(50, 2, 10));
	assert_null(last_kick(run));
	FEED(run, KICK(100, 2, 10, 7));
	expect_kick(run, 2, 7);
	FEED(run, OTHER(110, 2, 10));
	assert_null(last_kick(run));
	FEED(run, KICK(120, 5, 11, 6));
	expect_kick(run, 5, 6);
	run_finish(run);
	assert_int_equal(run->count, 2);
	expect_moment(run, 0, 100, 2, 7);
	expect_moment(run, 1, 120, 5, 6);
	assert_int_equal(moment(run, 0)->kind, ILB_MOMENT_RECONSTRUCTED);
}

static void other_calls_are_none(void **state)
{
	struct run *run = *state;

	FEED(run, CSD(100, 2, 10, QUEUE, 7, OTHER));
	assert_null(last_kick(run));
	FEED(run, TTWU(110, 2, 10, 7));
	assert_null(last_kick(run));
	FEED(run, CSD(120, 7, 0, ENTRY, 7, NOHZ_CSD));
	assert_null(last_kick(run));
	FEED(run, CSD(130, 7, 0, EXIT, 7, NOHZ_CSD));
	assert_null(last_kick(run));
	run_finish(run);
	assert_int_equal(run->count, 0);
}

static void without_calls_the_probe_shows_the_kick(void **state)
{
	struct run *run = *state;

	FEED(run, SEND(100, 2, 10, 7));
	expect_kick(run, 2, 7);
	FEED(run, PROBE(110, 2, 10, SEND, .cpu = 6, .func = ILB_FUNC_OTHER));
	assert_null(last_kick(run));
	FEED(run, PROBE(120, 2, 10, SEND, .cpu = 6, .func = ILB_FUNC_TTWU));
	assert_null(last_kick(run));
	FEED(run, SEND(130, 3, 11, 6));
	expect_kick(run, 3, 6);
	run_finish(run);
	assert_int_equal(run->count, 2);
	expect_moment(run, 0, 100, 2, 7);
	expect_moment(run, 1, 130, 3, 6);
}

/* The probe's line comes first, also for the trace's first kick. */
static void with_both_a_kick_counts_once(void **state)
{
	struct run *run = *state;

	FEED(run, SEND(100, 2, 10, 7));
	expect_kick(run, 2, 7);
	FEED(run, KICK(102, 2, 10, 7));
	assert_null(last_kick(run));
	FEED(run, KICK(200, 2, 10, 7));
	expect_kick(run, 2, 7);
	FEED(run, SEND(4100, 2, 10, 7));
	assert_null(last_kick(run));
	FEED(run, KICK(4102, 2, 10, 7));
	expect_kick(run, 2, 7);
	run_finish(run);
	assert_int_equal(run->count, 3);
	expect_moment(run, 0, 100, 2, 7);
	expect_moment(run, 1, 200, 2, 7);
	expect_moment(run, 2, 4102, 2, 7);
}

/* csd events that begin late do not repeat, and do not swallow, a kick. */
static void only_the_very_same_kick_is_dropped(void **state)
{
	struct run *run = *state;

	FEED(run, SEND(100, 2, 10, 7), KICK(110, 3, 11, 7));
	expect_kick(run, 3, 7);
	run_finish(run);
	assert_int_equal(run->count, 2);
}

static void nor_one_to_another_cpu(void **state)
{
	struct run *run = *state;

	FEED(run, SEND(100, 2, 10, 7), KICK(110, 2, 10, 6));
	expect_kick(run, 2, 6);
}

static void nor_one_of_the_next_tick(void **state)
{
	struct run *run = *state;

	FEED(run, SEND(100, 2, 10, 7), KICK(1100, 2, 10, 7));
	expect_kick(run, 2, 7);
}

/* A call that could not be a kick is not what a later line repeats. */
static void nor_one_after_a_target_out_of_range(void **state)
{
	struct run *run = *state;

	FEED(run, SEND(100, 2, 10, 7), SEND(5000, 4, 11, 99),
	     KICK(5100, 2, 10, 7));
	expect_kick(run, 2, 7);
	run_finish(run);
	assert_int_equal(run->count, 2);
}

/* Only nohz_csd_func raises SCHED there; who called is not recorded. */
static void a_softirq_raised_outside_of_the_tick_gives_the_target(void **state)
{
	struct run *run = *state;

	FEED(run, TICK(50, 7, 0), IRQ_CALL(100, 7, 0), RAISE(101, 7, 0, 7));
	expect_kick(run, ILB_CPU_NONE, 7);
	run_finish(run);
	assert_int_equal(run->count, 1);
	expect_moment(run, 0, 101, ILB_CPU_NONE, 7);
	/* Nobody is known to be busy for having kicked. */
	assert_int_equal(moment(run, 0)->idle[0], ALL);
}

static void one_raised_in_the_tick_does_not(void **state)
{
	struct run *run = *state;

	FEED(run, TICK(50, 7, 57), RAISE(51, 7, 57, 7), OTHER(52, 7, 57),
	     RAISE(53, 7, 57, 7));
	run_finish(run);
	assert_int_equal(run->count, 0);
}

/* Each of these ends the tick's interrupt, or follows it. */
static void a_tick_ends_where_something_else_begins(void **state)
{
	static const struct ilb_event ends[] = {
		SWITCH(60, 7, 0, 0),
		VALUE(60, 7, 0, IDLE, ILB_IDLE_EXIT),
		VALUE(60, 7, 0, SOFTIRQ_ENTRY, 1),
		IRQ_CALL(60, 7, 0),
		LOST(60, 7),
	};
	struct run *run = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		FEED(run, TICK(50, 7, 0), RAISE(55, 7, 0, 7));
		assert_null(last_kick(run));
		run_feed(run, &ends[i], 1);
		FEED(run, RAISE(70, 7, 0, 7));
		expect_kick(run, ILB_CPU_NONE, 7);
	}
}

static void the_tick_of_another_cpu_does_not_matter(void **state)
{
	struct run *run = *state;

	FEED(run, TICK(50, 6, 57), RAISE(60, 7, 0, 7));
	expect_kick(run, ILB_CPU_NONE, 7);
}

static void other_softirqs_are_none(void **state)
{
	struct run *run = *state;

	FEED(run, TICK(50, 6, 57), RAISE(60, 7, 0, 1), RAISE(70, 7, 0, 9));
	run_finish(run);
	assert_int_equal(run->count, 0);
}

/* Where ticks are not recorded, none can be told to be outside of one. */
static void without_ticks_a_softirq_tells_nothing(void **state)
{
	struct run *run = *state;

	FEED(run, IRQ_CALL(50, 7, 0), RAISE(60, 7, 0, 7));
	assert_null(last_kick(run));
	FEED(run, TICK(70, 6, 57), IRQ_CALL(80, 7, 0), RAISE(90, 7, 0, 7));
	expect_kick(run, ILB_CPU_NONE, 7);
}

/* Its sending was recorded as well, or was before the recording began. */
static void nor_where_the_handler_is_recorded(void **state)
{
	struct run *run = *state;

	FEED(run, TICK(50, 7, 0), CSD(60, 7, 0, ENTRY, 7, NOHZ_CSD),
	     RAISE(70, 7, 0, 7));
	assert_null(last_kick(run));
}

static void nor_where_a_probe_shows_the_handler(void **state)
{
	struct run *run = *state;

	FEED(run, TICK(50, 7, 0), PROBE(60, 7, 0, CSD, 0),
	     RAISE(70, 7, 0, 7));
	assert_null(last_kick(run));
}

static void with_calls_a_softirq_tells_nothing_more(void **state)
{
	struct run *run = *state;

	FEED(run, TICK(50, 2, 10), KICK(60, 2, 10, 7), IRQ_CALL(70, 7, 0),
	     RAISE(80, 7, 0, 7));
	assert_null(last_kick(run));
	run_finish(run);
	assert_int_equal(run->count, 1);
}

static void nor_with_the_probe(void **state)
{
	struct run *run = *state;

	FEED(run, TICK(50, 2, 10), SEND(60, 2, 10, 7), IRQ_CALL(70, 7, 0),
	     RAISE(80, 7, 0, 7));
	assert_null(last_kick(run));
	run_finish(run);
	assert_int_equal(run->count, 1);
}

static void with_the_probe_ignored_the_softirq_is_left(void **state)
{
	struct run *run = *state;

	run->setup.ignore_probes = 1;
	FEED(run, TICK(50, 2, 10), SEND(60, 2, 10, 7), IRQ_CALL(70, 7, 0),
	     RAISE(80, 7, 0, 7));
	expect_kick(run, ILB_CPU_NONE, 7);
}

/* That calls were recorded is enough, be there any or not. */
static void with_calls_recorded_a_softirq_tells_nothing(void **state)
{
	struct run *run = *state;

	run->setup.recorded = 1U << ILB_EVENT_CSD_QUEUE |
			      1U << ILB_EVENT_SOFTIRQ_RAISE;
	FEED(run, TICK(50, 2, 10), IRQ_CALL(70, 7, 0), RAISE(80, 7, 0, 7));
	assert_null(last_kick(run));
	assert_int_equal(ilb_machine_seen(run->machine, ILB_EVENT_CSD_QUEUE),
			 1);
}

/* One that was set may be disarmed. */
static void probes_count_by_appearing(void **state)
{
	struct run *run = *state;

	run->setup.recorded = ~0U & ~(1U << ILB_EVENT_CSD_QUEUE |
				      1U << ILB_EVENT_CSD_ENTRY);
	FEED(run, TICK(50, 2, 10), IRQ_CALL(70, 7, 0), RAISE(80, 7, 0, 7));
	expect_kick(run, ILB_CPU_NONE, 7);
	assert_int_equal(ilb_machine_seen(run->machine, ILB_EVENT_IDLE), 1);
	assert_int_equal(ilb_machine_seen(run->machine, ILB_EVENT_PROBE_SEND),
			 0);
}

static void targets_out_of_range_are_ignored(void **state)
{
	struct run *run = *state;

	FEED(run, SEND(40, 2, 10, 8));
	assert_null(last_kick(run));
	FEED(run, SEND(50, 2, 10, ILB_CPU_NONE));
	assert_null(last_kick(run));
	FEED(run, KICK(60, 2, 10, 8));
	assert_null(last_kick(run));
	FEED(run, KICK(70, 2, 10, ILB_CPU_NONE));
	assert_null(last_kick(run));
	run_finish(run);
	assert_int_equal(run->count, 0);
}

/* A kick is told of even if nobody takes its moment. */
static void moments_need_no_taker(void **state)
{
	struct run *run = *state;

	run->setup.moment = NULL;
	FEED(run, KICK(100, 2, 10, 7));
	expect_kick(run, 2, 7);
	run_finish(run);
	assert_int_equal(run->count, 0);
}

static void what_was_seen_is_told(void **state)
{
	struct run *run = *state;
	unsigned int type;

	FEED(run, OTHER(50, 2, 10), TICK(60, 2, 10), SEND(70, 2, 10, 7));
	for (type = 0; type < ILB_EVENT_TYPES; type++)
		assert_int_equal(ilb_machine_seen(run->machine, type),
				 type == ILB_EVENT_OTHER ||
				 type == ILB_EVENT_TICK ||
				 type == ILB_EVENT_PROBE_SEND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(a_call_of_nohz_csd_func_is_a_kick),
		RUN_TEST(other_calls_are_none),
		RUN_TEST(without_calls_the_probe_shows_the_kick),
		RUN_TEST(with_both_a_kick_counts_once),
		RUN_TEST(only_the_very_same_kick_is_dropped),
		RUN_TEST(nor_one_to_another_cpu),
		RUN_TEST(nor_one_of_the_next_tick),
		RUN_TEST(nor_one_after_a_target_out_of_range),
		RUN_TEST(a_softirq_raised_outside_of_the_tick_gives_the_target),
		RUN_TEST(one_raised_in_the_tick_does_not),
		RUN_TEST(a_tick_ends_where_something_else_begins),
		RUN_TEST(the_tick_of_another_cpu_does_not_matter),
		RUN_TEST(other_softirqs_are_none),
		RUN_TEST(without_ticks_a_softirq_tells_nothing),
		RUN_TEST(nor_where_the_handler_is_recorded),
		RUN_TEST(nor_where_a_probe_shows_the_handler),
		RUN_TEST(with_calls_a_softirq_tells_nothing_more),
		RUN_TEST(nor_with_the_probe),
		RUN_TEST(with_the_probe_ignored_the_softirq_is_left),
		RUN_TEST(with_calls_recorded_a_softirq_tells_nothing),
		RUN_TEST(probes_count_by_appearing),
		RUN_TEST(targets_out_of_range_are_ignored),
		RUN_TEST(moments_need_no_taker),
		RUN_TEST(what_was_seen_is_told),
	};

	return cmocka_run_group_tests_name("machine_kicks", tests, NULL, NULL);
}
