// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debian's packages, through apt: it knows this machine's mirror and proxy,
 * checks signatures and finds what depends on what. It gets a state of its
 * own, so that the system's is neither read nor changed; only for QEMU is it
 * told what is installed, to fetch no library that is there.
 */

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/vm.h"

#define KEYRING		"/usr/share/keyrings/debian-archive-keyring.gpg"
#define INSTALLED	"/var/lib/dpkg/status"

static const struct source {
	const char *what;
	const char *suite;
} sources[] = {
	{ "6.1", "bookworm" },
	{ "6.12", "bookworm-backports" },
	{ "7.2", "trixie-backports" },
	{ "7.3", "trixie-backports" },
};

/**
 * struct fetch - one errand
 * @machine: the guest's
 * @arch: of the packages: QEMU is a program of this machine
 * @home: apt's state for that suite and architecture
 * @debs: where packages arrive, in @home
 * @into: the folder to make
 * @fresh: as it is called until it is whole
 */
struct fetch {
	const struct ilb_vm_machine *machine;
	const char *arch;
	const char *suite;
	char *home;
	char *debs;
	char *into;
	char *fresh;
	int lock;
	struct ilb_error *error;
};

static int no_memory(struct fetch *f)
{
	return ilb_fail(f->error, ILB_ERR_NOMEM, "out of memory");
}

static int make_folder(struct fetch *f, const char *path)
{
	char *part = strdup(path), *slash;
	int err = 0;

	if (!part)
		return no_memory(f);
	for (slash = part; !err && slash; ) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(part, 0777) && errno != EEXIST)
			err = ilb_fail(f->error, ILB_ERR_IO,
				       "%s: cannot make it: %s", part,
				       strerror(errno));
		if (slash)
			*slash = '/';
	}
	free(part);
	return err;
}

static int make_below(struct fetch *f, const char *below)
{
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", f->home, below) < 0)
		return no_memory(f);
	err = make_folder(f, path);
	free(path);
	return err;
}

static int write_text(struct fetch *f, const char *name, const char *text)
{
	char *path;
	FILE *file;
	int err = 0;

	if (asprintf(&path, "%s/%s", f->home, name) < 0)
		return no_memory(f);
	file = fopen(path, "we");
	if (!file || fputs(text, file) < 0)
		err = ilb_fail(f->error, ILB_ERR_IO, "%s: %s", path,
			       strerror(errno));
	if (file && fclose(file) && !err)
		err = ilb_fail(f->error, ILB_ERR_IO, "%s: %s", path,
			       strerror(errno));
	free(path);
	return err;
}

/* ---- apt ---- */

static void begin_apt(const struct fetch *f, struct ilb_args *args,
		      const char *program)
{
	static const char *const fixed[] = {
		"-o", "Dir::Etc::SourceParts=/dev/null",
		"-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=",
		"-o", "Acquire::Languages=none",
		"-o", "APT::Update::Error-Mode=any",
		/* As root it would become a user who may not write here. */
		"-o", "APT::Sandbox::User=root", NULL,
	};

	memset(args, 0, sizeof(*args));
	ilb_args_add(args, "%s", program);
	ilb_args_add_all(args, fixed);
	ilb_args_add(args, "-oDir::Etc::SourceList=%s/sources.list", f->home);
	ilb_args_add(args, "-oDir::State::Lists=%s/lists", f->home);
	ilb_args_add(args, "-oDir::Cache::Archives=%s", f->debs);
	ilb_args_add(args, "-oAPT::Architecture=%s", f->arch);
	ilb_args_add(args, "-oAPT::Architectures=%s", f->arch);
}

static void use_no_status(const struct fetch *f, struct ilb_args *args)
{
	ilb_args_add(args, "-oDir::State::Status=%s/status", f->home);
}

static int run_apt(struct fetch *f, struct ilb_args *args, const char *dir,
		   char **output, const char *step)
{
	struct ilb_error why = { "" };
	int err = ilb_args_run(args, dir, output, &why);

	ilb_args_free(args);
	if (err)
		ilb_fail(f->error, (enum ilb_err)-err, "%s: %s: %s", f->suite,
			 step, why.text);
	return err;
}

