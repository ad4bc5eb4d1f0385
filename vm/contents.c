// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a guest holds: the first process, ilb, busybox and trace-cmd where this
 * machine has them, what the user asks for, and the libraries of all these.
 */

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm/vm.h"

/* The program that this one is. */
#define SELF		"/proc/self/exe"
#define FIRST		"ilb-vm-init"

struct contents {
	const struct ilb_vm_options *options;
	struct ilb_initramfs image;
	struct ilb_libraries libraries;
};

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int add_program(struct contents *c, const char *name, const char *from,
		       struct ilb_error *error)
{
	char path[PATH_MAX];
	int err;

	err = ilb_libraries_add(&c->libraries, from, error);
	if (err)
		return err;
	snprintf(path, sizeof(path), "bin/%s", name);
	return ilb_initramfs_file(&c->image, path, 0755, from, error);
}

/* One that is not installed is left out: who needs it will say so. */
static int add_tool(struct contents *c, const char *name,
		    struct ilb_error *error)
{
	static const char *const folders[] = { "/usr/bin", "/bin" };
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s%s/%s", c->libraries.sysroot,
			 folders[i], name);
		if (!access(path, X_OK))
			return add_program(c, name, path, error);
	}
	return 0;
}

/* In a build folder, and where it is installed. */
static int add_first(struct contents *c, const char *ilb,
		     struct ilb_error *error)
{
	static const char *const places[] = {
		"/vm/" FIRST, "/../libexec/ilb/" FIRST,
	};
	const char *slash = strrchr(ilb, '/');
	int length = slash ? (int)(slash - ilb) : 1;
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%.*s%s", length,
			 slash ? ilb : ".", places[i]);
		if (access(path, R_OK))
			continue;
		return ilb_libraries_add(&c->libraries, path, error) ?:
		       ilb_initramfs_file(&c->image, "init", 0755, path,
					  error);
	}
	return ilb_fail(error, ILB_ERR_NOENT,
			"%s: there is no %s beside it, in vm or ../libexec/ilb; build or install it",
			ilb, FIRST);
}

static int add_ilb(struct contents *c, struct ilb_error *error)
{
	const char *ilb = c->options->ilb;
	char self[PATH_MAX];
	ssize_t n;
	int err;

	if (!ilb) {
		n = readlink(SELF, self, sizeof(self) - 1);
		if (n <= 0)
			return ilb_fail(error, ILB_ERR_IO,
					SELF ": unreadable; name --ilb");
		self[n] = '\0';
		ilb = self;
	}
	err = add_program(c, "ilb", ilb, error);
	return err ? err : add_first(c, ilb, error);
}

/* In the order in which each finds what it needs; many kernels have them
 * built in. */
static int add_modules(struct contents *c, const struct ilb_kernel *kernel,
		       struct ilb_error *error)
{
	static const char *const modules[] = {
		"virtio/virtio", "virtio/virtio_ring",
		"virtio/virtio_pci_legacy_dev", "virtio/virtio_pci_modern_dev",
		"virtio/virtio_pci", "char/virtio_console",
	};
	static const char *const ends[] = { "", ".xz" };
	char from[PATH_MAX], to[80];
	size_t i, k;
	int err = 0;

	for (i = 0; kernel->modules && !err &&
	     i < sizeof(modules) / sizeof(modules[0]); i++)
		for (k = 0; k < 2; k++) {
			snprintf(from, sizeof(from), "%s/kernel/drivers/%s.ko%s",
				 kernel->modules, modules[i], ends[k]);
			if (access(from, R_OK))
				continue;
			snprintf(to, sizeof(to), "%s/%02zu-%s.ko",
				 ILB_GUEST_MODULES, i, base(modules[i]));
			err = ilb_initramfs_file(&c->image, to, 0644, from,
						 error);
			break;
		}
	return err;
}

