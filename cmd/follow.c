// SPDX-License-Identifier: GPL-2.0-only
/*
 * source -> event -> machine -> moment -> measure, replay: the one loop. Exact
 * moments join where the machine's moments come out.
 */

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

enum {
	KEY_TOPOLOGY = ILB_KEY_FOLLOW, KEY_IGNORE_PROBES, KEY_IGNORE_MOMENTS,
	KEY_SETTLE,
};

const struct ilb_option ilb_input_options[] = {
	{ 'i', "input", "PATH", ILB_FILES, 0,
	  "capture folder, trace.dat or text trace\n"
	  "(default ilb.data; '-': text on standard input)" },
	{ KEY_TOPOLOGY, "topology", "TOPO", ILB_FILES, 0,
	  "hwloc XML file, synthetic description such as\n"
	  "'pack:2 [numa] l3:1 core:88 pu:2', or 'self'" },
	{ KEY_IGNORE_PROBES, "ignore-probes", NULL, NULL, 0,
	  "judge from tracepoints alone" },
	{ KEY_IGNORE_MOMENTS, "ignore-moments", NULL, NULL, 0,
	  "judge from the trace alone" },
	{ KEY_SETTLE, "settle", "TIME", NULL, 0,
	  "uncertainty of event times (default 5us)" },
	{ 0 },
};

