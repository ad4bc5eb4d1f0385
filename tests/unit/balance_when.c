// SPDX-License-Identifier: GPL-2.0-only
/*
 * When CPUs balance, and for whom: intervals, the CPU that is designated, the
 * pass of the idle load balancer. 2 nodes x 4 cores x 2 threads, HZ=1000,
 * unless said: intervals are 2-4, 8-16 and 16-32 ms.
 */

#include "model_machine.h"

#define NOW	1000U

static struct world *small(const char *kernel, unsigned int hz)
{
	return world_new(machine_new(kernel, 16, 2, 8, 8), hz);
}

static void later(struct world *w, unsigned int ms)
{
	w->ns += ms * 1000000ULL;
}

static void softirq(struct world *w, unsigned int cpu, int idle)
{
	w->queue[cpu].idle_balance = idle;
	ilb_balance_softirq(&w->balance, cpu);
}

static uint64_t tries(struct world *w, unsigned int cpu, unsigned int n,
		      enum ilb_idle_type type)
{
	return world_level(w, cpu, n)->counts[type].lb;
}

static void nothing_is_due_at_once(void **state)
{
	struct world *w = small("linux-7.3", 1000);

	(void)state;
	softirq(w, 0, 1);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_IDLE), 0);
	assert_int_equal(w->queue[0].next_balance, NOW + 2);
	world_free(w);
}

/* 2 ms, then 4 ms for good: nothing is found. */
static void an_idle_interval_doubles_once(void **state)
{
	struct world *w = small("linux-7.3", 1000);

	(void)state;
	later(w, 2);
	softirq(w, 0, 1);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_IDLE), 1);
	assert_int_equal(world_level(w, 0, 0)->counts[1].balanced, 1);
	assert_int_equal(world_level(w, 0, 0)->balance_interval, 4);
	assert_int_equal(w->queue[0].next_balance, NOW + 2 + 4);
	later(w, 3);
	softirq(w, 0, 1);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_IDLE), 1);
	later(w, 1);
	softirq(w, 0, 1);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_IDLE), 2);
	assert_int_equal(world_level(w, 0, 0)->balance_interval, 4);
	world_free(w);
}

/* 2 * 16 - 1 jiffies, then 4 * 16 - 1 = 63. */
static void a_busy_interval_is_longer(void **state)
{
	struct world *w = small("linux-7.3", 1000);

	(void)state;
	world_add(w, 0);
	later(w, 30);
	softirq(w, 0, 0);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_BUSY), 0);
	later(w, 1);
	softirq(w, 0, 0);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_BUSY), 1);
	later(w, 62);
	softirq(w, 0, 0);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_BUSY), 1);
	later(w, 1);
	softirq(w, 0, 0);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_BUSY), 2);
	/* With tasks of SCHED_IDLE only it is no busy CPU. */
	w->cpu[0].only_idle = 1;
	later(w, 4);
	softirq(w, 0, 0);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_BUSY), 3);
	world_free(w);
}

/* At 250 Hz 4 ms are one jiffy, 5 are two; at 100 Hz all up to 10 ms are one. */
static void slow_ticks_round_up(void **state)
{
	static const struct {
		unsigned int hz, ms, jiffies;
	} cases[] = {
		{ 1000, 4, 4 }, { 250, 2, 1 }, { 250, 4, 1 }, { 250, 5, 2 },
		{ 100, 10, 1 }, { 100, 11, 2 },
	};
	struct world *w;
	unsigned int i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w = small("linux-7.3", cases[i].hz);
		world_level(w, 0, 0)->balance_interval = cases[i].ms;
		for (j = 1; j <= cases[i].jiffies; j++) {
			w->ns += 1000000000 / cases[i].hz;
			softirq(w, 0, 1);
			assert_int_equal(tries(w, 0, 0, ILB_IDLE_IDLE),
					 j == cases[i].jiffies);
		}
		world_free(w);
	}
}

