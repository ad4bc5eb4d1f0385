/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_WAKE_H
#define ILB_WAKE_H

#include "ilb/balance.h"

/**
 * DOC: wake - where a task goes that wakes up
 *
 * The fast path of placement: the waker's CPU or the task's own, and from
 * there to an idle CPU near by. It reads the same facts as balance.h.
 */

/**
 * struct ilb_wakeup - a task that wakes up; the host fills all of it
 * @prev: where it ran last
 * @waker: the CPU that wakes it
 * @recent: where it ran before @prev; ILB_CPU_NONE: unknown
 * @load, @util: the task's
 * @uclamp_min: capacity that it asks for; 0: none
 * @allowed: CPUs that it may run on, @prev being one; NULL: all
 * @waker_load: load of the task that wakes it
 * @sync: the waker is about to sleep
 * @wide: the waker wakes many: do not gather them around it
 */
struct ilb_wakeup {
	unsigned int prev, waker, recent;
	unsigned long load, util, uclamp_min;
	const unsigned long *allowed;
	unsigned long waker_load;
	int sync;
	int wide;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_wake_cpu() - the CPU that the task is queued on
 *
 * ilb_wake_affine(), then ilb_wake_sibling().
 */
unsigned int ilb_wake_cpu(struct ilb_balance *balance,
			  const struct ilb_wakeup *wakeup);

/**
 * ilb_wake_affine() - wake_affine(): @wakeup->waker or @wakeup->prev
 *
 * The waker's if both share a domain where that is allowed, and it is idle or
 * will be, or is less loaded by a margin.
 */
unsigned int ilb_wake_affine(const struct ilb_balance *balance,
			     const struct ilb_wakeup *wakeup);

/**
 * ilb_wake_sibling() - select_idle_sibling(): an idle CPU near @target
 *
 * Returns @target if none is found. May take back the hint that there are
 * idle cores.
 */
unsigned int ilb_wake_sibling(struct ilb_balance *balance, unsigned int target,
			      const struct ilb_wakeup *wakeup);

#ifdef __cplusplus
}
#endif
#endif
