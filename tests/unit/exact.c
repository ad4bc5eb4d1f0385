// SPDX-License-Identifier: GPL-2.0-only
/*
 * What stands before exact moments: the kernel's symbols, and an answer on
 * any machine. The moments themselves are tested in guests (exact_watch.c).
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/exact.h"
#include "live/exact_kernel.h"
#include "test.h"

static int addresses(const char *text, struct ilb_kernel_places *places,
		     struct ilb_error *error)
{
	char path[] = "/tmp/ilb-exact-XXXXXX";
	int fd = mkstemp(path), err;
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	error->text[0] = '\0';
	err = ilb_kernel_addresses(places, path, error);
	unlink(path);
	return err;
}

static void finds(void **state)
{
	struct ilb_kernel_places places = { 0 };
	struct ilb_error error;

	(void)state;
	assert_int_equal(addresses("0000000000000000 A fixed_percpu_data\n"
				   "ffffffff810d1a40 t __pfx_nohz_csd_func\n"
				   "ffffffff810d1a50 t nohz_csd_func\n"
				   "ffffffff82e0a000 d nohz\n"
				   "ffffffff82e0b000 d nohz_full_mask\n"
				   "ffffffffc0001000 d nohz\t[module]\n",
				   &places, &error), 0);
	assert_int_equal(places.nohz, 0xffffffff82e0a000);
	assert_int_equal(places.nohz_csd_func, 0xffffffff810d1a50);
}

static void refuses(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *word;
	} cases[] = {
		{ "", ILB_ERR_UNSUPPORTED, "no symbols" },
		{ "\n\nx\n", ILB_ERR_UNSUPPORTED, "no symbols" },
		{ "ffffffff810d1a50 t nohz_csd_func\n", ILB_ERR_UNSUPPORTED,
		  "'nohz'; use a kernel with CONFIG_NO_HZ_COMMON and CONFIG_KALLSYMS_ALL" },
		{ "ffffffff82e0a000 d nohz\n", ILB_ERR_UNSUPPORTED,
		  "'nohz_csd_func'" },
		/* Data is not listed, but that it is hidden comes first. */
		{ "0000000000000000 t nohz_csd_func\n", ILB_ERR_PERM,
		  "CAP_SYSLOG" },
		{ "0000000000000000 t nohz_csd_func\n"
		  "0000000000000000 d nohz\n", ILB_ERR_PERM, "kptr_restrict" },
		{ "ffffffff810d1a50 t nohz_csd_func\n"
		  "ffffffff82e0a000 d nohz\nffffffff82e0c000 d nohz\n",
		  ILB_ERR_UNSUPPORTED, "'nohz' 2 times" },
		{ "ffffffff810d1a50 t nohz_csd_func\t[module]\n"
		  "ffffffff82e0a000 d nohz\n", ILB_ERR_UNSUPPORTED,
		  "no symbols" },
	};
	struct ilb_kernel_places places;
	struct ilb_error error;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("# case %u\n", i);
		assert_int_equal(addresses(cases[i].text, &places, &error),
				 -cases[i].err);
		assert_non_null(strstr(error.text, cases[i].word));
		assert_null(strchr(error.text, '\n'));
	}
}

static void no_file(void **state)
{
	struct ilb_kernel_places places;
	struct ilb_error error;

	(void)state;
	assert_int_equal(ilb_kernel_addresses(&places, "/nonexistent/x",
					      &error), -ILB_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "/nonexistent/x"));
}

static void no_moment(void *context, const struct ilb_moment *moment)
{
	(void)context;
	(void)moment;
}

static void answers(void **state)
{
	struct ilb_exact_counts counts;
	struct ilb_error error = { "" };
	struct ilb_exact *exact;
	int err = ilb_exact_open(&exact, (unsigned int)
				 sysconf(_SC_NPROCESSORS_CONF), no_moment,
				 NULL, &error);

	(void)state;
	if (err) {
		print_message("# refused: %s\n", error.text);
		assert_null(exact);
		assert_true(err == -ILB_ERR_UNSUPPORTED ||
			    err == -ILB_ERR_PERM);
		assert_true(strlen(error.text) > 10);
		assert_null(strchr(error.text, '\n'));
		return;
	}
	print_message("# opened: %s\n", ilb_exact_method(exact));
	assert_true(ilb_exact_fd(exact) >= 0);
	assert_true(ilb_exact_read(exact, &error) >= 0);
	ilb_exact_stop(exact);
	assert_true(ilb_exact_read(exact, &error) >= 0);
	assert_int_equal(ilb_exact_read(exact, &error), 0);
	ilb_exact_counts(exact, &counts);
	assert_int_equal(counts.lost, 0);
	ilb_exact_close(exact);
	ilb_exact_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds),
		cmocka_unit_test(refuses),
		cmocka_unit_test(no_file),
		cmocka_unit_test(answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
