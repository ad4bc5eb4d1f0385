// SPDX-License-Identifier: GPL-2.0-only
/*
 * "workload" of a scenario: tasks in the words of rt-app's JSON, times in
 * microseconds unless they have a unit. What rt-app has and this machine has
 * not is refused by name. Beyond rt-app: "pin" (instance n of a task is bound
 * to CPU n of "cpus", or to all threads of its core), "after" (start when that
 * task has ended), "spread", "jitter_ppm", and barriers at which the waiting spin.
 */

#include <stdlib.h>
#include <string.h>

#include "sim/scenario.h"

#define US		1000
#define STEPS_MAX	65536U
#define BARRIERS_MAX	4096U
#define COMM_PREFIX	10

static const char *const op_words[] = {
	"run", "sleep", "timer", "barrier", "suspend", "resume", NULL
};

static const char *const foreign_words[] = {
	"runtime", "lock", "unlock", "wait", "signal", "broad", "sync", "mem",
	"iorun", "yield", "fork", "policy", "priority", "nodes_membind",
	"dl-runtime", "dl-period", "dl-deadline", "util_min", "util_max",
	"taskgroup", NULL
};

static const char *const task_words[] = {
	"instance", "loop", "cpus", "pin", "after", "delay", "spread",
	"jitter_ppm", "phases", "run", "sleep", "timer", "barrier", "suspend",
	"resume", NULL
};

static const char *const phase_words[] = {
	"loop", "run", "sleep", "timer", "barrier", "suspend", "resume", NULL
};

/* A task as the file has it; its instances follow each other in the plan. */
struct group {
	const char *name;
	const json_t *object;
	unsigned int first, instances;
	unsigned int after;
	struct ilb_sim_step *steps;
	unsigned int nr_steps, room;
};

struct reader {
	struct ilb_input *json;
	struct ilb_sim_plan *plan;
	struct group *groups;
	unsigned int nr;
	const char *barriers[BARRIERS_MAX];
	unsigned int nr_barriers;
	struct group *group;	/* that is being read */
};

static int no_memory(struct reader *r)
{
	return ilb_fail(r->json->error, ILB_ERR_NOMEM, "out of memory");
}

/* "run", "run0", "run12": members of one name need numbers in JSON. */
static int is_word(const char *key, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(key, word, len) &&
	       strspn(key + len, "0123456789") == strlen(key + len);
}

static const char *word_of(const char *key, const char *const *words)
{
	for (; *words; words++)
		if (is_word(key, *words))
			return *words;
	return NULL;
}

static int add_step(struct reader *r, const struct ilb_sim_step *step)
{
	struct group *g = r->group;
	struct ilb_sim_step *steps;
	unsigned int room;

	if (g->nr_steps == STEPS_MAX)
		return ilb_input_fail(r->json, ILB_ERR_RANGE,
				     "has more than %u steps", STEPS_MAX);
	if (g->nr_steps == g->room) {
		room = g->room ? 2 * g->room : 16;
		steps = realloc(g->steps, room * sizeof(*steps));
		if (!steps)
			return no_memory(r);
		g->steps = steps;
		g->room = room;
	}
	g->steps[g->nr_steps++] = *step;
	return 0;
}

static struct group *find_group(struct reader *r, const char *name)
{
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		if (!strcmp(r->groups[i].name, name))
			return &r->groups[i];
	return NULL;
}

static int read_timer(struct reader *r, const char *key, const json_t *value,
		      struct ilb_sim_step *step)
{
	static const char *const keys[] = { "ref", "period", "mode", NULL };
	int err;

	if (!json_is_object(value))
		return ilb_input_time_value(r->json, key, value, US, 1,
					   ILB_SIM_DURATION_MAX, &step->value);
	ilb_input_enter(r->json, key);
	err = ilb_input_check_keys(r->json, value, keys);
	if (!err)
		err = ilb_input_time(r->json, value, "period", US, 1,
				    ILB_SIM_DURATION_MAX, &step->value);
	if (!err && !step->value)
		err = ilb_input_fail(r->json, ILB_ERR_FORMAT,
				    "has no \"period\"");
	r->json->depth--;
	return err;
}

static int barrier_index(struct reader *r, const char *name,
			 unsigned int *index)
{
	unsigned int i;

	for (i = 0; i < r->nr_barriers; i++)
		if (!strcmp(r->barriers[i], name))
			break;
	if (i == BARRIERS_MAX)
		return ilb_input_fail(r->json, ILB_ERR_RANGE,
				     "is one barrier too many; %u are possible",
				     BARRIERS_MAX);
	if (i == r->nr_barriers)
		r->barriers[r->nr_barriers++] = name;
	*index = i;
	return 0;
}

