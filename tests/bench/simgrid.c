// SPDX-License-Identifier: GPL-2.0-only
/*
 * The yardstick of the simulator's speed: SimGrid with as many actors that
 * sleep for 200 us and a bit again and again; all for as long, or each another
 * bit, as jitter gives it in ilb's load. Usage: simgrid PLATFORM ACTORS MS
 * SPREAD_PPM. One line: wakeups, CPU seconds, wakeups per CPU second.
 */

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLEEP_S	200e-6

static double until, spread;
static int actors, started;
static unsigned long wakeups;

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void sleeper(int argc, char *argv[])
{
	double sleep = SLEEP_S * (1 + spread * started++ / actors);

	(void)argc;
	(void)argv;
	while (simgrid_get_clock() < until) {
		sg_actor_sleep_for(sleep);
		wakeups++;
	}
}

int main(int argc, char **argv)
{
	double start, took;
	int i;

	simgrid_init(&argc, argv);
	if (argc != 5)
		return 2;
	simgrid_load_platform(argv[1]);
	actors = atoi(argv[2]);
	until = atof(argv[3]) / 1e3;
	spread = atof(argv[4]) / 1e6;
	for (i = 0; i < actors; i++)
		sg_actor_create("sleeper", sg_host_by_name("host"), sleeper, 0,
				NULL);
	start = cpu_seconds();
	simgrid_run();
	took = cpu_seconds() - start;
	printf("simgrid wakeups %lu cpu_s %.3f wakeups_per_s %.0f\n", wakeups,
	       took, (double)wakeups / took);
	return 0;
}
