/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_LIVE_EXACT_RECORD_H
#define ILB_LIVE_EXACT_RECORD_H

/* What the BPF program hands over; compiled into it, too. */

#include <linux/types.h>

#define ILB_EXACT_WORDS		128U	/* of 64 bits: ILB_CPUS_MAX */

/**
 * struct ilb_exact_record - one kick
 * @sets: first the mask, then the idle set, as many words each as the machine
 *	needs; no more is handed over
 */
struct ilb_exact_record {
	__u64 time_ns;
	__u32 kicker;
	__u32 target;
	__u32 flags;
	__u32 reserved;
	__u64 sets[2 * ILB_EXACT_WORDS];
};

#endif
