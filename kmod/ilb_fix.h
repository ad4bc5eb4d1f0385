/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_KMOD_ILB_FIX_H
#define ILB_KMOD_ILB_FIX_H

#include <linux/init.h>
#include <linux/printk.h>
#include <linux/types.h>

#include "ilb/target.h"
#include "kmod/arch.h"

/**
 * DOC: errors - why the module does not load
 *
 * Every refusal is one line in the kernel's log, with what to do, and an
 * error of its own, which docs/fix.md lists: init functions here return one
 * of those.
 */

/**
 * enum ilb_counter - what happened, in the words of measure/
 *
 * calls is the sum of those after it up to not_ready. With dry_run what would
 * have been done is counted as would_narrow and would_register.
 */
enum ilb_counter {
	ILB_COUNT_CALLS,	/* the kernel asked who may become the ILB */
	ILB_COUNT_NARROWED,	/* ... and was led to another CPU */
	ILB_COUNT_WOULD_NARROW,
	ILB_COUNT_SAME,		/* its own choice is the policy's */
	ILB_COUNT_FALLBACK,	/* no core is fully idle */
	ILB_COUNT_NO_TARGET,	/* no CPU is idle */
	ILB_COUNT_NOT_READY,	/* interrupts on, or the topology is unknown */
	ILB_COUNT_REGISTERED,	/* an idle nohz_full CPU, lost until then */
	ILB_COUNT_WOULD_REGISTER,
	ILB_COUNT_REFUSED,	/* the kernel did not register it */
	ILB_COUNTERS,
};

/* parameters */
bool ilb_enabled(void);
bool ilb_dry_run(void);

/** ilb_policy_now() - a copy of the policy in force. */
struct ilb_policy ilb_policy_now(void);

/* counters.c */
void ilb_count(enum ilb_counter counter);
int ilb_counters_print(char *buffer);

/* symbols.c: nothing is found before ilb_symbols_init(). */
int ilb_symbols_init(void) __init;

/**
 * ilb_symbol_find() - a symbol of the kernel itself
 * @size: set to the bytes until the next symbol
 *
 * Returns its address; 0 if there is none. An error pointer's value, after a
 * line in the log, if it is not what it seems.
 */
unsigned long ilb_symbol_find(const char *name, unsigned long *size) __init;

/** ilb_symbol_need() - the same; 0 after a line in the log without it. */
unsigned long ilb_symbol_need(const char *name, unsigned long *size) __init;

/** ilb_code_read() - copy a function's code. Returns 0, -ENOMEM, -EFAULT. */
int ilb_code_read(struct ilb_code *code, unsigned long address,
		  unsigned long size) __init;
void ilb_code_free(struct ilb_code *code) __init;

/** ilb_code_entry() - where direct branches enter the function @address. */
struct ilb_entry ilb_code_entry(unsigned long address) __init;
extern const struct ilb_arch *const ilb_arch;

/** ilb_nohz_init() - find nohz.idle_cpus_mask. Once for both repairs. */
int ilb_nohz_init(void) __init;
extern unsigned long ilb_nohz;
const struct cpumask *ilb_nohz_mask(void);

/* machine.c: the topology, renewed when CPUs come and go */
int ilb_machine_init(void) __init;
void ilb_machine_exit(void);

/** ilb_machine() - NULL: not known. Interrupts must be off while in use. */
const struct ilb_topology *ilb_machine(void);

/* the repairs */
int ilb_idle_core_init(void) __init;
void ilb_idle_core_exit(void);

#ifdef CONFIG_NO_HZ_FULL

int ilb_nohz_full_init(void) __init;
void ilb_nohz_full_exit(void);

/** ilb_nohz_full_wake() - let CPUs that are lost already register. */
void ilb_nohz_full_wake(void);

#else

static inline int ilb_nohz_full_init(void)
{
	pr_err("nohz_full: this kernel has no CONFIG_NO_HZ_FULL, so no CPU is lost; load without nohz_full=1\n");
	return -ENODATA;
}

static inline void ilb_nohz_full_exit(void)
{
}

static inline void ilb_nohz_full_wake(void)
{
}

#endif

#endif
