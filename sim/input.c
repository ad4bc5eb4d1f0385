// SPDX-License-Identifier: GPL-2.0-only
/*
 * What readers of JSON need beside jansson: errors with line and place, and a
 * guess at what an unknown key was meant to be. jansson keeps no lines, so a
 * place is looked up in the text when there is something to say about it.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/mask.h"
#include "sim/input.h"

#define WORD_MAX	40	/* longer words are nobody's slip */

json_t *ilb_input_parse(struct ilb_input *j)
{
	json_error_t error;
	json_t *root;

	root = json_loads(j->text, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		ilb_fail(j->error, ILB_ERR_FORMAT,
			 "%s:%d: is no JSON: %s; correct it", j->file,
			 error.line, error.text);
		return NULL;
	}
	if (json_is_object(root))
		return root;
	json_decref(root);
	ilb_fail(j->error, ILB_ERR_FORMAT,
		 "%s:1: is not an object; begin it with {", j->file);
	return NULL;
}

void ilb_input_enter(struct ilb_input *j, const char *key)
{
	if (j->depth < ILB_INPUT_DEPTH)
		j->path[j->depth] = key;
	j->depth++;
}

/* ---- places: the text is known to be valid ---- */

static const char *after_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

static const char *after_blanks(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

static const char *after_value(const char *p)
{
	int nested = 0;

	do {
		if (*p == '"') {
			p = after_string(p);
			continue;
		}
		if (*p == '{' || *p == '[')
			nested++;
		else if (*p == '}' || *p == ']')
			nested--;
		else if (!nested && *p == ',')
			break;
		if (nested < 0)
			break;
		p++;
	} while (*p && (nested || !strchr(",}]", *p)));
	return p;
}

/* Member @key of the object at @p: its key; NULL if there is none. */
static const char *find_member(const char *p, const char *key)
{
	size_t len = strlen(key);
	const char *start;

	p = after_blanks(p);
	if (*p != '{')
		return NULL;
	for (p = after_blanks(p + 1); *p == '"'; p = after_blanks(p + 1)) {
		start = p;
		p = after_string(p);
		if ((size_t)(p - start) == len + 2 &&
		    !memcmp(start + 1, key, len))
			return start;
		p = after_blanks(after_value(after_blanks(p) + 1));
		if (*p != ',')
			break;
	}
	return NULL;
}

static const char *value_of(const char *member)
{
	return after_blanks(after_string(member)) + 1;
}

/* How many members of the path are found from @p on; the last one's place. */
static unsigned int follow(const char *p, const struct ilb_input *j,
			   unsigned int depth, const char **place)
{
	unsigned int i;

	for (i = 0; i < depth && i < ILB_INPUT_DEPTH; i++) {
		p = find_member(p, j->path[i]);
		if (!p)
			break;
		*place = p;
		p = value_of(p);
	}
	return i;
}

static const char *find_variant(const struct ilb_input *j)
{
	const char *p;

	p = j->variant ? find_member(j->text, "variants") : NULL;
	if (p)
		p = find_member(value_of(p), j->variant);
	return p ? value_of(p) : NULL;
}

/* What is in the variant replaces what is at the top. */
static unsigned int line_of(const struct ilb_input *j)
{
	const char *place = j->text, *other = j->text, *p, *variant;
	unsigned int line = 1, found;

	found = follow(j->text, j, j->depth, &place);
	variant = find_variant(j);
	if (variant && follow(variant, j, j->depth, &other) >= found &&
	    other != j->text)
		place = other;
	for (p = j->text; p < place; p++)
		line += *p == '\n';
	return line;
}

static int __attribute__((format(printf, 3, 0)))
fail(struct ilb_input *j, enum ilb_err err, const char *format, va_list args)
{
	char place[160], reason[256];
	unsigned int i;
	size_t len = 0;

	place[0] = '\0';
	for (i = 0; i < j->depth && i < ILB_INPUT_DEPTH; i++) {
		if (len < sizeof(place))
			len += (size_t)snprintf(place + len,
						sizeof(place) - len, "%s%s",
						i ? "." : "", j->path[i]);
	}
	vsnprintf(reason, sizeof(reason), format, args);
	return ilb_fail(j->error, err, "%s:%u: %s%s%s", j->file, line_of(j),
			place, *place ? ": " : "", reason);
}

char *ilb_input_path(const struct ilb_input *j, const char *name)
{
	const char *slash = strrchr(j->file, '/');
	char *path;

	if (*name == '/' || !slash)
		return strdup(name);
	if (asprintf(&path, "%.*s/%s", (int)(slash - j->file), j->file,
		     name) < 0)
		return NULL;
	return path;
}

int ilb_input_fail(struct ilb_input *j, enum ilb_err err, const char *format,
		   ...)
{
	va_list args;
	int code;

	va_start(args, format);
	code = fail(j, err, format, args);
	va_end(args);
	return code;
}

int ilb_input_fail_at(struct ilb_input *j, const char *key, enum ilb_err err,
		     const char *format, ...)
{
	va_list args;
	int code;

	ilb_input_enter(j, key);
	va_start(args, format);
	code = fail(j, err, format, args);
	va_end(args);
	j->depth--;
	return code;
}

/* ---- keys ---- */

/* Letters to insert, remove or replace. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[WORD_MAX + 1], i, k, corner, above;
	size_t length = strlen(b);

	if (length > WORD_MAX || strlen(a) > WORD_MAX)
		return WORD_MAX;
	for (k = 0; k <= length; k++)
		row[k] = k;
	for (i = 1; a[i - 1]; i++) {
		corner = row[0];
		row[0] = i;
		for (k = 1; k <= length; k++) {
			above = row[k];
			row[k] = corner + (a[i - 1] != b[k - 1]);
			if (above + 1 < row[k])
				row[k] = above + 1;
			if (row[k - 1] + 1 < row[k])
				row[k] = row[k - 1] + 1;
			corner = above;
		}
	}
	return row[length];
}

const char *ilb_input_nearest(const char *word, const char *const *words)
{
	const char *best = words[0];
	unsigned int least = ~0U, d;

	for (; *words; words++) {
		d = distance(word, *words);
		if (d >= least)
			continue;
		least = d;
		best = *words;
	}
	return best;
}

int ilb_input_check_keys(struct ilb_input *j, const json_t *object,
			const char *const *keys)
{
	const char *const *k;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) {
		for (k = keys; *k && strcmp(*k, key); k++)
			;
		if (!*k)
			return ilb_input_fail_at(j, key, ILB_ERR_FORMAT,
				"no such key; the nearest is \"%s\"",
				ilb_input_nearest(key, keys));
	}
	return 0;
}

/* ---- values ---- */

int ilb_input_string(struct ilb_input *j, const json_t *object, const char *key,
		    const char **value)
{
	const json_t *member = json_object_get(object, key);

	if (!member)
		return 0;
	if (!json_is_string(member))
		return ilb_input_fail_at(j, key, ILB_ERR_FORMAT,
					"is not a string");
	*value = json_string_value(member);
	return 0;
}

int ilb_input_number(struct ilb_input *j, const json_t *object, const char *key,
		    int64_t min, int64_t max, int64_t *value)
{
	const json_t *member = json_object_get(object, key);

	if (!member)
		return 0;
	*value = json_integer_value(member);
	if (json_is_integer(member) && *value >= min && *value <= max)
		return 0;
	return ilb_input_fail_at(j, key, ILB_ERR_RANGE,
				"is not a whole number from %lld to %lld",
				(long long)min, (long long)max);
}

/* "1.5ms" without floating point; -1: is none. */
static int parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 },
	};
	uint64_t whole = 0, part = 0, scale = 1;
	const char *p = text;
	unsigned int i;

	for (; *p >= '0' && *p <= '9' && whole < 1000000000; p++)
		whole = whole * 10 + (uint64_t)(*p - '0');
	if (p == text)
		return -1;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && scale < 1000000000; p++) {
			part = part * 10 + (uint64_t)(*p - '0');
			scale *= 10;
		}
	while (*p == ' ')
		p++;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(p, units[i].name))
			continue;
		*ns = whole * units[i].ns + part * units[i].ns / scale;
		return 0;
	}
	return -1;
}

