// SPDX-License-Identifier: GPL-2.0-only
/* source -> event -> machine -> moment -> measure, replay: the one loop. */

#include <getopt.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/follow.h"

#define EVENTS_PER_LOOK	65536	/* at the clock */

int ilb_follow_time(const struct ilb_follow *f, const char *option,
		    uint64_t *ns)
{
	if (!ilb_cmd_time(optarg, ns))
		return 0;
	return 1 + ilb_cmd_usage(f->verb, "%s '%s': not a time such as 3.1us",
				 option, optarg);
}

int ilb_follow_option(struct ilb_follow *f, int c, char **argv,
		      const char *usage)
{
	switch (c) {
	case 'i':
		f->input = optarg;
		return 0;
	case 'o':
		f->output = optarg;
		return 0;
	case ILB_OPT_TOPOLOGY:
		f->topology = optarg;
		return 0;
	case ILB_OPT_IGNORE_PROBES:
		f->ignore_probes = 1;
		return 0;
	case ILB_OPT_SETTLE:
		return ilb_follow_time(f, "--settle", &f->settle_ns);
	case ILB_OPT_JSON:
		f->json = 1;
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 1 + ILB_EXIT_OK;
	case ILB_OPT_HELP:
		return 1 + ilb_cmd_man(f->verb, usage);
	default:
		return 1 + ilb_cmd_bad_option(f->verb, c, argv);
	}
}

static void on_moment(void *context, const struct ilb_moment *moment)
{
	struct ilb_follow *f = context;

	if (f->meter)
		ilb_meter_moment(f->meter, moment);
	if (f->replay)
		ilb_replay_moment(f->replay, moment);
}

static int start_meter(struct ilb_follow *f, struct ilb_error *error)
{
	const struct ilb_meter_setup setup = {
		.topology = &f->capture->topology,
		.housekeeping = f->capture->system.housekeeping,
		.nohz_full = f->capture->system.nohz_full,
		.isolated = f->capture->system.isolated,
		.machine = f->machine,
		.recovery_ns = f->recovery_ns,
	};

	f->meter = ilb_meter_create(&setup);
	if (!f->meter)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	return 0;
}

static int start_machine(struct ilb_follow *f, struct ilb_error *error)
{
	const struct ilb_machine_setup setup = {
		.topology = &f->capture->topology,
		.housekeeping = f->capture->system.housekeeping,
		.nohz_full = f->capture->system.nohz_full,
		.isolated = f->capture->system.isolated,
		.hz = f->capture->system.hz,
		.ignore_probes = f->ignore_probes,
		.settle_ns = f->settle_ns,
		.moment = on_moment,
		.context = f,
	};

	f->machine = ilb_machine_create(&setup);
	if (!f->machine)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	return 0;
}

int ilb_follow_open(struct ilb_follow *f, int measure, struct ilb_error *error)
{
	int err;

	err = ilb_capture_open(&f->capture, f->input, f->topology, error);
	if (err)
		return err;
	err = ilb_source_open(&f->source, f->capture->trace,
			      f->capture->topology.nr_cpus, error);
	if (!err)
		err = start_machine(f, error);
	if (!err && measure)
		err = start_meter(f, error);
	return err;
}

/* Progress, for whoever waits at a terminal: from the third second on. */
struct progress {
	int wanted;
	int shown;
	time_t start;
};

static void show_progress(struct ilb_follow *f, struct progress *p)
{
	time_t now = time(NULL);

	if (!p->wanted || now - p->start < 2)
		return;
	ilb_source_stats(f->source, &f->stats);
	p->shown = 1;
	if (f->stats.bytes_total)
		fprintf(stderr, "\rreading %s: %3.0f %%\033[K", f->input,
			100.0 * (double)f->stats.bytes_read /
				(double)f->stats.bytes_total);
	else
		fprintf(stderr, "\rreading %s: %.1f million events\033[K",
			f->input, (double)f->stats.events / 1e6);
}

static int read_events(struct ilb_follow *f, struct ilb_error *error)
{
	struct progress progress = {
		.wanted = isatty(STDERR_FILENO),
		.start = time(NULL),
	};
	struct ilb_event event;
	unsigned int n = 0;
	int got;

	while ((got = ilb_source_next(f->source, &event, error)) == 1) {
		ilb_machine_event(f->machine, &event);
		if (f->meter)
			ilb_meter_event(f->meter, &event);
		if (++n % EVENTS_PER_LOOK == 0)
			show_progress(f, &progress);
	}
	if (progress.shown)
		fprintf(stderr, "\r\033[K");
	return got;
}

static void add_schedstat(struct ilb_follow *f)
{
	const struct ilb_capture *c = f->capture;

	if (c->schedstat_before && c->schedstat_after)
		ilb_schedstat_diff(f->measures, c->schedstat_before,
				   c->schedstat_after, f->hz);
}

int ilb_follow_run(struct ilb_follow *f, struct ilb_error *error)
{
	int err = read_events(f, error);

	if (err)
		return err;
	ilb_source_stats(f->source, &f->stats);
	ilb_machine_finish(f->machine);
	f->hz = ilb_machine_hz(f->machine);
	if (!f->stats.events)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: has no events; record it again", f->input);
	if (!f->meter)
		return 0;
	f->measures = ilb_meter_finish(f->meter);
	if (!f->measures)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	add_schedstat(f);
	return 0;
}

static void append(FILE *from, FILE *to)
{
	char buffer[65536];
	size_t n;

	rewind(from);
	while ((n = fread(buffer, 1, sizeof(buffer), from)))
		fwrite(buffer, 1, n, to);
}

int ilb_follow_print(const struct ilb_follow *f, struct ilb_report *report,
		     FILE *appendix, struct ilb_error *error)
{
	struct ilb_output out;
	int err;

	report->command = f->verb;
	report->capture = f->capture;
	report->hz = f->hz;
	report->source = &f->stats;
	report->measures = f->measures;
	err = ilb_output_open(&out, f->output, error);
	if (err)
		return err;
	if (f->json)
		err = ilb_report_json(out.file, report);
	else
		err = ilb_report_text(out.file, report,
				      ilb_output_width(&out),
				      ilb_output_colour(&out));
	if (err == -ILB_ERR_NOMEM) {
		ilb_output_abandon(&out);
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	}
	if (appendix)
		append(appendix, out.file);
	return ilb_output_close(&out, error);
}

void ilb_follow_close(struct ilb_follow *f)
{
	ilb_replay_destroy(f->replay);
	ilb_meter_destroy(f->meter);
	ilb_machine_destroy(f->machine);
	ilb_source_close(f->source);
	ilb_capture_close(f->capture);
}
