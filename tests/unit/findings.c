// SPDX-License-Identifier: GPL-2.0-only
/* Judgements: for each an input that has it, and a close one that has not. */

#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "ilb/findings.h"

#define S_NS		1000000000ULL
#define MS_NS		1000000ULL

/**
 * struct given - what is judged; good in every respect at first
 *
 * 8 CPUs, 10 seconds, everything recorded, nohz_full on CPUs 2-7.
 */
struct given {
	struct fixture *f;
	struct ilb_measures m;
	uint64_t by_target[8], by_kicker[8];
	struct ilb_victim victim[3];
	struct ilb_lost_cpu lost_cpu[8];
	struct ilb_findings_input in;
	struct ilb_findings found;
};

static void give(struct given *g, void **state)
{
	struct fixture *f = *state;
	unsigned int cpu;

	memset(g, 0, sizeof(*g));
	g->f = f;
	for (cpu = 2; cpu < 8; cpu++) {
		ilb_mask_set(f->nohz_full, cpu);
		ilb_mask_clear(f->housekeeping, cpu);
	}
	g->m.nr_cpus = g->m.cpus = g->m.recorded = 8;
	g->m.start_ns = 5 * S_NS;
	g->m.end_ns = 15 * S_NS;
	g->m.kicks.by_target = g->by_target;
	g->m.kicks.by_kicker = g->by_kicker;
	g->m.kicks.kicks_known = g->m.kicks.masks_known = 1;
	g->m.kicks.dropped_known = 1;
	g->m.runs.known = g->m.contention.known = 1;
	g->m.softirq.known = g->m.softirq.stranded_known = 1;
	g->m.utilisation.known = g->m.waiting.known = 1;
	g->m.tick.known = g->m.every_tick.known = 1;
	g->m.victims = g->victim;
	g->m.lost_cpus = g->lost_cpu;
	g->m.schedstat_counts = -1;
	g->in.measures = &g->m;
	g->in.topology = &f->topology;
	g->in.housekeeping = f->housekeeping;
	g->in.nohz_full = f->nohz_full;
	g->in.hz = 250;
	g->in.kernel = "";
}

static int has_line_break(const char *text)
{
	return strpbrk(text, "\n\r\t\033") != NULL;
}

/* Every text fits, is one line, and no evidence is there twice. */
static void check_form(const struct ilb_finding *f)
{
	unsigned int i, k;

	assert_true(ilb_finding_known(f->id));
	assert_in_range(strlen(f->text), 10, sizeof(f->text) - 2);
	assert_in_range(strlen(f->why), 0, sizeof(f->why) - 2);
	assert_in_range(strlen(f->remedy), 10, sizeof(f->remedy) - 2);
	assert_in_range(strlen(f->cpus), 0, sizeof(f->cpus) - 1);
	assert_false(has_line_break(f->text) || has_line_break(f->why) ||
		     has_line_break(f->remedy));
	assert_true(!f->why[0] == (f->severity == ILB_UNKNOWN));
	assert_null(strstr(f->text, "(null)"));
	assert_in_range(f->nr_evidence, 0, ILB_EVIDENCE_MAX);
	for (i = 0; i < f->nr_evidence; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(f->evidence[i].key,
						f->evidence[k].key);
}

static const struct ilb_findings *judge(struct given *g)
{
	unsigned int i, k;

	memset(&g->found, 0xff, sizeof(g->found));
	ilb_findings_judge(&g->found, &g->in);
	assert_in_range(g->found.count, 0, 9);
	for (i = 0; i < g->found.count; i++) {
		check_form(&g->found.finding[i]);
		for (k = 0; k < i; k++) {
			assert_string_not_equal(g->found.finding[i].id,
						g->found.finding[k].id);
			assert_true(g->found.finding[i].severity <=
				    g->found.finding[k].severity);
		}
	}
	return &g->found;
}

static const struct ilb_finding *one(struct given *g)
{
	assert_int_equal(judge(g)->count, 1);
	return &g->found.finding[0];
}

static void none(struct given *g)
{
	assert_int_equal(judge(g)->count, 0);
}

static void expect(struct given *g, const char *id, enum ilb_severity severity)
{
	const struct ilb_finding *f = one(g);

	assert_string_equal(f->id, id);
	assert_int_equal(f->severity, severity);
}

static double value(const struct ilb_finding *f, const char *key)
{
	unsigned int i;

	for (i = 0; i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].key, key))
			return f->evidence[i].value;
	fail_msg("%s has no evidence '%s'", f->id, key);
	return 0;
}

