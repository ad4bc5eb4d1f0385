// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which group is busiest, and how much should move: by the imbalance that
 * schedstat would show. All of it is worked out by hand.
 */

#include <string.h>

#include "model_machine.h"

/* Only level @n of @cpu is due; what it counted. */
static const struct ilb_lb_counts *attempt(struct world *w, unsigned int cpu,
					   unsigned int n)
{
	enum ilb_idle_type type = w->queue[cpu].nr_running ? ILB_IDLE_BUSY :
							     ILB_IDLE_IDLE;
	struct ilb_sched_domain *sd;

	for (sd = w->m->domains.base[cpu]; sd; sd = sd->parent)
		sd->last_balance = w->ns / 1000000;
	sd = world_level(w, cpu, n);
	sd->last_balance = 0;
	memset(sd->counts, 0, sizeof(sd->counts));
	w->queue[cpu].idle_balance = type == ILB_IDLE_IDLE;
	ilb_balance_softirq(&w->balance, cpu);
	assert_int_equal(sd->counts[type].lb, 1);
	return &sd->counts[type];
}

static void add_tasks(struct world *w, unsigned int first, unsigned int cpus,
		      unsigned int each)
{
	unsigned int i;

	for (i = 0; i < cpus * each; i++)
		world_add(w, first + i / each);
}

static void expect_balanced(const struct ilb_lb_counts *c)
{
	assert_int_equal(c->balanced, 1);
	assert_int_equal(c->imb_load + c->imb_util + c->imb_task +
			 c->imb_misfit, 0);
}

/* Two nodes of 8 CPUs without SMT: MC, NUMA. */
static struct world *two_nodes(const char *kernel)
{
	return world_new(machine_new(kernel, 16, 1, 8, 8), 1000);
}

/*
 * 1 task on each CPU here, 3 there: loads per capacity are 1024, 3072 and 2048
 * for both; 1024 * 8192 / 1024 should move.
 */
static void overload_moves_towards_the_average(void **state)
{
	struct world *w = two_nodes("linux-7.3");
	const struct ilb_lb_counts *c;

	(void)state;
	add_tasks(w, 0, 8, 1);
	add_tasks(w, 8, 8, 3);
	c = attempt(w, 0, 1);
	assert_int_equal(c->imb_load, 8192);
	assert_int_equal(c->imb_util + c->imb_task, 0);
	/* One CPU has three; its current task does not move. */
	assert_int_equal(c->gained, 2);
	assert_true(w->balance.overloaded && w->balance.overutilized);
	world_free(w);
}

/*
 * 4 CPUs with a task each, 8 with 3 each: 2389 on average. Giving wants
 * (3072 - 2389) * 8, taking (2389 - 1024) * 4, which is less.
 */
static void the_smaller_of_give_and_take_moves(void **state)
{
	struct machine *m = machine_new("linux-7.3", 12, 1, 4, 4);
	struct world *w;
	unsigned int cpu;

	(void)state;
	for (cpu = 8; cpu < 12; cpu++)
		m->llc[cpu] = m->node[cpu] = 4;
	w = world_new(m, 1000);
	add_tasks(w, 0, 4, 1);
	add_tasks(w, 4, 8, 3);
	assert_int_equal(attempt(w, 0, 1)->imb_load, 5460);
	world_free(w);
}

/* CPU 12 has as many tasks as the others, and half of their capacity. */
static void load_is_compared_per_capacity(void **state)
{
	struct world *w = two_nodes("linux-7.3");

	(void)state;
	add_tasks(w, 0, 8, 1);
	add_tasks(w, 8, 8, 3);
	w->queue[12].capacity = 512;
	assert_int_equal(attempt(w, 0, 1)->gained, 2);
	assert_int_equal(w->queue[12].nr_running, 1);
	world_free(w);
}

/*
 * 8 tasks here and 9 there, of 8192 each: 8192, 9216, 8704 on average, and 512
 * * 8 should move. A task is too large for that; for half of it, it is not.
 */
static void failures_let_larger_tasks_move(void **state)
{
	struct world *w = two_nodes("linux-7.3");
	unsigned int i;

	(void)state;
	add_tasks(w, 0, 8, 1);
	add_tasks(w, 8, 8, 1);
	add_tasks(w, 8, 1, 1);
	for (i = 0; i < w->nr_tasks; i++)
		w->task[i].lb.load = 8192;
	for (i = 0; i < 16; i++)
		world_sync(w, i);
	assert_int_equal(attempt(w, 0, 1)->failed, 1);
	assert_int_equal(attempt(w, 0, 1)->gained, 1);
	world_free(w);
}

