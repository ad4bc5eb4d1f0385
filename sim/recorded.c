// SPDX-License-Identifier: GPL-2.0-only
/*
 * A capture's own arrivals as a load: each task wakes when it woke, and
 * computes for as long as it was on a CPU before it slept again. What it
 * waited for is not known: every wakeup is a timer's.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ilb/capture.h"
#include "ilb/source.h"
#include "sim/scenario.h"

#define BURSTS_MAX	(1U << 21)	/* of all tasks */
#define SLOTS		(2 * ILB_SIM_TASKS_MAX)
#define NOBODY		UINT32_MAX

/**
 * struct recorded - a task of the capture
 * @seen: CPUs that it ran on
 * @steps: for each burst: until when it sleeps before, how long it runs
 * @awake_ns: since when it is @awake
 * @ran_ns: since it woke
 */
struct recorded {
	int32_t pid;
	int awake;
	char comm[ILB_COMM_LEN];
	unsigned long *seen;
	struct ilb_sim_step *steps;
	unsigned int nr, room;
	uint64_t awake_ns, ran_ns;
};

/**
 * struct recording - a capture that is being read
 * @slots: hash table of @tasks' numbers + 1 by pid
 * @current, @since: per CPU: who runs, NOBODY: not known or the idle task
 * @known: per CPU: its current task is known
 * @start_ns, @now: of the first and of the last event
 */
struct recording {
	struct ilb_input *json;
	struct ilb_sim_plan *plan;
	int seen_only;
	unsigned int nr_cpus;
	struct recorded *tasks;
	unsigned int nr_tasks, room, bursts;
	uint32_t *slots, *current;
	uint64_t *since;
	unsigned char *known;
	uint64_t start_ns, now;
	int started;
};

static int no_memory(struct recording *r)
{
	return ilb_fail(r->json->error, ILB_ERR_NOMEM, "out of memory");
}

static int too_much(struct recording *r, const char *what, unsigned int most)
{
	return ilb_input_fail_at(r->json, "capture", ILB_ERR_RANGE,
		"has more than %u %s; record for a shorter time", most, what);
}

/* ---- tasks by pid ---- */

static uint32_t *slot_of(struct recording *r, int32_t pid)
{
	uint32_t i = (uint32_t)pid * 0x9e3779b9U % SLOTS;

	while (r->slots[i] && r->tasks[r->slots[i] - 1].pid != pid)
		i = (i + 1) % SLOTS;
	return &r->slots[i];
}

static int add_task(struct recording *r, int32_t pid)
{
	struct recorded *tasks = r->tasks;
	unsigned int room = r->room ? 2 * r->room : 64;

	if (r->nr_tasks == ILB_SIM_TASKS_MAX)
		return too_much(r, "tasks", ILB_SIM_TASKS_MAX);
	if (r->nr_tasks == r->room) {
		tasks = realloc(tasks, room * sizeof(*tasks));
		if (!tasks)
			return no_memory(r);
		r->tasks = tasks;
		r->room = room;
	}
	tasks += r->nr_tasks;
	memset(tasks, 0, sizeof(*tasks));
	tasks->pid = pid;
	tasks->seen = calloc(ILB_MASK_WORDS(r->nr_cpus), sizeof(*tasks->seen));
	if (!tasks->seen)
		return no_memory(r);
	*slot_of(r, pid) = ++r->nr_tasks;
	return 0;
}

static int find_task(struct recording *r, int32_t pid, uint32_t *number)
{
	uint32_t *slot;
	int err;

	*number = NOBODY;
	if (pid <= 0)
		return 0;
	slot = slot_of(r, pid);
	if (!*slot) {
		err = add_task(r, pid);
		if (err)
			return err;
		slot = slot_of(r, pid);
	}
	*number = *slot - 1;
	return 0;
}

/* ---- bursts ---- */

static void wake(struct recording *r, struct recorded *t, uint64_t time)
{
	if (t->awake)
		return;
	t->awake = 1;
	t->awake_ns = time - r->start_ns;
	t->ran_ns = 0;
}

static int add_step(struct recording *r, struct recorded *t,
		    enum ilb_sim_op op, uint64_t value)
{
	unsigned int room = t->room ? 2 * t->room : 8;
	struct ilb_sim_step *steps = t->steps;

	if (t->nr == t->room) {
		steps = realloc(steps, room * sizeof(*steps));
		if (!steps)
			return no_memory(r);
		t->steps = steps;
		t->room = room;
	}
	t->steps[t->nr++] = (struct ilb_sim_step){ .op = op, .value = value };
	return 0;
}

