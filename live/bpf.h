/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_LIVE_BPF_H
#define ILB_LIVE_BPF_H

/* What all that loads BPF programs shares. */

#include <bpf/libbpf.h>

#include "ilb/error.h"

/**
 * ilb_bpf_refused() - what stands in the way of any BPF
 * @number: errno of loading
 *
 * Returns -ILB_ERR_UNSUPPORTED (lockdown, no BPF), -ILB_ERR_PERM,
 * -ILB_ERR_NOMEM; 0: none of these.
 */
int ilb_bpf_refused(int number, struct ilb_error *error);

/** ilb_bpf_quiet() - for libbpf_set_print(): what fails is said by us. */
int ilb_bpf_quiet(enum libbpf_print_level level, const char *format,
		  va_list args);

#endif
