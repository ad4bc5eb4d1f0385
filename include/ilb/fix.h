/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_FIX_H
#define ILB_FIX_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "ilb/check.h"
#include "ilb/error.h"

/**
 * DOC: fix - the kernel module that repairs, and trials of it
 *
 * docs/fix.md says what the module does. Functions with a @root put it in
 * front of /sys and /lib/modules; "" is the machine itself.
 */

/** enum ilb_repair - what the module can repair; bits */
enum ilb_repair {
	ILB_REPAIR_IDLE_CORE = 1,
	ILB_REPAIR_NOHZ_FULL = 2,
};

/** enum ilb_fix_counter - what the module counts, in its order */
enum ilb_fix_counter {
	ILB_FIX_CALLS,
	ILB_FIX_NARROWED,
	ILB_FIX_WOULD_NARROW,
	ILB_FIX_SAME,
	ILB_FIX_FALLBACK,
	ILB_FIX_NO_TARGET,
	ILB_FIX_NOT_READY,
	ILB_FIX_REGISTERED,
	ILB_FIX_WOULD_REGISTER,
	ILB_FIX_REFUSED,
	ILB_FIX_COUNTERS,
};

/**
 * struct ilb_fix_state - the module, as its parameters say
 * @loaded: 0: nothing else is valid
 * @repairs: enum ilb_repair
 * @policy: of idle-core
 * @count: per enum ilb_fix_counter, since it was loaded
 */
struct ilb_fix_state {
	int loaded;
	unsigned int repairs;
	char policy[16];
	int enabled;
	int dry_run;
	uint64_t count[ILB_FIX_COUNTERS];
};

/**
 * struct ilb_fix_refusal - an errno of loading, in words
 * @number: the errno
 * @reason, @remedy: for "REASON; REMEDY"
 */
struct ilb_fix_refusal {
	int number;
	const char *reason;
	const char *remedy;
};

/**
 * struct ilb_fix_need - does this machine need a repair?
 * @answer: UNKNOWN: only the module can tell
 * @text: why, or why not: a clause
 */
struct ilb_fix_need {
	enum ilb_answer answer;
	char text[200];
};

/**
 * struct ilb_module - a module's file, held open
 * @fd: -1: none
 * @compressed: the kernel has to unpack it
 * @is_signed: it ends in a signature, whoever's
 * @release: of the kernel that it was built for; "" not to be seen
 */
struct ilb_module {
	int fd;
	int compressed;
	int is_signed;
	char release[96];
};

/**
 * struct ilb_fix_kicks - as struct ilb_kicks has it
 * @lost: kicks whose moment could not be kept
 */
struct ilb_fix_kicks {
	uint64_t total;
	uint64_t on_busy_core;
	uint64_t avoidable;
	uint64_t lost;
};

/** struct ilb_fix_watch - exact moments of this machine, counted; opaque */
struct ilb_fix_watch;

/* ---- trials ---- */

/**
 * struct ilb_fix_perf - what the processor counted of a command
 * @cycles, @instructions: of all its processes; only if @known
 */
struct ilb_fix_perf {
	int known;
	uint64_t cycles, instructions;
};

/**
 * struct ilb_trial_run - one run
 * @on: with the repair
 * @kicks: all of the machine's while it ran; only if @kicks_known
 * @count: of the module meanwhile; it counts nothing while it is off
 */
struct ilb_trial_run {
	int on;
	uint64_t ns;
	struct ilb_fix_perf perf;
	int kicks_known;
	struct ilb_fix_kicks kicks;
	uint64_t count[ILB_FIX_COUNTERS];
};

/**
 * struct ilb_trial_plan - what to run
 * @pairs: ILB_TRIAL_MIN to ILB_TRIAL_MAX
 * @command: its standard output goes to standard error; it has no input
 * @watch: may be NULL: kicks are unknown
 * @signals: a signalfd: SIGCHLD, and what ends the trial; all are blocked
 * @mask: signals that the command has blocked
 * @progress: called before each run; may be NULL
 */