static int has(const struct ilb_finding *f, const char *key)
{
	unsigned int i;

	for (i = 0; i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].key, key))
			return 1;
	return 0;
}

static void nothing_is_wrong(void **state)
{
	struct given g;

	give(&g, state);
	none(&g);
}

/* ---- ilb-on-busy-core ---- */

static void give_busy_core(struct given *g, void **state, double disturbed_pct)
{
	give(g, state);
	g->m.kicks.total = 50;
	g->m.kicks.on_busy_core = 40;
	g->m.kicks.avoidable = 30;
	g->m.nr_victims = 1;
	strcpy(g->victim[0].comm, "spin2");
	g->victim[0].pid = 123;
	g->victim[0].cpu = 4;
	g->victim[0].running_ns = S_NS;
	g->victim[0].disturbed_ns =
		(uint64_t)(disturbed_pct / 100 * (double)S_NS);
}

static void its_severity_follows_the_disturbed_share(void **state)
{
	static const struct {
		double pct;
		enum ilb_severity severity;
	} tests[] = {
		{ 0, ILB_INFO }, { 0.99, ILB_INFO }, { 1, ILB_WARNING },
		{ 4.99, ILB_WARNING }, { 5, ILB_SERIOUS },
		{ 100, ILB_SERIOUS },
	};
	const struct ilb_finding *f;
	struct given g;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		give_busy_core(&g, state, tests[i].pct);
		expect(&g, "ilb-on-busy-core", tests[i].severity);
		/* Not the share of kicks: one in a hundred, or all. */
		g.m.kicks.total = 4000;
		expect(&g, "ilb-on-busy-core", tests[i].severity);
		g.m.kicks.total = 40;
		expect(&g, "ilb-on-busy-core", tests[i].severity);
	}
	give_busy_core(&g, state, 3.14);
	f = one(&g);
	assert_non_null(strstr(f->text, "40 of 50 ILB kicks"));
	assert_non_null(strstr(f->text, "spin2 (pid 123) on CPU 4"));
	assert_non_null(strstr(f->text, "3.1 %"));
	assert_true(value(f, "on_busy_core") == 40);
	assert_true(value(f, "kicks") == 50);
	assert_true(value(f, "avoidable") == 30);
	assert_true(value(f, "worst_pid") == 123);
}

static void a_rare_and_cheap_kick_is_no_finding(void **state)
{
	struct given g;

	give_busy_core(&g, state, 0.5);
	g.m.kicks.total = 4001;			/* below 1 % */
	none(&g);
	g.m.kicks.total = 4000;
	expect(&g, "ilb-on-busy-core", ILB_INFO);
	/* Rare, but it costs: it is one. */
	give_busy_core(&g, state, 2);
	g.m.kicks.total = 400000;
	expect(&g, "ilb-on-busy-core", ILB_WARNING);
	g.m.kicks.on_busy_core = 0;
	none(&g);
	give_busy_core(&g, state, 2);
	fixture_shape(g.f, 8, 1, 8);
	ilb_mask_clear(g.f->housekeeping, 7);
	none(&g);
}

static void the_worst_share_is_told_not_the_longest_time(void **state)
{
	const struct ilb_finding *f;
	struct given g;

	give_busy_core(&g, state, 1);
	g.m.nr_victims = 3;
	g.victim[1] = g.victim[0];
	g.victim[1].pid = 200;
	g.victim[1].running_ns = 20 * MS_NS;
	g.victim[1].disturbed_ns = 2 * MS_NS;
	g.victim[2] = g.victim[0];		/* it ran for too short */
	g.victim[2].pid = 300;
	g.victim[2].running_ns = 10 * MS_NS - 1;
	g.victim[2].disturbed_ns = 9 * MS_NS;
	f = one(&g);
	assert_int_equal(f->severity, ILB_SERIOUS);
	assert_true(value(f, "worst_pid") == 200);
	assert_true(value(f, "worst_disturbed_pct") == 10);
}

