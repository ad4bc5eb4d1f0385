/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_PROPERTY_ORACLE_H
#define ILB_TESTS_PROPERTY_ORACLE_H

#include "machine.h"

/**
 * DOC: oracle - the rules once more, said instead of scanned
 *
 * Every answer is the minimum of a set, and every count of tests the sum of a
 * condition over all CPUs; nothing here depends on an order of visits.
 */

/**
 * struct oracle - the sets of one moment
 * @qualified: in the mask and allowed to run the ILB
 * @whole: every thread of the core is idle; without SMT, the CPU is
 * @first_idle: lowest qualified idle CPU, or ILB_CPU_NONE
 * @first_whole: lowest qualified CPU of a whole core, or ILB_CPU_NONE
 */
struct oracle {
	const struct machine *machine;
	const struct moment *moment;
	unsigned char qualified[MACHINE_CPUS];
	unsigned char whole[MACHINE_CPUS];
	unsigned int first_idle;
	unsigned int first_whole;
};

/* What the drafts of the idle-core rule leave out of the scan. */
enum pruning { PRUNE_NONE, PRUNE_PARTLY, PRUNE_ALSO_BUSY };

void oracle_ask(struct oracle *oracle, const struct machine *machine,
		const struct moment *moment);

/** oracle_from() - first idle CPU from @start upward and around. */
struct ilb_choice oracle_from(const struct oracle *oracle, unsigned int start,
			      int skip_kicker);

struct ilb_choice oracle_idle_core(const struct oracle *oracle,
				   enum pruning pruning, int skip_kicker);

struct ilb_choice oracle_near(const struct oracle *oracle);

#endif
