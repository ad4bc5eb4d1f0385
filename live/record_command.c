// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command is forked before the recording and held back by a pipe, so that
 * tracing starts right before it does, and setting up costs it nothing.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/record.h"

int ilb_wait_status(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 125;
}

static void run(char *const *command, const sigset_t *mask, int go, int failed)
{
	char byte;
	int why;

	/* The end of the pipe without a byte: the recording failed. */
	if (read(go, &byte, 1) != 1)
		_exit(125);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	why = errno;
	if (write(failed, &why, sizeof(why)) < 0)
		_exit(126);
	_exit(127);
}

int ilb_child_prepare(struct ilb_child *child, char *const *command,
		      const sigset_t *mask, struct ilb_error *error)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC))
		return ilb_fail(error, ILB_ERR_IO, "%s: no pipe: %s",
				command[0], strerror(errno));
	if (pipe2(failed, O_CLOEXEC)) {
		ilb_fail(error, ILB_ERR_IO, "%s: no pipe: %s", command[0],
			 strerror(errno));
		close(go[0]);
		close(go[1]);
		return -ILB_ERR_IO;
	}
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);
		close(failed[0]);
		run(command, mask, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	child->go = go[1];
	child->failed = failed[0];
	if (child->pid > 0)
		return 0;
	ilb_fail(error, ILB_ERR_IO, "%s: no process for it: %s", command[0],
		 strerror(errno));
	child->pid = 0;
	close(go[1]);
	close(failed[0]);
	return -ILB_ERR_IO;
}

static void reap(struct ilb_child *child)
{
	int status = 0;
	pid_t got;

	do
		got = waitpid(child->pid, &status, 0);
	while (got < 0 && errno == EINTR);
	child->status = got == child->pid ? ilb_wait_status(status) : 125;
	child->pid = 0;
}

int ilb_child_start(struct ilb_child *child, const char *name,
		    struct ilb_error *error)
{
	int why = 0;
	ssize_t n;

	/* SIGPIPE is no risk: it holds the other end until exec. */
	n = write(child->go, "", 1);
	close(child->go);
	if (n == 1)
		do
			n = read(child->failed, &why, sizeof(why));
		while (n < 0 && errno == EINTR);
	close(child->failed);
	child->go = child->failed = -1;
	if (n != (ssize_t)sizeof(why))
		return 0;
	reap(child);
	child->status = why == ENOENT ? 127 : 126;
	return ilb_fail(error, ILB_ERR_NOENT, "%s: cannot run it: %s", name,
			strerror(why));
}

int ilb_child_ended(struct ilb_child *child)
{
	int status;

	if (!child->pid || waitpid(child->pid, &status, WNOHANG) !=
	    child->pid)
		return 0;
	child->status = ilb_wait_status(status);
	child->pid = 0;
	return 1;
}

void ilb_child_abandon(struct ilb_child *child)
{
	if (!child->pid || child->go < 0)
		return;
	close(child->go);
	close(child->failed);
	child->go = child->failed = -1;
	reap(child);
}

int ilb_record_wait(struct ilb_record_summary *summary)
{
	struct ilb_child child = { .pid = summary->command };

	if (!summary->command)
		return summary->status;
	reap(&child);
	summary->command = 0;
	summary->status = child.status;
	return child.status;
}
