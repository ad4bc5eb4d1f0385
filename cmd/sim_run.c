// SPDX-License-Identifier: GPL-2.0-only
/* One run of the simulator, fed to the same machine and meter as a trace. */

#include <stdlib.h>
#include <string.h>

#include "cmd/sim.h"
#include "ilb/machine.h"

static void on_event(void *context, const struct ilb_event *event)
{
	struct ilb_sim_one *one = context;

	ilb_machine_event(one->machine, event);
	ilb_meter_event(one->meter, event);
	if (one->writer)
		ilb_sim_writer_event(one->writer, event);
}

static void on_moment(void *context, const struct ilb_moment *moment)
{
	struct ilb_sim_one *one = context;

	ilb_meter_moment(one->meter, moment);
}

/* The machine's own moments are guesses: the simulator knows better. */
static void ignore(void *context, const struct ilb_moment *moment)
{
	(void)context;
	(void)moment;
}

static void describe(struct ilb_sim_one *one)
{
	const struct ilb_sim_plan *plan = one->plan;
	const struct ilb_sim_kernel *k = &plan->kernel;
	struct ilb_capture *c = &one->capture;

	c->path = (char *)plan->name;
	c->topology = *plan->machine.topology;
	c->topology_from = (char *)plan->machine.name;
	snprintf(c->system.kernel, sizeof(c->system.kernel),
		 "%u.%u.0-simulated", k->behaviour.release / 1000,
		 k->behaviour.release % 1000);
	c->system.hz = k->hz;
	c->system.housekeeping = k->housekeeping;
	c->system.housekeeping_known = 1;
	c->system.nohz_full = k->nohz_full;
	c->system.isolated = k->isolated;
}

static int start(struct ilb_sim_one *one, struct ilb_error *error)
{
	const struct ilb_sim_plan *plan = one->plan;
	const struct ilb_machine_setup machine = {
		.topology = plan->machine.topology,
		.housekeeping = plan->kernel.housekeeping,
		.nohz_full = plan->kernel.nohz_full,
		.isolated = plan->kernel.isolated,
		.hz = plan->kernel.hz,
		.moment = ignore,
	};
	struct ilb_meter_setup meter = {
		.topology = plan->machine.topology,
		.housekeeping = plan->kernel.housekeeping,
		.nohz_full = plan->kernel.nohz_full,
		.isolated = plan->kernel.isolated,
		.recovery_ns = plan->machine.recovery_ns,
	};

	one->machine = ilb_machine_create(&machine);
	meter.machine = one->machine;
	if (one->machine)
		one->meter = ilb_meter_create(&meter);
	if (!one->meter)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	if (!one->capture_dir)
		return 0;
	return ilb_sim_writer_create(&one->writer, one->capture_dir, plan,
				     error);
}

static void judge(struct ilb_sim_one *one)
{
	const struct ilb_findings_input input = {
		.measures = one->measures,
		.topology = one->plan->machine.topology,
		.housekeeping = one->plan->kernel.housekeeping,
		.nohz_full = one->plan->kernel.nohz_full,
		.hz = one->plan->kernel.hz,
		.kernel = one->capture.system.kernel,
	};

	ilb_findings_judge(&one->findings, &input);
}

static int finish(struct ilb_sim_one *one, char *const text[2],
		  struct ilb_error *error)
{
	ilb_machine_finish(one->machine);
	one->measures = ilb_meter_finish(one->meter);
	if (!one->measures)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	one->measures->kind = ILB_MOMENT_SIMULATED;
	one->measures->kicks.kicks_known = 1;
	one->measures->kicks.masks_known = 1;
	one->stats.events = one->result.events;
	ilb_schedstat_diff(one->measures, text[0], text[1],
			   one->plan->kernel.hz);
	judge(one);
	return 0;
}

static void copy_schedstat(struct ilb_sim_one *one, char *const text[2])
{
	FILE **files = ilb_sim_writer_schedstat(one->writer);
	int i;

	for (i = 0; i < 2; i++)
		fputs(text[i], files[i]);
}

static int run(struct ilb_sim_one *one, FILE *schedstat[2],
	       struct ilb_error *error)
{
	const struct ilb_sim_sink sink = {
		.event = on_event,
		.moment = on_moment,
		.context = one,
	};

	return ilb_sim_run(one->plan, &sink, schedstat, &one->result, error);
}

int ilb_sim_one_run(struct ilb_sim_one *one, struct ilb_error *error)
{
	char *text[2] = { NULL, NULL };
	size_t size[2];
	FILE *schedstat[2];
	int err, i;

	describe(one);
	err = start(one, error);
	for (i = 0; i < 2; i++)
		schedstat[i] = open_memstream(&text[i], &size[i]);
	if (!err && (!schedstat[0] || !schedstat[1]))
		err = ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	if (!err)
		err = run(one, schedstat, error);
	for (i = 0; i < 2; i++)
		if (schedstat[i])
			fclose(schedstat[i]);
	if (!err)
		err = finish(one, text, error);
	if (!err && one->writer) {
		copy_schedstat(one, text);
		err = ilb_sim_writer_commit(one->writer, error);
		one->writer = NULL;
	}
	free(text[0]);
	free(text[1]);
	return err;
}

void ilb_sim_one_close(struct ilb_sim_one *one)
{
	ilb_sim_writer_abandon(one->writer);
	ilb_meter_destroy(one->meter);
	ilb_machine_destroy(one->machine);
}
