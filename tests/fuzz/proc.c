// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a running kernel says of itself in /proc and /sys: a folder in its
 * place, and everybody who reads there. The input: for each file that is to
 * be there its letter, its text, a NUL.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ilb/behaviour.h"
#include "ilb/fix.h"
#include "live/live.h"
#include "live/record.h"
#include "live/stat.h"
#include "trace/topology.h"
#include "vm/vm.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NR_CPUS	8U
#define CPUS	"/sys/devices/system/cpu/"
#define FIX	"/sys/module/ilb_fix/parameters/"

static const char *const files[] = {
	"/proc/sys/kernel/osrelease",		/* a */
	"/proc/cmdline",
	CPUS "possible",
	CPUS "nohz_full",
	CPUS "isolated",			/* e */
	"/sys/fs/cgroup/cpuset.cpus.isolated",
	"/boot/config-6.12",
	"/sys/kernel/tracing/available_events",
	"/proc/filesystems",			/* i */
	"/sys/kernel/security/lockdown",
	"/proc/self/status",
	"/proc/sys/kernel/sched_schedstats",
	"/proc/kallsyms",			/* m */
	CPUS "smt/control",
	"/proc/sys/kernel/perf_event_paranoid",
	CPUS "cpu0/cpu_capacity",
	CPUS "cpu1/cpu_capacity",		/* q */
	CPUS "cpu0/cpufreq/scaling_governor",
	CPUS "cpuidle/current_driver",
	"/proc/softirqs",
	"/proc/stat",				/* u */
	"/proc/schedstat",
	FIX "idle_core",
	FIX "nohz_full",
	FIX "enable",				/* y */
	FIX "dry_run",
	FIX "policy",				/* { */
	FIX "counters",
	CPUS "cpu0/cpuidle/state0/name",
	CPUS "cpu0/cpuidle/state0/latency",	/* ~ */
};

#define FILES	(sizeof(files) / sizeof(files[0]))

static char root[64];
static int present[FILES];

static void leave(void)
{
	ilb_cache_remove(root);
}

static void make_folders(char *path)
{
	char *slash = path + strlen(root) + 1;

	while ((slash = strchr(slash, '/'))) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash++ = '/';
	}
}

/* Folders stand from the beginning on; files come and go. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("TMPDIR");
	char path[200];
	size_t i;

	(void)argc;
	(void)argv;
	snprintf(root, sizeof(root), "%s/ilb-fuzz-XXXXXX", dir ? dir : "/tmp");
	if (!mkdtemp(root) || atexit(leave))
		abort();
	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s%s", root, files[i]);
		make_folders(path);
	}
	return 0;
}

static void put(size_t file, const void *text, size_t size)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s%s", root, files[file]);
	if (!text) {
		unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void put_all(const uint8_t *data, size_t size)
{
	int now[FILES] = { 0 };
	const uint8_t *end;
	size_t i, n;

	for (; size > 1; data += n, size -= n) {
		end = memchr(data, 0, size);
		n = end ? (size_t)(end - data) : size;
		i = (size_t)(*data - 'a');
		if (*data >= 'a' && i < FILES) {
			put(i, data + 1, n ? n - 1 : 0);
			now[i] = 1;
		}
		n += n < size;
	}
	for (i = 0; i < FILES; i++)
		if (present[i] && !now[i])
			put(i, NULL, 0);
	memcpy(present, now, sizeof(now));
}

static struct ilb_tables *machine(void)
{
	struct ilb_tables *t = ilb_tables_alloc(NR_CPUS);
	unsigned int cpu;

	if (!t)
		abort();
	ilb_mask_fill(t->online, NR_CPUS);
	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		t->core[cpu] = cpu & ~1U;
		t->llc[cpu] = t->node[cpu] = 0;
	}
	t->topology.smt = ilb_topology_link(NR_CPUS, t->core, t->sibling);
	return t;
}

static void read_facts(const struct ilb_topology *topology)
{
	static const struct ilb_recorded recorded = { .events = "" };
	static struct ilb_facts facts;
	static struct ilb_check check;
	struct ilb_error error = { "" };
	char *text;

	ilb_facts_gather(&facts, root);
	ilb_check_judge(&check, &facts, topology, topology->online);
	if (strchr(facts.kernel, '\n') || strchr(facts.lockdown, '\n'))
		abort();
	if (!ilb_system_write(&text, &facts, topology, root, &recorded,
			      &error))
		free(text);
}

static void read_counts(void)
{
	static struct ilb_measures measures;
	struct ilb_source_of sources[ILB_PARTS] = { 0 };
	struct ilb_proc proc = { .root = root };

	memset(&measures, 0, sizeof(measures));
	ilb_proc_take(&proc, NULL, 250, sources);
	ilb_proc_take(&proc, &measures, 250, sources);
	if (measures.nr_domains > ILB_DOMAINS_MAX ||
	    measures.softirq.sched || measures.utilisation.busy_ns)
		abort();
	ilb_proc_free(&proc);
}

static void read_module(void)
{
	struct ilb_fix_state state;
	struct ilb_error error = { "" };

	if (ilb_fix_read(&state, root, &error) &&
	    (!error.text[0] || strchr(error.text, '\n')))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ilb_tables *t = machine();

	put_all(data, size);
	read_facts(&t->topology);
	read_counts();
	read_module();
	free(t);
	return 0;
}
