/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TRACE_DAT_H
#define ILB_TRACE_DAT_H

/*
 * Inside of the trace.dat reader:
 *
 *	dat.c         the process that asks: starts the other, reads its frames
 *	dat_layout.c  what the file says about its own extent, checked
 *	dat_child.c   the process that reads, with libtracecmd
 *	dat_event.c   a record becomes an event
 *	dat_symbols.c the few functions that matter, out of all of kallsyms
 *	dat_merge.c   the records of all CPUs, by time
 *	dat_page.c    do the lengths in a page add up?
 *	dat_reader.c  numbers from a file that may end anywhere
 */

#include <stddef.h>
#include <stdint.h>

#include "trace/source.h"

/**
 * struct ilb_dat_cpu - the pages that one CPU recorded
 * @cpu: its number
 * @offset: where they are in the file
 * @size: bytes they take there
 * @raw: bytes they take when decompressed
 */
struct ilb_dat_cpu {
	uint32_t cpu;
	uint64_t offset;
	uint64_t size;
	uint64_t raw;
};

/**
 * struct ilb_dat_layout - where the events of a trace.dat are
 * @file_size: bytes in the file
 * @version: 6 or 7
 * @page_size: of the ring buffer
 * @compression: its name, "none" if nothing is
 * @compressed: 1 if the pages are
 * @top: 1 if the buffer is the top one, not an instance
 * @cpus, @nr_cpus: of the buffer that has events, ascending, those with pages
 *                  only
 * @raw: sum of their raw sizes; 0 if no buffer has any
 * @shift_ns: to be added to every time
 * @tsc_mult, @tsc_shift: multiplied and shifted to the right, the times become
 *                        ns; a factor of 0: they are ns
 */
struct ilb_dat_layout {
	uint64_t file_size;
	unsigned int version;
	uint32_t page_size;
	char compression[8];
	int compressed;
	int top;
	struct ilb_dat_cpu *cpus;
	unsigned int nr_cpus;
	uint64_t raw;
	int64_t shift_ns;
	uint32_t tsc_mult;
	uint32_t tsc_shift;
};

/**
 * ilb_dat_layout_read() - read the extent of a trace.dat, and check it
 * @layout: filled; ilb_dat_layout_free() frees it, also after an error
 * @path: for messages
 *
 * After it every section and every CPU's pages are known to lie within the
 * file: a file that was cut anywhere is noticed here. No page was looked at,
 * nothing was decompressed.
 *
 * Returns 0, -ILB_ERR_FORMAT, -ILB_ERR_IO or -ILB_ERR_NOMEM.
 */
int ilb_dat_layout_read(struct ilb_dat_layout *layout, int fd,
			const char *path, struct ilb_error *error);

/** ilb_dat_layout_free() - free what it points to. */
void ilb_dat_layout_free(struct ilb_dat_layout *layout);

/**
 * ilb_dat_open_patience() - ilb_dat_open(), with less or more patience
 * @patience_ms: how long the child may send nothing; its first frame takes
 *               as long as reading the headers, a second at worst
 */
int ilb_dat_open_patience(struct ilb_source **source, const char *path,
			  unsigned int nr_cpus, int patience_ms,
			  struct ilb_error *error);

/*
 * The pipe between the processes carries frames: a header, then @size bytes.
 * EVENTS is followed by an array of struct ilb_event. Every stream ends with
 * END or with ERROR, followed by the text of the line; one without was cut by
 * the death of its writer.
 */
enum ilb_dat_frame_type {
	ILB_DAT_EVENTS = 0x65627601,	/* not a small number: a check */
	ILB_DAT_END,
	ILB_DAT_ERROR,
};

/**
 * struct ilb_dat_frame - header of a frame
 * @type: an enum ilb_dat_frame_type
 * @size: bytes that follow, at most ILB_DAT_PAYLOAD
 * @err: of ERROR: an enum ilb_err
 * @sent: events sent so far, those of this frame included
 * @events, @unparsed, @lost, @bytes_read: as in struct ilb_source_stats
 */
