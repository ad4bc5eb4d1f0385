// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where kicks go while a job occupies its CPUs, and on which other CPUs it
 * would be left alone. A layout is proposed, then the rule is asked again:
 * what does not hold is not offered.
 */

#include <string.h>

#include "ilb/target.h"
#include "live/live.h"

/* ---- the rule ---- */

/* A rule of a row; the table of rules has them all. */
static void choose(struct ilb_aim *aim, const struct ilb_site *site,
		   const char *rule, const unsigned long *idle,
		   unsigned int kicker)
{
	unsigned long scratch[ILB_WIDE_WORDS];
	const struct ilb_view view = {
		.topology = site->topology,
		.mask = site->candidates,
		.housekeeping = site->housekeeping,
		.idle = idle,
		.kicker = kicker,
		.scratch = scratch,
	};
	struct ilb_policy policy;

	aim->target = ILB_CPU_NONE;
	if (!ilb_policy_parse(&policy, rule, site->topology->nr_cpus))
		aim->target = ilb_policy_choose(&policy, &view).cpu;
}

void ilb_aim_find(struct ilb_aim *aim, const struct ilb_site *site,
		  const char *rule, const unsigned long *busy)
{
	const struct ilb_topology *t = site->topology;
	unsigned long idle[ILB_WIDE_WORDS];
	unsigned int cpu;

	memset(aim, 0, sizeof(*aim));
	ilb_mask_andnot(idle, site->online, busy, t->nr_cpus);
	choose(aim, site, rule, idle, ilb_mask_next(busy, t->nr_cpus, 0));
	if (aim->target == ILB_CPU_NONE)
		return;
	for (cpu = t->sibling[aim->target]; cpu != aim->target;
	     cpu = t->sibling[cpu]) {
		if (!ilb_mask_test(busy, cpu))
			continue;
		ilb_mask_set(aim->disturbs, cpu);
		aim->on_busy_core = 1;
	}
}

/* ---- layouts ---- */

struct search {
	const struct ilb_site *site;
	const struct ilb_topology *topology;
	const char *rule;
	const unsigned long *busy;
	struct ilb_layout *layout;
};

/* What an administrator set a CPU apart for: a job stays on the same kind. */
static unsigned int kind_of(const struct ilb_site *site, unsigned int cpu)
{
	return (unsigned int)ilb_mask_test(site->nohz_full, cpu) |
	       (unsigned int)ilb_mask_test(site->isolated, cpu) << 1 |
	       (unsigned int)(cpu == site->timekeeper) << 2;
}

static unsigned int capacity_of(const struct ilb_topology *t, unsigned int cpu)
{
	return t->capacity ? t->capacity[cpu] : 1024;
}

/* The CPUs of @core that are in @mask; *first is the lowest. */
static unsigned int count_on(const struct ilb_topology *t, unsigned int core,
			     const unsigned long *mask, unsigned int *first)
{
	unsigned int cpu = core, count = 0;

	do {
		if (ilb_mask_test(mask, cpu) && !count++)
			*first = cpu;
		cpu = t->sibling[cpu];
	} while (cpu != core);
	return count;
}

/* Complete and judge a layout whose cpus are set; 1 if it does. */
static int holds(struct search *s)
{
	struct ilb_layout *l = s->layout;
	const struct ilb_topology *t = s->topology;

	ilb_mask_andnot(l->left, s->busy, l->cpus, t->nr_cpus);
	ilb_mask_andnot(l->taken, l->cpus, s->busy, t->nr_cpus);
	ilb_aim_find(&l->aim, s->site, s->rule, l->cpus);
	return l->aim.target != ILB_CPU_NONE && !l->aim.on_busy_core;
}

/*
 * Where siblings are numbered far apart the lowest idle CPU is a sibling
 * only because the job sits on high threads: let it sit on the low ones.
 */
static int try_siblings(struct search *s)
{
	const struct ilb_topology *t = s->topology;
	unsigned long *cpus = s->layout->cpus;
	unsigned int cpu, low;

	ilb_mask_zero(cpus, t->nr_cpus);
	ilb_for_each_cpu(cpu, s->busy, t->nr_cpus) {
		low = t->core[cpu];
		while (low != cpu && (ilb_mask_test(cpus, low) ||
				      kind_of(s->site, low) !=
				      kind_of(s->site, cpu)))
			low = t->sibling[low];
		ilb_mask_set(cpus, low);
	}
	return holds(s);
}

