// SPDX-License-Identifier: GPL-2.0-only
/* system.json: what it says, what follows from it, and what is refused. */

#include <stdio.h>
#include <string.h>

#include "ilb/capture.h"
#include "ilb/event.h"
#include "test.h"
#include "trace/bootline.h"
#include "trace/system.h"

#define MACHINE	"pack:2 [numa] l3:1 core:2 pu:2"

static int parse(const char *json, struct ilb_system *system,
		 struct ilb_topology **t, struct ilb_error *error)
{
	error->text[0] = '\0';
	assert_int_equal(ilb_topology_load(t, MACHINE, error), 0);
	return ilb_system_parse(system, *t, json, json ? strlen(json) : 0,
				"d/system.json", "topology.xml", error);
}

struct good_case {
	const char *json;
	unsigned long online, housekeeping, nohz_full, isolated;
	int known;
};

static const struct good_case goods[] = {
	{ NULL, 0xff, 0xff, 0, 0, 0 },
	{ "{}", 0xff, 0xff, 0, 0, 0 },
	{ "{\"smt\": 1, \"note\": [null, {}]}", 0xff, 0xff, 0, 0, 0 },
	{ "{\"cpus\": \"0-7\", \"housekeeping\": \"0,4-6\","
	  "\"nohz_full\": \"1-3,7\", \"isolated\": \"3\"}",
	  0xff, 0x71, 0x8e, 0x08, 1 },
	/* Without housekeeping: all but nohz_full's. */
	{ "{\"nohz_full\": \"1-3,7\"}", 0xff, 0x71, 0x8e, 0, 0 },
	{ "{\"nohz_full\": \"(null)\"}", 0xff, 0xff, 0, 0, 0 },
	/* CPUs that are not listed are offline, and keep no house. */
	{ "{\"cpus\": \"0,2-6\"}", 0x7d, 0x7d, 0, 0, 0 },
	{ "{\"cpus\": \"0,2-6\", \"housekeeping\": \"1-3\"}",
	  0x7d, 0x0c, 0, 0, 1 },
	/* Lists of possible CPUs, where cpus says which of them exist. */
	{ "{\"cpus\": \"0-7\", \"nohz_full\": \"4-63\","
	  "\"housekeeping\": \"0-3,64-127\", \"isolated\": \"7-300\"}",
	  0xff, 0x0f, 0xf0, 0x80, 1 },
	/* The command line, where it has to do. */
	{ "{\"cmdline\": \"quiet nohz_full=1-3 isolcpus=2,5\"}",
	  0xff, 0xf1, 0x0e, 0x24, 0 },
	{ "{\"cmdline\": \"nohz_full=1-N\"}", 0xff, 0x01, 0xfe, 0, 0 },
	{ "{\"cmdline\": \"nohz_full=all\"}", 0xff, 0x01, 0xfe, 0, 0 },
	{ "{\"cmdline\": \"nohz_full=1-3\", \"nohz_full\": \"\"}",
	  0xff, 0xff, 0, 0, 0 },
	{ "{\"cmdline\": \"isolcpus=managed_irq,domain,6\"}",
	  0xff, 0xff, 0, 0x40, 0 },
	{ "{\"cmdline\": \"isolcpus=managed_irq,6\"}", 0xff, 0xff, 0, 0, 0 },
	/* isolcpus=nohz: may run the ILB up to 6.12, may not in 7.3. */
	{ "{\"kernel\": \"6.12.95\", \"cmdline\": \"isolcpus=nohz,5\"}",
	  0xff, 0xff, 0x20, 0, 0 },
	{ "{\"kernel\": \"7.3.4\", \"cmdline\": \"isolcpus=nohz,5\"}",
	  0xff, 0xdf, 0x20, 0, 0 },
	{ "{\"kernel\": \"6.1.0\", \"nohz_full\": \"4-5\","
	  "\"cmdline\": \"nohz_full=4 isolcpus=nohz,domain,5\"}",
	  0xff, 0xef, 0x30, 0x20, 0 },
	{ "{\"kernel\": \"7.3.4\", \"nohz_full\": \"4-5\","
	  "\"cmdline\": \"nohz_full=4 isolcpus=nohz,domain,5\"}",
	  0xff, 0xcf, 0x30, 0x20, 0 },
};

