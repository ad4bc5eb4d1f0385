/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_FIXTURE_H
#define ILB_TESTS_UNIT_FIXTURE_H

/*
 * A machine and a meter, fed with hand-made traces. Times are in us, so that
 * a trace reads like a table; CPU, then what happened there:
 *
 *	static const struct ilb_event trace[] = {
 *		SWITCH(10, 1, 0, 100),		CPU 1 leaves idle for pid 100
 *		IRQ_CALL(20, 0),
 *	};
 */

#include "ilb/machine.h"
#include "ilb/measure.h"
#include "measure/meter.h"
#include "test.h"

#define US(us)		((us) * 1000ULL)
#define FIXTURE_CPUS	128
#define NOBODY		ILB_CPU_NONE

#define AT(us, on, what, who, ...)					\
	{ .time_ns = US(us), .cpu = (on), .type = ILB_EVENT_##what,	\
	  .pid = (who), __VA_ARGS__ }

/* The task that leaves sleeps; with PREEMPT it stays queued. */
#define SWITCH(us, on, prev, next)					\
	AT(us, on, SWITCH, prev,					\
	   .u.sched_switch = { (prev), (next), "t" #next, 0 })
#define PREEMPT(us, on, prev, next)					\
	AT(us, on, SWITCH, prev,					\
	   .u.sched_switch = { (prev), (next), "t" #next, 1 })
#define WAKEUP(us, on, who, task, at)					\
	AT(us, on, WAKEUP, who, .u.wakeup = { (task), (at) })
#define MIGRATE(us, on, who, task, from_cpu, to_cpu)			\
	AT(us, on, MIGRATE, who, .u.migrate = { (task), (from_cpu), (to_cpu) })
#define TICK(us, on, who)	AT(us, on, TICK, who)
#define TICK_STOP(us, on, who)	AT(us, on, TICK_STOP, who, .u.value = 1)
#define IDLE_ENTER(us, on)	AT(us, on, IDLE, 0, .u.value = 1)
#define IDLE_LEAVE(us, on)	AT(us, on, IDLE, 0, .u.value = ILB_IDLE_EXIT)
#define IRQ_CALL(us, on)	AT(us, on, IRQ_CALL, 0)
#define KICK(us, on, who, target)					\
	AT(us, on, CSD_QUEUE, who,					\
	   .u.csd = { (target), ILB_FUNC_NOHZ_CSD })
#define HANDLER(us, on, who)						\
	AT(us, on, CSD_ENTRY, who, .u.csd = { (on), ILB_FUNC_NOHZ_CSD })
#define RAISE(us, on, who)	AT(us, on, SOFTIRQ_RAISE, who, .u.value = 7)
#define ENTRY(us, on, who)	AT(us, on, SOFTIRQ_ENTRY, who, .u.value = 7)
#define EXIT(us, on, who)	AT(us, on, SOFTIRQ_EXIT, who, .u.value = 7)
#define OTHER(us, on, who)	AT(us, on, OTHER, who)
#define LOST(us, on)		AT(us, on, LOST, ILB_PID_UNKNOWN)
#define PROBE(us, on, what, who, bits)					\
	AT(us, on, PROBE_##what, who,					\
	   .u.probe = { .has_mask = 1, .mask = (bits) })

/**
 * struct fixture - change what is public before the first event
 * @hz: 250 at first
 * @housekeeping: all CPUs at first; the other two none
 */
struct fixture {
	unsigned int hz;
	uint64_t recovery_ns;
	int ignore_probes;
	unsigned long housekeeping[ILB_MASK_WORDS(FIXTURE_CPUS)];
	unsigned long nohz_full[ILB_MASK_WORDS(FIXTURE_CPUS)];
	unsigned long isolated[ILB_MASK_WORDS(FIXTURE_CPUS)];
	struct ilb_topology topology;
	struct ilb_machine *machine;
	struct ilb_meter *meter;

	unsigned long online[ILB_MASK_WORDS(FIXTURE_CPUS)];
	unsigned int core[FIXTURE_CPUS], sibling[FIXTURE_CPUS];
	unsigned int llc[FIXTURE_CPUS], node[FIXTURE_CPUS];
};

/**
 * fixture_setup(), fixture_teardown() - for cmocka; *state is the fixture
 *
 * It has 8 CPUs: siblings are N and N + 1, CPUs 0-3 and 4-7 share a cache,
 * and all are one node.
 */
int fixture_setup(void **state);
int fixture_teardown(void **state);

#define FIXTURE_TEST(test)						\
	cmocka_unit_test_setup_teardown(test, fixture_setup,		\
					fixture_teardown)

/** fixture_shape() - another machine: adjacent CPUs share a core, an LLC. */
void fixture_shape(struct fixture *f, unsigned int nr_cpus,
		   unsigned int per_core, unsigned int per_llc);

/** fixture_feed() - machine and meter follow @nr events. */
void fixture_feed(struct fixture *f, const struct ilb_event *events,
		  unsigned int nr);

#define FEED(f, trace)	fixture_feed((f), (trace), ARRAY_SIZE(trace))

/** fixture_finish() - the results; they live until the next call or the end */
struct ilb_measures *fixture_finish(struct fixture *f);

/** fixture_restart() - forget all events, as a new trace would. */
void fixture_restart(struct fixture *f);

/** fixture_measure() - restart, feed, finish */
#define MEASURE(f, trace)						\
	(fixture_restart(f), FEED((f), (trace)), fixture_finish(f))

/** fixture_task() - what the meter knows of @pid; fails if nothing */
const struct ilb_task *fixture_task(struct fixture *f, int32_t pid);

#endif
