// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model's counters as /proc/schedstat of version 17 has them: per domain
 * the idle types busy, idle, newly idle with eleven columns each, then active
 * balancing and what is not counted here.
 */

#include <inttypes.h>

#include "sim/sim.h"

/* 32 CPUs a word, the highest first. */
static void print_mask(const struct ilb_span *span, unsigned int nr_cpus,
		       FILE *out)
{
	unsigned int words = (nr_cpus + 31) / 32, w, i;
	uint32_t word;

	for (w = words; w--;) {
		word = 0;
		for (i = 0; i < span->weight; i++)
			if (span->cpus[i] / 32 == w)
				word |= 1U << span->cpus[i] % 32;
		fprintf(out, "%0*" PRIx32 "%s",
			w == words - 1 && nr_cpus % 32 ?
				(int)(nr_cpus % 32 + 3) / 4 : 8,
			word, w ? "," : "");
	}
}

static void print_counts(const struct ilb_lb_counts *counts, FILE *out)
{
	fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 0 %" PRIu64,
		counts->lb, counts->balanced, counts->failed,
		counts->imb_load, counts->imb_util, counts->imb_task,
		counts->imb_misfit, counts->gained, counts->balanced);
}

static void print_domain(const struct ilb_sim *sim,
			 const struct ilb_sched_domain *sd, unsigned int n,
			 FILE *out)
{
	unsigned int type;

	fprintf(out, "domain%u %s ", n, ilb_level_name(sd->span->level));
	print_mask(sd->span, sim->nr_cpus, out);
	for (type = 0; type < ILB_IDLE_TYPES; type++)
		print_counts(&sd->counts[type], out);
	fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64
		" 0 0 0 0 0 0 0 0 0\n",
		sd->alb_count, sd->alb_failed, sd->alb_pushed);
}

void ilb_sim_schedstat(const struct ilb_sim *sim, FILE *out)
{
	const struct ilb_sched_domain *sd;
	unsigned int cpu, n;

	fprintf(out, "version 17\ntimestamp %" PRIu64 "\n",
		sim->now / sim->period);
	ilb_for_each_cpu(cpu, sim->topology->online, sim->nr_cpus) {
		fprintf(out, "cpu%u 0 0 0 0 0 0 0 0 0\n", cpu);
		n = 0;
		for (sd = sim->domains.base[cpu]; sd; sd = sd->parent)
			print_domain(sim, sd, n++, out);
	}
}
