// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scheduling domains as Linux 6.1 to 7.3 build them (topology.c:
 * build_sched_domains(), sd_init(), cpu_attach_domain()), as a tree.
 *
 * The tree is built from the top: the CPUs of each span are dealt out to the
 * spans of the next level down, so that what a span consists of lies side by
 * side and every list of CPUs ascends.
 */

#include "core/env.h"
#include "ilb/domain.h"
#include "ilb/error.h"

#define BASE_FLAGS	(ILB_SD_NEWIDLE | ILB_SD_FORK | ILB_SD_WAKE_AFFINE | \
			 ILB_SD_PREFER_SIBLING)
#define NUMA_FLAGS	(ILB_SD_NUMA | ILB_SD_SERIALIZE | ILB_SD_NEWIDLE)

#define LOCAL_DISTANCE		10U
#define REMOTE_DISTANCE		20U
#define RECLAIM_DISTANCE	30U

#define CAPACITY_VALUES		1025U
#define NO_LEVEL		(~0U)

/*
 * Where the parts lie in the caller's memory, and what is needed while
 * building only.
 */
struct plan {
	const struct ilb_domains_setup *setup;
	unsigned int nr_cpus;
	unsigned int nr_levels;
	unsigned int distance[ILB_LEVELS_MAX];	/* by level */
	struct ilb_sched_domain *domains;	/* nr_levels per CPU */
	struct ilb_span *spans;		/* by level from -1, nr_cpus each */
	struct ilb_span *root;
	struct ilb_sched_domain **base;
	unsigned int *members;		/* by level from -1, the root's last */
	unsigned int *label;		/* per CPU: its set on a level */
	unsigned int *seen;		/* per label: in which span, plus 1 */
	unsigned int *slot;		/* per label: its span in there */
	unsigned int *node;		/* per node: its lowest CPU */
	unsigned int *component;	/* per node: connected to, plus 1 */
	unsigned int *stamp;		/* per capacity: seen in which span */
	unsigned int nr_nodes;
	unsigned int nr_capacities;
	unsigned int nr_stamps;
};

static size_t aligned(size_t size)
{
	return (size + 15) & ~(size_t)15;
}

/* The next @size bytes of *@memory; *@total counts, also without memory. */
static void *carve(char *memory, size_t *total, size_t size)
{
	void *part = memory ? memory + *total : NULL;

	*total += aligned(size);
	return part;
}

static size_t lay_out(struct plan *p, void *memory)
{
	size_t n = p->nr_cpus, total = 0;
	size_t levels = p->nr_levels;

	p->domains = carve(memory, &total, n * levels * sizeof(*p->domains));
	p->spans = carve(memory, &total, n * (levels + 1) * sizeof(*p->spans));
	p->root = carve(memory, &total, sizeof(*p->root));
	p->base = carve(memory, &total, n * sizeof(*p->base));
	p->members = carve(memory, &total,
			   n * (levels + 2) * sizeof(*p->members));
	p->label = carve(memory, &total, n * sizeof(*p->label));
	p->seen = carve(memory, &total, n * sizeof(*p->seen));
	p->slot = carve(memory, &total, n * sizeof(*p->slot));
	p->node = carve(memory, &total, n * sizeof(*p->node));
	p->component = carve(memory, &total, n * sizeof(*p->component));
	p->stamp = carve(memory, &total, CAPACITY_VALUES * sizeof(*p->stamp));
	return total;
}

static unsigned int count_nodes(const struct ilb_topology *topology)
{
	unsigned int cpu, nr = 0;

	ilb_for_each_cpu(cpu, topology->online, topology->nr_cpus)
		nr += topology->node[cpu] == cpu;
	return nr;
}

static unsigned int distance(const struct plan *p, unsigned int a,
			     unsigned int b)
{
	if (p->setup->distance)
		return p->setup->distance[a * p->nr_nodes + b];
	return a == b ? LOCAL_DISTANCE : REMOTE_DISTANCE;
}

/* The smallest distance above @above; @above itself if there is none. */
static unsigned int next_distance(const struct plan *p, unsigned int above)
{
	unsigned int a, b, d, best = ~0U;

	for (a = 0; a < p->nr_nodes; a++) {
		for (b = 0; b < p->nr_nodes; b++) {
			d = distance(p, a, b);
			if (d > above && d < best)
				best = d;
		}
	}
	return best == ~0U ? above : best;
}

