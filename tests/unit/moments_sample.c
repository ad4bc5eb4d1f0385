// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "moments_sample.h"

#define START_NS	1000000000ULL

int sample_set_up(void **state)
{
	struct sample *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	strcpy(s->path, "/tmp/ilb-moments-XXXXXX");
	assert_non_null(mkdtemp(s->path));
	strcat(s->path, "/moments");
	*state = s;
	return 0;
}

int sample_tear_down(void **state)
{
	struct sample *s = *state;
	int failed;

	unlink(s->path);
	*strrchr(s->path, '/') = '\0';
	failed = rmdir(s->path);
	free(s);
	return failed;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185ULL;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44dULL;
	return x ^ x >> 33;
}

static void fill(unsigned long *mask, unsigned int nr_cpus, uint64_t seed)
{
	unsigned int cpu;

	ilb_mask_zero(mask, nr_cpus);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (mix(seed + cpu) & 1)
			ilb_mask_set(mask, cpu);
}

const struct ilb_moment *sample_moment(unsigned int nr_cpus, unsigned int i)
{
	static unsigned long mask[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	static unsigned long idle[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	static struct ilb_moment moment;
	uint64_t dice = mix(i + 1);

	/* Masks change now and then, as a machine's do. */
	fill(mask, nr_cpus, i / 8);
	fill(idle, nr_cpus, i / 3);
	moment.time_ns = START_NS + 2000 * (uint64_t)i;
	moment.kicker = dice % 5 ? (dice >> 8) % nr_cpus : ILB_CPU_NONE;
	moment.target = dice % 7 ? (dice >> 24) % nr_cpus : ILB_CPU_NONE;
	moment.flags = (dice >> 40) & 15;
	moment.mask = mask;
	moment.idle = idle;
	return &moment;
}

int sample_write(struct sample *s, unsigned int nr_cpus, unsigned int count)
{
	struct ilb_moments_header header = { .nr_cpus = nr_cpus,
		.start_ns = START_NS, .method = "raw_tp:csd_queue_cpu" };
	struct ilb_moments_totals totals = { .kicks = count + 2, .lost = 2,
		.end_ns = START_NS + 2000 * (uint64_t)count };
	struct ilb_moments_writer *w;
	unsigned int i;
	int err;

	unlink(s->path);
	err = ilb_moments_create(&w, s->path, &header, &s->error);
	if (err)
		return err;
	for (i = 0; !err && i < count; i++)
		err = ilb_moments_append(w, sample_moment(nr_cpus, i),
					 &s->error);
	if (!err)
		return ilb_moments_commit(w, &totals, &s->error);
	ilb_moments_abandon(w);
	return err;
}

void sample_same(const struct ilb_moment *a, const struct ilb_moment *b,
		 unsigned int nr_cpus)
{
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->kicker, b->kicker);
	assert_int_equal(a->target, b->target);
	assert_int_equal(a->flags, b->flags);
	assert_true(ilb_mask_equal(a->mask, b->mask, nr_cpus));
	assert_true(ilb_mask_equal(a->idle, b->idle, nr_cpus));
}

static void same_frame(const struct ilb_moments *m, unsigned int nr_cpus,
		       unsigned int count)
{
	const struct ilb_moments_header *header = ilb_moments_header(m);
	const struct ilb_moments_totals *totals = ilb_moments_totals(m);

	assert_int_equal(header->nr_cpus, nr_cpus);
	assert_int_equal(header->start_ns, START_NS);
	assert_string_equal(header->method, "raw_tp:csd_queue_cpu");
	assert_int_equal(totals->end_ns, START_NS + 2000 * (uint64_t)count);
	assert_int_equal(totals->kicks, count + 2);
	assert_int_equal(totals->lost, 2);
}

int sample_read(struct sample *s, unsigned int nr_cpus, unsigned int count)
{
	struct ilb_moment moment = { 0 };
	struct ilb_moments *m;
	unsigned int n = 0;
	int got;

	s->error.text[0] = '\0';
	got = ilb_moments_open(&m, s->path, nr_cpus, &s->error);
	if (got)
		return got;
	same_frame(m, nr_cpus, count);
	while ((got = ilb_moments_next(m, &moment, &s->error)) == 1) {
		assert_int_equal(moment.kind, ILB_MOMENT_EXACT);
		assert_int_equal(moment.assumed, 0);
		assert_true(n < count);
		sample_same(&moment, sample_moment(nr_cpus, n++), nr_cpus);
	}
	if (!got)
		assert_int_equal(n, count);
	ilb_moments_close(m);
	return got;
}

unsigned char *sample_load(const struct sample *s, size_t *size)
{
	FILE *file = fopen(s->path, "r");
	unsigned char *bytes;
	long end;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	end = ftell(file);
	assert_true(end > 0);
	rewind(file);
	bytes = malloc((size_t)end);
	assert_non_null(bytes);
	*size = (size_t)end;
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

void sample_store(const struct sample *s, const void *bytes, size_t size)
{
	FILE *file = fopen(s->path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}
