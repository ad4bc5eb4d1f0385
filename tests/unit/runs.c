// SPDX-License-Identifier: GPL-2.0-only
/* ILB runs: how long, what is dropped, and which task is disturbed when. */

#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static const struct ilb_victim *victim(const struct ilb_measures *m,
				       int32_t pid)
{
	static const struct ilb_victim nobody;
	unsigned int i;

	for (i = 0; i < m->nr_victims; i++)
		if (m->victims[i].pid == pid)
			return &m->victims[i];
	return &nobody;
}

static uint64_t disturbed_us(const struct ilb_measures *m, int32_t pid)
{
	return victim(m, pid)->disturbed_ns / 1000;
}

/* A kick of idle CPU @on from 4 us before; it is in idle again at @us + 10. */
#define RUN(us, on)							\
	IDLE_LEAVE((us) - 1, on),					\
	IRQ_CALL(us, on),						\
	HANDLER((us) + 1, on, 0), RAISE((us) + 2, on, 0),		\
	ENTRY((us) + 3, on, 0), EXIT((us) + 8, on, 0),			\
	IDLE_ENTER((us) + 10, on)

/* The same where cpu_idle is not recorded. */
#define RUN_NO_IDLE(us, on)						\
	IRQ_CALL(us, on),						\
	HANDLER((us) + 1, on, 0), RAISE((us) + 2, on, 0),		\
	ENTRY((us) + 3, on, 0), EXIT((us) + 8, on, 0)

