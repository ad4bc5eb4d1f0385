// SPDX-License-Identifier: GPL-2.0-only
/*
 * ilb_fix: two repairs of the NOHZ idle load balancer, on a running kernel.
 *
 *	insmod ilb_fix.ko idle_core=1 [policy=near]
 *	insmod ilb_fix.ko nohz_full=1
 *
 * docs/fix.md says how each works, what it promises, and what its counters
 * mean. Loaded only where it can be proved from the kernel's own code that it
 * does what it should.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sysfs.h>

#include "ilb/target.h"
#include "kmod/ilb_fix.h"

static bool idle_core;
module_param(idle_core, bool, 0400);
MODULE_PARM_DESC(idle_core, "let the ILB be a CPU of a fully idle core");

static bool nohz_full;
module_param(nohz_full, bool, 0400);
MODULE_PARM_DESC(nohz_full, "register idle nohz_full CPUs that are lost");

static bool enable = true;
static bool dry_run;

static const char *const policies[] = { "idle-core", "near" };
static struct ilb_policy parsed[ARRAY_SIZE(policies)] __ro_after_init;
static unsigned int policy;

bool notrace ilb_enabled(void)
{
	return READ_ONCE(enable);
}

bool notrace ilb_dry_run(void)
{
	return READ_ONCE(dry_run);
}

struct ilb_policy ilb_policy_now(void)
{
	return parsed[READ_ONCE(policy)];
}

/* What lies idle already would not notice. */
static int switch_set(const char *value, const struct kernel_param *param)
{
	int err = param_set_bool(value, param);

	if (!err && nohz_full && THIS_MODULE->state == MODULE_STATE_LIVE)
		ilb_nohz_full_wake();
	return err;
}

static const struct kernel_param_ops switch_ops = {
	.flags	= KERNEL_PARAM_OPS_FL_NOARG,
	.set	= switch_set,
	.get	= param_get_bool,
};
module_param_cb(enable, &switch_ops, &enable, 0600);
MODULE_PARM_DESC(enable, "0: leave all to the kernel (default 1)");
module_param_cb(dry_run, &switch_ops, &dry_run, 0600);
MODULE_PARM_DESC(dry_run, "1: count what would be done, do nothing");

static int policy_set(const char *value, const struct kernel_param *param)
{
	int found = sysfs_match_string(policies, value);

	if (found < 0)
		return -EINVAL;
	WRITE_ONCE(policy, found);
	return 0;
}

static int policy_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", policies[READ_ONCE(policy)]);
}

static const struct kernel_param_ops policy_ops = {
	.set	= policy_set,
	.get	= policy_get,
};
module_param_cb(policy, &policy_ops, NULL, 0600);
MODULE_PARM_DESC(policy, "of idle_core: idle-core (default) or near");

static int counters_get(char *buffer, const struct kernel_param *param)
{
	return ilb_counters_print(buffer);
}

static const struct kernel_param_ops counters_ops = {
	.get	= counters_get,
};
module_param_cb(counters, &counters_ops, NULL, 0400);
MODULE_PARM_DESC(counters, "what happened so far (read only)");

/* What the kernel's configuration rules out, as no code can tell. */
static int __init check_config(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_err("PREEMPT_RT: balancing works differently there, which nobody has tried; use a kernel without it\n");
		return -EPROTONOSUPPORT;
	}
	if (IS_ENABLED(CONFIG_CFI) || IS_ENABLED(CONFIG_CFI_CLANG) ||
	    IS_ENABLED(CONFIG_ARM64_BTI_KERNEL)) {
		pr_err("CFI or BTI: functions without a landing pad cannot be called safely; use a kernel without it\n");
		return -EOPNOTSUPP;
	}
	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)) {
		pr_err("CONFIG_DYNAMIC_FTRACE_WITH_ARGS is off: calls cannot be redirected; use a kernel that has it\n");
		return -ENOPKG;
	}
	if (!IS_ENABLED(CONFIG_NO_HZ_COMMON) || !IS_ENABLED(CONFIG_SMP)) {
		pr_err("CONFIG_NO_HZ_COMMON or CONFIG_SMP is off: there is no idle load balancer; nothing to repair\n");
		return -ENXIO;
	}
	return 0;
}

static int __init check_parameters(void)
{
	unsigned int i;

	if (!idle_core && !nohz_full) {
		pr_err("no repair was asked for; give idle_core=1, nohz_full=1 or both\n");
		return -EINVAL;
	}
	for (i = 0; i < ARRAY_SIZE(policies); i++)
		if (ilb_policy_parse(&parsed[i], policies[i], nr_cpu_ids))
			return -EINVAL;
	return 0;
}

static int __init start(void)
{
	int err = 0;

	if (idle_core)
		err = ilb_idle_core_init();
	if (err || !nohz_full)
		return err;
	err = ilb_nohz_full_init();
	if (err && idle_core)
		ilb_idle_core_exit();
	return err;
}

static int __init ilb_fix_init(void)
{
	int err = check_parameters();

	if (!err)
		err = check_config();
	if (!err)
		err = ilb_symbols_init();
	if (!err)
		err = ilb_nohz_init();
	if (!err)
		err = start();
	if (!err)
		pr_info("loaded:%s%s%s\n", idle_core ? " idle_core" : "",
			nohz_full ? " nohz_full" : "",
			dry_run ? " (dry run)" : "");
	return err;
}

static void __exit ilb_fix_exit(void)
{
	if (nohz_full)
		ilb_nohz_full_exit();
	if (idle_core)
		ilb_idle_core_exit();
	pr_info("unloaded\n");
}

module_init(ilb_fix_init);
module_exit(ilb_fix_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Repairs of the NOHZ idle load balancer");
