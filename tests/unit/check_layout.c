// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where kicks go while a job runs, and which layout keeps them away: what the
 * captures show, cases worked by hand, and every layout of small machines.
 */

#include "check.h"

/*
 * The captures: pinned on 0,2,4,6 (4,6 with nohz_full), 6.12 kicked CPU 1 in
 * 321 of 377 kicks, 7.3 CPU 8 in 326 of 347, 6.12 with nohz_full CPU 5 in 1203
 * of 1211. The other kicks met other CPUs awake.
 */
static void what_stock_kernels_did(void **state)
{
	struct machine m;

	(void)state;
	build_guest(&m);
	judge(&m, "6.12.95+deb12-cloud-amd64", "0,2,4,6");
	assert_int_equal(m.check.aim.target, 1);
	assert_int_equal(m.check.aim.on_busy_core, 1);
	expect_list(m.check.aim.disturbs, "0", "disturbs");
	judge(&m, "7.3.4+deb13-cloud-amd64", "0,2,4,6");
	assert_int_equal(m.check.aim.target, 8);
	assert_int_equal(m.check.aim.on_busy_core, 0);
	set_list(m.facts.nohz_full, "1-3,9-15");
	judge(&m, "6.12.95+deb12-cloud-amd64", "4,6");
	assert_int_equal(m.check.site.timekeeper, 0);
	assert_int_equal(m.check.aim.target, 5);
}

struct layout_case {
	const char *kernel;
	const char *nohz_full, *isolated, *busy;
	unsigned int target;
	int on_busy_core;
	enum ilb_layout_kind kind;
	const char *cpus;		/* NULL: none is offered */
	unsigned int layout_target;
};

#define NONE	ILB_CPU_NONE

static void try_case(struct machine *m, const struct layout_case *c)
{
	const struct ilb_check *check = &m->check;

	memset(&m->facts, 0, sizeof(m->facts));
	set_list(m->facts.nohz_full, c->nohz_full);
	set_list(m->facts.isolated, c->isolated);
	judge(m, c->kernel, c->busy);
	if (check->aim.target != c->target ||
	    check->aim.on_busy_core != c->on_busy_core ||
	    check->layout.kind != c->kind)
		fail_msg("%s, busy %s: target %d, on busy core %d, layout %d",
			 c->kernel, c->busy, (int)check->aim.target,
			 check->aim.on_busy_core, (int)check->layout.kind);
	assert_int_equal(!!find(m, "job-on-busy-core"), c->on_busy_core);
	if (!c->cpus)
		return;
	expect_list(check->layout.cpus, c->cpus, c->busy);
	assert_int_equal(check->layout.aim.target, c->layout_target);
	assert_int_equal(check->layout.aim.on_busy_core, 0);
}

