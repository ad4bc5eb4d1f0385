// SPDX-License-Identifier: GPL-2.0-only
/* Small machines whose runs can be worked out by hand. */

#include <stdlib.h>
#include <string.h>

#include "ilb/sim.h"
#include "tests/unit/test.h"

#define GUEST	"{\"topology\": \"pack:2 [numa] l3:1 core:4 pu:2\", " \
		"\"smt_speed\": [1024, 512]}"
#define PIN	"\"spin\": {\"instance\": 4, \"cpus\": [0, 2, 4, 6], " \
		"\"pin\": \"cpu\", \"run\": \"1s\"}"

struct seen {
	const struct ilb_topology *topology;
	uint64_t last_ns, switch_ns;
	unsigned int together;
	unsigned int kicks, on_busy;
	unsigned int events[ILB_EVENT_TYPES];
};

static void on_event(void *context, const struct ilb_event *event)
{
	struct seen *seen = context;

	assert_true(event->time_ns >= seen->last_ns);
	if (event->type == ILB_EVENT_SWITCH) {
		seen->together += event->time_ns == seen->switch_ns;
		seen->switch_ns = event->time_ns;
	}
	seen->last_ns = event->time_ns;
	seen->events[event->type]++;
}

static void on_moment(void *context, const struct ilb_moment *moment)
{
	struct seen *seen = context;
	unsigned int s;

	assert_int_equal(moment->kind, ILB_MOMENT_SIMULATED);
	assert_false(ilb_mask_test(moment->idle, moment->kicker));
	if (moment->target == ILB_CPU_NONE)
		return;
	assert_true(ilb_mask_test(moment->idle, moment->target));
	assert_true(ilb_mask_test(moment->mask, moment->target));
	seen->kicks++;
	s = seen->topology->sibling[moment->target];
	seen->on_busy += !ilb_mask_test(moment->idle, s);
}

static struct ilb_sim_plan *plan_of(const char *machine, const char *kernel,
				    const char *tasks, const char *rest)
{
	struct ilb_error error = { "" };
	struct ilb_scenario *s = NULL;
	struct ilb_sim_plan *plan = NULL;
	char text[4096];

	snprintf(text, sizeof(text),
		 "{\"machine\": %s, \"kernel\": {\"release\": \"%s\"%s}, "
		 "\"workload\": {\"tasks\": {%s}}, \"duration\": \"1s\"}",
		 machine, kernel, rest, tasks);
	if (ilb_scenario_parse(&s, "run.json", text, NULL, &error) ||
	    ilb_scenario_plan(s, NULL, &plan, &error))
		fail_msg("%s", error.text);
	ilb_scenario_free(s);
	return plan;
}

static struct ilb_sim_result run(struct ilb_sim_plan *plan, struct seen *seen)
{
	struct ilb_sim_sink sink = { on_event, on_moment, seen };
	struct ilb_sim_result result;
	struct ilb_error error = { "" };

	memset(seen, 0, sizeof(*seen));
	seen->topology = plan->machine.topology;
	if (ilb_sim_run(plan, &sink, NULL, &result, &error))
		fail_msg("%s", error.text);
	return result;
}

static struct ilb_sim_result run_once(const char *machine, const char *kernel,
				      const char *tasks, const char *rest,
				      struct seen *seen)
{
	struct ilb_sim_plan *plan = plan_of(machine, kernel, tasks, rest);
	struct ilb_sim_result result = run(plan, seen);

	ilb_sim_plan_free(plan);
	return result;
}

/* What the captures of stock kernels show of this very workload. */
static void test_pinned(void **state)
{
	struct seen seen;

	(void)state;
	run_once(GUEST, "linux-6.12", PIN, "", &seen);
	assert_in_range(seen.kicks, 200, 250);
	assert_int_equal(seen.on_busy, seen.kicks);
	run_once(GUEST, "linux-7.3", PIN, "", &seen);
	assert_in_range(seen.kicks, 200, 250);
	assert_int_equal(seen.on_busy, 0);
}

