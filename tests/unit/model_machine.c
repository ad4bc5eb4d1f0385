// SPDX-License-Identifier: GPL-2.0-only
/* A machine of any shape with its domains; see model_machine.h. */

#include <stdlib.h>
#include <string.h>

#include "model_machine.h"

static unsigned int *table(unsigned int nr_cpus)
{
	unsigned int *t = calloc(nr_cpus, sizeof(*t));

	assert_non_null(t);
	return t;
}

static struct machine *allocate(const char *kernel, unsigned int nr_cpus)
{
	struct machine *m = calloc(1, sizeof(*m));
	const struct ilb_behaviour *row;

	assert_non_null(m);
	assert_int_equal(ilb_behaviour_find(kernel, &row), 0);
	m->behaviour = *row;
	m->online = calloc(ILB_MASK_WORDS(nr_cpus), sizeof(*m->online));
	m->isolated = calloc(ILB_MASK_WORDS(nr_cpus), sizeof(*m->isolated));
	assert_true(m->online && m->isolated);
	m->core = table(nr_cpus);
	m->sibling = table(nr_cpus);
	m->llc = table(nr_cpus);
	m->node = table(nr_cpus);
	m->cluster = table(nr_cpus);
	m->capacity = table(nr_cpus);
	m->zero = table(nr_cpus);
	ilb_mask_fill(m->online, nr_cpus);
	m->topology.nr_cpus = nr_cpus;
	m->topology.online = m->online;
	m->topology.core = m->core;
	m->topology.sibling = m->sibling;
	m->topology.llc = m->llc;
	m->topology.node = m->node;
	m->setup.topology = &m->topology;
	m->setup.behaviour = &m->behaviour;
	m->setup.now = 1000;
	return m;
}

static void link_cores(struct machine *m)
{
	m->topology.smt = ilb_topology_link(m->topology.nr_cpus, m->core,
					    m->sibling);
	assert_int_equal(ilb_topology_check(&m->topology, NULL), 0);
}

struct machine *machine_new(const char *kernel, unsigned int nr_cpus,
			    unsigned int per_core, unsigned int per_llc,
			    unsigned int per_node)
{
	struct machine *m = allocate(kernel, nr_cpus);
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		m->core[cpu] = cpu - cpu % per_core;
		m->llc[cpu] = cpu - cpu % per_llc;
		m->node[cpu] = cpu - cpu % per_node;
		m->capacity[cpu] = 1024;
	}
	link_cores(m);
	return m;
}

struct machine *machine_vera(const char *kernel)
{
	struct machine *m = allocate(kernel, 352);
	unsigned int cpu;

	for (cpu = 0; cpu < 352; cpu++) {
		m->core[cpu] = cpu % 176;
		m->llc[cpu] = m->node[cpu] = cpu % 176 < 88 ? 0 : 88;
		m->capacity[cpu] = 1024;
	}
	link_cores(m);
	machine_build(m);
	return m;
}

void machine_offline(struct machine *m, unsigned int cpu)
{
	ilb_mask_clear(m->online, cpu);
	m->core[cpu] = m->llc[cpu] = m->node[cpu] = cpu;
	link_cores(m);
}

void machine_build(struct machine *m)
{
	size_t size = ilb_domains_size(&m->setup);

	assert_int_not_equal(size, 0);
	free(m->memory);
	m->memory = malloc(size);
	assert_non_null(m->memory);
	assert_int_equal(ilb_domains_init(&m->domains, &m->setup, m->memory),
			 0);
}

void machine_free(struct machine *m)
{
	free(m->memory);
	free(m->online);
	free(m->isolated);
	free(m->core);
	free(m->sibling);
	free(m->llc);
	free(m->node);
	free(m->cluster);
	free(m->capacity);
	free(m->zero);
	free(m);
}

/* The world: everything that the balancer asks. */

static uint64_t on_clock(void *context)
{
	struct world *w = context;

	w->ns += w->step_ns;
	return w->ns;
}

static int on_need_resched(void *context, unsigned int cpu)
{
	return ((struct world *)context)->resched == cpu;
}

static int on_refresh(void *context, unsigned int cpu)
{
	struct world *w = context;

	w->refreshed++;
	if (w->blocked[cpu])
		w->blocked[cpu]--;
	return w->blocked[cpu] > 0;
}

static int on_task(void *context, unsigned int cpu, unsigned int index,
		   struct ilb_lb_task *task)
{
	struct world *w = context;
	unsigned int i;

	for (i = 0; i < w->nr_tasks; i++) {
		if (w->task[i].cpu != cpu || index--)
			continue;
		*task = w->task[i].lb;
		return 1;
	}
	return 0;
}

void world_sync(struct world *w, unsigned int cpu)
{
	struct ilb_nohz_cpu *queue = &w->queue[cpu];
	struct ilb_balance_cpu *c = &w->cpu[cpu];
	unsigned int i;

	c->load = c->util = c->runnable = queue->nr_running = 0;
	for (i = 0; i < w->nr_tasks; i++) {
		if (w->task[i].cpu != cpu)
			continue;
		queue->nr_running++;
		c->load += w->task[i].lb.load;
		c->runnable += w->task[i].lb.util;
	}
	c->util = c->runnable > 1024 ? 1024 : c->runnable;
	queue->nr_queued = queue->nr_runnable = queue->nr_running;
	if (queue->nr_running)
		ilb_mask_clear(w->idle, cpu);
	else
		ilb_mask_set(w->idle, cpu);
}