/* HZ * 16 / 10 jiffies at most. */
static void intervals_have_a_limit(void **state)
{
	struct world *w = small("linux-7.3", 1000);

	(void)state;
	world_add(w, 0);
	world_level(w, 0, 0)->balance_interval = 500;
	later(w, 1599);
	softirq(w, 0, 0);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_BUSY), 0);
	later(w, 1);
	softirq(w, 0, 0);
	assert_int_equal(tries(w, 0, 0, ILB_IDLE_BUSY), 1);
	world_free(w);
}

/* designate-idle-core: who of node 0 balances the node? */
static int balances_node(struct world *w, unsigned int cpu)
{
	struct ilb_sched_domain *sd = world_level(w, cpu, 1);
	uint64_t above = tries(w, cpu, 2, ILB_IDLE_IDLE);

	sd->last_balance = world_level(w, cpu, 2)->last_balance = 0;
	world_level(w, cpu, 0)->last_balance = NOW;
	softirq(w, cpu, 1);
	assert_int_equal(sd->last_balance, NOW);
	/* Who is not designated looks no further up. */
	return tries(w, cpu, 2, ILB_IDLE_IDLE) != above;
}

static void the_first_idle_cpu_is_designated(void **state)
{
	static const struct {
		const char *kernel;
		int cores;
	} cases[] = {
		{ "linux-6.1", 0 }, { "linux-6.12", 1 },
		{ "linux-7.2", 1 }, { "linux-7.3", 1 },
	};
	struct world *w;
	unsigned int i, turn;
	int cores;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (turn = 0; turn < 2; turn++) {
			w = small(cases[i].kernel, 1000);
			cores = cases[i].cores ^ (int)turn;
			if (turn)
				world_set(w, cores ? "designate-idle-core=yes" :
					     "designate-idle-core=no");
			/* The group of CPUs 0-1 in node 0: 0 is busy. */
			world_add(w, 0);
			assert_true(balances_node(w, 1));
			/* All idle: the second thread never, the first does. */
			assert_false(balances_node(w, 3));
			assert_true(balances_node(w, 2));
			world_free(w);
		}
	}
}

/* At NUMA the group is a node: CPU 1 is idle, CPU 2 has an idle core. */
static int balances_machine(struct world *w, unsigned int cpu)
{
	struct ilb_sched_domain *sd = world_level(w, cpu, 2);
	unsigned int before = sd->counts[1].balanced;

	sd->last_balance = 0;
	sd->balance_interval = sd->min_interval;
	world_level(w, cpu, 0)->last_balance = NOW;
	world_level(w, cpu, 1)->last_balance = NOW;
	/* Node 1 has what the designated one wants, pinned to nowhere. */
	softirq(w, cpu, 1);
	return sd->counts[1].balanced == before;
}

static void idle_cores_come_first(void **state)
{
	static const char *const no = "designate-idle-core=no";
	static const char *const yes = "designate-idle-core=yes";
	struct world *w;
	unsigned int row, i, cores;

	(void)state;
	for (row = 0; row < 4; row++) {
		for (cores = 0; cores < 2; cores++) {
			w = small(ilb_behaviours[row].name, 1000);
			if (cores != (row >= LINUX_6_12))
				world_set(w, cores ? yes : no);
			world_add(w, 0);
			for (i = 8; i < 16; i++) {
				world_add(w, i);
				world_add(w, i)->lb.bound = 1;
				world_add(w, i);
			}
			assert_int_equal(balances_machine(w, cores ? 1 : 2),
					 0);
			assert_int_equal(balances_machine(w, cores ? 2 : 1),
					 1);
			world_free(w);
		}
	}
}

/* No idle core: the first idle thread; nobody idle: the group's first CPU. */
static void without_idle_cores_a_thread_is_designated(void **state)
{
	struct world *w = small("linux-7.3", 1000);
	unsigned int i;

	(void)state;
	for (i = 0; i < 8; i += 2)
		world_add(w, i);
	for (i = 8; i < 16; i++) {
		world_add(w, i);
		world_add(w, i);
	}
	assert_false(balances_machine(w, 3));
	assert_true(balances_machine(w, 1));
	world_free(w);
}

