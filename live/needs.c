// SPDX-License-Identifier: GPL-2.0-only
/* What a recording with trace-cmd, perf or BPF wants of a machine. */

#include <linux/capability.h>
#include <string.h>

#include "live/live.h"

/* Old headers do not have them. */
#define CAP_NR_PERFMON	38
#define CAP_NR_BPF	39

static enum ilb_answer has_cap(const struct ilb_facts *f, unsigned int cap)
{
	if (!f->caps_known)
		return ILB_ANSWER_UNKNOWN;
	return (f->caps >> cap) & 1 ? ILB_ANSWER_YES : ILB_ANSWER_NO;
}

/* CAP_SYS_ADMIN still includes what was once taken out of it. */
static enum ilb_answer has_cap_or_admin(const struct ilb_facts *f,
					unsigned int cap)
{
	if (has_cap(f, CAP_SYS_ADMIN) == ILB_ANSWER_YES)
		return ILB_ANSWER_YES;
	return has_cap(f, cap);
}

static void set(struct ilb_need *need, enum ilb_answer available,
		const char *remedy)
{
	need->available = available;
	need->remedy = available == ILB_ANSWER_YES ? NULL : remedy;
}

static void judge_tracefs(struct ilb_need *need, enum ilb_tracefs tracefs)
{
	switch (tracefs) {
	case ILB_TRACEFS_READABLE:
		set(need, ILB_ANSWER_YES, NULL);
		return;
	case ILB_TRACEFS_DENIED:
		set(need, ILB_ANSWER_NO,
		    "it is mounted; record as root, or let a group in: mount -o remount,mode=750,gid=GROUP /sys/kernel/tracing");
		return;
	case ILB_TRACEFS_UNMOUNTED:
		set(need, ILB_ANSWER_NO,
		    "as root: mount -t tracefs nodev /sys/kernel/tracing");
		return;
	case ILB_TRACEFS_UNSUPPORTED:
		set(need, ILB_ANSWER_NO,
		    "this kernel was built without tracing (CONFIG_FTRACE)");
		return;
	default:
		set(need, ILB_ANSWER_UNKNOWN,
		    "look whether /sys/kernel/tracing is mounted");
	}
}

/* What tracefs offers; where it is closed, what is built in. */
static void judge_csd(struct ilb_need *need, const struct ilb_facts *f)
{
	enum ilb_answer has = f->csd_events;

	if (has == ILB_ANSWER_UNKNOWN)
		has = f->symbols[ILB_SYMBOL_CSD_QUEUE];
	set(need, has, has == ILB_ANSWER_NO ?
	    "Linux 6.4 and later have them; here a probe on smp_call_function_single_async shows kicks, see ilb(1)" :
	    "look for csd:csd_queue_cpu in /sys/kernel/tracing/available_events, as root");
}

static void judge_lockdown(struct ilb_need *need, const char *lockdown)
{
	enum ilb_answer open = ILB_ANSWER_YES;

	if (!*lockdown)
		open = ILB_ANSWER_UNKNOWN;
	else if (!strcmp(lockdown, "confidentiality"))
		open = ILB_ANSWER_NO;
	set(need, open, open == ILB_ANSWER_NO ?
	    "boot without lockdown=confidentiality; integrity, Secure Boot's usual mode, allows tracing" :
	    "securityfs is not readable; most kernels without it have no lockdown");
}

static void judge_perf(struct ilb_need *need, const struct ilb_facts *f)
{
	enum ilb_answer may = has_cap_or_admin(f, CAP_NR_PERFMON);

	if (may != ILB_ANSWER_YES && f->perf_paranoid == -1)
		may = ILB_ANSWER_YES;
	if (may == ILB_ANSWER_NO && f->perf_paranoid == INT32_MAX)
		may = ILB_ANSWER_UNKNOWN;
	set(need, may,
	    "record as root or with CAP_PERFMON, or: sysctl kernel.perf_event_paranoid=-1");
}

