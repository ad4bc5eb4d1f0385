/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CORE_ENV_H
#define ILB_CORE_ENV_H

/*
 * The only file that knows the host: all that core/ needs from outside, for
 * user space (freestanding) and for the kernel module. Everything else in
 * core/ is plain C over caller-owned memory.
 */

#include "ilb/target.h"

#ifdef __KERNEL__

#include <linux/sched.h>
#include <linux/string.h>

/* The module supplies it: idle_cpu() is not exported to modules. */
int ilb_env_idle_cpu(unsigned int cpu);

static inline int ilb_idle(const struct ilb_view *view, unsigned int cpu)
{
	(void)view;
	return ilb_env_idle_cpu(cpu);
}

#else

#include <stddef.h>

/* A freestanding compiler may call these three and nothing else. */
void *memcpy(void *dst, const void *src, __SIZE_TYPE__ n);
void *memset(void *dst, int byte, __SIZE_TYPE__ n);
int memcmp(const void *a, const void *b, __SIZE_TYPE__ n);

static inline int ilb_idle(const struct ilb_view *view, unsigned int cpu)
{
	return ilb_mask_test(view->idle, cpu);
}

#endif

#endif