static void what_it_cost_may_be_unknown(void **state)
{
	const struct ilb_finding *f;
	struct given g;

	give_busy_core(&g, state, 0);
	g.m.nr_victims = 0;
	g.m.runs.known = 0;
	f = one(&g);
	assert_int_equal(f->severity, ILB_INFO);
	assert_non_null(strstr(f->text, "unknown"));
	assert_false(has(f, "worst_pid"));
	g.m.runs.known = 1;
	assert_null(strstr(one(&g)->text, "unknown"));
	g.m.kicks.masks_known = 0;
	assert_false(has(one(&g), "avoidable"));
}

/* Names come from input: any byte but NUL. */
static void a_name_cannot_break_the_line(void **state)
{
	struct given g;

	give_busy_core(&g, state, 3);
	strcpy(g.victim[0].comm, "a\nb\tc\033[31m\177");
	assert_non_null(strstr(one(&g)->text, "; a?b?c?[31m? (pid 123)"));
	g.victim[0].comm[0] = '\0';
	assert_non_null(strstr(one(&g)->text, "; a task (pid 123)"));
}

/* ---- ilb-one-cpu, ilb-every-tick ---- */

static void one_cpu_takes_nine_tenths(void **state)
{
	const struct ilb_finding *f;
	struct given g;

	give(&g, state);
	g.m.kicks.total = 100;
	g.by_target[3] = 90;
	g.by_target[0] = 10;
	expect(&g, "ilb-one-cpu", ILB_INFO);
	f = one(&g);
	assert_string_equal(f->cpus, "3");
	assert_true(value(f, "cpu") == 3);
	assert_true(value(f, "share_pct") == 90);
	g.by_target[3] = 89;
	none(&g);
	/* Too few to say. */
	g.m.kicks.total = 99;
	g.by_target[3] = 99;
	none(&g);
}

static void a_kick_in_nine_of_ten_ticks(void **state)
{
	struct given g;

	give(&g, state);
	g.m.every_tick.jiffies = 1000;
	g.m.every_tick.kicked = 900;
	expect(&g, "ilb-every-tick", ILB_INFO);
	assert_non_null(strstr(one(&g)->text, "90 % of the 1000 ticks"));
	g.m.every_tick.kicked = 899;
	none(&g);
	g.m.every_tick.jiffies = g.m.every_tick.kicked = 99;
	none(&g);
	g.m.every_tick.jiffies = g.m.every_tick.kicked = 100;
	expect(&g, "ilb-every-tick", ILB_INFO);
	g.m.every_tick.known = 0;
	expect(&g, "ilb-every-tick", ILB_UNKNOWN);
}

/* ---- nohz_full ---- */

static void one_housekeeping_cpu_is_no_ilb(void **state)
{
	struct given g;

	give(&g, state);
	ilb_mask_clear(g.f->housekeeping, 0);
	expect(&g, "no-housekeeping-target", ILB_SERIOUS);
	assert_string_equal(one(&g)->cpus, "1");
	assert_true(value(one(&g), "housekeeping_cpus") == 1);
	/* The trace itself shows the opposite. */
	g.m.kicks.total = 1;
	none(&g);
	/* Without nohz_full the timekeeper stops its tick as others do. */
	g.m.kicks.total = 0;
	ilb_mask_zero(g.f->nohz_full, 8);
	none(&g);
	g.in.nohz_full = NULL;
	none(&g);
}

static void give_lost(struct given *g, void **state, unsigned int nr,
		      uint64_t ns)
{
	unsigned int i;

	give(g, state);
	g->m.nr_lost_cpus = nr;
	for (i = 0; i < nr; i++) {
		g->lost_cpu[i].cpu = i + 2;
		g->lost_cpu[i].lost_ns = ns;
	}
}

static void a_second_of_loss_is_serious(void **state)
{
	const struct ilb_finding *f;
	struct given g;

	give_lost(&g, state, 1, S_NS - 1);
	expect(&g, "lost-nohz-full-cpu", ILB_WARNING);
	give_lost(&g, state, 1, S_NS);
	expect(&g, "lost-nohz-full-cpu", ILB_SERIOUS);
	g.lost_cpu[0].lost_ns = 2500 * MS_NS;
	f = one(&g);
	assert_non_null(strstr(f->text, "CPU 2 for 2.5 s (of 10.0 s)"));
	assert_non_null(strstr(f->text, "without probes"));
	assert_string_equal(f->cpus, "2");
	assert_false(has(f, "missing_from_start"));
	g.m.probed = 1;
	f = one(&g);
	assert_null(strstr(f->text, "without probes"));
	assert_true(has(f, "missing_from_start"));
	g.m.nr_lost_cpus = 0;
	g.m.missing_from_start = 3;
	none(&g);
}