static int add_libraries(struct contents *c, struct ilb_error *error)
{
	const struct ilb_libraries *l = &c->libraries;
	char path[PATH_MAX], from[PATH_MAX];
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < l->paths.nr; i++) {
		snprintf(path, sizeof(path), "lib/%s", base(l->paths.list[i]));
		err = ilb_initramfs_file(&c->image, path, 0755,
					 l->paths.list[i], error);
	}
	if (err || !l->loader)
		return err;
	snprintf(path, sizeof(path), "lib/%s", base(l->loader));
	snprintf(from, sizeof(from), "%s%s", l->sysroot, l->loader);
	/* Some libraries name it as one that they need. */
	for (i = 0; i < l->paths.nr; i++)
		if (!strcmp(base(l->paths.list[i]), base(l->loader)))
			return 0;
	return ilb_initramfs_file(&c->image, path, 0755, from, error);
}

static int add_command(struct contents *c, struct ilb_error *error)
{
	char *const *command = c->options->command;
	size_t size = 0, n;
	char *text = NULL, *grown;
	int err;

	for (; *command; command++) {
		n = strlen(*command) + 1;
		grown = realloc(text, size + n);
		if (!grown) {
			free(text);
			return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
		}
		text = grown;
		memcpy(text + size, *command, n);
		size += n;
	}
	err = ilb_initramfs_data(&c->image, ILB_GUEST_COMMAND, 0644, text,
				 size, error);
	free(text);
	return err;
}

static void add_folders(struct contents *c)
{
	static const char *const folders[] = {
		"bin", "dev", "ilb", ILB_GUEST_MODULES, "lib", "proc",
		"run", "sys", "tmp", "usr", "work",
	};
	static const char *const links[][2] = {
		{ "lib64", "lib" }, { "sbin", "bin" }, { "usr/bin", "../bin" },
		{ "usr/lib", "../lib" }, { "usr/sbin", "../bin" },
	};
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		ilb_initramfs_folder(&c->image, folders[i]);
	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		ilb_initramfs_link(&c->image, links[i][0], links[i][1]);
}

static int add_all(struct contents *c, const struct ilb_kernel *kernel,
		   struct ilb_error *error)
{
	const struct ilb_vm_options *o = c->options;
	unsigned int i;
	int err;

	add_folders(c);
	err = add_ilb(c, error);
	if (!err)
		err = add_tool(c, "busybox", error);
	if (!err)
		err = add_tool(c, "trace-cmd", error);
	for (i = 0; !err && i < o->nr_with; i++)
		err = add_program(c, base(o->with[i]), o->with[i], error);
	if (!err)
		err = add_modules(c, kernel, error);
	if (!err)
		err = add_libraries(c, error);
	return err ? err : add_command(c, error);
}

/* scripts/cross.sh makes BUILD/ilb and BUILD.sysroot; "" is this machine. */
static char *find_sysroot(const struct ilb_vm_options *options)
{
	const char *ilb = options->ilb, *slash = ilb ? strrchr(ilb, '/') : NULL;
	char *path;

	if (options->sysroot)
		return strdup(options->sysroot);
	if (!slash || options->arch == ilb_vm_arch_native())
		return strdup("");
	if (asprintf(&path, "%.*s.sysroot", (int)(slash - ilb), ilb) < 0)
		return NULL;
	if (access(path, X_OK))
		*path = '\0';
	return path;
}

int ilb_initramfs_make(const struct ilb_vm_options *options,
		       const struct ilb_kernel *kernel,
		       struct ilb_error *error)
{
	struct contents c = { .options = options };
	struct ilb_error ignored;
	char *sysroot = find_sysroot(options);
	int fd, err;

	if (!sysroot)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");

	c.libraries.machine = ilb_vm_machine(options->arch)->machine;
	c.libraries.sysroot = sysroot;
	err = ilb_initramfs_open(&c.image, error);
	if (err) {
		free(sysroot);
		return err;
	}
	err = add_all(&c, kernel, error);
	ilb_libraries_free(&c.libraries);
	free(sysroot);
	fd = ilb_initramfs_close(&c.image, err ? &ignored : error);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}