static int check_distances(const struct plan *p)
{
	unsigned int a, b, d;

	if (!p->setup->distance)
		return 0;
	if (p->setup->nr_nodes != p->nr_nodes)
		return -ILB_ERR_RANGE;
	for (a = 0; a < p->nr_nodes; a++) {
		for (b = 0; b < p->nr_nodes; b++) {
			d = distance(p, a, b);
			if (d < LOCAL_DISTANCE ||
			    (d == LOCAL_DISTANCE) != (a == b))
				return -ILB_ERR_SYNTAX;
		}
	}
	return 0;
}

static int plan_levels(struct plan *p, const struct ilb_domains_setup *setup)
{
	unsigned int last = LOCAL_DISTANCE, next;
	int err;

	memset(p, 0, sizeof(*p));
	p->setup = setup;
	p->nr_cpus = setup->topology->nr_cpus;
	p->nr_nodes = count_nodes(setup->topology);
	p->nr_levels = ILB_LEVEL_NUMA;
	err = check_distances(p);
	if (err)
		return err;
	/* Without a table there is one distance: do not look for it. */
	if (!setup->distance) {
		if (p->nr_nodes > 1)
			p->distance[p->nr_levels++] = REMOTE_DISTANCE;
		return 0;
	}
	for (; (next = next_distance(p, last)) != last; last = next) {
		if (p->nr_levels == ILB_LEVELS_MAX)
			return -ILB_ERR_RANGE;
		p->distance[p->nr_levels++] = next;
	}
	return 0;
}

size_t ilb_domains_size(const struct ilb_domains_setup *setup)
{
	struct plan p;

	if (plan_levels(&p, setup))
		return 0;
	return lay_out(&p, NULL);
}

/* Labels of the levels: CPUs of a span carry the same. */

static const unsigned int *level_table(const struct plan *p,
				       unsigned int level)
{
	const struct ilb_topology *t = p->setup->topology;

	switch (level) {
	case ILB_LEVEL_SMT:
		return t->core;
	case ILB_LEVEL_CLS:
		return p->setup->cluster ? p->setup->cluster : t->core;
	case ILB_LEVEL_MC:
		return t->llc;
	default:
		return t->node;
	}
}

static void list_nodes(struct plan *p)
{
	const struct ilb_topology *t = p->setup->topology;
	unsigned int cpu, nr = 0;

	ilb_for_each_cpu(cpu, t->online, t->nr_cpus)
		if (t->node[cpu] == cpu)
			p->node[nr++] = cpu;
}

/* Mark all that is within @reach of node @first, also by way of others. */
static void connect_from(struct plan *p, unsigned int first,
			 unsigned int reach)
{
	unsigned int *queue = p->slot;
	unsigned int head = 0, tail = 0, b;

	queue[tail++] = first;
	p->component[first] = first + 1;
	for (; head < tail; head++) {
		for (b = 0; b < p->nr_nodes; b++) {
			if (p->component[b] ||
			    distance(p, queue[head], b) > reach)
				continue;
			p->component[b] = first + 1;
			queue[tail++] = b;
		}
	}
}

/*
 * DEVIATION(numa-overlap): nodes within @reach of each other, also by way of
 * third ones, are one span. In the kernel spans of different CPUs may overlap
 * where distances are not those of a tree.
 */
static void connect_nodes(struct plan *p, unsigned int reach)
{
	unsigned int i;

	memset(p->component, 0, p->nr_nodes * sizeof(*p->component));
	for (i = 0; i < p->nr_nodes; i++)
		if (!p->component[i])
			connect_from(p, i, reach);
}

/* Per CPU, the lowest CPU of the lowest node it is connected to. */
static void label_numa(struct plan *p, unsigned int level)
{
	const unsigned int *node = p->setup->topology->node;
	unsigned int cpu, i;

	connect_nodes(p, p->distance[level]);
	for (i = 0; i < p->nr_nodes; i++)
		p->label[p->node[i]] = p->node[p->component[i] - 1];
	for (cpu = 0; cpu < p->nr_cpus; cpu++)
		if (node[cpu] != cpu)
			p->label[cpu] = p->label[node[cpu]];
}

