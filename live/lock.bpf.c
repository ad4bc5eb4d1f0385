// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a runqueue's lock is held while its CPU balances. It is an object of
 * its own: these hooks are called for every such lock, on request only.
 *
 * The lock is held with interrupts off, and balancing holds one at a time; so
 * one place per CPU is enough, and a lock taken while another is held is left
 * out. Newly idle balancing lets go of a lock it did not take, and takes it
 * again at its end: neither is a hold of its own.
 */

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "live/stat_hist.bpf.h"
#include "live/stat_record.h"

#define SOFTIRQ_SCHED	7U

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ilb_stat_lock);
} locks SEC(".maps");

static __always_inline struct ilb_stat_lock *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&locks, &cpu);
}

static __always_inline int go(__u64 where)
{
	struct ilb_stat_lock *l = this_cpu();

	if (!l)
		return 0;
	l->where = where;
	l->rq = 0;
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(enter_softirq, unsigned int vector)
{
	return vector == SOFTIRQ_SCHED ? go(ILB_STAT_SOFTIRQ) : 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(leave_softirq, unsigned int vector)
{
	return vector == SOFTIRQ_SCHED ? go(0) : 0;
}

/* Its name and arguments differ between kernels. */
SEC("fentry/sched_balance_newidle")
int enter_newidle(void *context)
{
	return go(ILB_STAT_NEWIDLE);
}

SEC("fexit/sched_balance_newidle")
int leave_newidle(void *context)
{
	return go(0);
}

SEC("fexit/raw_spin_rq_lock_nested")
int BPF_PROG(on_lock, void *rq)
{
	struct ilb_stat_lock *l = this_cpu();

	if (!l || !l->where || l->rq)
		return 0;
	l->rq = (__u64)rq;
	l->at = bpf_ktime_get_ns();
	return 0;
}

SEC("fentry/raw_spin_rq_unlock")
int BPF_PROG(on_unlock, void *rq)
{
	struct ilb_stat_lock *l = this_cpu();

	if (!l || !l->where || l->rq != (__u64)rq)
		return 0;
	l->rq = 0;
	hist_add(&l->hold[l->where == ILB_STAT_NEWIDLE],
		 bpf_ktime_get_ns() - l->at);
	return 0;
}

char program_license[] SEC("license") = "GPL";
