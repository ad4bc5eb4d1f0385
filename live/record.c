// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording from beginning to end. Signals are blocked and read from a
 * descriptor, so that whatever comes, what was set up is taken down again in
 * one place.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <tracefs.h>
#include <unistd.h>

#include "live/record.h"

#define WAKE_MS		500
#define SCHEDSTATS	"/proc/sys/kernel/sched_schedstats"

struct session {
	const struct ilb_record_options *options;
	struct ilb_record_summary *summary;
	struct ilb_error *error;
	struct ilb_facts *facts;
	struct ilb_topology *topology;
	unsigned long cpus[ILB_WIDE_WORDS];
	struct ilb_folder folder;
	struct ilb_probes probes;
	struct ilb_instance instance;
	struct ilb_drain drain;
	struct ilb_watch watch;
	struct ilb_child child;
	int signals;		/* signalfd */
	sigset_t mask;		/* to go back to */
	struct rlimit files;	/* likewise */
	int files_raised;
	int schedstats_set;
	int stopped;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* ---- before: what can fail without having touched anything ---- */

static int check_tracefs(const struct session *s)
{
	switch (s->facts->tracefs) {
	case ILB_TRACEFS_READABLE:
		return 0;
	case ILB_TRACEFS_DENIED:
		return ilb_fail(s->error, ILB_ERR_PERM,
				"/sys/kernel/tracing: not for this user, and a recording writes there; record as root (sudo), or with CAP_DAC_OVERRIDE and CAP_SYSLOG");
	case ILB_TRACEFS_UNMOUNTED:
		return ilb_fail(s->error, ILB_ERR_UNSUPPORTED,
				"/sys/kernel/tracing: tracefs is not mounted, or hidden by lockdown (/sys/kernel/security/lockdown); as root: mount -t tracefs nodev /sys/kernel/tracing");
	default:
		return ilb_fail(s->error, ILB_ERR_UNSUPPORTED,
				"this kernel has no tracefs; use one with CONFIG_FTRACE");
	}
}

/* All that have a buffer: one that is offline may come online. */
static void choose_all(struct session *s)
{
	unsigned int cpu;
	char name[40];

	for (cpu = 0; cpu < s->topology->nr_cpus; cpu++) {
		snprintf(name, sizeof(name), "per_cpu/cpu%u", cpu);
		if (tracefs_dir_exists(NULL, name))
			ilb_mask_set(s->cpus, cpu);
	}
}

static int choose_cpus(struct session *s)
{
	const struct ilb_topology *t = s->topology;
	const char *list = s->options->cpus;
	char online[64];
	unsigned int cpu;

	if (ilb_cpulist_parse(list, s->cpus, ILB_CPUS_MAX) ||
	    ilb_mask_empty(s->cpus, ILB_CPUS_MAX))
		return ilb_fail(s->error, ILB_ERR_SYNTAX,
				"-C '%s': not a list of CPUs such as 0-3,8",
				list);
	ilb_for_each_cpu(cpu, s->cpus, ILB_CPUS_MAX) {
		if (cpu < t->nr_cpus && ilb_mask_test(t->online, cpu))
			continue;
		ilb_cpulist_print(online, sizeof(online), t->online,
				  t->nr_cpus);
		return ilb_fail(s->error, ILB_ERR_RANGE,
				"-C '%s': CPU %u is not online; this machine has CPUs %s",
				list, cpu, online);
	}
	return 0;
}

/* What a trace needs. */
static int check_tracing(struct session *s)
{
	int err = check_tracefs(s);

	if (err)
		return err;
	if (!s->options->cpus)
		choose_all(s);
	return ilb_assemble_check(s->error);
}

static int look_around(struct session *s)
{
	int err;

	s->facts = calloc(1, sizeof(*s->facts));
	if (!s->facts)
		return ilb_fail(s->error, ILB_ERR_NOMEM, "out of memory");
	ilb_facts_gather(s->facts, "");
	err = ilb_topology_load(&s->topology, "self", s->error);
	if (!err && s->options->cpus)
		err = choose_cpus(s);
	if (!err && !s->options->moments_only)
		err = check_tracing(s);
	s->summary->symbols_hidden = ilb_kallsyms_hidden("/proc/kallsyms");
	return err;
}

/* ---- setting up ---- */

static int catch_signals(struct session *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	/* Of the pipe to a command that somebody killed. */
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, &s->mask);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals >= 0)
		return 0;
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	return ilb_fail(s->error, ILB_ERR_IO, "no signalfd: %s",
			strerror(errno));
}

/* Two files per CPU can be more than the usual 1024. After the fork. */
static void raise_files(struct session *s)
{
	struct rlimit more;

	if (getrlimit(RLIMIT_NOFILE, &s->files))
		return;
	more = s->files;
	more.rlim_cur = more.rlim_max;
	s->files_raised = !setrlimit(RLIMIT_NOFILE, &more);
}

