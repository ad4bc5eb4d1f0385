// SPDX-License-Identifier: GPL-2.0-only
/*
 * The index against core/target's idle-core and against the oracle, over
 * random machines, and on each a history of events and of whole new moments.
 *
 *	property-index [MOMENTS [SEED]]
 *
 * Prints TAP. A failure names the arguments that reproduce it alone.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/index.h"
#include "oracle.h"

#define MOMENTS		2000000ULL
#define PER_MACHINE	64U
#define GUARD		0xa5

enum property {
	SAME_AS_IDLE_CORE,
	SAME_AS_ORACLE,
	TESTS_AS_DEFINED,
	DERIVED_FOLLOWS,
	BY_RULE_TOO,
	EMPTY_IS_NOBODY,
	REPEATING_IS_NOTHING,
	MEMORY_KEPT,
	NR_PROPERTIES,
};

static const char *const property_names[NR_PROPERTIES] = {
	"chooses as core/target's idle-core",
	"chooses as the oracle",
	"tests its choice and a whole core's siblings alone, if LLCs own runs",
	"what is derived follows from the CPUs' bits",
	"the rule 'indexed' chooses the same, with its index and without",
	"it is empty when nobody can be chosen, and only then",
	"an event that is repeated changes nothing",
	"ilb_index_size() bytes are enough",
};

enum situation {
	WHOLE_CORE,
	FALLBACK,
	NOBODY,
	NO_SMT,
	CORE_IN_TWO_BLOCKS,
	BLOCKS_OVERLAP,
	TWO_LEVELS,
	NR_SITUATIONS,
};

static const char *const situation_names[NR_SITUATIONS] = {
	"a whole core is chosen",
	"only a fallback",
	"nobody qualifies",
	"no core has two threads",
	"a core lies in two blocks",
	"two LLCs share a run of ids",
	"an index has two levels",
};

struct run {
	uint64_t seed;
	uint64_t failures[NR_PROPERTIES];
	uint64_t seen[NR_SITUATIONS];
	struct ilb_policy idle_core, indexed, blind;
	struct machine machine;
	struct moment moment;
	struct oracle oracle;
	unsigned char *memory;
	unsigned long size;
	struct ilb_index *index;
	void *rule_memory;
	unsigned int overlap;	/* two LLCs share a run of ids */
};

static void check(struct run *run, enum property property, int holds)
{
	if (holds || run->failures[property]++)
		return;
	printf("# '%s' fails:\n# property-index %u %" PRIu64 "\n",
	       property_names[property], PER_MACHINE, run->seed);
}

static int same(struct ilb_choice a, struct ilb_choice b)
{
	return a.cpu == b.cpu && a.fallback == b.fallback;
}

static void *memory_for(unsigned long size)
{
	void *memory = malloc(size);

	if (!memory) {
		printf("Bail out! out of memory\n");
		exit(99);
	}
	return memory;
}

/* Shifted by some words, as the caller's alignment is a pointer's only. */
static void make_index(struct run *run, uint64_t *state)
{
	const struct ilb_topology *topology = &run->machine.topology;
	unsigned long shift = below(state, 8) * sizeof(void *);

	run->size = shift + ilb_index_size(topology);
	run->memory = memory_for(run->size + 1);
	memset(run->memory, GUARD, run->size + 1);
	run->index = ilb_index_init(run->memory + shift, topology);
	check(run, DERIVED_FOLLOWS, !ilb_index_check(run->index, NULL));
	run->rule_memory = memory_for(ilb_index_size(topology));
	run->indexed.index = ilb_index_init(run->rule_memory, topology);
}

static void drop_index(struct run *run)
{
	check(run, MEMORY_KEPT, run->memory[run->size] == GUARD);
	free(run->memory);
	free(run->rule_memory);
}

static void set_bit(unsigned char *bytes, unsigned long *words,
		    unsigned int cpu, int on)
{
	bytes[cpu] = (unsigned char)on;
	if (on)
		ilb_mask_set(words, cpu);
	else
		ilb_mask_clear(words, cpu);
}

static int registered(const struct moment *t, unsigned int cpu)
{
	return t->mask[cpu] && t->housekeeping[cpu];
}

/* As the host would: a CPU outside of housekeeping is never registered. */
static void tell(struct run *run, unsigned int cpu)
{
	const struct moment *t = &run->moment;

	if (t->idle[cpu])
		ilb_index_enter_idle(run->index, cpu);
	else
		ilb_index_exit_idle(run->index, cpu);
	if (registered(t, cpu))
		ilb_index_register(run->index, cpu);
	else
		ilb_index_unregister(run->index, cpu);
}

/* A few events, mostly on cores that had some before. */
static void go_on(struct run *run, uint64_t *state)
{
	struct moment *t = &run->moment;
	unsigned int nr = run->machine.nr;
	unsigned int events = 1 + below(state, 4);
	unsigned int cpu = below(state, nr);

	for (; events; events--) {
		cpu = below(state, 4) ? run->machine.sibling[cpu]
				      : below(state, nr);
		if (below(state, 3))
			set_bit(t->idle, t->idle_words, cpu,
				!t->idle[cpu] && cpu != t->kicker);
		else
			set_bit(t->mask, t->mask_words, cpu, !t->mask[cpu]);
		tell(run, cpu);
	}
	if (below(state, 16))
		return;
	tell(run, cpu);
	check(run, REPEATING_IS_NOTHING, !ilb_index_check(run->index, NULL));
}

