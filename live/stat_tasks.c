// SPDX-License-Identifier: GPL-2.0-only
/* How long tasks had run, from /proc/PID/task/TID/schedstat, by pid. */

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/stat.h"

#define TASKS_MAX	65536U

static int make_room(struct ilb_runtimes *r)
{
	size_t room = r->room ? 2 * r->room : 1024;
	struct ilb_runtime *task;

	if (r->nr < r->room)
		return 0;
	if (room > TASKS_MAX)
		return -1;
	task = reallocarray(r->task, room, sizeof(*task));
	if (!task)
		return -1;
	r->task = task;
	r->room = room;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct ilb_runtime *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void scan_task(struct ilb_runtimes *r, int threads, const char *name)
{
	char path[32], line[64] = "";
	uint64_t ns;
	ssize_t n;
	int fd;

	if (*name < '1' || *name > '9' || strlen(name) > 10)
		return;
	snprintf(path, sizeof(path), "%.10s/schedstat", name);
	fd = openat(threads, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0 || sscanf(line, "%" SCNu64, &ns) != 1 || make_room(r))
		return;
	r->task[r->nr].pid = (int32_t)strtol(name, NULL, 10);
	r->task[r->nr++].ns = ns;
}

static void scan_threads(struct ilb_runtimes *r, const char *name)
{
	char path[32];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.10s/task", name);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		scan_task(r, dirfd(dir), entry->d_name);
	closedir(dir);
}

void ilb_runtimes_scan(struct ilb_runtimes *runtimes)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	runtimes->nr = 0;
	if (!proc)
		return;
	while ((entry = readdir(proc)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9')
			scan_threads(runtimes, entry->d_name);
	closedir(proc);
	if (runtimes->nr)
		qsort(runtimes->task, runtimes->nr, sizeof(*runtimes->task),
		      by_pid);
}

struct ilb_runtime *ilb_runtimes_find(const struct ilb_runtimes *runtimes,
				      int32_t pid)
{
	const struct ilb_runtime key = { .pid = pid };

	if (!runtimes->nr)
		return NULL;
	return bsearch(&key, runtimes->task, runtimes->nr,
		       sizeof(*runtimes->task), by_pid);
}

void ilb_runtimes_set(struct ilb_runtimes *runtimes, int32_t pid, uint64_t ns)
{
	struct ilb_runtime *task = ilb_runtimes_find(runtimes, pid);
	size_t at = runtimes->nr;

	if (task) {
		task->ns = ns;
		return;
	}
	if (make_room(runtimes))
		return;
	for (task = runtimes->task; at && task[at - 1].pid > pid; at--)
		task[at] = task[at - 1];
	task[at].pid = pid;
	task[at].ns = ns;
	runtimes->nr++;
}