static void on_move(void *context, uint64_t id, unsigned int from,
		    unsigned int to)
{
	struct world *w = context;

	assert_int_equal(w->task[id].cpu, from);
	assert_int_not_equal(from, to);
	w->task[id].cpu = to;
	w->task[id].lb.running = !w->queue[to].nr_running;
	world_sync(w, from);
	world_sync(w, to);
}

static void on_push(void *context, unsigned int from, unsigned int to)
{
	struct world *w = context;

	w->push_from = from;
	w->push_to = to;
	w->pushes++;
}

static const struct ilb_host world_host = {
	.clock = on_clock,
	.need_resched = on_need_resched,
	.refresh = on_refresh,
	.task = on_task,
	.move = on_move,
	.push = on_push,
};

static void *zeroes(size_t nr, size_t size)
{
	void *p = calloc(nr, size);

	assert_non_null(p);
	return p;
}

static void world_start(struct world *w)
{
	machine_build(w->m);
	w->nohz_setup.behaviour = &w->m->behaviour;
	assert_int_equal(ilb_nohz_init(&w->nohz, &w->nohz_setup,
				       w->ns / (1000000000 / w->setup.hz)), 0);
	ilb_balance_init(&w->balance, &w->setup);
}

static void world_describe(struct world *w, unsigned int hz)
{
	struct ilb_nohz_setup *s = &w->nohz_setup;

	s->topology = &w->m->topology;
	s->housekeeping = w->housekeeping;
	s->idle = w->idle;
	s->cpus = w->queue;
	s->nr_busy = w->nr_busy;
	s->mask = w->registered;
	s->scratch = w->masks;
	w->setup.nohz = &w->nohz;
	w->setup.domains = &w->m->domains;
	w->setup.host = &world_host;
	w->setup.context = w;
	w->setup.hz = hz;
	w->setup.cpus = w->cpu;
	w->setup.llcs = w->llc;
	w->setup.scratch = w->masks + ILB_MASK_WORDS(s->topology->nr_cpus);
}

struct world *world_new(struct machine *m, unsigned int hz)
{
	struct world *w = zeroes(1, sizeof(*w));
	unsigned int cpu, nr = m->topology.nr_cpus;
	size_t words = ILB_MASK_WORDS(nr);

	w->m = m;
	w->ns = 1000000000;
	m->setup.now = hz;
	w->queue = zeroes(nr, sizeof(*w->queue));
	w->cpu = zeroes(nr, sizeof(*w->cpu));
	w->llc = zeroes(nr, sizeof(*w->llc));
	w->nr_busy = zeroes(nr, sizeof(*w->nr_busy));
	w->blocked = zeroes(nr, sizeof(*w->blocked));
	w->masks = zeroes(5 * words, sizeof(*w->masks));
	w->idle = w->masks + 2 * words;
	w->registered = w->masks + 3 * words;
	w->housekeeping = w->masks + 4 * words;
	w->resched = ILB_CPU_NONE;
	ilb_mask_copy(w->housekeeping, m->online, nr);
	ilb_mask_copy(w->idle, m->online, nr);
	for (cpu = 0; cpu < nr; cpu++) {
		w->queue[cpu].capacity = m->capacity[cpu];
		w->queue[cpu].next_balance = hz;
	}
	world_describe(w, hz);
	world_start(w);
	return w;
}

void world_set(struct world *w, const char *feature)
{
	assert_int_equal(ilb_behaviour_set(&w->m->behaviour, feature), 0);
	world_start(w);
}

void world_free(struct world *w)
{
	machine_free(w->m);
	free(w->queue);
	free(w->cpu);
	free(w->llc);
	free(w->nr_busy);
	free(w->blocked);
	free(w->masks);
	free(w);
}

struct world_task *world_add(struct world *w, unsigned int cpu)
{
	struct world_task *task = &w->task[w->nr_tasks];

	assert_true(w->nr_tasks < WORLD_TASKS);
	memset(task, 0, sizeof(*task));
	task->cpu = cpu;
	task->lb.id = w->nr_tasks++;
	task->lb.load = task->lb.util = 1024;
	task->lb.preferred_llc = ILB_CPU_NONE;
	task->lb.running = !w->queue[cpu].nr_running;
	world_sync(w, cpu);
	return task;
}

void world_register(struct world *w, unsigned int cpu)
{
	ilb_nohz_enter_idle(&w->nohz, cpu);
	w->queue[cpu].has_blocked = 0;
	w->nohz.has_blocked = 0;
	w->nohz.needs_update = 0;
}

struct ilb_sched_domain *world_level(struct world *w, unsigned int cpu,
				     unsigned int n)
{
	struct ilb_sched_domain *sd = w->m->domains.base[cpu];

	while (sd && n--)
		sd = sd->parent;
	assert_non_null(sd);
	return sd;
}