static void judge_schedstats(struct ilb_need *need, const struct ilb_facts *f)
{
	set(need, f->schedstats,
	    f->schedstats_built_in == ILB_ANSWER_NO ?
	    "this kernel was built without CONFIG_SCHEDSTATS" :
	    "as root, while recording: sysctl kernel.sched_schedstats=1");
}

static void judge_caps(struct ilb_need *needs, const struct ilb_facts *f)
{
	static const char remedy[] =
		"run as root, or let an administrator grant it";

	set(&needs[ILB_NEEDED_CAP_BPF], has_cap_or_admin(f, CAP_NR_BPF),
	    remedy);
	set(&needs[ILB_NEEDED_CAP_PERFMON],
	    has_cap_or_admin(f, CAP_NR_PERFMON), remedy);
	set(&needs[ILB_NEEDED_CAP_SYS_ADMIN], has_cap(f, CAP_SYS_ADMIN),
	    remedy);
	set(&needs[ILB_NEEDED_CAP_DAC_READ_SEARCH],
	    has_cap(f, CAP_DAC_READ_SEARCH), remedy);
}

static void name_needs(struct ilb_need *needs)
{
	static const struct {
		const char *what, *purpose;
	} words[ILB_NEEDED_COUNT] = {
		[ILB_NEEDED_TRACEFS] = { "tracefs", "any event at all" },
		[ILB_NEEDED_CSD_EVENTS] = { "csd-events", "the kicks" },
		[ILB_NEEDED_KPROBES] = { "kprobes", "probes of the mask" },
		[ILB_NEEDED_MASK_SYMBOL] = { "mask-symbol",
					     "probes of the mask" },
		[ILB_NEEDED_BTF] = { "btf", "BPF programs" },
		[ILB_NEEDED_LOCKDOWN] = { "no-lockdown", "tracing, BPF" },
		[ILB_NEEDED_PERF] = { "perf-events", "perf of all CPUs" },
		[ILB_NEEDED_SCHEDSTATS] = { "schedstats",
					    "balancing attempts" },
		[ILB_NEEDED_CAP_BPF] = { "cap-bpf", "BPF programs" },
		[ILB_NEEDED_CAP_PERFMON] = { "cap-perfmon", "perf, BPF" },
		[ILB_NEEDED_CAP_SYS_ADMIN] = { "cap-sys-admin",
					       "mounting, sysctls" },
		[ILB_NEEDED_CAP_DAC_READ_SEARCH] = { "cap-dac-read-search",
						     "tracefs as it is" },
	};
	unsigned int i;

	for (i = 0; i < ILB_NEEDED_COUNT; i++) {
		needs[i].what = words[i].what;
		needs[i].purpose = words[i].purpose;
	}
}

void ilb_needs_judge(struct ilb_need *needs, const struct ilb_facts *facts)
{
	const struct ilb_facts *f = facts;

	name_needs(needs);
	judge_tracefs(&needs[ILB_NEEDED_TRACEFS], f->tracefs);
	judge_csd(&needs[ILB_NEEDED_CSD_EVENTS], f);
	set(&needs[ILB_NEEDED_KPROBES], f->symbols[ILB_SYMBOL_KPROBE],
	    "without CONFIG_KPROBES the tracepoints have to do");
	set(&needs[ILB_NEEDED_MASK_SYMBOL], f->symbols[ILB_SYMBOL_NOHZ],
	    "without the name 'nohz' (CONFIG_KALLSYMS_ALL) the mask is reconstructed from events");
	set(&needs[ILB_NEEDED_BTF], f->btf,
	    "needs CONFIG_DEBUG_INFO_BTF; trace-cmd and perf do without");
	judge_lockdown(&needs[ILB_NEEDED_LOCKDOWN], f->lockdown);
	judge_perf(&needs[ILB_NEEDED_PERF], f);
	judge_schedstats(&needs[ILB_NEEDED_SCHEDSTATS], f);
	judge_caps(needs, f);
}
