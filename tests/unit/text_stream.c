// SPDX-License-Identifier: GPL-2.0-only
/* A stream of text: losses, garbage, long and cut lines, what is no trace. */

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "ilb/error.h"
#include "test.h"
#include "text.h"
#include "text_source.h"
#include "trace/text.h"

#define SAMPLE_LINES	60
#define EVENT(time)	"   a-7 [001] " time ": softirq_raise: vec=7\n"

/* Reads all; the answers as lines of text. Returns the last result. */
static int read_all(struct ilb_source *source, char *to, size_t size,
		    struct ilb_source_stats *stats)
{
	struct ilb_event event;
	char text[SHOW_LEN];
	size_t len = 0;
	int result;

	*to = 0;
	while ((result = next(source, &event)) == 1) {
		show(text, &event);
		len += (size_t)snprintf(to + len, size - len, "%s\n", text);
		assert_true(len < size);
	}
	*stats = source->stats;
	source->ops->close(source);
	return result;
}

static void expect(const char *text, const char *events, uint64_t unparsed,
		   uint64_t lost)
{
	struct ilb_source_stats stats;
	char all[4096];

	assert_int_equal(read_all(open_bytes(text, strlen(text)), all,
				  sizeof(all), &stats), 0);
	assert_string_equal(all, events);
	assert_int_equal(stats.unparsed, unparsed);
	assert_int_equal(stats.lost, lost);
}

static void losses_get_a_time(void **state)
{
	(void)state;
	/* That of the next event, on whatever CPU; so also at the start. */
	expect("CPU:3 [LOST 5 EVENTS]\n" EVENT("2.000000"),
	       "2000000000 3 -1 lost 5\n2000000000 1 7 raise 7\n", 0, 5);
	expect(EVENT("1.000000") "CPU:3 [EVENTS DROPPED]\n" EVENT("2.000000"),
	       "1000000000 1 7 raise 7\n2000000000 3 -1 lost 0\n"
	       "2000000000 1 7 raise 7\n", 0, 1);
	/* That of the last event, if none follows. */
	expect(EVENT("1.000000") "CPU:3 [LOST 5 EVENTS]",
	       "1000000000 1 7 raise 7\n1000000000 3 -1 lost 5\n", 0, 5);
	expect(EVENT("1.000000") "CPU:3 [2 EVENTS DROPPED]\n"
	       "CPU:4 [EVENTS DROPPED]\n" EVENT("2.000000"),
	       "1000000000 1 7 raise 7\n1000000000 3 -1 lost 2\n"
	       "2000000000 4 -1 lost 0\n2000000000 1 7 raise 7\n", 0, 3);
	/* Its own. */
	expect(EVENT("1.000000") "  x 9 [003] 1.500000: PERF_RECORD_LOST lost 4\n",
	       "1000000000 1 7 raise 7\n1500000000 3 -1 lost 4\n", 0, 4);
}

static void time_is_passed_as_it_is(void **state)
{
	(void)state;
	expect(EVENT("2.000000") EVENT("1.000000"),
	       "2000000000 1 7 raise 7\n1000000000 1 7 raise 7\n", 0, 0);
}

static void unreadable_arguments_are_counted(void **state)
{
	(void)state;
	expect(EVENT("2.000000") "   a-7 [001] 3.000000: softirq_raise: vec=\n",
	       "2000000000 1 7 raise 7\n3000000000 1 7 other\n", 1, 0);
}

static void garbage_is_counted(void **state)
{
	static const char text[] = "\0\0\0\n\x1b[2J\n\xff\xfe: \n"
		" \n# a comment\n\ncpus=4\r\n: : : : \n"
		EVENT("1.000000") "   a-7 [001] 2.000000: softirq_ra";
	struct ilb_source_stats stats;
	char all[4096];

	(void)state;
	assert_int_equal(read_all(open_bytes(text, sizeof(text) - 1), all,
				  sizeof(all), &stats), 0);
	assert_string_equal(all, "1000000000 1 7 raise 7\n");
	assert_int_equal(stats.unparsed, 5);
	assert_int_equal(stats.events, 1);
}

/*
 * An event, one that is followed by as many blanks as make it @len bytes, and,
 * if that has a @newline, one more.
 */
