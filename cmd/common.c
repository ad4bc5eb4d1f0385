// SPDX-License-Identifier: GPL-2.0-only
/* What every command needs: errors, man pages, times. */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

static int exit_code(int err)
{
	return err == -ILB_ERR_PERM ? ILB_EXIT_DENIED : ILB_EXIT_INPUT;
}

int ilb_cmd_fail(const char *verb, int err, const struct ilb_error *error)
{
	fprintf(stderr, "ilb %s: %s\n", verb,
		error->text[0] ? error->text : ilb_strerror(err));
	return exit_code(err);
}

int ilb_cmd_usage(const char *verb, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "ilb %s: ", verb);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see 'ilb %s -h'\n", verb);
	return ILB_EXIT_USAGE;
}

int ilb_cmd_man(const char *verb, const char *usage)
{
	char page[64];

	snprintf(page, sizeof(page), "ilb%s%s", verb ? "-" : "",
		 verb ? verb : "");
	if (isatty(STDOUT_FILENO)) {
		execlp("man", "man", page, (char *)NULL);
		execlp("man", "man", "1", page, (char *)NULL);
	}
	fputs(usage, stdout);
	return ILB_EXIT_OK;
}

int ilb_cmd_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 },
		{ "s", 1e9 },
	};
	double value;
	char *end;
	size_t i;

	if ((*text < '0' || *text > '9') && *text != '.')
		return -ILB_ERR_SYNTAX;
	value = strtod(text, &end);
	while (*end == ' ')
		end++;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name))
			continue;
		value *= units[i].ns;
		if (!(value >= 0 && value < 1e18))
			return -ILB_ERR_SYNTAX;
		*ns = (uint64_t)value;
		return 0;
	}
	return -ILB_ERR_SYNTAX;
}
