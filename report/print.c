// SPDX-License-Identifier: GPL-2.0-only
/* Paragraphs and values: wrapped, clean ASCII. See report/text.h. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "report/needs.h"
#include "report/text.h"

#define NAME_WIDTH	24
#define VALUE_INDENT	(2 + NAME_WIDTH + 2)

void ilb_print_clean(char *string)
{
	for (; *string; string++)
		if (*string < 0x20 || *string > 0x7e)
			*string = '?';
}

/* "3.1 %" and "12.0 us" stay together: is the blank at @blank inside one? */
static int joins_unit(const char *string, size_t blank)
{
	static const char *const units[] = { "%", "ns", "us", "ms", "s" };
	const char *after = string + blank + 1;
	size_t length, i;

	if (!blank || string[blank - 1] < '0' || string[blank - 1] > '9')
		return 0;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		length = strlen(units[i]);
		if (!strncmp(after, units[i], length) &&
		    (!after[length] || strchr(" ,.;)", after[length])))
			return 1;
	}
	return 0;
}

/*
 * How much of @string goes on a line with room for @room bytes: up to a
 * blank, or all that there is room for in a word that is longer.
 */
static size_t piece_of(const char *string, size_t room)
{
	size_t n = room;

	if (strlen(string) <= room)
		return strlen(string);
	while (n > 0 && (string[n] != ' ' || joins_unit(string, n)))
		n--;
	while (n > 0 && string[n - 1] == ' ')
		n--;
	return n ? n : room;
}

static void print_wrapped(struct ilb_text *text, const char *string)
{
	unsigned int used = text->used;
	size_t length;

	for (;;) {
		length = piece_of(string, text->width > used + 1 ?
						  text->width - used : 1);
		fprintf(text->out, "%.*s\n", (int)length, string);
		string += length;
		string += strspn(string, " ");
		if (!*string)
			return;
		fprintf(text->out, "%*s", (int)text->indent, "");
		used = text->indent;
	}
}

void ilb_print_begin(struct ilb_text *text, unsigned int used,
		    unsigned int indent)
{
	if (text->err)
		return;
	text->used = used;
	text->indent = indent;
	text->paragraph = open_memstream(&text->content, &text->size);
	if (!text->paragraph)
		text->err = -ILB_ERR_NOMEM;
}

static void add_v(struct ilb_text *text, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void add_v(struct ilb_text *text, const char *format, va_list args)
{
	if (text->paragraph)
		vfprintf(text->paragraph, format, args);
}

void ilb_print_add(struct ilb_text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_v(text, format, args);
	va_end(args);
}

void ilb_print_end(struct ilb_text *text)
{
	if (!text->paragraph)
		return;
	if (ferror(text->paragraph))
		text->err = -ILB_ERR_NOMEM;
	if (fclose(text->paragraph))
		text->err = -ILB_ERR_NOMEM;
	text->paragraph = NULL;
	if (!text->err) {
		ilb_print_clean(text->content);
		print_wrapped(text, text->content);
	}
	free(text->content);
	text->content = NULL;
}

void ilb_print_line(struct ilb_text *text, unsigned int indent,
		   const char *format, ...)
{
	va_list args;

	ilb_print_begin(text, indent, indent);
	if (text->err)
		return;
	fprintf(text->out, "%*s", (int)indent, "");
	va_start(args, format);
	add_v(text, format, args);
	va_end(args);
	ilb_print_end(text);
}

void ilb_print_title(struct ilb_text *text, const char *title)
{
	if (!text->err)
		fprintf(text->out, "\n%s\n", title);
}

void ilb_print_value(struct ilb_text *text, const char *name,
		    const char *format, ...)
{
	va_list args;

	ilb_print_begin(text, VALUE_INDENT, VALUE_INDENT);
	if (text->err)
		return;
	fprintf(text->out, "  %-*s  ", NAME_WIDTH, name);
	va_start(args, format);
	add_v(text, format, args);
	va_end(args);
	ilb_print_end(text);
}

const char *ilb_print_needs(const struct ilb_text *text, const char *needs)
{
	return text->needs ? text->needs : needs;
}

void ilb_print_unknown(struct ilb_text *text, const char *name,
		      const char *needs)
{
	ilb_print_value(text, name, "unknown: needs %s",
			ilb_print_needs(text, needs));
}

void ilb_print_count(struct ilb_text *text, const char *name, uint64_t part,
		    uint64_t whole)
{
	if (whole)
		ilb_print_value(text, name, "%" PRIu64 " (%s)", part,
			       ilb_word_share(part, whole).text);
	else
		ilb_print_value(text, name, "%" PRIu64, part);
}

unsigned int ilb_print_severity(struct ilb_text *text,
			       enum ilb_severity severity, const char *word)
{
	static const char *const colours[] = {
		[ILB_UNKNOWN] = "\033[2m",
		[ILB_INFO] = "\033[36m",
		[ILB_WARNING] = "\033[33m",
		[ILB_SERIOUS] = "\033[1;31m",
	};

	if (text->err)
		return 0;
	if (text->colour)
		fprintf(text->out, "%s%s\033[0m", colours[severity], word);
	else
		fputs(word, text->out);
	return (unsigned int)strlen(word);
}
