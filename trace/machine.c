// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events to machine state: what runs on every CPU, whether it is idle in the
 * sense of idle_cpu(), and whether it is in nohz.idle_cpus_mask. Follows
 * Linux 6.1 to 7.3.
 *
 * Idle: the idle task runs, nothing was queued since the last switch, and no
 * remote wakeup is under way. A remote wakeup counts from csd_queue_cpu until
 * the call has run (csd_function_exit), as rq->ttwu_pending does: it outlives
 * a switch. Before Linux 6.4, which has no such events, it counts from
 * sched_waking until the task is queued. That names the CPU where the task
 * last ran; if the kernel chooses another, sched_migrate_task follows. A CPU
 * that wakes a task for itself needs no call.
 *
 * In the mask: a CPU enters when its tick stops in idle, and leaves at the
 * first tick that finds it busy. Probes that read the mask overrule this for
 * the CPUs that they cover. What was before the first such event is assumed:
 * in for a CPU that was idle, or has nohz_full (its bit survives a task that
 * runs without a tick), out for another that was busy.
 */

#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "trace/machine.h"

#define DEFAULT_PERIOD_NS	4000000ULL
#define HZ_VOTES_NEEDED		16
/* Longer than any remote wakeup takes: its end was not recorded. */
#define WAKING_MAX_NS		100000000ULL
#define PROBES			(~0U << ILB_EVENT_PROBE_ENTER)

static const unsigned int hz_choices[4] = { 1000, 300, 250, 100 };

static void init_membership(struct ilb_machine *m)
{
	unsigned int cpu;

	ilb_mask_copy(m->mask, m->setup.topology->online, m->nr_cpus);
	if (m->setup.isolated)
		ilb_mask_andnot(m->mask, m->mask, m->setup.isolated,
				m->nr_cpus);
	ilb_mask_copy(m->unknown, m->mask, m->nr_cpus);
	ilb_mask_copy(m->open, m->mask, m->nr_cpus);
	ilb_mask_copy(m->idle, m->setup.topology->online, m->nr_cpus);
	ilb_mask_copy(m->unseen, m->idle, m->nr_cpus);
	m->nr_unseen = ilb_mask_weight(m->unseen, m->nr_cpus);
	for (cpu = 0; cpu < m->nr_cpus; cpu++) {
		struct ilb_cpu *pub = &m->cpu[cpu].pub;

		pub->pid = ILB_PID_UNKNOWN;
		pub->tick_stopped = -1;
		pub->idle = ilb_mask_test(m->idle, cpu);
		pub->membership = ilb_mask_test(m->mask, cpu) ?
					  ILB_ASSUMED_IN : ILB_OUT;
	}
}

struct ilb_machine *ilb_machine_create(const struct ilb_machine_setup *setup)
{
	struct ilb_machine *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->setup = *setup;
	m->nr_cpus = setup->topology->nr_cpus;
	m->words = ILB_MASK_WORDS(m->nr_cpus);
	m->cpu = calloc(m->nr_cpus, sizeof(*m->cpu));
	m->masks = calloc((size_t)m->words * 5, sizeof(*m->masks));
	if (!m->cpu || !m->masks || ilb_machine_queue_init(m)) {
		ilb_machine_destroy(m);
		return NULL;
	}
	m->mask = m->masks;
	m->idle = m->masks + m->words;
	m->unknown = m->masks + 2 * m->words;
	m->open = m->masks + 3 * m->words;
	m->unseen = m->masks + 4 * m->words;
	m->has_nohz_full = setup->nohz_full &&
			   !ilb_mask_empty(setup->nohz_full, m->nr_cpus);
	m->seen = setup->recorded & ~PROBES;
	m->hz = setup->hz;
	m->period_ns = m->hz ? ILB_NS_PER_S / m->hz : DEFAULT_PERIOD_NS;
	init_membership(m);
	return m;
}

void ilb_machine_destroy(struct ilb_machine *m)
{
	if (!m)
		return;
	free(m->pending);
	free(m->pending_words);
	free(m->masks);
	free(m->cpu);
	free(m);
}

/* ---- a few tasks ---- */

