/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_FUZZ_REPLAY_H
#define ILB_TESTS_FUZZ_REPLAY_H

#include <stdint.h>

#include "ilb/event.h"

/**
 * DOC: replay - what the target replay is fed: a head, then records
 *
 * A record is an event as the processes of ilb pass it to each other, but
 * for its time, which counts from the record before. One of the type
 * ILB_EVENT_TYPES is an exact moment, its masks a word that is repeated.
 */

/**
 * struct replay_head - the machine, and how ilb replay is called
 * @shape: of replay_shapes[]; what is beyond wraps
 * @options: REPLAY_*
 * @hz: in tens
 * @set_apart: so many CPUs at the end are nohz_full (low half), isolated
 * @recorded: as in struct ilb_system
 */
struct replay_head {
	uint8_t shape;
	uint8_t options;
	uint8_t hz;
	uint8_t set_apart;
	uint32_t recorded;
};

#define REPLAY_JSON		1U
#define REPLAY_LIST		2U	/* --list-disagreements */
#define REPLAY_WHAT_IF		4U	/* --housekeeping */
#define REPLAY_IGNORE_PROBES	8U
#define REPLAY_IGNORE_MOMENTS	16U
#define REPLAY_NO_SETTLE	32U
#define REPLAY_NO_TRACE		64U

/** struct replay_moment - what stands in an event's union */
struct replay_moment {
	uint32_t kicker, target;
	uint64_t mask, idle;
};

struct replay_shape {
	unsigned int cores, threads, llc;	/* cores of a cache */
};

static const struct replay_shape replay_shapes[] = {
	{ 8, 2, 4 }, { 2, 2, 2 }, { 16, 1, 8 }, { 4, 8, 2 }, { 65, 2, 13 },
	{ 1, 1, 1 },
};

#define REPLAY_SHAPES	(sizeof(replay_shapes) / sizeof(replay_shapes[0]))

#endif
