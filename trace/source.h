/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TRACE_SOURCE_H
#define ILB_TRACE_SOURCE_H

/*
 * Inside of a source: what the readers (dat.c, text.c) share. A reader
 * embeds struct ilb_source as its first member.
 */

#include <stddef.h>

#include "ilb/source.h"

struct ilb_source_ops {
	/* As ilb_source_next(), but called no more after it returned != 1. */
	int (*next)(struct ilb_source *source, struct ilb_event *event,
		    struct ilb_error *error);
	void (*close)(struct ilb_source *source);
};

/**
 * struct ilb_source - common part; the reader's next() counts in @stats
 * @path: for messages; may be NULL
 * @last_ns: time of the last event handed out; source.c keeps order with it
 */
struct ilb_source {
	const struct ilb_source_ops *ops;
	struct ilb_source_stats stats;
	char *path;
	unsigned int nr_cpus;
	uint64_t last_ns;
	int ended;			/* 1: next() returned something but 1 */
	int result;			/* what it was */
	struct ilb_error error;
};

/** ilb_source_is_dat() - 1 if these first bytes of a trace are a trace.dat's */
int ilb_source_is_dat(const void *head, size_t size);

/**
 * ilb_dat_open() - a trace.dat, known by its magic
 * @path: for messages, and for the library to open
 */
int ilb_dat_open(struct ilb_source **source, const char *path,
		 unsigned int nr_cpus, struct ilb_error *error);

/**
 * ilb_text_open() - text
 * @path: for messages
 * @fd: to read from; closed by close()
 * @size: bytes in the file, 0 if unknown
 */
int ilb_text_open(struct ilb_source **source, const char *path, int fd,
		  uint64_t size, unsigned int nr_cpus,
		  struct ilb_error *error);

#endif
