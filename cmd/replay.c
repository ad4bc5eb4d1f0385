// SPDX-License-Identifier: GPL-2.0-only
/* ilb replay: what other selection rules would have done at the same moments. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/follow.h"
#include "ilb/report.h"

static const char usage[] =
	"usage: ilb replay [options]\n"
	"\n"
	"  -i, --input PATH      capture folder, trace.dat or text trace\n"
	"                        (default ilb.data; '-': text on standard input)\n"
	"  -p, --policy LIST     rules to replay, separated by commas; 'all'\n"
	"                        (default lowest,idle-core,near,round-robin)\n"
	"      --list-policies   the rules that there are\n"
	"      --housekeeping LIST  what if these CPUs were the housekeeping ones\n"
	"      --list-disagreements  time, kicker, both CPUs and the state seen,\n"
	"                        for every kick that a rule places elsewhere\n"
	"      --topology TOPO   hwloc XML file, synthetic description such as\n"
	"                        'pack:2 [numa] l3:1 core:88 pu:2', or 'self'\n"
	"      --ignore-probes   judge from tracepoints alone\n"
	"      --settle TIME     uncertainty of event times (default 5us)\n"
	"      --json            one JSON object, see ilb-json(5)\n"
	"  -o, --output FILE     write to FILE, whole or not at all\n"
	"  -h                    this text;  --help: the man page\n";

struct options {
	struct ilb_follow follow;
	const char *output;
	const char *housekeeping;
	char *policies;			/* ours: commas become NULs */
	const char *name[ILB_POLICIES_MAX];
	unsigned int nr;
	int list_disagreements;
	int json;
	FILE *list;			/* disagreements, printed at the end */
	uint64_t start_ns;
};

enum { OPT_TOPOLOGY = 256, OPT_IGNORE, OPT_SETTLE, OPT_HOUSEKEEPING, OPT_LIST,
       OPT_LIST_POLICIES, OPT_JSON, OPT_HELP };

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "policy", required_argument, NULL, 'p' },
	{ "policies", required_argument, NULL, 'p' },
	{ "list-policies", no_argument, NULL, OPT_LIST_POLICIES },
	{ "housekeeping", required_argument, NULL, OPT_HOUSEKEEPING },
	{ "list-disagreements", no_argument, NULL, OPT_LIST },
	{ "topology", required_argument, NULL, OPT_TOPOLOGY },
	{ "ignore-probes", no_argument, NULL, OPT_IGNORE },
	{ "settle", required_argument, NULL, OPT_SETTLE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static int list_policies(void)
{
	const struct ilb_rule *rule;
	char name[40];

	for (rule = ilb_rules; rule->name; rule++) {
		snprintf(name, sizeof(name), "%s%s", rule->name,
			 rule->takes_cpu ? ":CPU" : "");
		printf("%-14s %s\n", name, rule->summary);
	}
	return ILB_EXIT_OK;
}

/* Several -p add up. */
static int add_policies(struct options *o, const char *list)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", o->policies ? o->policies : "",
		     o->policies ? "," : "", list) < 0)
		return ilb_cmd_usage("replay", "out of memory");
	free(o->policies);
	o->policies = joined;
	return 0;
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
	case 'p':
		return add_policies(o, optarg) ? 1 + ILB_EXIT_USAGE : 0;
	case OPT_LIST_POLICIES:
		return 1 + list_policies();
	case OPT_HOUSEKEEPING:
		o->housekeeping = optarg;
		return 0;
	case OPT_LIST:
		o->list_disagreements = 1;
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
	case OPT_SETTLE:
		if (!ilb_cmd_time(optarg, &o->follow.settle_ns))
			return 0;
		return 1 + ilb_cmd_usage("replay",
				"--settle '%s': not a time such as 3.1us",
				optarg);
	case 'h':
		fputs(usage, stdout);
		return 1 + ILB_EXIT_OK;
	case OPT_HELP:
		return 1 + ilb_cmd_man("replay", usage);
	default:
		return 1 + ilb_cmd_bad_option("replay", c, argv);
	}
}

/* Whether the capture has these CPUs is seen later. */
static int check_housekeeping(const char *list)
{
	unsigned long mask[ILB_MASK_WORDS(ILB_CPUS_MAX)];

	if (!list || (!ilb_cpulist_parse(list, mask, ILB_CPUS_MAX) &&
		      !ilb_mask_empty(mask, ILB_CPUS_MAX)))
		return 0;
	return ilb_cmd_usage("replay",
			"--housekeeping '%s': not a list of CPUs such as 0-3,8",
			list);
}

static int parse(struct options *o, int argc, char **argv)
{
	int c, stop;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":i:o:p:h", long_options, NULL)) >=
	       0) {
		stop = one_option(o, c, argv);
		if (stop)
			return stop;
	}
	if (optind < argc)
		return 1 + ilb_cmd_usage("replay",
				"'%s': the input is named with -i",
				argv[optind]);
	if (o->json && o->list_disagreements)
		return 1 + ilb_cmd_usage("replay",
				"--list-disagreements is text; leave out --json");
	return check_housekeeping(o->housekeeping) ? 1 + ILB_EXIT_USAGE : 0;
}

