// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables through libsmartcols. Left to itself it drops columns that do not
 * fit a terminal; here they go into a further table instead.
 */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <libsmartcols.h>

#include "ilb/error.h"
#include "report/text.h"

#define INDENT		2
#define SEPARATOR	"  "

void ilb_table_begin(struct ilb_table *table, const struct ilb_column *column,
		     unsigned int columns, unsigned int keys)
{
	memset(table, 0, sizeof(*table));
	table->column = column;
	table->columns = columns;
	table->keys = keys;
}

static int make_room(struct ilb_table *table)
{
	size_t room = table->room ? 2 * table->room : 128;
	char (*cell)[ILB_TABLE_CELL];

	if (table->cells < table->room)
		return 0;
	cell = reallocarray(table->cell, room, sizeof(*cell));
	if (!cell)
		return -ILB_ERR_NOMEM;
	table->cell = cell;
	table->room = room;
	return 0;
}

void ilb_table_add(struct ilb_table *table, const char *format, ...)
{
	va_list args;
	char *cell;

	if (!table->err)
		table->err = make_room(table);
	if (table->err)
		return;
	cell = table->cell[table->cells++];
	va_start(args, format);
	vsnprintf(cell, ILB_TABLE_CELL, format, args);
	va_end(args);
	ilb_print_clean(cell);
}

/* The first column of @row; a row that was not completed does not count. */
static size_t rows_of(const struct ilb_table *table)
{
	return table->cells / table->columns;
}

static unsigned int width_of(const struct ilb_table *table, unsigned int column)
{
	size_t width = strlen(table->column[column].heading), length, row;

	for (row = 0; row < rows_of(table); row++) {
		length = strlen(table->cell[row * table->columns + column]);
		if (length > width)
			width = length;
	}
	return (unsigned int)width;
}

/* The columns of one printed table: the keys, and first to last - 1. */
struct slice {
	unsigned int index[ILB_TABLE_COLUMNS];
	unsigned int nr;
};

static unsigned int cut_slice(const struct ilb_table *table,
			      struct slice *slice, unsigned int from,
			      unsigned int room)
{
	unsigned int width = INDENT, next, i;

	slice->nr = 0;
	for (i = 0; i < table->keys; i++) {
		width += width_of(table, i) + (unsigned int)strlen(SEPARATOR);
		slice->index[slice->nr++] = i;
	}
	for (i = from; i < table->columns; i++) {
		next = width + width_of(table, i);
		if (room && next > room && i > from)
			break;
		width = next + (unsigned int)strlen(SEPARATOR);
		slice->index[slice->nr++] = i;
	}
	return i;
}

static int add_columns(struct libscols_table *scols,
		       const struct ilb_table *table, const struct slice *slice)
{
	const struct ilb_column *column;
	unsigned int i;

	for (i = 0; i < slice->nr; i++) {
		column = &table->column[slice->index[i]];
		if (!scols_table_new_column(scols, column->heading, 0,
					    column->right ? SCOLS_FL_RIGHT : 0))
			return -ILB_ERR_NOMEM;
	}
	return 0;
}

static int add_rows(struct libscols_table *scols, const struct ilb_table *table,
		    const struct slice *slice)
{
	struct libscols_line *line;
	const char *cell;
	unsigned int i;
	size_t row;

	for (row = 0; row < rows_of(table); row++) {
		line = scols_table_new_line(scols, NULL);
		if (!line)
			return -ILB_ERR_NOMEM;
		for (i = 0; i < slice->nr; i++) {
			cell = table->cell[row * table->columns +
					   slice->index[i]];
			if (scols_line_set_data(line, i, cell))
				return -ILB_ERR_NOMEM;
		}
	}
	return 0;
}

static void print_lines(struct ilb_text *text, const char *lines)
{
	size_t length;

	while (*lines) {
		length = strcspn(lines, "\n");
		fprintf(text->out, "%*s%.*s\n", INDENT, "", (int)length,
			lines);
		lines += length;
		lines += *lines == '\n';
	}
}

static int print_slice(struct ilb_text *text, const struct ilb_table *table,
		       const struct slice *slice)
{
	struct libscols_table *scols = scols_new_table();
	char *lines = NULL;
	int err;

	if (!scols)
		return -ILB_ERR_NOMEM;
	scols_table_set_termforce(scols, SCOLS_TERMFORCE_NEVER);
	scols_table_enable_ascii(scols, 1);
	scols_table_enable_noencoding(scols, 1);
	err = scols_table_set_column_separator(scols, SEPARATOR);
	if (!err)
		err = add_columns(scols, table, slice);
	if (!err)
		err = add_rows(scols, table, slice);
	if (!err)
		err = scols_print_table_to_string(scols, &lines);
	if (!err && lines)
		print_lines(text, lines);
	free(lines);
	scols_unref_table(scols);
	return err ? -ILB_ERR_NOMEM : 0;
}

void ilb_table_end(struct ilb_table *table, struct ilb_text *text)
{
	unsigned int next = table->keys;
	struct slice slice;

	if (!text->err)
		text->err = table->err;
	while (!text->err && next < table->columns && rows_of(table)) {
		if (next > table->keys)
			fputc('\n', text->out);
		next = cut_slice(table, &slice, next, text->columns);
		text->err = print_slice(text, table, &slice);
	}
	free(table->cell);
	table->cell = NULL;
}
