// SPDX-License-Identifier: GPL-2.0-only
/* ilb sim: let a described machine run a described load, and report on it. */

#include <dirent.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/sim.h"
#include "ilb/report.h"

#define FOLDERS		3
#define VARIANTS_MAX	32U

struct options {
	const char *scenario;
	const char *variant;
	const char *capture;
	const char *output;
	uint64_t seed;
	int has_seed, check, json, list;
	char *folders[FOLDERS + 1];
};

enum {
	OPT_VARIANT = ILB_KEY_OWN, OPT_CAPTURE, OPT_SEED, OPT_CHECK, OPT_LIST,
};

static const struct ilb_option own[] = {
	{ OPT_VARIANT, "variant", "NAME", NULL, 0,
	  "run only this variant, and report on it" },
	{ OPT_CAPTURE, "capture", "DIR", ILB_FOLDERS, 0,
	  "also write the run as a capture folder" },
	{ OPT_SEED, "seed", "N", NULL, 0, "instead of the scenario's" },
	{ OPT_CHECK, "check-determinism", NULL, NULL, 0,
	  "run twice, compare all that happened" },
	{ OPT_LIST, "list", NULL, NULL, 0,
	  "the shipped scenarios, and the model's features" },
	{ 0 },
};

/* Returns 0, or an exit code plus 1. */
static int take(void *context, const struct ilb_option *option)
{
	struct options *o = context;

	switch (option->key) {
	case OPT_VARIANT:
		o->variant = optarg;
		return 0;
	case OPT_CAPTURE:
		o->capture = optarg;
		return 0;
	case OPT_SEED:
		o->has_seed = 1;
		return ilb_option_number(&ilb_sim_syntax, option, NULL, 0,
					 UINT64_MAX, &o->seed);
	case OPT_CHECK:
		o->check = 1;
		return 0;
	case OPT_LIST:
		o->list = 1;
		return 0;
	case 'o':
		o->output = optarg;
		return 0;
	default:
		o->json = 1;
		return 0;
	}
}

static void list_names(FILE *out);

const struct ilb_syntax ilb_sim_syntax = {
	.verb = "sim",
	.usage = "usage: ilb sim [options] SCENARIO\n"
		 "\n"
		 "  SCENARIO              a file, or the name of a shipped one\n",
	.words = ILB_LISTED,
	.list = list_names,
	.tables = { own, ilb_output_options },
	.take = take,
};

static int parse(struct options *o, int argc, char **argv)
{
	int stop = ilb_options_parse(&ilb_sim_syntax, o, argc, argv);

	if (stop || o->list)
		return stop;
	if (optind == argc)
		return 1 + ilb_cmd_usage("sim", "name a scenario");
	if (optind + 1 < argc)
		return 1 + ilb_cmd_usage("sim", "'%s': one scenario at a time",
					 argv[optind + 1]);
	o->scenario = argv[optind];
	return 0;
}

/* Beside the program: where it was built, and where it is installed. */
static void find_folders(struct options *o)
{
	char exe[4096], *slash;
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	unsigned int n = 0;

	if (len > 0) {
		exe[len] = '\0';
		slash = strrchr(exe, '/');
		*slash = '\0';
		if (asprintf(&o->folders[n], "%s/..", exe) > 0)
			n++;
		if (asprintf(&o->folders[n], "%s/../share/ilb", exe) > 0)
			n++;
	}
	o->folders[n] = NULL;
}

static const char *const *folders_of(const struct options *o)
{
	return (const char *const *)o->folders;
}

/* ---- --list ---- */

static int is_scenario(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && !strcmp(entry->d_name + len - 5, ".json");
}

