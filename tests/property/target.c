// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every rule against its definition, over random machines and moments.
 *
 *	property-target [MOMENTS [SEED]]
 *
 * Prints TAP. A failure names the arguments that reproduce it alone.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "oracle.h"

#define MOMENTS		2000000ULL
#define PER_MACHINE	32U

enum rule { LOWEST, V1, V2, V3, V4, WRAP, ROUND_ROBIN, NEAR, NR_RULES };

static const char *const rule_names[NR_RULES] = {
	"lowest", "idle-core-v1", "idle-core-v2", "idle-core-v3", "idle-core",
	"wrap:0", "round-robin", "near",
};

enum property {
	TOPOLOGY_SOUND,
	LINK_SAME_RINGS,
	CHOSEN_QUALIFIES,
	NONE_IS_RIGHT,
	VARIANTS_AGREE,
	BLIND_NEAR_IS_IDLE_CORE,
	SCRATCH_KEPT,
	FIRST_CHOICE,
	FIRST_COUNT = FIRST_CHOICE + NR_RULES,
	NR_PROPERTIES = FIRST_COUNT + NR_RULES,
};

static const char *const property_names[FIRST_CHOICE] = {
	"the topology passes its check",
	"ilb_topology_link() makes the same rings",
	"who is chosen is idle, in the mask and allowed",
	"nobody is chosen only if nobody qualifies",
	"all idle-core variants choose the same CPU",
	"near without a kicker is idle-core, at the same cost",
	"the scratch mask is not overrun",
};

/* Situations that must occur, else agreement would mean nothing. */
enum situation {
	RULES_DIFFER,
	FALLBACK,
	NOBODY,
	V2_SAVES,
	V3_SAVES,
	V4_DIFFERS,
	NEAR_DIFFERS,
	BUSY_OUTSIDE,
	NR_SITUATIONS,
};

static const char *const situation_names[NR_SITUATIONS] = {
	"lowest and idle-core differ",
	"only a fallback",
	"nobody qualifies",
	"v2 makes fewer tests than v1",
	"v3 makes fewer tests than v2",
	"v4 makes other tests than v3",
	"near and idle-core differ",
	"a thread outside of the scan makes the core busy",
};

struct run {
	uint64_t seed;
	uint64_t failures[NR_PROPERTIES];
	uint64_t seen[NR_SITUATIONS];
	struct ilb_policy policies[NR_RULES];
	struct machine machine;
	struct moment moment;
	struct oracle oracle;
	struct ilb_choice is[NR_RULES];
	struct ilb_choice should[NR_RULES];
};

static int same(struct ilb_choice a, struct ilb_choice b)
{
	return a.cpu == b.cpu && a.fallback == b.fallback;
}

static void print_set(const char *name, const unsigned long *words,
		      unsigned int nr)
{
	char text[256];
	unsigned int length;

	length = ilb_cpulist_print(text, sizeof(text), words, nr);
	printf("#   %s %s%s\n", name, text,
	       length < sizeof(text) ? "" : "...");
}

static void explain(const struct run *run)
{
	unsigned int nr = run->machine.nr;
	unsigned int i;

	printf("# property-target %u %" PRIu64 "\n", PER_MACHINE, run->seed);
	printf("#   %u CPUs, smt %d, kicker %d\n", nr, run->machine.smt,
	       (int)run->moment.kicker);
	print_set("online", run->machine.online_words, nr);
	print_set("mask", run->moment.mask_words, nr);
	print_set("housekeeping", run->moment.housekeeping_words, nr);
	print_set("idle", run->moment.idle_words, nr);
	for (i = 0; i < NR_RULES; i++)
		printf("#   %s: %d %d after %u, should be %d %d after %u\n",
		       rule_names[i], (int)run->is[i].cpu,
		       run->is[i].fallback, run->is[i].looked_at,
		       (int)run->should[i].cpu, run->should[i].fallback,
		       run->should[i].looked_at);
}

static void check(struct run *run, unsigned int property, int holds)
{
	if (holds || run->failures[property]++)
		return;
	if (property >= FIRST_CHOICE)
		printf("# %s fails:\n",
		       rule_names[(property - FIRST_CHOICE) % NR_RULES]);
	else
		printf("# '%s' fails:\n", property_names[property]);
	explain(run);
}

static void check_machine(struct run *run)
{
	static unsigned int ring[MACHINE_CPUS];
	struct machine *m = &run->machine;
	unsigned int cpu = 0;

	check(run, TOPOLOGY_SOUND, !ilb_topology_check(&m->topology, &cpu));
	check(run, LINK_SAME_RINGS,
	      ilb_topology_link(m->nr, m->core, ring) == m->smt &&
	      !memcmp(ring, m->sibling, m->nr * sizeof(*ring)));
}

