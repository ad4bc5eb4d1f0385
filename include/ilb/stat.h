/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_STAT_H
#define ILB_STAT_H

#include <stdint.h>
#include <stdio.h>

#include "ilb/error.h"
#include "ilb/report.h"

/**
 * DOC: stat - watch a running kernel
 *
 * The measures of a report, without a trace: counted in the kernel by BPF
 * where that is possible, and read once per interval. Each part has its own
 * source; one that is missing makes that part unknown, not the others.
 */

/**
 * struct ilb_stat_options - what to watch, and for how long
 * @interval_ns: 0: one interval, up to the end
 * @count: end after so many intervals, 0: never
 * @functions: 1: also sample which functions run
 * @command: watch while it runs, NULL: until SIGINT, SIGTERM, SIGHUP
 * @interval: called at the end of each; the report is valid during the call.
 *	An error that it returns ends the watching
 */
struct ilb_stat_options {
	uint64_t interval_ns;
	unsigned int count;
	int functions;
	char *const *command;
	int (*interval)(void *context, const struct ilb_report *report,
			struct ilb_error *error);
	void *context;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_stat_run() - watch
 * @status: of the command as a shell has it; 126, 127 if it cannot be started
 *
 * A command that still runs at the end (@count) is waited for.
 *
 * Returns 0; -ILB_ERR_NOENT (the command cannot be started), -ILB_ERR_IO,
 * -ILB_ERR_NOMEM, or what ->interval() returned. Sources that are missing are
 * no error.
 */
int ilb_stat_run(const struct ilb_stat_options *options, int *status,
		 struct ilb_error *error);

/**
 * ilb_stat_diff() - two JSON outputs side by side, with ratios
 *
 * Counts are compared per second. Of a file with several intervals the last
 * counts.
 *
 * Returns 0, -ILB_ERR_NOENT, -ILB_ERR_FORMAT (also if neither has a figure),
 * -ILB_ERR_IO, -ILB_ERR_NOMEM.
 */
int ilb_stat_diff(FILE *out, const char *a, const char *b,
		  unsigned int width, struct ilb_error *error);

#ifdef __cplusplus
}
#endif
#endif
