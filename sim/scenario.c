// SPDX-License-Identifier: GPL-2.0-only
/* Scenario files: found, read, and turned into a plan. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/scenario.h"
#include "trace/file.h"

#define SCENARIO_MAX	(4U << 20)

static char **copy_folders(const char *const *folders)
{
	size_t nr = 0, i;
	char **copy;

	while (folders && folders[nr])
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	for (i = 0; copy && i < nr; i++)
		copy[i] = strdup(folders[i]);
	return copy;
}

int ilb_scenario_parse(struct ilb_scenario **scenario, const char *file,
		       const char *text, const char *const *folders,
		       struct ilb_error *error)
{
	struct ilb_input json = { .file = file, .text = text, .error = error };
	struct ilb_scenario *s = calloc(1, sizeof(*s));

	if (s) {
		s->file = strdup(file);
		s->text = strdup(text);
		s->folders = copy_folders(folders);
	}
	if (!s || !s->file || !s->text || !s->folders) {
		ilb_scenario_free(s);
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	}
	s->root = ilb_input_parse(&json);
	if (!s->root) {
		ilb_scenario_free(s);
		return -ILB_ERR_FORMAT;
	}
	*scenario = s;
	return 0;
}

void ilb_scenario_free(struct ilb_scenario *s)
{
	char **folder;

	if (!s)
		return;
	for (folder = s->folders; folder && *folder; folder++)
		free(*folder);
	free(s->folders);
	json_decref(s->root);
	free(s->text);
	free(s->file);
	free(s);
}

/* A name with a slash or a dot is a path. */
static char *find(char *const *folders, const char *kind, const char *name)
{
	char *path;

	if (strpbrk(name, "/."))
		return strdup(name);
	for (; folders && *folders; folders++) {
		if (asprintf(&path, "%s/%s/%s.json", *folders, kind, name) < 0)
			return NULL;
		if (!access(path, F_OK))
			return path;
		free(path);
	}
	return NULL;
}

char *ilb_scenario_find(const struct ilb_scenario *s, const char *kind,
			const char *name)
{
	return find(s->folders, kind, name);
}

int ilb_scenario_load(struct ilb_scenario **scenario, const char *name,
		      const char *const *folders, struct ilb_error *error)
{
	char *path, *text = NULL;
	int err;

	path = find((char *const *)folders, "scenarios", name);
	if (!path)
		return ilb_fail(error, ILB_ERR_NOENT,
				"%s: no such scenario; name a file, or one of `ilb sim --list`",
				*name ? name : "scenario ''");
	err = ilb_file_read(&text, NULL, path, SCENARIO_MAX, error);
	if (!err)
		err = ilb_scenario_parse(scenario, path, text, folders, error);
	free(text);
	free(path);
	return err;
}

const char *ilb_scenario_summary(const struct ilb_scenario *s)
{
	const char *summary;

	summary = json_string_value(json_object_get(s->root, "summary"));
	return summary ? summary : "";
}

const char *ilb_scenario_note(const struct ilb_scenario *s)
{
	return json_string_value(json_object_get(s->root, "note"));
}

const char *ilb_scenario_variant(const struct ilb_scenario *s, unsigned int i)
{
	json_t *variants = json_object_get(s->root, "variants");
	const char *name;
	json_t *value;

	json_object_foreach(variants, name, value)
		if (!i--)
			return name;
	return NULL;
}

const char *ilb_scenario_published(const struct ilb_scenario *s,
				   const char *variant, const char **unit)
{
	const json_t *published = json_object_get(s->root, "published");

	*unit = json_string_value(json_object_get(published, "unit"));
	return json_string_value(json_object_get(published, variant));
}

/* ---- plans ---- */

void *ilb_plan_alloc(struct ilb_sim_plan *plan, size_t nr, size_t size)
{
	struct ilb_plan_memory *memory = (struct ilb_plan_memory *)plan;
	void **blocks;

	blocks = realloc(memory->blocks,
			 (memory->nr_blocks + 1) * sizeof(*blocks));
	if (!blocks)
		return NULL;
	memory->blocks = blocks;
	blocks[memory->nr_blocks] = calloc(nr ? nr : 1, size);
	return blocks[memory->nr_blocks] ? blocks[memory->nr_blocks++] : NULL;
}

