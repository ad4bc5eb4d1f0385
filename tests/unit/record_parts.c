// SPDX-License-Identifier: GPL-2.0-only
/* What the recorder reads of the kernel, and of processes. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/record.h"
#include "test.h"

static void stats(void **state)
{
	static const char text[] =
		"entries: 12\noverrun: 3\ncommit overrun: 4\nbytes: 18446744073709551615\n"
		"oldest event ts:     0.000000\ndropped events: 5\nread events: 6\n";

	(void)state;
	assert_int_equal(ilb_stats_value(text, "entries"), 12);
	assert_int_equal(ilb_stats_value(text, "overrun"), 3);
	assert_int_equal(ilb_stats_value(text, "commit overrun"), 4);
	assert_int_equal(ilb_stats_value(text, "dropped events"), 5);
	assert_int_equal(ilb_stats_value(text, "read events"), 6);
	assert_true(ilb_stats_value(text, "bytes") == UINT64_MAX);
	assert_int_equal(ilb_stats_value(text, "events"), 0);
	assert_int_equal(ilb_stats_value("", "entries"), 0);
	assert_int_equal(ilb_stats_value("entries", "entries"), 0);
	assert_int_equal(ilb_stats_value("entries:", "entries"), 0);
}

static int status_of(int code, int number)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (number)
			raise(number);
		_exit(code);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return ilb_wait_status(status);
}

static void statuses(void **state)
{
	(void)state;
	assert_int_equal(status_of(0, 0), 0);
	assert_int_equal(status_of(7, 0), 7);
	assert_int_equal(status_of(0, SIGKILL), 128 + SIGKILL);
	assert_int_equal(status_of(0, SIGTERM), 128 + SIGTERM);
}

static int hidden(const char *text)
{
	char path[] = "/tmp/ilb-kallsyms-XXXXXX";
	int fd = mkstemp(path), answer;
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	answer = ilb_kallsyms_hidden(path);
	unlink(path);
	return answer;
}

static void kallsyms(void **state)
{
	(void)state;
	assert_int_equal(hidden("0000000000000000 A fixed\n"
				"ffffffff810d1a40 T name\n"), 0);
	assert_int_equal(hidden("0000000000000000 A fixed\n"
				"0000000000000000 T name\n"), 1);
	assert_int_equal(hidden(""), 1);
	assert_int_equal(ilb_kallsyms_hidden("/nonexistent"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stats),
		cmocka_unit_test(statuses),
		cmocka_unit_test(kallsyms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
