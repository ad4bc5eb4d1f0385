// SPDX-License-Identifier: GPL-2.0-only
/* The module's file: where it is looked for, and what is never loaded. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ilb/fix.h"
#include "test.h"

struct fixture {
	char root[32];
	struct ilb_error error;
	struct ilb_module module;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->root, "/tmp/ilb-module-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[64];
	int failed;

	snprintf(command, sizeof(command), "rm -r %s", f->root);
	failed = system(command);
	free(f);
	return failed;
}

static void put(const struct fixture *f, const char *name, const char *text)
{
	char command[400];

	snprintf(command, sizeof(command),
		 "mkdir -p $(dirname %s/%s) && printf '%%b\\n' '%s' >%s/%s",
		 f->root, name, text, f->root, name);
	assert_int_equal(system(command), 0);
}

/* ---- where ---- */

static void finds(struct fixture *f, const char *dep, const char *want)
{
	char expected[200], *path;

	put(f, "lib/modules/6.12/modules.dep", dep);
	if (!want) {
		assert_int_equal(ilb_module_find(&path, "6.12", f->root,
						 &f->error),
				 -ILB_ERR_UNSUPPORTED);
		assert_null(path);
		assert_non_null(strstr(f->error.text, "make kmod"));
		return;
	}
	assert_int_equal(ilb_module_find(&path, "6.12", f->root, &f->error),
			 0);
	snprintf(expected, sizeof(expected), "%s%s", f->root, want);
	assert_string_equal(path, expected);
	free(path);
}

static void installed(void **state)
{
	struct fixture *f = *state;

	finds(f, "kernel/a.ko: kernel/b.ko\\nupdates/dkms/ilb_fix.ko.xz:",
	      "/lib/modules/6.12/updates/dkms/ilb_fix.ko.xz");
	finds(f, "ilb_fix.ko: x.ko\\nz.ko:", "/lib/modules/6.12/ilb_fix.ko");
	finds(f, "/other/ilb_fix.ko:", "/other/ilb_fix.ko");
	finds(f, "kernel/a.ko: kernel/ilb_fix.ko", NULL);
	finds(f, "kernel/my_ilb_fix.ko:\\nkernel/ilb_fix.kox:", NULL);
	finds(f, "updates/ilb_fix.ko", NULL);
	finds(f, "", NULL);
}

/* ---- who can have written it ---- */

static int opens(struct fixture *f, const char *path)
{
	int err = ilb_module_open(&f->module, path, &f->error);

	if (err)
		assert_int_equal(f->module.fd, -1);
	else
		ilb_module_close(&f->module);
	return err;
}

static void of_root_alone(void **state)
{
	struct fixture *f = *state;
	char path[100];

	/* Every folder of it is root's on any machine. */
	assert_int_equal(opens(f, "/usr/bin/env"), 0);
	assert_int_equal(opens(f, "//usr/./lib/..//bin/env"), 0);
	put(f, "x", "x");
	/* Whoever can change the link can choose among root's files. */
	snprintf(path, sizeof(path), "%s/link", f->root);
	assert_int_equal(symlink("/usr/bin/env", path), 0);
	assert_int_equal(opens(f, path), -ILB_ERR_PERM);
	assert_non_null(strstr(f->error.text, "/tmp: anybody may write"));
	/* /tmp is anybody's, whoever owns the file. */
	snprintf(path, sizeof(path), "%s/x", f->root);
	assert_int_equal(opens(f, path), -ILB_ERR_PERM);
	assert_non_null(strstr(f->error.text, "/tmp: anybody may write"));
	assert_int_equal(opens(f, "/usr/bin"), -ILB_ERR_PERM);
	assert_int_equal(opens(f, "/dev/null"), -ILB_ERR_PERM);
	assert_int_equal(opens(f, "/nonexistent/ilb_fix.ko"),
			 -ILB_ERR_NOENT);
}

