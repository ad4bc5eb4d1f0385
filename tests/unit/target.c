// SPDX-License-Identifier: GPL-2.0-only
/* The rules by name, and what each chooses in situations worked by hand. */

#include <string.h>

#include "ilb/error.h"
#include "ilb/target.h"
#include "test.h"

#define NR	16

/*
 * The guests of the captures: siblings N, N + 1; two nodes of four cores,
 * an LLC each; but here the LLCs are halves of a node.
 */
struct machine {
	unsigned long online[1], mask[1], housekeeping[1], idle[1], scratch[1];
	unsigned int core[NR], sibling[NR], llc[NR], node[NR];
	struct ilb_topology topology;
	struct ilb_view view;
};

static void build(struct machine *m, unsigned long idle, unsigned int kicker)
{
	unsigned int cpu;

	memset(m, 0, sizeof(*m));
	m->online[0] = m->mask[0] = m->housekeeping[0] = 0xffff;
	m->idle[0] = idle;
	for (cpu = 0; cpu < NR; cpu++) {
		m->core[cpu] = cpu & ~1U;
		m->llc[cpu] = cpu & ~3U;
		m->node[cpu] = cpu & ~7U;
	}
	m->topology.nr_cpus = NR;
	m->topology.online = m->online;
	m->topology.core = m->core;
	m->topology.sibling = m->sibling;
	m->topology.llc = m->llc;
	m->topology.node = m->node;
	m->topology.smt = ilb_topology_link(NR, m->core, m->sibling);
	m->view.topology = &m->topology;
	m->view.mask = m->mask;
	m->view.housekeeping = m->housekeeping;
	m->view.idle = m->idle;
	m->view.kicker = kicker;
	m->view.scratch = m->scratch;
	assert_int_equal(ilb_topology_check(&m->topology, NULL), 0);
}

static void expect(struct machine *m, const char *rule, unsigned int cpu,
		   int fallback, unsigned int looked_at)
{
	struct ilb_policy policy;
	struct ilb_choice choice;

	assert_int_equal(ilb_policy_parse(&policy, rule, NR), 0);
	choice = ilb_policy_choose(&policy, &m->view);
	if (choice.cpu != cpu || choice.fallback != fallback ||
	    choice.looked_at != looked_at)
		fail_msg("%s: %d %d after %u, not %d %d after %u", rule,
			 (int)choice.cpu, choice.fallback, choice.looked_at,
			 (int)cpu, fallback, looked_at);
}

/* The captures' pinned workload: one task on each core of node 0. */
static void one_task_per_core_of_node_0(void **state)
{
	struct machine m;

	(void)state;
	build(&m, 0xffaa, 0);
	expect(&m, "lowest", 1, 0, 1);
	/* 0; 1 and its core; 2, 4, 6 prune their siblings; 8 and 9. */
	expect(&m, "idle-core", 8, 0, 1 + 2 + 3 * 1 + 2);
	expect(&m, "idle-core-v1", 8, 0, 2 + 3 * 3 + 2);
	expect(&m, "idle-core-v2", 8, 0, 2 + 3 * 3 + 2);
	expect(&m, "idle-core-v3", 8, 0, 2 + 3 * 1 + 2);
	expect(&m, "wrap:4", 5, 0, 2);
	expect(&m, "wrap:8", 8, 0, 1);
	expect(&m, "near", 8, 0, 1 + 2 + 3 * 1 + 2);
}

static void near_prefers_llc_then_node(void **state)
{
	struct machine m;

	(void)state;
	/* Kicker 13; cores 0, 8 and 14 are idle. */
	build(&m, 0xc303, 13);
	expect(&m, "idle-core", 0, 0, 2);
	/* 0 and 8 with their siblings, 12 that prunes 13, 14 with 15. */
	expect(&m, "near", 14, 0, 2 + 2 + 1 + 2);
	/* Its LLC is full: the node. */
	build(&m, 0x0303, 13);
	expect(&m, "near", 8, 0, 2 + 2 + 2);
	/* Its node is full. */
	build(&m, 0x0003, 13);
	expect(&m, "near", 0, 0, 2 + 4);
	/* It is unknown. */
	build(&m, 0xc303, ILB_CPU_NONE);
	expect(&m, "near", 0, 0, 2);
}

static void no_whole_core_is_a_fallback(void **state)
{
	struct machine m;

	(void)state;
	build(&m, 0x0a08, 0);
	expect(&m, "lowest", 3, 0, 3 - 1 + 1);
	expect(&m, "idle-core", 3, 1, 4 + 1 + 6);
	expect(&m, "near", 3, 1, 4 + 1 + 6);
	expect(&m, "round-robin", 3, 0, 4);
}

static void nobody_idle_is_no_choice(void **state)
{
	struct machine m;

	(void)state;
	build(&m, 0, 2);
	expect(&m, "lowest", ILB_CPU_NONE, 0, NR - 1);
	expect(&m, "idle-core", ILB_CPU_NONE, 0, NR);
	expect(&m, "idle-core-v3", ILB_CPU_NONE, 0, NR - 1);
	expect(&m, "wrap:15", ILB_CPU_NONE, 0, NR - 1);
	expect(&m, "round-robin", ILB_CPU_NONE, 0, NR);
	expect(&m, "near", ILB_CPU_NONE, 0, NR);
}

