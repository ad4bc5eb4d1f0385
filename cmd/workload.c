// SPDX-License-Identifier: GPL-2.0-only
/* ilb workload: load whose tasks and CPUs are known, to record or to judge. */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/workload.h"

static const char usage[] =
	"usage: ilb workload pin [-C LIST | --per-core [NODE]] [options]\n"
	"       ilb workload mix [--bursts N] [--pairs N] [--seed N] [options]\n"
	"       ilb workload idle [options]\n"
	"       ilb workload lose CPU [--force] [options]\n"
	"       ilb workload heal CPU [options]\n"
	"\n"
	"  pin    a busy loop on each CPU of a list\n"
	"  mix    unpinned tasks that run and sleep, pairs that wake each other\n"
	"  idle   nothing, for comparison\n"
	"  lose   leave a nohz_full CPU idle, its tick stopped, unregistered\n"
	"  heal   bring such a CPU back\n"
	"\n"
	"  -d, --duration SECONDS  how long (default 10); not for heal\n"
	"  -C, --cpus LIST         CPUs to pin to, such as 0-3,8\n"
	"      --per-core [NODE]   the first thread of each core of this NUMA node\n"
	"                          (default, of node 0)\n"
	"      --bursts N          tasks that run and sleep 2 to 22 ms (default 3)\n"
	"      --pairs N           pairs of tasks that ping and pong (default 3)\n"
	"      --seed N            of the lengths that mix draws (default 1)\n"
	"      --force             lose: also a CPU without nohz_full\n"
	"      --dry-run           print what would run\n"
	"      --json              print what ran, see the man page\n"
	"  -h                      this text;  --help: the man page\n";

#define TASKS_MAX	1024U
#define SECONDS_MAX	1e7
#define LOSE_MIN	2
#define HEAL_NS		200000000ULL

enum { OPT_PER_CORE = 256, OPT_BURSTS, OPT_PAIRS, OPT_SEED, OPT_FORCE,
       OPT_DRY_RUN, OPT_JSON, OPT_HELP };

