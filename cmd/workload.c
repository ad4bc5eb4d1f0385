// SPDX-License-Identifier: GPL-2.0-only
/* ilb workload: load whose tasks and CPUs are known, to record or to judge. */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/workload.h"

#define TASKS_MAX	1024U
#define LOSE_MIN	2
#define HEAL_NS		200000000ULL

enum { OPT_PER_CORE = ILB_KEY_OWN, OPT_BURSTS, OPT_PAIRS, OPT_SEED, OPT_FORCE,
       OPT_DRY_RUN };

#define FOR(kind)	(1U << (kind))
#define PIN		FOR(ILB_WORKLOAD_PIN)
#define MIX		FOR(ILB_WORKLOAD_MIX)
#define LOSE		FOR(ILB_WORKLOAD_LOSE)

static const struct ilb_option options[] = {
	{ 'd', "duration", "SECONDS", NULL,
	  PIN | MIX | FOR(ILB_WORKLOAD_IDLE) | LOSE,
	  "how long (default 10); not for heal" },
	{ 'C', "cpus", "LIST", NULL, PIN, "CPUs to pin to, such as 0-3,8" },
	{ OPT_PER_CORE, "per-core", "[NODE]", NULL, PIN,
	  "the first thread of each core of this NUMA node\n"
	  "(default, of node 0)" },
	{ OPT_BURSTS, "bursts", "N", NULL, MIX,
	  "tasks that run and sleep 2 to 22 ms (default 3)" },
	{ OPT_PAIRS, "pairs", "N", NULL, MIX,
	  "pairs of tasks that ping and pong (default 3)" },
	{ OPT_SEED, "seed", "N", NULL, MIX,
	  "of the lengths that mix draws (default 1)" },
	{ OPT_FORCE, "force", NULL, NULL, LOSE,
	  "lose: also a CPU without nohz_full" },
	{ OPT_DRY_RUN, "dry-run", NULL, NULL, 0, "print what would run" },
	{ ILB_KEY_JSON, "json", NULL, NULL, 0,
	  "print what ran, see the man page" },
	{ 0 },
};

#define NR_OPTIONS	(sizeof(options) / sizeof(options[0]) - 1)

/**
 * struct words - what a command line says; @given: which of options[]
 * @cpu: of lose and heal
 */
struct words {
	enum ilb_workload_kind kind;
	unsigned long cpus[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	uint64_t duration_ns;
	uint64_t seed, bursts, pairs, node, cpu;
	unsigned int given;
	int has_list, has_node, force, dry_run, json;
	int argc;
	char **argv;
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

static int read_list(struct words *o, const char *text)
{
	int err = ilb_cpulist_parse(text, o->cpus, ILB_CPUS_MAX);

	o->has_list = 1;
	if (!err && !ilb_mask_empty(o->cpus, ILB_CPUS_MAX))
		return 0;
	return ilb_cmd_usage("workload",
			"-C '%s': not a list of CPUs such as 0-3,8", text);
}

/*
 * The node may also be the next word, which getopt leaves to us, as all words.
 * The next but one of which it knows is then no option's.
 */
static int read_node(struct words *o, const struct ilb_option *option)
{
	o->has_node = 1;
	if (!optarg && optind < o->argc && o->argv[optind][0] >= '0' &&
	    o->argv[optind][0] <= '9')
		optarg = o->argv[optind++];
	return optarg ? ilb_option_number(&ilb_workload_syntax, option, NULL,
					  0, ILB_CPUS_MAX - 1, &o->node) : 0;
}

/* ---- options; each returns 0, or an exit code plus 1 ---- */

static int flag(struct words *o, int key)
{
	switch (key) {
	case OPT_FORCE:
		o->force = 1;
		return 0;
	case OPT_DRY_RUN:
		o->dry_run = 1;
		return 0;
	default:
		o->json = 1;
		return 0;
	}
}

static int number(const struct ilb_option *option, uint64_t max, uint64_t *n)
{
	return ilb_option_number(&ilb_workload_syntax, option, NULL, 0, max, n);
}

static int take(void *context, const struct ilb_option *option)
{
	struct words *o = context;

	o->given |= 1U << (option - options);
	switch (option->key) {
	case 'd':
		return ilb_option_seconds(&ilb_workload_syntax, option, 0.001,
					  &o->duration_ns);
	case 'C':
		return read_list(o, optarg) ? 1 + ILB_EXIT_USAGE : 0;
	case OPT_PER_CORE:
		return read_node(o, option);
	case OPT_BURSTS:
		return number(option, TASKS_MAX, &o->bursts);
	case OPT_PAIRS:
		return number(option, TASKS_MAX, &o->pairs);
	case OPT_SEED:
		return number(option, UINT32_MAX, &o->seed);
	default:
		return flag(o, option->key);
	}
}

const struct ilb_syntax ilb_workload_syntax = {
	.verb = "workload",
	.usage = "usage: ilb workload pin [-C LIST | --per-core [NODE]] [options]\n"
		 "       ilb workload mix [--bursts N] [--pairs N] [--seed N] [options]\n"
		 "       ilb workload idle [options]\n"
		 "       ilb workload lose CPU [--force] [options]\n"
		 "       ilb workload heal CPU [options]\n"
		 "\n"
		 "  pin    a busy loop on each CPU of a list\n"
		 "  mix    unpinned tasks that run and sleep, pairs that wake each other\n"
		 "  idle   nothing, for comparison\n"
		 "  lose   leave a nohz_full CPU idle, its tick stopped, unregistered\n"
		 "  heal   bring such a CPU back\n\n",
	.verbs = "pin mix idle lose heal",
	.tables = { options },
	.take = take,
};

static int read_kind(struct words *o, const char *text)
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

static int read_words(struct words *o, int nr, char **words)
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

static int contradictory(const struct words *o)
{
	unsigned int i;
	int stop;

	for (i = 0; i < NR_OPTIONS; i++) {
		stop = 0;
		if (o->given & 1U << i)
			stop = ilb_option_for(&ilb_workload_syntax, &options[i],
					      FOR(o->kind),
					      ilb_workload_name(o->kind));
		if (stop)
			return stop - 1;
	}
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

static int parse(struct words *o, int argc, char **argv)
{
	int stop;

	o->argc = argc;
	o->argv = argv;
	stop = ilb_options_parse(&ilb_workload_syntax, o, argc, argv);
	if (stop)
		return stop;
	stop = read_words(o, argc - optind, argv + optind);
	if (!stop)
		stop = contradictory(o);
	return stop ? 1 + stop : 0;
}

/* ---- the run ---- */

static int make_plan(struct ilb_workload *w, struct words *o,
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

static int print(const struct ilb_workload *w, const struct words *o,
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
	struct words o = {
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
