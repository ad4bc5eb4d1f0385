// SPDX-License-Identifier: GPL-2.0-only
/* Domains, findings and policies in JSON. */

#include <string.h>

#include "report/json.h"
#include "report/view.h"

static json_t *domain_of(struct ilb_json *json, const struct ilb_domain *domain,
			 unsigned int type, double seconds)
{
	json_t *object = json_object();

	ilb_json_text(json, object, "name", domain->name,
		      sizeof(domain->name));
	ilb_json_count(json, object, "level", domain->level);
	ilb_json_text(json, object, "idle_type", ilb_view_idle_type(type), 16);
	ilb_json_count(json, object, "lb", domain->type[type].lb);
	ilb_json_count(json, object, "balanced", domain->type[type].balanced);
	ilb_json_count(json, object, "failed", domain->type[type].failed);
	ilb_json_count(json, object, "imb_load", domain->type[type].imb_load);
	if (ilb_view_imbalance_kinds(domain)) {
		ilb_json_count(json, object, "imb_util",
			       domain->type[type].imb_util);
		ilb_json_count(json, object, "imb_task",
			       domain->type[type].imb_task);
		ilb_json_count(json, object, "imb_misfit",
			       domain->type[type].imb_misfit);
	}
	ilb_json_count(json, object, "gained", domain->type[type].gained);
	if (seconds > 0)
		ilb_json_real(json, object, "per_second",
			      (double)domain->type[type].lb / seconds);
	return object;
}

void ilb_json_domains(struct ilb_json *json, json_t *root,
		      const struct ilb_measures *measures)
{
	unsigned int i, type;
	json_t *array;

	if (measures->schedstat_counts <= 0)
		return;
	array = json_array();
	for (i = 0; i < measures->nr_domains && i < ILB_DOMAINS_MAX; i++)
		for (type = 0; type < ILB_IDLE_TYPES; type++)
			ilb_json_append(json, array,
					domain_of(json, &measures->domains[i],
						  type,
						  measures->schedstat_s));
	ilb_json_set(json, root, "domains", array);
}

static json_t *evidence_of(struct ilb_json *json,
			   const struct ilb_finding *finding)
{
	json_t *object = json_object();
	unsigned int i;

	for (i = 0; i < finding->nr_evidence && i < ILB_EVIDENCE_MAX; i++)
		ilb_json_real(json, object, finding->evidence[i].key,
			      finding->evidence[i].value);
	return object;
}

static json_t *finding_of(struct ilb_json *json,
			  const struct ilb_finding *finding)
{
	json_t *object = json_object();

	ilb_json_text(json, object, "id", finding->id, 64);
	if (finding->severity != ILB_UNKNOWN)
		ilb_json_text(json, object, "severity",
			      ilb_severity_name(finding->severity), 16);
	ilb_json_text(json, object, "text", finding->text,
		      sizeof(finding->text));
	if (finding->severity != ILB_UNKNOWN) {
		ilb_json_set(json, object, "evidence",
			     evidence_of(json, finding));
		ilb_json_text(json, object, "why", finding->why,
			      sizeof(finding->why));
	}
	ilb_json_text(json, object, "remedy", finding->remedy,
		      sizeof(finding->remedy));
	if (finding->cpus[0])
		ilb_json_text(json, object, "cpus", finding->cpus,
			      sizeof(finding->cpus));
	return object;
}

/*
 * What could not be judged is no finding: a reader that counts findings would
 * count it as one.
 */
void ilb_json_findings(struct ilb_json *json, json_t *root,
		       const struct ilb_findings *findings)
{
	json_t *judged = json_array(), *unjudged = json_array();
	const struct ilb_finding *finding;
	unsigned int i;

	for (i = 0; i < findings->count && i < ILB_FINDINGS_MAX; i++) {
		finding = &findings->finding[i];
		ilb_json_append(json, finding->severity == ILB_UNKNOWN ?
					      unjudged : judged,
				finding_of(json, finding));
	}
	ilb_json_set(json, root, "findings", judged);
	ilb_json_set(json, root, "cannot_judge", unjudged);
}

