// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random traces against the rules as they are written down, kept naively:
 * one record per CPU, nothing incremental. Without a window, without
 * probes, and with a known start, so that a moment is the state at its kick.
 *
 * Never more than ILB_FEW tasks are queued on one CPU between its switches:
 * the machine only counts the others.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_run.h"
#include "trace/machine.h"

#define MACHINES	50
#define EVENTS		5000
#define PIDS		40
#define CPUS_MAX	130
#define DUE_MAX		64

/* What the definitions say of a CPU. */
struct plain {
	int pid;
	char comm[ILB_COMM_LEN];
	uint64_t since_ns;
	uint64_t ticked_ns;
	int stopped;
	unsigned char queued[PIDS + 1];
	int remote;
	int lossy;		/* since its last switch */
	int in;
	int guessed;
};

/* A moment that is due. */
struct due {
	uint64_t time_ns;
	unsigned int kicker, target;
	unsigned char in[CPUS_MAX], idle[CPUS_MAX];
	int assumed;
};

struct world {
	struct run *run;
	unsigned int machine, step;
	unsigned int nr_cpus;
	int exits;		/* the trace has csd exits */
	struct plain cpu[CPUS_MAX];
	struct due due[DUE_MAX];
	unsigned int nr_due;	/* those of this very time, after an event */
	unsigned int kicks_now;
	uint64_t seed;
	uint64_t now_ns;
	unsigned long moments, assumed, places[4], busy;
};

/* xorshift: the same traces on every machine. */
static unsigned int below(struct world *w, unsigned int limit)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return (unsigned int)(w->seed >> 20) % limit;
}

#define FAIL(w, cpu, what, got, want)					\
	fail_msg("machine %u of %u CPUs, step %u, CPU %u: %s %lld, not %lld", \
		 (w)->machine, (w)->nr_cpus, (w)->step, (cpu), (what),	\
		 (long long)(got), (long long)(want))
#define SAME(w, cpu, what, got, want)					\
	do {								\
		if ((got) != (want))					\
			FAIL(w, cpu, what, got, want);			\
	} while (0)

/* ---- the definitions ---- */

static int nr_queued(const struct plain *p)
{
	int i, n = 0;

	for (i = 1; i <= PIDS; i++)
		n += p->queued[i];
	return n;
}

static int plain_idle(const struct plain *p)
{
	return p->pid == 0 && !nr_queued(p) && !p->remote;
}

static int listed(const unsigned long *mask, unsigned int cpu)
{
	return ilb_mask_test(mask, cpu);
}

static void plain_switch(struct world *w, struct plain *p, unsigned int cpu,
			 const struct ilb_event *e)
{
	int next = e->u.sched_switch.next_pid;

	if (p->pid == 0 && next != 0 && !listed(w->run->nohz_full, cpu))
		p->stopped = 0;
	p->pid = next;
	memcpy(p->comm, e->u.sched_switch.next_comm, ILB_COMM_LEN);
	p->since_ns = w->now_ns;
	memset(p->queued, 0, sizeof(p->queued));
	p->lossy = 0;
	if (!w->exits)
		p->remote = 0;
}

static void plain_tick(struct world *w, struct plain *p)
{
	int twice = p->ticked_ns && w->now_ns - p->ticked_ns <= 10000000;

	p->ticked_ns = w->now_ns;
	if (!plain_idle(p)) {
		p->stopped = 0;
		p->in = p->guessed = 0;
	} else if (twice) {
		p->stopped = 0;
	}
}

static void plain_stop(struct world *w, struct plain *p, unsigned int cpu,
		       int success)
{
	p->stopped = success;
	if (!success || p->pid != 0 || listed(w->run->isolated, cpu))
		return;
	p->in = 1;
	p->guessed = 0;
}

static void plain_migrate(struct world *w, const struct ilb_event *e)
{
	if (e->u.migrate.from >= w->nr_cpus || e->u.migrate.to >= w->nr_cpus)
		return;
	w->cpu[e->u.migrate.from].queued[e->u.migrate.pid] = 0;
	w->cpu[e->u.migrate.to].queued[e->u.migrate.pid] = 1;
}

static void plain_kick(struct world *w, unsigned int kicker,
		       unsigned int target)
{
	struct due *due = &w->due[w->nr_due++];
	unsigned int cpu;

	assert_true(w->nr_due < DUE_MAX);
	*due = (struct due){ w->now_ns, kicker, target, { 0 }, { 0 }, 0 };
	for (cpu = 0; cpu < w->nr_cpus; cpu++) {
		due->in[cpu] = w->cpu[cpu].in;
		due->idle[cpu] = plain_idle(&w->cpu[cpu]) && cpu != kicker;
		if (w->cpu[cpu].guessed && due->idle[cpu] &&
		    listed(w->run->housekeeping, cpu))
			due->assumed = 1;
	}
	if (w->cpu[target].guessed) {
		w->cpu[target].in = 1;
		w->cpu[target].guessed = 0;
	}
}

