// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where waking tasks go on unequal CPUs: select_idle_capacity(), with and
 * without its ranks for SMT (mail B's first patch). One node; cores of CPUs
 * N and N + 1; cores 0 and 1 are large (1024), 2 and 3 are small (700).
 */

#include "ilb/wake.h"
#include "model_machine.h"

#define FITS_ALL	500	/* 500 * 1.25 = 625 */
#define FITS_LARGE	700	/* 875 */
#define FITS_NONE	900	/* 1125 */

static struct world *unequal(const char *kernel, unsigned int per_core)
{
	struct machine *m = machine_new(kernel, 8, per_core, 8, 8);
	struct world *w;
	unsigned int cpu;

	for (cpu = 4; cpu < 8; cpu++)
		m->capacity[cpu] = 700;
	m->topology.capacity = m->capacity;
	w = world_new(m, 1000);
	w->llc[0].idle_scan = 8;
	w->llc[0].has_idle_cores = 1;
	return w;
}

static void busy(struct world *w, unsigned long cpus)
{
	unsigned int cpu;

	for (cpu = 0; cpu < 8; cpu++)
		if (cpus >> cpu & 1)
			world_add(w, cpu);
}

static unsigned int wake(struct world *w, unsigned int target,
			 unsigned long util)
{
	const struct ilb_wakeup wakeup = {
		.prev = target, .waker = target, .recent = ILB_CPU_NONE,
		.util = util,
	};

	return ilb_wake_sibling(&w->balance, target, &wakeup);
}

/*
 * wake-idle-core: CPU 0 is busy, so that 1 is large enough and beside a busy
 * sibling. A small idle core beats it; 6.x takes it.
 */
static void an_idle_core_that_is_too_small_wins(void **state)
{
	static const char *const values[] = { "wake-idle-core=no",
					      "wake-idle-core=yes" };
	unsigned int row, yes;
	struct world *w;

	(void)state;
	for (row = 0; row < 4; row++) {
		for (yes = 0; yes < 2; yes++) {
			w = unequal(ilb_behaviours[row].name, 2);
			if (yes != (row >= LINUX_7_2)) {
				world_set(w, values[yes]);
				w->llc[0].idle_scan = 8;
				w->llc[0].has_idle_cores = 1;
			}
			busy(w, 0x0d);
			assert_int_equal(wake(w, 0, FITS_LARGE),
					 yes ? 4 : 1);
			world_free(w);
		}
	}
}

/* Each row: who is busy, and who is chosen from CPU 0 with and without. */
static void ranks_in_order(void **state)
{
	static const struct {
		unsigned long busy, util;
		unsigned int ranked, plain;
	} cases[] = {
		/* A large idle core fits: both. */
		{ 0x03, FITS_LARGE, 2, 2 },
		/* A task that fits all: an idle core, not CPU 1. */
		{ 0x0d, FITS_ALL, 4, 1 },
		/* Fits nowhere: the largest idle core. */
		{ 0x13, FITS_NONE, 2, 2 },
		/* Idle core 3 is small, 1 and 3 large: the core; the size. */
		{ 0x35, FITS_NONE, 6, 1 },
		/* No idle core: a thread that fits before one that does not. */
		{ 0x5d, FITS_LARGE, 1, 1 },
		{ 0x57, FITS_LARGE, 3, 3 },
		/* None fits: the largest. */
		{ 0x57, FITS_NONE, 3, 3 },
	};
	struct world *w;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w = unequal("linux-7.3", 2);
		busy(w, cases[i].busy);
		if (wake(w, 0, cases[i].util) != cases[i].ranked)
			fail_msg("7.3, case %u: %u", i,
				 wake(w, 0, cases[i].util));
		world_free(w);
		w = unequal("linux-6.12", 2);
		busy(w, cases[i].busy);
		if (wake(w, 0, cases[i].util) != cases[i].plain)
			fail_msg("6.12, case %u: %u", i,
				 wake(w, 0, cases[i].util));
		world_free(w);
	}
}

