// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts what `ilb stat` shows, where it happens. sched_switch is the hot
 * path: between two tasks it stores a pid and looks whether a sibling's run
 * is to be charged; only into and out of idle it reads the clock.
 *
 * A disturbance is accounted by the disturbing CPU (it knows when its run
 * begins and ends), and charged by the CPU that was disturbed, at its next
 * switch, when the task that ran is at hand.
 */

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "live/stat_record.h"

#define SOFTIRQ_SCHED	7U
#define THREADS_MAX	16	/* of a core */

/* Members of the kernel's structs that are read, at whatever offset. */
#define KERNEL_STRUCT	__attribute__((preserve_access_index))

struct sched_entity {
	__u64 sum_exec_runtime;
} KERNEL_STRUCT;

struct task_struct {
	int pid;
	char comm[16];
	__u64 start_time;
	struct sched_entity se;
} KERNEL_STRUCT;

struct __call_single_data {
	void (*func)(void *info);
} KERNEL_STRUCT;

/* Set before loading. */
const volatile __u64 nohz_csd_func;
const volatile __u32 smt;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ilb_stat_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ILB_STAT_VICTIMS);
	__type(key, __u32);
	__type(value, struct ilb_stat_victim);
} victims SEC(".maps");

static __always_inline struct ilb_stat_cpu *state_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

/* ---- histograms: as measure/hist.c ---- */

static __always_inline __u32 top_bit(__u64 value)
{
	__u32 bit = 0;

	if (value >> 32) {
		bit = 32;
		value >>= 32;
	}
	if (value >> 16) {
		bit += 16;
		value >>= 16;
	}
	if (value >> 8) {
		bit += 8;
		value >>= 8;
	}
	if (value >> 4) {
		bit += 4;
		value >>= 4;
	}
	if (value >> 2) {
		bit += 2;
		value >>= 2;
	}
	return bit + (value >> 1 ? 1 : 0);
}

static __always_inline void hist_add(struct ilb_stat_hist *hist, __u64 ns)
{
	__u64 us = ns / 1000;
	__u32 cell = (__u32)ns, bucket = us ? top_bit(us) + 1 : 0, shift;

	if (ns >= 16) {
		shift = top_bit(ns) - 4;
		cell = (shift + 1) * 16 + ((ns >> shift) & 15);
	}
	hist->count++;
	hist->sum_ns += ns;
	if (ns > hist->max_ns)
		hist->max_ns = ns;
	if (cell < ILB_STAT_CELLS)
		hist->cell[cell]++;
	if (bucket < ILB_STAT_LOG2)
		hist->log2_us[bucket]++;
}

/* ---- disturbances ---- */

/* Not inlined: it is rare, and sched_switch stays short. */
static __noinline int add_victim(struct ilb_stat_cpu *c,
				 struct task_struct *task, __u64 ns,
				 __u64 kicks)
{
	struct ilb_stat_victim fresh = { .pid = 0 }, *victim;
	__u32 pid = BPF_CORE_READ(task, pid);

	c->disturbed_ns += ns;
	victim = bpf_map_lookup_elem(&victims, &pid);
	if (!victim) {
		fresh.pid = pid;
		fresh.start_ns = BPF_CORE_READ(task, start_time);
		bpf_map_update_elem(&victims, &pid, &fresh, BPF_NOEXIST);
		victim = bpf_map_lookup_elem(&victims, &pid);
	}
	if (!victim) {
		c->forgotten++;
		return 0;
	}
	bpf_probe_read_kernel(victim->comm, sizeof(victim->comm),
			      &task->comm);
	victim->cpu = bpf_get_smp_processor_id();
	victim->runtime_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	victim->disturbed_ns += ns;
	victim->kicks += kicks;
	return 0;
}

/*
 * What is due on this CPU goes to @task; to nobody if that is the idle task,
 * which nothing disturbs.
 */
static __always_inline void charge(struct ilb_stat_cpu *c,
				   struct task_struct *task, int pid)
{
	__u64 from = c->disturbed_at, ns, kicks, now;

	kicks = __sync_lock_test_and_set(&c->due_kicks, 0);
	ns = __sync_lock_test_and_set(&c->due_ns, 0);
	if (from) {
		now = bpf_ktime_get_ns();
		/* Unless the disturber ended it at this instant. */
		if (__sync_val_compare_and_swap(&c->disturbed_at, from,
						now) == from && now > from)
			ns += now - from;
	}
	if (pid && (ns || kicks))
		add_victim(c, task, ns, kicks);
}

static __always_inline void disturb(struct ilb_stat_cpu *of_sibling,
				    __u64 now)
{
	if (of_sibling->pid)
		__sync_fetch_and_add(&of_sibling->due_kicks, 1);
	if (!__sync_fetch_and_add(&of_sibling->disturbers, 1))
		of_sibling->disturbed_at = now;
}

static __always_inline void leave_alone(struct ilb_stat_cpu *of_sibling,
					__u64 now)
{
	__u64 from;

	if (__sync_fetch_and_sub(&of_sibling->disturbers, 1) != 1)
		return;
	from = __sync_lock_test_and_set(&of_sibling->disturbed_at, 0);
	if (from && now > from && of_sibling->pid)
		__sync_fetch_and_add(&of_sibling->due_ns, now - from);
}

/* A run on @cpu begins (1) or ends (0) to disturb its siblings. */
static __always_inline void set_disturbs(struct ilb_stat_cpu *c, __u32 cpu,
					 __u64 on, __u64 now)
{
	struct ilb_stat_cpu *s;
	__u32 next = c->sibling;
	int i;

	if (!smt || c->disturbs == on)
		return;
	c->disturbs = on;
	for (i = 0; i < THREADS_MAX && next != cpu; i++) {
		s = state_of(next);
		if (!s)
			return;
		if (on)
			disturb(s, now);
		else
			leave_alone(s, now);
		next = s->sibling;
	}
}

