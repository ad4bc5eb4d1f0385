// SPDX-License-Identifier: GPL-2.0-only
/*
 * Real traces: the events that an independent reader found in them, and the
 * same ones from every format. See tests/golden/text/README.
 */

#include "test.h"
#include "text.h"
#include "text_source.h"

#define MAX_EVENTS	512

struct stream {
	unsigned int count;
	struct ilb_source_stats stats;
	struct ilb_event events[MAX_EVENTS];
};

static struct stream reference, other;

static void read_stream(const char *name, struct stream *stream)
{
	struct bytes text = load(name);
	struct ilb_source *source = open_bytes(text.p, text.len);
	int result;

	stream->count = 0;
	while ((result = next(source, &stream->events[stream->count])) == 1)
		assert_true(++stream->count < MAX_EVENTS);
	assert_int_equal(result, 0);
	stream->stats = source->stats;
	assert_int_equal(source->stats.bytes_read, text.len);
	source->ops->close(source);
	free(text.p);
}

static void check_events(const char *text, const char *events)
{
	struct bytes expected = load(events);
	char *line, *rest = expected.p;
	char shown[SHOW_LEN];
	unsigned int i;

	read_stream(text, &other);
	for (i = 0; i < other.count; i++) {
		line = strsep(&rest, "\n");
		show(shown, &other.events[i]);
		if (!line || strcmp(line, shown))
			fail_msg("%s: event %u is '%s', not '%s'", text, i,
				 shown, line ? line : "");
	}
	assert_string_equal(rest, "");
	assert_int_equal(other.stats.unparsed, 0);
	free(expected.p);
}

static void trace_cmd_report(void **state)
{
	(void)state;
	check_events("report-t.txt", "report-t.events");
	assert_int_equal(other.stats.events, 300);
}

static void tracefs_with_tgid(void **state)
{
	(void)state;
	check_events("tracefs-tgid.txt", "tracefs-tgid.events");
	assert_int_equal(other.stats.lost, 0);
}

static void trace_pipe_with_losses(void **state)
{
	(void)state;
	check_events("trace_pipe-lost.txt", "trace_pipe-lost.events");
	assert_int_equal(other.stats.lost, 563 + 687);
	assert_int_equal(other.stats.events, 26);
}

static void perf_script(void **state)
{
	(void)state;
	check_events("perf-real.txt", "perf-real.events");
}

static void same(const struct ilb_event *a, const struct ilb_event *b,
		 const char *name)
{
	char left[SHOW_LEN], right[SHOW_LEN];

	show(left, a);
	show(right, b);
	if (memcmp(a, b, sizeof(*a)) || strcmp(left, right))
		fail_msg("%s: '%s', not '%s'", name, right, left);
}

/* @unit: what the format's times are rounded to */
static void check_form(const char *name, uint64_t unit)
{
	struct ilb_event event;
	unsigned int i;

	read_stream("report-t.txt", &reference);
	read_stream(name, &other);
	assert_int_equal(other.stats.unparsed, 0);
	assert_int_equal(reference.count, 300);
	assert_int_equal(other.count, reference.count);
	for (i = 0; i < reference.count; i++) {
		event = reference.events[i];
		event.time_ns = (event.time_ns + unit / 2) / unit * unit;
		same(&event, &other.events[i], name);
	}
}

static void latency_columns(void **state)
{
	(void)state;
	check_form("report-t-l.txt", 1);
}

static void microseconds(void **state)
{
	(void)state;
	check_form("report.txt", 1000);
}

static void tracefs(void **state)
{
	(void)state;
	check_form("tracefs.txt", 1000);
}

static void perf(void **state)
{
	(void)state;
	check_form("perf.txt", 1);
}

/* -R prints a timer's function as an address: a tick cannot be told, and the
 * reader must say so; all else is as it was. */
static void raw_fields(void **state)
{
	unsigned int i, ticks = 0;

	(void)state;
	read_stream("report-t.txt", &reference);
	read_stream("report-R-t.txt", &other);
	assert_int_equal(other.count, reference.count);
	for (i = 0; i < reference.count; i++) {
		if (reference.events[i].type == ILB_EVENT_TICK) {
			reference.events[i].type = ILB_EVENT_OTHER;
			ticks++;
		}
		same(&reference.events[i], &other.events[i], "report-R-t.txt");
	}
	assert_in_range(ticks, 10, 30);
	assert_in_range(other.stats.unparsed, ticks, ticks + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trace_cmd_report),
		cmocka_unit_test(tracefs_with_tgid),
		cmocka_unit_test(trace_pipe_with_losses),
		cmocka_unit_test(perf_script),
		cmocka_unit_test(latency_columns),
		cmocka_unit_test(microseconds),
		cmocka_unit_test(tracefs),
		cmocka_unit_test(perf),
		cmocka_unit_test(raw_fields),
	};

	return cmocka_run_group_tests_name("text_golden", tests, NULL, NULL);
}
