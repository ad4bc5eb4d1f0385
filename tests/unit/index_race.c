// SPDX-License-Identifier: GPL-2.0-only
/*
 * The index under real threads: CPUs go idle and busy, register and leave,
 * are chosen and kicked, all at once. Whenever the threads stand still, the
 * index is what it would be if it were made anew, and no kick is lost.
 *
 *	test-index_race [ROUNDS [SEED]]
 *
 * Prints TAP. Built a second time with ThreadSanitizer.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/index.h"

#define CPUS		96U
#define WORDS		ILB_MASK_WORDS(CPUS)
#define THREADS		4U
#define EVENTS		24U	/* few: a later one mends what one broke */
#define ROUNDS		20000U
#define BALANCE		1U

/* Threads of a core in blocks of their own, LLCs that overlap or do not. */
struct host {
	struct ilb_topology topology;
	unsigned int core[CPUS], sibling[CPUS], llc[CPUS];
	unsigned long online[WORDS];
	_Atomic unsigned long idle[WORDS], registered[WORDS];
	_Atomic unsigned int flags[CPUS];	/* kicks not handled */
	_Atomic unsigned int inbox[CPUS];	/* interrupts under way */
	_Atomic uint64_t sent, handled, chosen, wrong;
	struct ilb_index *index;
	void *memory;
	unsigned int threads_of_core;
	pthread_barrier_t start, end;
	atomic_int stop;
};

struct worker {
	struct host *host;
	unsigned int number;
	uint64_t random;
	unsigned long idle[WORDS], mask[WORDS], scratch[WORDS];
	pthread_t thread;
};

static unsigned int below(uint64_t *state, unsigned int n)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (unsigned int)((*state >> 32) % n);
}

static void build(struct host *h, unsigned int threads_of_core)
{
	unsigned int cores = CPUS / threads_of_core, cpu, core;

	memset(h, 0, sizeof(*h));
	h->threads_of_core = threads_of_core;
	for (cpu = 0; cpu < CPUS; cpu++) {
		core = cpu % cores;
		h->core[cpu] = core;
		h->llc[cpu] = core < 20 ? core % 2 : 20;
	}
	ilb_mask_fill(h->online, CPUS);
	h->topology.nr_cpus = CPUS;
	h->topology.online = h->online;
	h->topology.core = h->core;
	h->topology.sibling = h->sibling;
	h->topology.llc = h->llc;
	h->topology.node = h->llc;
	h->topology.smt = ilb_topology_link(CPUS, h->core, h->sibling);
	h->memory = malloc(ilb_index_size(&h->topology));
	if (!h->memory)
		exit(99);
	h->index = ilb_index_init(h->memory, &h->topology);
}

static int test_bit(_Atomic unsigned long *words, unsigned int cpu)
{
	return atomic_load(&words[cpu / ILB_WORD_BITS]) >>
	       (cpu % ILB_WORD_BITS) & 1UL;
}

static void flip_bit(_Atomic unsigned long *words, unsigned int cpu)
{
	atomic_fetch_xor(&words[cpu / ILB_WORD_BITS],
			 1UL << (cpu % ILB_WORD_BITS));
}

static void snapshot(unsigned long *to, _Atomic unsigned long *from)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		to[i] = atomic_load(&from[i]);
}

static void view_of(struct worker *w, struct ilb_view *view)
{
	struct host *h = w->host;

	snapshot(w->idle, h->idle);
	snapshot(w->mask, h->registered);
	memset(view, 0, sizeof(*view));
	view->topology = &h->topology;
	view->mask = w->mask;
	view->housekeeping = h->online;
	view->idle = w->idle;
	view->kicker = ILB_CPU_NONE;
	view->scratch = w->scratch;
}

/* kick_ilb(): whoever finds no flag set sends the interrupt. */
static void kick(struct worker *w)
{
	struct host *h = w->host;
	struct ilb_choice choice, again = { ILB_CPU_NONE, 0, 0 };
	struct ilb_view view;

	view_of(w, &view);
	choice = ilb_index_choose(h->index, &view);
	if (choice.cpu == ILB_CPU_NONE)
		return;
	atomic_fetch_add(&h->chosen, 1);
	if (!ilb_mask_test(w->idle, choice.cpu) ||
	    (!choice.fallback &&
	     !ilb_view_core_idle(&view, choice.cpu, &again)))
		atomic_fetch_add(&h->wrong, 1);
	if (atomic_fetch_or(&h->flags[choice.cpu], BALANCE) & BALANCE)
		return;
	atomic_fetch_add(&h->sent, 1);
	atomic_fetch_add(&h->inbox[choice.cpu], 1);
}