struct ilb_trial_plan {
	const char *root;
	unsigned int pairs;
	const unsigned char *first;
	char *const *command;
	struct ilb_fix_watch *watch;
	int signals;
	const sigset_t *mask;
	void (*progress)(unsigned int run, int on);
};

/**
 * struct ilb_trial_summary - how it went
 * @done: runs that are whole
 * @status: of a command that failed, as a shell shows it; 126 or 127 if it
 *	could not be run; else 0
 * @signal: what ended the trial, or 0
 * @no_perf: why cycles are unknown; "" they are known
 */
struct ilb_trial_summary {
	unsigned int done;
	int status;
	int signal;
	char no_perf[200];
};

#define ILB_TRIAL_MIN	2U
#define ILB_TRIAL_MAX	1000U

/**
 * struct ilb_trial_result - what pairs of times say
 * @pairs: how many
 * @off_s, @on_s: geometric mean of either side
 * @ratio: off to on, so above 1 the repair is faster: geometric mean of the
 *	pairs' ratios
 * @low, @high: 95 % confidence interval of it: Student's, of the mean of the
 *	logarithms of the pairs' ratios
 * @p: two-sided; of all ways in which the two runs of each pair could have
 *	been the other way round, those whose mean is as far from 0. Exact up
 *	to 20 pairs, else of 100000 drawn ones
 * @supported: the interval leaves 1 out and @p is at most 0.05
 */
struct ilb_trial_result {
	unsigned int pairs;
	double off_s, on_s;
	double ratio, low, high;
	double p;
	int supported;
};

