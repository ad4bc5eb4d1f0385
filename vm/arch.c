// SPDX-License-Identifier: GPL-2.0-only
/* What differs between architectures: rows of a table. */

#include <elf.h>
#include <string.h>

#include "vm/vm.h"

/*
 * Under emulation every CPU would calibrate its delay loop, one after the
 * other, and bringing them up in parallel only makes them wait for each other:
 * with 64 CPUs that takes minutes. AMD's "max" has no threads.
 */
static const struct ilb_vm_machine machines[ILB_VM_ARCHES] = {
	[ILB_VM_AMD64] = {
		.name = "amd64",
		.machine = EM_X86_64,
		.qemu = "qemu-system-x86_64",
		.package = "qemu-system-x86",
		.board = "q35",
		.cpu = "max,vendor=GenuineIntel",
		.console = "ttyS0",
		.emulated = " tsc=reliable lpj=9000000 cpuhp.parallel=0",
		.dies = 1,
		.cpus_max = 4096,
	},
	[ILB_VM_ARM64] = {
		.name = "arm64",
		.machine = EM_AARCH64,
		.qemu = "qemu-system-aarch64",
		.package = "qemu-system-arm",
		.board = "virt,gic-version=3",
		.cpu = "neoverse-n1",
		.console = "ttyAMA0",
		.emulated = "",
		.cpus_max = 512,
	},
};

const struct ilb_vm_machine *ilb_vm_machine(enum ilb_vm_arch arch)
{
	return &machines[arch];
}

enum ilb_vm_arch ilb_vm_arch_find(const char *name)
{
	enum ilb_vm_arch arch;

	for (arch = 0; arch < ILB_VM_ARCHES; arch++)
		if (!strcmp(machines[arch].name, name))
			break;
	return arch;
}

enum ilb_vm_arch ilb_vm_arch_native(void)
{
#if defined(__x86_64__)
	return ILB_VM_AMD64;
#elif defined(__aarch64__)
	return ILB_VM_ARM64;
#else
	return ILB_VM_ARCHES;
#endif
}
