/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_KMOD_SITE_H
#define ILB_KMOD_SITE_H

#include "kmod/arch.h"

/**
 * DOC: site - the one call by which the kernel asks who may become the ILB
 *
 * find_new_ilb() of Linux 6.1 to 7.2, inlined or not, asks
 * housekeeping_cpumask() once, walks the CPUs that are in its answer and in
 * nohz.idle_cpus_mask, and takes the first for which idle_cpu() holds. That
 * is the shape which is proved here, from the code itself and not from a
 * version. In Linux 7.3 the answer goes into a mask of the kernel's own: there
 * the rule is built in.
 */

/** struct ilb_landmarks - what the code of interest refers to */
struct ilb_landmarks {
	struct ilb_entry housekeeping_cpumask;
	struct ilb_entry idle_cpu;
	struct ilb_entry find_next_and_bit;
	struct ilb_entry bitmap_and;
	unsigned long nohz;
};

/**
 * struct ilb_site - what was seen in the functions that ask
 * @asks: calls of housekeeping_cpumask()
 * @return_to: return address of the last of them
 * @idle_tests, @walks, @masks: calls of idle_cpu(), of the walk over two
 *	masks, and of what makes a mask out of two
 * @nohz: loads of nohz.idle_cpus_mask
 */
struct ilb_site {
	unsigned int asks;
	unsigned long return_to;
	unsigned int idle_tests, walks, masks, nohz;
};

enum ilb_site_verdict {
	ILB_SITE_FOUND,
	ILB_SITE_NO_CALL,	/* nobody asks */
	ILB_SITE_NOT_UNIQUE,	/* asked more than once: which is it? */
	ILB_SITE_NO_NOHZ,	/* whoever asks does not know the idle mask */
	ILB_SITE_BUILT_IN,	/* makes a mask of its own: Linux 7.3's rule */
	ILB_SITE_UNKNOWN,	/* another shape */
};

/**
 * ilb_site_look() - add what is in @code to @site
 *
 * @site starts as all zeros. Code that does not ask adds nothing.
 */
void ilb_site_look(struct ilb_site *site, const struct ilb_arch *arch,
		   const struct ilb_code *code,
		   const struct ilb_landmarks *marks);

/** ilb_site_judge() - once all code was looked at */
enum ilb_site_verdict ilb_site_judge(const struct ilb_site *site);

#endif
