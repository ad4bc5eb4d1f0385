// SPDX-License-Identifier: GPL-2.0-only
/* ilb record: a capture of the running machine. */

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "ilb/record.h"

#define DIR_DEFAULT	"ilb.data"
#define SECONDS_MAX	1e8
#define NS_PER_S	1e9
#define EXIT_OWN	125	/* as env(1): not the command's failure */

static const char usage[] =
	"usage: ilb record [options] [-- COMMAND...]\n"
	"\n"
	"  -o, --output DIR        the folder to make (default: " DIR_DEFAULT ")\n"
	"  -d, --duration SECONDS  end after this time; else with the command, or\n"
	"                          with Ctrl-C\n"
	"  -C, --cpu LIST          record these CPUs only, as 0-3,8\n"
	"      --buffer-size KB    memory per CPU for events not yet on disk\n"
	"      --moments-only      no trace: what the kernel knew at each kick, by BPF\n"
	"      --no-bpf            no such moments, a trace only\n"
	"      --no-probes         set and record no probes\n"
	"      --force             an earlier capture in DIR moves to DIR.old\n"
	"  -h                      this text;  --help: the man page\n";

enum {
	OPT_BUFFER = 256, OPT_FORCE, OPT_HELP, OPT_MOMENTS, OPT_NO_BPF,
	OPT_NO_PROBES,
};

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "duration", required_argument, NULL, 'd' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "buffer-size", required_argument, NULL, OPT_BUFFER },
	{ "moments-only", no_argument, NULL, OPT_MOMENTS },
	{ "no-bpf", no_argument, NULL, OPT_NO_BPF },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "no-probes", no_argument, NULL, OPT_NO_PROBES },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static int bad_duration(const char *text)
{
	return 1 + ilb_cmd_usage("record",
			"-d '%s': not a number of seconds above 0, as 10 or 0.5",
			text);
}

/* Returns 0, or an exit code plus 1. */
static int read_duration(uint64_t *ns, const char *text)
{
	char *end;
	double seconds;

	if (!*text || text[strspn(text, "0123456789.")])
		return bad_duration(text);
	seconds = strtod(text, &end);
	if (*end || !(seconds * NS_PER_S >= 1) || seconds > SECONDS_MAX)
		return bad_duration(text);
	*ns = (uint64_t)(seconds * NS_PER_S);
	return 0;
}

static int read_buffer(unsigned int *kb, const char *text)
{
	unsigned long value = 0;

	if (*text && !text[strspn(text, "0123456789")] && strlen(text) < 10)
		value = strtoul(text, NULL, 10);
	if (value < ILB_BUFFER_KB_MIN || value > ILB_BUFFER_KB_MAX)
		return 1 + ilb_cmd_usage("record",
				"--buffer-size '%s': not a number of KB from %u to %u",
				text, ILB_BUFFER_KB_MIN, ILB_BUFFER_KB_MAX);
	*kb = (unsigned int)value;
	return 0;
}

static int one_option(struct ilb_record_options *o, int c, char **argv)
{
	switch (c) {
	case 'o':
		o->dir = optarg;
		return *optarg ? 0 : 1 + ilb_cmd_usage("record",
				"-o '': name a folder");
	case 'd':
		return read_duration(&o->duration_ns, optarg);
	case 'C':
		o->cpus = optarg;
		return 0;
	case OPT_BUFFER:
		return read_buffer(&o->buffer_kb, optarg);
	case OPT_MOMENTS:
		o->moments_only = 1;
		return 0;
	case OPT_NO_BPF:
		o->no_bpf = 1;
		return 0;
	case OPT_FORCE:
		o->force = 1;
		return 0;
	case OPT_NO_PROBES:
		o->no_probes = 1;
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 1 + ILB_EXIT_OK;
	case OPT_HELP:
		return 1 + ilb_cmd_man("record", usage);
	default:
		return 1 + ilb_cmd_bad_option("record", c, argv);
	}
}

static int parse(struct ilb_record_options *o, int argc, char **argv)
{
	int c, stop;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:o:d:C:h", long_options,
				NULL)) >= 0) {
		stop = one_option(o, c, argv);
		if (stop)
			return stop;
	}
	if (o->moments_only && (o->no_bpf || o->cpus))
		return 1 + ilb_cmd_usage("record", o->no_bpf ?
				"--moments-only, --no-bpf: nothing would be recorded" :
				"--moments-only, -C: kicks are recorded of all CPUs; leave out -C");
	if (optind < argc)
		o->command = argv + optind;
	else if (!strcmp(argv[argc - 1], "--"))
		return 1 + ilb_cmd_usage("record", "--: no command follows it");
	return 0;
}

