// SPDX-License-Identifier: GPL-2.0-only
/*
 * Differences of /proc/schedstat: real pairs against the sums of another
 * program (golden/schedstat/sums.awk), and texts that are made for a rule.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "ilb/measure.h"
#include "test.h"
#include "trace/file.h"

#define DIR	ILB_GOLDEN "/schedstat/"

static char *slurp(const char *name, const char *suffix)
{
	char path[512], *text;

	snprintf(path, sizeof(path), "%s%s%s", DIR, name, suffix);
	if (ilb_file_read(&text, NULL, path, 1 << 20, NULL))
		fail_msg("cannot read %s", path);
	return text;
}

/* As sums.awk prints it. */
static void print_sums(char *to, const struct ilb_measures *m)
{
	const struct ilb_domain *d;
	unsigned int i, t;

	*to = '\0';
	for (i = 0; i < m->nr_domains; i++) {
		d = &m->domains[i];
		for (t = 0; t < ILB_IDLE_TYPES; t++)
			to += sprintf(to, "%u %s %u %ju %ju %ju %ju %ju %ju %ju %ju\n",
				      d->level, d->name, t,
				      (uintmax_t)d->type[t].lb,
				      (uintmax_t)d->type[t].balanced,
				      (uintmax_t)d->type[t].failed,
				      (uintmax_t)d->type[t].imb_load,
				      (uintmax_t)d->type[t].imb_util,
				      (uintmax_t)d->type[t].imb_task,
				      (uintmax_t)d->type[t].imb_misfit,
				      (uintmax_t)d->type[t].gained);
	}
}

struct pair {
	const char *name;
	int counts;
	double seconds;		/* its timestamps, 250 per second */
};

static const struct pair pairs[] = {
	{ "7.2-mix16", 1, 1556 / 250.0 },
	{ "7.3-graph16", 1, 1385 / 250.0 },
	{ "6.12-pin16", 0, 1640 / 250.0 },
	{ "6.1-pin16", 0, 1597 / 250.0 },
};

static void real_pairs_have_the_sums(void **state)
{
	char *before, *after, *want, got[4096];
	struct ilb_measures m;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		before = slurp(pairs[i].name, ".before");
		after = slurp(pairs[i].name, ".after");
		want = slurp(pairs[i].name, ".sums");
		assert_int_equal(ilb_schedstat_diff(&m, before, after, 250),
				 0);
		print_sums(got, &m);
		assert_string_equal(got, want);
		assert_int_equal(m.schedstat_counts, pairs[i].counts);
		assert_true(m.schedstat_s == pairs[i].seconds);
		assert_int_equal(ilb_schedstat_diff(&m, before, after, 0), 0);
		assert_true(m.schedstat_s == 0);
		/* Nothing counted, but no time passed: no reason to doubt. */
		assert_int_equal(ilb_schedstat_diff(&m, before, before, 250),
				 0);
		assert_int_equal(m.schedstat_counts, 1);
		free(before);
		free(after);
		free(want);
	}
}

/* A line of @columns numbers: @first, then each one more. */
static char *counters(char *to, unsigned int first, unsigned int columns)
{
	unsigned int i;

	for (i = 0; i < columns; i++)
		to += sprintf(to, " %u", first ? first + i : 0);
	return to + sprintf(to, "\n");
}

/* One CPU with one domain; its counters are 0, or 101, 102, ... */
static void one_domain(char *to, unsigned int version, unsigned int columns,
		       int count)
{
	to += sprintf(to, "version %u\ntimestamp %d\ncpu0 0 0 0 0 0 0 0 0 0\ndomain0 %s3",
		      version, 1000 + count, version == 17 ? "SMT " : "");
	counters(to, count ? 101 : 0, columns);
}

struct order_case {
	unsigned int version, columns;
	const char *sums;
};

/*
 * Counter 101 is the first column. Version 15 has the idle columns first, the
 * later ones the busy columns.
 */
static const struct order_case orders[] = {
	{ 15, 36, "0 domain0 0 109 110 111 112 0 0 0 113\n"
		  "0 domain0 1 101 102 103 104 0 0 0 105\n"
		  "0 domain0 2 117 118 119 120 0 0 0 121\n" },
	{ 16, 36, "0 domain0 0 101 102 103 104 0 0 0 105\n"
		  "0 domain0 1 109 110 111 112 0 0 0 113\n"
		  "0 domain0 2 117 118 119 120 0 0 0 121\n" },
	{ 17, 45, "0 SMT 0 101 102 103 104 105 106 107 108\n"
		  "0 SMT 1 112 113 114 115 116 117 118 119\n"
		  "0 SMT 2 123 124 125 126 127 128 129 130\n" },
};

static void idle_types_change_places(void **state)
{
	char before[1024], after[1024], got[1024];
	struct ilb_measures m;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		one_domain(before, orders[i].version, orders[i].columns, 0);
		one_domain(after, orders[i].version, orders[i].columns, 1);
		assert_int_equal(ilb_schedstat_diff(&m, before, after, 0), 0);
		print_sums(got, &m);
		assert_string_equal(got, orders[i].sums);
	}
}