static int has_task(const struct ilb_few *few, int32_t pid)
{
	unsigned int i;

	for (i = 0; i < few->known; i++)
		if (few->pid[i] == pid)
			return 1;
	return 0;
}

static void add_task(struct ilb_few *few, int32_t pid)
{
	if (has_task(few, pid))
		return;
	few->count++;
	if (few->known < ILB_FEW)
		few->pid[few->known++] = pid;
}

/* 0: it was not there, as far as is known. */
static int remove_task(struct ilb_few *few, int32_t pid)
{
	unsigned int i;

	for (i = 0; i < few->known && few->pid[i] != pid; i++)
		;
	if (i < few->known)
		few->pid[i] = few->pid[--few->known];
	else if (few->count == few->known)
		return 0;
	few->count--;
	return 1;
}

static void forget_tasks(struct ilb_few *few)
{
	few->count = 0;
	few->known = 0;
}

/* ---- idle ---- */

static void update_idle(struct ilb_machine *m, unsigned int cpu)
{
	struct ilb_cpu_state *c = &m->cpu[cpu];
	int idle = c->pub.pid <= 0 && !c->queued.count &&
		   !c->waking.count && !c->remote;

	if (idle == c->pub.idle)
		return;
	c->pub.idle = idle;
	if (idle) {
		ilb_mask_set(m->idle, cpu);
		return;
	}
	ilb_mask_clear(m->idle, cpu);
	c->busy_ns = m->now_ns;
}

/* ---- membership ---- */

static void set_mask(struct ilb_machine *m, unsigned int cpu, int in)
{
	if (in)
		ilb_mask_set(m->mask, cpu);
	else
		ilb_mask_clear(m->mask, cpu);
}

/* From now on it is known; what was before stays as it is. */
static void know(struct ilb_machine *m, unsigned int cpu, int in)
{
	struct ilb_cpu_state *c = &m->cpu[cpu];

	if (in && !ilb_mask_test(m->mask, cpu))
		c->entered_ns = m->now_ns;
	set_mask(m, cpu, in);
	c->pub.membership = in ? ILB_IN : ILB_OUT;
	ilb_mask_clear(m->unknown, cpu);
	ilb_mask_clear(m->open, cpu);
}

/* Known, and since it never changed, known from the start. */
static void know_from_start(struct ilb_machine *m, unsigned int cpu, int in)
{
	ilb_machine_queue_settle(m, cpu, in);
	know(m, cpu, in);
	m->cpu[cpu].entered_ns = 0;
}

static void assume(struct ilb_machine *m, unsigned int cpu, int in)
{
	set_mask(m, cpu, in);
	m->cpu[cpu].pub.membership = in ? ILB_ASSUMED_IN : ILB_ASSUMED_OUT;
	ilb_mask_set(m->unknown, cpu);
}

static int never_member(const struct ilb_machine *m, unsigned int cpu)
{
	return m->setup.isolated && ilb_mask_test(m->setup.isolated, cpu);
}

static int is_nohz_full(const struct ilb_machine *m, unsigned int cpu)
{
	return m->has_nohz_full && ilb_mask_test(m->setup.nohz_full, cpu);
}

/* Probes tell the truth about CPUs 0 to 63; events need not guess it. */
static int told_by_probes(const struct ilb_machine *m, unsigned int cpu)
{
	return m->probed && cpu < 64;
}

/*
 * A probe read the first 64 bits of the mask, before its function changed
 * anything.
 */
static void read_mask(struct ilb_machine *m, const struct ilb_event *event)
{
	unsigned int cpu, n = m->nr_cpus < 64 ? m->nr_cpus : 64;
	int in;

	for (cpu = 0; cpu < n; cpu++) {
		if (!ilb_mask_test(m->setup.topology->online, cpu))
			continue;
		in = (event->u.probe.mask >> cpu) & 1;
		if (ilb_mask_test(m->open, cpu))
			know_from_start(m, cpu, in);
		else if (in != ilb_mask_test(m->mask, cpu) ||
			 ilb_mask_test(m->unknown, cpu))
			know(m, cpu, in);
	}
	m->probed = 1;
}

/* ---- what runs ---- */

