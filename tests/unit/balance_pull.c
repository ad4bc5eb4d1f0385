// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one attempt moves, and what it leaves behind. 2 nodes x 4 cores x 2
 * threads, HZ=1000; the attempt is of CPU 0 unless said.
 */

#include "model_machine.h"

#define NOW	1000U

static struct world *small(const char *kernel)
{
	return world_new(machine_new(kernel, 16, 2, 8, 8), 1000);
}

/* Only level @n of @cpu is due. */
static struct ilb_sched_domain *attempt(struct world *w, unsigned int cpu,
					unsigned int n)
{
	struct ilb_sched_domain *sd;

	for (sd = w->m->domains.base[cpu]; sd; sd = sd->parent)
		sd->last_balance = w->ns / 1000000;
	sd = world_level(w, cpu, n);
	sd->last_balance = 0;
	w->queue[cpu].idle_balance = !w->queue[cpu].nr_running;
	ilb_balance_softirq(&w->balance, cpu);
	return sd;
}

static unsigned int on_cpu(const struct world *w, unsigned int cpu)
{
	return w->queue[cpu].nr_running;
}

static void add_tasks(struct world *w, unsigned int cpu, unsigned int nr)
{
	while (nr--)
		world_add(w, cpu);
}

/* Core: 2 tasks against none, halved: one moves. */
static void a_sibling_takes_half(void **state)
{
	struct world *w = small("linux-7.3");
	struct ilb_sched_domain *sd;

	(void)state;
	add_tasks(w, 1, 2);
	sd = attempt(w, 0, 0);
	assert_int_equal(on_cpu(w, 0), 1);
	assert_int_equal(on_cpu(w, 1), 1);
	assert_int_equal(sd->counts[ILB_IDLE_IDLE].gained, 1);
	assert_int_equal(sd->counts[ILB_IDLE_IDLE].imb_task, 1);
	assert_int_equal(sd->counts[ILB_IDLE_IDLE].failed, 0);
	assert_int_equal(sd->counts[ILB_IDLE_IDLE].balanced, 0);
	assert_int_equal(sd->balance_interval, 2);
	world_free(w);
}

/* One task each is even; nobody moves a core's only task. */
static void one_task_each_is_balanced(void **state)
{
	struct world *w = small("linux-7.3");
	struct ilb_sched_domain *sd;

	(void)state;
	add_tasks(w, 3, 1);
	sd = attempt(w, 0, 1);
	assert_int_equal(sd->counts[ILB_IDLE_IDLE].balanced, 1);
	assert_int_equal(on_cpu(w, 3), 1);
	world_free(w);
}

/* Both threads of core 1 are busy, core 0 is idle: 1 should go, none waits. */
static void busy_cores_give_to_idle_ones(void **state)
{
	unsigned int row;
	struct world *w;

	(void)state;
	for (row = 0; row < 4; row++) {
		w = small(ilb_behaviours[row].name);
		add_tasks(w, 2, 1);
		add_tasks(w, 3, 1);
		attempt(w, 0, 1);
		assert_int_equal(world_level(w, 0, 1)->
				 counts[ILB_IDLE_IDLE].failed, 1);
		assert_int_equal(world_level(w, 0, 1)->nr_balance_failed, 1);
		world_free(w);
	}
}

/* A pinned task is left, the next one goes. */
static void pinned_tasks_stay(void **state)
{
	static unsigned long only_1[1] = { 0x02 };
	struct world *w = small("linux-7.3");
	struct world_task *pinned, *running;

	(void)state;
	pinned = world_add(w, 1);
	running = world_add(w, 1);
	add_tasks(w, 1, 1);
	pinned->lb.allowed = only_1;
	pinned->lb.running = 0;
	running->lb.running = 1;
	attempt(w, 0, 0);
	assert_int_equal(pinned->cpu, 1);
	assert_int_equal(running->cpu, 1);
	assert_int_equal(on_cpu(w, 0), 1);
	assert_true(world_level(w, 0, 0)->span->groups[0].flags == 0);
	world_free(w);
}

