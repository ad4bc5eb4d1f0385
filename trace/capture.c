// SPDX-License-Identifier: GPL-2.0-only
/* A capture: a folder with its files, or a bare trace file or stdin. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ilb/capture.h"
#include "trace/file.h"
#include "trace/system.h"

#define SYSTEM_MAX	(1U << 20)
#define STAT_MAX	(64U << 20)

static int no_memory(const char *path, struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory", path);
}

static char *join(const char *folder, const char *name)
{
	const char *slash = "/";
	char *path;

	if (*folder && folder[strlen(folder) - 1] == '/')
		slash = "";
	return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL :
								    path;
}

/* *@path is set if @folder has a file @name, else stays NULL. */
static int find(char **path, const char *folder, const char *name,
		struct ilb_error *error)
{
	struct stat st;
	int err = 0;

	*path = join(folder, name);
	if (!*path)
		return no_memory(folder, error);
	if (!stat(*path, &st))
		return 0;
	if (errno != ENOENT)
		err = ilb_fail(error, ILB_ERR_IO,
				"%s: cannot open: %s; check the path and its permissions",
				*path, strerror(errno));
	free(*path);
	*path = NULL;
	return err;
}

static int find_recording(struct ilb_capture *c, struct ilb_error *error)
{
	int err;

	err = find(&c->trace, c->path, "trace.dat", error);
	if (!err && !c->trace)
		err = find(&c->trace, c->path, "trace.txt", error);
	if (!err)
		err = find(&c->moments, c->path, "moments", error);
	if (err || c->trace || c->moments)
		return err;
	return ilb_fail(error, ILB_ERR_NOENT,
			"%s: has no trace.dat, trace.txt or moments; record it again with 'ilb record', or name a trace with -i",
			c->path);
}

/* The capture holds a copy of the struct; its block is freed with it. */
struct opened {
	struct ilb_capture capture;	/* first: what callers see */
	struct ilb_topology *topology;
};

static int load_topology(struct opened *o, const char *spec, const char *from,
			 struct ilb_error *error)
{
	int err;

	err = ilb_topology_load(&o->topology, spec, error);
	if (err)
		return err;
	o->capture.topology_from = strdup(from);
	return o->capture.topology_from ? 0 : no_memory(from, error);
}

static int read_topology(struct opened *o, const char *spec,
			 struct ilb_error *error)
{
	char *path;
	int err;

	if (spec)
		return load_topology(o, spec, strcmp(spec, "self") ?
				     spec : "this machine", error);
	err = find(&path, o->capture.path, "topology.xml", error);
	if (err)
		return err;
	if (!path)
		return ilb_fail(error, ILB_ERR_NOENT,
				"%s: has no topology.xml; add --topology XML|SYNTHETIC|self",
				o->capture.path);
	err = load_topology(o, path, "topology.xml", error);
	free(path);
	return err;
}

/* *@text stays NULL where there is no such file. */
static int read_optional(char **text, size_t *size, const char *folder,
			 const char *name, size_t max,
			 struct ilb_error *error)
{
	char *path = join(folder, name);
	int err;

	if (!path)
		return no_memory(folder, error);
	err = ilb_file_read(text, size, path, max, error);
	free(path);
	if (err != -ILB_ERR_NOENT)
		return err;
	if (error)
		error->text[0] = '\0';
	return 0;
}

static int read_system(struct opened *o, int folder, struct ilb_error *error)
{
	struct ilb_capture *c = &o->capture;
	char *text = NULL, *name = NULL;
	size_t size = 0;
	int err = 0;

	if (folder)
		err = read_optional(&text, &size, c->path, "system.json",
				    SYSTEM_MAX, error);
	if (!err) {
		name = join(c->path, "system.json");
		err = name ? ilb_system_parse(&c->system, o->topology, text,
					      size, name, c->topology_from,
					      error) :
			     no_memory(c->path, error);
	}
	free(name);
	free(text);
	c->topology = *o->topology;
	return err;
}

static int read_stats(struct ilb_capture *c, struct ilb_error *error)
{
	const struct {
		char **text;
		const char *name;
	} files[] = {
		{ &c->schedstat_before, "schedstat.before" },
		{ &c->schedstat_after, "schedstat.after" },
		{ &c->softirqs_before, "softirqs.before" },
		{ &c->softirqs_after, "softirqs.after" },
	};
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < sizeof(files) / sizeof(files[0]); i++)
		err = read_optional(files[i].text, NULL, c->path,
				    files[i].name, STAT_MAX, error);
	return err;
}

static int open_folder(struct opened *o, const char *spec,
		       struct ilb_error *error)
{
	int err;

	err = find_recording(&o->capture, error);
	if (!err)
		err = read_topology(o, spec, error);
	if (!err)
		err = read_system(o, 1, error);
	if (!err)
		err = read_stats(&o->capture, error);
	return err;
}

static int open_bare(struct opened *o, const char *spec,
		     struct ilb_error *error)
{
	int err;

	if (!spec)
		return ilb_fail(error, ILB_ERR_NOENT,
				"%s: needs a topology; add --topology XML|SYNTHETIC|self",
				strcmp(o->capture.path, "-") ? o->capture.path :
							       "stdin");
	o->capture.trace = strdup(o->capture.path);
	if (!o->capture.trace)
		return no_memory(o->capture.path, error);
	err = read_topology(o, spec, error);
	return err ? err : read_system(o, 0, error);
}

static int open_path(struct opened *o, const char *spec,
		     struct ilb_error *error)
{
	const char *path = o->capture.path;
	struct stat st;

	if (!strcmp(path, "-"))
		return open_bare(o, spec, error);
	if (!stat(path, &st))
		return S_ISDIR(st.st_mode) ? open_folder(o, spec, error) :
					     open_bare(o, spec, error);
	if (errno == ENOENT || errno == ENOTDIR)
		return ilb_fail(error, ILB_ERR_NOENT,
				"%s: no such file or folder; record one with 'ilb record', or name a trace with -i",
				path);
	return ilb_fail(error, ILB_ERR_IO,
			"%s: cannot open: %s; check the path and its permissions",
			path, strerror(errno));
}

int ilb_capture_open(struct ilb_capture **capture, const char *path,
		     const char *topology, struct ilb_error *error)
{
	struct opened *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return no_memory(path, error);
	o->capture.path = strdup(path);
	err = o->capture.path ? open_path(o, topology, error) :
				no_memory(path, error);
	if (err)
		ilb_capture_close(&o->capture);
	else
		*capture = &o->capture;
	return err;
}

void ilb_capture_close(struct ilb_capture *capture)
{
	struct opened *o = (struct opened *)capture;

	if (!capture)
		return;
	ilb_system_free(&capture->system);
	ilb_topology_free(o->topology);
	free(capture->topology_from);
	free(capture->schedstat_before);
	free(capture->schedstat_after);
	free(capture->softirqs_before);
	free(capture->softirqs_after);
	free(capture->moments);
	free(capture->trace);
	free(capture->path);
	free(o);
}
