// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who becomes the idle load balancer: find_new_ilb() of Linux 6.1 to 7.3, the
 * versions of the patch between them, and rules that were only proposed.
 *
 * Differs from the kernel in one way: where the kernel takes a core out of
 * the scan with a pass over whole masks, the sibling ring is walked. The same
 * CPUs leave the scan, and the cost does not grow with the machine.
 */

#include "core/env.h"
#include "ilb/error.h"
#include "ilb/index.h"
#include "ilb/target.h"

/* How the idle-core rules of Linux 7.3 and of its drafts differ. */
#define PRUNE_PARTLY_IDLE	1U	/* v2: of a core that has busy CPUs */
#define PRUNE_BUSY		2U	/* v3: beside a busy CPU */
#define SKIP_KICKER		4U	/* until v3: not even tested */

/* Distances from the kicker, nearest first. */
#define SAME_LLC		0U
#define SAME_NODE		1U
#define ANYWHERE		2U
#define NOWHERE			3U

static const struct ilb_choice nobody = { ILB_CPU_NONE, 0, 0 };

/*
 * Inline what the loops do per CPU: a choice whose address never leaves them
 * stays in registers, and each test then costs half.
 */
static inline int test_idle(const struct ilb_view *view, unsigned int cpu,
			    struct ilb_choice *choice)
{
	choice->looked_at++;
	return ilb_idle(view, cpu);
}

/* Is all of @cpu's core idle? @cpu itself is known to be. */
static inline int test_core(const struct ilb_view *view, unsigned int cpu,
			    struct ilb_choice *choice)
{
	const struct ilb_topology *topology = view->topology;
	unsigned int first = topology->core[cpu];
	unsigned int thread = first;

	if (!topology->smt)
		return 1;
	do {
		if (thread != cpu && !test_idle(view, thread, choice))
			return 0;
		thread = topology->sibling[thread];
	} while (thread != first);
	return 1;
}

int ilb_view_core_idle(const struct ilb_view *view, unsigned int cpu,
		       struct ilb_choice *choice)
{
	return test_core(view, cpu, choice);
}

/*
 * Take @cpu's core out of what remains to be scanned; no lower thread does.
 * Those in the word of @cpu are returned, to leave the copy in a register.
 */
static inline unsigned long prune_core(const struct ilb_view *view,
				       unsigned int cpu)
{
	const unsigned int *sibling = view->topology->sibling;
	unsigned long here = 0;
	unsigned int thread;

	for (thread = sibling[cpu]; thread > cpu; thread = sibling[thread])
		if (thread / ILB_WORD_BITS == cpu / ILB_WORD_BITS)
			here |= 1UL << (thread % ILB_WORD_BITS);
		else
			ilb_mask_clear(view->scratch, thread);
	return here;
}

static void prune_scratch(const struct ilb_view *view, unsigned int cpu)
{
	view->scratch[cpu / ILB_WORD_BITS] &= ~prune_core(view, cpu);
}

/* The CPUs that qualify, apart from being idle, into the scratch mask. */
static void start_scan(const struct ilb_view *view)
{
	ilb_mask_and(view->scratch, view->mask, view->housekeeping,
		     view->topology->nr_cpus);
}

static inline void note_fallback(struct ilb_choice *choice, unsigned int cpu)
{
	if (choice->fallback)
		return;
	choice->cpu = cpu;
	choice->fallback = 1;
}

static inline void note_whole_core(struct ilb_choice *choice, unsigned int cpu)
{
	choice->cpu = cpu;
	choice->fallback = 0;
}

/*
 * First idle CPU of mask & housekeeping in [@from, @to), or ILB_CPU_NONE.
 * @skip is passed over untested. @to is nr_cpus at most.
 */
static unsigned int first_idle(const struct ilb_view *view, unsigned int from,
			       unsigned int to, unsigned int skip,
			       struct ilb_choice *choice)
{
	unsigned int nr = view->topology->nr_cpus;
	unsigned int cpu = from;

	for (;; cpu++) {
		cpu = ilb_mask_next_and(view->mask, view->housekeeping, nr,
					cpu);
		if (cpu >= to)
			return ILB_CPU_NONE;
		if (cpu != skip && test_idle(view, cpu, choice))
			return cpu;
	}
}

