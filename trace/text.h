/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TRACE_TEXT_H
#define ILB_TRACE_TEXT_H

/*
 * Inside of the text reader: text.c reads lines, text_line.c finds who, where
 * and when in one, text_args.c reads the arguments of an event.
 */

#include <stddef.h>
#include <string.h>

#include "ilb/event.h"

#define ILB_TEXT_LINE_MAX	4096	/* without the newline */

/**
 * enum ilb_text_line - what a line is
 * @ILB_TEXT_UNPARSED: not understood
 * @ILB_TEXT_BLANK: empty, or a comment
 * @ILB_TEXT_HEADER: says that this is a trace, but is no event ("cpus=16")
 * @ILB_TEXT_EVENT: an event
 * @ILB_TEXT_ARGS: an event of known name, but unreadable arguments
 * @ILB_TEXT_LOST: lost events; time_ns is 0 if the line does not tell it
 */
enum ilb_text_line {
	ILB_TEXT_UNPARSED,
	ILB_TEXT_BLANK,
	ILB_TEXT_HEADER,
	ILB_TEXT_EVENT,
	ILB_TEXT_ARGS,
	ILB_TEXT_LOST,
};

/**
 * struct ilb_text - a piece of a line, not NUL-terminated
 *
 * Readers move @p behind what they took, and leave it where it was if they
 * found something else.
 */
struct ilb_text {
	const char *p;
	const char *end;
};

/**
 * ilb_text_line() - read one line, in any of the formats
 * @line: without its newline; any bytes
 * @event: always written, all of it; an event only if the answer says so
 *
 * Returns an enum ilb_text_line. With ILB_TEXT_ARGS @event is an
 * ILB_EVENT_OTHER: time, CPU and pid are right.
 */
int ilb_text_line(const char *line, size_t len, struct ilb_event *event);

/**
 * ilb_text_args() - type and arguments of an event
 * @system: empty where the format does not print it
 * @args: without blanks at either end
 * @event: its type and u are written; they are zero before
 *
 * Returns ILB_TEXT_EVENT or ILB_TEXT_ARGS.
 */
int ilb_text_args(struct ilb_text system, struct ilb_text name,
		  struct ilb_text args, struct ilb_event *event);

/** ilb_text_event_type() - of an event by name; ILB_EVENT_OTHER: of none. */
uint32_t ilb_text_event_type(const char *system, const char *name);

static inline int ilb_text_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline int ilb_text_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static inline void ilb_text_skip_blanks(struct ilb_text *text)
{
	while (text->p < text->end && ilb_text_blank(*text->p))
		text->p++;
}

/** ilb_text_skip() - step over @word, of @len bytes; 0: it is not there. */
static inline int ilb_text_skip(struct ilb_text *text, const char *word,
				size_t len)
{
	if ((size_t)(text->end - text->p) < len || memcmp(text->p, word, len))
		return 0;
	text->p += len;
	return 1;
}

#define ILB_TEXT_SKIP(text, literal) \
	ilb_text_skip(text, literal, sizeof(literal) - 1)

/** ilb_text_decimal() - digits up to @max; 0: none there, or too large. */
static inline int ilb_text_decimal(struct ilb_text *text, uint64_t max,
				   uint64_t *value)
{
	const char *p = text->p;
	uint64_t v = 0, digit;

	for (; p < text->end && ilb_text_digit(*p); p++) {
		digit = (uint64_t)(*p - '0');
		if (v > (max - digit) / 10)
			return 0;
		v = v * 10 + digit;
	}
	if (p == text->p)
		return 0;
	text->p = p;
	*value = v;
	return 1;
}

#endif
