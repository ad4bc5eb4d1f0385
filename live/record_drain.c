// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the kernel's buffers to a file per CPU. While tracing only full pages
 * are taken, by splice(): read() would take what there is, a page of the file
 * for a few events, and so four times the bytes.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <tracefs.h>
#include <unistd.h>

#include "live/record.h"

#define PIPE_SIZE	(1 << 20)
#define READY_MAX	16

static int cannot(const struct ilb_drain *d, const char *step,
		  unsigned int cpu, struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_IO,
			"%s/cpu%u: cannot %s events: %s; nothing was kept",
			d->folder, cpu, step, strerror(errno));
}

static int open_cpu(struct ilb_drain *d, unsigned int cpu,
		    struct ilb_error *error)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = cpu };
	char name[64], *path;

	if (asprintf(&path, "%s/cpu%u", d->folder, cpu) < 0)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	d->file[cpu] = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			    0600);
	free(path);
	if (d->file[cpu] < 0)
		return cannot(d, "write", cpu, error);
	/* trace-cmd numbers CPUs by their order: others need a file, too. */
	if (!ilb_mask_test(d->instance->cpus, cpu)) {
		close(d->file[cpu]);
		d->file[cpu] = -1;
		return 0;
	}
	snprintf(name, sizeof(name), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	d->raw[cpu] = tracefs_instance_file_open(d->instance->handle, name,
			O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (d->raw[cpu] < 0 ||
	    epoll_ctl(d->ready, EPOLL_CTL_ADD, d->raw[cpu], &event))
		return cannot(d, "read", cpu, error);
	return 0;
}

static int allocate(struct ilb_drain *d)
{
	unsigned int cpu, nr = d->instance->nr_cpus;
	int size;

	d->raw = calloc(nr, sizeof(*d->raw));
	d->file = calloc(nr, sizeof(*d->file));
	d->page = malloc(d->instance->page);
	if (!d->raw || !d->file || !d->page)
		return -1;
	for (cpu = 0; cpu < nr; cpu++)
		d->raw[cpu] = d->file[cpu] = -1;
	d->ready = epoll_create1(EPOLL_CLOEXEC);
	if (d->ready < 0)
		return -1;
	if (pipe2(d->pipe, O_CLOEXEC | O_NONBLOCK)) {
		d->pipe[0] = d->pipe[1] = -1;
		return -1;
	}
	/* Users have a limit: then it keeps its size. */
	fcntl(d->pipe[1], F_SETPIPE_SZ, PIPE_SIZE);
	size = fcntl(d->pipe[1], F_GETPIPE_SZ);
	d->chunk = size > 0 ? (size_t)size : 65536;
	d->chunk -= d->chunk % d->instance->page;
	if (d->chunk < d->instance->page)
		d->chunk = d->instance->page;
	return 0;
}

int ilb_drain_open(struct ilb_drain *drain, const struct ilb_instance *from,
		   const char *folder, struct ilb_error *error)
{
	unsigned int cpu;
	int err = 0;

	drain->instance = from;
	drain->folder = folder;
	drain->pipe[0] = drain->pipe[1] = drain->ready = -1;
	if (allocate(drain))
		return ilb_fail(error, ILB_ERR_NOMEM,
				"buffers for %u CPUs: %s", from->nr_cpus,
				strerror(errno));
	for (cpu = 0; !err && cpu < from->nr_cpus; cpu++)
		err = open_cpu(drain, cpu, error);
	return err;
}

/* All of @n bytes, from the pipe to the CPU's file. */
static int empty_pipe(struct ilb_drain *d, unsigned int cpu, size_t n,
		      struct ilb_error *error)
{
	ssize_t moved;

	while (n) {
		moved = splice(d->pipe[0], NULL, d->file[cpu], NULL, n,
			       SPLICE_F_MOVE);
		if (moved < 0 && errno == EINTR)
			continue;
		if (moved <= 0)
			return cannot(d, "write", cpu, error);
		n -= (size_t)moved;
		d->bytes += (uint64_t)moved;
	}
	return 0;
}

/* The pages that are full now; not those that fill while we are at it. */
static int take_pages(struct ilb_drain *d, unsigned int cpu,
		      struct ilb_error *error)
{
	size_t left = (size_t)64 << 20;
	ssize_t n;
	int err;

	while (left >= d->chunk) {
		n = splice(d->raw[cpu], NULL, d->pipe[1], NULL, d->chunk,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return cannot(d, "read", cpu, error);
		if (n <= 0)
			return 0;
		err = empty_pipe(d, cpu, (size_t)n, error);
		if (err)
			return err;
		left -= (size_t)n < left ? (size_t)n : left;
	}
	return 0;
}

int ilb_drain_fd(const struct ilb_drain *drain)
{
	return drain->instance ? drain->ready : -1;
}

int ilb_drain_some(struct ilb_drain *drain, struct ilb_error *error)
{
	unsigned int left = drain->instance->nr_cpus;
	struct epoll_event ready[READY_MAX];
	int i, n, err = 0;

	/* A CPU that fills as fast as it is emptied does not keep us here. */
	do {
		n = epoll_wait(drain->ready, ready, READY_MAX, 0);
		for (i = 0; !err && i < n; i++)
			err = take_pages(drain, ready[i].data.u32, error);
		left -= n > 0 && (unsigned int)n < left ? (unsigned int)n :
							   left;
	} while (!err && n == READY_MAX && left);
	return err;
}

static int write_page(struct ilb_drain *d, unsigned int cpu,
		      struct ilb_error *error)
{
	size_t done = 0, size = d->instance->page;
	ssize_t n;

	while (done < size) {
		n = write(d->file[cpu], d->page + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return cannot(d, "write", cpu, error);
		done += (size_t)n;
	}
	d->bytes += size;
	return 0;
}

/* The last pages, which are not full. */
static int read_pages(struct ilb_drain *d, unsigned int cpu,
		      struct ilb_error *error)
{
	size_t size = d->instance->page;
	ssize_t n;
	int err = 0;

	while (!err) {
		n = read(d->raw[cpu], d->page, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return cannot(d, "read", cpu, error);
		if (n <= 0)
			return 0;
		memset(d->page + n, 0, size - (size_t)n);
		err = write_page(d, cpu, error);
	}
	return err;
}

int ilb_drain_rest(struct ilb_drain *drain, struct ilb_error *error)
{
	unsigned int cpu;
	int err = 0;

	ilb_for_each_cpu(cpu, drain->instance->cpus,
			 drain->instance->nr_cpus) {
		err = read_pages(drain, cpu, error);
		if (!err && close(drain->file[cpu]))
			err = cannot(drain, "write", cpu, error);
		drain->file[cpu] = -1;
		if (err)
			return err;
	}
	return 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void ilb_drain_close(struct ilb_drain *drain)
{
	unsigned int cpu;

	if (!drain->instance)
		return;
	for (cpu = 0; drain->raw && drain->file &&
	     cpu < drain->instance->nr_cpus; cpu++) {
		close_fd(drain->raw[cpu]);
		close_fd(drain->file[cpu]);
	}
	close_fd(drain->pipe[0]);
	close_fd(drain->pipe[1]);
	close_fd(drain->ready);
	free(drain->raw);
	free(drain->file);
	free(drain->page);
	memset(drain, 0, sizeof(*drain));
}
