/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_ERROR_H
#define ILB_ERROR_H

/**
 * enum ilb_err - what can go wrong; functions return these negated
 * @ILB_ERR_SYNTAX: text that is not of the expected form; correct it
 * @ILB_ERR_RANGE: a number outside its allowed range; the message names both
 * @ILB_ERR_NOENT: a file or an entry does not exist; check the path
 * @ILB_ERR_IO: the system refused to open, read or write; the message has why
 * @ILB_ERR_FORMAT: a file is damaged or not of the expected format; record it
 *                  again, or convert it
 * @ILB_ERR_MISMATCH: two inputs contradict each other (a CPU of the trace is
 *                    not in the topology); the message names both values
 * @ILB_ERR_UNSUPPORTED: valid, but this build or this system cannot do it
 * @ILB_ERR_PERM: not permitted; the message names the capability that would do
 * @ILB_ERR_NOMEM: out of memory
 * @ILB_ERR_BUG: an assumption of this library failed; please report it
 */
enum ilb_err {
	ILB_ERR_SYNTAX = 1,
	ILB_ERR_RANGE,
	ILB_ERR_NOENT,
	ILB_ERR_IO,
	ILB_ERR_FORMAT,
	ILB_ERR_MISMATCH,
	ILB_ERR_UNSUPPORTED,
	ILB_ERR_PERM,
	ILB_ERR_NOMEM,
	ILB_ERR_BUG,
};

/** struct ilb_error - one line for people: object, step, reason, remedy */
struct ilb_error {
	char text[512];
};

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_strerror() - a constant phrase for @err (either sign); never NULL. */
const char *ilb_strerror(int err);

/**
 * ilb_fail() - write the line of an error and return its code
 * @error: where to; may be NULL
 * @err: an enum ilb_err
 * @format: printf's, without a newline; "OBJECT: REASON; REMEDY"
 *
 * Control characters that come from input are replaced by '?', so that a
 * line stays one line.
 *
 * Returns -@err, so that a caller can write return ilb_fail(...).
 */
int ilb_fail(struct ilb_error *error, enum ilb_err err, const char *format,
	     ...) __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif
#endif
