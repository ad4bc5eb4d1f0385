// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast the simulator is: usage: sim SCENARIO.json [VARIANT]. One line:
 * wakeups, timers fired (the engine's events), events made, CPU seconds, rates.
 */

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "ilb/sim.h"

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void ignore_event(void *context, const struct ilb_event *event)
{
	(void)context;
	(void)event;
}

int main(int argc, char **argv)
{
	static const struct ilb_sim_sink sink = { .event = ignore_event };
	static const char *const folders[] = { ".", NULL };
	struct ilb_scenario *s = NULL;
	struct ilb_sim_plan *plan = NULL;
	struct ilb_sim_result result;
	struct ilb_error error = { "" };
	struct rusage usage;
	double start, took;
	int err;

	err = ilb_scenario_load(&s, argc > 1 ? argv[1] : "", folders, &error);
	if (!err)
		err = ilb_scenario_plan(s, argc > 2 ? argv[2] : NULL, &plan,
					&error);
	start = cpu_seconds();
	if (!err)
		err = ilb_sim_run(plan, &sink, NULL, &result, &error);
	took = cpu_seconds() - start;
	if (err) {
		fprintf(stderr, "sim: %s\n", error.text);
		return 1;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("sim %s: wakeups %" PRIu64 " timers %" PRIu64 " events %" PRIu64
	       " cpu_s %.3f simulated_s %.3f timers_per_s %.0f wakeups_per_s %.0f max_rss_kb %ld digest %016"
	       PRIx64 "\n", plan->name, result.wakeups, result.steps,
	       result.events, took, (double)plan->duration_ns / 1e9,
	       (double)result.steps / took, (double)result.wakeups / took,
	       usage.ru_maxrss, result.digest);
	ilb_sim_plan_free(plan);
	ilb_scenario_free(s);
	return 0;
}
