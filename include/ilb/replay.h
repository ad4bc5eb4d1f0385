/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_REPLAY_H
#define ILB_REPLAY_H

#include <stdint.h>
#include "ilb/moment.h"
#include "ilb/target.h"
#include "ilb/topology.h"

#define ILB_POLICIES_MAX	32
#define ILB_POLICY_NAME_LEN	32

/**
 * struct ilb_policy_result - one policy over all moments
 * @name: as asked for ("wrap:8")
 * @kicks: moments replayed
 * @scored: of these, with a known kicker: only they count in agree
 * @agree: it chose the kernel's own target
 * @decisive: moments in which the candidates do not all choose the same (the
 *            same number for every policy); @agree_decisive: of these.
 *            Candidates are the listed rules that some kernel has, or all
 *            listed ones where fewer than two of those are listed: a rule that
 *            no kernel has, such as round-robin, tells nothing about kernels
 * @on_busy_core, @avoidable, @fallback, @none: of its choices
 * @looked_at, @looked_at_max: idle tests, sum and most for one moment
 * @idle_cores_woken, @same_llc, @same_node: of its choices
 * @top: kicks of the CPU that it chose most; @top_cpu: which, the lowest of
 *       equals; without meaning if @top is 0
 */
struct ilb_policy_result {
	char name[ILB_POLICY_NAME_LEN];
	uint64_t kicks, scored;
	uint64_t agree, decisive, decisive_scored, agree_decisive;
	uint64_t on_busy_core, avoidable, fallback, none;
	uint64_t looked_at;
	unsigned int looked_at_max;
	uint64_t idle_cores_woken, same_llc, same_node;
	uint64_t top;
	unsigned int top_cpu;
};

/** struct ilb_disagreement - handed over for every one, if asked for */
struct ilb_disagreement {
	const struct ilb_moment *moment;
	const char *policy;
	unsigned int chosen;	/* ILB_CPU_NONE: nobody */
	int decisive;
};

struct ilb_replay;

struct ilb_replay_setup {
	const struct ilb_topology *topology;
	const char *const *policies;	/* names; ILB_POLICIES_MAX at most */
	unsigned int nr_policies;
	const unsigned long *housekeeping;	/* what-if; NULL: the moment's */
	void (*disagreement)(void *context,
			     const struct ilb_disagreement *disagreement);
	void *context;		/* disagreement may be NULL */
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_replay_create() - start to replay policies over moments
 *
 * Returns 0 and a replay that _destroy() frees; or what ilb_policy_parse()
 * returned, -ILB_ERR_RANGE (too many), -ILB_ERR_NOMEM, with @error filled.
 */
struct ilb_error;
int ilb_replay_create(struct ilb_replay **replay,
		      const struct ilb_replay_setup *setup,
		      struct ilb_error *error);
void ilb_replay_destroy(struct ilb_replay *replay);

/** ilb_replay_moment() - let every policy choose at @moment. */
void ilb_replay_moment(struct ilb_replay *replay,
		       const struct ilb_moment *moment);

/**
 * ilb_replay_results() - one result per policy, in the order asked for
 * @best: if not NULL: index of the policy with the highest agreement on the
 *        decisive moments, and of equals on all moments; -1 if none was
 *        scored, or if several are equal even so and differ in some choice
 */
const struct ilb_policy_result *
ilb_replay_results(struct ilb_replay *replay, int *best);

#ifdef __cplusplus
}
#endif
#endif