#define HEAD	"version 17\ntimestamp 5\n"
#define CPU(n)	"cpu" #n " 0 0 0 0 0 0 0 0 0\n"
#define LB(level, name, lb)						\
	"domain" #level " " name " 3 " #lb				\
	" 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"			\
	" 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static void expect_lb(const char *before, const char *after, const char *want)
{
	char got[256] = "", *to = got;
	struct ilb_measures m;
	unsigned int i;

	assert_int_equal(ilb_schedstat_diff(&m, before, after, 0), 0);
	for (i = 0; i < m.nr_domains; i++)
		to += sprintf(to, "%u%s=%ju ", m.domains[i].level,
			      m.domains[i].name,
			      (uintmax_t)m.domains[i].type[ILB_IDLE_BUSY].lb);
	assert_string_equal(got, want);
}

static void cpus_that_come_and_go(void **state)
{
	(void)state;
	/* CPU 1 went, CPU 2 came, CPU 3 stayed. */
	expect_lb(HEAD CPU(0) LB(0, "SMT", 1) CPU(1) LB(0, "SMT", 10)
		  CPU(3) LB(0, "SMT", 100),
		  HEAD CPU(0) LB(0, "SMT", 3) CPU(2) LB(0, "SMT", 50)
		  CPU(3) LB(0, "SMT", 500), "0SMT=402 ");
	/* Its counters began anew. */
	expect_lb(HEAD CPU(0) LB(0, "SMT", 10) CPU(1) LB(0, "SMT", 1),
		  HEAD CPU(0) LB(0, "SMT", 3) CPU(1) LB(0, "SMT", 2),
		  "0SMT=1 ");
	/* Its domains were rebuilt: one fewer, and another one. */
	expect_lb(HEAD CPU(0) LB(0, "SMT", 1) LB(1, "MC", 1) LB(2, "NUMA", 1),
		  HEAD CPU(0) LB(0, "SMT", 2) LB(1, "NUMA", 9), "0SMT=1 ");
	/* Without a domain (isolated) a CPU counts nothing. */
	expect_lb(HEAD CPU(0) CPU(7), HEAD CPU(0) CPU(7), "");
	expect_lb(HEAD, HEAD, "");
}

static void levels_with_several_names(void **state)
{
	(void)state;
	expect_lb(HEAD CPU(0) LB(0, "SMT", 0) LB(1, "NUMA", 0)
		  LB(2, "NUMA", 0) CPU(1) LB(0, "MC", 0) LB(1, "NUMA", 0),
		  HEAD CPU(0) LB(0, "SMT", 1) LB(1, "NUMA", 2)
		  LB(2, "NUMA", 4) CPU(1) LB(0, "MC", 8) LB(1, "NUMA", 16),
		  "0SMT=1 0MC=8 1NUMA=18 2NUMA=4 ");
}

static void no_domain_no_verdict(void **state)
{
	struct ilb_measures m;

	(void)state;
	assert_int_equal(ilb_schedstat_diff(&m, HEAD CPU(0), HEAD CPU(0), 0),
			 0);
	assert_int_equal(m.schedstat_counts, -1);
}

struct bad_case {
	const char *text;
	int result;
};

static const struct bad_case bads[] = {
	{ "", -ILB_ERR_FORMAT },
	{ "version\n", -ILB_ERR_FORMAT },
	{ "version x\n", -ILB_ERR_FORMAT },
	{ "version 14\ntimestamp 5\n", -ILB_ERR_UNSUPPORTED },
	{ "version 18\ntimestamp 5\n", -ILB_ERR_UNSUPPORTED },
	{ "version 4294967313\ntimestamp 5\n", -ILB_ERR_UNSUPPORTED },
	{ "version 16\ntimestamp 5\n", -ILB_ERR_FORMAT },	/* other's: 17 */
	{ "version 17\n", -ILB_ERR_FORMAT },
	{ "version 17\ntimestamp\n", -ILB_ERR_FORMAT },
	{ "version 17\ntimestamp 99999999999999999999\n", -ILB_ERR_FORMAT },
	{ "version 17\ntimestamp 18446744073709551616\n", -ILB_ERR_FORMAT },
	{ "version 17\ntimestamp 4\n", -ILB_ERR_FORMAT },	/* backwards */
	{ HEAD "\n", -ILB_ERR_FORMAT },
	{ HEAD "rubbish\n", -ILB_ERR_FORMAT },
	{ HEAD LB(0, "SMT", 1), -ILB_ERR_FORMAT },
	{ HEAD "cpu0 0 0 0 0 0 0 0 0\n", -ILB_ERR_FORMAT },
	{ HEAD "cpu0 0 0 0 0 0 0 0 0 0 0\n", -ILB_ERR_FORMAT },
	{ HEAD "cpu 0 0 0 0 0 0 0 0 0\n", -ILB_ERR_FORMAT },
	{ HEAD "cpu8192 0 0 0 0 0 0 0 0 0\n", -ILB_ERR_FORMAT },
	{ HEAD "cpu0 0 0 0 -1 0 0 0 0 0\n", -ILB_ERR_FORMAT },
	{ HEAD CPU(1) CPU(0), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) CPU(0), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) LB(1, "SMT", 1), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) LB(0, "SMT", 1) LB(0, "SMT", 1), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) LB(0, "SMT", 1 1), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) LB(0, "SMT", ), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) LB(0, "SMT", 18446744073709551616), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) LB(0, "SMT", 0x1), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) LB(0, "", 1), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) LB(0, "ABCDEFGHIJKLMNOP", 1), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) LB(0, "S\033T", 1), -ILB_ERR_FORMAT },
	{ HEAD CPU(0) "domain0 SMT\n", -ILB_ERR_FORMAT },
	{ HEAD CPU(0) "domain0 SMT 3\n", -ILB_ERR_FORMAT },
};

