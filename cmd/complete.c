// SPDX-License-Identifier: GPL-2.0-only
/*
 * ilb complete WORD...: what may stand in the place of the last word. Asked by
 * the completions of bash, zsh and fish, so that none knows an option itself.
 *
 * A line a candidate: the word, and after a tab what it is. "<file>", "<dir>"
 * and "<command>" ask the shell for its own.
 */

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"

static void print(const char *word, int len, const char *what, int what_len)
{
	printf("%.*s%s%.*s\n", len, word, what_len ? "\t" : "", what_len, what);
}

static void print_words(const struct ilb_syntax *syntax, const char *words)
{
	int len;

	if (words && !strcmp(words, ILB_LISTED)) {
		syntax->list(stdout);
		return;
	}
	for (; words && *words; words += len + (words[len] == ' ')) {
		len = (int)strcspn(words, " ");
		print(words, len, "", 0);
	}
}

static void print_option(const struct ilb_option *o)
{
	int what = (int)strcspn(o->help, "\n");
	char letter[] = { '-', (char)o->key, '\0' };

	if (o->key < 256)
		print(letter, 2, o->help, what);
	if (o->name)
		printf("--%s\t%.*s\n", o->name, what, o->help);
}

static void print_options(const struct ilb_syntax *syntax, unsigned int verb)
{
	const struct ilb_option *o;
	unsigned int i;

	for (i = 0; (o = ilb_option_at(syntax, i)); i++)
		if (o->help && (!verb || !o->verbs || o->verbs & verb))
			print_option(o);
	puts("-h\tthe options\n--help\tthe man page");
}

/* The option that @word is and that wants a value as the next word, or NULL. */
static const struct ilb_option *wanting(const struct ilb_syntax *syntax,
					const char *word)
{
	const struct ilb_option *o;
	unsigned int i;

	for (i = 0; (o = ilb_option_at(syntax, i)); i++) {
		if (!o->value || *o->value == '[')
			continue;
		if (o->key < 256 && word[0] == '-' && word[1] == o->key &&
		    !word[2])
			return o;
		if (o->name && !strncmp(word, "--", 2) &&
		    !strcmp(word + 2, o->name))
			return o;
	}
	return NULL;
}

static void complete(const struct ilb_syntax *syntax, int argc, char **argv)
{
	const struct ilb_option *o = NULL;
	unsigned int verb = 0;
	int i;

	for (i = 0; i < argc - 1; i++) {
		if (!strcmp(argv[i], "--") && syntax->command) {
			puts("<command>");
			return;
		}
		if (!o && !verb)
			verb = ilb_syntax_verb(syntax, argv[i]);
		o = o ? NULL : wanting(syntax, argv[i]);
	}
	if (o) {
		print_words(syntax, o->words);
	} else if (*argv[argc - 1] == '-') {
		print_options(syntax, verb);
	} else {
		print_words(syntax, syntax->verbs && !verb ? syntax->verbs :
							     syntax->words);
	}
}

static int complete_verb(const struct ilb_command *commands)
{
	const struct ilb_command *c;

	for (c = commands; c->name; c++)
		print(c->name, (int)strlen(c->name), c->summary,
		      (int)strlen(c->summary));
	return ILB_EXIT_OK;
}

int ilb_cmd_complete(const struct ilb_command *commands, int argc, char **argv)
{
	const struct ilb_command *c;

	if (argc < 2)
		return ilb_cmd_usage(NULL, "complete: no word to complete");
	if (argc == 2 || (argc == 3 && !strcmp(argv[1], "help"))) {
		complete_verb(commands);
		if (argc == 2)
			puts("help\tthe man page of a command\n--version");
		return ILB_EXIT_OK;
	}
	for (c = commands; c->name; c++)
		if (!strcmp(c->name, argv[1]))
			complete(c->syntax, argc - 2, argv + 2);
	return ILB_EXIT_OK;
}
