// SPDX-License-Identifier: GPL-2.0-only
/* What text and JSON both derive from the measures. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "report/view.h"

double ilb_view_seconds(const struct ilb_measures *measures)
{
	if (!measures || measures->end_ns <= measures->start_ns)
		return 0;
	return (double)(measures->end_ns - measures->start_ns) / 1e9;
}

uint64_t ilb_view_cpu_ns(const struct ilb_measures *measures)
{
	uint64_t ns;

	if (measures->end_ns <= measures->start_ns)
		return 0;
	if (__builtin_mul_overflow(measures->end_ns - measures->start_ns,
				   measures->recorded, &ns))
		return UINT64_MAX;
	return ns;
}

uint64_t ilb_view_placed(const struct ilb_kicks *kicks)
{
	uint64_t unplaced = kicks->kicker_unknown + kicks->no_target;

	return kicks->total > unplaced ? kicks->total - unplaced : 0;
}

int ilb_view_no_target(const struct ilb_measures *measures)
{
	return measures->kind == ILB_MOMENT_SIMULATED ||
	       measures->kicks.no_target;
}

int ilb_view_imbalance_kinds(const struct ilb_domain *domain)
{
	return strncmp(domain->name, "domain", 6) != 0;
}

double ilb_view_error_pct(uint64_t part, uint64_t whole, double *percent)
{
	double n = (double)whole + 4, p = ((double)part + 2) / n;

	*percent = whole ? 100.0 * (double)part / (double)whole : 0;
	return 100.0 * 1.96 * sqrt(p * (1 - p) / n);
}

const char *ilb_view_idle_type(unsigned int type)
{
	static const char *const names[] = {
		[ILB_IDLE_BUSY] = "busy",
		[ILB_IDLE_IDLE] = "idle",
		[ILB_IDLE_NEWLY] = "newly-idle",
	};

	return names[type];
}

static int by_kicks(const void *a, const void *b)
{
	const struct ilb_rank *x = a, *y = b;

	if (x->kicks != y->kicks)
		return x->kicks < y->kicks ? 1 : -1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

int ilb_rank_make(struct ilb_rank **ranks, unsigned int *nr,
		  const uint64_t *kicks, unsigned int nr_cpus)
{
	unsigned int cpu;

	*nr = 0;
	*ranks = calloc(nr_cpus ? nr_cpus : 1, sizeof(**ranks));
	if (!*ranks)
		return -ILB_ERR_NOMEM;
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		if (!kicks[cpu])
			continue;
		(*ranks)[*nr].cpu = cpu;
		(*ranks)[(*nr)++].kicks = kicks[cpu];
	}
	qsort(*ranks, *nr, sizeof(**ranks), by_kicks);
	return 0;
}
