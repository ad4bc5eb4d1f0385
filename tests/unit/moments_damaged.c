// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file of moments that is damaged, cut, of another make or hostile: an error
 * that says where, never another moment.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "moments_sample.h"

static void flips(void **state)
{
	static const unsigned char flip[] = { 1, 2, 4, 8, 16, 32, 64, 128,
					      255 };
	struct sample *s = *state;
	unsigned int errors = 0, tries = 0, i;
	unsigned char *bytes;
	size_t size, at;

	assert_int_equal(sample_write(s, 65, 5), 0);
	bytes = sample_load(s, &size);
	for (at = 0; at < size; at++) {
		for (i = 0; i < ARRAY_SIZE(flip); i++) {
			bytes[at] ^= flip[i];
			sample_store(s, bytes, size);
			tries++;
			if (sample_read(s, 65, 5)) {
				assert_string_not_equal(s->error.text, "");
				errors++;
			}
			bytes[at] ^= flip[i];
		}
	}
	/* zstd has a bit or two without a meaning. */
	assert_true(errors + 9 > tries);
	free(bytes);
}

static void cut(void **state)
{
	struct sample *s = *state;
	unsigned char *bytes;
	size_t size, length;

	assert_int_equal(sample_write(s, 65, 5), 0);
	bytes = sample_load(s, &size);
	for (length = 0; length < size; length++) {
		sample_store(s, bytes, length);
		assert_int_equal(sample_read(s, 65, 5), -ILB_ERR_FORMAT);
		assert_non_null(strstr(s->error.text, "at byte"));
	}
	free(bytes);
}

static void cut_while_being_read(void **state)
{
	struct sample *s = *state;
	struct ilb_moments *m;
	struct ilb_moment moment;

	assert_int_equal(sample_write(s, 64, 20), 0);
	assert_int_equal(ilb_moments_open(&m, s->path, 64, &s->error), 0);
	assert_int_equal(truncate(s->path, 200), 0);
	assert_int_equal(ilb_moments_next(m, &moment, &s->error),
			 -ILB_ERR_FORMAT);
	assert_non_null(strstr(s->error.text, "at byte 200: it ends there"));
	ilb_moments_close(m);
}

/* Blocks are the writer's, but not all of them, or not at their place. */
static void block_missing(void **state)
{
	struct sample *s = *state;
	unsigned char *bytes;
	size_t size;

	assert_int_equal(sample_write(s, 64, 5), 0);
	bytes = sample_load(s, &size);
	memmove(bytes + 84, bytes + size - 52, 52);
	sample_store(s, bytes, 84 + 52);
	assert_int_equal(sample_read(s, 64, 5), -ILB_ERR_FORMAT);
	assert_non_null(strstr(s->error.text, "not as many"));
	free(bytes);
}

static void block_twice(void **state)
{
	struct sample *s = *state;
	unsigned char *bytes, *twice;
	size_t size, block;

	assert_int_equal(sample_write(s, 64, 5), 0);
	bytes = sample_load(s, &size);
	block = size - 84 - 52;
	twice = malloc(size + block);
	assert_non_null(twice);
	memcpy(twice, bytes, 84 + block);
	memcpy(twice + 84 + block, bytes + 84, size - 84);
	sample_store(s, twice, size + block);
	assert_int_equal(sample_read(s, 64, 5), -ILB_ERR_FORMAT);
	assert_non_null(strstr(s->error.text, "not in order"));
	free(twice);
	free(bytes);
}

static void more_behind_the_end(void **state)
{
	struct sample *s = *state;
	unsigned char *bytes;
	size_t size;

	assert_int_equal(sample_write(s, 64, 5), 0);
	bytes = sample_load(s, &size);
	bytes = realloc(bytes, size + 1);
	assert_non_null(bytes);
	bytes[size] = 0;
	sample_store(s, bytes, size + 1);
	assert_int_equal(sample_read(s, 64, 5), -ILB_ERR_FORMAT);
	free(bytes);
}

/* ---- written by hand, from ilb-moments(5) alone ---- */

struct file {
	unsigned char bytes[400];
	size_t size;
};

static uint32_t crc_of(const unsigned char *a, size_t na,
		       const unsigned char *b, size_t nb)
{
	uint32_t crc = ~0U;
	unsigned int k;
	size_t i;

	for (i = 0; i < na + nb; i++) {
		crc ^= i < na ? a[i] : b[i - na];
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
	}
	return ~crc;
}

static void add(struct file *f, uint64_t value, unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < bytes; i++)
		f->bytes[f->size++] = (unsigned char)(value >> 8 * i);
}

static void add_text(struct file *f, const char *text, size_t size)
{
	memset(f->bytes + f->size, 0, size);
	memcpy(f->bytes + f->size, text, strlen(text));
	f->size += size;
}

