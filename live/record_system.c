// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a capture says of its machine: topology.xml and system.json. What is
 * not known is left out, and ilb_capture_open() derives it.
 */

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/record.h"
#include "trace/file.h"

#define CPUS		"/sys/devices/system/cpu"
#define LINE_LENGTH	65536U
#define LIST_ROOM	(8U * ILB_CPUS_MAX)
#define CAPACITY_MAX	1024U
#define STATES_MAX	32

/* ---- topology.xml ---- */

/* Its plug-ins for devices are slow, noisy, and of no use here. */
static void export_topology(const char *path)
{
	hwloc_topology_t topology;
	int null = open("/dev/null", O_WRONLY);

	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	setenv("HWLOC_PLUGINS_BLACKLIST",
	       "hwloc_cuda.so,hwloc_gl.so,hwloc_levelzero.so,hwloc_nvml.so,"
	       "hwloc_opencl.so,hwloc_pci.so,hwloc_rsmi.so", 1);
	if (hwloc_topology_init(&topology) ||
	    hwloc_topology_set_flags(topology,
				     HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
	    hwloc_topology_load(topology) ||
	    hwloc_topology_export_xml(topology, path,
#if HWLOC_API_VERSION >= 0x00030000
				      HWLOC_TOPOLOGY_EXPORT_XML_FLAG_V2
#else
				      0
#endif
				      ))
		_exit(1);
	_exit(0);
}

int ilb_record_topology(const char *folder, struct ilb_error *error)
{
	int status = 1;
	char *path;
	pid_t pid;

	if (asprintf(&path, "%s/topology.xml", folder) < 0)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	pid = fork();
	if (!pid)
		export_topology(path);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && !status) {
		free(path);
		return 0;
	}
	ilb_fail(error, ILB_ERR_IO,
		 "%s: hwloc could not write it; is the disk full?", path);
	free(path);
	return -ILB_ERR_IO;
}

/* ---- system.json ---- */

struct writer {
	json_t *root;
	const char *prefix;
	const struct ilb_facts *facts;
	const struct ilb_topology *topology;
	char list[LIST_ROOM];
};

