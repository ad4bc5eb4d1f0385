// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads stat.bpf.c and reads what it counted. The counts lie in an array that
 * is mapped into this process: reading costs no system call. They only grow,
 * so that an interval is a difference, and losing one loses nothing.
 *
 * A kernel without csd events (6.1) has the same kicks and handlers at two
 * functions, where the program needs fentry.
 */

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "live/bpf.h"
#include "live/exact_kernel.h"
#include "live/places.h"
#include "live/stat.h"
#include "live/stat.skel.h"
#include "live/stat_record.h"

#define SAME(member)							\
	_Static_assert(offsetof(struct ilb_stat_hist, member) ==	\
		       offsetof(struct ilb_hist, member), "one layout")
SAME(count);
SAME(sum_ns);
SAME(max_ns);
SAME(cell);
SAME(log2_us);
_Static_assert(sizeof(struct ilb_stat_hist) == sizeof(struct ilb_hist),
	       "one layout");

/* How kicks and their arrival are seen. */
enum calls { CALLS_NONE, CALLS_EVENTS, CALLS_FENTRY };

struct ilb_stat_kernel {
	struct ilb_stat_bpf *bpf;
	const struct ilb_topology *topology;
	enum calls calls;
	struct ilb_stat_cpu *cpu;	/* mapped */
	struct ilb_stat_cpu *last;
	size_t size;
	uint64_t last_ns;
	struct ilb_runtimes runtimes;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* ---- loading ---- */

static int has(const struct btf *btf, const char *name, unsigned int kind)
{
	return btf && btf__find_by_name_kind(btf, name, kind) > 0;
}

static enum calls choose_calls(void)
{
	struct btf *btf = btf__parse(ILB_KERNEL_TYPES, NULL);
	enum calls calls = CALLS_NONE;

	if (has(btf, "btf_trace_csd_queue_cpu", BTF_KIND_TYPEDEF))
		calls = CALLS_EVENTS;
	else if (has(btf, "smp_call_function_single_async",
		     BTF_KIND_FUNC) &&
		 has(btf, "nohz_csd_func", BTF_KIND_FUNC))
		calls = CALLS_FENTRY;
	btf__free(btf);
	return calls;
}

static void choose_programs(struct ilb_stat_kernel *k)
{
	const struct ilb_stat_bpf *b = k->bpf;
	int events = k->calls == CALLS_EVENTS;
	int fentry = k->calls == CALLS_FENTRY;

	bpf_program__set_autoload(b->progs.on_csd_queue, events);
	bpf_program__set_autoload(b->progs.on_csd_function, events);
	bpf_program__set_autoload(b->progs.on_async, fentry);
	bpf_program__set_autoload(b->progs.on_csd_func, fentry);
	/* It is run, not attached. */
	bpf_program__set_autoattach(b->progs.look, false);
}

/* Returns 0, or an errno. */
static int load(struct ilb_stat_kernel *k, uint64_t nohz_csd_func)
{
	int err;

	k->bpf = ilb_stat_bpf__open();
	if (!k->bpf)
		return errno;
	k->bpf->rodata->nohz_csd_func = nohz_csd_func;
	k->bpf->rodata->smt = (__u32)k->topology->smt;
	bpf_map__set_max_entries(k->bpf->maps.cpus, k->topology->nr_cpus);
	choose_programs(k);
	err = -ilb_stat_bpf__load(k->bpf);
	if (!err)
		return 0;
	ilb_stat_bpf__destroy(k->bpf);
	k->bpf = NULL;
	return err;
}

static int refused(int number, struct ilb_error *error)
{
	int err = ilb_bpf_refused(number, error);

	return err ? err : ilb_fail(error, ILB_ERR_UNSUPPORTED,
				    "BPF, which this kernel refuses: %s",
				    strerror(number));
}

static int load_most(struct ilb_stat_kernel *k, uint64_t nohz_csd_func,
		     struct ilb_error *error)
{
	int number;