/* The archive that this machine's own packages come from. */
static int find_site(struct fetch *f, char **site)
{
	static const char *const query[] = {
		"apt-get", "indextargets", "--format", "$(SITE)",
		"Origin: Debian", "Label: Debian", "Created-By: Packages", NULL,
	};
	struct ilb_args args = { 0 };
	int err;

	ilb_args_add_all(&args, query);
	err = run_apt(f, &args, NULL, site,
		      "apt is needed to fetch Debian's packages");
	if (err)
		return err;
	(*site)[strcspn(*site, "\n")] = '\0';
	if (**site)
		return 0;
	free(*site);
	return ilb_fail(f->error, ILB_ERR_UNSUPPORTED,
			"%s: this machine's apt knows no archive of Debian's; add one to its sources and run apt-get update",
			f->suite);
}

static int write_sources(struct fetch *f)
{
	char *site = NULL, *first, *text;
	int err = find_site(f, &site), n;

	if (err)
		return err;
	/* A suite of additions needs the one that it adds to. */
	first = strndup(f->suite, strcspn(f->suite, "-"));
	n = first ? asprintf(&text, "deb [signed-by=" KEYRING "] %s %s main\n"
			     "deb [signed-by=" KEYRING "] %s %s main\n", site,
			     first, site, f->suite) : -1;
	if (n >= 0 && !strcmp(first, f->suite))
		*(strchr(text, '\n') + 1) = '\0';
	err = n < 0 ? no_memory(f) : write_text(f, "sources.list", text);
	if (n >= 0)
		free(text);
	free(first);
	free(site);
	return err;
}

static int update(struct fetch *f)
{
	struct ilb_args args;
	int err;

	if (access(KEYRING, R_OK))
		return ilb_fail(f->error, ILB_ERR_NOENT, "%s: %s: install debian-archive-keyring, nothing is fetched unchecked",
				KEYRING, strerror(errno));
	err = make_below(f, "lists/partial");
	if (!err)
		err = make_below(f, "debs/partial");
	if (!err)
		err = write_text(f, "status", "");
	if (!err)
		err = write_sources(f);
	if (err)
		return err;
	fprintf(stderr, "ilb vm: what is in %s?\n", f->suite);
	begin_apt(f, &args, "apt-get");
	use_no_status(f, &args);
	ilb_args_add(&args, "-qq");
	ilb_args_add(&args, "update");
	return run_apt(f, &args, NULL, NULL,
		       "no list of its packages, or not signed by a key of "
		       KEYRING " (a newer debian-archive-keyring may have it)");
}

/* ---- packages become a folder ---- */

static int unpack_all(struct fetch *f)
{
	struct ilb_args args;
	char *pattern;
	int err = 0;
	glob_t debs;
	size_t i;

	if (asprintf(&pattern, "%s/*.deb", f->debs) < 0)
		return no_memory(f);
	err = glob(pattern, 0, NULL, &debs);
	free(pattern);
	if (err)
		return ilb_fail(f->error, ILB_ERR_NOENT,
				"%s: apt fetched nothing", f->suite);
	for (i = 0; !err && i < debs.gl_pathc; i++) {
		memset(&args, 0, sizeof(args));
		ilb_args_add(&args, "dpkg-deb");
		ilb_args_add(&args, "-x");
		ilb_args_add(&args, "%s", debs.gl_pathv[i]);
		ilb_args_add(&args, "%s", f->fresh);
		err = run_apt(f, &args, NULL, NULL, "unpacking");
	}
	globfree(&debs);
	return err;
}

static int publish(struct fetch *f)
{
	int err;

	ilb_cache_remove(f->fresh);
	err = make_folder(f, f->fresh);
	if (!err)
		err = unpack_all(f);
	if (err) {
		ilb_cache_remove(f->fresh);
		return err;
	}
	ilb_cache_remove(f->into);
	if (rename(f->fresh, f->into))
		return ilb_fail(f->error, ILB_ERR_IO, "%s: %s", f->into,
				strerror(errno));
	ilb_cache_remove(f->debs);
	fprintf(stderr, "ilb vm: %s\n", f->into);
	return 0;
}

/* ---- a kernel ---- */

