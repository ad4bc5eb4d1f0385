// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace in any format: recognised by its first bytes, then read by dat.c or
 * text.c. What holds for every format stands here: CPUs within the topology,
 * time that does not go backwards, an end that stays the end.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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
		return ilb_fail(error, ILB_ERR_NOENT,
				"%s: no such file; name a trace.dat or a text trace",
				path);
	return ilb_fail(error, ILB_ERR_IO,
			"%s: cannot open: %s; check the path and its permissions",
			path, strerror(errno));
}

int ilb_source_is_dat(const void *head, size_t size)
{
	return size >= sizeof(dat_magic) &&
	       !memcmp(head, dat_magic, sizeof(dat_magic));
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

/* A trace.dat needs a file that can be opened again, as stdin may be one. */
static int open_kind(struct ilb_source **source, const char *path, int fd,
		     unsigned int nr_cpus, struct ilb_error *error)
{
	const char *name = fd ? path : "stdin";
	unsigned char head[sizeof(dat_magic)];
	struct stat st;
	int err;

	err = check_kind(name, fd, &st, error);
	if (!err && S_ISREG(st.st_mode) && !st.st_size)
		err = ilb_fail(error, ILB_ERR_FORMAT,
			       "%s: is empty; record it again", name);
	if (!err && S_ISREG(st.st_mode) &&
	    pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	    ilb_source_is_dat(head, sizeof(head))) {
		err = ilb_dat_open(source, fd ? path : "/dev/stdin", nr_cpus,
				   error);
		if (fd)
			close(fd);
		return err;
	}
	if (!err)
		return ilb_text_open(source, name, fd,
				     S_ISREG(st.st_mode) ?
				     (uint64_t)st.st_size : 0, nr_cpus, error);
	if (fd)
		close(fd);
	return err;
}

int ilb_source_open(struct ilb_source **source, const char *path,
		    unsigned int nr_cpus, struct ilb_error *error)
{
	int err, fd = STDIN_FILENO;

	if (strcmp(path, "-"))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return open_failed(path, error);
	err = open_kind(source, path, fd, nr_cpus, error);
	if (err)
		return err;
	/* For messages alone: do without where there is no memory. */
	(*source)->path = strdup(fd ? path : "stdin");
	return 0;
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
				  "%s: has an event on CPU %u, but the topology has CPUs 0-%u; give the topology of the machine that was recorded",
				  source->path ? source->path : "trace",
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
	if (!source)
		return;
	free(source->path);
	source->ops->close(source);
}
