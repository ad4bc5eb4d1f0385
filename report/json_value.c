// SPDX-License-Identifier: GPL-2.0-only
/* Values of JSON: see report/json.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"

void ilb_json_set(struct ilb_json *json, json_t *object, const char *key,
		  json_t *value)
{
	if (json_object_set_new(object, key, value))
		json->failed = 1;
}

void ilb_json_append(struct ilb_json *json, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value))
		json->failed = 1;
}

void ilb_json_count(struct ilb_json *json, json_t *object, const char *key,
		    uint64_t count)
{
	if (count > INT64_MAX)
		count = INT64_MAX;
	ilb_json_set(json, object, key, json_integer((json_int_t)count));
}

void ilb_json_real(struct ilb_json *json, json_t *object, const char *key,
		   double value)
{
	if (isfinite(value))
		ilb_json_set(json, object, key, json_real(value));
}

void ilb_json_us(struct ilb_json *json, json_t *object, const char *key,
		 uint64_t ns)
{
	ilb_json_real(json, object, key, (double)ns / 1e3);
}

void ilb_json_percent(struct ilb_json *json, json_t *object, const char *key,
		      uint64_t part, uint64_t whole)
{
	if (whole)
		ilb_json_real(json, object, key,
			      100.0 * (double)part / (double)whole);
}

void ilb_json_bool(struct ilb_json *json, json_t *object, const char *key,
		   int value)
{
	ilb_json_set(json, object, key, json_boolean(value));
}

static size_t length_by_lead(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

/*
 * Length of the character at @s, 0 if it is none: the bounds of the second
 * byte exclude overlong forms, surrogates and what is above U+10FFFF.
 */
static size_t utf8_length(const unsigned char *s, size_t size)
{
	size_t length = length_by_lead(s[0]), i;

	if (!length || length > size)
		return 0;
	for (i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

void ilb_json_text(struct ilb_json *json, json_t *object, const char *key,
		   const char *string, size_t size)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const unsigned char *s = (const unsigned char *)string;
	size_t left = strnlen(string, size), length, used = 0;
	char *clean = malloc(3 * left + 1);

	if (!clean) {
		json->failed = 1;
		return;
	}
	while (left) {
		length = utf8_length(s, left);
		memcpy(clean + used, length ? (const char *)s : replacement,
		       length ? length : 3);
		used += length ? length : 3;
		s += length ? length : 1;
		left -= length ? length : 1;
	}
	ilb_json_set(json, object, key, json_stringn(clean, used));
	free(clean);
}

void ilb_json_cpus(struct ilb_json *json, json_t *object, const char *key,
		   const unsigned long *mask, unsigned int nr_cpus)
{
	unsigned int size;
	char *list;

	if (!mask || !nr_cpus)
		return;
	size = ilb_cpulist_print(NULL, 0, mask, nr_cpus) + 1;
	list = malloc(size);
	if (!list) {
		json->failed = 1;
		return;
	}
	ilb_cpulist_print(list, size, mask, nr_cpus);
	ilb_json_text(json, object, key, list, size);
	free(list);
}
