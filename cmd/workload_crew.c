// SPDX-License-Identifier: GPL-2.0-only
/*
 * ilb workload: start the tasks at once, wait, end them. The parent sleeps all
 * the while, away from the CPUs that it pins tasks to: it must not be load.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/workload.h"

/**
 * struct crew - the tasks while they run
 * @start: a pipe; its end of file lets all tasks go at once
 * @parent: this process, as the tasks see it
 * @waited: signals the parent waits for; blocked here and in the tasks, so
 *          that what a terminal sends to all does not look like their death
 * @away: CPUs the parent runs on
 */
struct crew {
	struct ilb_workload *w;
	int start[2];
	pid_t parent;
	sigset_t waited;
	unsigned long away[ILB_MASK_WORDS(ILB_CPUS_MAX)];
};

/* Our masks have the kernel's layout. */
static int set_affinity(pid_t pid, const unsigned long *cpus)
{
	return sched_setaffinity(pid, ILB_CPUS_MAX / 8,
				 (const cpu_set_t *)cpus);
}

/* ---- before the start ---- */

static void block_signals(struct crew *c)
{
	/* If it was ignored, tasks would vanish without being waited for. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&c->waited);
	sigaddset(&c->waited, SIGCHLD);
	sigaddset(&c->waited, SIGINT);
	sigaddset(&c->waited, SIGTERM);
	sigprocmask(SIG_BLOCK, &c->waited, NULL);
}

static void stay_away(struct crew *c)
{
	unsigned long own[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	const struct ilb_workload *w = c->w;
	unsigned int i;

	ilb_mask_zero(own, ILB_CPUS_MAX);
	sched_getaffinity(0, sizeof(own), (cpu_set_t *)own);
	ilb_mask_copy(c->away, own, ILB_CPUS_MAX);
	for (i = 0; i < w->nr_tasks; i++)
		if (w->tasks[i].cpu != ILB_CPU_NONE)
			ilb_mask_clear(c->away, w->tasks[i].cpu);
	if (ilb_mask_empty(c->away, ILB_CPUS_MAX) ||
	    set_affinity(0, c->away))
		ilb_mask_copy(c->away, own, ILB_CPUS_MAX);
}

static int cannot_pin(unsigned int cpu, struct ilb_error *error)
{
	unsigned long online[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	char list[128];
	int reason = errno;

	if (reason != EINVAL)
		return ilb_fail(error, ILB_ERR_PERM,
				"CPU %u: cannot pin a task there: %s", cpu,
				strerror(reason));
	if (ilb_workload_list(online, "online") ||
	    ilb_mask_test(online, cpu))
		return ilb_fail(error, ILB_ERR_PERM,
				"CPU %u is not allowed here: the cpuset of this control group lacks it",
				cpu);
	ilb_cpulist_print(list, sizeof(list), online, ILB_CPUS_MAX);
	return ilb_fail(error, ILB_ERR_PERM,
			"CPU %u is not online; online are %s", cpu, list);
}

static int pin(const struct ilb_task *task, struct ilb_error *error)
{
	unsigned long one[ILB_MASK_WORDS(ILB_CPUS_MAX)];

	if (task->cpu == ILB_CPU_NONE)
		return 0;
	ilb_mask_zero(one, ILB_CPUS_MAX);
	ilb_mask_set(one, task->cpu);
	return set_affinity(task->pid, one) ? cannot_pin(task->cpu, error) : 0;
}

static void __attribute__((noreturn))
be_task(const struct crew *c, unsigned int i, int in, int out)
{
	const struct ilb_task *task = &c->w->tasks[i];
	struct ilb_slot *slot = &c->w->slots[i];
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != c->parent)
		_exit(1);
	prctl(PR_SET_NAME, task->name);
	ilb_task_prepare(task);
	close(c->start[1]);
	if (!read(c->start[0], &byte, 1))
		ilb_task_run(task, slot, in, out);
	_exit(atomic_load(&slot->done) ? 0 : 1);
}

static int cannot_start(const struct ilb_task *task, struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_PERM, "cannot start %s: %s",
			task->name, strerror(errno));
}

static int start_single(struct crew *c, unsigned int i,
			struct ilb_error *error)
{
	struct ilb_task *task = &c->w->tasks[i];
	pid_t pid = fork();

	if (pid < 0)
		return cannot_start(task, error);
	if (!pid)
		be_task(c, i, -1, -1);
	task->pid = pid;
	return pin(task, error);
}

/* A ping, and the pong after it. Each holds only its own two ends. */
static int fork_pair(struct crew *c, unsigned int i, const int *there,
		     const int *back)
{
	struct ilb_task *task = &c->w->tasks[i];
	pid_t pid = fork();

	if (!pid) {
		close(there[0]);
		close(back[1]);
		be_task(c, i, back[0], there[1]);
	}
	if (pid < 0)
		return -1;
	task[0].pid = pid;
	pid = fork();
	if (!pid) {
		close(there[1]);
		close(back[0]);
		be_task(c, i + 1, there[0], back[1]);
	}
	if (pid < 0)
		return -1;
	task[1].pid = pid;
	return 0;
}

static int start_pair(struct crew *c, unsigned int i, struct ilb_error *error)
{
	int there[2], back[2], err = 0;

	if (pipe(there))
		return cannot_start(&c->w->tasks[i], error);
	if (pipe(back)) {
		err = cannot_start(&c->w->tasks[i], error);
	} else {
		if (fork_pair(c, i, there, back))
			err = cannot_start(&c->w->tasks[i], error);
		close(back[0]);
		close(back[1]);
	}
	close(there[0]);
	close(there[1]);
	return err;
}

static int start_all(struct crew *c, struct ilb_error *error)
{
	const struct ilb_task *tasks = c->w->tasks;
	unsigned int i;
	int err = 0;

	for (i = 0; i < c->w->nr_tasks && !err; i++) {
		if (tasks[i].kind == ILB_TASK_PING)
			err = start_pair(c, i, error);
		else if (tasks[i].kind != ILB_TASK_PONG)
			err = start_single(c, i, error);
	}
	return err;
}

/* ---- while they run ---- */

static int died(const struct ilb_task *task, int status,
		struct ilb_error *error)
{
	if (WIFSIGNALED(status))
		return ilb_fail(error, ILB_ERR_IO,
				"%s died of signal %d (%s); all were ended",
				task->name, WTERMSIG(status),
				strsignal(WTERMSIG(status)));
	return ilb_fail(error, ILB_ERR_IO,
			"%s ended before its time; all were ended",
			task->name);
}

static unsigned int find(const struct ilb_workload *w, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < w->nr_tasks; i++)
		if (w->tasks[i].pid == pid)
			break;
	return i;
}

