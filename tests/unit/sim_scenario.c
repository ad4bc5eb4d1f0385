// SPDX-License-Identifier: GPL-2.0-only
/* Scenario files: what is wrong is said with file, line, place and reason. */

#include <stdlib.h>
#include <string.h>

#include "ilb/sim.h"
#include "tests/unit/test.h"

#define MACHINE	"\"machine\": \"pack:1 l3:1 core:4 pu:2\",\n"
#define KERNEL	"\"kernel\": \"linux-6.12\",\n"
#define TASKS(t) "\"workload\": {\"tasks\": {\n" t "}},\n"
#define END	"\"duration\": \"10ms\""
#define RUN	"\"a\": {\"run\": 10}"
#define FILE_OF(t) "{\n" MACHINE KERNEL TASKS(t) END "}\n"

static int plan_of(const char *text, const char *variant,
		   struct ilb_sim_plan **plan, struct ilb_error *error)
{
	struct ilb_scenario *s = NULL;
	int err;

	*plan = NULL;
	err = ilb_scenario_parse(&s, "test.json", text, NULL, error);
	if (!err)
		err = ilb_scenario_plan(s, variant, plan, error);
	ilb_scenario_free(s);
	return err;
}

static const struct {
	const char *text;
	const char *message;
} bad[] = {
	{ "{\n\"machine\": ,}", "test.json:2: is no JSON" },
	{ "[]", "test.json:1: is not an object" },
	{ "{}", "has no \"machine\"" },
	{ "{\n" MACHINE KERNEL "\n\"wokload\": {}}",
	  "test.json:5: wokload: no such key; the nearest is \"workload\"" },
	{ "{\"machine\": \"nonesuch\"}", "there is no machine 'nonesuch'" },
	{ "{\"machine\": {}}", "machine: has no \"topology\"" },
	{ "{\"machine\": {\n\"topology\": \"core:0 pu:2\"}}",
	  "test.json:2: machine.topology: " },
	{ "{\"machine\": {\"topology\": \"core:2 pu:2\",\n\"capacity\":\n"
	  "{\"0\": 2000}}}",
	  "test.json:3: machine.capacity.0: is not a capacity" },
	{ "{\"machine\": {\"topology\": \"core:2 pu:2\",\n\"capacity\":\n"
	  "{\"0-3\": 100}}}", "the largest CPU has 100" },
	{ "{\"machine\": {\"topology\": \"core:2 pu:2\",\n\"capacity\":\n"
	  "{\"0-4\": 100}}}",
	  "test.json:3: machine.capacity.0-4: is not a list of CPUs below 4" },
	{ "{\"machine\": {\"topology\": \"core:2 pu:2\",\n\"capacity\":\n"
	  "{\"0\": 0}}}",
	  "test.json:3: machine.capacity.0: is not a capacity" },
	{ "{\"machine\": {\"topology\": \"core:8192 pu:2\"}}",
	  "test.json:1: machine.topology: " },
	{ "{\"machine\": {\"topology\": \"core:2 pu:2\",\n\"costs\":\n"
	  "{\"ipi\": 0}}}", "test.json:3: machine.costs.ipi: is not from" },
	{ "{\"machine\": {\"topology\": \"core:2 pu:2\",\n"
	  "\"recovery\": \"2s\"}}", "test.json:2: machine.recovery: is not from" },
	{ "{\"machine\": {\"topology\": \"core:2 pu:2\",\n"
	  "\"smt_speed\": [500, 600]}}", "speed 2 is not from 1 to 500" },
	{ "{\n" MACHINE "\"kernel\": \"linux-6.11x\"}", "kernel" },
	{ "{\n" MACHINE "\"kernel\": {\"release\": \"linux-6.12\",\n"
	  "\"nohz_full\": \"1-9\"}}",
	  "test.json:4: kernel.nohz_full: CPU 8 is not there; the machine has CPUs 0-7" },
	{ "{\n" MACHINE "\"kernel\": {\"release\": \"linux-6.12\",\n"
	  "\"features\": [\"no-such=1\"]}}", "'no-such=1' is no feature" },
	{ "{\n" MACHINE "\"kernel\": {\"release\": \"linux-6.12\",\n"
	  "\"hz\": 0}}", "test.json:4: kernel.hz: is not" },
	{ "{\n" MACHINE KERNEL "\"policy\": \"idle-cores\"}",
	  "test.json:4: policy: there is no rule 'idle-cores' here; the nearest is \"idle-core\"" },
	{ "{\n" MACHINE KERNEL "\"seed\": 1}", "workload: is missing" },
	{ "{\n" MACHINE KERNEL TASKS(RUN) "\"duration\": 0}",
	  "test.json:6: duration: is not from" },
	{ "{\n" MACHINE KERNEL TASKS(RUN) "\"duration\": \"2h\"}",
	  "duration: is not a time" },
	{ "{\n" MACHINE KERNEL TASKS(RUN) "\"duration\": 36000}",
	  "duration: is not from" },
	{ "{\n" MACHINE KERNEL TASKS(RUN) "\"seed\": 1}",
	  "has no \"duration\"" },
	{ FILE_OF("\"a\": {\"run\": 0}"),
	  "test.json:5: workload.tasks.a.run: is not from 1 ns" },
	{ FILE_OF("\"a\": {\"sleep\": \"4000s\"}"),
	  "test.json:5: workload.tasks.a.sleep: is not" },
	{ FILE_OF("\"a\": {\"run\": -1}"),
	  "test.json:5: workload.tasks.a.run: is not" },
	{ FILE_OF("\"a\": {\"run\": 1, \"after\": \"a\"}"),
	  "test.json:5: workload.tasks.a.after: waits for itself" },
	{ FILE_OF("\"a\": {\"runn\": 1}"),
	  "workload.tasks.a.runn: no such key; the nearest is \"run\"" },
	{ FILE_OF("\"a\": {\"run\": 1, \"lock\": \"x\"}"),
	  "workload.tasks.a.lock: rt-app has it" },
	{ FILE_OF("\"a\": {\"run\": 1, \"cpus\": [3, 8]}"),
	  "workload.tasks.a.cpus: CPU 8 is not there" },
	{ FILE_OF("\"a\": {\"run\": 1, \"cpus\": []}"), "has no CPU" },
	{ FILE_OF("\"a\": {\"instance\": 3, \"pin\": \"cpu\", \"run\": 1,"
		  "\"cpus\": \"0-1\"}"), "3 instances do not fit" },
	{ FILE_OF("\"a\": {\"instance\": 99999, \"run\": 1}"),
	  "workload.tasks.a.instance: is not a whole number" },
	{ FILE_OF("\"a\": {}"), "workload.tasks.a: does nothing" },
	{ FILE_OF("\"a\": {\"phases\": {\"p\": {\"loop\": 3}}}"),
	  "workload.tasks.a.phases.p: does nothing" },
	{ FILE_OF("\"a\": {\"run\": 1,\n\"phases\": {}}"),
	  "test.json:5: workload.tasks.a.run: stands beside \"phases\"" },
	{ FILE_OF("\"a\": {\"run\": 1, \"resume\": \"b\"}"),
	  "there is no task 'b'" },
	{ FILE_OF("\"a\": {\"run\": 1, \"after\": \"b\"},\n"
		  "\"b\": {\"run\": 1, \"after\": \"c\"},\n"
		  "\"c\": {\"run\": 1, \"after\": \"b\"}"),
	  "waits for itself by way of" },
	{ FILE_OF("\"a\": {\"timer\": {\"ref\": \"t\"}}"),
	  "workload.tasks.a.timer: has no \"period\"" },
	{ FILE_OF("\"a\": {\"run\": 1, \"barrier\": 1}"),
	  "workload.tasks.a.barrier: is neither" },
	{ FILE_OF("\"a\": {\"run\": 1}, \"a\": {\"run\": 1}"),
	  "is no JSON: duplicate" },
};

