// SPDX-License-Identifier: GPL-2.0-only
/*
 * ilb replay, all of it but where events and exact moments come from: any
 * events that a source may give, on machines of a few shapes, through every
 * rule. The index must choose as the scan does.
 *
 * This program's capture, source and moments take the place of the library's,
 * as a linker takes a program's own definition before an archive's.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/follow.h"
#include "replay.h"
#include "trace/topology.h"

static int check_and_print(const struct ilb_follow *follow,
			   struct ilb_report *report, FILE *appendix,
			   struct ilb_error *error);

#define ilb_follow_print	check_and_print
#include "cmd/replay.c"
#undef ilb_follow_print

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CPUS_MAX	130U
#define WORDS		ILB_MASK_WORDS(CPUS_MAX)
#define STEP_NS		(1ULL << 34)	/* at most from record to record */

/* One of the two readers of the input: of its events, or of its moments. */
struct reader {
	const uint8_t *at, *end;
	uint64_t now_ns;
};

struct ilb_source {
	struct reader reader;
	struct ilb_source_stats stats;
};

struct ilb_moments {
	struct reader reader;
	unsigned long mask[WORDS], idle[WORDS];
};

static struct {
	char path[8];		/* for messages */
	const uint8_t *data;
	size_t size;
	struct replay_head head;
	struct ilb_capture capture;
	struct ilb_tables *tables;
	unsigned long set[4][WORDS];
	struct ilb_source source;
	struct ilb_moments moments;
} input = { .path = "fuzz" };

/* ---- records ---- */

static struct reader start(void)
{
	struct reader reader = {
		.at = input.data,
		.end = input.data + input.size,
	};

	return reader;
}

/* The next event, or the next moment; 0 at the end. */
static int next_record(struct reader *reader, struct ilb_event *event,
		       int moments)
{
	while ((size_t)(reader->end - reader->at) >= sizeof(*event)) {
		memcpy(event, reader->at, sizeof(*event));
		reader->at += sizeof(*event);
		reader->now_ns += event->time_ns % STEP_NS;
		event->time_ns = reader->now_ns;
		event->type %= ILB_EVENT_TYPES + 1;
		if ((event->type == ILB_EVENT_TYPES) == moments)
			return 1;
	}
	return 0;
}

/* ---- the source ---- */

int ilb_source_open(struct ilb_source **source, const char *path,
		    unsigned int nr_cpus, struct ilb_error *error)
{
	(void)path;
	(void)nr_cpus;
	(void)error;
	memset(&input.source, 0, sizeof(input.source));
	input.source.reader = start();
	*source = &input.source;
	return 0;
}

/* Holds what trace/source.c and those behind it promise, and no more. */
int ilb_source_next(struct ilb_source *source, struct ilb_event *event,
		    struct ilb_error *error)
{
	(void)error;
	if (!next_record(&source->reader, event, 0))
		return 0;
	source->stats.events++;
	event->cpu %= input.capture.topology.nr_cpus;
	if (event->type == ILB_EVENT_SWITCH)
		event->u.sched_switch.next_comm[ILB_COMM_LEN - 1] = '\0';
	return 1;
}

void ilb_source_stats(const struct ilb_source *source,
		      struct ilb_source_stats *stats)
{
	*stats = source->stats;
}

void ilb_source_close(struct ilb_source *source)
{
	(void)source;
}

/* ---- exact moments ---- */

int ilb_moments_open(struct ilb_moments **moments, const char *path,
		     unsigned int nr_cpus, struct ilb_error *error)
{
	(void)path;
	(void)nr_cpus;
	(void)error;
	input.moments.reader = start();
	*moments = &input.moments;
	return 0;
}

static void repeat(unsigned long *mask, uint64_t word)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		mask[i] = (unsigned long)word;
	/* No bit beyond the last CPU: the reader refuses it. */
	ilb_mask_and(mask, mask, input.capture.topology.online,
		     input.capture.topology.nr_cpus);
}

static unsigned int cpu_of(uint32_t number)
{
	unsigned int nr = input.capture.topology.nr_cpus;

	number %= nr + 1;
	return number == nr ? ILB_CPU_NONE : number;
}

int ilb_moments_next(struct ilb_moments *moments, struct ilb_moment *moment,
		     struct ilb_error *error)
{
	struct replay_moment given;
	struct ilb_event event;

	(void)error;
	if (!next_record(&moments->reader, &event, 1))
		return 0;
	memcpy(&given, &event.u, sizeof(given));
	repeat(moments->mask, given.mask);
	repeat(moments->idle, given.idle);
	memset(moment, 0, sizeof(*moment));
	moment->time_ns = event.time_ns;
	moment->kicker = cpu_of(given.kicker);
	moment->target = cpu_of(given.target);
	moment->kind = ILB_MOMENT_EXACT;
	moment->mask = moments->mask;
	moment->idle = moments->idle;
	return 1;
}

const struct ilb_moments_header *
ilb_moments_header(const struct ilb_moments *moments)
{
	static const struct ilb_moments_header header = { .nr_cpus = 1 };

	(void)moments;
	return &header;
}

const struct ilb_moments_totals *
ilb_moments_totals(const struct ilb_moments *moments)
{
	static const struct ilb_moments_totals totals = {
		.end_ns = UINT64_MAX,
	};

	(void)moments;
	return &totals;
}

enum ilb_moment_kind ilb_moments_kind(const struct ilb_moments *moments)
{
	(void)moments;
	return ILB_MOMENT_EXACT;
}

void ilb_moments_close(struct ilb_moments *moments)
{
	(void)moments;
}

