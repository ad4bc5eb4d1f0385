// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where waking tasks go on CPUs of equal capacity. 2 nodes x 4 cores x 2
 * threads; every CPU of a node shares its cache.
 */

#include "ilb/wake.h"
#include "model_machine.h"

static struct world *small(unsigned int per_core)
{
	struct world *w = world_new(machine_new("linux-7.3", 16, per_core, 8,
						8), 1000);

	w->llc[0].idle_scan = w->llc[8].idle_scan = 8;
	return w;
}

static void busy(struct world *w, unsigned int first, unsigned int last)
{
	for (; first <= last; first++)
		world_add(w, first);
}

static const struct ilb_wakeup plain = {
	.prev = 0, .waker = 0, .recent = ILB_CPU_NONE,
	.load = 1024, .util = 512, .waker_load = 1024,
};

/* wake_affine */

static void nothing_to_decide_keeps_the_task(void **state)
{
	static const unsigned long not_4[1] = { 0xffef };
	struct ilb_wakeup wakeup = plain;
	struct world *w = small(2);

	(void)state;
	busy(w, 0, 0);
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 0);
	wakeup.waker = 4;
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 4);
	wakeup.wide = 1;
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 0);
	wakeup.wide = 0;
	wakeup.allowed = not_4;
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 0);
	world_free(w);
}

static void idle_cpus_attract(void **state)
{
	struct ilb_wakeup wakeup = plain;
	struct world *w = small(2);

	(void)state;
	/* Both idle: stay. */
	wakeup.waker = 4;
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 0);
	/* The waker idle, another cache: an interrupt there moves nothing. */
	busy(w, 0, 0);
	wakeup.waker = 8;
	w->cpu[0].load = 0;
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 0);
	/* A waker that goes to sleep, alone on its CPU. */
	busy(w, 8, 8);
	wakeup.sync = 1;
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 8);
	world_free(w);
}

/*
 * Waker 1024 + 1024 of the task, times 100; there less the task, times 108
 * (117 - 100, halved): 1896 * 108 = 204768 is less than 204800, 1897 is more.
 */
static void loads_are_compared_with_a_margin(void **state)
{
	struct ilb_wakeup wakeup = plain;
	struct world *w = small(2);

	(void)state;
	busy(w, 0, 0);
	busy(w, 4, 4);
	wakeup.waker = 4;
	w->cpu[0].load = 1896 + 1024;
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 0);
	w->cpu[0].load = 1897 + 1024;
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 4);
	/* A CPU of half the capacity is twice as loaded. */
	w->queue[4].capacity = 512;
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 0);
	world_free(w);
}

static void far_nodes_do_not_pull(void **state)
{
	static const unsigned int distance[4] = { 10, 31, 31, 10 };
	struct machine *m = machine_new("linux-7.3", 16, 2, 8, 8);
	struct ilb_wakeup wakeup = plain;
	struct world *w;

	(void)state;
	m->setup.distance = distance;
	m->setup.nr_nodes = 2;
	w = world_new(m, 1000);
	busy(w, 0, 0);
	busy(w, 8, 8);
	wakeup.waker = 8;
	wakeup.sync = 1;
	assert_int_equal(ilb_wake_affine(&w->balance, &wakeup), 0);
	world_free(w);
}

/* select_idle_sibling */

static void target_then_prev_then_recent(void **state)
{
	static const unsigned long not_5[1] = { 0xffdf };
	struct ilb_wakeup wakeup = plain;
	struct world *w = small(2);

	(void)state;
	wakeup.prev = 3;
	wakeup.recent = 5;
	busy(w, 0, 1);
	assert_int_equal(ilb_wake_sibling(&w->balance, 2, &wakeup), 2);
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 3);
	busy(w, 3, 3);
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 5);
	wakeup.allowed = not_5;
	assert_int_not_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 5);
	/* Of another cache neither counts. */
	wakeup.allowed = NULL;
	wakeup.prev = 9;
	wakeup.recent = 10;
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 2);
	/* SCHED_IDLE tasks do not count as busy. */
	w->cpu[0].only_idle = 1;
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 0);
	world_free(w);
}

