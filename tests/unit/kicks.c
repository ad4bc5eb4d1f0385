// SPDX-License-Identifier: GPL-2.0-only
/* What is counted of kicks, from hand-made moments alone. */

#include "fixture.h"

struct hand_made {
	unsigned int kicker, target;
	unsigned long mask, idle, housekeeping;
	int assumed;
};

#define ALL	0xffUL

static void count(struct fixture *f, const struct hand_made *h)
{
	const struct ilb_moment moment = {
		.time_ns = US(100),
		.kicker = h->kicker,
		.target = h->target,
		.assumed = h->assumed,
		.mask = &h->mask,
		.idle = &h->idle,
		.housekeeping = &h->housekeeping,
	};

	ilb_meter_moment(f->meter, &moment);
}

static struct ilb_kicks *measure(struct fixture *f,
				 const struct hand_made *moments,
				 unsigned int nr)
{
	static const struct ilb_event none[1];
	unsigned int i;

	fixture_restart(f);
	fixture_feed(f, none, 0);
	for (i = 0; i < nr; i++)
		count(f, &moments[i]);
	return &fixture_finish(f)->kicks;
}

#define KICKS(f, moments)	measure((f), (moments), ARRAY_SIZE(moments))

/* CPU 0 runs a task and kicks its sibling, as every other CPU idles. */
static const struct hand_made beside_a_task = {
	.kicker = 0, .target = 1, .mask = 0xfe, .idle = 0xfe,
	.housekeeping = ALL,
};

static void beside_a_task_though_a_core_was_idle(void **state)
{
	struct ilb_kicks *k = measure(*state, &beside_a_task, 1);

	assert_int_equal(k->total, 1);
	assert_int_equal(k->on_busy_core, 1);
	assert_int_equal(k->avoidable, 1);
	assert_int_equal(k->fallback, 0);
	assert_int_equal(k->idle_cores_woken, 0);
	assert_int_equal(k->same_core, 1);
	assert_int_equal(k->same_llc, 1);
	assert_int_equal(k->same_node, 1);
	assert_int_equal(k->by_target[1], 1);
	assert_int_equal(k->by_kicker[0], 1);
	assert_int_equal(k->kicker_unknown, 0);
	assert_int_equal(k->assumed, 0);
}

/* Each is the moment above, but for one thing that leaves it unavoidable. */
static void unavoidable_without_a_core_that_qualifies(void **state)
{
	static const struct hand_made moments[] = {
		/* no other core is idle */
		{ 0, 1, 0xfe, 0xaa, ALL, 0 },
		/* the idle cores are not in the mask */
		{ 0, 1, 0x02, 0xfe, ALL, 0 },
		/* nor housekeeping */
		{ 0, 1, 0xfe, 0xfe, 0x03, 0 },
		/* of each idle core one CPU qualifies: avoidable */
		{ 0, 1, 0x56, 0xfe, ALL, 0 },
		{ 0, 1, 0xfe, 0xfe, 0x57, 0 },
	};
	struct ilb_kicks *k;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(moments); i++) {
		k = measure(*state, &moments[i], 1);
		assert_int_equal(k->on_busy_core, 1);
		assert_int_equal(k->avoidable, i > 2);
		assert_int_equal(k->fallback, i <= 2);
	}
}

static void a_whole_core_is_no_busy_core(void **state)
{
	static const struct hand_made moments[] = {
		{ 0, 2, 0xfe, 0xfe, ALL, 0 },
		{ 0, 7, 0xfe, 0xfe, ALL, 0 },
	};
	struct ilb_kicks *k = KICKS(*state, moments);

	assert_int_equal(k->total, 2);
	assert_int_equal(k->on_busy_core, 0);
	assert_int_equal(k->avoidable, 0);
	assert_int_equal(k->idle_cores_woken, 2);
	assert_int_equal(k->same_core, 0);
	assert_int_equal(k->same_llc, 1);
	assert_int_equal(k->same_node, 2);
}

