// SPDX-License-Identifier: GPL-2.0-only
/* In place of stat_kernel.c where ilb is built without BPF. */

#include <stdio.h>

#include "live/stat.h"

int ilb_stat_kernel_open(struct ilb_stat_kernel **kernel,
			 const struct ilb_topology *topology,
			 struct ilb_source_of *sources,
			 struct ilb_error *error)
{
	static const enum ilb_part parts[] = {
		ILB_PART_KICKS, ILB_PART_RUNS, ILB_PART_SWITCHES,
		ILB_PART_SOFTIRQS,
	};
	unsigned int i;

	(void)topology;
	*kernel = NULL;
	ilb_fail(error, ILB_ERR_UNSUPPORTED,
		 "an ilb built with BPF, where clang, bpftool and libbpf are");
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		snprintf(sources[parts[i]].needs,
			 sizeof(sources[parts[i]].needs), "%s",
			 error->text);
	return -ILB_ERR_UNSUPPORTED;
}

void ilb_stat_kernel_start(struct ilb_stat_kernel *kernel)
{
	(void)kernel;
}

void ilb_stat_kernel_settle(const struct ilb_stat_kernel *kernel)
{
	(void)kernel;
}

int ilb_stat_kernel_take(struct ilb_stat_kernel *kernel,
			 struct ilb_measures *measures)
{
	(void)kernel;
	(void)measures;
	return 0;
}

void ilb_stat_kernel_close(struct ilb_stat_kernel *kernel)
{
	(void)kernel;
}
