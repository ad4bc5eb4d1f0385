// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies over recorded moments, all in one pass: what each would have chosen
 * when the kernel chose, and how often that is what the kernel did.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "ilb/index.h"
#include "ilb/replay.h"

struct ilb_replay {
	struct ilb_replay_setup setup;
	unsigned int nr;
	struct ilb_policy policy[ILB_POLICIES_MAX];
	struct ilb_policy_result result[ILB_POLICIES_MAX];
	struct ilb_choice choice[ILB_POLICIES_MAX];	/* of this moment */
	uint32_t differs[ILB_POLICIES_MAX];	/* bit per other policy */
	uint32_t candidates;		/* bit per policy that kernels may have */
	uint64_t *chosen[ILB_POLICIES_MAX];	/* nr_cpus counts */
	void *index[ILB_POLICIES_MAX];	/* memory of those that take one */
	struct ilb_policy idle_core;	/* knows whether a whole core was idle */
	unsigned long *scratch;
};

static int parse_failed(const char *name, unsigned int nr_cpus, int err,
			struct ilb_error *error)
{
	switch (err) {
	case -ILB_ERR_NOENT:
		return ilb_fail(error, ILB_ERR_NOENT,
				"policy '%s': there is no such rule; 'ilb replay --list-policies' has them all",
				name);
	case -ILB_ERR_RANGE:
		return ilb_fail(error, ILB_ERR_RANGE,
				"policy '%s': no such CPU; this topology has 0-%u",
				name, nr_cpus - 1);
	default:
		return ilb_fail(error, ILB_ERR_SYNTAX,
				"policy '%s': only 'wrap:CPU' takes a CPU, and needs it",
				name);
	}
}

static int give_index(struct ilb_replay *r, unsigned int i)
{
	const struct ilb_topology *topology = r->setup.topology;

	if (!r->policy[i].rule->takes_index)
		return 1;
	r->index[i] = malloc(ilb_index_size(topology));
	if (!r->index[i])
		return 0;
	r->policy[i].index = ilb_index_init(r->index[i], topology);
	return 1;
}

static int add_policy(struct ilb_replay *r, const char *name,
		      struct ilb_error *error)
{
	unsigned int nr_cpus = r->setup.topology->nr_cpus;
	unsigned int i = r->nr;
	int err;

	err = ilb_policy_parse(&r->policy[i], name, nr_cpus);
	if (err)
		return parse_failed(name, nr_cpus, err, error);
	snprintf(r->result[i].name, sizeof(r->result[i].name), "%s", name);
	r->nr++;
	r->chosen[i] = calloc(nr_cpus, sizeof(uint64_t));
	if (!r->chosen[i] || !give_index(r, i))
		return ilb_fail(error, ILB_ERR_NOMEM, "replay: out of memory");
	return 0;
}

/* The rules that kernels have; all, if that leaves nothing to compare. */
static uint32_t find_candidates(const struct ilb_replay *r)
{
	uint32_t in_kernel = 0;
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		if (r->policy[i].rule->in_kernel)
			in_kernel |= 1U << i;
	return in_kernel & (in_kernel - 1) ? in_kernel : ~0U;
}

int ilb_replay_create(struct ilb_replay **replay,
		      const struct ilb_replay_setup *setup,
		      struct ilb_error *error)
{
	struct ilb_replay *r;
	unsigned int i;
	int err = 0;

	if (!setup->nr_policies || setup->nr_policies > ILB_POLICIES_MAX)
		return ilb_fail(error, ILB_ERR_RANGE,
				"replay: %u policies; 1 to %u are possible",
				setup->nr_policies, ILB_POLICIES_MAX);
	r = calloc(1, sizeof(*r));
	if (!r)
		return ilb_fail(error, ILB_ERR_NOMEM, "replay: out of memory");
	r->setup = *setup;
	r->scratch = calloc(ILB_MASK_WORDS(setup->topology->nr_cpus),
			    sizeof(*r->scratch));
	if (!r->scratch)
		err = ilb_fail(error, ILB_ERR_NOMEM, "replay: out of memory");
	for (i = 0; i < setup->nr_policies && !err; i++)
		err = add_policy(r, setup->policies[i], error);
	if (!err && ilb_policy_parse(&r->idle_core, "idle-core",
				     setup->topology->nr_cpus))
		err = ilb_fail(error, ILB_ERR_BUG, "replay: no rule idle-core");
	if (err) {
		ilb_replay_destroy(r);
		return err;
	}
	r->candidates = find_candidates(r);
	*replay = r;
	return 0;
}

void ilb_replay_destroy(struct ilb_replay *r)
{
	unsigned int i;

	if (!r)
		return;
	for (i = 0; i < r->nr; i++) {
		free(r->chosen[i]);
		free(r->index[i]);
	}
	free(r->scratch);
	free(r);
}

static int on_busy_core(const struct ilb_topology *t,
			const unsigned long *idle, unsigned int cpu)
{
	unsigned int s;

	for (s = t->sibling[cpu]; s != cpu; s = t->sibling[s])
		if (!ilb_mask_test(idle, s))
			return 1;
	return 0;
}

