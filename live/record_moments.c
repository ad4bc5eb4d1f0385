// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exact moments into the capture's file. The program is attached while all
 * else is set up, so that recording begins without delay; what it saw until
 * then is thrown away, and so is what it sees while it is detached, which may
 * take a while.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/exact.h"
#include "live/record.h"

static void keep(void *context, const struct ilb_moment *moment)
{
	struct ilb_watch *w = context;

	if (!w->writer || w->err || moment->time_ns < w->start_ns ||
	    moment->time_ns > w->end_ns)
		return;
	w->err = ilb_moments_append(w->writer, moment, w->error);
	if (!w->err)
		w->kept++;
}

int ilb_watch_open(struct ilb_watch *watch, unsigned int nr_cpus,
		   struct ilb_error *error)
{
	watch->nr_cpus = nr_cpus;
	return ilb_exact_open(&watch->exact, nr_cpus, keep, watch, error);
}

int ilb_watch_start(struct ilb_watch *watch, const char *folder,
		    uint64_t now_ns, struct ilb_error *error)
{
	struct ilb_moments_header header = { .nr_cpus = watch->nr_cpus,
					     .start_ns = now_ns };
	struct ilb_exact_counts counts;
	char *path;
	int err;

	if (!watch->exact)
		return 0;
	if (asprintf(&path, "%s/moments", folder) < 0)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	snprintf(header.method, sizeof(header.method), "%s",
		 ilb_exact_method(watch->exact));
	watch->error = error;
	watch->start_ns = now_ns;
	watch->end_ns = UINT64_MAX;
	err = ilb_exact_read(watch->exact, error);
	ilb_exact_counts(watch->exact, &counts);
	watch->lost_before = counts.lost;
	if (err >= 0)
		err = ilb_moments_create(&watch->writer, path, &header, error);
	free(path);
	return err;
}

int ilb_watch_fd(const struct ilb_watch *watch)
{
	return watch->exact ? ilb_exact_fd(watch->exact) : -1;
}

int ilb_watch_read(struct ilb_watch *watch, struct ilb_error *error)
{
	int n = watch->exact ? ilb_exact_read(watch->exact, error) : 0;

	return n < 0 ? n : watch->err;
}

void ilb_watch_stop(struct ilb_watch *watch, uint64_t now_ns)
{
	watch->end_ns = now_ns;
	if (watch->exact)
		ilb_exact_stop(watch->exact);
}

int ilb_watch_finish(struct ilb_watch *watch,
		     struct ilb_record_summary *summary,
		     struct ilb_error *error)
{
	struct ilb_moments_totals totals = { .end_ns = watch->end_ns };
	struct ilb_moments_writer *writer;
	struct ilb_exact_counts counts;
	int err = ilb_watch_read(watch, error);

	if (err || !watch->exact)
		return err;
	ilb_exact_counts(watch->exact, &counts);
	totals.lost = counts.lost - watch->lost_before;
	totals.kicks = watch->kept + totals.lost;
	summary->kicks = totals.kicks;
	summary->lost_moments = totals.lost;
	writer = watch->writer;
	watch->writer = NULL;
	return ilb_moments_commit(writer, &totals, error);
}

void ilb_watch_close(struct ilb_watch *watch)
{
	ilb_moments_abandon(watch->writer);
	ilb_exact_close(watch->exact);
	memset(watch, 0, sizeof(*watch));
}