static unsigned int tests_of(const struct run *run, struct ilb_choice choice)
{
	const struct machine *m = &run->machine;
	unsigned int label;

	if (choice.cpu == ILB_CPU_NONE)
		return 0;
	if (choice.fallback || !m->smt)
		return 1;
	label = m->core_of[choice.cpu];
	return m->members_start[label + 1] - m->members_start[label];
}

static void check_choice(struct run *run)
{
	const struct ilb_view *view = &run->moment.view;
	struct ilb_choice is, scanned, should;

	oracle_ask(&run->oracle, &run->machine, &run->moment);
	should = oracle_idle_core(&run->oracle, PRUNE_NONE, 0);
	is = ilb_index_choose(run->index, view);
	scanned = ilb_policy_choose(&run->idle_core, view);
	check(run, SAME_AS_IDLE_CORE, same(is, scanned));
	check(run, SAME_AS_ORACLE, same(is, should));
	check(run, TESTS_AS_DEFINED,
	      run->overlap ? is.looked_at >= tests_of(run, is)
			   : is.looked_at == tests_of(run, is));
	check(run, DERIVED_FOLLOWS, !ilb_index_check(run->index, NULL));
	check(run, EMPTY_IS_NOBODY,
	      ilb_index_empty(run->index) == (should.cpu == ILB_CPU_NONE));
	check(run, BY_RULE_TOO,
	      same(ilb_policy_choose(&run->indexed, view), is) &&
	      same(ilb_policy_choose(&run->blind, view), is));
	run->seen[WHOLE_CORE] += run->machine.smt && !is.fallback &&
				 is.cpu != ILB_CPU_NONE;
	run->seen[FALLBACK] += is.fallback;
	run->seen[NOBODY] += is.cpu == ILB_CPU_NONE;
}

/* Does an LLC go on in @cpu's run of ids behind one that starts after it? */
static unsigned int overlaps(const struct machine *m, unsigned int cpu)
{
	unsigned int other = cpu + 2;

	if (cpu + 1 >= m->nr || m->llc[cpu] == m->llc[cpu + 1])
		return 0;
	for (; other < m->nr && other % ILB_INDEX_SPAN > 1; other++)
		if (m->llc[cpu] == m->llc[other])
			return 1;
	return 0;
}

static void count_machine(struct run *run)
{
	const struct machine *m = &run->machine;
	unsigned int cpu, split = 0;

	run->overlap = 0;
	for (cpu = 0; cpu < m->nr; cpu++) {
		split |= cpu / ILB_INDEX_SPAN !=
			 m->sibling[cpu] / ILB_INDEX_SPAN;
		run->overlap |= overlaps(m, cpu);
	}
	run->seen[NO_SMT] += !m->smt;
	run->seen[CORE_IN_TWO_BLOCKS] += split;
	run->seen[BLOCKS_OVERLAP] += run->overlap;
	run->seen[TWO_LEVELS] += m->nr > ILB_INDEX_SPAN * ILB_WORD_BITS;
}

static void one_machine(struct run *run, uint64_t moments)
{
	/* Neighbouring seeds must not make related machines. */
	uint64_t state = (run->seed + 1) * 0x9e3779b97f4a7c15ULL | 1;
	uint64_t n;

	machine_make(&run->machine, &state);
	count_machine(run);
	make_index(run, &state);
	for (n = 0; n < moments; n++) {
		if (n % 16 == 0) {
			moment_make(&run->moment, &run->machine, &state);
			ilb_index_sync(run->index, &run->moment.view);
		} else {
			go_on(run, &state);
		}
		check_choice(run);
	}
	drop_index(run);
}

static int report(const struct run *run)
{
	unsigned int i;
	int failed = 0;

	for (i = 0; i < NR_PROPERTIES; i++) {
		failed |= run->failures[i] != 0;
		printf("%sok %u - %s\n", run->failures[i] ? "not " : "", i + 1,
		       property_names[i]);
		if (run->failures[i])
			printf("# failures: %" PRIu64 "\n", run->failures[i]);
	}
	for (i = 0; i < NR_SITUATIONS; i++) {
		failed |= run->seen[i] == 0;
		printf("%sok %u - it occurs that %s (%" PRIu64 ")\n",
		       run->seen[i] ? "" : "not ", NR_PROPERTIES + i + 1,
		       situation_names[i], run->seen[i]);
	}
	return failed;
}

int main(int argc, char **argv)
{
	static struct run run;
	uint64_t moments = argc > 1 ? strtoull(argv[1], NULL, 0) : MOMENTS;
	uint64_t share;

	run.seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	if (ilb_policy_parse(&run.idle_core, "idle-core", 1) ||
	    ilb_policy_parse(&run.indexed, "indexed", 1) ||
	    ilb_policy_parse(&run.blind, "indexed", 1)) {
		printf("Bail out! no such rule\n");
		return 99;
	}
	printf("1..%d\n", NR_PROPERTIES + NR_SITUATIONS);
	printf("# property-index %" PRIu64 " %" PRIu64 "\n", moments,
	       run.seed);
	for (; moments; moments -= share, run.seed++) {
		share = moments < PER_MACHINE ? moments : PER_MACHINE;
		one_machine(&run, share);
	}
	return report(&run);
}
