// SPDX-License-Identifier: GPL-2.0-only
/* A file of moments gives back what was put into it, in order. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "moments_sample.h"

static void round_trip(void **state)
{
	static const unsigned int cpus[] = { 1, 2, 31, 32, 33, 63, 64, 65,
					     352, 8191, 8192 };
	struct sample *s = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		assert_int_equal(sample_write(s, cpus[i], 60), 0);
		assert_int_equal(sample_read(s, cpus[i], 60), 0);
	}
}

static void without_moments(void **state)
{
	struct sample *s = *state;

	assert_int_equal(sample_write(s, 16, 0), 0);
	assert_int_equal(sample_read(s, 16, 0), 0);
}

/* More than the writer's buffer holds: 26214 of these. */
static void many_blocks(void **state)
{
	struct sample *s = *state;

	assert_int_equal(sample_write(s, 16, 70000), 0);
	assert_int_equal(sample_read(s, 16, 70000), 0);
	/* 505 of those with 8192 CPUs. */
	assert_int_equal(sample_write(s, 8192, 1100), 0);
	assert_int_equal(sample_read(s, 8192, 1100), 0);
}

/*
 * A 352-CPU machine whose masks change by two CPUs from kick to kick: the
 * size is what ilb-moments(5) promises.
 */
static void small(void **state)
{
	struct ilb_moments_header header = { 352, 0, "simulated" };
	struct ilb_moments_totals totals = { .end_ns = 1ULL << 40 };
	unsigned long mask[ILB_MASK_WORDS(352)], idle[ILB_MASK_WORDS(352)];
	struct ilb_moment moment = { .mask = mask, .idle = idle };
	struct sample *s = *state;
	struct ilb_moments_writer *w;
	struct stat st;
	unsigned int i;

	ilb_mask_fill(mask, 352);
	ilb_mask_fill(idle, 352);
	assert_int_equal(ilb_moments_create(&w, s->path, &header, NULL), 0);
	srandom(1);
	for (i = 0; i < 20000; i++) {
		mask[random() % 5] ^= 1UL << random() % 32;
		idle[random() % 5] ^= 1UL << random() % 32;
		moment.time_ns += 900000 + (uint64_t)(random() % 200000);
		moment.kicker = (unsigned int)random() % 352;
		moment.target = (unsigned int)random() % 2;
		assert_int_equal(ilb_moments_append(w, &moment, NULL), 0);
	}
	assert_int_equal(ilb_moments_commit(w, &totals, NULL), 0);
	assert_int_equal(stat(s->path, &st), 0);
	print_message("# %.1f bytes per moment of 352 CPUs\n",
		      (double)st.st_size / 20000);
	assert_true(st.st_size < 24 * 20000);
}

/* Per-CPU buffers are drained one after the other. */
static void in_order(void **state)
{
	struct ilb_moments_header header = { 4, 0, "simulated" };
	struct ilb_moments_totals totals = { .end_ns = 1000000 };
	unsigned long none[1] = { 0 };
	struct ilb_moment moment = { .mask = none, .idle = none };
	struct sample *s = *state;
	struct ilb_moments_writer *w;
	struct ilb_moments *m;
	uint64_t last_ns = 0;
	unsigned int i;

	assert_int_equal(ilb_moments_create(&w, s->path, &header, NULL), 0);
	for (i = 0; i < 60000; i++) {
		/* Back by up to 1000 moments; two of each time, in turn. */
		moment.time_ns = 2000 + i - i * 7919ULL % 1000;
		moment.time_ns &= ~1ULL;
		moment.flags = i;
		assert_int_equal(ilb_moments_append(w, &moment, &s->error), 0);
	}
	assert_int_equal(ilb_moments_commit(w, &totals, NULL), 0);
	assert_int_equal(ilb_moments_open(&m, s->path, 4, NULL), 0);
	for (i = 0; ilb_moments_next(m, &moment, &s->error) == 1; i++) {
		assert_true(moment.time_ns >= last_ns);
		assert_int_equal(moment.kind, ILB_MOMENT_SIMULATED);
		last_ns = moment.time_ns;
	}
	assert_int_equal(i, 60000);
	assert_string_equal(s->error.text, "");
	ilb_moments_close(m);
}