/* Without a hint: the sibling of prev before anything else. */
static void a_sibling_of_prev_is_next(void **state)
{
	static const unsigned long not_3[1] = { 0xfff7 };
	struct ilb_wakeup wakeup = plain;
	struct world *w = small(2);

	(void)state;
	busy(w, 0, 0);
	busy(w, 2, 2);
	wakeup.prev = 2;
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 3);
	wakeup.allowed = not_3;
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 1);
	/* With it whole cores come first, from target + 1 on. */
	wakeup.allowed = NULL;
	w->llc[0].has_idle_cores = 1;
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 4);
	assert_int_equal(w->llc[0].has_idle_cores, 1);
	world_free(w);
}

static void no_idle_core_takes_the_hint_back(void **state)
{
	struct ilb_wakeup wakeup = plain;
	struct world *w = small(2);

	(void)state;
	busy(w, 0, 2);
	busy(w, 4, 4);
	busy(w, 6, 6);
	w->llc[0].has_idle_cores = 1;
	/* The first idle thread from target + 1 on. */
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 3);
	assert_int_equal(w->llc[0].has_idle_cores, 0);
	assert_int_equal(ilb_wake_sibling(&w->balance, 4, &wakeup), 5);
	w->llc[0].has_idle_cores = 1;
	assert_int_equal(ilb_wake_sibling(&w->balance, 4, &wakeup), 5);
	world_free(w);
}

static void the_scan_wraps_and_is_limited(void **state)
{
	struct ilb_wakeup wakeup = plain;
	struct world *w = small(1);

	(void)state;
	busy(w, 0, 0);
	busy(w, 4, 7);
	wakeup.prev = 6;
	assert_int_equal(ilb_wake_sibling(&w->balance, 6, &wakeup), 1);
	/* 7, 0, 1: three. */
	w->llc[0].idle_scan = 3;
	assert_int_equal(ilb_wake_sibling(&w->balance, 6, &wakeup), 1);
	w->llc[0].idle_scan = 2;
	assert_int_equal(ilb_wake_sibling(&w->balance, 6, &wakeup), 6);
	w->llc[0].idle_scan = 0;
	assert_int_equal(ilb_wake_sibling(&w->balance, 7, &wakeup), 7);
	world_free(w);
}

static void an_idle_core_gives_the_hint(void **state)
{
	struct world *w = small(2);

	(void)state;
	busy(w, 9, 9);
	ilb_balance_idle_enter(&w->balance, 8);
	assert_int_equal(w->llc[8].has_idle_cores, 0);
	ilb_balance_idle_enter(&w->balance, 10);
	assert_int_equal(w->llc[8].has_idle_cores, 1);
	assert_int_equal(w->llc[0].has_idle_cores, 0);
	world_free(w);
}

static void an_isolated_target_stays(void **state)
{
	struct machine *m = machine_new("linux-7.3", 16, 2, 8, 8);
	struct ilb_wakeup wakeup = plain;
	struct world *w;

	(void)state;
	m->isolated[0] = 0x01;
	m->setup.isolated = m->isolated;
	w = world_new(m, 1000);
	busy(w, 0, 0);
	wakeup.waker = 5;
	assert_int_equal(ilb_wake_cpu(&w->balance, &wakeup), 0);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_decide_keeps_the_task),
		cmocka_unit_test(idle_cpus_attract),
		cmocka_unit_test(loads_are_compared_with_a_margin),
		cmocka_unit_test(far_nodes_do_not_pull),
		cmocka_unit_test(target_then_prev_then_recent),
		cmocka_unit_test(a_sibling_of_prev_is_next),
		cmocka_unit_test(no_idle_core_takes_the_hint_back),
		cmocka_unit_test(the_scan_wraps_and_is_limited),
		cmocka_unit_test(an_idle_core_gives_the_hint),
		cmocka_unit_test(an_isolated_target_stays),
	};

	return cmocka_run_group_tests_name("wake", tests, NULL, NULL);
}
