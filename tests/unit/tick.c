// SPDX-License-Identifier: GPL-2.0-only
/* When ticks stop, and what that does to the registry. HZ is 1000. */

#include "ilb/tick.h"
#include "nohz.h"

#define MS		1000000ULL
#define FOREVER		UINT64_MAX

struct ticks {
	struct host h;
	struct ilb_tick_cpu cpus[NR];
	struct ilb_tick_setup setup;
	struct ilb_tick tick;
	unsigned long nohz_full[1];
};

static void prepare(struct ticks *t, const char *kernel)
{
	unsigned int cpu;

	memset(t, 0, sizeof(*t));
	boot(&t->h, kernel);
	for (cpu = 0; cpu < NR; cpu++)
		t->cpus[cpu].next_timer_ns = FOREVER;
	t->setup.nohz = &t->h.nohz;
	t->setup.governor = ILB_GOVERNOR_OTHER;
	t->setup.tick_ns = MS;
	t->setup.cpus = t->cpus;
	ilb_tick_init(&t->tick, &t->setup, 0);
}

/* All but CPU 0, which keeps the time. */
static void prepare_full(struct ticks *t, const char *kernel,
			 const char *feature)
{
	prepare(t, kernel);
	if (feature)
		assert_int_equal(ilb_behaviour_set(&t->h.behaviour, feature),
				 0);
	t->nohz_full[0] = 0xfe;
	t->tick.setup.nohz_full = t->nohz_full;
}

static int stop(struct ticks *t, unsigned int cpu, uint64_t ns)
{
	return ilb_tick_idle_stop(&t->tick, cpu, ns, NULL);
}

static int registered(const struct ticks *t, unsigned int cpu)
{
	return ilb_mask_test(t->h.mask, cpu);
}

static void ticks_coincide_unless_skewed(void **state)
{
	struct ticks t;

	(void)state;
	prepare(&t, "linux-7.3");
	assert_int_equal(ilb_tick_after(&t.tick, 5, 0), MS);
	assert_int_equal(ilb_tick_after(&t.tick, 5, MS - 1), MS);
	assert_int_equal(ilb_tick_after(&t.tick, 5, MS), 2 * MS);
	/* CPU i of 8 comes i * (1 ms / 2 / 8) later. */
	t.tick.setup.skew = 1;
	assert_int_equal(ilb_tick_after(&t.tick, 0, 0), MS);
	assert_int_equal(ilb_tick_after(&t.tick, 5, 0), 312500);
	assert_int_equal(ilb_tick_after(&t.tick, 5, 312500), MS + 312500);
}

static void an_idle_stop_registers_and_leaving_does_not(void **state)
{
	struct ticks t;

	(void)state;
	prepare(&t, "linux-7.3");
	ilb_tick_idle_enter(&t.tick, 3);
	assert_int_equal(stop(&t, 3, 100), 1);
	assert_true(registered(&t, 3));
	assert_int_equal(t.cpus[3].next_ns, FOREVER);
	assert_int_equal(t.cpus[3].idle_since_ns, 100);
	ilb_tick_idle_exit(&t.tick, 3, 2 * MS + 5);
	assert_false(t.cpus[3].stopped);
	assert_int_equal(t.cpus[3].next_ns, 3 * MS);
	/* Only a busy tick takes it out. */
	assert_true(registered(&t, 3));
	ilb_tick_idle_enter(&t.tick, 3);
	assert_int_equal(stop(&t, 3, 2 * MS + 9), 1);
	assert_int_equal(t.cpus[3].idle_stops, 2);
}

static void a_near_timer_keeps_the_tick(void **state)
{
	struct ticks t;

	(void)state;
	prepare(&t, "linux-7.3");
	ilb_tick_idle_enter(&t.tick, 3);
	t.cpus[3].next_timer_ns = 6 * MS;
	assert_int_equal(stop(&t, 3, 5 * MS + 7), 0);
	assert_false(registered(&t, 3));
	t.cpus[3].next_timer_ns = 6 * MS + 1;
	assert_int_equal(stop(&t, 3, 5 * MS + 7), 1);
	assert_int_equal(t.cpus[3].next_ns, 6 * MS + 1);
	/* Once stopped, a near one is only waited for. */
	t.cpus[3].next_timer_ns = 6 * MS + 2;
	assert_int_equal(stop(&t, 3, 6 * MS + 1), 1);
	assert_int_equal(t.cpus[3].next_ns, 6 * MS + 2);
	assert_int_equal(ilb_tick_fired(&t.tick, 3, 6 * MS + 2), 0);
}

