// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU, and the three things that come out of it: frames of the guest's first
 * process, the kernel's console, and QEMU's own complaints. The last two are
 * kept for the day when something goes wrong.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vm/vm.h"

#define TAIL		8192
#define TAIL_LINES	15

/* The descriptor that QEMU has for the console: not one of its own. */
#define CONSOLE_FD	10
#define INITRAMFS_FD	11

enum { FRAMES, CONSOLE, ERRORS, SIGNALS, SOURCES };

/** struct tail - the last bytes of a text */
struct tail {
	char text[TAIL + 1];
	size_t used;
};

struct guest {
	const struct ilb_vm_options *options;
	const struct ilb_boot *boot;
	struct ilb_vm_summary *summary;
	struct ilb_error *error;
	struct ilb_results results;
	pid_t pid;
	int fd[SOURCES];
	struct tail console, errors;
	struct timespec start;
	int err;	/* why it cannot go on */
	int done;	/* its last frame came */
	int booted;
	/* Of the current frame, and of the bytes not looked at yet. */
	struct ilb_frame head;
	size_t have, left;
	char buffer[ILB_FRAME_MAX];
	size_t next, end;
	/* A part of the archive that was asked for. */
	const void *part;
	size_t part_size;
};

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) +
	       (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void keep(struct tail *tail, const char *text, size_t size)
{
	size_t drop;

	if (size > TAIL) {
		text += size - TAIL;
		size = TAIL;
	}
	drop = tail->used + size > TAIL ? tail->used + size - TAIL : 0;
	memmove(tail->text, tail->text + drop, tail->used - drop);
	memcpy(tail->text + tail->used - drop, text, size);
	tail->used += size - drop;
	tail->text[tail->used] = '\0';
}

/* ---- frames ---- */

static void write_all(struct guest *g, int fd, const char *text, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, text, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			g->err = ilb_fail(g->error, ILB_ERR_IO,
					  "the command's output: %s",
					  strerror(errno));
			return;
		}
		text += n;
		size -= (size_t)n;
	}
}

static void say_booted(struct guest *g, const char *text, size_t size)
{
	char release[128];

	g->booted = 1;
	snprintf(release, sizeof(release), "%.*s", (int)size, text);
	if (g->options->booted)
		g->options->booted(release, g->boot->shape.cpus,
				   g->boot->emulated,
				   seconds_since(&g->start));
}

static void take(struct guest *g, const char *text, size_t size)
{
	switch (g->head.type) {
	case ILB_FRAME_BOOTED:
		say_booted(g, text, size);
		break;
	case ILB_FRAME_OUTPUT:
		write_all(g, STDOUT_FILENO, text, size);
		break;
	case ILB_FRAME_ERROR:
		write_all(g, STDERR_FILENO, text, size);
		break;
	case ILB_FRAME_FILES:
		g->part = text;
		g->part_size = size;
		break;
	case ILB_FRAME_NOTE:
		fprintf(stderr, "ilb vm: %.*s\n", (int)size, text);
		break;
	case ILB_FRAME_FAILED:
		g->err = ilb_fail(g->error, ILB_ERR_IO, "the guest: %.*s",
				  (int)size, text);
		break;
	case ILB_FRAME_EXIT:
		g->summary->status = (unsigned char)*text;
		g->done = 1;
		break;
	default:
		g->err = ilb_fail(g->error, ILB_ERR_FORMAT,
				  "the guest sent what is no frame");
	}
}

static int read_head(struct guest *g)
{
	size_t n = sizeof(g->head) - g->have;

	if (n > g->end - g->next)
		n = g->end - g->next;
	memcpy((char *)&g->head + g->have, g->buffer + g->next, n);
	g->next += n;
	g->have += n;
	if (g->have < sizeof(g->head))
		return 0;
	g->left = g->head.size;
	if (g->left && g->left <= ILB_FRAME_MAX)
		return 1;
	g->err = ilb_fail(g->error, ILB_ERR_FORMAT,
			  "the guest sent what is no frame");
	return 0;
}

/* Until a part of the archive is there, or no byte is left. */
static void read_frames(struct guest *g)
{
	size_t n;

	while (!g->err && !g->done && !g->part && g->next < g->end) {
		if (!g->left && !read_head(g))
			continue;
		n = g->end - g->next;
		if (n > g->left)
			n = g->left;
		if (n)
			take(g, g->buffer + g->next, n);
		g->next += n;
		g->left -= n;
		if (!g->left)
			g->have = 0;
	}
}

