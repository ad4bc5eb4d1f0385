// SPDX-License-Identifier: GPL-2.0-only
/* Tasks by pid: found again, and in bounded memory. */

#include <string.h>

#include "ilb/mask.h"
#include "measure/tasks.h"
#include "test.h"

static int setup(void **state)
{
	static struct ilb_tasks tasks;

	memset(&tasks, 0, sizeof(tasks));
	*state = &tasks;
	return ilb_tasks_init(&tasks);
}

static int teardown(void **state)
{
	ilb_tasks_free(*state);
	return 0;
}

static void add(struct ilb_tasks *tasks, int32_t from, int32_t to)
{
	for (; from < to; from++)
		ilb_tasks_get(tasks, from)->running_ns += (uint64_t)from;
}

static const struct ilb_task *look(const struct ilb_tasks *tasks, int32_t pid)
{
	unsigned int i;

	for (i = 0; i < tasks->size; i++)
		if (tasks->slot[i].pid == pid)
			return &tasks->slot[i];
	return NULL;
}

static void check_counts(const struct ilb_tasks *tasks)
{
	unsigned int i, used = 0;

	for (i = 0; i < tasks->size; i++)
		used += tasks->slot[i].pid != 0;
	assert_int_equal(used, tasks->used);
	assert_true(tasks->size <= ILB_TASKS_MAX);
	assert_true(used < tasks->size);
}

static void a_new_task_is_nowhere(void **state)
{
	const struct ilb_task *t = ilb_tasks_get(*state, 42);

	assert_int_equal(t->pid, 42);
	assert_int_equal(t->cpu, ILB_CPU_NONE);
	assert_int_equal(t->disturbed_cpu, ILB_CPU_NONE);
	assert_int_equal(t->running_ns, 0);
	assert_int_equal(t->waits + t->moved, 0);
	assert_string_equal(t->comm, "");
}

/* The extremes too, and pids that differ in high bits only. */
static void every_pid_has_its_own_entry(void **state)
{
	static const int32_t pids[] = {
		1, 2, INT32_MAX, INT32_MAX - 1, 1 << 30, 1 << 29, 1 << 28,
		1 + (1 << 30), 1 + (1 << 25), 1 << 25, 65536, 65537,
	};
	struct ilb_tasks *tasks = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pids); i++)
		ilb_tasks_get(tasks, pids[i])->running_ns = i + 1;
	for (i = 0; i < ARRAY_SIZE(pids); i++)
		assert_int_equal(ilb_tasks_get(tasks, pids[i])->running_ns,
				 i + 1);
	assert_int_equal(tasks->used, ARRAY_SIZE(pids));
}

static void growth_keeps_every_task(void **state)
{
	struct ilb_tasks *tasks = *state;
	unsigned int size = tasks->size;
	int32_t pid;

	add(tasks, 1, 40000);
	assert_true(tasks->size > size);
	assert_int_equal(tasks->used, 39999);
	assert_int_equal(tasks->forgotten, 0);
	check_counts(tasks);
	for (pid = 1; pid < 40000; pid++)
		assert_int_equal(ilb_tasks_get(tasks, pid)->running_ns, pid);
	assert_int_equal(tasks->used, 39999);
}

/* A pid that is used again is the same entry: nothing says it is another. */
static void a_pid_used_again_goes_on(void **state)
{
	struct ilb_tasks *tasks = *state;

	ilb_tasks_get(tasks, 5)->running_ns = 7;
	strcpy(ilb_tasks_get(tasks, 5)->comm, "old");
	assert_int_equal(ilb_tasks_get(tasks, 5)->running_ns, 7);
	strcpy(ilb_tasks_get(tasks, 5)->comm, "new");
	assert_string_equal(ilb_tasks_get(tasks, 5)->comm, "new");
	assert_int_equal(tasks->used, 1);
}

#define FLOOD	200000

static void at_the_limit_the_undisturbed_are_forgotten(void **state)
{
	struct ilb_tasks *tasks = *state;
	int32_t pid;

	add(tasks, 1, 1001);
	for (pid = 1; pid <= 1000; pid++)
		if (pid % 10 == 0)
			ilb_tasks_get(tasks, pid)->disturbed_ns = 1;
	ilb_tasks_get(tasks, 11)->kicks = 1;
	add(tasks, 1001, FLOOD);
	check_counts(tasks);
	assert_int_equal(tasks->size, ILB_TASKS_MAX);
	assert_int_equal(tasks->used + tasks->forgotten, FLOOD - 1);
	for (pid = 1; pid <= 1000; pid++) {
		if (pid % 10 && pid != 11) {
			assert_null(look(tasks, pid));
			continue;
		}
		assert_non_null(look(tasks, pid));
		assert_int_equal(look(tasks, pid)->running_ns, pid);
	}
	assert_non_null(look(tasks, FLOOD - 1));
}

/* All are disturbed: then all go, or else every new pid would be slow. */
static void if_that_does_not_help_all_are(void **state)
{
	struct ilb_tasks *tasks = *state;
	unsigned int copies = 0;
	struct ilb_task *slot;
	int32_t pid;

	for (pid = 1; pid < FLOOD; pid++) {
		slot = tasks->slot;
		ilb_tasks_get(tasks, pid)->disturbed_ns = 1;
		copies += tasks->slot != slot;
	}
	check_counts(tasks);
	assert_int_equal(tasks->used + tasks->forgotten, FLOOD - 1);
	assert_true(tasks->forgotten > 0);
	assert_non_null(look(tasks, FLOOD - 1));
	assert_in_range(copies, 6, 30);
}

/* Nearly all are disturbed: room is made for many, not for one. */
static void forgetting_makes_room_for_many(void **state)
{
	struct ilb_tasks *tasks = *state;
	unsigned int copies = 0;
	struct ilb_task *slot;
	int32_t pid;

	for (pid = 1; pid < 49000; pid++)
		ilb_tasks_get(tasks, pid)->disturbed_ns = 1;
	for (; pid < FLOOD; pid++) {
		slot = tasks->slot;
		ilb_tasks_get(tasks, pid);
		copies += tasks->slot != slot;
	}
	check_counts(tasks);
	assert_in_range(copies, 1, 20);
}

#define TASKS_TEST(test)						\
	cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TASKS_TEST(a_new_task_is_nowhere),
		TASKS_TEST(every_pid_has_its_own_entry),
		TASKS_TEST(growth_keeps_every_task),
		TASKS_TEST(a_pid_used_again_goes_on),
		TASKS_TEST(at_the_limit_the_undisturbed_are_forgotten),
		TASKS_TEST(if_that_does_not_help_all_are),
		TASKS_TEST(forgetting_makes_room_for_many),
	};

	return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
