// SPDX-License-Identifier: GPL-2.0-only
/*
 * system.json: the recorded kernel, and which of its CPUs are online, may
 * balance, or are set apart. The rules for what is missing are the kernel's
 * housekeeping rules (kernel/sched/isolation.c), 6.1 to 7.3.
 */

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/bootline.h"
#include "trace/system.h"
#include "trace/text.h"
#include "trace/topology.h"

#define HZ_MAX		10000
#define CAPACITY_MAX	1024U
#define WIDE		ILB_MASK_WORDS(ILB_CPUS_MAX)
#define LIST_SHOWN	64

struct reader {
	struct ilb_system *system;
	struct ilb_topology *topology;
	const json_t *root;		/* NULL: no file */
	const char *name, *topology_from;
	struct ilb_error *error;
	int cpus_known;
	struct ilb_bootline boot;
};

static unsigned int words(const struct reader *r)
{
	return ILB_MASK_WORDS(r->topology->nr_cpus);
}

/* A string, NULL where the key is missing. */
static int get_string(const struct reader *r, const char *key,
		      const char **string)
{
	const json_t *value = json_object_get(r->root, key);

	*string = json_string_value(value);
	if (!value || *string)
		return 0;
	return ilb_fail(r->error, ILB_ERR_FORMAT,
			"%s: \"%s\" is not a string; correct it, or remove it",
			r->name, key);
}

/* For people to read, later: no control characters, cut to its room. */
static void copy_string(char *to, size_t size, const char *from)
{
	size_t i;

	for (i = 0; from && from[i] && i < size - 1; i++)
		to[i] = (unsigned char)from[i] < 0x20 || from[i] == 0x7f ?
			'?' : from[i];
	to[i] = '\0';
}

/* Returns 1 and a mask of WIDE words, or 0 where the key is missing. */
static int get_list(const struct reader *r, const char *key,
		    unsigned long *mask)
{
	const char *list;
	int err;

	err = get_string(r, key, &list);
	if (err || !list)
		return err;
	/* What sysfs shows of a mask that was never allocated. */
	if (!strncmp(list, "(null)", 6))
		list = "";
	if (!ilb_cpulist_parse(list, mask, ILB_CPUS_MAX))
		return 1;
	return ilb_fail(r->error, ILB_ERR_FORMAT,
			"%s: \"%s\" is not a list of CPUs below %u as 0-3,8; correct it, or remove it",
			r->name, key, ILB_CPUS_MAX);
}

static int not_there(const struct reader *r, const char *key, unsigned int cpu)
{
	char online[LIST_SHOWN];

	ilb_cpulist_print(online, sizeof(online), r->topology->online,
			  r->topology->nr_cpus);
	return ilb_fail(r->error, ILB_ERR_MISMATCH,
			"%s: \"%s\" has CPU %u, but %s has CPUs %s; give the topology of the machine that was recorded",
			r->name, key, cpu, r->topology_from, online);
}

/* The first CPU of @wide that is not online in the topology, or ~0. */
static unsigned int first_absent(const struct reader *r,
				 const unsigned long *wide)
{
	unsigned int cpu;

	ilb_for_each_cpu(cpu, wide, ILB_CPUS_MAX)
		if (cpu >= r->topology->nr_cpus ||
		    !ilb_mask_test(r->topology->online, cpu))
			return cpu;
	return ILB_CPU_NONE;
}

static int read_cpus(struct reader *r)
{
	unsigned long wide[WIDE];
	unsigned int cpu;
	int got;

	got = get_list(r, "cpus", wide);
	if (got <= 0)
		return got;
	if (ilb_mask_empty(wide, ILB_CPUS_MAX))
		return ilb_fail(r->error, ILB_ERR_FORMAT,
				"%s: \"cpus\" has no CPU; list the online ones, or remove it",
				r->name);
	cpu = first_absent(r, wide);
	if (cpu != ILB_CPU_NONE)
		return not_there(r, "cpus", cpu);
	ilb_topology_restrict(r->topology, wide);
	r->cpus_known = 1;
	return 0;
}

