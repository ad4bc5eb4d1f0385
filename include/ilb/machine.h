/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_MACHINE_H
#define ILB_MACHINE_H

#include <stdint.h>
#include "ilb/event.h"
#include "ilb/moment.h"
#include "ilb/topology.h"

/**
 * DOC: machine - the state of every CPU, followed event by event
 *
 * One pass, memory linear in CPUs: feed events in time order, ask for the
 * state between two of them, receive a moment for every kick. Moments come
 * in time order but up to some thousand kicks late, since later events may
 * still settle what an earlier moment has to assume.
 */
struct ilb_machine;

/**
 * struct ilb_machine_setup - what a machine has to know before the first event
 * @topology: kept by reference
 * @housekeeping, @nohz_full, @isolated: kept by reference; the last two may be
 *	NULL for none
 * @hz: tick rate, 0: estimated from the ticks seen
 * @recorded: events that were recorded even if none appears, a bit per enum
 *	ilb_event_type. Probes, which can be disarmed, count only by appearing
 * @ignore_probes: leave every ILB_EVENT_PROBE_* unused
 * @settle_ns: state changes recorded this shortly before a kick, and switches
 *	to idle recorded this shortly after it, count as in the view that the
 *	kernel had: it chooses before the kick is recorded, and switches before
 *	the switch is recorded. ILB_SETTLE_NS is right for ftrace; with 0 a
 *	moment is the state at its kick, as recorded
 * @moment, @context: called for every kick
 */
struct ilb_machine_setup {
	const struct ilb_topology *topology;
	const unsigned long *housekeeping;
	const unsigned long *nohz_full;
	const unsigned long *isolated;
	unsigned int hz;
	uint32_t recorded;
	int ignore_probes;
	uint64_t settle_ns;
	void (*moment)(void *context, const struct ilb_moment *moment);
	void *context;
};

#define ILB_SETTLE_NS	5000

/** enum ilb_membership - is a CPU in nohz.idle_cpus_mask? */
enum ilb_membership {
	ILB_OUT,
	ILB_IN,
	ILB_ASSUMED_OUT,	/* since the start of the trace; no evidence */
	ILB_ASSUMED_IN,
};

/**
 * struct ilb_cpu - one CPU, between two events
 * @pid: what runs, 0 the idle task, ILB_PID_UNKNOWN before the first event
 * @comm: its name, "" if unknown
 * @idle: idle_cpu(): the idle task runs, nothing queued, no wakeup pending
 * @membership: in the mask?
 * @since_ns: since when @pid runs
 * @ticked_ns: time of its last tick, 0 if none was seen
 * @tick_stopped: last known state of its tick: 1, 0, or -1 unknown
 *
 * A stopped tick's timer still fires for other timers' sake, so one tick is no
 * proof that the tick runs; two within 2.5 periods are.
 */
struct ilb_cpu {
	int32_t pid;
	char comm[ILB_COMM_LEN];
	int idle;
	enum ilb_membership membership;
	uint64_t since_ns;
	uint64_t ticked_ns;
	int tick_stopped;
};

/** struct ilb_kick - a kick that the last event showed */
struct ilb_kick {
	unsigned int kicker;	/* ILB_CPU_NONE: unknown */
	unsigned int target;
};

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_machine_create() - NULL if out of memory; freed by _destroy(). */
struct ilb_machine *ilb_machine_create(const struct ilb_machine_setup *setup);
void ilb_machine_destroy(struct ilb_machine *machine);

/** ilb_machine_event() - apply @event; its cpu must be below nr_cpus. */
void ilb_machine_event(struct ilb_machine *machine,
		       const struct ilb_event *event);

/** ilb_machine_finish() - no more events: hand over the last moments. */
void ilb_machine_finish(struct ilb_machine *machine);

/** ilb_machine_cpu() - the state of @cpu; valid until the next event. */
const struct ilb_cpu *ilb_machine_cpu(const struct ilb_machine *machine,
				      unsigned int cpu);

/** ilb_machine_idle_mask() - the idle set as a mask; until the next event. */
const unsigned long *ilb_machine_idle_mask(const struct ilb_machine *machine);

/**
 * ilb_machine_kick() - the kick that the last event showed, NULL if none
 *
 * csd_queue_cpu of nohz_csd_func; where there are no csd events (6.1) the
 * probe on smp_call_function_single_async; where there is neither, nor a
 * record of the handler, a SCHED softirq raised outside of the tick: only
 * nohz_csd_func does that, on the target, and the kicker stays unknown.
 */
const struct ilb_kick *ilb_machine_kick(const struct ilb_machine *machine);

/** ilb_machine_seen() - 1 if events of @type are recorded, or one appeared. */
int ilb_machine_seen(const struct ilb_machine *machine,
		     enum ilb_event_type type);

/** ilb_machine_hz() - the tick rate given or estimated; 0 if unknown. */
unsigned int ilb_machine_hz(const struct ilb_machine *machine);

/** ilb_machine_kind() - the kind of moments that this machine makes. */
enum ilb_moment_kind ilb_machine_kind(const struct ilb_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
