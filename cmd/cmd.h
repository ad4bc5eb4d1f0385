/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CMD_CMD_H
#define ILB_CMD_CMD_H

#include <stdio.h>
#include <stdint.h>

#include "ilb/error.h"

/* Exit codes of every command. */
enum {
	ILB_EXIT_OK = 0,
	ILB_EXIT_FOUND = 1,	/* what was asked about is bad */
	ILB_EXIT_USAGE = 2,
	ILB_EXIT_INPUT = 3,	/* unreadable or inconsistent input */
	ILB_EXIT_DENIED = 4,	/* not permitted or not supported here */
};

struct ilb_syntax;

/** struct ilb_command - one verb; run() gets argv with the verb first */
struct ilb_command {
	const char *name;
	int (*run)(int argc, char **argv);
	const struct ilb_syntax *syntax;
	const char *summary;
};

/** ilb_cmd_complete() - print candidates for the last word of @argv */
int ilb_cmd_complete(const struct ilb_command *commands, int argc, char **argv);

int ilb_cmd_check(int argc, char **argv);
int ilb_cmd_fix(int argc, char **argv);
int ilb_cmd_record(int argc, char **argv);
int ilb_cmd_replay(int argc, char **argv);
int ilb_cmd_report(int argc, char **argv);
int ilb_cmd_sim(int argc, char **argv);
int ilb_cmd_stat(int argc, char **argv);
int ilb_cmd_vm(int argc, char **argv);
int ilb_cmd_workload(int argc, char **argv);

extern const struct ilb_syntax ilb_check_syntax;
extern const struct ilb_syntax ilb_fix_syntax;
extern const struct ilb_syntax ilb_record_syntax;
extern const struct ilb_syntax ilb_replay_syntax;
extern const struct ilb_syntax ilb_report_syntax;
extern const struct ilb_syntax ilb_sim_syntax;
extern const struct ilb_syntax ilb_stat_syntax;
extern const struct ilb_syntax ilb_vm_syntax;
extern const struct ilb_syntax ilb_workload_syntax;

/* common.c */

/** ilb_cmd_fail() - print "ilb VERB: LINE" and return the exit code of @err */
int ilb_cmd_fail(const char *verb, int err, const struct ilb_error *error);

/**
 * ilb_cmd_usage() - print "ilb VERB: LINE; see 'ilb VERB -h'", return 2
 * @verb: NULL: ilb itself
 *
 * Whatever arguments hold, it is one line.
 */
int ilb_cmd_usage(const char *verb, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * ilb_cmd_bad_option() - print what getopt_long() did not like, return 2
 * @c: what it returned: '?', or ':' where a value is missing
 */
int ilb_cmd_bad_option(const char *verb, int c, char **argv);

/** ilb_cmd_man() - become man, on a terminal that has it; else returns 0 */
int ilb_cmd_man(const char *verb);

/**
 * ilb_cmd_time() - read "250", "10us", "3.1 ms", "2s"; plain numbers are ns
 *
 * Returns 0, or -ILB_ERR_SYNTAX.
 */
int ilb_cmd_time(const char *text, uint64_t *ns);

/* output.c */

/**
 * struct ilb_output - where a command prints: a file written whole, or stdout
 *
 * With the path of a regular file, or of none, everything goes to a temporary
 * file beside it, which replaces it only when all of it is on disk; it keeps
 * its mode. A device or a pipe is written as it is.
 */
struct ilb_output {
	FILE *file;
	const char *path;	/* NULL: stdout */
	char *target;		/* what @temporary will replace */
	char *temporary;	/* NULL: nothing is to be replaced */
};

int ilb_output_open(struct ilb_output *out, const char *path,
		    struct ilb_error *error);

/** ilb_output_close() - 0, or an error if not all could be written. */
int ilb_output_close(struct ilb_output *out, struct ilb_error *error);

/** ilb_output_abandon() - remove what was written; any state. */
void ilb_output_abandon(struct ilb_output *out);

/**
 * ilb_output_finish() - did all of stdout arrive?
 *
 * Returns an exit code; 3 with a line on stderr if it did not.
 */
int ilb_output_finish(void);

/** ilb_output_width() - columns of the terminal it is, 0 if it is none. */
unsigned int ilb_output_width(const struct ilb_output *out);

/** ilb_output_colour() - 1 if colours are welcome (a tty, NO_COLOR, TERM) */
int ilb_output_colour(const struct ilb_output *out);

#endif
