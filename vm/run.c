// SPDX-License-Identifier: GPL-2.0-only
/* The order of things; what can be found wrong without a guest comes first. */

#include <string.h>
#include <unistd.h>

#include "vm/vm.h"

/* Guests of 16 CPUs record in 2 GB, those of 352 boot in 8. */
#define MEMORY_BASE	1536U
#define MEMORY_PER_CPU	32U
#define NODE_MB_MIN	64U

static int read_shape(struct ilb_boot *boot,
		      const struct ilb_vm_options *options,
		      struct ilb_error *error)
{
	const char *topology = options->topology;
	int err;

	err = ilb_shape_read(&boot->shape, topology ? topology :
			     ILB_VM_TOPOLOGY, boot->machine, error);
	if (err)
		return err;
	boot->memory_mb = options->memory_mb;
	if (!boot->memory_mb)
		boot->memory_mb = MEMORY_BASE +
				  MEMORY_PER_CPU * boot->shape.cpus;
	if (boot->memory_mb / boot->shape.nodes >= NODE_MB_MIN)
		return 0;
	return ilb_fail(error, ILB_ERR_RANGE,
			"memory: %u MB for %u NUMA nodes; each needs %u at least",
			boot->memory_mb, boot->shape.nodes, NODE_MB_MIN);
}

static int boot_kernel(const struct ilb_vm_options *options,
		       struct ilb_boot *boot, struct ilb_vm_summary *summary,
		       struct ilb_error *error)
{
	struct ilb_kernel kernel;
	int err;

	err = ilb_cache_kernel(&kernel, options->kernel, boot->machine, error);
	if (err)
		return err;
	boot->image = kernel.image;
	boot->initramfs = ilb_initramfs_make(options, &kernel, error);
	err = boot->initramfs < 0 ? boot->initramfs : 0;
	if (!err) {
		err = ilb_guest_run(options, boot, summary, error);
		close(boot->initramfs);
	}
	ilb_kernel_free(&kernel);
	return err;
}

int ilb_vm_run(const struct ilb_vm_options *options,
	       struct ilb_vm_summary *summary, struct ilb_error *error)
{
	struct ilb_boot boot = { 0 };
	struct ilb_qemu qemu;
	int err;

	memset(summary, 0, sizeof(*summary));
	summary->status = 125;
	boot.machine = ilb_vm_machine(options->arch);
	boot.append = options->append;
	boot.emulated = ilb_qemu_emulates(options->arch);
	err = read_shape(&boot, options, error);
	if (!err)
		err = ilb_results_check(options->dir, error);
	if (!err)
		err = ilb_qemu_find(&qemu, options->qemu, boot.machine, error);
	if (err)
		return err;
	boot.qemu = &qemu;
	err = ilb_qemu_check(&boot, error);
	if (!err)
		err = boot_kernel(options, &boot, summary, error);
	ilb_qemu_free(&qemu);
	return err;
}
