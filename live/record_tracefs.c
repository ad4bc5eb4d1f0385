// SPDX-License-Identifier: GPL-2.0-only
/*
 * An instance of tracefs of our own: which events, filtered in the kernel so
 * that what nobody reads is not recorded. Filters by a function's name are
 * in Linux 6.3 and later, as csd events (6.4) are.
 *
 * Buffers overwrite: the ring buffer marks the place where events were
 * overwritten, and so readers of the trace know. Events that it refuses
 * (overwrite=0) leave no mark.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "live/record.h"

#define BUFFER_KB	8192U
#define CALLS		"func.function == nohz_csd_func || " \
			"func.function == sched_ttwu_pending"
#define SCHED_SOFTIRQ	"vec == 7"

/**
 * struct wanted - an event
 * @filters: the first that the kernel understands is used
 * @instead: only where there is no event csd:csd_queue_cpu
 */
struct wanted {
	const char *system, *name;
	const char *filters[2];
	int instead;
};

static const struct wanted wanted[] = {
	{ "sched", "sched_switch", { NULL }, 0 },
	/* A remote wakeup that is under way: else csd events tell. */
	{ "sched", "sched_waking", { NULL }, 1 },
	{ "sched", "sched_wakeup", { NULL }, 0 },
	{ "sched", "sched_wakeup_new", { NULL }, 0 },
	{ "sched", "sched_migrate_task", { NULL }, 0 },
	{ "csd", "csd_queue_cpu", { CALLS }, 0 },
	{ "csd", "csd_function_entry", { CALLS }, 0 },
	{ "csd", "csd_function_exit", { CALLS }, 0 },
	{ "irq", "softirq_raise", { SCHED_SOFTIRQ }, 0 },
	{ "irq", "softirq_entry", { SCHED_SOFTIRQ }, 0 },
	{ "irq", "softirq_exit", { SCHED_SOFTIRQ }, 0 },
	/* Its name changed in 6.9. */
	{ "timer", "hrtimer_expire_entry",
	  { "function.function == tick_nohz_handler",
	    "function.function == tick_sched_timer" }, 0 },
	{ "timer", "tick_stop", { NULL }, 0 },
	{ "power", "cpu_idle", { NULL }, 0 },
	{ "irq_vectors", "call_function_single_entry", { NULL }, 0 },
};

#define NR_WANTED	(sizeof(wanted) / sizeof(wanted[0]))

static int refused(const struct ilb_instance *instance, const char *what,
		   struct ilb_error *error)
{
	enum ilb_err err = errno == EACCES || errno == EPERM ? ILB_ERR_PERM :
							       ILB_ERR_IO;

	return ilb_fail(error, err,
			"tracefs instance %s: cannot set %s: %s; record as root",
			instance->name, what, strerror(errno));
}

/* "a:b, c:d" */
static void append(char *list, size_t size, const char *system,
		   const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s:%s", n ? ", " : "", system, name);
}

static int filter(struct tracefs_instance *handle, const struct wanted *w)
{
	unsigned int i;

	for (i = 0; i < 2 && w->filters[i]; i++)
		if (tracefs_event_file_write(handle, w->system, w->name,
					     "filter", w->filters[i]) >= 0)
			return 1;
	if (!i)
		return 1;
	/* What was refused is kept, with a message, and lets nothing pass. */
	tracefs_event_file_write(handle, w->system, w->name, "filter", "0");
	return 0;
}

static int enable(struct ilb_instance *instance, const char *system,
		  const char *name, struct ilb_error *error)
{
	errno = 0;
	if (tracefs_event_enable(instance->handle, system, name))
		return refused(instance, name, error);
	append(instance->events, sizeof(instance->events), system, name);
	return 0;
}

static int enable_event(struct ilb_instance *instance, const struct wanted *w,
			struct ilb_record_summary *summary,
			struct ilb_error *error)
{
	struct tracefs_instance *handle = instance->handle;