/* ---- what comes out ---- */

static const char *last_lines(const struct tail *tail)
{
	const char *at = tail->text + tail->used;
	int lines = 0;

	while (at > tail->text && lines <= TAIL_LINES)
		if (*--at == '\n')
			lines++;
	return lines > TAIL_LINES ? at + 1 : at;
}

static void show_console(const struct guest *g)
{
	const char *c;

	if (!g->console.used)
		return;
	fputs("ilb vm: the last lines of the guest's console:\n", stderr);
	for (c = last_lines(&g->console); *c; c++)
		if (*c == '\n' || *c == '\t' || (*c >= ' ' && *c != 0x7f))
			fputc(*c, stderr);
	if (g->console.text[g->console.used - 1] != '\n')
		fputc('\n', stderr);
}

static int line_of(const char *text)
{
	return (int)strcspn(text, "\r\n");
}

/* QEMU is gone before the last frame came. */
static int explain_end(struct guest *g)
{
	const char *text = strstr(g->console.text, "Kernel panic");

	if (!g->console.used && g->errors.used)
		return ilb_fail(g->error, ILB_ERR_IO, "%.*s",
				line_of(g->errors.text), g->errors.text);
	show_console(g);
	if (text)
		return ilb_fail(g->error, ILB_ERR_IO, "the guest: %.*s",
				line_of(text), text);
	text = strstr(g->console.text, "ilb: ");
	if (text)
		return ilb_fail(g->error, ILB_ERR_IO, "the guest: %.*s",
				line_of(text), text);
	if (g->errors.used)
		return ilb_fail(g->error, ILB_ERR_IO, "the guest ended: %.*s",
				line_of(g->errors.text), g->errors.text);
	return ilb_fail(g->error, ILB_ERR_IO, "the guest ended before the command did");
}

static void receive_frames(struct guest *g)
{
	ssize_t n = read(g->fd[FRAMES], g->buffer, sizeof(g->buffer));

	if (n < 0)
		return;
	if (!n) {
		close(g->fd[FRAMES]);
		g->fd[FRAMES] = -1;
		return;
	}
	g->next = 0;
	g->end = (size_t)n;
	read_frames(g);
}

static void receive_text(struct guest *g, int source, struct tail *tail)
{
	char text[4096];
	ssize_t n = read(g->fd[source], text, sizeof(text));

	if (n > 0)
		keep(tail, text, (size_t)n);
	if (n)
		return;
	close(g->fd[source]);
	g->fd[source] = -1;
}

static void receive_signal(struct guest *g)
{
	struct signalfd_siginfo info;

	if (read(g->fd[SIGNALS], &info, sizeof(info)) != sizeof(info))
		return;
	g->summary->status = 128 + (int)info.ssi_signo;
	g->err = ilb_fail(g->error, ILB_ERR_IO,
			  "interrupted; the guest was ended");
}

static int time_left_ms(struct guest *g)
{
	double left = g->options->timeout_s - seconds_since(&g->start);

	if (left > 0)
		return left > 1e6 ? 1000000000 : (int)(left * 1e3) + 1;
	show_console(g);
	g->summary->status = 124;
	g->err = ilb_fail(g->error, ILB_ERR_IO, g->booted ?
			  "the command did not end within %u s, the guest was ended; see --timeout" :
			  "the guest did not boot within %u s; see --timeout",
			  g->options->timeout_s);
	return 0;
}

/* Waits for something to come out of it; 0 at its end. */
static int pump(struct guest *g)
{
	struct pollfd p[SOURCES];
	int i, wait = time_left_ms(g);

	if (g->err || g->done)
		return 0;
	if (g->fd[FRAMES] < 0 && g->fd[CONSOLE] < 0 && g->fd[ERRORS] < 0) {
		g->err = explain_end(g);
		return 0;
	}
	for (i = 0; i < SOURCES; i++)
		p[i] = (struct pollfd){ .fd = g->fd[i], .events = POLLIN };
	if (poll(p, SOURCES, wait) <= 0)
		return 1;
	if (p[CONSOLE].revents)
		receive_text(g, CONSOLE, &g->console);
	if (p[ERRORS].revents)
		receive_text(g, ERRORS, &g->errors);
	if (p[FRAMES].revents)
		receive_frames(g);
	if (p[SIGNALS].revents)
		receive_signal(g);
	return !g->err;
}