static void the_hint_goes_when_no_core_won(void **state)
{
	struct world *w = unequal("linux-7.3", 2);

	(void)state;
	busy(w, 0x0d);
	wake(w, 0, FITS_LARGE);
	assert_int_equal(w->llc[0].has_idle_cores, 1);
	busy(w, 0x50);
	assert_int_equal(wake(w, 0, FITS_LARGE), 1);
	assert_int_equal(w->llc[0].has_idle_cores, 0);
	world_free(w);
}

/* 7.2 on: nr_idle_scan CPUs from the target on; 6.x: all. */
static void without_the_hint_the_scan_is_limited(void **state)
{
	unsigned int row;
	struct world *w;

	(void)state;
	for (row = 0; row < 4; row++) {
		w = unequal(ilb_behaviours[row].name, 2);
		w->llc[0].has_idle_cores = 0;
		w->llc[0].idle_scan = 3;
		busy(w, 0x07);
		assert_int_equal(wake(w, 0, FITS_ALL), row < 2 ? 3 : 0);
		w->llc[0].idle_scan = 4;
		assert_int_equal(wake(w, 0, FITS_ALL), 3);
		world_free(w);
	}
}

/* Even if target is idle: its sibling counts, and its size. */
static void early_choices_want_the_same(void **state)
{
	struct world *w = unequal("linux-7.3", 2);

	(void)state;
	busy(w, 0x01);
	assert_int_equal(wake(w, 1, FITS_ALL), 2);
	assert_int_equal(wake(w, 4, FITS_ALL), 4);
	assert_int_equal(wake(w, 4, FITS_LARGE), 2);
	world_free(w);
	w = unequal("linux-6.12", 2);
	busy(w, 0x01);
	assert_int_equal(wake(w, 1, FITS_ALL), 1);
	assert_int_equal(wake(w, 4, FITS_LARGE), 1);
	world_free(w);
}

/* uclamp_min 800: small idle cores fit the use, not the wish. */
static void a_wish_for_capacity_ranks(void **state)
{
	struct ilb_wakeup wakeup = {
		.prev = 0, .waker = 0, .recent = ILB_CPU_NONE,
		.util = FITS_ALL, .uclamp_min = 800,
	};
	struct world *w = unequal("linux-7.3", 2);

	(void)state;
	/* -4 for CPU 4's core, -2 for CPU 1. */
	busy(w, 0x0d);
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 4);
	world_free(w);
	/* 6.12: CPU 1 fits entirely. */
	w = unequal("linux-6.12", 2);
	busy(w, 0x0d);
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 1);
	/* All large ones busy: fits but for the wish. */
	busy(w, 0x02);
	assert_int_equal(ilb_wake_sibling(&w->balance, 0, &wakeup), 4);
	world_free(w);
}

static void without_smt_both_are_alike(void **state)
{
	unsigned int row;
	struct world *w;

	(void)state;
	for (row = 0; row < 4; row++) {
		w = unequal(ilb_behaviours[row].name, 1);
		busy(w, 0x0d);
		assert_int_equal(wake(w, 0, FITS_LARGE), 1);
		assert_int_equal(wake(w, 5, FITS_LARGE), 1);
		busy(w, 0x02);
		assert_int_equal(wake(w, 0, FITS_LARGE), 4);
		world_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_core_that_is_too_small_wins),
		cmocka_unit_test(ranks_in_order),
		cmocka_unit_test(the_hint_goes_when_no_core_won),
		cmocka_unit_test(without_the_hint_the_scan_is_limited),
		cmocka_unit_test(early_choices_want_the_same),
		cmocka_unit_test(a_wish_for_capacity_ranks),
		cmocka_unit_test(without_smt_both_are_alike),
	};

	return cmocka_run_group_tests_name("wake_capacity", tests, NULL, NULL);
}