/* Without BPF they are missed, unless they are all that was asked for. */
static int watch(struct session *s)
{
	struct ilb_error error = { "" };
	int err;

	if (s->options->no_bpf)
		return 0;
	err = ilb_watch_open(&s->watch, s->topology->nr_cpus, &error);
	if (err && s->options->moments_only)
		return ilb_fail(s->error, (enum ilb_err)-err, "%s",
				error.text);
	if (err)
		snprintf(s->summary->no_moments,
			 sizeof(s->summary->no_moments), "%s", error.text);
	return 0;
}

/* Moments have the time of this clock. */
static const char *clock_of(const struct session *s)
{
	return s->watch.exact ? "mono" : "local";
}

static int describe(struct session *s)
{
	const struct ilb_recorded recorded = {
		.cpus = s->options->cpus ? s->cpus : NULL,
		.events = s->instance.events,
		.unfiltered = s->summary->unfiltered,
		.clock = s->options->moments_only ? NULL : clock_of(s),
		.symbols_hidden = s->summary->symbols_hidden,
	};
	char *text;
	int err;

	err = ilb_system_write(&text, s->facts, s->topology, "", &recorded,
			       s->error);
	if (err)
		return err;
	err = ilb_folder_write(&s->folder, "system.json", text, strlen(text),
			       s->error);
	free(text);
	return err;
}

static int write_schedstats(const char *value)
{
	int fd = open(SCHEDSTATS, O_WRONLY | O_CLOEXEC);
	int failed;

	if (fd < 0)
		return -1;
	failed = write(fd, value, 1) != 1;
	close(fd);
	return failed ? -1 : 0;
}

static void count_schedstats(struct session *s)
{
	const struct ilb_facts *f = s->facts;

	if (f->schedstats == ILB_ANSWER_YES) {
		s->summary->schedstats = ILB_SCHEDSTATS_ON;
	} else if (f->schedstats_built_in == ILB_ANSWER_YES) {
		s->schedstats_set = !write_schedstats("1");
		s->summary->schedstats = s->schedstats_set ?
			ILB_SCHEDSTATS_ON : ILB_SCHEDSTATS_OFF;
	}
}

static int copy_counts(struct session *s, const char *schedstat,
		       const char *softirqs)
{
	int err;

	err = ilb_folder_copy(&s->folder, schedstat, "/proc/schedstat",
			      s->error);
	if (err)
		return err;
	return ilb_folder_copy(&s->folder, softirqs, "/proc/softirqs",
			       s->error);
}

static int set_up_trace(struct session *s)
{
	const struct ilb_record_options *o = s->options;
	int err;

	if (!o->no_probes)
		ilb_probes_create(&s->probes, s->summary);
	s->instance.cpus = s->cpus;
	s->instance.nr_cpus = s->topology->nr_cpus;
	s->instance.probes = &s->probes;
	s->instance.clock = clock_of(s);
	err = ilb_instance_create(&s->instance, o->buffer_kb, s->summary,
				  s->error);
	if (err)
		return err;
	return ilb_drain_open(&s->drain, &s->instance, s->folder.temporary,
			      s->error);
}

static int set_up(struct session *s)
{
	const struct ilb_record_options *o = s->options;
	int err;

	err = ilb_folder_create(&s->folder, o->dir, o->force, s->error);
	if (!err)
		err = watch(s);
	if (!err)
		err = ilb_record_topology(s->folder.temporary, s->error);
	if (!err && o->command)
		err = ilb_child_prepare(&s->child, o->command, &s->mask,
					s->error);
	if (err)
		return err;
	raise_files(s);
	err = o->moments_only ? 0 : set_up_trace(s);
	if (!err)
		err = describe(s);
	if (err)
		return err;
	count_schedstats(s);
	return copy_counts(s, "schedstat.before", "softirqs.before");
}

/* ---- recording ---- */

static void take_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD || info.ssi_signo == SIGPIPE)
			continue;
		s->stopped = 1;
		/* A terminal has told the command as well. */
		if (s->child.pid && info.ssi_code <= 0)
			kill(s->child.pid, (int)info.ssi_signo);
	}
	if (ilb_child_ended(&s->child))
		s->stopped = 1;
}

/* Until the next look, or the end. */
static int wait_ms(const struct session *s, uint64_t begin, uint64_t looked)
{
	uint64_t end = looked + WAKE_MS * 1000000ULL, at = now();

	if (s->options->duration_ns && begin + s->options->duration_ns < end)
		end = begin + s->options->duration_ns;
	return end > at ? (int)((end - at + 999999) / 1000000) : 0;
}

static int fetch(struct session *s)
{
	int err = ilb_watch_read(&s->watch, s->error);

	if (!err && s->instance.handle)
		err = ilb_drain_some(&s->drain, s->error);
	return err;
}

static int ended(const struct session *s, uint64_t begin)
{
	uint64_t end = s->options->duration_ns;

	return s->stopped || (end && now() - begin >= end);
}

