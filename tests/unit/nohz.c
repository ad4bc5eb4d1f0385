// SPDX-License-Identifier: GPL-2.0-only
/* The registry and the kick, gate by gate. */

#include "ilb/error.h"
#include "nohz.h"

/* Registry */

static void both_times_start_now(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	assert_int_equal(h.nohz.next_balance, NOW);
	assert_int_equal(h.nohz.next_blocked, NOW);
}

static void entering_registers_once(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-6.12");
	assert_int_equal(h.nr_busy[0], 4);
	assert_int_equal(h.nr_busy[4], 4);
	ilb_nohz_enter_idle(&h.nohz, 5);
	assert_int_equal(h.mask[0], 0x20);
	assert_int_equal(h.nohz.nr_cpus, 1);
	assert_int_equal(h.nr_busy[0], 4);
	assert_int_equal(h.nr_busy[4], 3);
	assert_true(h.nohz.needs_update && h.nohz.has_blocked);
	assert_true(h.cpus[5].has_blocked && h.cpus[5].tick_stopped);
	/* Again: only its blocked load is news. */
	h.nohz.needs_update = h.nohz.has_blocked = h.cpus[5].has_blocked = 0;
	ilb_nohz_enter_idle(&h.nohz, 5);
	assert_int_equal(h.nohz.nr_cpus, 1);
	assert_int_equal(h.nr_busy[4], 3);
	assert_false(h.nohz.needs_update);
	assert_true(h.nohz.has_blocked && h.cpus[5].has_blocked);
}

static void leaving_undoes_entering(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-6.12");
	settle(&h, 0xf0);
	assert_int_equal(h.nr_busy[4], 0);
	ilb_nohz_exit_idle(&h.nohz, 5);
	assert_int_equal(h.mask[0], 0xd0);
	assert_int_equal(h.nohz.nr_cpus, 3);
	assert_int_equal(h.nr_busy[4], 1);
	ilb_nohz_exit_idle(&h.nohz, 5);
	assert_int_equal(h.nohz.nr_cpus, 3);
	assert_int_equal(h.nr_busy[4], 1);
}

static void isolated_and_inactive_cpus_do_not_register(void **state)
{
	struct host h;

	(void)state;
	describe(&h);
	h.isolated[0] = 0x80;
	h.active[0] = 0xbf;
	h.setup.isolated = h.isolated;
	h.setup.active = h.active;
	start(&h, &ilb_behaviours[3]);
	assert_int_equal(h.nr_busy[4], 3);
	ilb_nohz_enter_idle(&h.nohz, 6);
	assert_false(h.cpus[6].has_blocked);
	ilb_nohz_enter_idle(&h.nohz, 7);
	assert_true(h.cpus[7].has_blocked);
	assert_int_equal(h.mask[0], 0);
	assert_int_equal(h.nr_busy[4], 3);
	assert_false(h.nohz.has_blocked || h.nohz.needs_update);
	run_tasks(&h, 6, 2);
	run_tasks(&h, 7, 2);
	settle(&h, 0x01);
	h.cpus[6].next_balance = h.cpus[7].next_balance = NOW;
	assert_int_equal(ilb_nohz_tick(&h.nohz, 6, NOW, &h.kick), 0);
	expect_tick(&h, 6, ILB_GATE_NO_DOMAIN, 0);
	assert_int_equal(ilb_nohz_tick(&h.nohz, 7, NOW, &h.kick), 0);
	expect_tick(&h, 7, ILB_GATE_NO_DOMAIN, 0);
}

/* mail C: a nohz_full CPU that stopped its tick while it was busy. */
static void a_tick_stopped_before_is_not_registered(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	ilb_nohz_stop_tick(&h.nohz, 3, 0, 0);
	assert_int_equal(h.mask[0], 0);
	ilb_nohz_stop_tick(&h.nohz, 3, 1, 1);
	assert_int_equal(h.mask[0], 0);
	ilb_nohz_stop_tick(&h.nohz, 3, 0, 1);
	assert_int_equal(h.mask[0], 8);
}