static const struct layout_case guests[] = {
	{ "6.1", "", "", "0,2,4,6", 1, 1, ILB_LAYOUT_CORES, "2,4,6,8", 0 },
	{ "6.12", "", "", "0,2,4,6", 1, 1, ILB_LAYOUT_CORES, "2,4,6,8", 0 },
	{ "7.2", "", "", "0,2,4,6", 1, 1, ILB_LAYOUT_CORES, "2,4,6,8", 0 },
	{ "7.3", "", "", "0,2,4,6", 8, 0, ILB_LAYOUT_NOT_NEEDED, NULL, 0 },
	/* Not in the table of kernels. */
	{ "5.4", "", "", "0,2,4,6", 1, 1, ILB_LAYOUT_CORES, "2,4,6,8", 0 },
	{ "7.9", "", "", "0,2,4,6", 8, 0, ILB_LAYOUT_NOT_NEEDED, NULL, 0 },
	/* The same node, where it has a core. */
	{ "6.12", "", "", "0,4", 1, 1, ILB_LAYOUT_CORES, "2,4", 0 },
	{ "6.12", "", "", "1,3", 0, 1, ILB_LAYOUT_CORES, "3-4", 0 },
	/* The lowest core is idle, or full: nothing to do. */
	{ "6.12", "", "", "2,4,6", 0, 0, ILB_LAYOUT_NOT_NEEDED, NULL, 0 },
	{ "6.12", "", "", "0-1", 2, 0, ILB_LAYOUT_NOT_NEEDED, NULL, 0 },
	{ "6.12", "", "", "0-2", 3, 1, ILB_LAYOUT_CORES, "2,4-5", 0 },
	/* One task on every core; every thread busy. */
	{ "6.12", "", "", "0,2,4,6,8,10,12,14", 1, 1, ILB_LAYOUT_NONE, NULL,
	  0 },
	{ "7.3", "", "", "0,2,4,6,8,10,12,14", 1, 1, ILB_LAYOUT_NONE, NULL,
	  0 },
	{ "6.12", "", "", "0-15", NONE, 0, ILB_LAYOUT_NOT_NEEDED, NULL, 0 },
	/* Two cores that may balance: not even 7.3 finds an idle one. */
	{ "7.3", "4-15", "", "2", 1, 0, ILB_LAYOUT_NOT_NEEDED, NULL, 0 },
	{ "7.3", "4-15", "", "1-2", 3, 1, ILB_LAYOUT_CORES, "2,4", 1 },
	/* Of the same kind first: 4 leaves for 8, not for 2 of its node. */
	{ "6.12", "1-3,9-15", "", "4,6", 5, 1, ILB_LAYOUT_CORES, "6,8", 4 },
	/* One housekeeping CPU keeps time; two: the other is all there is. */
	{ "6.12", "1-15", "", "2,4", NONE, 0, ILB_LAYOUT_NOT_NEEDED, NULL,
	  0 },
	{ "6.12", "1-7,9-15", "", "2,4", 8, 0, ILB_LAYOUT_NOT_NEEDED, NULL,
	  0 },
	{ "6.12", "1-7,9-15", "", "2,9", 8, 1, ILB_LAYOUT_CORES, "2,10", 8 },
	/* Isolated CPUs are never chosen, and stay for what they are for. */
	{ "6.12", "", "0-3", "0,4,6", 5, 1, ILB_LAYOUT_CORES, "0,6,8", 4 },
	{ "6.12", "", "0-1", "0,2", 3, 1, ILB_LAYOUT_CORES, "0,4", 2 },
};

static void layouts_of_the_guest(void **state)
{
	const struct layout_case *c;
	struct machine m;

	(void)state;
	build_guest(&m);
	for (c = guests; c < guests + ARRAY_SIZE(guests); c++)
		try_case(&m, c);
}

static const struct layout_case veras[] = {
	/* Low threads of one node: the lowest idle CPU is the other node's. */
	{ "6.12", "", "", "0-87", 88, 0, ILB_LAYOUT_NOT_NEEDED, NULL, 0 },
	/* High threads: the same cores will do. */
	{ "6.12", "", "", "176-263", 0, 1, ILB_LAYOUT_SIBLINGS, "0-87", 88 },
	{ "7.3", "", "", "176-263", 88, 0, ILB_LAYOUT_NOT_NEEDED, NULL, 0 },
	/* OMP_PLACES=cores: threads sit on either sibling. */
	{ "6.12", "", "", "0-4,181,6-87", 5, 1, ILB_LAYOUT_SIBLINGS, "0-87",
	  88 },
	/* Mail A: 87 tasks beside the housekeeping core. */
	{ "6.12", "", "", "1-87", 0, 0, ILB_LAYOUT_NOT_NEEDED, NULL, 0 },
	{ "6.12", "1-175,177-351", "", "1-87", 176, 0, ILB_LAYOUT_NOT_NEEDED,
	  NULL, 0 },
	/* With a task on the housekeeping core. */
	{ "6.12", "1-175,177-351", "", "0-86", 176, 1, ILB_LAYOUT_CORES,
	  "1-87", 176 },
	{ "7.3", "1-175,177-351", "", "0-86", 176, 1, ILB_LAYOUT_CORES, "1-87",
	  176 },
	/* Both nodes. */
	{ "6.12", "", "", "0-175", 176, 1, ILB_LAYOUT_NONE, NULL, 0 },
};

