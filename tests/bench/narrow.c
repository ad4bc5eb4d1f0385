// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel module adds to one kick, with interrupts off: the copy of
 * the mask, the kernel's own choice and the policy's, and the answer; the same
 * sources as in the module. A line each: machine, state, policy, nanoseconds
 * (median), spread (quartiles' distance, % of the median), idle tests.
 *
 *	narrow [ROUNDS]
 *
 * An idle test is a bit test here. In the kernel it reads another CPU's
 * runqueue, so of the same lines also: so many reads of lines that are in no
 * cache. Under valgrind --tool=callgrind everything runs once, into a dump of
 * its own, as in target.c.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

#include "kmod/narrow.h"
#include "target_machine.h"

#define ROUNDS		21U
#define ROUNDS_MAX	1000U
#define BATCH		200U
#define LINE_WORDS	512U	/* runqueues are pages apart */

static const struct bench_shape shapes[] = {
	{ "16", 8, 2, 1, 4, 4 },
	{ "64", 32, 2, 1, 16, 16 },
	{ "352-vera", 176, 2, 0, 88, 88 },
};

static const enum bench_state states[] = {
	BENCH_HPC, BENCH_HPC_IN_MASK, BENCH_LAST_CORE,
};

static const char *const names[] = { "idle-core", "near" };

struct bench {
	struct bench_machine machine;
	struct ilb_policy policies[2];
	unsigned long copy[BENCH_WORDS], answer[BENCH_WORDS];
	unsigned int rounds;
	double ns[ROUNDS_MAX];
};

/* As kmod/idle_core.c does it. Not inlined: the unit that is measured. */
static int __attribute__((noinline)) kick(struct bench *b, unsigned int policy)
{
	const struct bench_machine *m = &b->machine;
	struct ilb_view view = m->view;

	ilb_mask_copy(b->copy, m->mask, m->topology.nr_cpus);
	view.mask = b->copy;
	return ilb_narrow(&b->policies[policy], &view, b->answer);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(struct bench *b, const char *state, const char *what,
		  unsigned int tests)
{
	unsigned int n = b->rounds;

	qsort(b->ns, n, sizeof(*b->ns), compare);
	printf("narrow %s %s %s %.2f ns %.0f %% %u tests\n",
	       b->machine.shape->name, state, what, b->ns[n / 2],
	       100 * (b->ns[n - 1 - n / 4] - b->ns[n / 4]) / b->ns[n / 2],
	       tests);
}

/* The kernel's own choice is made once more, to compare. */
static unsigned int tests_of(struct bench *b, unsigned int policy)
{
	struct ilb_policy stock = { &ilb_rules[0], 0, ILB_CPU_NONE, NULL };
	const struct ilb_view *view = &b->machine.view;

	return ilb_policy_choose(&stock, view).looked_at +
	       ilb_policy_choose(&b->policies[policy], view).looked_at;
}

static void measure(struct bench *b, const char *state, unsigned int policy)
{
	volatile int sink;
	unsigned int round, i;
	double start;

	for (round = 0; round < b->rounds; round++) {
		start = now_ns();
		for (i = 0; i < BATCH; i++)
			sink = kick(b, policy);
		b->ns[round] = (now_ns() - start) / BATCH;
	}
	(void)sink;
	print(b, state, names[policy], tests_of(b, policy));
}

#if defined(__x86_64__)
static void flush(const unsigned long *lines, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		__builtin_ia32_clflush(&lines[i * LINE_WORDS]);
	__builtin_ia32_mfence();
}
#endif

/* A branch on each, as the scan has. */
static unsigned int read_all(const volatile unsigned long *lines,
			     unsigned int n)
{
	unsigned int i, busy = 0;

	for (i = 0; i < n; i++)
		if (lines[i * LINE_WORDS])
			busy++;
	return busy;
}

static void measure_cold(struct bench *b, const char *state, unsigned int n)
{
#if defined(__x86_64__)
	unsigned long *lines = calloc((size_t)n * LINE_WORDS, sizeof(*lines));
	unsigned int round;
	double start;

	if (!lines)
		exit(1);
	memset(lines, 1, (size_t)n * LINE_WORDS * sizeof(*lines));
	for (round = 0; round < b->rounds; round++) {
		flush(lines, n);
		start = now_ns();
		if (read_all(lines, n) != n)
			exit(1);
		b->ns[round] = now_ns() - start;
	}
	free(lines);
	print(b, state, "cold-reads", n);
#else
	(void)b, (void)state, (void)n;
#endif
}

static void count(struct bench *b, const char *state)
{
	char name[128];
	unsigned int i;

	snprintf(name, sizeof(name), "%s %s nothing", b->machine.shape->name,
		 state);
	CALLGRIND_ZERO_STATS;
	CALLGRIND_DUMP_STATS_AT(name);
	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s %s %s",
			 b->machine.shape->name, state, names[i]);
		CALLGRIND_ZERO_STATS;
		kick(b, i);
		CALLGRIND_DUMP_STATS_AT(name);
	}
}

static void one_state(struct bench *b, enum bench_state state)
{
	const char *name = bench_states[state];
	unsigned int i;

	bench_set(&b->machine, state);
	if (RUNNING_ON_VALGRIND) {
		count(b, name);
		return;
	}
	for (i = 0; i < 2; i++)
		measure(b, name, i);
	measure_cold(b, name, tests_of(b, 0));
}

int main(int argc, char **argv)
{
	static struct bench bench;
	unsigned int i, j;

	bench.rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : ROUNDS;
	if (!bench.rounds || bench.rounds > ROUNDS_MAX)
		return 2;
	for (i = 0; i < 2; i++)
		if (ilb_policy_parse(&bench.policies[i], names[i], 1))
			return 1;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		bench_build(&bench.machine, &shapes[i]);
		for (j = 0; j < sizeof(states) / sizeof(states[0]); j++)
			one_state(&bench, states[j]);
	}
	return 0;
}