static void the_first_four_are_told_and_all_are_listed(void **state)
{
	const struct ilb_finding *f;
	struct given g;

	give_lost(&g, state, 6, 2 * S_NS);
	f = one(&g);
	assert_non_null(strstr(f->text, "CPU 5 for 2.0 s ..."));
	assert_null(strstr(f->text, "CPU 6"));
	assert_string_equal(f->cpus, "2-7");
	assert_true(value(f, "cpus") == 6);
	assert_true(value(f, "lost_s") == 12);
	assert_true(value(f, "longest_s") == 2);
}

/* More than the list has room for: it ends with a whole number. */
static void a_long_list_ends_with_a_whole_number(void **state)
{
	static struct ilb_lost_cpu many[2000];
	static unsigned long wide[ILB_MASK_WORDS(8192)];
	const struct ilb_finding *f;
	const char *last;
	struct given g;
	unsigned int i, cpu;

	give_lost(&g, state, 1, S_NS);
	g.m.nr_cpus = 8192;
	g.in.nohz_full = g.in.housekeeping = wide;
	for (i = 0; i < 2000; i++) {
		many[i].cpu = 1000 + 2 * i;
		many[i].lost_ns = UINT64_MAX;
		ilb_mask_set(wide, many[i].cpu);
	}
	g.m.lost_cpus = many;
	g.m.nr_lost_cpus = 2000;
	g.m.end_ns = UINT64_MAX;
	f = one(&g);
	assert_true(!strncmp(f->cpus, "1000,1002,", 10));
	assert_in_range(strlen(f->cpus), 100, sizeof(f->cpus) - 1);
	last = strrchr(f->cpus, ',');
	assert_int_equal(sscanf(last, ",%u", &cpu), 1);
	assert_true(cpu >= 1000 && cpu % 2 == 0);
	assert_int_equal(strlen(last), 5);
}

static void without_tick_stops_losses_are_unknown(void **state)
{
	struct given g;

	give(&g, state);
	g.m.tick.known = 0;
	assert_int_equal(judge(&g)->count, 2);
	assert_string_equal(g.found.finding[0].id, "lost-nohz-full-cpu");
	assert_int_equal(g.found.finding[0].severity, ILB_UNKNOWN);
	assert_string_equal(g.found.finding[1].id, "tick-churn");
	g.m.probed = 1;		/* the mask says it */
	expect(&g, "tick-churn", ILB_UNKNOWN);
	g.m.probed = 0;
	g.in.nohz_full = NULL;			/* nothing to lose */
	expect(&g, "tick-churn", ILB_UNKNOWN);
}

/* ---- the rest ---- */

static void a_long_wait_is_graver(void **state)
{
	static const struct {
		uint64_t ms;
		enum ilb_severity severity;
	} tests[] = {
		{ 5, ILB_INFO }, { 99, ILB_INFO }, { 100, ILB_WARNING },
		{ 999, ILB_WARNING }, { 1000, ILB_SERIOUS },
	};
	struct given g;
	unsigned int i;

	give(&g, state);
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		g.m.waiting.stretches = 1;
		g.m.waiting.longest_ns = tests[i].ms * MS_NS;
		g.m.waiting.total_ns = 2 * tests[i].ms * MS_NS;
		g.m.waiting.pid = 77;
		g.m.waiting.waiting_cpu = 3;
		g.m.waiting.idle_cpu = 2;
		expect(&g, "idle-while-waiting", tests[i].severity);
	}
	assert_non_null(strstr(one(&g)->text, "1 time a movable"));
	assert_non_null(strstr(one(&g)->text,
			       "1000.0 ms: pid 77 on CPU 3, CPU 2 idle"));
	assert_true(value(one(&g), "total_ms") == 2000);
	g.m.waiting.stretches = 2;
	assert_non_null(strstr(one(&g)->text, "2 times a movable"));
	g.m.waiting.stretches = 0;
	none(&g);
	g.m.waiting.known = 0;
	expect(&g, "idle-while-waiting", ILB_UNKNOWN);
}

