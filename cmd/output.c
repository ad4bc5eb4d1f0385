// SPDX-License-Identifier: GPL-2.0-only
/* Where a command prints: a file written whole, or stdout. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"

static int cannot_write(const struct ilb_output *out, struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_IO, "%s: cannot write: %s",
			out->path ? out->path : "standard output",
			strerror(errno));
}

int ilb_output_open(struct ilb_output *out, const char *path,
		    struct ilb_error *error)
{
	int fd;

	out->path = path;
	out->temporary = NULL;
	out->file = stdout;
	if (!path)
		return 0;
	if (asprintf(&out->temporary, "%s.XXXXXX", path) < 0) {
		out->temporary = NULL;
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	}
	fd = mkstemp(out->temporary);
	out->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (out->file) {
		fchmod(fd, 0644);
		return 0;
	}
	cannot_write(out, error);
	if (fd >= 0)
		close(fd);
	else
		out->temporary[0] = '\0';
	ilb_output_abandon(out);
	return -ILB_ERR_IO;
}

int ilb_output_close(struct ilb_output *out, struct ilb_error *error)
{
	int failed = fflush(out->file) || ferror(out->file);

	if (!out->path)
		return failed ? cannot_write(out, error) : 0;
	failed = failed || fsync(fileno(out->file));
	failed |= fclose(out->file) != 0;
	out->file = NULL;
	if (failed || rename(out->temporary, out->path)) {
		cannot_write(out, error);
		ilb_output_abandon(out);
		return -ILB_ERR_IO;
	}
	free(out->temporary);
	out->temporary = NULL;
	return 0;
}

void ilb_output_abandon(struct ilb_output *out)
{
	if (!out->path)
		return;
	if (out->file)
		fclose(out->file);
	if (out->temporary && out->temporary[0])
		unlink(out->temporary);
	free(out->temporary);
	out->temporary = NULL;
	out->file = NULL;
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
	const char *no = getenv("NO_COLOR");

	return isatty(fileno(out->file)) && !(no && *no);
}