/* All are: that is balanced, and the interval grows up to 512 ms. */
static void all_pinned_backs_off(void **state)
{
	static unsigned long only_1[1] = { 0x02 };
	struct world *w = small("linux-7.3");
	struct ilb_sched_domain *sd = world_level(w, 0, 0);
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++)
		world_add(w, 1)->lb.allowed = only_1;
	attempt(w, 0, 0);
	assert_int_equal(sd->counts[ILB_IDLE_IDLE].balanced, 1);
	assert_int_equal(sd->counts[ILB_IDLE_IDLE].failed, 0);
	assert_int_equal(sd->balance_interval, 4);
	/* The node learns that affinity is in the way. */
	assert_true(sd->parent->local->imbalanced);
	for (i = 0; i < 20; i++)
		attempt(w, 0, 0);
	assert_int_equal(sd->balance_interval, 512);
	assert_int_equal(sd->nr_balance_failed, 0);
	world_free(w);
}

/* Tasks may run on 2 but not on 0: the busy core's group takes them. */
static void another_cpu_of_the_group_takes_it(void **state)
{
	static unsigned long mask[1] = { 0xff04 };
	struct world *w = small("linux-7.3");
	unsigned int i;

	(void)state;
	for (i = 0; i < 40; i++)
		world_add(w, 8 + i % 8)->lb.allowed = mask;
	attempt(w, 0, 2);
	assert_int_equal(on_cpu(w, 0), 0);
	assert_true(on_cpu(w, 2) > 0);
	world_free(w);
}

/* Hot tasks of another core stay, until 2 attempts of the node failed. */
static void hot_tasks_wait(void **state)
{
	struct world *w = small("linux-7.3");
	struct ilb_sched_domain *sd = world_level(w, 0, 1);
	unsigned int i;

	(void)state;
	add_tasks(w, 2, 3);
	for (i = 0; i < 3; i++)
		w->task[i].lb.ran_ns = w->ns - 499999;
	attempt(w, 0, 1);
	assert_int_equal(sd->counts[ILB_IDLE_IDLE].failed, 1);
	attempt(w, 0, 1);
	assert_int_equal(sd->nr_balance_failed, 2);
	assert_int_equal(on_cpu(w, 0), 0);
	attempt(w, 0, 1);
	assert_int_equal(on_cpu(w, 0), 1);
	assert_int_equal(sd->nr_balance_failed, 0);
	world_free(w);
}

static void cold_tasks_and_siblings_do_not(void **state)
{
	struct world *w = small("linux-7.3");
	unsigned int i;

	(void)state;
	add_tasks(w, 2, 3);
	for (i = 0; i < 3; i++)
		w->task[i].lb.ran_ns = w->ns - 500000;
	attempt(w, 0, 1);
	assert_int_equal(on_cpu(w, 0), 1);
	world_free(w);
	w = small("linux-7.3");
	add_tasks(w, 1, 2);
	for (i = 0; i < 2; i++)
		w->task[i].lb.ran_ns = w->ns;
	attempt(w, 0, 0);
	assert_int_equal(on_cpu(w, 0), 1);
	world_free(w);
}

struct stay {
	int bound, delayed, ineligible, degrades;
	unsigned int after;	/* failures after which it goes */
};