/*
 * A list that the kernel makes of possible CPUs. They may be more than the
 * machine has: where "cpus" says what it has, the others are left out.
 *
 * Returns 1, or 0 where the key is missing.
 */
static int read_mask(const struct reader *r, const char *key,
		     unsigned long *mask)
{
	unsigned long wide[WIDE];
	unsigned int cpu;
	int got;

	got = get_list(r, key, wide);
	if (got <= 0)
		return got;
	ilb_for_each_cpu(cpu, wide, ILB_CPUS_MAX) {
		if (cpu < r->topology->nr_cpus)
			ilb_mask_set(mask, cpu);
		else if (!r->cpus_known)
			return not_there(r, key, cpu);
	}
	return 1;
}

static int read_kernel(struct reader *r)
{
	const char *kernel, *cmdline, *clock;
	int err;

	err = get_string(r, "kernel", &kernel);
	if (!err)
		err = get_string(r, "cmdline", &cmdline);
	if (!err)
		err = get_string(r, "trace_clock", &clock);
	if (err)
		return err;
	copy_string(r->system->kernel, sizeof(r->system->kernel), kernel);
	copy_string(r->system->cmdline, sizeof(r->system->cmdline), cmdline);
	copy_string(r->system->trace_clock, sizeof(r->system->trace_clock),
		    clock);
	/* The whole one, not the copy that may be cut. */
	ilb_bootline_parse(&r->boot, cmdline ? cmdline : "",
			   r->topology->nr_cpus);
	return 0;
}

static int read_hz(struct reader *r)
{
	const json_t *value = json_object_get(r->root, "hz");
	json_int_t hz = json_integer_value(value);

	if (value && (hz < 1 || hz > HZ_MAX))
		return ilb_fail(r->error, ILB_ERR_FORMAT,
				"%s: \"hz\" is not a number from 1 to %d; correct it, or remove it",
				r->name, HZ_MAX);
	r->system->hz = (unsigned int)hz;
	return 0;
}

static int read_isolated(struct reader *r)
{
	int got;

	got = read_mask(r, "isolated", r->system->isolated);
	if (!got)
		ilb_mask_copy(r->system->isolated, r->boot.domain,
			      r->topology->nr_cpus);
	return got < 0 ? got : 0;
}

static int read_nohz_full(struct reader *r)
{
	unsigned long *full = r->system->nohz_full;
	unsigned int nr_cpus = r->topology->nr_cpus;
	int got;

	got = read_mask(r, "nohz_full", full);
	if (got)
		return got < 0 ? got : 0;
	ilb_mask_or(full, r->boot.nohz_full, r->boot.nohz, nr_cpus);
	/* The kernel keeps its boot CPU where the list names every CPU. */
	if (ilb_mask_subset(r->topology->online, full, nr_cpus))
		ilb_mask_clear(full, ilb_mask_next(r->topology->online,
						   nr_cpus, 0));
	return 0;
}

/*
 * Since the housekeeping types TICK and MISC are one (KERNEL_NOISE),
 * isolcpus=nohz forbids a CPU the ILB, as nohz_full= always did. They are one
 * in 7.3 and are not in 6.12; that 7.0 was the first is an assumption. An
 * unknown kernel counts as an old one.
 */
static int nohz_forbids_ilb(const struct reader *r)
{
	return strtoul(r->system->kernel, NULL, 10) >= 7;
}

/* Every online CPU but those of nohz_full. */
static void assume_housekeeping(struct reader *r)
{
	unsigned int cpu, nr_cpus = r->topology->nr_cpus;
	unsigned long *hk = r->system->housekeeping;

	ilb_mask_andnot(hk, r->topology->online, r->system->nohz_full,
			nr_cpus);
	if (nohz_forbids_ilb(r))
		return;
	ilb_for_each_cpu(cpu, r->topology->online, nr_cpus)
		if (ilb_mask_test(r->boot.nohz, cpu) &&
		    !ilb_mask_test(r->boot.nohz_full, cpu))
			ilb_mask_set(hk, cpu);
}

