// SPDX-License-Identifier: GPL-2.0-only
/*
 * A capture in the making has another name, beside its own; it is renamed
 * when all of it is on disk. Only folders that hold nothing but what ilb
 * writes are moved away or removed for it.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/record.h"
#include "trace/file.h"

#define COPY_MAX	(64UL << 20)

static int no_memory(struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
}

static int cannot(const char *path, const char *step, struct ilb_error *error)
{
	return ilb_fail(error, errno == EACCES || errno == EPERM ?
			ILB_ERR_PERM : ILB_ERR_IO, "%s: cannot %s: %s", path,
			step, strerror(errno));
}

static int is_part(const char *name)
{
	static const char *const names[] = {
		"trace.dat", "trace.txt", "moments", "topology.xml",
		"system.json", "schedstat.before", "schedstat.after",
		"softirqs.before", "softirqs.after", ".", "..",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

/* 1 if @path is a folder with parts of a capture and nothing else. */
static int is_capture(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int good = 1;

	if (!dir)
		return 0;
	while (good && (entry = readdir(dir)))
		good = is_part(entry->d_name);
	closedir(dir);
	return good;
}

/* Folders in it are not followed: then it stays. */
static void remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(path);
}

static int check_name(const struct ilb_folder *folder, struct ilb_error *error)
{
	struct stat st;

	if (lstat(folder->path, &st))
		return 0;
	if (!folder->force)
		return ilb_fail(error, ILB_ERR_MISMATCH,
				"%s: exists; give another name with -o, or --force to move it to %s.old",
				folder->path, folder->path);
	if (S_ISDIR(st.st_mode) && is_capture(folder->path))
		return 0;
	return ilb_fail(error, ILB_ERR_MISMATCH,
			"%s: exists and is more than a capture; --force does not move it: give another name with -o",
			folder->path);
}

int ilb_folder_create(struct ilb_folder *folder, const char *path, int force,
		      struct ilb_error *error)
{
	size_t n = strlen(path);
	int err;

	while (n > 1 && path[n - 1] == '/')
		n--;
	folder->force = force;
	folder->path = strndup(path, n);
	if (!folder->path)
		return no_memory(error);
	err = check_name(folder, error);
	if (err)
		return err;
	if (asprintf(&folder->temporary, "%s.ilb-%ld", folder->path,
		     (long)getpid()) < 0) {
		folder->temporary = NULL;
		return no_memory(error);
	}
	if (!mkdir(folder->temporary, 0777))
		return 0;
	err = cannot(folder->temporary, "make it", error);
	free(folder->temporary);
	folder->temporary = NULL;
	return err;
}

static int write_all(int fd, const char *text, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, text, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

int ilb_folder_write(const struct ilb_folder *folder, const char *name,
		     const char *text, size_t size, struct ilb_error *error)
{
	char *path;
	int fd, err = 0;

	if (asprintf(&path, "%s/%s", folder->temporary, name) < 0)
		return no_memory(error);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || write_all(fd, text, size))
		err = cannot(path, "write", error);
	if (fd >= 0 && close(fd) && !err)
		err = cannot(path, "write", error);
	free(path);
	return err;
}

int ilb_folder_copy(const struct ilb_folder *folder, const char *name,
		    const char *from, struct ilb_error *error)
{
	size_t size;
	char *text;
	int err;

	if (access(from, F_OK))
		return 0;
	err = ilb_file_read(&text, &size, from, COPY_MAX, error);
	if (err)
		return err;
	err = ilb_folder_write(folder, name, text, size, error);
	free(text);
	return err;
}

/* ---- publishing ---- */

static int sync_at(int at, const char *name, int flags)
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags);
	int err;

	if (fd < 0)
		return -1;
	err = fsync(fd);
	close(fd);
	return err;
}

static int sync_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return -1;
	while (!err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			err = sync_at(dirfd(dir), entry->d_name, 0);
	if (!err)
		err = fsync(dirfd(dir));
	closedir(dir);
	return err;
}

/* DIR becomes DIR.old, and an older one goes. */
static int move_away(const struct ilb_folder *folder, struct ilb_error *error)
{
	char *old;
	int err = 0;

	if (!folder->force || access(folder->path, F_OK))
		return 0;
	if (asprintf(&old, "%s.old", folder->path) < 0)
		return no_memory(error);
	if (!access(old, F_OK) && is_capture(old))
		remove_folder(old);
	if (rename(folder->path, old))
		err = cannot(old, "move the earlier capture there", error);
	free(old);
	return err;
}

static void sync_parent(const char *path)
{
	char *parent = strdup(path), *slash = parent ? strrchr(parent, '/') :
						       NULL;

	if (slash)
		slash[slash == parent] = '\0';
	if (parent)
		sync_at(AT_FDCWD, slash ? parent : ".", O_DIRECTORY);
	free(parent);
}

int ilb_folder_publish(struct ilb_folder *folder, struct ilb_error *error)
{
	int err;

	if (sync_folder(folder->temporary))
		return cannot(folder->temporary, "write", error);
	err = move_away(folder, error);
	if (err)
		return err;
	if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path,
		      RENAME_NOREPLACE) &&
	    (errno != EINVAL || rename(folder->temporary, folder->path)))
		return cannot(folder->path, "rename the capture", error);
	sync_parent(folder->path);
	free(folder->temporary);
	folder->temporary = NULL;
	return 0;
}

void ilb_folder_discard(struct ilb_folder *folder)
{
	if (folder->temporary)
		remove_folder(folder->temporary);
	free(folder->temporary);
	free(folder->path);
	folder->temporary = folder->path = NULL;
}
