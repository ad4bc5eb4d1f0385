// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's file: where it is, whether only root can have written it, and
 * into the kernel. A path is walked by descriptor from / on, links included,
 * each step being checked before the next one is taken from it: what was
 * checked is what is loaded, whatever happens to the path meanwhile.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ilb/fix.h"
#include "trace/file.h"

#define NAME		"ilb_fix.ko"
#define SIGNATURE	"~Module signature appended~\n"
#define VERMAGIC	"vermagic="
#define FLAG_COMPRESSED	4	/* MODULE_INIT_COMPRESSED_FILE, of 5.17 */
#define DEP_MAX		(8U << 20)
#define FILE_MAX	(64LL << 20)
#define SMALL_MAX	4096U
#define LINKS_MAX	40	/* as in the kernel */
#define FUSE_MAGIC	0x65735546

/* ---- where it is ---- */

/* Of a line "updates/dkms/ilb_fix.ko.xz: ..." the length of the path. */
static size_t dep_length(const char *line)
{
	size_t n = strcspn(line, ":\n");
	const char *end = line + n, *name = end;

	while (name > line && name[-1] != '/')
		name--;
	if (*end != ':' || strncmp(name, NAME, sizeof(NAME) - 1))
		return 0;
	name += sizeof(NAME) - 1;
	return name == end || *name == '.' ? n : 0;
}

/* What modprobe would take; NULL: nothing is installed. */
static char *find_installed(const char *release, const char *root)
{
	char path[PATH_MAX], *text, *line, *found = NULL;
	int n = snprintf(path, sizeof(path), "%s/lib/modules/%s/modules.dep",
			 root, release);

	if (n < 0 || n >= PATH_MAX ||
	    ilb_file_read(&text, NULL, path, DEP_MAX, NULL))
		return NULL;
	for (line = text; line && !found; line = strchr(line, '\n')) {
		line += *line == '\n';
		n = (int)dep_length(line);
		if (!n)
			continue;
		if (*line == '/')
			n = asprintf(&found, "%s%.*s", root, n, line);
		else
			n = asprintf(&found, "%s/lib/modules/%s/%.*s", root,
				     release, n, line);
		if (n < 0)
			found = NULL;
	}
	free(text);
	return found;
}

/* In the tree that this program was built in. */
static char *find_built(void)
{
	char self[PATH_MAX], *path, *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return NULL;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	if (asprintf(&path, "%s/../build-kmod/" NAME, self) < 0)
		return NULL;
	if (!access(path, F_OK))
		return path;
	free(path);
	return NULL;
}

int ilb_module_find(char **path, const char *release, const char *root,
		    struct ilb_error *error)
{
	*path = find_installed(release, root);
	if (!*path && !*root)
		*path = find_built();
	if (*path)
		return 0;
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"ilb_fix: no module for %s; build it: make kmod (needs linux-headers-%s), install it with DKMS (docs/fix.md), or name one: --module FILE",
			release, release);
}

/* ---- who can have written it ---- */

/**
 * struct walk - how far a path was walked
 * @fd: what is there; -1 if that failed
 * @seen: its path, without links, dots and a slash at the end
 * @rest: what is still to be walked, relative to it
 * @links: followed so far
 * @device: of /
 */
struct walk {
	int fd;
	char seen[PATH_MAX];
	char rest[PATH_MAX];
	unsigned int links;
	dev_t device;
};

/* Who mounts a FUSE says what is in it, and who owns that. / is trusted. */
static int is_foreign(const struct walk *w, const struct stat *st)
{
	struct statfs fs;

	return fstatfs(w->fd, &fs) ||
	       (fs.f_type == FUSE_MAGIC && st->st_dev != w->device);
}

static int judge(const struct walk *w, const struct stat *st,
		 struct ilb_error *error)
{
	const char *path = w->seen[0] ? w->seen : "/";

	if (!w->rest[0] && !S_ISREG(st->st_mode))
		return ilb_fail(error, ILB_ERR_PERM,
				"%s: no regular file; name the module's file",
				path);
	if (st->st_uid)
		return ilb_fail(error, ILB_ERR_PERM,
				"%s: owned by user %u, who could put anything into the kernel; chown root it, or copy the module to a folder of root's",
				path, st->st_uid);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return ilb_fail(error, ILB_ERR_PERM,
				"%s: %s may write it, and so put anything into the kernel; chmod go-w it, or copy the module to a folder of root's",
				path, st->st_mode & S_IWOTH ? "anybody" :
				"a group");
	if (is_foreign(w, st))
		return ilb_fail(error, ILB_ERR_PERM,
				"%s: on a FUSE, whose owner could put anything into the kernel; copy the module to a folder of root's",
				path);
	return 0;
}