void ilb_sim_plan_free(struct ilb_sim_plan *plan)
{
	struct ilb_plan_memory *memory = (struct ilb_plan_memory *)plan;
	unsigned int i;

	if (!memory)
		return;
	for (i = 0; i < memory->nr_blocks; i++)
		free(memory->blocks[i]);
	free(memory->blocks);
	ilb_topology_free(plan->machine.topology);
	free(plan->machine.topology_spec);
	free(memory);
}

/* The scenario with what the variant changes. */
static json_t *merge(const struct ilb_scenario *s, struct ilb_input *j)
{
	json_t *root, *variant, *variants;

	variants = json_object_get(s->root, "variants");
	variant = j->variant ? json_object_get(variants, j->variant) : NULL;
	if (j->variant && !json_is_object(variant)) {
		ilb_input_enter(j, "variants");
		ilb_input_fail_at(j, j->variant, ILB_ERR_FORMAT,
				 "is not an object of what it changes");
		return NULL;
	}
	root = json_deep_copy(s->root);
	if (root && (!variant ||
		     !json_object_update_recursive(root, variant)))
		return root;
	json_decref(root);
	ilb_fail(j->error, ILB_ERR_NOMEM, "out of memory");
	return NULL;
}

static int read_lines(struct ilb_input *j, const json_t *root,
		      struct ilb_sim_plan *plan)
{
	static const char *const words[] = { "no", "global", "per-llc", NULL };
	const char *lines = "no";
	unsigned int i;
	int err;

	err = ilb_input_string(j, root, "lines", &lines);
	if (err)
		return err;
	for (i = 0; words[i]; i++) {
		if (strcmp(lines, words[i]))
			continue;
		plan->lines = (enum ilb_sim_lines)i;
		return 0;
	}
	return ilb_input_fail_at(j, "lines", ILB_ERR_FORMAT,
		"is '%s'; say \"no\", \"global\" (one mask) or \"per-llc\"",
		lines);
}

static int read_plan(const struct ilb_scenario *s, struct ilb_input *j,
		     const json_t *root, struct ilb_sim_plan *plan)
{
	static const char *const keys[] = {
		"summary", "machine", "kernel", "policy", "workload", "seed",
		"duration", "variants", "published", "note", "lines", NULL
	};
	int64_t seed = 1;
	int err;

	err = ilb_input_check_keys(j, root, keys);
	if (!err)
		err = ilb_scenario_machine(s, j, root, plan);
	if (!err)
		err = ilb_scenario_kernel(j, root, plan);
	if (!err)
		err = ilb_scenario_workload(j, root, plan);
	if (!err)
		err = ilb_input_number(j, root, "seed", 0, INT64_MAX, &seed);
	if (!err)
		err = read_lines(j, root, plan);
	if (!err)
		err = ilb_input_time(j, root, "duration", 1000000000, 1000000,
				    ILB_SIM_DURATION_MAX, &plan->duration_ns);
	if (!err && !plan->duration_ns)
		err = ilb_input_fail(j, ILB_ERR_FORMAT,
				    "has no \"duration\"; say \"2s\" or so");
	plan->seed = (uint64_t)seed;
	return err;
}

int ilb_scenario_plan(const struct ilb_scenario *s, const char *variant,
		      struct ilb_sim_plan **plan, struct ilb_error *error)
{
	struct ilb_input json = {
		.file = s->file,
		.text = s->text,
		.variant = variant,
		.error = error,
	};
	struct ilb_plan_memory *memory;
	const char *base;
	json_t *root;
	int err;

	root = merge(s, &json);
	if (!root)
		return -ILB_ERR_FORMAT;
	memory = calloc(1, sizeof(*memory));
	if (!memory) {
		json_decref(root);
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	}
	base = strrchr(s->file, '/');
	snprintf(memory->plan.name, sizeof(memory->plan.name), "%s%s%s",
		 base ? base + 1 : s->file, variant ? " " : "",
		 variant ? variant : "");
	err = read_plan(s, &json, root, &memory->plan);
	json_decref(root);
	if (err)
		ilb_sim_plan_free(&memory->plan);
	else
		*plan = &memory->plan;
	return err;
}
