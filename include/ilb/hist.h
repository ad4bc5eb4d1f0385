/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_HIST_H
#define ILB_HIST_H

#include <stdint.h>

/**
 * DOC: histograms of durations
 *
 * Fixed memory: 16 cells per power of two, so a percentile is the middle of a
 * cell that is at most 1/16 wide (3 % off at worst). count, sum and max are
 * exact. For people and JSON the cells are summed to powers of two in
 * microseconds, as bpftrace prints them: [0, 1), [1, 2), [2, 4) ...
 */
#define ILB_HIST_CELLS	(16 * 61)
#define ILB_HIST_LOG2	48

/** struct ilb_hist - zero it to start */
struct ilb_hist {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns;
	uint32_t cell[ILB_HIST_CELLS];
	uint64_t log2_us[ILB_HIST_LOG2];	/* [0]: below 1 us; [k]: 2^(k-1) to 2^k us */
};

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_hist_add() - one value; counts saturate. */
void ilb_hist_add(struct ilb_hist *hist, uint64_t ns);

/**
 * ilb_hist_percentile() - the smallest value that @percent of them do not pass
 * @percent: 0 (the smallest) to 100 (exactly max_ns)
 *
 * Returns ns, never above max_ns; 0 if empty.
 */
uint64_t ilb_hist_percentile(const struct ilb_hist *hist, unsigned int percent);

#ifdef __cplusplus
}
#endif
#endif
