// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads the program, tells it about the kernel, and turns its records into
 * moments. All that the kernel holds for it hangs on file descriptors, so
 * that nothing outlives this process.
 */

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/bpf.h"
#include "live/exact.h"
#include "live/exact_kernel.h"
#include "live/exact_record.h"
#include "live/moment.skel.h"

#define RECORDS		4096U	/* some seconds, at a kick per tick */
#define LOG_SIZE	(256U << 10)

struct ilb_exact {
	struct ilb_moment_bpf *bpf;
	struct bpf_program *program;
	struct bpf_link *link;
	struct ring_buffer *ring;
	const char *method;
	char *log;
	unsigned int nr_cpus;
	uint64_t refused;
	void (*moment)(void *context, const struct ilb_moment *moment);
	void *context;
	unsigned long mask[ILB_EXACT_WORDS];
	unsigned long idle[ILB_EXACT_WORDS];
};

struct method {
	const char *name;
	size_t program;	/* where in struct ilb_moment_bpf */
};

static const struct method methods[] = {
	{ "raw_tp:csd_queue_cpu",
	  offsetof(struct ilb_moment_bpf, progs.on_csd_queue) },
	{ "fentry:smp_call_function_single_async",
	  offsetof(struct ilb_moment_bpf, progs.on_async) },
	{ "kprobe:smp_call_function_single_async",
	  offsetof(struct ilb_moment_bpf, progs.on_async_probe) },
};

#define NR_METHODS	(sizeof(methods) / sizeof(methods[0]))

/* The masks of both are arrays of 64-bit words, bit c being CPU c. */
_Static_assert(sizeof(unsigned long) == sizeof(__u64), "64-bit machines only");
_Static_assert(ILB_EXACT_WORDS == ILB_MASK_WORDS(ILB_CPUS_MAX), "every CPU");

/* ---- loading ---- */

static unsigned int words_of(unsigned int nr_cpus)
{
	return ILB_MASK_WORDS(nr_cpus);
}

static size_t record_size(unsigned int nr_cpus)
{
	return offsetof(struct ilb_exact_record, sets) +
	       2 * words_of(nr_cpus) * sizeof(__u64);
}

/* A power of two, and whole pages of any size. */
static unsigned int ring_size(unsigned int nr_cpus)
{
	unsigned int size = 1U << 18;

	while (size < RECORDS * record_size(nr_cpus))
		size *= 2;
	return size;
}

static void set_up(struct ilb_exact *e, const struct ilb_kernel_places *places)
{
	struct ilb_moment_bpf *bpf = e->bpf;
	struct bpf_program *each;

	bpf->rodata->nr_cpus = e->nr_cpus;
	bpf->rodata->words = words_of(e->nr_cpus);
	bpf->rodata->mask_at = places->nohz + places->mask;
	bpf->rodata->nohz_csd_func = places->nohz_csd_func;
	bpf->rodata->mask_in_place = (__u32)places->mask_in_place;
	bpf->rodata->wake_at = ring_size(e->nr_cpus) / 4;
	bpf_map__set_max_entries(bpf->maps.ring, ring_size(e->nr_cpus));
	bpf_object__for_each_program(each, bpf->obj)
		bpf_program__set_autoload(each, each == e->program);
}

static void unload(struct ilb_exact *e)
{
	bpf_link__destroy(e->link);
	ilb_moment_bpf__destroy(e->bpf);
	e->link = NULL;
	e->bpf = NULL;
}

/* Returns 0, or an errno. */
static int load(struct ilb_exact *e, const struct method *method,
		const struct ilb_kernel_places *places)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .kernel_log_buf = e->log,
		    .kernel_log_size = LOG_SIZE);
	int err;

	e->log[0] = '\0';
	e->bpf = ilb_moment_bpf__open_opts(&options);
	if (!e->bpf)
		return errno;
	e->program = *(struct bpf_program **)((char *)e->bpf +
					      method->program);
	e->method = method->name;
	set_up(e, places);
	err = -ilb_moment_bpf__load(e->bpf);
	if (err)
		return err;
	e->link = bpf_program__attach(e->program);
	return e->link ? 0 : errno;
}

/* ---- why it does not load ---- */

/* The verifier's last word before its statistics, or what errno means. */
static const char *reason(char *log, int number)
{
	char *end, *line, *last = NULL;

	for (line = strtok_r(log, "\n", &end); line;
	     line = strtok_r(NULL, "\n", &end))
		if (strncmp(line, "processed ", 10) &&
		    strncmp(line, "verification time", 17) &&
		    strncmp(line, "stack depth", 11))
			last = line;
	return last ? last : strerror(number);
}

static int refused(const struct ilb_exact *e, int number,
		   struct ilb_error *error)
{
	int err = ilb_bpf_refused(number, error);

	return err ? err : ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"BPF: this kernel does not take the program %s: %.200s; please report it",
			e->method, reason(e->log, number));
}

