/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_REPORT_TEXT_H
#define ILB_REPORT_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include "ilb/report.h"

/**
 * DOC: text - output for people
 *
 * Everything goes through ilb_text_*() and ilb_table_*(), which keep two
 * promises: only printable ASCII comes out, whatever a task calls itself;
 * and nothing is cut: long lines are wrapped, wide tables are split. An error
 * is kept in @err and makes the rest of the calls do nothing.
 */

/**
 * struct ilb_text - where text goes, and how
 * @out: a stream in memory: output that fails halfway is never seen
 * @width: where lines are wrapped
 * @columns: of the terminal; 0: not one, tables may be of any width
 * @colour: 1: severities are coloured
 * @needs: what all that is unknown needs; NULL: each says so itself
 * @err: 0, or the first error
 * @paragraph, @content, @size, @used, @indent: of the paragraph being built
 */
struct ilb_text {
	FILE *out;
	unsigned int width;
	unsigned int columns;
	int colour;
	const char *needs;
	int err;

	FILE *paragraph;
	char *content;
	size_t size;
	unsigned int used, indent;
};

/** struct ilb_word - a formatted number, for use within one expression */
struct ilb_word {
	char text[32];
};

/** ilb_print_clean() - every byte that is not printable ASCII becomes '?' */
void ilb_print_clean(char *string);

/**
 * ilb_print_begin() - start a paragraph
 * @used: columns that are taken on its first line already
 * @indent: of its further lines
 *
 * Then any number of ilb_print_add(), which are joined as they are, and
 * ilb_print_end(), which wraps and ends the last line.
 */
void ilb_print_begin(struct ilb_text *text, unsigned int used,
		    unsigned int indent);
void ilb_print_add(struct ilb_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void ilb_print_end(struct ilb_text *text);

/** ilb_print_line() - a whole paragraph, indented by @indent. */
void ilb_print_line(struct ilb_text *text, unsigned int indent,
		   const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** ilb_print_title() - an empty line and the name of a section. */
void ilb_print_title(struct ilb_text *text, const char *title);

/** ilb_print_value() - "  name     value", wrapped below the value. */
void ilb_print_value(struct ilb_text *text, const char *name,
		    const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** ilb_print_unknown() - a value that is unknown, and what would tell it. */
void ilb_print_unknown(struct ilb_text *text, const char *name,
		      const char *needs);

/** ilb_print_needs() - @needs, or what all need */
const char *ilb_print_needs(const struct ilb_text *text, const char *needs);

/** ilb_print_count() - a value: @part and its share of @whole (0: no share). */
void ilb_print_count(struct ilb_text *text, const char *name, uint64_t part,
		    uint64_t whole);

/** ilb_print_severity() - the word, coloured if wanted; returns its length. */
unsigned int ilb_print_severity(struct ilb_text *text,
			       enum ilb_severity severity, const char *word);

/**
 * ilb_word_share() - "3.1 %"; "0 %" and "100 %" are said only of none and all,
 * "unknown" of a part of nothing
 */
struct ilb_word ilb_word_share(uint64_t part, uint64_t whole);

/** ilb_word_time() - "999 ns", "12.3 us", "4.5 ms", "6.78 s" */
struct ilb_word ilb_word_time(uint64_t ns);

/** ilb_word_rate() - "55.3"; @seconds not 0 */
struct ilb_word ilb_word_rate(uint64_t count, double seconds);

#define ILB_TABLE_COLUMNS	16
#define ILB_TABLE_CELL		48

/** struct ilb_column - of a table; numbers stand on the right */
struct ilb_column {
	const char *heading;
	int right;
};

/**
 * struct ilb_table - a table being filled, row by row
 *
 * If it is too wide for the terminal it is printed as several tables, each
 * with the first @keys columns.
 */
struct ilb_table {
	const struct ilb_column *column;
	unsigned int columns, keys;
	char (*cell)[ILB_TABLE_CELL];
	size_t cells, room;
	int err;
};

void ilb_table_begin(struct ilb_table *table, const struct ilb_column *column,
		     unsigned int columns, unsigned int keys);

/** ilb_table_add() - the next cell, from left to right, then the next row. */
void ilb_table_add(struct ilb_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** ilb_table_end() - print and free. */
void ilb_table_end(struct ilb_table *table, struct ilb_text *text);

/** ilb_histogram_print() - "[2, 4)   12 |@@@   |", in microseconds. */
void ilb_histogram_print(struct ilb_text *text, const struct ilb_hist *hist);

/* The sections, in the order of the report. */
void ilb_verdict_print(struct ilb_text *text, const struct ilb_report *report);
void ilb_findings_print(struct ilb_text *text,
			const struct ilb_findings *findings);
void ilb_kicks_print(struct ilb_text *text,
		     const struct ilb_measures *measures);
void ilb_runs_print(struct ilb_text *text, const struct ilb_measures *measures);
void ilb_system_print(struct ilb_text *text, const struct ilb_report *report);
void ilb_victims_print(struct ilb_text *text,
		       const struct ilb_measures *measures);
void ilb_domains_print(struct ilb_text *text, const struct ilb_report *report);

/** ilb_stat_print() - all of a stat but its header. */
void ilb_stat_print(struct ilb_text *text, const struct ilb_report *report);

void ilb_assumed_print(struct ilb_text *text, const struct ilb_report *report);

/** ilb_replay_print() - all of a replay between header and assumptions. */
void ilb_replay_print(struct ilb_text *text, const struct ilb_report *report);

#endif
