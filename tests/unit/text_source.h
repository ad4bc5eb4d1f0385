/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_TEXT_SOURCE_H
#define ILB_TESTS_UNIT_TEXT_SOURCE_H

/* Text as a source, and a file as text; after test.h. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/source.h"

struct bytes {
	char *p;
	size_t len;
};

static inline struct bytes load(const char *name)
{
	struct bytes bytes = { NULL, 0 };
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/text/%s", ILB_GOLDEN, name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s: cannot open", path);
	bytes.p = malloc(1 << 20);
	assert_non_null(bytes.p);
	bytes.len = fread(bytes.p, 1, 1 << 20, file);
	assert_in_range(bytes.len, 1, (1 << 20) - 1);
	bytes.p[bytes.len] = 0;
	fclose(file);
	return bytes;
}

static inline struct ilb_source *open_fd(int fd)
{
	struct ilb_source *source;
	struct ilb_error error;

	assert_int_equal(ilb_text_open(&source, "x.txt", fd, 0, 64, &error), 0);
	return source;
}

/* Closed by the source. */
static inline struct ilb_source *open_bytes(const char *p, size_t len)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	assert_true(fd > 0);
	assert_int_equal(write(fd, p, len), len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return open_fd(fd);
}

static inline int next(struct ilb_source *source, struct ilb_event *event)
{
	struct ilb_error error;

	return source->ops->next(source, event, &error);
}

#endif