/* 17 against 19 tasks: 2176 and 2432, less than 17 % apart; 23 are not. */
static void overload_on_both_sides_is_tolerated(void **state)
{
	struct world *w = two_nodes("linux-7.3");
	unsigned int i;

	(void)state;
	add_tasks(w, 0, 8, 2);
	add_tasks(w, 0, 1, 1);
	add_tasks(w, 8, 8, 2);
	add_tasks(w, 8, 1, 3);
	expect_balanced(attempt(w, 0, 1));
	for (i = 0; i < 4; i++)
		world_add(w, 9 + i);
	/* 2176, 2944, on average 2560: 384 * 8192 / 1024. */
	assert_int_equal(attempt(w, 0, 1)->imb_load, 3072);
	world_free(w);
}

/* Beyond the cache free capacity is filled: 8192 less one task. */
static void an_overloaded_node_fills_a_spare_one(void **state)
{
	struct world *w = two_nodes("linux-7.3");

	(void)state;
	add_tasks(w, 1, 1, 1);
	add_tasks(w, 8, 1, 1);
	add_tasks(w, 9, 7, 3);
	assert_int_equal(attempt(w, 0, 1)->imb_util, 7168);
	/* Not from CPU 8, which has one task; a current one stays. */
	assert_int_equal(w->queue[8].nr_running, 1);
	assert_int_equal(w->queue[9].nr_running, 1);
	world_free(w);
}

static void busy_cpus_leave_idle_ones_alone(void **state)
{
	struct world *w = two_nodes("linux-7.3");

	(void)state;
	/* 3 of 8 CPUs against 4, no CPU with more than one. */
	add_tasks(w, 0, 3, 1);
	add_tasks(w, 8, 4, 1);
	expect_balanced(attempt(w, 0, 1));
	world_free(w);
}

/*
 * Nodes of 32 CPUs with one cache: up to 4 tasks on a node an imbalance of 2
 * is left alone.
 */
static void small_numa_imbalances_are_allowed(void **state)
{
	static const struct {
		unsigned int here, there, moves;
	} cases[] = {
		{ 0, 2, 0 }, { 0, 3, 1 }, { 3, 5, 0 }, { 4, 6, 1 },
		{ 0, 9, 4 },
	};
	struct world *w;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w = world_new(machine_new("linux-7.3", 64, 1, 32, 32), 1000);
		add_tasks(w, 1, cases[i].here, 1);
		add_tasks(w, 32, cases[i].there, 1);
		assert_int_equal(attempt(w, 0, 1)->imb_task, cases[i].moves);
		world_free(w);
	}
}

/* smt-groups */

/* A cache with 4 cores of one thread, a cache with 2 of two; one node. */
static struct world *hybrid(const char *kernel)
{
	struct machine *m = machine_new(kernel, 8, 1, 4, 8);
	unsigned int cpu;

	for (cpu = 4; cpu < 8; cpu++)
		m->core[cpu] = cpu & ~1U;
	m->topology.smt = ilb_topology_link(8, m->core, m->sibling);
	return world_new(m, 1000);
}

/*
 * One task there, none here. Per core: 4 * 1 - 2 * 0 tasks, doubled and
 * rounded over 6 cores: 14 / 6 = 2, and half of that is 1. By tasks alone it
 * is 1, which is not more than 1; 4 idle CPUs against 3 are not enough either.
 */
static void cores_count_and_not_threads(void **state)
{
	static const char *const values[] = { "smt-groups=no",
					      "smt-groups=yes" };
	unsigned int row, yes;
	struct world *w;

	(void)state;
	for (row = 0; row < 4; row++) {
		for (yes = 0; yes < 2; yes++) {
			w = hybrid(ilb_behaviours[row].name);
			if (yes != (row >= LINUX_6_12))
				world_set(w, values[yes]);
			add_tasks(w, 4, 1, 1);
			assert_int_equal(attempt(w, 0, 1)->imb_task, yes);
			world_free(w);
		}
	}
}

/* One and the same cache: cores of both kinds beside each other. */
static struct world *mixed_cores(void)
{
	struct machine *m = machine_new("linux-7.3", 8, 1, 8, 8);
	unsigned int cpu;

	for (cpu = 4; cpu < 8; cpu++)
		m->core[cpu] = cpu & ~1U;
	m->topology.smt = ilb_topology_link(8, m->core, m->sibling);
	return world_new(m, 1000);
}

