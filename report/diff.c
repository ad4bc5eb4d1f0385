// SPDX-License-Identifier: GPL-2.0-only
/* Two JSON outputs side by side: the table of a cover letter. */

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "ilb/stat.h"
#include "report/text.h"
#include "report/view.h"

#define SIZE_MAX_READ	(64L << 20)

/* What is compared. A count is divided by the seconds that were watched. */
struct row {
	const char *name;
	const char *object, *key, *sub;
	int count;
};

static const struct row rows[] = {
	{ "kicks/s", "kicks", "total", NULL, 1 },
	{ "on a busy core/s", "kicks", "on_busy_core", NULL, 1 },
	{ "avoidable/s", "kicks", "avoidable", NULL, 1 },
	{ "dropped/s", "kicks", "dropped", NULL, 1 },
	{ "idle cores woken/s", "kicks", "idle_cores_woken", NULL, 1 },
	{ "runs/s", "runs", "total", NULL, 1 },
	{ "latency, mean us", "runs", "latency_us", "mean", 0 },
	{ "latency, p99 us", "runs", "latency_us", "p99", 0 },
	{ "duration, mean us", "runs", "duration_us", "mean", 0 },
	{ "duration, p99 us", "runs", "duration_us", "p99", 0 },
	{ "siblings disturbed, us/s", "runs", "disturbed_us", NULL, 1 },
	{ "left idle, sibling busy/s", "contention", "busy_sibling", NULL, 1 },
	{ "left idle, sibling idle/s", "contention", "idle_sibling", NULL, 1 },
	{ "SCHED softirqs/s", "softirq", "sched", NULL, 1 },
	{ "time in them, us/s", "softirq", "sched_time_us", NULL, 1 },
	{ "CPUs busy, %", "utilisation", "busy_pct", NULL, 0 },
};

/* Is there more than white space? It is skipped. */
static int more(FILE *file)
{
	int c;

	do
		c = getc(file);
	while (c == ' ' || c == '\t' || c == '\r' || c == '\n');
	return ungetc(c, file) != EOF && ftell(file) < SIZE_MAX_READ;
}

/* The last of the objects in a file. */
static int load(json_t **root, const char *path, struct ilb_error *error)
{
	FILE *file = fopen(path, "re");
	json_error_t why = { .line = 0 };
	json_t *next = NULL;

	*root = NULL;
	if (!file)
		return ilb_fail(error, errno == ENOENT ? ILB_ERR_NOENT :
				ILB_ERR_IO, "%s: %s", path, strerror(errno));
	while (more(file)) {
		next = json_loadf(file, JSON_DISABLE_EOF_CHECK, &why);
		json_decref(*root);
		*root = next;
		if (!next)
			break;
	}
	fclose(file);
	if (json_is_object(*root))
		return 0;
	json_decref(*root);
	*root = NULL;
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: line %d: %s; give it what 'ilb stat --json' printed",
			path, why.line, why.text[0] ? why.text : "no object");
}

/* Returns 1 if @row is known in @root. */
static int value_of(double *value, const json_t *root, const struct row *row)
{
	const json_t *at = json_object_get(root, row->object);
	double seconds = json_number_value(json_object_get(
			json_object_get(root, "capture"), "duration_s"));

	at = json_object_get(at, row->key);
	if (row->sub)
		at = json_object_get(at, row->sub);
	if (!json_is_number(at) || (row->count && !(seconds > 0)))
		return 0;
	*value = json_number_value(at) / (row->count ? seconds : 1);
	return 1;
}

static void add_values(struct ilb_table *table, int has_a, double a, int has_b,
		       double b)
{
	if (has_a)
		ilb_table_add(table, "%.2f", a);
	else
		ilb_table_add(table, "unknown");
	if (has_b)
		ilb_table_add(table, "%.2f", b);
	else
		ilb_table_add(table, "unknown");
	if (has_a && has_b && a > 0)
		ilb_table_add(table, "%.2fx", b / a);
	else if (has_a && has_b && b <= 0)
		ilb_table_add(table, "1.00x");
	else
		ilb_table_add(table, "-");
}

static void add_rows(struct ilb_table *table, const json_t *a, const json_t *b)
{
	double x = 0, y = 0;
	int has_x, has_y;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		has_x = value_of(&x, a, &rows[i]);
		has_y = value_of(&y, b, &rows[i]);
		if (!has_x && !has_y)
			continue;
		ilb_table_add(table, "%s", rows[i].name);
		add_values(table, has_x, x, has_y, y);
	}
}

/* ---- load balancing: domains of the same name, level and idle type ---- */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static int same(const json_t *x, const json_t *y)
{
	return !strcmp(text_of(x, "name"), text_of(y, "name")) &&
	       !strcmp(text_of(x, "idle_type"), text_of(y, "idle_type")) &&
	       json_integer_value(json_object_get(x, "level")) ==
	       json_integer_value(json_object_get(y, "level"));
}

static const json_t *find_same(const json_t *array, const json_t *as)
{
	size_t i;

	for (i = 0; i < json_array_size(array); i++)
		if (same(json_array_get(array, i), as))
			return json_array_get(array, i);
	return NULL;
}

static void add_domains(struct ilb_table *table, const json_t *a,
			const json_t *b)
{
	const json_t *array = json_object_get(a, "domains"), *x, *y;
	size_t i;

	for (i = 0; i < json_array_size(array); i++) {
		x = json_array_get(array, i);
		y = find_same(json_object_get(b, "domains"), x);
		if (!y)
			continue;
		x = json_object_get(x, "per_second");
		y = json_object_get(y, "per_second");
		ilb_table_add(table, "LB/s, %.14s %.10s",
			      text_of(json_array_get(array, i), "name"),
			      text_of(json_array_get(array, i), "idle_type"));
		add_values(table, json_is_number(x), json_number_value(x),
			   json_is_number(y), json_number_value(y));
	}
}

static int print(FILE *out, const json_t *a, const json_t *b,
		 unsigned int width, int *empty)
{
	static const struct ilb_column columns[] = {
		{ "", 0 }, { "A", 1 }, { "B", 1 }, { "B/A", 1 },
	};
	struct ilb_text text = { .out = out, .columns = width };
	struct ilb_table table;

	ilb_table_begin(&table, columns, 4, 1);
	add_rows(&table, a, b);
	add_domains(&table, a, b);
	*empty = !table.cells;
	ilb_table_end(&table, &text);
	if (!text.err && (fflush(out) || ferror(out)))
		text.err = -ILB_ERR_IO;
	return text.err;
}

int ilb_stat_diff(FILE *out, const char *a, const char *b,
		  unsigned int width, struct ilb_error *error)
{
	json_t *x = NULL, *y = NULL;
	int err, empty = 0;

	err = load(&x, a, error);
	if (!err)
		err = load(&y, b, error);
	if (!err) {
		err = print(out, x, y, width, &empty);
		if (err)
			ilb_fail(error, (enum ilb_err)-err, "%s",
				 ilb_strerror(err));
	}
	if (empty && !err)
		err = ilb_fail(error, ILB_ERR_FORMAT,
			       "%s, %s: no figure to compare in either; give what 'ilb stat --json' printed",
			       a, b);
	json_decref(x);
	json_decref(y);
	return err;
}