static int cannot_open(const char *path, struct ilb_error *error)
{
	int number = errno;

	if (number == ENOENT || number == ENOTDIR)
		return ilb_fail(error, ILB_ERR_NOENT,
				"%s: no such file; build it: make kmod", path);
	return ilb_fail(error, number == EACCES ? ILB_ERR_PERM : ILB_ERR_IO,
			"%s: cannot open: %s", path, strerror(number));
}

/* Moves to @fd, which errno explains if it is none. */
static int move_to(struct walk *w, int fd)
{
	int number = errno;

	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
	errno = number;
	return fd < 0 ? -1 : 0;
}

static int move_to_root(struct walk *w)
{
	w->seen[0] = '\0';
	return move_to(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* The first part of the rest, and the slashes after it, become @name. */
static void take_name(struct walk *w, char name[NAME_MAX + 2])
{
	size_t n = strcspn(w->rest, "/"), next = n + strspn(w->rest + n, "/");

	/* A name that is too long still is one when it is cut off here. */
	snprintf(name, NAME_MAX + 2, "%.*s", (int)n, w->rest);
	memmove(w->rest, w->rest + next, strlen(w->rest + next) + 1);
}

/* Puts what the link @name says before the rest. */
static int follow(struct walk *w, const char *name)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(w->fd, name, to, sizeof(to));
	size_t rest = strlen(w->rest), skip;

	if (n < 0)
		return -1;
	errno = ENAMETOOLONG;
	if ((size_t)n + rest + 2 > sizeof(to))
		return -1;
	errno = ELOOP;
	if (++w->links > LINKS_MAX)
		return -1;
	to[n] = '/';
	memcpy(to + n + 1, w->rest, rest + 1);
	skip = strspn(to, "/");
	memcpy(w->rest, to + skip, (size_t)n + rest + 2 - skip);
	return skip ? move_to_root(w) : 0;
}

static int descend(struct walk *w, const char *name)
{
	const int how = w->rest[0] ? O_PATH | O_DIRECTORY :
				     O_RDONLY | O_NONBLOCK | O_NOCTTY;
	size_t n = strlen(w->seen);
	char *slash;

	errno = ENAMETOOLONG;
	if (n + strlen(name) + 2 > sizeof(w->seen))
		return -1;
	if (strcmp(name, "..")) {
		snprintf(w->seen + n, sizeof(w->seen) - n, "/%s", name);
	} else {
		slash = strrchr(w->seen, '/');
		w->seen[slash ? slash - w->seen : 0] = '\0';
	}
	return move_to(w, openat(w->fd, name, how | O_NOFOLLOW | O_CLOEXEC));
}

/* One part of the path. Who may not write the folder cannot change a link. */
static int step(struct walk *w)
{
	char name[NAME_MAX + 2];
	struct stat st;

	take_name(w, name);
	if (!strcmp(name, "."))
		return 0;
	if (fstatat(w->fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return -1;
	return S_ISLNK(st.st_mode) ? follow(w, name) : descend(w, name);
}

static int start(struct walk *w, const char *path)
{
	char here[PATH_MAX] = "";
	size_t skip;
	int n;

	w->fd = -1;
	w->links = 0;
	if (*path != '/' && !getcwd(here, sizeof(here)))
		return -1;
	n = snprintf(w->rest, sizeof(w->rest), "%s/%s", here, path);
	errno = ENAMETOOLONG;
	if (n < 0 || (size_t)n >= sizeof(w->rest))
		return -1;
	skip = strspn(w->rest, "/");
	memmove(w->rest, w->rest + skip, (size_t)n - skip + 1);
	return move_to_root(w);
}

/* Returns a descriptor or error. */
static int walk(const char *path, struct ilb_error *error)
{
	struct walk w;
	struct stat st;
	int err, failed;

	failed = start(&w, path);
	if (!failed)
		failed = fstat(w.fd, &st);
	w.device = failed ? 0 : st.st_dev;
	while (!failed) {
		err = judge(&w, &st, error);
		if (err)
			break;
		if (!w.rest[0])
			return w.fd;
		failed = step(&w) || fstat(w.fd, &st);
	}
	if (failed)
		err = cannot_open(path, error);
	if (w.fd >= 0)
		close(w.fd);
	return err;
}

/* ---- what it says of itself ---- */

static void look_into(struct ilb_module *m, const char *text, size_t size)
{
	const size_t n = sizeof(SIGNATURE) - 1;
	const char *magic, *end = text + size;
	size_t length;

	m->compressed = size < 4 || memcmp(text, "\177ELF", 4);
	m->is_signed = size > n && !memcmp(end - n, SIGNATURE, n);
	magic = m->compressed ? NULL :
		memmem(text, size, "\0" VERMAGIC, sizeof(VERMAGIC));
	if (!magic)
		return;
	magic += sizeof(VERMAGIC);
	for (length = 0; magic + length < end && magic[length] > ' ' &&
	     length < sizeof(m->release) - 1; length++)
		m->release[length] = magic[length];
	m->release[length] = '\0';
}

static int inspect(struct ilb_module *m, const char *path,
		   struct ilb_error *error)
{
	struct stat st;
	void *text;

	if (fstat(m->fd, &st) || st.st_size < 1 || st.st_size > FILE_MAX)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: no module by its size; build it: make kmod",
				path);
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, m->fd,
		    0);
	if (text == MAP_FAILED)
		return ilb_fail(error, ILB_ERR_IO, "%s: cannot read: %s", path,
				strerror(errno));
	look_into(m, text, (size_t)st.st_size);
	munmap(text, (size_t)st.st_size);
	return 0;
}

int ilb_module_open(struct ilb_module *module, const char *path,
		    struct ilb_error *error)
{
	int err;

	memset(module, 0, sizeof(*module));
	module->fd = -1;
	err = walk(path, error);
	if (err < 0)
		return err;
	module->fd = err;
	err = inspect(module, path, error);
	if (err)
		ilb_module_close(module);
	return err;
}

void ilb_module_close(struct ilb_module *module)
{
	if (module->fd >= 0)
		close(module->fd);
	module->fd = -1;
}

/* ---- into the kernel ---- */

static int file_says(const char *root, const char *name, char what)
{
	char path[PATH_MAX], *text;
	int n = snprintf(path, sizeof(path), "%s%s", root, name), says;

	if (n < 0 || n >= PATH_MAX ||
	    ilb_file_read(&text, NULL, path, SMALL_MAX, NULL))
		return 0;
	says = text[0] == what;
	free(text);
	return says;
}

int ilb_module_check(const struct ilb_module *module,
		     const struct ilb_facts *facts, const char *root,
		     struct ilb_error *error)
{
	int locked = facts->lockdown[0] && strcmp(facts->lockdown, "none");

	if (file_says(root, "/proc/sys/kernel/modules_disabled", '1'))
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"kernel.modules_disabled is 1: no module can be loaded; reboot without it");
	if (module->release[0] && strcmp(module->release, facts->kernel))
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"the module was built for %s, and this kernel is %s; build it for this one: make kmod",
				module->release, facts->kernel);
	if (module->is_signed || module->compressed ||
	    (!locked && !file_says(root, "/sys/module/module/parameters/sig_enforce",
				   'Y')))
		return 0;
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"the module is not signed, and this kernel wants it to be (%s%s); sign it with a key that the machine trusts (mokutil --import), as DKMS does, or boot without Secure Boot",
			locked ? "lockdown: " : "module.sig_enforce",
			locked ? facts->lockdown : "");
}