static void equals_keep_their_order(void **state)
{
	struct ilb_moments_header header = { 4, 0, "simulated" };
	struct ilb_moments_totals totals = { .end_ns = 9 };
	unsigned long none[1] = { 0 };
	struct ilb_moment moment = { .mask = none, .idle = none };
	struct sample *s = *state;
	struct ilb_moments_writer *w;
	struct ilb_moments *m;
	unsigned int i;

	assert_int_equal(ilb_moments_create(&w, s->path, &header, NULL), 0);
	for (i = 0; i < 100; i++) {
		moment.time_ns = 9 - i % 2;
		moment.flags = i;
		assert_int_equal(ilb_moments_append(w, &moment, NULL), 0);
	}
	assert_int_equal(ilb_moments_commit(w, &totals, NULL), 0);
	assert_int_equal(ilb_moments_open(&m, s->path, 4, NULL), 0);
	for (i = 0; i < 100; i++) {
		assert_int_equal(ilb_moments_next(m, &moment, NULL), 1);
		assert_int_equal(moment.flags,
				 i < 50 ? 2 * i + 1 : 2 * i - 100);
	}
	ilb_moments_close(m);
}

/* ---- what the writer refuses ---- */

static void callers_mistakes(void **state)
{
	struct ilb_moments_header header = { 4, 0, "simulated" };
	struct ilb_moments_totals totals = { .end_ns = 4 };
	unsigned long none[1] = { 0 }, beyond[1] = { 16 };
	const struct ilb_moment bad[] = {
		{ .kicker = 4, .mask = none, .idle = none },
		{ .target = 4, .mask = none, .idle = none },
		{ .mask = beyond, .idle = none },
		{ .mask = none, .idle = beyond },
	};
	struct ilb_moment late = { .time_ns = 5, .mask = none, .idle = none };
	struct ilb_moments_writer *w;
	struct sample *s = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		unlink(s->path);
		assert_int_equal(ilb_moments_create(&w, s->path, &header,
						    NULL), 0);
		assert_int_equal(ilb_moments_append(w, &bad[i], &s->error),
				 -ILB_ERR_BUG);
		ilb_moments_abandon(w);
	}
	unlink(s->path);
	assert_int_equal(ilb_moments_create(&w, s->path, &header, NULL), 0);
	assert_int_equal(ilb_moments_append(w, &late, NULL), 0);
	assert_int_equal(ilb_moments_commit(w, &totals, &s->error),
			 -ILB_ERR_BUG);
}

static void impossible_header(void **state)
{
	struct ilb_moments_header bad[] = {
		{ 0, 0, "simulated" }, { 8193, 0, "simulated" }, { 4, 0, "" },
		{ 4, 0, "Upper" }, { 4, 0, "a b" }, { 4, 0, "" },
	};
	struct ilb_moments_writer *w;
	struct sample *s = *state;
	struct stat st;
	unsigned int i;

	memset(bad[5].method, 'a', sizeof(bad[5].method));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(ilb_moments_create(&w, s->path, &bad[i],
						    &s->error), -ILB_ERR_BUG);
		assert_int_not_equal(stat(s->path, &st), 0);
	}
}

static void is_there_already(void **state)
{
	struct ilb_moments_header header = { 4, 0, "simulated" };
	struct ilb_moments_writer *w;
	struct sample *s = *state;

	sample_store(s, "x", 1);
	assert_int_equal(ilb_moments_create(&w, s->path, &header, &s->error),
			 -ILB_ERR_IO);
	assert_non_null(strstr(s->error.text, "File exists"));
}

/* As a full disk does it: in the middle of a block, and at the end. */
static void no_room(void **state)
{
	static const rlim_t sizes[] = { 10, 2000, 100000 };
	struct rlimit before, limit;
	struct sample *s = *state;
	unsigned int i;
	int err;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		limit = before;
		limit.rlim_cur = sizes[i];
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		err = sample_write(s, 352, 12000);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		assert_int_equal(err, -ILB_ERR_IO);
		assert_non_null(strstr(s->error.text, "cannot write"));
	}
}

static void closing_nothing(void **state)
{
	(void)state;
	ilb_moments_abandon(NULL);
	ilb_moments_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, sample_set_up, \
						sample_tear_down)
		TEST(round_trip),
		TEST(without_moments),
		TEST(many_blocks),
		TEST(small),
		TEST(in_order),
		TEST(equals_keep_their_order),
		TEST(callers_mistakes),
		TEST(impossible_header),
		TEST(is_there_already),
		TEST(no_room),
		TEST(closing_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
