/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEST_CHANGES_H
#define TEST_CHANGES_H

/*
 * When the CPUs of a trace may have changed, as far as it says: slow and
 * simple, to judge what the machine made of the same events.
 */

#include <stddef.h>
#include <stdint.h>

#include "ilb/event.h"

#define CHANGES_CPUS	64

struct times {
	uint64_t *ns;
	size_t count;
};

/**
 * struct changes - per CPU
 * @work: what runs, or waits, there
 * @mask: its tick stops, so that it enters the mask, or ticks again
 * @tick: its ticks
 */
struct changes {
	struct times work[CHANGES_CPUS];
	struct times mask[CHANGES_CPUS];
	struct times tick[CHANGES_CPUS];
};

/** changes_note() - take what @event says; its CPU is below CHANGES_CPUS. */
void changes_note(struct changes *changes, const struct ilb_event *event);

/** changes_forget() - begin again; frees. */
void changes_forget(struct changes *changes);

/** times_within() - 1 if one is in [@from_ns, @to_ns]. */
int times_within(const struct times *times, uint64_t from_ns, uint64_t to_ns);

/** times_last() - the last at or before @ns; 0: none. */
uint64_t times_last(const struct times *times, uint64_t ns);

#endif
