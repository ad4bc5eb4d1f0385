// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of all CPUs, by time.
 *
 * libtracecmd could do this, but Debian's 3.1.6 keeps every page that it has
 * decompressed (36 bytes an event: a file of 3 GB does not fit into memory),
 * takes a damaged page for the end of its CPU, and looks at all CPUs for each
 * record. So the pages are read here, a piece per CPU at a time, and only what
 * is in a page is left to libtraceevent. A heap says whose turn it is.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event-parse.h>
#include <kbuffer.h>
#include <zstd.h>

#include "trace/dat.h"

#define PIECE		(32U << 10)	/* at least a page */
#define PIECE_MAX	(16U << 20)	/* trace-cmd writes 10 pages */

/*
 * Where the reading of a CPU is.
 * @pos, @end: of what is left in the file
 * @pieces: left, if compressed
 * @piece: @piece_size bytes of pages in memory, @at are read, of @room
 * @page: number of the page that is read, for messages
 * @left: records of it still to come, the current one included
 */
struct cursor {
	unsigned int cpu;
	int size;
	uint64_t ts;
	void *data;
	int64_t lost;
	struct kbuffer *kbuf;
	uint64_t pos, end;
	uint32_t pieces;
	unsigned char *piece;
	uint64_t piece_size, at, room;
	uint64_t page;
	int left;
};

struct ilb_dat_merge {
	const struct ilb_dat_layout *layout;
	int file;
	uint32_t head;
	struct cursor *cursors;
	struct cursor **heap;
	unsigned int nr;		/* in the heap */
	int started;			/* the first of the heap was given */
	uint64_t bytes;
	ZSTD_DCtx *zstd;
	unsigned char *packed;
	uint64_t packed_room;
};

static int out_of_memory(struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_NOMEM,
			"out of memory, or its sizes are damaged");
}

static int damaged(const struct cursor *c, struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_FORMAT,
			"is damaged: page %" PRIu64 " of CPU %u cannot be right; copy it again, or record it again",
			c->page, c->cpu);
}

static int grow(unsigned char **buffer, uint64_t *room, uint64_t size,
		struct ilb_error *error)
{
	unsigned char *bigger;

	if (size <= *room)
		return 0;
	bigger = realloc(*buffer, size);
	if (!bigger)
		return out_of_memory(error);
	*buffer = bigger;
	*room = size;
	return 0;
}

