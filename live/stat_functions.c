// SPDX-License-Identifier: GPL-2.0-only
/*
 * Share of CPU time in the balancer's functions, by sampling every CPU: where
 * the machine has no counter of cycles, by a timer (cpu-clock). Which function
 * an instruction belongs to comes from the kernel's symbols: up to the next of
 * them. A function's own time, and what was inlined into it; of the pass, the
 * calls that it makes are not in it.
 */

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/stat.h"

#define FREQUENCY	997U	/* Hz; prime: not in step with the tick */
#define PAGES		32U	/* of samples, per CPU: seconds of them */

struct range {
	uint64_t from, to;
};

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

struct ilb_sampler {
	struct range range[ILB_FUNCTIONS];
	struct ring *ring;
	unsigned int nr_cpus;
	size_t page;
};

/* What each is called; where there are two names, the newer kernel's first. */
static const char *const names[ILB_FUNCTIONS][2] = {
	{ "nohz_balance_enter_idle", NULL },
	{ "nohz_balance_exit_idle", NULL },
	{ "kick_ilb", "nohz_balancer_kick" },
	{ "_nohz_idle_balance", NULL },
};

/* ---- where the functions are ---- */

static int rank_of(const char *name, unsigned int function)
{
	int i;

	for (i = 0; i < 2; i++)
		if (names[function][i] && !strcmp(names[function][i], name))
			return i + 1;
	return 0;
}

/* The symbols are in no order: find the starts first, then the nearest end. */
static void find_starts(struct ilb_sampler *s, FILE *file,
			struct ilb_functions *functions)
{
	int best[ILB_FUNCTIONS] = { 0 }, rank;
	uint64_t address;
	char line[600], name[128];
	unsigned int i;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 " %*c %127s", &address, name) != 2)
			continue;
		for (i = 0; i < ILB_FUNCTIONS; i++) {
			rank = rank_of(name, i);
			if (!rank || !address || (best[i] && best[i] < rank))
				continue;
			best[i] = rank;
			s->range[i].from = address;
			functions->function[i].name = names[i][rank - 1];
			functions->function[i].listed = 1;
		}
	}
}

static void find_ends(struct ilb_sampler *s, FILE *file)
{
	uint64_t address;
	char line[600];
	unsigned int i;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64, &address) != 1)
			continue;
		for (i = 0; i < ILB_FUNCTIONS; i++)
			if (address > s->range[i].from &&
			    (!s->range[i].to || address < s->range[i].to))
				s->range[i].to = address;
	}
}

static int find_ranges(struct ilb_sampler *s, struct ilb_functions *functions,
		       const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int i, found = 0;

	if (!file)
		return -1;
	find_starts(s, file, functions);
	rewind(file);
	find_ends(s, file);
	fclose(file);
	for (i = 0; i < ILB_FUNCTIONS; i++)
		found += functions->function[i].listed;
	return found ? 0 : -1;
}

/* ---- sampling ---- */

