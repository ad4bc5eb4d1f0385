// SPDX-License-Identifier: GPL-2.0-only
/* The text of replay: which rule, what the others would do, the caveat. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_samples.h"
#include "test.h"

static struct sample sample;

static char *text_of(unsigned int width)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(ilb_report_text(out, &sample.report, width, 0), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static int says(const char *what)
{
	char *text = text_of(0), *from, *to = text;
	int found;

	for (from = text; *from; from++) {
		if (*from != ' ' && *from != '\n')
			*to++ = *from;
		else if (to == text || to[-1] != ' ')
			*to++ = ' ';
	}
	*to = '\0';
	found = strstr(text, what) != NULL;
	free(text);
	return found;
}

static void make(const char *name)
{
	assert_int_equal(sample_make(&sample, name), 0);
}

static void names_the_rule(void **state)
{
	(void)state;
	make("replay");
	assert_true(says("This kernel behaves like idle-core: agrees in 2186"
			 " of 2205 kicks (99.1 %), 1149 of 1160 decisive. With"
			 " the same choices: idle-core-v1. Policies"));
	sample.policies[2].agree_decisive--;
	assert_false(says("With the same choices"));
}

static void a_poor_match_explains_nothing(void **state)
{
	(void)state;
	make("replay");
	sample.policies[1].agree_decisive = 1043;
	sample.policies[2].agree_decisive = 1043;
	assert_true(says("No policy listed explains this kernel's choices; the"
			 " nearest, idle-core, agrees in 2186 of 2205"));
	sample.policies[1].agree_decisive = 1044;
	assert_true(says("This kernel behaves like idle-core"));
}

static void what_cannot_be_told_apart(void **state)
{
	unsigned int i;

	(void)state;
	make("replay");
	sample.report.best = -1;
	assert_true(says("Several policies agree equally often with this"
			 " kernel, but differ among themselves: idle-core,"
			 " idle-core-v1. Policies"));
	for (i = 0; i < SAMPLE_POLICIES; i++) {
		sample.policies[i].decisive = 0;
		sample.policies[i].decisive_scored = 0;
		sample.policies[i].agree_decisive = 0;
	}
	sample.report.best = 0;
	assert_true(says("Which rule this kernel follows cannot be told here"));
}

static void unknown_kickers(void **state)
{
	(void)state;
	make("no-kicker");
	assert_true(says("is unknown: the trace does not say who kicked"));
	assert_true(says("lowest unknown unknown 1164 1160 4 0 1.5 12 1041"
			 " unknown unknown 36.4 %"));
	assert_false(says("0 %"));
}

static void what_if(void **state)
{
	(void)state;
	make("replay");
	assert_false(says("What if"));
	make("what-if");
	assert_true(says("What if the housekeeping CPUs were 0,8: "));
	assert_false(says("behaves like"));
}

static void table_and_caveat(void **state)
{
	char *narrow;

	(void)state;
	make("replay");
	assert_true(says("POLICY AGREE DECISIVE ON-BUSY AVOIDABLE FALLBACK NONE"
			 " LOOKED LOOKED-MAX WOKEN LLC NODE TOP-1 lowest 47.2 %"
			 " 0.3 % 1164 1160 4 0 1.5 12 1041 1500 1500 36.4 %"));
	assert_true(says("wrap:8 0.9 % 0.9 % 0 0 0 5 1.0 9 2100 100 100"
			 " 90.9 %"));
	assert_true(says("does not react to a changed choice"));
	assert_true(says("use ilb fix trial or ilb sim."));
	narrow = text_of(80);
	assert_non_null(strstr(narrow,
			       "\n\n  POLICY        LOOKED-MAX  WOKEN"));
	assert_non_null(strstr(narrow, "TOP-1\n"));
	free(narrow);
}

static void nothing_to_replay(void **state)
{
	(void)state;
	make("replay");
	sample.policies[0].kicks = 0;
	assert_true(says("No kick to replay."));
	sample.report.policies = NULL;
	assert_true(says("No kick to replay."));
	assert_false(says("POLICY"));
	make("null");
	sample.report.command = "replay";
	assert_true(says("ilb replay: no capture"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_rule),
		cmocka_unit_test(a_poor_match_explains_nothing),
		cmocka_unit_test(what_cannot_be_told_apart),
		cmocka_unit_test(unknown_kickers),
		cmocka_unit_test(what_if),
		cmocka_unit_test(table_and_caveat),
		cmocka_unit_test(nothing_to_replay),
	};

	return cmocka_run_group_tests_name("report_replay", tests, NULL, NULL);
}