/*
 * ENOENT and ESRCH: it has no such place. What else is in the way of the first
 * of them that it has is the reason.
 */
static int load_one(struct ilb_exact *e, const struct ilb_kernel_places *places,
		    struct ilb_error *error)
{
	unsigned int i;
	int number = 0, err = 0;

	for (i = 0; i < NR_METHODS; i++) {
		number = load(e, &methods[i], places);
		if (!number)
			return 0;
		if (!err && number != ENOENT && number != ESRCH)
			err = refused(e, number, error);
		unload(e);
		if (number == EPERM || number == ENOSYS || number == ENOMEM)
			break;
	}
	return err ? err : refused(e, number, error);
}

/* ---- reading ---- */

static void copy_set(const struct ilb_exact *e, unsigned long *set,
		     const __u64 *from)
{
	unsigned int words = words_of(e->nr_cpus);
	unsigned int rest = e->nr_cpus % ILB_WORD_BITS;

	memcpy(set, from, words * sizeof(*set));
	if (rest)
		set[words - 1] &= (1UL << rest) - 1;
}

static int take_record(void *context, void *data, size_t size)
{
	const struct ilb_exact_record *record = data;
	struct ilb_exact *e = context;
	struct ilb_moment moment = { .kind = ILB_MOMENT_EXACT };

	if (size < record_size(e->nr_cpus) || record->kicker >= e->nr_cpus ||
	    record->target >= e->nr_cpus) {
		e->refused++;
		return 0;
	}
	copy_set(e, e->mask, record->sets);
	copy_set(e, e->idle, record->sets + words_of(e->nr_cpus));
	moment.time_ns = record->time_ns;
	moment.kicker = record->kicker;
	moment.target = record->target;
	moment.flags = record->flags;
	moment.mask = e->mask;
	moment.idle = e->idle;
	e->moment(e->context, &moment);
	return 0;
}

int ilb_exact_read(struct ilb_exact *exact, struct ilb_error *error)
{
	int n = ring_buffer__consume(exact->ring);

	if (n >= 0)
		return n;
	return ilb_fail(error, ILB_ERR_IO, "BPF ring buffer: %s",
			strerror(-n));
}

/* ---- the object ---- */

static int open_all(struct ilb_exact *e, struct ilb_error *error)
{
	struct ilb_kernel_places places;
	int err;

	err = ilb_kernel_mask(&places, error);
	if (!err)
		err = ilb_kernel_addresses(&places, "/proc/kallsyms", error);
	if (!err)
		err = load_one(e, &places, error);
	if (err)
		return err;
	e->ring = ring_buffer__new(ilb_exact_fd(e), take_record, e, NULL);
	if (e->ring)
		return 0;
	return ilb_fail(error, ILB_ERR_NOMEM, "BPF ring buffer: %s",
			strerror(errno));
}

int ilb_exact_open(struct ilb_exact **exact, unsigned int nr_cpus,
		   void (*moment)(void *context,
				  const struct ilb_moment *moment),
		   void *context, struct ilb_error *error)
{
	struct ilb_exact *e = calloc(1, sizeof(*e));
	libbpf_print_fn_t before;
	int err;

	*exact = NULL;
	if (e)
		e->log = malloc(LOG_SIZE);
	if (!e || !e->log) {
		free(e);
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	}
	e->nr_cpus = nr_cpus;
	e->moment = moment;
	e->context = context;
	before = libbpf_set_print(ilb_bpf_quiet);
	err = open_all(e, error);
	libbpf_set_print(before);
	free(e->log);
	e->log = NULL;
	if (err) {
		ilb_exact_close(e);
		return err;
	}
	*exact = e;
	return 0;
}

const char *ilb_exact_method(const struct ilb_exact *exact)
{
	return exact->method;
}

/* Not libbpf's epoll descriptor: that is ready only once it was woken. */
int ilb_exact_fd(const struct ilb_exact *exact)
{
	return bpf_map__fd(exact->bpf->maps.ring);
}

void ilb_exact_stop(struct ilb_exact *exact)
{
	bpf_link__destroy(exact->link);
	exact->link = NULL;
}

void ilb_exact_counts(const struct ilb_exact *exact,
		      struct ilb_exact_counts *counts)
{
	struct bpf_prog_info info = { .type = 0 };
	__u32 size = sizeof(info);

	memset(counts, 0, sizeof(*counts));
	counts->kicks = exact->bpf->bss->kicks;
	counts->lost = exact->bpf->bss->lost + exact->refused;
	if (bpf_obj_get_info_by_fd(bpf_program__fd(exact->program), &info,
				   &size))
		return;
	counts->run_ns = info.run_time_ns;
	counts->runs = info.run_cnt;
}

void ilb_exact_close(struct ilb_exact *exact)
{
	if (!exact)
		return;
	ring_buffer__free(exact->ring);
	unload(exact);
	free(exact);
}
