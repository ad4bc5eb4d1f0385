/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CMD_OPTIONS_H
#define ILB_CMD_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

/*
 * The options of a command are written down once, as a table: what getopt
 * accepts, what -h prints, and what a shell completes are made of it.
 */

/* Keys of options without a letter. */
enum {
	ILB_KEY_HELP = 256,
	ILB_KEY_JSON,
	ILB_KEY_FOLLOW,		/* those of follow.h begin here */
	ILB_KEY_OWN = 280,	/* a command's own begin here */
};

/* For @words: any file, any folder, what @list of the syntax prints. */
#define ILB_FILES	"<file>"
#define ILB_FOLDERS	"<dir>"
#define ILB_LISTED	"<listed>"

/**
 * struct ilb_option - one option; a table of them ends with a @key of 0
 * @key: its letter, or a number from the enum above on
 * @name: without dashes; NULL: it has a letter only
 * @value: what -h calls its value; in brackets if it may be left out; NULL: it
 *	takes none
 * @words: values to complete, with spaces between, or one of the above, or NULL
 * @verbs: bits of the verbs of its syntax that it is for; 0: all
 * @help: for -h; further lines after \n. NULL: it is another name of one above
 */
struct ilb_option {
	int key;
	const char *name;
	const char *value;
	const char *words;
	unsigned int verbs;
	const char *help;
};

#define ILB_TABLES_MAX	3

/**
 * struct ilb_syntax - what may follow "ilb VERB"
 * @verb: the command
 * @usage: what -h prints above the options
 * @verbs: words that may come first, with spaces between; NULL: none. Bit 0 is
 *	that of the first
 * @words: what completes other words; as in struct ilb_option
 * @list: prints what ILB_LISTED stands for, a word a line
 * @tables: of options, in the order of -h; NULLs at the end
 * @command: a user's own command follows, whose options are not ours
 * @take: one option; its value is in optarg. Returns 0, or an exit code plus 1
 */
struct ilb_syntax {
	const char *verb;
	const char *usage;
	const char *verbs;
	const char *words;
	void (*list)(FILE *out);
	const struct ilb_option *tables[ILB_TABLES_MAX];
	int command;
	int (*take)(void *context, const struct ilb_option *option);
};

/* --json and -o FILE, as most commands have them. */
extern const struct ilb_option ilb_output_options[];

/**
 * ilb_options_parse() - hand each option of @argv to @syntax->take()
 * @argv: [0] is not looked at. The words that are no options are moved behind
 *	the options, unless a user's command follows; optind is the first
 *
 * -h, --help and what is wrong are dealt with here. Returns 0, or an exit code
 * plus 1 with which the command is to end.
 */
int ilb_options_parse(const struct ilb_syntax *syntax, void *context, int argc,
		      char **argv);

/** ilb_option_at() - the option number @i over all tables, or NULL */
const struct ilb_option *ilb_option_at(const struct ilb_syntax *syntax,
				       unsigned int i);

/** ilb_syntax_verb() - the bit of a verb; 0: @word is none */
unsigned int ilb_syntax_verb(const struct ilb_syntax *syntax,
			     const char *word);

/**
 * ilb_option_number() - its value as a decimal number from @min to @max
 * @unit: what it counts, for the message; NULL: nothing
 *
 * This and what follows: the value is in optarg; 0, or an exit code plus 1.
 */
int ilb_option_number(const struct ilb_syntax *syntax,
		      const struct ilb_option *option, const char *unit,
		      uint64_t min, uint64_t max, uint64_t *number);

/** ilb_option_seconds() - "10" or "0.5", from @min seconds on, in ns */
int ilb_option_seconds(const struct ilb_syntax *syntax,
		       const struct ilb_option *option, double min,
		       uint64_t *ns);

/** ilb_option_text() - any but an empty one; @what is to be named */
int ilb_option_text(const struct ilb_syntax *syntax,
		    const struct ilb_option *option, const char *what,
		    const char **text);

/** ilb_option_for() - is it for @verbs (bits), which is called @name? */
int ilb_option_for(const struct ilb_syntax *syntax,
		   const struct ilb_option *option, unsigned int verbs,
		   const char *name);

#endif