static void masks_are_as_said_or_derived(void **state)
{
	const struct good_case *c;
	struct ilb_topology *t;
	struct ilb_system s;
	struct ilb_error error;

	(void)state;
	for (c = goods; c < goods + ARRAY_SIZE(goods); c++) {
		if (parse(c->json, &s, &t, &error))
			fail_msg("%s: %s", c->json, error.text);
		if (t->online[0] != c->online ||
		    s.housekeeping[0] != c->housekeeping ||
		    s.nohz_full[0] != c->nohz_full ||
		    s.isolated[0] != c->isolated ||
		    s.housekeeping_known != c->known)
			fail_msg("%s: online %lx, housekeeping %lx (known %d), nohz_full %lx, isolated %lx",
				 c->json ? c->json : "no file", t->online[0],
				 s.housekeeping[0], s.housekeeping_known,
				 s.nohz_full[0], s.isolated[0]);
		assert_int_equal(ilb_topology_check(t, NULL), 0);
		ilb_system_free(&s);
		ilb_topology_free(t);
	}
}

static void strings_and_numbers(void **state)
{
	struct ilb_topology *t;
	struct ilb_system s;
	struct ilb_error error;

	(void)state;
	assert_int_equal(parse("{\"kernel\": \"6.1\\u001b[2Jx\", \"hz\": 250,"
			       "\"cmdline\": \"a b\"}", &s, &t, &error), 0);
	assert_string_equal(s.kernel, "6.1?[2Jx");
	assert_string_equal(s.cmdline, "a b");
	assert_int_equal(s.hz, 250);
	ilb_system_free(&s);
	ilb_topology_free(t);
	assert_int_equal(parse(NULL, &s, &t, &error), 0);
	assert_string_equal(s.kernel, "");
	assert_string_equal(s.cmdline, "");
	assert_int_equal(s.hz, 0);
	ilb_system_free(&s);
	ilb_topology_free(t);
}

#define KNOWN(type)	(1U << ILB_EVENT_##type)

static const struct {
	const char *json;
	uint32_t recorded;
} event_lists[] = {
	{ "{}", 0 },
	{ "{\"events\": []}", 0 },
	{ "{\"events\": [\"sched:sched_switch\", \"csd:csd_queue_cpu\","
	  "\"timer:hrtimer_expire_entry\", \"ilb:trig\"]}",
	  KNOWN(SWITCH) | KNOWN(CSD_QUEUE) | KNOWN(TICK) | KNOWN(PROBE_TICK) },
	{ "{\"events\": [\"sched_switch\", \"other:sched_switch\", \":\", \"\","
	  "\":sched_switch\", \"sched:\", null, 7, [\"sched:sched_switch\"],"
	  "\"a system whose name is longer than any:x\","
	  "\"sched:sched_wakeup_new\"]}", KNOWN(WAKEUP) },
	/* Then nothing of it may still be something. */
	{ "{\"events\": [\"sched:sched_switch\"], \"recorded_cpus\": \"0\"}", 0 },
	{ "{\"events\": [\"sched:sched_switch\"], \"symbols_hidden\": true}", 0 },
	{ "{\"events\": [\"sched:sched_switch\"], \"symbols_hidden\": false}",
	  KNOWN(SWITCH) },
};

static void events_that_were_recorded(void **state)
{
	struct ilb_topology *t;
	struct ilb_system s;
	struct ilb_error error;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(event_lists); i++) {
		assert_int_equal(parse(event_lists[i].json, &s, &t, &error), 0);
		if (s.recorded != event_lists[i].recorded)
			fail_msg("%s: %#x", event_lists[i].json, s.recorded);
		ilb_system_free(&s);
		ilb_topology_free(t);
	}
}

/* The copy is cut; what is derived from the command line is not. */
static void long_command_line(void **state)
{
	struct ilb_topology *t;
	struct ilb_system s;
	struct ilb_error error;
	char json[4096];

	(void)state;
	sprintf(json, "{\"cmdline\": \"%03000d nohz_full=7\"}", 0);
	assert_int_equal(parse(json, &s, &t, &error), 0);
	assert_int_equal(strlen(s.cmdline), sizeof(s.cmdline) - 1);
	assert_int_equal(s.nohz_full[0], 0x80);
	ilb_system_free(&s);
	ilb_topology_free(t);
}

struct capacity_case {
	const char *json;
	unsigned int capacity[8];
};

static const struct capacity_case capacities[] = {
	{ "{\"capacities\": [1024, 1024, 512, 512, 1024, 1, 2, 3]}",
	  { 1024, 1024, 512, 512, 1024, 1, 2, 3 } },
	{ "{\"capacities\": {\"0-3\": 1024, \"4-5,7\": 300, \"6\": 7}}",
	  { 1024, 1024, 1024, 1024, 300, 300, 7, 300 } },
	{ "{\"cpus\": \"0-3\", \"capacities\": {\"0-1\": 1024, \"2-3\": 9}}",
	  { 1024, 1024, 9, 9, 1024, 1024, 1024, 1024 } },
};

