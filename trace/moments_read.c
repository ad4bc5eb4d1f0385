// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a moments file. Nothing in it is believed before its size is seen to
 * fit and its checksum was right; memory is two blocks, whatever it says.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/moments_format.h"

#define STORED_MAX	ZSTD_COMPRESSBOUND(ILB_MOMENTS_RAW_MAX)

/**
 * struct ilb_moments - a file being read
 * @end: where its last block begins
 * @at: where the next block begins; @block_at: the current one
 * @raw: records of the current block; @left: still to be handed out, from
 *	@next on
 * @number: records that the totals speak of; @read: so far
 */
struct ilb_moments {
	int fd;
	char *path;
	struct ilb_moments_header header;
	struct ilb_moments_totals totals;
	enum ilb_moment_kind kind;
	unsigned int record;
	uint64_t at, block_at, end;
	unsigned char *stored, *raw;
	const unsigned char *next;
	unsigned int left;
	uint64_t last_ns;
	uint64_t number, read;
	ZSTD_DCtx *zstd;
	unsigned long *mask, *idle;
};

static int damaged(const struct ilb_moments *m, uint64_t at, const char *what,
		   struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: damaged at byte %llu: %s; record it again",
			m->path, (unsigned long long)at, what);
}

static int read_at(const struct ilb_moments *m, unsigned char *bytes,
		   size_t size, uint64_t at, struct ilb_error *error)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(m->fd, bytes + done, size - done,
			  (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ilb_fail(error, ILB_ERR_IO,
					"%s: cannot read: %s; check the disk",
					m->path, strerror(errno));
		if (!n)
			return damaged(m, at + done, "it ends there", error);
		done += (size_t)n;
	}
	return 0;
}

/* ---- header and totals ---- */

static int check_version(const struct ilb_moments *m,
			 const unsigned char *bytes, struct ilb_error *error)
{
	uint32_t version = ilb_get32(bytes + ILB_MOMENTS_AT_VERSION);

	if (memcmp(bytes, ILB_MOMENTS_MAGIC, 8))
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: is not a file of moments; record it again with 'ilb record'",
				m->path);
	if (version > ILB_MOMENTS_VERSION)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"%s: is of version %u, and this ilb reads version %u; use the ilb that recorded it",
				m->path, version, ILB_MOMENTS_VERSION);
	if (version != ILB_MOMENTS_VERSION ||
	    ilb_get32(bytes + ILB_MOMENTS_AT_SIZE) != ILB_MOMENTS_HEADER ||
	    ilb_get32(bytes + ILB_MOMENTS_AT_CRC) !=
		    ilb_moments_crc(bytes, ILB_MOMENTS_AT_CRC))
		return damaged(m, ILB_MOMENTS_AT_VERSION,
			       "its header's checksum is wrong", error);
	return 0;
}

/* Behind its NUL a method has only more of them. */
static int padded(const char *method, size_t size)
{
	size_t i;

	for (i = strnlen(method, size); i < size; i++)
		if (method[i])
			return 0;
	return 1;
}

static int read_header(struct ilb_moments *m, unsigned int nr_cpus,
		       struct ilb_error *error)
{
	unsigned char bytes[ILB_MOMENTS_HEADER];
	struct ilb_moments_header *h = &m->header;
	int err;

	err = read_at(m, bytes, sizeof(bytes), 0, error);
	if (!err)
		err = check_version(m, bytes, error);
	if (err)
		return err;
	h->nr_cpus = ilb_get32(bytes + ILB_MOMENTS_AT_NR_CPUS);
	h->start_ns = ilb_get64(bytes + ILB_MOMENTS_AT_START);
	memcpy(h->method, bytes + ILB_MOMENTS_AT_METHOD, sizeof(h->method));
	if (!ilb_moments_header_ok(h) ||
	    !padded(h->method, sizeof(h->method)) ||
	    ilb_get32(bytes + ILB_MOMENTS_AT_ZERO))
		return damaged(m, ILB_MOMENTS_AT_NR_CPUS,
			       "its header holds impossible values", error);
	if (h->nr_cpus != nr_cpus)
		return ilb_fail(error, ILB_ERR_MISMATCH,
				"%s: has moments of %u CPUs, the topology has %u; name the topology of that machine",
				m->path, h->nr_cpus, nr_cpus);
	m->record = ilb_moments_record_size(nr_cpus);
	m->kind = strcmp(h->method, "simulated") ? ILB_MOMENT_EXACT :
						   ILB_MOMENT_SIMULATED;
	return 0;
}

