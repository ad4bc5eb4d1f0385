/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_SOURCE_H
#define ILB_SOURCE_H

#include <stdint.h>
#include "ilb/error.h"
#include "ilb/event.h"

struct ilb_source;

/**
 * struct ilb_source_stats - what a source can say about what it read
 * @events: lines or records read, those of no interest included
 * @unparsed: lines or records that were not understood
 * @lost: events that the tracer says it lost; those of unknown number count 1
 * @backwards: events whose time was before an earlier one's; they were given
 *             that one's time
 * @bytes_read, @bytes_total: progress; total 0 = unknown (a pipe)
 */
struct ilb_source_stats {
	uint64_t events;
	uint64_t unparsed;
	uint64_t lost;
	uint64_t backwards;
	uint64_t bytes_read;
	uint64_t bytes_total;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_source_open() - open a trace, whatever its format
 * @path: a trace.dat (versions 6 and 7) or text ("-": text on standard input)
 * @nr_cpus: events on CPUs at or above it end the reading with
 *           -ILB_ERR_MISMATCH
 *
 * The format is recognised by content. trace.dat is read through libtracecmd
 * in a child process, since that library can crash on damaged files; text
 * may be that of trace-cmd report (any of -t, -l), perf script or
 * tracefs' trace file.
 *
 * Returns 0 and a source that ilb_source_close() frees, or -ILB_ERR_NOENT,
 * -ILB_ERR_IO, -ILB_ERR_FORMAT, -ILB_ERR_NOMEM with @error filled.
 */
int ilb_source_open(struct ilb_source **source, const char *path,
		    unsigned int nr_cpus, struct ilb_error *error);

/**
 * ilb_source_next() - the next event in time order
 *
 * Returns 1 and fills @event; 0 at the end; or -ILB_ERR_FORMAT (damaged; the
 * events so far are right, but the answer would be partial),
 * -ILB_ERR_MISMATCH, -ILB_ERR_IO with @error filled. After a return other
 * than 1 it returns the same again.
 */
int ilb_source_next(struct ilb_source *source, struct ilb_event *event,
		    struct ilb_error *error);

/** ilb_source_stats() - the counts so far; final once next() returned 0. */
void ilb_source_stats(const struct ilb_source *source,
		      struct ilb_source_stats *stats);

/** ilb_source_close() - free; @source may be NULL. */
void ilb_source_close(struct ilb_source *source);

#ifdef __cplusplus
}
#endif
#endif
