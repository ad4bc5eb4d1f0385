// SPDX-License-Identifier: GPL-2.0-only
/* A trace as a load: who wakes when, and computes for how long. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ilb/sim.h"
#include "tests/unit/test.h"

/*
 * Starts at 10.0. CPU 0: "first" (7) was running and sleeps at 10.001, comes
 * back at 10.004 by a wakeup at 10.003, is preempted by 8 from 10.005 to
 * 10.0055, sleeps at 10.006. CPU 1: 8 was last seen there when it slept; 9
 * runs from 10.007 (its wakeup was not seen) to the end at 10.01.
 */
static const char trace[] =
	" first-7 [000] 10.000000: hrtimer_expire_entry: hrtimer=0x1 now=1 function=tick_nohz_handler/0x0\n"
	" first-7 [000] 10.001000: sched_switch: first:7 [120] S ==> swapper/0:0 [120]\n"
	" <idle>-0 [001] 10.003000: sched_wakeup: first:7 [120] CPU:000\n"
	" <idle>-0 [000] 10.004000: sched_switch: swapper/0:0 [120] R ==> first:7 [120]\n"
	" first-7 [000] 10.004500: sched_wakeup: other:8 [120] CPU:000\n"
	" first-7 [000] 10.004600: sched_wakeup: other:8 [120] CPU:000\n"
	" first-7 [000] 10.005000: sched_switch: first:7 [120] R ==> other:8 [120]\n"
	" other-8 [000] 10.005500: sched_switch: other:8 [120] S ==> first:7 [120]\n"
	" first-7 [000] 10.006000: sched_switch: first:7 [120] S ==> swapper/0:0 [120]\n"
	" <idle>-0 [001] 10.007000: sched_switch: swapper/1:0 [120] R ==> late:9 [120]\n"
	" <idle>-0 [000] 10.008000: sched_switch: swapper/0:0 [120] R ==> migration/0:11 [0]\n"
	" migration/0-11 [000] 10.009000: sched_switch: migration/0:11 [0] S ==> swapper/0:0 [120]\n"
	" late-9 [001] 10.010000: hrtimer_expire_entry: hrtimer=0x1 now=1 function=tick_nohz_handler/0x0\n";

static char folder[] = "/tmp/ilb-recorded-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/trace.txt", folder);
	unlink(path);
	return rmdir(folder);
}

/* The plan for the load of @text on @machine; or what is wrong. */
static struct ilb_sim_plan *plan_of(const char *text, const char *machine,
				    const char *rest, struct ilb_error *error)
{
	struct ilb_sim_plan *plan = NULL;
	struct ilb_scenario *s;
	char scenario[512], file[64], path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/trace.txt", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	snprintf(scenario, sizeof(scenario),
		 "{\"machine\": \"%s\", \"kernel\": \"linux-6.12\",\n"
		 "\"workload\": {\"recorded\":\n{%s}}}", machine, rest);
	/* The capture is beside the scenario. */
	snprintf(file, sizeof(file), "%s/s.json", folder);
	error->text[0] = '\0';
	assert_int_equal(ilb_scenario_parse(&s, file, scenario, NULL, error),
			 0);
	if (ilb_scenario_plan(s, NULL, &plan, error))
		plan = NULL;
	ilb_scenario_free(s);
	return plan;
}

#define CAPTURE	"\"capture\": \"trace.txt\""
#define TWO	"core:2 pu:1"

static void expect_step(const struct ilb_sim_step *step, enum ilb_sim_op op,
			uint64_t us)
{
	assert_int_equal(step->op, op);
	assert_int_equal(step->value, us * 1000);
}

