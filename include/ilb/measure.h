/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_MEASURE_H
#define ILB_MEASURE_H

#include <stdint.h>
#include "ilb/event.h"
#include "ilb/hist.h"
#include "ilb/machine.h"
#include "ilb/moment.h"
#include "ilb/schedstat.h"
#include "ilb/topology.h"

/**
 * DOC: measures - what is counted, defined once
 *
 * The results below are what every command prints, whatever produced the
 * moments. A part whose @known flag is 0 could not be judged from its input:
 * it is printed as unknown, and left out of JSON, never as 0.
 */

/** struct ilb_kicks - from moments alone */
struct ilb_kicks {
	uint64_t total;
	uint64_t on_busy_core;	/* a sibling of the target was not idle */
	uint64_t avoidable;	/* and a qualifying CPU on an idle core was there */
	uint64_t fallback;	/* of the CPUs that qualified, none was on an idle
				 * core: idle-core would have fallen back */
	uint64_t no_target;	/* nobody qualified (only where kicks without a
				 * target are recorded: simulated) */
	uint64_t same_core, same_llc, same_node;	/* target and kicker */
	uint64_t idle_cores_woken;	/* target's core was fully idle */
	uint64_t kicker_unknown;
	uint64_t assumed;	/* moments that rest on an assumption */
	int masks_known;	/* 0: no mask, so avoidable and fallback unknown */
	int kicks_known;	/* 0: this trace cannot show kicks at all */
	int dropped_known;
	uint64_t dropped;	/* the target was busy when the kick arrived */
	uint64_t *by_target;	/* nr_cpus counts */
	uint64_t *by_kicker;
};

/** struct ilb_runs - what the kicks made their targets do */
struct ilb_runs {
	int known;
	uint64_t total;
	struct ilb_hist latency;	/* kick sent to handler on the target */
	struct ilb_hist duration;	/* handler to the end of its softirq */
	uint64_t disturbed_ns;		/* a sibling's task ran beside it */
};

/** struct ilb_victim - a task that ran while its sibling was woken */
struct ilb_victim {
	char comm[ILB_COMM_LEN];
	int32_t pid;
	unsigned int cpu;	/* where it was disturbed most recently */
	uint64_t running_ns;
	uint64_t disturbed_ns;
	uint64_t kicks;		/* that woke a sibling while it ran */
};

/** struct ilb_lost_cpu - idle with its tick stopped, missing from the mask */
struct ilb_lost_cpu {
	unsigned int cpu;
	uint64_t lost_ns;	/* in idle stretches over 50 ms */
	int probed;		/* 1: a probe's mask says so; 0: inferred from a
				 * tick that stopped while a task ran */
};

/**
 * struct ilb_domain - load balancing on one level, summed over its CPUs
 * @name: of schedstat v17, else "domain0"...
 */
struct ilb_domain {
	char name[16];
	unsigned int level;
	struct ilb_lb_counts type[ILB_IDLE_TYPES];
};

#define ILB_DOMAINS_MAX	16

/**
 * struct ilb_measures - everything measured over one input
 * @probed: 1 if probes told the mask, whatever @kind is
 * @start_ns, @end_ns: trace clock of the first and the last event; without a
 *	trace, when its moments began and ended
 * @cpus: online CPUs; @recorded: those of them whose events were recorded
 */
struct ilb_measures {
	unsigned int nr_cpus;
	unsigned int cpus, recorded;
	enum ilb_moment_kind kind;
	int probed;
	uint64_t start_ns, end_ns;
	struct ilb_kicks kicks;
	struct ilb_runs runs;

	struct {
		int known;	/* sched_switch was recorded, and there is SMT */
		uint64_t busy_sibling;	/* left idle, a sibling was busy */
		uint64_t idle_sibling;
	} contention;

	struct {
		int known;
		uint64_t sched;		/* SCHED softirqs run */
		int time_known;
		uint64_t sched_ns;
		int stranded_known;	/* raise, entry, cpu_idle recorded */
		uint64_t stranded;	/* raised outside of a handler, CPU went
					 * idle before it ran */
	} softirq;

