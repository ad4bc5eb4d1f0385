// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a trace.dat says about its own extent, checked against its size before
 * libtracecmd sees it: a copy that was cut anywhere is noticed here, with a
 * line that says so, and the crashes and endless loops of libtracecmd 3.1.6 on
 * absurd page sizes and counts are not reached.
 *
 * Formats 6 and 7 of trace-cmd. In 6 the parts follow each other with a length
 * in front of each; in 7 everything is a section with a head, and a chain of
 * option sections says where the others are.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ilb/mask.h"
#include "trace/dat_reader.h"

enum {
	OPTION_DONE,
	OPTION_DATE,
	OPTION_BUFFER = 3,
	OPTION_TRACECLOCK,
	OPTION_OFFSET = 7,
	OPTION_CPUCOUNT,
	OPTION_TSC2NSEC = 14,
	OPTION_STRINGS,
	OPTION_HEADER_INFO,
	OPTION_FTRACE_EVENTS,
	OPTION_EVENT_FORMATS,
	OPTION_KALLSYMS,
	OPTION_PRINTK,
	OPTION_CMDLINES,
	OPTION_BUFFER_TEXT,
};

#define COMPRESSED	1	/* flag of a section */
#define BUFFERS_MAX	1024	/* instances */
#define OPTION_CHAIN	1024	/* sections in it, to end a loop */