int ilb_input_time_value(struct ilb_input *j, const char *key,
			const json_t *value, uint64_t unit, uint64_t min,
			uint64_t max, uint64_t *ns)
{
	json_int_t number = json_integer_value(value);

	if (json_is_string(value)) {
		if (parse_time(json_string_value(value), ns))
			return ilb_input_fail_at(j, key, ILB_ERR_FORMAT,
				"is not a time such as \"10us\" or \"1.5ms\"");
	} else if (!json_is_integer(value)) {
		return ilb_input_fail_at(j, key, ILB_ERR_FORMAT,
					"is not a time such as \"10us\"");
	} else if (number < 0 || (uint64_t)number > max / unit) {
		return ilb_input_fail_at(j, key, ILB_ERR_RANGE,
			"is not from %llu ns to %llu s",
			(unsigned long long)min,
			(unsigned long long)(max / 1000000000));
	} else {
		*ns = (uint64_t)number * unit;
	}
	if (*ns >= min && *ns <= max)
		return 0;
	return ilb_input_fail_at(j, key, ILB_ERR_RANGE,
				"is not from %llu ns to %llu s",
				(unsigned long long)min,
				(unsigned long long)(max / 1000000000));
}

int ilb_input_time(struct ilb_input *j, const json_t *object, const char *key,
		  uint64_t unit, uint64_t min, uint64_t max, uint64_t *value)
{
	const json_t *member = json_object_get(object, key);

	if (!member)
		return 0;
	return ilb_input_time_value(j, key, member, unit, min, max, value);
}

