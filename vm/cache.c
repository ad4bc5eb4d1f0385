// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cache folder: ARCH/RELEASE/ is an unpacked kernel, as Debian's packages
 * lay it out (since 7.x the image lies beside the modules), and the name of
 * QEMU's package is an unpacked QEMU. All appear by being renamed.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm/vm.h"

static int no_memory(struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
}

char *ilb_cache_path(const char *below, struct ilb_error *error)
{
	const char *own = getenv("ILB_VM_CACHE");
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *path;
	int n;

	if (own && *own)
		n = asprintf(&path, "%s%s", own, below);
	else if (base && *base == '/')
		n = asprintf(&path, "%s/ilb/vm%s", base, below);
	else
		n = asprintf(&path, "%s/.cache/ilb/vm%s", home ? home : "",
			     below);
	if (n >= 0)
		return path;
	no_memory(error);
	return NULL;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

void ilb_cache_remove(const char *path)
{
	nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

/* "6.1" is the beginning of "6.1.0-50-cloud-amd64", and not of "6.12.95". */
static int begins(const char *release, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(release, name, n) &&
	       (n == 0 || release[n] < '0' || release[n] > '9');
}

static int visible(const struct dirent *entry)
{
	/* What is in the making has a '.' in front. */
	return entry->d_name[0] != '.';
}

/* The newest release of @folder that begins with @name; free() it. */
static char *newest(const char *folder, const char *name)
{
	struct dirent **entries;
	char *found = NULL;
	int n, i;

	n = scandir(folder, &entries, visible, versionsort);
	for (i = n - 1; i >= 0; i--) {
		if (!found && begins(entries[i]->d_name, name))
			found = strdup(entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return found;
}

/* A path of these parts; NULL: not there. free() it. */
static char *existing(const char *folder, const char *middle,
		      const char *release, const char *end)
{
	char *path;

	if (asprintf(&path, "%s%s%s%s", folder, middle, release, end) < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

static void find_parts(struct ilb_kernel *kernel, const char *root,
		       const char *release)
{
	kernel->modules = existing(root, "/usr/lib/modules/", release, "");
	if (!kernel->modules)
		kernel->modules = existing(root, "/lib/modules/", release, "");
	kernel->image = existing(root, "/boot/vmlinuz-", release, "");
	if (!kernel->image && kernel->modules)
		kernel->image = existing(kernel->modules, "", "", "/vmlinuz");
}

static int find_cached(struct ilb_kernel *kernel, const char *name,
		       const struct ilb_vm_machine *machine,
		       struct ilb_error *error)
{
	char below[32], *folder, *release, *root;

	snprintf(below, sizeof(below), "/%s", machine->name);
	folder = ilb_cache_path(below, error);
	if (!folder)
		return -ILB_ERR_NOMEM;
	release = newest(folder, name);
	if (!release) {
		ilb_fail(error, ILB_ERR_NOENT,
			 "kernel %s%s%s: none in %s; get one with: ilb vm fetch %s%s",
			 name, *name ? " for " : "for ", machine->name, folder,
			 *name ? name : "6.12",
			 machine == ilb_vm_machine(ILB_VM_AMD64) ? "" :
			 " --arch arm64");
		free(folder);
		return -ILB_ERR_NOENT;
	}
	root = existing(folder, "/", release, "");
	if (root)
		find_parts(kernel, root, release);
	free(root);
	free(folder);
	free(release);
	if (kernel->image)
		return 0;
	return ilb_fail(error, ILB_ERR_FORMAT,
			"kernel %s: the cache's copy is incomplete; remove it and fetch it again",
			name);
}

/* Beside the image, or where Debian has them for /boot/vmlinuz-RELEASE. */
static int find_file(struct ilb_kernel *kernel, const char *path,
		     struct ilb_error *error)
{
	const char *slash = strrchr(path, '/');
	char *folder, *release;

	kernel->image = strdup(path);
	folder = strndup(path, (size_t)(slash - path));
	if (!kernel->image || !folder) {
		free(folder);
		return no_memory(error);
	}
	kernel->modules = existing(folder, "/kernel", "", "");
	if (kernel->modules)
		*strrchr(kernel->modules, '/') = '\0';
	release = strstr(slash, "vmlinuz-");
	if (!kernel->modules && release)
		kernel->modules = existing(folder, "/../lib/modules/",
					   release + strlen("vmlinuz-"), "");
	free(folder);
	return 0;
}

struct magic {
	const char *arch;
	off_t offset;
	char text[5];
};

/* What a boot loader looks for: Linux's boot protocols, and its EFI wrapper. */
static int check_image(const char *path, const struct ilb_vm_machine *machine,
		       struct ilb_error *error)
{
	static const struct magic magics[] = {
		{ "amd64", 0x202, "HdrS" },
		{ "arm64", 56, "ARM\x64" },
		{ "arm64", 4, "zimg" },
	};
	char text[4];
	int fd, good = 0;
	size_t i;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ilb_fail(error, ILB_ERR_NOENT, "%s: %s", path,
				strerror(errno));
	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (!strcmp(magics[i].arch, machine->name) &&
		    pread(fd, text, 4, magics[i].offset) == 4 &&
		    !memcmp(text, magics[i].text, 4))
			good = 1;
	close(fd);
	if (good)
		return 0;
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: not a Linux kernel for %s; name a vmlinuz, not a package or an ELF file",
			path, machine->name);
}

int ilb_cache_kernel(struct ilb_kernel *kernel, const char *name,
		     const struct ilb_vm_machine *machine,
		     struct ilb_error *error)
{
	int err;

	memset(kernel, 0, sizeof(*kernel));
	if (name && strchr(name, '/'))
		err = find_file(kernel, name, error);
	else
		err = find_cached(kernel, name ? name : "", machine, error);
	if (!err)
		err = check_image(kernel->image, machine, error);
	if (err)
		ilb_kernel_free(kernel);
	return err;
}

void ilb_kernel_free(struct ilb_kernel *kernel)
{
	free(kernel->image);
	free(kernel->modules);
	memset(kernel, 0, sizeof(*kernel));
}

static void list_folder(FILE *out, const char *folder,
			const struct ilb_vm_machine *machine)
{
	struct dirent **entries;
	int n, i;

	n = scandir(folder, &entries, visible, versionsort);
	for (i = 0; i < n; i++) {
		fprintf(out, "%-6s %-32s %s/%s\n", machine->name,
			entries[i]->d_name, folder, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

int ilb_vm_list(FILE *out, struct ilb_error *error)
{
	const struct ilb_vm_machine *machine;
	struct ilb_error ignored;
	enum ilb_vm_arch arch;
	struct ilb_qemu qemu;
	char below[32], *folder;

	for (arch = 0; arch < ILB_VM_ARCHES; arch++) {
		machine = ilb_vm_machine(arch);
		snprintf(below, sizeof(below), "/%s", machine->name);
		folder = ilb_cache_path(below, error);
		if (!folder)
			return -ILB_ERR_NOMEM;
		list_folder(out, folder, machine);
		free(folder);
		if (!ilb_qemu_find(&qemu, NULL, machine, &ignored))
			fprintf(out, "%-6s QEMU %-27u %s\n", machine->name,
				qemu.major, qemu.program);
		ilb_qemu_free(&qemu);
	}
	return 0;
}
