/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TRACE_FILE_H
#define ILB_TRACE_FILE_H

#include <stddef.h>

#include "ilb/error.h"

/**
 * ilb_file_read() - a small text file, whole
 * @text: set to its content, NUL-terminated; free() it
 * @size: set to its length without that NUL; may be NULL
 * @path: the file; also for messages
 * @max: a longer file is an error, and is not kept in memory
 *
 * Reads /proc and /sys too, which tell no size. Never waits: a FIFO, a device
 * or a folder is an error. A file with a NUL byte is no text, hence an error.
 *
 * Returns 0, -ILB_ERR_NOENT, -ILB_ERR_IO, -ILB_ERR_FORMAT or -ILB_ERR_NOMEM.
 */
int ilb_file_read(char **text, size_t *size, const char *path, size_t max,
		  struct ilb_error *error);

#endif
