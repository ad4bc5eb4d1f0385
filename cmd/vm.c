// SPDX-License-Identifier: GPL-2.0-only
/* ilb vm: a command on a stock kernel, in a guest. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "ilb/vm.h"

#define DIR_DEFAULT	"ilb.vm"
#define TIMEOUT_DEFAULT	600U
#define TIMEOUT_MAX	(7U * 24 * 3600)
#define EXIT_OWN	125	/* as env(1): not the command's failure */

static const char usage[] =
	"usage: ilb vm [options] -- COMMAND...\n"
	"       ilb vm fetch 6.1|6.12|7.2|7.3|qemu [--arch amd64|arm64]\n"
	"       ilb vm list\n"
	"\n"
	"      --kernel RELEASE   one that was fetched, as 6.12; or the file of an\n"
	"                         image, with a /  (default: the newest fetched)\n"
	"      --topology TEXT    hwloc's synthetic description\n"
	"                         (default: \"" ILB_VM_TOPOLOGY "\")\n"
	"      --arch NAME        amd64 or arm64 (default: this machine's)\n"
	"      --append TEXT      further kernel parameters\n"
	"      --memory MB        of the guest\n"
	"      --timeout SECONDS  end the guest after this time (default: 600)\n"
	"  -o, --output DIR       what the command leaves in its working folder\n"
	"                         becomes this folder (default: " DIR_DEFAULT ")\n"
	"      --with FILE        put this into the guest's /bin; repeatable\n"
	"      --ilb FILE         the ilb to put in (default: this one)\n"
	"      --sysroot DIR      where programs and libraries of another\n"
	"                         architecture are\n"
	"      --qemu PROGRAM     the QEMU to use\n"
	"  -h                     this text;  --help: the man page\n";

enum {
	OPT_KERNEL = 256, OPT_TOPOLOGY, OPT_ARCH, OPT_APPEND, OPT_MEMORY,
	OPT_TIMEOUT, OPT_WITH, OPT_ILB, OPT_SYSROOT, OPT_QEMU, OPT_HELP,
};

static const struct option long_options[] = {
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "topology", required_argument, NULL, OPT_TOPOLOGY },
	{ "arch", required_argument, NULL, OPT_ARCH },
	{ "append", required_argument, NULL, OPT_APPEND },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "output", required_argument, NULL, 'o' },
	{ "with", required_argument, NULL, OPT_WITH },
	{ "ilb", required_argument, NULL, OPT_ILB },
	{ "sysroot", required_argument, NULL, OPT_SYSROOT },
	{ "qemu", required_argument, NULL, OPT_QEMU },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* Returns 0, or an exit code plus 1, as all that read options do. */
static int read_number(unsigned int *value, const char *option,
		       const char *unit, unsigned int min, unsigned int max)
{
	unsigned long n = 0;

	if (*optarg && !optarg[strspn(optarg, "0123456789")] &&
	    strlen(optarg) < 10)
		n = strtoul(optarg, NULL, 10);
	if (n < min || n > max)
		return 1 + ilb_cmd_usage("vm", "%s '%s': not a number of %s from %u to %u",
					 option, optarg, unit, min, max);
	*value = (unsigned int)n;
	return 0;
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

static int read_text(const char **text, const char *option, const char *what)
{
	if (!*optarg)
		return 1 + ilb_cmd_usage("vm", "%s '': name %s", option, what);
	*text = optarg;
	return 0;
}

static int one_option(struct ilb_vm_options *o, int c, char **argv)
{
	switch (c) {
	case OPT_KERNEL:
		return read_text(&o->kernel, "--kernel", "a kernel, as 6.12");
	case OPT_TOPOLOGY:
		return read_text(&o->topology, "--topology", "a machine");
	case OPT_ARCH:
		return read_arch(o);
	case OPT_APPEND:
		o->append = optarg;
		return 0;
	case OPT_MEMORY:
		return read_number(&o->memory_mb, "--memory", "MB",
				   ILB_VM_MEMORY_MIN, ILB_VM_MEMORY_MAX);
	case OPT_TIMEOUT:
		return read_number(&o->timeout_s, "--timeout", "seconds", 1,
				   TIMEOUT_MAX);
	case 'o':
		return read_text(&o->dir, "-o", "a folder");
	case OPT_WITH:
		return read_with(o);
	case OPT_ILB:
		return read_text(&o->ilb, "--ilb", "a program");
	case OPT_SYSROOT:
		return read_text(&o->sysroot, "--sysroot", "a folder");
	case OPT_QEMU:
		return read_text(&o->qemu, "--qemu", "a program");
	case 'h':
		fputs(usage, stdout);
		return 1 + ILB_EXIT_OK;
	case OPT_HELP:
		return 1 + ilb_cmd_man("vm", usage);
	default:
		return 1 + ilb_cmd_bad_option("vm", c, argv);
	}
}

static int parse(struct ilb_vm_options *o, int argc, char **argv)
{
	int c, stop;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:o:h", long_options, NULL)) >=
	       0) {
		stop = one_option(o, c, argv);
		if (stop)
			return stop;
	}
	return 0;
}

/* ---- what there is ---- */

static int fetch(struct ilb_vm_options *o, int argc, char **argv)
{
	struct ilb_error error = { "" };
	const char *what = argc > 1 ? argv[1] : NULL;
	int stop, err;

	if (!what || *what == '-')
		return ilb_cmd_usage("vm", "fetch: name 6.1, 6.12, 7.2, 7.3 or qemu");
	optind = 0;
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