/* In a folder of root's: each thing that can be wrong, one at a time. */
static void one_at_a_time(void **state)
{
	static const char place[] = "/run/ilb-test-module";
	struct fixture *f = *state;
	char file[100];

	if (geteuid() || (mkdir(place, 0755) && errno != EEXIST)) {
		print_message("# skipped: needs root, and /run\n");
		return;
	}
	snprintf(file, sizeof(file), "%s/m.ko", place);
	snprintf(f->error.text, sizeof(f->error.text), "echo x >%s", file);
	assert_int_equal(system(f->error.text), 0);
	chmod(file, 0644);
	chmod(place, 0755);
	assert_int_equal(opens(f, file), 0);
	chmod(file, 0664);
	assert_int_equal(opens(f, file), -ILB_ERR_PERM);
	chmod(file, 0646);
	assert_int_equal(opens(f, file), -ILB_ERR_PERM);
	chmod(file, 0644);
	assert_int_equal(chown(file, 1, 0), 0);
	assert_int_equal(opens(f, file), -ILB_ERR_PERM);
	assert_int_equal(chown(file, 0, 0), 0);
	chmod(place, 0775);
	assert_int_equal(opens(f, file), -ILB_ERR_PERM);
	chmod(place, 01777);
	assert_int_equal(opens(f, file), -ILB_ERR_PERM);
	chmod(place, 0755);
	assert_int_equal(chown(place, 1, 0), 0);
	assert_int_equal(opens(f, file), -ILB_ERR_PERM);
	assert_int_equal(chown(place, 0, 0), 0);
	assert_int_equal(opens(f, file), 0);
	unlink(file);
	rmdir(place);
}

static void link_to(const char *name, const char *to)
{
	unlink(name);
	assert_int_equal(symlink(to, name), 0);
}

/* Links are followed as the kernel does, but through folders of root's. */
static void links(void **state)
{
	static const char link[] = "/run/ilb-test-link/l";
	struct fixture *f = *state;
	char far[PATH_MAX], name[300];

	if (geteuid() || (mkdir("/run/ilb-test-link", 0755) &&
			  errno != EEXIST)) {
		print_message("# skipped: needs root, and /run\n");
		return;
	}
	link_to(link, "/usr/bin/env");
	assert_int_equal(opens(f, link), 0);
	link_to("/run/ilb-test-link/dir", "../../usr/./bin");
	link_to(link, "dir//env");
	assert_int_equal(opens(f, link), 0);
	assert_int_equal(chdir("/run/ilb-test-link"), 0);
	assert_int_equal(opens(f, "l"), 0);
	assert_int_equal(opens(f, "../ilb-test-link/dir/env"), 0);
	assert_int_equal(opens(f, "dir/none"), -ILB_ERR_NOENT);
	assert_int_equal(opens(f, "dir/env/none"), -ILB_ERR_NOENT);
	assert_int_equal(opens(f, ""), -ILB_ERR_PERM);
	assert_int_equal(chdir("/"), 0);
	put(f, "x", "x");
	snprintf(far, sizeof(far), "%s/x", f->root);
	link_to(link, far);
	assert_int_equal(opens(f, link), -ILB_ERR_PERM);
	link_to(link, "l");
	assert_int_equal(opens(f, link), -ILB_ERR_IO);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	link_to(link, name);
	assert_int_equal(opens(f, link), -ILB_ERR_IO);
	memset(far, '/', sizeof(far));
	far[sizeof(far) - 1] = '\0';
	assert_int_equal(opens(f, far), -ILB_ERR_IO);
	unlink("/run/ilb-test-link/dir");
	unlink(link);
	rmdir("/run/ilb-test-link");
}

/* ---- before the kernel is asked ---- */

static int judged(struct fixture *f, struct ilb_module module,
		  const char *lockdown)
{
	struct ilb_facts *facts = calloc(1, sizeof(*facts));
	int err;

	assert_non_null(facts);
	strcpy(facts->kernel, "6.12.95");
	strcpy(facts->lockdown, lockdown);
	err = ilb_module_check(&module, facts, f->root, &f->error);
	free(facts);
	return err;
}

static void said_before(void **state)
{
	struct fixture *f = *state;
	struct ilb_module bare = { .fd = -1 };
	struct ilb_module other = { .fd = -1, .release = "6.1.0" };
	struct ilb_module own = { .fd = -1, .release = "6.12.95" };
	struct ilb_module with = { .fd = -1, .is_signed = 1 };
	const int no = -ILB_ERR_UNSUPPORTED;

	assert_int_equal(judged(f, bare, ""), 0);
	assert_int_equal(judged(f, own, "none"), 0);
	assert_int_equal(judged(f, other, ""), no);
	assert_non_null(strstr(f->error.text, "6.1.0"));
	assert_int_equal(judged(f, bare, "integrity"), no);
	assert_int_equal(judged(f, own, "confidentiality"), no);
	assert_int_equal(judged(f, with, "integrity"), 0);
	put(f, "sys/module/module/parameters/sig_enforce", "N");
	assert_int_equal(judged(f, bare, ""), 0);
	put(f, "sys/module/module/parameters/sig_enforce", "Y");
	assert_int_equal(judged(f, bare, ""), no);
	assert_int_equal(judged(f, with, ""), 0);
	put(f, "proc/sys/kernel/modules_disabled", "1");
	assert_int_equal(judged(f, with, ""), no);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(installed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_root_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_at_a_time, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(said_before, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
