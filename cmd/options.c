// SPDX-License-Identifier: GPL-2.0-only
/* Options: tables, and what is made of them for getopt and for readers. */

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"

#define OPTIONS_MAX	48U
#define LABEL_MAX	40
#define COLUMN		24	/* where help begins, if the option is short */
#define SECONDS_MAX	1e8
#define SECONDS_SHOWN	1e-6	/* a smallest one below is not worth naming */

const struct ilb_option ilb_output_options[] = {
	{ ILB_KEY_JSON, "json", NULL, NULL, 0,
	  "one JSON object, see ilb-json(5)" },
	{ 'o', "output", "FILE", ILB_FILES, 0,
	  "write to FILE, whole or not at all" },
	{ 0 },
};

const struct ilb_option *ilb_option_at(const struct ilb_syntax *syntax,
				       unsigned int i)
{
	const struct ilb_option *o;
	unsigned int t;

	for (t = 0; t < ILB_TABLES_MAX && syntax->tables[t]; t++)
		for (o = syntax->tables[t]; o->key; o++)
			if (!i--)
				return o;
	return NULL;
}

unsigned int ilb_syntax_verb(const struct ilb_syntax *syntax, const char *word)
{
	const char *verb = syntax->verbs;
	unsigned int bit;
	size_t len;

	for (bit = 1; verb && *verb; bit <<= 1) {
		len = strcspn(verb, " ");
		if (strlen(word) == len && !strncmp(word, verb, len))
			return bit;
		verb += len + (verb[len] == ' ');
	}
	return 0;
}

/* ---- -h ---- */

static void print_option(FILE *out, const struct ilb_option *o)
{
	char label[LABEL_MAX];
	const char *line, *end;
	int len;

	len = snprintf(label, sizeof(label), "  %c%c%s%s%s%s",
		       o->key < 256 ? '-' : ' ', o->key < 256 ? o->key : ' ',
		       !o->name ? "" : o->key < 256 ? ", --" : "  --",
		       o->name ? o->name : "", o->value ? " " : "",
		       o->value ? o->value : "");
	fputs(label, out);
	fprintf(out, "%*s", len < COLUMN - 1 ? COLUMN - len : 2, "");
	for (line = o->help; ; line = end + 1) {
		end = strchr(line, '\n');
		fprintf(out, "%.*s\n", end ? (int)(end - line) :
			(int)strlen(line), line);
		if (!end)
			return;
		fprintf(out, "%*s", COLUMN, "");
	}
}

static void print_usage(FILE *out, const struct ilb_syntax *syntax)
{
	const struct ilb_option *o;
	unsigned int i;

	fputs(syntax->usage, out);
	for (i = 0; (o = ilb_option_at(syntax, i)); i++)
		if (o->help)
			print_option(out, o);
	fprintf(out, "%-*sthis text;  --help: the man page\n", COLUMN, "  -h");
}

/* ---- getopt ---- */

struct accepted {
	char letters[2 * OPTIONS_MAX + 4];
	struct option names[OPTIONS_MAX + 2];
};

static int argument(const struct ilb_option *o)
{
	if (!o->value)
		return no_argument;
	return *o->value == '[' ? optional_argument : required_argument;
}

static void accept(struct accepted *a, const struct ilb_syntax *syntax)
{
	const struct ilb_option *o;
	struct option *name = a->names;
	char *letter = a->letters;
	unsigned int i;

	if (syntax->command)
		*letter++ = '+';
	*letter++ = ':';
	*letter++ = 'h';
	for (i = 0; i < OPTIONS_MAX && (o = ilb_option_at(syntax, i)); i++) {
		if (o->key < 256 && o->help) {
			*letter++ = (char)o->key;
			if (o->value)
				*letter++ = ':';
		}
		if (o->name)
			*name++ = (struct option){ o->name, argument(o), NULL,
						   o->key };
	}
	*letter = '\0';
	*name++ = (struct option){ "help", no_argument, NULL, ILB_KEY_HELP };
	*name = (struct option){ NULL, 0, NULL, 0 };
}

