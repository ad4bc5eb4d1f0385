// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of the kernel that are not exported. A name is only believed if the
 * symbol table gives it back for the address; what it stands for is proved by
 * the code that refers to it (site.c).
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "kmod/ilb_fix.h"

#if !defined(CONFIG_KPROBES) || !defined(CONFIG_KALLSYMS)
#error "CONFIG_KPROBES and CONFIG_KALLSYMS are needed to find functions"
#endif
#ifndef CONFIG_FUNCTION_TRACER
#error "CONFIG_FUNCTION_TRACER is needed to hook functions"
#endif

#define CODE_SIZE_MIN	16UL
#define CODE_SIZE_MAX	0x4000UL

#if defined(CONFIG_X86_64)
const struct ilb_arch *const ilb_arch = &ilb_arch_x86;
#ifdef CONFIG_FUNCTION_PADDING_BYTES
#define ENTRY_BEFORE	CONFIG_FUNCTION_PADDING_BYTES
#else
#define ENTRY_BEFORE	0
#endif
#elif defined(CONFIG_ARM64)
const struct ilb_arch *const ilb_arch = &ilb_arch_arm64;
#define ENTRY_BEFORE	0
#else
#error "x86-64 and arm64 only: the scanner reads their code"
#endif
/* An ENDBR64, or a BTI: four bytes both. */
#define ENTRY_AFTER	4

unsigned long ilb_nohz __ro_after_init;

/*
 * What is found is called through static calls: on x86 these are direct
 * CALLs, as an indirect one faults where the ENDBR of a function that nobody
 * calls indirectly was sealed (CONFIG_X86_KERNEL_IBT). On arm64 they are
 * indirect calls, and kernels with landing pads are refused.
 */
static unsigned long no_lookup(const char *name)
{
	return 0;
}

DEFINE_STATIC_CALL(ilb_lookup, no_lookup);

/* Not __init: static calls are patched where they stand. */
static unsigned long lookup(const char *name)
{
	return static_call(ilb_lookup)(name);
}

/*
 * What the symbol table says about @address, as "NAME+0xOFFSET/0xSIZE" and
 * nothing after it: a module's symbol would have the module's name there.
 */
static int __init describes(const char *name, unsigned long address,
			    unsigned long *offset, unsigned long *size)
{
	char text[KSYM_SYMBOL_LEN];
	size_t length = strlen(name);
	int end = 0;

	sprint_symbol(text, address);
	return strlen(text) > length && !memcmp(text, name, length) &&
	       sscanf(text + length, "+0x%lx/0x%lx%n", offset, size, &end) ==
	       2 && !text[length + end];
}

/* A kprobe that is never armed tells where a function is. */
static unsigned long __init find_by_kprobe(const char *name)
{
	struct kprobe probe = {
		.symbol_name	= name,
		.flags		= KPROBE_FLAG_DISABLED,
	};
	unsigned long address, offset, size;

	if (register_kprobe(&probe))
		return 0;
	address = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	/* It may be put behind a landing pad. */
	if (!describes(name, address, &offset, &size) || offset > ENTRY_AFTER)
		return 0;
	return address - offset;
}

int __init ilb_symbols_init(void)
{
	unsigned long address = find_by_kprobe("kallsyms_lookup_name");

	if (!address) {
		pr_err("kallsyms_lookup_name: not found by a kprobe; use a kernel with CONFIG_KPROBES and CONFIG_KALLSYMS_ALL\n");
		return -ESRCH;
	}
	static_call_update(ilb_lookup,
			   (unsigned long (*)(const char *))address);
	return 0;
}

unsigned long __init ilb_symbol_find(const char *name, unsigned long *size)
{
	unsigned long address = lookup(name);
	unsigned long offset;

	if (!address)
		return 0;
	if (!describes(name, address, &offset, size) || offset) {
		pr_err("%s: the symbol table contradicts itself; report this kernel\n",
		       name);
		return -ESRCH;
	}
	return address;
}

unsigned long __init ilb_symbol_need(const char *name, unsigned long *size)
{
	unsigned long address = ilb_symbol_find(name, size);

	if (!address)
		pr_err("%s: this kernel has no such symbol; report this kernel\n",
		       name);
	return IS_ERR_VALUE(address) ? 0 : address;
}

struct ilb_entry __init ilb_code_entry(unsigned long address)
{
	struct ilb_entry entry = { address, ENTRY_BEFORE, ENTRY_AFTER };

	return entry;
}

int __init ilb_code_read(struct ilb_code *code, unsigned long address,
			 unsigned long size)
{
	void *bytes;

	if (size < CODE_SIZE_MIN || size > CODE_SIZE_MAX)
		return -EFAULT;
	bytes = kmalloc(size, GFP_KERNEL);
	if (!bytes)
		return -ENOMEM;
	if (copy_from_kernel_nofault(bytes, (void *)address, size)) {
		kfree(bytes);
		return -EFAULT;
	}
	code->bytes = bytes;
	code->size = size;
	code->address = address;
	return 0;
}

void __init ilb_code_free(struct ilb_code *code)
{
	kfree(code->bytes);
}

/*
 * idle_cpus_mask is the first member of nohz, as a pointer or in place. Code
 * that loads it from there is what proves that (ilb_site_judge()).
 */
const struct cpumask *ilb_nohz_mask(void)
{
	cpumask_var_t *mask = (cpumask_var_t *)ilb_nohz;

	return *mask;
}

static bool __init nohz_mask_valid(void)
{
	const struct cpumask *mask;

	if (!IS_ENABLED(CONFIG_CPUMASK_OFFSTACK))
		return true;
	if (copy_from_kernel_nofault(&mask, (void *)ilb_nohz, sizeof(mask)) ||
	    !virt_addr_valid(mask))
		return false;
	return cpumask_subset(mask, cpu_possible_mask);
}

int __init ilb_nohz_init(void)
{
	unsigned long size;

	ilb_nohz = ilb_symbol_need("nohz", &size);
	if (!ilb_nohz)
		return -ESRCH;
	if (size < sizeof(cpumask_var_t) || !nohz_mask_valid()) {
		pr_err("nohz: does not start with the mask of idle CPUs; report this kernel\n");
		return -ESRCH;
	}
	return 0;
}