static int read_housekeeping(struct reader *r)
{
	unsigned long *hk = r->system->housekeeping;
	unsigned int nr_cpus = r->topology->nr_cpus;
	int got;

	got = read_mask(r, "housekeeping", hk);
	if (got < 0)
		return got;
	r->system->housekeeping_known = got;
	if (got)
		ilb_mask_and(hk, hk, r->topology->online, nr_cpus);
	else
		assume_housekeeping(r);
	if (!ilb_mask_empty(hk, nr_cpus))
		return 0;
	return ilb_fail(r->error, ILB_ERR_FORMAT,
			"%s: \"%s\" leaves no online CPU that may balance, which no kernel does; correct it, or remove it",
			r->name, got ? "housekeeping" : "nohz_full");
}

static int bad_capacity(const struct reader *r, const char *what)
{
	return ilb_fail(r->error, ILB_ERR_FORMAT,
			"%s: \"capacities\" %s; correct it, or remove it",
			r->name, what);
}

static int add_capacity(const struct reader *r, unsigned int *table,
			const unsigned long *wide, const json_t *value)
{
	json_int_t capacity = json_integer_value(value);
	unsigned int cpu;

	if (capacity < 1 || capacity > (json_int_t)CAPACITY_MAX)
		return bad_capacity(r, "has one that is not a number from 1 to 1024");
	ilb_for_each_cpu(cpu, wide, ILB_CPUS_MAX) {
		if (cpu >= r->topology->nr_cpus)
			return not_there(r, "capacities", cpu);
		if (table[cpu])
			return bad_capacity(r, "has some CPU twice");
		table[cpu] = (unsigned int)capacity;
	}
	return 0;
}

/* [1024, 512, ...] by CPU. */
static int read_capacity_array(const struct reader *r, unsigned int *table,
			       const json_t *array)
{
	unsigned long wide[WIDE];
	size_t cpu;
	int err;

	for (cpu = 0; cpu < json_array_size(array); cpu++) {
		if (cpu >= r->topology->nr_cpus)
			return not_there(r, "capacities", (unsigned int)cpu);
		ilb_mask_zero(wide, ILB_CPUS_MAX);
		ilb_mask_set(wide, (unsigned int)cpu);
		err = add_capacity(r, table, wide, json_array_get(array, cpu));
		if (err)
			return err;
	}
	return 0;
}

/* {"0-3": 1024, "4-7": 512}. */
static int read_capacity_object(const struct reader *r, unsigned int *table,
				json_t *object)
{
	unsigned long wide[WIDE];
	const char *list;
	json_t *value;
	int err;

	json_object_foreach(object, list, value) {
		if (ilb_cpulist_parse(list, wide, ILB_CPUS_MAX))
			return bad_capacity(r, "has a key that is not a list of CPUs");
		err = add_capacity(r, table, wide, value);
		if (err)
			return err;
	}
	return 0;
}

/* An offline CPU may have none: then it is as large as any. */
static int use_capacities(const struct reader *r, unsigned int *table)
{
	unsigned int cpu, least = CAPACITY_MAX, most = 0;

	for (cpu = 0; cpu < r->topology->nr_cpus; cpu++) {
		if (!table[cpu] && ilb_mask_test(r->topology->online, cpu))
			return bad_capacity(r, "lacks some online CPU");
		if (table[cpu] > most)
			most = table[cpu];
		if (!table[cpu])
			table[cpu] = CAPACITY_MAX;
		if (table[cpu] < least)
			least = table[cpu];
	}
	if (most != CAPACITY_MAX)
		return bad_capacity(r, "has no CPU of 1024, as the largest has");
	if (least != CAPACITY_MAX)
		ilb_topology_weigh(r->topology, table);
	return 0;
}