static void test_errors(void **state)
{
	struct ilb_sim_plan *plan;
	struct ilb_error error;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		error.text[0] = '\0';
		if (!plan_of(bad[i].text, NULL, &plan, &error) ||
		    !strstr(error.text, bad[i].message))
			fail_msg("'%s': said '%s', not '%s'", bad[i].text,
				 error.text, bad[i].message);
	}
}

static void test_program(void **state)
{
	static const char text[] =
		FILE_OF("\"a\": {\"instance\": 2, \"loop\": 5, \"phases\": {\n"
			"\"p\": {\"loop\": 3, \"run0\": 10, \"sleep\": \"1.5ms\","
			" \"run1\": 20},\n"
			"\"q\": {\"timer\": {\"ref\": \"t\", \"period\": 1000},"
			" \"resume\": \"b\"}}},\n"
			"\"b\": {\"instance\": 2, \"suspend\": \"b\"}");
	const struct ilb_sim_step *s;
	struct ilb_sim_plan *plan;
	struct ilb_error error = { "" };

	(void)state;
	if (plan_of(text, NULL, &plan, &error))
		fail_msg("%s", error.text);
	assert_int_equal(plan->nr_tasks, 4);
	assert_string_equal(plan->tasks[1].comm, "a-1");
	assert_int_equal(plan->tasks[1].nr_steps, 7);
	s = plan->tasks[1].steps;
	assert_int_equal(s[0].op, ILB_SIM_RUN);
	assert_true(s[0].value == 10000);
	assert_true(s[1].value == 1500000);
	assert_true(s[2].value == 20000);
	assert_int_equal(s[3].op, ILB_SIM_LOOP);
	assert_true(s[3].value == 3 && s[3].index == 0 && s[3].depth == 0);
	assert_int_equal(s[4].op, ILB_SIM_TIMER);
	assert_int_equal(s[5].op, ILB_SIM_RESUME);
	/* The second instance resumes the second one of the other task. */
	assert_int_equal(s[5].index, 3);
	assert_true(s[6].value == 5 && s[6].index == 0 && s[6].depth == 1);
	ilb_sim_plan_free(plan);
}

