// SPDX-License-Identifier: GPL-2.0-only
/* Scheduling domains of machines whose domains are known. */

#include <stdlib.h>
#include <string.h>

#include "ilb/domain.h"
#include "ilb/error.h"
#include "model_machine.h"

static const struct ilb_sched_domain *level(const struct machine *m,
					    unsigned int cpu, unsigned int n)
{
	const struct ilb_sched_domain *sd = m->domains.base[cpu];

	while (sd && n--)
		sd = sd->parent;
	return sd;
}

static void expect_sd(const struct ilb_sched_domain *sd, const char *name,
		      unsigned int weight, unsigned int groups,
		      unsigned int pct, unsigned int tries)
{
	assert_non_null(sd);
	assert_string_equal(ilb_level_name(sd->span->level), name);
	assert_int_equal(sd->span->weight, weight);
	assert_int_equal(sd->span->nr_groups, groups);
	assert_int_equal(sd->span->imbalance_pct, pct);
	assert_int_equal(sd->span->cache_nice_tries, tries);
	/* Weight ms, doubled at most. */
	assert_int_equal(sd->balance_interval, weight);
	assert_int_equal(sd->min_interval, weight);
	assert_int_equal(sd->max_interval, 2 * weight);
	assert_int_equal(sd->busy_factor, 16);
	assert_int_equal(sd->newidle_call, 512);
	assert_int_equal(sd->newidle_success, 256);
	assert_int_equal(sd->newidle_ratio, 512);
}

/* Mail B names them: SMT, MC, NUMA. */
static void vera_has_three(void **state)
{
	struct machine *m = machine_vera("linux-7.3");
	const struct ilb_sched_domain *sd;
	unsigned int i;

	(void)state;
	expect_sd(level(m, 180, 0), "SMT", 2, 2, 110, 0);
	expect_sd(level(m, 180, 1), "MC", 176, 88, 117, 1);
	expect_sd(level(m, 180, 2), "NUMA", 352, 2, 117, 2);
	assert_null(level(m, 180, 3));
	/* 180 is the sibling of 4, on node 0. */
	assert_int_equal(level(m, 180, 0)->span->cpus[0], 4);
	assert_int_equal(level(m, 180, 0)->span->cpus[1], 180);
	assert_int_equal(level(m, 180, 0)->local->cpus[0], 180);
	sd = level(m, 180, 1);
	for (i = 0; i < 88; i++) {
		assert_int_equal(sd->span->cpus[i], i);
		assert_int_equal(sd->span->cpus[88 + i], 176 + i);
		assert_int_equal(sd->span->groups[i].cpus[1], 176 + i);
	}
	assert_int_equal(sd->local->cpus[0], 4);
	assert_int_equal(sd->local->flags, level(m, 4, 0)->span->flags);
	assert_int_equal(sd->local->cores, 1);
	sd = level(m, 180, 2);
	assert_int_equal(sd->local->weight, 176);
	assert_int_equal(sd->local->cpus[88], 176);
	assert_int_equal(sd->local->flags, level(m, 0, 1)->span->flags);
	assert_int_equal(sd->span->groups[1].cpus[0], 88);
	assert_int_equal(sd->local->cores, 88);
	/* One cache on a node of 176 CPUs. */
	assert_int_equal(sd->span->imb_numa_nr, 22);
	assert_ptr_equal(ilb_domains_llc(&m->domains, 7), level(m, 7, 1));
	machine_free(m);
}

#define BASE	(ILB_SD_NEWIDLE | ILB_SD_FORK | ILB_SD_WAKE_AFFINE)

static void levels_have_their_flags(void **state)
{
	struct machine *m = machine_vera("linux-7.3");

	(void)state;
	assert_int_equal(level(m, 0, 0)->span->flags,
			 BASE | ILB_SD_PREFER_SIBLING |
			 ILB_SD_SHARE_CAPACITY | ILB_SD_SHARE_LLC);
	assert_int_equal(level(m, 0, 1)->span->flags,
			 BASE | ILB_SD_PREFER_SIBLING | ILB_SD_SHARE_LLC);
	assert_int_equal(level(m, 0, 2)->span->flags,
			 BASE | ILB_SD_NUMA | ILB_SD_SERIALIZE);
	/* A single CPU as a group is nothing. */
	assert_int_equal(level(m, 0, 0)->local->flags, 0);
	machine_free(m);
}