static int read_barrier(struct reader *r, const char *key, const json_t *value,
			struct ilb_sim_step *step)
{
	static const char *const keys[] = { "ref", "spin", NULL };
	const char *name = json_string_value(value);
	int err = 0;

	ilb_input_enter(r->json, key);
	step->op = ILB_SIM_BARRIER;
	if (json_is_object(value)) {
		err = ilb_input_check_keys(r->json, value, keys);
		name = json_string_value(json_object_get(value, "ref"));
		if (json_is_true(json_object_get(value, "spin")))
			step->op = ILB_SIM_SPIN;
	}
	if (!err && !name)
		err = ilb_input_fail(r->json, ILB_ERR_FORMAT,
			"is neither a name nor {\"ref\": name, \"spin\": true}");
	if (!err)
		err = barrier_index(r, name, &step->index);
	r->json->depth--;
	return err;
}

/* Resolved to a task by instance, when all tasks are known. */
static int read_resume(struct reader *r, const char *key, const json_t *value,
		       struct ilb_sim_step *step)
{
	const char *name = json_string_value(value);
	struct group *g = name ? find_group(r, name) : NULL;

	step->op = ILB_SIM_RESUME;
	if (g) {
		step->index = (unsigned int)(g - r->groups);
		return 0;
	}
	return ilb_input_fail_at(r->json, key, ILB_ERR_NOENT,
				"there is no task '%s'", name ? name : "");
}

static int read_op(struct reader *r, const char *key, const char *word,
		   const json_t *value)
{
	struct ilb_sim_step step = { .op = ILB_SIM_RUN };
	int err = 0;

	if (!strcmp(word, "run") || !strcmp(word, "sleep")) {
		step.op = *word == 'r' ? ILB_SIM_RUN : ILB_SIM_SLEEP;
		err = ilb_input_time_value(r->json, key, value, US, 1,
					  ILB_SIM_DURATION_MAX, &step.value);
	} else if (!strcmp(word, "timer")) {
		step.op = ILB_SIM_TIMER;
		err = read_timer(r, key, value, &step);
	} else if (!strcmp(word, "barrier")) {
		err = read_barrier(r, key, value, &step);
	} else if (!strcmp(word, "suspend")) {
		step.op = ILB_SIM_SUSPEND;
	} else {
		err = read_resume(r, key, value, &step);
	}
	return err ? err : add_step(r, &step);
}

static int unknown_word(struct reader *r, const char *key,
			const char *const *words)
{
	if (word_of(key, foreign_words))
		return ilb_input_fail_at(r->json, key, ILB_ERR_UNSUPPORTED,
			"rt-app has it, this machine has not; remove it");
	return ilb_input_fail_at(r->json, key, ILB_ERR_FORMAT,
				"no such key; the nearest is \"%s\"",
				ilb_input_nearest(key, words));
}

/* The operations of a phase, or of a task without phases, in their order. */
static int read_ops(struct reader *r, const json_t *object,
		    const char *const *words)
{
	const char *key, *word;
	json_t *value;
	int err;

	json_object_foreach((json_t *)object, key, value) {
		word = word_of(key, op_words);
		if (word)
			err = read_op(r, key, word, value);
		else
			err = word_of(key, words) && !strpbrk(key, "0123456789")
				      ? 0 : unknown_word(r, key, words);
		if (err)
			return err;
	}
	return 0;
}

/* Steps from @from on are one round of a loop; -1 and 0: for ever. */
static int end_loop(struct reader *r, const json_t *object, unsigned int from,
		    unsigned int depth, int64_t count)
{
	struct ilb_sim_step step = {
		.op = ILB_SIM_LOOP,
		.index = from,
		.depth = depth,
	};
	int err;

	err = ilb_input_number(r->json, object, "loop", -1, INT32_MAX, &count);
	if (err)
		return err;
	if (r->group->nr_steps == from)
		return ilb_input_fail(r->json, ILB_ERR_FORMAT,
				     "does nothing; give it a \"run\" or so");
	step.value = count < 0 ? 0 : (uint64_t)count;
	return count == 1 ? 0 : add_step(r, &step);
}