static void layouts_of_vera(void **state)
{
	const struct layout_case *c;
	struct machine m;

	(void)state;
	build_vera(&m);
	for (c = veras; c < veras + ARRAY_SIZE(veras); c++)
		try_case(&m, c);
}

static void without_smt_nothing_is_wrong(void **state)
{
	static const char *const kernels[] = { "6.1", "6.12", "7.2", "7.3" };
	struct machine m;
	size_t i;

	(void)state;
	start_machine(&m, 8);
	link_machine(&m);
	for (i = 0; i < ARRAY_SIZE(kernels); i++) {
		judge(&m, kernels[i], "0,2,4,6");
		assert_int_equal(m.check.aim.target, 1);
		assert_int_equal(m.check.aim.on_busy_core, 0);
		assert_int_equal(m.check.layout.kind, ILB_LAYOUT_NOT_NEEDED);
		assert_null(find(&m, "rule-ignores-smt"));
	}
}

static void what_a_move_costs(void **state)
{
	struct machine m;

	(void)state;
	build_guest(&m);
	/* A cache of its own for each core: only nodes are alike. */
	memcpy(m.llc, m.core, sizeof(m.llc));
	judge(&m, "6.12", "0,2,4,6");
	assert_int_equal(m.check.layout.other_node, 1);
	assert_int_equal(m.check.layout.other_kind, 0);
	expect_list(m.check.layout.left, "0", "left");
	expect_list(m.check.layout.taken, "8", "taken");
	judge(&m, "6.12", "0,4");
	assert_int_equal(m.check.layout.other_node, 0);
	/* The node of the core that is left, though 0 is lower. */
	set_list(m.facts.housekeeping, "8-15");
	m.facts.housekeeping_known = 1;
	judge(&m, "6.12", "8,10");
	expect_list(m.check.layout.cpus, "10,12", "layout");
	m.facts.housekeeping_known = 0;
	/* Every other core is reserved. */
	set_list(m.facts.nohz_full, "4-15");
	judge(&m, "6.12", "2,1");
	assert_int_equal(m.check.aim.target, 3);
	assert_int_equal(m.check.layout.other_kind, 1);
	/* No free core: what a smaller job would do. */
	memset(&m.facts, 0, sizeof(m.facts));
	judge(&m, "6.12", "0,2,4,6,8,10,12,14");
	expect_list(m.check.layout.left, "0", "left");
	assert_int_equal(m.check.layout.aim.target, 0);
	assert_int_equal(m.check.layout.aim.on_busy_core, 0);
}

/* A task of a large CPU is not sent to a small one. */
static void capacity_is_kept(void **state)
{
	unsigned int capacity[16], cpu;
	struct machine m;

	(void)state;
	build_guest(&m);
	for (cpu = 0; cpu < 16; cpu++)
		capacity[cpu] = cpu < 4 || cpu > 13 ? 1024 : 400;
	m.topology.capacity = capacity;
	judge(&m, "6.12", "0,2");
	expect_list(m.check.layout.cpus, "2,14", "layout");
	capacity[14] = capacity[15] = 400;
	judge(&m, "6.12", "0,2");
	assert_int_equal(m.check.layout.kind, ILB_LAYOUT_NONE);
}

/* ---- every layout of small machines ---- */

#define SMALL	12U

static unsigned int threads_on(const struct machine *m, unsigned long set,
			       unsigned int core)
{
	unsigned int cpu, n = 0;

	for (cpu = 0; cpu < m->topology.nr_cpus; cpu++)
		n += m->core[cpu] == core && set >> cpu & 1;
	return n;
}

