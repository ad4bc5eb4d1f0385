// SPDX-License-Identifier: GPL-2.0-only
/* Judgements that need no recording: one function a finding. */

#include <stdio.h>
#include <string.h>

#include "live/live.h"

#define SAY(field, ...)	snprintf((field), sizeof(field), __VA_ARGS__)
#define LIST		48

struct judge {
	struct ilb_findings *findings;
	const struct ilb_check *check;
	const struct ilb_site *site;
	const struct ilb_facts *facts;
	unsigned int nr_cpus;
};

static struct ilb_finding *add(struct judge *j, const char *id,
			       enum ilb_severity severity)
{
	struct ilb_finding *f = &j->findings->finding[j->findings->count++];

	memset(f, 0, sizeof(*f));
	f->id = id;
	f->severity = severity;
	return f;
}

static void evidence(struct ilb_finding *f, const char *key, double value)
{
	f->evidence[f->nr_evidence].key = key;
	f->evidence[f->nr_evidence++].value = value;
}

/* "0-3,8", or its start and "..." where it is long. */
static void print_list(char *text, unsigned int size,
		       const unsigned long *mask, unsigned int nr_cpus)
{
	char *comma;

	if (ilb_cpulist_print(text, size - 4, mask, nr_cpus) < size - 4)
		return;
	comma = strrchr(text, ',');
	strcpy(comma ? comma + 1 : text, "...");
}

static int is_rule(const struct judge *j, const char *rule)
{
	return j->check->verdict.rule && !strcmp(j->check->verdict.rule, rule);
}

static unsigned int count(const struct judge *j, const unsigned long *mask)
{
	return ilb_mask_weight(mask, j->nr_cpus);
}

/* Returns 1 if there is no ILB that anything else could be said of. */
static int judge_existence(struct judge *j)
{
	struct ilb_finding *f;

	if (count(j, j->site->online) == 1) {
		f = add(j, "no-ilb", ILB_INFO);
		SAY(f->text, "One CPU: there is nothing to balance");
		return 1;
	}
	if (!ilb_facts_lack_ilb(j->facts))
		return 0;
	f = add(j, "no-ilb", ILB_INFO);
	if (j->facts->nohz_off == ILB_ANSWER_YES)
		SAY(f->text, "nohz=off: every CPU keeps its tick and balances for itself; there is no idle load balancer");
	else
		SAY(f->text, "This kernel was built without NO_HZ_COMMON: every CPU keeps its tick; there is no idle load balancer");
	SAY(f->why, "idle CPUs wake for every tick instead, siblings of busy ones too");
	return 1;
}

static void judge_rule(struct judge *j)
{
	struct ilb_finding *f;

	if (j->check->verdict.rule) {
		if (!is_rule(j, "lowest") || j->check->smt.threads_max < 2)
			return;
		f = add(j, "rule-ignores-smt", ILB_INFO);
		SAY(f->text, "This kernel wakes the lowest idle CPU, though its sibling may be busy and whole cores idle");
		SAY(f->why, "on most SMT processors that costs little, on some (NVIDIA Vera) a third of a job's speed");
		SAY(f->remedy, "ask with --busy where a job's kicks go, record to see what they cost; Linux 7.3 has another rule");
		return;
	}
	f = add(j, "unknown-rule", ILB_UNKNOWN);
	SAY(f->text, "Which rule this kernel has cannot be judged: %s",
	    j->facts->kernel[0] ? "its release is none of Linux" :
				  "its release is not known");
	SAY(f->remedy, "give it with --kernel, or let 'ilb replay' tell it from a recording");
}

/* nohz_full takes CPUs away that may be the ILB, and then one more. */
static void judge_candidates(struct judge *j)
{
	unsigned int candidates = count(j, j->site->candidates);
	unsigned int hk = count(j, j->site->housekeeping);
	struct ilb_finding *f;

	if (candidates > 1)
		return;
	if (candidates == 1) {
		f = add(j, "one-ilb-candidate", ILB_WARNING);
		SAY(f->text, "CPU %u is the only one that can be the ILB (%u housekeeping CPU%s%s)",
		    ilb_mask_next(j->site->candidates, j->nr_cpus, 0), hk,
		    hk == 1 ? "" : "s",
		    j->site->timekeeper == ILB_CPU_NONE ?
		    ", the others are isolated" :
		    ", one of them keeps time and never qualifies");
		SAY(f->why, "it balances for all; while it is busy nobody does");
		SAY(f->remedy, "leave it idle, or leave more CPUs out of nohz_full= and isolcpus=");
	} else {
		f = add(j, "no-housekeeping-target", ILB_SERIOUS);
		SAY(f->text, "No CPU can be the ILB: %u housekeeping CPU%s, %s; idle CPUs are never balanced",
		    hk, hk == 1 ? "" : "s",
		    j->site->timekeeper == ILB_CPU_NONE ?
		    "all of them isolated" :
		    hk == 1 ? "and it keeps time, which never qualifies" :
		    "one keeps time, the others are isolated");
		SAY(f->why, "tasks wait on busy CPUs while others idle, unless they are placed by hand");
		SAY(f->remedy, "leave more CPUs out of nohz_full= and isolcpus=, two whole cores at least");
	}
	evidence(f, "housekeeping", hk);
	evidence(f, "candidates", candidates);
	ilb_cpulist_print(f->cpus, sizeof(f->cpus), j->site->housekeeping,
			  j->nr_cpus);
}

