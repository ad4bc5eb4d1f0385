// SPDX-License-Identifier: GPL-2.0-only
/*
 * What follows from the facts: cores, and who can be the ILB. Who may and who
 * cannot are the kernel's rules of housekeeping, isolation and timekeeping,
 * 6.1 to 7.3.
 */

#include <string.h>

#include "live/live.h"

void ilb_smt_describe(struct ilb_smt *smt, const struct ilb_topology *topology)
{
	const struct ilb_topology *t = topology;
	unsigned int cpu, next, threads = 0;
	int irregular = 0;

	memset(smt, 0, sizeof(*smt));
	ilb_for_each_cpu(cpu, t->online, t->nr_cpus) {
		next = t->sibling[cpu];
		if (next > cpu) {
			if (smt->stride && smt->stride != next - cpu)
				irregular = 1;
			smt->stride = next - cpu;
		}
		if (t->core[cpu] != cpu)
			continue;
		for (threads = 1; next != cpu; next = t->sibling[next])
			threads++;
		if (!smt->cores++ || threads < smt->threads_min)
			smt->threads_min = threads;
		if (threads > smt->threads_max)
			smt->threads_max = threads;
	}
	if (irregular)
		smt->stride = 0;
}

static void settle_housekeeping(struct ilb_site *site,
				const struct ilb_facts *facts,
				const struct ilb_behaviour *behaviour)
{
	unsigned long full[ILB_WIDE_WORDS], only[ILB_WIDE_WORDS];
	unsigned int nr_cpus = site->topology->nr_cpus;

	ilb_mask_and(site->housekeeping, facts->housekeeping, site->online,
		     nr_cpus);
	if (facts->housekeeping_known &&
	    !ilb_mask_empty(site->housekeeping, nr_cpus))
		return;
	ilb_mask_and(only, facts->nohz_only, site->nohz_full, nr_cpus);
	ilb_mask_andnot(full, site->nohz_full, only, nr_cpus);
	ilb_behaviour_housekeeping(behaviour, site->online, full, only,
				   site->housekeeping, nr_cpus);
}

static void settle_timekeeper(struct ilb_site *site)
{
	unsigned long keepers[ILB_WIDE_WORDS];
	unsigned int nr_cpus = site->topology->nr_cpus;

	site->timekeeper = ILB_CPU_NONE;
	if (ilb_mask_empty(site->nohz_full, nr_cpus))
		return;
	ilb_mask_andnot(keepers, site->housekeeping, site->nohz_full, nr_cpus);
	if (ilb_mask_empty(keepers, nr_cpus))
		ilb_mask_copy(keepers, site->housekeeping, nr_cpus);
	site->timekeeper = ilb_mask_next(keepers, nr_cpus, 0);
}

void ilb_site_settle(struct ilb_site *site, const struct ilb_facts *facts,
		     const struct ilb_topology *topology,
		     const struct ilb_behaviour *behaviour)
{
	unsigned int nr_cpus = topology->nr_cpus;

	memset(site, 0, sizeof(*site));
	site->topology = topology;
	ilb_mask_copy(site->online, topology->online, nr_cpus);
	ilb_mask_and(site->nohz_full, facts->nohz_full, site->online, nr_cpus);
	ilb_mask_and(site->isolated, facts->isolated, site->online, nr_cpus);
	settle_housekeeping(site, facts,
			    behaviour ? behaviour : ilb_behaviours);
	settle_timekeeper(site);
	if (ilb_facts_lack_ilb(facts))
		return;
	ilb_mask_andnot(site->candidates, site->housekeeping, site->isolated,
			nr_cpus);
	if (site->timekeeper != ILB_CPU_NONE)
		ilb_mask_clear(site->candidates, site->timekeeper);
}

int ilb_facts_lack_ilb(const struct ilb_facts *facts)
{
	return facts->nohz_off == ILB_ANSWER_YES ||
	       facts->config_nohz == ILB_ANSWER_NO ||
	       facts->symbols[ILB_SYMBOL_ENTER_IDLE] == ILB_ANSWER_NO;
}

static void judge_job(struct ilb_check *check, const unsigned long *busy)
{
	const char *rule = check->verdict.rule;

	check->has_job = 1;
	ilb_mask_copy(check->busy, busy, check->site.topology->nr_cpus);
	ilb_aim_find(&check->aim_idle_core, &check->site, "idle-core", busy);
	if (!rule)
		return;
	ilb_aim_find(&check->aim, &check->site, rule, busy);
	ilb_layout_find(&check->layout, &check->site, rule, busy);
}

void ilb_check_judge(struct ilb_check *check, const struct ilb_facts *facts,
		     const struct ilb_topology *topology,
		     const unsigned long *busy)
{
	memset(check, 0, sizeof(*check));
	check->aim.target = check->aim_idle_core.target = ILB_CPU_NONE;
	ilb_verdict_find(&check->verdict, facts);
	ilb_smt_describe(&check->smt, topology);
	ilb_site_settle(&check->site, facts, topology,
			check->verdict.behaviour);
	if (facts->this_machine) {
		ilb_needs_judge(check->needs, facts);
		check->nr_needs = ILB_NEEDED_COUNT;
	}
	if (busy)
		judge_job(check, busy);
	ilb_findings_check(check, facts);
}
