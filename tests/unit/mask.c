// SPDX-License-Identifier: GPL-2.0-only
/* Masks and CPU lists: every length, every border, print(parse(x)) == x. */

#include <stdio.h>
#include <string.h>

#include "ilb/error.h"
#include "ilb/mask.h"
#include "test.h"

static const unsigned int sizes[] = {
	1, 2, 63, 64, 65, 127, 128, 129, 352, 8192,
};

#define WORDS	ILB_MASK_WORDS(ILB_CPUS_MAX)

static void fill_keeps_to_its_size(void **state)
{
	unsigned long mask[WORDS];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(mask, 0xa5, sizeof(mask));
		ilb_mask_fill(mask, sizes[i]);
		assert_int_equal(ilb_mask_weight(mask, sizes[i]), sizes[i]);
		assert_int_equal(ilb_mask_weight(mask, ILB_MASK_WORDS(sizes[i]) *
					 ILB_WORD_BITS), sizes[i]);
		ilb_mask_zero(mask, sizes[i]);
		assert_true(ilb_mask_empty(mask, sizes[i]));
	}
}

static void each_bit_alone_is_found(void **state)
{
	unsigned long mask[WORDS];
	unsigned int i, cpu, from;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (cpu = 0; cpu < sizes[i]; cpu += 1 + cpu / 70) {
			ilb_mask_zero(mask, sizes[i]);
			ilb_mask_set(mask, cpu);
			assert_int_equal(ilb_mask_next(mask, sizes[i], 0), cpu);
			assert_int_equal(ilb_mask_next(mask, sizes[i], cpu),
					 cpu);
			from = ilb_mask_next(mask, sizes[i], cpu + 1);
			assert_true(from >= sizes[i]);
			ilb_mask_clear(mask, cpu);
			assert_true(ilb_mask_empty(mask, sizes[i]));
		}
	}
}

static void set_operations(void **state)
{
	unsigned long a[2] = { 0xf0, 1 }, b[2] = { 0x3c, 1 }, c[2];

	(void)state;
	ilb_mask_and(c, a, b, 65);
	assert_int_equal(c[0], 0x30);
	assert_int_equal(c[1], 1);
	assert_true(ilb_mask_subset(c, a, 65) && ilb_mask_subset(c, b, 65));
	ilb_mask_or(c, a, b, 65);
	assert_int_equal(c[0], 0xfc);
	assert_false(ilb_mask_subset(c, a, 65));
	ilb_mask_andnot(c, a, b, 65);
	assert_int_equal(c[0], 0xc0);
	assert_int_equal(c[1], 0);
	assert_int_equal(ilb_mask_next_and(a, b, 65, 6), 64);
	ilb_mask_copy(c, a, 65);
	assert_true(ilb_mask_equal(c, a, 65) && !ilb_mask_equal(c, b, 65));
}

struct list_case {
	const char *in;
	int result;
	const char *out;
};

static const struct list_case lists[] = {
	{ "", 0, "" },
	{ "\n", 0, "" },
	{ "0", 0, "0" },
	{ " 3,1-2\n", 0, "1-3" },
	{ "0-3,8,10-15", 0, "0-3,8,10-15" },
	{ "127", 0, "127" },
	{ "0-10:2/4", 0, "0-1,4-5,8-9" },
	{ "5,5,5", 0, "5" },
	{ "128", -ILB_ERR_RANGE, NULL },
	{ "0-128", -ILB_ERR_RANGE, NULL },
	{ "99999999999999999999", -ILB_ERR_RANGE, NULL },
	{ "4294967296", -ILB_ERR_RANGE, NULL },
	{ "3-1", -ILB_ERR_SYNTAX, NULL },
	{ "1,", -ILB_ERR_SYNTAX, NULL },
	{ ",1", -ILB_ERR_SYNTAX, NULL },
	{ "1 2", -ILB_ERR_SYNTAX, NULL },
	{ "1--2", -ILB_ERR_SYNTAX, NULL },
	{ "-1", -ILB_ERR_SYNTAX, NULL },
	{ "0x3", -ILB_ERR_SYNTAX, NULL },
	{ "0-9:0/4", -ILB_ERR_SYNTAX, NULL },
	{ "0-9:5/4", -ILB_ERR_SYNTAX, NULL },
	{ "0-9:1/0", -ILB_ERR_SYNTAX, NULL },
	{ "0-9:1", -ILB_ERR_SYNTAX, NULL },
	{ "all", -ILB_ERR_SYNTAX, NULL },
};

static void lists_are_read_and_written(void **state)
{
	unsigned long mask[2], again[2];
	char text[64];
	unsigned int i;
	int result;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		result = ilb_cpulist_parse(lists[i].in, mask, 128);
		if (result != lists[i].result)
			fail_msg("'%s': %d", lists[i].in, result);
		if (result)
			continue;
		assert_int_equal(ilb_cpulist_print(text, sizeof(text), mask,
						   128),
				 strlen(lists[i].out));
		assert_string_equal(text, lists[i].out);
		assert_int_equal(ilb_cpulist_parse(text, again, 128), 0);
		assert_true(ilb_mask_equal(mask, again, 128));
	}
}

static void print_is_cut_not_overrun(void **state)
{
	unsigned long mask[1] = { 0x10f };
	char text[8] = "-------";

	(void)state;
	assert_int_equal(ilb_cpulist_print(text, 4, mask, 64), 5);
	assert_string_equal(text, "0-3");
	assert_int_equal(text[4], '-');
	assert_int_equal(ilb_cpulist_print(text, 0, mask, 64), 5);
	assert_string_equal(text, "0-3");
	assert_int_equal(ilb_cpulist_print(text, 1, mask, 64), 5);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fill_keeps_to_its_size),
		cmocka_unit_test(each_bit_alone_is_found),
		cmocka_unit_test(set_operations),
		cmocka_unit_test(lists_are_read_and_written),
		cmocka_unit_test(print_is_cut_not_overrun),
	};

	return cmocka_run_group_tests_name("mask", tests, NULL, NULL);
}