	if (w->instead && tracefs_event_file_exists(handle, "csd",
						    "csd_queue_cpu", "enable"))
		return 0;
	if (!tracefs_event_file_exists(handle, w->system, w->name, "enable")) {
		append(summary->missing, sizeof(summary->missing), w->system,
		       w->name);
		return 0;
	}
	if (!filter(handle, w))
		append(summary->unfiltered, sizeof(summary->unfiltered),
		       w->system, w->name);
	return enable(instance, w->system, w->name, error);
}

static int enable_probes(struct ilb_instance *instance,
			 struct ilb_error *error)
{
	unsigned int i;
	int err;

	for (i = 0; i < ILB_PROBES_MAX; i++) {
		if (!instance->probes->names[i])
			continue;
		err = enable(instance, "ilb", instance->probes->names[i],
			     error);
		if (err)
			return err;
	}
	return 0;
}

static int enable_events(struct ilb_instance *instance,
			 struct ilb_record_summary *summary,
			 struct ilb_error *error)
{
	unsigned int i;
	int err;

	if (!tracefs_event_file_exists(instance->handle, wanted[0].system,
				       wanted[0].name, "enable"))
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"this kernel has no event sched:sched_switch; use one with CONFIG_EVENT_TRACING");
	for (i = 0; i < NR_WANTED; i++) {
		err = enable_event(instance, &wanted[i], summary, error);
		if (err)
			return err;
	}
	return enable_probes(instance, error);
}

/* ---- buffers ---- */

/* On machines with hundreds of CPUs buffers add up. */
static unsigned int default_kb(unsigned int cpus)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t kb = BUFFER_KB;

	if (pages > 0 && size > 0 && cpus)
		kb = (uint64_t)pages * (uint64_t)size / 1024 / 8 / cpus;
	if (kb > BUFFER_KB)
		return BUFFER_KB;
	return kb < ILB_BUFFER_KB_MIN ? ILB_BUFFER_KB_MIN : (unsigned int)kb;
}

static int set_buffers(struct ilb_instance *instance, unsigned int kb,
		       struct ilb_error *error)
{
	unsigned int cpu;

	if (!kb)
		kb = default_kb(ilb_mask_weight(instance->cpus,
						ILB_CPUS_MAX));
	ilb_for_each_cpu(cpu, instance->cpus, instance->nr_cpus) {
		errno = 0;
		if (!tracefs_instance_set_buffer_size(instance->handle, kb,
						      (int)cpu))
			continue;
		return ilb_fail(error, ILB_ERR_NOMEM,
				"tracefs instance %s: no buffer of %u KB for CPU %u: %s; give a smaller --buffer-size",
				instance->name, kb, cpu,
				strerror(errno ? errno : ENOMEM));
	}
	return 0;
}

/* Since 6.8 a sub-buffer may be larger than a page. */
static void find_page(struct ilb_instance *instance)
{
	long long kb;

	instance->page = (size_t)sysconf(_SC_PAGESIZE);
	if (!tracefs_instance_file_read_number(instance->handle,
					       "buffer_subbuf_size_kb",
					       &kb) &&
	    kb > 0 && kb <= 1024)
		instance->page = (size_t)kb * 1024;
}

static int set_cpus(struct ilb_instance *instance, struct ilb_error *error)
{
	static const unsigned int room = 8 * ILB_CPUS_MAX;
	char *list = malloc(room);
	int err = -1;

	if (!list)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	ilb_cpulist_print(list, room, instance->cpus, ILB_CPUS_MAX);
	errno = 0;
	err = tracefs_instance_set_affinity(instance->handle, list);
	free(list);
	return err < 0 ? refused(instance, "tracing_cpumask", error) : 0;
}

static int set_clock(struct ilb_instance *instance, struct ilb_error *error)
{
	errno = 0;
	if (!instance->clock ||
	    tracefs_instance_file_write(instance->handle, "trace_clock",
					instance->clock) >= 0)
		return 0;
	return refused(instance, "trace_clock", error);
}

/* ---- the instance ---- */

static int set_all(struct ilb_instance *instance, unsigned int buffer_kb,
		   struct ilb_record_summary *summary, struct ilb_error *error)
{
	int err;

