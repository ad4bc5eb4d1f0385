// SPDX-License-Identifier: GPL-2.0-only
/*
 * One attempt to balance: who may, from which CPU, which tasks move, and what
 * the outcome means for the next one, as in Linux 6.1 to 7.3 (since 6.9
 * sched_balance_rq(), before load_balance()).
 *
 * DEVIATION(scan-order): a task that may not move keeps its place in the
 * host's order; the kernel puts it to the other end.
 */

#include "core/env.h"
#include "model/lb.h"

#define PINNED_INTERVAL	512U

enum outcome {
	SEARCHED,	/* busiest is known */
	BALANCED,
	ALL_PINNED,
	ONE_PINNED,
};

static struct ilb_lb_counts *counts(const struct ilb_lb *lb)
{
	return &lb->sd->counts[lb->idle];
}

static int get_task(const struct ilb_lb *lb, unsigned int index,
		    struct ilb_lb_task *task)
{
	const struct ilb_balance_setup *setup = &lb->balance->setup;

	return setup->host->task(setup->context, lb->src, index, task);
}

static int allows(const struct ilb_lb_task *task, unsigned int cpu)
{
	return !task->allowed || ilb_mask_test(task->allowed, cpu);
}

/* Who may */

/* Is dst the CPU of its group that balances? */
static int is_chosen(const struct ilb_lb *lb)
{
	const struct ilb_balance *b = lb->balance;
	const struct ilb_span *group = lb->sd->local;
	unsigned int i, cpu, fallback = ILB_CPU_NONE;
	int cores = ilb_lb_behaviour(b)->designate_idle_core &&
		    ilb_lb_topology(b)->smt &&
		    !(lb->sd->span->flags & ILB_SD_SHARE_CAPACITY);

	for (i = 0; i < group->weight; i++) {
		cpu = group->cpus[i];
		if (!ilb_mask_test(lb->allowed, cpu) ||
		    !ilb_lb_is_idle(b, cpu))
			continue;
		if (!cores || ilb_lb_core_idle(b, cpu))
			return cpu == lb->dst;
		if (fallback == ILB_CPU_NONE)
			fallback = cpu;
	}
	if (fallback == ILB_CPU_NONE)
		fallback = group->cpus[0];
	return fallback == lb->dst;
}

static int should_balance(const struct ilb_lb *lb)
{
	const struct ilb_balance *b = lb->balance;

	if (!ilb_mask_test(lb->allowed, lb->dst))
		return 0;
	if (lb->idle == ILB_IDLE_NEWLY)
		return !ilb_lb_queue(b, lb->dst)->nr_running &&
		       !b->setup.cpus[lb->dst].wakeup_pending;
	return is_chosen(lb);
}

/* From which CPU */

/* By how much is @cpu the one to take from? 0: it is not. */
static uint64_t weigh(const struct ilb_lb *lb, unsigned int cpu)
{
	const struct ilb_balance *b = lb->balance;
	const struct ilb_nohz_cpu *queue = ilb_lb_queue(b, cpu);
	const struct ilb_balance_cpu *c = &b->setup.cpus[cpu];

	switch (lb->kind) {
	case ILB_LB_LOAD:
		if (queue->nr_runnable == 1 && (int64_t)c->load > lb->imbalance
		    && !ilb_lb_reduced(b, cpu, lb->sd->span->imbalance_pct))
			return 0;
		return c->load;
	case ILB_LB_UTIL:
		return queue->nr_runnable > 1 ? c->util : 0;
	case ILB_LB_MISFIT:
		return queue->misfit_load;
	case ILB_LB_TASK:
	case ILB_LB_LLC:
	default:
		return queue->nr_runnable;
	}
}