/* Count the choice of policy @i; @idle_core: a whole core was to be had. */
static void count_choice(struct ilb_replay *r, unsigned int i,
			 const struct ilb_moment *moment, int idle_core)
{
	const struct ilb_topology *t = r->setup.topology;
	struct ilb_policy_result *p = &r->result[i];
	const struct ilb_choice *c = &r->choice[i];
	int busy;

	p->kicks++;
	p->looked_at += c->looked_at;
	if (c->looked_at > p->looked_at_max)
		p->looked_at_max = c->looked_at;
	if (c->cpu == ILB_CPU_NONE) {
		p->none++;
		return;
	}
	r->chosen[i][c->cpu]++;
	p->fallback += c->fallback;
	busy = on_busy_core(t, moment->idle, c->cpu);
	p->on_busy_core += busy;
	p->avoidable += busy && idle_core;
	p->idle_cores_woken += !busy;
	if (moment->kicker == ILB_CPU_NONE)
		return;
	p->same_llc += t->llc[c->cpu] == t->llc[moment->kicker];
	p->same_node += t->node[c->cpu] == t->node[moment->kicker];
}

/* Returns 1 if the candidates do not all agree with each other. */
static int compare(struct ilb_replay *r)
{
	uint32_t decisive = 0;
	unsigned int i, k;

	for (i = 0; i < r->nr; i++) {
		for (k = i + 1; k < r->nr; k++) {
			if (r->choice[i].cpu == r->choice[k].cpu)
				continue;
			r->differs[i] |= 1U << k;
			r->differs[k] |= 1U << i;
			decisive |= r->candidates >> i & r->candidates >> k &
				    1;
		}
	}
	return (int)decisive;
}

static void disagreed(struct ilb_replay *r, unsigned int i,
		      const struct ilb_moment *moment, int decisive)
{
	const struct ilb_disagreement d = {
		.moment = moment,
		.policy = r->result[i].name,
		.chosen = r->choice[i].cpu,
		.decisive = decisive,
	};

	if (r->setup.disagreement)
		r->setup.disagreement(r->setup.context, &d);
}

/* A kick whose kicker is unknown says nothing about the rule. */
static void score(struct ilb_replay *r, const struct ilb_moment *moment,
		  int decisive)
{
	struct ilb_policy_result *p;
	unsigned int i;
	int agrees;

	for (i = 0; i < r->nr; i++) {
		p = &r->result[i];
		p->decisive += decisive;
		if (moment->kicker == ILB_CPU_NONE)
			continue;
		agrees = r->choice[i].cpu == moment->target;
		p->scored++;
		p->agree += agrees;
		p->decisive_scored += decisive;
		p->agree_decisive += decisive && agrees;
		if (!agrees)
			disagreed(r, i, moment, decisive);
	}
}

void ilb_replay_moment(struct ilb_replay *r, const struct ilb_moment *moment)
{
	struct ilb_view view = {
		.topology = r->setup.topology,
		.mask = moment->mask,
		.housekeeping = r->setup.housekeeping ?
					r->setup.housekeeping :
					moment->housekeeping,
		.idle = moment->idle,
		.kicker = moment->kicker,
		.scratch = r->scratch,
	};
	struct ilb_choice best;
	unsigned int i;
	int idle_core;

	best = ilb_policy_choose(&r->idle_core, &view);
	idle_core = best.cpu != ILB_CPU_NONE && !best.fallback;
	for (i = 0; i < r->nr; i++) {
		r->choice[i] = ilb_policy_choose(&r->policy[i], &view);
		count_choice(r, i, moment, idle_core);
	}
	score(r, moment, compare(r));
}

static int better(const struct ilb_policy_result *a,
		  const struct ilb_policy_result *b)
{
	if (a->agree_decisive != b->agree_decisive)
		return a->agree_decisive > b->agree_decisive;
	return a->agree > b->agree;
}

/* The highest agreement, if no other policy has it with other choices. */
static int best_policy(const struct ilb_replay *r)
{
	unsigned int i, best = 0;

	if (!r->result[0].scored)
		return -1;
	for (i = 1; i < r->nr; i++)
		if (better(&r->result[i], &r->result[best]))
			best = i;
	for (i = 0; i < r->nr; i++)
		if (i != best && !better(&r->result[best], &r->result[i]) &&
		    (r->differs[best] >> i & 1))
			return -1;
	return (int)best;
}

const struct ilb_policy_result *
ilb_replay_results(struct ilb_replay *r, int *best)
{
	unsigned int i, cpu;

	for (i = 0; i < r->nr; i++) {
		r->result[i].top = 0;
		for (cpu = 0; cpu < r->setup.topology->nr_cpus; cpu++) {
			if (r->chosen[i][cpu] <= r->result[i].top)
				continue;
			r->result[i].top = r->chosen[i][cpu];
			r->result[i].top_cpu = cpu;
		}
	}
	if (best)
		*best = best_policy(r);
	return r->result;
}
