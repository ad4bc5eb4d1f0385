/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CHECK_H
#define ILB_CHECK_H

#include <stdint.h>

#include "ilb/behaviour.h"
#include "ilb/capture.h"
#include "ilb/findings.h"
#include "ilb/mask.h"
#include "ilb/topology.h"

/**
 * DOC: check - what a machine tells without a recording
 *
 * Facts are read (from /proc and /sys, or from a capture) or given. Judging
 * them is pure: the same facts and topology give the same answer anywhere.
 */

#define ILB_WIDE_WORDS	ILB_MASK_WORDS(ILB_CPUS_MAX)

/** enum ilb_answer - yes, no, or not known */
enum ilb_answer {
	ILB_ANSWER_UNKNOWN,
	ILB_ANSWER_NO,
	ILB_ANSWER_YES,
};

/** enum ilb_hz_source - where the tick rate comes from */
enum ilb_hz_source {
	ILB_HZ_UNKNOWN,
	ILB_HZ_CONFIG,		/* the kernel's configuration */
	ILB_HZ_CLOCK,		/* the resolution of the coarse clock */
	ILB_HZ_CAPTURE,		/* system.json */
};

/** enum ilb_tracefs - can events be recorded? */
enum ilb_tracefs {
	ILB_TRACEFS_UNKNOWN,
	ILB_TRACEFS_UNSUPPORTED,	/* the kernel has none */
	ILB_TRACEFS_UNMOUNTED,
	ILB_TRACEFS_DENIED,		/* mounted, but not for this user */
	ILB_TRACEFS_READABLE,
};

/**
 * enum ilb_symbol - names in /proc/kallsyms that tell something
 *
 * @ILB_SYMBOL_ENTER_IDLE: nohz_balance_enter_idle: the kernel has an ILB
 * @ILB_SYMBOL_TRIGGER_OLD: trigger_load_balance: in 6.1, not in 6.12
 * @ILB_SYMBOL_TRIGGER: sched_balance_trigger: in 6.12, not in 6.1
 * @ILB_SYMBOL_BALANCE_SHARED: sd_balance_shared: in 7.2, not in 6.12
 * @ILB_SYMBOL_NOHZ: nohz, which is data: probes can read the mask
 * @ILB_SYMBOL_CSD_QUEUE: the event csd:csd_queue_cpu is built in
 * @ILB_SYMBOL_KPROBE: kprobes are built in
 *
 * find_new_ilb() and kick_ilb() are inlined in every kernel: no name tells
 * the rule itself.
 */
enum ilb_symbol {
	ILB_SYMBOL_ENTER_IDLE,
	ILB_SYMBOL_TRIGGER_OLD,
	ILB_SYMBOL_TRIGGER,
	ILB_SYMBOL_BALANCE_SHARED,
	ILB_SYMBOL_NOHZ,
	ILB_SYMBOL_CSD_QUEUE,
	ILB_SYMBOL_KPROBE,
	ILB_SYMBOLS,
};

/**
 * struct ilb_facts - what a machine says of itself
 * @kernel: release, "" unknown; without control characters
 * @this_machine: 1: facts of the running kernel; the members from @symbols
 *	on are filled
 * @hz: tick rate, 0 unknown; @hz_from says whence
 * @nohz_off: no CPU ever stops its tick (nohz=off)
 * @nohz_full: a task may run there without a tick; isolcpus=nohz's included
 * @nohz_only: those that are in @nohz_full by isolcpus=nohz alone
 * @isolated: without sched domains
 * @housekeeping: CPUs that may run the ILB, where told; else it is derived
 * @nohz_full_known, @isolated_known, @housekeeping_known: 0: the mask is empty
 *	because nothing is known
 * @config_nohz, @config_smt, @config_nohz_full: NO_HZ_COMMON, SCHED_SMT,
 *	NO_HZ_FULL
 * @symbols: per enum ilb_symbol; all unknown where no name can be read
 * @smt_control: "on", "off", "forceoff", "notsupported" ..., "" unknown
 * @schedstats: /proc/schedstat counts. NO also if it cannot
 * @schedstats_built_in: the kernel could count
 * @tracefs: enum ilb_tracefs
 * @csd_events: csd:csd_queue_cpu is offered by tracefs
 * @btf: the kernel's types can be read
 * @lockdown: "none", "integrity", "confidentiality", "" unknown
 * @perf_paranoid: kernel.perf_event_paranoid; INT32_MAX unknown
 * @caps: effective capabilities of the caller, bit per CAP_ number
 * @caps_known: 0: @caps is not known
 *
 * Masks have ILB_WIDE_WORDS words and may name CPUs that the machine lacks.
 */
struct ilb_facts {
	char kernel[96];
	int this_machine;
	unsigned int hz;
	enum ilb_hz_source hz_from;
	enum ilb_answer nohz_off;
	unsigned long nohz_full[ILB_WIDE_WORDS];
	unsigned long nohz_only[ILB_WIDE_WORDS];
	unsigned long isolated[ILB_WIDE_WORDS];
	unsigned long housekeeping[ILB_WIDE_WORDS];
	int nohz_full_known, isolated_known, housekeeping_known;
	enum ilb_answer config_nohz, config_smt, config_nohz_full;