static unsigned int look_across(const char *kernel, const char *feature,
				int locked)
{
	struct world *w = small(kernel, 1000);
	struct ilb_sched_domain *sd;
	unsigned int tried, at;

	if (feature)
		world_set(w, feature);
	w->balance.serializing = locked ? 9 : ILB_CPU_NONE;
	sd = world_level(w, 0, 2);
	sd->last_balance = 0;
	softirq(w, 0, 1);
	tried = (unsigned int)sd->counts[1].lb;
	at = sd->last_balance == NOW;
	world_free(w);
	return 2 * tried + at;
}

/*
 * serialize: in 6.x a CPU that is locked out has not balanced; in 7.x it has,
 * and found nothing.
 */
static void one_cpu_alone_balances_across_nodes(void **state)
{
	static const char *const values[] = {
		"serialize=before-due", "serialize=designated",
	};
	unsigned int row, now;

	(void)state;
	for (row = 0; row < 4; row++) {
		now = row >= LINUX_7_2;
		assert_int_equal(look_across(ilb_behaviours[row].name, NULL,
					     0), 3);
		assert_int_equal(look_across(ilb_behaviours[row].name, NULL,
					     1), now ? 3 : 0);
		assert_int_equal(look_across(ilb_behaviours[row].name,
					     values[!now], 1), now ? 0 : 3);
	}
}

static void costs_decay_once_a_second(void **state)
{
	struct world *w = small("linux-7.3", 1000);
	struct ilb_sched_domain *sd = world_level(w, 0, 0);

	(void)state;
	sd->max_newidle_cost = 2560000;
	later(w, 1000);
	softirq(w, 0, 1);
	assert_int_equal(sd->max_newidle_cost, 2560000);
	later(w, 1);
	softirq(w, 0, 1);
	assert_int_equal(sd->max_newidle_cost, 2530000);
	/* Of all levels, the two others are 0. */
	assert_int_equal(w->cpu[0].max_cost, 2530000);
	world_free(w);
}

/* The pass of the idle load balancer */

static void kick(struct world *w, unsigned int cpu, unsigned int flags)
{
	w->queue[cpu].run = flags;
	softirq(w, cpu, 1);
}

static void the_ilb_balances_for_all_registered(void **state)
{
	struct world *w = small("linux-7.3", 1000);
	unsigned int i;

	(void)state;
	for (i = 2; i < 8; i++)
		world_register(w, i);
	world_add(w, 6);
	w->queue[3].next_balance = NOW + 10;
	later(w, 2);
	kick(w, 4, ILB_KICK_STATS | ILB_KICK_BALANCE);
	/* Not 6, which is busy; not 3, which is not due; not 1. */
	for (i = 0; i < 8; i++)
		assert_int_equal(tries(w, i, 0, ILB_IDLE_IDLE),
				 i == 2 || i == 4 || i == 5 || i == 7);
	/* The earliest of those that are idle. */
	assert_int_equal(w->nohz.next_balance, NOW + 2 + 4);
	assert_int_equal(w->nohz.next_blocked, NOW + 2 + 32);
	assert_int_equal(w->queue[4].run, 0);
	world_free(w);
}

static void stats_alone_balance_nothing(void **state)
{
	struct world *w = small("linux-7.3", 1000);

	(void)state;
	world_register(w, 2);
	world_register(w, 3);
	w->queue[2].next_balance = NOW + 7;
	w->queue[3].next_balance = NOW + 5;
	w->nohz.next_balance = NOW + 50;
	kick(w, 2, ILB_KICK_NEXT);
	assert_int_equal(w->nohz.next_balance, NOW + 5);
	assert_int_equal(w->nohz.next_blocked, NOW);
	assert_int_equal(tries(w, 2, 0, ILB_IDLE_IDLE), 0);
	world_free(w);
}

static void blocked_load_is_refreshed_until_gone(void **state)
{
	struct world *w = small("linux-7.3", 1000);

	(void)state;
	world_register(w, 2);
	world_register(w, 3);
	w->queue[2].has_blocked = w->queue[3].has_blocked = 1;
	w->nohz.has_blocked = 1;
	w->blocked[3] = 2;
	later(w, 1);
	kick(w, 2, ILB_KICK_STATS);
	assert_int_equal(w->refreshed, 2);
	assert_true(w->nohz.has_blocked);
	assert_false(w->queue[2].has_blocked);
	/* Again in this jiffy: no work, and still blocked. */
	kick(w, 2, ILB_KICK_STATS);
	assert_int_equal(w->refreshed, 2);
	assert_true(w->nohz.has_blocked);
	later(w, 1);
	kick(w, 2, ILB_KICK_STATS);
	assert_int_equal(w->refreshed, 3);
	assert_false(w->nohz.has_blocked);
	world_free(w);
}