static void set_agreement(struct ilb_json *json, json_t *object,
			  const struct ilb_policy_result *policy)
{
	ilb_json_count(json, object, "scored", policy->scored);
	if (policy->scored)
		ilb_json_count(json, object, "agree", policy->agree);
	ilb_json_count(json, object, "decisive", policy->decisive);
	if (!policy->scored)
		return;
	ilb_json_count(json, object, "decisive_scored",
		       policy->decisive_scored);
	ilb_json_count(json, object, "agree_decisive", policy->agree_decisive);
}

static json_t *policy_of(struct ilb_json *json,
			 const struct ilb_policy_result *policy)
{
	uint64_t chosen = policy->kicks - policy->none;
	json_t *object = json_object();

	ilb_json_text(json, object, "name", policy->name,
		      sizeof(policy->name));
	ilb_json_count(json, object, "kicks", policy->kicks);
	set_agreement(json, object, policy);
	ilb_json_count(json, object, "on_busy_core", policy->on_busy_core);
	ilb_json_count(json, object, "avoidable", policy->avoidable);
	ilb_json_count(json, object, "fallback", policy->fallback);
	ilb_json_count(json, object, "none", policy->none);
	if (policy->kicks)
		ilb_json_real(json, object, "looked_at_mean",
			      (double)policy->looked_at /
			      (double)policy->kicks);
	ilb_json_count(json, object, "looked_at_max", policy->looked_at_max);
	ilb_json_count(json, object, "idle_cores_woken",
		       policy->idle_cores_woken);
	if (policy->scored) {
		ilb_json_count(json, object, "same_llc", policy->same_llc);
		ilb_json_count(json, object, "same_node", policy->same_node);
	}
	ilb_json_percent(json, object, "top1_pct", policy->top, chosen);
	if (chosen)
		ilb_json_count(json, object, "top1_cpu", policy->top_cpu);
	return object;
}

void ilb_json_policies(struct ilb_json *json, json_t *root,
		       const struct ilb_report *report)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < report->nr_policies; i++)
		ilb_json_append(json, array,
				policy_of(json, &report->policies[i]));
	ilb_json_set(json, root, "policies", array);
	if (report->best >= 0 &&
	    (unsigned int)report->best < report->nr_policies)
		ilb_json_text(json, root, "best",
			      report->policies[report->best].name,
			      ILB_POLICY_NAME_LEN);
	if (report->what_if)
		ilb_json_text(json, root, "what_if", report->what_if,
			      strlen(report->what_if));
}

static json_t *function_of(struct ilb_json *json, const char *name,
			   uint64_t samples, uint64_t all)
{
	json_t *object = json_object();
	double percent, error = ilb_view_error_pct(samples, all, &percent);

	ilb_json_text(json, object, "name", name, 64);
	ilb_json_count(json, object, "samples", samples);
	ilb_json_real(json, object, "pct", percent);
	ilb_json_real(json, object, "error_pct", error);
	return object;
}

void ilb_json_functions(struct ilb_json *json, json_t *root,
			const struct ilb_functions *functions)
{
	json_t *object, *array;
	unsigned int i;

	if (functions->needs[0])
		return;
	object = json_object();
	array = json_array();
	ilb_json_text(json, object, "event", functions->from,
		      sizeof(functions->from));
	ilb_json_count(json, object, "samples", functions->samples);
	ilb_json_count(json, object, "lost", functions->lost);
	for (i = 0; i < ILB_FUNCTIONS; i++)
		if (functions->function[i].listed)
			ilb_json_append(json, array, function_of(json,
					functions->function[i].name,
					functions->function[i].samples,
					functions->samples));
	ilb_json_set(json, object, "share", array);
	ilb_json_set(json, root, "functions", object);
}
