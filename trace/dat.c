// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace.dat, read by libtracecmd in a child process.
 *
 * The events come through a pipe, in frames (dat.h). A stream counts only if
 * it was ended by its writer: whatever else happens to it, a crash, a loop, an
 * early exit, is an error here, so that no one takes a part for the whole.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/dat.h"

#define PIPE_SIZE	(1 << 20)
#define PATIENCE_MS	20000

struct dat {
	struct ilb_source source;
	struct ilb_dat_layout layout;
	struct ilb_dat_frame frame;	/* the last one that came */
	char *path;
	pid_t child;			/* 0: none, or reaped */
	int pipe;			/* -1: closed */
	int patience_ms;
	uint64_t given;			/* events, to the caller */
	uint64_t received;		/* events, from the child */
	unsigned int next, nr;		/* in the batch */
	struct ilb_event batch[ILB_DAT_BATCH];
};

/* End the child if it still runs. Returns its status, -1 if unknown. */
static int reap(struct dat *d, int sig)
{
	int status;
	pid_t got;

	if (d->pipe >= 0)
		close(d->pipe);
	d->pipe = -1;
	if (!d->child)
		return -1;
	if (sig)
		kill(d->child, sig);
	do {
		got = waitpid(d->child, &status, 0);
	} while (got < 0 && errno == EINTR);
	d->child = 0;
	return got < 0 ? -1 : status;
}

/* The stream stopped without an end: say why. */
static int no_end(struct dat *d, struct ilb_error *error)
{
	int status = reap(d, 0);

	if (status != -1 && WIFSIGNALED(status) &&
	    WTERMSIG(status) == SIGKILL)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: the process that reads it was killed after %" PRIu64 " events, perhaps for lack of memory; free some and try again",
				d->path, d->given);
	if (status != -1 && WIFSIGNALED(status))
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: libtracecmd, which reads it, crashed (signal %d) after %" PRIu64 " events: the file is damaged; copy it again, or record it again",
				d->path, WTERMSIG(status), d->given);
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: libtracecmd, which reads it, gave up after %" PRIu64 " events: the file is damaged; copy it again, or record it again",
			d->path, d->given);
}

static int no_progress(struct dat *d, struct ilb_error *error)
{
	reap(d, SIGKILL);
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: libtracecmd, which reads it, made no progress for %d s after %" PRIu64 " events: the file is damaged; copy it again, or record it again",
			d->path, (d->patience_ms + 999) / 1000, d->given);
}

static int nonsense(struct dat *d, struct ilb_error *error)
{
	reap(d, SIGKILL);
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: libtracecmd, which reads it, went astray after %" PRIu64 " events: the file is damaged; copy it again, or record it again",
			d->path, d->given);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Wait until the pipe can be read: 1, or 0 if patience has an end. */
static int wait_readable(const struct dat *d)
{
	struct pollfd p = { .fd = d->pipe, .events = POLLIN };
	int64_t left = d->patience_ms, end = now_ms() + left;
	int got;

	do {
		got = poll(&p, 1, (int)left);
		if (got >= 0 || errno != EINTR)
			return got != 0;
		left = end - now_ms();
	} while (left > 0);
	return 0;
}

/* Read exactly @size bytes, or fail. */
static int receive(struct dat *d, void *data, size_t size,
		   struct ilb_error *error)
{
	char *to = data;
	ssize_t got;

