// SPDX-License-Identifier: GPL-2.0-only
/* Sibling rings, and one broken topology for each promise of the struct. */

#include <string.h>

#include "ilb/error.h"
#include "ilb/topology.h"
#include "test.h"

/*
 * Eight CPUs, cores {0,4} {1,5,7} {2,6}, CPU 3 offline, CPUs 0, 4 one LLC and
 * node, the others another.
 */
struct fixture {
	unsigned long online[1];
	unsigned int core[8], sibling[8], llc[8], node[8], capacity[8];
	struct ilb_topology topology;
};

static const struct fixture sound = {
	.online = { 0xf7 },
	.core = { 0, 1, 2, 3, 0, 1, 2, 1 },
	.sibling = { 4, 5, 6, 3, 0, 7, 2, 1 },
	.llc = { 0, 1, 1, 3, 0, 1, 1, 1 },
	.node = { 0, 1, 1, 3, 0, 1, 1, 1 },
	.capacity = { 1024, 1, 512, 512, 1024, 1, 512, 1 },
};

static void fix(struct fixture *f)
{
	*f = sound;
	f->topology.nr_cpus = 8;
	f->topology.online = f->online;
	f->topology.core = f->core;
	f->topology.sibling = f->sibling;
	f->topology.llc = f->llc;
	f->topology.node = f->node;
	f->topology.capacity = f->capacity;
	f->topology.smt = 1;
}

static void rings_ascend_and_close(void **state)
{
	struct fixture f;
	unsigned int ring[8];

	(void)state;
	fix(&f);
	memset(ring, 0xff, sizeof(ring));
	assert_int_equal(ilb_topology_link(8, f.core, ring), 1);
	assert_memory_equal(ring, f.sibling, sizeof(ring));
	assert_int_equal(ilb_topology_check(&f.topology, NULL), 0);
}

static void without_smt_every_cpu_is_its_own_ring(void **state)
{
	unsigned int self[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	unsigned int ring[8];
	struct fixture f;

	(void)state;
	fix(&f);
	assert_int_equal(ilb_topology_link(8, self, ring), 0);
	assert_memory_equal(ring, self, sizeof(ring));
	f.topology.core = self;
	f.topology.sibling = self;
	f.topology.smt = 0;
	assert_int_equal(ilb_topology_check(&f.topology, NULL), 0);
}

/* What to write where; @cpu is whom the check has to blame. */
struct damage {
	const char *what;
	unsigned int *(*entry)(struct fixture *f);
	unsigned int value;
	unsigned int cpu;
};

#define ENTRY(table, n)							\
	static unsigned int *table##n(struct fixture *f)		\
	{								\
		return &f->table[n];					\
	}

ENTRY(core, 6)
ENTRY(core, 7)
ENTRY(llc, 3)
ENTRY(llc, 6)
ENTRY(llc, 7)
ENTRY(node, 4)
ENTRY(node, 6)
ENTRY(sibling, 0)
ENTRY(sibling, 1)
ENTRY(sibling, 3)
ENTRY(sibling, 5)
ENTRY(sibling, 7)
ENTRY(capacity, 2)
ENTRY(capacity, 6)

static const struct damage damages[] = {
	{ "core out of range", core7, 8, 5 },
	{ "core that is not the ring's", core6, 6, 2 },
	{ "llc above the CPU", llc6, 7, 6 },
	{ "llc is no LLC's lowest", llc7, 6, 7 },
	{ "offline CPU in an LLC", llc3, 1, 3 },
	{ "LLC named by an offline CPU", llc6, 3, 6 },
	{ "node above the CPU", node4, 8192, 4 },
	{ "node is no node's lowest", node6, 5, 6 },
	{ "sibling out of range", sibling5, 8, 5 },
	{ "sibling of another core", sibling0, 5, 0 },
	{ "ring skips a thread", sibling1, 7, 1 },
	{ "ring closes too early", sibling5, 1, 5 },
	{ "ring of one in a core of two", sibling0, 0, 0 },
	{ "ring does not close", sibling7, 5, 7 },
	{ "offline CPU in a ring", sibling3, 4, 3 },
	{ "no capacity", capacity2, 0, 2 },
	{ "capacity above 1024", capacity6, 1025, 6 },
};

static void each_broken_entry_is_found(void **state)
{
	struct fixture f;
	unsigned int i, cpu;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(damages); i++) {
		fix(&f);
		cpu = 99;
		*damages[i].entry(&f) = damages[i].value;
		if (ilb_topology_check(&f.topology, &cpu) != -ILB_ERR_BUG)
			fail_msg("not found: %s", damages[i].what);
		if (cpu != damages[i].cpu)
			fail_msg("%s: CPU %u blamed, not %u", damages[i].what,
				 cpu, damages[i].cpu);
		assert_int_equal(ilb_topology_check(&f.topology, NULL),
				 -ILB_ERR_BUG);
	}
}

static void assert_blamed(const struct fixture *f, unsigned int expected)
{
	unsigned int cpu = 99;

	assert_int_equal(ilb_topology_check(&f->topology, &cpu), -ILB_ERR_BUG);
	assert_int_equal(cpu, expected);
}

/* Rings that fit a table of cores which is wrong itself. */
static void wrong_cores_with_fitting_rings_are_found(void **state)
{
	struct fixture f;

	(void)state;
	fix(&f);
	f.core[0] = f.core[4] = f.sibling[4] = 4;
	assert_blamed(&f, 0);
	fix(&f);
	f.core[7] = f.sibling[7] = 5;
	f.sibling[5] = 1;
	assert_blamed(&f, 7);
	fix(&f);
	f.core[3] = 0;
	f.sibling[0] = 3;
	f.sibling[3] = 4;
	assert_blamed(&f, 3);
}

static void broken_machines_are_found(void **state)
{
	struct fixture f;

	(void)state;
	fix(&f);
	f.topology.nr_cpus = 0;
	assert_blamed(&f, 0);
	fix(&f);
	f.topology.nr_cpus = ILB_CPUS_MAX + 1;
	assert_blamed(&f, 0);
	fix(&f);
	f.online[0] |= 1UL << 8;
	assert_blamed(&f, 0);
	fix(&f);
	f.topology.smt = 0;
	assert_blamed(&f, 0);
	fix(&f);
	f.capacity[0] = f.capacity[4] = 1023;
	assert_blamed(&f, 0);
}

static void smt_without_siblings_is_found(void **state)
{
	unsigned int self[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct fixture f;

	(void)state;
	fix(&f);
	f.topology.core = self;
	f.topology.sibling = self;
	assert_blamed(&f, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_ascend_and_close),
		cmocka_unit_test(without_smt_every_cpu_is_its_own_ring),
		cmocka_unit_test(each_broken_entry_is_found),
		cmocka_unit_test(wrong_cores_with_fitting_rings_are_found),
		cmocka_unit_test(broken_machines_are_found),
		cmocka_unit_test(smt_without_siblings_is_found),
	};

	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