static const struct ilb_option *find(const struct ilb_syntax *syntax, int key)
{
	const struct ilb_option *o;
	unsigned int i;

	for (i = 0; (o = ilb_option_at(syntax, i)); i++)
		if (o->key == key)
			return o;
	return NULL;
}

static int show_man(const struct ilb_syntax *syntax)
{
	if (!ilb_cmd_man(syntax->verb))
		print_usage(stdout, syntax);
	return 1 + ILB_EXIT_OK;
}

int ilb_options_parse(const struct ilb_syntax *syntax, void *context, int argc,
		      char **argv)
{
	const struct ilb_option *o;
	struct accepted a;
	int c, stop;

	accept(&a, syntax);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, a.letters, a.names, NULL)) >= 0) {
		if (c == 'h') {
			print_usage(stdout, syntax);
			return 1 + ILB_EXIT_OK;
		}
		if (c == ILB_KEY_HELP)
			return show_man(syntax);
		o = find(syntax, c);
		if (!o)
			return 1 + ilb_cmd_bad_option(syntax->verb, c, argv);
		stop = syntax->take(context, o);
		if (stop)
			return stop;
	}
	return 0;
}

/* ---- values ---- */

/* "-n", "--seed": as messages call it. */
static const char *shown(const struct ilb_option *o, char *text)
{
	if (o->key < 256)
		snprintf(text, LABEL_MAX, "-%c", o->key);
	else
		snprintf(text, LABEL_MAX, "--%s", o->name);
	return text;
}

int ilb_option_number(const struct ilb_syntax *syntax,
		      const struct ilb_option *option, const char *unit,
		      uint64_t min, uint64_t max, uint64_t *number)
{
	size_t digits = strspn(optarg, "0123456789");
	char name[LABEL_MAX];

	errno = 0;
	*number = strtoull(optarg, NULL, 10);
	if (digits && !optarg[digits] && !errno && *number >= min &&
	    *number <= max)
		return 0;
	return 1 + ilb_cmd_usage(syntax->verb,
			"%s '%s': not a number%s%s from %llu to %llu",
			shown(option, name), optarg, unit ? " of " : "",
			unit ? unit : "", (unsigned long long)min,
			(unsigned long long)max);
}

int ilb_option_seconds(const struct ilb_syntax *syntax,
		       const struct ilb_option *option, double min,
		       uint64_t *ns)
{
	const char *dot = strchr(optarg, '.');
	char name[LABEL_MAX];
	double seconds = 0;

	if (!optarg[strspn(optarg, "0123456789.")] &&
	    !(dot && strchr(dot + 1, '.')))
		seconds = strtod(optarg, NULL);
	*ns = (uint64_t)(seconds < SECONDS_MAX ? seconds * 1e9 : 0);
	if (*ns && seconds >= min)
		return 0;
	if (min < SECONDS_SHOWN)
		return 1 + ilb_cmd_usage(syntax->verb,
				"%s '%s': not a number of seconds above 0, as 10 or 0.5",
				shown(option, name), optarg);
	return 1 + ilb_cmd_usage(syntax->verb,
			"%s '%s': not a number of seconds from %g on, as 10 or 0.5",
			shown(option, name), optarg, min);
}

int ilb_option_text(const struct ilb_syntax *syntax,
		    const struct ilb_option *option, const char *what,
		    const char **text)
{
	char name[LABEL_MAX];

	*text = optarg;
	return *optarg ? 0 : 1 + ilb_cmd_usage(syntax->verb, "%s '': name %s",
					       shown(option, name), what);
}

int ilb_option_for(const struct ilb_syntax *syntax,
		   const struct ilb_option *option, unsigned int verbs,
		   const char *name)
{
	char text[LABEL_MAX];

	if (!option->verbs || option->verbs & verbs)
		return 0;
	return 1 + ilb_cmd_usage(syntax->verb, "%s: not for '%s'",
				 shown(option, text), name);
}