/* The first line of a file, NULL if there is none; free() it. */
static char *read_line(const struct writer *w, const char *name)
{
	char path[PATH_MAX], *text;
	int n = snprintf(path, sizeof(path), "%s%s", w->prefix, name);

	if (n < 0 || n >= (int)sizeof(path) ||
	    ilb_file_read(&text, NULL, path, LINE_LENGTH, NULL))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* A text that is no UTF-8 is left out, as is an empty one. */
static void put_string(json_t *object, const char *key, const char *value)
{
	if (value && *value)
		json_object_set_new(object, key, json_string(value));
}

static void put_line(const struct writer *w, json_t *object, const char *key,
		     const char *name)
{
	char *line = read_line(w, name);

	put_string(object, key, line);
	free(line);
}

static void put_number(const struct writer *w, json_t *object, const char *key,
		       const char *name)
{
	char *line = read_line(w, name), *end = line;
	long long value;

	if (!line)
		return;
	errno = 0;
	value = strtoll(line, &end, 10);
	if (end != line && !*end && !errno)
		json_object_set_new(object, key, json_integer(value));
	free(line);
}

/* CPUs below @nr_cpus; unlike other texts a list may be empty. */
static void put_list(struct writer *w, const char *key,
		     const unsigned long *mask, unsigned int nr_cpus)
{
	ilb_cpulist_print(w->list, sizeof(w->list), mask, nr_cpus);
	json_object_set_new(w->root, key, json_string(w->list));
}

static int put_cpus(struct writer *w)
{
	const struct ilb_facts *f = w->facts;
	unsigned int nr_cpus = w->topology->nr_cpus;
	struct ilb_verdict verdict;
	struct ilb_site *site;

	put_list(w, "cpus", w->topology->online, nr_cpus);
	if (f->nohz_full_known)
		put_list(w, "nohz_full", f->nohz_full, nr_cpus);
	if (f->isolated_known)
		put_list(w, "isolated", f->isolated, nr_cpus);
	ilb_verdict_find(&verdict, f);
	if (!f->nohz_full_known || !verdict.behaviour)
		return 0;
	site = calloc(1, sizeof(*site));
	if (!site)
		return -1;
	ilb_site_settle(site, f, w->topology, verdict.behaviour);
	if (!ilb_mask_empty(site->housekeeping, nr_cpus))
		put_list(w, "housekeeping", site->housekeeping, nr_cpus);
	free(site);
	return 0;
}

static unsigned int capacity_of(const struct writer *w, unsigned int cpu)
{
	char name[96], *line;
	unsigned long capacity;

	snprintf(name, sizeof(name), CPUS "/cpu%u/cpu_capacity", cpu);
	line = read_line(w, name);
	capacity = line ? strtoul(line, NULL, 10) : 0;
	free(line);
	return capacity <= CAPACITY_MAX ? (unsigned int)capacity : 0;
}

/* Where they differ: {"0-3": 1024, "4-7": 512}. */
static void put_capacities(struct writer *w)
{
	unsigned long same[ILB_WIDE_WORDS];
	unsigned int of[ILB_CPUS_MAX];
	unsigned int cpu, value, least = CAPACITY_MAX, most = 0;
	unsigned int nr_cpus = w->topology->nr_cpus;
	json_t *object;

	ilb_for_each_cpu(cpu, w->topology->online, nr_cpus) {
		of[cpu] = capacity_of(w, cpu);
		least = of[cpu] < least ? of[cpu] : least;
		most = of[cpu] > most ? of[cpu] : most;
	}
	if (!least || least == most || most != CAPACITY_MAX)
		return;
	object = json_object();
	for (value = most; value >= least; value--) {
		ilb_mask_zero(same, ILB_CPUS_MAX);
		ilb_for_each_cpu(cpu, w->topology->online, nr_cpus)
			if (of[cpu] == value)
				ilb_mask_set(same, cpu);
		if (ilb_mask_empty(same, nr_cpus))
			continue;
		ilb_cpulist_print(w->list, sizeof(w->list), same, nr_cpus);
		json_object_set_new(object, w->list, json_integer(value));
	}
	json_object_set_new(w->root, "capacities", object);
}

static void put_states(const struct writer *w, json_t *cpuidle)
{
	char name[96];
	json_t *states = json_array(), *state;
	int i;

	for (i = 0; i < STATES_MAX; i++) {
		state = json_object();
		snprintf(name, sizeof(name), CPUS "/cpu0/cpuidle/state%d/name",
			 i);
		put_line(w, state, "name", name);
		snprintf(name, sizeof(name),
			 CPUS "/cpu0/cpuidle/state%d/latency", i);
		put_number(w, state, "latency_us", name);
		snprintf(name, sizeof(name),
			 CPUS "/cpu0/cpuidle/state%d/residency", i);
		put_number(w, state, "residency_us", name);
		snprintf(name, sizeof(name),
			 CPUS "/cpu0/cpuidle/state%d/disable", i);
		put_number(w, state, "disabled", name);
		if (!json_object_size(state)) {
			json_decref(state);
			break;
		}
		json_array_append_new(states, state);
	}
	json_object_set_new(cpuidle, "states", states);
}

static void put_power(struct writer *w)
{
	json_t *cpuidle = json_object();

	put_line(w, w->root, "governor",
		 CPUS "/cpu0/cpufreq/scaling_governor");
	put_line(w, cpuidle, "driver", CPUS "/cpuidle/current_driver");
	put_line(w, cpuidle, "governor", CPUS "/cpuidle/current_governor");
	put_states(w, cpuidle);
	json_object_set_new(w->root, "cpuidle", cpuidle);
}

/* "a:b, c:d" becomes ["a:b", "c:d"]. */
static void put_names(struct writer *w, const char *key, const char *list)
{
	json_t *names = json_array();
	size_t n;

	for (; *list; list += n + strspn(list + n, ", ")) {
		n = strcspn(list, ",");
		json_array_append_new(names, json_stringn(list, n));
	}
	json_object_set_new(w->root, key, names);
}

static void put_recorded(struct writer *w, const struct ilb_recorded *recorded)
{
	if (recorded->cpus)
		put_list(w, "recorded_cpus", recorded->cpus,
			 w->topology->nr_cpus);
	if (recorded->clock) {
		put_string(w->root, "trace_clock", recorded->clock);
		put_names(w, "events", recorded->events);
		put_names(w, "unfiltered", recorded->unfiltered);
	}
	json_object_set_new(w->root, "symbols_hidden",
			    json_boolean(recorded->symbols_hidden));
}

static int put_all(struct writer *w, const struct ilb_recorded *recorded)
{
	const struct ilb_facts *f = w->facts;

	put_string(w->root, "kernel", f->kernel);
	put_line(w, w->root, "cmdline", "/proc/cmdline");
	if (f->hz)
		json_object_set_new(w->root, "hz", json_integer(f->hz));
	json_object_set_new(w->root, "smt", json_boolean(w->topology->smt));
	put_string(w->root, "smt_control", f->smt_control);
	if (put_cpus(w))
		return -1;
	put_recorded(w, recorded);
	put_capacities(w);
	put_power(w);
	return 0;
}

int ilb_system_write(char **text, const struct ilb_facts *facts,
		     const struct ilb_topology *topology, const char *root,
		     const struct ilb_recorded *recorded,
		     struct ilb_error *error)
{
	struct writer *w = calloc(1, sizeof(*w));
	int failed = 1;

	*text = NULL;
	if (w) {
		w->facts = facts;
		w->topology = topology;
		w->prefix = root;
		w->root = json_object();
		failed = !w->root || put_all(w, recorded);
		if (!failed)
			*text = json_dumps(w->root, JSON_INDENT(2));
		json_decref(w->root);
	}
	free(w);
	return *text ? 0 : ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
}

int ilb_kallsyms_hidden(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[600];
	int hidden = 1, lines = 0;

	if (!file)
		return 1;
	/* The first symbols of x86 are per-CPU offsets: some may be 0. */
	while (hidden && lines++ < 100000 && fgets(line, sizeof(line), file))
		hidden = !strtoull(line, NULL, 16);
	fclose(file);
	return hidden;
}
