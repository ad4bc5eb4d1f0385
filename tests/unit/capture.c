// SPDX-License-Identifier: GPL-2.0-only
/* Captures: a folder with its files, a bare trace, and what may be missing. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ilb/capture.h"
#include "test.h"
#include "trace/file.h"

#define PIN16	ILB_GOLDEN "/topology/pin16.xml"

static char dir[64];
static char *xml;

static const char *const names[] = {
	"trace.dat", "trace.txt", "moments", "topology.xml", "system.json",
	"schedstat.before", "schedstat.after", "softirqs.before",
	"softirqs.after",
};

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
}

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/ilb-test-capture-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char path[128];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static void folder_with_everything(void **state)
{
	struct ilb_capture *c = NULL;
	struct ilb_error error;
	char want[128];

	(void)state;
	put("trace.dat", "x");
	put("trace.txt", "x");
	put("topology.xml", xml);
	put("system.json", "{\"hz\": 250, \"cpus\": \"0-13\"}");
	put("schedstat.before", "version 17\n");
	put("schedstat.after", "");
	put("softirqs.after", "SCHED: 1\n");
	if (ilb_capture_open(&c, dir, NULL, &error))
		fail_msg("%s", error.text);
	assert_string_equal(c->path, dir);
	snprintf(want, sizeof(want), "%s/trace.dat", dir);
	assert_string_equal(c->trace, want);
	assert_string_equal(c->topology_from, "topology.xml");
	assert_int_equal(c->topology.nr_cpus, 16);
	assert_int_equal(c->topology.online[0], 0x3fff);
	assert_int_equal(c->topology.core[15], 15);
	assert_int_equal(c->topology.core[13], 12);
	assert_int_equal(c->system.hz, 250);
	assert_int_equal(c->system.housekeeping[0], 0x3fff);
	assert_string_equal(c->schedstat_before, "version 17\n");
	assert_string_equal(c->schedstat_after, "");
	assert_null(c->softirqs_before);
	assert_string_equal(c->softirqs_after, "SCHED: 1\n");
	ilb_capture_close(c);
}

static void folder_with_the_least(void **state)
{
	struct ilb_capture *c = NULL;
	struct ilb_error error;
	char want[128];

	(void)state;
	put("trace.txt", "x");
	put("topology.xml", xml);
	strcat(dir, "/");
	if (ilb_capture_open(&c, dir, NULL, &error))
		fail_msg("%s", error.text);
	snprintf(want, sizeof(want), "%strace.txt", dir);
	assert_string_equal(c->trace, want);
	assert_int_equal(c->system.hz, 0);
	assert_int_equal(c->system.housekeeping[0], 0xffff);
	assert_int_equal(c->system.housekeeping_known, 0);
	assert_null(c->schedstat_before);
	ilb_capture_close(c);
}

static void topology_option_wins(void **state)
{
	struct ilb_capture *c = NULL;
	struct ilb_error error;

	(void)state;
	put("trace.dat", "x");
	put("topology.xml", "rubbish");
	assert_int_equal(ilb_capture_open(&c, dir, "pu:4", &error), 0);
	assert_string_equal(c->topology_from, "pu:4");
	assert_int_equal(c->topology.nr_cpus, 4);
	ilb_capture_close(c);
	assert_int_equal(ilb_capture_open(&c, dir, "self", &error), 0);
	assert_string_equal(c->topology_from, "this machine");
	ilb_capture_close(c);
	assert_int_equal(ilb_capture_open(&c, dir, PIN16, &error), 0);
	assert_string_equal(c->topology_from, PIN16);
	ilb_capture_close(c);
}

/* What lies beside a bare trace belongs to another machine, maybe. */
static void bare_trace(void **state)
{
	struct ilb_capture *c = NULL;
	struct ilb_error error;
	char path[128], want[256];

	(void)state;
	put("trace.dat", "x");
	put("topology.xml", xml);
	put("system.json", "{\"hz\": 250}");
	snprintf(path, sizeof(path), "%s/trace.dat", dir);
	assert_int_equal(ilb_capture_open(&c, path, NULL, &error),
			 -ILB_ERR_NOENT);
	snprintf(want, sizeof(want),
		 "%s: needs a topology; add --topology XML|SYNTHETIC|self",
		 path);
	assert_string_equal(error.text, want);
	assert_int_equal(ilb_capture_open(&c, path, "core:2 pu:2", &error), 0);
	assert_string_equal(c->trace, path);
	assert_int_equal(c->system.hz, 0);
	assert_int_equal(c->system.housekeeping[0], 0xf);
	assert_int_equal(c->topology.smt, 1);
	ilb_capture_close(c);
}

static void standard_input(void **state)
{
	struct ilb_capture *c = NULL;
	struct ilb_error error;

	(void)state;
	assert_int_equal(ilb_capture_open(&c, "-", NULL, &error),
			 -ILB_ERR_NOENT);
	assert_non_null(strstr(error.text, "stdin: needs a topology"));
	assert_int_equal(ilb_capture_open(&c, "-", "pu:2", &error), 0);
	assert_string_equal(c->trace, "-");
	ilb_capture_close(c);
}