/* Without SMT, with pairs of cores that share an inner cache. */
static void clusters_are_a_level(void **state)
{
	struct machine *m = machine_new("linux-7.3", 16, 1, 16, 16);
	unsigned int cpu;

	(void)state;
	for (cpu = 0; cpu < 16; cpu++)
		m->cluster[cpu] = cpu & ~1U;
	m->setup.cluster = m->cluster;
	machine_build(m);
	expect_sd(level(m, 3, 0), "CLS", 2, 2, 117, 1);
	expect_sd(level(m, 3, 1), "MC", 16, 8, 117, 1);
	assert_null(level(m, 3, 2));
	assert_true(level(m, 3, 0)->span->flags & ILB_SD_CLUSTER);
	assert_int_equal(level(m, 3, 1)->local->cores, 2);
	machine_free(m);
}

/* Two caches of 8 CPUs on a node, two nodes; on one node no NUMA. */
static void caches_within_a_node(void **state)
{
	struct machine *m = machine_new("linux-7.3", 32, 2, 8, 16);

	(void)state;
	machine_build(m);
	expect_sd(level(m, 20, 0), "SMT", 2, 2, 110, 0);
	expect_sd(level(m, 20, 1), "MC", 8, 4, 117, 1);
	expect_sd(level(m, 20, 2), "PKG", 16, 2, 117, 1);
	expect_sd(level(m, 20, 3), "NUMA", 32, 2, 117, 2);
	assert_int_equal(level(m, 20, 3)->span->imb_numa_nr, 2);
	assert_true(level(m, 20, 2)->span->flags & ILB_SD_PREFER_SIBLING);
	assert_false(level(m, 20, 2)->span->flags & ILB_SD_SHARE_LLC);
	machine_free(m);
	m = machine_new("linux-7.3", 8, 1, 8, 8);
	machine_build(m);
	expect_sd(level(m, 2, 0), "MC", 8, 8, 117, 1);
	assert_null(level(m, 2, 1));
	machine_free(m);
	m = machine_new("linux-7.3", 1, 1, 1, 1);
	machine_build(m);
	assert_null(m->domains.base[0]);
	machine_free(m);
}

/* An LLC that two nodes cut in half is two. */
static void a_node_cuts_a_cache(void **state)
{
	struct machine *m = machine_new("linux-7.3", 8, 1, 8, 4);

	(void)state;
	machine_build(m);
	expect_sd(level(m, 5, 0), "MC", 4, 4, 117, 1);
	expect_sd(level(m, 5, 1), "NUMA", 8, 2, 117, 2);
	machine_free(m);
}

/* Two packages of two nodes: 12 within, 32 across. */
static void distances_are_levels(void **state)
{
	static const unsigned int distance[16] = {
		10, 12, 32, 32,
		12, 10, 32, 32,
		32, 32, 10, 12,
		32, 32, 12, 10,
	};
	struct machine *m = machine_new("linux-7.3", 32, 1, 8, 8);

	(void)state;
	m->setup.distance = distance;
	m->setup.nr_nodes = 4;
	machine_build(m);
	expect_sd(level(m, 17, 0), "MC", 8, 8, 117, 1);
	expect_sd(level(m, 17, 1), "NUMA", 16, 2, 117, 2);
	expect_sd(level(m, 17, 2), "NUMA", 32, 2, 117, 2);
	assert_int_equal(level(m, 17, 1)->span->cpus[0], 16);
	/* Beyond 30 no task is placed or pulled on its way up. */
	assert_int_equal(level(m, 17, 1)->span->flags,
			 BASE | ILB_SD_NUMA | ILB_SD_SERIALIZE);
	assert_int_equal(level(m, 17, 2)->span->flags,
			 ILB_SD_NEWIDLE | ILB_SD_NUMA | ILB_SD_SERIALIZE);
	/* 8 / 8 on a node, twice that across. */
	assert_int_equal(level(m, 17, 1)->span->imb_numa_nr, 1);
	assert_int_equal(level(m, 17, 2)->span->imb_numa_nr, 2);
	machine_free(m);
}

/* 0-1-2 in a row: 0 and 2 are 20 apart, yet one span at 15 (deviation). */
static void distances_of_no_tree_are_joined(void **state)
{
	static const unsigned int distance[9] = {
		10, 15, 20,
		15, 10, 15,
		20, 15, 10,
	};
	struct machine *m = machine_new("linux-7.3", 12, 1, 4, 4);

	(void)state;
	m->setup.distance = distance;
	m->setup.nr_nodes = 3;
	machine_build(m);
	expect_sd(level(m, 0, 1), "NUMA", 12, 3, 117, 2);
	assert_null(level(m, 0, 2));
	machine_free(m);
}

