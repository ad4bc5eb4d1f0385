// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process that reads a trace.dat: whatever becomes of it or of its
 * parent, the other one does not wait for it, and says what happened.
 */

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include "test.h"
#include "dat_file.h"
#include "trace/dat.h"
#include "ilb/source.h"

#define COPIES		400U		/* more than fits into the pipe */
#define PATIENCE_MS	20000

/* A long trace: the pages of the first CPU of a sample many times over. */
static void make_long(struct dat_file *f)
{
	struct ilb_dat_layout layout;
	struct ilb_error error;
	uint64_t place[2], size;
	unsigned char *at;
	unsigned int i;

	dat_load(f, "7.3-v6.dat");
	dat_store(f, f->size);
	assert_int_equal(ilb_dat_layout_read(&layout, f->fd, f->path, &error),
			 0);
	place[0] = layout.cpus[0].offset;
	place[1] = size = layout.cpus[0].size;
	ilb_dat_layout_free(&layout);
	at = memmem(f->data, f->size, place, sizeof(place));
	assert_non_null(at);
	for (i = 0; i < COPIES; i++)
		assert_int_equal(pwrite(f->fd, f->data + place[0], size,
					(off_t)(f->size + i * size)),
				 (ssize_t)size);
	place[0] = f->size;
	place[1] = size * COPIES;
	assert_int_equal(pwrite(f->fd, place, sizeof(place), at - f->data),
			 sizeof(place));
}

static struct ilb_source *open_long(struct dat_file *f, int patience_ms)
{
	struct ilb_source *source = NULL;
	struct ilb_error error = { "" };

	make_long(f);
	if (ilb_dat_open_patience(&source, f->path, 16, patience_ms, &error))
		fail_msg("%s", error.text);
	return source;
}

/* The one child that a process has; 0 if none. */
static pid_t child_of(pid_t parent)
{
	char path[64];
	FILE *file;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent,
		 parent);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	return pid;
}

static void check_no_child(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Read some, do that to the child, read on until the end. */
static int read_disturbed(int sig, int patience_ms, struct ilb_error *error,
			  uint64_t *events)
{
	static struct dat_file f;
	struct ilb_source *source = open_long(&f, patience_ms);
	struct ilb_event event;
	pid_t child = child_of(getpid());
	int got;

	assert_true(child > 0);
	for (*events = 0; *events < 100; (*events)++)
		assert_int_equal(ilb_source_next(source, &event, error), 1);
	assert_int_equal(kill(child, sig), 0);
	while ((got = ilb_source_next(source, &event, error)) == 1)
		(*events)++;
	check_no_child();
	/* It says the same ever after. */
	assert_int_equal(ilb_source_next(source, &event, NULL), got);
	ilb_source_close(source);
	close(f.fd);
	return got;
}

static void expect_text(const struct ilb_error *error, const char *text,
			uint64_t events)
{
	char after[64];

	snprintf(after, sizeof(after), "after %" PRIu64 " events", events);
	if (!strstr(error->text, text) || !strstr(error->text, after))
		fail_msg("'%s' does not say '%s', '%s'", error->text, text,
			 after);
}

static void child_crashes(void **state)
{
	struct ilb_error error;
	uint64_t events;

	(void)state;
	assert_int_equal(read_disturbed(SIGSEGV, PATIENCE_MS, &error, &events),
			 -ILB_ERR_FORMAT);
	expect_text(&error, "crashed (signal 11)", events);
}

static void child_is_killed(void **state)
{
	struct ilb_error error;
	uint64_t events;

	(void)state;
	assert_int_equal(read_disturbed(SIGKILL, PATIENCE_MS, &error, &events),
			 -ILB_ERR_FORMAT);
	expect_text(&error, "was killed", events);
}

static void child_hangs(void **state)
{
	struct timespec a, b;
	struct ilb_error error;
	uint64_t events;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &a);
	assert_int_equal(read_disturbed(SIGSTOP, 1000, &error, &events),
			 -ILB_ERR_FORMAT);
	clock_gettime(CLOCK_MONOTONIC, &b);
	expect_text(&error, "made no progress for 1 s", events);
	assert_true(b.tv_sec - a.tv_sec < 10);
}

/* Ctrl-C goes to both: what it means is the parent's to say. */
static void child_ignores_interrupts(void **state)
{
	struct ilb_error error;
	uint64_t events;

	(void)state;
	assert_int_equal(read_disturbed(SIGINT, PATIENCE_MS, &error, &events),
			 0);
	assert_true(events > COPIES * 100);
}

