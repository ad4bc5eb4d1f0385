// SPDX-License-Identifier: GPL-2.0-only
/*
 * exceptions RULE CAPTURE [pinned]: the exact moments at which RULE names another CPU
 * than the kernel chose, one by one, and why. A moment is read when the kick
 * is sent, somewhat after the kernel looked for its target: from the start of
 * the kicker's tick on, CPUs may have changed. A CPU changes first and records
 * that later, much later if its host stops it in between. So these may have
 * been in their other state: CPUs that changed since the tick, as the trace
 * says, and CPUs that the moment shows changed and the trace does not yet. An
 * exception is understood if RULE names the kernel's choice with some of them
 * so. Prints a line for each, then the counts; status 1 if one is not
 * understood.
 *
 * With tasks pinned below all whole cores, "lowest" wakes the sibling of a busy
 * core. With "pinned" a kick that woke a whole core is an exception, too. It is
 * understood if none of those siblings could be chosen: it was busy or out of
 * the mask, as the moment says, and as the trace says, which is read by other
 * means, unless that has a change of it at this time.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/capture.h"
#include "ilb/machine.h"
#include "ilb/moments.h"
#include "ilb/pair.h"
#include "ilb/source.h"
#include "ilb/target.h"
#include "changes.h"

#define TICK_NS		100000000U	/* no choice takes longer, emulated */
#define FREE_MAX	12		/* CPUs in either state, to be tried */

/* What the trace says of the same kicks. */
struct seen {
	uint64_t time_ns;
	unsigned int kicker, target;
	unsigned long mask, idle;
};

static struct seen *seen;
static size_t nr_seen;
static uint64_t first_ns, last_ns;	/* of the trace */
static struct changes changes;
static struct ilb_policy policy;
static const struct ilb_capture *capture;
static int pinned;

static unsigned int choose(const struct ilb_moment *m, unsigned long mask,
			   unsigned long idle)
{
	unsigned long scratch[1];
	const struct ilb_view view = {
		.topology = &capture->topology,
		.mask = &mask,
		.housekeeping = capture->system.housekeeping,
		.idle = &idle,
		.kicker = m->kicker,
		.scratch = scratch,
	};
	struct ilb_policy p = policy;

	return ilb_policy_choose(&p, &view).cpu;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static const struct seen *find_seen(const struct ilb_moment *m)
{
	const struct seen *best = NULL, *s;

	for (s = seen; s < seen + nr_seen; s++)
		if (s->kicker == m->kicker && s->target == m->target &&
		    apart(s->time_ns, m->time_ns) <= ILB_PAIR_NS &&
		    (!best || apart(s->time_ns, m->time_ns) <
			      apart(best->time_ns, m->time_ns)))
			best = s;
	return best;
}

/* CPUs of @late, and those noted from when the kicker began until then. */
static unsigned int changed(const struct times *times, uint64_t from_ns,
			    uint64_t to_ns, unsigned long late,
			    unsigned int *cpus)
{
	unsigned int cpu, n = 0;

	for (cpu = 0; cpu < capture->topology.nr_cpus && n < FREE_MAX; cpu++)
		if (late >> cpu & 1 ||
		    times_within(&times[cpu], from_ns, to_ns))
			cpus[n++] = cpu;
	return n;
}

static unsigned long flip(unsigned long bits, const unsigned int *cpus,
			  unsigned int n, unsigned int which)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (which >> i & 1)
			bits ^= 1UL << cpus[i];
	return bits;
}

/* When the kicker began to choose: its tick, or what the trace has of it. */
static uint64_t began(const struct ilb_moment *m)
{
	uint64_t tick = times_last(&changes.tick[m->kicker], m->time_ns);

	if (!tick || m->time_ns - tick > TICK_NS)
		return m->time_ns;
	return tick;
}

/* With as few CPUs in their other state as possible. */
static int understood(const struct ilb_moment *m)
{
	unsigned int work[FREE_MAX], mask[FREE_MAX], nw, nm, w, k;
	uint64_t from_ns = began(m), to_ns = m->time_ns + ILB_SETTLE_NS;
	const struct seen *s = find_seen(m);

	/* Until the trace had the kick as well. */
	if (s && s->time_ns > m->time_ns)
		to_ns = s->time_ns + ILB_SETTLE_NS;
	nw = changed(changes.work, from_ns, to_ns,
		     s ? s->idle ^ m->idle[0] : 0, work);
	nm = changed(changes.mask, from_ns, to_ns,
		     s ? s->mask ^ m->mask[0] : 0, mask);
	for (k = 0; k < 1U << nm; k++)
		for (w = 0; w < 1U << nw; w++)
			if (choose(m, flip(m->mask[0], mask, nm, k),
				   flip(m->idle[0], work, nw, w)) == m->target)
				goto found;
	return 0;
found:
	printf("; in %.3f ms changed", (double)(to_ns - from_ns) / 1e6);
	for (nw = 0; w >> nw; nw++)
		if (w >> nw & 1)
			printf(" %u", work[nw]);
	for (nm = 0; k >> nm; nm++)
		if (k >> nm & 1)
			printf(" %u (mask)", mask[nm]);
	return 1;
}

