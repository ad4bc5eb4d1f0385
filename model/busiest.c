// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which group of a domain is busiest, and how much of it should move, as in
 * Linux 6.1 to 7.3 (sched_balance_find_src_group(), update_sd_lb_stats(),
 * calculate_imbalance()).
 *
 * DEVIATION(fresh-capacity): capacities of groups are summed in each pass; the
 * kernel keeps sums for as long as the domain's interval.
 * DEVIATION(delayed-tasks): tasks of a delayed dequeue are never counted;
 * Linux 6.12 counts them.
 */

#include "core/env.h"
#include "model/lb.h"

#define SCALE		1024UL
#define NUMA_SLACK	2U

/* From the least to the most in need of help. */
enum group_type {
	HAS_SPARE,
	FULLY_BUSY,
	MISFIT,
	SMT_BALANCE,
	ASYM_PACKING,
	IMBALANCED,
	LLC_BALANCE,
	OVERLOADED,
};

struct stats {
	struct ilb_span *group;
	uint64_t load, util, runnable, capacity;
	uint64_t min_capacity, max_capacity;
	uint64_t misfit_load, avg_load;
	unsigned int nr_running, nr_fair, idle_cpus, weight;
	unsigned int wanted;		/* tasks that prefer dst's cache */
	unsigned int preferred;		/* its best CPU by asym packing */
	int packing, smt;
	enum group_type type;
};

/* All groups of the domain. */
struct survey {
	struct ilb_lb *lb;
	struct stats local, busiest;	/* busiest.group is NULL: none */
	uint64_t load, util, capacity, avg_load;
	int overloaded, overutilized;
};

static int wants(const struct ilb_lb *lb, unsigned int flag)
{
	return !!(lb->sd->span->flags & flag);
}

/* The destination is idle, or about to be. */
static int dst_idles(const struct ilb_lb *lb)
{
	return lb->idle != ILB_IDLE_BUSY;
}

int ilb_lb_greater(unsigned long a, unsigned long b)
{
	return (uint64_t)a * 1024 > (uint64_t)b * 1078;
}

unsigned int ilb_lb_full_capacity(const struct ilb_balance *b,
				  unsigned int cpu)
{
	const struct ilb_topology *t = ilb_lb_topology(b);

	return t->capacity ? t->capacity[cpu] : 1024;
}

int ilb_lb_reduced(const struct ilb_balance *b, unsigned int cpu,
		   unsigned int pct)
{
	return (uint64_t)ilb_lb_queue(b, cpu)->capacity * pct <
	       (uint64_t)ilb_lb_full_capacity(b, cpu) * 100;
}

/* May priorities alone decide about @cpu? */
static int packing_usable(const struct ilb_balance *b,
			  const struct ilb_sched_domain *sd, unsigned int cpu)
{
	if (!ilb_lb_behaviour(b)->packing_idle_core ||
	    (sd->span->flags & ILB_SD_SHARE_CAPACITY))
		return 1;
	return ilb_lb_core_idle(b, cpu);
}

int ilb_lb_better(const struct ilb_balance *balance,
		  const struct ilb_sched_domain *sd, unsigned int a,
		  unsigned int b)
{
	const int *priority = balance->setup.nohz->setup.priority;

	return priority && (sd->span->flags & ILB_SD_ASYM_PACKING) &&
	       packing_usable(balance, sd, a) && priority[a] > priority[b];
}

/* One group */

/*
 * DEVIATION(cache-balance): tasks tell which cache their process is gathered
 * in; how the kernel finds out, and when it gives up, is not modelled.
 */
static int gathers(const struct ilb_lb *lb)
{
	return lb->balance->setup.gather &&
	       ilb_lb_behaviour(lb->balance)->cache_balance &&
	       !wants(lb, ILB_SD_SHARE_LLC);
}

static unsigned int count_wanted(const struct ilb_lb *lb, unsigned int cpu)
{
	const struct ilb_balance *b = lb->balance;
	const unsigned int *llc = ilb_lb_topology(b)->llc;
	struct ilb_lb_task task;
	unsigned int i, nr = 0;

	if (llc[cpu] == llc[lb->dst])
		return 0;
	for (i = 0; b->setup.host->task(b->setup.context, cpu, i, &task); i++)
		nr += task.preferred_llc == llc[lb->dst];
	return nr;
}

