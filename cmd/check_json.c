// SPDX-License-Identifier: GPL-2.0-only
/* ilb check --json: one object; what is unknown is absent. */

#include <jansson.h>
#include <stdlib.h>

#include "cmd/check.h"

/* "0-3,8" of any length; NULL if out of memory, which jansson passes on. */
static json_t *list(const unsigned long *mask, unsigned int nr_cpus)
{
	unsigned int length = ilb_cpulist_print(NULL, 0, mask, nr_cpus);
	char *text = malloc(length + 1);
	json_t *json;

	if (!text)
		return NULL;
	ilb_cpulist_print(text, length + 1, mask, nr_cpus);
	json = json_string(text);
	free(text);
	return json;
}

static int set_answer(json_t *object, const char *key, enum ilb_answer answer)
{
	if (answer == ILB_ANSWER_UNKNOWN)
		return 0;
	return json_object_set_new(object, key,
				   json_boolean(answer == ILB_ANSWER_YES));
}

static int set_number(json_t *object, const char *key, unsigned int number)
{
	return json_object_set_new(object, key, json_integer(number));
}

static int set_text(json_t *object, const char *key, const char *text)
{
	if (!text || !*text)
		return 0;
	/* A file name may hold any byte; JSON only UTF-8. */
	return json_object_set_new(object, key, json_string(text)) ?
	       json_object_set_new(object, key, json_string("?")) : 0;
}

static int set_smt(json_t *root, const struct ilb_check_report *r)
{
	const struct ilb_smt *smt = &r->check->smt;
	json_t *o = json_object();
	int err = 0;

	err |= json_object_set_new(o, "active",
				   json_boolean(smt->threads_max > 1));
	err |= set_number(o, "cores", smt->cores);
	err |= set_number(o, "threads_min", smt->threads_min);
	err |= set_number(o, "threads_max", smt->threads_max);
	if (smt->stride)
		err |= set_number(o, "sibling_distance", smt->stride);
	err |= set_text(o, "control", r->facts->smt_control);
	return err | json_object_set_new(root, "smt", o);
}

static int set_sets(json_t *root, const struct ilb_check_report *r)
{
	const struct ilb_site *site = &r->check->site;
	unsigned int nr_cpus = site->topology->nr_cpus;
	int err = 0;

	err |= json_object_set_new(root, "cpus", list(site->online, nr_cpus));
	err |= json_object_set_new(root, "housekeeping",
				   list(site->housekeeping, nr_cpus));
	if (r->facts->nohz_full_known)
		err |= json_object_set_new(root, "nohz_full",
					   list(site->nohz_full, nr_cpus));
	if (r->facts->isolated_known)
		err |= json_object_set_new(root, "isolated",
					   list(site->isolated, nr_cpus));
	if (site->timekeeper != ILB_CPU_NONE)
		err |= set_number(root, "timekeeper", site->timekeeper);
	return err | json_object_set_new(root, "candidates",
					 list(site->candidates, nr_cpus));
}

static int set_recording(json_t *root, const struct ilb_check *check)
{
	json_t *array = json_array(), *o;
	unsigned int i;
	int err = 0;

	for (i = 0; i < check->nr_needs; i++) {
		o = json_object();
		err |= set_text(o, "what", check->needs[i].what);
		err |= set_answer(o, "available", check->needs[i].available);
		err |= set_text(o, "remedy", check->needs[i].remedy);
		err |= json_array_append_new(array, o);
	}
	if (check->nr_needs)
		return err | json_object_set_new(root, "recording", array);
	json_decref(array);
	return err;
}

static int set_target(json_t *o, const char *key, const struct ilb_aim *aim)
{
	return aim->target == ILB_CPU_NONE ? 0 :
	       set_number(o, key, aim->target);
}

static int set_layout(json_t *o, const struct ilb_check *check)
{
	const struct ilb_layout *l = &check->layout;
	unsigned int nr_cpus = check->site.topology->nr_cpus;
	int err;

	if (l->kind != ILB_LAYOUT_SIBLINGS && l->kind != ILB_LAYOUT_CORES)
		return 0;
	err = json_object_set_new(o, "layout", list(l->cpus, nr_cpus));
	return err | set_target(o, "layout_target", &l->aim);
}

static int set_busy(json_t *root, const struct ilb_check *check)
{
	unsigned int nr_cpus = check->site.topology->nr_cpus;
	json_t *o;
	int err;

	if (!check->has_job)
		return 0;
	o = json_object();
	err = json_object_set_new(o, "cpus", list(check->busy, nr_cpus));
	if (check->verdict.rule) {
		err |= set_target(o, "target", &check->aim);
		err |= json_object_set_new(o, "on_busy_core",
				json_boolean(check->aim.on_busy_core));
		err |= json_object_set_new(o, "disturbs",
				list(check->aim.disturbs, nr_cpus));
		err |= set_layout(o, check);
	}
	err |= set_target(o, "idle_core_target", &check->aim_idle_core);
	return err | json_object_set_new(root, "busy", o);
}

static json_t *finding(const struct ilb_finding *f, int *err)
{
	json_t *o = json_object(), *evidence = json_object();
	unsigned int i;

	*err |= set_text(o, "id", f->id);
	*err |= set_text(o, "severity", ilb_severity_name(f->severity));
	*err |= set_text(o, "text", f->text);
	*err |= set_text(o, "why", f->why);
	for (i = 0; i < f->nr_evidence; i++)
		*err |= json_object_set_new(evidence, f->evidence[i].key,
				json_integer((json_int_t)f->evidence[i].value));
	*err |= json_object_set_new(o, "evidence", evidence);
	*err |= set_text(o, "remedy", f->remedy);
	*err |= set_text(o, "cpus", f->cpus);
	return o;
}

static int set_findings(json_t *root, const struct ilb_findings *findings)
{
	json_t *array = json_array();
	unsigned int i;
	int err = 0;

	for (i = 0; i < findings->count; i++)
		err |= json_array_append_new(array,
				finding(&findings->finding[i], &err));
	return err | json_object_set_new(root, "findings", array);
}

int ilb_check_print_json(FILE *out, const struct ilb_check_report *report)
{
	const struct ilb_check *check = report->check;
	const struct ilb_facts *facts = report->facts;
	json_t *root = json_object();
	int err = 0;

	err |= set_text(root, "kernel", facts->kernel);
	err |= set_text(root, "rule", check->verdict.rule);
	err |= set_text(root, "certainty",
			ilb_certainty_name(check->verdict.certainty));
	err |= set_smt(root, report);
	err |= set_sets(root, report);
	if (facts->hz)
		err |= set_number(root, "hz", facts->hz);
	err |= set_answer(root, "schedstats", facts->schedstats);
	err |= set_recording(root, check);
	err |= set_busy(root, check);
	err |= set_findings(root, &check->findings);
	if (!err)
		err = json_dumpf(root, out, JSON_INDENT(2)) ||
		      fputc('\n', out) == EOF;
	json_decref(root);
	/* What could not be written the caller sees in the stream. */
	return err && !ferror(out) ? -ILB_ERR_NOMEM : 0;
}
