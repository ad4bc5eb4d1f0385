// SPDX-License-Identifier: GPL-2.0-only
/* Numbers from a file that may end anywhere; see dat_reader.h. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/dat_reader.h"

#define STRING_MAX	4096U	/* names of systems, instances, clocks */
#define WORK_MAX(size)	(4 * (size) + (1U << 20))

int ilb_dat_fail(struct ilb_dat_reader *r, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	r->err = ilb_fail(r->error, ILB_ERR_FORMAT, "%s: %s", r->path, text);
	return r->err;
}

int ilb_dat_cut(struct ilb_dat_reader *r, const char *what)
{
	return ilb_dat_fail(r, "ends at byte %" PRIu64 ", within its %s: it was cut; copy it again, or record it again",
			   r->layout->file_size, what);
}

int ilb_dat_damaged(struct ilb_dat_reader *r, const char *what)
{
	return ilb_dat_fail(r, "is damaged: its %s cannot be right; copy it again, or record it again",
			   what);
}

int ilb_dat_seek(struct ilb_dat_reader *r, uint64_t pos, const char *what)
{
	if (r->err)
		return r->err;
	if (pos > r->layout->file_size)
		return ilb_dat_cut(r, what);
	r->pos = pos;
	return 0;
}

int ilb_dat_skip(struct ilb_dat_reader *r, uint64_t bytes, const char *what)
{
	if (r->err)
		return r->err;
	if (bytes > r->layout->file_size - r->pos)
		return ilb_dat_cut(r, what);
	r->pos += bytes;
	return 0;
}

/* Have the byte at @pos in the buffer. */
static int fill(struct ilb_dat_reader *r)
{
	ssize_t got;

	if (r->pos >= r->at && r->pos < r->at + r->len)
		return 0;
	do {
		got = pread(r->fd, r->buffer, sizeof(r->buffer),
			    (off_t)r->pos);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		r->err = ilb_fail(r->error, ILB_ERR_IO, "%s: cannot read: %s",
				  r->path, strerror(errno));
		return r->err;
	}
	if (!got)
		return ilb_dat_cut(r, "contents");
	r->at = r->pos;
	r->len = (uint64_t)got;
	return 0;
}

int ilb_dat_bytes(struct ilb_dat_reader *r, void *data, uint64_t size,
		 const char *what)
{
	unsigned char *to = data;
	uint64_t part;

	if (r->err)
		return r->err;
	if (size > r->layout->file_size - r->pos)
		return ilb_dat_cut(r, what);
	r->work += size;
	if (r->work > WORK_MAX(r->layout->file_size))
		return ilb_dat_damaged(r, what);
	while (size) {
		if (fill(r))
			return r->err;
		part = r->at + r->len - r->pos;
		if (part > size)
			part = size;
		memcpy(to, r->buffer + (r->pos - r->at), part);
		r->pos += part;
		to += part;
		size -= part;
	}
	return 0;
}

int ilb_dat_u16(struct ilb_dat_reader *r, uint16_t *value)
{
	return ilb_dat_bytes(r, value, sizeof(*value), "headers");
}

int ilb_dat_u32(struct ilb_dat_reader *r, uint32_t *value)
{
	return ilb_dat_bytes(r, value, sizeof(*value), "headers");
}

int ilb_dat_u64(struct ilb_dat_reader *r, uint64_t *value)
{
	return ilb_dat_bytes(r, value, sizeof(*value), "headers");
}

int ilb_dat_string(struct ilb_dat_reader *r, char *text, unsigned int room)
{
	unsigned int length = 0;
	char c;

	for (;;) {
		if (ilb_dat_bytes(r, &c, 1, "headers"))
			return r->err;
		if (length < room)
			text[length] = length == room - 1 ? '\0' : c;
		if (!c)
			return 0;
		if (++length > STRING_MAX)
			return ilb_dat_damaged(r, "names");
	}
}