/* The same over all CPUs, from @start upward and around. */
static struct ilb_choice first_idle_wrapped(const struct ilb_view *view,
					    unsigned int start,
					    unsigned int skip)
{
	struct ilb_choice choice = nobody;
	unsigned int nr = view->topology->nr_cpus;

	choice.cpu = first_idle(view, start, nr, skip, &choice);
	if (choice.cpu == ILB_CPU_NONE)
		choice.cpu = first_idle(view, 0, start, skip, &choice);
	return choice;
}

static struct ilb_choice choose_lowest(struct ilb_policy *policy,
				       const struct ilb_view *view)
{
	(void)policy;
	return first_idle_wrapped(view, 0, view->kicker);
}

static struct ilb_choice choose_wrap(struct ilb_policy *policy,
				     const struct ilb_view *view)
{
	return first_idle_wrapped(view, policy->start, view->kicker);
}

static struct ilb_choice choose_round_robin(struct ilb_policy *policy,
					    const struct ilb_view *view)
{
	unsigned int last = policy->last;
	struct ilb_choice choice;

	choice = first_idle_wrapped(view, last == ILB_CPU_NONE ? 0 : last + 1,
				    ILB_CPU_NONE);
	if (choice.cpu != ILB_CPU_NONE)
		policy->last = choice.cpu;
	return choice;
}

/* What the visit of one CPU leads to. */
enum visit { GO_ON, LEAVE_CORE, CHOSEN };

static inline enum visit visit_cpu(const struct ilb_view *view,
				   unsigned int how, unsigned int cpu,
				   struct ilb_choice *choice)
{
	if ((how & SKIP_KICKER) && cpu == view->kicker)
		return GO_ON;
	if (!test_idle(view, cpu, choice)) {
		/* Not before: its sibling may be the fallback. */
		return (how & PRUNE_BUSY) && choice->fallback ? LEAVE_CORE
							      : GO_ON;
	}
	if (test_core(view, cpu, choice)) {
		note_whole_core(choice, cpu);
		return CHOSEN;
	}
	note_fallback(choice, cpu);
	return how & PRUNE_PARTLY_IDLE ? LEAVE_CORE : GO_ON;
}

/* A word at a time: finding the next CPU in memory costs as much as a test. */
static struct ilb_choice scan_idle_cores(const struct ilb_view *view,
					 unsigned int how)
{
	struct ilb_choice choice = nobody;
	unsigned int words = ILB_MASK_WORDS(view->topology->nr_cpus);
	unsigned int i, cpu;
	unsigned long left;
	enum visit visit;

	start_scan(view);
	for (i = 0; i < words; i++) {
		for (left = view->scratch[i]; left;) {
			cpu = i * ILB_WORD_BITS +
			      (unsigned int)__builtin_ctzl(left);
			left &= left - 1;
			visit = visit_cpu(view, how, cpu, &choice);
			if (visit == CHOSEN)
				return choice;
			if (visit == GO_ON)
				continue;
			left &= ~prune_core(view, cpu);
		}
	}
	return choice;
}

static struct ilb_choice choose_idle_core(struct ilb_policy *policy,
					  const struct ilb_view *view)
{
	(void)policy;
	return scan_idle_cores(view, PRUNE_PARTLY_IDLE | PRUNE_BUSY);
}

static struct ilb_choice choose_idle_core_v1(struct ilb_policy *policy,
					     const struct ilb_view *view)
{
	(void)policy;
	return scan_idle_cores(view, SKIP_KICKER);
}

static struct ilb_choice choose_idle_core_v2(struct ilb_policy *policy,
					     const struct ilb_view *view)
{
	(void)policy;
	return scan_idle_cores(view, PRUNE_PARTLY_IDLE | SKIP_KICKER);
}

static struct ilb_choice choose_idle_core_v3(struct ilb_policy *policy,
					     const struct ilb_view *view)
{
	(void)policy;
	return scan_idle_cores(view, PRUNE_PARTLY_IDLE | PRUNE_BUSY |
				     SKIP_KICKER);
}

static unsigned int distance(const struct ilb_view *view, unsigned int cpu)
{
	const struct ilb_topology *topology = view->topology;

	if (view->kicker == ILB_CPU_NONE)
		return ANYWHERE;
	if (topology->llc[cpu] == topology->llc[view->kicker])
		return SAME_LLC;
	if (topology->node[cpu] == topology->node[view->kicker])
		return SAME_NODE;
	return ANYWHERE;
}

/*
 * One pass that keeps the nearest whole core so far and tests no CPU that is
 * not nearer than it. Without any so far every CPU is tested, so that the
 * lowest idle one is known as the fallback.
 */
