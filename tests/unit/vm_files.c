// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the guest's first process sends of a folder is the same folder when
 * libarchive has read it.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vm/init.h"
#include "vm/vm.h"
#include "test.h"

struct place {
	char home[32];
	int pipe;
	char buffer[ILB_FRAME_MAX];
};

static void shell(const struct place *p, const char *command)
{
	char text[600];

	snprintf(text, sizeof(text), "cd %s && (%s)", p->home, command);
	assert_int_equal(system(text), 0);
}

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->home, "/tmp/ilb-files-XXXXXX");
	assert_non_null(mkdtemp(p->home));
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;

	ilb_cache_remove(p->home);
	free(p);
	return 0;
}

static void read_whole(int fd, void *data, size_t size)
{
	char *next = data;
	ssize_t n;

	for (; size; size -= (size_t)n, next += n) {
		n = read(fd, next, size);
		assert_true(n > 0);
	}
}

static ssize_t next_frame(void *context, const void **part)
{
	struct place *p = context;
	struct ilb_frame head;

	if (read(p->pipe, &head, 1) != 1)
		return 0;
	read_whole(p->pipe, (char *)&head + 1, sizeof(head) - 1);
	assert_int_equal(head.type, ILB_FRAME_FILES);
	assert_in_range(head.size, 1, ILB_FRAME_MAX - sizeof(head));
	read_whole(p->pipe, p->buffer, head.size);
	*part = p->buffer;
	return (ssize_t)head.size;
}

static void travel(struct place *p)
{
	struct ilb_results results = { 0 };
	char from[64], to[64];
	struct ilb_error error = { "" };
	int pair[2], err, status;
	pid_t child;

	snprintf(from, sizeof(from), "%s/from", p->home);
	snprintf(to, sizeof(to), "%s/to", p->home);
	assert_int_equal(pipe(pair), 0);
	child = fork();
	if (!child) {
		close(pair[0]);
		ilb_files_send(pair[1], from);
		_exit(0);
	}
	close(pair[1]);
	p->pipe = pair[0];
	err = ilb_results_read(&results, to, next_frame, p, &error);
	close(pair[0]);
	assert_string_equal(error.text, "");
	assert_int_equal(err, 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(ilb_results_publish(&results, &error), 0);
	ilb_results_discard(&results);
}

static void same(void **state)
{
	struct place *p = *state;

	/* Sizes around every padding, and around a frame. */
	shell(p, "mkdir -p from/d/empty && cd from && "
	      "for n in 0 1 2 3 4 5 4095 32760 32761 100000; do "
	      "head -c $n /dev/urandom >d/f$n; done && "
	      "ln -s d/f5 link && ln -s /nowhere dangling && "
	      "touch 'a name with spaces' \"$(printf 'line\\nbreak')\" && "
	      "touch $(printf 'n%.0s' $(seq 250)) && chmod 750 d/f5");
	travel(p);
	shell(p, "diff -r --no-dereference from to");
	shell(p, "test \"$(stat -c %a to/d/f5)\" = 750");
	shell(p, "test \"$(stat -c %Y to/d/f4)\" = \"$(stat -c %Y from/d/f4)\"");
}

static void nothing(void **state)
{
	struct place *p = *state;

	shell(p, "mkdir from");
	travel(p);
	shell(p, "! test -e to");
}

/* Neither sockets nor pipes are waited for; no set-user-id comes out. */
static void odd(void **state)
{
	struct place *p = *state;

	shell(p, "mkdir from && cd from && mkfifo pipe && echo x >f && "
	      "chmod 4000 f && mkdir d && echo y >d/g && chmod 0 d");
	travel(p);
	shell(p, "test ! -e to/pipe && test \"$(stat -c %a to/f to/d)\" = "
	      "\"$(printf '600\\n700')\"");
}

struct archive {
	char bytes[512];
	size_t size;
};

static void add(struct archive *archive, const char *name, unsigned int mode)
{
	size_t length = strlen(name) + 1;
	char *at = archive->bytes + archive->size;

	/* Major 1 and minor 3 are /dev/null, if @mode is that of a device. */
	sprintf(at, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08zX%08X%s",
		1U, mode, 0U, 0U, 1U, 0U, 0U, 0U, 0U, 1U, 3U, length, 0U,
		name);
	archive->size = (archive->size + 110 + length + 3) & ~3UL;
}

static ssize_t next_once(void *context, const void **part)
{
	struct archive *archive = context;
	size_t size = archive->size;

	*part = archive->bytes;
	archive->size = 0;
	return (ssize_t)size;
}

static int read_archive(const struct place *p, struct archive *archive,
			struct ilb_error *error)
{
	struct ilb_results results = { 0 };
	char to[64];
	int err;

	snprintf(to, sizeof(to), "%s/to", p->home);
	err = ilb_results_read(&results, to, next_once, archive, error);
	ilb_results_discard(&results);
	return err;
}

static int receive(const struct place *p, unsigned int mode,
		   struct ilb_error *error)
{
	struct archive archive = { .size = 0 };

	add(&archive, "node", mode);
	add(&archive, "TRAILER!!!", 0);
	return read_archive(p, &archive, error);
}

/* A guest that root runs is not to leave devices on the host. */
static void foreign(void **state)
{
	static const unsigned int refused[] = {
		S_IFCHR | 0666, S_IFBLK | 0666, S_IFIFO | 0666, S_IFSOCK | 0666,
	};
	struct ilb_error error = { "" };
	size_t i;

	assert_int_equal(receive(*state, S_IFREG | 0666, &error), 0);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_int_equal(receive(*state, refused[i], &error),
				 -ILB_ERR_FORMAT);
		assert_non_null(strstr(error.text, "node is no file"));
	}
}

/* libarchive makes room for the name, or takes the next head for this one. */
static void numbers(void **state)
{
	static const struct {
		size_t at;
		const char *digits;
	} refused[] = {
		{ 94, "FFFFFFFF" }, { 94, "00001001" }, { 94, "       5" },
		{ 94, "-0000005" }, { 94, "0x000005" }, { 6, "0000d/f0" },
		{ 102, "0000000g" }, { 54, "+0000000" }, { 0, "07070200" },
	};
	struct ilb_error error;
	struct archive archive;
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		archive.size = 0;
		add(&archive, "node", S_IFREG | 0666);
		add(&archive, "TRAILER!!!", 0);
		memcpy(archive.bytes + refused[i].at, refused[i].digits, 8);
		error.text[0] = '\0';
		assert_int_equal(read_archive(*state, &archive, &error),
				 -ILB_ERR_IO);
		assert_non_null(strstr(error.text, "not as ilb sends"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(odd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(foreign, set_up, tear_down),
		cmocka_unit_test_setup_teardown(numbers, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
