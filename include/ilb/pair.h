/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_PAIR_H
#define ILB_PAIR_H

#include <stdint.h>
#include "ilb/moment.h"
#include "ilb/topology.h"

/**
 * DOC: pair - one kick, seen by the trace and read in the kernel
 *
 * The trace's kicks, with the moments reconstructed for them, and the exact
 * moments become one stream: a kick with an exact moment is that moment, once.
 * Either side may have lost some, or have been watching for longer.
 *
 * A kick is recorded by its kicker, in its tick, right before or after its
 * moment is read: between the two the kicker sends no other. So a pair are
 * neighbours among all that is of their kicker (of their target, where the
 * trace does not know kickers), and have the same target; of two such
 * neighbours the closer one. A host may stop a guest's CPU between the two:
 * a pair may be ILB_PAIR_NS apart.
 */
struct ilb_pair;

#define ILB_PAIR_NS	50000000ULL

/**
 * struct ilb_pair_counts - how the two went together
 * @paired: kicks with an exact moment
 * @unpaired_moments: exact, of a kick that the trace does not have
 * @unpaired_kicks: without an exact moment: the reconstructed one was used
 * @outside: exact moments from before or after the trace, left out
 * @bits: compared, of each mask: the CPUs of the topology, once per pair
 * @mask_agree, @idle_agree: of these, equal in both moments of the pair
 */
struct ilb_pair_counts {
	uint64_t paired;
	uint64_t unpaired_moments;
	uint64_t unpaired_kicks;
	uint64_t outside;
	uint64_t bits;
	uint64_t mask_agree;
	uint64_t idle_agree;
};

/**
 * struct ilb_pair_setup - all kept by reference
 * @housekeeping: given to exact moments
 * @moment, @context: called in time order, for each of the one stream
 */
struct ilb_pair_setup {
	const struct ilb_topology *topology;
	const unsigned long *housekeeping;
	void (*moment)(void *context, const struct ilb_moment *moment);
	void *context;
};

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_pair_create() - NULL if out of memory; freed by _destroy(). */
struct ilb_pair *ilb_pair_create(const struct ilb_pair_setup *setup);
void ilb_pair_destroy(struct ilb_pair *pair);

/**
 * ilb_pair_span() - from when to when the trace is
 *
 * At its first event, with UINT64_MAX; again when its end is known, before
 * moments from after it are added.
 */
void ilb_pair_span(struct ilb_pair *pair, uint64_t start_ns, uint64_t end_ns);

/**
 * ilb_pair_add() - one more, of either side; both together in time order
 *
 * Exact are those of kind ILB_MOMENT_EXACT and ILB_MOMENT_SIMULATED. Those
 * that have been settled are handed over during the call.
 */
void ilb_pair_add(struct ilb_pair *pair, const struct ilb_moment *moment);

/** ilb_pair_finish() - no more: hand over the last. */
void ilb_pair_finish(struct ilb_pair *pair);

/** ilb_pair_counts() - so far; final after _finish() */
const struct ilb_pair_counts *ilb_pair_counts(const struct ilb_pair *pair);

#ifdef __cplusplus
}
#endif
#endif
