// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cpio archive (newc): the simplest format that libarchive reads. Folders,
 * files and symbolic links go in; a file that grows meanwhile is cut, one that
 * shrinks is filled with zeros.
 */

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/init.h"

#define FOLDERS_OPEN	32
#define CHUNK		(ILB_FRAME_MAX - sizeof(struct ilb_frame))

/* nftw() has no argument to carry these. */
static int out;
static size_t skip;

static void send_padded(const void *data, size_t size, size_t sent)
{
	static const char zeros[4];

	ilb_port_send(out, ILB_FRAME_FILES, data, size);
	sent += size;
	if (sent % 4)
		ilb_port_send(out, ILB_FRAME_FILES, zeros, 4 - sent % 4);
}

static void send_head(const char *name, mode_t mode, time_t when, size_t size)
{
	static unsigned int inode;
	char head[111];
	size_t length = strlen(name) + 1;

	inode++;
	snprintf(head, sizeof(head),
		 "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		 inode, mode, 0U, 0U, 1U, (unsigned int)when,
		 (unsigned int)size, 0U, 0U, 0U, 0U, (unsigned int)length, 0U);
	ilb_port_send(out, ILB_FRAME_FILES, head, 110);
	send_padded(name, length, 110);
}

static void send_content(int fd, size_t size)
{
	static char buffer[CHUNK];
	size_t left, n;
	ssize_t got;

	for (left = size; left; left -= n) {
		n = left < sizeof(buffer) ? left : sizeof(buffer);
		got = read(fd, buffer, n);
		if (got <= 0)
			memset(buffer, 0, n);
		else
			n = (size_t)got;
		ilb_port_send(out, ILB_FRAME_FILES, buffer, n);
	}
	if (size % 4)
		ilb_port_send(out, ILB_FRAME_FILES, "\0\0\0", 4 - size % 4);
}

static void send_file(const char *path, const struct stat *st)
{
	int fd;

	if (st->st_size > UINT_MAX) {
		ilb_port_say(out, ILB_FRAME_NOTE,
			     "%s: left in the guest: files of 4 GB or more do not come out",
			     path + skip);
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	send_head(path + skip, st->st_mode, st->st_mtime, (size_t)st->st_size);
	send_content(fd, (size_t)st->st_size);
	close(fd);
}

static void send_link(const char *path, const struct stat *st)
{
	char to[PATH_MAX];
	ssize_t n = readlink(path, to, sizeof(to));

	if (n <= 0)
		return;
	send_head(path + skip, st->st_mode, st->st_mtime, (size_t)n);
	send_padded(to, (size_t)n, 0);
}

static int visit(const char *path, const struct stat *st, int type,
		 struct FTW *where)
{
	if (!where->level)
		return 0;
	if (type == FTW_D || type == FTW_DNR)
		send_head(path + skip, st->st_mode, st->st_mtime, 0);
	else if (S_ISREG(st->st_mode))
		send_file(path, st);
	else if (S_ISLNK(st->st_mode))
		send_link(path, st);
	return 0;
}

void ilb_files_send(int port, const char *path)
{
	out = port;
	skip = strlen(path) + 1;
	nftw(path, visit, FOLDERS_OPEN, FTW_PHYS);
	send_head("TRAILER!!!", 0, 0, 0);
}