	k->calls = nohz_csd_func ? choose_calls() : CALLS_NONE;
	number = load(k, nohz_csd_func);
	if (number && number != EPERM && k->calls == CALLS_FENTRY) {
		k->calls = CALLS_NONE;
		number = load(k, nohz_csd_func);
	}
	return number ? refused(number, error) : 0;
}

static int map_counts(struct ilb_stat_kernel *k, struct ilb_error *error)
{
	unsigned int nr = k->topology->nr_cpus, cpu;
	void *memory;

	k->size = nr * sizeof(*k->cpu);
	k->last = calloc(nr, sizeof(*k->last));
	if (!k->last)
		return ilb_fail(error, ILB_ERR_NOMEM, "memory");
	memory = mmap(NULL, k->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(k->bpf->maps.cpus), 0);
	if (memory == MAP_FAILED)
		return ilb_fail(error, ILB_ERR_NOMEM, "BPF maps: mmap: %s",
				strerror(errno));
	k->cpu = memory;
	for (cpu = 0; cpu < nr; cpu++)
		k->cpu[cpu].sibling = k->topology->sibling[cpu];
	return 0;
}

/* On @cpu, in an interrupt: what runs there, and what it is due. */
static void look(const struct ilb_stat_kernel *k, unsigned int cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, options,
		    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	/* An offline CPU cannot, and has nothing to say. */
	bpf_prog_test_run_opts(bpf_program__fd(k->bpf->progs.look), &options);
}

/* ---- sources ---- */

static void set_source(struct ilb_source_of *source, const char *from,
		       const char *needs)
{
	snprintf(source->from, sizeof(source->from), "%s", from);
	snprintf(source->needs, sizeof(source->needs), "%s", needs);
}

static void name_sources(const struct ilb_stat_kernel *k,
			 struct ilb_source_of *sources,
			 const struct ilb_error *hidden)
{
	static const char *const kicks[] = {
		"", "raw_tp:csd_queue_cpu",
		"fentry:smp_call_function_single_async",
	};
	static const char *const runs[] = {
		"", "raw_tp:csd_function_entry, tp_btf:softirq_exit",
		"fentry:nohz_csd_func, tp_btf:softirq_exit",
	};
	const char *needs = "";

	if (!k->calls)
		needs = hidden->text[0] ? hidden->text :
			"the events csd:csd_queue_cpu and csd:csd_function_entry (Linux 6.4), or fentry";
	set_source(&sources[ILB_PART_KICKS], kicks[k->calls], needs);
	set_source(&sources[ILB_PART_RUNS], runs[k->calls], needs);
	set_source(&sources[ILB_PART_SWITCHES], "tp_btf:sched_switch", "");
	set_source(&sources[ILB_PART_UTILISATION], "tp_btf:sched_switch", "");
	set_source(&sources[ILB_PART_SOFTIRQS],
		   "tp_btf:softirq_entry, tp_btf:softirq_exit", "");
}

static void name_missing(struct ilb_source_of *sources, const char *needs)
{
	set_source(&sources[ILB_PART_KICKS], "", needs);
	set_source(&sources[ILB_PART_RUNS], "", needs);
	set_source(&sources[ILB_PART_SWITCHES], "", needs);
	set_source(&sources[ILB_PART_SOFTIRQS], "", needs);
}

/* ---- the object ---- */

static int open_all(struct ilb_stat_kernel *k, struct ilb_error *hidden,
		    struct ilb_error *error)
{
	struct ilb_kernel_places places = { .nohz = 0 };
	unsigned int cpu;
	int err;

	if (access(ILB_KERNEL_TYPES, R_OK))
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"a kernel with CONFIG_DEBUG_INFO_BTF (no "
				ILB_KERNEL_TYPES ")");
	/* Of its two names the mask's may be missing. */
	ilb_kernel_addresses(&places, "/proc/kallsyms", hidden);
	err = load_most(k, places.nohz_csd_func, error);
	if (!err)
		err = map_counts(k, error);
	if (err)
		return err;
	err = -ilb_stat_bpf__attach(k->bpf);
	if (err)
		return refused(err, error);
	for (cpu = 0; cpu < k->topology->nr_cpus; cpu++)
		look(k, cpu);
	if (k->calls && k->topology->smt)
		ilb_runtimes_scan(&k->runtimes);
	return 0;
}

void ilb_stat_kernel_start(struct ilb_stat_kernel *kernel)
{
	memcpy(kernel->last, kernel->cpu, kernel->size);
	kernel->last_ns = now();
}