	enum ilb_answer symbols[ILB_SYMBOLS];
	char smt_control[20];
	enum ilb_answer schedstats, schedstats_built_in;
	enum ilb_tracefs tracefs;
	enum ilb_answer csd_events;
	enum ilb_answer btf;
	char lockdown[20];
	int32_t perf_paranoid;
	uint64_t caps;
	int caps_known;
};

/**
 * enum ilb_certainty - how sure the rule is
 * @ILB_CERTAINTY_UNKNOWN: the release is not known
 * @ILB_CERTAINTY_GUESS: this series was not studied, or something contradicts
 * @ILB_CERTAINTY_RELEASE: by its release; a distribution may have changed it
 */
enum ilb_certainty {
	ILB_CERTAINTY_UNKNOWN,
	ILB_CERTAINTY_GUESS,
	ILB_CERTAINTY_RELEASE,
};

/**
 * struct ilb_verdict - the rule by which a kernel chooses
 * @behaviour: the row it was taken for, NULL if unknown
 * @rule: name, as ilb_policy_parse() reads it; NULL if unknown
 * @certainty: and the reason for it in @why, one sentence
 */
struct ilb_verdict {
	const struct ilb_behaviour *behaviour;
	const char *rule;
	enum ilb_certainty certainty;
	char why[240];
};

/**
 * struct ilb_smt - the cores of a machine
 * @cores: with an online CPU
 * @threads_min, @threads_max: online threads of one
 * @stride: distance of siblings' numbers, if all are equally far: 1 means
 *	adjacent. 0: no siblings, or irregular
 */
struct ilb_smt {
	unsigned int cores;
	unsigned int threads_min, threads_max;
	unsigned int stride;
};

/**
 * struct ilb_site - who can be the ILB, whatever runs
 * @online, @nohz_full, @isolated, @housekeeping: of the machine's CPUs
 * @timekeeper: the CPU that keeps time on a machine with nohz_full, and so
 *	never stops its tick. Which one is not to be seen: the lowest
 *	housekeeping CPU is assumed. ILB_CPU_NONE without nohz_full
 * @candidates: CPUs that can be chosen when they are idle
 */
struct ilb_site {
	const struct ilb_topology *topology;
	unsigned long online[ILB_WIDE_WORDS];
	unsigned long nohz_full[ILB_WIDE_WORDS];
	unsigned long isolated[ILB_WIDE_WORDS];
	unsigned long housekeeping[ILB_WIDE_WORDS];
	unsigned int timekeeper;
	unsigned long candidates[ILB_WIDE_WORDS];
};

/**
 * struct ilb_aim - where kicks go while a job occupies its CPUs
 * @target: ILB_CPU_NONE: nobody can be chosen
 * @on_busy_core: a sibling of @target runs the job
 * @disturbs: these siblings
 */
struct ilb_aim {
	unsigned int target;
	int on_busy_core;
	unsigned long disturbs[ILB_WIDE_WORDS];
};

/**
 * enum ilb_layout_kind - is there a layout that keeps the ILB away?
 * @ILB_LAYOUT_NOT_NEEDED: the job as it is does
 * @ILB_LAYOUT_SIBLINGS: the same cores, other threads of them
 * @ILB_LAYOUT_CORES: one core is left idle, another taken in its place
 * @ILB_LAYOUT_NONE: no: every core is occupied, or nothing else qualifies
 */
enum ilb_layout_kind {
	ILB_LAYOUT_NOT_NEEDED,
	ILB_LAYOUT_SIBLINGS,
	ILB_LAYOUT_CORES,
	ILB_LAYOUT_NONE,
};

/**
 * struct ilb_layout - the job on other CPUs: as many, on as many cores
 * @cpus: of the job
 * @left, @taken: CPUs that it leaves, and those it takes instead
 * @aim: the rule asked again, with these CPUs busy
 * @other_node: a CPU of @taken is on a node that no CPU of @left was on
 * @other_kind: @taken has nohz_full or isolated CPUs where @left had none, or
 *	the other way round, or the timekeeper
 *
 * Valid for ILB_LAYOUT_SIBLINGS and ILB_LAYOUT_CORES. For ILB_LAYOUT_NONE @left
 * are CPUs that a smaller job could leave idle, and would have its peace; empty
 * if that does not help either.
 */
struct ilb_layout {
	enum ilb_layout_kind kind;
	unsigned long cpus[ILB_WIDE_WORDS];
	unsigned long left[ILB_WIDE_WORDS];
	unsigned long taken[ILB_WIDE_WORDS];
	struct ilb_aim aim;
	int other_node;
	int other_kind;
};