/* The rule by its definition: 1 if its choice has no busy sibling. */
static int at_peace(const struct machine *m, unsigned long busy, int idle_core)
{
	unsigned long idle = m->online[0] & ~busy;
	unsigned long can = m->check.site.candidates[0] & idle;
	unsigned int cpu;

	for (cpu = 0; cpu < SMALL; cpu++) {
		if (!(can >> cpu & 1))
			continue;
		if (!threads_on(m, busy, m->core[cpu]))
			return 1;
		if (!idle_core)
			return 0;
	}
	return 0;
}

/* Do both use as many cores with as many threads each? */
static int same_shape(const struct machine *m, unsigned long a,
		      unsigned long b)
{
	int count[5] = { 0 };
	unsigned int core, i;

	for (core = 0; core < SMALL; core++) {
		count[threads_on(m, a, core)]++;
		count[threads_on(m, b, core)]--;
	}
	for (i = 1; i < 5; i++)
		if (count[i])
			return 0;
	return 1;
}

static int some_layout_does(const struct machine *m, unsigned long busy,
			    int idle_core)
{
	unsigned long set;

	for (set = 1; set < 1UL << SMALL; set++)
		if (same_shape(m, busy, set) && at_peace(m, set, idle_core))
			return 1;
	return 0;
}

static void build_small(struct machine *m, unsigned int threads, int strided)
{
	unsigned int cpu, cores = SMALL / threads;

	start_machine(m, SMALL);
	for (cpu = 0; cpu < SMALL; cpu++)
		m->core[cpu] = strided ? cpu % cores : cpu - cpu % threads;
	for (cpu = 0; !strided && cpu < SMALL; cpu++)
		m->llc[cpu] = m->node[cpu] =
			m->core[cpu] < m->core[6] ? 0 : m->core[6];
	link_machine(m);
}

static void compare_with_all(struct machine *m, const char *kernel)
{
	const struct ilb_layout *l = &m->check.layout;
	int idle_core = kernel[0] == '7';
	unsigned long busy = m->busy[0];

	judge(m, kernel, NULL);
	ilb_check_judge(&m->check, &m->facts, &m->topology, m->busy);
	if (m->check.aim.target != NONE &&
	    m->check.aim.on_busy_core == at_peace(m, busy, idle_core))
		fail_msg("busy %lx: on busy core %d", busy,
			 m->check.aim.on_busy_core);
	if (!m->check.aim.on_busy_core)
		return;
	if (l->kind == ILB_LAYOUT_NONE) {
		if (some_layout_does(m, busy, idle_core))
			fail_msg("busy %lx: a layout was not found", busy);
		return;
	}
	if (!same_shape(m, busy, l->cpus[0]) ||
	    !at_peace(m, l->cpus[0], idle_core))
		fail_msg("busy %lx: layout %lx", busy, l->cpus[0]);
}

static void every_layout_of_small_machines(void **state)
{
	static const unsigned int threads[] = { 1, 2, 3, 4 };
	unsigned int i, t;
	struct machine m;

	(void)state;
	srand(1);
	for (i = 0; i < 1200; i++) {
		t = threads[i % 4];
		build_small(&m, t, i & 4);
		m.busy[0] = 1 + (unsigned long)rand() % 0xffe;
		/* Few free cores are the hard cases. */
		if (i & 8)
			m.busy[0] |= (unsigned long)rand() % 0xfff;
		if (i & 16)
			m.facts.nohz_full[0] = (unsigned long)rand() % 0xfff;
		if (i & 32)
			m.facts.isolated[0] = (unsigned long)rand() % 0xfff;
		compare_with_all(&m, i & 64 ? "7.3" : "6.12");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stock_kernels_did),
		cmocka_unit_test(layouts_of_the_guest),
		cmocka_unit_test(layouts_of_vera),
		cmocka_unit_test(without_smt_nothing_is_wrong),
		cmocka_unit_test(what_a_move_costs),
		cmocka_unit_test(capacity_is_kept),
		cmocka_unit_test(every_layout_of_small_machines),
	};

	return cmocka_run_group_tests_name("check_layout", tests, NULL, NULL);
}