/* Mail C's bug: in every row whose registration is the old one. */
static void judge_lost(struct judge *j)
{
	const struct ilb_behaviour *b = j->check->verdict.behaviour;
	unsigned int full = count(j, j->site->nohz_full);
	struct ilb_finding *f;
	char list[LIST];

	if (!full || !b ||
	    b->registration != ILB_REGISTRATION_NEWLY_STOPPED)
		return;
	print_list(list, sizeof(list), j->site->nohz_full, j->nr_cpus);
	f = add(j, "nohz-full-cpus-get-lost", ILB_WARNING);
	SAY(f->text, "A CPU with nohz_full (%s) whose tick stopped under a task does not register when it goes idle",
	    list);
	SAY(f->why, "the balancer does not see it: for seconds it gets none of the tasks that wait elsewhere");
	SAY(f->remedy, "place tasks by hand there; a task pinned to it that runs briefly with a profiling timer (setitimer ITIMER_PROF) brings it back");
	evidence(f, "nohz_full", full);
	ilb_cpulist_print(f->cpus, sizeof(f->cpus), j->site->nohz_full,
			  j->nr_cpus);
}

static void remedy_of_layout(struct judge *j, struct ilb_finding *f)
{
	const struct ilb_layout *l = &j->check->layout;
	const char *newer = j->check->aim_idle_core.on_busy_core ?
		"" : ", or use Linux 7.3";
	char left[LIST], taken[LIST];

	print_list(left, sizeof(left), l->left, j->nr_cpus);
	print_list(taken, sizeof(taken), l->taken, j->nr_cpus);
	if (l->kind != ILB_LAYOUT_NONE)
		SAY(f->remedy, "use CPU%s %s instead of %s: kicks then go to CPU %u, on an idle core",
		    strpbrk(taken, ",-") ? "s" : "", taken, left,
		    l->aim.target);
	else if (*left)
		SAY(f->remedy, "every other core is in use: leave CPU%s %s idle%s",
		    strpbrk(left, ",-") ? "s" : "", left, newer);
	else
		SAY(f->remedy, "no layout avoids it%s", newer);
}

static void judge_job(struct judge *j)
{
	const struct ilb_aim *aim = &j->check->aim;
	struct ilb_finding *f;
	char list[LIST];

	if (!j->check->has_job || !aim->on_busy_core)
		return;
	f = add(j, "job-on-busy-core", ILB_WARNING);
	print_list(list, sizeof(list), aim->disturbs, j->nr_cpus);
	SAY(f->text, "Kicks go to CPU %u, a sibling of busy CPU %s",
	    aim->target, list);
	SAY(f->why, "that CPU is woken up to once a tick, and shares its core with the job");
	remedy_of_layout(j, f);
	evidence(f, "target", aim->target);
	ilb_cpulist_print(f->cpus, sizeof(f->cpus), aim->disturbs,
			  j->nr_cpus);
}

/* Gravest first, else in the order of judging. */
static void sort(struct ilb_findings *list)
{
	struct ilb_finding f;
	unsigned int i, k;

	for (i = 1; i < list->count; i++) {
		f = list->finding[i];
		for (k = i; k && list->finding[k - 1].severity < f.severity;
		     k--)
			list->finding[k] = list->finding[k - 1];
		list->finding[k] = f;
	}
}

void ilb_findings_check(struct ilb_check *check, const struct ilb_facts *facts)
{
	struct judge j = {
		.findings = &check->findings, .check = check,
		.site = &check->site, .facts = facts,
		.nr_cpus = check->site.topology->nr_cpus,
	};

	check->findings.count = 0;
	if (judge_existence(&j))
		return;
	judge_job(&j);
	judge_candidates(&j);
	/* Without anybody to choose there is no rule, and nobody to look. */
	if (!ilb_mask_empty(check->site.candidates, j.nr_cpus)) {
		judge_lost(&j);
		judge_rule(&j);
	}
	sort(&check->findings);
}
