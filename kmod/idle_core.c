// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repair idle-core: the ILB goes to a fully idle core (Linux 7.3's rule, or
 * the nearest such core) on kernels that take the lowest idle CPU.
 *
 * find_new_ilb() asks housekeeping_cpumask() which CPUs may be chosen, and
 * chooses among them by itself. For this one call, and with interrupts off as
 * they always are there, the answer is a subset of the true one, from which
 * the kernel chooses as the policy would. No kernel data is written, and the
 * kernel's own tests all remain: what is raced with costs one kick, which the
 * next tick makes up for.
 *
 * Done by an ftrace hook on housekeeping_cpumask() that looks at the return
 * address, not by a kprobe on the call instruction. Both were measured to
 * work. ftrace, since the code that answers is an ordinary function then:
 * probes that others have on what it calls still fire (inside of a kprobe's
 * handler they miss), there is no trap at each kick, nothing is patched
 * inside of a function whose instructions would have to be decoded for that,
 * and the kernel itself sees to it that no livepatch or other module
 * redirects the function at the same time. The price is a comparison in all
 * other calls of it, none of which is hot, and that a return probe on it may
 * hide the return address (it does on arm64, it did not on x86): then nothing
 * is changed until it is gone.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/find.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>
#include <linux/sched/smt.h>
#include <linux/smp.h>
#include <linux/static_call.h>

#include "core/env.h"
#include "kmod/ilb_fix.h"
#include "kmod/narrow.h"
#include "kmod/site.h"

/* The older name of the same; 6.2 replaced it. */
#ifdef ftrace_instruction_pointer_set
#define redirect(fregs, to)	ftrace_instruction_pointer_set(fregs, to)
#else
#define redirect(fregs, to)	ftrace_regs_set_instruction_pointer(fregs, to)
#endif

struct room {
	cpumask_var_t idle, scratch, answer;
};

static DEFINE_PER_CPU(struct room, rooms);
static unsigned long return_to __ro_after_init;

static int no_idle_cpu(int cpu)
{
	return 0;
}

DEFINE_STATIC_CALL(ilb_idle_cpu, no_idle_cpu);

int ilb_env_idle_cpu(unsigned int cpu)
{
	return static_call(ilb_idle_cpu)((int)cpu);
}

static enum ilb_narrowing narrow(const struct cpumask *truth,
				 const struct ilb_topology *topology,
				 struct room *room)
{
	struct ilb_policy policy = ilb_policy_now();
	struct ilb_view view = {
		.topology	= topology,
		.mask		= cpumask_bits(room->idle),
		.housekeeping	= cpumask_bits(truth),
		.kicker		= smp_processor_id(),
		.scratch	= cpumask_bits(room->scratch),
	};

	/* CPUs enter and leave while the rules look: let them see one state. */
	cpumask_copy(room->idle, ilb_nohz_mask());
	return ilb_narrow(&policy, &view, cpumask_bits(room->answer));
}

static void count_left(enum ilb_narrowing why)
{
	static const enum ilb_counter counters[] = {
		[ILB_LEFT_SAME]		= ILB_COUNT_SAME,
		[ILB_LEFT_FALLBACK]	= ILB_COUNT_FALLBACK,
		[ILB_LEFT_NO_TARGET]	= ILB_COUNT_NO_TARGET,
	};

	ilb_count(counters[why]);
}

/* In place of housekeeping_cpumask(), for the one caller. */
static const struct cpumask *answer(enum hk_type type)
{
	/* Called from here, this one is not redirected. */
	const struct cpumask *truth = housekeeping_cpumask(type);
	const struct ilb_topology *topology = ilb_machine();
	struct room *room = this_cpu_ptr(&rooms);
	enum ilb_narrowing narrowing;

	if (!topology) {
		ilb_count(ILB_COUNT_NOT_READY);
		return truth;
	}
	narrowing = narrow(truth, topology, room);
	if (narrowing != ILB_NARROWED) {
		count_left(narrowing);
		return truth;
	}
	if (ilb_dry_run()) {
		ilb_count(ILB_COUNT_WOULD_NARROW);
		return truth;
	}
	ilb_count(ILB_COUNT_NARROWED);
	return room->answer;
}

/*
 * Interrupts off are what keeps the answer in this CPU's room valid until the
 * kernel has read it, and what unloading waits for.
 */
static void notrace hook(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (likely(parent_ip != return_to) || !ilb_enabled())
		return;
	ilb_count(ILB_COUNT_CALLS);
	if (irqs_disabled())
		redirect(fregs, (unsigned long)answer);
	else
		ilb_count(ILB_COUNT_NOT_READY);
}

/*
 * Without FTRACE_OPS_FL_RECURSION: hook() calls nothing that is traced, so
 * there is nothing to guard against, and a guard would cost at every call.
 */
static struct ftrace_ops ops = {
	.func	= hook,
	.flags	= FTRACE_OPS_FL_IPMODIFY,
};

static int __init look_at(const char *name, const struct ilb_landmarks *marks,
			  struct ilb_site *site)
{
	unsigned long address, size;
	struct ilb_code code;
	int err;

