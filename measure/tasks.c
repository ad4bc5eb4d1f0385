// SPDX-License-Identifier: GPL-2.0-only
/* Tasks by pid, in bounded memory however many a trace has. */

#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "ilb/mask.h"
#include "measure/tasks.h"

#define SIZE_AT_FIRST	1024U

int ilb_tasks_init(struct ilb_tasks *tasks)
{
	tasks->slot = calloc(SIZE_AT_FIRST, sizeof(*tasks->slot));
	tasks->size = SIZE_AT_FIRST;
	tasks->used = 0;
	tasks->forgotten = 0;
	return tasks->slot ? 0 : -ILB_ERR_NOMEM;
}

void ilb_tasks_free(struct ilb_tasks *tasks)
{
	free(tasks->slot);
	tasks->slot = NULL;
}

static struct ilb_task *find(const struct ilb_tasks *tasks, int32_t pid)
{
	unsigned int i = ((uint32_t)pid * 2654435769U) >> 7;

	for (;; i++) {
		struct ilb_task *t = &tasks->slot[i & (tasks->size - 1)];

		if (t->pid == pid || !t->pid)
			return t;
	}
}

/* Move all tasks, or only the disturbed ones, to @slot. */
static void refill(struct ilb_tasks *tasks, struct ilb_task *slot,
		   unsigned int size, int only_disturbed)
{
	struct ilb_tasks to = { .slot = slot, .size = size };
	unsigned int i;

	for (i = 0; i < tasks->size; i++) {
		const struct ilb_task *t = &tasks->slot[i];

		if (!t->pid || (only_disturbed && !ilb_task_disturbed(t)))
			continue;
		*find(&to, t->pid) = *t;
		to.used++;
	}
	to.forgotten = tasks->forgotten + (tasks->used - to.used);
	free(tasks->slot);
	*tasks = to;
}

static void make_room(struct ilb_tasks *tasks)
{
	int full = tasks->size == ILB_TASKS_MAX;
	unsigned int size = full ? tasks->size : tasks->size * 2;
	struct ilb_task *slot = calloc(size, sizeof(*slot));

	if (slot)
		refill(tasks, slot, size, full);
	/* Room for few would mean to copy all of them again and again. */
	if (slot && tasks->used * 8 <= tasks->size * 5)
		return;
	/* No memory, or most tasks are disturbed: start again. */
	tasks->forgotten += tasks->used;
	memset(tasks->slot, 0, tasks->size * sizeof(*tasks->slot));
	tasks->used = 0;
}

struct ilb_task *ilb_tasks_get(struct ilb_tasks *tasks, int32_t pid)
{
	struct ilb_task *t = find(tasks, pid);

	if (t->pid)
		return t;
	if ((tasks->used + 1) * 4 > tasks->size * 3) {
		make_room(tasks);
		t = find(tasks, pid);
	}
	tasks->used++;
	t->pid = pid;
	t->cpu = ILB_CPU_NONE;
	t->disturbed_cpu = ILB_CPU_NONE;
	return t;
}
