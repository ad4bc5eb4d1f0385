// SPDX-License-Identifier: GPL-2.0-only
/* From a policy's choice to a mask from which the kernel chooses the same. */

#include "core/env.h"
#include "kmod/narrow.h"

/* The rule of the kernels that need the repair: core/target's first. */
#define STOCK_RULE	(&ilb_rules[0])

static void clear_below(unsigned long *mask, unsigned int cpu)
{
	unsigned int word = cpu / ILB_WORD_BITS;

	memset(mask, 0, word * sizeof(*mask));
	mask[word] &= ~0UL << (cpu % ILB_WORD_BITS);
}

enum ilb_narrowing ilb_narrow(struct ilb_policy *policy,
			      const struct ilb_view *view,
			      unsigned long *answer)
{
	struct ilb_policy stock = { STOCK_RULE, 0, ILB_CPU_NONE, NULL };
	struct ilb_choice alone = ilb_policy_choose(&stock, view);
	struct ilb_choice wanted = ilb_policy_choose(policy, view);

	/* CPUs come and go in between: either may see none. */
	if (wanted.cpu == ILB_CPU_NONE)
		return ILB_LEFT_NO_TARGET;
	if (wanted.fallback)
		return ILB_LEFT_FALLBACK;
	if (wanted.cpu == alone.cpu)
		return ILB_LEFT_SAME;
	ilb_mask_copy(answer, view->housekeeping, view->topology->nr_cpus);
	clear_below(answer, wanted.cpu);
	return ILB_NARROWED;
}