/* The first event on a CPU says what ran there since the start. */
static void first_event(struct ilb_machine *m, unsigned int cpu, int32_t pid)
{
	struct ilb_cpu_state *c = &m->cpu[cpu];

	if (pid == ILB_PID_UNKNOWN)
		return;
	c->seen = 1;
	c->pub.pid = pid;
	c->pub.since_ns = m->now_ns;
	if (ilb_mask_test(m->unseen, cpu)) {
		ilb_mask_clear(m->unseen, cpu);
		m->nr_unseen--;
	}
	if (pid > 0) {
		int out = ilb_mask_test(m->open, cpu) && !is_nohz_full(m, cpu);

		ilb_machine_queue_was_busy(m, cpu, out);
		if (out)
			assume(m, cpu, 0);
		c->pub.idle = 0;
		c->busy_ns = 0;
		ilb_mask_clear(m->idle, cpu);
	}
}

/*
 * The pid on a line contradicts the last switch: events were lost. Between two
 * tasks that counts only where the tracer admits a loss, since perf script can
 * print the process instead of the thread.
 */
static int missed_a_switch(const struct ilb_cpu_state *c, int32_t pid)
{
	if (pid < 0 || pid == c->pub.pid)
		return 0;
	return !pid != !c->pub.pid || c->lossy;
}

static void resync(struct ilb_machine *m, unsigned int cpu, int32_t pid)
{
	struct ilb_cpu_state *c = &m->cpu[cpu];

	c->pub.pid = pid;
	c->pub.comm[0] = '\0';
	c->pub.since_ns = m->now_ns;
	forget_tasks(&c->queued);
	forget_tasks(&c->waking);
	c->lossy = 0;
	update_idle(m, cpu);
}

static void went_idle(struct ilb_machine *m, unsigned int cpu)
{
	struct ilb_cpu_state *c = &m->cpu[cpu];

	if (!m->has_nohz_full)
		c->idle_ticks = 0;
	update_idle(m, cpu);
	if (c->pub.idle)
		ilb_machine_queue_went_idle(m, cpu);
}

static void on_switch(struct ilb_machine *m, const struct ilb_event *event)
{
	struct ilb_cpu_state *c = &m->cpu[event->cpu];
	int was_idle_task = c->pub.pid == 0;

	c->pub.pid = event->u.sched_switch.next_pid;
	memcpy(c->pub.comm, event->u.sched_switch.next_comm, ILB_COMM_LEN);
	c->pub.since_ns = m->now_ns;
	forget_tasks(&c->queued);
	remove_task(&c->waking, c->pub.pid);
	if (m->now_ns - c->waking_ns > WAKING_MAX_NS)
		forget_tasks(&c->waking);
	c->lossy = 0;
	/* Where the end of a remote wakeup is not recorded, it ends here. */
	if (!ilb_machine_seen(m, ILB_EVENT_CSD_EXIT))
		c->remote = 0;
	if (c->pub.pid == 0) {
		went_idle(m, event->cpu);
		return;
	}
	/* Leaving idle restarts the tick, except on nohz_full CPUs. */
	if (was_idle_task && !is_nohz_full(m, event->cpu))
		c->pub.tick_stopped = 0;
	update_idle(m, event->cpu);
}

static void on_wakeup(struct ilb_machine *m, const struct ilb_event *event)
{
	unsigned int cpu = event->u.wakeup.cpu;
	struct ilb_cpu_state *c;

	if (cpu >= m->nr_cpus)
		return;
	c = &m->cpu[cpu];
	remove_task(&c->waking, event->u.wakeup.pid);
	add_task(&c->queued, event->u.wakeup.pid);
	update_idle(m, cpu);
}

/* A CPU that was not seen yet would never be seen to end it. */
static void expect(struct ilb_machine *m, unsigned int cpu, int32_t pid)
{
	struct ilb_cpu_state *c = &m->cpu[cpu];

	if (!c->seen)
		return;
	add_task(&c->waking, pid);
	c->waking_ns = m->now_ns;
	update_idle(m, cpu);
}

static void on_waking(struct ilb_machine *m, const struct ilb_event *event)
{
	unsigned int cpu = event->u.wakeup.cpu;

	if (cpu >= m->nr_cpus || ilb_machine_seen(m, ILB_EVENT_CSD_QUEUE))
		return;
	m->cpu[event->cpu].wakes = event->u.wakeup.pid;
	if (cpu != event->cpu)
		expect(m, cpu, event->u.wakeup.pid);
}

