// SPDX-License-Identifier: GPL-2.0-only
/* Exact moments, counted in the words of measure/. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "ilb/fix.h"
#include "ilb/measure.h"
#include "live/exact.h"

#define LOOK_MS		200	/* the buffer holds seconds */

struct ilb_fix_watch {
	const struct ilb_topology *topology;
	const unsigned long *housekeeping;
	struct ilb_exact *exact;
	struct ilb_machine *machine;	/* never hears of an event */
	struct ilb_meter *meter;
	uint64_t lost;
};

static void on_moment(void *context, const struct ilb_moment *moment)
{
	struct ilb_fix_watch *w = context;
	struct ilb_moment whole = *moment;

	whole.housekeeping = w->housekeeping;
	ilb_meter_moment(w->meter, &whole);
}

/* A meter is read once, so each take has one of its own. */
static int start_meter(struct ilb_fix_watch *w, struct ilb_error *error)
{
	const struct ilb_meter_setup setup = {
		.topology = w->topology, .housekeeping = w->housekeeping,
		.machine = w->machine,
	};

	ilb_meter_destroy(w->meter);
	w->meter = ilb_meter_create(&setup);
	return w->meter ? 0 : ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
}

static int start(struct ilb_fix_watch *w, struct ilb_error *error)
{
	const struct ilb_machine_setup setup = {
		.topology = w->topology, .housekeeping = w->housekeeping,
		.moment = on_moment, .context = w,
	};
	int err;

	w->machine = ilb_machine_create(&setup);
	if (!w->machine)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	err = start_meter(w, error);
	if (err)
		return err;
	return ilb_exact_open(&w->exact, w->topology->nr_cpus, on_moment, w,
			      error);
}

int ilb_fix_watch_open(struct ilb_fix_watch **watch,
		       const struct ilb_topology *topology,
		       const unsigned long *housekeeping,
		       struct ilb_error *error)
{
	struct ilb_fix_watch *w = calloc(1, sizeof(*w));
	int err;

	*watch = NULL;
	if (!w)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	w->topology = topology;
	w->housekeeping = housekeeping;
	err = start(w, error);
	if (err) {
		ilb_fix_watch_close(w);
		return err;
	}
	*watch = w;
	return 0;
}

int ilb_fix_watch_fd(const struct ilb_fix_watch *watch)
{
	return ilb_exact_fd(watch->exact);
}

int ilb_fix_watch_read(struct ilb_fix_watch *watch, struct ilb_error *error)
{
	int n = ilb_exact_read(watch->exact, error);

	return n < 0 ? n : 0;
}

int ilb_fix_watch_take(struct ilb_fix_watch *watch,
		       struct ilb_fix_kicks *kicks, struct ilb_error *error)
{
	const struct ilb_measures *m;
	struct ilb_exact_counts counts;
	int err = ilb_fix_watch_read(watch, error);

	if (err)
		return err;
	ilb_meter_exact(watch->meter, ILB_MOMENT_EXACT, 1, 0, 0);
	m = ilb_meter_finish(watch->meter);
	if (!m)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	kicks->total = m->kicks.total;
	kicks->on_busy_core = m->kicks.on_busy_core;
	kicks->avoidable = m->kicks.avoidable;
	ilb_exact_counts(watch->exact, &counts);
	kicks->lost = counts.lost - watch->lost;
	watch->lost = counts.lost;
	return start_meter(watch, error);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

int ilb_fix_watch_for(struct ilb_fix_watch *watch, uint64_t ns,
		      struct ilb_error *error)
{
	struct pollfd fd = { .fd = -1 };
	uint64_t end = now() + ns, at;
	int err = 0;

	for (at = now(); !err && at < end; at = now()) {
		poll(&fd, 1, end - at < LOOK_MS * 1000000ULL ?
		     (int)((end - at) / 1000000) + 1 : LOOK_MS);
		err = ilb_fix_watch_read(watch, error);
	}
	return err;
}

void ilb_fix_watch_close(struct ilb_fix_watch *watch)
{
	if (!watch)
		return;
	ilb_exact_close(watch->exact);
	ilb_meter_destroy(watch->meter);
	ilb_machine_destroy(watch->machine);
	free(watch);
}
