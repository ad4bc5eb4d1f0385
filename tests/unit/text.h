/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_TEXT_H
#define ILB_TESTS_UNIT_TEXT_H

/* An event as one line, so that a table or a file can hold what is expected. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ilb/event.h"

#define SHOW_LEN	160

static const char *const show_names[ILB_EVENT_TYPES] = {
	[ILB_EVENT_OTHER] = "other",
	[ILB_EVENT_LOST] = "lost",
	[ILB_EVENT_SWITCH] = "switch",
	[ILB_EVENT_WAKEUP] = "wakeup",
	[ILB_EVENT_WAKING] = "waking",
	[ILB_EVENT_MIGRATE] = "migrate",
	[ILB_EVENT_TICK] = "tick",
	[ILB_EVENT_TICK_STOP] = "tick_stop",
	[ILB_EVENT_CSD_QUEUE] = "csd_queue",
	[ILB_EVENT_CSD_ENTRY] = "csd_entry",
	[ILB_EVENT_CSD_EXIT] = "csd_exit",
	[ILB_EVENT_SOFTIRQ_RAISE] = "raise",
	[ILB_EVENT_SOFTIRQ_ENTRY] = "entry",
	[ILB_EVENT_SOFTIRQ_EXIT] = "exit",
	[ILB_EVENT_IRQ_CALL] = "call",
	[ILB_EVENT_IDLE] = "idle",
	[ILB_EVENT_PROBE_ENTER] = "p_enter",
	[ILB_EVENT_PROBE_EXIT] = "p_exit",
	[ILB_EVENT_PROBE_TICK] = "p_tick",
	[ILB_EVENT_PROBE_SEND] = "p_send",
	[ILB_EVENT_PROBE_CSD] = "p_csd",
	[ILB_EVENT_PROBE_PASS] = "p_pass",
	[ILB_EVENT_PROBE_PASS_END] = "p_pass_end",
};

static const char *const show_funcs[] = { "-", "nohz", "ttwu" };

static inline int show_probe(char *to, size_t size,
			     const struct ilb_event *event)
{
	char mask[24] = "-";

	if (event->u.probe.has_mask)
		snprintf(mask, sizeof(mask), "%" PRIx64, event->u.probe.mask);
	if (event->type == ILB_EVENT_PROBE_SEND)
		return snprintf(to, size, " %s %u %s", mask, event->u.probe.cpu,
				show_funcs[event->u.probe.func]);
	if (event->type == ILB_EVENT_PROBE_PASS)
		return snprintf(to, size, " %s %u", mask, event->u.probe.flags);
	return snprintf(to, size, " %s", mask);
}

static inline int show_args(char *to, size_t size,
			    const struct ilb_event *event)
{
	switch (event->type) {
	case ILB_EVENT_OTHER:
	case ILB_EVENT_TICK:
	case ILB_EVENT_IRQ_CALL:
		return 0;
	case ILB_EVENT_LOST:
		return snprintf(to, size, " %u", event->u.lost.count);
	case ILB_EVENT_SWITCH:
		return snprintf(to, size, " %d %d %u %s",
				event->u.sched_switch.prev_pid,
				event->u.sched_switch.next_pid,
				event->u.sched_switch.prev_runnable,
				event->u.sched_switch.next_comm);
	case ILB_EVENT_WAKEUP:
	case ILB_EVENT_WAKING:
		return snprintf(to, size, " %d %u", event->u.wakeup.pid,
				event->u.wakeup.cpu);
	case ILB_EVENT_MIGRATE:
		return snprintf(to, size, " %d %u %u", event->u.migrate.pid,
				event->u.migrate.from, event->u.migrate.to);
	case ILB_EVENT_CSD_QUEUE:
		return snprintf(to, size, " %u %s", event->u.csd.cpu,
				show_funcs[event->u.csd.func]);
	case ILB_EVENT_CSD_ENTRY:
	case ILB_EVENT_CSD_EXIT:
		return snprintf(to, size, " %s", show_funcs[event->u.csd.func]);
	}
	if (event->type >= ILB_EVENT_PROBE_ENTER)
		return show_probe(to, size, event);
	return snprintf(to, size, " %u", event->u.value);
}

/* "TIME CPU PID TYPE ARGUMENTS" */
static inline void show(char to[SHOW_LEN], const struct ilb_event *event)
{
	int len = snprintf(to, SHOW_LEN, "%" PRIu64 " %u %d %s", event->time_ns,
			   event->cpu, event->pid, show_names[event->type]);

	show_args(to + len, SHOW_LEN - (size_t)len, event);
}

#endif