static void label_level(struct plan *p, unsigned int level)
{
	if (level >= ILB_LEVEL_NUMA)
		label_numa(p, level);
	else
		memcpy(p->label, level_table(p, level),
		       p->nr_cpus * sizeof(*p->label));
}

/* The tree */

static unsigned int level_pct(unsigned int level)
{
	return level == ILB_LEVEL_SMT ? 110 : 117;
}

static unsigned int level_tries(unsigned int level)
{
	if (level == ILB_LEVEL_SMT)
		return 0;
	return level >= ILB_LEVEL_NUMA ? 2 : 1;
}

static unsigned int level_flags(const struct plan *p, unsigned int level)
{
	unsigned int flags = BASE_FLAGS;

	if (level == ILB_LEVEL_SMT)
		flags |= ILB_SD_SHARE_CAPACITY | ILB_SD_SHARE_LLC;
	if (level == ILB_LEVEL_CLS)
		flags |= ILB_SD_CLUSTER | ILB_SD_SHARE_LLC;
	if (level == ILB_LEVEL_MC)
		flags |= ILB_SD_SHARE_LLC;
	if (level >= ILB_LEVEL_NUMA) {
		flags = NUMA_FLAGS;
		if (p->distance[level] <= RECLAIM_DISTANCE)
			flags |= ILB_SD_FORK | ILB_SD_WAKE_AFFINE;
	}
	if (p->setup->packing_levels >> level & 1)
		flags |= ILB_SD_ASYM_PACKING;
	return flags;
}

static void open_span(struct plan *p, struct ilb_span *span,
		      unsigned int level)
{
	memset(span, 0, sizeof(*span));
	span->level = level;
	if (level == NO_LEVEL)
		return;
	span->flags = level_flags(p, level);
	span->imbalance_pct = level_pct(level);
	span->cache_nice_tries = level_tries(level);
}

/* Deal the CPUs of @parent out to spans at @spans; @members takes the lists. */
static void deal(struct plan *p, struct ilb_span *parent, unsigned int level,
		 struct ilb_span *spans, unsigned int *members,
		 unsigned int stamp)
{
	unsigned int i, cpu, label, used = 0;
	unsigned int *list;

	parent->groups = spans;
	for (i = 0; i < parent->weight; i++) {
		label = p->label[parent->cpus[i]];
		if (p->seen[label] != stamp) {
			p->seen[label] = stamp;
			p->slot[label] = parent->nr_groups++;
			open_span(p, &spans[p->slot[label]], level);
		}
		spans[p->slot[label]].weight++;
	}
	for (i = 0; i < parent->nr_groups; i++) {
		spans[i].cpus = members + used;
		used += spans[i].weight;
		spans[i].weight = 0;
	}
	for (i = 0; i < parent->weight; i++) {
		cpu = parent->cpus[i];
		label = p->label[cpu];
		list = members + (spans[p->slot[label]].cpus - members);
		list[spans[p->slot[label]].weight++] = cpu;
	}
}

/* All spans of the level below @above, which has @nr; returns their number. */
static unsigned int deal_level(struct plan *p, struct ilb_span *above,
			       unsigned int nr, unsigned int level)
{
	struct ilb_span *spans = p->spans + (size_t)(level + 1) * p->nr_cpus;
	unsigned int *members = p->members + (size_t)(level + 1) * p->nr_cpus;
	unsigned int i, cpu, made = 0, used = 0;

	if (level == NO_LEVEL)
		for (cpu = 0; cpu < p->nr_cpus; cpu++)
			p->label[cpu] = cpu;
	else
		label_level(p, level);
	memset(p->seen, 0, p->nr_cpus * sizeof(*p->seen));
	for (i = 0; i < nr; i++) {
		deal(p, &above[i], level, spans + made, members + used, i + 1);
		made += above[i].nr_groups;
		used += above[i].weight;
	}
	return made;
}

/* Capacities: how many different ones are in @span? */
static unsigned int count_capacities(struct plan *p,
				     const struct ilb_span *span)
{
	const unsigned int *capacity = p->setup->topology->capacity;
	unsigned int i, nr = 0;

	if (!capacity)
		return 1;
	p->nr_stamps++;
	for (i = 0; i < span->weight; i++) {
		nr += p->stamp[capacity[span->cpus[i]]] != p->nr_stamps;
		p->stamp[capacity[span->cpus[i]]] = p->nr_stamps;
	}
	return nr;
}