static void expect(const char *path, const char *topology, int result,
		   const char *says)
{
	struct ilb_capture *c = NULL;
	struct ilb_error error = { "" };
	int got = ilb_capture_open(&c, path, topology, &error);

	if (got != result || !strstr(error.text, says))
		fail_msg("%d, '%s'", got, error.text);
	assert_null(c);
	assert_int_equal(ilb_capture_open(&c, path, topology, NULL), result);
}

static void missing_parts(void **state)
{
	(void)state;
	expect("/nowhere", NULL, -ILB_ERR_NOENT,
	       "/nowhere: no such file or folder; record one with 'ilb record'");
	expect("/dev/null/x", NULL, -ILB_ERR_NOENT, "no such file or folder");
	expect(dir, NULL, -ILB_ERR_NOENT,
	       "has no trace.dat, trace.txt or moments");
	put("moments", "x");
	expect(dir, NULL, -ILB_ERR_NOENT, "has no topology.xml; add --topology");
	put("trace.dat", "x");
	expect(dir, NULL, -ILB_ERR_NOENT, "has no topology.xml; add --topology");
	expect(dir, "pu:x", -ILB_ERR_SYNTAX, "'pu:x'");
	put("topology.xml", "rubbish");
	expect(dir, NULL, -ILB_ERR_FORMAT,
	       "/topology.xml: is not a topology that lstopo wrote");
}

static void contradictions(void **state)
{
	(void)state;
	put("trace.dat", "x");
	put("topology.xml", xml);
	put("system.json", "{\"cpus\": \"0-16\"}");
	expect(dir, NULL, -ILB_ERR_MISMATCH,
	       "/system.json: \"cpus\" has CPU 16, but topology.xml has CPUs 0-15;");
	expect(dir, "pu:3", -ILB_ERR_MISMATCH, "but pu:3 has CPUs 0-2;");
	put("system.json", "{\"hz\": -1}");
	expect(dir, NULL, -ILB_ERR_FORMAT, "/system.json: \"hz\"");
}

static void sizes_and_kinds(void **state)
{
	char path[128];

	(void)state;
	put("trace.dat", "x");
	put("topology.xml", xml);
	put("system.json", "{}");
	snprintf(path, sizeof(path), "%s/system.json", dir);
	assert_int_equal(truncate(path, (1 << 20) + 1), 0);
	expect(dir, NULL, -ILB_ERR_FORMAT, "larger than the 1024 KiB");
	assert_int_equal(truncate(path, 1 << 20), 0);
	expect(dir, NULL, -ILB_ERR_FORMAT, "has a NUL byte");
	put("system.json", "{}");
	snprintf(path, sizeof(path), "%s/schedstat.after", dir);
	put("schedstat.after", "version 17\n");
	assert_int_equal(truncate(path, (64 << 20) + 1), 0);
	expect(dir, NULL, -ILB_ERR_FORMAT, "larger than the 65536 KiB");
	/* A FIFO must not make it wait. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect(dir, NULL, -ILB_ERR_FORMAT, "schedstat.after: is not a file");
}

/* Every size around the first buffer and the limit. */
static void files_are_read_whole(void **state)
{
	static const size_t lengths[] = {
		0, 1, 16383, 16384, 16385, 32767, 32768, 49999, 50000,
	};
	char path[128], *big = malloc(50002), *text;
	unsigned int i;
	size_t size;

	(void)state;
	assert_non_null(big);
	snprintf(path, sizeof(path), "%s/moments", dir);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		memset(big, 'a' + (int)i, lengths[i]);
		big[lengths[i]] = '\0';
		put("moments", big);
		assert_int_equal(ilb_file_read(&text, &size, path, 50000,
					       NULL), 0);
		assert_int_equal(size, lengths[i]);
		assert_memory_equal(text, big, size + 1);
		free(text);
		if (!size)
			continue;
		assert_int_equal(ilb_file_read(&text, &size, path, size - 1,
					       NULL), -ILB_ERR_FORMAT);
	}
	free(big);
	/* No size is told here. */
	assert_int_equal(ilb_file_read(&text, &size, "/proc/self/status",
				       1 << 20, NULL), 0);
	assert_int_equal(size, strlen(text));
	assert_non_null(strstr(text, "Threads:"));
	free(text);
	assert_int_equal(ilb_file_read(&text, &size, "/proc/self/status", 100,
				       NULL), -ILB_ERR_FORMAT);
}

static int read_xml(void **state)
{
	(void)state;
	return ilb_file_read(&xml, NULL, PIN16, 1 << 20, NULL);
}

static int free_xml(void **state)
{
	(void)state;
	free(xml);
	return 0;
}

#define IN_DIR(f)	cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(folder_with_everything),
		IN_DIR(folder_with_the_least),
		IN_DIR(topology_option_wins),
		IN_DIR(bare_trace),
		cmocka_unit_test(standard_input),
		IN_DIR(missing_parts),
		IN_DIR(contradictions),
		IN_DIR(sizes_and_kinds),
		IN_DIR(files_are_read_whole),
	};

	return cmocka_run_group_tests_name("capture", tests, read_xml,
					   free_xml);
}