/* Its only task is where it should be. */
static int leave_alone(const struct ilb_lb *lb, unsigned int cpu)
{
	const struct ilb_balance *b = lb->balance;
	const struct ilb_nohz_cpu *queue = ilb_lb_queue(b, cpu);

	if (queue->nr_runnable != 1)
		return 0;
	if (ilb_lb_better(b, lb->sd, cpu, lb->dst))
		return 1;
	if (!(lb->sd->span->flags & ILB_SD_ASYM_CAPACITY) ||
	    ilb_lb_greater(ilb_lb_queue(b, lb->dst)->capacity,
			   queue->capacity))
		return 0;
	return !ilb_lb_behaviour(b)->misfit_idle_core ||
	       !ilb_lb_topology(b)->smt || ilb_lb_core_idle(b, cpu);
}

static unsigned int busiest_cpu(const struct ilb_lb *lb,
				const struct ilb_span *group)
{
	uint64_t weight, most = 0, capacity, busiest_capacity = 1;
	unsigned int i, cpu, busiest = ILB_CPU_NONE;

	for (i = 0; i < group->weight; i++) {
		cpu = group->cpus[i];
		if (!ilb_mask_test(lb->allowed, cpu) ||
		    !ilb_lb_queue(lb->balance, cpu)->nr_runnable ||
		    leave_alone(lb, cpu))
			continue;
		/* Loads are compared per capacity, without a division. */
		capacity = lb->kind == ILB_LB_LOAD ?
			   ilb_lb_queue(lb->balance, cpu)->capacity : 1;
		weight = weigh(lb, cpu);
		if (weight * busiest_capacity <= most * capacity)
			continue;
		most = weight;
		busiest_capacity = capacity;
		busiest = cpu;
	}
	return busiest;
}

/* Which tasks */

/* Somebody else of dst's group who could take it. */
static unsigned int other_dst(const struct ilb_lb *lb,
			      const struct ilb_lb_task *task)
{
	const struct ilb_span *group = lb->sd->local;
	unsigned int i;

	for (i = 0; i < group->weight; i++)
		if (ilb_mask_test(lb->allowed, group->cpus[i]) &&
		    allows(task, group->cpus[i]))
			return group->cpus[i];
	return ILB_CPU_NONE;
}

static void note_pinned(struct ilb_lb *lb, const struct ilb_lb_task *task)
{
	unsigned int cpu;

	lb->some_pinned = 1;
	if (lb->idle == ILB_IDLE_NEWLY || lb->dst_pinned || lb->active)
		return;
	cpu = other_dst(lb, task);
	if (cpu == ILB_CPU_NONE)
		return;
	lb->dst_pinned = 1;
	lb->new_dst = cpu;
}

static int is_hot(const struct ilb_lb *lb, const struct ilb_lb_task *task)
{
	const struct ilb_balance_setup *setup = &lb->balance->setup;

	if (lb->sd->span->flags & ILB_SD_SHARE_CAPACITY)
		return 0;
	return setup->host->clock(setup->context) - task->ran_ns <
	       setup->migration_cost_ns;
}

static int may_move(struct ilb_lb *lb, const struct ilb_lb_task *task)
{
	unsigned int failed = lb->sd->nr_balance_failed;

	if (task->bound || (task->delayed && lb->kind != ILB_LB_LOAD))
		return 0;
	if (task->ineligible && !failed)
		return 0;
	if (!allows(task, lb->dst)) {
		note_pinned(lb, task);
		return 0;
	}
	lb->all_pinned = 0;
	if (lb->active)
		return 1;
	if (task->running)
		return 0;
	return (!task->degrades && !is_hot(lb, task)) ||
	       failed > lb->sd->span->cache_nice_tries;
}

/* The more attempts failed, the larger a task may be. */
static int too_large(const struct ilb_lb *lb, unsigned long size)
{
	unsigned int failed = lb->sd->nr_balance_failed;

	return (int64_t)(size >> (failed < 63 ? failed : 63)) > lb->imbalance;
}

static int fits(const struct ilb_lb *lb, unsigned long util)
{
	return (uint64_t)util * 1280 <
	       (uint64_t)ilb_lb_queue(lb->balance, lb->src)->capacity * 1024;
}