/* ---- the capture ---- */

static void build(struct ilb_tables *t, const struct replay_shape *shape)
{
	unsigned int cpu, core, nr_cpus = t->topology.nr_cpus;

	ilb_mask_fill(t->online, nr_cpus);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		core = cpu % shape->cores;
		t->core[cpu] = core;
		t->llc[cpu] = core / shape->llc * shape->llc;
		t->node[cpu] = core / (2 * shape->llc) * 2 * shape->llc;
	}
	t->topology.smt = ilb_topology_link(nr_cpus, t->core, t->sibling);
	if (ilb_topology_check(&t->topology, NULL))
		abort();
}

static unsigned long *last_cpus(unsigned long *mask, unsigned int nr)
{
	unsigned int nr_cpus = input.capture.topology.nr_cpus;

	ilb_mask_zero(mask, nr_cpus);
	for (; nr; nr--)
		if (nr < nr_cpus)
			ilb_mask_set(mask, nr_cpus - nr);
	return mask;
}

int ilb_capture_open(struct ilb_capture **capture, const char *path,
		     const char *topology, struct ilb_error *error)
{
	const struct replay_head *head = &input.head;
	const struct replay_shape *shape;
	struct ilb_capture *c = &input.capture;
	struct ilb_system *s = &c->system;
	unsigned int nr_cpus;

	(void)path;
	(void)topology;
	shape = &replay_shapes[head->shape % REPLAY_SHAPES];
	nr_cpus = shape->cores * shape->threads;
	input.tables = ilb_tables_alloc(nr_cpus);
	if (!input.tables)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	build(input.tables, shape);
	memset(c, 0, sizeof(*c));
	c->topology = input.tables->topology;
	c->topology_from = input.path;
	c->path = input.path;
	if (!(head->options & REPLAY_NO_TRACE))
		c->trace = input.path;
	c->moments = input.path;
	s->hz = head->hz * 10U;
	s->recorded = head->recorded;
	s->nohz_full = last_cpus(input.set[0], head->set_apart % 16);
	s->isolated = last_cpus(input.set[1], head->set_apart / 16);
	s->recorded_cpus = input.set[2];
	ilb_mask_copy(s->recorded_cpus, c->topology.online, nr_cpus);
	s->housekeeping = input.set[3];
	ilb_mask_andnot(s->housekeeping, c->topology.online, s->nohz_full,
			nr_cpus);
	*capture = c;
	return 0;
}

void ilb_capture_close(struct ilb_capture *capture)
{
	(void)capture;
	free(input.tables);
	input.tables = NULL;
}

/* ---- what must hold ---- */

/* Of idle-core and the index: all but what looking cost. */
static void same_choices(const struct ilb_policy_result *a,
			 const struct ilb_policy_result *b)
{
	if (a->kicks != b->kicks || a->agree != b->agree ||
	    a->agree_decisive != b->agree_decisive ||
	    a->on_busy_core != b->on_busy_core ||
	    a->avoidable != b->avoidable || a->fallback != b->fallback ||
	    a->none != b->none || a->same_llc != b->same_llc ||
	    a->idle_cores_woken != b->idle_cores_woken || a->top != b->top ||
	    a->top_cpu != b->top_cpu)
		abort();
}

static int check_and_print(const struct ilb_follow *follow,
			   struct ilb_report *report, FILE *appendix,
			   struct ilb_error *error)
{
	const struct ilb_policy_result *r = report->policies;
	const struct ilb_policy_result *scan = NULL, *index = NULL;
	unsigned int i;

	for (i = 0; i < report->nr_policies; i++) {
		if (r[i].agree > r[i].scored || r[i].scored > r[i].kicks ||
		    r[i].avoidable > r[i].on_busy_core ||
		    r[i].fallback + r[i].none > r[i].kicks ||
		    r[i].top_cpu >= follow->capture->topology.nr_cpus)
			abort();
		if (!strcmp(r[i].name, "idle-core"))
			scan = &r[i];
		if (!strcmp(r[i].name, "indexed"))
			index = &r[i];
	}
	if (!scan || !index)
		abort();
	same_choices(scan, index);
	return ilb_follow_print(follow, report, appendix, error);
}

static void call(unsigned int options)
{
	static const struct {
		unsigned int bit;
		const char *option;
	} words[] = {
		{ REPLAY_JSON, "--json" },
		{ REPLAY_LIST, "--list-disagreements" },
		{ REPLAY_WHAT_IF, "--housekeeping=1-2" },
		{ REPLAY_IGNORE_PROBES, "--ignore-probes" },
		{ REPLAY_IGNORE_MOMENTS, "--ignore-moments" },
		{ REPLAY_NO_SETTLE, "--settle=0" },
	};
	char *argv[16] = { "replay", "-p", "all,wrap:0" };
	int argc = 3, code;
	unsigned int i;

	/* The one is text and the other is not. */
	if (options & REPLAY_JSON)
		options &= ~REPLAY_LIST;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (options & words[i].bit)
			argv[argc++] = (char *)words[i].option;
	optind = 0;
	code = ilb_cmd_replay(argc, argv);
	if (code != ILB_EXIT_OK && code != ILB_EXIT_INPUT)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!freopen("/dev/null", "w", stdout))
		abort();
	/* Errors of the command. The fuzzer has kept the old one. */
	stderr = stdout;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < sizeof(input.head))
		return 0;
	memcpy(&input.head, data, sizeof(input.head));
	input.data = data + sizeof(input.head);
	input.size = size - sizeof(input.head);
	call(input.head.options);
	return 0;
}
