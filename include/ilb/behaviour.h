/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_BEHAVIOUR_H
#define ILB_BEHAVIOUR_H

/**
 * DOC: behaviour - a kernel as a row of named features
 *
 * What differs between kernels is a feature with a name and a few values. A
 * kernel is one value for each; a copy of a row with one value changed is the
 * experiment that nobody has to build a kernel for.
 */

/** enum ilb_mask_size - how "no CPU is in the mask" is known */
enum ilb_mask_size {
	ILB_MASK_SIZE_COUNTED,	/* an atomic counter beside the mask */
	ILB_MASK_SIZE_DERIVED,	/* the mask itself (mail D) */
};

/** enum ilb_kick_order - order of the first gates of a kick */
enum ilb_kick_order {
	ILB_KICK_ORDER_EMPTY_FIRST,	/* empty mask, blocked load, time */
	ILB_KICK_ORDER_TIME_FIRST,	/* blocked load, time, empty mask */
};

/** enum ilb_capacity_gate - tasks of which the capacity gate wants one */
enum ilb_capacity_gate {
	ILB_CAPACITY_GATE_QUEUED,	/* also those of delayed dequeue */
	ILB_CAPACITY_GATE_RUNNABLE,
};

/** enum ilb_housekeeping - the housekeeping type that may run the ILB */
enum ilb_housekeeping {
	ILB_HOUSEKEEPING_MISC,		/* isolcpus=nohz CPUs are in it */
	ILB_HOUSEKEEPING_KERNEL_NOISE,	/* they are not */
};

/** enum ilb_registration - which idle stops of the tick enter the mask */
enum ilb_registration {
	ILB_REGISTRATION_NEWLY_STOPPED,	/* the tick was running before */
	ILB_REGISTRATION_STOPPED,	/* all (mail C's repair) */
};

/** enum ilb_serialize - where only one CPU may balance across nodes */
enum ilb_serialize {
	ILB_SERIALIZE_BEFORE_DUE,	/* taken before asking if it is time */
	ILB_SERIALIZE_DESIGNATED,	/* by the designated CPU, when due */
};

/** enum ilb_asym_sibling - PREFER_SIBLING below domains of unequal CPUs */
enum ilb_asym_sibling {
	ILB_ASYM_SIBLING_DROPPED,
	ILB_ASYM_SIBLING_KEPT,
};

/** enum ilb_dropped_kick - flags of a kick whose target is not idle any more */
enum ilb_dropped_kick {
	ILB_DROPPED_KICK_PENDING,	/* stay: it is never kicked again */
	ILB_DROPPED_KICK_CLEARED,	/* since 2013 */
};

/**
 * struct ilb_behaviour - one kernel
 * @name: "linux-6.12"
 * @summary: one line
 * @release: 1000 * major + minor
 * @target: rule that chooses the ILB, as ilb_policy_parse() reads it.
 *	7.3: idle-core (mail A)
 * @mask_size: enum ilb_mask_size. 7.0: derived (mail D)
 * @kick_order: enum ilb_kick_order. 7.0: time first (mail D)
 * @capacity_gate: enum ilb_capacity_gate. 7.2: runnable
 * @packing_idle_core: 1: a CPU is a better place by asym packing only if all
 *	of its core is idle. 6.12
 * @pending_test: 1: flags that are pending already are not set again. 6.12
 * @housekeeping: enum ilb_housekeeping. 7.2: kernel noise
 * @registration: enum ilb_registration. No kernel has mail C's repair
 * @stop_after_idle_tick: 1: without a choice of idle states the tick stops
 *	only after one tick in idle. In all rows, as their point releases that
 *	were studied have it (6.1.176, 6.12.95); earlier ones do not
 * @designate_idle_core: 1: should_we_balance() prefers fully idle cores. 6.12
 * @smt_groups: 1: SMT cores are groups with a type and a size of their own.
 *	6.12
 * @serialize: enum ilb_serialize. 7.2: designated
 * @wake_idle_core: 1: a wakeup on unequal CPUs prefers idle cores, and its
 *	scan is limited. 7.2
 * @misfit_idle_core: 1: a task that needs a larger CPU moves to one whose core
 *	is fully idle, and leaves one whose sibling is busy. 7.2
 * @asym_sibling: enum ilb_asym_sibling. 7.3: kept; 7.2 is assumed to be alike
 * @newidle_rate: 1: the chance of newly idle balancing counts calls per second
 *	too, and certainty needs no dice. 7.3
 * @next_kick: 1: that a CPU entered the mask is told to the next ILB. 0: its
 *	domains wait for a full kick. In all rows, since 2021
 * @dropped_kick: enum ilb_dropped_kick. In all rows: cleared
 * @full_tick_stop: 1: nohz_full CPUs stop their tick while one task runs. 0:
 *	they never do (the 7.0 merge window). In all rows: 1
 * @cache_balance: 1: tasks are gathered in their LLC. 7.3
 *
 * The version after a feature is the first row that has it, 7.0 the release
 * where that is known. All but @name, @summary, @release and @target can be
 * set by name, see ilb_features.
 */
