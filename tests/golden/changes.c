// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "changes.h"

static void note(struct times *t, uint64_t time_ns)
{
	size_t n = t->count++;

	if (!(n & (n - 1)))
		t->ns = realloc(t->ns, (n ? 2 * n : 1) * sizeof(uint64_t));
	t->ns[n] = time_ns;
}

static void note_call(struct changes *c, const struct ilb_event *e,
		      unsigned int cpu)
{
	if (cpu < CHANGES_CPUS && e->u.csd.func == ILB_FUNC_TTWU)
		note(&c->work[cpu], e->time_ns);
}

void changes_note(struct changes *c, const struct ilb_event *e)
{
	switch (e->type) {
	case ILB_EVENT_TICK_STOP:
	case ILB_EVENT_PROBE_ENTER:
	case ILB_EVENT_PROBE_EXIT:
		note(&c->mask[e->cpu], e->time_ns);
		break;
	case ILB_EVENT_TICK:
		note(&c->tick[e->cpu], e->time_ns);
		break;
	case ILB_EVENT_SWITCH:
		note(&c->work[e->cpu], e->time_ns);
		break;
	case ILB_EVENT_WAKEUP:
	case ILB_EVENT_WAKING:
		if (e->u.wakeup.cpu < CHANGES_CPUS)
			note(&c->work[e->u.wakeup.cpu], e->time_ns);
		break;
	case ILB_EVENT_MIGRATE:
		if (e->u.migrate.from < CHANGES_CPUS)
			note(&c->work[e->u.migrate.from], e->time_ns);
		if (e->u.migrate.to < CHANGES_CPUS)
			note(&c->work[e->u.migrate.to], e->time_ns);
		break;
	case ILB_EVENT_CSD_QUEUE:
		note_call(c, e, e->u.csd.cpu);
		break;
	case ILB_EVENT_CSD_EXIT:
		note_call(c, e, e->cpu);
		break;
	}
}

static void forget(struct times *t)
{
	free(t->ns);
	t->ns = NULL;
	t->count = 0;
}

void changes_forget(struct changes *c)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CHANGES_CPUS; cpu++) {
		forget(&c->work[cpu]);
		forget(&c->mask[cpu]);
		forget(&c->tick[cpu]);
	}
}

int times_within(const struct times *t, uint64_t from_ns, uint64_t to_ns)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (t->ns[i] >= from_ns && t->ns[i] <= to_ns)
			return 1;
	return 0;
}

uint64_t times_last(const struct times *t, uint64_t ns)
{
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < t->count && t->ns[i] <= ns; i++)
		last = t->ns[i];
	return last;
}