static int cpu_array(const json_t *array, unsigned long *mask)
{
	json_int_t cpu;
	size_t i;

	ilb_mask_zero(mask, ILB_CPUS_MAX);
	for (i = 0; i < json_array_size(array); i++) {
		cpu = json_integer_value(json_array_get(array, i));
		if (!json_is_integer(json_array_get(array, i)) || cpu < 0 ||
		    cpu >= (json_int_t)ILB_CPUS_MAX)
			return -ILB_ERR_SYNTAX;
		ilb_mask_set(mask, (unsigned int)cpu);
	}
	return 0;
}

int ilb_input_cpus(struct ilb_input *j, const json_t *object, const char *key,
		  unsigned long *mask, const unsigned long *online,
		  unsigned int nr_cpus, int *there)
{
	const json_t *member = json_object_get(object, key);
	unsigned long wide[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	char list[64];
	unsigned int cpu;
	int err = -ILB_ERR_SYNTAX;

	if (there)
		*there = member != NULL;
	if (!member)
		return 0;
	if (json_is_string(member))
		err = ilb_cpulist_parse(json_string_value(member), wide,
					ILB_CPUS_MAX);
	else if (json_is_array(member))
		err = cpu_array(member, wide);
	if (err)
		return ilb_input_fail_at(j, key, ILB_ERR_FORMAT,
			"is not a list of CPUs such as \"0-3,8\" or [0, 8]");
	ilb_mask_zero(mask, nr_cpus);
	ilb_for_each_cpu(cpu, wide, ILB_CPUS_MAX) {
		if (cpu < nr_cpus && ilb_mask_test(online, cpu)) {
			ilb_mask_set(mask, cpu);
			continue;
		}
		ilb_cpulist_print(list, sizeof(list), online, nr_cpus);
		return ilb_input_fail_at(j, key, ILB_ERR_MISMATCH,
			"CPU %u is not there; the machine has CPUs %s", cpu,
			list);
	}
	return 0;
}