static void what_is_pending_keeps_the_tick(void **state)
{
	struct ticks t;

	(void)state;
	prepare(&t, "linux-7.3");
	ilb_tick_idle_enter(&t.tick, 3);
	t.cpus[3].need_resched = 1;
	assert_int_equal(stop(&t, 3, 5), 0);
	t.cpus[3].need_resched = 0;
	t.cpus[3].softirq_pending = 1;
	assert_int_equal(stop(&t, 3, 5), 0);
	t.cpus[3].softirq_pending = 0;
	t.cpus[3].needs_tick = 1;
	assert_int_equal(stop(&t, 3, 5), 0);
	t.cpus[3].needs_tick = 0;
	t.cpus[3].refuses = 1;
	assert_int_equal(stop(&t, 3, 5), 0);
	t.cpus[3].refuses = 0;
	assert_int_equal(stop(&t, 3, 5), 1);
}

/* stop-after-idle-tick */
static void without_idle_states_a_whole_tick_passes(void **state)
{
	unsigned int row;
	struct ticks t;

	(void)state;
	for (row = 0; row < 4; row++) {
		prepare(&t, ilb_behaviours[row].name);
		t.tick.setup.governor = ILB_GOVERNOR_NONE;
		ilb_tick_idle_enter(&t.tick, 3);
		assert_int_equal(stop(&t, 3, MS / 2), 0);
		assert_int_equal(ilb_tick_fired(&t.tick, 3, MS), 1);
		assert_int_equal(t.cpus[3].next_ns, 2 * MS);
		assert_int_equal(stop(&t, 3, MS), 1);
		/* A tick of an earlier idle period does not count. */
		ilb_tick_idle_exit(&t.tick, 3, 3 * MS);
		ilb_tick_idle_enter(&t.tick, 3);
		assert_int_equal(stop(&t, 3, 3 * MS + 1), 0);
		assert_int_equal(ilb_behaviour_set(&t.h.behaviour,
					"stop-after-idle-tick=no"), 0);
		assert_int_equal(stop(&t, 3, 3 * MS + 1), 1);
	}
}

static void a_tick_while_busy_is_no_idle_tick(void **state)
{
	struct ticks t;

	(void)state;
	prepare(&t, "linux-7.3");
	t.tick.setup.governor = ILB_GOVERNOR_NONE;
	ilb_tick_fired(&t.tick, 3, MS);
	ilb_tick_idle_enter(&t.tick, 3);
	assert_int_equal(stop(&t, 3, MS + 1), 0);
}

/* The tick was seen by one pass, which could not stop; the next saw none. */
static void each_pass_needs_a_tick_of_its_own(void **state)
{
	struct ticks t;

	(void)state;
	prepare(&t, "linux-7.3");
	t.tick.setup.governor = ILB_GOVERNOR_NONE;
	ilb_tick_idle_enter(&t.tick, 3);
	ilb_tick_fired(&t.tick, 3, MS);
	t.cpus[3].refuses = 1;
	assert_int_equal(stop(&t, 3, MS), 0);
	t.cpus[3].refuses = 0;
	assert_int_equal(stop(&t, 3, MS + 1), 0);
}