/** enum ilb_needed - what recording wants of a machine */
enum ilb_needed {
	ILB_NEEDED_TRACEFS,
	ILB_NEEDED_CSD_EVENTS,
	ILB_NEEDED_KPROBES,
	ILB_NEEDED_MASK_SYMBOL,
	ILB_NEEDED_BTF,
	ILB_NEEDED_LOCKDOWN,
	ILB_NEEDED_PERF,
	ILB_NEEDED_SCHEDSTATS,
	ILB_NEEDED_CAP_BPF,
	ILB_NEEDED_CAP_PERFMON,
	ILB_NEEDED_CAP_SYS_ADMIN,
	ILB_NEEDED_CAP_DAC_READ_SEARCH,
	ILB_NEEDED_COUNT,
};

/**
 * struct ilb_need - one thing that recording wants
 * @what: stable word for JSON
 * @purpose: what it is good for
 * @available: is it there?
 * @remedy: what to do; NULL if it is available
 */
struct ilb_need {
	const char *what;
	const char *purpose;
	enum ilb_answer available;
	const char *remedy;
};

/**
 * struct ilb_check - everything that was judged
 * @aim: where kicks go by this kernel's rule; only if verdict.rule is known
 * @aim_idle_core: and by that of Linux 7.3
 */
struct ilb_check {
	struct ilb_verdict verdict;
	struct ilb_smt smt;
	struct ilb_site site;
	unsigned int nr_needs;		/* 0: not this machine */
	struct ilb_need needs[ILB_NEEDED_COUNT];
	int has_job;
	unsigned long busy[ILB_WIDE_WORDS];
	struct ilb_aim aim;
	struct ilb_aim aim_idle_core;
	struct ilb_layout layout;
	struct ilb_findings findings;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_facts_gather() - read what this machine says, without privilege
 * @root: put in front of /proc, /sys and /boot; "" for the machine itself.
 *	With another root nothing is asked of the running kernel
 *
 * Cannot fail: what is missing, unreadable or damaged is unknown. Every file
 * is read with a limit, and never waited for.
 */
void ilb_facts_gather(struct ilb_facts *facts, const char *root);

/** ilb_facts_from_capture() - what a capture's system.json says. */
void ilb_facts_from_capture(struct ilb_facts *facts,
			    const struct ilb_capture *capture);

/**
 * ilb_facts_rename() - what if the machine ran another kernel?
 * @kernel: a release, or a row's name; cut to fit
 *
 * What names and configuration of the present one told is forgotten.
 */
void ilb_facts_rename(struct ilb_facts *facts, const char *kernel);

/** ilb_verdict_find() - the rule of the kernel in @facts. */
void ilb_verdict_find(struct ilb_verdict *verdict,
		      const struct ilb_facts *facts);

/** ilb_smt_describe() - count cores and threads. */
void ilb_smt_describe(struct ilb_smt *smt,
		      const struct ilb_topology *topology);

/**
 * ilb_site_settle() - who can be the ILB
 * @site: filled; refers to @topology
 * @behaviour: the kernel; NULL: an old one
 *
 * CPUs of @facts that are not online in @topology are left out.
 */
void ilb_site_settle(struct ilb_site *site, const struct ilb_facts *facts,
		     const struct ilb_topology *topology,
		     const struct ilb_behaviour *behaviour);

/**
 * ilb_aim_find() - ask a rule, with @busy busy and all other CPUs idle
 * @rule: of ilb_rules
 * @busy: some online CPUs, at least one
 *
 * Every idle CPU that can be in the kernel's mask is taken to be in it.
 */
void ilb_aim_find(struct ilb_aim *aim, const struct ilb_site *site,
		  const char *rule, const unsigned long *busy);

/**
 * ilb_layout_find() - a layout of the job that keeps the ILB off its cores
 *
 * As many CPUs on as many cores, with as many threads of each. Of the layouts
 * that do, first one on the same cores; else one that leaves one core idle
 * for another of the same capacity: of the same kind (nohz_full, isolated)
 * and node and cache, if there is one.
 */
void ilb_layout_find(struct ilb_layout *layout, const struct ilb_site *site,
		     const char *rule, const unsigned long *busy);

/**
 * ilb_needs_judge() - what recording wants, and whether it is there
 * @needs: ILB_NEEDED_COUNT of them, indexed by enum ilb_needed
 */
void ilb_needs_judge(struct ilb_need *needs, const struct ilb_facts *facts);

/**
 * ilb_check_judge() - all of it
 * @topology: kept by reference
 * @busy: online CPUs that a job occupies; NULL: no job is asked about
 */
void ilb_check_judge(struct ilb_check *check, const struct ilb_facts *facts,
		     const struct ilb_topology *topology,
		     const unsigned long *busy);

/** ilb_certainty_name() - "unknown", "guess", "release" */
const char *ilb_certainty_name(enum ilb_certainty certainty);

/** ilb_answer_name() - "unknown", "no", "yes" */
const char *ilb_answer_name(enum ilb_answer answer);

#ifdef __cplusplus
}
#endif
#endif