static int read_phases(struct reader *r, const json_t *phases)
{
	unsigned int from;
	const char *name;
	json_t *phase;
	int err = 0;

	ilb_input_enter(r->json, "phases");
	json_object_foreach((json_t *)phases, name, phase) {
		ilb_input_enter(r->json, name);
		from = r->group->nr_steps;
		if (!json_is_object(phase))
			return ilb_input_fail(r->json, ILB_ERR_FORMAT,
					     "is not an object");
		err = read_ops(r, phase, phase_words);
		if (!err)
			err = end_loop(r, phase, from, 0, 1);
		if (err)
			return err;
		r->json->depth--;
	}
	r->json->depth--;
	return 0;
}

static int read_program(struct reader *r)
{
	struct group *g = r->group;
	const json_t *phases = json_object_get(g->object, "phases");
	const char *key;
	json_t *value;
	int err;

	if (phases && !json_is_object(phases))
		return ilb_input_fail_at(r->json, "phases", ILB_ERR_FORMAT,
					"is not an object of phases");
	if (phases)
		json_object_foreach((json_t *)g->object, key, value)
			if (word_of(key, op_words))
				return ilb_input_fail_at(r->json, key,
					ILB_ERR_FORMAT,
					"stands beside \"phases\"; move it into a phase");
	err = read_ops(r, g->object, task_words);
	if (!err && phases)
		err = read_phases(r, phases);
	return err ? err : end_loop(r, g->object, 0, 1, -1);
}

/* ---- instances ---- */

static unsigned int nth_cpu(const unsigned long *mask, unsigned int nr,
			    unsigned int n)
{
	unsigned int cpu;

	ilb_for_each_cpu(cpu, mask, nr)
		if (!n--)
			break;
	return cpu;
}

static unsigned long *new_mask(struct reader *r)
{
	unsigned int words;

	words = ILB_MASK_WORDS(r->plan->machine.topology->nr_cpus);
	return ilb_plan_alloc(r->plan, words, sizeof(unsigned long));
}

/* CPU n of the list, or with @core its whole core. */
static void pin_one(struct reader *r, unsigned long *mask, unsigned int cpu,
		    int core)
{
	const unsigned int *sibling = r->plan->machine.topology->sibling;
	unsigned int s;

	ilb_mask_set(mask, cpu);
	for (s = sibling[cpu]; core && s != cpu; s = sibling[s])
		ilb_mask_set(mask, s);
}

static int pin(struct reader *r, const unsigned long *cpus, int core)
{
	unsigned int nr = r->plan->machine.topology->nr_cpus, i;
	unsigned int weight = ilb_mask_weight(cpus, nr);
	struct group *g = r->group;
	unsigned long *mask;

	if (weight < g->instances)
		return ilb_input_fail_at(r->json, "pin", ILB_ERR_RANGE,
			"%u instances do not fit on the %u CPUs of \"cpus\"",
			g->instances, weight);
	for (i = 0; i < g->instances; i++) {
		mask = new_mask(r);
		if (!mask)
			return no_memory(r);
		pin_one(r, mask, nth_cpu(cpus, nr, i), core);
		r->plan->tasks[g->first + i].allowed = mask;
	}
	return 0;
}

static int read_affinity(struct reader *r)
{
	const struct ilb_topology *t = r->plan->machine.topology;
	struct group *g = r->group;
	unsigned long *mask = new_mask(r);
	unsigned int i;
	const char *pinned = NULL;
	int err, there;

	if (!mask)
		return no_memory(r);
	err = ilb_input_string(r->json, g->object, "pin", &pinned);
	if (!err && pinned && strcmp(pinned, "cpu") && strcmp(pinned, "core"))
		err = ilb_input_fail_at(r->json, "pin", ILB_ERR_FORMAT,
					"is neither \"cpu\" nor \"core\"");
	if (err)
		return err;
	err = ilb_input_cpus(r->json, g->object, "cpus", mask, t->online,
			    t->nr_cpus, &there);
	if (err)
		return err;
	if (there && ilb_mask_empty(mask, t->nr_cpus))
		return ilb_input_fail_at(r->json, "cpus", ILB_ERR_RANGE,
					"has no CPU; name one at least");
	if (!there)
		ilb_mask_copy(mask, t->online, t->nr_cpus);
	if (pinned)
		return pin(r, mask, !strcmp(pinned, "core"));
	for (i = 0; there && i < g->instances; i++)
		r->plan->tasks[g->first + i].allowed = mask;
	return 0;
}

static void name_instance(struct ilb_sim_task_plan *task,
			  const struct group *g, unsigned int i)
{
	if (g->instances == 1)
		snprintf(task->comm, sizeof(task->comm), "%.15s", g->name);
	else
		snprintf(task->comm, sizeof(task->comm), "%.*s-%u",
			 COMM_PREFIX - 1, g->name, i % ILB_SIM_TASKS_MAX);
}

