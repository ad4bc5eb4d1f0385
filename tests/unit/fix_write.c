// SPDX-License-Identifier: GPL-2.0-only
/*
 * fix_write json SAMPLE: what "ilb fix" would print of a made-up module, for
 * tests that are not in C. Without arguments: the names of the samples, each
 * beginning with its definition in the schema.
 */

#include <stdio.h>
#include <string.h>

#include "cmd/fix.h"

static const struct ilb_fix_state loaded = {
	.loaded = 1, .repairs = ILB_REPAIR_IDLE_CORE | ILB_REPAIR_NOHZ_FULL,
	.policy = "near", .enabled = 1,
	.count = { [ILB_FIX_CALLS] = 9, [ILB_FIX_NARROWED] = 6,
		   [ILB_FIX_SAME] = 3, [ILB_FIX_REGISTERED] = 1 },
};
static const struct ilb_fix_state off = { .loaded = 0 };
static const struct ilb_fix_state full_only = {
	.loaded = 1, .repairs = ILB_REPAIR_NOHZ_FULL, .dry_run = 1,
};
static const struct ilb_proof exact = {
	.kind = ILB_PROOF_EXACT, .outcome = ILB_OUTCOME_WORKS,
	.ns = 3000000000, .kicks = { 100, 7, 0, 0 },
};
static const struct ilb_proof counters = {
	.kind = ILB_PROOF_COUNTERS, .outcome = ILB_OUTCOME_NOTHING,
	.ns = 3000000000, .why = "no BPF",
};
static const unsigned char first[2] = { 0, 1 };
static const struct ilb_trial_run known[4] = {
	{ 0, 2000000000, { 1, 80, 40 }, 1, { 9, 8, 7, 0 }, { 0 } },
	{ 1, 1000000000, { 1, 80, 40 }, 1, { 9, 0, 0, 0 }, { 9, 9 } },
	{ 1, 1100000000, { 1, 80, 40 }, 1, { 9, 0, 0, 0 }, { 9, 8 } },
	{ 0, 2000000001, { 1, 80, 40 }, 1, { 9, 8, 7, 0 }, { 0 } },
};
static const struct ilb_trial_run unknown[4] = {
	{ 0, 2000000000, { 0, 0, 0 }, 0, { 0, 0, 0, 0 }, { 0 } },
	{ 1, 1000000000, { 0, 0, 0 }, 0, { 0, 0, 0, 0 }, { 9, 9 } },
	{ 1, 1100000000, { 0, 0, 0 }, 0, { 0, 0, 0, 0 }, { 9, 8 } },
	{ 0, 2000000001, { 0, 0, 0 }, 0, { 0, 0, 0, 0 }, { 0 } },
};
static const struct ilb_trial_sheet sheet = {
	.repairs = ILB_REPAIR_IDLE_CORE, .pairs = 2, .seed = 3,
	.first = first, .no_perf = "",
	.result = { 2, 2.0, 1.05, 1.9, 0.8, 4.5, 0.5, 0 },
};

static json_t *trial(const struct ilb_trial_run *runs)
{
	struct ilb_trial_sheet s = sheet;

	s.runs = runs;
	if (runs == unknown) {
		strcpy(s.no_kicks, "needs BPF");
		s.no_perf = "needs counters";
	}
	return ilb_trial_json(&s);
}

static json_t *make(const char *name)
{
	if (!strcmp(name, "fix_status loaded"))
		return ilb_fix_json_state(&loaded);
	if (!strcmp(name, "fix_status off"))
		return ilb_fix_json_state(&off);
	if (!strcmp(name, "fix_status nohz-full"))
		return ilb_fix_json_state(&full_only);
	if (!strcmp(name, "fix_load exact"))
		return ilb_fix_json_load(&loaded, &exact, "/ilb_fix.ko");
	if (!strcmp(name, "fix_load counters"))
		return ilb_fix_json_load(&full_only, &counters, NULL);
	if (!strcmp(name, "fix_trial known"))
		return trial(known);
	if (!strcmp(name, "fix_trial unknown"))
		return trial(unknown);
	return strcmp(name, "fix_trial plan") ? NULL : trial(NULL);
}

int main(int argc, char **argv)
{
	static const char names[] =
		"fix_status loaded\nfix_status off\nfix_status nohz-full\n"
		"fix_load exact\nfix_load counters\n"
		"fix_trial known\nfix_trial unknown\nfix_trial plan\n";
	struct ilb_error error;
	json_t *root = argc == 3 ? make(argv[2]) : NULL;

	if (root)
		return ilb_fix_print_json(stdout, root, &error) ? 1 : 0;
	fputs(names, stdout);
	return argc == 1 ? 0 : 2;
}
