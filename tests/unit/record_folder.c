// SPDX-License-Identifier: GPL-2.0-only
/* A capture's folder appears whole or not at all, and moves only captures. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/record.h"
#include "test.h"

struct place {
	char home[32];
	char path[64], old[72];
	struct ilb_folder folder;
	struct ilb_error error;
};

static int there(const char *dir, const char *name)
{
	char path[200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !lstat(path, &st);
}

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->home, "/tmp/ilb-folder-XXXXXX");
	assert_non_null(mkdtemp(p->home));
	snprintf(p->path, sizeof(p->path), "%s/c", p->home);
	snprintf(p->old, sizeof(p->old), "%s.old", p->path);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;
	char command[64];
	int failed;

	ilb_folder_discard(&p->folder);
	snprintf(command, sizeof(command), "rm -r %s", p->home);
	failed = system(command);
	free(p);
	return failed;
}

static int make(struct place *p, int force)
{
	return ilb_folder_create(&p->folder, p->path, force, &p->error);
}

static int publish(struct place *p, const char *part, int force)
{
	int err = make(p, force);

	if (!err)
		err = ilb_folder_write(&p->folder, part, "x", 1, &p->error);
	if (!err)
		err = ilb_folder_publish(&p->folder, &p->error);
	ilb_folder_discard(&p->folder);
	return err;
}

static void whole(void **state)
{
	struct place *p = *state;

	assert_int_equal(make(p, 0), 0);
	assert_int_equal(ilb_folder_write(&p->folder, "system.json", "{}", 2,
					  &p->error), 0);
	assert_false(there(p->home, "c"));
	assert_int_equal(ilb_folder_publish(&p->folder, &p->error), 0);
	assert_true(there(p->path, "system.json"));
	ilb_folder_discard(&p->folder);
	assert_true(there(p->path, "system.json"));
}

static void not_at_all(void **state)
{
	struct place *p = *state;

	assert_int_equal(make(p, 0), 0);
	assert_int_equal(ilb_folder_write(&p->folder, "cpu0", "x", 1,
					  &p->error), 0);
	ilb_folder_discard(&p->folder);
	/* Fails, unless nothing is in it. */
	assert_int_equal(rmdir(p->home), 0);
	assert_int_equal(mkdir(p->home, 0700), 0);
}

static void exists(void **state)
{
	struct place *p = *state;

	assert_int_equal(publish(p, "trace.dat", 0), 0);
	assert_int_equal(make(p, 0), -ILB_ERR_MISMATCH);
	assert_non_null(strstr(p->error.text, "--force"));
	ilb_folder_discard(&p->folder);
	/* One that came up while recording is not replaced either. */
	assert_int_equal(rename(p->path, p->old), 0);
	assert_int_equal(make(p, 0), 0);
	assert_int_equal(mkdir(p->path, 0700), 0);
	assert_int_equal(ilb_folder_publish(&p->folder, &p->error),
			 -ILB_ERR_IO);
	assert_false(there(p->path, "trace.dat"));
}

static void forced(void **state)
{
	struct place *p = *state;

	assert_int_equal(publish(p, "trace.dat", 0), 0);
	assert_int_equal(publish(p, "trace.txt", 1), 0);
	assert_true(there(p->old, "trace.dat"));
	assert_true(there(p->path, "trace.txt"));
	assert_int_equal(publish(p, "moments", 1), 0);
	assert_false(there(p->old, "trace.dat"));
	assert_true(there(p->old, "trace.txt"));
	assert_true(there(p->path, "moments"));
}

static void no_capture(void **state)
{
	struct place *p = *state;

	/* Something of the user's is in it. */
	assert_int_equal(publish(p, "thesis", 0), 0);
	assert_int_equal(make(p, 1), -ILB_ERR_MISMATCH);
	ilb_folder_discard(&p->folder);
	assert_true(there(p->path, "thesis"));
	/* Or in what DIR.old is: then neither is touched. */
	assert_int_equal(rename(p->path, p->old), 0);
	assert_int_equal(publish(p, "trace.dat", 0), 0);
	assert_int_equal(publish(p, "trace.txt", 1), -ILB_ERR_IO);
	assert_true(there(p->old, "thesis"));
	assert_true(there(p->path, "trace.dat"));
}

static void copies(void **state)
{
	struct place *p = *state;

	assert_int_equal(make(p, 0), 0);
	assert_int_equal(ilb_folder_copy(&p->folder, "softirqs.before",
					 "/nonexistent", &p->error), 0);
	assert_false(there(p->folder.temporary, "softirqs.before"));
	assert_int_equal(ilb_folder_copy(&p->folder, "softirqs.before",
					 "/proc/self/status", &p->error), 0);
	assert_true(there(p->folder.temporary, "softirqs.before"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_at_all, set_up, tear_down),
		cmocka_unit_test_setup_teardown(exists, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_capture, set_up, tear_down),
		cmocka_unit_test_setup_teardown(copies, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