static int is_totals(const unsigned char *block)
{
	return ilb_get32(block) == ILB_MOMENTS_TAG_END &&
	       ilb_get32(block + ILB_MOMENTS_AT_RECORDS) == 1 &&
	       ilb_get32(block + ILB_MOMENTS_AT_STORED) == ILB_MOMENTS_TOTALS &&
	       ilb_get32(block + ILB_MOMENTS_AT_RAW) == ILB_MOMENTS_TOTALS &&
	       ilb_get32(block + ILB_MOMENTS_AT_CHECK) ==
		       ilb_moments_check(block, block + ILB_MOMENTS_BLOCK,
					 ILB_MOMENTS_TOTALS);
}

/* The last block has a fixed size, so that it is found from the end. */
static int read_totals(struct ilb_moments *m, uint64_t size,
		       struct ilb_error *error)
{
	unsigned char block[ILB_MOMENTS_BLOCK + ILB_MOMENTS_TOTALS];
	const unsigned char *at = block + ILB_MOMENTS_BLOCK;
	int err;

	if (size < ILB_MOMENTS_HEADER + sizeof(block))
		return damaged(m, size, "it ends before its last block",
			       error);
	m->end = size - sizeof(block);
	err = read_at(m, block, sizeof(block), m->end, error);
	if (err)
		return err;
	if (!is_totals(block))
		return damaged(m, m->end,
			       "that is not its last block, so it was cut or changed",
			       error);
	m->totals.end_ns = ilb_get64(at);
	m->totals.kicks = ilb_get64(at + ILB_MOMENTS_AT_KICKS);
	m->totals.lost = ilb_get64(at + ILB_MOMENTS_AT_LOST);
	m->number = ilb_get64(at + ILB_MOMENTS_AT_NUMBER);
	return 0;
}

/* ---- opening ---- */

/* O_NONBLOCK: opening a FIFO would wait for its writer. */
static int open_file(struct ilb_moments *m, uint64_t *size,
		     struct ilb_error *error)
{
	struct stat st;

	m->fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (m->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return ilb_fail(error, ILB_ERR_NOENT, "%s: no such file",
				m->path);
	if (m->fd < 0 || fstat(m->fd, &st) < 0)
		return ilb_fail(error, ILB_ERR_IO,
				"%s: cannot open: %s; check the path and its permissions",
				m->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: is not a file; name a file", m->path);
	*size = (uint64_t)st.st_size;
	return 0;
}

static int make_room(struct ilb_moments *m, struct ilb_error *error)
{
	size_t words = ILB_MASK_WORDS(m->header.nr_cpus);

	m->at = ILB_MOMENTS_HEADER;
	m->stored = malloc(STORED_MAX);
	m->raw = malloc(ILB_MOMENTS_RAW_MAX);
	m->mask = calloc(words, sizeof(*m->mask));
	m->idle = calloc(words, sizeof(*m->idle));
	m->zstd = ZSTD_createDCtx();
	if (m->stored && m->raw && m->mask && m->idle && m->zstd)
		return 0;
	return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory", m->path);
}

int ilb_moments_open(struct ilb_moments **moments, const char *path,
		     unsigned int nr_cpus, struct ilb_error *error)
{
	struct ilb_moments *m = calloc(1, sizeof(*m));
	uint64_t size = 0;
	int err;

	if (!m)
		return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
				path);
	m->fd = -1;
	m->path = strdup(path);
	err = m->path ? open_file(m, &size, error) :
			ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
				 path);
	if (!err)
		err = read_header(m, nr_cpus, error);
	if (!err)
		err = read_totals(m, size, error);
	if (!err)
		err = make_room(m, error);
	if (err)
		ilb_moments_close(m);
	else
		*moments = m;
	return err;
}

const struct ilb_moments_header *
ilb_moments_header(const struct ilb_moments *m)
{
	return &m->header;
}

const struct ilb_moments_totals *
ilb_moments_totals(const struct ilb_moments *m)
{
	return &m->totals;
}