/*
 * Only tasks that are queued, or about to be, migrate: the one CPU has a task
 * more and no wakeup need tell it, as when the balancer pulls. If the other
 * one had not run it yet, it is as it was before. A task that is being woken
 * is not queued before its wakeup is recorded, even if its new CPU switches
 * meanwhile.
 */
static void on_migrate(struct ilb_machine *m, const struct ilb_event *event)
{
	unsigned int from = event->u.migrate.from;
	unsigned int to = event->u.migrate.to;
	int32_t pid = event->u.migrate.pid;

	if (from >= m->nr_cpus || to >= m->nr_cpus)
		return;
	if (remove_task(&m->cpu[from].queued, pid) +
	    remove_task(&m->cpu[from].waking, pid))
		update_idle(m, from);
	if (m->cpu[event->cpu].wakes == pid && to != event->cpu) {
		expect(m, to, pid);
		return;
	}
	add_task(&m->cpu[to].queued, pid);
	update_idle(m, to);
}

/* ---- the tick ---- */

static void vote_hz(struct ilb_machine *m, uint64_t delta_ns)
{
	uint64_t period_ns;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		period_ns = ILB_NS_PER_S / hz_choices[i];
		if (delta_ns < period_ns - period_ns / 10 ||
		    delta_ns > period_ns + period_ns / 10)
			continue;
		if (++m->hz_votes[i] < HZ_VOTES_NEEDED)
			return;
		m->hz = hz_choices[i];
		m->period_ns = period_ns;
		return;
	}
}

/*
 * An idle CPU whose tick runs on and on has not entered the mask: the
 * timekeeper of a nohz_full machine, or a CPU whose governor expects little.
 */
static void idle_tick(struct ilb_machine *m, unsigned int cpu, int running)
{
	struct ilb_cpu_state *c = &m->cpu[cpu];

	c->idle_ticks = running ? c->idle_ticks + 1 : 1;
	if (c->idle_ticks < ILB_TICKS_TO_DECIDE || told_by_probes(m, cpu))
		return;
	if (ilb_mask_test(m->open, cpu))
		know_from_start(m, cpu, 0);
}

static void on_tick(struct ilb_machine *m, unsigned int cpu)
{
	struct ilb_cpu_state *c = &m->cpu[cpu];
	uint64_t delta_ns = m->now_ns - c->pub.ticked_ns;
	int running = c->pub.ticked_ns && delta_ns * 2 <= m->period_ns * 5;

	if (!m->hz && c->pub.ticked_ns)
		vote_hz(m, delta_ns);
	c->pub.ticked_ns = m->now_ns;
	c->in_tick = 1;
	if (c->pub.idle) {
		if (running)
			c->pub.tick_stopped = 0;
		idle_tick(m, cpu, running);
		return;
	}
	c->pub.tick_stopped = 0;
	c->idle_ticks = 0;
	if (!told_by_probes(m, cpu) && !never_member(m, cpu))
		know(m, cpu, 0);
}

static void on_tick_stop(struct ilb_machine *m, const struct ilb_event *event)
{
	struct ilb_cpu_state *c = &m->cpu[event->cpu];

	if (!event->u.value) {
		c->pub.tick_stopped = 0;
		return;
	}
	c->pub.tick_stopped = 1;
	c->idle_ticks = 0;
	/* Under a task it is nohz_full's, and does not enter the CPU. */
	if (c->pub.pid == 0 && !told_by_probes(m, event->cpu) &&
	    !never_member(m, event->cpu))
		know(m, event->cpu, 1);
}

/* ---- kicks ---- */

static void kick(struct ilb_machine *m, unsigned int kicker,
		 unsigned int target)
{
	if (target >= m->nr_cpus)
		return;
	m->kick.kicker = kicker;
	m->kick.target = target;
	m->kicked = 1;
	ilb_machine_queue_kick(m, kicker, target);
	/* A later kick may rest on this one, this one not on itself. */
	if (ilb_mask_test(m->unknown, target)) {
		know(m, target, 1);
		m->cpu[target].entered_ns = 0;
	}
}

