// SPDX-License-Identifier: GPL-2.0-only
/* ilb fix: the kernel module that repairs, and trials of it. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cmd/cmd.h"
#include "cmd/fix.h"
#include "cmd/options.h"

/* In the order of ilb_fix_syntax.verbs. */
enum { LOAD = 1, STATUS = 2, TRIAL = 4, ENABLE = 8, DISABLE = 16,
       UNLOAD = 32 };

enum { OPT_REPAIR = ILB_KEY_OWN, OPT_POLICY, OPT_MODULE, OPT_DRY_RUN,
       OPT_SEED };

static const struct ilb_option options[] = {
	{ OPT_REPAIR, "repair", "NAME", "idle-core nohz-full", LOAD | TRIAL,
	  "idle-core or nohz-full; repeatable (default: what\n"
	  "this machine needs)" },
	{ OPT_POLICY, "policy", "NAME", "idle-core near", LOAD | TRIAL,
	  "of idle-core: idle-core (default) or near" },
	{ OPT_MODULE, "module", "FILE", ILB_FILES, LOAD | TRIAL,
	  "the module to load" },
	{ OPT_DRY_RUN, "dry-run", NULL, NULL, LOAD | TRIAL,
	  "load: count, and change nothing; trial: print\n"
	  "the order of runs" },
	{ 'n', NULL, "N", NULL, TRIAL,
	  "pairs of runs, 2 to 1000 (default 10)" },
	{ OPT_SEED, "seed", "S", NULL, TRIAL,
	  "of the order (default: another one each time)" },
	{ ILB_KEY_JSON, "json", NULL, NULL, LOAD | STATUS | TRIAL,
	  "one JSON object, see the man page" },
	{ 'o', "output", "FILE", ILB_FILES, TRIAL,
	  "trial: write to FILE, whole or not at all" },
	{ 0 },
};

/* ---- options; each returns 0, or an exit code plus 1 ---- */

static int read_repair(struct ilb_fix_options *o)
{
	enum ilb_repair repair = ilb_repair_parse(optarg);

	o->repairs |= repair;
	return repair ? 0 : 1 + ilb_cmd_usage("fix",
			"--repair '%s': not idle-core or nohz-full", optarg);
}

static int read_policy(struct ilb_fix_options *o)
{
	o->policy = optarg;
	if (!strcmp(optarg, "idle-core") || !strcmp(optarg, "near"))
		return 0;
	return 1 + ilb_cmd_usage("fix",
			"--policy '%s': not idle-core or near", optarg);
}

static int read_pairs(struct ilb_fix_options *o,
		      const struct ilb_option *option)
{
	uint64_t n;
	int stop = ilb_option_number(&ilb_fix_syntax, option, NULL,
				     ILB_TRIAL_MIN, ILB_TRIAL_MAX, &n);

	o->pairs = (unsigned int)n;
	return stop;
}

static int take_one(struct ilb_fix_options *o, const struct ilb_option *option)
{
	switch (option->key) {
	case OPT_REPAIR:
		return read_repair(o);
	case OPT_POLICY:
		return read_policy(o);
	case OPT_MODULE:
		o->module = optarg;
		return 0;
	case OPT_DRY_RUN:
		o->dry_run = 1;
		return 0;
	case OPT_SEED:
		return ilb_option_number(&ilb_fix_syntax, option, NULL, 0,
					 INT64_MAX, &o->seed);
	case 'n':
		return read_pairs(o, option);
	case 'o':
		o->output = optarg;
		return 0;
	default:
		o->json = 1;
		return 0;
	}
}

/** struct words - what a command line says; @verb: 0: nothing yet */
struct words {
	struct ilb_fix_options *options;
	unsigned int verb;
	const char *name;
};

static int take(void *context, const struct ilb_option *option)
{
	struct words *w = context;
	int stop = 0;

	if (w->verb)
		stop = ilb_option_for(&ilb_fix_syntax, option, w->verb,
				      w->name);
	return stop ? stop : take_one(w->options, option);
}

