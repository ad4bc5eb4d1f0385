// SPDX-License-Identifier: GPL-2.0-only
/* ilb vm: a command on a stock kernel, in a guest. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "ilb/vm.h"

#define DIR_DEFAULT	"ilb.vm"
#define TIMEOUT_DEFAULT	600U
#define TIMEOUT_MAX	(7U * 24 * 3600)
#define EXIT_OWN	125	/* as env(1): not the command's failure */

enum {
	OPT_KERNEL = ILB_KEY_OWN, OPT_TOPOLOGY, OPT_ARCH, OPT_APPEND,
	OPT_MEMORY, OPT_TIMEOUT, OPT_WITH, OPT_ILB, OPT_SYSROOT, OPT_QEMU,
};

static const struct ilb_option options[] = {
	{ OPT_KERNEL, "kernel", "RELEASE", ILB_FILES, 0,
	  "one that was fetched, as 6.12; or the file of an\n"
	  "image, with a /  (default: the newest fetched)" },
	{ OPT_TOPOLOGY, "topology", "TEXT", NULL, 0,
	  "hwloc's synthetic description (default:\n"
	  "\"" ILB_VM_TOPOLOGY "\")" },
	{ OPT_ARCH, "arch", "NAME", "amd64 arm64", 0,
	  "amd64 or arm64 (default: this machine's)" },
	{ OPT_APPEND, "append", "TEXT", NULL, 0, "further kernel parameters" },
	{ OPT_MEMORY, "memory", "MB", NULL, 0, "of the guest" },
	{ OPT_TIMEOUT, "timeout", "SECONDS", NULL, 0,
	  "end the guest after this time (default: 600)" },
	{ 'o', "output", "DIR", ILB_FOLDERS, 0,
	  "what the command leaves in its working folder\n"
	  "becomes this folder (default: " DIR_DEFAULT ")" },
	{ OPT_WITH, "with", "FILE", ILB_FILES, 0,
	  "put this into the guest's /bin; repeatable" },
	{ OPT_ILB, "ilb", "FILE", ILB_FILES, 0,
	  "the ilb to put in (default: this one)" },
	{ OPT_SYSROOT, "sysroot", "DIR", ILB_FOLDERS, 0,
	  "where programs and libraries of another\n"
	  "architecture are" },
	{ OPT_QEMU, "qemu", "PROGRAM", ILB_FILES, 0, "the QEMU to use" },
	{ 0 },
};

/* Returns 0, or an exit code plus 1, as all that read options do. */
static int read_number(const struct ilb_option *option, const char *unit,
		       unsigned int min, unsigned int max, unsigned int *value)
{
	uint64_t number;
	int stop = ilb_option_number(&ilb_vm_syntax, option, unit, min, max,
				     &number);

	*value = (unsigned int)number;
	return stop;
}

static int read_arch(struct ilb_vm_options *o)
{
	o->arch = ilb_vm_arch_find(optarg);
	if (o->arch != ILB_VM_ARCHES)
		return 0;
	return 1 + ilb_cmd_usage("vm", "--arch '%s': not amd64 or arm64",
				 optarg);
}

static int read_with(struct ilb_vm_options *o)
{
	if (o->nr_with == ILB_VM_WITH_MAX)
		return 1 + ilb_cmd_usage("vm", "--with: %d at most",
					 ILB_VM_WITH_MAX);
	o->with[o->nr_with++] = optarg;
	return 0;
}

static int read_text(const struct ilb_option *option, const char *what,
		     const char **text)
{
	return ilb_option_text(&ilb_vm_syntax, option, what, text);
}

static int take(void *context, const struct ilb_option *option)
{
	struct ilb_vm_options *o = context;

	switch (option->key) {
	case OPT_KERNEL:
		return read_text(option, "a kernel, as 6.12", &o->kernel);
	case OPT_TOPOLOGY:
		return read_text(option, "a machine", &o->topology);
	case OPT_ARCH:
		return read_arch(o);
	case OPT_APPEND:
		o->append = optarg;
		return 0;
	case OPT_MEMORY:
		return read_number(option, "MB", ILB_VM_MEMORY_MIN,
				   ILB_VM_MEMORY_MAX, &o->memory_mb);
	case OPT_TIMEOUT:
		return read_number(option, "seconds", 1, TIMEOUT_MAX,
				   &o->timeout_s);
	case 'o':
		return read_text(option, "a folder", &o->dir);
	case OPT_WITH:
		return read_with(o);
	case OPT_ILB:
		return read_text(option, "a program", &o->ilb);
	case OPT_SYSROOT:
		return read_text(option, "a folder", &o->sysroot);
	default:
		return read_text(option, "a program", &o->qemu);
	}
}

