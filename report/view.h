/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_REPORT_VIEW_H
#define ILB_REPORT_VIEW_H

/**
 * DOC: view - what text and JSON both derive from the measures
 *
 * One definition, so that the two can never disagree.
 */

#include "ilb/report.h"

/** ilb_view_seconds() - length of the input, 0 if unknown */
double ilb_view_seconds(const struct ilb_measures *measures);

/** ilb_view_cpu_ns() - CPU time that there was, 0 if unknown */
uint64_t ilb_view_cpu_ns(const struct ilb_measures *measures);

/** ilb_view_placed() - kicks with a target whose kicker is known */
uint64_t ilb_view_placed(const struct ilb_kicks *kicks);

/**
 * ilb_view_no_target() - 1 if kicks without a target would have been seen:
 * where a kernel is recorded, one that is not sent is not seen
 */
int ilb_view_no_target(const struct ilb_measures *measures);

/**
 * ilb_view_imbalance_kinds() - 1 if imbalance is told by kind: schedstat v17,
 * which also names its domains; before, they are "domain0"...
 */
int ilb_view_imbalance_kinds(const struct ilb_domain *domain);

/** ilb_view_idle_type() - "busy", "idle", "newly-idle" */
const char *ilb_view_idle_type(unsigned int type);

/**
 * ilb_view_error_pct() - of a share by sampling: half of its 95 % interval
 * @percent: set to the share
 *
 * By Agresti and Coull, which is sound for few samples and for none.
 */
double ilb_view_error_pct(uint64_t part, uint64_t whole, double *percent);

/** struct ilb_rank - a CPU and its kicks */
struct ilb_rank {
	unsigned int cpu;
	uint64_t kicks;
};

/**
 * ilb_rank_make() - the CPUs with kicks: most first, then the lower CPU
 * @ranks: to free()
 *
 * Returns 0 and sets *@nr, or -ILB_ERR_NOMEM.
 */
int ilb_rank_make(struct ilb_rank **ranks, unsigned int *nr,
		  const uint64_t *kicks, unsigned int nr_cpus);

#endif