static void some_tasks_may_not_move(void **state)
{
	static const struct stay stays[] = {
		{ 1, 0, 0, 0, 99 },
		{ 0, 1, 0, 0, 99 },
		{ 0, 0, 1, 0, 1 },
		{ 0, 0, 0, 1, 2 },
		{ 0, 0, 0, 0, 0 },
	};
	struct world *w;
	unsigned int i, j, failed;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(stays); i++) {
		for (failed = 0; failed < 4; failed++) {
			w = small("linux-7.3");
			add_tasks(w, 2, 3);
			for (j = 0; j < 3; j++) {
				w->task[j].lb.bound = stays[i].bound;
				w->task[j].lb.delayed = stays[i].delayed;
				w->task[j].lb.ineligible = stays[i].ineligible;
				w->task[j].lb.degrades = stays[i].degrades;
			}
			world_level(w, 0, 1)->nr_balance_failed = failed;
			attempt(w, 0, 1);
			if (on_cpu(w, 0) != (failed >= stays[i].after))
				fail_msg("case %u, %u failures", i, failed);
			world_free(w);
		}
	}
}

/* NUMA: more than 2 + 2 failures, then the stopper of the source is asked. */
static void failures_lead_to_a_push(void **state)
{
	struct world *w = small("linux-7.3");
	struct ilb_sched_domain *sd = world_level(w, 0, 2);
	unsigned int i;

	(void)state;
	for (i = 8; i < 16; i++)
		add_tasks(w, i, 1);
	for (i = 0; i < 4; i++)
		attempt(w, 0, 2);
	assert_int_equal(sd->nr_balance_failed, 4);
	assert_int_equal(w->pushes, 0);
	attempt(w, 0, 2);
	assert_int_equal(w->pushes, 1);
	assert_int_equal(w->push_from, 8);
	assert_int_equal(w->push_to, 0);
	/* Under way: not again. */
	attempt(w, 0, 2);
	assert_int_equal(w->pushes, 1);
	assert_int_equal(ilb_balance_push(&w->balance, 8), 1);
	assert_int_equal(on_cpu(w, 0), 1);
	assert_int_equal(on_cpu(w, 8), 0);
	assert_int_equal(sd->alb_count, 1);
	assert_int_equal(sd->alb_pushed, 1);
	assert_int_equal(sd->nr_balance_failed, 0);
	assert_int_equal(ilb_balance_push(&w->balance, 8), 0);
	world_free(w);
}

static void a_pinned_current_task_is_not_pushed(void **state)
{
	static unsigned long node_1[1] = { 0xff00 };
	struct world *w = small("linux-7.3");
	struct ilb_sched_domain *sd = world_level(w, 0, 2);
	unsigned int i;

	(void)state;
	for (i = 8; i < 16; i++)
		world_add(w, i)->lb.allowed = node_1;
	sd->nr_balance_failed = 9;
	attempt(w, 0, 2);
	assert_int_equal(w->pushes, 0);
	assert_int_equal(sd->counts[ILB_IDLE_IDLE].failed, 1);
	assert_int_equal(sd->balance_interval, 32);
	/* As if all tasks were: guests of all kernels do so, too. */
	for (i = 0; i < 6; i++)
		attempt(w, 0, 2);
	assert_int_equal(sd->balance_interval, 512);
	world_free(w);
}

/* An idle CPU leaves one; a busy one takes what the load says. */
static void the_last_task_stays(void **state)
{
	struct world *w = small("linux-7.3");

	(void)state;
	add_tasks(w, 1, 2);
	w->task[0].lb.running = 0;
	attempt(w, 0, 0);
	assert_int_equal(on_cpu(w, 1), 1);
	world_free(w);
}

/* Newly idle, dice or not, of base level only. */
static void newidle(struct world *w, unsigned int cpu)
{
	ilb_mask_clear(w->idle, cpu);
	ilb_balance_newidle(&w->balance, cpu);
	world_sync(w, cpu);
}

static void certain(struct world *w, unsigned int cpu)
{
	struct ilb_sched_domain *sd;

	for (sd = w->m->domains.base[cpu]; sd; sd = sd->parent)
		sd->newidle_ratio = 1024;
}

