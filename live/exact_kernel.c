// SPDX-License-Identifier: GPL-2.0-only
/*
 * `nohz` is static and its struct has no name, so that no type leads to it:
 * its address comes from /proc/kallsyms. The struct itself is found in BTF by
 * its member idle_cpus_mask.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/exact_kernel.h"
#include "live/places.h"

enum { NOHZ, NOHZ_CSD_FUNC, NAMES };

static const char *const names[NAMES] = { "nohz", "nohz_csd_func" };

struct found {
	uint64_t address[NAMES];
	unsigned int times[NAMES];
	unsigned int lines;
};

/* "ffffffff810d1a40 t name\n"; what modules have, which comes last, ends it. */
static int take_line(struct found *found, const char *line)
{
	const char *name = strchr(line, ' ');
	size_t length;
	int i;

	if (!name || !name[1] || name[2] != ' ')
		return 0;
	name += 3;
	length = strcspn(name, "\t\n");
	if (name[length] == '\t')
		return 1;
	found->lines++;
	for (i = 0; i < NAMES; i++) {
		if (strlen(names[i]) != length ||
		    memcmp(names[i], name, length))
			continue;
		found->address[i] = strtoull(line, NULL, 16);
		found->times[i]++;
	}
	return 0;
}

static int hidden(const char *path, struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_PERM,
			"%s: addresses are hidden; run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYSLOG, and with kernel.kptr_restrict at most 1",
			path);
}

static int judge(const struct found *found, const char *path,
		 struct ilb_error *error)
{
	int i;

	if (!found->lines)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"%s: lists no symbols; use a kernel with CONFIG_KALLSYMS_ALL",
				path);
	for (i = NAMES - 1; i >= 0; i--) {
		if (found->times[i] > 1)
			return ilb_fail(error, ILB_ERR_UNSUPPORTED,
					"%s: lists '%s' %u times; which one counts is unknown",
					path, names[i], found->times[i]);
		if (!found->times[i])
			return ilb_fail(error, ILB_ERR_UNSUPPORTED,
					"%s: does not list '%s'; use a kernel with CONFIG_NO_HZ_COMMON and CONFIG_KALLSYMS_ALL",
					path, names[i]);
		if (!found->address[i])
			return hidden(path, error);
	}
	return 0;
}

int ilb_kernel_addresses(struct ilb_kernel_places *places, const char *path,
			 struct ilb_error *error)
{
	struct found found = { .lines = 0 };
	FILE *file = fopen(path, "re");
	size_t room = 0;
	char *line = NULL;
	int err;

	if (!file)
		return ilb_fail(error, errno == EACCES || errno == EPERM ?
				ILB_ERR_PERM : ILB_ERR_UNSUPPORTED,
				"%s: %s; use a kernel with CONFIG_KALLSYMS_ALL, as root",
				path, strerror(errno));
	while (getline(&line, &room, file) > 0)
		if (take_line(&found, line))
			break;
	free(line);
	fclose(file);
	err = judge(&found, path, error);
	places->nohz = found.address[NOHZ];
	places->nohz_csd_func = found.address[NOHZ_CSD_FUNC];
	return err;
}

int ilb_kernel_mask(struct ilb_kernel_places *places, struct ilb_error *error)
{
	struct ilb_places found;

	if (access(ILB_KERNEL_TYPES, R_OK))
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				ILB_KERNEL_TYPES ": %s; use a kernel with CONFIG_DEBUG_INFO_BTF",
				strerror(errno));
	ilb_places_find(&found, ILB_KERNEL_TYPES);
	if (!found.has_mask)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				ILB_KERNEL_TYPES ": has no struct with idle_cpus_mask that this libbpf can read; a newer one may");
	places->mask = found.mask;
	places->mask_in_place = !found.mask_indirect;
	return 0;
}