static int fill_instances(struct reader *r)
{
	struct group *g = r->group;
	struct ilb_sim_task_plan *task;
	struct ilb_sim_step *steps;
	uint64_t delay = 0, spread = 0;
	int64_t jitter = 0;
	unsigned int i;
	int err;

	err = ilb_input_time(r->json, g->object, "delay", US, 0,
			    ILB_SIM_DURATION_MAX, &delay);
	if (!err)
		err = ilb_input_time(r->json, g->object, "spread", US, 0,
				    ILB_SIM_DURATION_MAX, &spread);
	if (!err)
		err = ilb_input_number(r->json, g->object, "jitter_ppm", 0,
				      1000000, &jitter);
	if (err)
		return err;
	steps = ilb_plan_alloc(r->plan, g->nr_steps, sizeof(*steps));
	if (!steps)
		return no_memory(r);
	memcpy(steps, g->steps, g->nr_steps * sizeof(*steps));
	for (i = 0; i < g->instances; i++) {
		task = &r->plan->tasks[g->first + i];
		name_instance(task, g, i);
		task->steps = steps;
		task->nr_steps = g->nr_steps;
		task->group = (unsigned int)(g - r->groups);
		task->after = g->after;
		task->start_ns = delay;
		task->spread_ns = spread;
		task->jitter_ppm = (unsigned int)jitter;
	}
	return read_affinity(r);
}

/* ---- tasks ---- */

static int read_group(struct reader *r)
{
	int err;

	err = read_program(r);
	return err ? err : fill_instances(r);
}

static int read_after(struct reader *r, struct group *g)
{
	const char *name = NULL;
	struct group *other;
	int err;

	g->after = ~0U;
	err = ilb_input_string(r->json, g->object, "after", &name);
	if (err || !name)
		return err;
	other = find_group(r, name);
	if (!other)
		return ilb_input_fail_at(r->json, "after", ILB_ERR_NOENT,
					"there is no task '%s'", name);
	g->after = (unsigned int)(other - r->groups);
	return 0;
}

/* Each task waits for one other at most: a chain that does not end, turns. */
static int check_cycles(struct reader *r)
{
	unsigned int i, at, steps;

	for (i = 0; i < r->nr; i++) {
		at = i;
		for (steps = 0; at != ~0U && steps <= r->nr; steps++)
			at = r->groups[at].after;
		if (at == ~0U)
			continue;
		ilb_input_enter(r->json, r->groups[at].name);
		return ilb_input_fail_at(r->json, "after", ILB_ERR_MISMATCH,
			"waits for itself by way of '%s'; break the cycle",
			r->groups[r->groups[at].after].name);
	}
	return 0;
}

static int count_instances(struct reader *r, const json_t *tasks)
{
	const char *name;
	json_t *object;
	int64_t instances;
	int err;

	json_object_foreach((json_t *)tasks, name, object) {
		struct group *g = &r->groups[r->nr++];

		ilb_input_enter(r->json, name);
		if (!json_is_object(object) || !*name)
			return ilb_input_fail(r->json, ILB_ERR_FORMAT,
					     "is not a task, an object");
		instances = 1;
		err = ilb_input_number(r->json, object, "instance", 1,
				      ILB_SIM_TASKS_MAX, &instances);
		if (err)
			return err;
		g->name = name;
		g->object = object;
		g->first = r->plan->nr_tasks;
		g->instances = (unsigned int)instances;
		r->plan->nr_tasks += g->instances;
		if (r->plan->nr_tasks > ILB_SIM_TASKS_MAX)
			return ilb_input_fail_at(r->json, "instance",
				ILB_ERR_RANGE, "makes more than %u tasks",
				ILB_SIM_TASKS_MAX);
		r->json->depth--;
	}
	return 0;
}

static int has_resume(const struct ilb_sim_task_plan *task)
{
	unsigned int k;

	for (k = 0; k < task->nr_steps; k++)
		if (task->steps[k].op == ILB_SIM_RESUME)
			return 1;
	return 0;
}

/* A resume means the instance of the same number, else the first. */
static int resolve_resumes(struct reader *r)
{
	struct ilb_sim_step *steps;
	const struct group *g;
	unsigned int i, k, n;

	for (i = 0; i < r->plan->nr_tasks; i++) {
		struct ilb_sim_task_plan *task = &r->plan->tasks[i];

		if (!has_resume(task))
			continue;
		steps = ilb_plan_alloc(r->plan, task->nr_steps, sizeof(*steps));
		if (!steps)
			return no_memory(r);
		n = i - r->groups[task->group].first;
		for (k = 0; k < task->nr_steps; k++) {
			steps[k] = task->steps[k];
			if (steps[k].op != ILB_SIM_RESUME)
				continue;
			g = &r->groups[steps[k].index];
			steps[k].index = g->first +
					 (n < g->instances ? n : 0);
		}
		task->steps = steps;
	}
	return 0;
}