static void newidle_wants_an_overloaded_machine(void **state)
{
	struct world *w = small("linux-7.3");

	(void)state;
	add_tasks(w, 1, 3);
	certain(w, 0);
	newidle(w, 0);
	assert_int_equal(on_cpu(w, 0), 0);
	w->balance.overloaded = 1;
	newidle(w, 0);
	assert_int_equal(on_cpu(w, 0), 1);
	assert_int_equal(world_level(w, 0, 0)->counts[ILB_IDLE_NEWLY].lb, 1);
	assert_int_equal(world_level(w, 0, 1)->counts[ILB_IDLE_NEWLY].lb, 0);
	assert_int_equal(w->cpu[0].idle_stamp, 0);
	world_free(w);
}

/* It is known at once, not only when somebody looks at all CPUs. */
static void a_second_task_overloads_the_machine(void **state)
{
	struct world *w = small("linux-6.1");

	(void)state;
	certain(w, 0);
	add_tasks(w, 1, 1);
	ilb_balance_queued(&w->balance, 1);
	newidle(w, 0);
	assert_int_equal(world_level(w, 0, 0)->counts[ILB_IDLE_NEWLY].lb, 0);
	add_tasks(w, 1, 1);
	ilb_balance_queued(&w->balance, 1);
	newidle(w, 0);
	assert_int_equal(world_level(w, 0, 0)->counts[ILB_IDLE_NEWLY].lb, 1);
	world_free(w);
}

/* Three against none would be one; five: two, but one is enough. */
static void newidle_takes_one_if_preemptible(void **state)
{
	struct world *w;
	int preemptible;

	(void)state;
	for (preemptible = 0; preemptible < 2; preemptible++) {
		w = small("linux-7.3");
		w->balance.setup.preemptible = preemptible;
		add_tasks(w, 1, 5);
		certain(w, 0);
		w->balance.overloaded = 1;
		newidle(w, 0);
		assert_int_equal(on_cpu(w, 0), preemptible ? 1 : 2);
		world_free(w);
	}
}

static void newidle_stops_where_it_costs_too_much(void **state)
{
	struct world *w = small("linux-7.3");
	unsigned int n;

	(void)state;
	certain(w, 0);
	w->balance.overloaded = 1;
	w->cpu[0].avg_idle = 50000;
	world_level(w, 0, 2)->max_newidle_cost = 50001;
	newidle(w, 0);
	for (n = 0; n < 3; n++)
		assert_int_equal(world_level(w, 0, n)->
				 counts[ILB_IDLE_NEWLY].lb, n < 2);
	world_level(w, 0, 0)->max_newidle_cost = 50001;
	newidle(w, 0);
	assert_int_equal(world_level(w, 0, 0)->counts[ILB_IDLE_NEWLY].lb, 1);
	world_free(w);
}

static void newidle_zeroes_failures_only(void **state)
{
	struct world *w = small("linux-7.3");
	struct ilb_sched_domain *sd = world_level(w, 0, 0);

	(void)state;
	certain(w, 0);
	w->balance.overloaded = 1;
	sd->nr_balance_failed = 3;
	newidle(w, 0);
	assert_int_equal(sd->nr_balance_failed, 0);
	assert_int_equal(sd->balance_interval, 2);
	world_free(w);
}

static void newidle_pulls_the_next_balance_forward(void **state)
{
	struct world *w = small("linux-7.3");

	(void)state;
	w->queue[0].next_balance = NOW + 500;
	newidle(w, 0);
	assert_int_equal(w->queue[0].next_balance, NOW + 2);
	world_level(w, 0, 0)->last_balance = NOW + 5000;
	w->queue[0].next_balance = NOW + 5000;
	newidle(w, 0);
	assert_int_equal(w->queue[0].next_balance, NOW + 1000);
	world_free(w);
}