static void governors_decide(void **state)
{
	static const struct {
		enum ilb_governor governor;
		struct ilb_idle_guess guess;
		int stops;
	} cases[] = {
		{ ILB_GOVERNOR_MENU, { .predicted_ns = MS - 1 }, 0 },
		{ ILB_GOVERNOR_MENU, { .predicted_ns = MS }, 1 },
		{ ILB_GOVERNOR_MENU, { .predicted_ns = 9 * MS, .polling = 1 },
		  0 },
		{ ILB_GOVERNOR_MENU, { .forced = 1 }, 1 },
		{ ILB_GOVERNOR_MENU,
		  { .predicted_ns = MS, .wakeups = 3, .early = 3 }, 1 },
		{ ILB_GOVERNOR_TEO,
		  { .predicted_ns = MS, .wakeups = 3, .early = 2 }, 0 },
		{ ILB_GOVERNOR_TEO,
		  { .predicted_ns = MS, .wakeups = 300, .early = 199 }, 1 },
		{ ILB_GOVERNOR_TEO, { .predicted_ns = MS - 1 }, 0 },
		{ ILB_GOVERNOR_OTHER, { .predicted_ns = 1, .polling = 1 }, 1 },
	};
	struct ticks t;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		prepare(&t, "linux-7.3");
		t.tick.setup.governor = cases[i].governor;
		ilb_tick_idle_enter(&t.tick, 3);
		if (ilb_tick_idle_stop(&t.tick, 3, 5, &cases[i].guess) !=
		    cases[i].stops)
			fail_msg("case %u", i);
	}
}

/* Whatever it predicts, a stopped tick stays stopped. */
static void a_governor_does_not_restart(void **state)
{
	const struct ilb_idle_guess near = { .predicted_ns = 10 };
	struct ticks t;

	(void)state;
	prepare(&t, "linux-7.3");
	ilb_tick_idle_enter(&t.tick, 3);
	assert_int_equal(stop(&t, 3, 5), 1);
	t.tick.setup.governor = ILB_GOVERNOR_MENU;
	assert_int_equal(ilb_tick_idle_stop(&t.tick, 3, 9, &near), 1);
}

static void the_timekeeper_of_nohz_full_never_stops(void **state)
{
	struct ticks t;

	(void)state;
	prepare(&t, "linux-7.3");
	ilb_tick_idle_enter(&t.tick, 0);
	assert_int_equal(stop(&t, 0, 5), 1);
	prepare_full(&t, "linux-7.3", NULL);
	ilb_tick_idle_enter(&t.tick, 0);
	assert_int_equal(stop(&t, 0, 5), 0);
	assert_false(registered(&t, 0));
}

/* One task on a nohz_full CPU: no tick, and a stale bit in the mask. */
static void a_full_cpu_stays_registered_while_busy(void **state)
{
	struct ticks t;

	(void)state;
	prepare_full(&t, "linux-7.3", NULL);
	ilb_tick_idle_enter(&t.tick, 3);
	assert_int_equal(stop(&t, 3, 5), 1);
	run_tasks(&t.h, 3, 1);
	ilb_tick_idle_exit(&t.tick, 3, 9);
	assert_true(t.cpus[3].stopped);
	assert_true(registered(&t, 3));
	/* Idle again: harmless. */
	run_tasks(&t.h, 3, 0);
	ilb_tick_idle_enter(&t.tick, 3);
	assert_int_equal(stop(&t, 3, 20), 1);
	assert_int_equal(t.cpus[3].idle_stops, 1);
	assert_true(registered(&t, 3));
}

/*
 * A second task, so a tick, which leaves the mask; it ends, so the tick stops
 * while busy; then the CPU goes idle.
 */
static int lose(struct ticks *t)
{
	ilb_tick_idle_enter(&t->tick, 3);
	assert_int_equal(stop(t, 3, 5), 1);
	run_tasks(&t->h, 3, 2);
	ilb_tick_idle_exit(&t->tick, 3, 9);
	assert_false(t->cpus[3].stopped);
	assert_int_equal(t->cpus[3].next_ns, MS);
	assert_int_equal(ilb_tick_fired(&t->tick, 3, MS), 1);
	ilb_nohz_tick(&t->h.nohz, 3, NOW, &t->h.kick);
	assert_false(registered(t, 3));
	ilb_tick_irq_exit(&t->tick, 3, MS);
	assert_false(t->cpus[3].stopped);
	run_tasks(&t->h, 3, 1);
	ilb_tick_irq_exit(&t->tick, 3, MS + 10);
	assert_true(t->cpus[3].stopped);
	assert_int_equal(t->cpus[3].idle_stops, 1);
	run_tasks(&t->h, 3, 0);
	ilb_tick_idle_enter(&t->tick, 3);
	assert_int_equal(stop(t, 3, MS + 20), 1);
	return registered(t, 3);
}