static void add_misfit(struct survey *s, struct stats *g, unsigned int cpu)
{
	struct ilb_lb *lb = s->lb;
	const struct ilb_nohz_cpu *queue = ilb_lb_queue(lb->balance, cpu);
	uint64_t load = 0;

	if (wants(lb, ILB_SD_ASYM_CAPACITY)) {
		load = queue->misfit_load;
		if (load > g->misfit_load)
			s->overloaded = 1;
	} else if (dst_idles(lb) && queue->nr_runnable == 1 &&
		   ilb_lb_reduced(lb->balance, cpu,
				  lb->sd->span->imbalance_pct)) {
		load = lb->balance->setup.cpus[cpu].load;
	}
	if (load > g->misfit_load)
		g->misfit_load = load;
}

static void add_cpu(struct survey *s, struct stats *g, unsigned int cpu)
{
	struct ilb_balance *b = s->lb->balance;
	const struct ilb_nohz_cpu *queue = ilb_lb_queue(b, cpu);
	const struct ilb_balance_cpu *c = &b->setup.cpus[cpu];

	g->load += c->load;
	g->util += c->util;
	g->runnable += c->runnable;
	g->nr_running += queue->nr_running;
	g->nr_fair += queue->nr_runnable;
	if ((uint64_t)c->util * 1280 > (uint64_t)queue->capacity * 1024)
		s->overutilized = 1;
	if (queue->nr_running > 1)
		s->overloaded = 1;
	if (!queue->nr_running && ilb_lb_is_idle(b, cpu)) {
		g->idle_cpus++;
		return;
	}
	if (gathers(s->lb))
		g->wanted += count_wanted(s->lb, cpu);
	add_misfit(s, g, cpu);
}

/* Capacity is the group's, also of CPUs that are out of question. */
static void add_capacity(const struct ilb_balance *b, struct stats *g,
			 unsigned int cpu)
{
	const int *priority = b->setup.nohz->setup.priority;
	uint64_t capacity = ilb_lb_queue(b, cpu)->capacity;

	g->capacity += capacity;
	if (capacity < g->min_capacity)
		g->min_capacity = capacity;
	if (capacity > g->max_capacity)
		g->max_capacity = capacity;
	if (priority && priority[cpu] > priority[g->preferred])
		g->preferred = cpu;
}

static int is_overloaded(const struct stats *g, unsigned int pct)
{
	if (g->nr_running <= g->weight)
		return 0;
	return g->capacity * 100 < g->util * pct ||
	       g->capacity * pct < g->runnable * 100;
}

static int has_capacity(const struct stats *g, unsigned int pct)
{
	if (g->nr_running < g->weight)
		return 1;
	if (g->capacity * pct < g->runnable * 100)
		return 0;
	return g->capacity * 100 > g->util * pct;
}

static enum group_type classify(const struct stats *g, unsigned int pct)
{
	if (is_overloaded(g, pct))
		return OVERLOADED;
	if (g->wanted)
		return LLC_BALANCE;
	if (g->group->imbalanced)
		return IMBALANCED;
	if (g->packing)
		return ASYM_PACKING;
	if (g->smt)
		return SMT_BALANCE;
	if (g->misfit_load)
		return MISFIT;
	return has_capacity(g, pct) ? HAS_SPARE : FULLY_BUSY;
}

static int is_smt(const struct ilb_span *group)
{
	return !!(group->flags & ILB_SD_SHARE_CAPACITY);
}

/*
 * Is dst a better place for this group's tasks? Not if it is a full core.
 * DEVIATION(packing-6.1): without idle cores in the rule, priorities alone.
 */
static int packs(const struct ilb_lb *lb, const struct stats *g)
{
	if (!dst_idles(lb) || !g->nr_fair)
		return 0;
	if (ilb_lb_behaviour(lb->balance)->packing_idle_core &&
	    is_smt(g->group) && g->weight - g->idle_cpus != 1)
		return 0;
	return ilb_lb_better(lb->balance, lb->sd, lb->dst, g->preferred);
}

