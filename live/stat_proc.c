// SPDX-License-Identifier: GPL-2.0-only
/*
 * What /proc counts, for everyone: /proc/schedstat (load balancing), and where
 * BPF does not tell, /proc/softirqs (how many) and /proc/stat (how busy).
 */

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/stat.h"
#include "trace/file.h"

#define SIZE_MAX_READ	(64U << 20)

static char *read_proc(const struct ilb_proc *proc, const char *name)
{
	char path[PATH_MAX], *text;
	int n = snprintf(path, sizeof(path), "%s/proc/%s", proc->root, name);

	if (n < 0 || n >= (int)sizeof(path) ||
	    ilb_file_read(&text, NULL, path, SIZE_MAX_READ, NULL))
		return NULL;
	return text;
}

static void say(struct ilb_source_of *source, const char *from,
		const char *needs)
{
	snprintf(source->from, sizeof(source->from), "%s", from);
	snprintf(source->needs, sizeof(source->needs), "%s", needs);
}

/* ---- load balancing ---- */

static void name_domains(struct ilb_source_of *source, const char *text,
			 const struct ilb_measures *m, int err)
{
	unsigned int version = 0;
	char from[64];

	if (!text) {
		say(source, "", "/proc/schedstat (a kernel with CONFIG_SCHEDSTATS)");
		return;
	}
	sscanf(text, "version %u", &version);
	if (err) {
		snprintf(from, sizeof(from),
			 "/proc/schedstat of version 15, 16 or 17; this is %u",
			 version);
		say(source, "", from);
		return;
	}
	snprintf(from, sizeof(from), "/proc/schedstat v%u", version);
	say(source, from, !m->schedstat_counts ?
	    "kernel.sched_schedstats=1; it is off" : "");
}

static void take_domains(struct ilb_proc *proc, struct ilb_measures *m,
			 unsigned int hz, struct ilb_source_of *source)
{
	char *text = read_proc(proc, "schedstat");
	int err = 0;

	if (m && proc->schedstat && text)
		err = ilb_schedstat_diff(m, proc->schedstat, text, hz);
	if (m)
		name_domains(source, text, m, err);
	free(proc->schedstat);
	proc->schedstat = text;
}

/* ---- SCHED softirqs ---- */

/* Columns are of CPUs that are possible, whose counts stay when offline. */
static unsigned int parse_softirqs(uint64_t *counts, const char *text)
{
	const char *at = strstr(text, "\n       SCHED:");
	unsigned int nr = 0;
	char *end;

	if (!at)
		return 0;
	at = strchr(at, ':') + 1;
	while (nr < ILB_CPUS_MAX) {
		at += strspn(at, " ");
		if (*at < '0' || *at > '9')
			break;
		counts[nr++] = strtoull(at, &end, 10);
		at = end;
	}
	return nr;
}

/* Each is 32 bits wide in the kernel, and wraps. */
static void add_softirqs(struct ilb_measures *m, const uint64_t *after,
			 const uint64_t *before, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		m->softirq.sched += (uint32_t)(after[i] - before[i]);
	m->softirq.known = 1;
}

static void take_softirqs(struct ilb_proc *proc, struct ilb_measures *m,
			  struct ilb_source_of *source)
{
	uint64_t *counts = calloc(ILB_CPUS_MAX, sizeof(*counts));
	char *text = read_proc(proc, "softirqs");
	unsigned int nr = 0;

	if (counts && text)
		nr = parse_softirqs(counts, text);
	free(text);
	if (m && !m->softirq.known && nr && nr == proc->nr_softirqs) {
		add_softirqs(m, counts, proc->softirqs, nr);
		snprintf(source->from, sizeof(source->from),
			 "/proc/softirqs");
	}
	free(proc->softirqs);
	proc->softirqs = counts;
	proc->nr_softirqs = nr;
}

/* ---- utilisation ---- */

/* "cpu  user nice system idle iowait irq softirq steal ..." in ticks */
static int parse_busy(uint64_t *ticks, const char *text)
{
	uint64_t v[8];

	if (sscanf(text, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &v[0],
		   &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) != 8)
		return 0;
	*ticks = v[0] + v[1] + v[2] + v[5] + v[6] + v[7];
	return 1;
}

static void take_busy(struct ilb_proc *proc, struct ilb_measures *m,
		      struct ilb_source_of *source)
{
	char *text = read_proc(proc, "stat");
	long per_second = sysconf(_SC_CLK_TCK);
	uint64_t ticks = 0;
	int has = text && parse_busy(&ticks, text);

	free(text);
	if (m && !m->utilisation.known && has && proc->has_busy &&
	    ticks >= proc->busy_ticks && per_second > 0) {
		m->utilisation.known = 1;
		m->utilisation.busy_ns = (ticks - proc->busy_ticks) *
					 (1000000000U / (uint64_t)per_second);
		say(source, "/proc/stat", "");
	} else if (m && !m->utilisation.known) {
		say(source, "", "/proc/stat");
	}
	proc->busy_ticks = ticks;
	proc->has_busy = has;
}

void ilb_proc_take(struct ilb_proc *proc, struct ilb_measures *measures,
		   unsigned int hz, struct ilb_source_of *sources)
{
	take_domains(proc, measures, hz, &sources[ILB_PART_DOMAINS]);
	take_softirqs(proc, measures, &sources[ILB_PART_SOFTIRQS]);
	take_busy(proc, measures, &sources[ILB_PART_UTILISATION]);
}

void ilb_proc_free(struct ilb_proc *proc)
{
	free(proc->schedstat);
	free(proc->softirqs);
}