static void test_same_again(void **state)
{
	static const char tasks[] =
		"\"a\": {\"instance\": 20, \"jitter_ppm\": 300000, "
		"\"run\": 700, \"sleep\": 900}";
	struct ilb_sim_plan *plan = plan_of(GUEST, "linux-7.3", tasks, "");
	struct ilb_sim_result one, two;
	struct seen seen;

	(void)state;
	one = run(plan, &seen);
	two = run(plan, &seen);
	assert_memory_equal(&one, &two, sizeof(one));
	plan->seed++;
	two = run(plan, &seen);
	assert_true(one.digest != two.digest);
	ilb_sim_plan_free(plan);
}

/* Alone at full speed, less ticks; two on a core at half of it each. */
static void test_speed(void **state)
{
	struct ilb_sim_result result;
	struct seen seen;

	(void)state;
	result = run_once(GUEST, "linux-6.12",
			  "\"a\": {\"cpus\": [0], \"run\": \"2s\"}", "", &seen);
	assert_in_range(result.work_ns, 990000000, 1000000000);
	result = run_once(GUEST, "linux-6.12",
			  "\"a\": {\"instance\": 2, \"cpus\": [0, 1], "
			  "\"pin\": \"cpu\", \"run\": \"2s\"}", "", &seen);
	assert_in_range(result.work_ns, 990000000, 1000000000);
}

/* The sibling runs 100 us of every 1 ms; recovery makes that 600 us of it. */
static void test_recovery(void **state)
{
	static const char machine[] =
		"{\"topology\": \"core:2 pu:2\", \"smt_speed\": [1024, 512], "
		"\"recovery\": \"500us\", \"costs\": {\"idle\": 1, \"irq\": 1,"
		"\"switch\": 1, \"tick\": 1, \"softirq\": 1, \"attempt\": 1,"
		"\"attempt_cpu\": 1, \"visit\": 1}}";
	static const char tasks[] =
		"\"a\": {\"cpus\": [0], \"run\": \"2s\"},"
		"\"b\": {\"cpus\": [1], \"run\": \"50us\", \"timer\": 1000}";
	struct ilb_sim_result result;
	struct seen seen;

	(void)state;
	result = run_once(machine, "linux-6.12", tasks, ", \"hz\": 100",
			  &seen);
	/* a: 700 of 1000 us; b: 50. Ticks recover, too: a per cent more. */
	assert_in_range(result.work_ns, 730000000, 752000000);
}

/* Three tasks on one CPU get a third each. */
static void test_fair(void **state)
{
	struct ilb_sim_result result;
	struct seen seen;

	(void)state;
	result = run_once("{\"topology\": \"core:1 pu:1\"}", "linux-6.12",
			  "\"a\": {\"instance\": 3, \"loop\": 1, "
			  "\"run\": \"330ms\"}", "", &seen);
	assert_in_range(result.work_ns, 980000000, 990000000);
	assert_in_range(result.switches, 150, 260);
	assert_int_equal(result.violations, 0);
}

static void test_ping_pong(void **state)
{
	static const char tasks[] =
		"\"ping\": {\"run\": 10, \"resume\": \"pong\", "
		"\"suspend\": \"ping\"},"
		"\"pong\": {\"suspend\": \"pong\", \"run\": 10, "
		"\"resume\": \"ping\"}";
	struct ilb_sim_result result;
	struct seen seen;

	(void)state;
	result = run_once(GUEST, "linux-7.3", tasks, "", &seen);
	/* A round trip is 20 us of work and two wakeups of a few us. */
	assert_in_range(result.wakeups, 50000, 100000);
	assert_in_range(result.work_ns, 500000000, 1000000000);
}

/* 4 at a barrier, one of them twice as long: half of the others' time. */
static void test_barrier(void **state)
{
	static const char tasks[] =
		"\"a\": {\"instance\": 3, \"cpus\": [0, 2, 4], \"pin\": "
		"\"cpu\", \"run\": 1000, \"barrier\": {\"ref\": \"b\", "
		"\"spin\": true}},"
		"\"slow\": {\"cpus\": [6], \"run\": 2000, \"barrier\": \"b\"}";
	struct ilb_sim_result result;
	struct seen seen;

	(void)state;
	result = run_once(GUEST, "linux-6.12", tasks, "", &seen);
	assert_in_range(result.work_ns, 2450000000, 2500000000);
}

