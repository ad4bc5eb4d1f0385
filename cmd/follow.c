// SPDX-License-Identifier: GPL-2.0-only
/* source -> event -> machine -> moment -> measure, replay: the one loop. */

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/follow.h"

#define EVENTS_PER_LOOK	65536	/* at the clock */

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

void ilb_follow_close(struct ilb_follow *f)
{
	ilb_replay_destroy(f->replay);
	ilb_meter_destroy(f->meter);
	ilb_machine_destroy(f->machine);
	ilb_source_close(f->source);
	ilb_capture_close(f->capture);
}
