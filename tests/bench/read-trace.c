// SPDX-License-Identifier: GPL-2.0-only
/*
 * What reading a trace costs: one line of key=value, CPU seconds of both
 * processes together, their peak of anonymous memory. With -p instead the
 * events, one a line, as tests/unit/dat_format.h has them.
 *
 *	read-trace [-p] FILE [CPUS]
 */

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "ilb/mask.h"
#include "ilb/source.h"
#include "tests/unit/dat_format.h"

#define SAMPLE	(1 << 20)	/* events between two looks at the memory */

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static double cpu_seconds(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return seconds(&u.ru_utime) + seconds(&u.ru_stime);
}

static long anon_kb(const char *pid)
{
	char path[64], line[256];
	long kb = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}

static void look(long *own, long *child)
{
	FILE *file = fopen("/proc/thread-self/children", "re");
	char pid[32] = "";
	long kb;

	kb = anon_kb("self");
	*own = kb > *own ? kb : *own;
	if (file && fscanf(file, "%31s", pid) == 1) {
		kb = anon_kb(pid);
		*child = kb > *child ? kb : *child;
	}
	if (file)
		fclose(file);
}

static int run(struct ilb_source *source, int print)
{
	struct ilb_source_stats stats;
	struct ilb_error error;
	struct ilb_event event;
	unsigned long events = 0;
	long own = 0, child = 0;
	struct timespec a, b;
	char line[256];
	double cpu;
	int got;

	clock_gettime(CLOCK_MONOTONIC, &a);
	while ((got = ilb_source_next(source, &event, &error)) == 1) {
		if (print) {
			dat_format(line, sizeof(line), &event);
			puts(line);
		} else if (!(events++ % SAMPLE)) {
			look(&own, &child);
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	ilb_source_stats(source, &stats);
	ilb_source_close(source);
	if (got < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 3;
	}
	if (print)
		return 0;
	cpu = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
	printf("events=%" PRIu64 " unparsed=%" PRIu64 " lost=%" PRIu64
	       " wall_s=%.3f cpu_s=%.3f events_per_cpu_s=%.0f anon_kb=%ld child_anon_kb=%ld\n",
	       stats.events, stats.unparsed, stats.lost,
	       (double)(b.tv_sec - a.tv_sec) +
	       (double)(b.tv_nsec - a.tv_nsec) / 1e9, cpu,
	       (double)stats.events / cpu, own, child);
	return 0;
}

int main(int argc, char **argv)
{
	int print = argc > 1 && !strcmp(argv[1], "-p");
	struct ilb_source *source;
	struct ilb_error error;
	int err;

	if (argc < 2 + print) {
		fprintf(stderr, "usage: read-trace [-p] FILE [CPUS]\n");
		return 2;
	}
	err = ilb_source_open(&source, argv[1 + print],
			      argc > 2 + print ?
			      (unsigned int)atoi(argv[2 + print]) :
			      ILB_CPUS_MAX, &error);
	if (err) {
		fprintf(stderr, "%s\n", error.text);
		return 3;
	}
	return run(source, print);
}