static struct ilb_choice choose_near(struct ilb_policy *policy,
				     const struct ilb_view *view)
{
	struct ilb_choice choice = nobody;
	unsigned int nr = view->topology->nr_cpus;
	unsigned int nearest = view->kicker == ILB_CPU_NONE ? ANYWHERE
							    : SAME_LLC;
	unsigned int best = NOWHERE;
	unsigned int cpu, away;

	(void)policy;
	start_scan(view);
	ilb_for_each_cpu(cpu, view->scratch, nr) {
		away = distance(view, cpu);
		if (away >= best)
			continue;
		if (!test_idle(view, cpu, &choice)) {
			if (choice.cpu != ILB_CPU_NONE)
				prune_scratch(view, cpu);
			continue;
		}
		if (!test_core(view, cpu, &choice)) {
			if (best == NOWHERE)
				note_fallback(&choice, cpu);
			prune_scratch(view, cpu);
			continue;
		}
		note_whole_core(&choice, cpu);
		best = away;
		if (best == nearest)
			break;
	}
	return choice;
}

/* Without an index it is the rule that the index answers for. */
static struct ilb_choice choose_indexed(struct ilb_policy *policy,
					const struct ilb_view *view)
{
	if (!policy->index)
		return choose_idle_core(policy, view);
	ilb_index_sync(policy->index, view);
	return ilb_index_choose(policy->index, view);
}

const struct ilb_rule ilb_rules[] = {
	{ "lowest", "lowest idle CPU (Linux up to 7.2)", 0, 1, 0,
	  choose_lowest },
	{ "idle-core", "lowest idle CPU of a fully idle core, else lowest "
	  "(Linux 7.3)", 0, 1, 0, choose_idle_core },
	{ "idle-core-v1", "same choice as idle-core, without pruning", 0, 0, 0,
	  choose_idle_core_v1 },
	{ "idle-core-v2", "same choice, partly idle cores pruned", 0, 0, 0,
	  choose_idle_core_v2 },
	{ "idle-core-v3", "same choice, busy CPUs' siblings pruned too", 0, 0,
	  0, choose_idle_core_v3 },
	{ "indexed", "same choice, from an index of idle cores", 0, 0, 1,
	  choose_indexed },
	{ "wrap", "first idle CPU from CPU N upward, then from 0", 1, 0, 0,
	  choose_wrap },
	{ "round-robin", "first idle CPU after the one chosen last", 0, 0, 0,
	  choose_round_robin },
	{ "near", "fully idle core nearest to the kicker, else lowest", 0, 0,
	  0, choose_near },
	{ NULL, NULL, 0, 0, 0, NULL },
};

/* Does @text start with @name, and end or have a ':' there? */
static const char *after_name(const char *text, const char *name)
{
	for (; *name; name++, text++)
		if (*text != *name)
			return NULL;
	return *text == '\0' || *text == ':' ? text : NULL;
}

static const struct ilb_rule *find_rule(const char **text)
{
	const struct ilb_rule *rule;
	const char *rest;

	for (rule = ilb_rules; rule->name; rule++) {
		rest = after_name(*text, rule->name);
		if (!rest)
			continue;
		*text = rest;
		return rule;
	}
	return NULL;
}

/* ":N" and nothing after it. */
static int parse_cpu(const char *text, unsigned int nr_cpus,
		     unsigned int *cpu)
{
	unsigned int n = 0;

	if (*text++ != ':' || *text == '\0')
		return -ILB_ERR_SYNTAX;
	for (; *text >= '0' && *text <= '9'; text++)
		if (n < ILB_CPUS_MAX)
			n = n * 10 + (unsigned int)(*text - '0');
	if (*text != '\0')
		return -ILB_ERR_SYNTAX;
	if (n >= nr_cpus)
		return -ILB_ERR_RANGE;
	*cpu = n;
	return 0;
}

int ilb_policy_parse(struct ilb_policy *policy, const char *text,
		     unsigned int nr_cpus)
{
	const struct ilb_rule *rule = find_rule(&text);
	unsigned int start = 0;
	int err;

	if (!rule)
		return -ILB_ERR_NOENT;
	if (!rule->takes_cpu && *text != '\0')
		return -ILB_ERR_SYNTAX;
	if (rule->takes_cpu) {
		err = parse_cpu(text, nr_cpus, &start);
		if (err)
			return err;
	}
	policy->rule = rule;
	policy->start = start;
	policy->last = ILB_CPU_NONE;
	policy->index = NULL;
	return 0;
}