static void wrong_distances_are_refused(void **state)
{
	static const unsigned int near[4] = { 10, 9, 9, 10 };
	static const unsigned int same[4] = { 10, 10, 10, 10 };
	static const unsigned int fine[4] = { 10, 20, 20, 10 };
	struct machine *m = machine_new("linux-7.3", 8, 1, 4, 4);
	static const unsigned int *const wrong[] = { near, same };
	struct ilb_domains d;
	unsigned int i;

	(void)state;
	m->setup.nr_nodes = 2;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		m->setup.distance = wrong[i];
		assert_int_equal(ilb_domains_size(&m->setup), 0);
		assert_int_equal(ilb_domains_init(&d, &m->setup, NULL),
				 -ILB_ERR_SYNTAX);
	}
	m->setup.distance = fine;
	assert_int_not_equal(ilb_domains_size(&m->setup), 0);
	m->setup.nr_nodes = 3;
	assert_int_equal(ilb_domains_init(&d, &m->setup, NULL),
			 -ILB_ERR_RANGE);
	machine_free(m);
}

static void too_many_distances_are_refused(void **state)
{
	static unsigned int distance[16 * 16];
	struct machine *m = machine_new("linux-7.3", 16, 1, 1, 1);
	struct ilb_domains d;
	unsigned int a, b, most = ILB_LEVELS_MAX - ILB_LEVEL_NUMA;

	(void)state;
	for (a = 0; a < 16; a++)
		for (b = 0; b < 16; b++)
			distance[16 * a + b] = a == b ? 10 :
				11 + (a > b ? a : b) % most;
	m->setup.distance = distance;
	m->setup.nr_nodes = 16;
	assert_int_not_equal(ilb_domains_size(&m->setup), 0);
	distance[1] = 99;
	assert_int_equal(ilb_domains_init(&d, &m->setup, NULL),
			 -ILB_ERR_RANGE);
	machine_free(m);
}

static void isolated_and_offline_cpus_are_in_none(void **state)
{
	struct machine *m = machine_new("linux-7.3", 8, 2, 8, 8);

	(void)state;
	machine_offline(m, 7);
	m->isolated[0] = 0x0c;
	m->setup.isolated = m->isolated;
	machine_build(m);
	assert_null(m->domains.base[7]);
	assert_null(m->domains.base[2]);
	assert_null(m->domains.base[3]);
	/* CPU 6 is alone on its core. */
	expect_sd(level(m, 6, 0), "MC", 5, 3, 117, 1);
	expect_sd(level(m, 1, 1), "MC", 5, 3, 117, 1);
	assert_int_equal(level(m, 6, 0)->local->flags, 0);
	assert_true(level(m, 1, 1)->local->flags & ILB_SD_SHARE_CAPACITY);
	machine_free(m);
}

/* Four large and four small; the LLC is all of them, clusters are equal. */
static struct machine *big_little(const char *kernel)
{
	struct machine *m = machine_new(kernel, 8, 1, 8, 8);
	unsigned int cpu;

	for (cpu = 0; cpu < 8; cpu++) {
		m->cluster[cpu] = cpu & ~3U;
		m->capacity[cpu] = cpu < 4 ? 1024 : 512;
	}
	m->topology.capacity = m->capacity;
	m->setup.cluster = m->cluster;
	machine_build(m);
	return m;
}

static void unequal_capacities_are_marked(void **state)
{
	struct machine *m = big_little("linux-7.3");
	unsigned int packing[8];
	unsigned char unequal[8];

	(void)state;
	assert_false(level(m, 0, 0)->span->flags & ILB_SD_ASYM_CAPACITY);
	assert_true(level(m, 0, 1)->span->flags & ILB_SD_ASYM_CAPACITY);
	assert_true(level(m, 0, 1)->span->flags & ILB_SD_ASYM_FULL);
	ilb_domains_gates(&m->domains, packing, unequal);
	assert_true(unequal[0] && unequal[7]);
	assert_int_equal(packing[0], ILB_CPU_NONE);
	machine_free(m);
}

/* 1024 and 900 on node 0, 512 too on node 1: only NUMA has them all. */
static void some_capacities_are_not_all(void **state)
{
	struct machine *m = machine_new("linux-7.3", 8, 1, 4, 4);

	(void)state;
	m->capacity[1] = 900;
	m->capacity[5] = 512;
	m->topology.capacity = m->capacity;
	machine_build(m);
	assert_true(level(m, 0, 0)->span->flags & ILB_SD_ASYM_CAPACITY);
	assert_false(level(m, 0, 0)->span->flags & ILB_SD_ASYM_FULL);
	assert_true(level(m, 0, 1)->span->flags & ILB_SD_ASYM_FULL);
	machine_free(m);
}

