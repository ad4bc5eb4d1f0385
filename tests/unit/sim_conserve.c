// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checker of work conservation: what it counts, to the nanosecond, and
 * that a machine whose balancer fails is told from one whose does not.
 */

#include <string.h>

#include "sim/sim.h"
#include "tests/unit/test.h"

#define TICK	4000000ULL
#define NR	4

/* CPU 0 runs a task and has @waiting; 1 to 3 idle since 0, if they are there */
struct still {
	struct ilb_sim sim;
	struct ilb_sim_cpu cpu[NR];
	struct ilb_sim_task task[2];
	struct ilb_sim_task_plan plan[2];
	struct ilb_sched_domain domain;
	struct ilb_sched_domain *base[NR];
	unsigned long idle, queued, ready, allowed;
};

static void set_up(struct still *s)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->sim.nr_cpus = NR;
	s->sim.period = TICK;
	s->sim.cpu = s->cpu;
	s->sim.idle = &s->idle;
	s->sim.queued = &s->queued;
	s->sim.ready = &s->ready;
	s->sim.domains.base = s->base;
	for (i = 0; i < NR; i++)
		s->base[i] = &s->domain;
	s->idle = 0xe;
	s->queued = 0x1;
	for (i = 0; i < 2; i++)
		s->task[i].plan = &s->plan[i];
	s->cpu[0].head = &s->task[0];
}

/* What is lost when @since_ns is the last check's time and @now is now. */
static uint64_t lost(struct still *s, uint64_t since, uint64_t now)
{
	s->sim.now = now;
	memset(&s->sim.result, 0, sizeof(s->sim.result));
	ilb_sim_conserve(&s->sim, since);
	assert_int_equal(s->sim.result.violations,
			 s->sim.result.wasted_ns != 0);
	assert_true(s->sim.result.violation_ns ==
		    (s->sim.result.violations ? now : 0));
	return s->sim.result.wasted_ns;
}

static void a_tick_is_no_offence(void **state)
{
	struct still s;

	(void)state;
	set_up(&s);
	assert_true(lost(&s, 0, TICK) == 0);
	assert_true(lost(&s, 0, TICK + 1) == TICK + 1);
	/* Each of the two has to last for longer than that. */
	s.task[0].since_ns = 1;
	assert_true(lost(&s, TICK, TICK + 1) == 0);
	assert_true(lost(&s, TICK, TICK + 2) == 2);
	s.cpu[1].idle_since = s.cpu[2].idle_since = s.cpu[3].idle_since = 5;
	assert_true(lost(&s, TICK, TICK + 5) == 0);
	s.cpu[2].idle_since = 4;
	assert_true(lost(&s, TICK, TICK + 5) == 5);
}

static void who_is_not_idle_or_does_not_wait_is_not_asked(void **state)
{
	struct still s;

	(void)state;
	set_up(&s);
	s.idle = 0;
	assert_true(lost(&s, 0, 3 * TICK) == 0);
	set_up(&s);
	s.queued = 0;
	s.cpu[0].head = NULL;
	s.cpu[0].current = &s.task[0];
	assert_true(lost(&s, 0, 3 * TICK) == 0);
}

static void affinity_is_respected(void **state)
{
	struct still s;

	(void)state;
	set_up(&s);
	s.plan[0].allowed = &s.allowed;
	s.allowed = 0x1;
	assert_true(lost(&s, 0, 3 * TICK) == 0);
	s.allowed = 0x9;
	assert_true(lost(&s, 0, 3 * TICK) == 3 * TICK);
	/* 3 is busy now, or idle for too short a time. */
	s.idle = 0x6;
	assert_true(lost(&s, 0, 3 * TICK) == 0);
	s.idle = 0xe;
	s.cpu[3].idle_since = 2 * TICK;
	assert_true(lost(&s, 0, 3 * TICK) == 0);
}

static void cpus_without_domains_are_not_the_balancers(void **state)
{
	struct still s;

	(void)state;
	set_up(&s);
	s.plan[0].allowed = &s.allowed;
	s.allowed = 0x9;
	s.base[3] = NULL;
	assert_true(lost(&s, 0, 3 * TICK) == 0);
	s.allowed = 0xd;
	assert_true(lost(&s, 0, 3 * TICK) == 3 * TICK);
}

/* No more than there are CPUs, no more than there are tasks. */
static void what_is_lost_has_two_limits(void **state)
{
	struct still s;

	(void)state;
	set_up(&s);
	s.task[0].next = &s.task[1];
	assert_true(lost(&s, 2 * TICK, 3 * TICK) == 2 * TICK);
	s.idle = 0x2;
	assert_true(lost(&s, 2 * TICK, 3 * TICK) == TICK);
	s.idle = 0xe;
	s.task[1].since_ns = 3 * TICK;
	assert_true(lost(&s, 2 * TICK, 3 * TICK) == TICK);
}

/* ---- whole machines ---- */

#define HEAD(kernel)							\
	"{\"machine\": \"pack:2 [numa] l3:1 core:4 pu:2\", "		\
	"\"kernel\": {\"release\": \"linux-6.12\"" kernel "}, "		\
	"\"duration\": \"2s\", \"workload\": {\"tasks\": {"

/*
 * Node 1 is busy when the 12 jobs start, so that they start on node 0 and wake
 * there ever after: only balancing gets 4 of them, or more, to node 1.
 */
#define STACKED	"\"start\": {\"instance\": 8, \"cpus\": \"8-15\", "	\
	"\"pin\": \"cpu\", \"loop\": 1, \"run\": \"40ms\"}, "		\
	"\"busy\": {\"cpus\": [0], \"run\": \"1s\"}, "			\
	"\"job\": {\"instance\": 12, \"delay\": \"9ms\", "		\
	"\"jitter_ppm\": 100000, \"run\": \"30ms\", "			\
	"\"timer\": {\"period\": \"97ms\"}}}}}"

static struct ilb_sim_result run(const char *text)
{
	struct ilb_scenario *s = NULL;
	struct ilb_sim_plan *plan = NULL;
	struct ilb_sim_result result = { .violations = 0 };
	struct ilb_error error = { "" };

	if (ilb_scenario_parse(&s, "run.json", text, NULL, &error) ||
	    ilb_scenario_plan(s, NULL, &plan, &error) ||
	    ilb_sim_run(plan, NULL, NULL, &result, &error))
		fail_msg("%s", error.text);
	ilb_sim_plan_free(plan);
	ilb_scenario_free(s);
	return result;
}

/* With one housekeeping CPU, and that busy, nobody may be the ILB. */
static void a_machine_without_ilb_is_found_out(void **state)
{
	struct ilb_sim_result with, without;

	(void)state;
	with = run(HEAD("") STACKED);
	without = run(HEAD(", \"housekeeping\": \"0\"") STACKED);
	assert_int_not_equal(with.kicks, 0);
	assert_int_equal(without.passes, 0);
	assert_int_not_equal(without.no_target, 0);
	assert_true(without.wasted_ns > 0);
	assert_true(without.wasted_ns > 3 * with.wasted_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tick_is_no_offence),
		cmocka_unit_test(who_is_not_idle_or_does_not_wait_is_not_asked),
		cmocka_unit_test(affinity_is_respected),
		cmocka_unit_test(cpus_without_domains_are_not_the_balancers),
		cmocka_unit_test(what_is_lost_has_two_limits),
		cmocka_unit_test(a_machine_without_ilb_is_found_out),
	};

	return cmocka_run_group_tests_name("sim_conserve", tests, NULL, NULL);
}