static int is_release(const char *release, const char *what,
		      const struct ilb_vm_machine *machine)
{
	size_t n = strlen(what), length = strlen(release);
	char end[32];
	size_t m = (size_t)snprintf(end, sizeof(end), "-cloud-%s",
				    machine->name);

	return length > n + m && !strncmp(release, what, n) &&
	       (release[n] < '0' || release[n] > '9') &&
	       !strcmp(release + length - m, end);
}

static int find_release(struct fetch *f, const char *what, char **release)
{
	const char *const prefix = "linux-image-";
	char *names, *line, *rest, *best = NULL;
	struct ilb_args args;
	int err;

	begin_apt(f, &args, "apt-cache");
	use_no_status(f, &args);
	ilb_args_add(&args, "pkgnames");
	ilb_args_add(&args, "%s%s", prefix, what);
	err = run_apt(f, &args, NULL, &names, "its packages");
	if (err)
		return err;
	for (line = strtok_r(names, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		line += strlen(prefix);
		if (is_release(line, what, f->machine) &&
		    (!best || strverscmp(line, best) > 0))
			best = line;
	}
	*release = best ? strdup(best) : NULL;
	free(names);
	if (*release)
		return 0;
	return ilb_fail(f->error, ILB_ERR_NOENT,
			"%s: has no linux-image-%s*-cloud-%s any more",
			f->suite, what, f->machine->name);
}

/* Since 7.x the image's package only names those that have its parts. */
static int add_parts(struct fetch *f, const char *release,
		     struct ilb_args *download)
{
	char *text, *line, *rest, *name;
	struct ilb_args args;
	int err;

	begin_apt(f, &args, "apt-cache");
	use_no_status(f, &args);
	ilb_args_add(&args, "depends");
	ilb_args_add(&args, "--important");
	ilb_args_add(&args, "linux-image-%s", release);
	err = run_apt(f, &args, NULL, &text, "what the kernel depends on");
	if (err)
		return err;
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		name = strstr(line, "ends: linux-");
		if (!name || !strstr(name, release))
			continue;
		ilb_args_add(download, "%s", name + strlen("ends: "));
	}
	free(text);
	return 0;
}

static int download_kernel(struct fetch *f, const char *release)
{
	struct ilb_args args;
	int err;

	begin_apt(f, &args, "apt-get");
	use_no_status(f, &args);
	ilb_args_add(&args, "-q");
	ilb_args_add(&args, "download");
	ilb_args_add(&args, "linux-image-%s", release);
	err = add_parts(f, release, &args);
	if (err) {
		ilb_args_free(&args);
		return err;
	}
	return run_apt(f, &args, f->debs, NULL, "downloading the kernel");
}

static int fetch_kernel(struct fetch *f, const char *what)
{
	char *release, *below = NULL, *fresh = NULL;
	int err;

	err = find_release(f, what, &release);
	if (err)
		return err;
	if (asprintf(&below, "/%s/%s", f->machine->name, release) >= 0 &&
	    asprintf(&fresh, "/%s/.new", f->machine->name) >= 0) {
		f->into = ilb_cache_path(below, NULL);
		f->fresh = ilb_cache_path(fresh, NULL);
	}
	if (!f->into || !f->fresh)
		err = no_memory(f);
	else if (!access(f->into, F_OK))
		fprintf(stderr, "ilb vm: %s is there already\n", f->into);
	else
		err = download_kernel(f, release) ?: publish(f);
	free(fresh);
	free(below);
	free(release);
	return err;
}

/* ---- QEMU ---- */

static int download_qemu(struct fetch *f)
{
	static const char *const fixed[] = {
		"-q", "--yes", "--no-install-recommends", "--download-only",
		"--reinstall", "-o", "Debug::NoLocking=1",
		"-o", "Dir::State::Status=" INSTALLED, "install", NULL,
	};
	static const char *const parts[] = {
		"qemu-system-common", "qemu-system-data",
	};
	struct ilb_args args;
	size_t i;

	begin_apt(f, &args, "apt-get");
	ilb_args_add_all(&args, fixed);
	ilb_args_add(&args, "%s/%s", f->machine->package, f->suite);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ilb_args_add(&args, "%s/%s", parts[i], f->suite);
	if (f->machine->dies)
		ilb_args_add(&args, "seabios/%s", f->suite);
	else
		ilb_args_add(&args, "ipxe-qemu");
	return run_apt(f, &args, NULL, NULL, "downloading QEMU");
}

