// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing a moments file. Moments come nearly in order; they wait in a buffer
 * until those that may still come can only be later, so that the file is in
 * order and its readers need not sort.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/moments_format.h"

#define LEVEL	3	/* zstd's own default */

/**
 * struct ilb_moments_writer - a file being written
 * @raw: records that wait, in order; @waiting: how many; @room: for how many
 * @packed: a block on its way to the file, of @packed_size bytes at most
 * @written_ns: of the last record that is in the file
 * @number: records in the file
 */
struct ilb_moments_writer {
	int fd;
	char *path;
	unsigned int nr_cpus;
	unsigned int record;
	unsigned char *raw;
	unsigned int waiting, room;
	unsigned char *packed;
	size_t packed_size;
	ZSTD_CCtx *zstd;
	uint64_t written_ns;
	uint64_t number;
};

static int cannot_write(const struct ilb_moments_writer *w,
			struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_IO,
			"%s: cannot write: %s; see that there is room, and record it again",
			w->path, strerror(errno));
}

static int write_all(struct ilb_moments_writer *w, const unsigned char *bytes,
		     size_t size, struct ilb_error *error)
{
	ssize_t n;

	while (size) {
		n = write(w->fd, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cannot_write(w, error);
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_header(struct ilb_moments_writer *w,
			const struct ilb_moments_header *header,
			struct ilb_error *error)
{
	unsigned char bytes[ILB_MOMENTS_HEADER] = ILB_MOMENTS_MAGIC;

	ilb_put32(bytes + ILB_MOMENTS_AT_VERSION, ILB_MOMENTS_VERSION);
	ilb_put32(bytes + ILB_MOMENTS_AT_SIZE, ILB_MOMENTS_HEADER);
	ilb_put32(bytes + ILB_MOMENTS_AT_NR_CPUS, header->nr_cpus);
	ilb_put64(bytes + ILB_MOMENTS_AT_START, header->start_ns);
	memcpy(bytes + ILB_MOMENTS_AT_METHOD, header->method,
	       strlen(header->method));
	ilb_put32(bytes + ILB_MOMENTS_AT_CRC,
		  ilb_moments_crc(bytes, ILB_MOMENTS_AT_CRC));
	return write_all(w, bytes, sizeof(bytes), error);
}

static void release(struct ilb_moments_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	free(w->packed);
	free(w->raw);
	free(w->path);
	free(w);
}

static struct ilb_moments_writer *
make(const char *path, const struct ilb_moments_header *header)
{
	struct ilb_moments_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = -1;
	w->nr_cpus = header->nr_cpus;
	w->record = ilb_moments_record_size(header->nr_cpus);
	w->room = ILB_MOMENTS_RAW_MAX / w->record;
	w->packed_size = ILB_MOMENTS_BLOCK +
			 ZSTD_compressBound(ILB_MOMENTS_RAW_MAX);
	w->path = strdup(path);
	w->raw = malloc(ILB_MOMENTS_RAW_MAX);
	w->packed = malloc(w->packed_size);
	w->zstd = ZSTD_createCCtx();
	if (w->path && w->raw && w->packed && w->zstd)
		return w;
	release(w);
	return NULL;
}

int ilb_moments_create(struct ilb_moments_writer **writer, const char *path,
		       const struct ilb_moments_header *header,
		       struct ilb_error *error)
{
	struct ilb_moments_writer *w;
	int err;

	if (!ilb_moments_header_ok(header))
		return ilb_fail(error, ILB_ERR_BUG,
				"%s: moments of %u CPUs, read by '%.48s'; please report it",
				path, header->nr_cpus, header->method);
	w = make(path, header);
	if (!w)
		return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
				path);
	w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (w->fd < 0)
		err = ilb_fail(error, ILB_ERR_IO,
			       "%s: cannot create: %s; check the path and its permissions",
			       path, strerror(errno));
	else
		err = write_header(w, header, error);
	if (err)
		release(w);
	else
		*writer = w;
	return err;
}

static void put_block(unsigned char *block, uint32_t tag, unsigned int records,
		      size_t stored, const unsigned char *raw, size_t size)
{
	ilb_put32(block, tag);
	ilb_put32(block + ILB_MOMENTS_AT_RECORDS, records);
	ilb_put32(block + ILB_MOMENTS_AT_STORED, (uint32_t)stored);
	ilb_put32(block + ILB_MOMENTS_AT_RAW, (uint32_t)size);
	ilb_put32(block + ILB_MOMENTS_AT_CHECK,
		  ilb_moments_check(block, raw, size));
}

/* The first @records of those that wait. */
static int flush(struct ilb_moments_writer *w, unsigned int records,
		 struct ilb_error *error)
{
	size_t size = (size_t)records * w->record, stored;
	int err;

	if (!records)
		return 0;
	stored = ZSTD_compressCCtx(w->zstd, w->packed + ILB_MOMENTS_BLOCK,
				   w->packed_size - ILB_MOMENTS_BLOCK, w->raw,
				   size, LEVEL);
	if (ZSTD_isError(stored))
		return ilb_fail(error, ILB_ERR_NOMEM, "%s: cannot pack: %s",
				w->path, ZSTD_getErrorName(stored));
	put_block(w->packed, ILB_MOMENTS_TAG_MOMENTS, records, stored, w->raw,
		  size);
	err = write_all(w, w->packed, ILB_MOMENTS_BLOCK + stored, error);
	if (err)
		return err;
	w->written_ns = ilb_get64(w->raw + size - w->record);
	w->number += records;
	w->waiting -= records;
	memmove(w->raw, w->raw + size, (size_t)w->waiting * w->record);
	return 0;
}

/* Where a record of that time belongs: behind its equals. */
static unsigned char *place(struct ilb_moments_writer *w, uint64_t time_ns)
{
	unsigned char *end = w->raw + (size_t)w->waiting * w->record;
	unsigned char *at = end;

	while (at > w->raw && ilb_get64(at - w->record) > time_ns)
		at -= w->record;
	memmove(at + w->record, at, (size_t)(end - at));
	return at;
}

int ilb_moments_append(struct ilb_moments_writer *w,
		       const struct ilb_moment *moment,
		       struct ilb_error *error)
{
	unsigned char *at;
	int err = 0;

	if (w->waiting == w->room)
		err = flush(w, w->room / 2, error);
	if (err)
		return err;
	if (moment->time_ns < w->written_ns)
		return ilb_fail(error, ILB_ERR_BUG,
				"%s: a moment is %llu ns older than what was written; please report it",
				w->path, (unsigned long long)
				(w->written_ns - moment->time_ns));
	at = place(w, moment->time_ns);
	ilb_moments_pack(at, moment, w->nr_cpus);
	w->waiting++;
	if (ilb_moments_record_ok(at, w->nr_cpus))
		return 0;
	return ilb_fail(error, ILB_ERR_BUG,
			"%s: a moment names CPUs beyond %u; please report it",
			w->path, w->nr_cpus - 1);
}

static int write_totals(struct ilb_moments_writer *w,
			const struct ilb_moments_totals *totals,
			struct ilb_error *error)
{
	unsigned char bytes[ILB_MOMENTS_BLOCK + ILB_MOMENTS_TOTALS];
	unsigned char *at = bytes + ILB_MOMENTS_BLOCK;

	if (totals->end_ns < w->written_ns)
		return ilb_fail(error, ILB_ERR_BUG,
				"%s: ends %llu ns before its last moment; please report it",
				w->path, (unsigned long long)
				(w->written_ns - totals->end_ns));
	ilb_put64(at, totals->end_ns);
	ilb_put64(at + ILB_MOMENTS_AT_KICKS, totals->kicks);
	ilb_put64(at + ILB_MOMENTS_AT_LOST, totals->lost);
	ilb_put64(at + ILB_MOMENTS_AT_NUMBER, w->number);
	put_block(bytes, ILB_MOMENTS_TAG_END, 1, ILB_MOMENTS_TOTALS, at,
		  ILB_MOMENTS_TOTALS);
	return write_all(w, bytes, sizeof(bytes), error);
}

static int sync_file(struct ilb_moments_writer *w, struct ilb_error *error)
{
	int failed = fsync(w->fd);

	/* Some file systems tell of a full disk only here. */
	failed |= close(w->fd);
	w->fd = -1;
	return failed ? cannot_write(w, error) : 0;
}

int ilb_moments_commit(struct ilb_moments_writer *w,
		       const struct ilb_moments_totals *totals,
		       struct ilb_error *error)
{
	int err = flush(w, w->waiting, error);

	if (!err)
		err = write_totals(w, totals, error);
	if (!err)
		err = sync_file(w, error);
	release(w);
	return err;
}

void ilb_moments_abandon(struct ilb_moments_writer *w)
{
	if (w)
		release(w);
}
