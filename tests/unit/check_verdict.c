// SPDX-License-Identifier: GPL-2.0-only
/* Which rule a kernel is said to have, what follows, and what it takes. */

#include <linux/capability.h>

#include "check.h"

struct verdict_case {
	const char *kernel;
	const char *row, *rule;
	enum ilb_certainty certainty;
};

#define RELEASE	ILB_CERTAINTY_RELEASE
#define GUESS	ILB_CERTAINTY_GUESS

static const struct verdict_case verdicts[] = {
	{ "6.1.0-50-cloud-amd64", "linux-6.1", "lowest", RELEASE },
	{ "6.12.95+deb12-cloud-arm64", "linux-6.12", "lowest", RELEASE },
	{ "linux-6.12", "linux-6.12", "lowest", RELEASE },
	{ "7.2.12+deb13-cloud-amd64", "linux-7.2", "lowest", RELEASE },
	{ "7.3.4+deb13-amd64", "linux-7.3", "idle-core", RELEASE },
	{ "7.3.0-rc2", "linux-7.3", "idle-core", GUESS },
	{ "6.8.0-51-generic", "linux-6.1", "lowest", GUESS },
	{ "6.18.44", "linux-6.12", "lowest", GUESS },
	{ "7.0.1", "linux-7.2", "lowest", GUESS },
	{ "7.4.0", "linux-7.3", "idle-core", GUESS },
	{ "5.14.0-503.el9.x86_64", "linux-6.1", "lowest", GUESS },
	{ "3.10.0-1160", "linux-6.1", "lowest", GUESS },
	{ "", NULL, NULL, ILB_CERTAINTY_UNKNOWN },
	{ "banana", NULL, NULL, ILB_CERTAINTY_UNKNOWN },
	{ "6", NULL, NULL, ILB_CERTAINTY_UNKNOWN },
};

static void rules_by_release(void **state)
{
	const struct verdict_case *c;
	struct ilb_verdict v;
	struct ilb_facts f;

	(void)state;
	memset(&f, 0, sizeof(f));
	for (c = verdicts; c < verdicts + ARRAY_SIZE(verdicts); c++) {
		ilb_facts_rename(&f, c->kernel);
		ilb_verdict_find(&v, &f);
		assert_int_equal(v.certainty, c->certainty);
		assert_int_not_equal(v.why[0], 0);
		if (!c->rule) {
			assert_null(v.rule);
			assert_null(v.behaviour);
			continue;
		}
		assert_string_equal(v.behaviour->name, c->row);
		assert_string_equal(v.rule, c->rule);
	}
}

struct symbol_case {
	const char *kernel;
	enum ilb_symbol symbol;
	enum ilb_certainty certainty;
};

static const struct symbol_case symbols[] = {
	{ "6.1.176", ILB_SYMBOL_TRIGGER_OLD, RELEASE },
	{ "6.1.176", ILB_SYMBOL_TRIGGER, GUESS },
	{ "6.12.95", ILB_SYMBOL_TRIGGER, RELEASE },
	{ "6.12.95", ILB_SYMBOL_TRIGGER_OLD, GUESS },
	{ "6.12.95", ILB_SYMBOL_BALANCE_SHARED, GUESS },
	{ "7.2.13", ILB_SYMBOL_BALANCE_SHARED, RELEASE },
	{ "7.3.4", ILB_SYMBOL_TRIGGER_OLD, GUESS },
	{ "7.3.4", ILB_SYMBOL_BALANCE_SHARED, RELEASE },
};

static void names_can_contradict(void **state)
{
	const struct symbol_case *c;
	struct ilb_verdict v;
	struct ilb_facts f;

	(void)state;
	for (c = symbols; c < symbols + ARRAY_SIZE(symbols); c++) {
		memset(&f, 0, sizeof(f));
		strcpy(f.kernel, c->kernel);
		f.symbols[c->symbol] = ILB_ANSWER_YES;
		ilb_verdict_find(&v, &f);
		if (v.certainty != c->certainty)
			fail_msg("%s, symbol %d: %s", c->kernel,
				 (int)c->symbol, v.why);
	}
}

static void shapes_of_cores(void **state)
{
	struct machine m;
	struct ilb_smt smt;

	(void)state;
	build_guest(&m);
	ilb_smt_describe(&smt, &m.topology);
	assert_int_equal(smt.cores, 8);
	assert_int_equal(smt.threads_min, 2);
	assert_int_equal(smt.stride, 1);
	build_vera(&m);
	ilb_smt_describe(&smt, &m.topology);
	assert_int_equal(smt.cores, 176);
	assert_int_equal(smt.threads_max, 2);
	assert_int_equal(smt.stride, 176);
	start_machine(&m, 8);
	link_machine(&m);
	ilb_smt_describe(&smt, &m.topology);
	assert_int_equal(smt.cores, 8);
	assert_int_equal(smt.threads_max, 1);
	assert_int_equal(smt.stride, 0);
	/* 0,1 and 2,4: irregular, beside cores of one thread. */
	m.core[1] = 0;
	m.core[4] = 2;
	link_machine(&m);
	ilb_smt_describe(&smt, &m.topology);
	assert_int_equal(smt.cores, 6);
	assert_int_equal(smt.threads_min, 1);
	assert_int_equal(smt.threads_max, 2);
	assert_int_equal(smt.stride, 0);
}

