// SPDX-License-Identifier: GPL-2.0-only
/* A machine and a meter for hand-made traces; see fixture.h. */

#include <stdlib.h>
#include <string.h>

#include "fixture.h"

void fixture_shape(struct fixture *f, unsigned int nr_cpus,
		   unsigned int per_core, unsigned int per_llc)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		f->core[cpu] = cpu - cpu % per_core;
		f->llc[cpu] = cpu - cpu % per_llc;
		f->node[cpu] = 0;
	}
	ilb_mask_fill(f->online, nr_cpus);
	ilb_mask_fill(f->housekeeping, nr_cpus);
	f->topology.nr_cpus = nr_cpus;
	f->topology.online = f->online;
	f->topology.core = f->core;
	f->topology.sibling = f->sibling;
	f->topology.llc = f->llc;
	f->topology.node = f->node;
	f->topology.smt = ilb_topology_link(nr_cpus, f->core, f->sibling);
	assert_int_equal(ilb_topology_check(&f->topology, NULL), 0);
}

int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->hz = 250;
	fixture_shape(f, 8, 2, 4);
	*state = f;
	return 0;
}

void fixture_restart(struct fixture *f)
{
	ilb_meter_destroy(f->meter);
	ilb_machine_destroy(f->machine);
	f->meter = NULL;
	f->machine = NULL;
}

int fixture_teardown(void **state)
{
	fixture_restart(*state);
	free(*state);
	return 0;
}

static void on_moment(void *context, const struct ilb_moment *moment)
{
	struct fixture *f = context;

	ilb_meter_moment(f->meter, moment);
}

static void start(struct fixture *f)
{
	const struct ilb_machine_setup machine = {
		.topology = &f->topology,
		.housekeeping = f->housekeeping,
		.nohz_full = f->nohz_full,
		.isolated = f->isolated,
		.hz = f->hz,
		.ignore_probes = f->ignore_probes,
		.moment = on_moment,
		.context = f,
	};
	struct ilb_meter_setup meter = {
		.topology = &f->topology,
		.housekeeping = f->housekeeping,
		.nohz_full = f->nohz_full,
		.isolated = f->isolated,
		.recovery_ns = f->recovery_ns,
	};

	f->machine = ilb_machine_create(&machine);
	assert_non_null(f->machine);
	meter.machine = f->machine;
	f->meter = ilb_meter_create(&meter);
	assert_non_null(f->meter);
}

void fixture_feed(struct fixture *f, const struct ilb_event *events,
		  unsigned int nr)
{
	unsigned int i;

	if (!f->meter)
		start(f);
	for (i = 0; i < nr; i++) {
		assert_true(!i || events[i].time_ns >= events[i - 1].time_ns);
		ilb_machine_event(f->machine, &events[i]);
		ilb_meter_event(f->meter, &events[i]);
	}
}

struct ilb_measures *fixture_finish(struct fixture *f)
{
	struct ilb_measures *m;

	ilb_machine_finish(f->machine);
	m = ilb_meter_finish(f->meter);
	assert_non_null(m);
	return m;
}

const struct ilb_task *fixture_task(struct fixture *f, int32_t pid)
{
	const struct ilb_tasks *tasks = &f->meter->tasks;
	unsigned int i;

	for (i = 0; i < tasks->size; i++)
		if (tasks->slot[i].pid == pid)
			return &tasks->slot[i];
	fail_msg("task %d is not known", pid);
	return NULL;
}