static int look(struct session *s, uint64_t begin)
{
	int err = fetch(s);

	if (!err && s->options->progress)
		s->options->progress(s->options->context, now() - begin);
	return err;
}

/*
 * Buffers wake us when they are a quarter full, however fast they fill. One
 * that does so for less is left to the look twice a second.
 */
static int woken(struct session *s, struct pollfd *buffers)
{
	uint64_t before = s->drain.bytes;
	int err = ilb_drain_some(&s->drain, s->error);

	if (s->drain.bytes == before)
		buffers->fd = -1;
	return err;
}

static int follow(struct session *s, uint64_t begin)
{
	struct pollfd fds[3] = {
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = ilb_watch_fd(&s->watch), .events = POLLIN },
		{ .fd = ilb_drain_fd(&s->drain), .events = POLLIN },
	};
	uint64_t looked = begin;
	int err = 0, ready;

	while (!err) {
		ready = poll(fds, 3, wait_ms(s, begin, looked));
		if (ready > 0 && fds[0].revents)
			take_signals(s);
		if (ready > 0 && fds[1].revents)
			err = ilb_watch_read(&s->watch, s->error);
		if (err || ended(s, begin))
			break;
		if (ready > 0 && fds[2].revents)
			err = woken(s, &fds[2]);
		if (err || now() - looked < WAKE_MS * 1000000ULL)
			continue;
		err = look(s, begin);
		looked = now();
		fds[2].fd = ilb_drain_fd(&s->drain);
	}
	return err;
}

static int switch_trace(struct session *s, int on)
{
	if (!s->instance.handle)
		return 0;
	return ilb_instance_switch(&s->instance, on, s->error);
}

static int record(struct session *s)
{
	uint64_t begin, end;
	int err;

	/* Every kick of the trace has its moment: watch for longer than that. */
	err = ilb_watch_start(&s->watch, s->folder.temporary, now(), s->error);
	if (!err)
		err = switch_trace(s, 1);
	begin = now();
	if (!err && s->child.pid)
		err = ilb_child_start(&s->child, s->options->command[0],
				      s->error);
	if (!err)
		err = follow(s, begin);
	end = now();
	if (!err)
		err = switch_trace(s, 0);
	ilb_watch_stop(&s->watch, now());
	s->summary->duration_ns = end - begin;
	return err;
}

/* ---- afterwards ---- */

static void restore_schedstats(struct session *s)
{
	if (s->schedstats_set)
		write_schedstats("0");
	s->schedstats_set = 0;
}

static int save_trace(struct session *s)
{
	int err;

	err = ilb_instance_count(&s->instance, s->summary, s->error);
	if (!err)
		err = ilb_drain_rest(&s->drain, s->error);
	s->summary->bytes = s->drain.bytes;
	ilb_drain_close(&s->drain);
	if (!err)
		err = ilb_instance_destroy(&s->instance, s->error);
	if (!err)
		err = ilb_assemble(s->folder.temporary, s->topology->nr_cpus,
				   s->summary->bytes, s->error);
	return err;
}

static int save(struct session *s)
{
	int err;

	err = copy_counts(s, "schedstat.after", "softirqs.after");
	restore_schedstats(s);
	if (!err)
		err = ilb_watch_finish(&s->watch, s->summary, s->error);
	if (!err && s->instance.handle)
		err = save_trace(s);
	if (!err)
		err = ilb_probes_destroy(&s->probes, s->error);
	if (!err)
		err = ilb_folder_publish(&s->folder, s->error);
	return err;
}

/* Whatever is still there; the first error is the one that counts. */
static void tear_down(struct session *s)
{
	restore_schedstats(s);
	ilb_child_abandon(&s->child);
	ilb_watch_close(&s->watch);
	ilb_drain_close(&s->drain);
	ilb_instance_destroy(&s->instance, NULL);
	ilb_probes_destroy(&s->probes, NULL);
	ilb_folder_discard(&s->folder);
	if (s->files_raised)
		setrlimit(RLIMIT_NOFILE, &s->files);
}

/* Those that came too late to end the recording are still passed on. */
static void release_signals(struct session *s)
{
	take_signals(s);
	close(s->signals);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	s->summary->command = s->child.pid;
	s->summary->status = s->child.status;
}

static int run(struct session *s)
{
	int err = look_around(s);

	if (err)
		return err;
	err = catch_signals(s);
	if (err)
		return err;
	err = set_up(s);
	if (!err)
		err = record(s);
	if (!err)
		err = save(s);
	tear_down(s);
	release_signals(s);
	return err;
}

int ilb_record_run(const struct ilb_record_options *options,
		   struct ilb_record_summary *summary,
		   struct ilb_error *error)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	memset(summary, 0, sizeof(*summary));
	if (!s)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	s->options = options;
	s->summary = summary;
	s->error = error;
	err = run(s);
	ilb_topology_free(s->topology);
	free(s->facts);
	free(s);
	return err;
}
