/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_MEASURE_TASKS_H
#define ILB_MEASURE_TASKS_H

#include <stdint.h>
#include "ilb/event.h"

#define ILB_TASKS_MAX	65536U	/* power of two; about 4 MiB */

/**
 * struct ilb_task - what is kept of a task
 * @pid: 0 marks an empty slot (the idle task is not kept)
 * @cpu: where it ran, or was queued, last; ILB_CPU_NONE at first
 * @moved: it ran on more than one CPU, so its affinity allows several
 * @disturbed_cpu: where it was disturbed last
 * @waits: since @wait_ns it is runnable on @cpu and does not run
 */
struct ilb_task {
	char comm[ILB_COMM_LEN];
	int32_t pid;
	uint32_t cpu;
	uint32_t disturbed_cpu;
	uint8_t moved;
	uint8_t waits;
	uint64_t running_ns;
	uint64_t disturbed_ns;
	uint64_t kicks;
	uint64_t wait_ns;
};

/** ilb_task_disturbed() - 1 if @task is a victim */
static inline int ilb_task_disturbed(const struct ilb_task *task)
{
	return task->kicks || task->disturbed_ns;
}

/** struct ilb_tasks - open addressing by pid; zero it, then _init() */
struct ilb_tasks {
	struct ilb_task *slot;
	unsigned int size;	/* slots, a power of two */
	unsigned int used;
	uint64_t forgotten;	/* tasks dropped to make room */
};

/** ilb_tasks_init() - 0, or -ILB_ERR_NOMEM */
int ilb_tasks_init(struct ilb_tasks *tasks);
void ilb_tasks_free(struct ilb_tasks *tasks);

/**
 * ilb_tasks_get() - the entry of @pid (> 0), made if it is not there
 *
 * Never fails: where ILB_TASKS_MAX is reached, those that are no victims are
 * forgotten, or all if that does not help. The pointer is valid until the
 * next call.
 */
struct ilb_task *ilb_tasks_get(struct ilb_tasks *tasks, int32_t pid);

#endif
