/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_LIVE_PLACES_H
#define ILB_LIVE_PLACES_H

/* What probes and BPF have to know of the kernel's structs. */

#define ILB_KERNEL_TYPES	"/sys/kernel/btf/vmlinux"

/**
 * struct ilb_places - where the kernel keeps what is read of it, in bytes
 * @mask: of idle_cpus_mask in nohz; @mask_indirect: a pointer to the mask
 * @func: of the function in a cross call
 *
 * Whether the mask is in the struct depends on CONFIG_CPUMASK_OFFSTACK.
 */
struct ilb_places {
	int has_mask, mask_indirect, has_func;
	unsigned int mask, func;
};

/** ilb_places_find() - from BTF; what is not in it, or no BTF, stays 0. */
void ilb_places_find(struct ilb_places *places, const char *path);

#endif