static void a_wakeup_ends_the_pass(void **state)
{
	struct world *w = small("linux-7.3", 1000);

	(void)state;
	world_register(w, 2);
	world_register(w, 3);
	w->nohz.needs_update = 1;
	w->nohz.next_balance = NOW + 1;
	w->nohz.next_blocked = NOW + 3;
	w->resched = 4;
	later(w, 2);
	/* Needs rescheduling but is idle: a wakeup is only queued. */
	kick(w, 4, ILB_KICK_MASK);
	assert_int_equal(w->balance.ilb_aborts, 0);
	assert_int_equal(w->nohz.next_blocked, NOW + 2 + 32);
	w->nohz.needs_update = 1;
	w->nohz.next_balance = NOW + 1;
	later(w, 4);
	world_add(w, 4);
	w->queue[4].run = ILB_KICK_MASK;
	softirq(w, 4, 1);
	assert_int_equal(w->balance.ilb_aborts, 1);
	assert_int_equal(w->balance.ilb_passes, 2);
	assert_true(w->nohz.needs_update && w->nohz.has_blocked);
	assert_int_equal(w->nohz.next_balance, NOW + 1);
	assert_int_equal(w->nohz.next_blocked, NOW + 2 + 32);
	world_free(w);
}

/* The clock goes on with every look at it, which shows the order. */
static void the_walk_starts_behind_the_ilb(void **state)
{
	struct world *w = small("linux-7.3", 1000);
	unsigned int i;

	(void)state;
	for (i = 2; i < 8; i += 2)
		world_register(w, i);
	later(w, 2);
	w->step_ns = 1000000;
	kick(w, 4, ILB_KICK_STATS | ILB_KICK_BALANCE);
	assert_true(world_level(w, 6, 0)->last_balance <
		    world_level(w, 2, 0)->last_balance);
	assert_true(world_level(w, 2, 0)->last_balance <
		    world_level(w, 4, 0)->last_balance);
	for (i = 2; i < 8; i += 2)
		assert_int_equal(tries(w, i, 0, ILB_IDLE_IDLE), 1);
	world_free(w);
}

static void a_kick_that_came_late_is_a_tick(void **state)
{
	struct world *w = small("linux-7.3", 1000);

	(void)state;
	world_register(w, 2);
	world_add(w, 2);
	later(w, 31);
	w->queue[2].run = ILB_KICK_MASK;
	softirq(w, 2, 0);
	assert_int_equal(w->balance.ilb_passes, 0);
	assert_int_equal(tries(w, 2, 0, ILB_IDLE_BUSY), 1);
	assert_int_equal(w->queue[2].run, 0);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_due_at_once),
		cmocka_unit_test(an_idle_interval_doubles_once),
		cmocka_unit_test(a_busy_interval_is_longer),
		cmocka_unit_test(slow_ticks_round_up),
		cmocka_unit_test(intervals_have_a_limit),
		cmocka_unit_test(the_first_idle_cpu_is_designated),
		cmocka_unit_test(idle_cores_come_first),
		cmocka_unit_test(without_idle_cores_a_thread_is_designated),
		cmocka_unit_test(one_cpu_alone_balances_across_nodes),
		cmocka_unit_test(costs_decay_once_a_second),
		cmocka_unit_test(the_ilb_balances_for_all_registered),
		cmocka_unit_test(stats_alone_balance_nothing),
		cmocka_unit_test(blocked_load_is_refreshed_until_gone),
		cmocka_unit_test(a_wakeup_ends_the_pass),
		cmocka_unit_test(the_walk_starts_behind_the_ilb),
		cmocka_unit_test(a_kick_that_came_late_is_a_tick),
	};

	return cmocka_run_group_tests_name("balance_when", tests, NULL, NULL);
}