/* The file had these bytes a moment ago: someone cuts it as we read. */
static int read_at(const struct ilb_dat_merge *m, struct cursor *c, void *to,
		   uint64_t size, struct ilb_error *error)
{
	unsigned char *data = to;
	ssize_t got;

	while (size) {
		got = pread(m->file, data, size, (off_t)c->pos);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ilb_fail(error, ILB_ERR_IO, "cannot read: %s",
					strerror(errno));
		if (!got)
			return ilb_fail(error, ILB_ERR_FORMAT,
					"became shorter while it was read; wait until it is written");
		data += got;
		c->pos += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return 0;
}

static int read_packed(struct ilb_dat_merge *m, struct cursor *c,
		       struct ilb_error *error)
{
	uint32_t sizes[2];	/* packed, raw */
	int err = read_at(m, c, sizes, sizeof(sizes), error);
	size_t got;

	if (err)
		return err;
	/* Pieces hold whole pages, but for the last one of a CPU. */
	if (!sizes[1] || sizes[1] > PIECE_MAX || sizes[0] > PIECE_MAX ||
	    sizes[0] > c->end - c->pos ||
	    (c->pieces > 1 && sizes[1] % m->layout->page_size))
		return damaged(c, error);
	err = grow(&m->packed, &m->packed_room, sizes[0], error);
	if (!err)
		err = grow(&c->piece, &c->room, sizes[1], error);
	if (!err)
		err = read_at(m, c, m->packed, sizes[0], error);
	if (err)
		return err;
	got = ZSTD_decompressDCtx(m->zstd, c->piece, sizes[1], m->packed,
				  sizes[0]);
	if (ZSTD_isError(got) || got != sizes[1])
		return damaged(c, error);
	c->piece_size = sizes[1];
	c->pieces--;
	return 0;
}

/* Have the next piece of pages in memory: 1, or 0 if there is none. */
static int read_piece(struct ilb_dat_merge *m, struct cursor *c,
		      struct ilb_error *error)
{
	uint64_t size = c->end - c->pos;
	int err;

	c->at = 0;
	c->piece_size = 0;
	if (m->layout->compressed) {
		err = c->pieces ? read_packed(m, c, error) : 0;
		return err ? err : c->piece_size != 0;
	}
	if (size > PIECE && size > m->layout->page_size)
		size = m->layout->page_size > PIECE ?
		       m->layout->page_size : PIECE;
	err = size ? grow(&c->piece, &c->room, size, error) : 0;
	if (!err)
		err = read_at(m, c, c->piece, size, error);
	c->piece_size = size;
	return err ? err : size != 0;
}

/* Begin the next page: 1, or 0 if there is none. */
static int next_page(struct ilb_dat_merge *m, struct cursor *c,
		     struct ilb_error *error)
{
	unsigned char *page;
	uint64_t size;
	int64_t lost;
	int got;

	if (c->at == c->piece_size) {
		got = read_piece(m, c, error);
		if (got != 1)
			return got;
	}
	page = c->piece + c->at;
	size = c->piece_size - c->at;
	if (size > m->layout->page_size)
		size = m->layout->page_size;
	c->left = ilb_dat_page_records(page, size, m->head);
	if (c->left < 0 || kbuffer_load_subbuffer(c->kbuf, page))
		return damaged(c, error);
	/* A page without records may have a loss to tell: keep the former. */
	lost = ilb_dat_page_lost(page, size, m->head);
	c->lost = lost < 0 || c->lost < 0 ? -1 : lost + c->lost;
	c->at += size;
	c->page++;
	m->bytes += size;
	return 1;
}

static uint64_t to_ns(const struct ilb_dat_layout *l, uint64_t ts)
{
	if (l->tsc_mult)
		ts = (uint64_t)((unsigned __int128)ts * l->tsc_mult >>
				l->tsc_shift);
	return ts + (uint64_t)l->shift_ns;
}

/* Go to the next record of a CPU: 1, or 0 if there is none. */
static int advance(struct ilb_dat_merge *m, struct cursor *c,
		   struct ilb_error *error)
{
	unsigned long long ts;
	int got;

	c->lost = 0;
	if (c->left > 1) {
		c->left--;
		c->data = kbuffer_next_event(c->kbuf, &ts);
	} else {
		do {
			got = next_page(m, c, error);
			if (got != 1)
				return got;
		} while (!c->left);
		c->data = kbuffer_read_event(c->kbuf, &ts);
	}
	if (!c->data)
		return damaged(c, error);
	c->size = kbuffer_event_size(c->kbuf);
	c->ts = to_ns(m->layout, ts);
	return 1;
}

static int is_before(const struct cursor *a, const struct cursor *b)
{
	return a->ts < b->ts || (a->ts == b->ts && a->cpu < b->cpu);
}

/* Put the cursor at @i where it belongs, it may have become later. */
static void sift_down(struct ilb_dat_merge *m, unsigned int i)
{
	struct cursor *c = m->heap[i];
	unsigned int child;

	for (; (child = 2 * i + 1) < m->nr; i = child) {
		if (child + 1 < m->nr &&
		    is_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!is_before(m->heap[child], c))
			break;
		m->heap[i] = m->heap[child];
	}
	m->heap[i] = c;
}

int ilb_dat_merge_next(struct ilb_dat_merge *m, struct tep_record *record,
		       struct ilb_error *error)
{
	struct cursor *c;
	int got;

	if (m->started && m->nr) {
		got = advance(m, m->heap[0], error);
		if (got < 0)
			return got;
		if (!got)
			m->heap[0] = m->heap[--m->nr];
		if (m->nr)
			sift_down(m, 0);
	}
	m->started = 1;
	if (!m->nr)
		return 0;
	c = m->heap[0];
	record->ts = c->ts;
	record->cpu = (int)c->cpu;
	record->data = c->data;
	record->size = c->size;
	record->missed_events = c->lost;
	return 1;
}

static int start_cursor(struct ilb_dat_merge *m, struct cursor *c,
			const struct ilb_dat_cpu *from, int long_size,
			struct ilb_error *error)
{
	int err;

	c->cpu = from->cpu;
	c->pos = from->offset;
	c->end = from->offset + from->size;
	c->kbuf = kbuffer_alloc(long_size == 8 ? KBUFFER_LSIZE_8 :
				KBUFFER_LSIZE_4, KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!c->kbuf)
		return out_of_memory(error);
	if (!m->layout->compressed)
		return advance(m, c, error);
	c->end += sizeof(c->pieces);
	err = read_at(m, c, &c->pieces, sizeof(c->pieces), error);
	return err ? err : advance(m, c, error);
}

static int start(struct ilb_dat_merge *m, int long_size,
		 struct ilb_error *error)
{
	const struct ilb_dat_layout *l = m->layout;
	unsigned int i;
	int got;

	m->cursors = calloc(l->nr_cpus, sizeof(*m->cursors));
	m->heap = calloc(l->nr_cpus, sizeof(*m->heap));
	m->zstd = ZSTD_createDCtx();
	if (!m->cursors || !m->heap || !m->zstd)
		return out_of_memory(error);
	for (i = 0; i < l->nr_cpus; i++) {
		got = start_cursor(m, &m->cursors[i], &l->cpus[i], long_size,
				   error);
		if (got < 0)
			return got;
		if (got)
			m->heap[m->nr++] = &m->cursors[i];
	}
	for (i = m->nr / 2; i-- > 0; )
		sift_down(m, i);
	return 0;
}

int ilb_dat_merge_new(struct ilb_dat_merge **merge,
		      const struct ilb_dat_layout *layout, int file,
		      int long_size, struct ilb_error *error)
{
	struct ilb_dat_merge *m;
	int err;

	*merge = NULL;
	if (layout->compressed && strcmp(layout->compression, "zstd") != 0)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"is compressed with '%s', this build reads zstd; record it again with --compression zstd",
				layout->compression);
	m = calloc(1, sizeof(*m));
	if (!m)
		return out_of_memory(error);
	m->layout = layout;
	m->file = file;
	m->head = 8 + (uint32_t)long_size;
	err = start(m, long_size, error);
	if (err)
		ilb_dat_merge_free(m);
	else
		*merge = m;
	return err;
}

uint64_t ilb_dat_merge_bytes(const struct ilb_dat_merge *merge)
{
	return merge->bytes;
}

void ilb_dat_merge_free(struct ilb_dat_merge *merge)
{
	unsigned int i;

	if (!merge)
		return;
	for (i = 0; merge->cursors && i < merge->layout->nr_cpus; i++) {
		kbuffer_free(merge->cursors[i].kbuf);
		free(merge->cursors[i].piece);
	}
	ZSTD_freeDCtx(merge->zstd);
	free(merge->packed);
	free(merge->cursors);
	free(merge->heap);
	free(merge);
}
