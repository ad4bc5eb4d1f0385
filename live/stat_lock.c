// SPDX-License-Identifier: GPL-2.0-only
/* Loads lock.bpf.c, with the hooks this kernel has, and reads its counts. */

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "live/exact_kernel.h"
#include "live/lock.skel.h"
#include "live/places.h"
#include "live/stat.h"
#include "live/stat_record.h"

struct ilb_locks {
	struct ilb_lock_bpf *bpf;
	unsigned int nr_cpus;
	struct ilb_stat_lock *cpu;	/* mapped */
	struct ilb_stat_lock *last;
	size_t size;
};

static int quiet(enum libbpf_print_level level, const char *format,
		 va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static int has(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

/* Linux renamed it in 6.10; NULL: inlined. */
static const char *newidle_of(const struct btf *btf)
{
	if (has(btf, "sched_balance_newidle"))
		return "sched_balance_newidle";
	return has(btf, "newidle_balance") ? "newidle_balance" : NULL;
}

static int choose(struct ilb_locks *l, const char *newidle)
{
	struct bpf_program *in = l->bpf->progs.enter_newidle;
	struct bpf_program *out = l->bpf->progs.leave_newidle;

	bpf_program__set_autoload(in, newidle != NULL);
	bpf_program__set_autoload(out, newidle != NULL);
	if (!newidle)
		return 0;
	if (bpf_program__set_attach_target(in, 0, newidle))
		return -1;
	return bpf_program__set_attach_target(out, 0, newidle);
}

static int map_counts(struct ilb_locks *l)
{
	void *memory;

	l->size = l->nr_cpus * sizeof(*l->cpu);
	l->last = calloc(l->nr_cpus, sizeof(*l->last));
	if (!l->last)
		return -1;
	memory = mmap(NULL, l->size, PROT_READ, MAP_SHARED,
		      bpf_map__fd(l->bpf->maps.locks), 0);
	if (memory == MAP_FAILED)
		return -1;
	l->cpu = memory;
	return 0;
}

/* Returns 0, or -1 with errno. */
static int load(struct ilb_locks *l, const char *newidle)
{
	l->bpf = ilb_lock_bpf__open();
	if (!l->bpf)
		return -1;
	bpf_map__set_max_entries(l->bpf->maps.locks, l->nr_cpus);
	if (choose(l, newidle) || ilb_lock_bpf__load(l->bpf) ||
	    map_counts(l))
		return -1;
	return ilb_lock_bpf__attach(l->bpf) ? -1 : 0;
}

/* EPERM may be fentry's alone. */
static void refused(struct ilb_rq_lock *lock, int number)
{
	struct ilb_error error = { "" };

	if (ilb_bpf_refused(number == EPERM ? 0 : number, &error))
		snprintf(lock->needs, sizeof(lock->needs), "%.290s",
			 error.text);
	else
		snprintf(lock->needs, sizeof(lock->needs),
			 "fentry, which is refused (%s): run as root, on a kernel with CONFIG_FUNCTION_TRACER",
			 strerror(number));
}

static void open_hooks(struct ilb_locks *l, struct ilb_rq_lock *lock)
{
	struct btf *btf = btf__parse(ILB_KERNEL_TYPES, NULL);
	const char *newidle = NULL;

	if (!btf) {
		snprintf(lock->needs, sizeof(lock->needs),
			 "a kernel with CONFIG_DEBUG_INFO_BTF");
	} else if (!has(btf, "raw_spin_rq_lock_nested") ||
		   !has(btf, "raw_spin_rq_unlock")) {
		snprintf(lock->needs, sizeof(lock->needs),
			 "the functions raw_spin_rq_lock_nested and raw_spin_rq_unlock, which this kernel inlines");
	} else {
		newidle = newidle_of(btf);
		if (load(l, newidle))
			refused(lock, errno);
	}
	lock->newidle_known = newidle && !lock->needs[0];
	btf__free(btf);
}

int ilb_locks_open(struct ilb_locks **locks, struct ilb_rq_lock *lock,
		   unsigned int nr_cpus)
{
	struct ilb_locks *l = calloc(1, sizeof(*l));
	libbpf_print_fn_t before;

	*locks = NULL;
	if (!l)
		return -ILB_ERR_NOMEM;
	l->nr_cpus = nr_cpus;
	before = libbpf_set_print(quiet);
	open_hooks(l, lock);
	libbpf_set_print(before);
	if (lock->needs[0])
		ilb_locks_close(l);
	else
		*locks = l;
	return 0;
}

void ilb_locks_start(struct ilb_locks *locks)
{
	memcpy(locks->last, locks->cpu, locks->size);
}

void ilb_locks_take(struct ilb_locks *locks, struct ilb_rq_lock *lock)
{
	struct ilb_stat_lock *last;
	unsigned int cpu;

	memset(&lock->softirq, 0, sizeof(lock->softirq));
	memset(&lock->newidle, 0, sizeof(lock->newidle));
	for (cpu = 0; cpu < locks->nr_cpus; cpu++) {
		struct ilb_stat_lock now = locks->cpu[cpu];

		last = &locks->last[cpu];
		ilb_stat_hist_since(&lock->softirq, &now.hold[0],
				    &last->hold[0]);
		ilb_stat_hist_since(&lock->newidle, &now.hold[1],
				    &last->hold[1]);
		*last = now;
	}
}

void ilb_locks_close(struct ilb_locks *locks)
{
	if (!locks)
		return;
	if (locks->cpu)
		munmap(locks->cpu, locks->size);
	ilb_lock_bpf__destroy(locks->bpf);
	free(locks->last);
	free(locks);
}
