/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_LIVE_STAT_RECORD_H
#define ILB_LIVE_STAT_RECORD_H

/* What the BPF programs of `ilb stat` count; compiled into them, too. */

#include <linux/types.h>

#define ILB_STAT_CELLS		976U	/* as struct ilb_hist */
#define ILB_STAT_LOG2		48U
#define ILB_STAT_VICTIMS	8192U

/** struct ilb_stat_hist - has the layout of struct ilb_hist */
struct ilb_stat_hist {
	__u64 count;
	__u64 sum_ns;
	__u64 max_ns;
	__u32 cell[ILB_STAT_CELLS];
	__u64 log2_us[ILB_STAT_LOG2];
};

/**
 * struct ilb_stat_cpu - of one CPU; counters only grow
 * @pid: what runs, 0: the idle task
 * @sibling: the next of its core, itself where there is none
 * @busy_at: since when it is not idle, 0 if it is; @busy_ns: before that
 * @busy_sibling, @idle_sibling: left idle for a task
 * @softirq_at: when its SCHED softirq started
 * @kick_at: oldest kick that has not arrived
 * @armed_at: when nohz_csd_func ran, whose softirq has not started
 * @run_at: the same, while its softirq runs
 * @disturbers: siblings that are awake for a run
 * @disturbed_at: since when what runs here is, and is not charged; 0: it isn't
 * @due_ns, @due_kicks: to be charged to what runs here
 * @disturbs: 1: counted in its siblings' @disturbers
 * @kicked: kicks sent to it
 * @on_busy: of @kicked, those while a sibling ran a task
 *
 * The first cache line is that of sched_switch, and only its own CPU writes
 * it; the second is written by siblings and kickers.
 */
struct ilb_stat_cpu {
	__u32 pid;
	__u32 sibling;
	__u64 busy_at;
	__u64 busy_ns;
	__u64 busy_sibling;
	__u64 idle_sibling;
	__u64 softirq_at;
	__u64 sched;
	__u64 sched_ns;

	__u64 kick_at;
	__u64 armed_at;
	__u64 run_at;
	__u64 disturbers;
	__u64 disturbed_at;
	__u64 due_ns;
	__u64 due_kicks;
	__u64 disturbs;

	__u64 kicked;
	__u64 on_busy;
	__u64 dropped;
	__u64 disturbed_ns;
	__u64 forgotten;	/* victims for which there was no room */
	__u64 reserved[3];

	struct ilb_stat_hist latency;
	struct ilb_stat_hist duration;
} __attribute__((aligned(64)));

/** struct ilb_stat_victim - by pid, since the last reading */
struct ilb_stat_victim {
	char comm[16];
	__u32 pid;
	__u32 cpu;
	__u64 start_ns;		/* when it was born */
	__u64 runtime_ns;	/* that it ran in its life so far */
	__u64 disturbed_ns;
	__u64 kicks;
};

#endif
