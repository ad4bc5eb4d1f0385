// SPDX-License-Identifier: GPL-2.0-only
/* ilb report: what the ILB did in a capture, whom it hurt, and what to do. */

#include <getopt.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/follow.h"
#include "ilb/findings.h"
#include "ilb/report.h"

#define FAIL_ON_MAX	16

struct options {
	struct ilb_follow follow;
	const char *fail_on[FAIL_ON_MAX];
	unsigned int nr_fail_on;
};

enum { OPT_RECOVERY = ILB_KEY_OWN, OPT_FAIL_ON };

static const struct ilb_option own[] = {
	{ OPT_RECOVERY, "recovery", "TIME", NULL, 0,
	  "time that a core needs after its sibling slept\n"
	  "(default 0; Vera: 10240 cycles, about 3.1us)" },
	{ OPT_FAIL_ON, "fail-on", "ID", NULL, 0,
	  "exit 1 if this finding applies; repeatable" },
	{ 0 },
};

static int fail_on(struct options *o, const char *id)
{
	if (!ilb_finding_known(id))
		return ilb_cmd_usage("report", "--fail-on %s: no such finding",
				     id);
	if (o->nr_fail_on == FAIL_ON_MAX)
		return ilb_cmd_usage("report", "--fail-on: more than %d",
				     FAIL_ON_MAX);
	o->fail_on[o->nr_fail_on++] = id;
	return 0;
}

/* Returns 0, or an exit code plus 1. */
static int take(void *context, const struct ilb_option *option)
{
	struct options *o = context;

	if (option->key == OPT_RECOVERY)
		return ilb_follow_time(&o->follow, "--recovery",
				       &o->follow.recovery_ns);
	if (option->key == OPT_FAIL_ON)
		return fail_on(o, optarg) ? 1 + ILB_EXIT_USAGE : 0;
	return ilb_follow_take(&o->follow, option);
}

const struct ilb_syntax ilb_report_syntax = {
	.verb = "report",
	.usage = "usage: ilb report [options]\n\n",
	.tables = { ilb_input_options, own, ilb_output_options },
	.take = take,
};

static int parse(struct options *o, int argc, char **argv)
{
	int stop = ilb_options_parse(&ilb_report_syntax, o, argc, argv);

	if (!stop && optind < argc)
		return 1 + ilb_cmd_usage("report",
				"'%s': the input is named with -i",
				argv[optind]);
	return stop;
}

static int found(const struct options *o, const struct ilb_findings *findings)
{
	unsigned int i, k;

	for (i = 0; i < findings->count; i++)
		for (k = 0; k < o->nr_fail_on; k++)
			if (findings->finding[i].severity != ILB_UNKNOWN &&
			    !strcmp(findings->finding[i].id, o->fail_on[k]))
				return ILB_EXIT_FOUND;
	return ILB_EXIT_OK;
}

static void judge(const struct ilb_follow *f, struct ilb_findings *findings)
{
	const struct ilb_findings_input input = {
		.measures = f->measures,
		.topology = &f->capture->topology,
		.housekeeping = f->capture->system.housekeeping,
		.nohz_full = f->capture->system.nohz_full,
		.hz = f->hz,
		.lost_events = f->stats.lost,
		.kernel = f->capture->system.kernel,
		.no_trace = !f->source,
	};

	ilb_findings_judge(findings, &input);
}

int ilb_cmd_report(int argc, char **argv)
{
	struct options o = {
		.follow = {
			.verb = "report",
			.input = "ilb.data",
			.settle_ns = ILB_SETTLE_NS,
		},
	};
	struct ilb_findings findings;
	struct ilb_report report = { .findings = &findings, .best = -1 };
	struct ilb_error error = { "" };
	int err, code;

	err = parse(&o, argc, argv);
	if (err)
		return err - 1;
	err = ilb_follow_open(&o.follow, 1, &error);
	if (!err)
		err = ilb_follow_run(&o.follow, &error);
	if (!err) {
		judge(&o.follow, &findings);
		err = ilb_follow_print(&o.follow, &report, NULL, &error);
	}
	code = err ? ilb_cmd_fail("report", err, &error) :
		     found(&o, &findings);
	ilb_follow_close(&o.follow);
	return code;
}
