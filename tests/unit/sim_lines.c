// SPDX-License-Identifier: GPL-2.0-only
/* Cache lines between cores: short histories, worked out by hand. */

#include <string.h>

#include "sim/sim.h"
#include "tests/unit/test.h"

/* Two nodes of two LLCs of two cores of two threads: CPU c and c + 8. */
#define CPUS	16

static const unsigned int core[CPUS] = {
	0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7,
};
static const unsigned int llc[CPUS] = {
	0, 0, 2, 2, 4, 4, 6, 6, 0, 0, 2, 2, 4, 4, 6, 6,
};
static const unsigned int node[CPUS] = {
	0, 0, 0, 0, 4, 4, 4, 4, 0, 0, 0, 0, 4, 4, 4, 4,
};

struct fixture {
	struct ilb_topology topology;
	struct ilb_sim_plan plan;
	struct ilb_sim sim;
	unsigned long online[1], mask[1];
};

static void make(struct fixture *f, enum ilb_sim_lines lines)
{
	memset(f, 0, sizeof(*f));
	f->online[0] = 0xffff;
	f->topology.nr_cpus = CPUS;
	f->topology.online = f->online;
	f->topology.core = core;
	f->topology.llc = llc;
	f->topology.node = node;
	f->plan.lines = lines;
	f->sim.plan = &f->plan;
	f->sim.topology = &f->topology;
	f->sim.nr_cpus = CPUS;
	f->sim.mask = f->mask;
	assert_int_equal(ilb_sim_lines_init(&f->sim), 0);
}

static uint64_t moved(const struct fixture *f, enum ilb_sim_shared what)
{
	const uint64_t *t = f->sim.result.transfers[what];

	return t[ILB_SIM_NEAR] + t[ILB_SIM_NODE] + t[ILB_SIM_FAR];
}

static void distances(void **state)
{
	struct fixture f;
	const uint64_t *t = f.sim.result.transfers[ILB_SIM_FIELDS];

	(void)state;
	make(&f, ILB_SIM_LINES_GLOBAL);
	/* From memory; again; by the other thread of the core. */
	ilb_sim_touch(&f.sim, 0, ILB_TOUCH_FIELDS_WRITE);
	ilb_sim_touch(&f.sim, 0, ILB_TOUCH_FIELDS_READ);
	ilb_sim_touch(&f.sim, 8, ILB_TOUCH_FIELDS_WRITE);
	assert_int_equal(moved(&f, ILB_SIM_FIELDS), 0);
	ilb_sim_touch(&f.sim, 1, ILB_TOUCH_FIELDS_READ);
	assert_int_equal(t[ILB_SIM_NEAR], 1);
	ilb_sim_touch(&f.sim, 2, ILB_TOUCH_FIELDS_READ);
	assert_int_equal(t[ILB_SIM_NODE], 1);
	ilb_sim_touch(&f.sim, 4, ILB_TOUCH_FIELDS_READ);
	assert_int_equal(t[ILB_SIM_FAR], 1);
	ilb_sim_lines_free(&f.sim);
}

static void copies(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, ILB_SIM_LINES_GLOBAL);
	ilb_sim_touch(&f.sim, 0, ILB_TOUCH_FIELDS_WRITE);
	ilb_sim_touch(&f.sim, 1, ILB_TOUCH_FIELDS_READ);
	ilb_sim_touch(&f.sim, 0, ILB_TOUCH_FIELDS_READ);
	ilb_sim_touch(&f.sim, 1, ILB_TOUCH_FIELDS_READ);
	assert_int_equal(moved(&f, ILB_SIM_FIELDS), 1);
	/* Both have it: who writes takes it from the other. */
	ilb_sim_touch(&f.sim, 1, ILB_TOUCH_FIELDS_WRITE);
	ilb_sim_touch(&f.sim, 1, ILB_TOUCH_FIELDS_WRITE);
	assert_int_equal(moved(&f, ILB_SIM_FIELDS), 2);
	ilb_sim_touch(&f.sim, 0, ILB_TOUCH_FIELDS_READ);
	assert_int_equal(moved(&f, ILB_SIM_FIELDS), 3);
	ilb_sim_lines_free(&f.sim);
}

/* What two CPUs of two LLCs write to one mask, or each to its own. */
static uint64_t mask_writes(enum ilb_sim_lines lines)
{
	struct fixture f;
	uint64_t nr;
	int i;

	make(&f, lines);
	for (i = 0; i < 10; i++) {
		ilb_sim_touch(&f.sim, 0, ILB_TOUCH_MASK_WRITE);
		ilb_sim_touch(&f.sim, 2, ILB_TOUCH_MASK_WRITE);
		ilb_sim_touch(&f.sim, 0, ILB_TOUCH_BUSY_WRITE);
		ilb_sim_touch(&f.sim, 2, ILB_TOUCH_BUSY_WRITE);
	}
	assert_int_equal(moved(&f, ILB_SIM_BUSY), 0);
	nr = moved(&f, ILB_SIM_MASK);
	ilb_sim_lines_free(&f.sim);
	return nr;
}

static void masks(void **state)
{
	(void)state;
	assert_int_equal(mask_writes(ILB_SIM_LINES_GLOBAL), 19);
	assert_int_equal(mask_writes(ILB_SIM_LINES_PER_LLC), 0);
}

/* An LLC that has a registered CPU does not look at others. */
static void per_llc_walk(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, ILB_SIM_LINES_PER_LLC);
	ilb_sim_touch(&f.sim, 0, ILB_TOUCH_MASK_WRITE);
	ilb_sim_touch(&f.sim, 4, ILB_TOUCH_MASK_WRITE);
	ilb_mask_set(f.mask, 0);
	ilb_sim_touch(&f.sim, 1, ILB_TOUCH_MASK_WALK);
	assert_int_equal(moved(&f, ILB_SIM_MASK), 1);
	/* CPU 2's has none: it reads those of 0 and 4; 6 is in memory. */
	ilb_sim_touch(&f.sim, 2, ILB_TOUCH_MASK_WALK);
	assert_int_equal(moved(&f, ILB_SIM_MASK), 3);
	ilb_sim_lines_free(&f.sim);
}

static void off(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, ILB_SIM_LINES_NO);
	assert_null(f.sim.lines.line);
	ilb_sim_lines_free(&f.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(copies),
		cmocka_unit_test(masks),
		cmocka_unit_test(per_llc_walk),
		cmocka_unit_test(off),
	};

	return cmocka_run_group_tests_name("sim_lines", tests, NULL, NULL);
}
