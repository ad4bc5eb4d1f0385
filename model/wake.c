// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement of waking tasks, as in Linux 6.1 to 7.3 (wake_affine(),
 * select_idle_sibling() and what it calls).
 *
 * DEVIATION(cluster-wake): CPUs of the same cluster are not looked at first.
 */

#include "core/env.h"
#include "ilb/wake.h"
#include "model/lb.h"

#define NONE	ILB_CPU_NONE

/* One search. */
struct search {
	struct ilb_balance *b;
	const struct ilb_wakeup *w;
	const struct ilb_sched_domain *sd;
	unsigned long *left;	/* CPUs that scan_cores() may still choose */
	unsigned int target;
	int unequal;		/* capacities differ here */
};

static int allowed(const struct ilb_wakeup *w, unsigned int cpu)
{
	return !w->allowed || ilb_mask_test(w->allowed, cpu);
}

/* Nothing runs there that would keep the task waiting. */
static int is_free(const struct ilb_balance *b, unsigned int cpu)
{
	return ilb_lb_is_idle(b, cpu) || b->setup.cpus[cpu].only_idle;
}

static int share_cache(const struct ilb_balance *b, unsigned int x,
		       unsigned int y)
{
	const struct ilb_sched_domain *a, *c;

	if (x == y)
		return 1;
	a = ilb_domains_llc(b->setup.domains, x);
	c = ilb_domains_llc(b->setup.domains, y);
	return a && c && a->span == c->span;
}

/* The waker's CPU or the task's */