/* ---- what it says ---- */

static void show_progress(void *context, uint64_t ns)
{
	int *shown = context;

	if (ns < 2 * (uint64_t)NS_PER_S)
		return;
	fprintf(stderr, "\rilb record: %.0f s, Ctrl-C ends it",
		(double)ns / NS_PER_S);
	*shown = 1;
}

static void print_lacks(const struct ilb_record_summary *s)
{
	if (s->no_moments[0])
		fprintf(stderr, "  no exact moments: %s\n", s->no_moments);
	if (s->missing[0])
		fprintf(stderr, "  this kernel lacks %s\n", s->missing);
	if (s->unfiltered[0])
		fprintf(stderr, "  it cannot filter %s\n", s->unfiltered);
	if (s->no_probes[0])
		fprintf(stderr, "  probes: %s\n", s->no_probes);
	if (s->symbols_hidden)
		fputs("  addresses of functions are hidden from you: kicks cannot be told from\n"
		      "  other calls; record as root, or with CAP_SYSLOG\n",
		      stderr);
	if (s->schedstats == ILB_SCHEDSTATS_NONE)
		fputs("  balancing attempts are unknown: this kernel was built without SCHEDSTATS\n",
		      stderr);
	if (s->schedstats == ILB_SCHEDSTATS_OFF)
		fputs("  balancing attempts are unknown: kernel.sched_schedstats is 0 and may not\n"
		      "  be set\n", stderr);
}

static void print_summary(const struct ilb_record_options *o,
			  const struct ilb_record_summary *s)
{
	if (s->lost)
		fprintf(stderr,
			"ilb record: %" PRIu64 " events were LOST of %" PRIu64
			"; give a larger --buffer-size\n", s->lost,
			s->lost + s->events);
	if (s->lost_moments)
		fprintf(stderr, "ilb record: the moments of %" PRIu64
			" kicks were LOST of %" PRIu64
			"; is the machine or the disk overloaded?\n",
			s->lost_moments, s->kicks);
	fprintf(stderr, "ilb record: %s: %.2f s", o->dir,
		(double)s->duration_ns / NS_PER_S);
	if (!o->moments_only)
		fprintf(stderr, ", %" PRIu64 " events, %.1f MB, %" PRIu64
			" lost", s->events, (double)s->bytes / 1e6, s->lost);
	if (!o->no_bpf && !s->no_moments[0])
		fprintf(stderr, "; %" PRIu64 " kicks, %" PRIu64
			" moments lost", s->kicks, s->lost_moments);
	fputc('\n', stderr);
	print_lacks(s);
	if (s->command)
		fputs("  the command still runs: waiting for it\n", stderr);
	fprintf(stderr, "next: ilb report -i %s\n", o->dir);
}

static int exit_code(const struct ilb_record_options *o,
		     const struct ilb_record_summary *s, int err, int code)
{
	if (err == -ILB_ERR_RANGE || err == -ILB_ERR_SYNTAX)
		return ILB_EXIT_USAGE;
	if (o->command && s->status > EXIT_OWN && err == -ILB_ERR_NOENT)
		return s->status;
	if (o->command)
		return EXIT_OWN;
	return err == -ILB_ERR_UNSUPPORTED ? ILB_EXIT_DENIED : code;
}

int ilb_cmd_record(int argc, char **argv)
{
	struct ilb_record_options o = { .dir = DIR_DEFAULT };
	struct ilb_record_summary s;
	struct ilb_error error = { "" };
	int err, code, stop, shown = 0;

	stop = parse(&o, argc, argv);
	if (stop)
		return stop - 1;
	/* A command's own output is left alone. */
	if (!o.command && isatty(STDERR_FILENO)) {
		o.progress = show_progress;
		o.context = &shown;
	}
	err = ilb_record_run(&o, &s, &error);
	if (shown)
		fputc('\n', stderr);
	if (err) {
		code = ilb_cmd_fail("record", err, &error);
		code = exit_code(&o, &s, err, code);
		ilb_record_wait(&s);
		return code;
	}
	print_summary(&o, &s);
	return ilb_record_wait(&s);
}
