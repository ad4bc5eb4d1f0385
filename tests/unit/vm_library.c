// SPDX-License-Identifier: GPL-2.0-only
/* The libraries of a program are those that the dynamic linker finds. */

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm/vm.h"
#include "test.h"

static const char *base(const char *path)
{
	return strrchr(path, '/') + 1;
}

static unsigned int native(void)
{
	return ilb_vm_machine(ilb_vm_arch_native())->machine;
}

/* Names of the libraries that ldd lists, each followed by a newline. */
static void ask_linker(char *text, size_t size)
{
	char command[100];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command),
		 "ldd /proc/%ld/exe | sed -n 's/^\\t\\([^ /]*\\) => .*/\\1/p'",
		 (long)getpid());
	pipe = popen(command, "r");
	assert_non_null(pipe);
	n = fread(text, 1, size - 1, pipe);
	text[n] = '\0';
	assert_int_equal(pclose(pipe), 0);
}

static void as_the_linker(void **state)
{
	struct ilb_libraries l = { .machine = native(), .sysroot = "" };
	char listed[8192], line[300];
	struct ilb_error error;
	unsigned int i, lines = 0;
	const char *c;

	(void)state;
	assert_int_equal(ilb_libraries_add(&l, "/proc/self/exe", &error), 0);
	assert_non_null(l.loader);
	ask_linker(listed, sizeof(listed));
	for (c = listed; *c; c++)
		lines += *c == '\n';
	for (i = 0; i < l.paths.nr; i++) {
		/* The linker lists itself as a path. */
		if (!strcmp(base(l.paths.list[i]), base(l.loader))) {
			lines++;
			continue;
		}
		snprintf(line, sizeof(line), "%s\n", base(l.paths.list[i]));
		assert_non_null(strstr(listed, line));
	}
	assert_true(lines > 1);
	assert_int_equal(l.paths.nr, lines);
	ilb_libraries_free(&l);
}

static void none_there(void **state)
{
	struct ilb_libraries l = { .machine = native(),
				   .sysroot = "/nonexistent" };
	struct ilb_error error;

	(void)state;
	assert_int_equal(ilb_libraries_add(&l, "/proc/self/exe", &error),
			 -ILB_ERR_NOENT);
	assert_non_null(strstr(error.text, "/nonexistent"));
	ilb_libraries_free(&l);
}

static void other_machine(void **state)
{
	struct ilb_libraries l = { .machine = EM_S390, .sysroot = "" };
	struct ilb_error error;

	(void)state;
	assert_int_equal(ilb_libraries_add(&l, "/proc/self/exe", &error),
			 -ILB_ERR_FORMAT);
	ilb_libraries_free(&l);
}

/* Damaged at every word, and cut: an error or not, but no crash. */
static void damaged(void **state)
{
	struct ilb_libraries l = { .machine = native(), .sysroot = "" };
	char head[4096], path[] = "/tmp/ilb-library-XXXXXX";
	FILE *self = fopen("/proc/self/exe", "rb");
	struct ilb_error error;
	size_t n, i;
	int fd;

	(void)state;
	assert_non_null(self);
	n = fread(head, 1, sizeof(head), self);
	fclose(self);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	for (i = 0; i < 1024; i += 4) {
		memset(head + i, 0xff, 4);
		assert_int_equal(pwrite(fd, head, n, 0), n);
		ilb_libraries_add(&l, path, &error);
		assert_int_equal(ftruncate(fd, (off_t)i), 0);
		ilb_libraries_add(&l, path, &error);
		memset(head + i, 0, 4);
	}
	close(fd);
	unlink(path);
	ilb_libraries_free(&l);
}

static void a_script(void **state)
{
	struct ilb_libraries l = { .machine = native(), .sysroot = "" };
	struct ilb_error error;

	(void)state;
	assert_int_equal(ilb_libraries_add(&l, "/etc/passwd", &error), 0);
	assert_int_equal(l.paths.nr, 0);
	assert_int_equal(ilb_libraries_add(&l, "/nonexistent", &error),
			 -ILB_ERR_NOENT);
	ilb_libraries_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_linker),
		cmocka_unit_test(none_there),
		cmocka_unit_test(other_machine),
		cmocka_unit_test(damaged),
		cmocka_unit_test(a_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
