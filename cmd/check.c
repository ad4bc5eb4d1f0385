// SPDX-License-Identifier: GPL-2.0-only
/* ilb check: what a machine tells without recording, without privilege. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/check.h"
#include "cmd/cmd.h"
#include "cmd/options.h"

struct options {
	const char *input, *output, *topology, *kernel;
	const char *nohz_full, *isolated, *housekeeping, *busy;
	int json, fail;
};

/** struct work - what a check needs of memory */
struct work {
	struct ilb_facts facts;
	struct ilb_check check;
	struct ilb_capture *capture;
	struct ilb_topology *own;
	const struct ilb_topology *topology;
	const char *of;
	unsigned long busy[ILB_WIDE_WORDS];
};

enum { OPT_TOPOLOGY = ILB_KEY_OWN, OPT_KERNEL, OPT_FULL, OPT_ISOLATED, OPT_HK,
       OPT_BUSY, OPT_FAIL };

static const struct ilb_option own[] = {
	{ OPT_BUSY, "busy", "LIST", NULL, 0,
	  "where do kicks go while a job occupies these CPUs?" },
	{ OPT_FAIL, "fail-on-busy-core", NULL, NULL, 0,
	  "exit 1 if that is on a core of the job" },
	{ 'i', "input", "PATH", ILB_FILES, 0,
	  "ask of a capture, not of this machine" },
	{ OPT_TOPOLOGY, "topology", "TOPO", ILB_FILES, 0,
	  "ask of another machine: hwloc XML file, or a\n"
	  "description as 'pack:2 [numa] l3:1 core:88 pu:2'" },
	{ OPT_KERNEL, "kernel", "RELEASE", NULL, 0,
	  "what if that kernel ran? 6.12.95, or linux-6.12" },
	{ OPT_FULL, "nohz-full", "LIST", NULL, 0, "its nohz_full CPUs" },
	{ OPT_ISOLATED, "isolated", "LIST", NULL, 0,
	  "its CPUs without scheduling domains" },
	{ OPT_HK, "housekeeping", "LIST", NULL, 0,
	  "its CPUs that may balance for others" },
	{ 0 },
};

/* Where an option's value goes; NULL if it has none. */
static const char **place(struct options *o, int c)
{
	switch (c) {
	case 'i':
		return &o->input;
	case 'o':
		return &o->output;
	case OPT_TOPOLOGY:
		return &o->topology;
	case OPT_KERNEL:
		return &o->kernel;
	case OPT_FULL:
		return &o->nohz_full;
	case OPT_ISOLATED:
		return &o->isolated;
	case OPT_HK:
		return &o->housekeeping;
	case OPT_BUSY:
		return &o->busy;
	default:
		return NULL;
	}
}

/* Returns 0, or an exit code plus 1. */
static int take(void *context, const struct ilb_option *option)
{
	struct options *o = context;
	const char **value = place(o, option->key);

	if (value)
		*value = optarg;
	else if (option->key == OPT_FAIL)
		o->fail = 1;
	else
		o->json = 1;
	return 0;
}

const struct ilb_syntax ilb_check_syntax = {
	.verb = "check",
	.usage = "usage: ilb check [options]\n\n",
	.tables = { own, ilb_output_options },
	.take = take,
};

static int contradictory(const struct options *o)
{
	const struct ilb_behaviour *row;

	if (o->fail && !o->busy)
		return ilb_cmd_usage("check",
				"--fail-on-busy-core: needs --busy");
	if (o->kernel &&
	    ilb_behaviour_find(o->kernel, &row) == -ILB_ERR_SYNTAX)
		return ilb_cmd_usage("check",
				"--kernel '%s': neither a release such as 6.12.95 nor a row such as linux-6.12",
				o->kernel);
	if (o->topology && !o->input && !o->kernel)
		return ilb_cmd_usage("check",
				"--topology: which kernel does that machine run? Add --kernel");
	return 0;
}

static int parse(struct options *o, int argc, char **argv)
{
	int stop = ilb_options_parse(&ilb_check_syntax, o, argc, argv);

	if (stop)
		return stop;
	if (optind < argc)
		return 1 + ilb_cmd_usage("check",
				"'%s': CPUs are given with --busy, a capture with -i",
				argv[optind]);
	return contradictory(o) ? 1 + ILB_EXIT_USAGE : 0;
}

/* ---- the machine that is asked about ---- */

static int open_capture(struct work *w, const struct options *o,
			struct ilb_error *error)
{
	int err = ilb_capture_open(&w->capture, o->input, o->topology, error);

	if (err)
		return err;
	w->topology = &w->capture->topology;
	w->of = o->input;
	ilb_facts_from_capture(&w->facts, w->capture);
	return 0;
}