struct ilb_behaviour {
	const char *name;
	const char *summary;
	unsigned int release;
	const char *target;
	unsigned int mask_size;
	unsigned int kick_order;
	unsigned int capacity_gate;
	unsigned int packing_idle_core;
	unsigned int pending_test;
	unsigned int housekeeping;
	unsigned int registration;
	unsigned int stop_after_idle_tick;
	unsigned int designate_idle_core;
	unsigned int smt_groups;
	unsigned int serialize;
	unsigned int wake_idle_core;
	unsigned int misfit_idle_core;
	unsigned int asym_sibling;
	unsigned int newidle_rate;
	unsigned int next_kick;
	unsigned int dropped_kick;
	unsigned int full_tick_stop;
	unsigned int cache_balance;
};

/**
 * struct ilb_feature - how people name a member of struct ilb_behaviour
 * @name: "kick-order"
 * @values: the names of its values 0 and 1
 * @summary: one line
 * @offset: of the member, an unsigned int
 */
struct ilb_feature {
	const char *name;
	const char *values[2];
	const char *summary;
	unsigned int offset;
};

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_behaviours - the kernels, oldest first; ended by a NULL name. */
extern const struct ilb_behaviour ilb_behaviours[];

/** ilb_features - every feature but the target; ended by a NULL name. */
extern const struct ilb_feature ilb_features[];

/**
 * ilb_behaviour_find() - the row for a kernel
 * @release_or_name: "linux-6.12", or what uname -r says:
 *	"6.12.95+deb12-cloud-amd64"
 * @row: set unless an error is returned
 *
 * A release without a row of its own gets the newest row that is not newer;
 * but 7.0 and 7.1 get linux-7.2, since mail D's change, in 7.0, is all that
 * is known to lie between linux-6.12 and them. Both are guesses, and so is a
 * release candidate. Distributions change their kernels: a row is what the
 * upstream series does.
 *
 * Returns 0 if the row is that of this series; 1 if it is a guess;
 * -ILB_ERR_SYNTAX if the text is neither a name nor a release;
 * -ILB_ERR_UNSUPPORTED if it is older than every row.
 */
int ilb_behaviour_find(const char *release_or_name,
		       const struct ilb_behaviour **row);

/**
 * ilb_behaviour_set() - switch one feature
 * @behaviour: a copy of a row
 * @text: "FEATURE=VALUE"; for "target=RULE" RULE is kept by reference, and
 *	checked by who uses it
 *
 * Returns 0; -ILB_ERR_SYNTAX if there is no "="; -ILB_ERR_NOENT if there is no
 * such feature; -ILB_ERR_RANGE if it has no such value.
 */
int ilb_behaviour_set(struct ilb_behaviour *behaviour, const char *text);

/**
 * ilb_behaviour_housekeeping() - who may run the ILB, from the command line
 * @online: the CPUs that are online
 * @nohz_full: nohz_full='s CPUs; NULL for none
 * @isolated_nohz: isolcpus=nohz,...'s CPUs; NULL for none
 * @housekeeping: filled; may not be one of the other masks
 *
 * If nobody is left the kernel keeps the CPU it booted on; here the lowest
 * online one is kept.
 */
void ilb_behaviour_housekeeping(const struct ilb_behaviour *behaviour,
				const unsigned long *online,
				const unsigned long *nohz_full,
				const unsigned long *isolated_nohz,
				unsigned long *housekeeping,
				unsigned int nr_cpus);

#ifdef __cplusplus
}
#endif
#endif