/* 8 CPUs and 10 s: 800 short stops are 10 per CPU and second. */
static void ticks_that_stop_for_less_than_a_tick(void **state)
{
	struct given g;

	give(&g, state);
	g.m.tick.stops = 1600;
	g.m.tick.short_stops = 800;
	expect(&g, "tick-churn", ILB_INFO);
	assert_true(value(one(&g), "per_cpu_per_second") == 10);
	g.m.tick.short_stops = 799;
	none(&g);
	g.m.tick.short_stops = 800;
	g.m.tick.stops = 1601;			/* less than half */
	none(&g);
	g.m.tick.stops = g.m.tick.short_stops = 7999;
	expect(&g, "tick-churn", ILB_INFO);
	g.m.tick.stops = g.m.tick.short_stops = 8000;
	expect(&g, "tick-churn", ILB_WARNING);
}

static void a_stranded_softirq(void **state)
{
	struct given g;

	give(&g, state);
	g.m.softirq.stranded = 1;
	expect(&g, "softirq-stranded", ILB_WARNING);
	assert_non_null(strstr(one(&g)->text, "1 SCHED softirq was raised"));
	g.m.softirq.stranded = 2;
	assert_non_null(strstr(one(&g)->text, "2 SCHED softirqs were"));
	g.m.softirq.stranded = 0;
	none(&g);
	g.m.softirq.stranded_known = 0;
	expect(&g, "softirq-stranded", ILB_UNKNOWN);
}

static void lost_events_come_first(void **state)
{
	struct given g;

	give(&g, state);
	g.in.lost_events = 1;
	expect(&g, "lost-events", ILB_SERIOUS);
	assert_non_null(strstr(one(&g)->text, "lost 1 event:"));
	ilb_mask_clear(g.f->housekeeping, 0);
	judge(&g);
	assert_int_equal(g.found.count, 2);
	assert_string_equal(g.found.finding[0].id, "lost-events");
}

/* ---- all at once ---- */

static void expect_order(const struct given *g, const char *const *ids,
			 unsigned int nr)
{
	unsigned int i;

	assert_int_equal(g->found.count, nr);
	for (i = 0; i < nr; i++)
		assert_string_equal(g->found.finding[i].id, ids[i]);
}

/* With the largest numbers there are, so that every text is the longest. */
static void gravest_first_and_each_text_fits(void **state)
{
	static const char *const ids[] = {
		"lost-events", "ilb-on-busy-core", "no-housekeeping-target",
		"lost-nohz-full-cpu", "idle-while-waiting",
		"tick-churn", "softirq-stranded",
		"ilb-one-cpu", "ilb-every-tick",
	};
	struct given g;
	unsigned int i;

	give_lost(&g, state, 6, UINT64_MAX);
	ilb_mask_clear(g.f->housekeeping, 0);
	g.in.lost_events = UINT64_MAX;
	g.in.hz = UINT32_MAX;
	g.m.kicks.total = g.m.kicks.on_busy_core = UINT64_MAX / 128;
	g.by_target[7] = UINT64_MAX / 128;
	g.m.nr_victims = 1;
	memset(g.victim[0].comm, 'x', ILB_COMM_LEN - 1);
	g.victim[0].pid = INT32_MAX;
	g.victim[0].cpu = UINT32_MAX;
	g.victim[0].running_ns = g.victim[0].disturbed_ns = UINT64_MAX;
	g.m.every_tick.jiffies = g.m.every_tick.kicked = UINT64_MAX / 16;
	g.m.waiting.stretches = UINT64_MAX;
	g.m.waiting.longest_ns = g.m.waiting.total_ns = UINT64_MAX;
	g.m.waiting.pid = INT32_MAX;
	g.m.waiting.idle_cpu = g.m.waiting.waiting_cpu = UINT32_MAX;
	g.m.tick.stops = g.m.tick.short_stops = UINT64_MAX / 4;
	g.m.softirq.stranded = UINT64_MAX;
	for (i = 0; i < 8; i++)
		g.lost_cpu[i].cpu = 8184 + i;
	g.m.end_ns = UINT64_MAX;
	judge(&g);
	/* Kicks were seen, so that one does not hold. */
	assert_int_equal(g.found.count, 8);
	g.m.kicks.total = g.m.kicks.on_busy_core = 0;
	judge(&g);
	assert_string_equal(g.found.finding[1].id, "no-housekeeping-target");
	g.m.kicks.total = g.m.kicks.on_busy_core = UINT64_MAX / 128;
	ilb_mask_set(g.f->housekeeping, 0);
	judge(&g);
	expect_order(&g, (const char *const[]){ ids[0], ids[1], ids[3], ids[4],
						ids[5], ids[6], ids[7],
						ids[8] }, 8);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		assert_true(ilb_finding_known(ids[i]));
}