static ssize_t next_part(void *context, const void **part)
{
	struct guest *g = context;

	read_frames(g);
	while (!g->part && !g->done && pump(g))
		;
	if (g->err)
		return -1;
	*part = g->part;
	g->part = NULL;
	return *part ? (ssize_t)g->part_size : 0;
}

static void follow(struct guest *g)
{
	struct ilb_error why = { "" };
	int err;

	while (!g->done && !g->part && pump(g))
		;
	if (g->err || g->done)
		return;
	err = ilb_results_read(&g->results, g->options->dir, next_part, g,
			       &why);
	if (!g->err && err) {
		g->err = err;
		*g->error = why;
	}
	/* libarchive ends with the archive: the status comes behind it. */
	while (!g->err && !g->done) {
		g->part = NULL;
		read_frames(g);
		if (!g->done && !g->part)
			pump(g);
	}
}

/* ---- its process ---- */

static void __attribute__((noreturn))
become_qemu(const struct guest *g, char **args, const int *out,
	    const sigset_t *mask)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* If ilb is killed, its guest ends, too. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	dup2(null, STDIN_FILENO);
	dup2(out[FRAMES], STDOUT_FILENO);
	dup2(out[ERRORS], STDERR_FILENO);
	dup2(out[CONSOLE], CONSOLE_FD);
	dup2(g->boot->initramfs, INITRAMFS_FD);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(args[0], args);
	dprintf(STDERR_FILENO, "%s: %s\n", args[0], strerror(errno));
	_exit(127);
}

static int start(struct guest *g, char **args, const sigset_t *mask)
{
	int i, pair[2], out[SIGNALS] = { -1, -1, -1 }, failed = 0;

	for (i = 0; i < SIGNALS && !failed; i++) {
		failed = pipe2(pair, O_CLOEXEC);
		if (failed)
			break;
		/* Above those that QEMU gets, so that none covers another. */
		g->fd[i] = pair[0];
		out[i] = fcntl(pair[1], F_DUPFD_CLOEXEC, INITRAMFS_FD + 1);
		close(pair[1]);
	}
	if (!failed)
		g->pid = fork();
	if (!failed && !g->pid)
		become_qemu(g, args, out, mask);
	for (i = 0; i < SIGNALS; i++)
		if (out[i] >= 0)
			close(out[i]);
	if (!failed && g->pid > 0)
		return 0;
	g->pid = 0;
	return ilb_fail(g->error, ILB_ERR_IO, "no process for QEMU: %s",
			strerror(errno));
}

static void end(struct guest *g)
{
	int i;

	if (g->pid) {
		kill(g->pid, SIGKILL);
		waitpid(g->pid, NULL, 0);
	}
	for (i = 0; i < SOURCES; i++)
		if (g->fd[i] >= 0)
			close(g->fd[i]);
}

static int block_signals(struct guest *g, sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, before);
	g->fd[SIGNALS] = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (g->fd[SIGNALS] >= 0)
		return 0;
	return ilb_fail(g->error, ILB_ERR_IO, "signals: %s", strerror(errno));
}

static void run(struct guest *g, struct ilb_boot *boot)
{
	struct ilb_args args = { 0 };
	int initramfs = boot->initramfs;
	sigset_t before;

	g->err = block_signals(g, &before);
	boot->initramfs = INITRAMFS_FD;
	boot->console = CONSOLE_FD;
	ilb_qemu_args(boot, &args);
	boot->initramfs = initramfs;
	if (args.failed)
		g->err = ilb_fail(g->error, ILB_ERR_NOMEM, "out of memory");
	clock_gettime(CLOCK_MONOTONIC, &g->start);
	if (!g->err)
		g->err = start(g, args.list, &before);
	if (!g->err)
		follow(g);
	end(g);
	ilb_args_free(&args);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int ilb_guest_run(const struct ilb_vm_options *options, struct ilb_boot *boot,
		  struct ilb_vm_summary *summary, struct ilb_error *error)
{
	struct guest *g = calloc(1, sizeof(*g));
	int i, err;

	if (!g)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	g->options = options;
	g->boot = boot;
	g->summary = summary;
	g->error = error;
	for (i = 0; i < SOURCES; i++)
		g->fd[i] = -1;
	run(g, boot);
	err = g->err;
	if (!err)
		err = ilb_results_publish(&g->results, error);
	summary->files = g->results.files;
	if (err && g->done)
		summary->status = 125;
	ilb_results_discard(&g->results);
	free(g);
	return err;
}
