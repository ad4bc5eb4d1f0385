/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CMD_FOLLOW_H
#define ILB_CMD_FOLLOW_H

#include "ilb/capture.h"
#include "ilb/machine.h"
#include "ilb/measure.h"
#include "ilb/replay.h"
#include "ilb/source.h"

/**
 * struct ilb_follow - a capture on its way to measures and replay
 * @verb: for messages
 * @input, @topology, @ignore_probes, @settle_ns, @recovery_ns: options
 * @meter: NULL: do not measure
 * @replay: NULL: do not replay
 *
 * The one place where source, machine, meter and replay are put together.
 */
struct ilb_follow {
	const char *verb;
	const char *input;
	const char *topology;
	int ignore_probes;
	uint64_t settle_ns;
	uint64_t recovery_ns;

	struct ilb_capture *capture;
	struct ilb_source *source;
	struct ilb_machine *machine;
	struct ilb_meter *meter;
	struct ilb_replay *replay;
	struct ilb_source_stats stats;
	struct ilb_measures *measures;
	unsigned int hz;
};

/** ilb_follow_open() - open capture, source and machine (and the meter) */
int ilb_follow_open(struct ilb_follow *follow, int measure,
		    struct ilb_error *error);

/** ilb_follow_run() - all events, to the results */
int ilb_follow_run(struct ilb_follow *follow, struct ilb_error *error);

void ilb_follow_close(struct ilb_follow *follow);

#endif