/* The CPUs of @cpu's core. */
static unsigned long core_of(unsigned int cpu)
{
	const struct ilb_topology *t = &capture->topology;
	unsigned long bits = 1UL << cpu;
	unsigned int other;

	for (other = t->sibling[cpu]; other != cpu; other = t->sibling[other])
		bits |= 1UL << other;
	return bits;
}

static int could_be_chosen(const struct ilb_moment *m, const struct seen *s,
			   unsigned int cpu)
{
	uint64_t from_ns = began(m), to_ns = m->time_ns + ILB_SETTLE_NS;

	if (m->mask[0] & m->idle[0] & 1UL << cpu)
		return 1;
	if (!(s->mask & s->idle & 1UL << cpu))
		return 0;
	return !times_within(&changes.work[cpu], from_ns, to_ns) &&
	       !times_within(&changes.mask[cpu], from_ns, to_ns);
}

/* A whole core was woken: what was the matter with siblings of busy ones? */
static int judge_whole(const struct ilb_moment *m)
{
	const struct seen *s = find_seen(m);
	unsigned int cpu, looked_at = 0;
	int good = s != NULL;

	printf("%.6f s: CPU %u kicked %u, a whole core",
	       (double)m->time_ns / 1e9, m->kicker, m->target);
	for (cpu = 0; s && cpu < m->target; cpu++) {
		if (cpu == m->kicker || !(core_of(cpu) & ~m->idle[0]) ||
		    !(capture->system.housekeeping[0] & 1UL << cpu))
			continue;
		looked_at++;
		printf("; %u%s%s", cpu,
		       m->idle[0] & 1UL << cpu ? "" : " busy",
		       m->mask[0] & 1UL << cpu ? "" : " not in the mask");
		good &= !could_be_chosen(m, s, cpu);
	}
	good &= looked_at > 0;
	printf("%s\n", good ? "" : "; NOT UNDERSTOOD");
	return !good;
}

static int judge(const struct ilb_moment *m, unsigned int *exceptions)
{
	unsigned int named = choose(m, m->mask[0], m->idle[0]);
	int good;

	if (named == m->target) {
		if (!pinned || core_of(m->target) & ~m->idle[0])
			return 0;
		(*exceptions)++;
		return judge_whole(m);
	}
	(*exceptions)++;
	printf("%.6f s: CPU %u kicked %u, the rule says ",
	       (double)m->time_ns / 1e9, m->kicker, m->target);
	if (named == ILB_CPU_NONE)
		printf("none");
	else
		printf("%u", named);
	good = understood(m);
	printf("%s\n", good ? "" : "; NOT UNDERSTOOD");
	return !good;
}

static void on_seen(void *context, const struct ilb_moment *m)
{
	(void)context;
	if (!(nr_seen & (nr_seen - 1)))
		seen = realloc(seen, (nr_seen ? 2 * nr_seen : 1) *
				     sizeof(*seen));
	seen[nr_seen++] = (struct seen){ m->time_ns, m->kicker, m->target,
					 m->mask[0], m->idle[0] };
}

static int read_trace(void)
{
	const struct ilb_machine_setup setup = {
		.topology = &capture->topology,
		.housekeeping = capture->system.housekeeping,
		.nohz_full = capture->system.nohz_full,
		.isolated = capture->system.isolated,
		.hz = capture->system.hz,
		.moment = on_seen,
	};
	struct ilb_machine *machine = ilb_machine_create(&setup);
	struct ilb_source *source;
	struct ilb_event event;
	int got;

	if (ilb_source_open(&source, capture->trace, capture->topology.nr_cpus,
			    NULL))
		return -1;
	while ((got = ilb_source_next(source, &event, NULL)) == 1) {
		first_ns = first_ns ? first_ns : event.time_ns;
		last_ns = event.time_ns;
		changes_note(&changes, &event);
		ilb_machine_event(machine, &event);
	}
	ilb_machine_finish(machine);
	ilb_machine_destroy(machine);
	ilb_source_close(source);
	return got;
}

static int read_moments(void)
{
	unsigned int kicks = 0, exceptions = 0, bad = 0;
	struct ilb_moments *moments;
	struct ilb_moment m;
	int got;

	if (ilb_moments_open(&moments, capture->moments,
			     capture->topology.nr_cpus, NULL))
		return -1;
	while ((got = ilb_moments_next(moments, &m, NULL)) == 1) {
		if (m.time_ns < first_ns || m.time_ns > last_ns)
			continue;
		kicks++;
		bad += (unsigned int)judge(&m, &exceptions);
	}
	ilb_moments_close(moments);
	printf("%u moments, %u exceptions, %u not understood\n", kicks,
	       exceptions, bad);
	return got ? got : bad > 0;
}

int main(int argc, char **argv)
{
	struct ilb_capture *c;
	int err;

	pinned = argc == 4 && !strcmp(argv[3], "pinned");
	if (argc != 3 + pinned || ilb_capture_open(&c, argv[2], NULL, NULL))
		return 99;
	capture = c;
	if (c->topology.nr_cpus > CHANGES_CPUS || !c->moments || !c->trace ||
	    ilb_policy_parse(&policy, argv[1], c->topology.nr_cpus))
		return 99;
	err = read_trace();
	if (!err)
		err = read_moments();
	changes_forget(&changes);
	free(seen);
	ilb_capture_close(c);
	return err < 0 ? 99 : err;
}