static void close_in_the_middle(void **state)
{
	static struct dat_file f;
	struct ilb_source *source;
	struct ilb_error error;
	struct ilb_event event;
	unsigned int i;

	(void)state;
	source = open_long(&f, PATIENCE_MS);
	for (i = 0; i < 10; i++)
		assert_int_equal(ilb_source_next(source, &event, &error), 1);
	ilb_source_close(source);
	check_no_child();
	close(f.fd);
	source = open_long(&f, PATIENCE_MS);
	ilb_source_close(source);
	check_no_child();
	close(f.fd);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* System calls that are interrupted all the time. */
static void interrupted(void **state)
{
	const struct itimerval often = { { 0, 500 }, { 0, 500 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm };
	static struct dat_file f;
	struct ilb_source *source;
	struct ilb_error error;
	struct ilb_event event;
	uint64_t events = 0;
	int got;

	(void)state;
	sigaction(SIGALRM, &action, NULL);
	source = open_long(&f, PATIENCE_MS);
	setitimer(ITIMER_REAL, &often, NULL);
	while ((got = ilb_source_next(source, &event, &error)) == 1)
		events++;
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	assert_int_equal(got, 0);
	assert_true(events > COPIES * 100);
	ilb_source_close(source);
	close(f.fd);
}

/* A reader that opens, says so, and waits for its end. */
static pid_t start_reader(struct dat_file *f)
{
	struct ilb_source *source;
	struct ilb_error error;
	struct ilb_event event;
	int ready[2];
	pid_t pid;
	char c;

	make_long(f);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (ilb_dat_open(&source, f->path, 16, &error) ||
		    ilb_source_next(source, &event, &error) != 1 ||
		    write(ready[1], "", 1) != 1)
			_exit(99);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

/* Its parent dies: so does the child. It is ours then, as a subreaper. */
static void parent_dies(void **state)
{
	static struct dat_file f;
	pid_t reader, child;
	int status;

	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	reader = start_reader(&f);
	child = child_of(reader);
	assert_true(child > 0);
	kill(reader, SIGKILL);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(waitpid(child, &status, 0), child);
	/* By the death signal, or by the pipe, whichever comes first. */
	assert_true(WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL ||
					    WTERMSIG(status) == SIGPIPE));
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	close(f.fd);
}

/* Someone who wants no zombies at all gets the same stream. */
static void children_are_reaped_by_others(void **state)
{
	static struct dat_file f;
	struct ilb_source *source;
	struct ilb_error error;
	struct ilb_event event;
	uint64_t events = 0;
	int got;

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	source = open_long(&f, PATIENCE_MS);
	while ((got = ilb_source_next(source, &event, &error)) == 1)
		events++;
	assert_int_equal(got, 0);
	assert_true(events > COPIES * 100);
	ilb_source_close(source);
	signal(SIGCHLD, SIG_DFL);
	close(f.fd);
}

/* Nothing of ours is open in it, and it can write to nothing of ours. */
static void child_has_no_more_than_it_needs(void **state)
{
	char path[64], target[256];
	static struct dat_file f;
	struct ilb_source *source = open_long(&f, PATIENCE_MS);
	pid_t child = child_of(getpid());
	struct ilb_error error;
	struct ilb_event event;
	ssize_t length;
	int fd;

	(void)state;
	assert_int_equal(ilb_source_next(source, &event, &error), 1);
	for (fd = 0; fd < 3; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", child, fd);
		length = readlink(path, target, sizeof(target) - 1);
		assert_true(length > 0);
		target[length] = '\0';
		assert_string_equal(target, "/dev/null");
	}
	/* Beside the file and the pipe libtracecmd has the file once more. */
	for (fd = ILB_DAT_FDS + 1; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", child, fd);
		assert_int_equal(access(path, F_OK), -1);
	}
	ilb_source_close(source);
	close(f.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_crashes),
		cmocka_unit_test(child_is_killed),
		cmocka_unit_test(child_hangs),
		cmocka_unit_test(child_ignores_interrupts),
		cmocka_unit_test(close_in_the_middle),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(parent_dies),
		cmocka_unit_test(children_are_reaped_by_others),
		cmocka_unit_test(child_has_no_more_than_it_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
