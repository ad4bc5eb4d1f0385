// SPDX-License-Identifier: GPL-2.0-only
/*
 * Topologies: XML (from "<?xml" on), or a synthetic description. hwloc may
 * crash, in its child process; what comes back has to hold its promises.
 *
 * Copying a process that is watched like this one takes 20 ms. So the child
 * borrows the memory of its parent, which waits: the pipe between them must
 * take all of the answer.
 */

#include <fcntl.h>
#include <hwloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/topology.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

static int wide_pipe(int *fds, int flags)
{
	int err = pipe2(fds, flags);

	if (!err && fcntl(fds[1], F_SETPIPE_SZ, 1 << 20) < 0)
		abort();
	return err;
}

/* The child's own; it does not free them, as its memory goes with it. */
static struct ilb_tables *lent;

static int read_and_lend(struct ilb_tables **tables,
			 const struct ilb_hwloc_input *input,
			 struct ilb_error *error)
{
	int err = ilb_hwloc_read(tables, input, error);

	if (!err)
		lent = *tables;
	return err;
}

#define fork		vfork
#define pipe2		wide_pipe
#define ilb_hwloc_read	read_and_lend
#include "trace/topology.c"
#undef fork
#undef pipe2

/* What a child that crashes leaves behind is no leak of this program. */
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

#define SIZE_MAX_XML	16384U
#define SPEC_MAX	200U
#define DIGITS_MAX	2U	/* of a number: small machines are enough */

/*
 * What every child would do first, once: hwloc's parts are loaded, and stay so
 * as long as one topology exists.
 */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static hwloc_topology_t kept;

	(void)argc;
	(void)argv;
	setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
	return hwloc_topology_init(&kept);
}

static void load(const char *spec)
{
	struct ilb_error error = { "" };
	struct ilb_topology *t;
	int err;

	err = ilb_topology_load(&t, spec, &error);
	if (err == -ILB_ERR_BUG || (err && !error.text[0]))
		abort();
	if (err)
		return;
	free(lent);
	if (ilb_topology_check(t, NULL))
		abort();
	ilb_topology_free(t);
}

static void load_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("topology", MFD_CLOEXEC);
	char path[32];

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		load(path);
	close(fd);
}

/* Building thousands of CPUs takes longer than hundreds of other inputs. */
static int is_small(const char *spec)
{
	size_t n;

	for (; *spec; spec += n + !n) {
		n = strspn(spec, "0123456789");
		if (n > DIGITS_MAX)
			return 0;
	}
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *spec;

	if (size >= 5 && !memcmp(data, "<?xml", 5)) {
		if (size <= SIZE_MAX_XML)
			load_file(data, size);
		return 0;
	}
	if (size > SPEC_MAX)
		return 0;
	spec = malloc(size + 1);
	if (!spec)
		return 0;
	memcpy(spec, data, size);
	spec[size] = '\0';
	/* "self" is this machine, and a path some file: no input. */
	if (strchr(spec, ':') && spec[0] != '/' && is_small(spec))
		load(spec);
	free(spec);
	return 0;
}