int ilb_module_load(const struct ilb_module *module, const char *parameters,
		    struct ilb_error *error)
{
	const struct ilb_fix_refusal *why;
	int number;

	if (!syscall(SYS_finit_module, module->fd, parameters,
		     module->compressed ? FLAG_COMPRESSED : 0))
		return 0;
	number = errno;
	why = ilb_fix_refusal_find(number);
	return ilb_fail(error, number == EPERM ? ILB_ERR_PERM :
			ILB_ERR_UNSUPPORTED,
			"the module was not loaded: %s (%s); %s", why->reason,
			strerrorname_np(number) ? strerrorname_np(number) :
			"unknown error", why->remedy);
}

int ilb_module_unload(struct ilb_error *error)
{
	if (!syscall(SYS_delete_module, "ilb_fix", O_NONBLOCK))
		return 0;
	if (errno == ENOENT)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"ilb_fix: it is not loaded; nothing to unload");
	if (errno == EPERM)
		return ilb_fail(error, ILB_ERR_PERM,
				"ilb_fix: not permitted to unload it; run as root (CAP_SYS_MODULE)");
	if (errno == EWOULDBLOCK)
		return ilb_fail(error, ILB_ERR_IO,
				"ilb_fix: in use; end what reads its parameters, and try again");
	return ilb_fail(error, ILB_ERR_IO, "ilb_fix: cannot unload: %s; see dmesg",
			strerror(errno));
}