static void of_four_threads_one_busy_is_enough(void **state)
{
	static const struct hand_made moments[] = {
		{ 4, 0, 0xff, 0xe7, ALL, 0 },	/* 3 is busy */
		{ 4, 0, 0xff, 0xef, ALL, 0 },	/* none is */
	};
	struct fixture *f = *state;
	struct ilb_kicks *k;

	fixture_shape(f, 8, 4, 8);
	k = KICKS(f, moments);
	assert_int_equal(k->on_busy_core, 1);
	assert_int_equal(k->avoidable, 0);
	assert_int_equal(k->idle_cores_woken, 1);
	assert_int_equal(k->fallback, 1);
}

static void without_smt_every_core_is_whole(void **state)
{
	struct fixture *f = *state;
	struct ilb_kicks *k;

	fixture_shape(f, 8, 1, 8);
	k = measure(f, &beside_a_task, 1);
	assert_int_equal(k->on_busy_core, 0);
	assert_int_equal(k->fallback, 0);
	assert_int_equal(k->idle_cores_woken, 1);
	assert_int_equal(k->same_core, 0);
}

static void nodes_are_counted(void **state)
{
	struct fixture *f = *state;
	unsigned int cpu;
	struct ilb_kicks *k;
	static const struct hand_made moments[] = {
		{ 0, 6, 0xfe, 0xfe, ALL, 0 }, { 0, 3, 0xfe, 0xfe, ALL, 0 },
	};

	for (cpu = 4; cpu < 8; cpu++)
		f->node[cpu] = 4;
	k = KICKS(f, moments);
	assert_int_equal(k->same_node, 1);
	assert_int_equal(k->same_llc, 1);
}

static void an_unknown_kicker_has_no_place(void **state)
{
	static const struct hand_made moment = {
		NOBODY, 1, 0xfe, 0xfe, ALL, 1,
	};
	struct ilb_kicks *k = measure(*state, &moment, 1);
	unsigned int cpu;

	assert_int_equal(k->total, 1);
	assert_int_equal(k->on_busy_core, 1);
	assert_int_equal(k->avoidable, 1);
	assert_int_equal(k->kicker_unknown, 1);
	assert_int_equal(k->assumed, 1);
	assert_int_equal(k->same_core + k->same_llc + k->same_node, 0);
	for (cpu = 0; cpu < 8; cpu++)
		assert_int_equal(k->by_kicker[cpu], 0);
}

static void nobody_to_kick_is_no_kick(void **state)
{
	static const struct hand_made moments[] = {
		{ 0, NOBODY, 0, 0xfe, ALL, 0 },
		{ 0, 1, 0xfe, 0xfe, ALL, 0 },
	};
	struct ilb_kicks *k = KICKS(*state, moments);

	assert_int_equal(k->no_target, 1);
	assert_int_equal(k->total, 1);
	assert_int_equal(k->by_kicker[0], 1);
}

static void who_and_whom(void **state)
{
	static const struct hand_made moments[] = {
		{ 0, 1, 0xfe, 0xfe, ALL, 0 }, { 0, 1, 0xfe, 0xfe, ALL, 0 },
		{ 4, 1, 0xee, 0xee, ALL, 0 }, { 4, 7, 0xee, 0xee, ALL, 0 },
	};
	static const unsigned int target[8] = { 0, 3, 0, 0, 0, 0, 0, 1 };
	static const unsigned int kicker[8] = { 2, 0, 0, 0, 2, 0, 0, 0 };
	struct ilb_kicks *k = KICKS(*state, moments);
	unsigned int cpu;

	for (cpu = 0; cpu < 8; cpu++) {
		assert_int_equal(k->by_target[cpu], target[cpu]);
		assert_int_equal(k->by_kicker[cpu], kicker[cpu]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(beside_a_task_though_a_core_was_idle),
		FIXTURE_TEST(unavoidable_without_a_core_that_qualifies),
		FIXTURE_TEST(a_whole_core_is_no_busy_core),
		FIXTURE_TEST(of_four_threads_one_busy_is_enough),
		FIXTURE_TEST(without_smt_every_core_is_whole),
		FIXTURE_TEST(nodes_are_counted),
		FIXTURE_TEST(an_unknown_kicker_has_no_place),
		FIXTURE_TEST(nobody_to_kick_is_no_kick),
		FIXTURE_TEST(who_and_whom),
	};

	return cmocka_run_group_tests_name("kicks", tests, NULL, NULL);
}