static const struct option long_options[] = {
	{ "duration", required_argument, NULL, 'd' },
	{ "cpus", required_argument, NULL, 'C' },
	{ "per-core", optional_argument, NULL, OPT_PER_CORE },
	{ "bursts", required_argument, NULL, OPT_BURSTS },
	{ "pairs", required_argument, NULL, OPT_PAIRS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

#define FOR(kind)	(1U << (kind))

/* The kinds that an option is for, if not for all. */
static const struct {
	int option;
	const char *name;
	unsigned int kinds;
} limits[] = {
	{ 'd', "-d", FOR(ILB_WORKLOAD_PIN) | FOR(ILB_WORKLOAD_MIX) |
		     FOR(ILB_WORKLOAD_IDLE) | FOR(ILB_WORKLOAD_LOSE) },
	{ 'C', "-C", FOR(ILB_WORKLOAD_PIN) },
	{ OPT_PER_CORE, "--per-core", FOR(ILB_WORKLOAD_PIN) },
	{ OPT_BURSTS, "--bursts", FOR(ILB_WORKLOAD_MIX) },
	{ OPT_PAIRS, "--pairs", FOR(ILB_WORKLOAD_MIX) },
	{ OPT_SEED, "--seed", FOR(ILB_WORKLOAD_MIX) },
	{ OPT_FORCE, "--force", FOR(ILB_WORKLOAD_LOSE) },
};

#define NR_LIMITS	(sizeof(limits) / sizeof(limits[0]))

/**
 * struct options - @given: which of limits[] were used
 * @cpu: of lose and heal
 */
struct options {
	enum ilb_workload_kind kind;
	unsigned long cpus[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	uint64_t duration_ns;
	uint64_t seed, bursts, pairs, node, cpu;
	unsigned int given;
	int has_list, has_node, force, dry_run, json;
};

const char *ilb_workload_name(enum ilb_workload_kind kind)
{
	static const char *const names[] = {
		[ILB_WORKLOAD_PIN] = "pin", [ILB_WORKLOAD_MIX] = "mix",
		[ILB_WORKLOAD_IDLE] = "idle", [ILB_WORKLOAD_LOSE] = "lose",
		[ILB_WORKLOAD_HEAL] = "heal",
	};

	return (unsigned int)kind < sizeof(names) / sizeof(names[0]) ?
	       names[kind] : NULL;
}

/* ---- values; each returns 0 or an exit code ---- */

static int read_number(const char *what, const char *text, uint64_t max,
		       uint64_t *number)
{
	size_t digits = strspn(text, "0123456789");

	errno = 0;
	*number = strtoull(text, NULL, 10);
	if (digits && !text[digits] && !errno && *number <= max)
		return 0;
	return ilb_cmd_usage("workload", "%s '%s': not a number from 0 to %llu",
			     what, text, (unsigned long long)max);
}

static int read_seconds(struct options *o, const char *text)
{
	double seconds = strtod(text, NULL);
	const char *end = text + strspn(text, "0123456789.");
	const char *dot = strchr(text, '.');

	if (!*end && !(dot && strchr(dot + 1, '.')) && seconds >= 0.001 &&
	    seconds <= SECONDS_MAX) {
		o->duration_ns = (uint64_t)(seconds * 1e9);
		return 0;
	}
	return ilb_cmd_usage("workload",
			"-d '%s': not a number of seconds such as 10 or 0.5",
			text);
}

static int read_list(struct options *o, const char *text)
{
	int err = ilb_cpulist_parse(text, o->cpus, ILB_CPUS_MAX);

	o->has_list = 1;
	if (!err && !ilb_mask_empty(o->cpus, ILB_CPUS_MAX))
		return 0;
	return ilb_cmd_usage("workload",
			"-C '%s': not a list of CPUs such as 0-3,8", text);
}

/* The node may also be the next word, which getopt leaves to us. */
static int read_node(struct options *o, int argc, char **argv)
{
	const char *text = optarg;

	o->has_node = 1;
	if (!text && optind < argc && argv[optind][0] >= '0' &&
	    argv[optind][0] <= '9')
		text = argv[optind++];
	return text ? read_number("--per-core", text, ILB_CPUS_MAX - 1,
				  &o->node) : 0;
}

/* ---- options; each returns 0, or an exit code plus 1 ---- */

static int flag(struct options *o, int c, const char *arg)
{
	switch (c) {
	case OPT_FORCE:
		o->force = 1;
		return 0;
	case OPT_DRY_RUN:
		o->dry_run = 1;
		return 0;
	case OPT_JSON:
		o->json = 1;
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 1 + ILB_EXIT_OK;
	case OPT_HELP:
		return 1 + ilb_cmd_man("workload", usage);
	default:
		return 1 + ilb_cmd_usage("workload",
				"'%s': no such option, or no value for it",
				arg);
	}
}

static int one_option(struct options *o, int c, int argc, char **argv)
{
	int code;

	switch (c) {
	case 'd':
		code = read_seconds(o, optarg);
		break;
	case 'C':
		code = read_list(o, optarg);
		break;
	case OPT_PER_CORE:
		code = read_node(o, argc, argv);
		break;
	case OPT_BURSTS:
		code = read_number("--bursts", optarg, TASKS_MAX, &o->bursts);
		break;
	case OPT_PAIRS:
		code = read_number("--pairs", optarg, TASKS_MAX, &o->pairs);
		break;
	case OPT_SEED:
		code = read_number("--seed", optarg, UINT32_MAX, &o->seed);
		break;
	default:
		return flag(o, c, argv[optind - 1]);
	}
	return code ? 1 + code : 0;
}

static void note(struct options *o, int c)
{
	unsigned int i;

	for (i = 0; i < NR_LIMITS; i++)
		if (limits[i].option == c)
			o->given |= 1U << i;
}

static int read_kind(struct options *o, const char *text)
{
	unsigned int kind;

	for (kind = 0; ilb_workload_name(kind); kind++) {
		o->kind = kind;
		if (!strcmp(text, ilb_workload_name(kind)))
			return 0;
	}
	return ilb_cmd_usage("workload",
			"'%s': not one of pin, mix, idle, lose, heal", text);
}

static int read_words(struct options *o, int nr, char **words)
{
	int takes_cpu, code;

	if (!nr)
		return ilb_cmd_usage("workload",
				"which one: pin, mix, idle, lose or heal?");
	code = read_kind(o, words[0]);
	if (code)
		return code;
	takes_cpu = o->kind >= ILB_WORKLOAD_LOSE;
	if (nr > 1 + takes_cpu)
		return ilb_cmd_usage("workload", "'%s': one word too many",
				     words[1 + takes_cpu]);
	if (!takes_cpu)
		return 0;
	if (nr < 2)
		return ilb_cmd_usage("workload", "%s: which CPU?", words[0]);
	code = read_number("CPU", words[1], ILB_CPUS_MAX - 1, &o->cpu);
	if (!code)
		ilb_mask_set(o->cpus, (unsigned int)o->cpu);
	return code;
}

static int contradictory(const struct options *o)
{
	unsigned int i;

	for (i = 0; i < NR_LIMITS; i++)
		if ((o->given & 1U << i) && !(limits[i].kinds & FOR(o->kind)))
			return ilb_cmd_usage("workload", "%s: not for '%s'",
					     limits[i].name,
					     ilb_workload_name(o->kind));
	if (o->has_list && o->has_node)
		return ilb_cmd_usage("workload",
				"-C and --per-core: one or the other");
	if (o->dry_run && o->json)
		return ilb_cmd_usage("workload",
				"--dry-run and --json: one or the other");
	if (o->kind == ILB_WORKLOAD_MIX && !o->bursts && !o->pairs)
		return ilb_cmd_usage("workload",
				"no bursts and no pairs: that is 'idle'");
	if (o->kind == ILB_WORKLOAD_LOSE &&
	    o->duration_ns < LOSE_MIN * 1000000000ULL)
		return ilb_cmd_usage("workload",
				"-d: lose takes 1 s until the CPU is idle, so at least %d",
				LOSE_MIN);
	return 0;
}

static int parse(struct options *o, int argc, char **argv)
{
	int c, stop;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "d:C:h", long_options, NULL)) >=
	       0) {
		note(o, c);
		stop = one_option(o, c, argc, argv);
		if (stop)
			return stop;
	}
	stop = read_words(o, argc - optind, argv + optind);
	if (!stop)
		stop = contradictory(o);
	return stop ? 1 + stop : 0;
}

