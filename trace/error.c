// SPDX-License-Identifier: GPL-2.0-only
/* The one line that people see when something fails. */

#include <stdarg.h>
#include <stdio.h>

#include "ilb/error.h"

static const char *const phrases[] = {
	[0] = "no error",
	[ILB_ERR_SYNTAX] = "wrong syntax",
	[ILB_ERR_RANGE] = "number out of range",
	[ILB_ERR_NOENT] = "does not exist",
	[ILB_ERR_IO] = "input/output error",
	[ILB_ERR_FORMAT] = "damaged, or not of the expected format",
	[ILB_ERR_MISMATCH] = "inputs contradict each other",
	[ILB_ERR_UNSUPPORTED] = "not supported here",
	[ILB_ERR_PERM] = "not permitted",
	[ILB_ERR_NOMEM] = "out of memory",
	[ILB_ERR_BUG] = "internal error: please report it",
};

const char *ilb_strerror(int err)
{
	unsigned int i = err < 0 ? 0U - (unsigned int)err : (unsigned int)err;

	return i < sizeof(phrases) / sizeof(phrases[0]) ? phrases[i] :
							  "unknown error";
}

int ilb_fail(struct ilb_error *error, enum ilb_err err, const char *format,
	     ...)
{
	unsigned char *c;
	va_list args;

	if (!error)
		return -(int)err;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	for (c = (unsigned char *)error->text; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			*c = '?';
	return -(int)err;
}
