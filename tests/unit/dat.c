// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples cut out of real traces are read to the events that trace-cmd's text
 * says they hold (tests/golden/dat/events.py), in whatever form they are.
 */

#include "test.h"
#include "dat_file.h"
#include "trace/dat.h"
#include "ilb/source.h"

static struct ilb_source *open_source(const char *path, unsigned int cpus)
{
	struct ilb_source *source = NULL;
	struct ilb_error error = { "" };

	if (ilb_source_open(&source, path, cpus, &error))
		fail_msg("%s", error.text);
	return source;
}

static void compare(const char *sample, const char *expected,
		    unsigned int events)
{
	char path[256], want[256], got[256];
	struct ilb_source_stats stats;
	struct ilb_source *source;
	struct ilb_error error;
	struct ilb_event event;
	unsigned int n = 0;
	FILE *file;

	file = fopen(dat_path(path, sizeof(path), expected), "re");
	assert_non_null(file);
	source = open_source(dat_path(path, sizeof(path), sample), 16);
	while (fgets(want, sizeof(want), file)) {
		n++;
		want[strcspn(want, "\n")] = '\0';
		assert_int_equal(ilb_source_next(source, &event, &error), 1);
		dat_format(got, sizeof(got), &event);
		assert_string_equal(got, want);
	}
	fclose(file);
	assert_int_equal(n, events);
	assert_int_equal(ilb_source_next(source, &event, &error), 0);
	assert_int_equal(ilb_source_next(source, &event, &error), 0);
	ilb_source_stats(source, &stats);
	assert_int_equal(stats.events, n);
	assert_int_equal(stats.unparsed, 0);
	assert_int_equal(stats.lost, 0);
	assert_int_equal(stats.backwards, 0);
	assert_true(stats.bytes_total > 0);
	assert_int_equal(stats.bytes_read, stats.bytes_total);
	ilb_source_close(source);
}

#define EVENTS_7_3	820
#define EVENTS_6_1	1206
#define EVENTS_6_12	3504

static void linux_7_3_in_every_form(void **state)
{
	static const char *const samples[] = {
		"7.3-v6.dat", "7.3-v6-instance.dat", "7.3-v7.dat",
		"7.3-v7-zstd.dat", "7.3-v7-zstd-instance.dat",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(samples); i++)
		compare(samples[i], "7.3.events", EVENTS_7_3);
}

static void linux_6_1(void **state)
{
	(void)state;
	compare("6.1-v7-zstd.dat", "6.1.events", EVENTS_6_1);
}

/* More than one piece per CPU; IPIs are told by the text of their reason. */
static void linux_6_12_arm64(void **state)
{
	(void)state;
	compare("6.12-arm64-v7-zstd.dat", "6.12-arm64.events", EVENTS_6_12);
}

static void cpu_outside_the_topology(void **state)
{
	struct ilb_source *source;
	struct ilb_error error;
	struct ilb_event event;
	char path[256];
	int got;

	(void)state;
	source = open_source(dat_path(path, sizeof(path), "7.3-v7.dat"), 12);
	while ((got = ilb_source_next(source, &event, &error)) == 1)
		assert_true(event.cpu < 12);
	assert_int_equal(got, -ILB_ERR_MISMATCH);
	assert_non_null(strstr(error.text, "CPU 12"));
	ilb_source_close(source);
}

/*
 * A page of the sample that has room behind its last record for the number
 * of lost events, and is not the first of its CPU.
 */
static unsigned char *find_page(struct dat_file *f, unsigned int *cpu)
{
	struct ilb_dat_layout layout;
	struct ilb_error error;
	unsigned char *page = NULL;
	uint32_t commit;
	unsigned int i;

	dat_store(f, f->size);
	assert_int_equal(ilb_dat_layout_read(&layout, f->fd, f->path, &error),
			 0);
	for (i = 0; i < layout.nr_cpus; i++) {
		page = f->data + layout.cpus[i].offset + 4096;
		memcpy(&commit, page + 8, sizeof(commit));
		if (layout.cpus[i].size > 4096 && commit < 4096 - 16 - 8)
			break;
	}
	assert_true(i < layout.nr_cpus);
	*cpu = layout.cpus[i].cpu;
	ilb_dat_layout_free(&layout);
	return page;
}

static struct ilb_source_stats read_lost(struct dat_file *f,
					 struct ilb_event *lost)
{
	struct ilb_source_stats stats;
	struct ilb_source *source;
	struct ilb_error error;
	struct ilb_event event;
	int got;

	dat_store(f, f->size);
	source = open_source(f->path, 16);
	while ((got = ilb_source_next(source, &event, &error)) == 1)
		if (event.type == ILB_EVENT_LOST)
			*lost = event;
	assert_int_equal(got, 0);
	ilb_source_stats(source, &stats);
	ilb_source_close(source);
	return stats;
}

static void lost_events(void **state)
{
	static struct dat_file f;
	struct ilb_source_stats stats;
	struct ilb_event lost = { 0 };
	uint32_t commit, count = 4711;
	unsigned char *page;
	unsigned int cpu;

	(void)state;
	dat_load(&f, "7.3-v7.dat");
	page = find_page(&f, &cpu);
	memcpy(&commit, page + 8, sizeof(commit));

	/* Lost, and the kernel did not say how many. */
	page[11] |= 0x80;
	stats = read_lost(&f, &lost);
	assert_int_equal(lost.type, ILB_EVENT_LOST);
	assert_int_equal(lost.cpu, cpu);
	assert_int_equal(lost.u.lost.count, 0);
	assert_int_equal(stats.lost, 1);
	assert_int_equal(stats.events, EVENTS_7_3);

	/* Lost, and the number stands behind the last record. */
	page[11] |= 0x40;
	memcpy(page + 16 + commit, &count, sizeof(count));
	stats = read_lost(&f, &lost);
	assert_int_equal(lost.u.lost.count, 4711);
	assert_int_equal(stats.lost, 4711);
	close(f.fd);
}