static void list_folder(FILE *out, const struct options *o, const char *folder,
			int for_shell)
{
	struct ilb_scenario *s;
	struct dirent **names;
	struct ilb_error error;
	char *path;
	int i, nr;

	if (asprintf(&path, "%s/scenarios", folder) < 0)
		return;
	nr = scandir(path, &names, is_scenario, alphasort);
	free(path);
	for (i = 0; i < nr; i++) {
		*strrchr(names[i]->d_name, '.') = '\0';
		if (!ilb_scenario_load(&s, names[i]->d_name, folders_of(o),
				       &error)) {
			fprintf(out, for_shell ? "%s\t%s\n" : "  %-16s %s\n",
				names[i]->d_name, ilb_scenario_summary(s));
			ilb_scenario_free(s);
		}
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
}

/* Scenarios, for a shell; a file will do, too. */
static void list_names(FILE *out)
{
	struct options o = { .scenario = NULL };
	unsigned int i;

	find_folders(&o);
	for (i = 0; o.folders[i]; i++) {
		list_folder(out, &o, o.folders[i], 1);
		free(o.folders[i]);
	}
	fputs(ILB_FILES "\n", out);
}

static int list(const struct options *o)
{
	const struct ilb_feature *f;
	unsigned int i;

	puts("scenarios:");
	for (i = 0; o->folders[i]; i++)
		list_folder(stdout, o, o->folders[i], 0);
	puts("\nfeatures of a kernel, for \"features\":");
	for (f = ilb_features; f->name; f++)
		printf("  %s=%s|%s\n      %s\n", f->name, f->values[0],
		       f->values[1], f->summary);
	return ILB_EXIT_OK;
}

/* ---- running ---- */

static int make_plan(const struct options *o, const struct ilb_scenario *s,
		     const char *variant, struct ilb_sim_plan **plan,
		     struct ilb_error *error)
{
	int err = ilb_scenario_plan(s, variant, plan, error);

	if (!err && o->has_seed)
		(*plan)->seed = o->seed;
	return err;
}

static int compare_runs(const struct ilb_sim_one *one, struct ilb_error *error)
{
	struct ilb_sim_result again;
	int err;

	err = ilb_sim_run(one->plan, NULL, NULL, &again, error);
	if (err || !memcmp(&again, &one->result, sizeof(again)))
		return err;
	return ilb_fail(error, ILB_ERR_BUG,
			"%s: two runs differ, digests %016" PRIx64 " and %016"
			PRIx64 "; please report it", one->plan->name,
			one->result.digest, again.digest);
}

static void fill_row(struct ilb_sim_row *row, const struct ilb_sim_one *one)
{
	const struct ilb_measures *m = one->measures;

	row->work_ns = one->result.work_ns;
	row->duration_ns = one->plan->duration_ns;
	row->kicks = m->kicks.total;
	row->on_busy_core = m->kicks.on_busy_core;
	row->avoidable = m->kicks.avoidable;
	row->dropped = one->result.dropped;
	row->passes = one->result.passes;
	row->pass_ns = one->result.pass_ns;
	row->disturbed_ns = m->runs.disturbed_ns;
	row->sched = m->softirq.sched;
	row->sched_ns = m->softirq.sched_ns;
	row->violations = one->result.violations;
	row->wasted_ns = one->result.wasted_ns;
	row->lost_ns = one->result.lost_ns;
	row->busy_sibling = m->contention.busy_sibling;
	row->idle_sibling = m->contention.idle_sibling;
	row->lines = one->plan->lines != ILB_SIM_LINES_NO;
	memcpy(row->transfers, one->result.transfers, sizeof(row->transfers));
}

static int print_report(FILE *out, const struct options *o,
			const struct ilb_output *output,
			const struct ilb_sim_one *one)
{
	const struct ilb_report report = {
		.command = "sim",
		.capture = &one->capture,
		.hz = one->plan->kernel.hz,
		.source = &one->stats,
		.measures = one->measures,
		.findings = &one->findings,
		.best = -1,
	};
	int err;

	if (o->json)
		return ilb_report_json(out, &report);
	err = ilb_report_text(out, &report, ilb_output_width(output),
			      ilb_output_colour(output));
	fprintf(out, "\nSimulation\n  digest              %016" PRIx64
		"\n  computed            %.3f CPU seconds at full speed\n"
		"  work conservation   ", one->result.digest,
		(double)one->result.work_ns / 1e9);
	if (one->result.violations)
		fprintf(out, "at %" PRIu64 " ticks a task had waited for one while a CPU idled, first at %.6f s; lost %.3f CPU seconds\n",
			one->result.violations,
			(double)one->result.violation_ns / 1e9,
			(double)one->result.wasted_ns / 1e9);
	else
		fprintf(out, "kept\n");
	return err;
}

static int run_one(const struct options *o, const struct ilb_scenario *s,
		   const char *variant, struct ilb_sim_row *row,
		   struct ilb_output *output, struct ilb_error *error)
{
	struct ilb_sim_one one = { .capture_dir = o->capture };
	struct ilb_sim_plan *plan = NULL;
	int err;

	err = make_plan(o, s, variant, &plan, error);
	if (err)
		return err;
	one.plan = plan;
	err = ilb_sim_one_run(&one, error);
	if (!err && o->check)
		err = compare_runs(&one, error);
	if (!err && row)
		fill_row(row, &one);
	else if (!err)
		err = print_report(output->file, o, output, &one);
	ilb_sim_one_close(&one);
	ilb_sim_plan_free(plan);
	return err;
}

static int run_all(const struct options *o, const struct ilb_scenario *s,
		   struct ilb_output *output, struct ilb_error *error)
{
	struct ilb_sim_row rows[VARIANTS_MAX] = { 0 };
	const char *name;
	unsigned int nr;
	int err;

	for (nr = 0; (name = ilb_scenario_variant(s, nr)) != NULL; nr++) {
		if (nr == VARIANTS_MAX)
			return ilb_fail(error, ILB_ERR_RANGE,
					"%s: has more than %u variants; choose one with --variant",
					o->scenario, VARIANTS_MAX);
		rows[nr].name = name;
		rows[nr].published = ilb_scenario_published(s, name,
							&rows[nr].unit);
		err = run_one(o, s, name, &rows[nr], output, error);
		if (err)
			return err;
	}
	if (o->json) {
		ilb_sim_table_json(output->file, o->scenario, rows, nr);
		return 0;
	}
	fprintf(output->file, "%s: %s\n\n", o->scenario,
		ilb_scenario_summary(s));
	err = ilb_sim_table(output->file, rows, nr);
	if (!err && ilb_scenario_note(s))
		fprintf(output->file, "\n%s\n", ilb_scenario_note(s));
	return err;
}

static int run(const struct options *o, struct ilb_error *error)
{
	struct ilb_scenario *s = NULL;
	struct ilb_output output;
	int err;

	err = ilb_scenario_load(&s, o->scenario, folders_of(o), error);
	if (err)
		return err;
	err = ilb_output_open(&output, o->output, error);
	if (err) {
		ilb_scenario_free(s);
		return err;
	}
	if (o->variant || !ilb_scenario_variant(s, 0))
		err = run_one(o, s, o->variant, NULL, &output, error);
	else if (o->capture)
		err = ilb_fail(error, ILB_ERR_MISMATCH,
			       "%s: has variants; choose one for the capture with --variant, the first is '%s'",
			       o->scenario, ilb_scenario_variant(s, 0));
	else
		err = run_all(o, s, &output, error);
	if (err)
		ilb_output_abandon(&output);
	else
		err = ilb_output_close(&output, error);
	ilb_scenario_free(s);
	return err;
}

int ilb_cmd_sim(int argc, char **argv)
{
	struct ilb_error error = { "" };
	struct options o = { .scenario = NULL };
	int err, code, i;

	err = parse(&o, argc, argv);
	if (err)
		return err - 1;
	find_folders(&o);
	if (o.list) {
		code = list(&o);
	} else {
		err = run(&o, &error);
		code = err ? ilb_cmd_fail("sim", err, &error) : ILB_EXIT_OK;
	}
	for (i = 0; i < FOLDERS; i++)
		free(o.folders[i]);
	return code;
}
