// SPDX-License-Identifier: GPL-2.0-only
/* ilb VERB [options]: a table of commands. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"

static const struct ilb_command commands[] = {
	{ "check", ilb_cmd_check, &ilb_check_syntax,
	  "which rule this kernel has, and where a job's kicks would go" },
	{ "fix", ilb_cmd_fix, &ilb_fix_syntax,
	  "repair the running kernel by a module, and try whether it helps" },
	{ "record", ilb_cmd_record, &ilb_record_syntax,
	  "make a capture of this machine, beside a command or for a while" },
	{ "report", ilb_cmd_report, &ilb_report_syntax,
	  "what the idle load balancer did in a capture, and whom it hurt" },
	{ "replay", ilb_cmd_replay, &ilb_replay_syntax,
	  "what other selection rules would have done at the same moments" },
	{ "sim", ilb_cmd_sim, &ilb_sim_syntax,
	  "let a described machine run a described load, and report on it" },
	{ "stat", ilb_cmd_stat, &ilb_stat_syntax,
	  "watch the running kernel: a report's measures, without a trace" },
	{ "vm", ilb_cmd_vm, &ilb_vm_syntax,
	  "a command on a stock kernel, in a guest with the CPUs you name" },
	{ "workload", ilb_cmd_workload, &ilb_workload_syntax,
	  "load whose tasks and CPUs are known, to record or to compare" },
	{ NULL, NULL, NULL, NULL },
};

static void print_usage(FILE *out)
{
	const struct ilb_command *c;

	fputs("usage: ilb COMMAND [options]\n"
	      "\n"
	      "See, replay, simulate and repair Linux's NOHZ idle load balancer (ILB).\n"
	      "\n", out);
	for (c = commands; c->name; c++)
		fprintf(out, "  %-8s %s\n", c->name, c->summary);
	fputs("\n"
	      "'ilb COMMAND -h' lists the options of a command, 'ilb help COMMAND'\n"
	      "shows its man page. 'ilb --version' prints the version.\n", out);
}

static const struct ilb_command *find(const char *name)
{
	const struct ilb_command *c;

	for (c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int unknown(const char *name)
{
	return ilb_cmd_usage(NULL, "'%s' is not a command", name);
}

static int help(const char *name)
{
	const struct ilb_command *c;
	char *argv[] = { (char *)name, (char *)"--help", NULL };

	if (!name) {
		print_usage(stdout);
		return ILB_EXIT_OK;
	}
	c = find(name);
	return c ? c->run(2, argv) : unknown(name);
}

/* A descriptor of 0 to 2 that is closed must not become that of a trace. */
static void occupy_standard_files(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

static int print_version(void)
{
	printf("ilb %s\n", ILB_VERSION);
	printf("  bpf  %s  exact moments, ilb stat\n",
	       ILB_WITH_BPF ? "yes" : "no ");
	return ILB_EXIT_OK;
}

static int run(int argc, char **argv)
{
	const struct ilb_command *c;

	if (argc < 2) {
		print_usage(stderr);
		return ILB_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return print_version();
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		return help(NULL);
	if (!strcmp(argv[1], "help"))
		return help(argc > 2 ? argv[2] : NULL);
	if (!strcmp(argv[1], "complete"))
		return ilb_cmd_complete(commands, argc - 1, argv + 1);
	c = find(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : unknown(argv[1]);
}

int main(int argc, char **argv)
{
	int code;

	occupy_standard_files();
	code = run(argc, argv);
	return code ? code : ilb_output_finish();
}