static void plain_csd(struct world *w, const struct ilb_event *e)
{
	unsigned int target = e->u.csd.cpu;

	if (target >= w->nr_cpus)
		return;
	if (e->u.csd.func == ILB_FUNC_TTWU)
		w->cpu[target].remote = 1;
	if (e->u.csd.func == ILB_FUNC_NOHZ_CSD)
		plain_kick(w, e->cpu, target);
}

static void plain_lost(struct world *w, struct plain *p, unsigned int cpu)
{
	memset(p->queued, 0, sizeof(p->queued));
	p->remote = 0;
	p->lossy = 1;
	p->stopped = -1;
	if (!listed(w->run->isolated, cpu))
		p->guessed = 1;
}

/* Idle or not a line is right; which task, only after a loss. */
static void plain_line(struct world *w, struct plain *p, int pid)
{
	if (pid < 0 || pid == p->pid)
		return;
	if (pid > 0 && p->pid > 0 && !p->lossy)
		return;
	p->lossy = 0;
	p->pid = pid;
	p->comm[0] = '\0';
	p->since_ns = w->now_ns;
	memset(p->queued, 0, sizeof(p->queued));
}

static void plain_event(struct world *w, const struct ilb_event *e)
{
	struct plain *p = &w->cpu[e->cpu];

	if (e->type != ILB_EVENT_LOST)
		plain_line(w, p, e->type == ILB_EVENT_SWITCH ?
					 e->u.sched_switch.prev_pid : e->pid);
	if (e->type == ILB_EVENT_LOST)
		plain_lost(w, p, e->cpu);
	if (e->type == ILB_EVENT_SWITCH)
		plain_switch(w, p, e->cpu, e);
	if (e->type == ILB_EVENT_TICK)
		plain_tick(w, p);
	if (e->type == ILB_EVENT_TICK_STOP)
		plain_stop(w, p, e->cpu, (int)e->u.value);
	if (e->type == ILB_EVENT_WAKEUP && e->u.wakeup.cpu < w->nr_cpus &&
	    w->cpu[e->u.wakeup.cpu].pid != e->u.wakeup.pid)
		w->cpu[e->u.wakeup.cpu].queued[e->u.wakeup.pid] = 1;
	if (e->type == ILB_EVENT_MIGRATE)
		plain_migrate(w, e);
	if (e->type == ILB_EVENT_CSD_QUEUE)
		plain_csd(w, e);
	if (e->type == ILB_EVENT_CSD_EXIT && e->u.csd.func == ILB_FUNC_TTWU)
		p->remote = 0;
}

/* ---- the comparison ---- */

static void moment_is_due(void *context, const struct ilb_moment *moment)
{
	struct world *w = context;
	const struct due *due = &w->due[0];
	unsigned int cpu;

	if (!w->nr_due)
		FAIL(w, moment->kicker, "a moment at ns", moment->time_ns, 0);
	SAME(w, 0, "time", moment->time_ns, due->time_ns);
	SAME(w, 0, "kicker", moment->kicker, due->kicker);
	SAME(w, 0, "target", moment->target, due->target);
	SAME(w, 0, "assumed", moment->assumed, due->assumed);
	for (cpu = 0; cpu < w->nr_cpus; cpu++) {
		SAME(w, cpu, "was member", ilb_mask_test(moment->mask, cpu),
		     due->in[cpu]);
		SAME(w, cpu, "was idle", ilb_mask_test(moment->idle, cpu),
		     due->idle[cpu]);
	}
	w->moments++;
	w->assumed += moment->assumed;
	w->nr_due--;
	memmove(&w->due[0], &w->due[1], w->nr_due * sizeof(w->due[0]));
}

static void compare_cpu(struct world *w, unsigned int cpu)
{
	const struct ilb_cpu *c = ilb_machine_cpu(w->run->machine, cpu);
	const struct plain *p = &w->cpu[cpu];
	unsigned int place = p->in ? p->guessed ? ILB_ASSUMED_IN : ILB_IN :
			     p->guessed ? ILB_ASSUMED_OUT : ILB_OUT;

	SAME(w, cpu, "pid", c->pid, p->pid);
	SAME(w, cpu, "idle", c->idle, plain_idle(p));
	SAME(w, cpu, "idle mask",
	     ilb_mask_test(ilb_machine_idle_mask(w->run->machine), cpu),
	     plain_idle(p));
	SAME(w, cpu, "membership", c->membership, place);
	SAME(w, cpu, "since", c->since_ns, p->since_ns);
	SAME(w, cpu, "ticked", c->ticked_ns, p->ticked_ns);
	SAME(w, cpu, "tick stopped", c->tick_stopped, p->stopped);
	SAME(w, cpu, "comm differs", strcmp(c->comm, p->comm), 0);
	w->places[place]++;
	w->busy += !c->idle;
}

