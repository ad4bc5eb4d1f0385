// SPDX-License-Identifier: GPL-2.0-only
/* Two outputs of ilb stat --json, side by side; a NUL is between them. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ilb/stat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const void *data, size_t size, char *path, size_t room)
{
	int fd = memfd_create("stat", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, room, "/proc/self/fd/%d", fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *second = memchr(data, 0, size);
	size_t first = second ? (size_t)(second - data) : size;
	struct ilb_error error = { "" };
	char a[32], b[32], *text = NULL;
	size_t length;
	int fd[2], err;
	FILE *out;

	second = second ? second + 1 : data;
	fd[0] = file_of(data, first, a, sizeof(a));
	fd[1] = file_of(second, (size_t)(data + size - second), b, sizeof(b));
	out = open_memstream(&text, &length);
	if (!out)
		abort();
	err = ilb_stat_diff(out, a, b, 80, &error);
	fclose(out);
	if (err ? !error.text[0] || strchr(error.text, '\n') : !length)
		abort();
	free(text);
	close(fd[0]);
	close(fd[1]);
	return 0;
}
