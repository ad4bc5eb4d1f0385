// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a choice costs: every rule of the idle-core family on machines of 16 to
 * 8192 CPUs. A line each: machine, state, scan, nanoseconds (median), spread
 * (quartiles' distance, % of the median), idle tests.
 *
 *	target [ROUNDS]
 *
 * All scans of a line's machine and state are measured in turn, round by
 * round, so that what disturbs one disturbs all. Under valgrind
 * --tool=callgrind every scan runs once, into a dump of its own; and nothing,
 * which is what a dump costs itself.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

#include "ilb/index.h"
#include "target_machine.h"
#include "target_scan.h"

#define ROUNDS		21U
#define ROUNDS_MAX	1000U
#define BATCH_NS	40000.0		/* of one round of one scan */

enum scan { LOWEST, V1, V2, V3, MASKS, IDLE_CORE, INDEXED, SCANS };

static const char *const scan_names[SCANS] = {
	"lowest", "idle-core-v1", "idle-core-v2", "idle-core-v3",
	"mail-a-masks", "idle-core", "indexed",
};

struct bench {
	struct bench_machine machine;
	struct ilb_policy policies[SCANS];
	struct ilb_index *index;
	void *memory;
	unsigned long *smt;
	unsigned int rounds;
	unsigned long calls[SCANS];
	double ns[SCANS][ROUNDS_MAX];
};

/* Not inlined: the unit that is measured, a call from somewhere else. */
static struct ilb_choice __attribute__((noinline))
choose(struct bench *bench, enum scan scan)
{
	if (scan == MASKS)
		return bench_scan_masks(&bench->machine.view, bench->smt);
	if (scan == INDEXED)
		return ilb_index_choose(bench->index, &bench->machine.view);
	return ilb_policy_choose(&bench->policies[scan],
				 &bench->machine.view);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure(struct bench *bench, enum scan scan,
		      unsigned long calls)
{
	volatile unsigned int sink;
	double start = now_ns();
	unsigned long i;

	for (i = 0; i < calls; i++)
		sink = choose(bench, scan).cpu;
	(void)sink;
	return (now_ns() - start) / (double)calls;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(struct bench *bench, enum bench_state state, enum scan scan)
{
	double *ns = bench->ns[scan];
	unsigned int n = bench->rounds;

	qsort(ns, n, sizeof(*ns), compare);
	printf("target %s %s %s %.2f ns %.0f %% %u tests\n",
	       bench->machine.shape->name, bench_states[state],
	       scan_names[scan], ns[n / 2],
	       100 * (ns[n - 1 - n / 4] - ns[n / 4]) / ns[n / 2],
	       choose(bench, scan).looked_at);
}

static void agree(struct bench *bench)
{
	struct ilb_choice is, should = choose(bench, V1);
	unsigned int scan;

	for (scan = V1; scan < SCANS; scan++) {
		is = choose(bench, (enum scan)scan);
		if (is.cpu == should.cpu && is.fallback == should.fallback)
			continue;
		fprintf(stderr, "target: %s chose %d, not %d\n",
			scan_names[scan], (int)is.cpu, (int)should.cpu);
		exit(1);
	}
}

static void count(struct bench *bench, enum bench_state state)
{
	char name[128];
	unsigned int scan;

	snprintf(name, sizeof(name), "%s %s nothing",
		 bench->machine.shape->name, bench_states[state]);
	CALLGRIND_ZERO_STATS;
	CALLGRIND_DUMP_STATS_AT(name);
	for (scan = 0; scan < SCANS; scan++) {
		snprintf(name, sizeof(name), "%s %s %s",
			 bench->machine.shape->name, bench_states[state],
			 scan_names[scan]);
		CALLGRIND_ZERO_STATS;
		choose(bench, (enum scan)scan);
		CALLGRIND_DUMP_STATS_AT(name);
	}
}

static void one_state(struct bench *bench, enum bench_state state)
{
	unsigned int scan, round;
	double once;

	bench_set(&bench->machine, state);
	ilb_index_sync(bench->index, &bench->machine.view);
	agree(bench);
	if (RUNNING_ON_VALGRIND) {
		count(bench, state);
		return;
	}
	for (scan = 0; scan < SCANS; scan++) {
		once = measure(bench, (enum scan)scan, 4);
		once = measure(bench, (enum scan)scan, 8);
		bench->calls[scan] = 1 + (unsigned long)(BATCH_NS / once);
	}
	for (round = 0; round < bench->rounds; round++)
		for (scan = 0; scan < SCANS; scan++)
			bench->ns[scan][round] =
				measure(bench, (enum scan)scan,
					bench->calls[scan]);
	for (scan = 0; scan < SCANS; scan++)
		print(bench, state, (enum scan)scan);
}

static void make_masks(struct bench *bench)
{
	const struct ilb_topology *t = &bench->machine.topology;
	unsigned int words = ILB_MASK_WORDS(t->nr_cpus);
	unsigned int cpu, thread;

	bench->smt = calloc((size_t)t->nr_cpus * words, sizeof(long));
	bench->memory = malloc(ilb_index_size(t));
	if (!bench->smt || !bench->memory)
		exit(1);
	bench->index = ilb_index_init(bench->memory, t);
	for (cpu = 0; cpu < t->nr_cpus; cpu++) {
		thread = cpu;
		do {
			ilb_mask_set(bench->smt + (size_t)cpu * words, thread);
			thread = t->sibling[thread];
		} while (thread != cpu);
	}
}

int main(int argc, char **argv)
{
	static struct bench bench;
	const struct bench_shape *shape;
	unsigned int i;

	bench.rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : ROUNDS;
	if (!bench.rounds || bench.rounds > ROUNDS_MAX)
		return 2;
	for (i = 0; i < SCANS; i++)
		if (i != MASKS && ilb_policy_parse(&bench.policies[i],
						   scan_names[i], 1))
			return 1;
	for (shape = bench_shapes; shape->name; shape++) {
		bench_build(&bench.machine, shape);
		make_masks(&bench);
		for (i = 0; i < BENCH_STATES; i++)
			one_state(&bench, (enum bench_state)i);
		free(bench.smt);
		free(bench.memory);
	}
	return 0;
}
