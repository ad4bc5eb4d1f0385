/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_MOMENTS_SAMPLE_H
#define ILB_TESTS_UNIT_MOMENTS_SAMPLE_H

/* Files of moments that a seed determines, written and read back. */

#include "ilb/moments.h"
#include "test.h"

struct sample {
	char path[48];		/* of a file; its folder is ours */
	struct ilb_error error;
};

int sample_set_up(void **state);
int sample_tear_down(void **state);

/** sample_moment() - the @i-th of them; valid until the next call */
const struct ilb_moment *sample_moment(unsigned int nr_cpus, unsigned int i);

/** sample_write() - a file of @count moments; 0, or what the writer said */
int sample_write(struct sample *s, unsigned int nr_cpus, unsigned int count);

/**
 * sample_read() - read it all; 0, or what the reader said
 *
 * Fails the test where a moment, the header or the totals are not those that
 * sample_write() wrote: an error is fine, another moment never.
 */
int sample_read(struct sample *s, unsigned int nr_cpus, unsigned int count);

/** sample_same() - the test fails if two moments are not the same */
void sample_same(const struct ilb_moment *a, const struct ilb_moment *b,
		 unsigned int nr_cpus);

/** sample_load(), sample_store() - the file's bytes; free() those loaded */
unsigned char *sample_load(const struct sample *s, size_t *size);
void sample_store(const struct sample *s, const void *bytes, size_t size);

#endif
