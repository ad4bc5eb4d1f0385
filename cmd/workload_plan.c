// SPDX-License-Identifier: GPL-2.0-only
/* ilb workload: which tasks there are, and the lengths they draw. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cmd/workload.h"

#define MS	1000000ULL

static int reserve(struct ilb_workload *w, unsigned int nr)
{
	/* One more: a mask without CPUs would ask for none. */
	w->tasks = calloc((size_t)nr + 1, sizeof(*w->tasks));
	return w->tasks ? 0 : -ILB_ERR_NOMEM;
}

static struct ilb_task *add(struct ilb_workload *w, enum ilb_task_kind kind,
			    unsigned int number)
{
	static const char *const names[] = {
		[ILB_TASK_SPIN] = "spin", [ILB_TASK_BURST] = "burst",
		[ILB_TASK_PING] = "ping", [ILB_TASK_PONG] = "pong",
		[ILB_TASK_LEAVER] = "leaver", [ILB_TASK_SLEEPER] = "sleeper",
		[ILB_TASK_HEALER] = "healer",
	};
	struct ilb_task *task = &w->tasks[w->nr_tasks++];

	task->kind = kind;
	task->cpu = ILB_CPU_NONE;
	snprintf(task->name, sizeof(task->name), "%s%u", names[kind], number);
	return task;
}

static void add_pinned(struct ilb_workload *w, enum ilb_task_kind kind,
		       unsigned int cpu)
{
	add(w, kind, cpu)->cpu = cpu;
}

int ilb_plan_pinned(struct ilb_workload *w, const unsigned long *cpus)
{
	unsigned int cpu;
	int err;

	err = reserve(w, 2 * ilb_mask_weight(cpus, ILB_CPUS_MAX));
	if (err)
		return err;
	ilb_for_each_cpu(cpu, cpus, ILB_CPUS_MAX) {
		if (w->kind == ILB_WORKLOAD_LOSE) {
			add_pinned(w, ILB_TASK_LEAVER, cpu);
			add_pinned(w, ILB_TASK_SLEEPER, cpu);
		} else if (w->kind == ILB_WORKLOAD_HEAL) {
			add_pinned(w, ILB_TASK_HEALER, cpu);
		} else {
			add_pinned(w, ILB_TASK_SPIN, cpu);
		}
	}
	return 0;
}

/* A splitmix64 generator: every state is a good one, also 0. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

int ilb_plan_mix(struct ilb_workload *w, unsigned int bursts,
		 unsigned int pairs)
{
	uint64_t state = w->seed;
	unsigned int i;
	int err;

	err = reserve(w, bursts + 2 * pairs);
	if (err)
		return err;
	for (i = 0; i < bursts; i++)
		add(w, ILB_TASK_BURST, i)->seed = draw(&state);
	for (i = 0; i < pairs; i++) {
		add(w, ILB_TASK_PING, i)->seed = draw(&state);
		add(w, ILB_TASK_PONG, i);
	}
	return 0;
}

void ilb_workload_free(struct ilb_workload *w)
{
	if (w->slots)
		munmap(w->slots, w->nr_tasks * sizeof(*w->slots));
	w->slots = NULL;
	free(w->tasks);
	w->tasks = NULL;
	w->nr_tasks = 0;
}

uint64_t ilb_task_length(const struct ilb_task *task, uint64_t *state)
{
	if (task->kind == ILB_TASK_BURST)
		return 2 * MS + draw(state) % (20 * MS);
	return 1 * MS + draw(state) % (4 * MS);
}