/* Does the imbalance want this task? If so it shrinks. */
static int takes(struct ilb_lb *lb, const struct ilb_lb_task *task)
{
	unsigned long load = task->load ? task->load : 1;
	const unsigned int *llc = ilb_lb_topology(lb->balance)->llc;

	switch (lb->kind) {
	case ILB_LB_LOAD:
		if (too_large(lb, load))
			return 0;
		lb->imbalance -= (int64_t)load;
		return 1;
	case ILB_LB_UTIL:
		if (too_large(lb, task->util))
			return 0;
		lb->imbalance -= (int64_t)task->util;
		return 1;
	case ILB_LB_MISFIT:
		if (fits(lb, task->util))
			return 0;
		lb->imbalance = 0;
		return 1;
	case ILB_LB_LLC:
		if (task->preferred_llc != llc[lb->dst])
			return 0;
		lb->imbalance--;
		return 1;
	case ILB_LB_TASK:
	default:
		lb->imbalance--;
		return 1;
	}
}

static void move(struct ilb_lb *lb, const struct ilb_lb_task *task)
{
	const struct ilb_balance_setup *setup = &lb->balance->setup;

	setup->host->move(setup->context, task->id, lb->src, lb->dst);
}

static unsigned int move_tasks(struct ilb_lb *lb)
{
	const struct ilb_balance *b = lb->balance;
	unsigned int index = 0, moved = 0;
	struct ilb_lb_task task;

	if (ilb_lb_queue(b, lb->src)->nr_running <= 1) {
		lb->all_pinned = 0;
		return 0;
	}
	while (lb->imbalance > 0 && get_task(lb, index, &task)) {
		/* An idle CPU never takes the last task. */
		if (lb->idle != ILB_IDLE_BUSY &&
		    ilb_lb_queue(b, lb->src)->nr_running <= 1)
			break;
		if (++lb->looked_at > lb->look_at)
			break;
		if (!may_move(lb, &task) || !takes(lb, &task)) {
			index++;
			continue;
		}
		move(lb, &task);
		moved++;
		if (lb->idle == ILB_IDLE_NEWLY && b->setup.preemptible)
			break;
	}
	counts(lb)->gained += moved;
	return moved;
}

/* Also to other CPUs of the group, if tasks may not run on this one. */
static unsigned int move_to_group(struct ilb_lb *lb)
{
	unsigned int nr = ilb_lb_queue(lb->balance, lb->src)->nr_running;
	unsigned int moved;

	/* Until a task is seen that may; a lone one is not looked at here. */
	lb->all_pinned = 1;
	if (nr <= 1)
		return 0;
	lb->looked_at = 0;
	lb->look_at = lb->balance->setup.nr_migrate;
	if (nr < lb->look_at)
		lb->look_at = nr;
	moved = move_tasks(lb);
	while (lb->dst_pinned && lb->imbalance > 0) {
		ilb_mask_clear(lb->allowed, lb->dst);
		lb->dst = lb->new_dst;
		lb->dst_pinned = 0;
		lb->looked_at = 0;
		moved += move_tasks(lb);
	}
	return moved;
}

/* What follows */

/* Is another CPU balancing, and should be the only one? (7.x) */
static int locked_out(const struct ilb_lb *lb)
{
	const struct ilb_balance *b = lb->balance;

	return (lb->sd->span->flags & ILB_SD_SERIALIZE) &&
	       ilb_lb_behaviour(b)->serialize == ILB_SERIALIZE_DESIGNATED &&
	       b->serializing != ILB_CPU_NONE;
}

static void count_imbalance(const struct ilb_lb *lb)
{
	struct ilb_lb_counts *c = counts(lb);
	uint64_t amount = (uint64_t)lb->imbalance;

	switch (lb->kind) {
	case ILB_LB_LOAD:
		c->imb_load += amount;
		break;
	case ILB_LB_UTIL:
		c->imb_util += amount;
		break;
	case ILB_LB_MISFIT:
		c->imb_misfit += amount;
		break;
	case ILB_LB_TASK:
		c->imb_task += amount;
		break;
	case ILB_LB_LLC:
	default:
		break;
	}
}