/* Siblings outside of housekeeping and of the mask make a core busy. */
static void outside_siblings_count(void **state)
{
	struct machine m;

	(void)state;
	build(&m, 0xfffd, 1);
	m.housekeeping[0] = 0x5;
	m.mask[0] = 0x5;
	expect(&m, "idle-core", 2, 0, 4);
	m.idle[0] &= ~0x8UL;
	expect(&m, "idle-core", 0, 1, 4);
}

static void round_robin_goes_on_and_wraps(void **state)
{
	static const unsigned int turns[] = { 3, 9, 14, 3 };
	struct ilb_policy policy;
	struct machine m;
	unsigned int i;

	(void)state;
	build(&m, 0x4208, 0);
	assert_int_equal(ilb_policy_parse(&policy, "round-robin", NR), 0);
	for (i = 0; i < ARRAY_SIZE(turns); i++)
		assert_int_equal(ilb_policy_choose(&policy, &m.view).cpu,
				 turns[i]);
	m.idle[0] = 0;
	assert_int_equal(ilb_policy_choose(&policy, &m.view).cpu,
			 ILB_CPU_NONE);
	assert_int_equal(policy.last, 3);
	policy.last = NR - 1;
	m.idle[0] = 1UL << (NR - 1);
	assert_int_equal(ilb_policy_choose(&policy, &m.view).cpu, NR - 1);
}

struct parse_case {
	const char *text;
	int result;
	const char *name;
	unsigned int start;
};

static const struct parse_case texts[] = {
	{ "lowest", 0, "lowest", 0 },
	{ "idle-core", 0, "idle-core", 0 },
	{ "idle-core-v1", 0, "idle-core-v1", 0 },
	{ "idle-core-v2", 0, "idle-core-v2", 0 },
	{ "idle-core-v3", 0, "idle-core-v3", 0 },
	{ "round-robin", 0, "round-robin", 0 },
	{ "near", 0, "near", 0 },
	{ "indexed", 0, "indexed", 0 },
	{ "wrap:0", 0, "wrap", 0 },
	{ "wrap:15", 0, "wrap", 15 },
	{ "wrap:007", 0, "wrap", 7 },
	{ "wrap:16", -ILB_ERR_RANGE, NULL, 0 },
	{ "wrap:4294967296", -ILB_ERR_RANGE, NULL, 0 },
	{ "wrap:18446744073709551616", -ILB_ERR_RANGE, NULL, 0 },
	{ "wrap", -ILB_ERR_SYNTAX, NULL, 0 },
	{ "wrap:", -ILB_ERR_SYNTAX, NULL, 0 },
	{ "wrap:x", -ILB_ERR_SYNTAX, NULL, 0 },
	{ "wrap:-1", -ILB_ERR_SYNTAX, NULL, 0 },
	{ "wrap:1 ", -ILB_ERR_SYNTAX, NULL, 0 },
	{ "wrap:1:2", -ILB_ERR_SYNTAX, NULL, 0 },
	{ "lowest:1", -ILB_ERR_SYNTAX, NULL, 0 },
	{ "near:", -ILB_ERR_SYNTAX, NULL, 0 },
	{ "", -ILB_ERR_NOENT, NULL, 0 },
	{ ":", -ILB_ERR_NOENT, NULL, 0 },
	{ "low", -ILB_ERR_NOENT, NULL, 0 },
	{ "lowest ", -ILB_ERR_NOENT, NULL, 0 },
	{ "idle-core-v4", -ILB_ERR_NOENT, NULL, 0 },
	{ "Lowest", -ILB_ERR_NOENT, NULL, 0 },
};

static void policies_are_parsed(void **state)
{
	struct ilb_policy policy;
	unsigned int i;
	int result;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		memset(&policy, 0x5a, sizeof(policy));
		result = ilb_policy_parse(&policy, texts[i].text, NR);
		if (result != texts[i].result)
			fail_msg("'%s': %d", texts[i].text, result);
		if (result)
			continue;
		assert_string_equal(policy.rule->name, texts[i].name);
		assert_int_equal(policy.start, texts[i].start);
		assert_int_equal(policy.last, ILB_CPU_NONE);
	}
}

static void every_rule_is_complete(void **state)
{
	const struct ilb_rule *rule;

	(void)state;
	for (rule = ilb_rules; rule->name; rule++) {
		assert_non_null(rule->summary);
		assert_non_null(rule->choose);
		assert_int_equal(rule->takes_cpu, !strcmp(rule->name, "wrap"));
		assert_int_equal(rule->takes_index,
				 !strcmp(rule->name, "indexed"));
	}
	assert_int_equal(rule - ilb_rules, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_task_per_core_of_node_0),
		cmocka_unit_test(near_prefers_llc_then_node),
		cmocka_unit_test(no_whole_core_is_a_fallback),
		cmocka_unit_test(nobody_idle_is_no_choice),
		cmocka_unit_test(outside_siblings_count),
		cmocka_unit_test(round_robin_goes_on_and_wraps),
		cmocka_unit_test(policies_are_parsed),
		cmocka_unit_test(every_rule_is_complete),
	};

	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
