/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_DAT_FILE_H
#define ILB_TESTS_UNIT_DAT_FILE_H

/* Samples of trace.dat: found, read, and written changed. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "dat_format.h"
#include "trace/source.h"

#define DAT_MAX		(64U << 10)	/* bytes in a sample */

/* A sample in memory, and a file to write it to. */
struct dat_file {
	unsigned char data[DAT_MAX];
	size_t size;
	int fd;
	char path[32];
};

static inline const char *dat_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, ILB_GOLDEN "/dat/%s", name);
	return path;
}

static inline void dat_load(struct dat_file *f, const char *name)
{
	char path[256];
	FILE *file = fopen(dat_path(path, sizeof(path), name), "re");

	if (!file)
		fail_msg("cannot open %s", path);
	f->size = fread(f->data, 1, sizeof(f->data), file);
	assert_true(f->size && f->size < sizeof(f->data));
	fclose(file);
	f->fd = memfd_create("sample", MFD_CLOEXEC);
	assert_true(f->fd >= 0);
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
}

/* Write the first @size bytes of it. */
static inline void dat_store(struct dat_file *f, size_t size)
{
	assert_int_equal(ftruncate(f->fd, 0), 0);
	assert_int_equal(pwrite(f->fd, f->data, size, 0), (ssize_t)size);
}

#endif