static void latency_and_duration(void **state)
{
	static const struct ilb_event trace[] = {
		SWITCH(10, 4, 0, 40),
		KICK(96, 4, 40, 1),
		KICK(98, 4, 40, 1),		/* rides along */
		RUN(100, 1),
		KICK(190, 4, 40, 1),
		RUN(200, 1),
		ENTRY(300, 1, 0),		/* its own tick's */
		EXIT(350, 1, 0),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_true(m->runs.known);
	assert_int_equal(m->runs.total, 2);
	assert_int_equal(m->runs.latency.count, 2);
	assert_int_equal(m->runs.latency.sum_ns, US(5 + 11));
	assert_int_equal(m->runs.latency.max_ns, US(11));
	assert_int_equal(m->runs.duration.count, 2);
	assert_int_equal(m->runs.duration.sum_ns, US(7 + 7));
	assert_int_equal(m->kicks.dropped, 0);
}

static void a_handler_that_raises_nothing_dropped_the_kick(void **state)
{
	static const struct ilb_event trace[] = {
		RUN(100, 1),
		SWITCH(200, 1, 0, 10),
		HANDLER(210, 1, 10),		/* busy */
		AT(211, 1, CSD_EXIT, 10, .u.csd = { 1, ILB_FUNC_NOHZ_CSD }),
		RAISE(220, 1, 10),		/* the tick's */
		ENTRY(221, 1, 10), EXIT(225, 1, 10),
		SWITCH(230, 1, 10, 0),
		WAKEUP(300, 0, 0, 10, 1),
		HANDLER(301, 1, 0),		/* about to be busy */
		SWITCH(310, 1, 0, 10),
		SWITCH(320, 1, 10, 0),
		HANDLER(400, 1, 0),
		IDLE_ENTER(410, 1),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_true(m->kicks.dropped_known);
	assert_int_equal(m->kicks.dropped, 3);
	assert_int_equal(m->runs.total, 1);
}

/* Where raises are not recorded, what the machine thinks has to do. */
static void without_raises_the_idle_state_decides(void **state)
{
	static const struct ilb_event trace[] = {
		HANDLER(100, 1, 0),
		ENTRY(103, 1, 0), EXIT(109, 1, 0),
		SWITCH(200, 1, 0, 10),
		HANDLER(210, 1, 10),
		ENTRY(211, 1, 10), EXIT(212, 1, 10),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(m->kicks.dropped, 1);
	assert_int_equal(m->runs.total, 1);
	assert_int_equal(m->runs.duration.sum_ns, US(9));
}

static void the_end_of_the_trace_drops_nothing(void **state)
{
	static const struct ilb_event armed[] = {
		OTHER(10, 0, 0), HANDLER(100, 1, 0), RAISE(101, 1, 0),
	};
	static const struct ilb_event handler[] = {
		RAISE(10, 0, 0), HANDLER(100, 1, 0),
	};
	struct fixture *f = *state;

	assert_int_equal(MEASURE(f, armed)->kicks.dropped, 0);
	assert_int_equal(MEASURE(f, handler)->kicks.dropped, 0);
}

/* 6.1 without probes: the raise is all that shows of a kick. */
static void a_raise_outside_of_the_tick_is_a_kick(void **state)
{
	static const struct ilb_event trace[] = {
		SWITCH(10, 0, 0, 7),
		TICK(50, 0, 7),
		IDLE_LEAVE(99, 1), IRQ_CALL(100, 1), RAISE(102, 1, 0),
		ENTRY(103, 1, 0), EXIT(108, 1, 0), IDLE_ENTER(110, 1),
		TICK(200, 1, 0),
		RAISE(201, 1, 0), ENTRY(202, 1, 0), EXIT(204, 1, 0),
		IDLE_ENTER(210, 1),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_true(m->runs.known);
	assert_int_equal(m->kicks.total, 1);
	assert_int_equal(m->runs.total, 1);
	assert_int_equal(m->runs.duration.sum_ns, US(6));
	assert_int_equal(m->runs.latency.count, 0);
	assert_int_equal(disturbed_us(m, 7), 10);
	assert_false(m->kicks.dropped_known);
}

/* ---- disturbed ---- */

static void from_the_interrupt_until_idle_again(void **state)
{
	static const struct ilb_event trace[] = {
		IDLE_ENTER(1, 7),
		SWITCH(10, 0, 0, 7),
		RUN(100, 1),
		SWITCH(500, 0, 7, 0),
		RUN(600, 1),			/* nobody there */
		RUN(700, 3),			/* another core */
		OTHER(1000, 0, 0),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(m->nr_victims, 1);
	assert_int_equal(disturbed_us(m, 7), 10);
	assert_int_equal(m->runs.disturbed_ns, US(10));
	assert_int_equal(victim(m, 7)->kicks, 1);
	assert_int_equal(victim(m, 7)->cpu, 0);
	assert_int_equal(victim(m, 7)->running_ns, US(490));
	assert_string_equal(victim(m, 7)->comm, "t7");
	f->recovery_ns = US(3);
	m = MEASURE(f, trace);
	assert_int_equal(disturbed_us(m, 7), 13);
}

static void until_the_run_ends_where_idle_is_not_recorded(void **state)
{
	static const struct ilb_event trace[] = {
		SWITCH(10, 0, 0, 7),
		RUN_NO_IDLE(100, 1),
		OTHER(1000, 0, 7),
	};
	struct fixture *f = *state;

	assert_int_equal(disturbed_us(MEASURE(f, trace), 7), 8);
	f->recovery_ns = US(5);
	assert_int_equal(disturbed_us(MEASURE(f, trace), 7), 13);
}

/* A polling CPU gets no interrupt: an old one is not this kick's. */
static void without_an_interrupt_from_the_handler(void **state)
{
	static const struct ilb_event trace[] = {
		SWITCH(10, 0, 0, 7),
		RUN_NO_IDLE(100, 1),
		KICK(200, 4, 0, 1),
		HANDLER(201, 1, 0), RAISE(202, 1, 0),
		ENTRY(203, 1, 0), EXIT(208, 1, 0),
		IRQ_CALL(300, 1),		/* for something else */
		KICK(350, 4, 0, 1),
		HANDLER(351, 1, 0), RAISE(352, 1, 0),
		ENTRY(353, 1, 0), EXIT(358, 1, 0),
		OTHER(1000, 0, 7),
	};
	struct fixture *f = *state;

	assert_int_equal(disturbed_us(MEASURE(f, trace), 7), 8 + 7 + 7);
}

static void each_task_is_charged_its_own_part(void **state)
{
	static const struct ilb_event trace[] = {
		IDLE_ENTER(1, 7),
		SWITCH(10, 0, 0, 7),
		IRQ_CALL(100, 1),
		SWITCH(101, 0, 7, 8),		/* before the kick shows */
		HANDLER(102, 1, 0), RAISE(103, 1, 0), ENTRY(104, 1, 0),
		SWITCH(105, 0, 8, 0),
		SWITCH(107, 0, 0, 9),
		EXIT(108, 1, 0),
		IDLE_ENTER(110, 1),
		SWITCH(112, 0, 9, 10),
		OTHER(200, 0, 10),
	};
	struct fixture *f = *state;
	struct ilb_measures *m;

	f->recovery_ns = US(6);
	m = MEASURE(f, trace);
	assert_int_equal(disturbed_us(m, 7), 1);
	assert_int_equal(disturbed_us(m, 8), 4);
	assert_int_equal(disturbed_us(m, 9), 5);
	assert_int_equal(disturbed_us(m, 10), 4);
	assert_int_equal(m->runs.disturbed_ns, US(14));
	assert_int_equal(victim(m, 8)->kicks, 1);
	assert_int_equal(victim(m, 9)->kicks, 0);
	assert_int_equal(m->victims[0].pid, 9);
	assert_int_equal(m->victims[1].pid, 8);
	assert_int_equal(m->victims[2].pid, 10);
	assert_int_equal(m->victims[3].pid, 7);
}

/* The first event on the victim's CPU may come long after. */
static void a_task_unseen_so_far_is_charged_too(void **state)
{
	static const struct ilb_event trace[] = {
		IDLE_ENTER(1, 7),
		RUN(100, 1),
		RUN(200, 1),
		RUN(300, 3),
		SWITCH(400, 2, 0, 9),
		SWITCH(401, 0, 7, 8),
		RUN(500, 1),
		OTHER(600, 0, 8),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(disturbed_us(m, 7), 20);
	assert_int_equal(victim(m, 7)->kicks, 2);
	assert_int_equal(victim(m, 7)->running_ns, US(400));
	assert_int_equal(disturbed_us(m, 8), 10);
	assert_int_equal(victim(m, 8)->kicks, 1);
	assert_int_equal(m->nr_victims, 2);
}

static void two_siblings_disturb_once(void **state)
{
	static const struct ilb_event trace[] = {
		IDLE_ENTER(1, 7),
		SWITCH(10, 0, 0, 7),
		IRQ_CALL(100, 1), HANDLER(101, 1, 0), RAISE(102, 1, 0),
		IRQ_CALL(104, 2), HANDLER(105, 2, 0), RAISE(106, 2, 0),
		ENTRY(107, 1, 0), EXIT(109, 1, 0), IDLE_ENTER(110, 1),
		ENTRY(111, 2, 0), EXIT(119, 2, 0), IDLE_ENTER(120, 2),
		/* One is over before the other shows, not before it began. */
		IRQ_CALL(200, 1), HANDLER(201, 1, 0), RAISE(202, 1, 0),
		ENTRY(203, 1, 0), EXIT(205, 1, 0),
		IRQ_CALL(206, 2), IDLE_ENTER(210, 1),
		HANDLER(211, 2, 0), RAISE(212, 2, 0),
		ENTRY(213, 2, 0), EXIT(219, 2, 0), IDLE_ENTER(220, 2),
		OTHER(1000, 0, 7),
	};
	struct fixture *f = *state;
	struct ilb_measures *m;

	fixture_shape(f, 8, 4, 8);
	m = MEASURE(f, trace);
	assert_int_equal(disturbed_us(m, 7), 20 + 20);
	assert_int_equal(victim(m, 7)->kicks, 4);
}

static void recovery_overlaps_the_next_disturbance(void **state)
{
	static const struct ilb_event trace[] = {
		IDLE_ENTER(1, 7),
		SWITCH(10, 0, 0, 7),
		RUN(100, 1),			/* to 110, recovered at 113 */
		IRQ_CALL(112, 1),
		HANDLER(114, 1, 0), RAISE(115, 1, 0),
		ENTRY(116, 1, 0), EXIT(118, 1, 0), IDLE_ENTER(120, 1),
		IRQ_CALL(121, 1),		/* within the recovery */
		HANDLER(122, 1, 0), RAISE(123, 1, 0),
		ENTRY(124, 1, 0), EXIT(126, 1, 0), IDLE_ENTER(130, 1),
		OTHER(1000, 0, 7),
	};
	struct fixture *f = *state;

	f->recovery_ns = US(3);
	assert_int_equal(disturbed_us(MEASURE(f, trace), 7), 33);
}

static void kicked_again_during_its_run(void **state)
{
	static const struct ilb_event trace[] = {
		SWITCH(10, 0, 0, 7),
		IRQ_CALL(100, 1), HANDLER(101, 1, 0), RAISE(102, 1, 0),
		ENTRY(103, 1, 0),
		IRQ_CALL(105, 1), HANDLER(106, 1, 0), RAISE(107, 1, 0),
		EXIT(110, 1, 0),
		ENTRY(112, 1, 0), EXIT(120, 1, 0),
		OTHER(1000, 0, 7),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(m->runs.total, 2);
	assert_int_equal(m->runs.duration.sum_ns, US(9 + 14));
	assert_int_equal(disturbed_us(m, 7), 20);
	assert_int_equal(victim(m, 7)->kicks, 1);
}

/* The softirq may be ksoftirqd's; any other task is plain contention. */
static void a_task_on_the_target_ends_it(void **state)
{
	static const struct ilb_event trace[] = {
		IDLE_ENTER(1, 7),
		SWITCH(10, 0, 0, 7),
		IRQ_CALL(100, 1), HANDLER(101, 1, 0), RAISE(102, 1, 0),
		SWITCH(105, 1, 0, 33),
		ENTRY(106, 1, 33), EXIT(109, 1, 33),
		SWITCH(111, 1, 33, 8),
		SWITCH(150, 1, 8, 0),
		IDLE_ENTER(152, 1),
		OTHER(1000, 0, 7),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(m->runs.total, 1);
	assert_int_equal(disturbed_us(m, 7), 11);
}

static void the_trace_ends_in_the_middle(void **state)
{
	static const struct ilb_event trace[] = {
		IDLE_ENTER(1, 7),
		SWITCH(10, 0, 0, 7),
		SWITCH(20, 2, 0, 8),
		RUN(90, 3),
		IRQ_CALL(100, 1), HANDLER(101, 1, 0), RAISE(102, 1, 0),
		ENTRY(103, 1, 0),
	};
	struct fixture *f = *state;
	struct ilb_measures *m;

	f->recovery_ns = US(50);
	m = MEASURE(f, trace);
	assert_int_equal(disturbed_us(m, 7), 3);
	assert_int_equal(disturbed_us(m, 8), 13);
	assert_int_equal(m->runs.total, 1);
	assert_int_equal(m->kicks.dropped, 0);
}

static void a_gap_ends_what_was_under_way(void **state)
{
	static const struct ilb_event trace[] = {
		IDLE_ENTER(1, 7),
		SWITCH(10, 0, 0, 7),
		KICK(99, 4, 0, 1),
		KICK(99, 4, 0, 3),
		IRQ_CALL(100, 1), HANDLER(101, 1, 0), RAISE(102, 1, 0),
		LOST(110, 1),
		LOST(110, 3),
		EXIT(120, 1, 0),
		RUN(500, 3),
		OTHER(1000, 0, 7),
	};
	struct fixture *f = *state;
	struct ilb_measures *m = MEASURE(f, trace);

	assert_int_equal(m->runs.latency.count, 1);
	assert_int_equal(m->runs.latency.sum_ns, US(2));
	assert_int_equal(m->runs.total, 1);
	assert_int_equal(disturbed_us(m, 7), 10);
}

/* ---- against a slow definition, over slots of a microsecond ---- */

#define SLOTS		160U
#define CPUS		8U
#define EVENTS_MAX	(SLOTS * CPUS + 1)
#define PIDS		16
#define FIRST_SLOT	2U

enum phase { IDLE, PENDING, HANDLING, RAISED, RUNNING, DONE, BUSY, NOTHING };

struct random_trace {
	uint64_t seed;
	unsigned int per_core;
	unsigned int recovery;
	int idle_recorded;
	enum phase phase[CPUS];
	unsigned int switched[CPUS];	/* slot of the last switch */
	int32_t pid[CPUS];
	struct ilb_event event[EVENTS_MAX];
	unsigned int nr;
	unsigned int slot;
};

static unsigned int dice(struct random_trace *r, unsigned int n)
{
	r->seed ^= r->seed >> 12;
	r->seed ^= r->seed << 25;
	r->seed ^= r->seed >> 27;
	return (unsigned int)((r->seed * 0x2545f4914f6cdd1dULL >> 33) % n);
}

static void emit(struct random_trace *r, struct ilb_event event)
{
	event.time_ns = US(r->slot);
	r->event[r->nr++] = event;
}

#define EMIT(r, event)	emit((r), (struct ilb_event)event)

static void random_switch(struct random_trace *r, unsigned int cpu,
			  int32_t next)
{
	EMIT(r, SWITCH(0, cpu, r->pid[cpu], 0));
	r->event[r->nr - 1].u.sched_switch.next_pid = next;
	r->pid[cpu] = next;
	r->switched[cpu] = r->slot;
	r->phase[cpu] = next ? BUSY : IDLE;
}

/*
 * Between an interrupt and its handler the meter looks back over one switch
 * of a sibling, and over no other sibling's beginning: so does the trace.
 */
static int sibling_pending(const struct random_trace *r, unsigned int cpu)
{
	unsigned int first = cpu - cpu % r->per_core, s;

	for (s = first; s < first + r->per_core; s++)
		if (s != cpu && r->phase[s] == PENDING)
			return 1;
	return 0;
}

static void step_idle(struct random_trace *r, unsigned int cpu)
{
	switch (dice(r, 12)) {
	case 0:
		if (!sibling_pending(r, cpu)) {
			EMIT(r, IRQ_CALL(0, cpu));
			r->phase[cpu] = PENDING;
		}
		break;
	case 1:
		if (!sibling_pending(r, cpu)) {	/* it polled */
			EMIT(r, HANDLER(0, cpu, 0));
			r->phase[cpu] = HANDLING;
		}
		break;
	case 2:
		if (r->slot >= r->switched[cpu] + 3)
			random_switch(r, cpu, 1 + (int32_t)dice(r, PIDS - 1));
		break;
	}
}

static void step_busy(struct random_trace *r, unsigned int cpu)
{
	if (r->slot < r->switched[cpu] + 3 || dice(r, 12))
		return;
	random_switch(r, cpu, dice(r, 3) ? 0 :
		      1 + (r->pid[cpu] + (int32_t)dice(r, PIDS - 2)) %
			      (PIDS - 1));
}

static void step_running(struct random_trace *r, unsigned int cpu)
{
	switch (dice(r, 6)) {
	case 0:
		EMIT(r, EXIT(0, cpu, 0));
		r->phase[cpu] = DONE;
		break;
	case 1:
		EMIT(r, HANDLER(0, cpu, 0));
		EMIT(r, RAISE(0, cpu, 0));
		EMIT(r, EXIT(0, cpu, 0));
		r->phase[cpu] = RAISED;		/* restarts at once */
		break;
	}
}

static void step_done(struct random_trace *r, unsigned int cpu)
{
	if (dice(r, 3))
		return;
	if (!dice(r, 4)) {
		random_switch(r, cpu, 1 + (int32_t)dice(r, PIDS - 1));
		return;
	}
	if (r->idle_recorded)
		EMIT(r, IDLE_ENTER(0, cpu));
	r->phase[cpu] = IDLE;
}

static void step(struct random_trace *r, unsigned int cpu)
{
	switch (r->phase[cpu]) {
	case IDLE:
		step_idle(r, cpu);
		break;
	case BUSY:
		step_busy(r, cpu);
		break;
	case PENDING:
		EMIT(r, HANDLER(0, cpu, 0));
		r->phase[cpu] = HANDLING;
		break;
	case HANDLING:
		EMIT(r, RAISE(0, cpu, 0));
		r->phase[cpu] = RAISED;
		break;
	case RAISED:
		EMIT(r, ENTRY(0, cpu, 0));
		r->phase[cpu] = RUNNING;
		break;
	case RUNNING:
		step_running(r, cpu);
		break;
	case DONE:
		step_done(r, cpu);
		break;
	case NOTHING:
		break;
	}
}

static void random_trace(struct random_trace *r, uint64_t seed)
{
	unsigned int cpu;

	memset(r, 0, sizeof(*r));
	r->seed = seed * 0x9e3779b97f4a7c15ULL;
	r->per_core = dice(r, 2) ? 2 : 4;
	r->recovery = dice(r, 2) ? 0 : 1 + dice(r, 12);
	r->idle_recorded = (int)dice(r, 2);
	r->slot = 1;
	if (r->idle_recorded)
		EMIT(r, IDLE_ENTER(0, CPUS - 1));
	else
		EMIT(r, OTHER(0, CPUS - 1, 0));
	/* What runs at first shows in the CPU's first event only. */
	for (cpu = 0; cpu < CPUS - 1; cpu++)
		if (dice(r, 2)) {
			r->pid[cpu] = 1 + (int32_t)dice(r, PIDS - 1);
			r->phase[cpu] = BUSY;
		}
	for (r->slot = FIRST_SLOT; r->slot < SLOTS; r->slot++)
		for (cpu = 0; cpu < CPUS; cpu++)
			step(r, cpu);
}

/* What follows knows the trace's events only, not how they were made. */
struct slots {
	int32_t pid[CPUS][SLOTS];
	unsigned char disturbs[CPUS][SLOTS];
	uint64_t disturbed[PIDS];
};

static unsigned int slot_of(const struct ilb_event *event)
{
	return (unsigned int)(event->time_ns / 1000);
}

/* The next event on @cpu after @i, or NULL. */
static const struct ilb_event *next_on(const struct random_trace *r,
				       unsigned int i, unsigned int cpu)
{
	while (++i < r->nr)
		if (r->event[i].cpu == cpu)
			return &r->event[i];
	return NULL;
}

static void fill_pids(struct slots *s, const struct random_trace *r,
		      unsigned int cpu)
{
	const struct ilb_event *e;
	unsigned int i, slot = 0;
	int32_t pid = 0;	/* of a CPU without events: nobody */
	int first = 1;

	for (i = 0; i < r->nr; i++) {
		e = &r->event[i];
		if (e->cpu != cpu)
			continue;
		if (first)
			pid = e->pid;
		first = 0;
		for (; slot < slot_of(e); slot++)
			s->pid[cpu][slot] = pid;
		if (e->type == ILB_EVENT_SWITCH)
			pid = e->u.sched_switch.next_pid;
	}
	for (; slot < SLOTS; slot++)
		s->pid[cpu][slot] = pid;
}

/* Where the kick that handler @i received stops to disturb. */
static unsigned int end_of(const struct random_trace *r, unsigned int i)
{
	const struct ilb_event *e, *next;
	unsigned int cpu = r->event[i].cpu, k;

	for (k = i + 1; k < r->nr; k++) {
		e = &r->event[k];
		if (e->cpu != cpu)
			continue;
		if (e->type == ILB_EVENT_SWITCH || e->type == ILB_EVENT_IDLE)
			return slot_of(e);
		next = next_on(r, k, cpu);
		if (e->type == ILB_EVENT_SOFTIRQ_EXIT && !r->idle_recorded &&
		    (!next || next->type != ILB_EVENT_SOFTIRQ_ENTRY))
			return slot_of(e);
	}
	return SLOTS;
}

static void fill_disturbs(struct slots *s, const struct random_trace *r)
{
	unsigned int start[CPUS] = { 0 };
	unsigned int i, cpu, from, to;

	for (i = 0; i < r->nr; i++) {
		cpu = r->event[i].cpu;
		if (r->event[i].type == ILB_EVENT_IRQ_CALL)
			start[cpu] = slot_of(&r->event[i]);
		if (r->event[i].type != ILB_EVENT_CSD_ENTRY)
			continue;
		from = start[cpu] ? start[cpu] : slot_of(&r->event[i]);
		start[cpu] = 0;
		to = end_of(r, i) + r->recovery;
		for (; from < to && from < SLOTS; from++)
			s->disturbs[cpu][from] = 1;
	}
}

static int disturbed_in(const struct slots *s, const struct random_trace *r,
			unsigned int cpu, unsigned int slot)
{
	unsigned int first = cpu - cpu % r->per_core, sibling;

	for (sibling = first; sibling < first + r->per_core; sibling++)
		if (sibling != cpu && s->disturbs[sibling][slot])
			return 1;
	return 0;
}

static void judge_slowly(struct slots *s, const struct random_trace *r)
{
	unsigned int cpu, slot, end = slot_of(&r->event[r->nr - 1]);

	memset(s, 0, sizeof(*s));
	fill_disturbs(s, r);
	for (cpu = 0; cpu < CPUS; cpu++) {
		fill_pids(s, r, cpu);
		for (slot = 1; slot < end; slot++)
			if (s->pid[cpu][slot] &&
			    disturbed_in(s, r, cpu, slot))
				s->disturbed[s->pid[cpu][slot]]++;
	}
}

static uint64_t compare(struct fixture *f, uint64_t seed)
{
	static struct random_trace r;
	static struct slots s;
	struct ilb_measures *m;
	uint64_t sum = 0;
	int32_t pid;

	random_trace(&r, seed);
	judge_slowly(&s, &r);
	fixture_restart(f);
	fixture_shape(f, CPUS, r.per_core, CPUS);
	f->recovery_ns = US(r.recovery);
	fixture_feed(f, r.event, r.nr);
	m = fixture_finish(f);
	for (pid = 1; pid < PIDS; pid++) {
		if (victim(m, pid)->disturbed_ns != US(s.disturbed[pid]))
			fail_msg("seed %llu: pid %d was disturbed %llu us, not %llu",
				 (unsigned long long)seed, pid,
				 (unsigned long long)s.disturbed[pid],
				 (unsigned long long)disturbed_us(m, pid));
		assert_true(victim(m, pid)->disturbed_ns <=
			    victim(m, pid)->running_ns);
		sum += s.disturbed[pid];
	}
	assert_int_equal(m->runs.disturbed_ns, US(sum));
	return sum;
}

static void disturbed_time_is_that_of_a_slow_definition(void **state)
{
	uint64_t seed, sum = 0;

	for (seed = 1; seed <= 4000; seed++)
		sum += compare(*state, seed);
	/* Else the traces would prove little. */
	assert_in_range(sum / 4000, 20, SLOTS * CPUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(latency_and_duration),
		FIXTURE_TEST(a_handler_that_raises_nothing_dropped_the_kick),
		FIXTURE_TEST(without_raises_the_idle_state_decides),
		FIXTURE_TEST(the_end_of_the_trace_drops_nothing),
		FIXTURE_TEST(a_raise_outside_of_the_tick_is_a_kick),
		FIXTURE_TEST(from_the_interrupt_until_idle_again),
		FIXTURE_TEST(until_the_run_ends_where_idle_is_not_recorded),
		FIXTURE_TEST(without_an_interrupt_from_the_handler),
		FIXTURE_TEST(each_task_is_charged_its_own_part),
		FIXTURE_TEST(a_task_unseen_so_far_is_charged_too),
		FIXTURE_TEST(two_siblings_disturb_once),
		FIXTURE_TEST(recovery_overlaps_the_next_disturbance),
		FIXTURE_TEST(kicked_again_during_its_run),
		FIXTURE_TEST(a_task_on_the_target_ends_it),
		FIXTURE_TEST(the_trace_ends_in_the_middle),
		FIXTURE_TEST(a_gap_ends_what_was_under_way),
		FIXTURE_TEST(disturbed_time_is_that_of_a_slow_definition),
	};

	return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