	err = ilb_instance_switch(instance, 0, error);
	if (!err)
		err = set_clock(instance, error);
	if (!err)
		err = set_buffers(instance, buffer_kb, error);
	if (!err)
		err = set_cpus(instance, error);
	if (err)
		return err;
	find_page(instance);
	/* Linux before 5.0 cannot be told, and wakes sooner. */
	tracefs_instance_file_write(instance->handle, "buffer_percent", "25");
	return enable_events(instance, summary, error);
}

static int cannot_create(const char *name, struct ilb_error *error)
{
	if (errno == EACCES || errno == EPERM)
		return ilb_fail(error, ILB_ERR_PERM,
				"/sys/kernel/tracing/instances: may not make %s: %s; record as root (sudo), or with CAP_DAC_OVERRIDE and CAP_SYSLOG",
				name, strerror(errno));
	return ilb_fail(error, ILB_ERR_IO,
			"/sys/kernel/tracing/instances: cannot make %s: %s",
			name, strerror(errno));
}

int ilb_instance_create(struct ilb_instance *instance, unsigned int buffer_kb,
			struct ilb_record_summary *summary,
			struct ilb_error *error)
{
	struct tracefs_instance *handle;

	tracefs_set_loglevel(TEP_LOG_NONE);
	snprintf(instance->name, sizeof(instance->name), "ilb-%ld",
		 (long)getpid());
	errno = 0;
	handle = tracefs_instance_create(instance->name);
	if (!handle)
		return cannot_create(instance->name, error);
	if (!tracefs_instance_is_new(handle)) {
		tracefs_instance_free(handle);
		return ilb_fail(error, ILB_ERR_IO,
				"/sys/kernel/tracing/instances/%s: exists, left by a recorder that was killed; remove it with rmdir",
				instance->name);
	}
	instance->handle = handle;
	return set_all(instance, buffer_kb, summary, error);
}

int ilb_instance_switch(struct ilb_instance *instance, int on,
			struct ilb_error *error)
{
	int err;

	errno = 0;
	err = on ? tracefs_trace_on(instance->handle) :
		   tracefs_trace_off(instance->handle);
	return err ? refused(instance, "tracing_on", error) : 0;
}

uint64_t ilb_stats_value(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (text) {
		if (!strncmp(text, key, n) && text[n] == ':')
			return strtoull(text + n + 1, NULL, 10);
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return 0;
}

int ilb_instance_count(const struct ilb_instance *instance,
		       struct ilb_record_summary *summary,
		       struct ilb_error *error)
{
	char name[48], *text;
	unsigned int cpu;

	ilb_for_each_cpu(cpu, instance->cpus, instance->nr_cpus) {
		snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
		text = tracefs_instance_file_read(instance->handle, name,
						  NULL);
		if (!text)
			return ilb_fail(error, ILB_ERR_IO,
					"tracefs instance %s: cannot read %s: %s",
					instance->name, name, strerror(errno));
		summary->events += ilb_stats_value(text, "entries") +
				   ilb_stats_value(text, "read events");
		summary->lost += ilb_stats_value(text, "overrun") +
				 ilb_stats_value(text, "commit overrun") +
				 ilb_stats_value(text, "dropped events");
		free(text);
	}
	return 0;
}

int ilb_instance_destroy(struct ilb_instance *instance,
			 struct ilb_error *error)
{
	int err, tries;

	if (!instance->handle)
		return 0;
	tracefs_trace_off(instance->handle);
	/* It is busy while somebody else looks into it. */
	for (tries = 0; tries < 20; tries++) {
		err = tracefs_instance_destroy(instance->handle);
		if (!err || errno != EBUSY)
			break;
		usleep(50000);
	}
	if (err)
		ilb_fail(error, ILB_ERR_IO,
			 "/sys/kernel/tracing/instances/%s: cannot remove: %s; remove it with rmdir",
			 instance->name, strerror(errno));
	tracefs_instance_free(instance->handle);
	instance->handle = NULL;
	return err ? -ILB_ERR_IO : 0;
}