static void capacities_are_taken(void **state)
{
	const struct capacity_case *c;
	struct ilb_topology *t;
	struct ilb_system s;
	struct ilb_error error;

	(void)state;
	for (c = capacities; c < capacities + ARRAY_SIZE(capacities); c++) {
		if (parse(c->json, &s, &t, &error))
			fail_msg("%s: %s", c->json, error.text);
		assert_non_null(t->capacity);
		assert_memory_equal(t->capacity, c->capacity,
				    sizeof(c->capacity));
		assert_int_equal(ilb_topology_check(t, NULL), 0);
		ilb_system_free(&s);
		ilb_topology_free(t);
	}
	assert_int_equal(parse("{\"capacities\": {\"0-7\": 1024}}", &s, &t,
			       &error), 0);
	assert_null(t->capacity);
	ilb_system_free(&s);
	ilb_topology_free(t);
}

struct bad_case {
	const char *json;
	int result;
	const char *says;
};

static const struct bad_case bads[] = {
	{ "", -ILB_ERR_FORMAT, "line 1" },
	{ "{", -ILB_ERR_FORMAT, "line 1" },
	{ "[]", -ILB_ERR_FORMAT, "is not a JSON object" },
	{ "{\"hz\": 250, \"hz\": 100}", -ILB_ERR_FORMAT, "duplicate" },
	{ "{\"hz\": 0}", -ILB_ERR_FORMAT,
	  "d/system.json: \"hz\" is not a number from 1 to 10000" },
	{ "{\"hz\": 10001}", -ILB_ERR_FORMAT, "\"hz\"" },
	{ "{\"hz\": \"250\"}", -ILB_ERR_FORMAT, "\"hz\"" },
	{ "{\"hz\": 99999999999999999999999}", -ILB_ERR_FORMAT, "line 1" },
	{ "{\"kernel\": 6}", -ILB_ERR_FORMAT, "\"kernel\" is not a string" },
	{ "{\"kernel\": \"a\\u0000b\"}", -ILB_ERR_FORMAT, "line 1" },
	{ "{\"cmdline\": null}", -ILB_ERR_FORMAT, "\"cmdline\"" },
	{ "{\"cpus\": [0, 1]}", -ILB_ERR_FORMAT, "\"cpus\"" },
	{ "{\"cpus\": \"0-x\"}", -ILB_ERR_FORMAT, "\"cpus\" is not a list" },
	{ "{\"cpus\": \"0-8192\"}", -ILB_ERR_FORMAT, "\"cpus\"" },
	{ "{\"cpus\": \"\"}", -ILB_ERR_FORMAT, "\"cpus\" has no CPU" },
	{ "{\"cpus\": \"0-8\"}", -ILB_ERR_MISMATCH,
	  "\"cpus\" has CPU 8, but topology.xml has CPUs 0-7" },
	{ "{\"housekeeping\": \"0-8\"}", -ILB_ERR_MISMATCH,
	  "\"housekeeping\" has CPU 8" },
	{ "{\"housekeeping\": \"\"}", -ILB_ERR_FORMAT,
	  "\"housekeeping\" leaves no online CPU" },
	{ "{\"cpus\": \"0-3\", \"housekeeping\": \"4-7\"}", -ILB_ERR_FORMAT,
	  "\"housekeeping\" leaves no online CPU" },
	{ "{\"nohz_full\": \"0-7\"}", -ILB_ERR_FORMAT,
	  "\"nohz_full\" leaves no online CPU" },
	{ "{\"events\": \"sched:sched_switch\"}", -ILB_ERR_FORMAT,
	  "\"events\" is not an array" },
	{ "{\"events\": null}", -ILB_ERR_FORMAT, "\"events\"" },
	{ "{\"recorded_cpus\": 3}", -ILB_ERR_FORMAT, "\"recorded_cpus\"" },
	{ "{\"recorded_cpus\": \"8\"}", -ILB_ERR_MISMATCH,
	  "\"recorded_cpus\" has CPU 8" },
	{ "{\"isolated\": 3}", -ILB_ERR_FORMAT, "\"isolated\"" },
	{ "{\"capacities\": 3}", -ILB_ERR_FORMAT, "neither an array" },
	{ "{\"capacities\": []}", -ILB_ERR_FORMAT, "lacks some online CPU" },
	{ "{\"capacities\": {\"0-6\": 1024}}", -ILB_ERR_FORMAT, "lacks" },
	{ "{\"capacities\": {\"0-7\": 512}}", -ILB_ERR_FORMAT, "of 1024" },
	{ "{\"capacities\": {\"0-7\": 1025}}", -ILB_ERR_FORMAT, "1 to 1024" },
	{ "{\"capacities\": {\"0-7\": 0}}", -ILB_ERR_FORMAT, "1 to 1024" },
	{ "{\"capacities\": {\"0-7\": 1.5}}", -ILB_ERR_FORMAT, "1 to 1024" },
	{ "{\"capacities\": {\"0-7\": 1024, \"3\": 1}}", -ILB_ERR_FORMAT,
	  "twice" },
	{ "{\"capacities\": {\"x\": 1024}}", -ILB_ERR_FORMAT, "a key" },
	{ "{\"capacities\": {\"0-8\": 1024}}", -ILB_ERR_MISMATCH, "CPU 8" },
	{ "{\"capacities\": [1,1,1,1,1,1,1,1024,1]}", -ILB_ERR_MISMATCH,
	  "CPU 8" },
};