static void a_full_core_gives_to_a_single_thread(void **state)
{
	struct world *w = mixed_cores();
	const struct ilb_lb_counts *c;

	(void)state;
	add_tasks(w, 1, 1, 1);
	add_tasks(w, 6, 2, 1);
	c = attempt(w, 0, 0);
	assert_int_equal(c->imb_task, 1);
	assert_int_equal(c->failed, 1);
	world_free(w);
	/* A core's only task is nothing to take. */
	w = mixed_cores();
	add_tasks(w, 6, 1, 1);
	expect_balanced(attempt(w, 0, 0));
	world_free(w);
}

/* Unequal capacities */

/* Cores 0-1 are large, cores 2-3 have @little. */
static struct world *unequal(const char *kernel, unsigned int little)
{
	struct machine *m = machine_new(kernel, 8, 2, 8, 8);
	unsigned int cpu;

	for (cpu = 4; cpu < 8; cpu++)
		m->capacity[cpu] = little;
	m->topology.capacity = m->capacity;
	return world_new(m, 1000);
}

static void add_misfit(struct world *w, unsigned int cpu)
{
	world_add(w, cpu);
	w->queue[cpu].misfit_load = 500;
}

/* More than 5.3 %: 1024 * 1024 is above 972 * 1078, not above 973 * 1078. */
static void a_misfit_goes_to_a_larger_cpu(void **state)
{
	struct world *w = unequal("linux-7.3", 972);
	const struct ilb_lb_counts *c;

	(void)state;
	add_misfit(w, 4);
	c = attempt(w, 0, 1);
	assert_int_equal(c->imb_misfit, 1);
	/* It runs, so that it has to be pushed; no failure is counted. */
	assert_int_equal(w->pushes, 1);
	assert_int_equal(world_level(w, 0, 1)->nr_balance_failed, 0);
	assert_int_equal(ilb_balance_push(&w->balance, 4), 1);
	assert_int_equal(w->task[0].cpu, 0);
	world_free(w);
	w = unequal("linux-7.3", 973);
	add_misfit(w, 4);
	expect_balanced(attempt(w, 0, 1));
	world_free(w);
}

/* misfit-idle-core */
static void misfits_want_an_idle_core(void **state)
{
	static const char *const values[] = { "misfit-idle-core=no",
					      "misfit-idle-core=yes" };
	unsigned int row, yes;
	struct world *w;

	(void)state;
	for (row = 0; row < 4; row++) {
		for (yes = 0; yes < 2; yes++) {
			w = unequal(ilb_behaviours[row].name, 800);
			if (yes != (row >= LINUX_7_2))
				world_set(w, values[yes]);
			/* CPU 0's sibling is busy. */
			add_tasks(w, 1, 1, 1);
			add_misfit(w, 4);
			assert_int_equal(attempt(w, 0, 1)->imb_misfit, !yes);
			world_free(w);
			/* A single task of a large CPU, sibling busy. */
			w = unequal(ilb_behaviours[row].name, 800);
			if (yes != (row >= LINUX_7_2))
				world_set(w, values[yes]);
			add_tasks(w, 0, 2, 1);
			assert_int_equal(attempt(w, 4, 1)->imb_task, yes);
			world_free(w);
		}
	}
}

/* 874 * 117 is below 1024 * 100, 876 * 117 is not. */
static void lost_capacity_is_a_reason_too(void **state)
{
	struct world *w = two_nodes("linux-7.3");

	(void)state;
	add_tasks(w, 2, 1, 1);
	w->queue[2].capacity = 876;
	expect_balanced(attempt(w, 0, 0));
	w->queue[2].capacity = 874;
	assert_int_equal(attempt(w, 0, 0)->imb_load, 1024);
	assert_int_equal(w->push_from, 2);
	assert_int_equal(w->push_to, 0);
	world_free(w);
}

/* Asym packing: CPU 0 is best, its core idle. */
static struct world *packing(int *priority)
{
	struct machine *m = machine_new("linux-7.3", 8, 2, 8, 8);
	struct world *w;
	unsigned int cpu;

	for (cpu = 0; cpu < 8; cpu++)
		priority[cpu] = -(int)cpu;
	m->setup.packing_levels = 1U << ILB_LEVEL_MC;
	w = world_new(m, 1000);
	w->nohz.setup.priority = priority;
	return w;
}

static void packing_pulls_single_tasks(void **state)
{
	int priority[8];
	struct world *w = packing(priority);

	(void)state;
	add_tasks(w, 4, 1, 1);
	assert_int_equal(attempt(w, 0, 1)->imb_task, 1);
	assert_int_equal(w->push_from, 4);
	world_free(w);
	/* A core with both threads busy is another case: one of its two. */
	w = packing(priority);
	add_tasks(w, 4, 2, 1);
	assert_int_equal(attempt(w, 0, 1)->imb_task, 1);
	world_free(w);
	/* Not downhill. */
	w = packing(priority);
	add_tasks(w, 0, 1, 1);
	expect_balanced(attempt(w, 4, 1));
	world_free(w);
}