/* registration: mail C, on every kernel; and its repair. */
static void a_full_cpu_is_lost_and_the_repair_keeps_it(void **state)
{
	unsigned int row;
	struct ticks t;

	(void)state;
	for (row = 0; row < 4; row++) {
		prepare_full(&t, ilb_behaviours[row].name, NULL);
		assert_false(lose(&t));
		/* Its LLC counts one busy CPU too many: 3, and the lost one. */
		assert_int_equal(t.h.nr_busy[0], 4);
		prepare_full(&t, ilb_behaviours[row].name,
			     "registration=stopped");
		assert_true(lose(&t));
		assert_int_equal(t.h.nr_busy[0], 3);
		/* The repair counts no stop that is none. */
		assert_int_equal(t.cpus[3].idle_stops, 1);
	}
}

static void a_lost_cpu_comes_back_with_its_tick(void **state)
{
	struct ticks t;

	(void)state;
	prepare_full(&t, "linux-7.3", NULL);
	assert_false(lose(&t));
	t.cpus[3].depends = 1;
	ilb_tick_idle_exit(&t.tick, 3, 2 * MS);
	t.cpus[3].depends = 0;
	ilb_tick_idle_enter(&t.tick, 3);
	assert_int_equal(stop(&t, 3, 2 * MS + 5), 1);
	assert_true(registered(&t, 3));
}

static void other_cpus_keep_their_tick_while_busy(void **state)
{
	struct ticks t;

	(void)state;
	prepare(&t, "linux-7.3");
	run_tasks(&t.h, 3, 1);
	ilb_tick_irq_exit(&t.tick, 3, 5);
	assert_false(t.cpus[3].stopped);
}

/* full-tick-stop */
static void inverted_dependencies_never_stop(void **state)
{
	unsigned int row;
	struct ticks t;

	(void)state;
	for (row = 0; row < 4; row++) {
		prepare_full(&t, ilb_behaviours[row].name, NULL);
		run_tasks(&t.h, 3, 1);
		ilb_tick_irq_exit(&t.tick, 3, 5);
		assert_true(t.cpus[3].stopped);
		prepare_full(&t, ilb_behaviours[row].name,
			     "full-tick-stop=no");
		run_tasks(&t.h, 3, 1);
		ilb_tick_irq_exit(&t.tick, 3, 5);
		assert_false(t.cpus[3].stopped);
		/* In idle it does, and registers. */
		ilb_tick_idle_enter(&t.tick, 3);
		assert_int_equal(stop(&t, 3, 5), 1);
		assert_true(registered(&t, 3));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_coincide_unless_skewed),
		cmocka_unit_test(an_idle_stop_registers_and_leaving_does_not),
		cmocka_unit_test(a_near_timer_keeps_the_tick),
		cmocka_unit_test(what_is_pending_keeps_the_tick),
		cmocka_unit_test(without_idle_states_a_whole_tick_passes),
		cmocka_unit_test(a_tick_while_busy_is_no_idle_tick),
		cmocka_unit_test(each_pass_needs_a_tick_of_its_own),
		cmocka_unit_test(governors_decide),
		cmocka_unit_test(a_governor_does_not_restart),
		cmocka_unit_test(the_timekeeper_of_nohz_full_never_stops),
		cmocka_unit_test(a_full_cpu_stays_registered_while_busy),
		cmocka_unit_test(a_full_cpu_is_lost_and_the_repair_keeps_it),
		cmocka_unit_test(a_lost_cpu_comes_back_with_its_tick),
		cmocka_unit_test(other_cpus_keep_their_tick_while_busy),
		cmocka_unit_test(inverted_dependencies_never_stop),
	};

	return cmocka_run_group_tests_name("tick", tests, NULL, NULL);
}
