// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of the index in every order of their steps, or so: core/index.c
 * is compiled in here with a switch to another CPU before each access to a
 * shared word, and what runs next is drawn by lot. Four CPUs of one or two
 * cores have a few events each, while a fifth party chooses. When all are
 * done, the index is what it would be if it were made anew.
 *
 *	test-index_order [RUNS [SEED]]
 *
 * Prints TAP. A failure names the arguments that reproduce it alone.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "core/env.h"

static void step(void);

static unsigned long step_add(unsigned long *word, unsigned long n)
{
	step();
	return ilb_fetch_add(word, n);
}

static unsigned long step_or(unsigned long *word, unsigned long bits)
{
	step();
	return ilb_fetch_or(word, bits);
}

static unsigned long step_and(unsigned long *word, unsigned long bits)
{
	step();
	return ilb_fetch_and(word, bits);
}

static unsigned long step_load(const unsigned long *word)
{
	step();
	return ilb_load(word);
}

#define ilb_fetch_add	step_add
#define ilb_fetch_or	step_or
#define ilb_fetch_and	step_and
#define ilb_load	step_load
#include "core/index.c"

#define RUNS		6000U
#define CPUS		132U
#define WORDS		ILB_MASK_WORDS(CPUS)
#define PLAYERS		4U
#define FIBERS		(PLAYERS + 1U)	/* the last one chooses */
#define EVENTS		3U
#define STACK		65536U

enum shape { ADJACENT, STRIDED, OWN_BLOCKS, SHAPES };

static const char *const shape_names[SHAPES] = {
	"a core in one block", "a core in two blocks",
	"a block per CPU, two levels of bitmaps",
};

struct fiber {
	ucontext_t context;
	char *stack;
	unsigned int cpu;
	int done;
};

static struct {
	struct ilb_topology topology;
	struct ilb_view view;
	unsigned int core[CPUS], sibling[CPUS], llc[CPUS];
	unsigned long online[WORDS], idle[WORDS], mask[WORDS], scratch[WORDS];
	struct ilb_index *index;
	void *memory;
	struct fiber fibers[FIBERS];
	ucontext_t main;
	int running;		/* fiber, or -1 */
	uint64_t random;
	unsigned int wrong;	/* choices */
} host;

static unsigned int below(unsigned int n)
{
	host.random ^= host.random << 13;
	host.random ^= host.random >> 7;
	host.random ^= host.random << 17;
	return (unsigned int)((host.random >> 32) % n);
}

static void step(void)
{
	/* A few steps in a row are as good, and quicker. */
	if (host.running >= 0 && !below(3))
		swapcontext(&host.fibers[host.running].context, &host.main);
}

static void build(enum shape shape)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		host.core[cpu] = shape == STRIDED ? cpu % (CPUS / 2)
						  : cpu & ~1U;
		host.llc[cpu] = shape == OWN_BLOCKS ? cpu : 0;
	}
	ilb_mask_fill(host.online, CPUS);
	host.topology.nr_cpus = CPUS;
	host.topology.online = host.online;
	host.topology.core = host.core;
	host.topology.sibling = host.sibling;
	host.topology.llc = host.llc;
	host.topology.node = host.llc;
	host.topology.smt = ilb_topology_link(CPUS, host.core, host.sibling);
	host.view.topology = &host.topology;
	host.view.mask = host.mask;
	host.view.housekeeping = host.online;
	host.view.idle = host.idle;
	host.view.kicker = ILB_CPU_NONE;
	host.view.scratch = host.scratch;
	free(host.memory);
	host.memory = malloc(ilb_index_size(&host.topology));
	if (!host.memory)
		exit(99);
}

static void event(unsigned int cpu)
{
	unsigned int registry = !below(3);
	unsigned long *set = registry ? host.mask : host.idle;
	int on = !ilb_mask_test(set, cpu);

	if (on)
		ilb_mask_set(set, cpu);
	else
		ilb_mask_clear(set, cpu);
	if (registry)
		(on ? ilb_index_register : ilb_index_unregister)(host.index,
								 cpu);
	else
		(on ? ilb_index_enter_idle : ilb_index_exit_idle)(host.index,
								  cpu);
}

static void play(void)
{
	struct fiber *fiber = &host.fibers[host.running];
	struct ilb_choice choice;
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		if (fiber->cpu != ILB_CPU_NONE) {
			event(fiber->cpu);
			continue;
		}
		choice = ilb_index_choose(host.index, &host.view);
		host.wrong += choice.cpu != ILB_CPU_NONE &&
			      choice.cpu >= CPUS;
	}
	fiber->done = 1;
}

