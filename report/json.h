/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_REPORT_JSON_H
#define ILB_REPORT_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <jansson.h>
#include "ilb/report.h"

/**
 * DOC: JSON - what ilb-json(5) describes
 *
 * Setters of one key each. They take over @value, keep the first failure in
 * @failed instead of returning it, and accept a NULL object, so that a tree
 * is built without a test at every leaf.
 */

/** struct ilb_json - @failed: 1 if memory ran out: the tree is incomplete */
struct ilb_json {
	int failed;
};

/** ilb_json_set() - @value becomes @object's, also on failure. */
void ilb_json_set(struct ilb_json *json, json_t *object, const char *key,
		  json_t *value);

/** ilb_json_append() - @value becomes @array's, also on failure. */
void ilb_json_append(struct ilb_json *json, json_t *array, json_t *value);

/** ilb_json_count() - a number; what JSON's readers cannot hold is capped. */
void ilb_json_count(struct ilb_json *json, json_t *object, const char *key,
		    uint64_t count);

/** ilb_json_real() - a number, left out if it is not finite */
void ilb_json_real(struct ilb_json *json, json_t *object, const char *key,
		   double value);

/** ilb_json_us() - nanoseconds, written as microseconds */
void ilb_json_us(struct ilb_json *json, json_t *object, const char *key,
		 uint64_t ns);

/** ilb_json_percent() - left out if @whole is 0 */
void ilb_json_percent(struct ilb_json *json, json_t *object, const char *key,
		      uint64_t part, uint64_t whole);

/**
 * ilb_json_text() - at most @size bytes of @string, up to its NUL
 *
 * What is not UTF-8 is replaced by U+FFFD, byte for byte.
 */
void ilb_json_text(struct ilb_json *json, json_t *object, const char *key,
		   const char *string, size_t size);

/** ilb_json_bool() - true or false */
void ilb_json_bool(struct ilb_json *json, json_t *object, const char *key,
		   int value);

/** ilb_json_cpus() - a CPU list, "0-3,8" */
void ilb_json_cpus(struct ilb_json *json, json_t *object, const char *key,
		   const unsigned long *mask, unsigned int nr_cpus);

/* The parts, each set in @root if it is known. */
void ilb_json_measures(struct ilb_json *json, json_t *root,
		       const struct ilb_measures *measures);
void ilb_json_domains(struct ilb_json *json, json_t *root,
		      const struct ilb_measures *measures);
void ilb_json_findings(struct ilb_json *json, json_t *root,
		       const struct ilb_findings *findings);
void ilb_json_functions(struct ilb_json *json, json_t *root,
			const struct ilb_functions *functions);
void ilb_json_policies(struct ilb_json *json, json_t *root,
		       const struct ilb_report *report);

#endif
