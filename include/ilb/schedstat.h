/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_SCHEDSTAT_H
#define ILB_SCHEDSTAT_H

#include <stdint.h>

/** enum ilb_idle_type - of /proc/schedstat's load-balance columns */
enum ilb_idle_type {
	ILB_IDLE_BUSY,
	ILB_IDLE_IDLE,
	ILB_IDLE_NEWLY,
	ILB_IDLE_TYPES
};

/**
 * struct ilb_lb_counts - load balancing of one idle type, as schedstat counts
 * @lb: attempts
 * @balanced: of these, found nothing to do or were not designated
 * @failed: found something to move and moved nothing
 * @gained: tasks moved
 * @imb_load: imbalances found, summed by kind. v15 and v16 of the file have
 *	one number for all kinds, which is here
 * @imb_util, @imb_task, @imb_misfit: likewise
 */
struct ilb_lb_counts {
	uint64_t lb, balanced, failed, gained;
	uint64_t imb_load, imb_util, imb_task, imb_misfit;
};

#endif
