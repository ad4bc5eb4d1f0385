/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_BENCH_TARGET_SCAN_H
#define ILB_TESTS_BENCH_TARGET_SCAN_H

#include "ilb/target.h"

/**
 * bench_scan_masks() - idle-core as Linux 7.3 scans
 * @smt: per CPU, ILB_MASK_WORDS(nr_cpus) words each: its core's CPUs
 *
 * Same choice and same idle tests as the rule idle-core; a core leaves the
 * scan by a pass over whole masks.
 */
struct ilb_choice bench_scan_masks(const struct ilb_view *view,
				   const unsigned long *smt);

#endif
