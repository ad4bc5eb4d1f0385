// SPDX-License-Identifier: GPL-2.0-only
/* ilb record: a capture of the running machine. */

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "ilb/record.h"

#define DIR_DEFAULT	"ilb.data"
#define NS_PER_S	1e9
#define EXIT_OWN	125	/* as env(1): not the command's failure */

enum {
	OPT_BUFFER = ILB_KEY_OWN, OPT_FORCE, OPT_MOMENTS, OPT_NO_BPF,
	OPT_NO_PROBES,
};

static const struct ilb_option options[] = {
	{ 'o', "output", "DIR", ILB_FOLDERS, 0,
	  "the folder to make (default: " DIR_DEFAULT ")" },
	{ 'd', "duration", "SECONDS", NULL, 0,
	  "end after this time; else with the command, or with\n"
	  "Ctrl-C" },
	{ 'C', "cpu", "LIST", NULL, 0, "record these CPUs only, as 0-3,8" },
	{ OPT_BUFFER, "buffer-size", "KB", NULL, 0,
	  "memory per CPU for events not yet on disk" },
	{ OPT_MOMENTS, "moments-only", NULL, NULL, 0,
	  "no trace: what the kernel knew at each kick, by BPF" },
	{ OPT_NO_BPF, "no-bpf", NULL, NULL, 0,
	  "no such moments, a trace only" },
	{ OPT_NO_PROBES, "no-probes", NULL, NULL, 0,
	  "set and record no probes" },
	{ OPT_FORCE, "force", NULL, NULL, 0,
	  "an earlier capture in DIR moves to DIR.old" },
	{ 0 },
};

static int take(void *context, const struct ilb_option *option)
{
	struct ilb_record_options *o = context;
	uint64_t number;
	int stop;

	switch (option->key) {
	case 'o':
		return ilb_option_text(&ilb_record_syntax, option, "a folder",
				       &o->dir);
	case 'd':
		return ilb_option_seconds(&ilb_record_syntax, option, 1e-9,
					  &o->duration_ns);
	case 'C':
		o->cpus = optarg;
		return 0;
	case OPT_BUFFER:
		stop = ilb_option_number(&ilb_record_syntax, option, "KB",
					 ILB_BUFFER_KB_MIN, ILB_BUFFER_KB_MAX,
					 &number);
		o->buffer_kb = (unsigned int)number;
		return stop;
	case OPT_MOMENTS:
		o->moments_only = 1;
		return 0;
	case OPT_NO_BPF:
		o->no_bpf = 1;
		return 0;
	case OPT_FORCE:
		o->force = 1;
		return 0;
	default:
		o->no_probes = 1;
		return 0;
	}
}

const struct ilb_syntax ilb_record_syntax = {
	.verb = "record",
	.usage = "usage: ilb record [options] [-- COMMAND...]\n\n",
	.tables = { options },
	.command = 1,
	.take = take,
};

static int parse(struct ilb_record_options *o, int argc, char **argv)
{
	int stop = ilb_options_parse(&ilb_record_syntax, o, argc, argv);

	if (stop)
		return stop;
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