static void newidle_asks_for_a_refresh(void **state)
{
	struct world *w = small("linux-7.3");

	(void)state;
	world_register(w, 5);
	w->queue[5].has_blocked = 1;
	w->nohz.has_blocked = 1;
	w->nohz.next_blocked = NOW + 1;
	newidle(w, 0);
	assert_int_equal(w->queue[0].pending, 0);
	w->nohz.next_blocked = NOW;
	w->cpu[0].avg_idle = 499999;
	newidle(w, 0);
	assert_int_equal(w->queue[0].pending, 0);
	w->cpu[0].avg_idle = 500000;
	newidle(w, 0);
	assert_int_equal(w->queue[0].pending, ILB_KICK_NEWILB);
	w->refreshed = 0;
	ilb_balance_idle_enter(&w->balance, 0);
	assert_int_equal(w->refreshed, 1);
	assert_int_equal(w->queue[0].pending, 0);
	assert_false(w->nohz.has_blocked);
	/* A kick under way does it all: no own refresh. */
	w->queue[0].pending = ILB_KICK_NEWILB | ILB_KICK_STATS;
	ilb_balance_idle_enter(&w->balance, 0);
	assert_int_equal(w->refreshed, 1);
	assert_int_equal(w->queue[0].pending, ILB_KICK_STATS);
	world_free(w);
}

/* Of 1024 calls how many try? Without success, by the ratio's chance. */
static unsigned int lucky(struct world *w, unsigned int ratio,
			  uint64_t since_ns)
{
	struct ilb_sched_domain *sd = world_level(w, 0, 0);
	unsigned int i;

	sd->counts[ILB_IDLE_NEWLY].lb = 0;
	for (i = 0; i < 4096; i++) {
		sd->newidle_ratio = ratio;
		sd->newidle_call = 0;
		sd->newidle_ns = w->ns - since_ns;
		w->cpu[0].avg_idle = 1000000;
		w->balance.overloaded = 1;
		newidle(w, 0);
	}
	return (unsigned int)sd->counts[ILB_IDLE_NEWLY].lb;
}

/*
 * newidle-rate: 1024 of 1024 needs no dice in 7.3 and always passed before;
 * 2^22 ns are worth 1 of 1024, so that 512 * 2^22 make half of a quarter
 * three quarters.
 */
static void luck_has_its_odds(void **state)
{
	unsigned int row, rate;
	struct world *w;

	(void)state;
	for (row = 0; row < 4; row++) {
		for (rate = 0; rate < 2; rate++) {
			w = small(ilb_behaviours[row].name);
			if (rate != (row >= LINUX_7_3))
				world_set(w, rate ? "newidle-rate=yes" :
					     "newidle-rate=no");
			assert_in_range(lucky(w, 512, 0), 1948, 2148);
			assert_int_equal(lucky(w, 1024, 0), 4096);
			w->ns += 10ULL << 31;
			if (rate)
				assert_in_range(lucky(w, 256, 512ULL << 22),
						2972, 3172);
			else
				assert_in_range(lucky(w, 256, 512ULL << 22),
						924, 1124);
			world_free(w);
		}
	}
}

static void success_is_remembered(void **state)
{
	struct world *w = small("linux-6.12");
	struct ilb_sched_domain *sd = world_level(w, 0, 0);

	(void)state;
	w->balance.overloaded = 1;
	sd->newidle_ratio = 1023;
	sd->newidle_call = 1022;
	sd->newidle_success = 300;
	add_tasks(w, 1, 2);
	newidle(w, 0);
	assert_int_equal(on_cpu(w, 0), 1);
	/* It stood for 1024 / 1024 calls. */
	assert_int_equal(sd->newidle_call, 1023);
	assert_int_equal(sd->newidle_success, 301);
	w->task[0].cpu = w->task[1].cpu = 1;
	w->task[0].lb.running = 0;
	world_sync(w, 0);
	world_sync(w, 1);
	newidle(w, 0);
	assert_int_equal(sd->newidle_ratio, 302);
	assert_int_equal(sd->newidle_call, 512);
	assert_int_equal(sd->newidle_success, 151);
	world_free(w);
}

