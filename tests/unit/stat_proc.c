// SPDX-License-Identifier: GPL-2.0-only
/* What stat makes of /proc: counters that wrap, fall back, or are missing. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "live/stat.h"

static char root[64];
static struct ilb_proc proc;
static struct ilb_source_of sources[ILB_PARTS];
static struct ilb_measures measures;

static const char *const files[] = { "softirqs", "stat", "schedstat" };

static void path_of(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/proc/%s", root, name);
}

static int make_root(void **state)
{
	char path[100];

	(void)state;
	strcpy(root, "/tmp/ilb-stat-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	path_of(path, sizeof(path), "");
	memset(&proc, 0, sizeof(proc));
	memset(sources, 0, sizeof(sources));
	memset(&measures, 0, sizeof(measures));
	measures.schedstat_counts = -1;
	proc.root = root;
	return mkdir(path, 0700);
}

static int remove_root(void **state)
{
	char path[100];
	unsigned int i;

	(void)state;
	ilb_proc_free(&proc);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		path_of(path, sizeof(path), files[i]);
		unlink(path);
	}
	path_of(path, sizeof(path), "");
	return rmdir(path) || rmdir(root);
}

static void put(const char *name, const char *text)
{
	char path[100];
	FILE *file;

	path_of(path, sizeof(path), name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void softirqs_wrap(void **state)
{
	(void)state;
	put("softirqs", "          CPU0 CPU1\n          HI: 1 2\n"
	    "       SCHED: 4294967290 7\n     HRTIMER: 9 9\n");
	ilb_proc_take(&proc, NULL, 250, sources);
	put("softirqs", "          CPU0 CPU1\n          HI: 1 2\n"
	    "       SCHED: 4 10\n     HRTIMER: 9 9\n");
	ilb_proc_take(&proc, &measures, 250, sources);
	assert_int_equal(measures.softirq.known, 1);
	assert_int_equal(measures.softirq.time_known, 0);
	assert_int_equal(measures.softirq.sched, 10 + 3);
	assert_string_equal(sources[ILB_PART_SOFTIRQS].from, "/proc/softirqs");
}

/* Another number of columns is another machine: no difference of the two. */
static void softirqs_of_more_cpus(void **state)
{
	(void)state;
	put("softirqs", "CPU0\n       SCHED: 4\n");
	ilb_proc_take(&proc, NULL, 250, sources);
	put("softirqs", "CPU0 CPU1\n       SCHED: 9 10\n");
	ilb_proc_take(&proc, &measures, 250, sources);
	assert_int_equal(measures.softirq.known, 0);
}

static void what_bpf_told_stays(void **state)
{
	(void)state;
	put("softirqs", "CPU0\n       SCHED: 4\n");
	put("stat", "cpu  1 2 3 4 5 6 7 8 9 10\n");
	ilb_proc_take(&proc, NULL, 250, sources);
	put("softirqs", "CPU0\n       SCHED: 9\n");
	measures.softirq.known = measures.utilisation.known = 1;
	measures.softirq.sched = 77;
	measures.utilisation.busy_ns = 78;
	ilb_proc_take(&proc, &measures, 250, sources);
	assert_int_equal(measures.softirq.sched, 77);
	assert_int_equal(measures.utilisation.busy_ns, 78);
}

static void busy_ticks(void **state)
{
	uint64_t tick_ns = 1000000000U / (uint64_t)sysconf(_SC_CLK_TCK);

	(void)state;
	put("stat", "cpu  100 10 20 5000 60 1 2 3 0 0\ncpu0 ...\n");
	ilb_proc_take(&proc, NULL, 250, sources);
	put("stat", "cpu  110 11 22 9000 99 2 4 6 0 0\ncpu0 ...\n");
	ilb_proc_take(&proc, &measures, 250, sources);
	assert_int_equal(measures.utilisation.known, 1);
	assert_int_equal(measures.utilisation.busy_ns,
			 (10 + 1 + 2 + 1 + 2 + 3) * tick_ns);
}

static void busy_ticks_that_fall_back(void **state)
{
	(void)state;
	put("stat", "cpu  100 10 20 5000 60 1 2 3 0 0\n");
	ilb_proc_take(&proc, NULL, 250, sources);
	put("stat", "cpu  10 10 20 5000 60 1 2 3 0 0\n");
	ilb_proc_take(&proc, &measures, 250, sources);
	assert_int_equal(measures.utilisation.known, 0);
	assert_string_equal(sources[ILB_PART_UTILISATION].from, "");
}

static void nothing_there(void **state)
{
	(void)state;
	ilb_proc_take(&proc, NULL, 250, sources);
	ilb_proc_take(&proc, &measures, 250, sources);
	assert_int_equal(measures.softirq.known, 0);
	assert_int_equal(measures.utilisation.known, 0);
	assert_int_equal(measures.schedstat_counts, -1);
	assert_string_equal(sources[ILB_PART_DOMAINS].from, "");
	assert_non_null(strstr(sources[ILB_PART_DOMAINS].needs,
			       "CONFIG_SCHEDSTATS"));
}

#define V16(t, lb)							\
	"version 16\ntimestamp " t "\ncpu0 0 0 0 0 0 0 1 2 3\ndomain0 3 "	\
	lb " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "		\
	"0 0 0 0 0 0 0 0 0 0 0 0\n"

static void schedstats_off(void **state)
{
	(void)state;
	put("schedstat", V16("1000", "5"));
	ilb_proc_take(&proc, NULL, 250, sources);
	put("schedstat", V16("1500", "5"));
	ilb_proc_take(&proc, &measures, 250, sources);
	assert_int_equal(measures.schedstat_counts, 0);
	assert_non_null(strstr(sources[ILB_PART_DOMAINS].needs,
			       "sched_schedstats=1"));
}

/* Each interval is a difference to the one before. */
static void schedstat_by_interval(void **state)
{
	(void)state;
	put("schedstat", V16("1000", "5"));
	ilb_proc_take(&proc, NULL, 250, sources);
	put("schedstat", V16("1500", "15"));
	ilb_proc_take(&proc, &measures, 250, sources);
	assert_int_equal(measures.domains[0].type[ILB_IDLE_BUSY].lb, 10);
	put("schedstat", V16("1750", "18"));
	ilb_proc_take(&proc, &measures, 250, sources);
	assert_int_equal(measures.domains[0].type[ILB_IDLE_BUSY].lb, 3);
	assert_true(measures.schedstat_s > 0.99 && measures.schedstat_s < 1.01);
	assert_string_equal(sources[ILB_PART_DOMAINS].from,
			    "/proc/schedstat v16");
	assert_string_equal(sources[ILB_PART_DOMAINS].needs, "");
}

static void schedstat_of_another_version(void **state)
{
	(void)state;
	put("schedstat", "version 99\ntimestamp 1\n");
	ilb_proc_take(&proc, NULL, 250, sources);
	ilb_proc_take(&proc, &measures, 250, sources);
	assert_int_equal(measures.schedstat_counts, -1);
	assert_non_null(strstr(sources[ILB_PART_DOMAINS].needs, "99"));
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(softirqs_wrap),
		TEST(softirqs_of_more_cpus),
		TEST(what_bpf_told_stays),
		TEST(busy_ticks),
		TEST(busy_ticks_that_fall_back),
		TEST(nothing_there),
		TEST(schedstats_off),
		TEST(schedstat_by_interval),
		TEST(schedstat_of_another_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
