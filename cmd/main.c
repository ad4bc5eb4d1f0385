// SPDX-License-Identifier: GPL-2.0-only
/* ilb VERB [options]: a table of commands. */

#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

static const struct ilb_command commands[] = {
	{ NULL, NULL, NULL },
};

static void usage(FILE *out)
{
	const struct ilb_command *c;

	fprintf(out, "usage: ilb COMMAND [options]\n\n");
	for (c = commands; c->name; c++)
		fprintf(out, "  %-8s %s\n", c->name, c->summary);
}

int main(int argc, char **argv)
{
	const struct ilb_command *c;

	if (argc < 2) {
		usage(stderr);
		return ILB_EXIT_USAGE;
	}
	for (c = commands; c->name; c++)
		if (!strcmp(c->name, argv[1]))
			return c->run(argc - 1, argv + 1);
	fprintf(stderr, "ilb: no command '%s'\n", argv[1]);
	return ILB_EXIT_USAGE;
}
