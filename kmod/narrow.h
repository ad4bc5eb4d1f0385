/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_KMOD_NARROW_H
#define ILB_KMOD_NARROW_H

#include "ilb/target.h"

/** enum ilb_narrowing - what became of one answer, and why */
enum ilb_narrowing {
	ILB_NARROWED,		/* the kernel alone would have chosen another */
	ILB_LEFT_SAME,		/* it chooses the same CPU by itself */
	ILB_LEFT_FALLBACK,	/* no core is fully idle */
	ILB_LEFT_NO_TARGET,	/* no CPU is idle */
};

/**
 * ilb_narrow() - the answer to whom the kernel asks who may become the ILB
 * @policy: how it should choose
 * @view: its @housekeeping is the true answer
 * @answer: ILB_MASK_WORDS(nr_cpus) words, not those of @view. Written only if
 *	ILB_NARROWED is returned
 *
 * The kernel takes the first idle CPU of the answer. So a narrowed answer is
 * the true one without all CPUs below the one that @policy chooses: a subset
 * that holds this CPU. The kernel tests and chooses by itself; if the CPU is
 * busy by then, it takes a higher one, or none until its next tick.
 *
 * Returns what to do: unless ILB_NARROWED, give the true answer.
 */
enum ilb_narrowing ilb_narrow(struct ilb_policy *policy,
			      const struct ilb_view *view,
			      unsigned long *answer);

#endif
