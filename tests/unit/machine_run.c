// SPDX-License-Identifier: GPL-2.0-only
/* The fixture of the machine's tests; see machine_run.h. */

#include <stdlib.h>
#include <string.h>

#include "machine_run.h"

static void take(void *context, const struct ilb_moment *moment)
{
	struct run *run = context;
	struct seen_moment *seen;
	size_t size = ILB_MASK_WORDS(run->topology.nr_cpus) *
		      sizeof(unsigned long);

	if (run->count == run->room) {
		run->room = run->room ? 2 * run->room : 16;
		run->moments = realloc(run->moments,
				       run->room * sizeof(*seen));
		assert_non_null(run->moments);
	}
	seen = &run->moments[run->count++];
	memset(seen, 0, sizeof(*seen));
	seen->time_ns = moment->time_ns;
	seen->kicker = moment->kicker;
	seen->target = moment->target;
	seen->kind = moment->kind;
	seen->assumed = moment->assumed;
	memcpy(seen->mask, moment->mask, size);
	memcpy(seen->idle, moment->idle, size);
	assert_ptr_equal(moment->housekeeping, run->setup.housekeeping);
	assert_int_equal(moment->flags, 0);
}

void run_resize(struct run *run, unsigned int nr_cpus)
{
	unsigned int cpu;

	assert_true(nr_cpus <= RUN_CPUS_MAX);
	ilb_mask_fill(run->online, nr_cpus);
	ilb_mask_fill(run->housekeeping, nr_cpus);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		run->core[cpu] = cpu & ~1U;
		run->llc[cpu] = cpu & ~3U;
		run->node[cpu] = cpu & ~3U;
	}
	run->topology = (struct ilb_topology){
		.nr_cpus = nr_cpus,
		.online = run->online,
		.core = run->core,
		.sibling = run->sibling,
		.llc = run->llc,
		.node = run->node,
	};
	run->topology.smt = ilb_topology_link(nr_cpus, run->core,
					      run->sibling);
	assert_int_equal(ilb_topology_check(&run->topology, NULL), 0);
}

int run_new(void **state)
{
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	run_resize(run, 8);
	run->setup = (struct ilb_machine_setup){
		.topology = &run->topology,
		.housekeeping = run->housekeeping,
		.nohz_full = run->nohz_full,
		.isolated = run->isolated,
		.hz = 250,
		.settle_ns = ILB_SETTLE_NS,
		.moment = take,
		.context = run,
	};
	*state = run;
	return 0;
}

int run_free(void **state)
{
	struct run *run = *state;

	ilb_machine_destroy(run->machine);
	free(run->moments);
	free(run);
	return 0;
}

static struct ilb_machine *machine_of(struct run *run)
{
	if (!run->machine)
		run->machine = ilb_machine_create(&run->setup);
	assert_non_null(run->machine);
	return run->machine;
}

void run_feed(struct run *run, const struct ilb_event *events, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		ilb_machine_event(machine_of(run), &events[i]);
}

void run_finish(struct run *run)
{
	ilb_machine_finish(machine_of(run));
}

void run_enter(struct run *run, uint64_t us, unsigned long except)
{
	unsigned int cpu;

	for (cpu = 0; cpu < run->topology.nr_cpus; cpu++) {
		if (cpu < 64 && (except & BIT(cpu)))
			continue;
		FEED(run, STOP(us, cpu, 0));
	}
}

const struct ilb_cpu *cpu_of(struct run *run, unsigned int cpu)
{
	return ilb_machine_cpu(machine_of(run), cpu);
}

enum ilb_membership membership(struct run *run, unsigned int cpu)
{
	return cpu_of(run, cpu)->membership;
}

/* The two ways to ask must give one answer. */
unsigned long idle_set(struct run *run)
{
	const unsigned long *idle = ilb_machine_idle_mask(machine_of(run));
	unsigned int cpu;

	for (cpu = 0; cpu < run->topology.nr_cpus; cpu++)
		assert_int_equal(ilb_mask_test(idle, cpu),
				 cpu_of(run, cpu)->idle);
	return idle[0];
}

unsigned long members(struct run *run)
{
	unsigned long mask = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < run->topology.nr_cpus && cpu < 64; cpu++)
		if (membership(run, cpu) == ILB_IN ||
		    membership(run, cpu) == ILB_ASSUMED_IN)
			mask |= BIT(cpu);
	return mask;
}

const struct ilb_kick *last_kick(struct run *run)
{
	return ilb_machine_kick(machine_of(run));
}

const struct seen_moment *moment(struct run *run, unsigned int n)
{
	if (n >= run->count)
		fail_msg("moment %u of %u", n, run->count);
	return &run->moments[n];
}
