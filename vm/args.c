// SPDX-License-Identifier: GPL-2.0-only
/* Lists of arguments; running a program. */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vm/vm.h"

#define OUTPUT_MAX	(1UL << 20)

static void add(struct ilb_args *args, char *text)
{
	char **list = NULL;

	if (text)
		list = realloc(args->list, (args->nr + 2) * sizeof(*list));
	if (!list) {
		free(text);
		args->failed = 1;
		return;
	}
	list[args->nr++] = text;
	list[args->nr] = NULL;
	args->list = list;
}

void ilb_args_add(struct ilb_args *args, const char *format, ...)
{
	va_list list;
	char *text;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		text = NULL;
	va_end(list);
	add(args, text);
}

void ilb_args_add_all(struct ilb_args *args, const char *const *list)
{
	for (; *list; list++)
		add(args, strdup(*list));
}

void ilb_args_free(struct ilb_args *args)
{
	unsigned int i;

	for (i = 0; i < args->nr; i++)
		free(args->list[i]);
	free(args->list);
	memset(args, 0, sizeof(*args));
}

static void __attribute__((noreturn))
become(const struct ilb_args *args, const char *dir, int out)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	if (dir && chdir(dir))
		_exit(126);
	execvp(args->list[0], args->list);
	_exit(errno == ENOENT ? 127 : 126);
}

static char *read_all(int fd)
{
	size_t used = 0;
	ssize_t n = 1;
	char *text;

	text = malloc(OUTPUT_MAX + 1);
	while (text && n && used < OUTPUT_MAX) {
		n = read(fd, text + used, OUTPUT_MAX - used);
		if (n > 0)
			used += (size_t)n;
		else if (n < 0 && errno != EINTR)
			break;
	}
	if (text)
		text[used] = '\0';
	return text;
}

static int judge(const struct ilb_args *args, pid_t pid,
		 struct ilb_error *error)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return ilb_fail(error, ILB_ERR_IO, "%s: %s",
					args->list[0], strerror(errno));
	if (WIFSIGNALED(status))
		return ilb_fail(error, ILB_ERR_IO, "%s: ended by signal %d",
				args->list[0], WTERMSIG(status));
	if (WEXITSTATUS(status) == 127)
		return ilb_fail(error, ILB_ERR_NOENT, "%s: no such program",
				args->list[0]);
	if (WEXITSTATUS(status))
		return ilb_fail(error, ILB_ERR_IO, "%s: ended with status %d",
				args->list[0], WEXITSTATUS(status));
	return 0;
}

int ilb_args_run(const struct ilb_args *args, const char *dir, char **output,
		 struct ilb_error *error)
{
	int out[2] = { -1, STDERR_FILENO }, err;
	pid_t pid;

	if (args->failed)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	if (output && pipe2(out, O_CLOEXEC))
		return ilb_fail(error, ILB_ERR_IO, "no pipe: %s",
				strerror(errno));
	pid = fork();
	if (!pid)
		become(args, dir, out[1]);
	if (output)
		close(out[1]);
	if (pid > 0 && output)
		*output = read_all(out[0]);
	if (output)
		close(out[0]);
	if (pid < 0)
		return ilb_fail(error, ILB_ERR_IO, "no process: %s",
				strerror(errno));
	err = judge(args, pid, error);
	if (output && (err || !*output)) {
		free(*output);
		*output = NULL;
		return err ? err : ilb_fail(error, ILB_ERR_NOMEM,
					    "out of memory");
	}
	return err;
}
