// SPDX-License-Identifier: GPL-2.0-only
/*
 * One record for each ILB kick, made by the CPU that kicks, with interrupts
 * off, just before its target is told.
 *
 * The idle state of every CPU is read, not only of those in the mask: where
 * tasks are few, which is where kicks matter, nearly all CPUs are in the mask
 * or siblings of one that is, and a CPU that is idle but not in the mask is
 * worth to be seen. What is asked first of a CPU is what shows most often
 * that it is busy, so that a busy one costs one cache line.
 */

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "live/exact_record.h"

#define KICK_FLAGS	0xbU	/* BALANCE, STATS, NEXT; not NEWILB */

/* Members of the kernel's structs that are read, at whatever offset. */
#define KERNEL_STRUCT	__attribute__((preserve_access_index))

struct task_struct {
	int pid;
} KERNEL_STRUCT;

struct flags {
	int counter;
} KERNEL_STRUCT;

struct rq {
	unsigned int nr_running;
	unsigned int ttwu_pending;
	struct flags nohz_flags;
	struct task_struct *curr;
	struct task_struct *idle;
} KERNEL_STRUCT;

struct __call_single_data {
	void (*func)(void *info);
} KERNEL_STRUCT;

extern const struct rq runqueues __ksym;

/* Set before loading. */
const volatile __u32 nr_cpus = 1;
const volatile __u32 words = 1;
const volatile __u64 mask_at;		/* addresses in the kernel */
const volatile __u64 nohz_csd_func;
const volatile __u32 mask_in_place;	/* else a pointer to it is there */
const volatile __u64 wake_at = 1;	/* bytes unread */

__u64 kicks;
__u64 lost;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ilb_exact_record);
} scratch SEC(".maps");

struct walk {
	struct ilb_exact_record *record;
};

/* As the kernel's idle_cpu(). CPUs that cannot exist have no idle task. */
static int is_idle(const struct rq *rq)
{
	if (rq->nr_running)
		return 0;
	if (bpf_core_field_exists(rq->ttwu_pending) && rq->ttwu_pending)
		return 0;
	return rq->idle && rq->curr == rq->idle;
}

static long look_at(__u32 cpu, struct walk *walk)
{
	struct ilb_exact_record *record = walk->record;
	const struct rq *rq = bpf_per_cpu_ptr(&runqueues, cpu);
	__u32 word = (words + cpu / 64) & (2 * ILB_EXACT_WORDS - 1);

	if (cpu % 64 == 0)
		record->sets[word] = 0;
	if (rq && is_idle(rq))
		record->sets[word] |= 1ULL << (cpu % 64);
	return 0;
}

static __u32 flags_of(__u32 target)
{
	const struct rq *rq = bpf_per_cpu_ptr(&runqueues, target);

	if (!rq || !bpf_core_field_exists(rq->nohz_flags))
		return 0;
	return (__u32)rq->nohz_flags.counter & KICK_FLAGS;
}

static int read_mask(struct ilb_exact_record *record)
{
	__u64 mask = mask_at;

	if (!mask_in_place &&
	    bpf_probe_read_kernel(&mask, sizeof(mask), (void *)mask_at))
		return -1;
	return bpf_probe_read_kernel(record->sets, words * sizeof(__u64),
				     (void *)mask);
}

/* A reader that sleeps half a second at a time needs no waking for each. */
static __u64 wake_flag(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= wake_at ?
		BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static int record_kick(__u32 target)
{
	const __u32 zero = 0;
	struct walk walk;
	struct ilb_exact_record *record;

	record = bpf_map_lookup_elem(&scratch, &zero);
	if (!record || read_mask(record))
		return -1;
	record->time_ns = bpf_ktime_get_ns();
	record->kicker = bpf_get_smp_processor_id();
	record->target = target;
	record->flags = flags_of(target);
	walk.record = record;
	bpf_loop(nr_cpus, look_at, &walk, 0);
	return bpf_ringbuf_output(&ring, record,
				  offsetof(struct ilb_exact_record, sets) +
				  2 * words * sizeof(__u64), wake_flag());
}

static int take(__u32 target, __u64 function)
{
	if (function != nohz_csd_func)
		return 0;
	__sync_fetch_and_add(&kicks, 1);
	if (record_kick(target))
		__sync_fetch_and_add(&lost, 1);
	return 0;
}

SEC("raw_tp/csd_queue_cpu")
int on_csd_queue(struct bpf_raw_tracepoint_args *context)
{
	return take(context->args[0], context->args[2]);
}

SEC("fentry/smp_call_function_single_async")
int BPF_PROG(on_async, int cpu, struct __call_single_data *csd)
{
	return take(cpu, (__u64)csd->func);
}

SEC("kprobe/smp_call_function_single_async")
int BPF_KPROBE(on_async_probe, int cpu, struct __call_single_data *csd)
{
	return take(cpu, (__u64)BPF_CORE_READ(csd, func));
}

char program_license[] SEC("license") = "GPL";