	struct {
		int known;
		uint64_t busy_ns;	/* of recorded * (end - start) */
	} utilisation;

	struct ilb_victim *victims;	/* most disturbed first; ties: pid */
	unsigned int nr_victims;

	struct ilb_lost_cpu *lost_cpus;	/* ascending CPU */
	unsigned int nr_lost_cpus;
	unsigned int missing_from_start;	/* nohz_full CPUs that were idle
				 * and missing from a probe's mask all the time */

	/* A CPU was idle for over a tick while a task waited on another one
	 * of the same cache: work conservation. */
	struct {
		int known;
		uint64_t stretches;
		uint64_t longest_ns;
		uint64_t total_ns;
		unsigned int idle_cpu, waiting_cpu;	/* of the longest;
							 * ties: pid */
		int32_t pid;
	} waiting;

	/* The tick stopped and restarted. */
	struct {
		int known;
		uint64_t stops;
		uint64_t short_stops;	/* restarted within a tick */
	} tick;

	/* Kicks per jiffy: the 768-CPU report's symptom. */
	struct {
		int known;		/* hz known */
		uint64_t jiffies;	/* in which some CPU was busy */
		uint64_t kicked;	/* of these, with a kick */
	} every_tick;

	struct ilb_domain domains[ILB_DOMAINS_MAX];
	unsigned int nr_domains;
	int schedstat_counts;		/* 0: sched_schedstats was off; -1: none */
	double schedstat_s;		/* seconds between its snapshots, 0 unknown */
};

/** struct ilb_meter - collects; opaque */
struct ilb_meter;

struct ilb_meter_setup {
	const struct ilb_topology *topology;	/* kept by reference */
	const unsigned long *housekeeping;
	const unsigned long *nohz_full;		/* may be NULL: none */
	const unsigned long *isolated;		/* the same; never in the mask,
						 * so never lost */
	const unsigned long *recorded_cpus;	/* may be NULL: all online */
	const struct ilb_machine *machine;	/* whose state is asked */
	uint64_t recovery_ns;	/* added to every disturbance; --recovery */
};

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_meter_create() - NULL if out of memory. */
struct ilb_meter *ilb_meter_create(const struct ilb_meter_setup *setup);
void ilb_meter_destroy(struct ilb_meter *meter);

/** ilb_meter_event() - call after the machine applied @event. */
void ilb_meter_event(struct ilb_meter *meter, const struct ilb_event *event);

/** ilb_meter_moment() - count one kick. */
void ilb_meter_moment(struct ilb_meter *meter,
		      const struct ilb_moment *moment);

/**
 * ilb_meter_exact() - moments did not come from the machine alone
 * @kind: what they are: exact or simulated
 * @all: each of them; 0: the machine's were used where these were missing
 * @start_ns, @end_ns: of the input, should there be no event
 *
 * To be called before ilb_meter_finish().
 */
void ilb_meter_exact(struct ilb_meter *meter, enum ilb_moment_kind kind,
		     int all, uint64_t start_ns, uint64_t end_ns);

/**
 * ilb_meter_finish() - the results; call once, after ilb_machine_finish()
 *
 * They belong to the meter and live as long.
 */
struct ilb_measures *ilb_meter_finish(struct ilb_meter *meter);

/**
 * ilb_schedstat_diff() - load balancing between two /proc/schedstat texts
 * @before, @after: NUL-terminated; versions 15, 16 and 17
 * @measures: domains, nr_domains, schedstat_counts and schedstat_s are set
 * @hz: to turn its timestamps (jiffies) into seconds; 0: unknown
 *
 * The order of the idle types differs: v15 idle, busy, newly idle; v16 and
 * v17 busy, idle, newly idle. Counters that went backwards (hotplug) count 0.
 *
 * Returns 0, or -ILB_ERR_FORMAT, -ILB_ERR_UNSUPPORTED (version) and then
 * leaves @measures as it was.
 */
int ilb_schedstat_diff(struct ilb_measures *measures, const char *before,
		       const char *after, unsigned int hz);

#ifdef __cplusplus
}
#endif
#endif
