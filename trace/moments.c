// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of moments of a machine. A moment waits while later evidence may
 * still settle what it assumes about the start of the trace, and at least
 * until nothing recorded within settle_ns can belong to it any more.
 */

#include <stdlib.h>

#include "ilb/error.h"
#include "trace/machine.h"

const char *ilb_moment_kind_name(enum ilb_moment_kind kind)
{
	static const char *const names[] = {
		[ILB_MOMENT_RECONSTRUCTED] = "reconstructed",
		[ILB_MOMENT_PROBED] = "probed",
		[ILB_MOMENT_EXACT] = "exact",
		[ILB_MOMENT_SIMULATED] = "simulated",
	};

	return names[kind];
}

int ilb_machine_queue_init(struct ilb_machine *m)
{
	unsigned long *words;
	unsigned int i;

	m->pending = calloc(ILB_PENDING_MAX, sizeof(*m->pending));
	m->pending_words = calloc((size_t)ILB_PENDING_MAX * 3 * m->words,
				  sizeof(unsigned long));
	if (!m->pending || !m->pending_words)
		return -ILB_ERR_NOMEM;
	for (i = 0; i < ILB_PENDING_MAX; i++) {
		words = m->pending_words + (size_t)i * 3 * m->words;
		m->pending[i].mask = words;
		m->pending[i].idle = words + m->words;
		m->pending[i].unknown = words + 2 * m->words;
	}
	return 0;
}

static struct ilb_pending *nth(struct ilb_machine *m, unsigned int i)
{
	return &m->pending[(m->head + i) % ILB_PENDING_MAX];
}

static int rests_on_assumption(const struct ilb_machine *m,
			       const struct ilb_pending *p)
{
	const unsigned long *housekeeping = m->setup.housekeeping;
	unsigned int i;

	for (i = 0; i < m->words; i++)
		if (p->unknown[i] & p->idle[i] & housekeeping[i])
			return 1;
	return 0;
}

static void emit(struct ilb_machine *m)
{
	const struct ilb_pending *p = nth(m, 0);
	struct ilb_moment moment = {
		.time_ns = p->time_ns,
		.kicker = p->kicker,
		.target = p->target,
		.kind = p->kind,
		.assumed = rests_on_assumption(m, p),
		.mask = p->mask,
		.idle = p->idle,
		.housekeeping = m->setup.housekeeping,
	};

	if (m->setup.moment)
		m->setup.moment(m->setup.context, &moment);
	m->head = (m->head + 1) % ILB_PENDING_MAX;
	m->count--;
}

/* Later evidence can still change it. */
static int may_change(const struct ilb_machine *m, const struct ilb_pending *p)
{
	unsigned int i;

	if (m->nr_unseen || m->now_ns <= p->time_ns + m->setup.settle_ns)
		return 1;
	for (i = 0; i < m->words; i++)
		if (p->unknown[i] & m->open[i])
			return 1;
	return 0;
}

void ilb_machine_queue_emit(struct ilb_machine *m, int all)
{
	while (m->count && (all || !may_change(m, nth(m, 0))))
		emit(m);
}

/*
 * A CPU's tick stops first, then it enters the mask, then an idle state: of
 * the middle step only probes tell. Once it slept, it was in.
 */
static int had_slept(const struct ilb_machine *m, const struct ilb_cpu_state *c)
{
	return c->slept_ns >= c->entered_ns &&
	       c->slept_ns + m->setup.settle_ns < m->now_ns;
}

/*
 * The kernel chose before the kick was recorded. What the kicker itself had
 * recorded before that, it could know; a CPU that stopped being idle, or whose
 * tick stopped, after the kicker's last event may have done so after the
 * choice. A stopped tick is recorded before the CPU enters the mask, so those
 * count as not yet in. But if that last event is from earlier in the tick than
 * the trigger of balancing, those are in that slept by now. A wakeup takes
 * effect before it is recorded: only the last settle_ns are in doubt, and there
 * the kick is taken to be the earlier.
 */
static void as_the_kicker_saw_it(const struct ilb_machine *m,
				 struct ilb_pending *p)
{
	uint64_t known_ns = m->cpu[p->kicker].before_ns;
	uint64_t busy_ns = m->now_ns - m->setup.settle_ns;
	int close = m->cpu[p->kicker].before_triggered;
	const struct ilb_cpu_state *c;
	unsigned int cpu;

	if (m->now_ns < m->setup.settle_ns || busy_ns < known_ns)
		busy_ns = known_ns;
	for (cpu = 0; cpu < m->nr_cpus; cpu++) {
		c = &m->cpu[cpu];
		if (c->entered_ns > known_ns && c->entered_ns <= m->now_ns &&
		    (close || !had_slept(m, c)))
			ilb_mask_clear(p->mask, cpu);
		if (!c->pub.idle && c->busy_ns > busy_ns)
			ilb_mask_set(p->idle, cpu);
	}
}

void ilb_machine_queue_kick(struct ilb_machine *m, unsigned int kicker,
			    unsigned int target)
{
	struct ilb_pending *p;

	if (m->count == ILB_PENDING_MAX)
		emit(m);
	p = nth(m, m->count++);
	p->time_ns = m->now_ns;
	p->kicker = kicker;
	p->target = target;
	p->kind = m->probed ? ILB_MOMENT_PROBED : ILB_MOMENT_RECONSTRUCTED;
	ilb_mask_copy(p->mask, m->mask, m->nr_cpus);
	ilb_mask_copy(p->idle, m->idle, m->nr_cpus);
	ilb_mask_copy(p->unknown, m->unknown, m->nr_cpus);
	m->last_pending_ns = m->now_ns;
	if (kicker == ILB_CPU_NONE)
		return;
	if (m->setup.settle_ns)
		as_the_kicker_saw_it(m, p);
	/* It kicks from a busy tick. */
	ilb_mask_clear(p->idle, kicker);
}

void ilb_machine_queue_was_busy(struct ilb_machine *m, unsigned int cpu,
				int out)
{
	struct ilb_pending *p;
	unsigned int i;

	for (i = 0; i < m->count; i++) {
		p = nth(m, i);
		ilb_mask_clear(p->idle, cpu);
		if (out)
			ilb_mask_clear(p->mask, cpu);
	}
}

void ilb_machine_queue_settle(struct ilb_machine *m, unsigned int cpu, int in)
{
	struct ilb_pending *p;
	unsigned int i;

	for (i = 0; i < m->count; i++) {
		p = nth(m, i);
		if (!ilb_mask_test(p->unknown, cpu))
			continue;
		ilb_mask_clear(p->unknown, cpu);
		if (in)
			ilb_mask_set(p->mask, cpu);
		else
			ilb_mask_clear(p->mask, cpu);
	}
}

/* rq->curr becomes the idle task before sched_switch is recorded. */
void ilb_machine_queue_went_idle(struct ilb_machine *m, unsigned int cpu)
{
	struct ilb_pending *p;
	unsigned int i;

	if (!m->setup.settle_ns)
		return;
	for (i = m->count; i; i--) {
		p = nth(m, i - 1);
		if (p->time_ns + m->setup.settle_ns < m->now_ns)
			break;
		if (p->kicker != cpu)
			ilb_mask_set(p->idle, cpu);
	}
}
