// SPDX-License-Identifier: GPL-2.0-only
/* "machine" of a scenario: a file of machines/, an object, or a topology. */

#include <stdlib.h>
#include <string.h>

#include "sim/scenario.h"
#include "trace/file.h"
#include "trace/topology.h"

#define MACHINE_MAX	(1U << 20)
#define COST_MAX	1000000000ULL

/*
 * Costs of a machine that does not say its own. Interrupt: 1 to 3 us round
 * trip. Switch, wakeup, idle loop: around a microsecond each on current
 * servers. The last three give the run of a kicked CPU that mail B measured
 * on 352 CPUs with 264 idle ones: 69 us in the mean, of some 67 attempts on
 * cores and one on larger domains.
 */
static const struct ilb_sim_costs default_costs = {
	.ipi = 1200,
	.irq = 500,
	.tick = 1500,
	.switch_ = 1200,
	.wake = 400,
	.idle = 600,
	.softirq = 1000,
	.visit = 50,
	.attempt = 400,
	.attempt_cpu = 80,
};

static const struct {
	const char *key;
	size_t offset;
} costs[] = {
	{ "ipi", offsetof(struct ilb_sim_costs, ipi) },
	{ "irq", offsetof(struct ilb_sim_costs, irq) },
	{ "tick", offsetof(struct ilb_sim_costs, tick) },
	{ "switch", offsetof(struct ilb_sim_costs, switch_) },
	{ "wake", offsetof(struct ilb_sim_costs, wake) },
	{ "idle", offsetof(struct ilb_sim_costs, idle) },
	{ "softirq", offsetof(struct ilb_sim_costs, softirq) },
	{ "visit", offsetof(struct ilb_sim_costs, visit) },
	{ "attempt", offsetof(struct ilb_sim_costs, attempt) },
	{ "attempt_cpu", offsetof(struct ilb_sim_costs, attempt_cpu) },
};

static int read_costs(struct ilb_input *j, const json_t *machine,
		      struct ilb_sim_machine *m)
{
	static const char *const keys[] = {
		"ipi", "irq", "tick", "switch", "wake", "idle", "softirq",
		"visit", "attempt", "attempt_cpu", NULL
	};
	const json_t *object = json_object_get(machine, "costs");
	size_t i;
	int err;

	m->costs = default_costs;
	if (!object)
		return 0;
	ilb_input_enter(j, "costs");
	err = ilb_input_check_keys(j, object, keys);
	for (i = 0; !err && i < sizeof(costs) / sizeof(costs[0]); i++)
		err = ilb_input_time(j, object, costs[i].key, 1, 1, COST_MAX,
				    (uint64_t *)((char *)&m->costs +
						 costs[i].offset));
	j->depth--;
	return err;
}

/* "CPUS": capacity, for all CPUs that are not of full capacity. */
static int read_capacities(struct ilb_input *j, const json_t *machine,
			   struct ilb_sim_machine *m)
{
	const json_t *object = json_object_get(machine, "capacity");
	unsigned int nr = m->topology->nr_cpus, cpu, most = 0;
	unsigned long mask[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	unsigned int capacity[ILB_CPUS_MAX];
	const char *list;
	json_t *value;

	if (!object)
		return 0;
	ilb_input_enter(j, "capacity");
	for (cpu = 0; cpu < nr; cpu++)
		capacity[cpu] = 1024;
	json_object_foreach((json_t *)object, list, value) {
		json_int_t c = json_integer_value(value);

		if (c < 1 || c > 1024)
			return ilb_input_fail_at(j, list, ILB_ERR_RANGE,
				"is not a capacity from 1 to 1024");
		if (ilb_cpulist_parse(list, mask, nr))
			return ilb_input_fail_at(j, list, ILB_ERR_RANGE,
				"is not a list of CPUs below %u", nr);
		ilb_for_each_cpu(cpu, mask, nr)
			capacity[cpu] = (unsigned int)c;
	}
	ilb_for_each_cpu(cpu, m->topology->online, nr)
		most = capacity[cpu] > most ? capacity[cpu] : most;
	if (most != 1024)
		return ilb_input_fail(j, ILB_ERR_RANGE,
			"the largest CPU has %u; it has to be 1024", most);
	ilb_topology_weigh(m->topology, capacity);
	j->depth--;
	return 0;
}

/* What a thread keeps of its speed when one, two ... of its core are awake. */
static int read_speeds(struct ilb_input *j, const json_t *machine,
		       struct ilb_sim_machine *m)
{
	const json_t *array = json_object_get(machine, "smt_speed");
	size_t i, nr = json_array_size(array);
	unsigned int last = ILB_SIM_SPEED;
	json_int_t s;

	if (array && (!nr || nr > ILB_SIM_THREADS_MAX))
		return ilb_input_fail_at(j, "smt_speed", ILB_ERR_RANGE,
			"is not a list of 1 to %u speeds, of %u",
			ILB_SIM_THREADS_MAX, ILB_SIM_SPEED);
	for (i = 0; i < ILB_SIM_THREADS_MAX; i++) {
		s = i < nr ? json_integer_value(json_array_get(array, i)) :
			     (json_int_t)last;
		if (s < 1 || s > (json_int_t)last)
			return ilb_input_fail_at(j, "smt_speed", ILB_ERR_RANGE,
				"speed %zu is not from 1 to %u, the one before it",
				i + 1, last);
		last = m->smt_speed[i] = (unsigned int)s;
	}
	return 0;
}

static int read_state(struct ilb_input *j, const json_t *object,
		      struct ilb_sim_machine *m)
{
	static const char *const keys[] = { "name", "exit", "residency", NULL };
	struct ilb_sim_state *state = &m->states[m->nr_states++];
	const char *name = "";
	int err;