static void add_header(struct file *f, uint32_t version, uint32_t nr_cpus,
		       const char *method)
{
	f->size = 0;
	add_text(f, "ILBMOMS\n", 8);
	add(f, version, 4);
	add(f, 84, 4);
	add(f, nr_cpus, 4);
	add(f, 0, 4);
	add(f, 1000, 8);
	add_text(f, method, 48);
	add(f, crc_of(f->bytes, f->size, NULL, 0), 4);
}

/* @change is added to one number of the block's header, before its checksum. */
static void add_block(struct file *f, const struct file *raw, uint32_t records,
		      unsigned int which, uint32_t change)
{
	unsigned char *block = f->bytes + f->size;
	uint32_t numbers[4] = { 0x534d4f4d, records,
				(uint32_t)raw->size + 9, (uint32_t)raw->size };
	unsigned int i;

	numbers[which] += change;
	for (i = 0; i < 4; i++)
		add(f, numbers[i], 4);
	add(f, crc_of(block, 16, raw->bytes, raw->size), 4);
	/* A zstd frame with one block that is not compressed. */
	add(f, 0xfd2fb528, 4);
	add(f, 0x20, 1);
	add(f, raw->size, 1);
	add(f, raw->size << 3 | 1, 3);
	memcpy(f->bytes + f->size, raw->bytes, raw->size);
	f->size += raw->size;
}

static void add_end(struct file *f, uint64_t number)
{
	unsigned char *block = f->bytes + f->size;

	add_text(f, "END!", 4);
	add(f, 1, 4);
	add(f, 32, 4);
	add(f, 32, 4);
	f->size += 4;
	add(f, 3000, 8);
	add(f, 7, 8);
	add(f, 6, 8);
	add(f, number, 8);
	f->size -= 36;
	add(f, crc_of(block, 16, block + 20, 32), 4);
	f->size += 32;
}

static void add_record(struct file *f, uint64_t time_ns, uint32_t kicker,
		       uint32_t target, uint32_t spare, uint64_t mask,
		       uint64_t idle)
{
	add(f, time_ns, 8);
	add(f, kicker, 4);
	add(f, target, 4);
	add(f, 5, 4);
	add(f, spare, 4);
	add(f, mask, 8);
	add(f, idle, 8);
}

static int store_and_open(struct sample *s, const struct file *f,
			  struct ilb_moments **m)
{
	sample_store(s, f->bytes, f->size);
	s->error.text[0] = '\0';
	return ilb_moments_open(m, s->path, 8, &s->error);
}

static void as_documented(void **state)
{
	struct sample *s = *state;
	struct file f, raw = { .size = 0 };
	struct ilb_moments *m;
	struct ilb_moment moment;

	add_record(&raw, 2000, 3, ~0U, 0, 0x81, 0x7e);
	add_record(&raw, 3000, 7, 1, 0, 0xff, 0);
	add_header(&f, 1, 8, "fentry:x-y_z0");
	add_block(&f, &raw, 2, 0, 0);
	add_end(&f, 2);
	assert_int_equal(store_and_open(s, &f, &m), 0);
	assert_string_equal(ilb_moments_header(m)->method, "fentry:x-y_z0");
	assert_int_equal(ilb_moments_header(m)->start_ns, 1000);
	assert_int_equal(ilb_moments_totals(m)->end_ns, 3000);
	assert_int_equal(ilb_moments_totals(m)->kicks, 7);
	assert_int_equal(ilb_moments_totals(m)->lost, 6);
	assert_int_equal(ilb_moments_next(m, &moment, &s->error), 1);
	assert_int_equal(moment.time_ns, 2000);
	assert_int_equal(moment.kicker, 3);
	assert_int_equal(moment.target, ILB_CPU_NONE);
	assert_int_equal(moment.flags, 5);
	assert_int_equal(moment.mask[0], 0x81);
	assert_int_equal(moment.idle[0], 0x7e);
	assert_int_equal(ilb_moments_next(m, &moment, &s->error), 1);
	assert_int_equal(moment.time_ns, 3000);
	assert_int_equal(moment.target, 1);
	assert_int_equal(ilb_moments_next(m, &moment, &s->error), 0);
	assert_int_equal(ilb_moments_next(m, &moment, &s->error), 0);
	ilb_moments_close(m);
}