static int by_cpu(const void *a, const void *b)
{
	const struct ilb_dat_cpu *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/*
 * Keep @cpus if it is the buffer to read: the top one if it has events, else
 * the first instance that has. Frees it otherwise.
 */
static int keep_buffer(struct ilb_dat_reader *r, struct ilb_dat_cpu *cpus,
		       unsigned int nr, int top, int compressed)
{
	struct ilb_dat_layout *l = r->layout;
	unsigned int i, used = 0;
	uint64_t raw = 0;

	for (i = 0; i < nr; i++) {
		if (!cpus[i].size)
			continue;
		raw += cpus[i].raw;
		cpus[used++] = cpus[i];
	}
	if (!raw || (l->raw && (!top || l->top))) {
		free(cpus);
		return 0;
	}
	free(l->cpus);
	l->cpus = cpus;
	l->nr_cpus = used;
	l->raw = raw;
	l->top = top;
	l->compressed = compressed;
	qsort(cpus, used, sizeof(*cpus), by_cpu);
	for (i = 1; i < used; i++)
		if (cpus[i].cpu == cpus[i - 1].cpu)
			return ilb_dat_damaged(r, "CPUs");
	return 0;
}

/* A table of pieces: count, then {bytes here, bytes decompressed, bytes}. */
static int check_chunks(struct ilb_dat_reader *r, struct ilb_dat_cpu *c)
{
	uint32_t count, here, raw, i;
	uint64_t end = c->offset + 4 + c->size;

	if (ilb_dat_seek(r, c->offset, "pages") || ilb_dat_u32(r, &count))
		return r->err;
	for (i = 0; i < count; i++) {
		if (ilb_dat_u32(r, &here) || ilb_dat_u32(r, &raw) ||
		    ilb_dat_skip(r, here, "pages"))
			return r->err;
		if (r->pos > end)
			break;
		c->raw += raw;
	}
	/* Their end is the size; no page is bigger than 2^31 in libtracecmd. */
	if (i < count || r->pos != end || c->raw > INT64_MAX / 2)
		return ilb_dat_damaged(r, "pages");
	return 0;
}

static int check_pages(struct ilb_dat_reader *r, struct ilb_dat_cpu *c,
		       int compressed)
{
	struct ilb_dat_layout *l = r->layout;

	if (!c->size)
		return 0;
	if (c->cpu >= ILB_CPUS_MAX)
		return ilb_dat_damaged(r, "CPU numbers");
	if (c->offset > l->file_size || c->size > l->file_size - c->offset)
		return ilb_dat_cut(r, "pages");
	c->raw = compressed ? 0 : c->size;
	if (compressed)
		return check_chunks(r, c);
	if (c->offset % l->page_size)
		return ilb_dat_damaged(r, "page offsets");
	return 0;
}

static struct ilb_dat_cpu *new_cpus(struct ilb_dat_reader *r, uint64_t nr)
{
	struct ilb_dat_cpu *cpus = NULL;

	if (nr > ILB_CPUS_MAX)
		r->err = ilb_dat_damaged(r, "number of CPUs");
	else
		cpus = calloc(nr ? nr : 1, sizeof(*cpus));
	if (!cpus && !r->err)
		r->err = ilb_fail(r->error, ILB_ERR_NOMEM,
				  "%s: out of memory", r->path);
	return cpus;
}

/* Format 7: an option that says where the pages of a buffer are. */
static int read_buffer(struct ilb_dat_reader *r, uint64_t end)
{
	struct ilb_dat_cpu *cpus;
	uint32_t page_size, nr, i;
	uint64_t offset, back;
	uint16_t id, flags;
	char name[2];

	if (ilb_dat_u64(r, &offset) ||
	    ilb_dat_string(r, name, sizeof(name)) ||
	    ilb_dat_string(r, NULL, 0) || ilb_dat_u32(r, &page_size) ||
	    ilb_dat_u32(r, &nr))
		return r->err;
	if (nr && page_size != r->layout->page_size)
		return ilb_dat_fail(r, "its ring buffer has pages of %u bytes, which libtracecmd 3.1 cannot read; record with buffer_subbuf_size_kb unchanged",
				   page_size);
	back = r->pos;
	if (ilb_dat_seek(r, offset, "pages") || ilb_dat_u16(r, &id) ||
	    ilb_dat_u16(r, &flags) || ilb_dat_seek(r, back, "options"))
		return r->err;
	if (id != OPTION_BUFFER || r->buffers++ >= BUFFERS_MAX)
		return ilb_dat_damaged(r, "options");
	cpus = new_cpus(r, nr);
	if (!cpus)
		return r->err;
	for (i = 0; i < nr && !r->err && r->pos < end; i++)
		if (ilb_dat_u32(r, &cpus[i].cpu) ||
		    ilb_dat_u64(r, &cpus[i].offset) ||
		    ilb_dat_u64(r, &cpus[i].size))
			break;
	if (!r->err && (i < nr || r->pos > end))
		ilb_dat_damaged(r, "options");
	for (i = 0; i < nr && !r->err; i++)
		check_pages(r, &cpus[i], flags & COMPRESSED);
	if (r->err) {
		free(cpus);
		return r->err;
	}
	return keep_buffer(r, cpus, nr, !name[0], flags & COMPRESSED);
}

/* Options that say where a section is must lead to one of that kind. */
static int check_pointer(struct ilb_dat_reader *r, uint16_t option)
{
	uint64_t offset;
	uint16_t id;

	if (ilb_dat_u64(r, &offset) || ilb_dat_seek(r, offset, "sections") ||
	    ilb_dat_u16(r, &id))
		return r->err;
	return id == option ? 0 : ilb_dat_damaged(r, "options");
}

/* Times are those of the trace's clock, plus these. */
static int read_shift(struct ilb_dat_reader *r, uint32_t size, int64_t unit)
{
	char text[32] = "";

	if (size >= sizeof(text))
		return ilb_dat_damaged(r, "options");
	if (ilb_dat_bytes(r, text, size, "options"))
		return r->err;
	/* Unsigned: a damaged one may overflow, and does no other harm. */
	r->layout->shift_ns = (int64_t)((uint64_t)r->layout->shift_ns +
					(uint64_t)strtoll(text, NULL, 0) *
					(uint64_t)unit);
	return 0;
}

static int read_tsc(struct ilb_dat_reader *r, uint32_t size)
{
	struct ilb_dat_layout *l = r->layout;

	if (size < 16)
		return 0;
	if (ilb_dat_u32(r, &l->tsc_mult) || ilb_dat_u32(r, &l->tsc_shift))
		return r->err;
	return l->tsc_shift < 64 ? 0 : ilb_dat_damaged(r, "clock");
}

/* Options that both formats have, and that change the times. */
static int read_time_option(struct ilb_dat_reader *r, uint16_t option,
			    uint32_t size)
{
	switch (option) {
	case OPTION_DATE:
		return read_shift(r, size, 1000);
	case OPTION_OFFSET:
		return read_shift(r, size, 1);
	case OPTION_TSC2NSEC:
		return read_tsc(r, size);
	}
	return 0;
}

static int read_option(struct ilb_dat_reader *r, uint16_t option, uint32_t size,
		       uint64_t *next)
{
	uint64_t end = r->pos + size;
	int err = 0;

	if (option == OPTION_BUFFER)
		err = read_buffer(r, end);
	else if (option == OPTION_BUFFER_TEXT)
		err = ilb_dat_fail(r, "holds the text of a latency tracer; record events instead");
	else if (option >= OPTION_HEADER_INFO && option <= OPTION_CMDLINES)
		err = check_pointer(r, option);
	else if (option == OPTION_DONE)
		err = ilb_dat_u64(r, next);
	else
		err = read_time_option(r, option, size);
	r->seen |= option < 32 ? 1U << option : 0;
	return err ? err : ilb_dat_seek(r, end, "options");
}

/* One option section; *@next becomes the offset of the next one, or 0. */
static int read_options_v7(struct ilb_dat_reader *r, uint64_t *next)
{
	uint16_t id, flags, option;
	uint64_t size, end;
	uint32_t name, length;

	if (ilb_dat_seek(r, *next, "options") || ilb_dat_u16(r, &id) ||
	    ilb_dat_u16(r, &flags) || ilb_dat_u32(r, &name) ||
	    ilb_dat_u64(r, &size))
		return r->err;
	if (id != OPTION_DONE || (flags & COMPRESSED))
		return ilb_dat_damaged(r, "options");
	end = r->pos + size;
	*next = 0;
	do {
		if (ilb_dat_u16(r, &option) || ilb_dat_u32(r, &length))
			return r->err;
		if (r->pos > end || length > end - r->pos)
			return ilb_dat_damaged(r, "options");
		if (read_option(r, option, length, next))
			return r->err;
	} while (option != OPTION_DONE);
	return 0;
}

/*
 * Names of sections are in the last one, which trace-cmd restore does not
 * write. So a file that was cut right before it looks like one of those, and
 * is as good: nobody needs the names.
 */
static int check_strings(struct ilb_dat_reader *r, uint32_t highest,
			 uint64_t strings)
{
	if (!strings || highest < strings)
		return 0;
	return ilb_dat_cut(r, "names of sections");
}

static int walk_sections(struct ilb_dat_reader *r)
{
	uint64_t size, end, strings = 0;
	uint32_t name, highest = 0, here, raw;
	uint16_t id, flags;

	while (r->pos < r->layout->file_size) {
		if (ilb_dat_u16(r, &id) || ilb_dat_u16(r, &flags) ||
		    ilb_dat_u32(r, &name) || ilb_dat_u64(r, &size))
			return r->err;
		if (name > highest)
			highest = name;
		end = r->pos + size;
		if (size > r->layout->file_size - r->pos)
			return ilb_dat_cut(r, "sections");
		if (id == OPTION_STRINGS && !(flags & COMPRESSED))
			strings += size;
		else if (id == OPTION_STRINGS && (ilb_dat_u32(r, &here) ||
						  ilb_dat_u32(r, &raw)))
			return r->err;
		else if (id == OPTION_STRINGS)
			strings += raw;
		if (ilb_dat_seek(r, end, "sections"))
			return r->err;
	}
	return check_strings(r, highest, strings);
}

static int read_v7(struct ilb_dat_reader *r)
{
	const unsigned int need = 1U << OPTION_HEADER_INFO |
				  1U << OPTION_EVENT_FORMATS;
	unsigned int sections = 0;
	uint64_t next;

	if (ilb_dat_string(r, r->layout->compression,
			   sizeof(r->layout->compression)) ||
	    ilb_dat_string(r, NULL, 0) || ilb_dat_u64(r, &next) ||
	    walk_sections(r))
		return r->err;
	if (!next)
		return ilb_dat_damaged(r, "options");
	while (next && sections++ < OPTION_CHAIN)
		if (read_options_v7(r, &next))
			return r->err;
	if (next || (r->seen & need) != need)
		return ilb_dat_damaged(r, "options");
	return 0;
}

/* Format 6: per CPU {offset, size}; then where the trace's clock stands. */
static int read_table(struct ilb_dat_reader *r, int top)
{
	struct ilb_dat_cpu *cpus = new_cpus(r, r->cpus);
	uint64_t clock, back;
	uint32_t i;

	if (!cpus)
		return r->err;
	for (i = 0; i < r->cpus && !r->err; i++) {
		cpus[i].cpu = i;
		if (ilb_dat_u64(r, &cpus[i].offset) ||
		    ilb_dat_u64(r, &cpus[i].size))
			break;
		back = r->pos;
		if (!check_pages(r, &cpus[i], 0))
			ilb_dat_seek(r, back, "pages");
	}
	if (!r->err && top && (r->seen & 1U << OPTION_TRACECLOCK) &&
	    !ilb_dat_u64(r, &clock))
		ilb_dat_skip(r, clock, "clock");
	if (r->err) {
		free(cpus);
		return r->err;
	}
	return keep_buffer(r, cpus, r->cpus, top, 0);
}

static int read_options_v6(struct ilb_dat_reader *r, uint64_t *instances)
{
	uint16_t option;
	uint32_t size;
	uint64_t end;

	for (;;) {
		if (ilb_dat_u16(r, &option))
			return r->err;
		if (option == OPTION_DONE)
			return 0;
		if (ilb_dat_u32(r, &size))
			return r->err;
		end = r->pos + size;
		if (option == OPTION_CPUCOUNT && size <= 8 &&
		    ilb_dat_u32(r, &r->cpus))
			return r->err;
		if (option == OPTION_BUFFER) {
			if (r->buffers >= BUFFERS_MAX)
				return ilb_dat_damaged(r, "options");
			if (ilb_dat_u64(r, &instances[r->buffers++]))
				return r->err;
		}
		r->seen |= option < 32 ? 1U << option : 0;
		if (read_time_option(r, option, size) ||
		    ilb_dat_seek(r, end, "options"))
			return r->err;
	}
}

/* The ten bytes in front of options, or of a buffer. */
static int read_kind(struct ilb_dat_reader *r, char *kind)
{
	if (ilb_dat_bytes(r, kind, 10, "buffers"))
		return r->err;
	if (!memcmp(kind, "latency", 7))
		return ilb_dat_fail(r, "holds the text of a latency tracer; record events instead");
	return 0;
}

static int read_buffers_v6(struct ilb_dat_reader *r)
{
	uint64_t *instances = calloc(BUFFERS_MAX, sizeof(*instances));
	char kind[10];
	int i;

	if (!instances)
		return ilb_fail(r->error, ILB_ERR_NOMEM, "%s: out of memory",
				r->path);
	if (!read_kind(r, kind) && !memcmp(kind, "options", 7) &&
	    !read_options_v6(r, instances))
		read_kind(r, kind);
	if (!r->err && memcmp(kind, "flyrecord", 9) != 0)
		ilb_dat_damaged(r, "buffers");
	if (!r->err)
		read_table(r, 1);
	for (i = 0; i < r->buffers && !r->err; i++) {
		if (ilb_dat_seek(r, instances[i], "buffers") ||
		    read_kind(r, kind))
			break;
		if (memcmp(kind, "flyrecord", 9) != 0)
			ilb_dat_damaged(r, "buffers");
		else
			read_table(r, 0);
	}
	free(instances);
	return r->err;
}

/* @count texts, each behind its length. */
static int skip_texts(struct ilb_dat_reader *r, uint32_t count)
{
	uint64_t size;
	uint32_t i;

	for (i = 0; i < count; i++)
		if (ilb_dat_u64(r, &size) || ilb_dat_skip(r, size, "formats"))
			break;
	return r->err;
}

static int read_v6(struct ilb_dat_reader *r)
{
	uint32_t systems, count, size, i;
	uint64_t length;
	char name[13];

	if (ilb_dat_bytes(r, name, 12, "headers") || skip_texts(r, 1) ||
	    ilb_dat_bytes(r, name, 13, "headers") || skip_texts(r, 1) ||
	    ilb_dat_u32(r, &count) || skip_texts(r, count) ||
	    ilb_dat_u32(r, &systems))
		return r->err;
	for (i = 0; i < systems; i++)
		if (ilb_dat_string(r, NULL, 0) || ilb_dat_u32(r, &count) ||
		    skip_texts(r, count))
			return r->err;
	for (i = 0; i < 2; i++)
		if (ilb_dat_u32(r, &size) || ilb_dat_skip(r, size, "symbols"))
			return r->err;
	if (ilb_dat_u64(r, &length) || ilb_dat_skip(r, length, "names") ||
	    ilb_dat_u32(r, &r->cpus))
		return r->err;
	return read_buffers_v6(r);
}

static int check_machine(struct ilb_dat_reader *r)
{
	const uint16_t one = 1;
	unsigned char order[2];

	if (ilb_dat_bytes(r, order, 2, "header") ||
	    ilb_dat_u32(r, &r->layout->page_size))
		return r->err;
	if (order[0] != !*(const unsigned char *)&one)
		return ilb_dat_fail(r, "was recorded on a machine of the other byte order; run trace-cmd report there and give its text");
	if (order[1] != 4 && order[1] != 8)
		return ilb_dat_damaged(r, "header");
	if (r->layout->page_size < 4096 || r->layout->page_size > 1U << 20 ||
	    (r->layout->page_size & (r->layout->page_size - 1)))
		return ilb_dat_damaged(r, "page size");
	return 0;
}

int ilb_dat_layout_read(struct ilb_dat_layout *layout, int fd,
			const char *path, struct ilb_error *error)
{
	struct ilb_dat_reader r = { .fd = fd, .path = path, .error = error,
			    .layout = layout };
	char magic[10], version[2];
	off_t size = lseek(fd, 0, SEEK_END);

	memset(layout, 0, sizeof(*layout));
	strcpy(layout->compression, "none");
	if (size < 0)
		return ilb_fail(error, ILB_ERR_IO, "%s: cannot seek: %s", path,
				strerror(errno));
	layout->file_size = (uint64_t)size;
	if (ilb_dat_bytes(&r, magic, sizeof(magic), "header"))
		return r.err;
	if (memcmp(magic, "\x17\x08\x44tracing", sizeof(magic)) != 0)
		return ilb_dat_fail(&r, "is not a trace.dat; name one, or a text trace");
	if (ilb_dat_bytes(&r, version, sizeof(version), "header"))
		return r.err;
	if (version[1] || (version[0] != '6' && version[0] != '7'))
		return ilb_dat_fail(&r, "is of version %.2s; this build reads 6 and 7; record it again with trace-cmd 3",
				   version);
	layout->version = (unsigned int)(version[0] - '0');
	if (check_machine(&r))
		return r.err;
	return layout->version == 6 ? read_v6(&r) : read_v7(&r);
}

void ilb_dat_layout_free(struct ilb_dat_layout *layout)
{
	free(layout->cpus);
	layout->cpus = NULL;
}
