/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_LIVE_EXACT_KERNEL_H
#define ILB_LIVE_EXACT_KERNEL_H

/* What exact moments need to know of the kernel before loading. */

#include <stdint.h>

#include "ilb/error.h"

/**
 * struct ilb_kernel_places - where things are
 * @nohz: the struct
 * @nohz_csd_func: the function that a kick calls
 * @mask: of idle_cpus_mask in it, in bytes
 * @mask_in_place: the mask is in the struct, not behind a pointer
 */
struct ilb_kernel_places {
	uint64_t nohz;
	uint64_t nohz_csd_func;
	unsigned int mask;
	int mask_in_place;
};

/**
 * ilb_kernel_addresses() - ->nohz and ->nohz_csd_func
 * @path: a file as /proc/kallsyms
 *
 * Returns 0; -ILB_ERR_PERM (addresses are hidden), -ILB_ERR_UNSUPPORTED (no
 * such file; a name is not listed, or twice).
 */
int ilb_kernel_addresses(struct ilb_kernel_places *places, const char *path,
			 struct ilb_error *error);

/**
 * ilb_kernel_mask() - ->mask and ->mask_in_place, by the kernel's types
 *
 * Returns 0, -ILB_ERR_UNSUPPORTED.
 */
int ilb_kernel_mask(struct ilb_kernel_places *places, struct ilb_error *error);

/**
 * ilb_bpf_refused() - what stands in the way of any BPF
 * @number: errno of loading
 *
 * Returns -ILB_ERR_UNSUPPORTED (lockdown, no BPF), -ILB_ERR_PERM,
 * -ILB_ERR_NOMEM; 0: none of these.
 */
int ilb_bpf_refused(int number, struct ilb_error *error);

#endif