static int add_name(struct options *o, const char *name)
{
	struct ilb_policy policy;

	if (ilb_policy_parse(&policy, name, ILB_CPUS_MAX))
		return ilb_cmd_usage("replay",
				"policy '%s': there is no such rule ('--list-policies' has them all)",
				name);
	if (o->nr == ILB_POLICIES_MAX)
		return ilb_cmd_usage("replay", "more than %d policies",
				     ILB_POLICIES_MAX);
	o->name[o->nr++] = name;
	return 0;
}

static int add_all(struct options *o)
{
	const struct ilb_rule *rule;

	for (rule = ilb_rules; rule->name; rule++)
		if (!rule->takes_cpu && add_name(o, rule->name))
			return ILB_EXIT_USAGE;
	return 0;
}

static int split_policies(struct options *o)
{
	char *name, *rest;

	if (!o->policies && add_policies(o, "lowest,idle-core,near,round-robin"))
		return ILB_EXIT_USAGE;
	rest = o->policies;
	while ((name = strsep(&rest, ",")))
		if (!strcmp(name, "all") ? add_all(o) : add_name(o, name))
			return ILB_EXIT_USAGE;
	return 0;
}

static void print_cpus(FILE *out, const char *what, const unsigned long *mask,
		       unsigned int nr_cpus)
{
	char text[1024];

	ilb_cpulist_print(text, sizeof(text), mask, nr_cpus);
	fprintf(out, "  %s %s", what, text[0] ? text : "none");
}

static void print_cpu(FILE *out, const char *what, unsigned int cpu)
{
	if (cpu == ILB_CPU_NONE)
		fprintf(out, "  %s none", what);
	else
		fprintf(out, "  %s %u", what, cpu);
}

static void on_disagreement(void *context, const struct ilb_disagreement *d)
{
	struct options *o = context;
	unsigned int nr = o->follow.capture->topology.nr_cpus;
	const struct ilb_moment *m = d->moment;

	fprintf(o->list, "%llu.%09llu",
		(unsigned long long)(m->time_ns / 1000000000),
		(unsigned long long)(m->time_ns % 1000000000));
	print_cpu(o->list, "kicker", m->kicker);
	print_cpu(o->list, "kernel", m->target);
	print_cpu(o->list, d->policy, d->chosen);
	print_cpus(o->list, "idle", m->idle, nr);
	print_cpus(o->list, "mask", m->mask, nr);
	fprintf(o->list, "%s%s\n", d->decisive ? "  decisive" : "",
		m->assumed ? "  assumed" : "");
}

static int start_replay(struct options *o, unsigned long *housekeeping,
			struct ilb_error *error)
{
	unsigned int nr = o->follow.capture->topology.nr_cpus;
	const struct ilb_replay_setup setup = {
		.topology = &o->follow.capture->topology,
		.policies = o->name,
		.nr_policies = o->nr,
		.housekeeping = o->housekeeping ? housekeeping : NULL,
		.disagreement = o->list ? on_disagreement : NULL,
		.context = o,
	};

	if (o->housekeeping &&
	    ilb_cpulist_parse(o->housekeeping, housekeeping, nr))
		return ilb_fail(error, ILB_ERR_RANGE,
				"--housekeeping '%s': the capture has CPUs 0-%u; name some of these",
				o->housekeeping, nr - 1);
	return ilb_replay_create(&o->follow.replay, &setup, error);
}

static void append_list(struct options *o, FILE *out)
{
	char buffer[65536];
	size_t n;

	fprintf(out, "\nDisagreements (time in s, CPUs, the state seen):\n");
	rewind(o->list);
	while ((n = fread(buffer, 1, sizeof(buffer), o->list)))
		fwrite(buffer, 1, n, out);
}

static int print(struct options *o, struct ilb_error *error)
{
	struct ilb_report report = {
		.command = "replay",
		.capture = o->follow.capture,
		.hz = o->follow.hz,
		.source = &o->follow.stats,
		.measures = o->follow.measures,
		.nr_policies = o->nr,
		.what_if = o->housekeeping,
	};
	struct ilb_output out;
	int err;

	report.policies = ilb_replay_results(o->follow.replay, &report.best);
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
	if (o->list)
		append_list(o, out.file);
	return ilb_output_close(&out, error);
}

static int replay(struct options *o, struct ilb_error *error)
{
	unsigned long housekeeping[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	int err;

	if (o->list_disagreements) {
		o->list = tmpfile();
		if (!o->list)
			return ilb_fail(error, ILB_ERR_IO,
					"--list-disagreements: cannot make a temporary file; set TMPDIR");
	}
	err = ilb_follow_open(&o->follow, 1, error);
	if (!err)
		err = start_replay(o, housekeeping, error);
	if (!err)
		err = ilb_follow_run(&o->follow, error);
	return err ? err : print(o, error);
}

int ilb_cmd_replay(int argc, char **argv)
{
	struct options o = {
		.follow = {
			.verb = "replay",
			.input = "ilb.data",
			.settle_ns = ILB_SETTLE_NS,
		},
	};
	struct ilb_error error = { "" };
	int err, code = ILB_EXIT_OK;

	err = parse(&o, argc, argv);
	if (err || split_policies(&o)) {
		free(o.policies);
		return err ? err - 1 : ILB_EXIT_USAGE;
	}
	err = replay(&o, &error);
	if (err)
		code = ilb_cmd_fail("replay", err, &error);
	ilb_follow_close(&o.follow);
	if (o.list)
		fclose(o.list);
	free(o.policies);
	return code;
}
