/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_REPORT_NEEDS_H
#define ILB_REPORT_NEEDS_H

/* What to record for what was not known, in the words of trace-cmd. */
#define NEEDS_TRACE	"a trace; record without --moments-only"
#define NEEDS_KICKS	"csd:csd_queue_cpu, or on a kernel without it "	\
			"irq:softirq_raise and timer:hrtimer_expire_entry"
#define NEEDS_MASKS	"timer:tick_stop and timer:hrtimer_expire_entry"
#define NEEDS_KICKER	"csd:csd_queue_cpu, or a probe on "		\
			"smp_call_function_single_async"
#define NEEDS_HANDLER	"csd:csd_function_entry"
#define NEEDS_RUNS	"csd:csd_function_entry, irq:softirq_entry and " \
			"irq:softirq_exit"
#define NEEDS_SWITCH	"sched:sched_switch"
#define NEEDS_SOFTIRQ	"irq:softirq_raise, irq:softirq_entry and "	\
			"irq:softirq_exit"
#define NEEDS_STRANDED	"irq:softirq_raise, irq:softirq_entry and "	\
			"power:cpu_idle"

#endif