/* ---- the run ---- */

static int make_plan(struct ilb_workload *w, struct options *o,
		     struct ilb_error *error)
{
	int err = 0;

	if (o->kind == ILB_WORKLOAD_IDLE)
		return 0;
	if (o->kind == ILB_WORKLOAD_MIX)
		return ilb_plan_mix(w, (unsigned int)o->bursts,
				    (unsigned int)o->pairs);
	if (o->kind == ILB_WORKLOAD_PIN && !o->has_list)
		err = ilb_workload_per_core(o->cpus, (unsigned int)o->node,
					    error);
	if (o->kind == ILB_WORKLOAD_LOSE && !o->force)
		err = ilb_workload_need_full((unsigned int)o->cpu, error);
	return err ? err : ilb_plan_pinned(w, o->cpus);
}

static int print(const struct ilb_workload *w, const struct options *o,
		 struct ilb_error *error)
{
	struct ilb_output out;
	int err;

	err = ilb_output_open(&out, NULL, error);
	if (err)
		return err;
	if (o->dry_run)
		ilb_workload_print_plan(out.file, w);
	else if (o->json)
		err = ilb_workload_print_json(out.file, w);
	return err ? err : ilb_output_close(&out, error);
}

/* So that a shell sees why it ended. */
static void end_by(int sig)
{
	sigset_t set;

	fflush(stdout);
	sigemptyset(&set);
	sigaddset(&set, sig);
	signal(sig, SIG_DFL);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int ilb_cmd_workload(int argc, char **argv)
{
	struct options o = {
		.duration_ns = 10000000000ULL, .seed = 1, .bursts = 3,
		.pairs = 3,
	};
	struct ilb_workload w = { .kind = ILB_WORKLOAD_IDLE };
	struct ilb_error error = { "" };
	int err;

	err = parse(&o, argc, argv);
	if (err)
		return err - 1;
	w.kind = o.kind;
	w.seed = o.seed;
	w.duration_ns = o.kind == ILB_WORKLOAD_HEAL ? HEAL_NS : o.duration_ns;
	err = make_plan(&w, &o, &error);
	if (!err && !o.dry_run)
		err = ilb_crew_run(&w, &error);
	if (!err)
		err = print(&w, &o, &error);
	ilb_workload_free(&w);
	if (err)
		return ilb_cmd_fail("workload", err, &error);
	if (w.signal)
		end_by(w.signal);
	return ILB_EXIT_OK;
}