/* With a ratio of 255 one of 4 calls tries: a success counts for 4. */
static void success_counts_for_calls_that_were_not(void **state)
{
	struct world *w = small("linux-6.12");
	struct ilb_sched_domain *sd = world_level(w, 0, 0);

	(void)state;
	add_tasks(w, 1, 2);
	sd->newidle_success = 100;
	while (!sd->counts[ILB_IDLE_NEWLY].lb) {
		sd->newidle_call = 0;
		sd->newidle_ratio = 255;
		w->cpu[0].avg_idle = 1000000;
		w->balance.overloaded = 1;
		newidle(w, 0);
	}
	assert_int_equal(on_cpu(w, 0), 1);
	assert_int_equal(sd->newidle_success, 104);
	world_free(w);
}

/* One look, which meets the current task. */
static void an_attempt_looks_at_so_many_tasks(void **state)
{
	struct world *w;
	unsigned int looks;

	(void)state;
	for (looks = 1; looks < 3; looks++) {
		w = small("linux-7.3");
		w->balance.setup.nr_migrate = looks;
		add_tasks(w, 1, 5);
		attempt(w, 0, 0);
		assert_int_equal(on_cpu(w, 0), looks - 1);
		world_free(w);
	}
}

static void balance_forgets_about_affinity(void **state)
{
	struct world *w = small("linux-7.3");

	(void)state;
	world_level(w, 0, 1)->local->imbalanced = 1;
	attempt(w, 0, 0);
	assert_false(world_level(w, 0, 1)->local->imbalanced);
	world_free(w);
}

/* An eighth of the way; not above twice the largest cost. */
static void idle_time_is_averaged(void **state)
{
	struct world *w = small("linux-7.3");

	(void)state;
	w->cpu[0].avg_idle = 800000;
	w->cpu[0].idle_stamp = w->ns;
	w->ns += 80000;
	ilb_balance_woken(&w->balance, 0);
	assert_int_equal(w->cpu[0].avg_idle, 710000);
	assert_int_equal(w->cpu[0].idle_stamp, 0);
	ilb_balance_woken(&w->balance, 0);
	assert_int_equal(w->cpu[0].avg_idle, 710000);
	w->cpu[0].idle_stamp = w->ns;
	w->ns += 80000000;
	ilb_balance_woken(&w->balance, 0);
	assert_int_equal(w->cpu[0].avg_idle, 1000000);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sibling_takes_half),
		cmocka_unit_test(one_task_each_is_balanced),
		cmocka_unit_test(busy_cores_give_to_idle_ones),
		cmocka_unit_test(pinned_tasks_stay),
		cmocka_unit_test(all_pinned_backs_off),
		cmocka_unit_test(another_cpu_of_the_group_takes_it),
		cmocka_unit_test(hot_tasks_wait),
		cmocka_unit_test(cold_tasks_and_siblings_do_not),
		cmocka_unit_test(some_tasks_may_not_move),
		cmocka_unit_test(failures_lead_to_a_push),
		cmocka_unit_test(a_pinned_current_task_is_not_pushed),
		cmocka_unit_test(the_last_task_stays),
		cmocka_unit_test(newidle_wants_an_overloaded_machine),
		cmocka_unit_test(a_second_task_overloads_the_machine),
		cmocka_unit_test(newidle_takes_one_if_preemptible),
		cmocka_unit_test(newidle_stops_where_it_costs_too_much),
		cmocka_unit_test(newidle_zeroes_failures_only),
		cmocka_unit_test(newidle_pulls_the_next_balance_forward),
		cmocka_unit_test(newidle_asks_for_a_refresh),
		cmocka_unit_test(luck_has_its_odds),
		cmocka_unit_test(success_is_remembered),
		cmocka_unit_test(success_counts_for_calls_that_were_not),
		cmocka_unit_test(an_attempt_looks_at_so_many_tasks),
		cmocka_unit_test(balance_forgets_about_affinity),
		cmocka_unit_test(idle_time_is_averaged),
	};

	return cmocka_run_group_tests_name("balance_pull", tests, NULL, NULL);
}
