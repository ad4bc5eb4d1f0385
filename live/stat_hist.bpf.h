/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_LIVE_STAT_HIST_BPF_H
#define ILB_LIVE_STAT_HIST_BPF_H

/* Histograms as measure/hist.c has them, inside of BPF programs. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "live/stat_record.h"

static __always_inline __u32 top_bit(__u64 value)
{
	__u32 bit = 0;

	if (value >> 32) {
		bit = 32;
		value >>= 32;
	}
	if (value >> 16) {
		bit += 16;
		value >>= 16;
	}
	if (value >> 8) {
		bit += 8;
		value >>= 8;
	}
	if (value >> 4) {
		bit += 4;
		value >>= 4;
	}
	if (value >> 2) {
		bit += 2;
		value >>= 2;
	}
	return bit + (value >> 1 ? 1 : 0);
}

static __always_inline void hist_add(struct ilb_stat_hist *hist, __u64 ns)
{
	__u64 us = ns / 1000;
	__u32 cell = (__u32)ns, bucket = us ? top_bit(us) + 1 : 0, shift;

	if (ns >= 16) {
		shift = top_bit(ns) - 4;
		cell = (shift + 1) * 16 + ((ns >> shift) & 15);
	}
	hist->count++;
	hist->sum_ns += ns;
	if (ns > hist->max_ns)
		hist->max_ns = ns;
	if (cell < ILB_STAT_CELLS)
		hist->cell[cell]++;
	if (bucket < ILB_STAT_LOG2)
		hist->log2_us[bucket]++;
}

#endif
