// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumped buffers become a trace.dat. No released libtracecmd has a public
 * writer, so trace-cmd does it: it adds formats of events, names of functions
 * and names of tasks, which it takes from the running kernel.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/record.h"

#define PROGRAM	"trace-cmd"

/* 1 if @dir/PROGRAM can be run; @dir has @n characters. */
static int is_there(const char *dir, size_t n)
{
	char *path;
	int there;

	if (asprintf(&path, "%.*s/" PROGRAM, (int)n, n ? dir : ".") < 0)
		return 0;
	there = !access(path, X_OK);
	free(path);
	return there;
}

int ilb_assemble_check(struct ilb_error *error)
{
	const char *dir = getenv("PATH");
	size_t n;

	if (!dir)
		dir = "/bin:/usr/bin";
	for (;; dir += n + 1) {
		n = strcspn(dir, ":");
		if (is_there(dir, n))
			return 0;
		if (!dir[n])
			break;
	}
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			PROGRAM ": is not in PATH, and makes the trace.dat; install the package trace-cmd");
}

/* Its own words go to @out; a signal for ilb is none for it. */
static void child(char **argv, const char *folder, int out)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir(folder) || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(126);
	execvp(argv[0], argv);
	_exit(127);
}

static int run(char **argv, const char *folder, int out)
{
	int status = 0;
	pid_t pid, got;

	pid = fork();
	if (!pid)
		child(argv, folder, out);
	if (pid < 0)
		return 125;
	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	return got == pid ? ilb_wait_status(status) : 125;
}

/* The last line that it printed says why. */
static void last_line(char *line, size_t size, int out)
{
	char text[1024], *start;
	off_t end = lseek(out, 0, SEEK_END);
	ssize_t n;

	snprintf(line, size, "it does not say why");
	if (end <= 0)
		return;
	n = pread(out, text, sizeof(text) - 1,
		  end > (off_t)sizeof(text) - 1 ?
		  end - (off_t)sizeof(text) + 1 : 0);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	if (n <= 0)
		return;
	text[n] = '\0';
	start = strrchr(text, '\n');
	snprintf(line, size, "%.*s", (int)size - 1, start ? start + 1 : text);
}

static int judge(const char *folder, int status, uint64_t at_least, int out,
		 struct ilb_error *error)
{
	char line[200], *path;
	struct stat st = { .st_size = 0 };

	if (asprintf(&path, "%s/trace.dat", folder) < 0)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	/* It does not notice every write that fails. */
	if (!status && !stat(path, &st) && (uint64_t)st.st_size > at_least) {
		free(path);
		return 0;
	}
	last_line(line, sizeof(line), out);
	ilb_fail(error, ILB_ERR_IO,
		 "%s: %s restore failed (status %d, %lld of %llu bytes): %s; is there space for twice the events?",
		 path, PROGRAM, status, (long long)st.st_size,
		 (unsigned long long)at_least, line);
	free(path);
	return -ILB_ERR_IO;
}

static char **make_argv(unsigned int nr_cpus)
{
	static const char *const first[] = { PROGRAM, "restore", "-o",
					     "trace.dat" };
	char **argv = calloc(nr_cpus + 5, sizeof(*argv));
	char (*names)[16] = calloc(nr_cpus, sizeof(*names));
	unsigned int cpu;

	if (!argv || !names) {
		free(argv);
		free(names);
		return NULL;
	}
	for (cpu = 0; cpu < 4; cpu++)
		argv[cpu] = (char *)first[cpu];
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		snprintf(names[cpu], sizeof(names[cpu]), "cpu%u", cpu);
		argv[4 + cpu] = names[cpu];
	}
	return argv;
}

static void remove_parts(const char *folder, char **names)
{
	char *path;

	for (; *names; names++) {
		if (asprintf(&path, "%s/%s", folder, *names) < 0)
			return;
		unlink(path);
		free(path);
	}
}

int ilb_assemble(const char *folder, unsigned int nr_cpus, uint64_t at_least,
		 struct ilb_error *error)
{
	char **argv = make_argv(nr_cpus);
	int out, err;

	if (!argv)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	out = memfd_create("ilb", MFD_CLOEXEC);
	err = judge(folder, run(argv, folder, out), at_least, out, error);
	if (!err)
		remove_parts(folder, argv + 4);
	if (out >= 0)
		close(out);
	free(argv[4]);
	free(argv);
	return err;
}
