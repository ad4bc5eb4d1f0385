// SPDX-License-Identifier: GPL-2.0-only
/*
 * What keeping a registry of idle CPUs costs: pairs of entering and leaving
 * idle, with and without the test before a kick after each, by one and by two
 * threads at once.
 *
 *	registry [ROUNDS [MILLISECONDS]]
 *
 * Three registries: counter and mask (Linux up to 6.19), mask alone (mail D,
 * 7.0), and the mask with the index beside it, which a kernel would keep, as
 * it walks the mask when it balances. A thread plays one CPU of a Vera
 * machine: two of one core, of one LLC, or of two LLCs; all others are busy,
 * so that every event turns a core, a block and the whole index from empty to
 * not, or idle, so that it turns its core alone.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ilb/index.h"
#include "target_machine.h"

#define ROUNDS		9U
#define ROUNDS_MAX	101U
#define MILLISECONDS	20U
#define WORDS		ILB_MASK_WORDS(352)

enum kind { COUNTER, MASK, INDEX, KINDS };
static const char *const kind_names[KINDS] = {
	"counter+mask", "mask", "mask+index",
};

struct place {
	const char *name;
	unsigned int threads;
	unsigned int cpu[2];
};

static const struct place places[] = {
	{ "one-thread", 1, { 16, 0 } },
	{ "one-core", 2, { 16, 192 } },
	{ "one-llc", 2, { 16, 64 } },
	{ "two-llcs", 2, { 16, 96 } },
};

/* As in struct nohz: counter and time share a line, the mask does not. */
struct registry {
	_Alignas(64) _Atomic unsigned int nr;
	_Atomic uint64_t next_balance;
	_Alignas(64) _Atomic unsigned long mask[WORDS];
	_Alignas(64) struct ilb_index *index;
};

struct worker {
	struct registry *registry;
	enum kind kind;
	int kicks;
	unsigned int cpu;
	atomic_int *stop;
	uint64_t pairs;
	unsigned int found;
};

static void enter(struct registry *r, enum kind kind, unsigned int cpu)
{
	atomic_fetch_or(&r->mask[cpu / 64], 1UL << (cpu % 64));
	if (kind == COUNTER)
		atomic_fetch_add(&r->nr, 1);
	if (kind != INDEX)
		return;
	ilb_index_enter_idle(r->index, cpu);
	ilb_index_register(r->index, cpu);
}

static void leave(struct registry *r, enum kind kind, unsigned int cpu)
{
	atomic_fetch_and(&r->mask[cpu / 64], ~(1UL << (cpu % 64)));
	if (kind == COUNTER)
		atomic_fetch_sub(&r->nr, 1);
	if (kind != INDEX)
		return;
	ilb_index_exit_idle(r->index, cpu);
	ilb_index_unregister(r->index, cpu);
}

/* Is a kick worth it? The time has always come: next_balance is 0. */
static unsigned int kick_test(struct registry *r, enum kind kind)
{
	unsigned int i;

	if (kind == COUNTER && !atomic_load_explicit(&r->nr,
						     memory_order_relaxed))
		return 0;
	if (atomic_load_explicit(&r->next_balance, memory_order_relaxed))
		return 0;
	if (kind == INDEX)
		return !ilb_index_empty(r->index);
	for (i = 0; kind == MASK && i < WORDS; i++)
		if (atomic_load_explicit(&r->mask[i], memory_order_relaxed))
			return 1;
	return kind == COUNTER;
}

static void *work(void *argument)
{
	struct worker *w = argument;
	unsigned int i;

	while (!atomic_load_explicit(w->stop, memory_order_relaxed)) {
		for (i = 0; i < 64; i++) {
			enter(w->registry, w->kind, w->cpu);
			leave(w->registry, w->kind, w->cpu);
			if (w->kicks)
				w->found += kick_test(w->registry, w->kind);
		}
		w->pairs += 64;
	}
	return NULL;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Pairs per second of all threads together. */
static double round_of(struct registry *registry, enum kind kind, int kicks,
		       const struct place *place, unsigned int ms)
{
	struct timespec nap = { 0, (long)ms * 1000000L };
	struct worker workers[2];
	pthread_t threads[2];
	double start, pairs = 0;
	atomic_int stop = 0;
	unsigned int i;

	start = seconds();
	for (i = 0; i < place->threads; i++) {
		workers[i] = (struct worker){ registry, kind, kicks,
					      place->cpu[i], &stop, 0, 0 };
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			exit(1);
	}
	nanosleep(&nap, NULL);
	atomic_store(&stop, 1);
	for (i = 0; i < place->threads; i++) {
		pthread_join(threads[i], NULL);
		pairs += (double)workers[i].pairs;
	}
	return pairs / (seconds() - start);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct registry *registry, const char *others, int kicks,
		    const struct place *place, unsigned int rounds,
		    unsigned int ms)
{
	static double rate[KINDS][ROUNDS_MAX];
	unsigned int round, kind;

	for (round = 0; round < rounds; round++)
		for (kind = 0; kind < KINDS; kind++)
			rate[kind][round] = round_of(registry,
						     (enum kind)kind, kicks,
						     place, ms);
	for (kind = 0; kind < KINDS; kind++) {
		qsort(rate[kind], rounds, sizeof(double), compare);
		printf("registry_%s_%s_%s_%s %.2f M/s (%.2f of counter+mask; quartiles %.2f-%.2f)\n",
		       place->name, others, kicks ? "pair+kick" : "pair",
		       kind_names[kind], rate[kind][rounds / 2] / 1e6,
		       rate[kind][rounds / 2] / rate[COUNTER][rounds / 2],
		       rate[kind][rounds / 4] / 1e6,
		       rate[kind][rounds - 1 - rounds / 4] / 1e6);
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : ROUNDS;
	unsigned int ms = argc > 2 ? (unsigned int)atoi(argv[2])
				   : MILLISECONDS;
	static struct bench_machine machine;
	static struct registry registry;
	unsigned int i, busy;
	void *memory;

	if (!rounds || rounds > ROUNDS_MAX || !ms || ms > 900)
		return 2;
	bench_build(&machine, &bench_shapes[1]);
	memory = malloc(ilb_index_size(&machine.topology));
	if (!memory)
		return 1;
	for (busy = 0; busy < 2; busy++) {
		registry.index = ilb_index_init(memory, &machine.topology);
		if (!busy)
			ilb_index_sync(registry.index, &machine.view);
		for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
			measure(&registry, busy ? "others-busy" : "others-idle",
				0, &places[i], rounds, ms);
			measure(&registry, busy ? "others-busy" : "others-idle",
				1, &places[i], rounds, ms);
		}
	}
	free(memory);
	return 0;
}
