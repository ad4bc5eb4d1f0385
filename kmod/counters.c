// SPDX-License-Identifier: GPL-2.0-only
/* Counted per CPU, so that counting costs no cache line of another's. */

#include <linux/percpu.h>
#include <linux/sysfs.h>

#include "kmod/ilb_fix.h"

static DEFINE_PER_CPU(unsigned long [ILB_COUNTERS], counts);

static const char *const names[ILB_COUNTERS] = {
	[ILB_COUNT_CALLS]		= "calls",
	[ILB_COUNT_NARROWED]		= "narrowed",
	[ILB_COUNT_WOULD_NARROW]	= "would_narrow",
	[ILB_COUNT_SAME]		= "same",
	[ILB_COUNT_FALLBACK]		= "fallback",
	[ILB_COUNT_NO_TARGET]		= "no_target",
	[ILB_COUNT_NOT_READY]		= "not_ready",
	[ILB_COUNT_REGISTERED]		= "registered",
	[ILB_COUNT_WOULD_REGISTER]	= "would_register",
	[ILB_COUNT_REFUSED]		= "refused",
};

/* Called from ftrace hooks: nothing in here may be traced. */
void notrace ilb_count(enum ilb_counter counter)
{
	this_cpu_inc(counts[counter]);
}

static unsigned long sum(unsigned int counter)
{
	unsigned long total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += READ_ONCE(per_cpu(counts[counter], cpu));
	return total;
}

int ilb_counters_print(char *buffer)
{
	unsigned int i;
	int length = 0;

	for (i = 0; i < ILB_COUNTERS; i++)
		length += sysfs_emit_at(buffer, length, "%s %lu\n", names[i],
					sum(i));
	return length;
}