const struct ilb_syntax ilb_fix_syntax = {
	.verb = "fix",
	.usage = "usage: ilb fix load [--repair NAME]... [options]\n"
		 "       ilb fix status [--json]\n"
		 "       ilb fix enable | disable | unload\n"
		 "       ilb fix trial [-n N] [--seed S] [options] -- COMMAND...\n"
		 "\n"
		 "  load     load the kernel module, and watch whether it works\n"
		 "  status   is it loaded, and what has it done?\n"
		 "  disable  leave all to the kernel, at once;  enable: the reverse\n"
		 "  unload   take it out; the kernel is as it was\n"
		 "  trial    run COMMAND with the repair and without, N times each, in\n"
		 "           random order: is it faster?\n\n",
	.verbs = "load status trial enable disable unload",
	.tables = { options },
	.command = 1,
	.take = take,
};

/* @argv begins with the verb. */
static int parse(struct ilb_fix_options *o, unsigned int verb, int argc,
		 char **argv)
{
	struct words w = { .options = o, .verb = verb, .name = argv[0] };
	int stop = ilb_options_parse(&ilb_fix_syntax, &w, argc, argv);

	if (stop)
		return stop;
	if (verb != TRIAL && optind < argc)
		return 1 + ilb_cmd_usage("fix", "'%s': one word too many",
					 argv[optind]);
	if (verb == TRIAL && optind == argc)
		return 1 + ilb_cmd_usage("fix",
				"trial: no command: give one behind --");
	o->command = argv + optind;
	if (o->policy && o->repairs == ILB_REPAIR_NOHZ_FULL)
		return 1 + ilb_cmd_usage("fix",
				"--policy: is of idle-core, not of nohz-full");
	return 0;
}

/* ---- the short ones ---- */

static int status(const struct ilb_fix_options *o)
{
	struct ilb_error error = { "" };
	struct ilb_fix_state state;
	int err = ilb_fix_read(&state, "", &error);

	if (!err && o->json)
		err = ilb_fix_print_json(stdout, ilb_fix_json_state(&state),
					 &error);
	else if (!err)
		ilb_fix_print_state(stdout, &state);
	return err ? ilb_fix_fail(err, &error) : ILB_EXIT_OK;
}

static int enable(int on)
{
	struct ilb_error error = { "" };
	int err = ilb_fix_write("", "enable", on ? "Y" : "N", &error);

	return err ? ilb_fix_fail(err, &error) : ILB_EXIT_OK;
}

static int unload(void)
{
	struct ilb_error error = { "" };
	struct ilb_fix_state state;
	int err;

	/* Its parameters may be damaged: only that it is there counts. */
	ilb_fix_read(&state, "", NULL);
	err = state.loaded ? ilb_module_unload(&error) :
	      ilb_fail(&error, ILB_ERR_UNSUPPORTED,
		       "ilb_fix: it is not loaded; nothing to unload");

	return err ? ilb_fix_fail(err, &error) : ILB_EXIT_OK;
}

static int run(unsigned int verb, struct ilb_fix_options *o)
{
	switch (verb) {
	case LOAD:
		return ilb_fix_load(o);
	case STATUS:
		return status(o);
	case TRIAL:
		return ilb_fix_trial(o);
	case UNLOAD:
		return unload();
	default:
		return enable(verb == ENABLE);
	}
}

int ilb_cmd_fix(int argc, char **argv)
{
	struct ilb_fix_options o = { .pairs = 10 };
	unsigned int verb = 0;
	uint32_t seed = 1;
	int stop;

	if (argc > 1)
		verb = ilb_syntax_verb(&ilb_fix_syntax, argv[1]);
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 1;
	o.seed = seed;
	if (!verb && argc > 1 && argv[1][0] != '-')
		return ilb_cmd_usage("fix", "'%s': not load, status, enable, disable, unload or trial",
				     argv[1]);
	stop = verb ? parse(&o, verb, argc - 1, argv + 1) :
		      parse(&o, 0, argc, argv);
	if (stop)
		return stop - 1;
	if (!verb)
		return ilb_cmd_usage("fix", "which one: load, status, enable, disable, unload or trial?");
	return run(verb, &o);
}