int ilb_stat_kernel_open(struct ilb_stat_kernel **kernel,
			 const struct ilb_topology *topology,
			 struct ilb_source_of *sources,
			 struct ilb_error *error)
{
	struct ilb_stat_kernel *k = calloc(1, sizeof(*k));
	struct ilb_error hidden = { "" };
	libbpf_print_fn_t before;
	int err;

	*kernel = NULL;
	if (!k)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	k->topology = topology;
	before = libbpf_set_print(ilb_bpf_quiet);
	err = open_all(k, &hidden, error);
	libbpf_set_print(before);
	if (err) {
		name_missing(sources, error->text);
		ilb_stat_kernel_close(k);
		return err;
	}
	name_sources(k, sources, &hidden);
	*kernel = k;
	return 0;
}

void ilb_stat_kernel_close(struct ilb_stat_kernel *kernel)
{
	if (!kernel)
		return;
	if (kernel->cpu)
		munmap(kernel->cpu, kernel->size);
	ilb_stat_bpf__destroy(kernel->bpf);
	free(kernel->runtimes.task);
	free(kernel->last);
	free(kernel);
}

/* ---- reading ---- */

/* A counter that went backwards counts 0. */
static uint64_t since(uint64_t after, uint64_t before)
{
	return after > before ? after - before : 0;
}

/* Into idle and back between two of these reads would count time twice. */
static void copy_cpu(struct ilb_stat_cpu *to, const struct ilb_stat_cpu *from)
{
	const volatile struct ilb_stat_cpu *live = from;
	int tries = 100;

	do
		memcpy(to, from, sizeof(*to));
	while (tries-- && (live->busy_at != to->busy_at ||
			   live->busy_ns != to->busy_ns));
}

/* The cells have 32 bits, and wrap. */
void ilb_stat_hist_since(struct ilb_hist *sum,
			 const struct ilb_stat_hist *after,
			 const struct ilb_stat_hist *before)
{
	unsigned int i;

	sum->count += since(after->count, before->count);
	sum->sum_ns += since(after->sum_ns, before->sum_ns);
	if (after->max_ns > sum->max_ns)
		sum->max_ns = after->max_ns;
	for (i = 0; i < ILB_HIST_CELLS; i++)
		sum->cell[i] += after->cell[i] - before->cell[i];
	for (i = 0; i < ILB_HIST_LOG2; i++)
		sum->log2_us[i] += since(after->log2_us[i],
					 before->log2_us[i]);
}

static uint64_t busy_of(const struct ilb_stat_cpu *c, uint64_t at_ns)
{
	return c->busy_ns + (c->busy_at ? since(at_ns, c->busy_at) : 0);
}

static void add_runs(struct ilb_measures *m, const struct ilb_stat_cpu *a,
		     const struct ilb_stat_cpu *b)
{
	uint64_t before = m->runs.duration.count;

	ilb_stat_hist_since(&m->runs.latency, &a->latency, &b->latency);
	ilb_stat_hist_since(&m->runs.duration, &a->duration, &b->duration);
	m->runs.total += m->runs.duration.count - before;
	m->runs.disturbed_ns += since(a->disturbed_ns, b->disturbed_ns);
	m->kicks.dropped += since(a->dropped, b->dropped);
}

static void add_kicks(struct ilb_kicks *kicks, unsigned int cpu,
		      const struct ilb_stat_cpu *a,
		      const struct ilb_stat_cpu *b)
{
	kicks->by_target[cpu] += since(a->kicked, b->kicked);
	kicks->total += since(a->kicked, b->kicked);
	kicks->on_busy_core += since(a->on_busy, b->on_busy);
	kicks->idle_cores_woken = since(kicks->total, kicks->on_busy_core);
	kicks->kicker_unknown = kicks->total;
}

static void add_cpu(struct ilb_measures *m, const struct ilb_stat_cpu *a,
		    const struct ilb_stat_cpu *b, uint64_t now_ns,
		    uint64_t last_ns)
{
	m->contention.busy_sibling += since(a->busy_sibling, b->busy_sibling);
	m->contention.idle_sibling += since(a->idle_sibling, b->idle_sibling);
	m->softirq.sched += since(a->sched, b->sched);
	m->softirq.sched_ns += since(a->sched_ns, b->sched_ns);
	m->utilisation.busy_ns += since(busy_of(a, now_ns),
					busy_of(b, last_ns));
}

