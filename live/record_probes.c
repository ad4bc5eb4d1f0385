// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of the event system "ilb": the idle mask, read by the kernel as it
 * changes and as the busy tick looks at it; and on kernels without csd events
 * (before 6.4) who kicks whom. Only what the machine of trace/ uses.
 *
 * Probes are global: others see them, though only our instance records them.
 * A lock on the kernel's list of them, held while recording, keeps a second
 * recorder from using ours, which would keep us from removing them, and from
 * adding to them. Those that are there without a lock are somebody's own: they
 * are used if they will do, and never removed.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <tracefs.h>
#include <unistd.h>

#include "live/places.h"
#include "live/record.h"

#define SYSTEM		"ilb"
#define KPROBE_EVENTS	"kprobe_events"

enum reads {
	READS_NOTHING,
	READS_MASK,
	READS_CALL,
};

/**
 * struct wanted - a probe
 * @calls: only where csd events do not tell the same
 * @found_only: used if somebody made it, never made: a mask on every tick, of
 *	which exit_idle tells those that matter
 */
struct wanted {
	const char *name, *function;
	enum reads reads;
	int calls;
	int found_only;
};

static const struct wanted wanted[ILB_PROBES_MAX] = {
	{ "enter_idle", "nohz_balance_enter_idle", READS_MASK, 0, 0 },
	{ "exit_idle", "nohz_balance_exit_idle", READS_MASK, 0, 0 },
	{ "trig", NULL, READS_MASK, 0, 1 },
	{ "csd_send", "smp_call_function_single_async", READS_CALL, 1, 0 },
	{ "csd_func", "nohz_csd_func", READS_NOTHING, 1, 0 },
};

/* The first reason is the one that is told. */
__attribute__((format(printf, 2, 3)))
static void say(struct ilb_record_summary *summary, const char *format, ...)
{
	va_list args;

	if (summary->no_probes[0])
		return;
	va_start(args, format);
	vsnprintf(summary->no_probes, sizeof(summary->no_probes), format, args);
	va_end(args);
}

/* ---- those that are there ---- */

static int is_there(const struct wanted *w)
{
	return tracefs_event_file_exists(NULL, SYSTEM, w->name, "format");
}

/* " NAME;" ends the line of a field in the description of an event. */
static int has_fields(const struct wanted *w)
{
	char *format = tracefs_event_file_read(NULL, SYSTEM, w->name, "format",
					       NULL);
	int has = 1;

	if (!format)
		return 0;
	if (w->reads == READS_MASK)
		has = !!strstr(format, " mask;");
	else if (w->reads == READS_CALL)
		has = strstr(format, " cpu;") && strstr(format, " func;");
	free(format);
	return has;
}

/* ---- those to be made ---- */

/* 0: it cannot be said what to read. */
static int print_arguments(char *text, size_t size, const struct wanted *w,
			   const struct ilb_places *places)
{
	switch (w->reads) {
	case READS_MASK:
		snprintf(text, size, places->mask_indirect ?
			 "mask=+0(@nohz+%u):x64" : "mask=@nohz+%u:x64",
			 places->mask);
		return places->has_mask;
	case READS_CALL:
		snprintf(text, size, "cpu=$arg1:s32 func=+%u($arg2):symbol",
			 places->func);
		return places->has_func;
	default:
		*text = '\0';
		return 1;
	}
}

static struct tracefs_dynevent *make(const struct wanted *w,
				     const struct ilb_places *places,
				     struct ilb_record_summary *summary)
{
	struct tracefs_dynevent *probe;
	char arguments[64];

	if (!print_arguments(arguments, sizeof(arguments), w, places)) {
		say(summary, "%s: cannot tell where the kernel keeps what it reads (no BTF)",
		    w->function);
		return NULL;
	}
	probe = tracefs_kprobe_alloc(SYSTEM, w->name, w->function, arguments);
	errno = 0;
	if (probe && !tracefs_dynevent_create(probe))
		return probe;
	say(summary, "%s: cannot be probed: %s", w->function,
	    strerror(errno ? errno : ENOMEM));
	tracefs_dynevent_free(probe);
	return NULL;
}

static void settle(struct ilb_probes *probes, unsigned int i,
		   const struct ilb_places *places,
		   struct ilb_record_summary *summary)
{
	const struct wanted *w = &wanted[i];

	if (is_there(w)) {
		if (has_fields(w))
			probes->names[i] = w->name;
		else
			say(summary, SYSTEM ":%s: is there, by another hand, and reads something else",
			    w->name);
		return;
	}
	if (w->found_only || !probes->locked)
		return;
	probes->made[i] = make(w, places, summary);
	if (probes->made[i])
		probes->names[i] = w->name;
}

/* ---- all of them ---- */

/* 0: another recorder is at work. */
static int lock(struct ilb_probes *probes, struct ilb_record_summary *summary)
{
	char *path = tracefs_get_tracing_file(KPROBE_EVENTS);
	int number;

	probes->lock = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	number = errno;
	tracefs_put_tracing_file(path);
	probes->locked = probes->lock >= 0 &&
			 !flock(probes->lock, LOCK_EX | LOCK_NB);
	if (probes->locked)
		return 1;
	if (probes->lock >= 0) {
		close(probes->lock);
		say(summary, "another ilb record has set its own");
		return 0;
	}
	if (number == ENOENT)
		say(summary, "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
	else
		say(summary, KPROBE_EVENTS ": %s", strerror(number));
	return 1;
}

void ilb_probes_create(struct ilb_probes *probes,
		       struct ilb_record_summary *summary)
{
	struct ilb_places places;
	unsigned int i;
	int calls;

	if (!lock(probes, summary))
		return;
	ilb_places_find(&places, ILB_KERNEL_TYPES);
	calls = !tracefs_event_file_exists(NULL, "csd", "csd_queue_cpu",
					   "enable");
	for (i = 0; i < ILB_PROBES_MAX; i++)
		if (calls || !wanted[i].calls)
			settle(probes, i, &places, summary);
}

int ilb_probes_destroy(struct ilb_probes *probes, struct ilb_error *error)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ILB_PROBES_MAX; i++) {
		if (!probes->made[i])
			continue;
		errno = 0;
		if (tracefs_dynevent_destroy(probes->made[i], false))
			err = ilb_fail(error, ILB_ERR_IO,
				       "/sys/kernel/tracing/" KPROBE_EVENTS ": cannot remove " SYSTEM ":%s: %s; who records it must stop, then write -:" SYSTEM "/%s to it",
				       wanted[i].name, strerror(errno),
				       wanted[i].name);
		tracefs_dynevent_free(probes->made[i]);
		probes->made[i] = NULL;
	}
	if (probes->locked)
		close(probes->lock);
	probes->locked = 0;
	return err;
}