static int read_capacities(struct reader *r)
{
	json_t *value = json_object_get(r->root, "capacities");
	unsigned int *table;
	int err;

	if (!value)
		return 0;
	table = calloc(r->topology->nr_cpus, sizeof(*table));
	if (!table)
		return ilb_fail(r->error, ILB_ERR_NOMEM, "%s: out of memory",
				r->name);
	if (json_is_array(value))
		err = read_capacity_array(r, table, value);
	else if (json_is_object(value))
		err = read_capacity_object(r, table, value);
	else
		err = bad_capacity(r, "is neither an array nor an object");
	if (!err)
		err = use_capacities(r, table);
	free(table);
	return err;
}

static int read_recorded_cpus(struct reader *r)
{
	unsigned long *cpus = r->system->recorded_cpus;
	unsigned int nr_cpus = r->topology->nr_cpus;
	int got = read_mask(r, "recorded_cpus", cpus);

	if (got > 0)
		ilb_mask_and(cpus, cpus, r->topology->online, nr_cpus);
	else if (!got)
		ilb_mask_copy(cpus, r->topology->online, nr_cpus);
	return got < 0 ? got : 0;
}

static uint32_t event_type(const json_t *name)
{
	const char *text = json_string_value(name), *colon;
	char system[32];

	colon = text ? strchr(text, ':') : NULL;
	if (!colon || colon == text || colon - text >= (int)sizeof(system))
		return ILB_EVENT_OTHER;
	snprintf(system, sizeof(system), "%.*s", (int)(colon - text), text);
	return ilb_text_event_type(system, colon + 1);
}

/*
 * What was enabled, in case that nothing of it occurred. Where some CPUs were
 * not recorded, or functions had no names, nothing is no answer.
 */
static int read_events(struct reader *r)
{
	const json_t *events = json_object_get(r->root, "events");
	uint32_t recorded = 0;
	size_t i;

	if (!events)
		return 0;
	if (!json_is_array(events))
		return ilb_fail(r->error, ILB_ERR_FORMAT,
				"%s: \"events\" is not an array; correct it, or remove it",
				r->name);
	if (json_object_get(r->root, "recorded_cpus") ||
	    json_is_true(json_object_get(r->root, "symbols_hidden")))
		return 0;
	for (i = 0; i < json_array_size(events); i++)
		recorded |= 1U << event_type(json_array_get(events, i));
	r->system->recorded = recorded & ~(1U << ILB_EVENT_OTHER);
	return 0;
}

/* Each relies on the ones before it. */
static int read_all(struct reader *r)
{
	static int (*const steps[])(struct reader *r) = {
		read_cpus, read_kernel, read_hz, read_isolated,
		read_nohz_full, read_housekeeping, read_capacities,
		read_recorded_cpus, read_events,
	};
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < sizeof(steps) / sizeof(steps[0]); i++)
		err = steps[i](r);
	return err;
}

static int parse_json(json_t **root, const char *text, size_t size,
		      const char *name, struct ilb_error *error)
{
	json_error_t why;

	*root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
	if (!*root)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: line %d: %s; correct it, or record it again",
				name, why.line, why.text);
	if (json_is_object(*root))
		return 0;
	json_decref(*root);
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: is not a JSON object; correct it, or record it again",
			name);
}

int ilb_system_parse(struct ilb_system *system, struct ilb_topology *topology,
		     const char *text, size_t size, const char *name,
		     const char *topology_from, struct ilb_error *error)
{
	struct reader r = {
		.system = system, .topology = topology, .name = name,
		.topology_from = topology_from, .error = error,
	};
	json_t *root = NULL;
	int err;

	memset(system, 0, sizeof(*system));
	system->housekeeping = calloc(4 * words(&r), sizeof(unsigned long));
	if (!system->housekeeping)
		return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
				name);
	system->nohz_full = system->housekeeping + words(&r);
	system->isolated = system->nohz_full + words(&r);
	system->recorded_cpus = system->isolated + words(&r);
	if (text) {
		err = parse_json(&root, text, size, name, error);
		if (err)
			return err;
	}
	r.root = root;
	err = read_all(&r);
	json_decref(root);
	return err;
}

void ilb_system_free(struct ilb_system *system)
{
	/* The masks are one block. */
	free(system->housekeeping);
	system->housekeeping = NULL;
}