static void test_after(void **state)
{
	static const char tasks[] =
		"\"a\": {\"loop\": 1, \"run\": \"10ms\"},"
		"\"b\": {\"loop\": 1, \"run\": \"10ms\", \"after\": \"a\"}";
	struct ilb_sim_result result;
	struct seen seen;

	(void)state;
	result = run_once("{\"topology\": \"core:1 pu:1\"}", "linux-6.12",
			  tasks, "", &seen);
	assert_int_equal(result.work_ns, 20000000);
	/* Never both: in and out, twice. */
	assert_int_equal(result.switches, 4);
}

/* Tasks that were stuck on one CPU are spread, within some ticks. */
static void test_spreads(void **state)
{
	struct ilb_sim_result result;
	struct seen seen;

	(void)state;
	result = run_once(GUEST, "linux-6.12",
			  "\"a\": {\"instance\": 16, \"run\": \"1s\"}", "",
			  &seen);
	assert_int_equal(result.violations, 0);
	assert_in_range(result.work_ns, 7800000000, 8000000000);
}

/* Mail C: what a nohz_full CPU's tick does. */
static void test_nohz_full(void **state)
{
	struct ilb_sim_result result;
	struct seen seen;

	(void)state;
	result = run_once(GUEST, "linux-6.12",
			  "\"a\": {\"cpus\": [3], \"run\": \"2s\"}",
			  ", \"nohz_full\": \"1-15\"", &seen);
	/* CPU 0 keeps time and ticks; CPU 3 does not, with its one task. */
	assert_in_range(seen.events[ILB_EVENT_TICK], 249, 300);
	assert_int_equal(result.kicks, 0);
}

/*
 * A CPU that kicks wake each jiffy expects no more of a sleep: once a task has
 * started its tick, the governor lets it run.
 */
static void test_menu_learns_from_kicks(void **state)
{
	static const char machine[] =
		"{\"topology\": \"pack:2 [numa] l3:1 core:4 pu:2\", "
		"\"smt_speed\": [1024, 512], \"idle_states\": ["
		"{\"name\": \"a\", \"exit\": 1, \"residency\": 1}, "
		"{\"name\": \"b\", \"exit\": 10, \"residency\": 100}]}";
	struct seen seen;

	(void)state;
	run_once(machine, "linux-6.12", PIN, ", \"hz\": 1000", &seen);
	assert_in_range(seen.kicks, 900, 1000);
	assert_in_range(seen.events[ILB_EVENT_TICK], 3990, 4100);
	run_once(machine, "linux-6.12",
		 PIN ", \"short\": {\"cpus\": [1], \"delay\": \"500ms\", "
		 "\"loop\": 1, \"run\": \"1500us\"}",
		 ", \"hz\": 1000", &seen);
	assert_in_range(seen.events[ILB_EVENT_TICK], 4450, 4600);
}

/* Instances of a periodic task do not all wake in one moment. */
static void test_spread(void **state)
{
	static const char together[] =
		"\"a\": {\"instance\": 16, \"cpus\": \"0-15\", "
		"\"pin\": \"cpu\", \"run\": 100, \"timer\": \"100ms\"}";
	static const char apart[] =
		"\"a\": {\"instance\": 16, \"cpus\": \"0-15\", "
		"\"pin\": \"cpu\", \"spread\": \"100ms\", "
		"\"run\": 100, \"timer\": \"100ms\"}";
	struct seen seen;

	(void)state;
	run_once(GUEST, "linux-6.12", together, "", &seen);
	assert_true(seen.together >= 10 * 15);
	run_once(GUEST, "linux-6.12", apart, "", &seen);
	assert_true(seen.events[ILB_EVENT_SWITCH] >= 2 * 9 * 16);
	assert_int_equal(seen.together, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_same_again),
		cmocka_unit_test(test_speed),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_fair),
		cmocka_unit_test(test_ping_pong),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_after),
		cmocka_unit_test(test_spreads),
		cmocka_unit_test(test_nohz_full),
		cmocka_unit_test(test_menu_learns_from_kicks),
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests_name("sim_run", tests, NULL, NULL);
}
