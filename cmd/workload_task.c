// SPDX-License-Identifier: GPL-2.0-only
/*
 * ilb workload: what the tasks do. A task is ended by its parent: nothing here
 * looks at the clock or makes a system call more often than its kind of load
 * needs, for each of them would be load of another kind.
 */

#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cmd/workload.h"

#define PIECE		1000	/* dependent multiplications, about 1 us */
#define PONG_NS		100000ULL

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

uint64_t ilb_task_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void count(struct ilb_slot *slot)
{
	uint64_t loops;

	/* One writer: no locked instruction. */
	loops = atomic_load_explicit(&slot->loops, memory_order_relaxed);
	atomic_store_explicit(&slot->loops, loops + 1, memory_order_relaxed);
}

static void work(void)
{
	unsigned int i;
	uint64_t x = 1;

	for (i = 0; i < PIECE; i++) {
		x *= 0x9e3779b97f4a7c15ULL;
		/* Else the compiler computes the result instead. */
		__asm__ volatile("" : "+r" (x));
	}
}

static void work_until(struct ilb_slot *slot, uint64_t end_ns)
{
	do {
		work();
		count(slot);
	} while (ilb_task_now() < end_ns);
}

/*
 * CPU time, so that a task that waits for its CPU does not work less. The
 * rest is worked off by the wall clock, which costs no system call; a task
 * that was preempted meanwhile has a rest again.
 */
static void work_for(struct ilb_slot *slot, uint64_t ns)
{
	uint64_t now, end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while ((now = clock_ns(CLOCK_THREAD_CPUTIME_ID)) < end)
		work_until(slot, ilb_task_now() + (end - now));
}

static void sleep_for(uint64_t ns)
{
	const struct timespec t = {
		.tv_sec = (time_t)(ns / 1000000000ULL),
		.tv_nsec = (long)(ns % 1000000000ULL),
	};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void sleep_on(struct ilb_slot *slot)
{
	atomic_store(&slot->done, 1);
	for (;;)
		pause();
}

static void burst(const struct ilb_task *task, struct ilb_slot *slot)
{
	uint64_t state = task->seed;

	for (;;) {
		work_for(slot, ilb_task_length(task, &state));
		sleep_for(ilb_task_length(task, &state));
	}
}

static int pass(int in, int out)
{
	char byte = 0;

	return write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1;
}

static void ping(const struct ilb_task *task, struct ilb_slot *slot, int in,
		 int out)
{
	uint64_t state = task->seed;
	unsigned int i;

	for (;;) {
		for (i = 0; i < ILB_PINGS; i++) {
			if (!pass(in, out))
				return;
			count(slot);
		}
		sleep_for(ilb_task_length(task, &state));
	}
}

static void pong(struct ilb_slot *slot, int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1) {
		work_for(slot, PONG_NS);
		if (write(out, &byte, 1) != 1)
			return;
	}
}

/*
 * An armed ITIMER_PROF is a reason for the kernel to keep the tick wherever
 * the task runs: a stopped tick starts again, and the CPU that then goes idle
 * stops it on the way into idle, which is where it is registered. The timer
 * never expires. It is armed before the task comes to its CPU, for the kernel
 * to see the reason when it switches to the task.
 */
void ilb_task_prepare(const struct ilb_task *task)
{
	const struct itimerval armed = { .it_value = { .tv_sec = 3600 } };

	if (task->kind == ILB_TASK_HEALER)
		setitimer(ITIMER_PROF, &armed, NULL);
}

void ilb_task_run(const struct ilb_task *task, struct ilb_slot *slot, int in,
		  int out)
{
	switch (task->kind) {
	case ILB_TASK_SPIN:
		for (;;) {
			work();
			count(slot);
		}
	case ILB_TASK_BURST:
		burst(task, slot);
		break;
	case ILB_TASK_PING:
		ping(task, slot, in, out);
		break;
	case ILB_TASK_PONG:
		pong(slot, in, out);
		break;
	case ILB_TASK_LEAVER:
		work_until(slot, ilb_task_now() + ILB_LEAVER_NS);
		atomic_store(&slot->done, 1);
		break;
	case ILB_TASK_SLEEPER:
		work_until(slot, ilb_task_now() + ILB_SLEEPER_NS);
		sleep_on(slot);
		break;
	case ILB_TASK_HEALER:
		work_for(slot, ILB_HEALER_NS);
		sleep_on(slot);
		break;
	}
}