static enum outcome search(struct ilb_lb *lb, int *go_on)
{
	struct ilb_span *group;

	if (!should_balance(lb)) {
		*go_on = 0;
		return BALANCED;
	}
	if (locked_out(lb))
		return BALANCED;
	group = ilb_lb_busiest_group(lb);
	if (!group)
		return BALANCED;
	lb->src = busiest_cpu(lb, group);
	if (lb->src == ILB_CPU_NONE)
		return BALANCED;
	count_imbalance(lb);
	return SEARCHED;
}

static int others_allowed(const struct ilb_lb *lb)
{
	const struct ilb_span *span = lb->sd->span, *group;
	unsigned int i, j;

	for (i = 0; i < span->nr_groups; i++) {
		group = &span->groups[i];
		for (j = 0; group != lb->sd->local && j < group->weight; j++)
			if (ilb_mask_test(lb->allowed, group->cpus[j]))
				return 1;
	}
	return 0;
}

static int is_lone(const struct ilb_lb *lb)
{
	return ilb_lb_queue(lb->balance, lb->src)->nr_running <= 1;
}

/* Until tasks move, or it is clear that none will. */
static enum outcome attempt(struct ilb_lb *lb, unsigned int *moved, int *go_on)
{
	enum outcome outcome;

	for (;;) {
		outcome = search(lb, go_on);
		if (outcome != SEARCHED)
			return outcome;
		*moved += move_to_group(lb);
		if (lb->sd->parent && lb->some_pinned && lb->imbalance > 0)
			lb->sd->parent->local->imbalanced = 1;
		if (!lb->all_pinned || is_lone(lb))
			return SEARCHED;
		/* Nothing there may run here: try without that CPU. */
		ilb_mask_clear(lb->allowed, lb->src);
		if (!others_allowed(lb))
			return ALL_PINNED;
	}
}

static int wants_push(const struct ilb_lb *lb)
{
	const struct ilb_balance *b = lb->balance;
	const struct ilb_sched_domain *sd = lb->sd;
	const struct ilb_nohz_cpu *src = ilb_lb_queue(b, lb->src);
	unsigned int pct = sd->span->imbalance_pct;
	int idles = lb->idle != ILB_IDLE_BUSY;

	if (idles && ilb_lb_better(b, sd, lb->dst, lb->src))
		return 1;
	if (lb->kind == ILB_LB_TASK &&
	    sd->nr_balance_failed > sd->span->cache_nice_tries + 2)
		return 1;
	if (idles && src->nr_runnable == 1 && ilb_lb_reduced(b, lb->src, pct) &&
	    (uint64_t)src->capacity * pct <
	    (uint64_t)ilb_lb_queue(b, lb->dst)->capacity * 100)
		return 1;
	return lb->kind == ILB_LB_MISFIT || lb->kind == ILB_LB_LLC;
}

static int current_may_move(const struct ilb_lb *lb)
{
	struct ilb_lb_task task;
	unsigned int i;

	for (i = 0; get_task(lb, i, &task); i++)
		if (task.running)
			return !task.bound && allows(&task, lb->dst);
	return 0;
}

/* Have the task that runs there pushed; *@pushed = 1 if it will be. */
static enum outcome push(struct ilb_lb *lb, int *pushed)
{
	const struct ilb_balance_setup *setup = &lb->balance->setup;
	struct ilb_balance_cpu *c = &setup->cpus[lb->src];

	if (!current_may_move(lb))
		return ONE_PINNED;
	lb->all_pinned = 0;
	if (c->push_to != ILB_CPU_NONE)
		return SEARCHED;
	c->push_to = lb->dst;
	setup->host->push(setup->context, lb->src, lb->dst);
	*pushed = 1;
	return SEARCHED;
}

/* Found something, and moved it or not. */
static enum outcome finish(struct ilb_lb *lb, unsigned int moved)
{
	struct ilb_sched_domain *sd = lb->sd;
	int pushed = 0;

