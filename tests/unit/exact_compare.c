// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: exact-compare DIR
 *
 * Two witnesses of the same kicks: the moments of a capture, and the events
 * csd_queue_cpu of its trace or, on Linux before 6.4, those of a probe. Per
 * kicker, both must tell of the same targets at the same times, apart from
 * kicks at the very start and end. Status 1 if they differ, 3 if something
 * cannot be read.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ilb/capture.h"
#include "ilb/moments.h"
#include "ilb/source.h"

#define KICKS_MAX	1000000U
#define APART_NS	20000000U	/* an emulated CPU may be held up */

struct kick {
	uint64_t time_ns;
	unsigned int kicker, target;
};

struct kicks {
	struct kick list[KICKS_MAX];
	unsigned int n;
};

static struct kicks seen, traced;

static void add(struct kicks *kicks, uint64_t time_ns, unsigned int kicker,
		unsigned int target)
{
	if (kicks->n < KICKS_MAX)
		kicks->list[kicks->n++] = (struct kick){ time_ns, kicker,
							 target };
}

static int by_kicker(const void *a, const void *b)
{
	const struct kick *x = a, *y = b;

	if (x->kicker != y->kicker)
		return x->kicker < y->kicker ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int read_moments(const char *path, unsigned int nr_cpus,
			uint64_t *start, uint64_t *end,
			struct ilb_error *error)
{
	struct ilb_moments *moments;
	struct ilb_moment m;
	int got = ilb_moments_open(&moments, path, nr_cpus, error);

	if (got)
		return got;
	*start = ilb_moments_header(moments)->start_ns;
	*end = ilb_moments_totals(moments)->end_ns;
	printf("%s: ", ilb_moments_header(moments)->method);
	while ((got = ilb_moments_next(moments, &m, error)) > 0)
		add(&seen, m.time_ns, m.kicker, m.target);
	ilb_moments_close(moments);
	return got;
}

static int read_trace(const char *path, unsigned int nr_cpus, uint64_t start,
		      uint64_t end, struct ilb_error *error)
{
	struct ilb_source *source;
	struct ilb_event e;
	int got = ilb_source_open(&source, path, nr_cpus, error);

	if (got)
		return got;
	while ((got = ilb_source_next(source, &e, error)) > 0) {
		if (e.time_ns < start || e.time_ns > end)
			continue;
		if (e.type == ILB_EVENT_CSD_QUEUE &&
		    e.u.csd.func == ILB_FUNC_NOHZ_CSD)
			add(&traced, e.time_ns, e.cpu, e.u.csd.cpu);
		else if (e.type == ILB_EVENT_PROBE_SEND &&
			 e.u.probe.func == ILB_FUNC_NOHZ_CSD)
			add(&traced, e.time_ns, e.cpu, e.u.probe.cpu);
	}
	ilb_source_close(source);
	return got;
}

static uint64_t apart(const struct kick *a, const struct kick *b)
{
	return a->time_ns > b->time_ns ? a->time_ns - b->time_ns :
					 b->time_ns - a->time_ns;
}

/* Of one witness only: counts, unless the other may have come or gone then. */
static unsigned int alone(const struct kick *kick, uint64_t start,
			  uint64_t end)
{
	return kick->time_ns >= start + APART_NS &&
	       kick->time_ns + APART_NS <= end;
}

static int compare(uint64_t start, uint64_t end)
{
	unsigned int i = 0, j = 0, same = 0, differ = 0;
	uint64_t most = 0;

	qsort(seen.list, seen.n, sizeof(seen.list[0]), by_kicker);
	qsort(traced.list, traced.n, sizeof(traced.list[0]), by_kicker);
	while (i < seen.n || j < traced.n) {
		const struct kick *a = &seen.list[i], *b = &traced.list[j];

		if (i == seen.n) {
			differ += alone(b, start, end);
			j++;
		} else if (j == traced.n) {
			differ += alone(a, start, end);
			i++;
		} else if (a->kicker == b->kicker && a->target == b->target &&
		    apart(a, b) < APART_NS) {
			most = apart(a, b) > most ? apart(a, b) : most;
			same++, i++, j++;
		} else if (by_kicker(a, b) < 0) {
			differ += alone(a, start, end);
			i++;
		} else {
			differ += alone(b, start, end);
			j++;
		}
	}
	printf("%u moments, %u kicks in the trace, %u the same, at most %" PRIu64
	       " ns apart; %u differ\n", seen.n, traced.n, same, most, differ);
	return differ || !same;
}

int main(int argc, char **argv)
{
	struct ilb_topology *topology;
	struct ilb_error error = { "" };
	char path[3][4096];
	uint64_t start, end;

	if (argc != 2)
		return 2;
	snprintf(path[0], sizeof(path[0]), "%s/topology.xml", argv[1]);
	snprintf(path[1], sizeof(path[1]), "%s/moments", argv[1]);
	snprintf(path[2], sizeof(path[2]), "%s/trace.dat", argv[1]);
	if (ilb_topology_load(&topology, path[0], &error) ||
	    read_moments(path[1], topology->nr_cpus, &start, &end, &error) ||
	    read_trace(path[2], topology->nr_cpus, start, end, &error)) {
		puts(error.text);
		return 3;
	}
	ilb_topology_free(topology);
	return compare(start, end);
}
