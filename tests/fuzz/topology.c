// SPDX-License-Identifier: GPL-2.0-only
/*
 * Topologies: XML (from "<?xml" on), or a synthetic description. hwloc may
 * crash, in its child process; what comes back has to hold its promises.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ilb/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *spec;

	if (size >= 5 && !memcmp(data, "<?xml", 5)) {
		load_file(data, size);
		return 0;
	}
	spec = malloc(size + 1);
	if (!spec)
		return 0;
	memcpy(spec, data, size);
	spec[size] = '\0';
	/* "self" is this machine, and a path some file: no input. */
	if (strchr(spec, ':') && spec[0] != '/')
		load(spec);
	free(spec);
	return 0;
}