const struct ilb_syntax ilb_vm_syntax = {
	.verb = "vm",
	.usage = "usage: ilb vm [options] -- COMMAND...\n"
		 "       ilb vm fetch 6.1|6.12|7.2|7.3|qemu [--arch amd64|arm64]\n"
		 "       ilb vm list\n\n",
	.verbs = "fetch list",
	.words = "6.1 6.12 7.2 7.3 qemu",
	.tables = { options },
	.command = 1,
	.take = take,
};

static int parse(struct ilb_vm_options *o, int argc, char **argv)
{
	return ilb_options_parse(&ilb_vm_syntax, o, argc, argv);
}

/* ---- what there is ---- */

static int fetch(struct ilb_vm_options *o, int argc, char **argv)
{
	struct ilb_error error = { "" };
	const char *what = argc > 1 ? argv[1] : NULL;
	int stop, err;

	if (!what || *what == '-')
		return ilb_cmd_usage("vm", "fetch: name 6.1, 6.12, 7.2, 7.3 or qemu");
	stop = parse(o, argc - 1, argv + 1);
	if (stop)
		return stop - 1;
	if (optind < argc - 1)
		return ilb_cmd_usage("vm", "fetch: one at a time, not also '%s'",
				     argv[1 + optind]);
	err = ilb_vm_fetch(what, o->arch, &error);
	if (err == -ILB_ERR_SYNTAX)
		return ilb_cmd_usage("vm", "%s", error.text);
	return err ? ilb_cmd_fail("vm", err, &error) : ILB_EXIT_OK;
}

static int list(int argc, char **argv)
{
	struct ilb_error error = { "" };
	int err;

	if (argc > 1)
		return ilb_cmd_usage("vm", "list '%s': takes no argument",
				     argv[1]);
	err = ilb_vm_list(stdout, &error);
	return err ? ilb_cmd_fail("vm", err, &error) : ILB_EXIT_OK;
}

/* ---- a guest ---- */

static void say_booted(const char *release, unsigned int cpus, int emulated,
		       double seconds)
{
	fprintf(stderr, "ilb vm: Linux %s, %u CPUs%s, booted in %.1f s\n",
		release, cpus, emulated ? ", emulated" : "", seconds);
}

static int run(struct ilb_vm_options *o)
{
	struct ilb_error error = { "" };
	struct ilb_vm_summary s;
	int err;

	if (o->arch == ILB_VM_ARCHES)
		return ilb_cmd_usage("vm", "this machine is neither amd64 nor arm64: give an --arch");
	o->booted = say_booted;
	err = ilb_vm_run(o, &s, &error);
	if (err == -ILB_ERR_SYNTAX)
		return ilb_cmd_usage("vm", "%s", error.text);
	if (err)
		ilb_cmd_fail("vm", err, &error);
	else if (s.files)
		fprintf(stderr, "ilb vm: its files are in %s\n", o->dir);
	return s.status;
}

int ilb_cmd_vm(int argc, char **argv)
{
	struct ilb_vm_options o = {
		.arch = ilb_vm_arch_native(),
		.dir = DIR_DEFAULT,
		.timeout_s = TIMEOUT_DEFAULT,
	};
	int stop;

	stop = parse(&o, argc, argv);
	if (stop)
		return stop - 1;
	if (optind > 1 && !strcmp(argv[optind - 1], "--")) {
		o.command = argv + optind;
		if (!*o.command)
			return ilb_cmd_usage("vm", "--: no command follows it");
		return run(&o);
	}
	if (optind == argc)
		return ilb_cmd_usage("vm", "no command: give one behind --");
	if (!strcmp(argv[optind], "fetch"))
		return fetch(&o, argc - optind, argv + optind);
	if (!strcmp(argv[optind], "list"))
		return list(argc - optind, argv + optind);
	return ilb_cmd_usage("vm", "'%s': not fetch or list; a command stands behind --",
			     argv[optind]);
}