/* nohz_csd_func(), on its own CPU. */
static void handle(struct host *h, unsigned int cpu)
{
	if (!atomic_load(&h->inbox[cpu]))
		return;
	atomic_fetch_sub(&h->inbox[cpu], 1);
	if (atomic_fetch_and(&h->flags[cpu], ~BALANCE) & BALANCE)
		atomic_fetch_add(&h->handled, 1);
}

/* One event of a CPU that this thread plays: siblings are others' CPUs. */
static void event(struct worker *w)
{
	struct host *h = w->host;
	unsigned int cores = CPUS / h->threads_of_core;
	/* Mostly one core, so that its threads meet. */
	unsigned int core = below(&w->random, 8) ? 0
						 : below(&w->random, cores);
	unsigned int cpu = core + w->number * cores;

	if (w->number >= h->threads_of_core) {
		kick(w);
		return;
	}
	handle(h, cpu);
	if (below(&w->random, 4)) {
		flip_bit(h->idle, cpu);
		if (test_bit(h->idle, cpu))
			ilb_index_enter_idle(h->index, cpu);
		else
			ilb_index_exit_idle(h->index, cpu);
	} else {
		flip_bit(h->registered, cpu);
		if (test_bit(h->registered, cpu))
			ilb_index_register(h->index, cpu);
		else
			ilb_index_unregister(h->index, cpu);
	}
}

static void *work(void *argument)
{
	struct worker *w = argument;
	unsigned int i;

	for (;;) {
		pthread_barrier_wait(&w->host->start);
		if (atomic_load(&w->host->stop))
			return NULL;
		for (i = 0; i < EVENTS; i++)
			event(w);
		pthread_barrier_wait(&w->host->end);
	}
}

struct found {
	unsigned int derived, choice, kicks, bits;
};

/* With every thread standing still. */
static void examine(struct worker *w, struct found *found)
{
	struct host *h = w->host;
	struct ilb_policy policy;
	struct ilb_choice is, should;
	struct ilb_view view;
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		handle(h, cpu);
		found->kicks += atomic_load(&h->flags[cpu]) ||
				atomic_load(&h->inbox[cpu]);
	}
	found->kicks += atomic_load(&h->sent) != atomic_load(&h->handled);
	found->derived += ilb_index_check(h->index, NULL) != 0;
	view_of(w, &view);
	ilb_policy_parse(&policy, "idle-core", CPUS);
	is = ilb_index_choose(h->index, &view);
	should = ilb_policy_choose(&policy, &view);
	found->choice += is.cpu != should.cpu ||
			 is.fallback != should.fallback;
	/* A CPU whose own bits were lost would be an event's work here. */
	ilb_index_sync(h->index, &view);
	is = ilb_index_choose(h->index, &view);
	found->bits += is.cpu != should.cpu;
}

static int say(unsigned int number, unsigned int wrong, const char *what,
	       unsigned int threads)
{
	printf("%sok %u - %s, %u threads a core\n", wrong ? "not " : "",
	       number, what, threads);
	return wrong != 0;
}

static int race(unsigned int number, unsigned int threads_of_core,
		unsigned int rounds, uint64_t seed)
{
	static struct worker workers[THREADS + 1];
	static struct host host;
	struct found found = { 0, 0, 0, 0 };
	unsigned int i, failed;

	build(&host, threads_of_core);
	pthread_barrier_init(&host.start, NULL, THREADS + 1);
	pthread_barrier_init(&host.end, NULL, THREADS + 1);
	for (i = 0; i <= THREADS; i++) {
		workers[i].host = &host;
		workers[i].number = i;
		workers[i].random = (seed + i + 1) * 0x9e3779b97f4a7c15ULL | 1;
		if (i < THREADS && pthread_create(&workers[i].thread, NULL,
						  work, &workers[i]))
			exit(99);
	}
	for (i = 0; i < rounds; i++) {
		pthread_barrier_wait(&host.start);
		pthread_barrier_wait(&host.end);
		examine(&workers[THREADS], &found);
	}
	atomic_store(&host.stop, 1);
	pthread_barrier_wait(&host.start);
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	printf("# %llu choices, %llu kicks\n",
	       (unsigned long long)host.chosen, (unsigned long long)host.sent);
	failed = say(number, found.derived, "standing still, the index follows",
		     threads_of_core);
	failed |= say(number + 1, found.choice + found.bits,
		      "standing still, it chooses as idle-core",
		      threads_of_core);
	failed |= say(number + 2, found.kicks, "no kick is lost",
		      threads_of_core);
	failed |= say(number + 3, host.wrong != 0 || !host.chosen,
		      "every choice passes idle-core's tests",
		      threads_of_core);
	pthread_barrier_destroy(&host.start);
	pthread_barrier_destroy(&host.end);
	free(host.memory);
	return (int)failed;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : ROUNDS;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	int failed;

	printf("1..8\n");
	failed = race(1, 2, rounds, seed);
	failed |= race(5, 3, rounds, seed);
	return failed;
}
