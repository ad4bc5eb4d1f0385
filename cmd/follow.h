/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CMD_FOLLOW_H
#define ILB_CMD_FOLLOW_H

#include <stdio.h>

#include "cmd/options.h"
#include "ilb/capture.h"
#include "ilb/machine.h"
#include "ilb/measure.h"
#include "ilb/moments.h"
#include "ilb/pair.h"
#include "ilb/replay.h"
#include "ilb/report.h"
#include "ilb/source.h"

/**
 * struct ilb_follow - a capture on its way to measures and replay
 * @verb: for messages
 * @input, @topology, @ignore_probes, @ignore_moments, @settle_ns,
 *	@recovery_ns: options
 * @output, @json: where and how the report is printed
 * @meter: NULL: do not measure
 * @replay: NULL: do not replay
 * @source: NULL: there is no trace
 * @moments: NULL: there are no exact ones, or they are ignored
 * @next: the next of them, if @has_next
 * @pair: NULL: there are not both
 * @failed: what reading moments failed with, while events were read; @error
 *
 * The one place where source, machine, moments, meter and replay are put
 * together.
 */
struct ilb_follow {
	const char *verb;
	const char *input;
	const char *topology;
	int ignore_probes;
	int ignore_moments;
	uint64_t settle_ns;
	uint64_t recovery_ns;
	const char *output;
	int json;

	struct ilb_capture *capture;
	struct ilb_source *source;
	struct ilb_machine *machine;
	struct ilb_meter *meter;
	struct ilb_replay *replay;
	struct ilb_moments *moments;
	struct ilb_moment next;
	int has_next;
	struct ilb_pair *pair;
	int failed;
	struct ilb_error error;
	struct ilb_source_stats stats;
	struct ilb_measures *measures;
	unsigned int hz;
};

/* Options of every command that reads a capture: which, and how it is judged. */
extern const struct ilb_option ilb_input_options[];

/**
 * ilb_follow_take() - take one of ilb_input_options or ilb_output_options
 *
 * Returns 0, or an exit code plus 1 with which the command is to end.
 */
int ilb_follow_take(struct ilb_follow *follow, const struct ilb_option *option);

/** ilb_follow_time() - read an option's time; 0, or an exit code plus 1 */
int ilb_follow_time(const struct ilb_follow *follow, const char *option,
		    uint64_t *ns);

/** ilb_follow_open() - open capture, source and machine (and the meter) */
int ilb_follow_open(struct ilb_follow *follow, int measure,
		    struct ilb_error *error);

/** ilb_follow_run() - all events and moments, to the results */
int ilb_follow_run(struct ilb_follow *follow, struct ilb_error *error);

/**
 * ilb_follow_print() - print a report where and how the options say
 * @report: its part of @follow (capture, hz, source, measures) is filled here
 * @appendix: text to print behind it, read from its start; NULL: none
 */
int ilb_follow_print(const struct ilb_follow *follow,
		     struct ilb_report *report, FILE *appendix,
		     struct ilb_error *error);

void ilb_follow_close(struct ilb_follow *follow);

#endif
