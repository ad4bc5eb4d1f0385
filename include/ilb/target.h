/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TARGET_H
#define ILB_TARGET_H

#include "ilb/mask.h"
#include "ilb/topology.h"

/**
 * struct ilb_view - what is known when a CPU is to be chosen
 * @topology: the machine
 * @mask: the kernel's nohz.idle_cpus_mask: tick stopped, no busy tick since
 * @housekeeping: CPUs that may run the ILB
 * @idle: user space: the CPUs for which the kernel's idle_cpu() holds. Not
 *        used in the kernel module, which asks idle_cpu() itself
 * @kicker: the CPU that kicks, or ILB_CPU_NONE if unknown. It is never idle
 * @scratch: ILB_MASK_WORDS(nr_cpus) words that a rule may overwrite
 */
struct ilb_view {
	const struct ilb_topology *topology;
	const unsigned long *mask;
	const unsigned long *housekeeping;
	const unsigned long *idle;
	unsigned int kicker;
	unsigned long *scratch;
};

/**
 * struct ilb_choice - the answer of a rule
 * @cpu: the CPU that becomes the idle load balancer, or ILB_CPU_NONE
 * @fallback: 1 if the rule wanted a fully idle core, and @cpu is on another
 * @looked_at: idle tests that were made, those on siblings included
 */
struct ilb_choice {
	unsigned int cpu;
	int fallback;
	unsigned int looked_at;
};

struct ilb_index;
struct ilb_policy;

/**
 * struct ilb_rule - a way to choose
 * @name: as people write it: "lowest", "wrap"
 * @summary: one line
 * @takes_cpu: 1 if "NAME:N" with a CPU number N is required
 * @in_kernel: 1 if released kernels choose by it
 * @takes_index: 1 if the caller should give the policy an index
 * @choose: the function; may change @policy->last and *@policy->index only
 */
struct ilb_rule {
	const char *name;
	const char *summary;
	int takes_cpu;
	int in_kernel;
	int takes_index;
	struct ilb_choice (*choose)(struct ilb_policy *policy,
				    const struct ilb_view *view);
};

/**
 * struct ilb_policy - a rule with its parameter and its memory
 * @rule: never NULL
 * @start: wrap: the CPU where the scan starts
 * @last: round-robin: the CPU chosen last, ILB_CPU_NONE at first
 * @index: indexed: of the same topology as the views; the caller's, from
 *	ilb_index_init() (ilb/index.h), set after parsing. Each choice brings it
 *	up to the view first, which takes a step per half word of CPUs: a host
 *	that has events calls ilb_index_choose() itself. NULL, as parsing leaves
 *	it: idle-core's scan answers
 */
struct ilb_policy {
	const struct ilb_rule *rule;
	unsigned int start;
	unsigned int last;
	struct ilb_index *index;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_rules - every rule, ended by an entry whose name is NULL
 *
 * ============= ========================================================
 * lowest        lowest idle CPU of mask & housekeeping (Linux up to 7.2)
 * idle-core     lowest such CPU whose core is fully idle, else lowest
 *               (Linux 7.3; mail A, v4)
 * idle-core-v1  the same choice; no pruning, every idle CPU's core is tested
 * idle-core-v2  the same choice; siblings of a partly idle core are skipped
 * idle-core-v3  the same choice; also siblings of a busy CPU, once there is
 *               a fallback; the kicker is skipped by name
 * indexed       the same choice, read from an index of idle cores
 * wrap:N        as lowest, but the scan starts at CPU N and wraps (mail B's
 *               experiment)
 * round-robin   first such CPU after the one chosen last, wrapping
 * near          fully idle core of the kicker's LLC, else of its node, else
 *               anywhere; lowest CPU first. Else lowest idle CPU
 * ============= ========================================================
 *
 * "Fully idle" counts every online thread of the core, also those outside of
 * the mask and of housekeeping; the CPU itself is idle already. Without SMT
 * every idle CPU qualifies. The kernel's 6.1 to 7.2 loops, and v1 to v3, skip
 * the kicker untested; the others test it and find it busy. indexed tests no
 * CPU that its index does not take for idle.
 */
extern const struct ilb_rule ilb_rules[];

/**
 * ilb_policy_parse() - "lowest", "wrap:88" ... to a policy
 * @text: NUL-terminated
 * @nr_cpus: N of "NAME:N" must be below it
 *
 * Returns 0; -ILB_ERR_NOENT if there is no such rule; -ILB_ERR_SYNTAX if the
 * ":N" is missing, not a number, or not wanted; -ILB_ERR_RANGE if N is too
 * large.
 */
int ilb_policy_parse(struct ilb_policy *policy, const char *text,
		     unsigned int nr_cpus);

/** ilb_policy_choose() - let @policy choose; writes @view->scratch. */
static inline struct ilb_choice
ilb_policy_choose(struct ilb_policy *policy, const struct ilb_view *view)
{
	return policy->rule->choose(policy, view);
}

/**
 * ilb_view_core_idle() - is all of @cpu's core idle? @cpu is known to be
 *
 * Every test is counted in @choice->looked_at; there is none without SMT.
 */
int ilb_view_core_idle(const struct ilb_view *view, unsigned int cpu,
		       struct ilb_choice *choice);

#ifdef __cplusplus
}
#endif
#endif
