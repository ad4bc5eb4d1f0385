// SPDX-License-Identifier: GPL-2.0-only
/* ilb stat: watch the running kernel, without a trace. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "ilb/stat.h"

#define NS_PER_S	1e9
#define SECONDS_MIN	0.01
#define SECONDS_MAX	1e8
#define EXIT_OWN	125	/* as env(1): not the command's failure */

static const char usage[] =
	"usage: ilb stat [options] [-- COMMAND...]\n"
	"       ilb stat --diff A.json B.json\n"
	"\n"
	"  -I, --interval SECONDS  one line, or JSON object, each; else one summary\n"
	"                          when the command ends, or with Ctrl-C\n"
	"  -n, --count COUNT       end after so many intervals\n"
	"      --json              JSON objects, see ilb-json(5)\n"
	"      --functions         also sample the balancer's functions\n"
	"      --diff              compare two outputs of --json\n"
	"  -o, --output FILE       write to FILE\n"
	"  -h                      this text;  --help: the man page\n";

enum { OPT_JSON = 256, OPT_DIFF, OPT_FUNCTIONS, OPT_HELP };

static const struct option long_options[] = {
	{ "interval", required_argument, NULL, 'I' },
	{ "count", required_argument, NULL, 'n' },
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "diff", no_argument, NULL, OPT_DIFF },
	{ "functions", no_argument, NULL, OPT_FUNCTIONS },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

struct watch {
	struct ilb_stat_options options;
	struct ilb_output out;
	const char *output;
	int json;
	int diff;
	unsigned int lines;
};

/* ---- options; each returns 0, or an exit code plus 1 ---- */

static int read_interval(uint64_t *ns, const char *text)
{
	double seconds = 0;

	if (*text && !text[strspn(text, "0123456789.")] &&
	    strspn(text, ".") < strlen(text))
		seconds = strtod(text, NULL);
	if (!(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX) ||
	    (strchr(text, '.') && strchr(strchr(text, '.') + 1, '.')))
		return 1 + ilb_cmd_usage("stat",
				"-I '%s': not a number of seconds from %g, as 1 or 0.5",
				text, SECONDS_MIN);
	*ns = (uint64_t)(seconds * NS_PER_S);
	return 0;
}

static int read_count(unsigned int *count, const char *text)
{
	if (*text && !text[strspn(text, "0123456789")] && strlen(text) < 10)
		*count = (unsigned int)strtoul(text, NULL, 10);
	if (*count)
		return 0;
	return 1 + ilb_cmd_usage("stat",
			"-n '%s': not a number of intervals above 0", text);
}

static int one_option(struct watch *s, int c, char **argv)
{
	switch (c) {
	case 'I':
		return read_interval(&s->options.interval_ns, optarg);
	case 'n':
		return read_count(&s->options.count, optarg);
	case 'o':
		s->output = optarg;
		return *optarg ? 0 : 1 + ilb_cmd_usage("stat",
				"-o '': name a file");
	case OPT_JSON:
		s->json = 1;
		return 0;
	case OPT_FUNCTIONS:
		s->options.functions = 1;
		return 0;
	case OPT_DIFF:
		s->diff = 1;
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 1 + ILB_EXIT_OK;
	case OPT_HELP:
		return 1 + ilb_cmd_man("stat", usage);
	default:
		return 1 + ilb_cmd_bad_option("stat", c, argv);
	}
}

static int parse(struct watch *s, int argc, char **argv)
{
	int c, stop;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:I:n:o:h", long_options,
				NULL)) >= 0) {
		stop = one_option(s, c, argv);
		if (stop)
			return stop;
	}
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