static int more_disturbed(const void *a, const void *b)
{
	const struct ilb_victim *x = a, *y = b;

	if (x->disturbed_ns != y->disturbed_ns)
		return x->disturbed_ns < y->disturbed_ns ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/*
 * How long a victim ran in this interval: since it was born, or since its
 * last known running time. Of one that appears in a later interval that is
 * unknown, once.
 */
static void fill_victim(struct ilb_stat_kernel *k, struct ilb_victim *to,
			const struct ilb_stat_victim *from)
{
	int32_t pid = (int32_t)from->pid;
	const struct ilb_runtime *before;

	before = ilb_runtimes_find(&k->runtimes, pid);
	memcpy(to->comm, from->comm, sizeof(from->comm));
	to->comm[sizeof(to->comm) - 1] = '\0';
	to->pid = pid;
	to->cpu = from->cpu;
	to->disturbed_ns = from->disturbed_ns;
	to->kicks = from->kicks;
	if (from->start_ns >= k->last_ns)
		to->running_ns = from->runtime_ns;
	else if (before)
		to->running_ns = since(from->runtime_ns, before->ns);
	ilb_runtimes_set(&k->runtimes, pid, from->runtime_ns);
}

/* Read and removed at once: what comes later is the next interval's. */
static int take_victims(struct ilb_stat_kernel *k, struct ilb_measures *m)
{
	int fd = bpf_map__fd(k->bpf->maps.victims);
	struct ilb_stat_victim *values;
	__u32 *keys, place, count = ILB_STAT_VICTIMS, i;
	int err = 0;

	keys = calloc(ILB_STAT_VICTIMS, sizeof(*keys));
	values = calloc(ILB_STAT_VICTIMS, sizeof(*values));
	if (keys && values)
		bpf_map_lookup_and_delete_batch(fd, NULL, &place, keys,
						values, &count, NULL);
	else
		err = -ILB_ERR_NOMEM;
	if (!err && count && count <= ILB_STAT_VICTIMS) {
		m->victims = calloc(count, sizeof(*m->victims));
		err = m->victims ? 0 : -ILB_ERR_NOMEM;
	}
	for (i = 0; m->victims && i < count; i++)
		fill_victim(k, &m->victims[m->nr_victims++], &values[i]);
	if (m->nr_victims)
		qsort(m->victims, m->nr_victims, sizeof(*m->victims),
		      more_disturbed);
	free(keys);
	free(values);
	return err;
}

/* Who runs for long does not switch: wake only CPUs with something due. */
void ilb_stat_kernel_settle(const struct ilb_stat_kernel *kernel)
{
	unsigned int cpu;

	for (cpu = 0; cpu < kernel->topology->nr_cpus; cpu++)
		if (kernel->cpu[cpu].due_kicks || kernel->cpu[cpu].due_ns)
			look(kernel, cpu);
}

static void set_known(const struct ilb_stat_kernel *k, struct ilb_measures *m)
{
	m->contention.known = k->topology->smt;
	m->softirq.known = m->softirq.time_known = 1;
	m->utilisation.known = 1;
	m->runs.known = k->calls != CALLS_NONE;
	m->kicks.dropped_known = k->calls != CALLS_NONE;
}

int ilb_stat_kernel_take(struct ilb_stat_kernel *kernel,
			 struct ilb_measures *measures)
{
	int kicks = !measures->kicks.kicks_known && kernel->calls;
	struct ilb_stat_cpu *c = calloc(1, sizeof(*c)), *last;
	unsigned int cpu;
	uint64_t now_ns;
	int err;

	if (!c)
		return -ILB_ERR_NOMEM;
	for (cpu = 0; cpu < kernel->topology->nr_cpus; cpu++) {
		last = &kernel->last[cpu];
		now_ns = now();
		copy_cpu(c, &kernel->cpu[cpu]);
		add_cpu(measures, c, last, now_ns, kernel->last_ns);
		add_runs(measures, c, last);
		if (kicks)
			add_kicks(&measures->kicks, cpu, c, last);
		*last = *c;
		/* A maximum is no counter: it starts again. */
		kernel->cpu[cpu].latency.max_ns = 0;
		kernel->cpu[cpu].duration.max_ns = 0;
	}
	free(c);
	measures->kicks.kicks_known |= kicks;
	set_known(kernel, measures);
	err = take_victims(kernel, measures);
	kernel->last_ns = now();
	return err;
}