static void check_registry(const struct host *h)
{
	unsigned int cpu, in = 0, busy[NR] = { 0 };

	for (cpu = 0; cpu < NR; cpu++) {
		assert_int_equal(h->mask[0] >> cpu & 1,
				 h->cpus[cpu].tick_stopped);
		in += (unsigned int)h->cpus[cpu].tick_stopped;
		busy[cpu & ~3U] += !h->cpus[cpu].tick_stopped;
	}
	assert_int_equal(h->nohz.nr_cpus, in);
	assert_memory_equal(h->nr_busy, busy, sizeof(busy));
}

static void counters_follow_the_mask(void **state)
{
	struct host h;
	unsigned int i, dice = 1, cpu;

	(void)state;
	boot(&h, "linux-6.1");
	for (i = 0; i < 20000; i++) {
		dice = dice * 1103515245U + 12345U;
		cpu = dice >> 16 & 7;
		switch (dice >> 20 & 3) {
		case 0:
			run_tasks(&h, cpu, dice >> 24 & 1);
			break;
		case 1:
			ilb_nohz_enter_idle(&h.nohz, cpu);
			break;
		case 2:
			ilb_nohz_exit_idle(&h.nohz, cpu);
			break;
		default:
			ilb_nohz_tick(&h.nohz, cpu, NOW, &h.kick);
		}
		check_registry(&h);
	}
}

/* Gates */

static void an_idle_tick_does_not_kick_and_stays(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	settle(&h, 0x3c);
	h.cpus[2].nr_running = 2;
	expect_tick(&h, 2, ILB_GATE_IDLE, 0);
	assert_int_equal(h.mask[0], 0x3c);
	assert_true(h.cpus[2].idle_balance);
}

static void a_busy_tick_leaves_the_mask(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	settle(&h, 0x3c);
	h.nohz.next_balance = NOW + 1;
	run_tasks(&h, 2, 1);
	expect_tick(&h, 2, ILB_GATE_TIME, 0);
	assert_int_equal(h.mask[0], 0x38);
	assert_false(h.cpus[2].idle_balance);
}

static void an_empty_mask_drops_every_flag(void **state)
{
	unsigned int row;
	struct host h;

	(void)state;
	for (row = 0; row < 4; row++) {
		boot(&h, ilb_behaviours[row].name);
		settle(&h, 0x04);
		run_tasks(&h, 2, 2);
		h.nohz.has_blocked = h.nohz.needs_update = 1;
		h.nohz.next_blocked = NOW - 1;
		expect_tick(&h, 2, ILB_GATE_EMPTY, 0);
	}
}

static void before_its_time_only_stats_and_next(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	settle(&h, 0xf0);
	run_tasks(&h, 2, 2);
	h.nohz.next_balance = NOW + 1;
	expect_tick(&h, 2, ILB_GATE_TIME, 0);
	h.nohz.needs_update = 1;
	expect_tick(&h, 2, ILB_GATE_TIME, ILB_KICK_NEXT);
	h.nohz.has_blocked = 1;
	h.nohz.next_blocked = NOW;
	expect_tick(&h, 2, ILB_GATE_TIME, ILB_KICK_NEXT);
	h.nohz.next_blocked = NOW - 1;
	expect_tick(&h, 2, ILB_GATE_TIME, ILB_KICK_NEXT | ILB_KICK_STATS);
	assert_int_equal(h.nohz.next_balance, NOW + 1);
	h.nohz.needs_update = 0;
	expect_tick(&h, 2, ILB_GATE_TIME, ILB_KICK_STATS);
}

static void two_tasks_kick(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	settle(&h, 0xf0);
	run_tasks(&h, 2, 2);
	h.nohz.needs_update = 1;
	expect_tick(&h, 2, ILB_GATE_RUNNING, BALANCE | ILB_KICK_NEXT);
	assert_int_equal(h.nohz.next_balance, NOW + 1);
}