/* Every thread that the job has on @core has a mate of its kind on @other. */
static int same_kind(const struct search *s, unsigned int core,
		     unsigned int other, unsigned int count)
{
	unsigned int cpu = core, mate = other;

	while (count) {
		if (ilb_mask_test(s->busy, cpu)) {
			if (kind_of(s->site, cpu) != kind_of(s->site, mate))
				return 0;
			mate = s->topology->sibling[mate];
			count--;
		}
		cpu = s->topology->sibling[cpu];
	}
	return 1;
}

/* Can @count threads of the job move from @core? 0: no; more is better. */
static unsigned int suits(const struct search *s, unsigned int core,
			  unsigned int other, unsigned int count)
{
	const struct ilb_topology *t = s->topology;
	unsigned int first;

	if (other == core || t->core[other] != other ||
	    count_on(t, other, s->busy, &first) ||
	    count_on(t, other, s->site->online, &first) < count ||
	    capacity_of(t, other) != capacity_of(t, core))
		return 0;
	return 1 + (same_kind(s, core, other, count) ? 8U : 0U) +
	       (t->node[other] == t->node[core] ? 4U : 0U) +
	       (t->llc[other] == t->llc[core] ? 2U : 0U);
}

/* The core to take instead of @core; ILB_CPU_NONE if all are occupied. */
static unsigned int find_spare(const struct search *s, unsigned int core,
			       unsigned int count)
{
	unsigned int cpu, grade, best = 0, spare = ILB_CPU_NONE;

	ilb_for_each_cpu(cpu, s->site->online, s->topology->nr_cpus) {
		grade = suits(s, core, cpu, count);
		if (grade > best) {
			best = grade;
			spare = cpu;
		}
	}
	return spare;
}

static int try_core(struct search *s, unsigned int core)
{
	const struct ilb_topology *t = s->topology;
	struct ilb_layout *l = s->layout;
	unsigned int cpu = core, first = core, count, spare;

	count = count_on(t, core, s->busy, &first);
	spare = count ? find_spare(s, core, count) : ILB_CPU_NONE;
	if (spare == ILB_CPU_NONE)
		return 0;
	ilb_mask_copy(l->cpus, s->busy, t->nr_cpus);
	l->other_node = t->node[spare] != t->node[core];
	l->other_kind = !same_kind(s, core, spare, count);
	do {
		ilb_mask_clear(l->cpus, cpu);
		cpu = t->sibling[cpu];
	} while (cpu != core);
	for (; count; count--, spare = t->sibling[spare])
		ilb_mask_set(l->cpus, spare);
	return holds(s);
}

/*
 * Leave a core idle that a kick may go to. The lowest one does for every rule
 * that looks from below; the others are tried for those that do not.
 */
static int try_cores(struct search *s)
{
	const struct ilb_topology *t = s->topology;
	unsigned int cpu, tried = ILB_CPU_NONE;

	ilb_for_each_cpu(cpu, s->site->candidates, t->nr_cpus) {
		if (t->core[cpu] == tried)
			continue;
		tried = t->core[cpu];
		if (try_core(s, tried))
			return 1;
	}
	return 0;
}

/* Would one core less do? The one that rules look at first. */
static void try_less(struct search *s)
{
	const struct ilb_topology *t = s->topology;
	struct ilb_layout *l = s->layout;
	unsigned int cpu, core;

	memset(l, 0, sizeof(*l));
	l->kind = ILB_LAYOUT_NONE;
	core = t->core[ilb_mask_next(s->site->candidates, t->nr_cpus, 0)];
	ilb_mask_copy(l->cpus, s->busy, t->nr_cpus);
	cpu = core;
	do {
		ilb_mask_clear(l->cpus, cpu);
		cpu = t->sibling[cpu];
	} while (cpu != core);
	if (ilb_mask_empty(l->cpus, t->nr_cpus) || !holds(s))
		ilb_mask_zero(l->left, t->nr_cpus);
}

void ilb_layout_find(struct ilb_layout *layout, const struct ilb_site *site,
		     const char *rule, const unsigned long *busy)
{
	struct search s = { site, site->topology, rule, busy, layout };
	struct ilb_aim now;

	memset(layout, 0, sizeof(*layout));
	ilb_aim_find(&now, site, rule, busy);
	if (!now.on_busy_core)
		layout->kind = ILB_LAYOUT_NOT_NEEDED;
	else if (try_siblings(&s))
		layout->kind = ILB_LAYOUT_SIBLINGS;
	else if (try_cores(&s))
		layout->kind = ILB_LAYOUT_CORES;
	else
		try_less(&s);
}
