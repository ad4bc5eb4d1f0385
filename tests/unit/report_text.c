// SPDX-License-Identifier: GPL-2.0-only
/* The text of report: what it says, and that it can be printed anywhere. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "report_samples.h"
#include "test.h"

static struct sample sample;

static char *text_of(unsigned int width, int colour)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(ilb_report_text(out, &sample.report, width, colour),
			 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Wrapping and columns are not what most tests are about. */
static char *words_of(unsigned int width)
{
	char *text = text_of(width, 0), *from, *to = text;

	for (from = text; *from; from++) {
		if (*from != ' ' && *from != '\n')
			*to++ = *from;
		else if (to == text || to[-1] != ' ')
			*to++ = ' ';
	}
	*to = '\0';
	return text;
}

static void assert_says(const char *what)
{
	char *words = words_of(0);

	if (!strstr(words, what))
		fail_msg("'%s' is missing in: %s", what, words);
	free(words);
}

static void assert_silent(const char *what)
{
	char *words = words_of(0);

	if (strstr(words, what))
		fail_msg("'%s' is in: %s", what, words);
	free(words);
}

static void make(const char *name)
{
	assert_int_equal(sample_make(&sample, name), 0);
}

static void verdict_all_avoidable(void **state)
{
	(void)state;
	make("full");
	assert_says("Verdict 377 of 377 ILB kicks (55.3/s) woke the idle"
		    " sibling of a busy core; all 377 were avoidable: a whole"
		    " core was idle. spin0 was disturbed 3.1 % of its running"
		    " time. Findings");
}

static void verdict_some_avoidable(void **state)
{
	(void)state;
	make("full");
	sample.measures.kicks.on_busy_core = 300;
	sample.measures.kicks.avoidable = 297;
	assert_says("300 of 377 ILB kicks");
	assert_says("; 297 of them were avoidable: a whole core was idle.");
	sample.measures.kicks.avoidable = 1;
	assert_says("; 1 of them was avoidable: a whole core was idle.");
	sample.measures.kicks.avoidable = 0;
	assert_says("; none was avoidable: no whole core was idle.");
	sample.measures.kicks.total = 1;
	sample.measures.kicks.on_busy_core = 1;
	sample.measures.kicks.avoidable = 1;
	assert_says("1 of 1 ILB kick (0.15/s) woke");
	assert_says("; it was avoidable: a whole core was idle.");
}

static void verdict_of_what_is_unknown(void **state)
{
	(void)state;
	make("full");
	sample.measures.kicks.masks_known = 0;
	assert_says("; whether a whole core was idle is unknown: needs"
		    " timer:tick_stop");
	sample.measures.runs.known = 0;
	assert_says("How long that disturbed anyone is unknown: needs"
		    " csd:csd_function_entry");
	sample.measures.kicks.kicks_known = 0;
	assert_says("Verdict This trace cannot show kicks: record"
		    " csd:csd_queue_cpu");
	sample.report.measures = NULL;
	assert_says("Verdict Nothing was measured.");
}

static void verdict_none(void **state)
{
	(void)state;
	make("full");
	sample.measures.kicks.on_busy_core = 0;
	sample.measures.kicks.avoidable = 0;
	assert_says("Verdict None of 377 kicks (55.3/s) woke the sibling of a"
		    " busy core. Findings");
	sample.capture.topology.smt = 0;
	assert_says("Verdict No core has two CPUs here, so none of 377 kicks"
		    " (55.3/s) could disturb a sibling.");
	make("empty");
	assert_says("Verdict No CPU was kicked");
	strcpy(sample.capture.system.cmdline, "quiet xidle=poll idle=polling");
	assert_silent("mask of CPUs");
	strcpy(sample.capture.system.cmdline, "quiet  idle=poll x");
	assert_says("for the idle ones. None can be with idle=poll: idle CPUs"
		    " keep their ticks");
}

static void verdict_names_a_victim(void **state)
{
	(void)state;
	make("full");
	sample.victims[0].comm[0] = '\0';
	assert_says("idle. pid 400 was disturbed 3.1 %");
	sample.victims[0].running_ns = 0;
	assert_says("idle. pid 400 was disturbed for 201.5 ms.");
	sample.measures.nr_victims = 0;
	assert_says("idle. No task was seen disturbed.");
}

static void lost_events_come_first(void **state)
{
	char *text;

	(void)state;
	make("full");
	assert_silent("WARNING");
	sample.source.lost = 123;
	text = text_of(0, 0);
	assert_int_equal(strncmp(text, "WARNING: 123 events were lost; counts"
				 " below are too low\nilb report: ", 68), 0);
	free(text);
}

