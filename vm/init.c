// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first process of a guest: runs one command, hands its output, its status
 * and the files in /work to the host, and ends the machine.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vm/init.h"

#define WORK		"/work"
#define ARGUMENTS_MAX	4096
#define STRAGGLE_MS	5000
#define LINGER_S	20

/* Ends the machine; before there is a port, through the console. */
static void __attribute__((noreturn, format(printf, 2, 3)))
give_up(int port, const char *format, ...)
{
	char line[400];
	va_list args;
	int fd;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (port >= 0)
		ilb_port_say(port, ILB_FRAME_FAILED, "%s", line);
	fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		dprintf(fd, "<2>ilb: %s\n", line);
	sleep(port >= 0 ? LINGER_S : 1);
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void mount_all(void)
{
	static const struct {
		const char *type, *where, *options;
	} mounts[] = {
		{ "devtmpfs", "/dev", NULL },
		{ "proc", "/proc", NULL },
		{ "sysfs", "/sys", NULL },
		{ "tracefs", "/sys/kernel/tracing", NULL },
		{ "debugfs", "/sys/kernel/debug", NULL },
		{ "bpf", "/sys/fs/bpf", NULL },
		{ "cgroup2", "/sys/fs/cgroup", NULL },
		{ "tmpfs", "/tmp", NULL },
		{ "tmpfs", "/run", NULL },
		{ "tmpfs", "/dev/shm", NULL },
		{ "tmpfs", WORK, "size=75%" },
	};
	size_t i;

	mkdir("/dev/shm", 01777);
	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].where, 0755);
		/* A kernel may lack some; who needs one will say so. */
		mount(mounts[i].type, mounts[i].where, mounts[i].type, 0,
		      mounts[i].options);
	}
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

static void open_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

static void load(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) &&
		       errno != EEXIST))
		give_up(-1, "module %s: %s", name, strerror(errno));
	close(fd);
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void load_modules(void)
{
	struct dirent **names;
	int folder, n, i;

	n = scandir("/" ILB_GUEST_MODULES, &names, visible, alphasort);
	folder = open("/" ILB_GUEST_MODULES,
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; i < n; i++)
		load(folder, names[i]->d_name);
	close(folder);
}

/* ---- the command ---- */

static char **read_command(int port)
{
	static char text[1 << 20], *arguments[ARGUMENTS_MAX + 1];
	int fd = open("/" ILB_GUEST_COMMAND, O_RDONLY | O_CLOEXEC), n = 0;
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text));
	char *c;

	if (size <= 0 || text[size - 1])
		give_up(port, "no command");
	for (c = text; c < text + size && n < ARGUMENTS_MAX; n++) {
		arguments[n] = c;
		c += strlen(c) + 1;
	}
	close(fd);
	return arguments;
}

static void __attribute__((noreturn)) become(char **command)
{
	int why;

	setsid();
	if (chdir(WORK))
		_exit(125);
	execvp(command[0], command);
	why = errno;
	dprintf(STDERR_FILENO, "ilb vm: %s: cannot run it in the guest: %s\n",
		command[0], strerror(why));
	_exit(why == ENOENT ? 127 : 126);
}

static pid_t start(int port, char **command, int out[2], int err[2])
{
	sigset_t none;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		give_up(port, "no pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		give_up(port, "no process: %s", strerror(errno));
	if (!pid) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		become(command);
	}
	close(out[1]);
	close(err[1]);
	return pid;
}

/* Returns 0 when there will be no more. */
static int forward(int port, int fd, enum ilb_frame_type type)
{
	static char buffer[ILB_FRAME_MAX - sizeof(struct ilb_frame)];
	ssize_t n = read(fd, buffer, sizeof(buffer));

	if (n > 0)
		ilb_port_send(port, type, buffer, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static void forward_ready(int port, struct pollfd *p)
{
	static const enum ilb_frame_type types[] = {
		ILB_FRAME_OUTPUT, ILB_FRAME_ERROR,
	};
	int i;

	for (i = 0; i < 2; i++)
		if (p[i].revents && !forward(port, p[i].fd, types[i]))
			p[i].fd = -1;
}

/* Reaps whatever ended; 1 and the status if the command is among them. */
static int reap(pid_t command, int *status)
{
	int one, seen = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &one, WNOHANG)) > 0) {
		if (pid != command)
			continue;
		seen = 1;
		*status = WIFEXITED(one) ? WEXITSTATUS(one) :
					   128 + WTERMSIG(one);
	}
	return seen;
}

static void on_child(int signal)
{
	(void)signal;
}

/*
 * SIGCHLD is only open while ppoll() waits, so none is missed. What the
 * command leaves running ends with it.
 */
static int attend(int port, pid_t command, int out, int err)
{
	struct pollfd p[2] = {
		{ .fd = out, .events = POLLIN },
		{ .fd = err, .events = POLLIN },
	};
	const struct timespec straggle = { .tv_sec = STRAGGLE_MS / 1000 };
	int status = 125, ended = 0, n;
	sigset_t open_mask;

	sigemptyset(&open_mask);
	for (;;) {
		if (!ended && reap(command, &status)) {
			ended = 1;
			kill(-1, SIGKILL);
		}
		if (ended && p[0].fd < 0 && p[1].fd < 0)
			return status;
		n = ppoll(p, 2, ended ? &straggle : NULL, &open_mask);
		if (n > 0)
			forward_ready(port, p);
		if (!n)
			return status;
	}
}

static void install_busybox(void)
{
	char *const command[] = {
		(char *)"busybox", (char *)"--install", (char *)"-s",
		(char *)"/bin", NULL,
	};
	pid_t pid;

	if (access("/bin/busybox", X_OK))
		return;
	pid = fork();
	if (!pid) {
		execv("/bin/busybox", command);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static void note_full(int port)
{
	struct statvfs fs;

	if (!statvfs(WORK, &fs) && !fs.f_bavail)
		ilb_port_say(port, ILB_FRAME_NOTE,
			     "the guest's " WORK " is full; give it more --memory");
}

static void prepare(void)
{
	struct sigaction act = { .sa_handler = on_child };
	sigset_t child;

	mount_all();
	open_standard_files();
	load_modules();
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	sigaction(SIGCHLD, &act, NULL);
	setenv("PATH", "/bin:/sbin:/usr/bin:/usr/sbin", 1);
	setenv("HOME", "/tmp", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", "dumb", 1);
}

int main(void)
{
	int port, out[2], err[2];
	struct utsname name;
	unsigned char code;
	pid_t pid;

	prepare();
	port = ilb_port_open();
	if (port < 0)
		give_up(-1, "no virtio port: is virtio_console missing?");
	install_busybox();
	uname(&name);
	ilb_port_send(port, ILB_FRAME_BOOTED, name.release,
		      strlen(name.release));
	pid = start(port, read_command(port), out, err);
	code = (unsigned char)attend(port, pid, out[0], err[0]);
	note_full(port);
	ilb_files_send(port, WORK);
	ilb_port_send(port, ILB_FRAME_EXIT, &code, 1);
	/* The host ends us when it has read that. */
	sleep(LINGER_S);
	reboot(RB_POWER_OFF);
	return 0;
}
