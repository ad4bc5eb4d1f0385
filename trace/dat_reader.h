/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TRACE_DAT_READER_H
#define ILB_TRACE_DAT_READER_H

/*
 * Reading numbers from a file that may end anywhere and say anything. Each
 * function returns 0, or the error, which it also leaves in @err: so calls can
 * be chained with ||. A failed reader fails ever after.
 */

#include "trace/dat.h"

/**
 * struct ilb_dat_reader - a position in a file
 * @pos: of the next byte; never behind the end of the file
 * @cpus, @buffers, @seen: what is collected on the way: number of CPUs
 *	(format 6), buffers so far, a bit per option
 * @work: bytes read so far: a file whose parts lead to each other many times
 *	over is given up
 * @at, @len, @buffer: part of the file, from @at on
 */
struct ilb_dat_reader {
	int fd;
	const char *path;
	struct ilb_error *error;
	struct ilb_dat_layout *layout;
	uint64_t pos;
	int err;
	uint32_t cpus;
	int buffers;
	unsigned int seen;
	uint64_t work;
	uint64_t at;
	uint64_t len;
	unsigned char buffer[4096];
};

/** ilb_dat_fail() - a line with the file's name in front */
int ilb_dat_fail(struct ilb_dat_reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** ilb_dat_cut() - the file ends before @what does */
int ilb_dat_cut(struct ilb_dat_reader *r, const char *what);

/** ilb_dat_damaged() - @what cannot be right */
int ilb_dat_damaged(struct ilb_dat_reader *r, const char *what);

/** ilb_dat_seek() - go to @pos; @what is expected there */
int ilb_dat_seek(struct ilb_dat_reader *r, uint64_t pos, const char *what);

/** ilb_dat_skip() - go @bytes on; they hold @what */
int ilb_dat_skip(struct ilb_dat_reader *r, uint64_t bytes, const char *what);

/** ilb_dat_bytes() - read @size bytes of @what */
int ilb_dat_bytes(struct ilb_dat_reader *r, void *data, uint64_t size,
		 const char *what);

int ilb_dat_u16(struct ilb_dat_reader *r, uint16_t *value);
int ilb_dat_u32(struct ilb_dat_reader *r, uint32_t *value);
int ilb_dat_u64(struct ilb_dat_reader *r, uint64_t *value);

/** ilb_dat_string() - read a string, cut to @room - 1 bytes; 0: skip it */
int ilb_dat_string(struct ilb_dat_reader *r, char *text, unsigned int room);

#endif