	address = ilb_symbol_find(name, &size);
	if (!address)
		return 0;
	if (IS_ERR_VALUE(address))
		return (int)address;
	err = ilb_code_read(&code, address, size);
	if (err == -EFAULT) {
		pr_err("%s: %lu bytes of code cannot be read; report this kernel\n",
		       name, size);
		return -ESRCH;
	}
	if (err)
		return err;
	ilb_site_look(site, ilb_arch, &code, marks);
	ilb_code_free(&code);
	return 0;
}

static int __init judge(const struct ilb_site *site)
{
	switch (ilb_site_judge(site)) {
	case ILB_SITE_FOUND:
		return 0;
	case ILB_SITE_BUILT_IN:
		pr_err("idle_core: this kernel prefers idle cores by itself; nothing to repair, load with nohz_full=1 alone if at all\n");
		return -EALREADY;
	case ILB_SITE_NOT_UNIQUE:
		pr_err("idle_core: housekeeping_cpumask() is called at %u places of the balancer, not one; report this kernel\n",
		       site->asks);
		return -ENOTUNIQ;
	case ILB_SITE_NO_CALL:
		pr_err("idle_core: no call of housekeeping_cpumask() in the balancer; report this kernel\n");
		return -ENOMSG;
	default:
		pr_err("idle_core: the ILB is chosen in an unknown way (%u idle tests, %u walks, %u loads of nohz); report this kernel\n",
		       site->idle_tests, site->walks, site->nohz);
		return -EILSEQ;
	}
}

/* By which of these names it goes depends on what was inlined. */
static int __init find_site(unsigned long idle_cpu)
{
	static const char *const names[] = {
		"find_new_ilb", "kick_ilb", "nohz_balancer_kick",
		"trigger_load_balance", "sched_balance_trigger",
	};
	const struct ilb_landmarks marks = {
		ilb_code_entry((unsigned long)housekeeping_cpumask),
		ilb_code_entry(idle_cpu),
		ilb_code_entry((unsigned long)_find_next_and_bit),
		ilb_code_entry((unsigned long)__bitmap_and),
		ilb_nohz,
	};
	struct ilb_site site = { 0 };
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		err = look_at(names[i], &marks, &site);
		if (err)
			return err;
	}
	return_to = site.return_to;
	return judge(&site);
}

static void free_rooms(void)
{
	struct room *room;
	int cpu;

	for_each_possible_cpu(cpu) {
		room = per_cpu_ptr(&rooms, cpu);
		free_cpumask_var(room->idle);
		free_cpumask_var(room->scratch);
		free_cpumask_var(room->answer);
	}
}

static int __init alloc_rooms(void)
{
	struct room *room;
	int cpu, node;

	for_each_possible_cpu(cpu) {
		room = per_cpu_ptr(&rooms, cpu);
		node = cpu_to_node(cpu);
		if (!zalloc_cpumask_var_node(&room->idle, GFP_KERNEL, node) ||
		    !zalloc_cpumask_var_node(&room->scratch, GFP_KERNEL,
					     node) ||
		    !zalloc_cpumask_var_node(&room->answer, GFP_KERNEL,
					     node)) {
			free_rooms();
			return -ENOMEM;
		}
	}
	return 0;
}

static int __init set_hook(void)
{
	unsigned long target = (unsigned long)housekeeping_cpumask;
	int err = ftrace_set_filter_ip(&ops, target, 0, 0);

	if (!err)
		err = register_ftrace_function(&ops);
	if (!err)
		return 0;
	ftrace_free_filter(&ops);
	if (err == -EBUSY)
		pr_err("idle_core: a livepatch or another module redirects housekeeping_cpumask() already; remove that first\n");
	else
		pr_err("idle_core: ftrace cannot hook housekeeping_cpumask() (error %d); use a kernel whose ftrace works\n",
		       err);
	return err == -EBUSY ? -EBUSY : -ENOLINK;
}

int __init ilb_idle_core_init(void)
{
	unsigned long idle_cpu, size;
	int err;

	if (!sched_smt_active()) {
		pr_err("idle_core: no core has two CPUs online, so every idle CPU is an idle core; switch SMT on or load without idle_core=1\n");
		return -ENODEV;
	}
	idle_cpu = ilb_symbol_need("idle_cpu", &size);
	if (!idle_cpu)
		return -ESRCH;
	err = find_site(idle_cpu);
	if (err)
		return err;
	static_call_update(ilb_idle_cpu, (int (*)(int))idle_cpu);
	err = ilb_machine_init();
	if (err)
		return err;
	err = alloc_rooms();
	if (err)
		goto out_machine;
	err = set_hook();
	if (!err)
		return 0;
	free_rooms();
out_machine:
	ilb_machine_exit();
	return err;
}

void ilb_idle_core_exit(void)
{
	unregister_ftrace_function(&ops);
	/* Answers are made and read with interrupts off. */
	synchronize_rcu();
	ftrace_free_filter(&ops);
	ilb_machine_exit();
	free_rooms();
}
