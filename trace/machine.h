/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TRACE_MACHINE_H
#define ILB_TRACE_MACHINE_H

/* Inside of the machine: shared by machine.c (events) and moments.c (queue). */

#include "ilb/machine.h"

#define ILB_NS_PER_S		1000000000ULL
#define ILB_PENDING_MAX		4096	/* moments that may wait for evidence */
#define ILB_TICKS_TO_DECIDE	3

/**
 * struct ilb_few - tasks, as long as they are few; enough on an idle CPU
 * @count: all of them; those beyond ILB_FEW are not known by their @pid
 */
#define ILB_FEW			4

struct ilb_few {
	unsigned int count;
	unsigned int known;
	int32_t pid[ILB_FEW];
};

/**
 * struct ilb_cpu_state - one CPU, with what only the machine needs
 * @pub: what others may see; first, so that a pointer to one is one to both
 * @seen: an event was recorded on it
 * @queued: tasks that were queued here since its last switch
 * @waking: tasks that another CPU is about to queue here, where calls are not
 *	recorded; @waking_ns: when the last one joined
 * @wakes: the task that this CPU is waking, while its own events are about
 *	that
 * @remote: remote wakeups are under way to it (rq->ttwu_pending)
 * @lossy: events were lost on it since its last switch
 * @in_tick: the last event here was, or belongs to, its tick
 * @idle_ticks: successive ticks of a running tick while idle, since it went
 *	idle (on machines with nohz_full: since the start)
 * @busy_ns: when it stopped being idle
 * @entered_ns: when it entered the mask
 * @slept_ns: when it last entered an idle state
 * @event_ns: its last event; @before_ns: the one before that
 * @triggered, @before_triggered: these were recorded by the trigger of
 *	balancing, right before it chooses whom to kick
 */
struct ilb_cpu_state {
	struct ilb_cpu pub;
	int seen;
	struct ilb_few queued;
	struct ilb_few waking;
	uint64_t waking_ns;
	int32_t wakes;
	int remote;
	int lossy;
	int in_tick;
	unsigned int idle_ticks;
	uint64_t busy_ns;
	uint64_t entered_ns;
	uint64_t slept_ns;
	uint64_t event_ns;
	uint64_t before_ns;
	int triggered;
	int before_triggered;
};

/**
 * struct ilb_pending - a moment that waits
 * @unknown: CPUs whose place in @mask is assumed and may yet be settled, or
 *	never will be
 *
 * The three masks follow the struct in the queue's own storage.
 */
struct ilb_pending {
	uint64_t time_ns;
	unsigned int kicker;
	unsigned int target;
	enum ilb_moment_kind kind;
	unsigned long *mask;
	unsigned long *idle;
	unsigned long *unknown;
};

/**
 * struct ilb_machine - see include/ilb/machine.h
 * @mask, @idle: as of now
 * @unknown: CPUs whose place in @mask is assumed
 * @open: of these, whose start may still be settled by later evidence
 * @unseen: CPUs without any event so far, assumed idle
 * @probed: a probe's mask was seen, so CPUs below 64 are known
 * @pending, @head, @count: ring of moments
 */
struct ilb_machine {
	struct ilb_machine_setup setup;
	unsigned int nr_cpus;
	unsigned int words;
	struct ilb_cpu_state *cpu;
	unsigned long *masks;		/* one block for the masks below */
	unsigned long *mask;
	unsigned long *idle;
	unsigned long *unknown;
	unsigned long *open;
	unsigned long *unseen;
	unsigned int nr_unseen;
	int has_nohz_full;
	int probed;
	uint32_t seen;			/* bit per enum ilb_event_type */
	uint64_t now_ns;

	unsigned int hz;
	uint64_t period_ns;		/* of the tick; 4 ms until known */
	unsigned int hz_votes[4];

	struct ilb_kick kick;
	int kicked;
	struct ilb_kick sent;		/* the last kick known from a probe */
	uint64_t sent_ns;

	struct ilb_pending *pending;
	unsigned long *pending_words;
	unsigned int head;
	unsigned int count;
	uint64_t last_pending_ns;
};

/* moments.c */

/** ilb_machine_queue_init() - 0, or -ILB_ERR_NOMEM */
int ilb_machine_queue_init(struct ilb_machine *machine);

/** ilb_machine_queue_kick() - the state now becomes a moment that waits */
void ilb_machine_queue_kick(struct ilb_machine *machine, unsigned int kicker,
			    unsigned int target);

/** ilb_machine_queue_emit() - hand over what need not wait; @all: everything */
void ilb_machine_queue_emit(struct ilb_machine *machine, int all);

/**
 * ilb_machine_queue_was_busy() - @cpu ran a task since the start
 * @out: and is assumed to have been no member
 */
void ilb_machine_queue_was_busy(struct ilb_machine *machine, unsigned int cpu,
				int out);

/** ilb_machine_queue_settle() - at the start @cpu was, or was not, a member */
void ilb_machine_queue_settle(struct ilb_machine *machine, unsigned int cpu,
			      int in);

/** ilb_machine_queue_went_idle() - just now: kicks just before saw it idle */
void ilb_machine_queue_went_idle(struct ilb_machine *machine,
				 unsigned int cpu);

#endif
