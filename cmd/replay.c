// SPDX-License-Identifier: GPL-2.0-only
/* ilb replay: what other selection rules would have done at the same moments. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/follow.h"
#include "ilb/report.h"

struct options {
	struct ilb_follow follow;
	const char *housekeeping;
	char *policies;			/* ours: commas become NULs */
	const char *name[ILB_POLICIES_MAX];
	unsigned int nr;
	int list_disagreements;
	FILE *list;			/* disagreements, printed at the end */
};

enum { OPT_HOUSEKEEPING = ILB_KEY_OWN, OPT_LIST, OPT_LIST_POLICIES };

static const struct ilb_option own[] = {
	{ 'p', "policy", "LIST", ILB_LISTED, 0,
	  "rules to replay, separated by commas; 'all'\n"
	  "(default lowest,idle-core,near,round-robin)" },
	{ 'p', "policies", "LIST", ILB_LISTED, 0, NULL },
	{ OPT_LIST_POLICIES, "list-policies", NULL, NULL, 0,
	  "the rules that there are" },
	{ OPT_HOUSEKEEPING, "housekeeping", "LIST", NULL, 0,
	  "what if these CPUs were the housekeeping ones" },
	{ OPT_LIST, "list-disagreements", NULL, NULL, 0,
	  "time, kicker, both CPUs and the state seen, for\n"
	  "every kick that a rule places elsewhere" },
	{ 0 },
};

static void list_policies(FILE *out)
{
	const struct ilb_rule *rule;
	char name[40];

	for (rule = ilb_rules; rule->name; rule++) {
		snprintf(name, sizeof(name), "%s%s", rule->name,
			 rule->takes_cpu ? ":CPU" : "");
		fprintf(out, "%-14s %s\n", name, rule->summary);
	}
}

static void list_names(FILE *out)
{
	const struct ilb_rule *rule;

	for (rule = ilb_rules; rule->name; rule++)
		fprintf(out, "%s%s\t%s\n", rule->name,
			rule->takes_cpu ? ":" : "", rule->summary);
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
static int take(void *context, const struct ilb_option *option)
{
	struct options *o = context;

	switch (option->key) {
	case 'p':
		return add_policies(o, optarg) ? 1 + ILB_EXIT_USAGE : 0;
	case OPT_LIST_POLICIES:
		list_policies(stdout);
		return 1 + ILB_EXIT_OK;
	case OPT_HOUSEKEEPING:
		o->housekeeping = optarg;
		return 0;
	case OPT_LIST:
		o->list_disagreements = 1;
		return 0;
	default:
		return ilb_follow_take(&o->follow, option);
	}
}

const struct ilb_syntax ilb_replay_syntax = {
	.verb = "replay",
	.usage = "usage: ilb replay [options]\n\n",
	.list = list_names,
	.tables = { ilb_input_options, own, ilb_output_options },
	.take = take,
};

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
	int stop = ilb_options_parse(&ilb_replay_syntax, o, argc, argv);

	if (stop)
		return stop;
	if (optind < argc)
		return 1 + ilb_cmd_usage("replay",
				"'%s': the input is named with -i",
				argv[optind]);
	if (o->follow.json && o->list_disagreements)
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

static int print(struct options *o, struct ilb_error *error)
{
	struct ilb_report report = {
		.nr_policies = o->nr,
		.what_if = o->housekeeping,
	};

	report.policies = ilb_replay_results(o->follow.replay, &report.best);
	return ilb_follow_print(&o->follow, &report, o->list, error);
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
		fputs("\nDisagreements (time in s, CPUs, the state seen):\n",
		      o->list);
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
