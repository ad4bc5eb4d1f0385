/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_MEASURE_METER_H
#define ILB_MEASURE_METER_H

/* Inside of the meter: what meter.c, runs.c and kicks.c share. */

#include "ilb/measure.h"
#include "ilb/target.h"
#include "measure/tasks.h"

#define ILB_LOST_MIN_NS		50000000ULL	/* shorter is no loss */
#define ILB_DEFAULT_PERIOD_NS	4000000ULL

/**
 * struct ilb_meter_cpu - one CPU
 * @seen: an event said what runs on it
 * @pid, @since_ns: what runs and since when; ILB_PID_UNKNOWN before @seen
 * @idle_seen: it went idle within the trace
 * @softirq_ns: when its SCHED softirq started, 0 if it does not run
 * @raised: a SCHED softirq was raised and has not started
 * @stopped_ns: when its tick stopped in idle, 0 if it runs
 * @lost_ns: since when it is lost, 0 if it is not; @lost_sum_ns: before that
 * @kick_ns: oldest kick that was sent to it and has not arrived, 0 for none
 * @irq_ns: last call interrupt
 * @handler_ns: when nohz_csd_func started, 0 if it is over; @handler_idle: the
 *	CPU was idle then
 * @armed_ns: when nohz_csd_func ran, if its softirq is still to start, else 0
 * @run_ns: the same of the run whose softirq has started, 0 if there is none
 * @disturbs: it keeps its siblings from having the core for themselves
 * @disturbers: siblings that disturb it
 * @from_ns, @to_ns: span that is still to be charged to what runs here; from
 *	0 for none; to UINT64_MAX while @disturbers
 * @charged_ns: up to here disturbances are charged
 * @left_pid, @left_ns: what ran before @pid, and since when
 * @early_ns, @early_kicks: disturbance before @seen
 */
struct ilb_meter_cpu {
	int seen;
	int32_t pid;
	uint64_t since_ns;
	int idle_seen;
	uint64_t softirq_ns;
	int raised;
	uint64_t stopped_ns;
	uint64_t lost_ns;
	uint64_t lost_sum_ns;
	uint64_t kick_ns;
	uint64_t irq_ns;
	uint64_t handler_ns;
	int handler_idle;
	uint64_t armed_ns;
	uint64_t run_ns;
	int disturbs;
	unsigned int disturbers;
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t charged_ns;
	int32_t left_pid;
	uint64_t left_ns;
	uint64_t early_ns;
	uint64_t early_kicks;
};

struct ilb_meter {
	struct ilb_meter_setup setup;
	const struct ilb_topology *topology;
	unsigned int nr_cpus;
	struct ilb_meter_cpu *cpu;
	struct ilb_tasks tasks;
	struct ilb_measures m;
	int started;
	uint64_t now_ns;
	int exact, all_exact;		/* see ilb_meter_exact() */
	uint64_t jiffy_ns;		/* first kick of the last jiffy with one */
	uint64_t gap_ns;		/* when events were lost last */
	unsigned int nr_busy;		/* CPUs that run a task */
	uint64_t busy_from_ns;		/* some_busy_ns is counted up to here */
	uint64_t some_busy_ns;		/* time in which nr_busy was not 0 */
	unsigned long *scratch;
	struct ilb_policy idle_core;
};

/* runs.c */

/** ilb_meter_runs() - follow kicks, handlers and their softirqs */
void ilb_meter_runs(struct ilb_meter *meter, const struct ilb_event *event);

/** ilb_meter_runs_first() - what runs on @cpu became known, from the start */
void ilb_meter_runs_first(struct ilb_meter *meter, unsigned int cpu);

/** ilb_meter_runs_switch() - another task comes to @cpu; before it does */
void ilb_meter_runs_switch(struct ilb_meter *meter, unsigned int cpu);

/** ilb_meter_runs_finish() - no more events: charge what is due */
void ilb_meter_runs_finish(struct ilb_meter *meter, unsigned int cpu);

/* waits.c */

/** ilb_meter_period() - of the tick, ILB_DEFAULT_PERIOD_NS until known */
uint64_t ilb_meter_period(const struct ilb_meter *meter);

/** ilb_meter_waits() - tasks that wait while a CPU of their cache is idle */
void ilb_meter_waits(struct ilb_meter *meter, const struct ilb_event *event);

/** ilb_meter_waits_finish() - those that wait to the end */
void ilb_meter_waits_finish(struct ilb_meter *meter);

/** ilb_meter_lost() - nohz_full CPUs that are missing from the mask */
void ilb_meter_lost(struct ilb_meter *meter, const struct ilb_event *event);

/** ilb_meter_lost_finish() - 0, or -ILB_ERR_NOMEM */
int ilb_meter_lost_finish(struct ilb_meter *meter);

#endif
