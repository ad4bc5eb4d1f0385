// SPDX-License-Identifier: GPL-2.0-only
/*
 * exceptions RULE CAPTURE: the exact moments at which RULE names another CPU
 * than the kernel chose, one by one, and why. A moment is read when the kick
 * is sent, somewhat after the kernel looked for its target: from the start of
 * the kicker's tick on, CPUs may have changed. An exception is understood if
 * RULE names the kernel's choice as soon as CPUs which changed in that time,
 * as the trace says, are in their other state. Prints a line for each, then
 * the counts; status 1 if one is not understood.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/capture.h"
#include "ilb/machine.h"
#include "ilb/moments.h"
#include "ilb/source.h"
#include "ilb/target.h"
#include "changes.h"

#define TICK_NS		100000000U	/* no choice takes longer, emulated */
#define FREE_MAX	12		/* CPUs in either state, to be tried */

static struct changes changes;
static struct ilb_policy policy;
static const struct ilb_capture *capture;

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

/* CPUs that were noted from when the kicker began to when it was read. */
static unsigned int changed(const struct times *times, uint64_t from_ns,
			    uint64_t to_ns, unsigned int *cpus)
{
	unsigned int cpu, n = 0;

	for (cpu = 0; cpu < capture->topology.nr_cpus && n < FREE_MAX; cpu++)
		if (times_within(&times[cpu], from_ns, to_ns))
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

	nw = changed(changes.work, from_ns, to_ns, work);
	nm = changed(changes.mask, from_ns, to_ns, mask);
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

static int judge(const struct ilb_moment *m, unsigned int *exceptions)
{
	unsigned int named = choose(m, m->mask[0], m->idle[0]);
	int good;

	if (named == m->target)
		return 0;
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

static int read_trace(void)
{
	struct ilb_source *source;
	struct ilb_event event;
	int got;

	if (ilb_source_open(&source, capture->trace, capture->topology.nr_cpus,
			    NULL))
		return -1;
	while ((got = ilb_source_next(source, &event, NULL)) == 1)
		changes_note(&changes, &event);
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

	if (argc != 3 || ilb_capture_open(&c, argv[2], NULL, NULL))
		return 99;
	capture = c;
	if (c->topology.nr_cpus > CHANGES_CPUS || !c->moments || !c->trace ||
	    ilb_policy_parse(&policy, argv[1], c->topology.nr_cpus))
		return 99;
	err = read_trace();
	if (!err)
		err = read_moments();
	changes_forget(&changes);
	ilb_capture_close(c);
	return err < 0 ? 99 : err;
}
