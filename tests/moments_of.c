// SPDX-License-Identifier: GPL-2.0-only
/*
 * moments_of CAPTURE FILE [NAME=NUMBER ...]: the moments that are reconstructed
 * from a trace, written as if they were exact; what a recorder may do to them:
 *
 *	drop=N		each Nth is missing
 *	lost=N		the recorder lost so many
 *	shift=NS	times are later by that
 *	extra=N		behind each Nth, one by another kicker
 *	before=N	so many more, a second before the trace
 *	idle=N		in each Nth CPU 0's bit of the idle set is another
 *	target=N	targets are another CPU, by N
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/capture.h"
#include "ilb/machine.h"
#include "ilb/moments.h"
#include "ilb/source.h"

enum option { DROP, LOST, SHIFT, EXTRA, BEFORE, IDLE, TARGET, OPTIONS };

static const char *const names[OPTIONS] = {
	"drop", "lost", "shift", "extra", "before", "idle", "target",
};

struct tool {
	uint64_t option[OPTIONS];
	unsigned int nr_cpus;
	struct ilb_moments_writer *writer;
	uint64_t number;
	struct ilb_error error;
};

static void check(struct tool *t, int err)
{
	if (err >= 0)
		return;
	fprintf(stderr, "moments_of: %s\n", t->error.text);
	exit(99);
}

static int each(const struct tool *t, enum option option)
{
	return t->option[option] && !(t->number % t->option[option]);
}

static void append(struct tool *t, struct ilb_moment m)
{
	m.time_ns += t->option[SHIFT];
	check(t, ilb_moments_append(t->writer, &m, &t->error));
}

static void on_moment(void *context, const struct ilb_moment *moment)
{
	unsigned long idle[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	struct ilb_moment m = *moment;
	struct tool *t = context;

	t->number++;
	ilb_mask_copy(idle, moment->idle, t->nr_cpus);
	if (each(t, IDLE))
		idle[0] ^= 1;
	m.idle = idle;
	m.target = (m.target + (unsigned int)t->option[TARGET]) % t->nr_cpus;
	if (!each(t, DROP))
		append(t, m);
	if (!each(t, EXTRA))
		return;
	m.kicker = m.target;
	append(t, m);
}

/* All of them a second early, by CPU 0 to CPU 1. */
static void add_before(struct tool *t, uint64_t start_ns)
{
	unsigned long none[ILB_MASK_WORDS(ILB_CPUS_MAX)] = { 0 };
	const struct ilb_moment m = { .time_ns = start_ns - 1000000000,
		.target = 1, .mask = none, .idle = none };
	uint64_t i;

	for (i = 0; i < t->option[BEFORE]; i++)
		append(t, m);
}

static void run(struct tool *t, const struct ilb_capture *c, const char *path)
{
	const struct ilb_machine_setup setup = {
		.topology = &c->topology,
		.housekeeping = c->system.housekeeping,
		.nohz_full = c->system.nohz_full,
		.isolated = c->system.isolated,
		.hz = c->system.hz,
		.settle_ns = ILB_SETTLE_NS,
		.moment = on_moment,
		.context = t,
	};
	struct ilb_moments_header header = { .nr_cpus = t->nr_cpus,
		.method = "raw_tp:csd_queue_cpu" };
	struct ilb_moments_totals totals = { .lost = t->option[LOST] };
	struct ilb_machine *machine = ilb_machine_create(&setup);
	struct ilb_source *source;
	struct ilb_event event;

	check(t, ilb_source_open(&source, c->trace, t->nr_cpus, &t->error));
	while (ilb_source_next(source, &event, &t->error) == 1) {
		if (!t->writer) {
			header.start_ns = event.time_ns;
			check(t, ilb_moments_create(&t->writer, path, &header,
						    &t->error));
			add_before(t, event.time_ns);
		}
		ilb_machine_event(machine, &event);
	}
	ilb_machine_finish(machine);
	totals.kicks = t->number + totals.lost;
	totals.end_ns = event.time_ns + t->option[SHIFT];
	check(t, ilb_moments_commit(t->writer, &totals, &t->error));
	ilb_source_close(source);
	ilb_machine_destroy(machine);
}

static int read_option(struct tool *t, const char *text)
{
	size_t length = strcspn(text, "=");
	unsigned int i;

	for (i = 0; i < OPTIONS; i++) {
		if (strlen(names[i]) != length ||
		    strncmp(names[i], text, length) || !text[length])
			continue;
		t->option[i] = strtoull(text + length + 1, NULL, 10);
		return 0;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct tool t = { .nr_cpus = 0 };
	struct ilb_capture *c;
	int i;

	if (argc < 3)
		return 99;
	for (i = 3; i < argc; i++)
		if (read_option(&t, argv[i]))
			return 99;
	check(&t, ilb_capture_open(&c, argv[1], NULL, &t.error));
	t.nr_cpus = c->topology.nr_cpus;
	run(&t, c, argv[2]);
	ilb_capture_close(c);
	return 0;
}