/* Checksums are right, and yet: */
static void impossible_records(void **state)
{
	static const struct {
		uint64_t time_ns;
		uint32_t kicker, target, spare;
		uint64_t mask, idle;
	} bad[] = {
		{ 1999, 1, 1, 0, 0, 0 },	/* before the one before */
		{ 3001, 1, 1, 0, 0, 0 },	/* after the end */
		{ 2000, 8, 1, 0, 0, 0 },
		{ 2000, 1, 8, 0, 0, 0 },
		{ 2000, 1, 1, 1, 0, 0 },
		{ 2000, 1, 1, 0, 0x100, 0 },
		{ 2000, 1, 1, 0, 0, 1ULL << 63 },
	};
	struct sample *s = *state;
	struct ilb_moment moment;
	struct ilb_moments *m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct file f, raw = { .size = 0 };

		add_record(&raw, 2000, 0, 0, 0, 0, 0);
		add_record(&raw, bad[i].time_ns, bad[i].kicker, bad[i].target,
			   bad[i].spare, bad[i].mask, bad[i].idle);
		add_header(&f, 1, 8, "simulated");
		add_block(&f, &raw, 2, 0, 0);
		add_end(&f, 2);
		assert_int_equal(store_and_open(s, &f, &m), 0);
		assert_int_equal(ilb_moments_next(m, &moment, NULL), 1);
		assert_int_equal(ilb_moments_next(m, &moment, &s->error),
				 -ILB_ERR_FORMAT);
		assert_non_null(strstr(s->error.text, "at byte 84"));
		/* And again. */
		assert_int_equal(ilb_moments_next(m, &moment, NULL),
				 -ILB_ERR_FORMAT);
		ilb_moments_close(m);
	}
}

/* Tag, number of records, stored size, raw size. */
static void impossible_blocks(void **state)
{
	static const struct {
		unsigned int which;
		uint32_t change;
	} bad[] = {
		{ 0, 1 }, { 1, 1 }, { 1, -1U }, { 2, 1 }, { 2, -1U },
		{ 2, 0x7fffffff }, { 2, -50U }, { 3, 1 }, { 3, -40U },
		{ 3, 0x40000000 }, { 3, -41U },
	};
	struct sample *s = *state;
	struct ilb_moment moment;
	struct ilb_moments *m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct file f, raw = { .size = 0 };

		add_record(&raw, 2000, 0, 0, 0, 0, 0);
		add_header(&f, 1, 8, "simulated");
		add_block(&f, &raw, 1, bad[i].which, bad[i].change);
		add_end(&f, 1);
		assert_int_equal(store_and_open(s, &f, &m), 0);
		assert_int_equal(ilb_moments_next(m, &moment, &s->error),
				 -ILB_ERR_FORMAT);
		assert_non_null(strstr(s->error.text, "at byte"));
		ilb_moments_close(m);
	}
}

static void other_headers(void **state)
{
	struct sample *s = *state;
	struct ilb_moments *m;
	struct file f;

	add_header(&f, 2, 8, "simulated");
	add_end(&f, 0);
	assert_int_equal(store_and_open(s, &f, &m), -ILB_ERR_UNSUPPORTED);
	assert_non_null(strstr(s->error.text, "version 2"));
	add_header(&f, 0, 8, "simulated");
	add_end(&f, 0);
	assert_int_equal(store_and_open(s, &f, &m), -ILB_ERR_FORMAT);
	add_header(&f, 1, 9, "simulated");
	add_end(&f, 0);
	assert_int_equal(store_and_open(s, &f, &m), -ILB_ERR_MISMATCH);
	assert_non_null(strstr(s->error.text, "9 CPUs, the topology has 8"));
	add_header(&f, 1, 8, "no such\nword");
	add_end(&f, 0);
	assert_int_equal(store_and_open(s, &f, &m), -ILB_ERR_FORMAT);
}

static void no_file(void **state)
{
	struct sample *s = *state;
	struct ilb_moments *m;

	assert_int_equal(ilb_moments_open(&m, s->path, 8, &s->error),
			 -ILB_ERR_NOENT);
	assert_int_equal(ilb_moments_open(&m, "/", 8, &s->error),
			 -ILB_ERR_FORMAT);
	/* Nobody writes into it: to wait for that would be for ever. */
	assert_int_equal(mkfifo(s->path, 0600), 0);
	assert_int_equal(ilb_moments_open(&m, s->path, 8, &s->error),
			 -ILB_ERR_FORMAT);
	unlink(s->path);
	sample_store(s, "# tracer: nop\n", 14);
	assert_int_equal(ilb_moments_open(&m, s->path, 8, &s->error),
			 -ILB_ERR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, sample_set_up, \
						sample_tear_down)
		TEST(flips),
		TEST(cut),
		TEST(cut_while_being_read),
		TEST(block_missing),
		TEST(block_twice),
		TEST(more_behind_the_end),
		TEST(as_documented),
		TEST(impossible_records),
		TEST(impossible_blocks),
		TEST(other_headers),
		TEST(no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