static int sleeps(struct recording *r, struct recorded *t)
{
	int err;

	t->awake = 0;
	if (++r->bursts > BURSTS_MAX)
		return too_much(r, "wakeups", BURSTS_MAX);
	err = add_step(r, t, ILB_SIM_UNTIL, t->awake_ns);
	return err ? err : add_step(r, t, ILB_SIM_RUN,
				    t->ran_ns ? t->ran_ns : 1);
}

/* @number leaves @cpu, where it was from the start if nothing is known. */
static void leaves(struct recording *r, uint32_t number, unsigned int cpu)
{
	struct recorded *t = &r->tasks[number];
	int known = r->known[cpu] && r->current[cpu] == number;
	uint64_t since = known ? r->since[cpu] : r->now;

	if (!r->known[cpu])
		since = r->start_ns;
	wake(r, t, since);
	t->ran_ns += r->now - since;
	ilb_mask_set(t->seen, cpu);
}

static int on_switch(struct recording *r, const struct ilb_event *event)
{
	uint32_t prev, next;
	int err;

	err = find_task(r, event->u.sched_switch.prev_pid, &prev);
	if (!err)
		err = find_task(r, event->u.sched_switch.next_pid, &next);
	if (err)
		return err;
	if (prev != NOBODY) {
		leaves(r, prev, event->cpu);
		if (!event->u.sched_switch.prev_runnable)
			err = sleeps(r, &r->tasks[prev]);
	}
	r->known[event->cpu] = 1;
	r->current[event->cpu] = next;
	r->since[event->cpu] = r->now;
	if (next == NOBODY)
		return err;
	wake(r, &r->tasks[next], r->now);
	ilb_mask_set(r->tasks[next].seen, event->cpu);
	memcpy(r->tasks[next].comm, event->u.sched_switch.next_comm,
	       ILB_COMM_LEN);
	return err;
}

static int on_event(struct recording *r, const struct ilb_event *event)
{
	uint32_t number;
	int err = 0;

	if (!r->started)
		r->start_ns = event->time_ns;
	r->started = 1;
	r->now = event->time_ns;
	if (event->type == ILB_EVENT_SWITCH)
		return on_switch(r, event);
	if (event->type == ILB_EVENT_WAKEUP)
		err = find_task(r, event->u.wakeup.pid, &number);
	if (!err && event->type == ILB_EVENT_WAKEUP && number != NOBODY)
		wake(r, &r->tasks[number], r->now);
	return err;
}

/* Who runs at the end ran till then. */
static int end(struct recording *r)
{
	unsigned int i, cpu;
	int err = 0;

	for (cpu = 0; cpu < r->nr_cpus; cpu++)
		if (r->known[cpu] && r->current[cpu] != NOBODY)
			leaves(r, r->current[cpu], cpu);
	for (i = 0; i < r->nr_tasks && !err; i++)
		if (r->tasks[i].awake)
			err = sleeps(r, &r->tasks[i]);
	return err;
}

static int read_events(struct recording *r, const char *trace)
{
	struct ilb_error error = { "" };
	struct ilb_source *source = NULL;
	struct ilb_event event;
	int err, got = 1;

	err = ilb_source_open(&source, trace, r->nr_cpus, &error);
	while (!err && got == 1) {
		got = ilb_source_next(source, &event, &error);
		if (got == 1)
			err = on_event(r, &event);
	}
	ilb_source_close(source);
	if (*error.text)
		return ilb_input_fail_at(r->json, "capture",
			(enum ilb_err)-(err ? err : got), "%s", error.text);
	return err ? err : end(r);
}

/* ---- the plan ---- */

static int fill_task(struct recording *r, const struct recorded *t,
		     struct ilb_sim_task_plan *task, unsigned int group)
{
	const struct ilb_topology *topology = r->plan->machine.topology;
	unsigned int nr = topology->nr_cpus, cpu;
	struct ilb_sim_step *steps;
	unsigned long *allowed;

	/* The first one is when it starts. */
	steps = ilb_plan_alloc(r->plan, t->nr, sizeof(*steps));
	allowed = ilb_plan_alloc(r->plan, ILB_MASK_WORDS(nr), sizeof(long));
	if (!steps || !allowed)
		return no_memory(r);
	memcpy(steps, t->steps, t->nr * sizeof(*steps));
	memcpy(task->comm, t->comm, ILB_COMM_LEN);
	if (!*task->comm)
		snprintf(task->comm, sizeof(task->comm), "pid-%d", t->pid);
	task->steps = steps + 1;
	task->nr_steps = t->nr - 1;
	task->start_ns = steps[0].value;
	task->group = group;
	task->after = ~0U;
	if (!r->seen_only)
		return 0;
	ilb_for_each_cpu(cpu, t->seen, r->nr_cpus) {
		if (cpu >= nr || !ilb_mask_test(topology->online, cpu))
			return ilb_input_fail_at(r->json, "cpus",
				ILB_ERR_MISMATCH,
				"task %s was seen on CPU %u, which the machine has not",
				task->comm, cpu);
		ilb_mask_set(allowed, cpu);
	}
	task->allowed = allowed;
	return 0;
}