static void what_is_refused(void **state)
{
	static const char good[] = HEAD CPU(0) LB(0, "SMT", 1);
	struct ilb_measures m, untouched;
	unsigned int i;
	int result;

	(void)state;
	memset(&untouched, 0x5a, sizeof(untouched));
	assert_int_equal(ilb_schedstat_diff(&m, good, good, 0), 0);
	memcpy(&m, &untouched, sizeof(m));
	for (i = 0; i < ARRAY_SIZE(bads); i++) {
		result = ilb_schedstat_diff(&m, good, bads[i].text, 0);
		if (result != bads[i].result)
			fail_msg("%u '%s': %d", i, bads[i].text, result);
		/* Only the time makes a difference between the two. */
		result = ilb_schedstat_diff(&m, bads[i].text, good, 0);
		if (result != bads[i].result &&
		    strcmp(bads[i].text, "version 17\ntimestamp 4\n"))
			fail_msg("before, %u: %d", i, result);
		if (result)
			assert_memory_equal(&m, &untouched, sizeof(m));
		else
			memcpy(&m, &untouched, sizeof(m));
	}
}

static void endless_lines(void **state)
{
	size_t size = 1 << 20;
	char *text = malloc(size + 1);
	struct ilb_measures m;

	(void)state;
	assert_non_null(text);
	memset(text, '0', size);
	text[size] = '\0';
	memcpy(text, "version ", 8);
	assert_int_equal(ilb_schedstat_diff(&m, text, text, 0),
			 -ILB_ERR_FORMAT);
	memcpy(text, HEAD "cpu0 ", strlen(HEAD "cpu0 "));
	assert_int_equal(ilb_schedstat_diff(&m, text, text, 0),
			 -ILB_ERR_FORMAT);
	free(text);
}

/* The most domains that are allowed, and one more. */
static void many_domains(void **state)
{
	char text[8192], *to = text + sprintf(text, HEAD CPU(0));
	struct ilb_measures m;
	unsigned int i;

	(void)state;
	for (i = 0; i < ILB_DOMAINS_MAX; i++) {
		to += snprintf(to, 64, "domain%u L%u ff,ffffffff", i, i);
		to = counters(to, 0, 45);
	}
	assert_int_equal(ilb_schedstat_diff(&m, text, text, 0), 0);
	assert_int_equal(m.nr_domains, ILB_DOMAINS_MAX);
	assert_string_equal(m.domains[15].name, "L15");
	snprintf(to, 256, CPU(1) LB(0, "MORE", 1));
	assert_int_equal(ilb_schedstat_diff(&m, text, text, 0),
			 -ILB_ERR_FORMAT);
	to += snprintf(to, 64, "domain16 L16 1");
	counters(to, 0, 45);
	assert_int_equal(ilb_schedstat_diff(&m, text, text, 0),
			 -ILB_ERR_FORMAT);
}

/* A text that ends anywhere is read to its end and no further. */
static void cut_at_every_byte(void **state)
{
	char *text = slurp("7.2-mix16", ".after"), *cut;
	size_t n, size = strlen(text);
	unsigned int good = 0;
	struct ilb_measures m;
	int result;

	(void)state;
	for (n = 0; n <= size; n++) {
		cut = strndup(text, n);
		assert_non_null(cut);
		result = ilb_schedstat_diff(&m, cut, cut, 250);
		assert_true(!result || result == -ILB_ERR_FORMAT ||
			    result == -ILB_ERR_UNSUPPORTED);
		good += !result;
		free(cut);
	}
	/* At the ends of its 66 lines, with and without newline, and within
	 * the last number of each and of the time. */
	assert_in_range(good, 2 * 65, 400);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_pairs_have_the_sums),
		cmocka_unit_test(idle_types_change_places),
		cmocka_unit_test(cpus_that_come_and_go),
		cmocka_unit_test(levels_with_several_names),
		cmocka_unit_test(no_domain_no_verdict),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(endless_lines),
		cmocka_unit_test(many_domains),
		cmocka_unit_test(cut_at_every_byte),
	};

	return cmocka_run_group_tests_name("schedstat", tests, NULL, NULL);
}