static int smt_helps(const struct ilb_lb *lb, const struct stats *g)
{
	return ilb_lb_behaviour(lb->balance)->smt_groups && dst_idles(lb) &&
	       is_smt(g->group) && g->nr_fair > 1;
}

static void survey_group(struct survey *s, struct ilb_span *group,
			 struct stats *g)
{
	struct ilb_lb *lb = s->lb;
	unsigned int i, cpu, pct = lb->sd->span->imbalance_pct;

	memset(g, 0, sizeof(*g));
	g->group = group;
	g->weight = group->weight;
	g->min_capacity = UINT64_MAX;
	g->preferred = group->cpus[0];
	for (i = 0; i < group->weight; i++) {
		cpu = group->cpus[i];
		add_capacity(lb->balance, g, cpu);
		if (ilb_mask_test(lb->allowed, cpu))
			add_cpu(s, g, cpu);
	}
	if (!g->capacity)
		g->capacity = 1;
	if (group != lb->sd->local) {
		g->packing = packs(lb, g);
		g->smt = smt_helps(lb, g);
	} else {
		g->wanted = 0;
	}
	g->type = classify(g, pct);
	if (g->type == OVERLOADED)
		g->avg_load = g->load * SCALE / g->capacity;
	s->load += g->load;
	s->util += g->util;
	s->capacity += g->capacity;
}

/* Which of two groups? */

/* Cores of one thread and of several, beside each other. */
static int kinds_differ(const struct ilb_lb *lb, const struct ilb_span *a,
			const struct ilb_span *b)
{
	return ilb_lb_behaviour(lb->balance)->smt_groups && a && b &&
	       is_smt(a) != is_smt(b);
}

static int fewer_idle(const struct stats *g, const struct stats *than)
{
	if (g->idle_cpus != than->idle_cpus)
		return g->idle_cpus < than->idle_cpus;
	return g->nr_running > than->nr_running;
}

/* Their average load is not known: the first, but cores of SMT over others. */
static int busier_fully_busy(const struct ilb_lb *lb, const struct stats *than)
{
	return ilb_lb_behaviour(lb->balance)->smt_groups &&
	       !is_smt(than->group);
}

static int busier_has_spare(const struct ilb_lb *lb, const struct stats *g,
			    const struct stats *than)
{
	if (kinds_differ(lb, than->group, g->group))
		return !is_smt(g->group) || g->nr_fair > 1;
	return fewer_idle(g, than);
}

/* @g is of the same type as @than. */
static int busier_alike(const struct ilb_lb *lb, const struct stats *g,
			const struct stats *than)
{
	const int *priority = lb->balance->setup.nohz->setup.priority;

	switch (g->type) {
	case OVERLOADED:
		return g->avg_load > than->avg_load;
	case LLC_BALANCE:
		return g->wanted > than->wanted;
	case ASYM_PACKING:
		return priority[than->preferred] > priority[g->preferred];
	case SMT_BALANCE:
		if (g->idle_cpus || than->idle_cpus)
			return fewer_idle(g, than);
		return busier_fully_busy(lb, than);
	case MISFIT:
		return g->misfit_load > than->misfit_load;
	case FULLY_BUSY:
		return busier_fully_busy(lb, than);
	case HAS_SPARE:
		return busier_has_spare(lb, g, than);
	case IMBALANCED:
	default:
		return 0;
	}
}

/* Would a misfit task be better off on dst? */
static int misfit_helps(const struct survey *s, const struct stats *g)
{
	const struct ilb_lb *lb = s->lb;
	const struct ilb_balance *b = lb->balance;

	if (!ilb_lb_greater(ilb_lb_queue(b, lb->dst)->capacity,
			    (unsigned long)g->max_capacity) ||
	    s->local.type != HAS_SPARE)
		return 0;
	return !ilb_lb_behaviour(b)->misfit_idle_core ||
	       !ilb_lb_topology(b)->smt || ilb_lb_core_idle(b, lb->dst);
}

