/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_MOMENT_H
#define ILB_MOMENT_H

#include <stdint.h>
#include "ilb/mask.h"

/**
 * enum ilb_moment_kind - where the knowledge of a moment comes from
 * @ILB_MOMENT_RECONSTRUCTED: from a trace's events, by trace/machine's rules
 * @ILB_MOMENT_PROBED: the mask of CPUs 0 to 63 was read by a probe; the rest is
 *                     reconstructed
 * @ILB_MOMENT_EXACT: read inside the kernel as it chose
 * @ILB_MOMENT_SIMULATED: by the simulator
 */
enum ilb_moment_kind {
	ILB_MOMENT_RECONSTRUCTED,
	ILB_MOMENT_PROBED,
	ILB_MOMENT_EXACT,
	ILB_MOMENT_SIMULATED,
};

/**
 * struct ilb_moment - what the kernel knew when it chose an ILB
 * @time_ns: when the kick was sent
 * @kicker: who kicked, ILB_CPU_NONE if unknown
 * @target: who was kicked; ILB_CPU_NONE: nobody qualified
 * @flags: kick flags (bit 0 BALANCE, 1 STATS, 3 NEXT), 0 if unknown
 * @kind: see above
 * @assumed: 1 if some idle CPU's place in @mask is an assumption
 * @mask: nohz.idle_cpus_mask
 * @idle: CPUs for which idle_cpu() holds
 * @housekeeping: CPUs that may run the ILB
 *
 * The masks belong to the producer and are valid during the call that hands
 * the moment over.
 */
struct ilb_moment {
	uint64_t time_ns;
	unsigned int kicker;
	unsigned int target;
	unsigned int flags;
	enum ilb_moment_kind kind;
	int assumed;
	const unsigned long *mask;
	const unsigned long *idle;
	const unsigned long *housekeeping;
};

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_moment_kind_name() - "reconstructed", "probed", "exact", "simulated" */
const char *ilb_moment_kind_name(enum ilb_moment_kind kind);

#ifdef __cplusplus
}
#endif

#endif
