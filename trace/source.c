// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace in any format: recognised by its first bytes, then read by dat.c or
 * text.c. What holds for every format stands here: CPUs within the topology,
 * time that does not go backwards, an end that stays the end.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/source.h"

/* trace-cmd's magic: 0x17 0x08 0x44 "tracing". */
static const unsigned char dat_magic[] = {
	0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g',
};

static int open_failed(const char *path, struct ilb_error *error)
{
	if (errno == ENOENT)
		return ilb_fail(error, ILB_ERR_NOENT, "%s: no such file", path);
	return ilb_fail(error, ILB_ERR_IO, "%s: cannot open: %s", path,
			strerror(errno));
}

/* A regular file, or whatever "-" is; a folder or a device is a mistake. */
static int check_kind(const char *path, int fd, struct stat *st,
		      struct ilb_error *error)
{
	if (fstat(fd, st) < 0)
		return ilb_fail(error, ILB_ERR_IO, "%s: cannot stat: %s", path,
				strerror(errno));
	if (S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode) || !fd)
		return 0;
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: is not a file; name a trace.dat or a text trace",
			path);
}

int ilb_source_open(struct ilb_source **source, const char *path,
		    unsigned int nr_cpus, struct ilb_error *error)
{
	unsigned char head[sizeof(dat_magic)];
	struct stat st;
	int fd, err;

	fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) :
				 STDIN_FILENO;
	if (fd < 0)
		return open_failed(path, error);
	err = check_kind(path, fd, &st, error);
	if (err)
		goto fail;
	if (S_ISREG(st.st_mode)) {
		if (!st.st_size) {
			err = ilb_fail(error, ILB_ERR_FORMAT,
				       "%s: is empty; record it again", path);
			goto fail;
		}
		if (fd && pread(fd, head, sizeof(head), 0) == sizeof(head) &&
		    !memcmp(head, dat_magic, sizeof(head))) {
			close(fd);
			return ilb_dat_open(source, path, nr_cpus, error);
		}
	}
	return ilb_text_open(source, path, fd,
			     S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0,
			     nr_cpus, error);
fail:
	if (fd > 0)
		close(fd);
	return err;
}

static int end(struct ilb_source *source, int result, struct ilb_error *error)
{
	source->ended = 1;
	source->result = result;
	if (result && error)
		source->error = *error;
	return result;
}

int ilb_source_next(struct ilb_source *source, struct ilb_event *event,
		    struct ilb_error *error)
{
	int result;

	if (source->ended) {
		if (source->result && error)
			*error = source->error;
		return source->result;
	}
	result = source->ops->next(source, event, error);
	if (result != 1)
		return end(source, result, error);
	if (event->cpu >= source->nr_cpus) {
		result = ilb_fail(error, ILB_ERR_MISMATCH,
				  "trace: has an event on CPU %u, but the topology has CPUs 0-%u; give the topology of the machine that was recorded",
				  event->cpu, source->nr_cpus - 1);
		return end(source, result, error);
	}
	if (event->time_ns < source->last_ns) {
		source->stats.backwards++;
		event->time_ns = source->last_ns;
	}
	source->last_ns = event->time_ns;
	return 1;
}

void ilb_source_stats(const struct ilb_source *source,
		      struct ilb_source_stats *stats)
{
	*stats = source->stats;
}

void ilb_source_close(struct ilb_source *source)
{
	if (source)
		source->ops->close(source);
}
