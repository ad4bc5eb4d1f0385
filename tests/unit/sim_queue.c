// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of timers: time, then CPU, then who was armed first. Against a
 * plain list that is searched whole, with random arming, moving, cancelling.
 */

#include <stdlib.h>
#include <string.h>

#include "sim/queue.h"
#include "sim/random.h"
#include "tests/unit/test.h"

#define TIMERS	97U
#define ROUNDS	200000U

struct oracle {
	int armed;
	uint64_t time, armings;
	unsigned int cpu;
};

static int earlier(const struct oracle *a, const struct oracle *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	return a->armings < b->armings;
}

static unsigned int first(const struct oracle *o)
{
	unsigned int i, best = ILB_TIMER_NONE;

	for (i = 0; i < TIMERS; i++)
		if (o[i].armed &&
		    (best == ILB_TIMER_NONE || earlier(&o[i], &o[best])))
			best = i;
	return best;
}

static void arm(struct ilb_queue *q, struct oracle *o, unsigned int id,
		unsigned int cpu, uint64_t time)
{
	static uint64_t armings;

	ilb_queue_arm(q, id, cpu, time);
	o[id] = (struct oracle){ 1, time, armings++, cpu };
}

/* One step of the machine: the next timer, which arms some and cancels one. */
static void step(struct ilb_queue *q, struct oracle *o, struct ilb_random *r)
{
	unsigned int id, want = first(o), i, nr = ilb_random_below(r, 4);
	uint64_t time = 0;

	id = ilb_queue_next(q, &time);
	assert_int_equal(id, want);
	if (id == ILB_TIMER_NONE) {
		arm(q, o, ilb_random_below(r, TIMERS), 0, time);
		return;
	}
	assert_true(time == o[id].time);
	o[id].armed = 0;
	assert_false(ilb_queue_armed(q, id));
	for (i = 0; i < nr; i++)
		arm(q, o, ilb_random_below(r, TIMERS),
		    ilb_random_below(r, 5), time + ilb_random_below(r, 3));
	i = ilb_random_below(r, TIMERS);
	ilb_queue_cancel(q, i);
	o[i].armed = 0;
	for (i = 0; i < TIMERS; i++)
		assert_int_equal(ilb_queue_armed(q, i), o[i].armed);
}

static void test_order(void **state)
{
	struct ilb_random random = { 7 };
	struct oracle o[TIMERS] = { { 0 } };
	struct ilb_queue q;
	unsigned int i;

	(void)state;
	assert_int_equal(ilb_queue_init(&q, TIMERS), 0);
	for (i = 0; i < ROUNDS; i++)
		step(&q, o, &random);
	ilb_queue_free(&q);
}

static void test_ties(void **state)
{
	struct ilb_queue q;
	uint64_t time;

	(void)state;
	assert_int_equal(ilb_queue_init(&q, 4), 0);
	ilb_queue_arm(&q, 0, 2, 10);
	ilb_queue_arm(&q, 1, 1, 10);
	ilb_queue_arm(&q, 2, 1, 10);
	ilb_queue_arm(&q, 3, 9, 9);
	/* Armed again: behind the other of its CPU. */
	ilb_queue_arm(&q, 1, 1, 10);
	assert_int_equal(ilb_queue_next(&q, &time), 3);
	assert_int_equal(ilb_queue_next(&q, &time), 2);
	assert_int_equal(ilb_queue_next(&q, &time), 1);
	assert_int_equal(ilb_queue_next(&q, &time), 0);
	assert_true(time == 10);
	assert_int_equal(ilb_queue_next(&q, &time), ILB_TIMER_NONE);
	ilb_queue_free(&q);
}

static void test_random(void **state)
{
	struct ilb_random random = { 0 };
	unsigned int i, seen = 0;

	(void)state;
	/* The generator's first number for seed 0, from its definition. */
	assert_true(ilb_random_next(&random) == 0xe220a8397b1dcdafULL);
	for (i = 0; i < 1000; i++) {
		unsigned int n = ilb_random_below(&random, 7);

		assert_in_range(n, 0, 6);
		seen |= 1U << n;
	}
	assert_int_equal(seen, 0x7f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("sim_queue", tests, NULL, NULL);
}
