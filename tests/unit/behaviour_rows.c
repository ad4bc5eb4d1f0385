// SPDX-License-Identifier: GPL-2.0-only
/* Kernels as rows: which release gets which, and what is in it. */

#include <string.h>

#include "ilb/behaviour.h"
#include "ilb/error.h"
#include "ilb/target.h"
#include "test.h"

struct find_case {
	const char *text;
	int result;
	const char *name;
};

static const struct find_case finds[] = {
	{ "linux-6.1", 0, "linux-6.1" },
	{ "linux-6.12", 0, "linux-6.12" },
	{ "linux-7.2", 0, "linux-7.2" },
	{ "linux-7.3", 0, "linux-7.3" },
	{ "6.1.0-50-cloud-amd64", 0, "linux-6.1" },
	{ "6.12.95+deb12-cloud-amd64", 0, "linux-6.12" },
	{ "7.2.12+deb13-cloud-amd64", 0, "linux-7.2" },
	{ "7.3.4+deb13-cloud-amd64", 0, "linux-7.3" },
	{ "6.12", 0, "linux-6.12" },
	{ "7.3.0_1", 0, "linux-7.3" },
	{ "6.6.30", 1, "linux-6.1" },
	{ "6.18.44-fc-v782", 1, "linux-6.12" },
	{ "6.19.0", 1, "linux-6.12" },
	{ "7.0.3", 1, "linux-7.2" },
	{ "7.1", 1, "linux-7.2" },
	{ "linux-7.1", 1, "linux-7.2" },
	{ "7.4.0", 1, "linux-7.3" },
	{ "8.0", 1, "linux-7.3" },
	{ "999.999", 1, "linux-7.3" },
	{ "7.3.0-rc4", 1, "linux-7.3" },
	{ "7.3~rc1", 1, "linux-7.3" },
	{ "6.0.12", -ILB_ERR_UNSUPPORTED, NULL },
	{ "5.14.0-427.el9.x86_64", -ILB_ERR_UNSUPPORTED, NULL },
	{ "", -ILB_ERR_SYNTAX, NULL },
	{ "linux", -ILB_ERR_SYNTAX, NULL },
	{ "linux-", -ILB_ERR_SYNTAX, NULL },
	{ "linux-next", -ILB_ERR_SYNTAX, NULL },
	{ "6", -ILB_ERR_SYNTAX, NULL },
	{ "6.", -ILB_ERR_SYNTAX, NULL },
	{ ".12", -ILB_ERR_SYNTAX, NULL },
	{ "6.x", -ILB_ERR_SYNTAX, NULL },
	{ "6.12x", -ILB_ERR_SYNTAX, NULL },
	{ "-6.12", -ILB_ERR_SYNTAX, NULL },
	{ "6.1000", -ILB_ERR_SYNTAX, NULL },
	{ "4294967302.1", -ILB_ERR_SYNTAX, NULL },
};

static void releases_find_their_row(void **state)
{
	const struct ilb_behaviour *row;
	unsigned int i;
	int result;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(finds); i++) {
		row = NULL;
		result = ilb_behaviour_find(finds[i].text, &row);
		if (result != finds[i].result)
			fail_msg("'%s': %d", finds[i].text, result);
		if (result < 0)
			assert_null(row);
		else if (strcmp(row->name, finds[i].name))
			fail_msg("'%s': %s", finds[i].text, row->name);
	}
}

static void rows_are_complete_and_in_order(void **state)
{
	const struct ilb_behaviour *row, *found;
	struct ilb_policy policy;
	unsigned int last = 0;

	(void)state;
	for (row = ilb_behaviours; row->name; row++) {
		assert_true(row->release > last);
		last = row->release;
		assert_non_null(row->summary);
		assert_int_equal(ilb_policy_parse(&policy, row->target, 1), 0);
		assert_int_equal(ilb_behaviour_find(row->name, &found), 0);
		assert_ptr_equal(found, row);
	}
	assert_int_equal(row - ilb_behaviours, 4);
}

/* Reference table: value per row, in the order of the rows. */
struct expected_feature {
	const char *name;
	unsigned int rows[4];
};

static const struct expected_feature expected[] = {
	{ "mask-size", { 0, 0, 1, 1 } },
	{ "kick-order", { 0, 0, 1, 1 } },
	{ "capacity-gate", { 0, 0, 1, 1 } },
	{ "packing-idle-core", { 0, 1, 1, 1 } },
	{ "pending-test", { 0, 1, 1, 1 } },
	{ "housekeeping", { 0, 0, 1, 1 } },
	{ "registration", { 0, 0, 0, 0 } },
	{ "stop-after-idle-tick", { 1, 1, 1, 1 } },
	{ "designate-idle-core", { 0, 1, 1, 1 } },
	{ "smt-groups", { 0, 1, 1, 1 } },
	{ "serialize", { 0, 0, 1, 1 } },
	{ "wake-idle-core", { 0, 0, 1, 1 } },
	{ "misfit-idle-core", { 0, 0, 1, 1 } },
	{ "asym-sibling", { 0, 0, 1, 1 } },
	{ "newidle-rate", { 0, 0, 0, 1 } },
	{ "next-kick", { 1, 1, 1, 1 } },
	{ "dropped-kick", { 1, 1, 1, 1 } },
	{ "full-tick-stop", { 1, 1, 1, 1 } },
	{ "cache-balance", { 0, 0, 0, 1 } },
};

static unsigned int value_of(const struct ilb_behaviour *behaviour,
			     const struct ilb_feature *feature)
{
	unsigned int value;

	memcpy(&value, (const char *)behaviour + feature->offset,
	       sizeof(value));
	return value;
}

static void rows_have_the_studied_features(void **state)
{
	static const char *const targets[] = {
		"lowest", "lowest", "lowest", "idle-core",
	};
	unsigned int i, row;

	(void)state;
	for (row = 0; row < 4; row++)
		assert_string_equal(ilb_behaviours[row].target, targets[row]);
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_non_null(ilb_features[i].name);
		assert_string_equal(ilb_features[i].name, expected[i].name);
		for (row = 0; row < 4; row++)
			if (value_of(&ilb_behaviours[row], &ilb_features[i]) !=
			    expected[i].rows[row])
				fail_msg("%s of %s", expected[i].name,
					 ilb_behaviours[row].name);
	}
	assert_null(ilb_features[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases_find_their_row),
		cmocka_unit_test(rows_are_complete_and_in_order),
		cmocka_unit_test(rows_have_the_studied_features),
	};

	return cmocka_run_group_tests_name("behaviour_rows", tests, NULL, NULL);
}
