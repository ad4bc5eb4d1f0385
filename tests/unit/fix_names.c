// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words of the module. docs/fix.md is the oracle of its errnos, and of its
 * counters: what it lists must have words here.
 */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ilb/fix.h"
#include "test.h"

#define DOCUMENT	ILB_GOLDEN "/../../docs/fix.md"

/* By name, as strerrorname_np() the other way round. */
static int number_of(const char *name)
{
	const char *known;
	int number;

	for (number = 1; number < 200; number++) {
		known = strerrorname_np(number);
		if (known && !strcmp(known, name))
			return number;
	}
	return 0;
}

/* Each name in the first column of the table of errors. */
static unsigned int check_row(char *line)
{
	const struct ilb_fix_refusal *r;
	char *name, *end;
	unsigned int count = 0;

	*strchr(line + 1, '|') = '\0';
	for (name = strtok_r(line, "|, ", &end); name;
	     name = strtok_r(NULL, "|, ", &end)) {
		r = ilb_fix_refusal_find(number_of(name));
		if (!r->number)
			fail_msg("%s has no words", name);
		assert_true(*r->reason && *r->remedy);
		count++;
	}
	return count;
}

static void errnos(void **state)
{
	FILE *file = fopen(DOCUMENT, "r");
	char line[1000];
	unsigned int count = 0;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "| E", 3) && isalnum((unsigned char)line[3]))
			count += check_row(line);
	fclose(file);
	assert_int_equal(count, 18);
}

/* One line each, without a newline; distinct. */
static void distinct(void **state)
{
	const struct ilb_fix_refusal *a, *b;
	int i, j;

	(void)state;
	for (i = 1; i < 200; i++) {
		a = ilb_fix_refusal_find(i);
		assert_null(strpbrk(a->reason, "\n;"));
		assert_null(strchr(a->remedy, '\n'));
		assert_true(!a->number || a->number == i);
		for (j = 1; j < i; j++) {
			b = ilb_fix_refusal_find(j);
			if (a->number && b->number)
				assert_string_not_equal(a->reason, b->reason);
		}
	}
	assert_int_equal(ilb_fix_refusal_find(EDEADLK)->number, 0);
}

static void counters(void **state)
{
	FILE *file = fopen(DOCUMENT, "r");
	char line[1000], cell[40];
	unsigned int i = 0;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (!ilb_fix_counter_name(i))
			break;
		snprintf(cell, sizeof(cell), "| `%s` |",
			 ilb_fix_counter_name(i));
		i += !strncmp(line, cell, strlen(cell));
	}
	fclose(file);
	assert_int_equal(i, ILB_FIX_COUNTERS);
	assert_null(ilb_fix_counter_name(ILB_FIX_COUNTERS));
}

static void repairs(void **state)
{
	(void)state;
	assert_int_equal(ilb_repair_parse("idle-core"), ILB_REPAIR_IDLE_CORE);
	assert_int_equal(ilb_repair_parse("nohz-full"), ILB_REPAIR_NOHZ_FULL);
	assert_int_equal(ilb_repair_parse("idle_core"), 0);
	assert_int_equal(ilb_repair_parse(""), 0);
	assert_string_equal(ilb_repair_name(ILB_REPAIR_NOHZ_FULL),
			    "nohz-full");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errnos),
		cmocka_unit_test(distinct),
		cmocka_unit_test(counters),
		cmocka_unit_test(repairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