struct ilb_dat_frame {
	uint32_t type;
	uint32_t size;
	int32_t err;
	uint32_t reserved;
	uint64_t sent;
	uint64_t events;
	uint64_t unparsed;
	uint64_t lost;
	uint64_t bytes_read;
};

#define ILB_DAT_BATCH	1170U		/* events in a frame: 64 KiB */
#define ILB_DAT_PAYLOAD	(ILB_DAT_BATCH * sizeof(struct ilb_event))

/* Descriptors of the child, all it has beside 0 to 2. */
enum {
	ILB_DAT_FD_FILE = 3,
	ILB_DAT_FD_PIPE,
	ILB_DAT_FDS,
};

/**
 * ilb_dat_child_run() - be the child: read the trace, write frames, exit
 * @file: the trace.dat
 * @pipe: where frames go
 * @parent: the process that waits for them
 */
_Noreturn void ilb_dat_child_run(const struct ilb_dat_layout *layout,
				 int file, int pipe, int parent);

/**
 * ilb_dat_page_records() - how many records a page of the ring buffer holds
 * @page: @size bytes
 * @head: bytes in front of the records: 8 and a long of the kernel
 *
 * Returns the number, or -1 if the lengths in it do not add up, or if it is
 * blank.
 */
int ilb_dat_page_records(const unsigned char *page, uint64_t size,
			 uint32_t head);

/**
 * ilb_dat_page_lost() - events lost in front of a page: 0 none, < 0 an
 *                       unknown number
 * @page: one of which ilb_dat_page_records() did not return -1
 */
int64_t ilb_dat_page_lost(const unsigned char *page, uint64_t size,
			  uint32_t head);

struct tep_record;
struct ilb_dat_merge;

/**
 * ilb_dat_merge_new() - prepare to read the records of all CPUs by time
 * @file: the trace.dat; stays the caller's
 * @long_size: of the kernel that recorded: 4 or 8
 *
 * Returns 0, or an error of ilb_dat_merge_next().
 */
int ilb_dat_merge_new(struct ilb_dat_merge **merge,
		      const struct ilb_dat_layout *layout, int file,
		      int long_size, struct ilb_error *error);

/**
 * ilb_dat_merge_next() - the earliest record left; of several, that of the
 *                        lowest CPU
 * @record: its data, size, ts, cpu and missed_events are filled; the data
 *          stays there until the next call
 *
 * Returns 1; 0 if that was all that the file says it holds; or
 * -ILB_ERR_FORMAT, -ILB_ERR_IO, -ILB_ERR_NOMEM.
 */
int ilb_dat_merge_next(struct ilb_dat_merge *merge, struct tep_record *record,
		       struct ilb_error *error);

/** ilb_dat_merge_bytes() - bytes of pages that were begun. */
uint64_t ilb_dat_merge_bytes(const struct ilb_dat_merge *merge);

/** ilb_dat_merge_free() - free; @merge may be NULL. */
void ilb_dat_merge_free(struct ilb_dat_merge *merge);

struct tep_handle;
struct ilb_dat_events;

/** enum ilb_dat_function - what an address in a trace stands for */
enum ilb_dat_function {
	ILB_DAT_UNKNOWN,	/* the file has no name for it */
	ILB_DAT_OTHER,
	ILB_DAT_NOHZ_CSD,
	ILB_DAT_TTWU,
	ILB_DAT_TICK,
	ILB_DAT_IPI_CALL,	/* the text of an IPI's reason */
};

/** ilb_dat_symbols_find() - the function that begins at @address */
enum ilb_dat_function ilb_dat_symbols_find(struct tep_handle *tep,
					   uint64_t address);

/**
 * ilb_dat_events_new() - prepare the translation
 *
 * Returns NULL if there is no memory, or if the file describes no event.
 */
struct ilb_dat_events *ilb_dat_events_new(struct tep_handle *tep);

/**
 * ilb_dat_events_translate() - a record becomes an event
 * @event: filled but for its time and CPU
 *
 * Returns 1; or 0 if it was not understood: then @event is
 * ILB_EVENT_OTHER, or what it is without the function it names.
 */
int ilb_dat_events_translate(struct ilb_dat_events *events,
			     struct tep_record *record,
			     struct ilb_event *event);

#endif
