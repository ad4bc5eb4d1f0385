// SPDX-License-Identifier: GPL-2.0-only
/*
 * From moments to the capture's file. The kernel's side is played here: these
 * functions stand in for live/exact.c, which is not linked.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/exact.h"
#include "live/record.h"
#include "test.h"

#define NR_CPUS	70U

struct ilb_exact {
	void (*moment)(void *context, const struct ilb_moment *moment);
	void *context;
	uint64_t times[8];
	unsigned int n;
	struct ilb_exact_counts counts;
	int stopped, broken;
};

static struct ilb_exact played;

int ilb_exact_open(struct ilb_exact **exact, unsigned int nr_cpus,
		   void (*moment)(void *context,
				  const struct ilb_moment *moment),
		   void *context, struct ilb_error *error)
{
	*exact = NULL;
	if (nr_cpus != NR_CPUS)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED, "no such machine");
	played = (struct ilb_exact){ .moment = moment, .context = context };
	*exact = &played;
	return 0;
}

const char *ilb_exact_method(const struct ilb_exact *exact)
{
	(void)exact;
	return "played";
}

int ilb_exact_fd(const struct ilb_exact *exact)
{
	(void)exact;
	return 0;
}

int ilb_exact_read(struct ilb_exact *exact, struct ilb_error *error)
{
	unsigned long mask[2] = { 2, 1 }, idle[2] = { 6, 0 };
	struct ilb_moment m = { .kicker = 69, .target = 1, .flags = 3,
				.kind = ILB_MOMENT_EXACT, .mask = mask,
				.idle = idle };
	unsigned int i, n = exact->n;

	if (exact->broken)
		return ilb_fail(error, ILB_ERR_IO, "broken");
	for (i = 0; i < n; i++) {
		m.time_ns = exact->times[i];
		exact->moment(exact->context, &m);
	}
	exact->n = 0;
	return (int)n;
}

void ilb_exact_stop(struct ilb_exact *exact)
{
	exact->stopped = 1;
}

void ilb_exact_counts(const struct ilb_exact *exact,
		      struct ilb_exact_counts *counts)
{
	*counts = exact->counts;
}

void ilb_exact_close(struct ilb_exact *exact)
{
	(void)exact;
}

static void happens(uint64_t time_ns)
{
	played.times[played.n++] = time_ns;
}

/* ---- */

static void check_file(const char *path)
{
	struct ilb_moments *moments;
	struct ilb_error error;
	struct ilb_moment m;

	assert_int_equal(ilb_moments_open(&moments, path, NR_CPUS, &error), 0);
	assert_string_equal(ilb_moments_header(moments)->method, "played");
	assert_int_equal(ilb_moments_header(moments)->start_ns, 100);
	assert_int_equal(ilb_moments_totals(moments)->end_ns, 200);
	assert_int_equal(ilb_moments_totals(moments)->kicks, 5);
	assert_int_equal(ilb_moments_totals(moments)->lost, 3);
	assert_int_equal(ilb_moments_next(moments, &m, &error), 1);
	assert_int_equal(m.time_ns, 100);
	assert_int_equal(m.kicker, 69);
	assert_int_equal(m.target, 1);
	assert_int_equal(m.flags, 3);
	assert_int_equal(m.mask[1], 1);
	assert_int_equal(m.idle[0], 6);
	assert_int_equal(ilb_moments_next(moments, &m, &error), 1);
	assert_int_equal(m.time_ns, 200);
	assert_int_equal(ilb_moments_next(moments, &m, &error), 0);
	ilb_moments_close(moments);
}

/* What was seen and lost before the start and after the end does not count. */
static void between(void **state)
{
	char folder[] = "/tmp/ilb-watch-XXXXXX", path[64];
	struct ilb_record_summary summary = { 0 };
	struct ilb_watch watch = { .exact = NULL };
	struct ilb_error error;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/moments", folder);
	assert_int_equal(ilb_watch_open(&watch, NR_CPUS, &error), 0);
	happens(50);
	played.counts.lost = 4;
	assert_int_equal(ilb_watch_start(&watch, folder, 100, &error), 0);
	happens(99);
	happens(100);
	assert_int_equal(ilb_watch_read(&watch, &error), 0);
	played.counts.lost = 7;
	happens(200);
	ilb_watch_stop(&watch, 200);
	assert_true(played.stopped);
	happens(201);
	assert_int_equal(ilb_watch_finish(&watch, &summary, &error), 0);
	assert_int_equal(summary.kicks, 5);
	assert_int_equal(summary.lost_moments, 3);
	ilb_watch_close(&watch);
	check_file(path);
	unlink(path);
	rmdir(folder);
}

static void none(void **state)
{
	struct ilb_record_summary summary = { 0 };
	struct ilb_watch watch = { .exact = NULL };
	struct ilb_error error = { "" };

	(void)state;
	assert_int_equal(ilb_watch_open(&watch, 1, &error),
			 -ILB_ERR_UNSUPPORTED);
	assert_string_equal(error.text, "no such machine");
	assert_int_equal(ilb_watch_start(&watch, "/nonexistent", 1, &error), 0);
	assert_int_equal(ilb_watch_fd(&watch), -1);
	assert_int_equal(ilb_watch_read(&watch, &error), 0);
	ilb_watch_stop(&watch, 2);
	assert_int_equal(ilb_watch_finish(&watch, &summary, &error), 0);
	ilb_watch_close(&watch);
}

static void errors(void **state)
{
	struct ilb_watch watch = { .exact = NULL };
	struct ilb_error error;

	(void)state;
	assert_int_equal(ilb_watch_open(&watch, NR_CPUS, &error), 0);
	assert_int_equal(ilb_watch_start(&watch, "/nonexistent", 1, &error),
			 -ILB_ERR_IO);
	assert_non_null(strstr(error.text, "/nonexistent/moments"));
	played.broken = 1;
	assert_int_equal(ilb_watch_read(&watch, &error), -ILB_ERR_IO);
	ilb_watch_close(&watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between),
		cmocka_unit_test(none),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
