// SPDX-License-Identifier: GPL-2.0-only
/* system.json: what is written is what ilb_capture_open() reads again. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ilb/event.h"
#include "live/record.h"
#include "test.h"
#include "trace/system.h"

#define MACHINE	"pack:2 [numa] l3:1 core:2 pu:2"

struct fixture {
	char root[32];
	struct ilb_facts facts;
	struct ilb_topology *topology;
	char *text;
	struct ilb_system system;
	struct ilb_error error;
	int symbols_hidden;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->root, "/tmp/ilb-system-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	strcpy(f->facts.kernel, "6.12.95");
	assert_int_equal(ilb_topology_load(&f->topology, MACHINE, &f->error),
			 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[64];
	int failed;

	snprintf(command, sizeof(command), "rm -r %s", f->root);
	failed = system(command);
	ilb_system_free(&f->system);
	ilb_topology_free(f->topology);
	free(f->text);
	free(f);
	return failed;
}

static void put(const struct fixture *f, const char *name, const char *text)
{
	char command[300];

	snprintf(command, sizeof(command),
		 "mkdir -p $(dirname %s/%s) && printf '%%s\\n' '%s' >%s/%s",
		 f->root, name, text, f->root, name);
	assert_int_equal(system(command), 0);
}

static void round_trip(struct fixture *f, const unsigned long *cpus)
{
	const struct ilb_recorded recorded = {
		.cpus = cpus, .events = "sched:sched_switch, irq:softirq_raise",
		.unfiltered = "irq:softirq_raise",
		.clock = "local",
		.symbols_hidden = f->symbols_hidden,
	};

	assert_int_equal(ilb_system_write(&f->text, &f->facts, f->topology,
					  f->root, &recorded, &f->error), 0);
	assert_int_equal(ilb_system_parse(&f->system, f->topology, f->text,
					  strlen(f->text), "system.json",
					  "topology.xml", &f->error), 0);
}

static int has(const struct fixture *f, const char *text)
{
	return strstr(f->text, text) != NULL;
}

static void known(void **state)
{
	struct fixture *f = *state;

	f->facts.hz = 250;
	f->facts.nohz_full[0] = 0x0e;
	f->facts.isolated[0] = 0x80;
	f->facts.nohz_full_known = f->facts.isolated_known = 1;
	put(f, "proc/cmdline", "quiet nohz_full=1-3 x=\"\\\"");
	round_trip(f, NULL);
	assert_string_equal(f->system.kernel, "6.12.95");
	assert_string_equal(f->system.cmdline, "quiet nohz_full=1-3 x=\"\\\"");
	assert_int_equal(f->system.hz, 250);
	assert_int_equal(f->system.nohz_full[0], 0x0e);
	assert_int_equal(f->system.isolated[0], 0x80);
	assert_int_equal(f->system.housekeeping[0], 0xf1);
	assert_true(f->system.housekeeping_known);
	assert_false(has(f, "recorded_cpus"));
}

static void recorded_cpus(void **state)
{
	struct fixture *f = *state;
	unsigned long cpus[ILB_WIDE_WORDS] = { 0x15 };

	round_trip(f, cpus);
	assert_int_equal(f->system.recorded_cpus[0], 0x15);
	assert_int_equal(f->system.recorded, 0);
}

static void events(void **state)
{
	struct fixture *f = *state;

	round_trip(f, NULL);
	assert_int_equal(f->system.recorded_cpus[0], 0xff);
	assert_int_equal(f->system.recorded, 1U << ILB_EVENT_SWITCH |
			 1U << ILB_EVENT_SOFTIRQ_RAISE);
	assert_true(has(f, "\"unfiltered\": [\n    \"irq:softirq_raise\"\n  ]"));
}

/* Functions without names: a kick could not have been told. */
static void hidden_symbols(void **state)
{
	struct fixture *f = *state;

	f->symbols_hidden = 1;
	round_trip(f, NULL);
	assert_int_equal(f->system.recorded, 0);
	assert_true(has(f, "\"irq:softirq_raise\""));
}

static void unknown(void **state)
{
	struct fixture *f = *state;

	f->facts.kernel[0] = '\0';
	round_trip(f, NULL);
	assert_string_equal(f->system.kernel, "");
	assert_int_equal(f->system.hz, 0);
	assert_int_equal(f->system.housekeeping[0], 0xff);
	assert_false(f->system.housekeeping_known);
	assert_false(has(f, "\"hz\"") || has(f, "nohz_full") ||
		     has(f, "isolated") || has(f, "cmdline") ||
		     has(f, "capacities"));
}

static void details(void **state)
{
	static const unsigned long cpus[ILB_WIDE_WORDS] = { 0x0b };
	struct fixture *f = *state;

	put(f, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
	    "schedutil");
	put(f, "sys/devices/system/cpu/cpuidle/current_driver", "acpi_idle");
	put(f, "sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL");
	put(f, "sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1");
	put(f, "sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "10");
	put(f, "sys/devices/system/cpu/cpu0/cpuidle/state1/residency", "2x");
	round_trip(f, cpus);
	assert_true(has(f, "\"governor\": \"schedutil\""));
	assert_true(has(f, "\"driver\": \"acpi_idle\""));
	assert_true(has(f, "\"POLL\"") && has(f, "\"latency_us\": 10"));
	assert_false(has(f, "residency_us"));
	assert_true(has(f, "\"recorded_cpus\": \"0-1,3\""));
}

static void put_capacities(const struct fixture *f, const char *low)
{
	unsigned int cpu;
	char name[64];

	for (cpu = 0; cpu < 8; cpu++) {
		snprintf(name, sizeof(name),
			 "sys/devices/system/cpu/cpu%u/cpu_capacity", cpu);
		put(f, name, cpu & 2 ? low : "1024");
	}
}

static void capacities(void **state)
{
	struct fixture *f = *state;

	put_capacities(f, "512");
	round_trip(f, NULL);
	assert_non_null(f->topology->capacity);
	assert_int_equal(f->topology->capacity[2], 512);
	assert_int_equal(f->topology->capacity[7], 512);
	assert_int_equal(f->topology->capacity[4], 1024);
}

/* What the reader would refuse is not written. */
static void bad_capacities(void **state)
{
	struct fixture *f = *state;

	put_capacities(f, "0");
	round_trip(f, NULL);
	assert_false(has(f, "capacities"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(recorded_cpus, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(events, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hidden_symbols, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(unknown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(details, set_up, tear_down),
		cmocka_unit_test_setup_teardown(capacities, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bad_capacities, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