static void ask_oracle(struct run *run)
{
	struct oracle *o = &run->oracle;
	unsigned int last = run->policies[ROUND_ROBIN].last;

	oracle_ask(o, &run->machine, &run->moment);
	run->should[LOWEST] = oracle_from(o, 0, 1);
	run->should[V1] = oracle_idle_core(o, PRUNE_NONE, 1);
	run->should[V2] = oracle_idle_core(o, PRUNE_PARTLY, 1);
	run->should[V3] = oracle_idle_core(o, PRUNE_ALSO_BUSY, 1);
	run->should[V4] = oracle_idle_core(o, PRUNE_ALSO_BUSY, 0);
	run->should[WRAP] = oracle_from(o, run->policies[WRAP].start, 1);
	run->should[ROUND_ROBIN] =
		oracle_from(o, last == ILB_CPU_NONE ? 0 : last + 1, 0);
	run->should[NEAR] = oracle_near(o);
}

static void check_rules(struct run *run)
{
	const struct moment *t = &run->moment;
	struct ilb_choice is, should;
	unsigned int i;

	for (i = 0; i < NR_RULES; i++) {
		is = run->is[i];
		should = run->should[i];
		check(run, FIRST_CHOICE + i, same(is, should));
		check(run, FIRST_COUNT + i, is.looked_at == should.looked_at);
		check(run, CHOSEN_QUALIFIES,
		      is.cpu == ILB_CPU_NONE ||
		      (is.cpu < run->machine.nr && t->idle[is.cpu] &&
		       t->mask[is.cpu] && t->housekeeping[is.cpu]));
		check(run, NONE_IS_RIGHT,
		      (is.cpu == ILB_CPU_NONE) ==
		      (run->oracle.first_idle == ILB_CPU_NONE));
		check(run, SCRATCH_KEPT,
		      t->scratch[ILB_MASK_WORDS(run->machine.nr)] ==
		      SCRATCH_GUARD);
	}
	for (i = V1; i < V4; i++)
		check(run, VARIANTS_AGREE, same(run->is[i], run->is[V4]));
	if (t->kicker == ILB_CPU_NONE)
		check(run, BLIND_NEAR_IS_IDLE_CORE,
		      same(run->is[NEAR], run->is[V4]) &&
		      run->is[NEAR].looked_at == run->is[V4].looked_at);
}

/* Is a chosen CPU's core busy through a thread that no rule would choose? */
static int busy_outside(const struct run *run, unsigned int cpu)
{
	const struct machine *m = &run->machine;
	unsigned int label = m->core_of[cpu];
	unsigned int i;

	for (i = m->members_start[label]; i < m->members_start[label + 1]; i++)
		if (!run->moment.idle[m->members[i]] &&
		    run->oracle.qualified[m->members[i]])
			return 0;
	return !run->oracle.whole[cpu];
}

static void count_situations(struct run *run)
{
	const struct ilb_choice *is = run->is;

	run->seen[RULES_DIFFER] += is[LOWEST].cpu != is[V4].cpu;
	run->seen[FALLBACK] += is[V4].fallback;
	run->seen[NOBODY] += is[V4].cpu == ILB_CPU_NONE;
	run->seen[V2_SAVES] += is[V2].looked_at < is[V1].looked_at;
	run->seen[V3_SAVES] += is[V3].looked_at < is[V2].looked_at;
	run->seen[V4_DIFFERS] += is[V4].looked_at != is[V3].looked_at;
	run->seen[NEAR_DIFFERS] += is[NEAR].cpu != is[V4].cpu;
	if (is[V4].fallback)
		run->seen[BUSY_OUTSIDE] += busy_outside(run, is[V4].cpu);
}

static void one_machine(struct run *run, uint64_t moments)
{
	/* Neighbouring seeds must not make related machines. */
	uint64_t state = (run->seed + 1) * 0x9e3779b97f4a7c15ULL | 1;
	unsigned int i;

	machine_make(&run->machine, &state);
	check_machine(run);
	run->policies[ROUND_ROBIN].last = ILB_CPU_NONE;
	while (moments--) {
		moment_make(&run->moment, &run->machine, &state);
		run->policies[WRAP].start = below(&state, run->machine.nr);
		ask_oracle(run);
		for (i = 0; i < NR_RULES; i++)
			run->is[i] = ilb_policy_choose(&run->policies[i],
						       &run->moment.view);
		check_rules(run);
		count_situations(run);
	}
}

static int report(const struct run *run)
{
	unsigned int i;
	int failed = 0;

	for (i = 0; i < NR_PROPERTIES; i++) {
		failed |= run->failures[i] != 0;
		printf("%sok %u - ", run->failures[i] ? "not " : "", i + 1);
		if (i < FIRST_CHOICE)
			printf("%s\n", property_names[i]);
		else if (i < FIRST_COUNT)
			printf("%s chooses as defined\n",
			       rule_names[i - FIRST_CHOICE]);
		else
			printf("%s makes as many tests as defined\n",
			       rule_names[i - FIRST_COUNT]);
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
	unsigned int i;

	run.seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	for (i = 0; i < NR_RULES; i++)
		if (ilb_policy_parse(&run.policies[i], rule_names[i], 1)) {
			printf("Bail out! no rule '%s'\n", rule_names[i]);
			return 99;
		}
	printf("1..%d\n", NR_PROPERTIES + NR_SITUATIONS);
	printf("# property-target %" PRIu64 " %" PRIu64 "\n", moments,
	       run.seed);
	for (; moments; moments -= share, run.seed++) {
		share = moments < PER_MACHINE ? moments : PER_MACHINE;
		one_machine(&run, share);
	}
	return report(&run);
}
