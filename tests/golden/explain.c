// SPDX-License-Identifier: GPL-2.0-only
/*
 * explain CAPTURE...: why the default settle time judges some kicks otherwise
 * than the recorded order of events does. For every kick whose on_busy_core,
 * or whose choice by lowest or idle-core, differs between --settle 0 and the
 * default, each CPU that differs must have changed what it runs, or what waits
 * for it, within that time of the kick; or its tick must have stopped just
 * before, when the kicker had begun to choose. Prints TAP, and a line for every
 * such kick.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/capture.h"
#include "ilb/machine.h"
#include "ilb/source.h"
#include "ilb/target.h"
#include "changes.h"

#define CPUS	CHANGES_CPUS
#define KICKS	4096

struct kick {
	uint64_t time_ns;
	unsigned int kicker, target;
	unsigned long mask, idle;
};

struct log {
	struct kick kick[KICKS];
	unsigned int count;
};

static struct log as_recorded, settled;

static struct changes changes;

#define TICK_NS	1000000		/* no tick takes longer to choose */

static void on_moment(void *context, const struct ilb_moment *m)
{
	struct log *log = context;
	struct kick *k = &log->kick[log->count];

	if (log->count == KICKS)
		exit(99);
	log->count++;
	k->time_ns = m->time_ns;
	k->kicker = m->kicker;
	k->target = m->target;
	k->mask = m->mask[0];
	k->idle = m->idle[0];
}

static struct ilb_machine *machine(const struct ilb_capture *c,
				   uint64_t settle_ns, struct log *log)
{
	const struct ilb_machine_setup setup = {
		.topology = &c->topology,
		.housekeeping = c->system.housekeeping,
		.nohz_full = c->system.nohz_full,
		.isolated = c->system.isolated,
		.hz = c->system.hz,
		.settle_ns = settle_ns,
		.moment = on_moment,
		.context = log,
	};

	log->count = 0;
	return ilb_machine_create(&setup);
}

/* The state of @cpu at kicks @a (as recorded) and @b (settled) agrees, or why. */
static int cpu_explained(const struct kick *a, const struct kick *b,
			 unsigned int cpu)
{
	unsigned long bit = 1UL << cpu;
	uint64_t t = a->time_ns;

	if ((a->idle ^ b->idle) & bit) {
		printf(" %u", cpu);
		if (!times_within(&changes.work[cpu], t - ILB_SETTLE_NS,
			    t + ILB_SETTLE_NS))
			return 0;
	}
	if ((a->mask ^ b->mask) & bit) {
		printf(" %u (tick)", cpu);
		if (!(a->mask & bit) || !times_within(&changes.mask[cpu], t - TICK_NS, t))
			return 0;
	}
	return 1;
}

static unsigned int choose(const struct ilb_capture *c, const char *rule,
			   const struct kick *k)
{
	unsigned long scratch[1];
	const struct ilb_view view = {
		.topology = &c->topology,
		.mask = &k->mask,
		.housekeeping = c->system.housekeeping,
		.idle = &k->idle,
		.kicker = k->kicker,
		.scratch = scratch,
	};
	struct ilb_policy policy;

	ilb_policy_parse(&policy, rule, c->topology.nr_cpus);
	return ilb_policy_choose(&policy, &view).cpu;
}

static int on_busy_core(const struct ilb_capture *c, const struct kick *k)
{
	unsigned int s = c->topology.sibling[k->target];

	return s != k->target && !(k->idle >> s & 1);
}

static int explained(const struct kick *a, const struct kick *b)
{
	unsigned int cpu;
	int good = a->time_ns == b->time_ns;

	printf("# %.6f s: kick of CPU %u by %u; near it changed:",
	       (double)a->time_ns / 1e9, a->target, a->kicker);
	for (cpu = 0; cpu < CPUS && good; cpu++)
		good = cpu_explained(a, b, cpu);
	printf("%s\n", good ? "" : ": not explained");
	return good;
}

static int read_all(const struct ilb_capture *c)
{
	struct ilb_machine *plain = machine(c, 0, &as_recorded);
	struct ilb_machine *usual = machine(c, ILB_SETTLE_NS, &settled);
	struct ilb_source *source;
	struct ilb_event event;
	int got;

	changes_forget(&changes);
	if (ilb_source_open(&source, c->trace, c->topology.nr_cpus, NULL))
		return -1;
	while ((got = ilb_source_next(source, &event, NULL)) == 1) {
		changes_note(&changes, &event);
		ilb_machine_event(plain, &event);
		ilb_machine_event(usual, &event);
	}
	ilb_machine_finish(plain);
	ilb_machine_finish(usual);
	ilb_source_close(source);
	ilb_machine_destroy(plain);
	ilb_machine_destroy(usual);
	return got;
}

static int compare(const struct ilb_capture *c, unsigned int *different)
{
	unsigned int i;
	int good = as_recorded.count == settled.count && settled.count;

	for (i = 0; i < settled.count && good; i++) {
		const struct kick *a = &as_recorded.kick[i];
		const struct kick *b = &settled.kick[i];

		if (on_busy_core(c, a) == on_busy_core(c, b) &&
		    choose(c, "lowest", a) == choose(c, "lowest", b) &&
		    choose(c, "idle-core", a) == choose(c, "idle-core", b))
			continue;
		(*different)++;
		good = explained(a, b);
	}
	return good;
}

int main(int argc, char **argv)
{
	struct ilb_capture *c;
	unsigned int different;
	int i, good, all = 1;

	printf("1..%d\n", argc - 1);
	for (i = 1; i < argc; i++) {
		if (ilb_capture_open(&c, argv[i], NULL, NULL))
			return 99;
		different = 0;
		good = !read_all(c) && compare(c, &different);
		printf("%sok %d - %s: %u of %u kicks judged otherwise, each explained\n",
		       good ? "" : "not ", i, strrchr(argv[i], '/') + 1,
		       different, settled.count);
		all &= good;
		ilb_capture_close(c);
	}
	return !all;
}
