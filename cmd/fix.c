// SPDX-License-Identifier: GPL-2.0-only
/* ilb fix: the kernel module that repairs, and trials of it. */

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cmd/cmd.h"
#include "cmd/fix.h"

static const char usage[] =
	"usage: ilb fix load [--repair NAME]... [options]\n"
	"       ilb fix status [--json]\n"
	"       ilb fix enable | disable | unload\n"
	"       ilb fix trial [-n N] [--seed S] [options] -- COMMAND...\n"
	"\n"
	"  load     load the kernel module, and watch whether it works\n"
	"  status   is it loaded, and what has it done?\n"
	"  disable  leave all to the kernel, at once;  enable: the reverse\n"
	"  unload   take it out; the kernel is as it was\n"
	"  trial    run COMMAND with the repair and without, N times each, in\n"
	"           random order: is it faster?\n"
	"\n"
	"      --repair NAME    idle-core or nohz-full; repeatable (default: what\n"
	"                       this machine needs)\n"
	"      --policy NAME    of idle-core: idle-core (default) or near\n"
	"      --module FILE    the module to load\n"
	"      --dry-run        load: count, and change nothing; trial: print\n"
	"                       the order of runs\n"
	"  -n N                 pairs of runs, 2 to 1000 (default 10)\n"
	"      --seed S         of the order (default: another one each time)\n"
	"      --json           one JSON object, see the man page\n"
	"  -o, --output FILE    trial: write to FILE, whole or not at all\n"
	"  -h                   this text;  --help: the man page\n";

enum { OPT_REPAIR = 256, OPT_POLICY, OPT_MODULE, OPT_DRY_RUN, OPT_SEED,
       OPT_JSON, OPT_HELP };

static const struct option long_options[] = {
	{ "repair", required_argument, NULL, OPT_REPAIR },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "module", required_argument, NULL, OPT_MODULE },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* The verbs that an option is for. */
enum { LOAD = 1, STATUS = 2, TRIAL = 4, ENABLE = 8, DISABLE = 16,
       UNLOAD = 32 };

static const struct {
	int option;
	const char *name;
	unsigned int verbs;
} limits[] = {
	{ OPT_REPAIR, "--repair", LOAD | TRIAL },
	{ OPT_POLICY, "--policy", LOAD | TRIAL },
	{ OPT_MODULE, "--module", LOAD | TRIAL },
	{ OPT_DRY_RUN, "--dry-run", LOAD | TRIAL },
	{ OPT_SEED, "--seed", TRIAL },
	{ OPT_JSON, "--json", LOAD | STATUS | TRIAL },
	{ 'n', "-n", TRIAL },
	{ 'o', "-o", TRIAL },
};

static const struct {
	const char *name;
	unsigned int verb;
} verbs[] = {
	{ "load", LOAD }, { "status", STATUS }, { "trial", TRIAL },
	{ "enable", ENABLE }, { "disable", DISABLE }, { "unload", UNLOAD },
};

/* ---- options; each returns 0, or an exit code plus 1 ---- */

static int read_number(const char *option, uint64_t min, uint64_t max,
		       uint64_t *number)
{
	size_t digits = strspn(optarg, "0123456789");

	errno = 0;
	*number = strtoull(optarg, NULL, 10);
	if (digits && !optarg[digits] && !errno && *number >= min &&
	    *number <= max)
		return 0;
	return 1 + ilb_cmd_usage("fix", "%s '%s': not a number from %llu to %llu",
				 option, optarg, (unsigned long long)min,
				 (unsigned long long)max);
}

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

static int read_pairs(struct ilb_fix_options *o)
{
	uint64_t n;
	int stop = read_number("-n", ILB_TRIAL_MIN, ILB_TRIAL_MAX, &n);

	o->pairs = (unsigned int)n;
	return stop;
}

static int one_option(struct ilb_fix_options *o, int c, char **argv)
{
	switch (c) {
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
		return read_number("--seed", 0, INT64_MAX, &o->seed);
	case OPT_JSON:
		o->json = 1;
		return 0;
	case 'n':
		return read_pairs(o);
	case 'o':
		o->output = optarg;
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 1 + ILB_EXIT_OK;
	case OPT_HELP:
		return 1 + ilb_cmd_man("fix", usage);
	default:
		return 1 + ilb_cmd_bad_option("fix", c, argv);
	}
}

static int not_for(int c, unsigned int verb, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i].option == c && !(limits[i].verbs & verb))
			return 1 + ilb_cmd_usage("fix", "%s: not for '%s'",
						 limits[i].name, name);
	return 0;
}

/* @argv begins with the verb. */
static int parse(struct ilb_fix_options *o, unsigned int verb, int argc,
		 char **argv)
{
	int c, stop;

	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, "+:n:o:h", long_options, NULL)) >=
	       0) {
		stop = verb ? not_for(c, verb, argv[0]) : 0;
		if (!stop)
			stop = one_option(o, c, argv);
		if (stop)
			return stop;
	}
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
	size_t i;
	int stop;

	for (i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(argv[1], verbs[i].name))
			verb = verbs[i].verb;
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