/* Several deaths may be one SIGCHLD. */
static int reap(struct ilb_workload *w, struct ilb_error *error)
{
	unsigned int i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		i = find(w, pid);
		if (i == w->nr_tasks)
			continue;
		w->tasks[i].pid = 0;
		if (status || !atomic_load(&w->slots[i].done))
			return died(&w->tasks[i], status, error);
	}
	return 0;
}

static int await(struct crew *c, uint64_t end, struct ilb_error *error)
{
	struct ilb_workload *w = c->w;
	struct timespec left;
	uint64_t now;
	int sig, err = 0;

	while (!err && !w->signal && (now = ilb_task_now()) < end) {
		left.tv_sec = (time_t)((end - now) / 1000000000ULL);
		left.tv_nsec = (long)((end - now) % 1000000000ULL);
		/* Fails when time is up, or after a stop and a continue. */
		sig = sigtimedwait(&c->waited, NULL, &left);
		if (sig == SIGCHLD)
			err = reap(w, error);
		else if (sig > 0)
			w->signal = sig;
	}
	return err;
}

/* Those whose work is finite must have had the time for it. */
static int judge(const struct ilb_workload *w, struct ilb_error *error)
{
	const struct ilb_task *task;
	unsigned int i;

	for (i = 0; i < w->nr_tasks; i++) {
		task = &w->tasks[i];
		if (task->kind >= ILB_TASK_LEAVER &&
		    !atomic_load(&w->slots[i].done))
			return ilb_fail(error, ILB_ERR_IO,
					"CPU %u did not get to run %s in time; is it busy?",
					task->cpu, task->name);
	}
	return 0;
}

/* ---- the end ---- */

/*
 * A task that sleeps on its CPU must not wake there to die: that would change
 * the very state it was to make.
 */
static void end_all(struct crew *c)
{
	struct ilb_workload *w = c->w;
	unsigned int i;

	for (i = 0; i < w->nr_tasks; i++) {
		if (!w->tasks[i].pid)
			continue;
		if (atomic_load(&w->slots[i].done))
			set_affinity(w->tasks[i].pid, c->away);
		kill(w->tasks[i].pid, SIGKILL);
	}
	for (i = 0; i < w->nr_tasks; i++) {
		while (w->tasks[i].pid &&
		       waitpid(w->tasks[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
		w->tasks[i].pid = 0;
	}
}

static int run(struct crew *c, struct ilb_error *error)
{
	struct ilb_workload *w = c->w;
	uint64_t start;
	int err;

	err = start_all(c, error);
	close(c->start[0]);
	if (!err) {
		start = ilb_task_now();
		close(c->start[1]);
		err = await(c, start + w->duration_ns, error);
		w->elapsed_ns = ilb_task_now() - start;
		end_all(c);
	} else {
		end_all(c);
		close(c->start[1]);
	}
	return err || w->signal ? err : judge(w, error);
}

int ilb_crew_run(struct ilb_workload *w, struct ilb_error *error)
{
	struct crew c = { .w = w, .parent = getpid() };
	size_t size = w->nr_tasks * sizeof(*w->slots);

	if (size) {
		w->slots = mmap(NULL, size, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (w->slots == MAP_FAILED) {
			w->slots = NULL;
			return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
		}
	}
	if (pipe2(c.start, O_CLOEXEC))
		return ilb_fail(error, ILB_ERR_PERM, "cannot make a pipe: %s",
				strerror(errno));
	block_signals(&c);
	stay_away(&c);
	return run(&c, error);
}