static void expect_long(size_t len, int newline, unsigned int events)
{
	static const char start[] = EVENT("1.000000");
	struct ilb_source_stats stats;
	char *text = malloc(len + 2 * sizeof(start) + 2), all[4096];
	size_t size;

	assert_non_null(text);
	memcpy(text, start, sizeof(start) - 1);
	size = sizeof(start) - 1;
	memset(text + size, ' ', len);
	memcpy(text + size, start, sizeof(start) - 2);
	size += len;
	if (newline) {
		text[size++] = '\n';
		memcpy(text + size, start, sizeof(start) - 1);
		size += sizeof(start) - 1;
		events++;
	}
	assert_int_equal(read_all(open_bytes(text, size), all, sizeof(all),
				  &stats), 0);
	assert_int_equal(stats.events, 1 + events);
	assert_int_equal(stats.unparsed, len > ILB_TEXT_LINE_MAX);
	free(text);
}

static void long_lines_are_counted_once(void **state)
{
	static const size_t lens[] = { ILB_TEXT_LINE_MAX + 1, 5000, 65535,
				       65536, 65537, 1000000 };
	unsigned int i;

	(void)state;
	expect_long(ILB_TEXT_LINE_MAX, 0, 1);
	expect_long(ILB_TEXT_LINE_MAX, 1, 1);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		expect_long(lens[i], 0, 0);
		expect_long(lens[i], 1, 0);
	}
}

/* The first lines of a sample; cut off behind them. */
static struct bytes load_lines(const char *name, unsigned int lines)
{
	struct bytes text = load(name);
	char *p = text.p;

	while (lines--) {
		p = strchr(p, '\n');
		assert_non_null(p);
		p++;
	}
	*p = 0;
	text.len = (size_t)(p - text.p);
	return text;
}

/* What comes before a cut is not touched by it; the rest is counted. */
static void a_cut_costs_one_line(void **state)
{
	struct bytes text = load_lines("report-t-l.txt", SAMPLE_LINES);
	struct ilb_source_stats stats;
	char full[16384], all[16384], *end;
	unsigned int whole = 0;
	size_t i;
	int result;

	(void)state;
	read_all(open_bytes(text.p, text.len), full, sizeof(full), &stats);
	assert_int_equal(stats.events, SAMPLE_LINES - 1);
	for (i = 1, end = full; i < text.len; i++) {
		if (i > 8 && text.p[i - 1] == '\n') {
			end = strchr(end, '\n') + 1;
			whole++;
		}
		result = read_all(open_bytes(text.p, i), all, sizeof(all),
				  &stats);
		/* Until the end of "cpus=16\n" and one event it is no trace. */
		assert_int_equal(result, whole || stats.events ||
				 !stats.unparsed ? 0 : -ILB_ERR_FORMAT);
		assert_memory_equal(all, full, (size_t)(end - full));
		assert_in_range(stats.events, whole, whole + 1);
		assert_in_range(stats.unparsed, 0, 1);
		if (text.p[i - 1] == '\n' && i > 8)
			assert_int_equal(stats.unparsed, 0);
		else if (stats.events == whole && text.p[i - 1] == ':')
			assert_int_equal(stats.unparsed, 1);
	}
	assert_int_equal(whole, SAMPLE_LINES - 2);
	free(text.p);
}

/* A child that writes @step bytes at a time, each of them one read(). */
static int feed(struct bytes text, size_t step, pid_t *child)
{
	size_t i, len;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	*child = fork();
	assert_true(*child >= 0);
	if (*child) {
		close(fds[1]);
		return fds[0];
	}
	for (i = 0; i < text.len; i += len) {
		len = text.len - i < step ? text.len - i : step;
		if (send(fds[1], text.p + i, len, 0) != (ssize_t)len)
			_exit(1);
	}
	_exit(0);
}

static void pieces_do_not_matter(void **state)
{
	static const size_t steps[] = { 1, 7, 4095, 4097 };
	struct bytes text = load_lines("tracefs-tgid.txt", 100);
	struct ilb_source_stats stats;
	char full[16384], all[16384];
	unsigned int i;
	pid_t child;
	int status;

	(void)state;
	read_all(open_bytes(text.p, text.len), full, sizeof(full), &stats);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		assert_int_equal(read_all(open_fd(feed(text, steps[i], &child)),
					  all, sizeof(all), &stats), 0);
		assert_string_equal(all, full);
		assert_int_equal(stats.bytes_read, text.len);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	free(text.p);
}

static void expect_refused_as(struct ilb_source *source, int err,
			      const char *start)
{
	struct ilb_event event;
	struct ilb_error error;

	assert_int_equal(source->ops->next(source, &event, &error), -err);
	assert_memory_equal(error.text, start, strlen(start));
	source->ops->close(source);
}