/* One CPU of each LLC is busy, so that the LLC gate has no reason. */
static void quiet(struct host *h, const char *kernel)
{
	boot(h, kernel);
	settle(h, 0xfe);
	run_tasks(h, 0, 1);
}

static void no_reason_still_refreshes(void **state)
{
	struct host h;

	(void)state;
	quiet(&h, "linux-7.3");
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
	assert_int_equal(h.kick.choice.cpu, ILB_CPU_NONE);
	h.nohz.has_blocked = h.nohz.needs_update = 1;
	h.nohz.next_blocked = NOW - 1;
	expect_tick(&h, 0, ILB_GATE_NO_REASON, ILB_KICK_STATS | ILB_KICK_NEXT);
	assert_int_equal(h.nohz.next_balance, NOW);
}

static void lost_capacity_kicks(void **state)
{
	struct host h;

	(void)state;
	/* 110 % where the base domain is a core: 931 * 110 > 1024 * 100. */
	quiet(&h, "linux-7.3");
	h.cpus[0].capacity = 931;
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
	h.cpus[0].capacity = 930;
	expect_tick(&h, 0, ILB_GATE_CAPACITY, BALANCE);
	h.nohz.next_balance = NOW;
	h.cpus[0].nr_runnable = 0;
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
	/* A small CPU is measured by its own capacity. */
	h.cpus[0].nr_runnable = 1;
	h.capacity[0] = 930;
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
	/* 100 * 110 is not below 110 * 100. */
	h.capacity[0] = 110;
	h.cpus[0].capacity = 100;
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
	h.cpus[0].capacity = 99;
	expect_tick(&h, 0, ILB_GATE_CAPACITY, BALANCE);
}

/* 117 % where it is not: 876 * 117 > 1024 * 100. */
static void lost_capacity_without_smt_domain(void **state)
{
	struct host h;

	(void)state;
	describe(&h);
	h.isolated[0] = 0x02;
	h.setup.isolated = h.isolated;
	h.setup.topology = &h.topology;
	start(&h, &ilb_behaviours[3]);
	settle(&h, 0xfc);
	run_tasks(&h, 0, 1);
	h.cpus[0].capacity = 876;
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
	h.cpus[0].capacity = 875;
	expect_tick(&h, 0, ILB_GATE_CAPACITY, BALANCE);
}

static void a_better_cpu_by_packing_kicks(void **state)
{
	struct host h;

	(void)state;
	quiet(&h, "linux-7.3");
	prefer_cpu_6(&h);
	expect_tick(&h, 0, ILB_GATE_PACKING, BALANCE);
	/* Not if it is in another domain, or if this CPU is in none. */
	h.nohz.next_balance = NOW;
	h.packing[6] = 6;
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
	h.packing[6] = h.packing[0] = ILB_CPU_NONE;
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
	/* Not if it is not registered, or no better. */
	h.packing[6] = h.packing[0] = 0;
	ilb_nohz_exit_idle(&h.nohz, 6);
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
	settle(&h, 0x40);
	h.priority[0] = 2;
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
}

static void packing_within_cores_needs_no_idle_core(void **state)
{
	struct host h;

	(void)state;
	quiet(&h, "linux-7.3");
	prefer_cpu_6(&h);
	run_tasks(&h, 7, 1);
	expect_tick(&h, 0, ILB_GATE_NO_REASON, 0);
	h.nohz.setup.packing_smt = 1;
	expect_tick(&h, 0, ILB_GATE_PACKING, BALANCE);
}

static void unequal_cpus_kick_for_a_misfit_only(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	settle(&h, 0xf0);
	run_tasks(&h, 0, 1);
	h.nohz.setup.unequal = h.unequal;
	expect_tick(&h, 0, ILB_GATE_LLC, BALANCE);
	h.nohz.next_balance = NOW;
	h.unequal[0] = 1;
	expect_tick(&h, 0, ILB_GATE_NO_MISFIT, 0);
	h.cpus[0].misfit_load = 1;
	expect_tick(&h, 0, ILB_GATE_MISFIT, BALANCE);
}

