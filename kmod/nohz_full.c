// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repair nohz-full: an idle nohz_full CPU is registered with the balancer
 * even if its tick was stopped before it went idle.
 *
 * tick_nohz_idle_stop_tick() calls nohz_balance_enter_idle() only when it is
 * itself what stops the tick. A nohz_full CPU whose tick stopped while it was
 * busy, after a busy tick took it out of nohz.idle_cpus_mask, never comes
 * back: idle, and nobody pulls a task to it. Here the same call is made on
 * entry to tick_nohz_idle_stop_tick(), in the context of the kernel's own a
 * few instructions later. That function never restarts a stopped tick, so
 * entry is as good as exit; and the kernel registers the rest by itself.
 *
 * The function that is called does all tests and all writing; where the CPU
 * may not be registered it does nothing.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/static_call.h>
#include <linux/tick.h>

#include "kmod/ilb_fix.h"

static void no_enter_idle(int cpu)
{
}

DEFINE_STATIC_CALL(ilb_enter_idle, no_enter_idle);

static bool no_tick_stopped(void)
{
	return false;
}

DEFINE_STATIC_CALL(ilb_tick_stopped, no_tick_stopped);

/* Idle, tick stopped, not registered, and in a domain that is balanced? */
static bool is_lost(int cpu)
{
	bool stopped = static_call(ilb_tick_stopped)();

	return stopped && !need_resched() &&
	       !cpumask_test_cpu(cpu, ilb_nohz_mask()) &&
	       housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN);
}

/* Cheapest test first: this runs at each idle entry of every CPU. */
static void notrace hook(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	int cpu = raw_smp_processor_id();

	if (!tick_nohz_full_cpu(cpu) || !ilb_enabled() || !irqs_disabled() ||
	    !is_idle_task(current) || !is_lost(cpu))
		return;
	if (ilb_dry_run()) {
		ilb_count(ILB_COUNT_WOULD_REGISTER);
		return;
	}
	static_call(ilb_enter_idle)(cpu);
	/* Not where it is inactive or outside of all domains. */
	if (cpumask_test_cpu(cpu, ilb_nohz_mask()))
		ilb_count(ILB_COUNT_REGISTERED);
	else
		ilb_count(ILB_COUNT_REFUSED);
}

/*
 * FTRACE_OPS_FL_RCU: only called where RCU is watching, which what is called
 * needs. It brings ftrace's guard against recursion with it.
 */
static struct ftrace_ops ops = {
	.func	= hook,
	.flags	= FTRACE_OPS_FL_RCU,
};

static void no_work(void *unused)
{
}

static bool may_be_lost(int cpu, void *unused)
{
	return !cpumask_test_cpu(cpu, ilb_nohz_mask());
}

/*
 * Once more around the idle loop. Who is registered is not interrupted: most
 * CPUs that run a single task without a tick still are.
 */
void ilb_nohz_full_wake(void)
{
	on_each_cpu_cond_mask(may_be_lost, no_work, NULL, true,
			      tick_nohz_full_mask);
}

/* Is it this function that makes the kernel's own call? */
static int __init check_caller(unsigned long caller, unsigned long size,
			       unsigned long callee)
{
	const struct ilb_entry entry = ilb_code_entry(callee);
	struct ilb_code code;
	unsigned int n = 0;
	int err = ilb_code_read(&code, caller, size);

	if (err == -ENOMEM)
		return err;
	if (!err) {
		n = ilb_arch->calls(&code, &entry, NULL) +
		    ilb_arch->jumps(&code, &entry);
		ilb_code_free(&code);
	}
	if (n == 1)
		return 0;
	pr_err("nohz_full: tick_nohz_idle_stop_tick() registers a CPU at %u places, not one; report this kernel\n",
	       n);
	return -EBADMSG;
}

/* And does what it calls put the CPU into the mask that is tested here? */
static int __init check_callee(unsigned long callee, unsigned long size)
{
	struct ilb_code code;
	unsigned int n = 0;
	int err = ilb_code_read(&code, callee, size);

	if (err == -ENOMEM)
		return err;
	if (!err) {
		n = ilb_arch->loads(&code, ilb_nohz);
		ilb_code_free(&code);
	}
	if (n)
		return 0;
	pr_err("nohz_full: nohz_balance_enter_idle() does not load nohz.idle_cpus_mask; report this kernel\n");
	return -EBADMSG;
}

static int __init set_hook(unsigned long target)
{
	int err = ftrace_set_filter_ip(&ops, target, 0, 0);

	if (!err)
		err = register_ftrace_function(&ops);
	if (!err)
		return 0;
	ftrace_free_filter(&ops);
	pr_err("nohz_full: ftrace cannot hook tick_nohz_idle_stop_tick() (error %d); use a kernel whose ftrace works\n",
	       err);
	return -ENOLINK;
}

int __init ilb_nohz_full_init(void)
{
	unsigned long enter, stopped, stop, enter_size, size;
	int err;

	if (!tick_nohz_full_enabled()) {
		pr_err("nohz_full: this kernel was booted without nohz_full CPUs, so none is lost; load without nohz_full=1\n");
		return -ENODATA;
	}
	enter = ilb_symbol_need("nohz_balance_enter_idle", &enter_size);
	stopped = ilb_symbol_need("tick_nohz_tick_stopped", &size);
	stop = ilb_symbol_need("tick_nohz_idle_stop_tick", &size);
	if (!enter || !stopped || !stop)
		return -ESRCH;
	err = check_caller(stop, size, enter);
	if (!err)
		err = check_callee(enter, enter_size);
	if (err)
		return err;
	static_call_update(ilb_enter_idle, (void (*)(int))enter);
	static_call_update(ilb_tick_stopped, (bool (*)(void))stopped);
	err = set_hook(stop);
	if (err)
		return err;
	ilb_nohz_full_wake();
	return 0;
}

void ilb_nohz_full_exit(void)
{
	unregister_ftrace_function(&ops);
	synchronize_rcu();
	ftrace_free_filter(&ops);
}