static void bursts_are_what_was_computed(void **state)
{
	struct ilb_error error;
	struct ilb_sim_plan *plan = plan_of(trace, TWO, CAPTURE, &error);
	const struct ilb_sim_task_plan *t;

	(void)state;
	if (!plan)
		fail_msg("%s", error.text);
	assert_true(plan->duration_ns == 10000000);
	assert_int_equal(plan->nr_tasks, 3);
	t = &plan->tasks[0];
	assert_string_equal(t->comm, "first");
	assert_true(t->start_ns == 0);
	assert_int_equal(t->nr_steps, 3);
	expect_step(&t->steps[0], ILB_SIM_RUN, 1000);
	expect_step(&t->steps[1], ILB_SIM_UNTIL, 3000);
	/* 4000 to 5000 and 5500 to 6000. */
	expect_step(&t->steps[2], ILB_SIM_RUN, 1500);
	t = &plan->tasks[1];
	assert_string_equal(t->comm, "other");
	assert_true(t->start_ns == 4500000);
	assert_int_equal(t->nr_steps, 1);
	expect_step(&t->steps[0], ILB_SIM_RUN, 500);
	t = &plan->tasks[2];
	assert_string_equal(t->comm, "late");
	assert_true(t->start_ns == 7000000);
	expect_step(&t->steps[0], ILB_SIM_RUN, 3000);
	assert_null(t->allowed);
	ilb_sim_plan_free(plan);
}

static void tasks_can_be_kept_where_they_were(void **state)
{
	struct ilb_error error;
	struct ilb_sim_plan *plan;

	(void)state;
	plan = plan_of(trace, TWO, CAPTURE ", \"cpus\": \"seen\"", &error);
	if (!plan)
		fail_msg("%s", error.text);
	assert_int_equal(*plan->tasks[0].allowed, 1);
	assert_int_equal(*plan->tasks[2].allowed, 2);
	ilb_sim_plan_free(plan);
}

/* 1 + 1.5 + 0.5 + 3 ms, and the last burst ends with the run. */
static void the_load_runs_as_recorded(void **state)
{
	struct ilb_sim_result result;
	struct ilb_error error;
	struct ilb_sim_plan *plan = plan_of(trace, TWO, CAPTURE, &error);

	(void)state;
	if (!plan || ilb_sim_run(plan, NULL, NULL, &result, &error))
		fail_msg("%s", error.text);
	assert_in_range(result.work_ns, 5900000, 6000000);
	assert_int_equal(result.wakeups, 4);
	ilb_sim_plan_free(plan);
}

static const struct {
	const char *text, *machine, *rest, *message;
} bad[] = {
	{ trace, TWO, "\"capture\": \"none.txt\"",
	  "s.json:3: workload.recorded.capture: " },
	{ trace, TWO, "\"cpus\": \"seen\"", "has no \"capture\"" },
	{ trace, TWO, CAPTURE ", \"cpus\": \"0-1\"",
	  "workload.recorded.cpus: is neither \"all\" nor \"seen\"" },
	{ trace, TWO, "\"captur\": 1",
	  "workload.recorded.captur: no such key; the nearest is \"capture\"" },
	{ trace, TWO, CAPTURE "}, \"tasks\": {\"a\": {\"run\": 1}",
	  "stands beside \"tasks\"" },
	/* A bare trace is of this machine, which has no CPU 1. */
	{ trace, "core:1 pu:1", CAPTURE, "workload.recorded.capture: " },
	{ " a-7 [000] 10.000000: sched_wakeup: b:0 [120] CPU:000\n", TWO,
	  CAPTURE, "has no task that ran" },
	{ "nonsense\n", TWO, CAPTURE, "workload.recorded.capture: " },
};

static void what_is_wrong_is_said(void **state)
{
	struct ilb_error error;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (plan_of(bad[i].text, bad[i].machine, bad[i].rest,
			    &error) || !strstr(error.text, bad[i].message))
			fail_msg("%zu: said '%s', not '%s'", i, error.text,
				 bad[i].message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_are_what_was_computed),
		cmocka_unit_test(tasks_can_be_kept_where_they_were),
		cmocka_unit_test(the_load_runs_as_recorded),
		cmocka_unit_test(what_is_wrong_is_said),
	};

	return cmocka_run_group_tests_name("sim_recorded", tests, make_folder,
					   remove_folder);
}
