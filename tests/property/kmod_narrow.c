// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answers that the kernel module gives, for every rule over random
 * machines and moments, against the oracle's choice: what would a kernel do
 * that scans such an answer for its first idle CPU?
 *
 *	property-kmod-narrow [MOMENTS [SEED]]
 *
 * Prints TAP. A failure names the arguments that reproduce it alone.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/narrow.h"
#include "oracle.h"

#define MOMENTS		400000ULL
#define PER_MACHINE	32U

enum rule { LOWEST, IDLE_CORE, V1, V2, V3, WRAP, ROUND_ROBIN, NEAR, NR_RULES };

static const char *const rule_names[NR_RULES] = {
	"lowest", "idle-core", "idle-core-v1", "idle-core-v2", "idle-core-v3",
	"wrap:0", "round-robin", "near",
};

enum property {
	SUBSET,
	HOLDS_CHOSEN,
	KERNEL_FOLLOWS,
	RIGHT_REASON,
	UNTOUCHED,
	AVOIDABLE_ONLY,
	NR_PROPERTIES,
};

static const char *const property_names[NR_PROPERTIES] = {
	"a narrowed answer is a subset of the true one",
	"a narrowed answer holds the CPU that the rule chooses",
	"a kernel that scans the answer chooses as the rule does",
	"an answer is left alone for the right reason only",
	"an answer that is left alone is not written",
	"idle-core narrows exactly where stock's choice is avoidable",
};

static const char *const narrowing_names[] = {
	"narrowed", "the same choice", "a fallback only", "no target",
};

#define NR_NARROWINGS	4U

struct run {
	uint64_t seed;
	uint64_t failures[NR_PROPERTIES];
	uint64_t seen[NR_NARROWINGS];
	struct ilb_policy policies[NR_RULES];
	struct machine machine;
	struct moment moment;
	struct oracle oracle;
	unsigned long answer[MACHINE_WORDS];
};

static void check(struct run *run, unsigned int property, enum rule rule,
		  int holds)
{
	if (holds || run->failures[property]++)
		return;
	printf("# '%s' fails for %s: property-kmod-narrow %u %" PRIu64 "\n",
	       property_names[property], rule_names[rule], PER_MACHINE,
	       run->seed);
}

static struct ilb_choice should(const struct run *run, enum rule rule)
{
	const struct oracle *o = &run->oracle;
	const struct ilb_policy *p = &run->policies[rule];

	switch (rule) {
	case LOWEST:
		return oracle_from(o, 0, 1);
	case WRAP:
		return oracle_from(o, p->start, 1);
	case ROUND_ROBIN:
		return oracle_from(o, p->last == ILB_CPU_NONE ? 0 :
				      p->last + 1, 0);
	case NEAR:
		return oracle_near(o);
	default:
		return oracle_idle_core(o, PRUNE_NONE, 0);
	}
}

static enum ilb_narrowing reason(const struct run *run, struct ilb_choice is)
{
	if (is.cpu == ILB_CPU_NONE)
		return ILB_LEFT_NO_TARGET;
	if (is.fallback)
		return ILB_LEFT_FALLBACK;
	return is.cpu == run->oracle.first_idle ? ILB_LEFT_SAME : ILB_NARROWED;
}

static int in_answer(const struct run *run, unsigned int cpu)
{
	return (int)(run->answer[cpu / 64] >> (cpu % 64) & 1);
}

/* find_new_ilb() of Linux 6.1 to 7.2, a CPU at a time. */
static unsigned int kernel_scan(const struct run *run)
{
	const struct moment *t = &run->moment;
	unsigned int cpu;

	for (cpu = 0; cpu < run->machine.nr; cpu++)
		if (in_answer(run, cpu) && t->mask[cpu] &&
		    cpu != t->kicker && t->idle[cpu])
			return cpu;
	return ILB_CPU_NONE;
}

static void check_narrowed(struct run *run, enum rule rule, unsigned int cpu)
{
	unsigned int i, words = ILB_MASK_WORDS(run->machine.nr);
	int subset = 1;

	for (i = 0; i < words * 64; i++)
		if (in_answer(run, i) && (i >= run->machine.nr ||
					  !run->moment.housekeeping[i]))
			subset = 0;
	check(run, SUBSET, rule, subset);
	check(run, HOLDS_CHOSEN, rule, in_answer(run, cpu));
	check(run, KERNEL_FOLLOWS, rule, kernel_scan(run) == cpu);
}

static int untouched(const struct run *run)
{
	unsigned int i;

	for (i = 0; i < MACHINE_WORDS; i++)
		if (run->answer[i] != SCRATCH_GUARD)
			return 0;
	return 1;
}

/* The two words of measure/: on_busy_core, and another core was idle. */
static int avoidable(const struct oracle *o)
{
	return o->first_idle != ILB_CPU_NONE && !o->whole[o->first_idle] &&
	       o->first_whole != ILB_CPU_NONE;
}

static void one_rule(struct run *run, enum rule rule)
{
	struct ilb_choice choice = should(run, rule);
	enum ilb_narrowing narrowing;
	unsigned int i;

	for (i = 0; i < MACHINE_WORDS; i++)
		run->answer[i] = SCRATCH_GUARD;
	narrowing = ilb_narrow(&run->policies[rule], &run->moment.view,
			       run->answer);
	run->seen[narrowing]++;
	check(run, RIGHT_REASON, rule, narrowing == reason(run, choice));
	if (narrowing == ILB_NARROWED)
		check_narrowed(run, rule, choice.cpu);
	else
		check(run, UNTOUCHED, rule, untouched(run));
	if (rule >= IDLE_CORE && rule <= V3)
		check(run, AVOIDABLE_ONLY, rule,
		      (narrowing == ILB_NARROWED) == avoidable(&run->oracle));
}

static void one_machine(struct run *run, uint64_t moments)
{
	/* Neighbouring seeds must not make related machines. */
	uint64_t state = (run->seed + 1) * 0x9e3779b97f4a7c15ULL | 1;
	unsigned int rule;

	machine_make(&run->machine, &state);
	run->policies[ROUND_ROBIN].last = ILB_CPU_NONE;
	while (moments--) {
		moment_make(&run->moment, &run->machine, &state);
		run->policies[WRAP].start = below(&state, run->machine.nr);
		oracle_ask(&run->oracle, &run->machine, &run->moment);
		for (rule = 0; rule < NR_RULES; rule++)
			one_rule(run, rule);
	}
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
	for (i = 0; i < NR_NARROWINGS; i++) {
		failed |= run->seen[i] == 0;
		printf("%sok %u - it occurs: %s (%" PRIu64 ")\n",
		       run->seen[i] ? "" : "not ", NR_PROPERTIES + i + 1,
		       narrowing_names[i], run->seen[i]);
	}
	return failed;
}

int main(int argc, char **argv)
{
	static struct run run;
	uint64_t moments = argc > 1 ? strtoull(argv[1], NULL, 0) : MOMENTS;
	uint64_t share;
	unsigned int i;

	run.seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	for (i = 0; i < NR_RULES; i++)
		if (ilb_policy_parse(&run.policies[i], rule_names[i], 1)) {
			printf("Bail out! no rule '%s'\n", rule_names[i]);
			return 99;
		}
	printf("1..%u\n", NR_PROPERTIES + NR_NARROWINGS);
	printf("# property-kmod-narrow %" PRIu64 " %" PRIu64 "\n", moments,
	       run.seed);
	for (; moments; moments -= share, run.seed++) {
		share = moments < PER_MACHINE ? moments : PER_MACHINE;
		one_machine(&run, share);
	}
	return report(&run);
}