	while (size) {
		if (!wait_readable(d))
			return no_progress(d, error);
		got = read(d->pipe, to, size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ilb_fail(error, ILB_ERR_IO,
					"%s: cannot read from the process that reads it: %s",
					d->path, strerror(errno));
		if (!got)
			return no_end(d, error);
		to += got;
		size -= (size_t)got;
	}
	return 0;
}

static int receive_error(struct dat *d, struct ilb_error *error)
{
	char text[sizeof(error->text)];
	int err;

	if (d->frame.size >= sizeof(text))
		return nonsense(d, error);
	err = receive(d, text, d->frame.size, error);
	if (err)
		return err;
	text[d->frame.size] = '\0';
	reap(d, SIGKILL);
	err = d->frame.err;
	if (err != ILB_ERR_IO && err != ILB_ERR_NOMEM)
		err = ILB_ERR_FORMAT;
	return ilb_fail(error, (enum ilb_err)err, "%s: %s", d->path, text);
}

static int receive_end(struct dat *d, struct ilb_error *error)
{
	if (d->frame.size || d->frame.sent != d->received)
		return nonsense(d, error);
	reap(d, SIGKILL);
	d->source.stats.bytes_read = d->layout.raw;
	return 0;
}

static int receive_events(struct dat *d, struct ilb_error *error)
{
	unsigned int size = d->frame.size;
	int err;

	if (!size || size > sizeof(d->batch) || size % sizeof(d->batch[0]))
		return nonsense(d, error);
	err = receive(d, d->batch, size, error);
	if (err)
		return err;
	d->next = 0;
	d->nr = size / (unsigned int)sizeof(d->batch[0]);
	d->received += d->nr;
	return 1;
}

/* The next frame: 1 if it brought events, 0 if it was the end. */
static int receive_frame(struct dat *d, struct ilb_error *error)
{
	struct ilb_source_stats *stats = &d->source.stats;
	int err;

	if (d->pipe < 0)
		return 0;
	err = receive(d, &d->frame, sizeof(d->frame), error);
	if (err)
		return err;
	stats->events = d->frame.events;
	stats->unparsed = d->frame.unparsed;
	stats->lost = d->frame.lost;
	stats->bytes_read = d->frame.bytes_read;
	switch (d->frame.type) {
	case ILB_DAT_EVENTS:
		return receive_events(d, error);
	case ILB_DAT_END:
		return receive_end(d, error);
	case ILB_DAT_ERROR:
		return receive_error(d, error);
	}
	return nonsense(d, error);
}

static int dat_next(struct ilb_source *source, struct ilb_event *event,
		    struct ilb_error *error)
{
	struct dat *d = (struct dat *)source;
	int got;

	if (d->next == d->nr) {
		got = receive_frame(d, error);
		if (got != 1)
			return got;
	}
	*event = d->batch[d->next++];
	/* What comes from a process that may be astray is not believed. */
	if (event->type >= ILB_EVENT_TYPES)
		return nonsense(d, error);
	if (event->type == ILB_EVENT_SWITCH)
		event->u.sched_switch.next_comm[ILB_COMM_LEN - 1] = '\0';
	d->given++;
	return 1;
}

static void dat_close(struct ilb_source *source)
{
	struct dat *d = (struct dat *)source;

	reap(d, SIGKILL);
	ilb_dat_layout_free(&d->layout);
	free(d->path);
	free(d);
}

static const struct ilb_source_ops dat_ops = {
	.next = dat_next,
	.close = dat_close,
};

static int start_child(struct dat *d, int file, struct ilb_error *error)
{
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return ilb_fail(error, ILB_ERR_IO, "%s: cannot make a pipe: %s",
				d->path, strerror(errno));
	/* Fewer switches between the two; a refusal does no harm. */
	fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE);
	fflush(NULL);
	d->child = fork();
	if (!d->child)
		ilb_dat_child_run(&d->layout, file, fds[1], parent);
	close(fds[1]);
	d->pipe = fds[0];
	if (d->child > 0)
		return 0;
	d->child = 0;
	return ilb_fail(error, ILB_ERR_IO,
			"%s: cannot start a process to read it: %s", d->path,
			strerror(errno));
}

static int open_file(struct dat *d, struct ilb_error *error)
{
	int file = open(d->path, O_RDONLY | O_CLOEXEC | O_NOCTTY), err;

	if (file < 0 && errno == ENOENT)
		return ilb_fail(error, ILB_ERR_NOENT, "%s: no such file",
				d->path);
	if (file < 0)
		return ilb_fail(error, ILB_ERR_IO,
				"%s: cannot open: %s; check the path and its permissions",
				d->path, strerror(errno));
	err = ilb_dat_layout_read(&d->layout, file, d->path, error);
	/* Nothing recorded: an end at once, of a file that is whole. */
	if (!err && d->layout.raw)
		err = start_child(d, file, error);
	close(file);
	return err;
}

int ilb_dat_open_patience(struct ilb_source **source, const char *path,
			  unsigned int nr_cpus, int patience_ms,
			  struct ilb_error *error)
{
	struct dat *d = calloc(1, sizeof(*d));
	int err;

	if (d)
		d->path = strdup(path);
	if (!d || !d->path) {
		free(d);
		return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
				path);
	}
	d->source.ops = &dat_ops;
	d->source.nr_cpus = nr_cpus;
	d->pipe = -1;
	d->patience_ms = patience_ms;
	err = open_file(d, error);
	if (err) {
		dat_close(&d->source);
		return err;
	}
	d->source.stats.bytes_total = d->layout.raw;
	*source = &d->source;
	return 0;
}

int ilb_dat_open(struct ilb_source **source, const char *path,
		 unsigned int nr_cpus, struct ilb_error *error)
{
	return ilb_dat_open_patience(source, path, nr_cpus, PATIENCE_MS,
				     error);
}
