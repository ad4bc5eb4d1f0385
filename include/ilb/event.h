/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_EVENT_H
#define ILB_EVENT_H

#include <stdint.h>

#define ILB_COMM_LEN	16	/* with its NUL: TASK_COMM_LEN */
#define ILB_PID_UNKNOWN	(-1)

/**
 * enum ilb_event_type - what a trace can say that matters here
 *
 * Every source (trace.dat, text, tracefs, simulator) translates to these.
 * "On" is ilb_event.cpu, where the event was recorded.
 *
 * @ILB_EVENT_OTHER: any other event: says only which pid ran on cpu
 * @ILB_EVENT_LOST: events were lost before this time (u.lost)
 * @ILB_EVENT_SWITCH: sched_switch (u.sched_switch)
 * @ILB_EVENT_WAKEUP: sched_wakeup, sched_wakeup_new: a task was queued
 *                    (u.wakeup)
 * @ILB_EVENT_WAKING: sched_waking: a task is about to be woken (u.wakeup; its
 *                    cpu is where the task last ran, not where it will)
 * @ILB_EVENT_MIGRATE: sched_migrate_task (u.migrate)
 * @ILB_EVENT_TICK: hrtimer_expire_entry of tick_nohz_handler (6.10 on) or
 *                  tick_sched_timer (before)
 * @ILB_EVENT_TICK_STOP: tick_stop (u.value: success)
 * @ILB_EVENT_CSD_QUEUE: csd_queue_cpu (u.csd): a call for another CPU
 * @ILB_EVENT_CSD_ENTRY: csd_function_entry (u.csd): it starts, on its CPU
 * @ILB_EVENT_CSD_EXIT: csd_function_exit (u.csd)
 * @ILB_EVENT_SOFTIRQ_RAISE: (u.value: vector; 7 is SCHED)
 * @ILB_EVENT_SOFTIRQ_ENTRY: (u.value)
 * @ILB_EVENT_SOFTIRQ_EXIT: (u.value)
 * @ILB_EVENT_IRQ_CALL: call_function_single_entry: the interrupt that a kick
 *                      sends arrived
 * @ILB_EVENT_IDLE: cpu_idle (u.value: state; ILB_IDLE_EXIT when it ends)
 *
 * Probes of the event system "ilb", each optional; masks in u.probe:
 * @ILB_EVENT_PROBE_ENTER: nohz_balance_enter_idle: CPU will be in the mask
 * @ILB_EVENT_PROBE_EXIT: nohz_balance_exit_idle: busy tick; CPU will not be
 * @ILB_EVENT_PROBE_TICK: the tick's trigger (sched_balance_trigger)
 * @ILB_EVENT_PROBE_SEND: smp_call_function_single_async (u.probe.cpu, .func)
 * @ILB_EVENT_PROBE_CSD: nohz_csd_func starts on its CPU
 * @ILB_EVENT_PROBE_PASS: _nohz_idle_balance starts
 * @ILB_EVENT_PROBE_PASS_END: _nohz_idle_balance returned
 */
enum ilb_event_type {
	ILB_EVENT_OTHER,
	ILB_EVENT_LOST,
	ILB_EVENT_SWITCH,
	ILB_EVENT_WAKEUP,
	ILB_EVENT_WAKING,
	ILB_EVENT_MIGRATE,
	ILB_EVENT_TICK,
	ILB_EVENT_TICK_STOP,
	ILB_EVENT_CSD_QUEUE,
	ILB_EVENT_CSD_ENTRY,
	ILB_EVENT_CSD_EXIT,
	ILB_EVENT_SOFTIRQ_RAISE,
	ILB_EVENT_SOFTIRQ_ENTRY,
	ILB_EVENT_SOFTIRQ_EXIT,
	ILB_EVENT_IRQ_CALL,
	ILB_EVENT_IDLE,
	ILB_EVENT_PROBE_ENTER,
	ILB_EVENT_PROBE_EXIT,
	ILB_EVENT_PROBE_TICK,
	ILB_EVENT_PROBE_SEND,
	ILB_EVENT_PROBE_CSD,
	ILB_EVENT_PROBE_PASS,
	ILB_EVENT_PROBE_PASS_END,
	ILB_EVENT_TYPES
};

/** enum ilb_func - a cross-called function, as far as it matters */
enum ilb_func {
	ILB_FUNC_OTHER,
	ILB_FUNC_NOHZ_CSD,	/* nohz_csd_func: an ILB kick */
	ILB_FUNC_TTWU,		/* sched_ttwu_pending: a remote wakeup */
};

#define ILB_SOFTIRQ_SCHED	7
#define ILB_IDLE_EXIT		0xffffffffU

/**
 * struct ilb_event - one event, in memory and in the pipe between processes
 * @time_ns: trace clock, not decreasing from one event of a source to the next
 * @cpu: where it was recorded
 * @type: an enum ilb_event_type
 * @pid: the task that ran there, 0 is the idle task, ILB_PID_UNKNOWN
 *
 * next_comm is NUL-terminated and may hold any other byte.
 */
struct ilb_event {
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t type;
	int32_t pid;
	union {
		uint32_t value;
		struct {
			uint32_t count;		/* 0: an unknown number */
		} lost;
		struct {
			int32_t prev_pid;
			int32_t next_pid;
			char next_comm[ILB_COMM_LEN];
			uint32_t prev_runnable;	/* 1: prev stays queued */
		} sched_switch;
		struct {
			int32_t pid;
			uint32_t cpu;		/* where it was queued */
		} wakeup;
		struct {
			int32_t pid;
			uint32_t from, to;
		} migrate;
		struct {
			uint32_t cpu;	/* CSD_QUEUE: the CPU that is called */
			uint32_t func;	/* an enum ilb_func */
		} csd;
		struct {
			uint32_t cpu;	/* SEND: the CPU that is called */
			uint32_t func;	/* SEND: an enum ilb_func */
			uint32_t flags;	/* PASS: kick flags; 0: unknown */
			uint32_t has_mask;
			uint64_t mask;	/* nohz.idle_cpus_mask, CPUs 0-63 */
		} probe;
	} u;
};

#endif