static int is_busier(const struct survey *s, const struct stats *g)
{
	const struct ilb_lb *lb = s->lb;
	unsigned int unequal = wants(lb, ILB_SD_ASYM_CAPACITY);

	if (!g->nr_fair)
		return 0;
	if (unequal && g->type == MISFIT && !misfit_helps(s, g))
		return 0;
	if (g->type != s->busiest.type)
		return g->type > s->busiest.type;
	if (!busier_alike(lb, g, &s->busiest))
		return 0;
	/* One task per CPU at most, on larger CPUs: leave them there. */
	if (!unequal || g->type > FULLY_BUSY)
		return 1;
	return !ilb_lb_greater((unsigned long)g->min_capacity,
			       ilb_lb_queue(lb->balance, lb->dst)->capacity);
}

/* The whole domain */

/* How many CPUs a wakeup may look at: the fewer the busier the cache is. */
static void set_idle_scan(const struct survey *s)
{
	const struct ilb_lb *lb = s->lb;
	const struct ilb_sched_domain *llc =
		ilb_domains_llc(lb->balance->setup.domains, lb->dst);
	uint64_t weight = lb->sd->span->weight;
	uint64_t pct = lb->sd->span->imbalance_pct;
	uint64_t x, used;

	if (lb->idle == ILB_IDLE_NEWLY || !llc || llc->span->weight != weight)
		return;
	x = s->util / weight;
	used = x * x * pct * pct / (10000 * SCALE);
	if (used > SCALE)
		used = SCALE;
	ilb_lb_llc(lb->balance, lb->dst)->idle_scan =
		(unsigned int)((SCALE - used) * weight / SCALE);
}

static void survey_domain(struct survey *s, struct ilb_lb *lb)
{
	struct ilb_span *span = lb->sd->span;
	unsigned int i, first = (unsigned int)(lb->sd->local - span->groups);
	struct stats g;

	memset(s, 0, sizeof(*s));
	s->lb = lb;
	s->busiest.type = HAS_SPARE;
	s->busiest.idle_cpus = ~0U;
	survey_group(s, lb->sd->local, &s->local);
	for (i = 1; i < span->nr_groups; i++) {
		survey_group(s, &span->groups[(first + i) % span->nr_groups],
			     &g);
		if (is_busier(s, &g))
			s->busiest = g;
	}
	set_idle_scan(s);
	if (lb->sd->parent)
		return;
	lb->balance->overloaded = s->overloaded;
	lb->balance->overutilized = s->overutilized;
}

/* How much */