static void step(struct world *w, const struct ilb_event *e)
{
	int kick = e->type == ILB_EVENT_CSD_QUEUE &&
		   e->u.csd.func == ILB_FUNC_NOHZ_CSD &&
		   e->u.csd.cpu < w->nr_cpus;
	unsigned int cpu;

	if (e->time_ns != w->now_ns)
		w->kicks_now = 0;
	w->kicks_now += (unsigned int)kick;
	w->now_ns = e->time_ns;
	plain_event(w, e);
	ilb_machine_event(w->run->machine, e);
	SAME(w, e->cpu, "a kick", !!ilb_machine_kick(w->run->machine), kick);
	SAME(w, e->cpu, "moments that wait", w->nr_due, w->kicks_now);
	for (cpu = 0; cpu < w->nr_cpus; cpu++)
		compare_cpu(w, cpu);
	w->step++;
}

/* ---- random traces ---- */

/* Now and then a CPU that does not exist. */
static unsigned int any_cpu(struct world *w)
{
	return below(w, 100) ? below(w, w->nr_cpus) :
			       w->nr_cpus + below(w, 3);
}

static int any_pid(struct world *w)
{
	return 1 + (int)below(w, PIDS);
}

static void fill_switch(struct world *w, struct ilb_event *e)
{
	int next = below(w, 2) ? 0 : any_pid(w);

	e->u.sched_switch.prev_pid = e->pid;
	e->u.sched_switch.next_pid = next;
	snprintf(e->u.sched_switch.next_comm, ILB_COMM_LEN, "task%d", next);
}

static void fill_wakeup(struct world *w, struct ilb_event *e)
{
	unsigned int to = any_cpu(w);

	e->u.wakeup.cpu = to;
	e->u.wakeup.pid = any_pid(w);
	if (to >= w->nr_cpus)
		return;
	if (!below(w, 8) && w->cpu[to].pid)
		e->u.wakeup.pid = w->cpu[to].pid;
	else if (nr_queued(&w->cpu[to]) >= ILB_FEW)
		e->type = ILB_EVENT_OTHER;
}

static void fill_migrate(struct world *w, struct ilb_event *e)
{
	unsigned int i, from = any_cpu(w), to = any_cpu(w);

	/* One with a queue to pull from, in most cases. */
	for (i = 0; i < 20 && from < w->nr_cpus && !nr_queued(&w->cpu[from]);
	     i++)
		from = any_cpu(w);
	e->u.migrate.from = from;
	e->u.migrate.to = to;
	e->u.migrate.pid = any_pid(w);
	/* And one that is in it. */
	for (i = 0; i < 60 && from < w->nr_cpus && below(w, 30) &&
	     !w->cpu[from].queued[e->u.migrate.pid]; i++)
		e->u.migrate.pid = any_pid(w);
	if (to < w->nr_cpus && nr_queued(&w->cpu[to]) >= ILB_FEW)
		e->type = ILB_EVENT_OTHER;
}

static void fill(struct world *w, struct ilb_event *e)
{
	switch (e->type) {
	case ILB_EVENT_SWITCH:
		fill_switch(w, e);
		break;
	case ILB_EVENT_WAKEUP:
		fill_wakeup(w, e);
		break;
	case ILB_EVENT_MIGRATE:
		fill_migrate(w, e);
		break;
	case ILB_EVENT_TICK_STOP:
		e->u.value = below(w, 4) != 0;
		break;
	case ILB_EVENT_SOFTIRQ_RAISE:
		e->u.value = ILB_SOFTIRQ_SCHED;
		break;
	case ILB_EVENT_CSD_EXIT:
		if (!w->exits)
			e->type = ILB_EVENT_IRQ_CALL;
		/* fall through */
	case ILB_EVENT_CSD_QUEUE:
		e->u.csd.cpu = any_cpu(w);
		e->u.csd.func = below(w, 3);
		break;
	}
}

