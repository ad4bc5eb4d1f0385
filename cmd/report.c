// SPDX-License-Identifier: GPL-2.0-only
/* ilb report: what the ILB did in a capture, whom it hurt, and what to do. */

#include <getopt.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/follow.h"
#include "ilb/findings.h"
#include "ilb/report.h"

static const char usage[] =
	"usage: ilb report [options]\n"
	"\n"
	"  -i, --input PATH      capture folder, trace.dat or text trace\n"
	"                        (default ilb.data; '-': text on standard input)\n"
	"      --topology TOPO   hwloc XML file, synthetic description such as\n"
	"                        'pack:2 [numa] l3:1 core:88 pu:2', or 'self'\n"
	"      --ignore-probes   judge from tracepoints alone\n"
	"      --recovery TIME   time that a core needs after its sibling slept\n"
	"                        (default 0; Vera: 10240 cycles, about 3.1us)\n"
	"      --settle TIME     uncertainty of event times (default 5us)\n"
	"      --fail-on ID      exit 1 if this finding applies; repeatable\n"
	"      --json            one JSON object, see ilb-json(5)\n"
	"  -o, --output FILE     write to FILE, whole or not at all\n"
	"  -h                    this text;  --help: the man page\n";

#define FAIL_ON_MAX	16

struct options {
	struct ilb_follow follow;
	const char *output;
	const char *fail_on[FAIL_ON_MAX];
	unsigned int nr_fail_on;
	int json;
};

enum { OPT_TOPOLOGY = 256, OPT_IGNORE, OPT_RECOVERY, OPT_SETTLE, OPT_FAIL_ON,
       OPT_JSON, OPT_HELP };

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "topology", required_argument, NULL, OPT_TOPOLOGY },
	{ "ignore-probes", no_argument, NULL, OPT_IGNORE },
	{ "recovery", required_argument, NULL, OPT_RECOVERY },
	{ "settle", required_argument, NULL, OPT_SETTLE },
	{ "fail-on", required_argument, NULL, OPT_FAIL_ON },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
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

static int bad_time(const char *option, const char *text)
{
	return ilb_cmd_usage("report", "%s '%s': not a time such as 3.1us",
			     option, text);
}

/* Returns 0, or an exit code plus 1. */
static int one_option(struct options *o, int c, char **argv)
{
	switch (c) {
	case 'i':
		o->follow.input = optarg;
		return 0;
	case 'o':
		o->output = optarg;
		return 0;
	case OPT_TOPOLOGY:
		o->follow.topology = optarg;
		return 0;
	case OPT_IGNORE:
		o->follow.ignore_probes = 1;
		return 0;
	case OPT_JSON:
		o->json = 1;
		return 0;
	case OPT_RECOVERY:
		if (!ilb_cmd_time(optarg, &o->follow.recovery_ns))
			return 0;
		return 1 + bad_time("--recovery", optarg);
	case OPT_SETTLE:
		if (!ilb_cmd_time(optarg, &o->follow.settle_ns))
			return 0;
		return 1 + bad_time("--settle", optarg);
	case OPT_FAIL_ON:
		return fail_on(o, optarg) ? 1 + ILB_EXIT_USAGE : 0;
	case 'h':
		fputs(usage, stdout);
		return 1 + ILB_EXIT_OK;
	case OPT_HELP:
		return 1 + ilb_cmd_man("report", usage);
	default:
		return 1 + ilb_cmd_bad_option("report", c, argv);
	}
}

static int parse(struct options *o, int argc, char **argv)
{
	int c, stop;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":i:o:h", long_options, NULL)) >=
	       0) {
		stop = one_option(o, c, argv);
		if (stop)
			return stop;
	}
	if (optind < argc)
		return 1 + ilb_cmd_usage("report",
				"'%s': the input is named with -i",
				argv[optind]);
	return 0;
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
	};

	ilb_findings_judge(findings, &input);
}

static int print(struct options *o, const struct ilb_findings *findings,
		 struct ilb_error *error)
{
	const struct ilb_report report = {
		.command = "report",
		.capture = o->follow.capture,
		.hz = o->follow.hz,
		.source = &o->follow.stats,
		.measures = o->follow.measures,
		.findings = findings,
		.best = -1,
	};
	struct ilb_output out;
	int err;

	err = ilb_output_open(&out, o->output, error);
	if (err)
		return err;
	if (o->json)
		err = ilb_report_json(out.file, &report);
	else
		err = ilb_report_text(out.file, &report,
				      ilb_output_width(&out),
				      ilb_output_colour(&out));
	if (err == -ILB_ERR_NOMEM) {
		ilb_output_abandon(&out);
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	}
	return ilb_output_close(&out, error);
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
		err = print(&o, &findings, &error);
	}
	code = err ? ilb_cmd_fail("report", err, &error) :
		     found(&o, &findings);
	ilb_follow_close(&o.follow);
	return code;
}