static void lost_moments_come_first(void **state)
{
	(void)state;
	make("exact");
	assert_says("WARNING: of 380 kicks the exact moments of 3 were lost;"
		    " the trace is what tells of these ilb report:");
	sample.report.source = NULL;
	assert_says("WARNING: of 380 kicks the exact moments of 3 were lost;"
		    " counts below are too low ilb report:");
	sample.moments.lost = 0;
	assert_silent("WARNING");
}

static void how_right_reconstruction_is(void **state)
{
	(void)state;
	make("exact");
	assert_says("reconstruction right in >99.9 % of the mask and 98.0 % of"
		    " the idle set, at the 370 kicks with an exact moment; 7"
		    " have none and are reconstructed; of exact moments 2 are"
		    " of kicks that the trace lacks, and 5 from before or"
		    " after it, left out");
	sample.pair.paired = sample.pair.bits = 0;
	assert_says("reconstruction cannot be compared: no kick has an exact"
		    " moment; 5 moments are from before or after");
	make("full");
	assert_silent("reconstruction");
}

static void without_a_trace(void **state)
{
	(void)state;
	make("unknown");
	sample.report.moments = &sample.moments;
	sample.report.source = NULL;
	assert_says("SCHED softirqs unknown: needs a trace; record without"
		    " --moments-only");
	assert_says("jiffies with a kick unknown: needs a trace;");
	assert_says("attempts unknown: needs schedstat.before");
	assert_silent("needs sched:");
	sample.report.moments = NULL;
	assert_silent("--moments-only");
}

static void header_says_what_was_read(void **state)
{
	(void)state;
	make("full");
	assert_says("ilb report: ilb.data (6.12.95+deb12-cloud-amd64, 16 CPUs,"
		    " 250 Hz, 6.82 s, moments: probed)");
	make("unknown");
	assert_says("ilb report: ilb.data (kernel unknown, 16 CPUs, tick rate"
		    " unknown) ");
	make("null");
	assert_says("ilb report: no capture (kernel unknown");
}

static void findings_in_their_order(void **state)
{
	char *words;

	(void)state;
	make("full");
	assert_says("Findings serious: ilb-on-busy-core: What ilb-on-busy-core"
		    " found");
	assert_says("CPUs: 1,3,5 why: It costs time. do: Try ilb fix trial."
		    " warning: ilb-one-cpu: ");
	assert_says("cannot judge: tick-churn, lost-nohz-full-cpu: record"
		    " timer:tick_stop cannot judge: softirq-stranded: record"
		    " irq:softirq_raise Kicks");
	words = words_of(0);
	assert_null(strstr(words, "unknown: tick-churn"));
	free(words);
	make("empty");
	assert_says("Findings none Kicks");
}

static void ranking_ends_with_the_others(void **state)
{
	(void)state;
	make("full");
	assert_says("TARGET CPU KICKS SHARE 14 195 51.7 % 12 16 4.2 % 13 16");
	assert_says(" 4 12 3.2 % 5 others 54 14.3 % KICKER CPU KICKS SHARE"
		    " 0 376 99.7 % 9 1 0.3 % Runs");
}

static void parts_that_are_known(void **state)
{
	(void)state;
	make("full");
	assert_says("on the kicker's core 101 (26.8 %)");
	assert_says("target busy by then 12 (3.2 %)");
	assert_says("1103 beside a busy sibling (22.4 %), 3815 beside");
	assert_says("SCHED softirqs 2625 (384.9/s) time in them 98.8 ms");
	assert_says("CPUs busy 25.0 % of their time");
	assert_says("377 of 1700 in which a CPU was busy (22.2 %)");
	assert_says("and 2 more");
	assert_says("SMT newly-idle 22827 3320 1408 33 2 90210 0 17 0");
	assert_says("domain1 busy 34241 4981 1408 33 0 90210 - - -");
	assert_says("5 of 377 rest on one about which CPUs");
	assert_says("not understood 7 of 123456");
	assert_says("time ran backwards 2 times");
	assert_silent("nobody qualified");
	sample.measures.kind = ILB_MOMENT_EXACT;
	assert_silent("nobody qualified");
	sample.measures.kind = ILB_MOMENT_SIMULATED;
	assert_says("nobody qualified 0 (0 %)");
	assert_silent("unknown");
}