struct finding_case {
	const char *kernel, *nohz_full, *isolated;
	const char *id;
	enum ilb_severity severity;
};

static const struct finding_case findings[] = {
	{ "6.12", "", "", "rule-ignores-smt", ILB_INFO },
	{ "6.12", "1-15", "", "no-housekeeping-target", ILB_SERIOUS },
	{ "6.12", "1-7,9-15", "", "one-ilb-candidate", ILB_WARNING },
	{ "6.12", "1-3", "", "nohz-full-cpus-get-lost", ILB_WARNING },
	{ "7.3", "1-3", "", "nohz-full-cpus-get-lost", ILB_WARNING },
	{ "6.12", "", "1-15", "one-ilb-candidate", ILB_WARNING },
	{ "6.12", "1-7", "8-15", "no-housekeeping-target", ILB_SERIOUS },
	{ "", "", "", "unknown-rule", ILB_UNKNOWN },
};

static void what_is_found_without_a_job(void **state)
{
	const struct finding_case *c;
	const struct ilb_finding *f;
	struct machine m;

	(void)state;
	build_guest(&m);
	for (c = findings; c < findings + ARRAY_SIZE(findings); c++) {
		set_list(m.facts.nohz_full, c->nohz_full);
		set_list(m.facts.isolated, c->isolated);
		judge(&m, c->kernel, NULL);
		f = find(&m, c->id);
		if (!f || f->severity != c->severity)
			fail_msg("%s, nohz_full %s: %s", c->kernel,
				 c->nohz_full, c->id);
		assert_int_not_equal(f->text[0], 0);
		assert_int_not_equal(f->remedy[0], 0);
	}
	memset(&m.facts, 0, sizeof(m.facts));
	judge(&m, "7.3", NULL);
	assert_int_equal(m.check.findings.count, 0);
}

/* An unknown kernel is not judged, but 7.3 is still compared with. */
static void a_job_on_an_unknown_kernel(void **state)
{
	struct machine m;

	(void)state;
	build_guest(&m);
	judge(&m, "banana", "0,2,4,6");
	assert_int_equal(m.check.aim.target, ILB_CPU_NONE);
	assert_int_equal(m.check.aim_idle_core.target, 8);
	assert_null(find(&m, "job-on-busy-core"));
	assert_int_equal(m.check.layout.kind, ILB_LAYOUT_NOT_NEEDED);
}

static void expect_need(const struct ilb_facts *f, enum ilb_needed what,
			enum ilb_answer answer)
{
	struct ilb_need needs[ILB_NEEDED_COUNT];

	ilb_needs_judge(needs, f);
	if (needs[what].available != answer)
		fail_msg("%s: %s, not %s", needs[what].what,
			 ilb_answer_name(needs[what].available),
			 ilb_answer_name(answer));
	assert_int_equal(!needs[what].remedy, answer == ILB_ANSWER_YES);
}

static void what_a_recording_needs(void **state)
{
	struct ilb_facts f;

	(void)state;
	memset(&f, 0, sizeof(f));
	f.perf_paranoid = 2;
	f.caps_known = 1;
	expect_need(&f, ILB_NEEDED_PERF, ILB_ANSWER_NO);
	expect_need(&f, ILB_NEEDED_CAP_BPF, ILB_ANSWER_NO);
	f.caps = 1ULL << 38;
	expect_need(&f, ILB_NEEDED_PERF, ILB_ANSWER_YES);
	expect_need(&f, ILB_NEEDED_CAP_BPF, ILB_ANSWER_NO);
	f.caps = 1ULL << CAP_SYS_ADMIN;
	expect_need(&f, ILB_NEEDED_PERF, ILB_ANSWER_YES);
	expect_need(&f, ILB_NEEDED_CAP_BPF, ILB_ANSWER_YES);
	expect_need(&f, ILB_NEEDED_CAP_DAC_READ_SEARCH, ILB_ANSWER_NO);
	f.caps = 0;
	f.perf_paranoid = -1;
	expect_need(&f, ILB_NEEDED_PERF, ILB_ANSWER_YES);
	strcpy(f.lockdown, "integrity");
	expect_need(&f, ILB_NEEDED_LOCKDOWN, ILB_ANSWER_YES);
	strcpy(f.lockdown, "confidentiality");
	expect_need(&f, ILB_NEEDED_LOCKDOWN, ILB_ANSWER_NO);
	/* Tracefs closed: what is built in tells. */
	f.symbols[ILB_SYMBOL_CSD_QUEUE] = ILB_ANSWER_YES;
	expect_need(&f, ILB_NEEDED_CSD_EVENTS, ILB_ANSWER_YES);
	f.csd_events = ILB_ANSWER_NO;
	expect_need(&f, ILB_NEEDED_CSD_EVENTS, ILB_ANSWER_NO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_by_release),
		cmocka_unit_test(names_can_contradict),
		cmocka_unit_test(shapes_of_cores),
		cmocka_unit_test(what_is_found_without_a_job),
		cmocka_unit_test(a_job_on_an_unknown_kernel),
		cmocka_unit_test(what_a_recording_needs),
	};

	return cmocka_run_group_tests_name("check_verdict", tests, NULL, NULL);
}