/* asym-sibling */
static void below_unequal_cpus_6_x_spreads_nothing(void **state)
{
	static const struct {
		const char *kernel, *other;
		unsigned int prefer;
	} cases[] = {
		{ "linux-6.1", "asym-sibling=kept", 0 },
		{ "linux-6.12", "asym-sibling=kept", 0 },
		{ "linux-7.2", "asym-sibling=dropped", 1 },
		{ "linux-7.3", "asym-sibling=dropped", 1 },
	};
	struct machine *m;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		m = big_little(cases[i].kernel);
		assert_int_equal(!!(level(m, 0, 1)->local->flags &
				    ILB_SD_PREFER_SIBLING), cases[i].prefer);
		assert_int_equal(ilb_behaviour_set(&m->behaviour,
						   cases[i].other), 0);
		machine_build(m);
		assert_int_equal(!!(level(m, 0, 1)->local->flags &
				    ILB_SD_PREFER_SIBLING), !cases[i].prefer);
		machine_free(m);
	}
}

static void packing_levels_are_the_hosts(void **state)
{
	struct machine *m = machine_new("linux-7.3", 16, 2, 8, 8);
	unsigned int packing[16];
	unsigned char unequal[16];

	(void)state;
	m->setup.packing_levels = 1U << ILB_LEVEL_SMT | 1U << ILB_LEVEL_MC;
	machine_build(m);
	ilb_domains_gates(&m->domains, packing, unequal);
	assert_int_equal(packing[3], 0);
	assert_int_equal(packing[13], 8);
	assert_false(unequal[3]);
	assert_false(level(m, 0, 2)->span->flags & ILB_SD_ASYM_PACKING);
	machine_free(m);
}

/* Sizes for N and 2N CPUs of the same shape; 8192 must work. */
static void memory_is_linear(void **state)
{
	struct machine *m;
	size_t half, whole;

	(void)state;
	m = machine_new("linux-7.3", 4096, 2, 16, 128);
	half = ilb_domains_size(&m->setup);
	machine_free(m);
	m = machine_new("linux-7.3", 8192, 2, 16, 128);
	whole = ilb_domains_size(&m->setup);
	assert_true(whole <= 2 * half);
	assert_true(whole < 8192UL * 5 * 600);
	machine_build(m);
	expect_sd(level(m, 8191, 3), "NUMA", 8192, 64, 117, 2);
	assert_int_equal(level(m, 8191, 2)->span->cpus[0], 8064);
	machine_free(m);
}

/* Slower: every pair of CPUs is in one span exactly if the tables say so. */
static void spans_are_what_the_tables_say(void **state)
{
	struct machine *m = machine_vera("linux-7.3");
	const struct ilb_span *span;
	const unsigned int *table[3] = { m->core, m->llc, m->zero };
	unsigned int a, b, n, i, expected;

	(void)state;
	for (n = 0; n < 3; n++) {
		for (a = 0; a < 352; a++) {
			span = level(m, a, n)->span;
			for (b = 0, i = 0; b < 352; b++) {
				expected = table[n][a] == table[n][b];
				if (!expected)
					continue;
				assert_int_equal(span->cpus[i], b);
				i++;
			}
			assert_int_equal(i, span->weight);
		}
	}
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vera_has_three),
		cmocka_unit_test(levels_have_their_flags),
		cmocka_unit_test(clusters_are_a_level),
		cmocka_unit_test(caches_within_a_node),
		cmocka_unit_test(a_node_cuts_a_cache),
		cmocka_unit_test(distances_are_levels),
		cmocka_unit_test(distances_of_no_tree_are_joined),
		cmocka_unit_test(wrong_distances_are_refused),
		cmocka_unit_test(too_many_distances_are_refused),
		cmocka_unit_test(isolated_and_offline_cpus_are_in_none),
		cmocka_unit_test(unequal_capacities_are_marked),
		cmocka_unit_test(some_capacities_are_not_all),
		cmocka_unit_test(below_unequal_cpus_6_x_spreads_nothing),
		cmocka_unit_test(packing_levels_are_the_hosts),
		cmocka_unit_test(memory_is_linear),
		cmocka_unit_test(spans_are_what_the_tables_say),
	};

	return cmocka_run_group_tests_name("domain", tests, NULL, NULL);
}