/* Replace a text in a sample by another of the same length. */
static void replace(struct dat_file *f, const char *from, const char *to)
{
	unsigned char *at = memmem(f->data, f->size, from, strlen(from));

	assert_int_equal(strlen(from), strlen(to));
	assert_non_null(at);
	memcpy(at, to, strlen(to));
}

static void count_types(struct dat_file *f, unsigned int *types,
			struct ilb_source_stats *stats)
{
	struct ilb_source *source;
	struct ilb_error error;
	struct ilb_event event;

	memset(types, 0, ILB_EVENT_TYPES * sizeof(*types));
	dat_store(f, f->size);
	source = open_source(f->path, 16);
	while (ilb_source_next(source, &event, &error) == 1)
		types[event.type]++;
	ilb_source_stats(source, stats);
	ilb_source_close(source);
}

/* What kptr_restrict does to the addresses of all symbols. */
static void blank_addresses(struct dat_file *f)
{
	unsigned char *p = f->data, *end = f->data + f->size - 19;
	unsigned int n = 0;

	for (; p < end; p++)
		if (p[16] == ' ' && p[18] == ' ' &&
		    strspn((char *)p, "0123456789abcdef") == 16) {
			memset(p, '0', 16);
			n++;
		}
	assert_true(n > 5);
}

/* Without names, functions are not understood, and that is counted. */
static void functions_without_names(void **state)
{
	unsigned int with[ILB_EVENT_TYPES], without[ILB_EVENT_TYPES];
	struct ilb_source_stats stats;
	static struct dat_file f;

	(void)state;
	dat_load(&f, "7.3-v7.dat");
	count_types(&f, with, &stats);
	assert_true(with[ILB_EVENT_TICK] > 0);
	assert_int_equal(stats.unparsed, 0);
	blank_addresses(&f);
	count_types(&f, without, &stats);
	assert_int_equal(without[ILB_EVENT_TICK], 0);
	assert_int_equal(without[ILB_EVENT_CSD_QUEUE],
			 with[ILB_EVENT_CSD_QUEUE]);
	assert_true(stats.unparsed >= with[ILB_EVENT_TICK] +
		    with[ILB_EVENT_CSD_QUEUE] + with[ILB_EVENT_CSD_ENTRY] +
		    with[ILB_EVENT_CSD_EXIT] + with[ILB_EVENT_PROBE_SEND]);
	close(f.fd);
}

/* A function whose name the compiler extended is the same function. */
static void function_with_a_suffix(void **state)
{
	unsigned int with[ILB_EVENT_TYPES], without[ILB_EVENT_TYPES];
	struct ilb_source_stats stats;
	static struct dat_file f;

	(void)state;
	dat_load(&f, "7.3-v7.dat");
	count_types(&f, with, &stats);
	replace(&f, "t tick_nohz_handler", "t tick_nohz_handlex");
	count_types(&f, without, &stats);
	assert_int_equal(without[ILB_EVENT_TICK], 0);
	assert_int_equal(stats.unparsed, 0);
	replace(&f, "t tick_nohz_handlex", "t tick_sched_timer.");
	count_types(&f, without, &stats);
	assert_int_equal(without[ILB_EVENT_TICK], with[ILB_EVENT_TICK]);
	close(f.fd);
}

/* Only the probes of the system "ilb" are ours. */
static void probes_of_another_system(void **state)
{
	unsigned int types[ILB_EVENT_TYPES];
	struct ilb_source_stats stats;
	static struct dat_file f;
	unsigned int i;

	(void)state;
	dat_load(&f, "7.3-v7.dat");
	count_types(&f, types, &stats);
	assert_true(types[ILB_EVENT_PROBE_TICK] > 0);
	replace(&f, "ilb", "abc");
	count_types(&f, types, &stats);
	for (i = ILB_EVENT_PROBE_ENTER; i < ILB_EVENT_TYPES; i++)
		assert_int_equal(types[i], 0);
	assert_int_equal(stats.unparsed, 0);
	close(f.fd);
}

/* An event of interest that lacks a field is OTHER, and counted. */
static void missing_field(void **state)
{
	unsigned int with[ILB_EVENT_TYPES], without[ILB_EVENT_TYPES];
	struct ilb_source_stats stats;
	static struct dat_file f;

	(void)state;
	dat_load(&f, "7.3-v7.dat");
	count_types(&f, with, &stats);
	replace(&f, "field:pid_t next_pid;", "field:pid_t nxxt_pid;");
	count_types(&f, without, &stats);
	assert_int_equal(without[ILB_EVENT_SWITCH], 0);
	assert_int_equal(without[ILB_EVENT_OTHER],
			 with[ILB_EVENT_OTHER] + with[ILB_EVENT_SWITCH]);
	assert_int_equal(stats.unparsed, with[ILB_EVENT_SWITCH]);
	close(f.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linux_7_3_in_every_form),
		cmocka_unit_test(linux_6_1),
		cmocka_unit_test(linux_6_12_arm64),
		cmocka_unit_test(cpu_outside_the_topology),
		cmocka_unit_test(lost_events),
		cmocka_unit_test(functions_without_names),
		cmocka_unit_test(function_with_a_suffix),
		cmocka_unit_test(probes_of_another_system),
		cmocka_unit_test(missing_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
