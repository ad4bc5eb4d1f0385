/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CORE_ENV_H
#define ILB_CORE_ENV_H

/*
 * The only file that knows the host: all that core/ needs from outside, for
 * user space (freestanding) and for the kernel module. Everything else in
 * core/ is plain C over caller-owned memory.
 *
 * ilb_fetch_*() change a shared word in one fully ordered step and return what
 * it held before; ilb_load() reads one, and is not reordered with the former.
 */

#include "ilb/target.h"

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/sched.h>
#include <linux/string.h>

/* The module supplies it: idle_cpu() is not exported to modules. */
int ilb_env_idle_cpu(unsigned int cpu);

static inline int ilb_idle(const struct ilb_view *view, unsigned int cpu)
{
	(void)view;
	return ilb_env_idle_cpu(cpu);
}

static inline unsigned long ilb_fetch_add(unsigned long *word,
					  unsigned long n)
{
	return (unsigned long)atomic_long_fetch_add((long)n,
						    (atomic_long_t *)word);
}

static inline unsigned long ilb_fetch_or(unsigned long *word,
					 unsigned long bits)
{
	return (unsigned long)atomic_long_fetch_or((long)bits,
						   (atomic_long_t *)word);
}

static inline unsigned long ilb_fetch_and(unsigned long *word,
					  unsigned long bits)
{
	return (unsigned long)atomic_long_fetch_and((long)bits,
						    (atomic_long_t *)word);
}

static inline unsigned long ilb_load(const unsigned long *word)
{
	return READ_ONCE(*word);
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

static inline unsigned long ilb_fetch_add(unsigned long *word,
					  unsigned long n)
{
	return __atomic_fetch_add(word, n, __ATOMIC_SEQ_CST);
}

static inline unsigned long ilb_fetch_or(unsigned long *word,
					 unsigned long bits)
{
	return __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST);
}

static inline unsigned long ilb_fetch_and(unsigned long *word,
					  unsigned long bits)
{
	return __atomic_fetch_and(word, bits, __ATOMIC_SEQ_CST);
}

static inline unsigned long ilb_load(const unsigned long *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

#endif

#endif