static void what_is_refused(void **state)
{
	const struct bad_case *c;
	struct ilb_topology *t;
	struct ilb_system s;
	struct ilb_error error;
	int result;

	(void)state;
	for (c = bads; c < bads + ARRAY_SIZE(bads); c++) {
		result = parse(c->json, &s, &t, &error);
		if (result != c->result || !strstr(error.text, c->says))
			fail_msg("%s: %d, '%s'", c->json, result, error.text);
		ilb_system_free(&s);
		ilb_topology_free(t);
	}
}

static void deep_nesting_is_no_crash(void **state)
{
	struct ilb_topology *t;
	struct ilb_system s;
	struct ilb_error error;
	static char json[200000];

	(void)state;
	memcpy(json, "{\"a\":", 5);
	memset(json + 5, '[', sizeof(json) - 6);
	assert_int_equal(parse(json, &s, &t, &error), -ILB_ERR_FORMAT);
	assert_non_null(strstr(error.text, "depth"));
	ilb_system_free(&s);
	ilb_topology_free(t);
}

struct line_case {
	const char *line;
	unsigned long nohz_full, nohz, domain;
};

static const struct line_case lines[] = {
	{ "", 0, 0, 0 },
	{ "nohz_full=", 0, 0, 0 },
	{ "nohz_full", 0, 0, 0 },
	{ "xnohz_full=1", 0, 0, 0 },
	{ "nohz_full=1x", 0, 0, 0 },
	{ "nohz_full=x,1", 0, 0, 0 },
	{ "nohz_full=3-1", 0, 0, 0 },
	{ "nohz_full=1,6-99", 0xc2, 0, 0 },
	{ "nohz_full=1 nohz_full=2", 0x06, 0, 0 },
	{ "a=\"b nohz_full=1\" nohz_full=\"2\"", 0x04, 0, 0 },
	{ "a=\"b nohz_full=1", 0, 0, 0 },
	{ "nohz_full=1 -- nohz_full=2", 0x02, 0, 0 },
	{ "nohz_full=N,0-N:1/4", 0x91, 0, 0 },
	{ "nohz_full=all:1/2", 0x55, 0, 0 },
	{ "isolcpus=1,3", 0, 0, 0x0a },
	{ "isolcpus=nohz,1", 0, 0x02, 0 },
	{ "isolcpus=nohz,domain,1", 0, 0x02, 0x02 },
	{ "isolcpus=managed_irq,1", 0, 0, 0 },
	{ "isolcpus=mystery,1", 0, 0, 0x02 },
	{ "isolcpus=all", 0, 0, 0 },
	{ "isolcpus=nohz", 0, 0, 0 },
};

static void command_lines(void **state)
{
	struct ilb_bootline line;
	const struct line_case *c;

	(void)state;
	for (c = lines; c < lines + ARRAY_SIZE(lines); c++) {
		ilb_bootline_parse(&line, c->line, 8);
		if (line.nohz_full[0] != c->nohz_full ||
		    line.nohz[0] != c->nohz || line.domain[0] != c->domain)
			fail_msg("%s: %lx %lx %lx", c->line,
				 line.nohz_full[0], line.nohz[0],
				 line.domain[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masks_are_as_said_or_derived),
		cmocka_unit_test(strings_and_numbers),
		cmocka_unit_test(events_that_were_recorded),
		cmocka_unit_test(long_command_line),
		cmocka_unit_test(capacities_are_taken),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(deep_nesting_is_no_crash),
		cmocka_unit_test(command_lines),
	};

	return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
