/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_MODEL_LB_H
#define ILB_MODEL_LB_H

/* Inside of balancing: one attempt of one CPU in one domain. */

#include "ilb/balance.h"

/** enum ilb_lb_kind - in what an imbalance is counted */
enum ilb_lb_kind {
	ILB_LB_LOAD,
	ILB_LB_UTIL,
	ILB_LB_TASK,
	ILB_LB_MISFIT,
	ILB_LB_LLC,		/* tasks that prefer the destination's cache */
};

/**
 * struct ilb_lb - the attempt
 * @allowed: active CPUs, less those found to have pinned tasks only
 * @dst, @src: to, from
 * @idle: of @dst
 * @kind, @imbalance: how much should move
 * @all_pinned: no task was allowed on @dst
 * @some_pinned: one was not
 * @dst_pinned: but is on @new_dst, which is of the same group
 * @looked_at: tasks so far; at most @look_at
 * @active: the stopper asks
 */
struct ilb_lb {
	struct ilb_balance *balance;
	struct ilb_sched_domain *sd;
	unsigned long *allowed;
	unsigned int dst, src;
	enum ilb_idle_type idle;
	enum ilb_lb_kind kind;
	int64_t imbalance;
	int all_pinned, some_pinned, dst_pinned;
	unsigned int new_dst;
	unsigned int looked_at, look_at;
	int active;
};

static inline const struct ilb_behaviour *
ilb_lb_behaviour(const struct ilb_balance *b)
{
	return b->setup.nohz->setup.behaviour;
}

static inline const struct ilb_topology *
ilb_lb_topology(const struct ilb_balance *b)
{
	return b->setup.nohz->setup.topology;
}

static inline struct ilb_nohz_cpu *ilb_lb_queue(const struct ilb_balance *b,
						unsigned int cpu)
{
	return &b->setup.nohz->setup.cpus[cpu];
}

static inline int ilb_lb_is_idle(const struct ilb_balance *b, unsigned int cpu)
{
	return ilb_mask_test(b->setup.nohz->setup.idle, cpu);
}

/** ilb_lb_llc() - what the CPUs of @cpu's cache share, or NULL */
static inline struct ilb_llc *ilb_lb_llc(const struct ilb_balance *b,
					 unsigned int cpu)
{
	const struct ilb_sched_domain *sd =
		ilb_domains_llc(b->setup.domains, cpu);

	return sd ? &b->setup.llcs[sd->span->cpus[0]] : NULL;
}

/** ilb_lb_core_idle() - are all threads of its core but @cpu idle? */
int ilb_lb_core_idle(const struct ilb_balance *b, unsigned int cpu);

/** ilb_lb_reduced() - has @cpu lost capacity to others than fair tasks? */
int ilb_lb_reduced(const struct ilb_balance *b, unsigned int cpu,
		   unsigned int pct);

/** ilb_lb_greater() - is capacity @a larger than @b by more than 5 %? */
int ilb_lb_greater(unsigned long a, unsigned long b);

/** ilb_lb_better() - is @a a better place than @b by asym packing? */
int ilb_lb_better(const struct ilb_balance *balance,
		  const struct ilb_sched_domain *sd, unsigned int a,
		  unsigned int b);

/** ilb_lb_full_capacity() - of @cpu when nothing takes any */
unsigned int ilb_lb_full_capacity(const struct ilb_balance *b,
				  unsigned int cpu);

/** ilb_lb_busiest_group() - to take from, filling kind and imbalance; NULL */
struct ilb_span *ilb_lb_busiest_group(struct ilb_lb *lb);

/** ilb_lb_run() - sched_balance_rq(); *go_on = 0: not designated here */
unsigned int ilb_lb_run(struct ilb_balance *b, unsigned int dst,
			struct ilb_sched_domain *sd, enum ilb_idle_type idle,
			int *go_on);

/** ilb_lb_interval() - jiffies between attempts in @sd */
uint64_t ilb_lb_interval(const struct ilb_balance *b,
			 const struct ilb_sched_domain *sd, int busy);

/** ilb_lb_decay() - of the cost, if it is time; 1: it was */
int ilb_lb_decay(const struct ilb_balance *b, struct ilb_sched_domain *sd);

/** ilb_lb_refresh() - @cpu's averages, from whatever pass */
void ilb_lb_refresh(struct ilb_balance *b, unsigned int cpu);

#endif
