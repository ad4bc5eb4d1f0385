// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statistics of a trial: against printed tables, a case worked by hand,
 * and a simulation that knows the truth.
 */

#include <math.h>
#include <string.h>

#include "ilb/fix.h"
#include "sim/random.h"
#include "test.h"

#define near(a, b, by)	assert_true(fabs((a) - (b)) <= (by))

/* Two-sided 5 % and 1 % points, from printed tables of Student's t. */
static void quantiles(void **state)
{
	static const struct {
		unsigned int freedom;
		double t95, t99;
	} table[] = {
		{ 1, 12.706, 63.657 }, { 2, 4.303, 9.925 },
		{ 3, 3.182, 5.841 }, { 4, 2.776, 4.604 },
		{ 5, 2.571, 4.032 }, { 7, 2.365, 3.499 },
		{ 10, 2.228, 3.169 }, { 19, 2.093, 2.861 },
		{ 30, 2.042, 2.750 }, { 120, 1.980, 2.617 },
		{ 999, 1.962, 2.581 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		near(ilb_student_quantile(0.95, table[i].freedom),
		     table[i].t95, 0.0006);
		near(ilb_student_quantile(0.99, table[i].freedom),
		     table[i].t99, 0.0006);
	}
}

/*
 * Ratios 2, 4, 2, 4: logarithms to base 2 are 1, 2, 1, 2: mean 1.5, standard
 * deviation sqrt(1/3), error of the mean sqrt(1/12) = 0.288675, times 3.182446
 * is 0.918693; so 2^1.5 and 2^(1.5 -+ 0.918693). Sums as far from 0 as 6: all
 * signs alike, 2 of 16.
 */
static void by_hand(void **state)
{
	const double off[] = { 2, 8, 6, 4 }, on[] = { 1, 2, 3, 1 };
	struct ilb_trial_result r;

	(void)state;
	assert_int_equal(ilb_trial_judge(&r, off, on, 4, 1), 0);
	near(r.ratio, 2.8284271, 1e-6);
	near(r.low, exp2(0.581307), 1e-5);
	near(r.high, exp2(2.418693), 1e-5);
	near(r.on_s, pow(6, 0.25), 1e-9);
	near(r.off_s, pow(384, 0.25), 1e-9);
	near(r.p, 0.125, 1e-12);
	/* The interval leaves 1 out, but four pairs cannot carry it. */
	assert_true(r.low > 1);
	assert_false(r.supported);
}

static void six_pairs_can(void **state)
{
	const double off[] = { 2.0, 2.1, 1.9, 2.05, 1.95, 2.0 };
	const double on[] = { 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 };
	struct ilb_trial_result r;

	(void)state;
	assert_int_equal(ilb_trial_judge(&r, off, on, 6, 1), 0);
	near(r.p, 2.0 / 64, 1e-12);
	assert_true(r.supported && r.ratio > 1);
	/* The other way round, it is the other way round. */
	assert_int_equal(ilb_trial_judge(&r, on, off, 6, 1), 0);
	near(r.p, 2.0 / 64, 1e-12);
	assert_true(r.supported && r.high < 1);
}

static void no_difference(void **state)
{
	const double off[] = { 1, 2, 1, 2, 1, 2, 1, 2 };
	const double on[] = { 2, 1, 2, 1, 2, 1, 2, 1 };
	struct ilb_trial_result r;

	(void)state;
	assert_int_equal(ilb_trial_judge(&r, off, on, 8, 1), 0);
	near(r.ratio, 1, 1e-12);
	near(r.p, 1, 1e-12);
	assert_true(r.low < 1 && r.high > 1 && !r.supported);
}

/* Drawn beyond 20 pairs, counted up to there: about the same. */
static void drawn_agrees_with_counted(void **state)
{
	double off[40], on[40];
	struct ilb_trial_result counted, drawn;
	struct ilb_random random = { .state = 7 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 20; i++) {
		on[i] = 1;
		off[i] = 1 + ((int)ilb_random_below(&random, 1000) - 400) /
			     3000.0;
	}
	/* A pair that is equal adds nothing to any sum. */
	off[20] = on[20] = 1;
	assert_int_equal(ilb_trial_judge(&counted, off, on, 20, 1), 0);
	assert_int_equal(ilb_trial_judge(&drawn, off, on, 21, 1), 0);
	assert_true(counted.p > 0.001 && counted.p < 0.999);
	near(counted.p, drawn.p, 0.008);
}

static double normal(struct ilb_random *random)
{
	double sum = 0;
	int i;

	for (i = 0; i < 12; i++)
		sum += ilb_random_below(random, 1U << 30) / (double)(1U << 30);
	return sum - 6;
}

/*
 * A thousand trials whose truth is known, 1.1, under noise and a drift that
 * both runs of a pair share: the interval has to hold it in 95 % of them, and
 * where the truth is 1, at most 5 % may be taken for a difference.
 */
static void coverage(void **state)
{
	struct ilb_random random = { .state = 42 };
	struct ilb_trial_result r;
	double off[8], on[8], drift;
	unsigned int trial, i, held = 0, wrong = 0;

	(void)state;
	for (trial = 0; trial < 2000; trial++) {
		for (i = 0; i < 8; i++) {
			drift = exp(0.2 * i + 0.3 * normal(&random));
			on[i] = drift * exp(0.05 * normal(&random));
			off[i] = drift * exp(0.05 * normal(&random)) *
				 (trial % 2 ? 1.1 : 1);
		}
		assert_int_equal(ilb_trial_judge(&r, off, on, 8, trial), 0);
		if (trial % 2)
			held += r.low <= 1.1 && r.high >= 1.1;
		else
			wrong += r.supported;
	}
	/* Three standard deviations, sqrt(1000 * .95 * .05) = 6.9. */
	assert_in_range(held, 929, 971);
	assert_in_range(wrong, 10, 71);
}

static void ranges(void **state)
{
	const double some[] = { 1, 0, 1 };
	struct ilb_trial_result r;

	(void)state;
	assert_int_equal(ilb_trial_judge(&r, some, some, 1, 1),
			 -ILB_ERR_RANGE);
	assert_int_equal(ilb_trial_judge(&r, some, some, 3, 1),
			 -ILB_ERR_RANGE);
	assert_int_equal(ilb_trial_judge(&r, some, some, ILB_TRIAL_MAX + 1, 1),
			 -ILB_ERR_RANGE);
}

/* Seeded, and a fair coin: of 1000 flips three standard deviations are 47. */
static void order(void **state)
{
	unsigned char a[1000], b[1000], c[1000];
	unsigned int i, first = 0, changes = 0;

	(void)state;
	ilb_trial_order(a, 1000, 1);
	ilb_trial_order(b, 1000, 1);
	ilb_trial_order(c, 1000, 2);
	assert_memory_equal(a, b, sizeof(a));
	assert_memory_not_equal(a, c, sizeof(a));
	for (i = 0; i < 1000; i++) {
		assert_in_range(a[i], 0, 1);
		first += a[i];
		changes += i && a[i] != a[i - 1];
	}
	assert_in_range(first, 453, 547);
	assert_in_range(changes, 453, 547);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(six_pairs_can),
		cmocka_unit_test(no_difference),
		cmocka_unit_test(drawn_agrees_with_counted),
		cmocka_unit_test(coverage),
		cmocka_unit_test(ranges),
		cmocka_unit_test(order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