#ifdef __cplusplus
extern "C" {
#endif

/* fix_names.c */

/** ilb_repair_parse() - "idle-core", "nohz-full"; 0: neither */
enum ilb_repair ilb_repair_parse(const char *name);

/** ilb_repair_name() - the name of one bit */
const char *ilb_repair_name(enum ilb_repair repair);

/** ilb_fix_counter_name() - as the module prints it; NULL beyond the last */
const char *ilb_fix_counter_name(enum ilb_fix_counter counter);

/** ilb_fix_refusal_find() - what @number of finit_module() means; never NULL */
const struct ilb_fix_refusal *ilb_fix_refusal_find(int number);

/* fix_state.c */

/**
 * ilb_fix_read() - the state of the module
 *
 * Returns 0; -ILB_ERR_PERM (its parameters are root's), -ILB_ERR_FORMAT (a
 * module of that name, but not this one). @state->loaded is set in any case.
 */
int ilb_fix_read(struct ilb_fix_state *state, const char *root,
		 struct ilb_error *error);

/** ilb_fix_write() - set one of its parameters: "enable", "dry_run", "policy" */
int ilb_fix_write(const char *root, const char *parameter, const char *value,
		  struct ilb_error *error);

/**
 * ilb_fix_restore() - make it what it was
 * @before: not loaded: unload it; else its policy, dry_run and enable
 */
int ilb_fix_restore(const struct ilb_fix_state *before, const char *root,
		    struct ilb_error *error);

/**
 * ilb_fix_judge_need() - is @repair of use here?
 * @check: judged, of @facts
 */
void ilb_fix_judge_need(struct ilb_fix_need *need, enum ilb_repair repair,
			const struct ilb_facts *facts,
			const struct ilb_check *check);

/* fix_module.c */

/**
 * ilb_module_find() - the file for the kernel @release; free() it
 * @path: set, or NULL
 * @root: as above
 *
 * What modprobe would load, else build-kmod/ilb_fix.ko beside the folder of
 * this program.
 *
 * Returns 0, -ILB_ERR_UNSUPPORTED (there is none; the message has the command
 * that builds it), -ILB_ERR_NOMEM.
 */
int ilb_module_find(char **path, const char *release, const char *root,
		    struct ilb_error *error);

/**
 * ilb_module_open() - open a file that nobody but root can have written
 *
 * It and every folder on the way to it, also through symbolic links, must be
 * root's, writable for no group and no others, and on no FUSE unless all is.
 * What was checked is what is open: the path is walked by descriptor.
 *
 * Returns 0, -ILB_ERR_PERM, -ILB_ERR_NOENT, -ILB_ERR_IO.
 */
int ilb_module_open(struct ilb_module *module, const char *path,
		    struct ilb_error *error);

/** ilb_module_close() - any state but all zero. */
void ilb_module_close(struct ilb_module *module);

/**
 * ilb_module_check() - what can be said before the kernel is asked
 * @root: where /sys and /proc are looked at
 *
 * Returns 0, -ILB_ERR_UNSUPPORTED: loading of modules is over, the file is of
 * another kernel, or it has no signature and this kernel wants one.
 */
int ilb_module_check(const struct ilb_module *module,
		     const struct ilb_facts *facts, const char *root,
		     struct ilb_error *error);

/**
 * ilb_module_load() - hand it to the kernel
 * @parameters: "idle_core=1 ..."
 *
 * Returns 0, -ILB_ERR_UNSUPPORTED, -ILB_ERR_PERM.
 */
int ilb_module_load(const struct ilb_module *module, const char *parameters,
		    struct ilb_error *error);

/** ilb_module_unload() - 0; waits for it, some seconds on a busy machine */
int ilb_module_unload(struct ilb_error *error);

/* fix_watch.c */

/**
 * ilb_fix_watch_open() - see every kick from now on
 * @topology, @housekeeping: kept by reference
 *
 * Returns 0, or an error of ilb_exact_open().
 */
int ilb_fix_watch_open(struct ilb_fix_watch **watch,
		       const struct ilb_topology *topology,
		       const unsigned long *housekeeping,
		       struct ilb_error *error);

/** ilb_fix_watch_fd() - readable when kicks wait to be read; for poll(2). */
int ilb_fix_watch_fd(const struct ilb_fix_watch *watch);

int ilb_fix_watch_read(struct ilb_fix_watch *watch, struct ilb_error *error);

/** ilb_fix_watch_take() - what was seen since the last time; reads first. */
int ilb_fix_watch_take(struct ilb_fix_watch *watch,
		       struct ilb_fix_kicks *kicks, struct ilb_error *error);

/** ilb_fix_watch_for() - read for so long. */
int ilb_fix_watch_for(struct ilb_fix_watch *watch, uint64_t ns,
		      struct ilb_error *error);

/** ilb_fix_watch_close() - NULL is fine. */
void ilb_fix_watch_close(struct ilb_fix_watch *watch);

/* fix_run.c */

/**
 * ilb_trial_run() - all runs of @plan, each with `enable` as its order says
 * @runs: 2 * @plan->pairs, filled up to @summary->done
 *
 * The module is loaded; what it was is the caller's to restore. A command that
 * fails and a signal end it.
 *
 * Returns 0, also for these two; -ILB_ERR_NOENT (it could not be run),
 * -ILB_ERR_PERM, -ILB_ERR_IO.
 */
int ilb_trial_run(const struct ilb_trial_plan *plan,
		  struct ilb_trial_run *runs,
		  struct ilb_trial_summary *summary,
		  struct ilb_error *error);

/* fix_trial.c */

/**
 * ilb_trial_order() - which run of each pair has the repair on
 * @first: @pairs entries: 1: the first one. A fair coin each, by @seed
 */
void ilb_trial_order(unsigned char *first, unsigned int pairs, uint64_t seed);

/**
 * ilb_trial_judge() - off against on
 * @off, @on: seconds of pair i, above 0; ILB_TRIAL_MIN to ILB_TRIAL_MAX pairs
 * @seed: for what has to be drawn
 *
 * Returns 0, or -ILB_ERR_RANGE.
 */
int ilb_trial_judge(struct ilb_trial_result *result, const double *off,
		    const double *on, unsigned int pairs, uint64_t seed);

/** ilb_student_quantile() - t with P(|T| <= t) = @within, 0 < @within < 1 */
double ilb_student_quantile(double within, unsigned int freedom);

#ifdef __cplusplus
}
#endif
#endif
