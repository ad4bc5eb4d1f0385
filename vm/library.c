// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which libraries a program needs is in its dynamic section; where they are is
 * looked up as the dynamic linker would, in a sysroot, so that it also works
 * for programs that this machine cannot run.
 */

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm/vm.h"

#define LIBRARIES_MAX	1024

static const char *triplet(const struct ilb_libraries *libraries)
{
	return libraries->machine == EM_AARCH64 ? "aarch64-linux-gnu" :
						  "x86_64-linux-gnu";
}

static int known(const struct ilb_libraries *libraries, const char *name)
{
	const char *slash;
	unsigned int i;

	for (i = 0; i < libraries->paths.nr; i++) {
		slash = strrchr(libraries->paths.list[i], '/');
		if (!strcmp(slash + 1, name))
			return 1;
	}
	return 0;
}

static char *try_folder(const char *sysroot, const char *folder, size_t length,
			const char *name)
{
	char *path;

	if (asprintf(&path, "%s%.*s/%s", sysroot, (int)length, folder,
		     name) < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

/* @run: DT_RUNPATH, folders with ':' between; "$ORIGIN" is @program's. */
static char *in_run_path(const struct ilb_libraries *libraries,
			 const char *program, const char *run,
			 const char *name)
{
	const char *slash = strrchr(program, '/'), *end;
	char *path = NULL, *origin;

	for (; run && *run && !path; run = end + !!*end) {
		end = strchrnul(run, ':');
		if (strncmp(run, "$ORIGIN", 7)) {
			path = try_folder(libraries->sysroot, run,
					  (size_t)(end - run), name);
			continue;
		}
		if (asprintf(&origin, "%.*s%.*s", slash ?
			     (int)(slash - program) : 1, slash ? program : ".",
			     (int)(end - run - 7), run + 7) < 0)
			return NULL;
		path = try_folder("", origin, strlen(origin), name);
		free(origin);
	}
	return path;
}

static char *find(const struct ilb_libraries *libraries, const char *program,
		  const char *run, const char *name)
{
	static const char *const formats[] = {
		"/lib/%s", "/usr/lib/%s", "/usr/local/lib/%s", "/lib64",
		"/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib",
	};
	char folder[64], *path;
	const char *multi;
	size_t i;

	path = in_run_path(libraries, program, run, name);
	for (i = 0; !path && i < sizeof(formats) / sizeof(formats[0]); i++) {
		multi = strchr(formats[i], '%');
		snprintf(folder, sizeof(folder), "%.*s%s", multi ?
			 (int)(multi - formats[i]) : (int)strlen(formats[i]),
			 formats[i], multi ? triplet(libraries) : "");
		path = try_folder(libraries->sysroot, folder, strlen(folder),
				  name);
	}
	return path;
}

/* ---- one file ---- */

struct program {
	const char *path;
	Elf *elf;
	const char *run;
	struct ilb_args needed;
};

static void read_dynamic(struct program *p, Elf_Data *data, size_t strings)
{
	const char *text;
	GElf_Dyn dyn;
	int i;

	for (i = 0; gelf_getdyn(data, i, &dyn); i++) {
		if (dyn.d_tag == DT_NULL)
			break;
		text = elf_strptr(p->elf, strings, dyn.d_un.d_val);
		if (dyn.d_tag == DT_NEEDED && text)
			ilb_args_add(&p->needed, "%s", text);
		if ((dyn.d_tag == DT_RUNPATH || dyn.d_tag == DT_RPATH) &&
		    text)
			p->run = text;
	}
}

static void read_needed(struct program *p)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	Elf_Data *data;

	while ((section = elf_nextscn(p->elf, section))) {
		if (!gelf_getshdr(section, &head) ||
		    head.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(section, NULL);
		if (data)
			read_dynamic(p, data, head.sh_link);
	}
}

static void read_loader(struct ilb_libraries *libraries, struct program *p)
{
	size_t nr = 0, i, size;
	const char *file;
	GElf_Phdr head;

	file = elf_rawfile(p->elf, &size);
	elf_getphdrnum(p->elf, &nr);
	for (i = 0; file && i < nr && !libraries->loader; i++) {
		if (!gelf_getphdr(p->elf, (int)i, &head) ||
		    head.p_type != PT_INTERP || !head.p_filesz ||
		    head.p_offset >= size ||
		    head.p_filesz > size - head.p_offset)
			continue;
		libraries->loader = strndup(file + head.p_offset,
					    head.p_filesz);
	}
}

static int resolve(struct ilb_libraries *libraries, const struct program *p,
		   struct ilb_error *error)
{
	unsigned int i;
	char *path;

	for (i = 0; i < p->needed.nr; i++) {
		if (known(libraries, p->needed.list[i]))
			continue;
		path = find(libraries, p->path, p->run, p->needed.list[i]);
		if (!path)
			return ilb_fail(error, ILB_ERR_NOENT,
					"%s: needs %s, which is nowhere in %s; for another architecture name its --sysroot",
					p->path, p->needed.list[i],
					*libraries->sysroot ?
					libraries->sysroot : "/");
		ilb_args_add(&libraries->paths, "%s", path);
		free(path);
	}
	if (libraries->paths.failed || p->needed.failed)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	return 0;
}

static int read_elf(struct ilb_libraries *libraries, struct program *p,
		    struct ilb_error *error)
{
	GElf_Ehdr head;
	int err;

	if (elf_kind(p->elf) != ELF_K_ELF)
		return 0;
	if (!gelf_getehdr(p->elf, &head) || head.e_machine !=
	    libraries->machine)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: a program for another architecture than the guest's",
				p->path);
	read_loader(libraries, p);
	read_needed(p);
	err = resolve(libraries, p, error);
	ilb_args_free(&p->needed);
	return err;
}

static int add_one(struct ilb_libraries *libraries, const char *path,
		   struct ilb_error *error)
{
	struct program p = { .path = path };
	int fd, err;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ilb_fail(error, ILB_ERR_NOENT, "%s: %s", path,
				strerror(errno));
	elf_version(EV_CURRENT);
	p.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (p.elf)
		err = read_elf(libraries, &p, error);
	else
		err = ilb_fail(error, ILB_ERR_IO, "%s: cannot read it: %s",
			       path, elf_errmsg(-1));
	elf_end(p.elf);
	close(fd);
	return err;
}

int ilb_libraries_add(struct ilb_libraries *libraries, const char *program,
		      struct ilb_error *error)
{
	unsigned int next = libraries->paths.nr;
	int err = add_one(libraries, program, error);

	/* Those that it added need others, which are added behind them. */
	for (; !err && next < libraries->paths.nr; next++) {
		if (next == LIBRARIES_MAX)
			return ilb_fail(error, ILB_ERR_RANGE,
					"%s: needs more than %d libraries",
					program, LIBRARIES_MAX);
		err = add_one(libraries, libraries->paths.list[next], error);
	}
	return err;
}

void ilb_libraries_free(struct ilb_libraries *libraries)
{
	ilb_args_free(&libraries->paths);
	free(libraries->loader);
	libraries->loader = NULL;
}
