// SPDX-License-Identifier: GPL-2.0-only
/*
 * A seed for the target replay out of a capture: its events from one on, and
 * at every kick among them what the machine knows then, as an exact moment.
 *
 *	make-replay CAPTURE SHAPE OPTIONS FIRST COUNT >corpus/replay/NAME
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/capture.h"
#include "ilb/machine.h"
#include "ilb/source.h"
#include "replay.h"

static void put(const struct ilb_event *event, uint64_t last_ns)
{
	struct ilb_event record = *event;

	record.time_ns = event->time_ns - last_ns;
	fwrite(&record, sizeof(record), 1, stdout);
}

static void put_moment(const struct ilb_machine *machine)
{
	const struct ilb_kick *kick = ilb_machine_kick(machine);
	struct ilb_event record = { .type = ILB_EVENT_TYPES };
	struct replay_moment moment = { .kicker = 0 };

	if (!kick)
		return;
	moment.kicker = kick->kicker;
	moment.target = kick->target;
	moment.idle = moment.mask = *ilb_machine_idle_mask(machine);
	memcpy(&record.u, &moment, sizeof(moment));
	fwrite(&record, sizeof(record), 1, stdout);
}

static void on_moment(void *context, const struct ilb_moment *moment)
{
	(void)context;
	(void)moment;
}

static void copy(const struct ilb_capture *c, struct ilb_source *source,
		 unsigned long first, unsigned long count)
{
	const struct ilb_machine_setup setup = {
		.topology = &c->topology,
		.housekeeping = c->system.housekeeping,
		.nohz_full = c->system.nohz_full,
		.isolated = c->system.isolated,
		.settle_ns = ILB_SETTLE_NS,
		.moment = on_moment,
	};
	struct ilb_machine *machine = ilb_machine_create(&setup);
	uint64_t last_ns = 0;
	struct ilb_event event;
	unsigned long n;

	for (n = 0; n < first + count; n++) {
		if (ilb_source_next(source, &event, NULL) != 1)
			break;
		ilb_machine_event(machine, &event);
		if (n >= first) {
			put(&event, last_ns);
			put_moment(machine);
		}
		last_ns = event.time_ns;
	}
	ilb_machine_destroy(machine);
}

int main(int argc, char **argv)
{
	struct replay_head head = { .hz = 25, .recorded = ~0U };
	struct ilb_capture *capture;
	struct ilb_source *source;
	struct ilb_error error;

	if (argc != 6)
		return 2;
	if (ilb_capture_open(&capture, argv[1], NULL, &error) ||
	    ilb_source_open(&source, capture->trace,
			    capture->topology.nr_cpus, &error)) {
		fprintf(stderr, "make-replay: %s\n", error.text);
		return 1;
	}
	head.shape = (uint8_t)atoi(argv[2]);
	head.options = (uint8_t)atoi(argv[3]);
	fwrite(&head, sizeof(head), 1, stdout);
	copy(capture, source, strtoul(argv[4], NULL, 10),
	     strtoul(argv[5], NULL, 10));
	ilb_source_close(source);
	ilb_capture_close(capture);
	return 0;
}
