// SPDX-License-Identifier: GPL-2.0-only
/* Small files, read whole under a size limit. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/file.h"

#define FIRST_SIZE	16384U

struct buffer {
	char *text;
	size_t length, room;	/* room is without the place of the NUL */
};

static int open_file(const char *path, struct ilb_error *error)
{
	int fd;

	/* O_NONBLOCK: opening a FIFO would wait for its writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == ENOTDIR)
		return ilb_fail(error, ILB_ERR_NOENT, "%s: no such file", path);
	return ilb_fail(error, ILB_ERR_IO,
			"%s: cannot open: %s; check the path and its permissions",
			path, strerror(errno));
}

/* How much to make room for at first; the limit where that is more. */
static int first_room(size_t *room, const char *path, int fd, size_t max,
		      struct ilb_error *error)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ilb_fail(error, ILB_ERR_IO, "%s: cannot stat: %s", path,
				strerror(errno));
	if (!S_ISREG(st.st_mode))
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: is not a file; name a file", path);
	*room = FIRST_SIZE;
	if (st.st_size > 0 && (unsigned long long)st.st_size >= FIRST_SIZE)
		*room = (unsigned long long)st.st_size > max ?
			max + 1 : (size_t)st.st_size + 1;
	/* One byte more than allowed, to see that the file goes on. */
	if (*room > max)
		*room = max + 1;
	return 0;
}

static int make_room(struct buffer *b, size_t room)
{
	char *text = realloc(b->text, room + 1);

	if (!text)
		return -ILB_ERR_NOMEM;
	b->text = text;
	b->room = room;
	return 0;
}

/* Until the end of the file, or until it is over its limit. */
static int fill(struct buffer *b, int fd, size_t max)
{
	ssize_t n;

	while (b->length <= max) {
		if (b->length == b->room &&
		    make_room(b, b->room > max / 2 ? max + 1 : b->room * 2))
			return -ILB_ERR_NOMEM;
		n = read(fd, b->text + b->length, b->room - b->length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -ILB_ERR_IO;
		if (!n)
			break;
		b->length += (size_t)n;
	}
	b->text[b->length] = '\0';
	return 0;
}

static int read_text(struct buffer *b, const char *path, int fd, size_t max,
		     struct ilb_error *error)
{
	size_t room = 0;
	int err;

	err = first_room(&room, path, fd, max, error);
	if (err)
		return err;
	err = make_room(b, room);
	if (!err)
		err = fill(b, fd, max);
	if (err == -ILB_ERR_IO)
		return ilb_fail(error, ILB_ERR_IO,
				"%s: cannot read: %s; see that it is there until the end",
				path, strerror(errno));
	if (err)
		return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
				path);
	if (b->length > max)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: is larger than the %zu KiB that such a file may have; name another",
				path, max / 1024);
	if (memchr(b->text, 0, b->length))
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: is not text: it has a NUL byte; name a text file", path);
	return 0;
}

int ilb_file_read(char **text, size_t *size, const char *path, size_t max,
		  struct ilb_error *error)
{
	struct buffer b = { NULL, 0, 0 };
	int fd, err;

	fd = open_file(path, error);
	if (fd < 0)
		return fd;
	err = read_text(&b, path, fd, max, error);
	close(fd);
	if (err) {
		free(b.text);
		return err;
	}
	*text = b.text;
	if (size)
		*size = b.length;
	return 0;
}
