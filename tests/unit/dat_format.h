/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_DAT_FORMAT_H
#define ILB_TESTS_UNIT_DAT_FORMAT_H

/*
 * An event as a line: "TIME CPU PID TYPE values". The same lines as
 * tests/golden/dat/events.py makes of trace-cmd's text.
 */

#include <inttypes.h>
#include <stdio.h>
#include "ilb/event.h"

static const char *const dat_types[ILB_EVENT_TYPES] = {
	"other", "lost", "switch", "wakeup", "waking", "migrate", "tick",
	"tick_stop",
	"csd_queue", "csd_entry", "csd_exit", "softirq_raise",
	"softirq_entry", "softirq_exit", "irq_call", "idle", "probe_enter",
	"probe_exit", "probe_tick", "probe_send", "probe_csd", "probe_pass",
	"probe_pass_end",
};

static inline int dat_format_values(char *text, size_t size,
				    const struct ilb_event *e)
{
	switch (e->type) {
	case ILB_EVENT_LOST:
		return snprintf(text, size, " %u", e->u.lost.count);
	case ILB_EVENT_SWITCH:
		return snprintf(text, size, " %d %u %d %s",
				e->u.sched_switch.prev_pid,
				e->u.sched_switch.prev_runnable,
				e->u.sched_switch.next_pid,
				e->u.sched_switch.next_comm);
	case ILB_EVENT_WAKEUP:
		return snprintf(text, size, " %d %u", e->u.wakeup.pid,
				e->u.wakeup.cpu);
	case ILB_EVENT_MIGRATE:
		return snprintf(text, size, " %d %u %u", e->u.migrate.pid,
				e->u.migrate.from, e->u.migrate.to);
	case ILB_EVENT_CSD_QUEUE:
	case ILB_EVENT_CSD_ENTRY:
	case ILB_EVENT_CSD_EXIT:
		return snprintf(text, size, " %u %u", e->u.csd.cpu,
				e->u.csd.func);
	case ILB_EVENT_TICK_STOP:
	case ILB_EVENT_SOFTIRQ_RAISE:
	case ILB_EVENT_SOFTIRQ_ENTRY:
	case ILB_EVENT_SOFTIRQ_EXIT:
	case ILB_EVENT_IDLE:
		return snprintf(text, size, " %u", e->u.value);
	}
	if (e->type < ILB_EVENT_PROBE_ENTER)
		return snprintf(text, size, "%s", "");
	return snprintf(text, size, " %u %u %u %u %" PRIx64, e->u.probe.cpu,
			e->u.probe.func, e->u.probe.flags, e->u.probe.has_mask,
			e->u.probe.mask);
}

static inline void dat_format(char *text, size_t size,
			      const struct ilb_event *e)
{
	int used = snprintf(text, size, "%" PRIu64 " %u %d %s", e->time_ns,
			    e->cpu, e->pid, dat_types[e->type]);

	dat_format_values(text + used, size - (size_t)used, e);
}

#endif