static void test_variants(void **state)
{
	static const char text[] =
		"{\n" MACHINE KERNEL TASKS(RUN) END ",\n"
		"\"variants\": {\"stock\": {},\n"
		"\"other\": {\"policy\": \"near\"},\n"
		"\"wrong\": {\n\"policy\": \"nearest\"}},\n"
		"\"published\": {\"unit\": \"GFLOP/s\", \"stock\": \"5.2\"}}";
	struct ilb_scenario *s;
	struct ilb_sim_plan *plan;
	struct ilb_error error = { "" };
	const char *unit;

	(void)state;
	assert_int_equal(ilb_scenario_parse(&s, "v.json", text, NULL, &error),
			 0);
	assert_string_equal(ilb_scenario_variant(s, 1), "other");
	assert_null(ilb_scenario_variant(s, 3));
	assert_string_equal(ilb_scenario_published(s, "stock", &unit), "5.2");
	assert_string_equal(unit, "GFLOP/s");
	assert_null(ilb_scenario_published(s, "other", &unit));
	if (ilb_scenario_plan(s, "other", &plan, &error))
		fail_msg("%s", error.text);
	assert_string_equal(plan->kernel.behaviour.target, "near");
	ilb_sim_plan_free(plan);
	assert_true(ilb_scenario_plan(s, "wrong", &plan, &error) < 0);
	assert_non_null(strstr(error.text, "v.json:10: policy: "));
	assert_true(ilb_scenario_plan(s, "none", &plan, &error) < 0);
	ilb_scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_variants),
	};

	return cmocka_run_group_tests_name("sim_scenario", tests, NULL, NULL);
}