static void expect_refused(struct ilb_source *source)
{
	expect_refused_as(source, ILB_ERR_FORMAT,
			  "x.txt: no line of it looks like a trace; ");
}

/* @lines of garbage, then an event. */
static struct ilb_source *open_garbage(unsigned int lines)
{
	static char text[1000 * 2 + 100];
	unsigned int i;

	assert_true(lines <= 1000);
	for (i = 0; i < lines; i++)
		memcpy(text + 2 * i, "x\n", 2);
	strcpy(text + 2 * lines, EVENT("1.000000"));
	return open_bytes(text, strlen(text));
}

static void what_is_no_trace_is_refused(void **state)
{
	struct ilb_source_stats stats;
	char all[4096];

	(void)state;
	expect_refused_as(open_bytes("", 0), ILB_ERR_FORMAT,
			  "x.txt: is empty; ");
	expect_refused_as(open_bytes("\x17\x08\x44tracing7\0\0", 13),
			  ILB_ERR_UNSUPPORTED,
			  "x.txt: is a trace.dat in a pipe");
	expect_refused(open_bytes("\n# a comment\n", 13));
	expect_refused(open_bytes("x", 1));
	expect_refused(open_bytes("# tracer: nop\n9 0 14 type: 5\n", 29));
	expect_refused(open_garbage(1000));
	assert_int_equal(read_all(open_garbage(999), all, sizeof(all), &stats),
			 0);
	assert_string_equal(all, "1000000000 1 7 raise 7\n");
	assert_int_equal(stats.unparsed, 999);
	/* Without an end, and without lines. */
	expect_refused(open_fd(open("/dev/zero", O_RDONLY | O_CLOEXEC)));
}

static void an_empty_trace_is_a_trace(void **state)
{
	(void)state;
	expect("# tracer: nop\n#\n#  TASK-PID   CPU#\n", "", 0, 0);
	expect("cpus=16\nCPU 0 is empty\n", "", 0, 0);
}

static void a_failed_read_is_told(void **state)
{
	struct ilb_source *source = open_fd(open("/", O_RDONLY | O_CLOEXEC));
	struct ilb_event event;
	struct ilb_error error;

	(void)state;
	assert_int_equal(source->ops->next(source, &event, &error),
			 -ILB_ERR_IO);
	assert_non_null(strstr(error.text, "x.txt: cannot read: Is a directory"));
	source->ops->close(source);
}

static void check_line(const char *line, size_t len)
{
	struct ilb_event event;
	int kind = ilb_text_line(line, len, &event);

	assert_in_range(kind, ILB_TEXT_UNPARSED, ILB_TEXT_LOST);
	assert_in_range(event.type, 0, ILB_EVENT_TYPES - 1);
	if (event.type == ILB_EVENT_SWITCH)
		assert_non_null(memchr(event.u.sched_switch.next_comm, 0,
				       ILB_COMM_LEN));
	if (kind == ILB_TEXT_ARGS)
		assert_int_equal(event.type, ILB_EVENT_OTHER);
}

/* Lines with some bytes changed: any answer will do that is well-formed. */
static void damage_is_survived(void **state)
{
	static const char special[] = "\0:[]- \t/(=+>x0197\xff";
	struct bytes text = load("perf-real.txt");
	uint32_t seed = 1, i, j;
	char *line, *end, copy[512];
	size_t len;

	(void)state;
	for (i = 0; i < 200; i++) {
		for (line = text.p; (end = strchr(line, '\n'));
		     line = end + 1) {
			len = (size_t)(end - line);
			assert_true(len < sizeof(copy));
			memcpy(copy, line, len);
			for (j = 0; j < 1 + i % 4; j++) {
				seed = seed * 1664525 + 1013904223;
				copy[(seed >> 8) % len] =
					special[(seed >> 20) %
						(sizeof(special) - 1)];
			}
			check_line(copy, len);
		}
	}
	free(text.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_get_a_time),
		cmocka_unit_test(time_is_passed_as_it_is),
		cmocka_unit_test(unreadable_arguments_are_counted),
		cmocka_unit_test(garbage_is_counted),
		cmocka_unit_test(long_lines_are_counted_once),
		cmocka_unit_test(a_cut_costs_one_line),
		cmocka_unit_test(pieces_do_not_matter),
		cmocka_unit_test(what_is_no_trace_is_refused),
		cmocka_unit_test(an_empty_trace_is_a_trace),
		cmocka_unit_test(a_failed_read_is_told),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests_name("text_stream", tests, NULL, NULL);
}