static int uses_barrier(const struct group *g, unsigned int barrier)
{
	unsigned int k;

	for (k = 0; k < g->nr_steps; k++)
		if ((g->steps[k].op == ILB_SIM_BARRIER ||
		     g->steps[k].op == ILB_SIM_SPIN) &&
		    g->steps[k].index == barrier)
			return 1;
	return 0;
}

static int count_barrier_users(struct reader *r)
{
	unsigned int i, b;

	r->plan->nr_barriers = r->nr_barriers;
	r->plan->barrier_users = ilb_plan_alloc(r->plan, r->nr_barriers,
						sizeof(unsigned int));
	if (!r->plan->barrier_users)
		return no_memory(r);
	for (i = 0; i < r->nr; i++)
		for (b = 0; b < r->nr_barriers; b++)
			if (uses_barrier(&r->groups[i], b))
				r->plan->barrier_users[b] +=
					r->groups[i].instances;
	return 0;
}

static int read_groups(struct reader *r)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < r->nr && !err; i++) {
		r->group = &r->groups[i];
		ilb_input_enter(r->json, r->group->name);
		err = read_after(r, r->group);
		if (!err)
			err = read_group(r);
		if (!err)
			r->json->depth--;
	}
	return err;
}

static int read_tasks(struct reader *r, const json_t *tasks)
{
	int err;

	r->plan->nr_groups = (unsigned int)json_object_size(tasks);
	r->groups = calloc(r->plan->nr_groups + 1, sizeof(*r->groups));
	if (!r->groups)
		return no_memory(r);
	err = count_instances(r, tasks);
	if (err)
		return err;
	r->plan->tasks = ilb_plan_alloc(r->plan, r->plan->nr_tasks,
					sizeof(*r->plan->tasks));
	if (!r->plan->tasks)
		return no_memory(r);
	err = read_groups(r);
	if (!err)
		err = check_cycles(r);
	if (!err)
		err = resolve_resumes(r);
	return err ? err : count_barrier_users(r);
}

static int read_recorded(struct ilb_input *j, const json_t *workload,
			 struct ilb_sim_plan *plan)
{
	static const char *const keys[] = { "recorded", NULL };
	const json_t *recorded = json_object_get(workload, "recorded");
	int err;

	ilb_input_enter(j, "workload");
	if (json_object_get(workload, "tasks"))
		return ilb_input_fail_at(j, "recorded", ILB_ERR_FORMAT,
			"stands beside \"tasks\"; remove one of them");
	err = ilb_input_check_keys(j, workload, keys);
	if (!err) {
		ilb_input_enter(j, "recorded");
		if (!json_is_object(recorded))
			return ilb_input_fail(j, ILB_ERR_FORMAT,
				"is not an object with a \"capture\"");
		err = ilb_scenario_recorded(j, recorded, plan);
		j->depth -= !err;
	}
	j->depth -= !err;
	return err;
}

int ilb_scenario_workload(struct ilb_input *j, const json_t *root,
			  struct ilb_sim_plan *plan)
{
	static const char *const keys[] = { "tasks", NULL };
	const json_t *workload = json_object_get(root, "workload");
	const json_t *tasks = json_object_get(workload, "tasks");
	struct reader *r;
	unsigned int i;
	int err;

	if (json_object_get(workload, "recorded"))
		return read_recorded(j, workload, plan);
	if (!json_is_object(tasks))
		return ilb_input_fail_at(j, "workload", ILB_ERR_FORMAT,
			"is missing, or has no \"tasks\" and no \"recorded\"");
	r = calloc(1, sizeof(*r));
	if (!r)
		return ilb_fail(j->error, ILB_ERR_NOMEM, "out of memory");
	r->json = j;
	r->plan = plan;
	ilb_input_enter(j, "workload");
	err = ilb_input_check_keys(j, workload, keys);
	if (!err) {
		ilb_input_enter(j, "tasks");
		err = read_tasks(r, tasks);
		j->depth -= !err;
	}
	j->depth -= !err;
	for (i = 0; i < r->nr; i++)
		free(r->groups[i].steps);
	free(r->groups);
	free(r);
	return err;
}
