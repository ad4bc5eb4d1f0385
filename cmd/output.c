// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a command prints: a file written whole, or stdout.
 *
 * Only a regular file is replaced. A device or a pipe is written as it is:
 * for root, a rename would put a file in the place of /dev/null.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"

static const char *remedy(int number)
{
	switch (number) {
	case ENOENT:
	case ENOTDIR:
		return "make its folder first";
	case EISDIR:
		return "name a file in it";
	case ENOSPC:
	case EDQUOT:
		return "make room, or choose another place with -o";
	default:
		return "choose another place with -o";
	}
}

/* For the reason that errno has. */
static int cannot_write(const struct ilb_output *out, struct ilb_error *error)
{
	int number = errno;

	if (out->path && !*out->path)
		return ilb_fail(error, ILB_ERR_NOENT,
				"-o '': is no name; name a file");
	return ilb_fail(error, ILB_ERR_IO, "%s: cannot write: %s; %s",
			out->path ? out->path : "standard output",
			strerror(number), remedy(number));
}

/* 1: to be replaced, or made; 0: to be written as it is; or an error. */
static int replaceable(const struct ilb_output *out, mode_t *mode,
		       struct ilb_error *error)
{
	struct stat st;

	if (stat(out->path, &st)) {
		*mode = umask(0);
		umask(*mode);
		*mode = 0666 & ~*mode;
		return errno == ENOENT && *out->path ?
		       1 : cannot_write(out, error);
	}
	*mode = st.st_mode & 0777;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return cannot_write(out, error);
	}
	/* What may not be written shall not be replaced either. */
	if (access(out->path, W_OK))
		return cannot_write(out, error);
	return S_ISREG(st.st_mode);
}

static int open_temporary(struct ilb_output *out, mode_t mode,
			  struct ilb_error *error)
{
	int fd;

	/* The file that a symbolic link names, not the link. */
	out->target = realpath(out->path, NULL);
	if (!out->target)
		out->target = strdup(out->path);
	if (!out->target ||
	    asprintf(&out->temporary, "%s.XXXXXX", out->target) < 0) {
		out->temporary = NULL;
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	}
	fd = mkstemp(out->temporary);
	if (fd < 0) {
		cannot_write(out, error);
		free(out->temporary);
		out->temporary = NULL;
		return -ILB_ERR_IO;
	}
	fchmod(fd, mode);
	out->file = fdopen(fd, "w");
	if (out->file)
		return 0;
	close(fd);
	return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
}

int ilb_output_open(struct ilb_output *out, const char *path,
		    struct ilb_error *error)
{
	mode_t mode;
	int err;

	*out = (struct ilb_output){ .path = path };
	if (!path) {
		out->file = stdout;
		return 0;
	}
	err = replaceable(out, &mode, error);
	if (err == 1) {
		err = open_temporary(out, mode, error);
	} else if (!err) {
		out->file = fopen(path, "w");
		err = out->file ? 0 : cannot_write(out, error);
	}
	if (err)
		ilb_output_abandon(out);
	return err;
}

/*
 * Flush. The reason of an earlier error is gone by then, and what could not be
 * written with it: one more byte meets the same.
 */
static int flush(FILE *file)
{
	if (fflush(file))
		return -1;
	if (!ferror(file))
		return 0;
	errno = EIO;
	if (fputc('\n', file) != EOF)
		fflush(file);
	return -1;
}

int ilb_output_close(struct ilb_output *out, struct ilb_error *error)
{
	int err = 0;

	if (flush(out->file) ||
	    (out->temporary && fsync(fileno(out->file))))
		err = cannot_write(out, error);
	if (!out->path)
		return err;
	if (fclose(out->file) && !err)
		err = cannot_write(out, error);
	out->file = NULL;
	if (!err && out->temporary) {
		if (rename(out->temporary, out->target)) {
			err = cannot_write(out, error);
		} else {
			free(out->temporary);
			out->temporary = NULL;
		}
	}
	ilb_output_abandon(out);
	return err;
}

void ilb_output_abandon(struct ilb_output *out)
{
	if (!out->path)
		return;
	if (out->file)
		fclose(out->file);
	if (out->temporary)
		unlink(out->temporary);
	free(out->temporary);
	free(out->target);
	out->temporary = NULL;
	out->target = NULL;
	out->file = NULL;
}

int ilb_output_finish(void)
{
	struct ilb_output out = { .file = stdout };
	struct ilb_error error;

	if (!ilb_output_close(&out, &error))
		return ILB_EXIT_OK;
	fprintf(stderr, "ilb: %s\n", error.text);
	return ILB_EXIT_INPUT;
}

unsigned int ilb_output_width(const struct ilb_output *out)
{
	struct winsize size;

	if (!isatty(fileno(out->file)))
		return 0;
	if (ioctl(fileno(out->file), TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

int ilb_output_colour(const struct ilb_output *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out->file)) && !(no && *no) &&
	       term && strcmp(term, "dumb");
}