static void two_busy_cpus_of_an_llc_kick(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	settle(&h, 0xec);
	run_tasks(&h, 0, 1);
	run_tasks(&h, 4, 1);
	expect_tick(&h, 4, ILB_GATE_NO_REASON, 0);
	expect_tick(&h, 0, ILB_GATE_LLC, BALANCE);
}

/* Every reason at once: the gates come in the kernel's order. */
static void gates_have_an_order(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	settle(&h, 0xf0);
	prefer_cpu_6(&h);
	h.nohz.setup.unequal = h.unequal;
	h.unequal[0] = 1;
	h.cpus[0].misfit_load = 1;
	run_tasks(&h, 0, 2);
	h.cpus[0].capacity = 1;
	expect_tick(&h, 0, ILB_GATE_RUNNING, BALANCE);
	h.nohz.next_balance = NOW;
	run_tasks(&h, 0, 1);
	expect_tick(&h, 0, ILB_GATE_CAPACITY, BALANCE);
	h.nohz.next_balance = NOW;
	h.cpus[0].capacity = 1024;
	expect_tick(&h, 0, ILB_GATE_PACKING, BALANCE);
	h.nohz.next_balance = NOW;
	h.nohz.setup.packing = NULL;
	expect_tick(&h, 0, ILB_GATE_MISFIT, BALANCE);
	h.nohz.next_balance = NOW;
	h.nohz.setup.unequal = NULL;
	expect_tick(&h, 0, ILB_GATE_LLC, BALANCE);
	h.nohz.next_balance = NOW + 1;
	expect_tick(&h, 0, ILB_GATE_TIME, 0);
	ilb_nohz_tick(&h.nohz, 0, NOW + 1, &h.kick);
	assert_int_equal(h.kick.gate, ILB_GATE_LLC);
}

static void own_domains_are_due_or_not(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	assert_int_equal(ilb_nohz_tick(&h.nohz, 0, NOW, &h.kick), 0);
	assert_int_equal(ilb_nohz_tick(&h.nohz, 0, NOW + 1, &h.kick), 1);
}

/* Kicks */

static void no_target_still_waits_a_jiffy(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	settle(&h, 0xf0);
	h.housekeeping[0] = 0x0f;
	run_tasks(&h, 0, 2);
	expect_tick(&h, 0, ILB_GATE_RUNNING, BALANCE);
	assert_int_equal(h.kick.choice.cpu, ILB_CPU_NONE);
	assert_false(h.kick.sent);
	assert_int_equal(h.nohz.next_balance, NOW + 1);
	expect_tick(&h, 0, ILB_GATE_TIME, 0);
}

static void a_second_kick_rides_along(void **state)
{
	unsigned int row;
	uint64_t atomics;
	struct host h;

	(void)state;
	for (row = 0; row < 4; row++) {
		boot(&h, ilb_behaviours[row].name);
		settle(&h, 0xf0);
		run_tasks(&h, 0, 2);
		h.nohz.next_balance = NOW + 1;
		h.nohz.needs_update = h.nohz.has_blocked = 1;
		h.nohz.next_blocked = NOW - 1;
		expect_tick(&h, 0, ILB_GATE_TIME,
			    ILB_KICK_NEXT | ILB_KICK_STATS);
		assert_int_equal(h.kick.choice.cpu, 4);
		assert_true(h.kick.sent);
		h.nohz.next_balance = NOW;
		h.nohz.needs_update = h.nohz.has_blocked = 0;
		expect_tick(&h, 0, ILB_GATE_RUNNING, BALANCE);
		assert_int_equal(h.kick.choice.cpu, 4);
		assert_false(h.kick.sent);
		atomics = h.nohz.atomics;
		assert_int_equal(ilb_nohz_kicked(&h.nohz, 4),
				 BALANCE | ILB_KICK_NEXT);
		assert_int_equal(h.nohz.atomics, atomics + 1);
		assert_int_equal(h.cpus[4].run, BALANCE | ILB_KICK_NEXT);
		assert_int_equal(h.cpus[4].pending, 0);
		assert_true(h.cpus[4].idle_balance);
		h.nohz.next_balance = NOW;
		expect_tick(&h, 0, ILB_GATE_RUNNING, BALANCE);
		assert_true(h.kick.sent);
	}
}

