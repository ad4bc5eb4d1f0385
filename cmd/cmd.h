/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CMD_CMD_H
#define ILB_CMD_CMD_H

/* Exit codes of every command. */
enum {
	ILB_EXIT_OK = 0,
	ILB_EXIT_FOUND = 1,	/* what was asked about is bad */
	ILB_EXIT_USAGE = 2,
	ILB_EXIT_INPUT = 3,	/* unreadable or inconsistent input */
	ILB_EXIT_DENIED = 4,	/* not permitted or not supported here */
};

/** struct ilb_command - one verb; run() gets argv with the verb first */
struct ilb_command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
};

#endif
