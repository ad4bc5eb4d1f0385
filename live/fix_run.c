// SPDX-License-Identifier: GPL-2.0-only
/*
 * The runs of a trial. The command is forked and held back, as for a
 * recording, so that counters are on it before its first instruction and
 * setting up is no part of its time.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ilb/fix.h"
#include "live/record.h"

#define LOOK_MS		1000	/* at kicks; the buffer holds seconds */

enum { CYCLES, INSTRUCTIONS, EVENTS };

/** struct counting - a counter each; -1: none */
struct counting {
	int fd[EVENTS];
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* ---- cycles and instructions ---- */

static const char *why_no_perf(int number)
{
	switch (number) {
	case EACCES:
	case EPERM:
		return "needs CAP_PERFMON, or kernel.perf_event_paranoid at most 2";
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "needs a processor whose counters the kernel can use; many guests have none";
	case ENOSYS:
		return "needs a kernel with CONFIG_PERF_EVENTS";
	default:
		return NULL;
	}
}

/* Inherited, which rules a group out: a descriptor each. */
static int open_counter(pid_t pid, uint64_t what)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = what, .disabled = 1, .inherit = 1,
		.enable_on_exec = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 || (errno != EACCES && errno != EPERM))
		return fd;
	attr.exclude_kernel = attr.exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static void counting_start(struct counting *c, pid_t pid,
			   struct ilb_trial_summary *summary)
{
	const char *why;

	c->fd[CYCLES] = open_counter(pid, PERF_COUNT_HW_CPU_CYCLES);
	c->fd[INSTRUCTIONS] = c->fd[CYCLES] < 0 ? -1 :
			      open_counter(pid, PERF_COUNT_HW_INSTRUCTIONS);
	if (c->fd[CYCLES] >= 0 && c->fd[INSTRUCTIONS] >= 0)
		return;
	why = why_no_perf(errno);
	snprintf(summary->no_perf, sizeof(summary->no_perf), "%s",
		 why ? why : strerror(errno));
}

/* A counter that shared its place ran only part of the time. */
static int counting_read(int fd, uint64_t *value)
{
	struct {
		uint64_t value, enabled, running;
	} got;

	if (fd < 0 || read(fd, &got, sizeof(got)) != sizeof(got) ||
	    !got.running)
		return 0;
	*value = got.enabled == got.running ? got.value :
		 (uint64_t)((double)got.value * (double)got.enabled /
			    (double)got.running);
	return 1;
}

static void counting_end(struct counting *c, struct ilb_fix_perf *perf,
			 struct ilb_trial_summary *summary)
{
	int i;

	perf->known = counting_read(c->fd[CYCLES], &perf->cycles) &&
		      counting_read(c->fd[INSTRUCTIONS],
				    &perf->instructions);
	if (!perf->known && !summary->no_perf[0])
		strcpy(summary->no_perf, "needs counters that nobody else holds all the time");
	for (i = 0; i < EVENTS; i++)
		if (c->fd[i] >= 0)
			close(c->fd[i]);
}

/* ---- one run ---- */

/* The child gets other standard streams; ours come back. */
static int fork_command(struct ilb_child *child,
			const struct ilb_trial_plan *plan,
			struct ilb_error *error)
{
	int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int err;

	fflush(stdout);
	dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	err = ilb_child_prepare(child, plan->command, plan->mask, error);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	close(in);
	close(out);
	close(null);
	return err;
}

/* A terminal has told the command as well; of the others it has to hear. */
static void take_signals(const struct ilb_trial_plan *plan,
			 struct ilb_trial_summary *summary, pid_t pid)
{
	struct signalfd_siginfo info;

	while (read(plan->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD || info.ssi_signo == SIGPIPE)
			continue;
		summary->signal = (int)info.ssi_signo;
		if (pid && info.ssi_code <= 0)
			kill(pid, (int)info.ssi_signo);
	}
}

/* Until the command ends, also when a signal has ended the trial. */
static int follow(struct ilb_child *child, const struct ilb_trial_plan *plan,
		  struct ilb_trial_summary *summary, struct ilb_error *error)
{
	struct pollfd fds[2] = {
		{ .fd = plan->signals, .events = POLLIN },
		{ .fd = -1 },
	};
	int err = 0, failed = 0;

	while (!ilb_child_ended(child)) {
		poll(fds, 1, LOOK_MS);
		take_signals(plan, summary, child->pid);
		if (plan->watch && !failed)
			failed = err = ilb_fix_watch_read(plan->watch, error);
	}
	take_signals(plan, summary, 0);
	return err;
}

static int run_child(struct ilb_child *child, const struct ilb_trial_plan *plan,
		     struct ilb_trial_run *run,
		     struct ilb_trial_summary *summary,
		     struct ilb_error *error)
{
	struct counting counting;
	uint64_t start;
	int err;

	counting_start(&counting, child->pid, summary);
	start = now();
	err = ilb_child_start(child, plan->command[0], error);
	if (!err)
		err = follow(child, plan, summary, error);
	run->ns = now() - start;
	counting_end(&counting, &run->perf, summary);
	summary->status = child->status;
	return err;
}

static int take_kicks(const struct ilb_trial_plan *plan,
		      struct ilb_trial_run *run, struct ilb_error *error)
{
	int err;

	if (!plan->watch)
		return 0;
	err = ilb_fix_watch_take(plan->watch, &run->kicks, error);
	run->kicks_known = !err && !run->kicks.lost;
	return err;
}

static int one_run(const struct ilb_trial_plan *plan,
		   struct ilb_trial_run *run,
		   struct ilb_trial_summary *summary, struct ilb_error *error)
{
	struct ilb_fix_state before, after;
	struct ilb_child child = { .pid = 0 };
	unsigned int i;
	int err;

	err = ilb_fix_write(plan->root, "enable", run->on ? "Y" : "N", error);
	if (!err)
		err = ilb_fix_read(&before, plan->root, error);
	if (!err)
		err = take_kicks(plan, run, error);	/* of before */
	if (!err)
		err = fork_command(&child, plan, error);
	if (!err)
		err = run_child(&child, plan, run, summary, error);
	if (!err)
		err = take_kicks(plan, run, error);
	if (!err)
		err = ilb_fix_read(&after, plan->root, error);
	for (i = 0; !err && i < ILB_FIX_COUNTERS; i++)
		run->count[i] = after.count[i] - before.count[i];
	return err;
}

int ilb_trial_run(const struct ilb_trial_plan *plan,
		  struct ilb_trial_run *runs,
		  struct ilb_trial_summary *summary,
		  struct ilb_error *error)
{
	unsigned int i;
	int err = 0;

	memset(summary, 0, sizeof(*summary));
	memset(runs, 0, 2 * plan->pairs * sizeof(*runs));
	for (i = 0; i < 2 * plan->pairs && !err; i++) {
		take_signals(plan, summary, 0);
		if (summary->signal)
			return 0;
		runs[i].on = plan->first[i / 2] ^ (i & 1);
		if (plan->progress)
			plan->progress(i, runs[i].on);
		err = one_run(plan, &runs[i], summary, error);
		if (err || summary->status || summary->signal)
			return err;
		summary->done++;
	}
	return err;
}
