/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TRACE_BOOTLINE_H
#define ILB_TRACE_BOOTLINE_H

#include "ilb/mask.h"

/**
 * struct ilb_bootline - CPUs that the kernel command line sets apart
 * @nohz_full: nohz_full=
 * @nohz: isolcpus=nohz,
 * @domain: isolcpus=, isolcpus=domain,
 */
struct ilb_bootline {
	unsigned long nohz_full[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	unsigned long nohz[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	unsigned long domain[ILB_MASK_WORDS(ILB_CPUS_MAX)];
};

/**
 * ilb_bootline_parse() - find them
 * @text: the command line
 * @nr_cpus: the last CPU ("N", "all") is @nr_cpus - 1; CPUs from there on are
 *           left out
 *
 * Cannot fail: what the kernel would not understand it ignores, and so does
 * this.
 */
void ilb_bootline_parse(struct ilb_bootline *line, const char *text,
			unsigned int nr_cpus);

#endif
