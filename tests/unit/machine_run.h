/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_MACHINE_RUN_H
#define ILB_TESTS_UNIT_MACHINE_RUN_H

/*
 * A machine that a test feeds with events, and the moments that it hands
 * over. A trace is written as
 *
 *	FEED(run, SWITCH(100, 3, 0, 57), TICK(4000, 3, 57));
 *	assert_int_equal(idle_set(run), ALL & ~BIT(3));
 *	FEED(run, KICK(4100, 0, 10, 3));
 *
 * where every event begins with its time in us, its CPU, and the pid that ran
 * there (SWITCH: the pid that ran and the one that runs now).
 *
 * Unless the test says otherwise: 8 CPUs, siblings adjacent, LLC and node of
 * four, all housekeeping, 250 Hz, ILB_SETTLE_NS. All of run->setup and
 * run->online may be changed before the first FEED or question.
 */

#include "ilb/machine.h"
#include "test.h"

#define RUN_CPUS_MAX	192U
#define RUN_WORDS	ILB_MASK_WORDS(RUN_CPUS_MAX)

#define BIT(cpu)	(1UL << (cpu))
#define ALL		0xffUL

/**
 * struct seen_moment - a copy of a moment
 * @mask, @idle: the first word is that of CPUs 0 to 63
 */
struct seen_moment {
	uint64_t time_ns;
	unsigned int kicker;
	unsigned int target;
	enum ilb_moment_kind kind;
	int assumed;
	unsigned long mask[RUN_WORDS];
	unsigned long idle[RUN_WORDS];
};

struct run {
	unsigned int core[RUN_CPUS_MAX];
	unsigned int sibling[RUN_CPUS_MAX];
	unsigned int llc[RUN_CPUS_MAX];
	unsigned int node[RUN_CPUS_MAX];
	unsigned long online[RUN_WORDS];
	unsigned long housekeeping[RUN_WORDS];
	unsigned long nohz_full[RUN_WORDS];
	unsigned long isolated[RUN_WORDS];
	struct ilb_topology topology;
	struct ilb_machine_setup setup;
	struct ilb_machine *machine;	/* made by the first use */
	struct seen_moment *moments;
	unsigned int count;
	unsigned int room;
};

/* cmocka's set-up and tear-down: *state is a struct run. */
int run_new(void **state);
int run_free(void **state);

#define RUN_TEST(f)	cmocka_unit_test_setup_teardown(f, run_new, run_free)

/* Another number of CPUs, all online and housekeeping. */
void run_resize(struct run *run, unsigned int nr_cpus);

void run_feed(struct run *run, const struct ilb_event *events, size_t nr);
void run_finish(struct run *run);

/*
 * One stopped tick in idle at @us on every CPU but those of @except: these
 * are seen idle and known to be in the mask.
 */
void run_enter(struct run *run, uint64_t us, unsigned long except);

/* All of these may be asked between two events. */
const struct ilb_cpu *cpu_of(struct run *run, unsigned int cpu);
enum ilb_membership membership(struct run *run, unsigned int cpu);
unsigned long idle_set(struct run *run);	/* CPUs 0 to 63 */
unsigned long members(struct run *run);		/* known or assumed in */
const struct ilb_kick *last_kick(struct run *run);

/* The nth moment, after run_finish() or when it was due. */
const struct seen_moment *moment(struct run *run, unsigned int n);

#define FEED(run, ...)							\
	do {								\
		const struct ilb_event feed_[] = { __VA_ARGS__ };	\
		run_feed((run), feed_, ARRAY_SIZE(feed_));		\
	} while (0)

/* Builders. "on" is the CPU, "who" the pid on its line. */

#define EVENT(us, on, who, what, ...)					\
	{ .time_ns = (us) * 1000ULL, .cpu = (on), .pid = (who),		\
	  .type = ILB_EVENT_##what, __VA_ARGS__ }
#define VALUE(us, on, who, what, val)					\
	EVENT(us, on, who, what, .u.value = (val))

#define OTHER(us, on, who)		VALUE(us, on, who, OTHER, 0)
#define LOST(us, on)			VALUE(us, on, ILB_PID_UNKNOWN, LOST, 0)
#define TICK(us, on, who)		VALUE(us, on, who, TICK, 0)
#define STOP(us, on, who)		VALUE(us, on, who, TICK_STOP, 1)
#define NO_STOP(us, on, who)		VALUE(us, on, who, TICK_STOP, 0)
#define RAISE(us, on, who, vector)					\
	VALUE(us, on, who, SOFTIRQ_RAISE, vector)
#define IRQ_CALL(us, on, who)		VALUE(us, on, who, IRQ_CALL, 0)
#define SWITCH_COMM(us, on, prev, next, comm)				\
	EVENT(us, on, prev, SWITCH,					\
	      .u.sched_switch = { prev, next, comm, 0 })
#define SWITCH(us, on, prev, next)	SWITCH_COMM(us, on, prev, next, "")
#define WAKEUP(us, on, who, woken, to)					\
	EVENT(us, on, who, WAKEUP, .u.wakeup = { woken, to })
#define WAKING(us, on, who, woken, last)				\
	EVENT(us, on, who, WAKING, .u.wakeup = { woken, last })
#define MIGRATE(us, on, who, moved, src, dst)				\
	EVENT(us, on, who, MIGRATE, .u.migrate = { moved, src, dst })
#define CSD(us, on, who, what, to, f)					\
	EVENT(us, on, who, CSD_##what, .u.csd = { to, ILB_FUNC_##f })
#define KICK(us, on, who, target)					\
	CSD(us, on, who, QUEUE, target, NOHZ_CSD)
#define TTWU(us, on, who, target)	CSD(us, on, who, QUEUE, target, TTWU)
#define TTWU_END(us, on, who)		CSD(us, on, who, EXIT, 0, TTWU)
#define PROBE(us, on, who, what, ...)					\
	EVENT(us, on, who, PROBE_##what, .u.probe = { __VA_ARGS__ })
#define SEND(us, on, who, target)					\
	PROBE(us, on, who, SEND, .cpu = (target), .func = ILB_FUNC_NOHZ_CSD)
#define READ(us, on, who, what, bits)					\
	PROBE(us, on, who, what, .has_mask = 1, .mask = (bits))

#endif