static void mark_unequal(struct plan *p, struct ilb_span *span)
{
	unsigned int i, nr = count_capacities(p, span);

	if (nr < 2)
		return;
	span->flags |= ILB_SD_ASYM_CAPACITY;
	if (nr == p->nr_capacities)
		span->flags |= ILB_SD_ASYM_FULL;
	if (p->setup->behaviour->asym_sibling == ILB_ASYM_SIBLING_DROPPED)
		for (i = 0; i < span->nr_groups; i++)
			span->groups[i].flags &= ~(unsigned int)
						 ILB_SD_PREFER_SIBLING;
}

static void sum_groups(struct ilb_span *span)
{
	unsigned int i;

	for (i = 0; i < span->nr_groups; i++) {
		span->cores += span->groups[i].cores;
		span->llcs += span->groups[i].llcs;
	}
	if (span->level == ILB_LEVEL_SMT)
		span->cores = 1;
	if (span->level == ILB_LEVEL_MC)
		span->llcs = 1;
}

/*
 * How many tasks a node may run before small imbalances count: an eighth of
 * its CPUs, or one for each cache if it has several.
 */
static void set_imb_numa(struct ilb_span *span)
{
	const struct ilb_span *below;
	unsigned int nr;

	if (span->level == ILB_LEVEL_PKG) {
		nr = span->llcs > 1 ? span->llcs : span->weight / 8;
		span->imb_numa_nr = nr ? nr : 1;
	}
	if (span->level < ILB_LEVEL_NUMA || span->level == NO_LEVEL)
		return;
	below = &span->groups[0];
	span->imb_numa_nr = below->imb_numa_nr;
	/* The lowest of these levels is the unit of those above it. */
	if (span->level > ILB_LEVEL_NUMA && below->weight)
		span->imb_numa_nr *= span->weight / below->weight;
}

/* Bottom-up, as each level needs what is known of its groups. */
static void finish_span(struct plan *p, struct ilb_span *span)
{
	sum_groups(span);
	set_imb_numa(span);
	if (span->nr_groups > 1) {
		mark_unequal(p, span);
		return;
	}
	/* No domain: as a group it passes for what it contains. */
	span->flags = span->groups[0].flags;
}

static void start_domain(const struct plan *p, struct ilb_sched_domain *sd,
			 struct ilb_span *span)
{
	memset(sd, 0, sizeof(*sd));
	sd->span = span;
	sd->last_balance = p->setup->now;
	sd->last_decay = p->setup->now;
	sd->min_interval = span->weight;
	sd->max_interval = 2 * span->weight;
	sd->balance_interval = sd->min_interval;
	sd->busy_factor = 16;
	sd->newidle_call = 512;
	sd->newidle_success = 256;
	sd->newidle_ratio = 512;
}

/* Give every CPU of @span its domain, above those it has. */
static void attach(struct plan *p, struct ilb_span *span)
{
	struct ilb_sched_domain *sd, **last;
	struct ilb_span *group;
	unsigned int i, j, cpu;

	for (i = 0; i < span->nr_groups; i++) {
		group = &span->groups[i];
		for (j = 0; j < group->weight; j++) {
			cpu = group->cpus[j];
			sd = p->domains + (size_t)cpu * p->nr_levels +
			     span->level;
			start_domain(p, sd, span);
			sd->local = group;
			for (last = &p->base[cpu]; *last;)
				last = &(*last)->parent;
			*last = sd;
		}
	}
}

static void make_root(struct plan *p)
{
	const struct ilb_domains_setup *setup = p->setup;
	unsigned int *list = p->members +
			     (size_t)(p->nr_levels + 1) * p->nr_cpus;
	unsigned int cpu, nr = 0;

	memset(p->root, 0, sizeof(*p->root));
	ilb_for_each_cpu(cpu, setup->topology->online, p->nr_cpus)
		if (!setup->isolated || !ilb_mask_test(setup->isolated, cpu))
			list[nr++] = cpu;
	p->root->cpus = list;
	p->root->weight = nr;
	p->root->level = NO_LEVEL;
	memset(p->base, 0, p->nr_cpus * sizeof(*p->base));
	memset(p->stamp, 0, CAPACITY_VALUES * sizeof(*p->stamp));
	p->nr_capacities = count_capacities(p, p->root);
}

