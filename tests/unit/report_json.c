// SPDX-License-Identifier: GPL-2.0-only
/* JSON: values, order, and that unknown is absent. See also tests/schema.py. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "ilb/error.h"
#include "report_samples.h"
#include "test.h"

static struct sample sample;

static char *bytes_of(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(ilb_report_json(out, &sample.report), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), size);
	return text;
}

static json_t *json_of(void)
{
	char *text = bytes_of();
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(root);
	free(text);
	return root;
}

static void make(const char *name)
{
	assert_int_equal(sample_make(&sample, name), 0);
}

/* "kicks.by_target.0.cpu": NULL if any of it is absent. */
static const json_t *at(const json_t *value, const char *path)
{
	char step[32];
	size_t length;

	while (value && *path) {
		length = strcspn(path, ".");
		snprintf(step, sizeof(step), "%.*s", (int)length, path);
		if (json_is_array(value))
			value = json_array_get(value, (size_t)atoi(step));
		else
			value = json_object_get(value, step);
		path += length + (path[length] == '.');
	}
	return value;
}

static void assert_number(const json_t *root, const char *path, double want)
{
	const json_t *value = at(root, path);
	double off;

	if (!value || !json_is_number(value))
		fail_msg("%s is absent or no number", path);
	off = json_number_value(value) - want;
	if (off > 1e-9 || off < -1e-9)
		fail_msg("%s is %g", path, json_number_value(value));
}

static void assert_absent(const json_t *root, const char *const *paths)
{
	for (; *paths; paths++)
		if (at(root, *paths))
			fail_msg("%s is there", *paths);
}

static void values_and_units(void **state)
{
	json_t *root;

	(void)state;
	make("full");
	root = json_of();
	assert_number(root, "capture.duration_s", 6.82);
	assert_number(root, "kicks.total", 377);
	assert_number(root, "kicks.per_second", 377 / 6.82);
	assert_number(root, "runs.disturbed_us", 120345.678);
	assert_number(root, "runs.latency_us.max", 14.368);
	assert_number(root, "runs.latency_us.mean", 7.634);
	assert_number(root, "runs.latency_us.log2.1.lt", 2);
	assert_number(root, "softirq.sched_time_us", 98765.432);
	assert_number(root, "utilisation.busy_pct",
		      100 * 27.3 / (16 * 6.82));
	assert_number(root, "victims.0.disturbed_pct", 3.1);
	assert_number(root, "every_tick.kicked_pct", 37700 / 1700.0);
	assert_number(root, "domains.2.per_second", 22827 / 6.875);
	assert_number(root, "findings.0.evidence.disturbed_pct", 3.1);
	assert_number(root, "lost_cpus.1.lost_us", 90000);
	json_decref(root);
}

static void most_kicks_first_then_the_lower_cpu(void **state)
{
	static const double cpus[] = { 14, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2,
				       3, 0, 1 };
	char path[40];
	json_t *root;
	unsigned int i;

	(void)state;
	make("full");
	root = json_of();
	assert_int_equal(json_array_size(at(root, "kicks.by_target")), 15);
	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		snprintf(path, sizeof(path), "kicks.by_target.%u.cpu", i);
		assert_number(root, path, cpus[i]);
	}
	json_decref(root);
}

static void unknown_parts_are_absent(void **state)
{
	static const char *const unknown[] = {
		"capture.kernel", "capture.hz", "capture.moments",
		"capture.assumed", "capture.duration_s", "capture.events",
		"capture.lost_events", "kicks", "runs", "contention",
		"softirq", "utilisation", "victims", "nr_victims", "tick",
		"every_tick", "waiting", "lost_cpus", "domains", "findings",
		"cannot_judge", "policies", "best", "what_if", NULL,
	};
	json_t *root;

	(void)state;
	make("unknown");
	root = json_of();
	assert_absent(root, unknown);
	json_decref(root);
}

static void unknown_keys_are_absent(void **state)
{
	static const char *const unknown[] = {
		"kicks.avoidable", "kicks.fallback", "kicks.dropped",
		"kicks.no_target", "kicks.same_core", "kicks.same_llc",
		"kicks.same_node", "kicks.by_kicker", "victims.0.disturbed_pct",
		"domains.3.imb_util", "domains.0.per_second",
		"findings.0.evidence.not-a-number", "waiting.pid", NULL,
	};
	json_t *root;

	(void)state;
	make("full");
	sample.measures.kicks.masks_known = 0;
	sample.measures.kicks.dropped_known = 0;
	sample.measures.kicks.kicker_unknown = sample.measures.kicks.total;
	sample.measures.schedstat_s = 0;
	sample.measures.waiting.pid = ILB_PID_UNKNOWN;
	sample.victims[0].running_ns = 0;
	root = json_of();
	assert_absent(root, unknown);
	assert_number(root, "kicks.on_busy_core", 377);
	assert_number(root, "domains.0.imb_util", 0);
	assert_number(root, "kicks.kicker_unknown", 377);
	json_decref(root);
}

static void a_known_0_is_written(void **state)
{
	static const char *const undefined[] = {
		"runs.latency_us.mean", "runs.latency_us.p50",
		"runs.latency_us.max", NULL,
	};
	json_t *root;

	(void)state;
	make("empty");
	sample.measures.kind = ILB_MOMENT_SIMULATED;
	root = json_of();
	assert_number(root, "kicks.total", 0);
	assert_number(root, "kicks.avoidable", 0);
	assert_number(root, "kicks.no_target", 0);
	assert_number(root, "kicks.same_llc", 0);
	assert_number(root, "runs.latency_us.count", 0);
	assert_int_equal(json_array_size(at(root, "runs.latency_us.log2")), 0);
	assert_true(json_is_array(at(root, "victims")));
	assert_true(json_is_array(at(root, "findings")));
	assert_absent(root, undefined);
	json_decref(root);
}

