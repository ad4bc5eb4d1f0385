// SPDX-License-Identifier: GPL-2.0-only
/* Words of the module: repairs, counters, and why it was not loaded. */

#include <errno.h>
#include <string.h>

#include "ilb/fix.h"

static const char *const counters[] = {
	[ILB_FIX_CALLS] = "calls",
	[ILB_FIX_NARROWED] = "narrowed",
	[ILB_FIX_WOULD_NARROW] = "would_narrow",
	[ILB_FIX_SAME] = "same",
	[ILB_FIX_FALLBACK] = "fallback",
	[ILB_FIX_NO_TARGET] = "no_target",
	[ILB_FIX_NOT_READY] = "not_ready",
	[ILB_FIX_REGISTERED] = "registered",
	[ILB_FIX_WOULD_REGISTER] = "would_register",
	[ILB_FIX_REFUSED] = "refused",
};

#define REPORT	"please report this kernel with the line in dmesg"

/* First what the module says by its errno, then what the kernel says. */
static const struct ilb_fix_refusal refusals[] = {
	{ EINVAL, "no repair was asked for, or a parameter's value is none",
	  "dmesg names it" },
	{ EALREADY, "this kernel has the rule of idle-core built in, as Linux 7.3 has",
	  "nothing to repair; --repair nohz-full alone may still be of use" },
	{ ENOMSG, "the kernel's balancer does not call housekeeping_cpumask()",
	  REPORT },
	{ ENOTUNIQ, "the kernel's balancer calls housekeeping_cpumask() at several places",
	  REPORT },
	{ EILSEQ, "the function that chooses has another shape than any known",
	  REPORT },
	{ EBADMSG, "the place where a CPU registers was not found",
	  REPORT },
	{ ESRCH, "the kernel does not list a symbol that is needed",
	  "use a kernel with CONFIG_KALLSYMS_ALL; dmesg names the symbol" },
	{ ENODEV, "no core has two CPUs online",
	  "switch SMT on, or there is nothing to repair" },
	{ ENODATA, "no CPU has nohz_full, or the kernel was built without NO_HZ_FULL",
	  "nothing to repair" },
	{ EBUSY, "a livepatch or another module redirects housekeeping_cpumask()",
	  "unload that first" },
	{ ENOLINK, "ftrace cannot hook the function",
	  "dmesg has ftrace's reason" },
	{ ENOPKG, "CONFIG_DYNAMIC_FTRACE_WITH_ARGS is off",
	  "use a kernel that has it" },
	{ EPROTONOSUPPORT, "PREEMPT_RT: nobody has tried it there",
	  "use a kernel without it" },
	{ EOPNOTSUPP, "CFI or BTI, or a compressed module that the kernel cannot unpack",
	  "dmesg says which; use a kernel without the former, or unpack the file and give --module FILE" },
	{ ENXIO, "the kernel was built without NO_HZ_COMMON or SMP: it has no idle load balancer",
	  "nothing to repair" },
	{ E2BIG, "the machine has more than 8192 CPUs",
	  "please report it" },
	{ EDOM, "the kernel's siblings, caches or nodes contradict each other",
	  "dmesg says where; check with: ilb check" },
	{ ENOMEM, "the kernel is out of memory", "free some" },

	{ EPERM, "not permitted",
	  "load it as root (CAP_SYS_MODULE); with Secure Boot or lockdown it has to be signed with a key that the machine trusts" },
	{ EEXIST, "a module of this name is loaded already",
	  "ilb fix unload" },
	{ ENOEXEC, "it was built for another kernel, or is no module",
	  "build it for this one: make kmod" },
	{ ENOENT, "the kernel lacks a symbol that the module uses",
	  "dmesg names it; build the module for this kernel: make kmod" },
	{ ENOKEY, "the kernel does not know the key that signed it, or it is not signed",
	  "sign it with a key that the machine trusts (mokutil --import), as DKMS does" },
	{ EKEYREJECTED, "the kernel rejected its signature",
	  "sign it with a key that the machine trusts (mokutil --import), as DKMS does" },
	{ ENOSYS, "this kernel loads no modules",
	  "use one with CONFIG_MODULES" },
	{ ETXTBSY, "the file is open for writing",
	  "wait until it is built" },
};

static const struct ilb_fix_refusal other = {
	0, "the kernel refused it", "see dmesg"
};

enum ilb_repair ilb_repair_parse(const char *name)
{
	if (!strcmp(name, "idle-core"))
		return ILB_REPAIR_IDLE_CORE;
	return strcmp(name, "nohz-full") ? 0 : ILB_REPAIR_NOHZ_FULL;
}

const char *ilb_repair_name(enum ilb_repair repair)
{
	return repair == ILB_REPAIR_IDLE_CORE ? "idle-core" : "nohz-full";
}

const char *ilb_fix_counter_name(enum ilb_fix_counter counter)
{
	return (unsigned int)counter < ILB_FIX_COUNTERS ? counters[counter] :
							  NULL;
}

const struct ilb_fix_refusal *ilb_fix_refusal_find(int number)
{
	unsigned int i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].number == number)
			return &refusals[i];
	return &other;
}