/* Nothing was recorded: whatever is not judged says what to record. */
static void what_cannot_be_judged_is_unknown(void **state)
{
	static const char *const ids[] = {
		"ilb-on-busy-core", "lost-nohz-full-cpu",
		"idle-while-waiting", "ilb-one-cpu", "ilb-every-tick",
		"tick-churn", "softirq-stranded",
	};
	struct given g;
	unsigned int i;

	give(&g, state);
	g.m.kicks.kicks_known = g.m.runs.known = 0;
	g.m.softirq.known = g.m.softirq.stranded_known = 0;
	g.m.waiting.known = g.m.tick.known = g.m.every_tick.known = 0;
	judge(&g);
	expect_order(&g, ids, ARRAY_SIZE(ids));
	for (i = 0; i < g.found.count; i++) {
		assert_int_equal(g.found.finding[i].severity, ILB_UNKNOWN);
		assert_non_null(strstr(g.found.finding[i].remedy, "record"));
		assert_int_equal(g.found.finding[i].nr_evidence, 0);
	}
	/* They come after what is known. */
	g.in.lost_events = 5;
	g.m.waiting.known = 1;
	g.m.waiting.stretches = 1;
	judge(&g);
	assert_string_equal(g.found.finding[0].id, "lost-events");
	assert_string_equal(g.found.finding[1].id, "idle-while-waiting");
	assert_int_equal(g.found.finding[1].severity, ILB_INFO);
	assert_int_equal(g.found.finding[2].severity, ILB_UNKNOWN);
}

static void names(void **state)
{
	(void)state;
	assert_true(ilb_finding_known("tick-churn"));
	assert_false(ilb_finding_known("tick-chur"));
	assert_false(ilb_finding_known("tick-churns"));
	assert_false(ilb_finding_known(""));
	assert_string_equal(ilb_severity_name(ILB_UNKNOWN), "unknown");
	assert_string_equal(ilb_severity_name(ILB_INFO), "info");
	assert_string_equal(ilb_severity_name(ILB_WARNING), "warning");
	assert_string_equal(ilb_severity_name(ILB_SERIOUS), "serious");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(nothing_is_wrong),
		FIXTURE_TEST(its_severity_follows_the_disturbed_share),
		FIXTURE_TEST(a_rare_and_cheap_kick_is_no_finding),
		FIXTURE_TEST(the_worst_share_is_told_not_the_longest_time),
		FIXTURE_TEST(what_it_cost_may_be_unknown),
		FIXTURE_TEST(a_name_cannot_break_the_line),
		FIXTURE_TEST(one_cpu_takes_nine_tenths),
		FIXTURE_TEST(a_kick_in_nine_of_ten_ticks),
		FIXTURE_TEST(one_housekeeping_cpu_is_no_ilb),
		FIXTURE_TEST(a_second_of_loss_is_serious),
		FIXTURE_TEST(the_first_four_are_told_and_all_are_listed),
		FIXTURE_TEST(a_long_list_ends_with_a_whole_number),
		FIXTURE_TEST(without_tick_stops_losses_are_unknown),
		FIXTURE_TEST(a_long_wait_is_graver),
		FIXTURE_TEST(ticks_that_stop_for_less_than_a_tick),
		FIXTURE_TEST(a_stranded_softirq),
		FIXTURE_TEST(lost_events_come_first),
		FIXTURE_TEST(gravest_first_and_each_text_fits),
		FIXTURE_TEST(what_cannot_be_judged_is_unknown),
		FIXTURE_TEST(names),
	};

	return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
