// SPDX-License-Identifier: GPL-2.0-only
/* ilb workload: the plan of --dry-run, and the summary of --json. */

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "cmd/workload.h"
#include "report/json.h"

#define LENGTHS	4

/* ---- the plan ---- */

static void print_lengths(FILE *out, const struct ilb_task *task)
{
	uint64_t state = task->seed;
	unsigned int i;

	fputs(task->kind == ILB_TASK_BURST ? "run/sleep ms" : "sleep ms", out);
	for (i = 0; i < LENGTHS; i++) {
		if (task->kind == ILB_TASK_BURST)
			fprintf(out, " %.3f/",
				(double)ilb_task_length(task, &state) / 1e6);
		else
			fputc(' ', out);
		fprintf(out, "%.3f",
			(double)ilb_task_length(task, &state) / 1e6);
	}
	fputs(" ...\n", out);
}

static void print_task(FILE *out, const struct ilb_task *task)
{
	fprintf(out, "%-11s ", task->name);
	switch (task->kind) {
	case ILB_TASK_SPIN:
		fprintf(out, "CPU %u, always busy\n", task->cpu);
		break;
	case ILB_TASK_BURST:
	case ILB_TASK_PING:
		print_lengths(out, task);
		break;
	case ILB_TASK_PONG:
		fputs("answers each byte after 0.1 ms of work\n", out);
		break;
	case ILB_TASK_LEAVER:
		fprintf(out, "CPU %u, busy, gone after 0.4 s\n", task->cpu);
		break;
	case ILB_TASK_SLEEPER:
		fprintf(out, "CPU %u, busy, asleep from 1 s on\n", task->cpu);
		break;
	case ILB_TASK_HEALER:
		fprintf(out, "CPU %u, needs the tick, asleep after 0.3 ms\n",
			task->cpu);
		break;
	}
}

void ilb_workload_print_plan(FILE *out, const struct ilb_workload *w)
{
	unsigned int i;

	fprintf(out, "%s, %g s", ilb_workload_name(w->kind),
		(double)w->duration_ns / 1e9);
	if (w->kind == ILB_WORKLOAD_MIX)
		fprintf(out, ", seed %" PRIu64, w->seed);
	fprintf(out, ", tasks: %u\n", w->nr_tasks);
	for (i = 0; i < w->nr_tasks; i++)
		print_task(out, &w->tasks[i]);
}

/* ---- the summary ---- */

static void set_text(struct ilb_json *json, json_t *object, const char *key,
		     const char *text)
{
	ilb_json_text(json, object, key, text, strlen(text));
}

static json_t *task_json(struct ilb_json *json, const struct ilb_workload *w,
			 unsigned int i)
{
	const struct ilb_task *task = &w->tasks[i];
	uint64_t loops = atomic_load(&w->slots[i].loops);
	json_t *object = json_object();

	set_text(json, object, "name", task->name);
	if (task->cpu != ILB_CPU_NONE)
		ilb_json_count(json, object, "cpu", task->cpu);
	ilb_json_count(json, object, "loops", loops);
	if (task->kind < ILB_TASK_LEAVER && w->elapsed_ns)
		ilb_json_real(json, object, "loops_per_second",
			      (double)loops * 1e9 / (double)w->elapsed_ns);
	return object;
}

static void set_cpus(struct ilb_json *json, json_t *root,
		     const struct ilb_workload *w)
{
	unsigned long cpus[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	unsigned int i;

	ilb_mask_zero(cpus, ILB_CPUS_MAX);
	for (i = 0; i < w->nr_tasks; i++)
		if (w->tasks[i].cpu != ILB_CPU_NONE)
			ilb_mask_set(cpus, w->tasks[i].cpu);
	if (!ilb_mask_empty(cpus, ILB_CPUS_MAX))
		ilb_json_cpus(json, root, "cpus", cpus, ILB_CPUS_MAX);
}

int ilb_workload_print_json(FILE *out, const struct ilb_workload *w)
{
	struct ilb_json json = { 0 };
	json_t *root = json_object(), *tasks = json_array();
	unsigned int i;
	int err;

	set_text(&json, root, "workload", ilb_workload_name(w->kind));
	ilb_json_real(&json, root, "seconds", (double)w->elapsed_ns / 1e9);
	if (w->signal)
		ilb_json_count(&json, root, "signal", (uint64_t)w->signal);
	if (w->kind == ILB_WORKLOAD_MIX)
		ilb_json_count(&json, root, "seed", w->seed);
	set_cpus(&json, root, w);
	for (i = 0; i < w->nr_tasks; i++)
		ilb_json_append(&json, tasks, task_json(&json, w, i));
	ilb_json_set(&json, root, "tasks", tasks);
	err = json.failed || json_dumpf(root, out, JSON_INDENT(2) |
					JSON_REAL_PRECISION(12)) ||
	      fputc('\n', out) == EOF;
	json_decref(root);
	/* What could not be written the caller sees in the stream. */
	return err && !ferror(out) ? -ILB_ERR_NOMEM : 0;
}
