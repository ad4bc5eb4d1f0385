// SPDX-License-Identifier: GPL-2.0-only
/* Histograms: against a sorted array, at every border, and when full. */

#include <stdlib.h>
#include <string.h>

#include "ilb/hist.h"
#include "test.h"

#define VALUES	5000

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* xorshift: the same values on every machine. */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void check_percentiles(const struct ilb_hist *hist,
			      const uint64_t *sorted, unsigned int nr)
{
	uint64_t want, got, off;
	unsigned int percent, rank;

	for (percent = 0; percent <= 100; percent++) {
		rank = (nr * percent + 99) / 100;
		want = sorted[rank ? rank - 1 : 0];
		got = ilb_hist_percentile(hist, percent);
		off = got > want ? got - want : want - got;
		if (off > want / 16)
			fail_msg("p%u of %u: %llu, not %llu", percent, nr,
				 (unsigned long long)got,
				 (unsigned long long)want);
	}
}

static void percentiles_are_those_of_a_sorted_array(void **state)
{
	static uint64_t values[VALUES];
	static const unsigned int numbers[] = { 1, 2, 3, 10, 99, 100, VALUES };
	struct ilb_hist hist;
	uint64_t seed = 42, sum;
	unsigned int i, n;

	(void)state;
	for (n = 0; n < ARRAY_SIZE(numbers); n++) {
		memset(&hist, 0, sizeof(hist));
		sum = 0;
		for (i = 0; i < numbers[n]; i++) {
			values[i] = next_random(&seed);
			values[i] >>= 10 + values[i] % 54;
			sum += values[i];
			ilb_hist_add(&hist, values[i]);
		}
		qsort(values, numbers[n], sizeof(*values), by_value);
		assert_true(hist.count == numbers[n]);
		assert_true(hist.sum_ns == sum);
		assert_true(hist.max_ns == values[numbers[n] - 1]);
		check_percentiles(&hist, values, numbers[n]);
	}
}

/* The middle of a cell can be above the only value in it: never above max. */
static void one_value_is_its_own_percentile(void **state)
{
	struct ilb_hist hist;
	unsigned int bit;
	uint64_t value;

	(void)state;
	for (bit = 0; bit < 64; bit++) {
		for (value = (1ULL << bit) - 1; value <= (1ULL << bit);
		     value++) {
			memset(&hist, 0, sizeof(hist));
			ilb_hist_add(&hist, value);
			assert_true(ilb_hist_percentile(&hist, 100) == value);
			check_percentiles(&hist, &value, 1);
			assert_true(ilb_hist_percentile(&hist, 50) <= value);
		}
	}
}

static void small_values_are_exact(void **state)
{
	struct ilb_hist hist = { 0 };
	uint64_t value;

	(void)state;
	for (value = 0; value < 20; value++)
		ilb_hist_add(&hist, value);
	for (value = 0; value < 20; value++)
		assert_true(ilb_hist_percentile(&hist,
						(unsigned int)value * 5 + 5) ==
			    value);
}

static unsigned int slow_bucket(uint64_t ns)
{
	unsigned int bucket = 0;
	uint64_t lt = 1;

	while (ns / 1000 >= lt && bucket < ILB_HIST_LOG2 - 1) {
		bucket++;
		lt *= 2;
	}
	return bucket;
}

static void log2_buckets_are_in_microseconds(void **state)
{
	struct ilb_hist hist;
	uint64_t ns, limit;
	unsigned int bit;

	(void)state;
	for (bit = 0; bit < 54; bit++) {
		limit = (1ULL << bit) * 1000;
		for (ns = limit - 1; ns <= limit; ns++) {
			memset(&hist, 0, sizeof(hist));
			ilb_hist_add(&hist, ns);
			assert_true(hist.log2_us[slow_bucket(ns)] == 1);
		}
	}
	memset(&hist, 0, sizeof(hist));
	ilb_hist_add(&hist, 0);
	ilb_hist_add(&hist, 999);
	assert_true(hist.log2_us[0] == 2);
}

static void counts_saturate(void **state)
{
	struct ilb_hist hist = { 0 };
	unsigned int i;

	(void)state;
	ilb_hist_add(&hist, 1000);
	hist.count = hist.sum_ns = hist.log2_us[1] = UINT64_MAX - 1;
	memset(hist.cell, 0xff, sizeof(hist.cell));
	ilb_hist_add(&hist, 1000);
	ilb_hist_add(&hist, 1000);
	assert_true(hist.count == UINT64_MAX);
	assert_true(hist.sum_ns == UINT64_MAX);
	assert_true(hist.log2_us[1] == UINT64_MAX);
	assert_true(hist.log2_us[0] == 0 && hist.log2_us[2] == 0);
	for (i = 0; i < ILB_HIST_CELLS; i++)
		assert_true(hist.cell[i] == UINT32_MAX);
	hist.max_ns = UINT64_MAX;
	assert_true(ilb_hist_percentile(&hist, 0) == 0);
	assert_true(ilb_hist_percentile(&hist, 99) > UINT64_MAX / 4);
}

static void the_largest_value_has_a_place(void **state)
{
	struct ilb_hist hist = { 0 };

	(void)state;
	ilb_hist_add(&hist, UINT64_MAX);
	assert_true(hist.cell[ILB_HIST_CELLS - 1] == 1);
	assert_true(hist.log2_us[ILB_HIST_LOG2 - 1] == 1);
	assert_true(hist.max_ns == UINT64_MAX && hist.sum_ns == UINT64_MAX);
	assert_true(ilb_hist_percentile(&hist, 50) >
		    UINT64_MAX - UINT64_MAX / 16);
}

static void empty_is_zero(void **state)
{
	static const struct ilb_hist hist;

	(void)state;
	assert_true(ilb_hist_percentile(&hist, 0) == 0);
	assert_true(ilb_hist_percentile(&hist, 50) == 0);
	assert_true(ilb_hist_percentile(&hist, 100) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_those_of_a_sorted_array),
		cmocka_unit_test(one_value_is_its_own_percentile),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(log2_buckets_are_in_microseconds),
		cmocka_unit_test(counts_saturate),
		cmocka_unit_test(the_largest_value_has_a_place),
		cmocka_unit_test(empty_is_zero),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