static void what_cannot_be_judged_is_no_finding(void **state)
{
	json_t *root;

	(void)state;
	make("full");
	root = json_of();
	assert_int_equal(json_array_size(at(root, "findings")), 2);
	assert_int_equal(json_array_size(at(root, "cannot_judge")), 3);
	assert_string_equal(json_string_value(at(root, "findings.0.severity")),
			    "serious");
	assert_string_equal(json_string_value(at(root, "cannot_judge.0.id")),
			    "tick-churn");
	json_decref(root);
}

static void replays(void **state)
{
	static const char *const unknown[] = {
		"policies.0.agree", "policies.0.agree_decisive",
		"policies.0.same_llc", "best", "what_if", "kicks", NULL,
	};
	json_t *root;

	(void)state;
	make("what-if");
	root = json_of();
	assert_string_equal(json_string_value(at(root, "best")), "idle-core");
	assert_string_equal(json_string_value(at(root, "what_if")), "0,8");
	assert_number(root, "policies.1.agree", 2186);
	assert_number(root, "policies.1.looked_at_mean", 9210 / 2205.0);
	assert_number(root, "policies.3.top1_pct", 200000 / 2200.0);
	json_decref(root);
	make("no-kicker");
	root = json_of();
	assert_absent(root, unknown);
	assert_number(root, "policies.0.scored", 0);
	assert_number(root, "policies.0.avoidable", 1160);
	json_decref(root);
}

/* Bytes that are not UTF-8 one by one, characters as they are. */
static void hostile_names_are_valid(void **state)
{
	char *bytes, *c;
	json_t *root;

	(void)state;
	make("hostile");
	root = json_of();
	assert_string_equal(json_string_value(at(root, "capture.kernel")),
			    "6.12\033[2J\a\n\t\\\"\xc3\xa4"
			    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
			    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
			    "\xf0\x9f\x92\xa3"
			    "\xef\xbf\xbd\xef\xbf\xbd");
	assert_int_equal(json_array_size(at(root, "victims")), 1000);
	assert_number(root, "nr_victims", 1200);
	assert_int_equal(json_integer_value(at(root, "kicks.total")),
			 INT64_MAX);
	json_decref(root);
	bytes = bytes_of();
	for (c = bytes; *c; c++)
		if (*c != '\n' && (*c < ' ' || *c > '~'))
			fail_msg("byte 0x%02x", (unsigned char)*c);
	free(bytes);
}

#define R	"\xef\xbf\xbd"

/* Both sides of every border of UTF-8. */
static void borders_of_utf8(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "\x7f", "\x7f" },
		{ "\x80", R },
		{ "\xc1\xbf", R R },
		{ "\xc2\x80", "\xc2\x80" },
		{ "\xdf\xbf", "\xdf\xbf" },
		{ "\xc2\xc0", R R },
		{ "\xe0\x9f\xbf", R R R },
		{ "\xe0\xa0\x80", "\xe0\xa0\x80" },
		{ "\xed\x9f\xbf", "\xed\x9f\xbf" },
		{ "\xed\xa0\x80", R R R },
		{ "\xee\x80\x80", "\xee\x80\x80" },
		{ "\xf0\x8f\xbf\xbf", R R R R },
		{ "\xf0\x90\x80\x80", "\xf0\x90\x80\x80" },
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
		{ "\xf4\x90\x80\x80", R R R R },
		{ "\xf5\x80\x80\x80", R R R R },
		{ "\xff", R },
		{ "\xe2\x82", R R },
		{ "\xe2\x82" "a", R R "a" },
	};
	const char *got;
	unsigned int i;
	json_t *root;

	(void)state;
	make("full");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		strcpy(sample.path, cases[i].in);
		root = json_of();
		got = json_string_value(at(root, "capture.path"));
		if (strcmp(got, cases[i].out))
			fail_msg("case %u: %s", i, got);
		json_decref(root);
	}
}

static void the_same_bytes_twice(void **state)
{
	unsigned int i;
	char *one, *two;

	(void)state;
	for (i = 0; sample_names[i]; i++) {
		make(sample_names[i]);
		one = bytes_of();
		make(sample_names[i]);
		two = bytes_of();
		assert_string_equal(one, two);
		free(one);
		free(two);
	}
}

static void a_full_disk_is_an_error(void **state)
{
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	if (!out) {
		print_message("# skipped: no /dev/full\n");
		return;
	}
	make("full");
	assert_int_equal(ilb_report_json(out, &sample.report), -ILB_ERR_IO);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_units),
		cmocka_unit_test(most_kicks_first_then_the_lower_cpu),
		cmocka_unit_test(unknown_parts_are_absent),
		cmocka_unit_test(unknown_keys_are_absent),
		cmocka_unit_test(a_known_0_is_written),
		cmocka_unit_test(what_cannot_be_judged_is_no_finding),
		cmocka_unit_test(replays),
		cmocka_unit_test(hostile_names_are_valid),
		cmocka_unit_test(borders_of_utf8),
		cmocka_unit_test(the_same_bytes_twice),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests_name("report_json", tests, NULL, NULL);
}