static void on_csd_queue(struct ilb_machine *m, const struct ilb_event *event)
{
	unsigned int target = event->u.csd.cpu;

	if (target >= m->nr_cpus)
		return;
	if (event->u.csd.func == ILB_FUNC_TTWU) {
		m->cpu[target].remote = 1;
		update_idle(m, target);
	} else if (event->u.csd.func == ILB_FUNC_NOHZ_CSD) {
		/* The probe may have shown the trace's first one already. */
		if (m->sent_ns && m->sent.kicker == event->cpu &&
		    m->sent.target == target &&
		    m->now_ns - m->sent_ns < ILB_NS_PER_S / 1000) {
			m->sent_ns = 0;
			return;
		}
		kick(m, event->cpu, target);
	}
}

static void on_send(struct ilb_machine *m, const struct ilb_event *event)
{
	if (event->u.probe.func != ILB_FUNC_NOHZ_CSD ||
	    ilb_machine_seen(m, ILB_EVENT_CSD_QUEUE))
		return;
	kick(m, event->cpu, event->u.probe.cpu);
	if (!m->kicked)
		return;
	m->sent = m->kick;
	m->sent_ns = m->now_ns;
}

/*
 * Where neither calls nor the probes on them are recorded, the softirq is what
 * shows a kick. A handler that was recorded belongs to a kick whose sending is
 * recorded too, or was before the recording began.
 */
static void on_raise(struct ilb_machine *m, const struct ilb_event *event)
{
	if (event->u.value != ILB_SOFTIRQ_SCHED ||
	    m->cpu[event->cpu].in_tick ||
	    !ilb_machine_seen(m, ILB_EVENT_TICK) ||
	    ilb_machine_seen(m, ILB_EVENT_CSD_QUEUE) ||
	    ilb_machine_seen(m, ILB_EVENT_CSD_ENTRY) ||
	    ilb_machine_seen(m, ILB_EVENT_PROBE_SEND) ||
	    ilb_machine_seen(m, ILB_EVENT_PROBE_CSD))
		return;
	kick(m, ILB_CPU_NONE, event->cpu);
}

static void on_csd_exit(struct ilb_machine *m, const struct ilb_event *event)
{
	if (event->u.csd.func != ILB_FUNC_TTWU)
		return;
	m->cpu[event->cpu].remote = 0;
	update_idle(m, event->cpu);
}

/* Lost events may have changed what is known of the CPU. */
static void on_lost(struct ilb_machine *m, unsigned int cpu)
{
	struct ilb_cpu_state *c = &m->cpu[cpu];
	unsigned int other;

	forget_tasks(&c->queued);
	c->remote = 0;
	/* The end of a wakeup of another CPU may be among them. */
	for (other = 0; other < m->nr_cpus; other++) {
		if (!m->cpu[other].waking.count)
			continue;
		forget_tasks(&m->cpu[other].waking);
		update_idle(m, other);
	}
	c->lossy = 1;
	c->in_tick = 0;
	c->pub.tick_stopped = -1;
	update_idle(m, cpu);
	if (told_by_probes(m, cpu) || never_member(m, cpu) ||
	    ilb_mask_test(m->unknown, cpu))
		return;
	assume(m, cpu, ilb_mask_test(m->mask, cpu));
}

/* ---- the public side ---- */

static int is_probe(uint32_t type)
{
	return type >= ILB_EVENT_PROBE_ENTER;
}

/* The tick ends with it: SCHED is raised if due, then the kick is decided. */
static int by_the_trigger(const struct ilb_event *event)
{
	if (event->type == ILB_EVENT_SOFTIRQ_RAISE)
		return event->u.value == ILB_SOFTIRQ_SCHED;
	return event->type == ILB_EVENT_PROBE_TICK ||
	       event->type == ILB_EVENT_PROBE_EXIT;
}