static void random_event(struct world *w, struct ilb_event *e)
{
	static const unsigned char types[] = {
		ILB_EVENT_SWITCH, ILB_EVENT_SWITCH, ILB_EVENT_SWITCH,
		ILB_EVENT_SWITCH, ILB_EVENT_WAKEUP, ILB_EVENT_WAKEUP,
		ILB_EVENT_MIGRATE, ILB_EVENT_MIGRATE, ILB_EVENT_TICK,
		ILB_EVENT_TICK, ILB_EVENT_TICK, ILB_EVENT_TICK_STOP,
		ILB_EVENT_TICK_STOP, ILB_EVENT_TICK_STOP,
		ILB_EVENT_CSD_QUEUE, ILB_EVENT_CSD_QUEUE,
		ILB_EVENT_CSD_QUEUE, ILB_EVENT_CSD_EXIT, ILB_EVENT_CSD_EXIT,
		ILB_EVENT_OTHER, ILB_EVENT_SOFTIRQ_RAISE,
		ILB_EVENT_IRQ_CALL, ILB_EVENT_IDLE,
	};

	memset(e, 0, sizeof(*e));
	e->time_ns = w->now_ns;
	if (below(w, 6))
		e->time_ns += below(w, below(w, 9) ? 20000 : 4000000);
	e->cpu = below(w, w->nr_cpus);
	e->type = types[below(w, ARRAY_SIZE(types))];
	if (!below(w, 200))
		e->type = ILB_EVENT_LOST;
	e->pid = w->cpu[e->cpu].pid;
	if (!below(w, 40))
		e->pid = ILB_PID_UNKNOWN;
	else if (!below(w, 60))
		e->pid = below(w, 2) ? 0 : any_pid(w);
	fill(w, e);
}

/* Which CPUs are special differs from machine to machine. */
static void pick_lists(struct world *w)
{
	unsigned int cpu;

	for (cpu = 0; cpu < w->nr_cpus; cpu++) {
		if (!below(w, 8))
			ilb_mask_set(w->run->isolated, cpu);
		if (!below(w, 4))
			ilb_mask_set(w->run->nohz_full, cpu);
		if (!below(w, 4))
			ilb_mask_clear(w->run->housekeeping, cpu);
	}
}

/* Every CPU enters, or ticks under a task; then nothing is unknown. */
static void known_start(struct world *w)
{
	unsigned int cpu;
	struct plain *p;

	for (cpu = 0; cpu < w->nr_cpus; cpu++) {
		p = &w->cpu[cpu];
		if (below(w, 2)) {
			FEED(w->run, STOP(1, cpu, 0));
			p->in = !listed(w->run->isolated, cpu);
			p->stopped = 1;
			p->since_ns = 1000;
			continue;
		}
		FEED(w->run, SWITCH_COMM(2, cpu, 0, 7, "first"),
		     TICK(3, cpu, 7));
		p->pid = 7;
		strcpy(p->comm, "first");
		p->since_ns = 2000;
		p->ticked_ns = 3000;
	}
	FEED(w->run, CSD(4, 0, ILB_PID_UNKNOWN, QUEUE, 0, OTHER));
	if (w->exits)
		FEED(w->run, CSD(4, 0, ILB_PID_UNKNOWN, EXIT, 0, OTHER));
	w->now_ns = 4000;
}

static void one_machine(struct world *w)
{
	struct ilb_event event;
	void *own;
	unsigned int i;

	run_new(&own);
	w->run = own;
	w->nr_cpus = 4 + below(w, CPUS_MAX - 3);
	w->exits = below(w, 4) != 0;
	w->step = 0;
	w->kicks_now = 0;
	memset(w->cpu, 0, sizeof(w->cpu));
	run_resize(w->run, w->nr_cpus);
	pick_lists(w);
	w->run->setup.settle_ns = 0;
	w->run->setup.moment = moment_is_due;
	w->run->setup.context = w;
	known_start(w);
	for (i = 0; i < EVENTS; i++) {
		random_event(w, &event);
		step(w, &event);
	}
	run_finish(w->run);
	SAME(w, 0, "moments left", w->nr_due, 0);
	run_free(&own);
}

static void the_machine_follows_the_definitions(void **state)
{
	static struct world w = { .seed = 20261130 };

	(void)state;
	for (w.machine = 0; w.machine < MACHINES; w.machine++)
		one_machine(&w);
	/* The traces did exercise what they are to exercise. */
	assert_true(w.moments > MACHINES * EVENTS / 40);
	assert_true(w.assumed > w.moments / 20 && w.assumed < w.moments);
	assert_true(w.places[ILB_IN] > 10000 && w.places[ILB_OUT] > 10000);
	assert_true(w.places[ILB_ASSUMED_IN] > 10000);
	assert_true(w.places[ILB_ASSUMED_OUT] > 10000);
	assert_true(w.busy > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machine_follows_the_definitions),
	};

	return cmocka_run_group_tests_name("machine_random", tests, NULL,
					   NULL);
}
