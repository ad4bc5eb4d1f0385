// SPDX-License-Identifier: GPL-2.0-only
/* ilb stat: watch the running kernel, without a trace. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "ilb/stat.h"

#define SECONDS_MIN	0.01
#define COUNT_MAX	999999999U
#define EXIT_OWN	125	/* as env(1): not the command's failure */

enum { OPT_DIFF = ILB_KEY_OWN, OPT_FUNCTIONS };

static const struct ilb_option own[] = {
	{ 'I', "interval", "SECONDS", NULL, 0,
	  "one line, or JSON object, each; else one summary when\n"
	  "the command ends, or with Ctrl-C" },
	{ 'n', "count", "COUNT", NULL, 0, "end after so many intervals" },
	{ OPT_FUNCTIONS, "functions", NULL, NULL, 0,
	  "also sample the balancer's functions" },
	{ OPT_DIFF, "diff", NULL, NULL, 0, "compare two outputs of --json" },
	{ 0 },
};

struct watch {
	struct ilb_stat_options options;
	struct ilb_output out;
	const char *output;
	int json;
	int diff;
	unsigned int lines;
};

static int take(void *context, const struct ilb_option *option)
{
	struct watch *s = context;
	uint64_t number;
	int stop;

	switch (option->key) {
	case 'I':
		return ilb_option_seconds(&ilb_stat_syntax, option, SECONDS_MIN,
					  &s->options.interval_ns);
	case 'n':
		stop = ilb_option_number(&ilb_stat_syntax, option, "intervals",
					 1, COUNT_MAX, &number);
		s->options.count = (unsigned int)number;
		return stop;
	case 'o':
		return ilb_option_text(&ilb_stat_syntax, option, "a file",
				       &s->output);
	case OPT_FUNCTIONS:
		s->options.functions = 1;
		return 0;
	case OPT_DIFF:
		s->diff = 1;
		return 0;
	default:
		s->json = 1;
		return 0;
	}
}

const struct ilb_syntax ilb_stat_syntax = {
	.verb = "stat",
	.usage = "usage: ilb stat [options] [-- COMMAND...]\n"
		 "       ilb stat --diff A.json B.json\n\n",
	.words = ILB_FILES,
	.tables = { own, ilb_output_options },
	.command = 1,
	.take = take,
};

static int parse(struct watch *s, int argc, char **argv)
{
	int stop = ilb_options_parse(&ilb_stat_syntax, s, argc, argv);

	if (stop)
		return stop;
	if (s->diff)
		return argc - optind == 2 ? 0 : 1 + ilb_cmd_usage("stat",
				"--diff: takes two files of 'ilb stat --json'");
	if (s->options.count && !s->options.interval_ns)
		return 1 + ilb_cmd_usage("stat",
				"-n: counts intervals; give -I, too");
	if (optind < argc)
		s->options.command = argv + optind;
	else if (!strcmp(argv[argc - 1], "--"))
		return 1 + ilb_cmd_usage("stat", "--: no command follows it");
	return 0;
}

/* ---- what it says ---- */

static int print(void *context, const struct ilb_report *report,
		 struct ilb_error *error)
{
	struct watch *s = context;
	unsigned int width = ilb_output_width(&s->out);
	int intervals = s->options.interval_ns != 0, err;

	if (s->json)
		err = ilb_report_json(s->out.file, report);
	else if (intervals)
		err = ilb_report_line(s->out.file, report, s->lines++);
	else
		err = ilb_report_text(s->out.file, report, width,
				      ilb_output_colour(&s->out));
	if (!err)
		return 0;
	return ilb_fail(error, (enum ilb_err)-err, "%s: %s",
			s->output ? s->output : "standard output",
			ilb_strerror(err));
}

static int watch(struct watch *s, struct ilb_error *error)
{
	int err, status = 0, code;

	err = ilb_output_open(&s->out, s->output, error);
	if (err)
		return ilb_cmd_fail("stat", err, error);
	s->options.interval = print;
	s->options.context = s;
	err = ilb_stat_run(&s->options, &status, error);
	if (!err)
		err = ilb_output_close(&s->out, error);
	if (!err)
		return status;
	ilb_output_abandon(&s->out);
	code = ilb_cmd_fail("stat", err, error);
	if (s->options.command && err == -ILB_ERR_NOENT)
		return status;
	return s->options.command ? EXIT_OWN : code;
}

static int compare(struct watch *s, char **files, struct ilb_error *error)
{
	int err;

	err = ilb_output_open(&s->out, s->output, error);
	if (!err)
		err = ilb_stat_diff(s->out.file, files[0], files[1],
				    ilb_output_width(&s->out), error);
	if (!err)
		err = ilb_output_close(&s->out, error);
	if (!err)
		return ILB_EXIT_OK;
	ilb_output_abandon(&s->out);
	return ilb_cmd_fail("stat", err, error);
}

int ilb_cmd_stat(int argc, char **argv)
{
	struct watch s = { .json = 0 };
	struct ilb_error error = { "" };
	int stop;

	stop = parse(&s, argc, argv);
	if (stop)
		return stop - 1;
	if (s.diff)
		return compare(&s, argv + optind, &error);
	return watch(&s, &error);
}