/* Common to all events: the CPU, who runs there, and when. */
static void note(struct ilb_machine *m, const struct ilb_event *event)
{
	struct ilb_cpu_state *c = &m->cpu[event->cpu];
	int32_t pid = event->pid;

	if (event->type == ILB_EVENT_SWITCH)
		pid = event->u.sched_switch.prev_pid;
	if (!c->seen)
		first_event(m, event->cpu, pid);
	else if (missed_a_switch(c, pid))
		resync(m, event->cpu, pid);
	c->before_ns = c->event_ns;
	c->before_triggered = c->triggered;
	/* The call is part of sending the kick, not something before it. */
	if (event->type != ILB_EVENT_PROBE_SEND) {
		c->event_ns = m->now_ns;
		c->triggered = by_the_trigger(event);
	}
	switch (event->type) {
	case ILB_EVENT_SWITCH:
	case ILB_EVENT_IDLE:
	case ILB_EVENT_SOFTIRQ_ENTRY:
	case ILB_EVENT_IRQ_CALL:
	case ILB_EVENT_CSD_ENTRY:
	case ILB_EVENT_PROBE_CSD:
		c->in_tick = 0;
		break;
	}
}

static void apply(struct ilb_machine *m, const struct ilb_event *event)
{
	switch (event->type) {
	case ILB_EVENT_LOST:
		on_lost(m, event->cpu);
		break;
	case ILB_EVENT_SWITCH:
		on_switch(m, event);
		break;
	case ILB_EVENT_WAKEUP:
		on_wakeup(m, event);
		break;
	case ILB_EVENT_WAKING:
		on_waking(m, event);
		break;
	case ILB_EVENT_MIGRATE:
		on_migrate(m, event);
		break;
	case ILB_EVENT_TICK:
		on_tick(m, event->cpu);
		break;
	case ILB_EVENT_TICK_STOP:
		on_tick_stop(m, event);
		break;
	case ILB_EVENT_IDLE:
		if (event->u.value != ILB_IDLE_EXIT)
			m->cpu[event->cpu].slept_ns = m->now_ns;
		break;
	case ILB_EVENT_CSD_QUEUE:
		on_csd_queue(m, event);
		break;
	case ILB_EVENT_CSD_EXIT:
		on_csd_exit(m, event);
		break;
	case ILB_EVENT_SOFTIRQ_RAISE:
		on_raise(m, event);
		break;
	case ILB_EVENT_PROBE_ENTER:
		/* The kernel turns away CPUs without scheduling domains. */
		if (told_by_probes(m, event->cpu) &&
		    !never_member(m, event->cpu))
			know(m, event->cpu, 1);
		break;
	case ILB_EVENT_PROBE_EXIT:
		if (told_by_probes(m, event->cpu))
			know(m, event->cpu, 0);
		break;
	case ILB_EVENT_PROBE_SEND:
		on_send(m, event);
		break;
	}
}

void ilb_machine_event(struct ilb_machine *m, const struct ilb_event *event)
{
	m->kicked = 0;
	m->now_ns = event->time_ns;
	if (is_probe(event->type) && m->setup.ignore_probes)
		return;
	if (event->type != ILB_EVENT_LOST)
		note(m, event);
	if (is_probe(event->type) && event->u.probe.has_mask)
		read_mask(m, event);
	apply(m, event);
	/* Choosing a CPU and queueing there is not interrupted. */
	if (event->type != ILB_EVENT_WAKING)
		m->cpu[event->cpu].wakes = 0;
	m->seen |= 1U << event->type;
	if (m->count)
		ilb_machine_queue_emit(m, 0);
}

void ilb_machine_finish(struct ilb_machine *m)
{
	ilb_machine_queue_emit(m, 1);
}

const struct ilb_cpu *ilb_machine_cpu(const struct ilb_machine *m,
				      unsigned int cpu)
{
	return &m->cpu[cpu].pub;
}

const unsigned long *ilb_machine_idle_mask(const struct ilb_machine *m)
{
	return m->idle;
}

const struct ilb_kick *ilb_machine_kick(const struct ilb_machine *m)
{
	return m->kicked ? &m->kick : NULL;
}

int ilb_machine_seen(const struct ilb_machine *m, enum ilb_event_type type)
{
	return (m->seen >> type) & 1;
}

unsigned int ilb_machine_hz(const struct ilb_machine *m)
{
	return m->hz;
}

enum ilb_moment_kind ilb_machine_kind(const struct ilb_machine *m)
{
	return m->probed ? ILB_MOMENT_PROBED : ILB_MOMENT_RECONSTRUCTED;
}
