// SPDX-License-Identifier: GPL-2.0-only
/* What every command needs: errors, man pages, times. */

#include <getopt.h>
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
	const char *space = verb ? " " : "";
	unsigned char *c;
	va_list args;
	char *text;
	int length;

	verb = verb ? verb : "";
	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0) {
		fprintf(stderr, "ilb%s%s: out of memory\n", space, verb);
		return ILB_EXIT_USAGE;
	}
	for (c = (unsigned char *)text; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			*c = '?';
	fprintf(stderr, "ilb%s%s: %s; see 'ilb%s%s -h'\n", space, verb, text,
		space, verb);
	free(text);
	return ILB_EXIT_USAGE;
}

int ilb_cmd_bad_option(const char *verb, int c, char **argv)
{
	const char *arg = argv[optind - 1];

	if (c == ':')
		return ilb_cmd_usage(verb, "'%s': needs a value", arg);
	/* Of several letters in one argument optind is that before. */
	if (optopt > 0 && optopt < 256)
		return ilb_cmd_usage(verb, "'-%c': no such option", optopt);
	if (optopt)
		return ilb_cmd_usage(verb, "'%s': takes no value", arg);
	return ilb_cmd_usage(verb, "'%s': no such option", arg);
}

int ilb_cmd_man(const char *verb)
{
	char page[64];

	if (!isatty(STDOUT_FILENO))
		return 0;
	snprintf(page, sizeof(page), "ilb-%s", verb);
	execlp("man", "man", page, (char *)NULL);
	execlp("man", "man", "1", page, (char *)NULL);
	return 0;
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