static int open_machine(struct work *w, const struct options *o,
			struct ilb_error *error)
{
	int err;

	err = ilb_topology_load(&w->own, o->topology ? o->topology : "self",
				error);
	if (err)
		return err;
	w->topology = w->own;
	w->of = o->topology ? o->topology : "this machine";
	if (!o->topology)
		ilb_facts_gather(&w->facts, "");
	return 0;
}

static int bad_list(const char *option, const char *text)
{
	return ilb_cmd_usage("check",
			"%s '%s': not a list of CPUs such as 0-3,8", option,
			text);
}

/* Returns 0 and a mask of online CPUs, or an exit code. */
static int read_list(const struct work *w, const char *option,
		     const char *text, unsigned long *mask)
{
	unsigned long wide[ILB_WIDE_WORDS];
	const struct ilb_topology *t = w->topology;
	char online[64];
	unsigned int cpu;
	int err = ilb_cpulist_parse(text, wide, ILB_CPUS_MAX);

	if (err)
		return bad_list(option, text);
	ilb_for_each_cpu(cpu, wide, ILB_CPUS_MAX) {
		if (cpu < t->nr_cpus && ilb_mask_test(t->online, cpu))
			continue;
		ilb_cpulist_print(online, sizeof(online), t->online,
				  t->nr_cpus);
		return ilb_cmd_usage("check",
				"%s: CPU %u is not online in %s, which has CPUs %s",
				option, cpu, w->of, online);
	}
	ilb_mask_copy(mask, wide, ILB_CPUS_MAX);
	return 0;
}

/* Returns 0, or an exit code. */
static int replace_facts(struct work *w, const struct options *o)
{
	struct ilb_facts *f = &w->facts;
	int code = 0;

	if (o->kernel)
		ilb_facts_rename(f, o->kernel);
	if (o->nohz_full) {
		code = read_list(w, "--nohz-full", o->nohz_full, f->nohz_full);
		ilb_mask_zero(f->nohz_only, ILB_CPUS_MAX);
		f->nohz_full_known = 1;
		f->housekeeping_known = 0;
	}
	if (!code && o->isolated) {
		code = read_list(w, "--isolated", o->isolated, f->isolated);
		f->isolated_known = 1;
	}
	if (!code && o->housekeeping) {
		code = read_list(w, "--housekeeping", o->housekeeping,
				 f->housekeeping);
		f->housekeeping_known = 1;
		if (!code && ilb_mask_empty(f->housekeeping, ILB_CPUS_MAX))
			code = bad_list("--housekeeping", o->housekeeping);
	}
	if (!code && o->busy) {
		code = read_list(w, "--busy", o->busy, w->busy);
		if (!code && ilb_mask_empty(w->busy, ILB_CPUS_MAX))
			code = bad_list("--busy", o->busy);
	}
	return code;
}

static int print(const struct work *w, const struct options *o,
		 struct ilb_error *error)
{
	struct ilb_check_report report = {
		.check = &w->check, .facts = &w->facts, .of = w->of,
	};
	struct ilb_output out;
	int err;

	err = ilb_output_open(&out, o->output, error);
	if (err)
		return err;
	report.colour = ilb_output_colour(&out);
	if (o->json)
		err = ilb_check_print_json(out.file, &report);
	else
		ilb_check_print_text(out.file, &report);
	if (!err)
		return ilb_output_close(&out, error);
	ilb_output_abandon(&out);
	return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
}

static int run(struct work *w, const struct options *o)
{
	struct ilb_error error = { "" };
	int err, code;

	err = o->input ? open_capture(w, o, &error) :
			 open_machine(w, o, &error);
	if (err)
		return ilb_cmd_fail("check", err, &error);
	code = replace_facts(w, o);
	if (code)
		return code;
	ilb_check_judge(&w->check, &w->facts, w->topology,
			o->busy ? w->busy : NULL);
	err = print(w, o, &error);
	if (err)
		return ilb_cmd_fail("check", err, &error);
	return o->fail && w->check.aim.on_busy_core ? ILB_EXIT_FOUND :
						      ILB_EXIT_OK;
}

int ilb_cmd_check(int argc, char **argv)
{
	struct options o = { .input = NULL };
	struct work *w;
	int stop, code;

	stop = parse(&o, argc, argv);
	if (stop)
		return stop - 1;
	w = calloc(1, sizeof(*w));
	if (!w) {
		fputs("ilb check: out of memory\n", stderr);
		return ILB_EXIT_INPUT;
	}
	code = run(w, &o);
	ilb_capture_close(w->capture);
	ilb_topology_free(w->own);
	free(w);
	return code;
}
