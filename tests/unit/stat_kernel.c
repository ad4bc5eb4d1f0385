// SPDX-License-Identifier: GPL-2.0-only
/* Differences of what BPF counts: cells that wrap, counters that fall back. */

#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "live/stat.h"
#include "live/stat_record.h"

static struct ilb_stat_hist before, after;
static struct ilb_hist sum;

static int clear(void **state)
{
	(void)state;
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	memset(&sum, 0, sizeof(sum));
	return 0;
}

static void intervals_add_up(void **state)
{
	(void)state;
	after.count = after.cell[3] = after.log2_us[1] = 5;
	after.sum_ns = 15;
	after.max_ns = 3;
	ilb_stat_hist_since(&sum, &after, &before);
	before = after;
	after.count = after.cell[3] = after.log2_us[1] = 7;
	after.sum_ns = 21;
	after.max_ns = 2;
	ilb_stat_hist_since(&sum, &after, &before);
	assert_int_equal(sum.count, 7);
	assert_int_equal(sum.sum_ns, 21);
	assert_int_equal(sum.cell[3], 7);
	assert_int_equal(sum.log2_us[1], 7);
	assert_int_equal(sum.max_ns, 3);
}

/* They have 32 bits. */
static void cells_wrap(void **state)
{
	(void)state;
	before.count = UINT32_MAX - 4U;
	before.cell[9] = UINT32_MAX - 4U;
	after.count = before.count + 10;
	after.cell[9] = before.cell[9] + 10U;
	assert_true(after.cell[9] < before.cell[9]);
	ilb_stat_hist_since(&sum, &after, &before);
	assert_int_equal(sum.count, 10);
	assert_int_equal(sum.cell[9], 10);
}

static void what_falls_back_counts_nothing(void **state)
{
	(void)state;
	before.count = before.sum_ns = before.log2_us[4] = 1000;
	after.count = after.sum_ns = after.log2_us[4] = 10;
	ilb_stat_hist_since(&sum, &after, &before);
	assert_int_equal(sum.count, 0);
	assert_int_equal(sum.sum_ns, 0);
	assert_int_equal(sum.log2_us[4], 0);
}

#define TEST(f)	cmocka_unit_test_setup(f, clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(intervals_add_up),
		TEST(cells_wrap),
		TEST(what_falls_back_counts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