static void start(struct fiber *fiber, unsigned int cpu)
{
	fiber->cpu = cpu;
	fiber->done = 0;
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = STACK;
	fiber->context.uc_link = &host.main;
	makecontext(&fiber->context, play, 0);
}

/* Let all run to their ends, some steps of one at a time. */
static void interleave(void)
{
	unsigned int left = FIBERS, i;

	while (left) {
		i = below(FIBERS);
		if (host.fibers[i].done)
			continue;
		host.running = (int)i;
		swapcontext(&host.main, &host.fibers[i].context);
		left -= host.fibers[i].done != 0;
	}
	host.running = -1;
}

/* The last core, so that both levels of bitmaps are written, and a next. */
static unsigned int cpu_of(enum shape shape, unsigned int player)
{
	unsigned int core = player / 2, thread = player % 2;

	if (shape == STRIDED)
		return core + thread * (CPUS / 2);
	return CPUS - 2 - core * 2 + thread;
}

/* Returns 1 if the index is what it should be afterwards. */
static int one_run(enum shape shape, uint64_t seed)
{
	struct ilb_policy policy;
	struct ilb_choice is, should;
	unsigned int i;

	host.random = (seed + 1) * 0x9e3779b97f4a7c15ULL | 1;
	host.index = ilb_index_init(host.memory, &host.topology);
	ilb_mask_zero(host.idle, CPUS);
	ilb_mask_zero(host.mask, CPUS);
	for (i = 0; i < PLAYERS; i++) {
		if (below(2))
			event(cpu_of(shape, i));
		if (below(2))
			event(cpu_of(shape, i));
		start(&host.fibers[i], cpu_of(shape, i));
	}
	start(&host.fibers[PLAYERS], ILB_CPU_NONE);
	interleave();
	if (ilb_index_check(host.index, NULL))
		return 0;
	ilb_policy_parse(&policy, "idle-core", CPUS);
	is = ilb_index_choose(host.index, &host.view);
	should = ilb_policy_choose(&policy, &host.view);
	return is.cpu == should.cpu && is.fallback == should.fallback &&
	       ilb_index_empty(host.index) == (is.cpu == ILB_CPU_NONE);
}

/* Does the check miss that @word is wrong? */
static unsigned int missed(unsigned long *word)
{
	unsigned int good;

	*word ^= 1;
	good = !ilb_index_check(host.index, NULL);
	*word ^= 1;
	return good;
}

/* A check that finds nothing is not worth much. */
static unsigned int faults_missed(void)
{
	unsigned int kind, level, last, n = 0;

	for (kind = 0; kind < KINDS; kind++) {
		for (level = 0; level < host.index->levels; level++) {
			last = host.index->nr_words[level] - 1;
			n += missed(&host.index->tree[kind][level][last].word);
		}
	}
	last = host.index->nr_blocks - 1;
	return n + missed(&host.index->blocks[last].whole);
}

/* Behind the last word there is nothing, whatever lies there. */
static unsigned int strays(void)
{
	unsigned int at = host.index->nr_words[0] * ILB_WORD_BITS;

	ilb_index_enter_idle(host.index, 0);
	ilb_index_register(host.index, 0);
	return next_block(host.index, FREE, 0) != 0 ||
	       next_block(host.index, FREE, at) != ILB_CPU_NONE;
}

int main(int argc, char **argv)
{
	unsigned int runs = argc > 1 ? (unsigned int)atoi(argv[1]) : RUNS;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	unsigned int i, shape, bad, failed = 0;
	uint64_t first = 0;

	host.running = -1;
	for (i = 0; i < FIBERS; i++) {
		host.fibers[i].stack = malloc(STACK);
		if (!host.fibers[i].stack)
			return 99;
	}
	printf("1..%d\n", SHAPES + 2);
	for (shape = 0; shape < SHAPES; shape++) {
		build((enum shape)shape);
		bad = 0;
		for (i = 0; i < runs; i++) {
			if (one_run((enum shape)shape, seed + i))
				continue;
			if (!bad++)
				first = seed + i;
		}
		printf("%sok %u - %s\n", bad || host.wrong ? "not " : "",
		       shape + 1, shape_names[shape]);
		if (bad)
			printf("# %u of %u; test-index_order 1 %llu\n", bad,
			       runs, (unsigned long long)first);
		failed |= bad || host.wrong;
	}
	bad = faults_missed();
	printf("%sok %d - the check finds every planted fault\n",
	       bad ? "not " : "", SHAPES + 1);
	failed |= bad;
	bad = strays();
	printf("%sok %d - a search ends behind the last block\n",
	       bad ? "not " : "", SHAPES + 2);
	failed |= bad;
	free(host.memory);
	for (i = 0; i < FIBERS; i++)
		free(host.fibers[i].stack);
	return (int)failed;
}