static void histograms_show_every_bucket_between(void **state)
{
	char *text;

	(void)state;
	make("full");
	memset(&sample.measures.runs.latency, 0,
	       sizeof(sample.measures.runs.latency));
	ilb_hist_add(&sample.measures.runs.latency, 3000);
	ilb_hist_add(&sample.measures.runs.latency, 3000);
	ilb_hist_add(&sample.measures.runs.latency, 1500000);
	text = text_of(40, 0);
	assert_non_null(strstr(text, "  [2, 4)                  2 |@@@@@@@@@@|"
				     "\n  [4, 8)                  0 |"
				     "          |\n"));
	assert_non_null(strstr(text, "  [1K, 2K)                1 |@@@@@     |"
				     "\n  duration"));
	assert_null(strstr(text, "  [1, 2) "));
	free(text);
}

static void a_rare_bucket_shows(void **state)
{
	unsigned int i;
	char *text;

	(void)state;
	make("full");
	memset(&sample.measures.runs.latency, 0,
	       sizeof(sample.measures.runs.latency));
	ilb_hist_add(&sample.measures.runs.latency, 3000);
	for (i = 0; i < 1000; i++)
		ilb_hist_add(&sample.measures.runs.latency, 5000);
	text = text_of(40, 0);
	assert_non_null(strstr(text, "  [2, 4)                  1 |@         |"
				     "\n  [4, 8)               1000 |"
				     "@@@@@@@@@@|\n  duration"));
	free(text);
}

/* No lone 0 anywhere: that is how an unknown would look as a number. */
static void unknown_is_never_0(void **state)
{
	char *words, *zero;

	(void)state;
	make("unknown");
	words = words_of(0);
	for (zero = strchr(words, '0'); zero; zero = strchr(zero + 1, '0'))
		if (strchr(" (", zero[-1]) && strchr(" ,.;)%", zero[1]))
			fail_msg("a 0 at: %s", zero);
	free(words);
	assert_says("kicks unknown: needs csd:csd_queue_cpu");
	assert_says("left idle for a task unknown: needs sched:sched_switch");
	assert_says("SCHED softirqs unknown: needs");
	assert_says("CPUs busy unknown: needs");
	assert_says("jiffies with a kick unknown: needs the tick rate");
	assert_says("attempts unknown: needs schedstat.before");
	sample.measures.schedstat_counts = 0;
	assert_says("attempts unknown: needs kernel.sched_schedstats=1");
	make("full");
	sample.measures.kicks.kicker_unknown = 377;
	sample.measures.kicks.dropped_known = 0;
	assert_says("target and kicker unknown: needs");
	assert_says("target busy by then unknown: needs");
	assert_silent("in the kicker's LLC");
}

/* The zero that the test above looks for is there where it is known. */
static void a_known_0_is_said(void **state)
{
	(void)state;
	make("empty");
	assert_says("Kicks kicks 0 (0/s) Runs");
	assert_says("Runs on the kicked CPUs, in us runs 0 ");
}

static void shares_never_round_to_all_or_none(void **state)
{
	(void)state;
	make("full");
	sample.measures.kicks.total = 10000;
	sample.measures.kicks.on_busy_core = 9999;
	sample.measures.kicks.avoidable = 1;
	assert_says("on a busy core 9999 (>99.9 %)");
	assert_says("avoidable 1 (<0.1 %)");
	sample.measures.kicks.total = 9999;
	assert_says("on a busy core 9999 (100 %)");
}

static size_t longest_line(const char *text)
{
	size_t longest = 0, length;

	while (*text) {
		length = strcspn(text, "\n");
		assert_int_equal(text[length], '\n');
		if (length && text[length - 1] == ' ')
			fail_msg("a blank ends: %.*s", (int)length, text);
		if (length > longest)
			longest = length;
		text += length + 1;
	}
	return longest;
}

static void lines_keep_to_the_width(void **state)
{
	static const unsigned int widths[] = { 0, 1, 40, 60, 80, 100, 5000 };
	static const char *const names[] = { "full", "unknown", "null",
					     "empty" };
	unsigned int i, n, limit;
	char *text;

	(void)state;
	for (n = 0; n < ARRAY_SIZE(names); n++) {
		for (i = 0; i < ARRAY_SIZE(widths); i++) {
			make(names[n]);
			memset(sample.path, 'p', sizeof(sample.path) - 1);
			text = text_of(widths[i], 0);
			limit = widths[i] ? widths[i] : 100;
			if (limit < 40)
				limit = 40;
			if (limit > 100)
				limit = 100;
			if (longest_line(text) > limit)
				fail_msg("%s: %zu columns for a width of %u",
					 names[n], longest_line(text),
					 widths[i]);
			free(text);
		}
	}
}

