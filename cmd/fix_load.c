// SPDX-License-Identifier: GPL-2.0-only
/* ilb fix load: say what will be done, do it, and see whether it works. */

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/fix.h"

struct ilb_fix_site *ilb_fix_site_open(struct ilb_error *error)
{
	struct ilb_fix_site *s = calloc(1, sizeof(*s));

	if (!s) {
		ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
		return NULL;
	}
	ilb_facts_gather(&s->facts, "");
	if (ilb_topology_load(&s->topology, "self", error)) {
		free(s);
		return NULL;
	}
	ilb_check_judge(&s->check, &s->facts, s->topology, NULL);
	ilb_fix_judge_need(&s->core, ILB_REPAIR_IDLE_CORE, &s->facts,
			   &s->check);
	ilb_fix_judge_need(&s->full, ILB_REPAIR_NOHZ_FULL, &s->facts,
			   &s->check);
	return s;
}

void ilb_fix_site_close(struct ilb_fix_site *site)
{
	if (!site)
		return;
	ilb_topology_free(site->topology);
	free(site);
}

/* ---- which repairs ---- */

int ilb_fix_choose(struct ilb_fix_options *options,
		   const struct ilb_fix_site *site, struct ilb_error *error)
{
	unsigned int *repairs = &options->repairs;
	const char *kernel = site->facts.kernel;

	if ((*repairs & ILB_REPAIR_IDLE_CORE) &&
	    site->core.answer == ILB_ANSWER_NO)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"idle-core: Linux %s: %s; %s", kernel,
				site->core.text,
				*repairs & ILB_REPAIR_NOHZ_FULL ?
				"leave out --repair idle-core" :
				"nothing to repair");
	if ((*repairs & ILB_REPAIR_NOHZ_FULL) &&
	    site->full.answer == ILB_ANSWER_NO)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"nohz-full: %s; %s", site->full.text,
				*repairs & ILB_REPAIR_IDLE_CORE ?
				"leave out --repair nohz-full" :
				"nothing to repair");
	if (*repairs)
		return 0;
	if (site->core.answer != ILB_ANSWER_NO)
		*repairs |= ILB_REPAIR_IDLE_CORE;
	if (site->full.answer == ILB_ANSWER_YES)
		*repairs |= ILB_REPAIR_NOHZ_FULL;
	if (*repairs)
		return 0;
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"Linux %s: idle-core: %s; nohz-full: %s; nothing to repair",
			kernel, site->core.text, site->full.text);
}

/* ---- loading ---- */

static int adjust(const struct ilb_fix_options *o, int enable, int dry_run,
		  const struct ilb_fix_state *before, struct ilb_error *error)
{
	int err = 0;

	if (o->repairs != before->repairs)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"ilb_fix: it is loaded with the repairs %s, not %s; ilb fix unload first",
				ilb_fix_repairs_text(before->repairs),
				ilb_fix_repairs_text(o->repairs));
	if (o->policy)
		err = ilb_fix_write("", "policy", o->policy, error);
	if (!err)
		err = ilb_fix_write("", "dry_run", dry_run ? "Y" : "N", error);
	if (!err)
		err = ilb_fix_write("", "enable", enable ? "Y" : "N", error);
	return err;
}

static int load_file(const struct ilb_fix_options *o,
		     const struct ilb_fix_site *site, int enable, int dry_run,
		     const char *path, struct ilb_error *error)
{
	struct ilb_module module;
	char parameters[120];
	int err;

	err = ilb_module_open(&module, path, error);
	if (err)
		return err;
	snprintf(parameters, sizeof(parameters),
		 "idle_core=%d nohz_full=%d policy=%s enable=%d dry_run=%d",
		 !!(o->repairs & ILB_REPAIR_IDLE_CORE),
		 !!(o->repairs & ILB_REPAIR_NOHZ_FULL),
		 o->policy ? o->policy : "idle-core", enable, dry_run);
	err = ilb_module_check(&module, &site->facts, "", error);
	if (!err)
		err = ilb_module_load(&module, parameters, error);
	ilb_module_close(&module);
	return err;
}

int ilb_fix_bring(const struct ilb_fix_options *options,
		  const struct ilb_fix_site *site, int enable, int dry_run,
		  struct ilb_fix_state *before, char **path,
		  struct ilb_error *error)
{
	int err;

	*path = NULL;
	err = ilb_fix_read(before, "", error);
	if (err)
		return err;
	if (before->loaded) {
		err = adjust(options, enable, dry_run, before, error);
		/* What was changed before it failed. */
		if (err)
			ilb_fix_restore(before, "", NULL);
		return err;
	}
	if (options->module)
		*path = strdup(options->module);
	else
		err = ilb_module_find(path, site->facts.kernel, "", error);
	if (!err && !*path)
		err = ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	if (!err)
		err = load_file(options, site, enable, dry_run, *path, error);
	return err;
}

/* ---- the command ---- */

static void say_need(const char *name, const struct ilb_fix_need *need)
{
	printf("  %-10s %s: %s\n", name, need->answer == ILB_ANSWER_YES ?
	       "needed" : need->answer == ILB_ANSWER_NO ? "not needed" :
	       "unknown", need->text);
}

static void say_plan(const struct ilb_fix_options *o,
		     const struct ilb_fix_site *site)
{
	printf("Linux %s:\n", site->facts.kernel);
	say_need("idle-core", &site->core);
	say_need("nohz-full", &site->full);
	printf("loading ilb_fix: %s%s; 'ilb fix unload' takes it out\n",
	       ilb_fix_repairs_text(o->repairs),
	       o->dry_run ? " (dry run: changes nothing)" : "");
	fflush(stdout);
}

static int print_json(const struct ilb_proof *proof, const char *path,
		      struct ilb_error *error)
{
	struct ilb_fix_state state;
	int err = ilb_fix_read(&state, "", error);

	return err ? err : ilb_fix_print_json(stdout,
			ilb_fix_json_load(&state, proof, path), error);
}

static int load(struct ilb_fix_options *o, const struct ilb_fix_site *site,
		struct ilb_proof *proof, struct ilb_error *error)
{
	struct ilb_fix_state before;
	char *path;
	int err;

	err = ilb_fix_choose(o, site, error);
	if (err)
		return err;
	if (!o->json)
		say_plan(o, site);
	err = ilb_fix_bring(o, site, 1, o->dry_run, &before, &path, error);
	if (!err)
		err = ilb_fix_prove(proof, site, o->repairs, error);
	if (!err && o->json)
		err = print_json(proof, path, error);
	free(path);
	return err;
}

int ilb_fix_load(struct ilb_fix_options *options)
{
	struct ilb_error error = { "" };
	struct ilb_proof proof;
	struct ilb_fix_site *site = ilb_fix_site_open(&error);
	int err;

	if (!site)
		return ilb_fix_fail(-ILB_ERR_IO, &error);
	err = load(options, site, &proof, &error);
	ilb_fix_site_close(site);
	if (err)
		return ilb_fix_fail(err, &error);
	if (!options->json)
		ilb_fix_print_proof(stdout, &proof, options->repairs);
	return proof.outcome == ILB_OUTCOME_FAILS ? ILB_EXIT_FOUND :
						    ILB_EXIT_OK;
}
