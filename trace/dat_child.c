// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process that reads, with libtracecmd and libtraceevent.
 *
 * On damaged files they crash, loop and fill memory; they print to standard
 * output, and load plugins from the user's home. Here they can do none of
 * that to anyone else: memory, files and signals are bounded, what is printed
 * goes nowhere, and the process ends with its parent.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "trace/dat.h"

#define MEMORY_MAX	(1ULL << 30)	/* symbols and formats take 50 MB */

struct child {
	const struct ilb_dat_layout *layout;
	struct ilb_dat_events *events;
	struct ilb_dat_merge *merge;
	struct ilb_dat_frame frame;
	unsigned int nr;		/* events in the batch */
	struct ilb_event batch[ILB_DAT_BATCH];
};

/* The parent has closed its end or died: there is no one to tell. */
static void write_all(const void *data, size_t size)
{
	const char *from = data;
	ssize_t done;

	while (size) {
		done = write(ILB_DAT_FD_PIPE, from, size);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(1);
		from += done;
		size -= (size_t)done;
	}
}

static void send_frame(struct child *c, uint32_t type, const void *data,
		       size_t size)
{
	c->frame.type = type;
	c->frame.size = (uint32_t)size;
	if (c->merge)
		c->frame.bytes_read = ilb_dat_merge_bytes(c->merge);
	write_all(&c->frame, sizeof(c->frame));
	write_all(data, size);
}

static void flush(struct child *c)
{
	if (c->nr)
		send_frame(c, ILB_DAT_EVENTS, c->batch,
			   c->nr * sizeof(c->batch[0]));
	c->nr = 0;
}

/* What was read up to here is right, so the parent gets it first. */
static _Noreturn void fail(struct child *c, int err,
			   const struct ilb_error *error)
{
	flush(c);
	c->frame.err = -err;
	send_frame(c, ILB_DAT_ERROR, error->text, strlen(error->text));
	_exit(0);
}

static _Noreturn void fail_damaged(struct child *c, const char *what)
{
	struct ilb_error error;
	int err;

	err = ilb_fail(&error, ILB_ERR_FORMAT,
		       "is damaged: %s; copy it again, or record it again",
		       what);
	fail(c, err, &error);
}

static struct ilb_event *next_event(struct child *c)
{
	if (c->nr == ILB_DAT_BATCH)
		flush(c);
	c->frame.sent++;
	return &c->batch[c->nr++];
}

static void add_lost(struct child *c, const struct tep_record *record)
{
	struct ilb_event *event = next_event(c);
	long long count = record->missed_events;

	memset(event, 0, sizeof(*event));
	event->time_ns = record->ts;
	event->cpu = (uint32_t)record->cpu;
	event->type = ILB_EVENT_LOST;
	event->pid = ILB_PID_UNKNOWN;
	if (count > UINT32_MAX)
		count = UINT32_MAX;
	event->u.lost.count = count > 0 ? (uint32_t)count : 0;
	c->frame.lost += count > 0 ? (uint64_t)count : 1;
}

static void add_record(struct child *c, struct tep_record *record)
{
	struct ilb_event *event;

	if (record->missed_events)
		add_lost(c, record);
	event = next_event(c);
	c->frame.events++;
	if (!ilb_dat_events_translate(c->events, record, event))
		c->frame.unparsed++;
	event->time_ns = record->ts;
	event->cpu = (uint32_t)record->cpu;
}

/* Descriptors at their places, nothing else open, nothing printed. */
static int arrange_files(int file, int pipe)
{
	int null = open("/dev/null", O_RDWR), i;

	/* Both out of the way of the places they are to have. */
	file = fcntl(file, F_DUPFD, ILB_DAT_FDS);
	pipe = fcntl(pipe, F_DUPFD, ILB_DAT_FDS);
	if (null < 0 || file < 0 || pipe < 0)
		return -1;
	for (i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			return -1;
	if (dup2(file, ILB_DAT_FD_FILE) < 0 || dup2(pipe, ILB_DAT_FD_PIPE) < 0)
		return -1;
	close_range(ILB_DAT_FDS, ~0U, 0);
	return lseek(ILB_DAT_FD_FILE, 0, SEEK_SET) ? -1 : 0;
}

/* Ctrl-C is the parent's to answer; all else ends the process. */
static void reset_signals(void)
{
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Bytes of data that the process has inherited. */
static uint64_t data_size(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void set_limit(int resource, uint64_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	if (value < limit.rlim_max)
		limit.rlim_cur = limit.rlim_max = value;
	setrlimit(resource, &limit);
}

static struct tep_handle *open_trace(struct child *c)
{
	struct tracecmd_input *handle;
	struct ilb_error error;
	char path[32];
	int err;

	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	/* Not by its name, which may lead to another file by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ILB_DAT_FD_FILE);
	handle = tracecmd_open_head(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (handle)
		return tracecmd_get_tep(handle);
	if (!strcmp(c->layout->compression, "none"))
		fail_damaged(c, "libtracecmd cannot read its headers");
	err = ilb_fail(&error, ILB_ERR_FORMAT,
		       "libtracecmd cannot read its headers: they are damaged, or it was built without the compression '%s'; record it again with --compression none",
		       c->layout->compression);
	fail(c, err, &error);
}

static _Noreturn void run(struct child *c)
{
	struct tep_record record = { .ref_count = 1 };
	struct tep_handle *tep = open_trace(c);
	int err, got, long_size = tep_get_header_page_size(tep);
	struct ilb_error error;

	if (long_size != 4 && long_size != 8)
		fail_damaged(c, "its header_page cannot be right");
	c->events = ilb_dat_events_new(tep);
	if (!c->events)
		fail_damaged(c, "it describes no event");
	err = ilb_dat_merge_new(&c->merge, c->layout, ILB_DAT_FD_FILE,
				long_size, &error);
	if (err)
		fail(c, err, &error);
	while ((got = ilb_dat_merge_next(c->merge, &record, &error)) == 1)
		add_record(c, &record);
	if (got)
		fail(c, got, &error);
	flush(c);
	send_frame(c, ILB_DAT_END, NULL, 0);
	_exit(0);
}

/* A library that calls exit() shall not run what the parent is to run. */
static void leave(void)
{
	_exit(1);
}

_Noreturn void ilb_dat_child_run(const struct ilb_dat_layout *layout,
				 int file, int pipe, int parent)
{
	struct child *c;

	/* It may have died before this could take effect. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	atexit(leave);
	reset_signals();
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_DATA, data_size() + MEMORY_MAX);
	if (arrange_files(file, pipe))
		_exit(1);
	c = calloc(1, sizeof(*c));
	if (!c)
		_exit(1);
	c->layout = layout;
	run(c);
}