static void narrow_tables_lose_nothing(void **state)
{
	char *wide, *narrow;

	(void)state;
	make("full");
	wide = text_of(0, 0);
	narrow = text_of(60, 0);
	assert_non_null(strstr(wide, "LB/S  BALANCED  FAILED  GAINED  IMB-LOAD"
				     "  UTIL  TASK  MISFIT\n"));
	assert_non_null(strstr(narrow, "FAILED  GAINED\n"));
	assert_non_null(strstr(narrow, "\n\n  DOMAIN   CPU WAS     IMB-LOAD"
				       "  UTIL  TASK  MISFIT\n"));
	free(wide);
	free(narrow);
}

static void numbers_keep_their_units(void **state)
{
	unsigned int width;
	char *text;

	(void)state;
	make("full");
	for (width = 40; width <= 100; width++) {
		text = text_of(width, 0);
		assert_null(strstr(text, "3.1\n"));
		assert_non_null(strstr(text, "3.1 %"));
		assert_null(strstr(text, "20.0\n"));
		free(text);
	}
}

static void assert_clean(const char *text)
{
	for (; *text; text++)
		if (*text != '\n' && (*text < ' ' || *text > '~'))
			fail_msg("byte 0x%02x in the text",
				 (unsigned char)*text);
}

static void hostile_names_become_harmless(void **state)
{
	static const unsigned int widths[] = { 0, 40, 80 };
	unsigned int i;
	char *text;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(widths); i++) {
		make("hostile");
		text = text_of(widths[i], 0);
		assert_clean(text);
		assert_non_null(strstr(text, "?[2J???\\\"??????"));
		free(text);
	}
	assert_says("WARNING: 18446744073709551615 events");
	assert_says("and 1190 more");
}

/* Colour is on the word only, and the words are the same without it. */
static void colour_adds_nothing_but_colour(void **state)
{
	char *plain, *coloured, *from, *to;

	(void)state;
	make("full");
	sample.source.lost = 1;
	plain = text_of(0, 0);
	coloured = text_of(0, 1);
	assert_clean(plain);
	assert_non_null(strstr(coloured,
			       "\n  \033[1;31mserious\033[0m: ilb-on-busy"));
	for (from = to = coloured; *from; from++) {
		if (*from == '\033')
			from = strchr(from, 'm');
		else
			*to++ = *from;
	}
	*to = '\0';
	assert_string_equal(plain, coloured);
	free(plain);
	free(coloured);
}

static void the_same_bytes_twice(void **state)
{
	char *one, *two;
	unsigned int i;

	(void)state;
	for (i = 0; sample_names[i]; i++) {
		make(sample_names[i]);
		one = text_of(0, 0);
		make(sample_names[i]);
		two = text_of(0, 0);
		assert_string_equal(one, two);
		free(one);
		free(two);
	}
}

static void a_full_disk_is_an_error(void **state)
{
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	if (!out) {
		print_message("# skipped: no /dev/full\n");
		return;
	}
	make("full");
	assert_int_equal(ilb_report_text(out, &sample.report, 0, 0),
			 -ILB_ERR_IO);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdict_all_avoidable),
		cmocka_unit_test(verdict_some_avoidable),
		cmocka_unit_test(verdict_of_what_is_unknown),
		cmocka_unit_test(verdict_none),
		cmocka_unit_test(verdict_names_a_victim),
		cmocka_unit_test(lost_events_come_first),
		cmocka_unit_test(lost_moments_come_first),
		cmocka_unit_test(how_right_reconstruction_is),
		cmocka_unit_test(without_a_trace),
		cmocka_unit_test(header_says_what_was_read),
		cmocka_unit_test(findings_in_their_order),
		cmocka_unit_test(ranking_ends_with_the_others),
		cmocka_unit_test(parts_that_are_known),
		cmocka_unit_test(histograms_show_every_bucket_between),
		cmocka_unit_test(a_rare_bucket_shows),
		cmocka_unit_test(unknown_is_never_0),
		cmocka_unit_test(a_known_0_is_said),
		cmocka_unit_test(shares_never_round_to_all_or_none),
		cmocka_unit_test(lines_keep_to_the_width),
		cmocka_unit_test(narrow_tables_lose_nothing),
		cmocka_unit_test(numbers_keep_their_units),
		cmocka_unit_test(hostile_names_become_harmless),
		cmocka_unit_test(colour_adds_nothing_but_colour),
		cmocka_unit_test(the_same_bytes_twice),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests_name("report_text", tests, NULL, NULL);
}