/* Which of the two is idle, or soon will be? */
static unsigned int affine_idle(const struct ilb_balance *b,
				const struct ilb_wakeup *w)
{
	/* An interrupt woke it: do not move it for that alone. */
	if (ilb_lb_is_idle(b, w->waker) && share_cache(b, w->waker, w->prev))
		return ilb_lb_is_idle(b, w->prev) ? w->prev : w->waker;
	if (w->sync && ilb_lb_queue(b, w->waker)->nr_running == 1)
		return w->waker;
	return ilb_lb_is_idle(b, w->prev) ? w->prev : NONE;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Loads per capacity, with half of the domain's tolerance for the waker. */
static unsigned int affine_weight(const struct ilb_balance *b,
				  const struct ilb_wakeup *w, unsigned int pct)
{
	uint64_t here = b->setup.cpus[w->waker].load;
	uint64_t there = less(b->setup.cpus[w->prev].load, w->load);

	if (w->sync) {
		if (w->waker_load > here)
			return w->waker;
		here -= w->waker_load;
	}
	here += w->load;
	here *= 100ULL * ilb_lb_queue(b, w->prev)->capacity;
	there *= 100 + (pct - 100) / 2;
	there *= ilb_lb_queue(b, w->waker)->capacity;
	/* Equal is enough if the waker goes to sleep. */
	if (w->sync)
		there++;
	return here < there ? w->waker : w->prev;
}

static const struct ilb_sched_domain *
affine_domain(const struct ilb_balance *b, const struct ilb_wakeup *w)
{
	const struct ilb_sched_domain *sd, *other;

	for (sd = b->setup.domains->base[w->waker]; sd; sd = sd->parent) {
		if (!(sd->span->flags & ILB_SD_WAKE_AFFINE))
			continue;
		for (other = b->setup.domains->base[w->prev]; other;
		     other = other->parent)
			if (other->span == sd->span)
				return sd;
	}
	return NULL;
}

unsigned int ilb_wake_affine(const struct ilb_balance *balance,
			     const struct ilb_wakeup *wakeup)
{
	const struct ilb_sched_domain *sd;
	unsigned int cpu;

	if (wakeup->wide || wakeup->waker == wakeup->prev ||
	    !allowed(wakeup, wakeup->waker))
		return wakeup->prev;
	sd = affine_domain(balance, wakeup);
	if (!sd)
		return wakeup->prev;
	cpu = affine_idle(balance, wakeup);
	if (cpu != NONE)
		return cpu;
	return affine_weight(balance, wakeup, sd->span->imbalance_pct);
}

/* CPUs of equal capacity */

/* Position in the span of its first CPU that is at least @from. */
static unsigned int position(const struct ilb_span *span, unsigned int from)
{
	unsigned int low = 0, high = span->weight, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (span->cpus[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low % span->weight;
}

static void start_search(struct search *s)
{
	const struct ilb_span *span = s->sd->span;
	unsigned int i;

	s->left = s->b->setup.scratch;
	ilb_mask_zero(s->left, ilb_lb_topology(s->b)->nr_cpus);
	for (i = 0; i < span->weight; i++)
		if (allowed(s->w, span->cpus[i]))
			ilb_mask_set(s->left, span->cpus[i]);
}

/*
 * Is all of @cpu's core idle? If not it leaves the search; *@thread is the
 * first idle thread that was seen.
 */
static int core_is_idle(struct search *s, unsigned int cpu,
			unsigned int *thread)
{
	const struct ilb_topology *t = ilb_lb_topology(s->b);
	unsigned int first = t->core[cpu], i = first;
	int idle = 1;

	do {
		if (*thread == NONE && is_free(s->b, i) &&
		    ilb_mask_test(s->left, i))
			*thread = i;
		idle &= ilb_lb_is_idle(s->b, i);
		i = t->sibling[i];
	} while (i != first && (idle || *thread == NONE));
	if (idle)
		return 1;
	i = first;
	do {
		ilb_mask_clear(s->left, i);
		i = t->sibling[i];
	} while (i != first);
	return 0;
}

/* select_idle_smt(): another thread of @cpu's core */
static unsigned int idle_thread(const struct search *s, unsigned int cpu)
{
	const unsigned int *sibling = ilb_lb_topology(s->b)->sibling;
	unsigned int i;

	for (i = sibling[cpu]; i != cpu; i = sibling[i])
		if (allowed(s->w, i) && is_free(s->b, i))
			return i;
	return NONE;
}

/* select_idle_cpu() with the hint: a whole core, else a thread */
static unsigned int scan_cores(struct search *s, struct ilb_llc *llc)
{
	const struct ilb_span *span = s->sd->span;
	unsigned int start = position(span, s->target + 1);
	unsigned int i, cpu, thread = NONE;

	start_search(s);
	for (i = 0; i < span->weight; i++) {
		cpu = span->cpus[(start + i) % span->weight];
		if (!ilb_mask_test(s->left, cpu))
			continue;
		if (core_is_idle(s, cpu, &thread))
			return cpu;
	}
	llc->has_idle_cores = 0;
	return thread;
}

/* The same without: a few CPUs, the fewer the busier the cache is. */
static unsigned int scan_cpus(const struct search *s, unsigned int nr)
{
	const struct ilb_span *span = s->sd->span;
	unsigned int at = position(span, s->target + 1);
	unsigned int i, cpu;

	for (i = 0; i < span->weight; i++) {
		cpu = span->cpus[at];
		if (++at == span->weight)
			at = 0;
		if (!allowed(s->w, cpu))
			continue;
		if (!nr--)
			return NONE;
		if (is_free(s->b, cpu))
			return cpu;
	}
	return NONE;
}

static unsigned int search_cache(struct search *s)
{
	struct ilb_llc *llc = ilb_lb_llc(s->b, s->target);
	int smt = ilb_lb_topology(s->b)->smt;
	unsigned int cpu;

	s->sd = ilb_domains_llc(s->b->setup.domains, s->target);
	if (!s->sd)
		return NONE;
	if (smt && !llc->has_idle_cores &&
	    share_cache(s->b, s->w->prev, s->target)) {
		cpu = idle_thread(s, s->w->prev);
		if (cpu != NONE)
			return cpu;
	}
	/* So busy that looking is in vain. */
	if (!llc->idle_scan)
		return NONE;
	if (smt && llc->has_idle_cores)
		return scan_cores(s, llc);
	return scan_cpus(s, llc->idle_scan);
}

/* CPUs of unequal capacity */

/* 1: fits; -1: but is smaller than was asked for; 0: does not fit */
static int fits(const struct search *s, unsigned int cpu)
{
	uint64_t capacity = ilb_lb_queue(s->b, cpu)->capacity;

	if ((uint64_t)s->w->util * 1280 >= capacity * 1024)
		return 0;
	return s->w->uclamp_min > ilb_lb_full_capacity(s->b, cpu) ? -1 : 1;
}

static int prefers_cores(const struct search *s)
{
	return ilb_lb_behaviour(s->b)->wake_idle_core &&
	       ilb_lb_topology(s->b)->smt;
}

/* May the task go to @cpu at once? */
static int suits(const struct search *s, unsigned int cpu)
{
	if (!is_free(s->b, cpu))
		return 0;
	if (!s->unequal)
		return 1;
	return fits(s, cpu) > 0 &&
	       (!prefers_cores(s) || ilb_lb_core_idle(s->b, cpu));
}

/* An idle CPU that is second best: lower @rank first, then @capacity. */
struct best {
	unsigned int cpu;
	int rank;
	unsigned int capacity;
};

/*
 * On an idle core -4 and -3, beside a busy sibling -2 to 0. A core that is too
 * small is better than a thread that is large enough.
 */
static int rank(int fit, int hint, int idle_core)
{
	if (hint && idle_core)
		return fit - 3;
	if (hint && fit > 0)
		return -2;
	return fit;
}

static void note_best(const struct search *s, struct best *best,
		      unsigned int cpu, int fit, int its_rank)
{
	unsigned int capacity = ilb_lb_queue(s->b, cpu)->capacity;

	/* Who asks for much gets the largest that was built. */
	if (fit < 0)
		capacity = ilb_lb_full_capacity(s->b, cpu);
	if (its_rank > best->rank ||
	    (its_rank == best->rank && capacity <= best->capacity))
		return;
	best->cpu = cpu;
	best->rank = its_rank;
	best->capacity = capacity;
}

/* select_idle_capacity() */
static unsigned int scan_capacity(struct search *s, int limited,
				  unsigned int nr, int hint)
{
	const struct ilb_span *span = s->sd->span;
	unsigned int start = position(span, s->target);
	struct best best = { .cpu = NONE };
	unsigned int i, cpu;
	int fit, core;

	for (i = 0; i < span->weight; i++) {
		cpu = span->cpus[(start + i) % span->weight];
		if (!allowed(s->w, cpu))
			continue;
		if (limited && !nr--)
			break;
		if (!is_free(s->b, cpu))
			continue;
		fit = fits(s, cpu);
		core = !hint || ilb_lb_core_idle(s->b, cpu);
		if (fit > 0 && core)
			return cpu;
		note_best(s, &best, cpu, fit, rank(fit, hint, core));
	}
	return best.cpu;
}

static unsigned int search_capacity(struct search *s)
{
	struct ilb_llc *llc = ilb_lb_llc(s->b, s->target);
	int limited, hint;
	unsigned int cpu;

	hint = prefers_cores(s) && llc && llc->has_idle_cores;
	limited = ilb_lb_behaviour(s->b)->wake_idle_core && llc && !hint;
	cpu = scan_capacity(s, limited, limited ? llc->idle_scan : 0, hint);
	if (hint && (cpu == NONE || !ilb_lb_core_idle(s->b, cpu)))
		llc->has_idle_cores = 0;
	return cpu;
}

/* Both */

/* sd_asym_cpucapacity: the lowest domain that has all capacities */
static const struct ilb_sched_domain *
full_domain(const struct ilb_balance *b, unsigned int cpu)
{
	const struct ilb_sched_domain *sd = b->setup.domains->base[cpu];

	while (sd && !(sd->span->flags & ILB_SD_ASYM_FULL))
		sd = sd->parent;
	return sd;
}

static int suits_near(const struct search *s, unsigned int cpu)
{
	return share_cache(s->b, cpu, s->target) && suits(s, cpu);
}

unsigned int ilb_wake_sibling(struct ilb_balance *balance, unsigned int target,
			      const struct ilb_wakeup *wakeup)
{
	struct search s = { .b = balance, .w = wakeup, .target = target };
	unsigned int cpu;

	s.sd = full_domain(balance, target);
	s.unequal = !!s.sd;
	if (suits(&s, target))
		return target;
	if (suits_near(&s, wakeup->prev))
		return wakeup->prev;
	if (wakeup->recent != NONE && allowed(wakeup, wakeup->recent) &&
	    suits_near(&s, wakeup->recent))
		return wakeup->recent;
	cpu = s.unequal ? search_capacity(&s) : search_cache(&s);
	return cpu == NONE ? target : cpu;
}

unsigned int ilb_wake_cpu(struct ilb_balance *balance,
			  const struct ilb_wakeup *wakeup)
{
	return ilb_wake_sibling(balance, ilb_wake_affine(balance, wakeup),
				wakeup);
}
