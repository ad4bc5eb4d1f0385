// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scan that core/target.c's replaces, kept to be measured: what it costs
 * grows with the cores that it leaves out, times the words of a mask.
 */

#include "target_scan.h"

static const unsigned long *core_of(const struct ilb_view *view,
				    const unsigned long *smt,
				    unsigned int cpu)
{
	return smt + (unsigned long)cpu *
		     ILB_MASK_WORDS(view->topology->nr_cpus);
}

static int core_is_idle(const struct ilb_view *view,
			const unsigned long *core, unsigned int cpu,
			struct ilb_choice *choice)
{
	unsigned int nr = view->topology->nr_cpus;
	unsigned int thread;

	ilb_for_each_cpu(thread, core, nr) {
		if (thread == cpu)
			continue;
		choice->looked_at++;
		if (!ilb_mask_test(view->idle, thread))
			return 0;
	}
	return 1;
}

struct ilb_choice bench_scan_masks(const struct ilb_view *view,
				   const unsigned long *smt)
{
	struct ilb_choice choice = { ILB_CPU_NONE, 0, 0 };
	unsigned int nr = view->topology->nr_cpus;
	unsigned long *scan = view->scratch;
	const unsigned long *core;
	unsigned int cpu;

	ilb_mask_and(scan, view->mask, view->housekeeping, nr);
	ilb_for_each_cpu(cpu, scan, nr) {
		core = core_of(view, smt, cpu);
		choice.looked_at++;
		if (!ilb_mask_test(view->idle, cpu)) {
			if (choice.fallback)
				ilb_mask_andnot(scan, scan, core, nr);
			continue;
		}
		if (core_is_idle(view, core, cpu, &choice)) {
			choice.cpu = cpu;
			choice.fallback = 0;
			return choice;
		}
		if (!choice.fallback)
			choice.cpu = cpu;
		choice.fallback = 1;
		ilb_mask_andnot(scan, scan, core, nr);
	}
	return choice;
}