/* The hint for wakeups: 4 of 8 CPUs used; see the numbers. */
static void wakeups_look_at_fewer_cpus_when_busy(void **state)
{
	struct world *w = two_nodes("linux-7.3");

	(void)state;
	attempt(w, 0, 0);
	assert_int_equal(w->llc[0].idle_scan, 8);
	/* x = 512: 512^2 * 117^2 / 10^4 / 1024 = 350; 674 * 8 / 1024 = 5. */
	add_tasks(w, 1, 4, 1);
	attempt(w, 0, 0);
	assert_int_equal(w->llc[0].idle_scan, 5);
	assert_int_equal(w->llc[8].idle_scan, 0);
	add_tasks(w, 5, 3, 1);
	world_add(w, 0);
	attempt(w, 0, 0);
	assert_int_equal(w->llc[0].idle_scan, 0);
	world_free(w);
}

static void energy_models_wait_for_overuse(void **state)
{
	struct world *w = two_nodes("linux-7.3");

	(void)state;
	w->balance.setup.energy = 1;
	add_tasks(w, 1, 1, 2);
	w->task[0].lb.util = w->task[1].lb.util = 100;
	world_sync(w, 1);
	expect_balanced(attempt(w, 0, 0));
	w->balance.overutilized = 1;
	assert_int_equal(attempt(w, 0, 0)->imb_task, 1);
	world_free(w);
}

/* cache-balance: 2 tasks on either cache of a node, one at home elsewhere. */
static void processes_are_gathered_in_their_cache(void **state)
{
	static const char *const values[] = { "cache-balance=no",
					      "cache-balance=yes" };
	unsigned int row, yes, gather;
	struct world *w;

	(void)state;
	for (row = 0; row < 4; row++) {
		for (yes = 0; yes < 4; yes++) {
			w = world_new(machine_new(ilb_behaviours[row].name,
						  16, 1, 8, 16), 1000);
			gather = yes < 2;
			if ((yes & 1) != (row >= LINUX_7_3))
				world_set(w, values[yes & 1]);
			w->balance.setup.gather = (int)gather;
			add_tasks(w, 1, 2, 1);
			add_tasks(w, 8, 1, 2);
			w->task[3].lb.preferred_llc = 0;
			assert_int_equal(attempt(w, 0, 1)->gained,
					 gather && (yes & 1));
			assert_int_equal(w->task[3].cpu,
					 gather && (yes & 1) ? 0 : 8);
			world_free(w);
		}
	}
}

static void affinity_trouble_is_the_parents(void **state)
{
	struct world *w = two_nodes("linux-7.3");

	(void)state;
	add_tasks(w, 8, 1, 2);
	add_tasks(w, 1, 1, 1);
	/* 2 against 1 is nothing, but for the mark. */
	expect_balanced(attempt(w, 0, 1));
	world_level(w, 8, 1)->local->imbalanced = 1;
	assert_int_equal(attempt(w, 0, 1)->imb_task, 1);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overload_moves_towards_the_average),
		cmocka_unit_test(the_smaller_of_give_and_take_moves),
		cmocka_unit_test(load_is_compared_per_capacity),
		cmocka_unit_test(failures_let_larger_tasks_move),
		cmocka_unit_test(overload_on_both_sides_is_tolerated),
		cmocka_unit_test(an_overloaded_node_fills_a_spare_one),
		cmocka_unit_test(busy_cpus_leave_idle_ones_alone),
		cmocka_unit_test(small_numa_imbalances_are_allowed),
		cmocka_unit_test(cores_count_and_not_threads),
		cmocka_unit_test(a_full_core_gives_to_a_single_thread),
		cmocka_unit_test(a_misfit_goes_to_a_larger_cpu),
		cmocka_unit_test(misfits_want_an_idle_core),
		cmocka_unit_test(lost_capacity_is_a_reason_too),
		cmocka_unit_test(packing_pulls_single_tasks),
		cmocka_unit_test(wakeups_look_at_fewer_cpus_when_busy),
		cmocka_unit_test(energy_models_wait_for_overuse),
		cmocka_unit_test(processes_are_gathered_in_their_cache),
		cmocka_unit_test(affinity_trouble_is_the_parents),
	};

	return cmocka_run_group_tests_name("balance_groups", tests, NULL,
					   NULL);
}