static int fetch_qemu(struct fetch *f)
{
	char *below, *fresh;
	int err;

	if (asprintf(&below, "/%s", f->machine->package) < 0)
		return no_memory(f);
	f->into = ilb_cache_path(below, f->error);
	free(below);
	if (asprintf(&fresh, "/.new-%s", f->machine->package) < 0)
		return no_memory(f);
	f->fresh = ilb_cache_path(fresh, f->error);
	free(fresh);
	if (!f->into || !f->fresh)
		return -ILB_ERR_NOMEM;
	if (!access(f->into, F_OK)) {
		fprintf(stderr, "ilb vm: %s is there already\n", f->into);
		return 0;
	}
	err = download_qemu(f);
	return err ? err : publish(f);
}

/* QEMU must fit this system's libraries: of its own suite, or additions. */
static int find_system_suite(struct fetch *f, char *suite, size_t size)
{
	FILE *file = fopen("/etc/os-release", "re");
	char line[256], name[32] = "";
	int debian = 0;

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "VERSION_CODENAME=%31[a-z]", name);
		if (!strcmp(line, "ID=debian\n"))
			debian = 1;
	}
	if (file)
		fclose(file);
	if (!debian || !*name)
		return ilb_fail(f->error, ILB_ERR_UNSUPPORTED,
				"qemu: this system is not Debian; install QEMU 8 or later with its own package manager");
	snprintf(suite, size, "%s%s", name,
		 strcmp(name, "bookworm") ? "" : "-backports");
	f->suite = suite;
	return 0;
}

/* ---- both ---- */

static int lock(struct fetch *f)
{
	char *path;

	if (asprintf(&path, "%s/lock", f->home) < 0)
		return no_memory(f);
	f->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	free(path);
	if (f->lock < 0 || flock(f->lock, LOCK_EX))
		return ilb_fail(f->error, ILB_ERR_IO, "%s/lock: %s", f->home,
				strerror(errno));
	return 0;
}

static int prepare(struct fetch *f)
{
	char below[96];
	int err;

	snprintf(below, sizeof(below), "/apt/%s-%s", f->suite, f->arch);
	f->home = ilb_cache_path(below, f->error);
	if (!f->home)
		return -ILB_ERR_NOMEM;
	if (*f->home != '/')
		return ilb_fail(f->error, ILB_ERR_IO,
				"the cache folder %s: not an absolute path",
				f->home);
	if (asprintf(&f->debs, "%s/debs", f->home) < 0) {
		f->debs = NULL;
		return no_memory(f);
	}
	err = make_folder(f, f->home);
	if (!err)
		err = lock(f);
	if (!err)
		ilb_cache_remove(f->debs);
	return err ? err : update(f);
}

int ilb_vm_fetch(const char *what, enum ilb_vm_arch arch,
		 struct ilb_error *error)
{
	struct fetch f = { .error = error, .lock = -1 };
	int err = 0, qemu = !strcmp(what, "qemu");
	char suite[64];
	size_t i;

	f.machine = ilb_vm_machine(arch);
	f.arch = f.machine->name;
	if (qemu && ilb_vm_arch_native() != ILB_VM_ARCHES)
		f.arch = ilb_vm_machine(ilb_vm_arch_native())->name;
	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strcmp(sources[i].what, what))
			f.suite = sources[i].suite;
	if (qemu)
		err = find_system_suite(&f, suite, sizeof(suite));
	else if (!f.suite)
		err = ilb_fail(error, ILB_ERR_SYNTAX,
			       "fetch '%s': not 6.1, 6.12, 7.2, 7.3 or qemu",
			       what);
	if (!err)
		err = prepare(&f);
	if (!err)
		err = qemu ? fetch_qemu(&f) : fetch_kernel(&f, what);
	if (f.lock >= 0)
		close(f.lock);
	free(f.home);
	free(f.debs);
	free(f.into);
	free(f.fresh);
	return err;
}