int ilb_follow_take(struct ilb_follow *f, const struct ilb_option *option)
{
	switch (option->key) {
	case 'i':
		f->input = optarg;
		return 0;
	case 'o':
		f->output = optarg;
		return 0;
	case KEY_TOPOLOGY:
		f->topology = optarg;
		return 0;
	case KEY_IGNORE_PROBES:
		f->ignore_probes = 1;
		return 0;
	case KEY_IGNORE_MOMENTS:
		f->ignore_moments = 1;
		return 0;
	case KEY_SETTLE:
		return ilb_follow_time(f, "--settle", &f->settle_ns);
	default:
		f->json = 1;
		return 0;
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

/* ---- exact moments ---- */

static int read_moment(struct ilb_follow *f)
{
	int got = ilb_moments_next(f->moments, &f->next, &f->error);

	f->has_next = got == 1;
	if (got < 0)
		f->failed = got;
	return got;
}

/* Those up to @until_ns, which are the earlier of both sides. */
static void add_moments(struct ilb_follow *f, uint64_t until_ns)
{
	while (f->has_next && f->next.time_ns <= until_ns) {
		ilb_pair_add(f->pair, &f->next);
		read_moment(f);
	}
}

static void on_kick(void *context, const struct ilb_moment *moment)
{
	struct ilb_follow *f = context;

	add_moments(f, moment->time_ns);
	ilb_pair_add(f->pair, moment);
}

/* The trace is over: what is left of the moments. */
static int finish_pairs(struct ilb_follow *f, uint64_t start_ns,
			uint64_t end_ns, struct ilb_error *error)
{
	const struct ilb_pair_counts *counts = ilb_pair_counts(f->pair);

	ilb_pair_span(f->pair, start_ns, end_ns);
	add_moments(f, UINT64_MAX);
	ilb_pair_finish(f->pair);
	if (f->failed)
		return 0;
	if (!counts->paired && counts->unpaired_kicks &&
	    counts->unpaired_moments)
		return ilb_fail(error, ILB_ERR_MISMATCH,
				"%s: none of its moments is of a kick in the trace, so they are not of one recording; add --ignore-moments",
				f->capture->moments);
	if (f->meter && (counts->paired || counts->unpaired_moments))
		ilb_meter_exact(f->meter, ilb_moments_kind(f->moments),
				!counts->unpaired_kicks, 0, 0);
	return 0;
}

/* No trace: moments alone. */
static int read_moments(struct ilb_follow *f)
{
	const struct ilb_moments_header *header;

	while (f->has_next) {
		f->next.housekeeping = f->capture->system.housekeeping;
		on_moment(f, &f->next);
		read_moment(f);
	}
	header = ilb_moments_header(f->moments);
	if (f->meter)
		ilb_meter_exact(f->meter, ilb_moments_kind(f->moments), 1,
				header->start_ns,
				ilb_moments_totals(f->moments)->end_ns);
	return f->failed;
}

/* ---- putting together ---- */

static int start_meter(struct ilb_follow *f, struct ilb_error *error)
{
	const struct ilb_meter_setup setup = {
		.topology = &f->capture->topology,
		.housekeeping = f->capture->system.housekeeping,
		.nohz_full = f->capture->system.nohz_full,
		.isolated = f->capture->system.isolated,
		.recorded_cpus = f->capture->system.recorded_cpus,
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
		.recorded = f->capture->system.recorded,
		.ignore_probes = f->ignore_probes,
		.settle_ns = f->settle_ns,
		.moment = f->pair ? on_kick : on_moment,
		.context = f,
	};

	f->machine = ilb_machine_create(&setup);
	if (!f->machine)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	return 0;
}

static int start_pair(struct ilb_follow *f, struct ilb_error *error)
{
	const struct ilb_pair_setup setup = {
		.topology = &f->capture->topology,
		.housekeeping = f->capture->system.housekeeping,
		.moment = on_moment,
		.context = f,
	};
	const char *clock = f->capture->system.trace_clock;

	if (clock[0] && strcmp(clock, "mono"))
		return ilb_fail(error, ILB_ERR_MISMATCH,
				"%s: its clock is mono, but that of the trace is %s; add --ignore-moments",
				f->capture->moments, clock);
	f->pair = ilb_pair_create(&setup);
	if (!f->pair)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	return 0;
}

static int open_moments(struct ilb_follow *f, struct ilb_error *error)
{
	const struct ilb_capture *c = f->capture;
	int err;

	if (f->ignore_moments && !c->trace)
		return ilb_fail(error, ILB_ERR_NOENT,
				"%s: has nothing but moments; leave out --ignore-moments",
				f->input);
	if (f->ignore_moments || !c->moments)
		return 0;
	err = ilb_moments_open(&f->moments, c->moments, c->topology.nr_cpus,
			       error);
	if (!err && c->trace)
		err = start_pair(f, error);
	if (!err && read_moment(f) < 0) {
		*error = f->error;
		err = f->failed;
	}
	return err;
}

int ilb_follow_open(struct ilb_follow *f, int measure, struct ilb_error *error)
{
	int err;

	err = ilb_capture_open(&f->capture, f->input, f->topology, error);
	if (!err)
		err = open_moments(f, error);
	if (!err && f->capture->trace)
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
	struct ilb_event event = { .time_ns = 0 };
	unsigned int n = 0;
	uint64_t start_ns = 0;
	int got;

	while ((got = ilb_source_next(f->source, &event, error)) == 1) {
		if (f->pair && !n) {
			start_ns = event.time_ns;
			ilb_pair_span(f->pair, start_ns, UINT64_MAX);
		}
		ilb_machine_event(f->machine, &event);
		if (f->meter)
			ilb_meter_event(f->meter, &event);
		if (++n % EVENTS_PER_LOOK == 0)
			show_progress(f, &progress);
	}
	if (progress.shown)
		fprintf(stderr, "\r\033[K");
	if (got)
		return got;
	ilb_machine_finish(f->machine);
	return f->pair ? finish_pairs(f, start_ns, event.time_ns, error) : 0;
}

static int read_trace(struct ilb_follow *f, struct ilb_error *error)
{
	int err = read_events(f, error);

	if (err)
		return err;
	ilb_source_stats(f->source, &f->stats);
	if (!f->stats.events)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: has no events; record it again", f->input);
	return f->failed;
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
	int err = f->source ? read_trace(f, error) : read_moments(f);

	if (f->failed && err == f->failed)
		*error = f->error;
	if (err)
		return err;
	f->hz = ilb_machine_hz(f->machine);
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
	report->source = f->source ? &f->stats : NULL;
	report->moments = f->moments ? ilb_moments_totals(f->moments) : NULL;
	report->pair = f->pair ? ilb_pair_counts(f->pair) : NULL;
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
	ilb_pair_destroy(f->pair);
	ilb_moments_close(f->moments);
	ilb_source_close(f->source);
	ilb_capture_close(f->capture);
}
