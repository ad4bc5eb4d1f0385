// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a guest sends: frames, and in them an archive. Whatever comes, nothing
 * but the folder appears, and in it nothing but files, folders and links.
 */

#include <ftw.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the command's errors go; what the fuzzer has to say is not of them. */
#undef STDERR_FILENO
#define STDERR_FILENO	STDOUT_FILENO
#include "vm/guest.c"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char home[64];

static void leave(void)
{
	ilb_cache_remove(home);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("TMPDIR");

	(void)argc;
	(void)argv;
	snprintf(home, sizeof(home), "%s/ilb-fuzz-XXXXXX", dir ? dir : "/tmp");
	if (!mkdtemp(home) || atexit(leave) ||
	    !freopen("/dev/null", "w", stdout))
		abort();
	/* Notes. The fuzzer has kept the old one. */
	stderr = stdout;
	return 0;
}

static int look(const char *path, const struct stat *st, int type,
		struct FTW *at)
{
	(void)type;
	if (at->level == 1 && strcmp(path + strlen(home), "/out"))
		abort();
	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode) &&
	    !S_ISLNK(st->st_mode))
		abort();
	if (!S_ISLNK(st->st_mode) && st->st_mode & 07000)
		abort();
	return 0;
}

static void receive(struct guest *g, const uint8_t *data, size_t size)
{
	char out[80];
	int i;

	snprintf(out, sizeof(out), "%s/out", home);
	for (i = 0; i < SOURCES; i++)
		g->fd[i] = -1;
	g->fd[FRAMES] = memfd_create("frames", MFD_CLOEXEC);
	if (g->fd[FRAMES] < 0 ||
	    write(g->fd[FRAMES], data, size) != (ssize_t)size ||
	    lseek(g->fd[FRAMES], 0, SEEK_SET))
		abort();
	clock_gettime(CLOCK_MONOTONIC, &g->start);
	follow(g);
	end(g);
	if (g->err ? !g->error->text[0] : !g->done)
		abort();
	if (!g->err)
		ilb_results_publish(&g->results, g->error);
	ilb_results_discard(&g->results);
	nftw(home, look, 8, FTW_PHYS);
	ilb_cache_remove(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char out[80];
	const struct ilb_vm_options options = { .dir = out, .timeout_s = 60 };
	const struct ilb_boot boot = { .emulated = 1 };
	struct ilb_vm_summary summary = { 0 };
	struct ilb_error error = { "" };
	struct guest *g = calloc(1, sizeof(*g));

	if (!g)
		return 0;
	snprintf(out, sizeof(out), "%s/out", home);
	g->options = &options;
	g->boot = &boot;
	g->summary = &summary;
	g->error = &error;
	receive(g, data, size);
	free(g);
	return 0;
}