/* ---- switches ---- */

static __always_inline int busy_sibling(struct ilb_stat_cpu *c, __u32 cpu)
{
	struct ilb_stat_cpu *s;
	__u32 next = c->sibling;
	int i;

	for (i = 0; i < THREADS_MAX && next != cpu; i++) {
		s = state_of(next);
		if (!s)
			return 0;
		if (s->pid)
			return 1;
		next = s->sibling;
	}
	return 0;
}

/*
 * nohz_csd_func found the CPU idle but raised no softirq, or a task comes
 * before it: a kick that is dropped. ksoftirqd comes to run the softirq.
 */
static __noinline int drop(struct ilb_stat_cpu *c, __u32 cpu,
			   struct task_struct *next)
{
	char comm[10] = "";

	bpf_probe_read_kernel(comm, sizeof(comm), &next->comm);
	if (comm[0] == 'k' && comm[4] == 't' && comm[8] == 'd' &&
	    comm[9] == '/')
		return 0;
	c->dropped++;
	c->armed_at = 0;
	set_disturbs(c, cpu, 0, bpf_ktime_get_ns());
	return 0;
}

static __always_inline void leave_idle(struct ilb_stat_cpu *c, __u32 cpu,
				       struct task_struct *next)
{
	c->busy_at = bpf_ktime_get_ns();
	if (smt) {
		if (busy_sibling(c, cpu))
			c->busy_sibling++;
		else
			c->idle_sibling++;
	}
	if (c->armed_at)
		drop(c, cpu, next);
}

static __always_inline void enter_idle(struct ilb_stat_cpu *c)
{
	__u64 from = c->busy_at;

	/* User space reads these two, while busy_at says so. */
	c->busy_at = 0;
	if (from)
		c->busy_ns += bpf_ktime_get_ns() - from;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ilb_stat_cpu *c = state_of(cpu);
	int from = prev->pid, to = next->pid;

	if (!c)
		return 0;
	if (c->disturbed_at | c->due_kicks)
		charge(c, prev, from);
	c->pid = to;
	if (!from)
		leave_idle(c, cpu, next);
	else if (!to)
		enter_idle(c);
	return 0;
}

/* Run on each CPU by user space: at the start, and to charge what is due. */
SEC("raw_tp/sched_switch")
int look(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ilb_stat_cpu *c = state_of(bpf_get_smp_processor_id());

	if (!c)
		return 0;
	c->pid = task->pid;
	if (task->pid && !c->busy_at)
		c->busy_at = bpf_ktime_get_ns();
	if (c->disturbed_at | c->due_kicks)
		charge(c, task, task->pid);
	return 0;
}

/* ---- softirqs ---- */

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq, unsigned int vector)
{
	struct ilb_stat_cpu *c;

	if (vector != SOFTIRQ_SCHED)
		return 0;
	c = state_of(bpf_get_smp_processor_id());
	if (!c)
		return 0;
	c->softirq_at = bpf_ktime_get_ns();
	c->run_at = c->armed_at;
	c->armed_at = 0;
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_end, unsigned int vector)
{
	struct ilb_stat_cpu *c;
	__u32 cpu;
	__u64 now;

	if (vector != SOFTIRQ_SCHED)
		return 0;
	cpu = bpf_get_smp_processor_id();
	c = state_of(cpu);
	if (!c || !c->softirq_at)
		return 0;
	now = bpf_ktime_get_ns();
	c->sched++;
	c->sched_ns += now - c->softirq_at;
	c->softirq_at = 0;
	if (!c->run_at)
		return 0;
	hist_add(&c->duration, now - c->run_at);
	c->run_at = 0;
	/* Kicked again meanwhile: the next run follows at once. */
	if (!c->armed_at)
		set_disturbs(c, cpu, 0, now);
	return 0;
}

/* ---- kicks ---- */

static __always_inline int kick(__u32 target, __u64 function)
{
	struct ilb_stat_cpu *c;

	if (function != nohz_csd_func)
		return 0;
	c = state_of(target);
	if (!c)
		return 0;
	__sync_fetch_and_add(&c->kicked, 1);
	if (smt && busy_sibling(c, target))
		__sync_fetch_and_add(&c->on_busy, 1);
	if (!c->kick_at)
		c->kick_at = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int arrive(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ilb_stat_cpu *c = state_of(cpu);
	__u64 now = bpf_ktime_get_ns();

	if (!c)
		return 0;
	if (c->kick_at && now > c->kick_at)
		hist_add(&c->latency, now - c->kick_at);
	c->kick_at = 0;
	if (c->pid) {
		c->dropped++;
		return 0;
	}
	if (!c->armed_at)
		c->armed_at = now;
	set_disturbs(c, cpu, 1, now);
	return 0;
}

SEC("raw_tp/csd_queue_cpu")
int on_csd_queue(struct bpf_raw_tracepoint_args *context)
{
	return kick(context->args[0], context->args[2]);
}

SEC("raw_tp/csd_function_entry")
int on_csd_function(struct bpf_raw_tracepoint_args *context)
{
	return context->args[0] == nohz_csd_func ? arrive() : 0;
}

SEC("fentry/smp_call_function_single_async")
int BPF_PROG(on_async, int cpu, struct __call_single_data *csd)
{
	return kick(cpu, (__u64)csd->func);
}

SEC("fentry/nohz_csd_func")
int BPF_PROG(on_csd_func, void *info)
{
	return arrive();
}

char program_license[] SEC("license") = "GPL";