	if (moved) {
		sd->nr_balance_failed = 0;
	} else {
		counts(lb)->failed++;
		if (lb->idle != ILB_IDLE_NEWLY && lb->kind != ILB_LB_MISFIT &&
		    lb->kind != ILB_LB_LLC)
			sd->nr_balance_failed++;
		if (wants_push(lb) && push(lb, &pushed) == ONE_PINNED)
			return ONE_PINNED;
	}
	if (!pushed || wants_push(lb))
		sd->balance_interval = sd->min_interval;
	return SEARCHED;
}

/* Nothing to do: look less often. */
static void relax(struct ilb_lb *lb, enum outcome outcome)
{
	struct ilb_sched_domain *sd = lb->sd;

	if (outcome == BALANCED && sd->parent && !lb->all_pinned)
		sd->parent->local->imbalanced = 0;
	if (outcome != ONE_PINNED) {
		counts(lb)->balanced++;
		sd->nr_balance_failed = 0;
	}
	if (lb->idle == ILB_IDLE_NEWLY || lb->kind == ILB_LB_MISFIT)
		return;
	if (sd->balance_interval < sd->max_interval ||
	    (lb->all_pinned && sd->balance_interval < PINNED_INTERVAL))
		sd->balance_interval *= 2;
}

unsigned int ilb_lb_run(struct ilb_balance *b, unsigned int dst,
			struct ilb_sched_domain *sd, enum ilb_idle_type idle,
			int *go_on)
{
	const struct ilb_nohz_setup *setup = &b->setup.nohz->setup;
	const struct ilb_topology *t = setup->topology;
	struct ilb_lb lb = {
		.balance = b,
		.sd = sd,
		.allowed = b->setup.scratch,
		.dst = dst,
		.src = ILB_CPU_NONE,
		.idle = idle,
	};
	enum outcome outcome;
	unsigned int moved = 0;

	counts(&lb)->lb++;
	b->attempts++;
	ilb_mask_copy(lb.allowed, setup->active ? setup->active : t->online,
		      t->nr_cpus);
	outcome = attempt(&lb, &moved, go_on);
	if (outcome == SEARCHED)
		outcome = finish(&lb, moved);
	if (outcome == SEARCHED)
		return moved;
	relax(&lb, outcome);
	return 0;
}

/* Active balancing: the stopper runs, so that nothing else does. */

static struct ilb_sched_domain *common_domain(const struct ilb_balance *b,
					      unsigned int from,
					      unsigned int to)
{
	struct ilb_sched_domain *sd, *other;

	for (sd = b->setup.domains->base[to]; sd; sd = sd->parent)
		for (other = b->setup.domains->base[from]; other;
		     other = other->parent)
			if (sd->span == other->span)
				return sd;
	return NULL;
}

static int push_one(struct ilb_lb *lb)
{
	struct ilb_lb_task task;
	unsigned int i;

	for (i = 0; get_task(lb, i, &task); i++) {
		if (!may_move(lb, &task))
			continue;
		move(lb, &task);
		return 1;
	}
	return 0;
}

int ilb_balance_push(struct ilb_balance *balance, unsigned int from)
{
	struct ilb_balance_cpu *c = &balance->setup.cpus[from];
	struct ilb_lb lb = {
		.balance = balance,
		.dst = c->push_to,
		.src = from,
		.idle = ILB_IDLE_IDLE,
		.active = 1,
	};
	int moved;

	if (c->push_to == ILB_CPU_NONE)
		return 0;
	c->push_to = ILB_CPU_NONE;
	lb.sd = common_domain(balance, from, lb.dst);
	if (!lb.sd || !ilb_lb_queue(balance, from)->nr_running)
		return 0;
	lb.sd->alb_count++;
	moved = push_one(&lb);
	if (moved) {
		lb.sd->alb_pushed++;
		lb.sd->nr_balance_failed = 0;
	} else {
		lb.sd->alb_failed++;
	}
	return moved;
}