static void a_target_that_woke_drops_the_kick(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	settle(&h, 0xf0);
	run_tasks(&h, 0, 2);
	expect_tick(&h, 0, ILB_GATE_RUNNING, BALANCE);
	run_tasks(&h, 4, 1);
	assert_int_equal(ilb_nohz_kicked(&h.nohz, 4), 0);
	assert_int_equal(h.cpus[4].pending, 0);
	assert_int_equal(h.cpus[4].run, 0);
	assert_false(h.cpus[4].idle_balance);
}

/* Its own NEWILB flag does not keep a CPU from being kicked. */
static void newilb_is_not_a_kick_under_way(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	settle(&h, 0xf0);
	run_tasks(&h, 0, 2);
	h.cpus[4].pending = ILB_KICK_NEWILB;
	expect_tick(&h, 0, ILB_GATE_RUNNING, BALANCE);
	assert_true(h.kick.sent);
	assert_int_equal(ilb_nohz_kicked(&h.nohz, 4),
			 BALANCE | ILB_KICK_NEWILB);
}

static void an_unknown_target_rule_is_refused(void **state)
{
	struct host h;

	(void)state;
	boot(&h, "linux-7.3");
	h.behaviour.target = "best";
	assert_int_equal(ilb_nohz_init(&h.nohz, &h.setup, NOW),
			 -ILB_ERR_NOENT);
	h.behaviour.target = "wrap:8";
	assert_int_equal(ilb_nohz_init(&h.nohz, &h.setup, NOW),
			 -ILB_ERR_RANGE);
}

static void gates_have_names(void **state)
{
	unsigned int gate;

	(void)state;
	for (gate = 0; gate <= ILB_GATE_NO_REASON; gate++)
		assert_string_not_equal(ilb_gate_name((enum ilb_gate)gate),
					"unknown");
	assert_string_equal(ilb_gate_name(ILB_GATE_LLC), "llc");
	assert_string_equal(ilb_gate_name((enum ilb_gate)gate), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_times_start_now),
		cmocka_unit_test(entering_registers_once),
		cmocka_unit_test(leaving_undoes_entering),
		cmocka_unit_test(isolated_and_inactive_cpus_do_not_register),
		cmocka_unit_test(a_tick_stopped_before_is_not_registered),
		cmocka_unit_test(counters_follow_the_mask),
		cmocka_unit_test(an_idle_tick_does_not_kick_and_stays),
		cmocka_unit_test(a_busy_tick_leaves_the_mask),
		cmocka_unit_test(an_empty_mask_drops_every_flag),
		cmocka_unit_test(before_its_time_only_stats_and_next),
		cmocka_unit_test(two_tasks_kick),
		cmocka_unit_test(no_reason_still_refreshes),
		cmocka_unit_test(lost_capacity_kicks),
		cmocka_unit_test(lost_capacity_without_smt_domain),
		cmocka_unit_test(a_better_cpu_by_packing_kicks),
		cmocka_unit_test(packing_within_cores_needs_no_idle_core),
		cmocka_unit_test(unequal_cpus_kick_for_a_misfit_only),
		cmocka_unit_test(two_busy_cpus_of_an_llc_kick),
		cmocka_unit_test(gates_have_an_order),
		cmocka_unit_test(own_domains_are_due_or_not),
		cmocka_unit_test(no_target_still_waits_a_jiffy),
		cmocka_unit_test(a_second_kick_rides_along),
		cmocka_unit_test(a_target_that_woke_drops_the_kick),
		cmocka_unit_test(newilb_is_not_a_kick_under_way),
		cmocka_unit_test(an_unknown_target_rule_is_refused),
		cmocka_unit_test(gates_have_names),
	};

	return cmocka_run_group_tests_name("nohz", tests, NULL, NULL);
}