static uint64_t above_zero(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Tasks that busiest has more than local, per core where cores differ. */
static uint64_t sibling_imbalance(const struct survey *s)
{
	const struct stats *l = &s->local, *b = &s->busiest;
	uint64_t cores_l = l->group->cores, cores_b = b->group->cores;
	uint64_t more, all = cores_l + cores_b;

	if (!ilb_lb_behaviour(s->lb->balance)->smt_groups)
		return above_zero(b->nr_running, l->nr_running);
	if (!dst_idles(s->lb) || !b->nr_running)
		return 0;
	if (cores_l == cores_b)
		return above_zero(b->nr_running, l->nr_running);
	more = above_zero(cores_l * b->nr_running, cores_b * l->nr_running);
	more = (2 * more + all) / all;
	if (more <= 1 && !l->nr_running && b->nr_running > 1)
		more = 2;
	return more;
}

static int prefers_sibling(const struct survey *s)
{
	return !!(s->busiest.group->flags & ILB_SD_PREFER_SIBLING);
}

static uint64_t set_amount(struct ilb_lb *lb, enum ilb_lb_kind kind,
			   uint64_t amount)
{
	lb->kind = kind;
	lb->imbalance = (int64_t)amount;
	return amount;
}

/* Local has spare CPUs: spread tasks, or fill it up. */
static uint64_t fill_spare(struct survey *s)
{
	const struct stats *l = &s->local, *b = &s->busiest;
	struct ilb_lb *lb = s->lb;
	uint64_t room, more;

	if (b->type > FULLY_BUSY && !wants(lb, ILB_SD_SHARE_LLC)) {
		room = above_zero(l->capacity, l->util);
		if (room || !dst_idles(lb))
			return set_amount(lb, ILB_LB_UTIL, room);
		return set_amount(lb, ILB_LB_TASK, 1);
	}
	if (b->weight == 1 || prefers_sibling(s))
		more = sibling_imbalance(s);
	else
		more = above_zero(l->idle_cpus, b->idle_cpus);
	if (wants(lb, ILB_SD_NUMA) && more <= NUMA_SLACK &&
	    l->nr_running + 1 <= lb->sd->span->imb_numa_nr)
		more = 0;
	return set_amount(lb, ILB_LB_TASK, more / 2);
}

/* Both are, or will be, overloaded: towards the average. */
static uint64_t even_load(struct survey *s)
{
	const struct stats *b = &s->busiest;
	struct stats *l = &s->local;
	uint64_t give, take;

	s->avg_load = s->load * SCALE / s->capacity;
	if (l->type < OVERLOADED) {
		l->avg_load = l->load * SCALE / l->capacity;
		if (l->avg_load >= b->avg_load || l->avg_load >= s->avg_load)
			return set_amount(s->lb, ILB_LB_LOAD, 0);
	}
	give = above_zero(b->avg_load, s->avg_load) * b->capacity;
	take = above_zero(s->avg_load, l->avg_load) * l->capacity;
	return set_amount(s->lb, ILB_LB_LOAD,
			  (give < take ? give : take) / SCALE);
}

static uint64_t calculate(struct survey *s)
{
	const struct stats *b = &s->busiest;
	struct ilb_lb *lb = s->lb;

	switch (b->type) {
	case MISFIT:
		if (wants(lb, ILB_SD_ASYM_CAPACITY))
			return set_amount(lb, ILB_LB_MISFIT, 1);
		return set_amount(lb, ILB_LB_LOAD, b->misfit_load);
	case ASYM_PACKING:
		return set_amount(lb, ILB_LB_TASK, b->nr_fair);
	case SMT_BALANCE:
	case IMBALANCED:
		return set_amount(lb, ILB_LB_TASK, 1);
	case LLC_BALANCE:
		return set_amount(lb, ILB_LB_LLC, 1);
	default:
		break;
	}
	return s->local.type == HAS_SPARE ? fill_spare(s) : even_load(s);
}

/* Local is overloaded too: is busiest so by enough? */
static int loads_are_even(struct survey *s)
{
	const struct stats *l = &s->local, *b = &s->busiest;

	s->avg_load = s->load * SCALE / s->capacity;
	return l->avg_load >= b->avg_load || l->avg_load >= s->avg_load ||
	       100 * b->avg_load <=
	       s->lb->sd->span->imbalance_pct * l->avg_load;
}

/* Nobody is overloaded: is there a task that would run on its own? */
static int spare_is_even(const struct survey *s)
{
	const struct stats *l = &s->local, *b = &s->busiest;

	if (!dst_idles(s->lb))
		return 1;
	if (b->type == SMT_BALANCE && kinds_differ(s->lb, l->group, b->group))
		return 0;
	if (b->weight > 1 && l->idle_cpus <= b->idle_cpus + 1)
		return 1;
	return b->nr_fair == 1;
}

static int is_balanced(struct survey *s)
{
	const struct stats *l = &s->local, *b = &s->busiest;
	const struct ilb_balance *balance = s->lb->balance;

	if (b->type == MISFIT)
		return 0;
	if (balance->setup.energy && !balance->overutilized)
		return 1;
	if (b->type >= ASYM_PACKING && b->type <= LLC_BALANCE)
		return 0;
	if (l->type > b->type)
		return 1;
	if (l->type == OVERLOADED && loads_are_even(s))
		return 1;
	if (prefers_sibling(s) && l->type == HAS_SPARE &&
	    sibling_imbalance(s) > 1)
		return 0;
	return b->type != OVERLOADED && spare_is_even(s);
}

struct ilb_span *ilb_lb_busiest_group(struct ilb_lb *lb)
{
	struct survey s;

	lb->balance->looked_at += lb->sd->span->weight;
	survey_domain(&s, lb);
	if (!s.busiest.group || is_balanced(&s) || !calculate(&s))
		return NULL;
	return s.busiest.group;
}