	if (!json_is_object(object))
		return ilb_input_fail(j, ILB_ERR_FORMAT,
				     "a state is not an object");
	err = ilb_input_check_keys(j, object, keys);
	if (!err)
		err = ilb_input_string(j, object, "name", &name);
	if (!err)
		err = ilb_input_time(j, object, "exit", 1, 0, COST_MAX,
				    &state->exit_ns);
	if (!err)
		err = ilb_input_time(j, object, "residency", 1, 0, COST_MAX,
				    &state->residency_ns);
	snprintf(state->name, sizeof(state->name), "%s", name);
	return err;
}

static int read_states(struct ilb_input *j, const json_t *machine,
		       struct ilb_sim_machine *m)
{
	const json_t *array = json_object_get(machine, "idle_states");
	const json_t *state;
	size_t i;
	int err = 0;

	if (array && (!json_is_array(array) ||
		      json_array_size(array) > ILB_SIM_STATES_MAX))
		return ilb_input_fail_at(j, "idle_states", ILB_ERR_RANGE,
					"is not a list of at most %u states",
					ILB_SIM_STATES_MAX);
	ilb_input_enter(j, "idle_states");
	json_array_foreach(array, i, state) {
		err = read_state(j, state, m);
		if (err)
			return err;
	}
	j->depth--;
	return err;
}

/* A file that an XML topology is in is named from the machine's file. */
static int load_topology(struct ilb_input *j, const char *spec,
			 struct ilb_sim_machine *m)
{
	struct ilb_error error = { "" };
	char *path;
	int err;

	path = strchr(spec, ':') ? strdup(spec) : ilb_input_path(j, spec);
	if (!path)
		return ilb_fail(j->error, ILB_ERR_NOMEM, "out of memory");
	m->topology_spec = path;
	err = ilb_topology_load(&m->topology, path, &error);
	if (!err)
		return 0;
	return ilb_input_fail_at(j, "topology", (enum ilb_err)-err, "%s",
				error.text);
}

static int check_threads(struct ilb_input *j, const struct ilb_sim_machine *m)
{
	const struct ilb_topology *t = m->topology;
	unsigned int cpu, s, nr;

	ilb_for_each_cpu(cpu, t->online, t->nr_cpus) {
		nr = 1;
		for (s = t->sibling[cpu]; s != cpu; s = t->sibling[s])
			nr++;
		if (nr > ILB_SIM_THREADS_MAX)
			return ilb_input_fail_at(j, "topology", ILB_ERR_RANGE,
				"CPU %u's core has %u threads; at most %u can be simulated",
				cpu, nr, ILB_SIM_THREADS_MAX);
	}
	return 0;
}

static int read_object(struct ilb_input *j, const json_t *object,
		       const char *name, struct ilb_sim_machine *m)
{
	static const char *const keys[] = {
		"summary", "source", "topology", "capacity", "smt_speed",
		"recovery", "idle_states", "costs", NULL
	};
	const char *topology = NULL;
	int err;

	snprintf(m->name, sizeof(m->name), "%s", name);
	err = ilb_input_check_keys(j, object, keys);
	if (!err)
		err = ilb_input_string(j, object, "topology", &topology);
	if (!err && !topology)
		err = ilb_input_fail(j, ILB_ERR_FORMAT,
			"has no \"topology\"; give a description as \"pack:2 core:8 pu:2\", or an XML file");
	if (!err)
		err = load_topology(j, topology, m);
	if (!err)
		err = check_threads(j, m);
	if (!err)
		err = read_capacities(j, object, m);
	if (!err)
		err = read_speeds(j, object, m);
	if (!err)
		err = ilb_input_time(j, object, "recovery", 1, 0, COST_MAX,
				    &m->recovery_ns);
	if (!err)
		err = read_states(j, object, m);
	return err ? err : read_costs(j, object, m);
}

static int read_file(const struct ilb_scenario *s, struct ilb_input *from,
		     const char *name, struct ilb_sim_machine *m)
{
	struct ilb_input j = { .error = from->error };
	char *path = ilb_scenario_find(s, "machines", name), *text = NULL;
	json_t *root = NULL;
	int err;

	if (!path)
		return ilb_input_fail_at(from, "machine", ILB_ERR_NOENT,
			"there is no machine '%s'; name a file, or one of machines/",
			name);
	j.file = path;
	err = ilb_file_read(&text, NULL, path, MACHINE_MAX, from->error);
	if (!err) {
		j.text = text;
		root = ilb_input_parse(&j);
		err = root ? read_object(&j, root, name, m) : -ILB_ERR_FORMAT;
	}
	json_decref(root);
	free(text);
	free(path);
	return err;
}

int ilb_scenario_machine(const struct ilb_scenario *s, struct ilb_input *j,
			 const json_t *root, struct ilb_sim_plan *plan)
{
	const json_t *machine = json_object_get(root, "machine");
	const char *name = json_string_value(machine);
	json_t *object;
	int err;

	if (name && strchr(name, ':')) {
		object = json_pack("{s:s}", "topology", name);
		err = read_object(j, object, name, &plan->machine);
		json_decref(object);
		return err;
	}
	if (name)
		return read_file(s, j, name, &plan->machine);
	if (!json_is_object(machine))
		return ilb_input_fail(j, ILB_ERR_FORMAT,
			"has no \"machine\"; name one of machines/, or describe it");
	ilb_input_enter(j, "machine");
	err = read_object(j, machine, "machine", &plan->machine);
	j->depth--;
	return err;
}