enum ilb_moment_kind ilb_moments_kind(const struct ilb_moments *m)
{
	return m->kind;
}

void ilb_moments_close(struct ilb_moments *m)
{
	if (!m)
		return;
	if (m->fd >= 0)
		close(m->fd);
	ZSTD_freeDCtx(m->zstd);
	free(m->idle);
	free(m->mask);
	free(m->raw);
	free(m->stored);
	free(m->path);
	free(m);
}

/* ---- blocks ---- */

/* What a block of moments says of itself is possible, and it ends in time. */
static int sizes_ok(const struct ilb_moments *m, const unsigned char *block)
{
	uint32_t records = ilb_get32(block + ILB_MOMENTS_AT_RECORDS);
	uint32_t stored = ilb_get32(block + ILB_MOMENTS_AT_STORED);
	uint32_t raw = ilb_get32(block + ILB_MOMENTS_AT_RAW);

	return ilb_get32(block) == ILB_MOMENTS_TAG_MOMENTS && records &&
	       raw <= ILB_MOMENTS_RAW_MAX && stored <= STORED_MAX &&
	       raw == (uint64_t)records * m->record &&
	       stored <= m->end - m->at - ILB_MOMENTS_BLOCK;
}

static int unpack_block(struct ilb_moments *m, const unsigned char *block,
			struct ilb_error *error)
{
	uint32_t stored = ilb_get32(block + ILB_MOMENTS_AT_STORED);
	uint32_t raw = ilb_get32(block + ILB_MOMENTS_AT_RAW);
	size_t got;
	int err;

	err = read_at(m, m->stored, stored, m->at + ILB_MOMENTS_BLOCK, error);
	if (err)
		return err;
	got = ZSTD_decompressDCtx(m->zstd, m->raw, raw, m->stored, stored);
	if (ZSTD_isError(got) || got != raw)
		return damaged(m, m->at + ILB_MOMENTS_BLOCK,
			       "it cannot be unpacked", error);
	if (ilb_get32(block + ILB_MOMENTS_AT_CHECK) !=
	    ilb_moments_check(block, m->raw, raw))
		return damaged(m, m->at, "its checksum is wrong", error);
	return 0;
}

static int read_block(struct ilb_moments *m, struct ilb_error *error)
{
	unsigned char block[ILB_MOMENTS_BLOCK];
	int err;

	if (m->end - m->at < sizeof(block))
		return damaged(m, m->at, "that is no block", error);
	err = read_at(m, block, sizeof(block), m->at, error);
	if (err)
		return err;
	if (!sizes_ok(m, block))
		return damaged(m, m->at, "that is no block of moments", error);
	err = unpack_block(m, block, error);
	if (err)
		return err;
	m->block_at = m->at;
	m->at += sizeof(block) + ilb_get32(block + ILB_MOMENTS_AT_STORED);
	m->next = m->raw;
	m->left = ilb_get32(block + ILB_MOMENTS_AT_RECORDS);
	return 0;
}

/* Returns 1 if there is a record, 0 at the end. */
static int have_record(struct ilb_moments *m, struct ilb_error *error)
{
	int err;

	if (m->left)
		return 1;
	if (m->at < m->end) {
		err = read_block(m, error);
		return err ? err : 1;
	}
	if (m->read != m->number)
		return damaged(m, m->end,
			       "its moments are not as many as it says", error);
	return 0;
}

int ilb_moments_next(struct ilb_moments *m, struct ilb_moment *moment,
		     struct ilb_error *error)
{
	int got = have_record(m, error);
	uint64_t time_ns;

	if (got <= 0)
		return got;
	time_ns = ilb_get64(m->next);
	if (!ilb_moments_record_ok(m->next, m->header.nr_cpus))
		return damaged(m, m->block_at,
			       "a moment names CPUs that there are not", error);
	if (time_ns < m->last_ns || time_ns > m->totals.end_ns)
		return damaged(m, m->block_at, "its times are not in order",
			       error);
	ilb_moments_unpack(moment, m->mask, m->idle, m->next,
			   m->header.nr_cpus);
	moment->kind = m->kind;
	m->last_ns = time_ns;
	m->next += m->record;
	m->left--;
	m->read++;
	return 1;
}
