/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_SIM_INPUT_H
#define ILB_SIM_INPUT_H

#include <jansson.h>
#include <stdint.h>

#include "ilb/error.h"

#define ILB_INPUT_DEPTH	12

/**
 * struct ilb_input - a JSON file that is being read, for its errors
 * @file: for messages
 * @text: all of it
 * @variant: keys may stand in "variants"/@variant rather than at the top; may
 *	be NULL
 * @path, @depth: where the reader is
 */
struct ilb_input {
	const char *file;
	const char *text;
	const char *variant;
	struct ilb_error *error;
	const char *path[ILB_INPUT_DEPTH];
	unsigned int depth;
};

/** ilb_input_parse() - text to an object; NULL with @json->error filled */
json_t *ilb_input_parse(struct ilb_input *json);

/** ilb_input_enter() - go to member @key; the caller leaves by depth-- */
void ilb_input_enter(struct ilb_input *json, const char *key);

/** ilb_input_fail() - "FILE:LINE: PLACE: what the format says"; -@err */
int ilb_input_fail(struct ilb_input *json, enum ilb_err err, const char *format,
		  ...) __attribute__((format(printf, 3, 4)));

/** ilb_input_fail_at() - likewise, at member @key */
int ilb_input_fail_at(struct ilb_input *json, const char *key, enum ilb_err err,
		     const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * ilb_input_check_keys() - every key of @object is one of @keys
 * @keys: ended by NULL
 *
 * Returns 0, or -ILB_ERR_FORMAT; the message names the nearest of @keys.
 */
int ilb_input_check_keys(struct ilb_input *json, const json_t *object,
			const char *const *keys);

/** ilb_input_path() - where file @name is: beside @json's; free() it */
char *ilb_input_path(const struct ilb_input *json, const char *name);

/** ilb_input_nearest() - the one of @words that @word was meant to be */
const char *ilb_input_nearest(const char *word, const char *const *words);

/**
 * ilb_input_string(), _number(), _time() - a member of @object
 *
 * A missing one leaves *@value as it is. Times are numbers of @unit ns, or
 * text such as "10us" and "1.5ms".
 *
 * Returns 0, -ILB_ERR_FORMAT or -ILB_ERR_RANGE.
 */
int ilb_input_string(struct ilb_input *json, const json_t *object,
		    const char *key, const char **value);
int ilb_input_number(struct ilb_input *json, const json_t *object,
		    const char *key, int64_t min, int64_t max,
		    int64_t *value);
int ilb_input_time(struct ilb_input *json, const json_t *object,
		  const char *key, uint64_t unit, uint64_t min, uint64_t max,
		  uint64_t *value);

/** ilb_input_time_value() - likewise, of a value that is member @key */
int ilb_input_time_value(struct ilb_input *json, const char *key,
			const json_t *value, uint64_t unit, uint64_t min,
			uint64_t max, uint64_t *ns);

/**
 * ilb_input_cpus() - a CPU list ("0-3,8") or an array of CPUs
 * @mask: filled if the member is there
 * @online: CPUs that it may name
 * @there: set to 1 or 0; may be NULL
 */
int ilb_input_cpus(struct ilb_input *json, const json_t *object,
		  const char *key, unsigned long *mask,
		  const unsigned long *online, unsigned int nr_cpus,
		  int *there);

#endif
