/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CMD_FIX_H
#define ILB_CMD_FIX_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "ilb/fix.h"

#define ILB_FIX_EXIT_OWN	125	/* as env(1): not the command's failure */

/**
 * struct ilb_fix_options - as given
 * @repairs: 0: those that this machine needs
 * @policy, @module, @output: NULL: not given
 * @dry_run: count only; of trial: print the plan only
 * @pairs, @seed, @command: of trial
 */
struct ilb_fix_options {
	unsigned int repairs;
	const char *policy, *module, *output;
	int dry_run, json;
	unsigned int pairs;
	uint64_t seed;
	char *const *command;
};

/** struct ilb_fix_site - this machine, and what it needs */
struct ilb_fix_site {
	struct ilb_facts facts;
	struct ilb_topology *topology;
	struct ilb_check check;
	struct ilb_fix_need core, full;
};

/** enum ilb_proof_kind - how it was watched */
enum ilb_proof_kind {
	ILB_PROOF_COUNTERS,	/* the module's own */
	ILB_PROOF_TRACE,
	ILB_PROOF_EXACT,
};

/** enum ilb_outcome - does the module work? */
enum ilb_outcome {
	ILB_OUTCOME_NOTHING,	/* nothing to change was seen */
	ILB_OUTCOME_WORKS,
	ILB_OUTCOME_FAILS,
};

/**
 * struct ilb_proof - some seconds of kicks with the module
 * @kicks: not of ILB_PROOF_COUNTERS
 * @count: of the module meanwhile
 * @why: why it was not watched in a better way; "" it was
 */
struct ilb_proof {
	enum ilb_proof_kind kind;
	enum ilb_outcome outcome;
	uint64_t ns;
	struct ilb_fix_kicks kicks;
	uint64_t count[ILB_FIX_COUNTERS];
	char why[400];
};

/**
 * struct ilb_trial_sheet - a trial, to be printed
 * @first: as ilb_trial_order() made it
 * @runs: 2 * @pairs; NULL: nothing ran, and what follows is not valid
 * @sum: of the runs of either side, off and on
 * @no_kicks, @no_perf: why these are unknown; "" they are known
 */
struct ilb_trial_sheet {
	unsigned int repairs, pairs;
	uint64_t seed;
	const unsigned char *first;
	const struct ilb_trial_run *runs;
	struct ilb_trial_run sum[2];
	struct ilb_trial_result result;
	char no_kicks[300];
	const char *no_perf;
};

/* fix_load.c */

/** ilb_fix_site_open() - NULL with @error filled; free with _close(). */
struct ilb_fix_site *ilb_fix_site_open(struct ilb_error *error);
void ilb_fix_site_close(struct ilb_fix_site *site);

/**
 * ilb_fix_choose() - settle ->repairs
 *
 * Returns 0, or -ILB_ERR_UNSUPPORTED: one that was asked for is of no use
 * here, or none is.
 */
int ilb_fix_choose(struct ilb_fix_options *options,
		   const struct ilb_fix_site *site, struct ilb_error *error);

/**
 * ilb_fix_bring() - have the module loaded, as @options say
 * @before: what was
 * @path: of the file it was loaded from, to free(); NULL: it was there
 */
int ilb_fix_bring(const struct ilb_fix_options *options,
		  const struct ilb_fix_site *site, int enable, int dry_run,
		  struct ilb_fix_state *before, char **path,
		  struct ilb_error *error);

int ilb_fix_load(struct ilb_fix_options *options);

/* fix_proof.c */

/** ilb_fix_prove() - watch for some seconds. */
int ilb_fix_prove(struct ilb_proof *proof, const struct ilb_fix_site *site,
		  unsigned int repairs, struct ilb_error *error);

/** ilb_outcome_judge() - of all other members */
enum ilb_outcome ilb_outcome_judge(const struct ilb_proof *proof,
				   unsigned int repairs);

/* fix_trial.c */

int ilb_fix_trial(struct ilb_fix_options *options);

/* fix_sheet.c */

void ilb_trial_print(FILE *out, const struct ilb_trial_sheet *sheet);

/** ilb_trial_json() - NULL if out of memory */
json_t *ilb_trial_json(const struct ilb_trial_sheet *sheet);

/* fix_print.c */

/** ilb_fix_repairs_text() - "idle-core, nohz-full" */
const char *ilb_fix_repairs_text(unsigned int repairs);

/** ilb_fix_fail() - the line, and the exit code: 4 also for "unsupported" */
int ilb_fix_fail(int err, const struct ilb_error *error);

void ilb_fix_print_state(FILE *out, const struct ilb_fix_state *state);
void ilb_fix_print_proof(FILE *out, const struct ilb_proof *proof,
			 unsigned int repairs);

/* These return NULL if out of memory. */
json_t *ilb_fix_json_repairs(unsigned int repairs);
json_t *ilb_fix_json_counters(const uint64_t *count);
json_t *ilb_fix_json_kicks(const struct ilb_fix_kicks *kicks);
json_t *ilb_fix_json_state(const struct ilb_fix_state *state);
json_t *ilb_fix_json_proof(const struct ilb_proof *proof);

/** ilb_fix_json_load() - @path: of the module, or NULL: it was there */
json_t *ilb_fix_json_load(const struct ilb_fix_state *state,
			  const struct ilb_proof *proof, const char *path);

/** ilb_fix_print_json() - print and free @root; 0 or -ILB_ERR_NOMEM */
int ilb_fix_print_json(FILE *out, json_t *root, struct ilb_error *error);

#endif