/* What pushes tasks is the simulator's own business. */
static int is_load(const struct recorded *t)
{
	return t->nr && strncmp(t->comm, "migration/", 10);
}

static int fill_plan(struct recording *r)
{
	struct ilb_sim_plan *plan = r->plan;
	unsigned int i, nr = 0;
	int err = 0;

	plan->tasks = ilb_plan_alloc(plan, r->nr_tasks, sizeof(*plan->tasks));
	if (!plan->tasks)
		return no_memory(r);
	for (i = 0; i < r->nr_tasks && !err; i++) {
		if (!is_load(&r->tasks[i]))
			continue;
		err = fill_task(r, &r->tasks[i], &plan->tasks[nr], nr);
		nr++;
	}
	plan->nr_tasks = plan->nr_groups = nr;
	if (!err && !nr)
		return ilb_input_fail_at(r->json, "capture", ILB_ERR_MISMATCH,
			"has no task that ran; record sched_switch and sched_wakeup");
	plan->duration_ns = r->now - r->start_ns;
	if (plan->duration_ns > ILB_SIM_DURATION_MAX)
		plan->duration_ns = ILB_SIM_DURATION_MAX;
	return err;
}

static int read_capture(struct recording *r, const struct ilb_capture *capture)
{
	unsigned int cpus = capture->topology.nr_cpus;
	int err;

	if (!capture->trace)
		return ilb_input_fail_at(r->json, "capture", ILB_ERR_MISMATCH,
			"has no trace, which is what tells who ran");
	r->nr_cpus = cpus;
	r->slots = calloc(SLOTS, sizeof(*r->slots));
	r->current = calloc(cpus, sizeof(*r->current));
	r->since = calloc(cpus, sizeof(*r->since));
	r->known = calloc(cpus, sizeof(*r->known));
	if (!r->slots || !r->current || !r->since || !r->known)
		return no_memory(r);
	err = read_events(r, capture->trace);
	return err ? err : fill_plan(r);
}

static void free_recording(struct recording *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_tasks; i++) {
		free(r->tasks[i].seen);
		free(r->tasks[i].steps);
	}
	free(r->tasks);
	free(r->slots);
	free(r->current);
	free(r->since);
	free(r->known);
}

/* A folder knows its machine; of a trace alone it is taken to be this one. */
static int open_capture(struct recording *r, const char *name,
			struct ilb_capture **capture)
{
	const char *topology = r->plan->machine.topology_spec;
	char *path = ilb_input_path(r->json, name);
	struct ilb_error error = { "" };
	struct stat st;
	int err;

	if (!path)
		return no_memory(r);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		topology = NULL;
	err = ilb_capture_open(capture, path, topology, &error);
	free(path);
	if (!err)
		return 0;
	return ilb_input_fail_at(r->json, "capture", (enum ilb_err)-err, "%s",
				 error.text);
}

int ilb_scenario_recorded(struct ilb_input *j, const json_t *object,
			  struct ilb_sim_plan *plan)
{
	static const char *const keys[] = { "capture", "cpus", NULL };
	struct recording r = { .json = j, .plan = plan };
	const char *name = NULL, *cpus = "all";
	struct ilb_capture *capture = NULL;
	int err;

	err = ilb_input_check_keys(j, object, keys);
	if (!err)
		err = ilb_input_string(j, object, "capture", &name);
	if (!err)
		err = ilb_input_string(j, object, "cpus", &cpus);
	if (err)
		return err;
	r.seen_only = !strcmp(cpus, "seen");
	if (!r.seen_only && strcmp(cpus, "all"))
		return ilb_input_fail_at(j, "cpus", ILB_ERR_FORMAT,
					 "is neither \"all\" nor \"seen\"");
	if (!name)
		return ilb_input_fail(j, ILB_ERR_FORMAT,
			"has no \"capture\"; name a folder of `ilb record`");
	err = open_capture(&r, name, &capture);
	if (!err)
		err = read_capture(&r, capture);
	free_recording(&r);
	ilb_capture_close(capture);
	return err;
}