static void build(struct plan *p)
{
	unsigned int nr[ILB_LEVELS_MAX + 1], level, i, above = 1;
	struct ilb_span *spans = p->root;

	/* Level -1 is that of the single CPUs. */
	for (level = p->nr_levels; level-- > 0;) {
		above = deal_level(p, spans, above, level);
		spans = p->spans + (size_t)(level + 1) * p->nr_cpus;
		nr[level] = above;
	}
	above = deal_level(p, spans, above, NO_LEVEL);
	for (i = 0; i < above; i++)
		p->spans[i].cores = 1;
	for (level = 0; level < p->nr_levels; level++) {
		spans = p->spans + (size_t)(level + 1) * p->nr_cpus;
		for (i = 0; i < nr[level]; i++)
			finish_span(p, &spans[i]);
	}
	for (level = 0; level < p->nr_levels; level++) {
		spans = p->spans + (size_t)(level + 1) * p->nr_cpus;
		for (i = 0; i < nr[level]; i++)
			if (spans[i].nr_groups > 1)
				attach(p, &spans[i]);
	}
}

int ilb_domains_init(struct ilb_domains *domains,
		     const struct ilb_domains_setup *setup, void *memory)
{
	struct plan p;
	int err;

	err = plan_levels(&p, setup);
	if (err)
		return err;
	lay_out(&p, memory);
	list_nodes(&p);
	make_root(&p);
	build(&p);
	domains->setup = *setup;
	domains->nr_levels = p.nr_levels;
	domains->root = p.root;
	domains->base = p.base;
	return 0;
}

const char *ilb_level_name(unsigned int level)
{
	static const char *const names[] = { "SMT", "CLS", "MC", "PKG" };

	return level < ILB_LEVEL_NUMA ? names[level] : "NUMA";
}

struct ilb_sched_domain *ilb_domains_llc(const struct ilb_domains *domains,
					 unsigned int cpu)
{
	struct ilb_sched_domain *sd, *found = NULL;

	for (sd = domains->base[cpu]; sd; sd = sd->parent)
		if (sd->span->flags & ILB_SD_SHARE_LLC)
			found = sd;
	return found;
}

void ilb_domains_gates(const struct ilb_domains *domains,
		       unsigned int *packing, unsigned char *unequal)
{
	const struct ilb_sched_domain *sd;
	unsigned int cpu;

	for (cpu = 0; cpu < domains->setup.topology->nr_cpus; cpu++) {
		packing[cpu] = ILB_CPU_NONE;
		unequal[cpu] = 0;
		for (sd = domains->base[cpu]; sd; sd = sd->parent) {
			if (sd->span->flags & ILB_SD_ASYM_PACKING)
				packing[cpu] = sd->span->cpus[0];
			if (sd->span->flags & ILB_SD_ASYM_FULL)
				unequal[cpu] = 1;
		}
	}
}

static void add_counts(struct ilb_lb_counts *sum,
		       const struct ilb_lb_counts *one)
{
	sum->lb += one->lb;
	sum->balanced += one->balanced;
	sum->failed += one->failed;
	sum->gained += one->gained;
	sum->imb_load += one->imb_load;
	sum->imb_util += one->imb_util;
	sum->imb_task += one->imb_task;
	sum->imb_misfit += one->imb_misfit;
}

void ilb_domains_counts(const struct ilb_domains *domains, unsigned int level,
			struct ilb_lb_counts counts[ILB_IDLE_TYPES])
{
	const struct ilb_sched_domain *sd;
	unsigned int cpu, type;

	memset(counts, 0, ILB_IDLE_TYPES * sizeof(*counts));
	for (cpu = 0; cpu < domains->setup.topology->nr_cpus; cpu++)
		for (sd = domains->base[cpu]; sd; sd = sd->parent)
			for (type = 0; type < ILB_IDLE_TYPES; type++)
				if (sd->span->level == level)
					add_counts(&counts[type],
						   &sd->counts[type]);
}