static int open_event(unsigned int type, unsigned int config, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.freq = 1,
		.sample_freq = FREQUENCY,
		.sample_type = PERF_SAMPLE_IP,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static int open_ring(struct ilb_sampler *s, struct ring *ring,
		     struct ilb_functions *functions, unsigned int cpu)
{
	int hardware = !functions->from[0] ||
		       !strcmp(functions->from, "cycles");
	void *memory;

	ring->fd = hardware ? open_event(PERF_TYPE_HARDWARE,
					 PERF_COUNT_HW_CPU_CYCLES, cpu) : -1;
	if (ring->fd < 0) {
		/* All CPUs by the same, or shares could not be added. */
		if (functions->from[0] && hardware)
			return -1;
		hardware = 0;
		ring->fd = open_event(PERF_TYPE_SOFTWARE,
				      PERF_COUNT_SW_CPU_CLOCK, cpu);
	}
	if (ring->fd < 0)
		return -1;
	snprintf(functions->from, sizeof(functions->from), "%s",
		 hardware ? "cycles" : "cpu-clock");
	memory = mmap(NULL, (1 + PAGES) * s->page, PROT_READ | PROT_WRITE,
		      MAP_SHARED, ring->fd, 0);
	if (memory == MAP_FAILED)
		return -1;
	ring->page = memory;
	return 0;
}

static int open_rings(struct ilb_sampler *s, struct ilb_functions *functions,
		      const struct ilb_topology *topology)
{
	unsigned int cpu;

	ilb_for_each_cpu(cpu, topology->online, topology->nr_cpus)
		if (open_ring(s, &s->ring[cpu], functions, cpu))
			return -1;
	return 0;
}

int ilb_sampler_open(struct ilb_sampler **sampler,
		     struct ilb_functions *functions,
		     const struct ilb_topology *topology)
{
	struct ilb_sampler *s = calloc(1, sizeof(*s));
	unsigned int i;

	*sampler = NULL;
	memset(functions, 0, sizeof(*functions));
	for (i = 0; i < ILB_FUNCTIONS; i++)
		functions->function[i].name = names[i][0];
	if (s)
		s->ring = calloc(topology->nr_cpus, sizeof(*s->ring));
	if (!s || !s->ring) {
		free(s);
		return -ILB_ERR_NOMEM;
	}
	s->nr_cpus = topology->nr_cpus;
	s->page = (size_t)sysconf(_SC_PAGESIZE);
	for (i = 0; i < s->nr_cpus; i++)
		s->ring[i].fd = -1;
	*sampler = s;
	if (find_ranges(s, functions, "/proc/kallsyms"))
		snprintf(functions->needs, sizeof(functions->needs),
			 "/proc/kallsyms with addresses: run as root, or with CAP_SYSLOG, and with kernel.kptr_restrict at most 1");
	else if (open_rings(s, functions, topology))
		snprintf(functions->needs, sizeof(functions->needs),
			 "perf_event_open, which says %s: run as root, or with CAP_PERFMON, and on many CPUs with a higher limit of open files",
			 strerror(errno));
	return 0;
}

/* ---- reading ---- */

struct sample {
	struct perf_event_header header;
	uint64_t ip;	/* or, of lost ones, an id that is not used */
	uint64_t lost;
};

static void copy_out(struct sample *to, const char *data, size_t size,
		     uint64_t at, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		((char *)to)[i] = data[(at + i) % size];
}

static void take_sample(const struct ilb_sampler *s,
			struct ilb_functions *functions,
			const struct sample *sample)
{
	unsigned int i;

	if (sample->header.type == PERF_RECORD_LOST)
		functions->lost += sample->lost;
	if (sample->header.type != PERF_RECORD_SAMPLE)
		return;
	functions->samples++;
	for (i = 0; i < ILB_FUNCTIONS; i++)
		if (sample->ip >= s->range[i].from &&
		    sample->ip < s->range[i].to)
			functions->function[i].samples++;
}

static void read_ring(const struct ilb_sampler *s, const struct ring *ring,
		      struct ilb_functions *functions)
{
	const char *data = (const char *)ring->page + s->page;
	size_t size = PAGES * s->page, bytes;
	uint64_t head, tail = ring->page->data_tail;
	struct sample sample;

	head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	while (tail < head) {
		memset(&sample, 0, sizeof(sample));
		copy_out(&sample, data, size, tail, sizeof(sample.header));
		bytes = sample.header.size;
		if (bytes < sizeof(sample.header))
			break;
		copy_out(&sample, data, size, tail, bytes < sizeof(sample) ?
			 bytes : sizeof(sample));
		take_sample(s, functions, &sample);
		tail += bytes;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

void ilb_sampler_read(struct ilb_sampler *sampler,
		      struct ilb_functions *functions)
{
	unsigned int cpu;

	for (cpu = 0; cpu < sampler->nr_cpus; cpu++)
		if (sampler->ring[cpu].page)
			read_ring(sampler, &sampler->ring[cpu], functions);
}

void ilb_sampler_start(struct ilb_functions *functions)
{
	unsigned int i;

	functions->samples = 0;
	functions->lost = 0;
	for (i = 0; i < ILB_FUNCTIONS; i++)
		functions->function[i].samples = 0;
}

void ilb_sampler_close(struct ilb_sampler *sampler)
{
	unsigned int cpu;

	if (!sampler)
		return;
	for (cpu = 0; cpu < sampler->nr_cpus; cpu++) {
		if (sampler->ring[cpu].page)
			munmap(sampler->ring[cpu].page,
			       (1 + PAGES) * sampler->page);
		if (sampler->ring[cpu].fd >= 0)
			close(sampler->ring[cpu].fd);
	}
	free(sampler->ring);
	free(sampler);
}
