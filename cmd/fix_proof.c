// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the module do what it should? The best witness that there is: exact
 * moments, else a short trace, else the module's own counters.
 */

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/fix.h"
#include "cmd/follow.h"
#include "ilb/record.h"

#define WATCH_NS	3000000000ULL
#define REMAIN_MAX	20	/* a race: one in so many may remain */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static int by_moments(struct ilb_proof *proof,
		      const struct ilb_fix_site *site, struct ilb_error *error)
{
	struct ilb_fix_watch *watch;
	int err;

	err = ilb_fix_watch_open(&watch, site->topology,
				 site->check.site.housekeeping, error);
	if (err)
		return err;
	err = ilb_fix_watch_for(watch, WATCH_NS, error);
	if (!err)
		err = ilb_fix_watch_take(watch, &proof->kicks, error);
	ilb_fix_watch_close(watch);
	proof->kind = ILB_PROOF_EXACT;
	return err;
}

/* ---- a trace ---- */

static int remove_one(const char *path, const struct stat *st, int kind,
		      struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static int read_trace(struct ilb_proof *proof, const char *capture,
		      struct ilb_error *error)
{
	struct ilb_follow f = { .verb = "fix", .input = capture };
	const struct ilb_kicks *k;
	int err;

	err = ilb_follow_open(&f, 1, error);
	if (!err)
		err = ilb_follow_run(&f, error);
	if (!err) {
		k = &f.measures->kicks;
		proof->kicks.total = k->total;
		proof->kicks.on_busy_core = k->on_busy_core;
		proof->kicks.avoidable = k->avoidable;
		if (!k->kicks_known || !k->masks_known)
			err = ilb_fail(error, ILB_ERR_UNSUPPORTED,
				       "a trace of this kernel does not show kicks");
	}
	ilb_follow_close(&f);
	proof->kind = ILB_PROOF_TRACE;
	return err;
}

static int by_trace(struct ilb_proof *proof, struct ilb_error *error)
{
	char folder[] = "/tmp/ilb-fix-XXXXXX", capture[40];
	const struct ilb_record_options o = {
		.dir = capture, .duration_ns = WATCH_NS, .no_bpf = 1,
	};
	struct ilb_record_summary summary;
	int err;

	if (!mkdtemp(folder))
		return ilb_fail(error, ILB_ERR_IO,
				"/tmp: no folder for a trace can be made");
	snprintf(capture, sizeof(capture), "%s/capture", folder);
	err = ilb_record_run(&o, &summary, error);
	if (!err)
		err = read_trace(proof, capture, error);
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return err;
}

static void by_counters(struct ilb_proof *proof)
{
	const struct timespec t = { .tv_sec = WATCH_NS / 1000000000U };

	nanosleep(&t, NULL);
	proof->kind = ILB_PROOF_COUNTERS;
}

/* Where one way does not work, the next. */
static void watch(struct ilb_proof *proof, const struct ilb_fix_site *site)
{
	struct ilb_error moments = { "" }, trace = { "" };

	if (!by_moments(proof, site, &moments))
		return;
	if (by_trace(proof, &trace))
		by_counters(proof);
	snprintf(proof->why, sizeof(proof->why), "%.190s%s%.190s",
		 moments.text, trace.text[0] ? "; " : "", trace.text);
}

/* ---- the judgement ---- */

enum ilb_outcome ilb_outcome_judge(const struct ilb_proof *proof,
				   unsigned int repairs)
{
	const uint64_t *count = proof->count;
	uint64_t did = count[ILB_FIX_NARROWED] +
		       count[ILB_FIX_WOULD_NARROW] +
		       count[ILB_FIX_REGISTERED] +
		       count[ILB_FIX_WOULD_REGISTER];
	/* A dry run leaves them, as it should. */
	uint64_t remain = count[ILB_FIX_WOULD_NARROW] ? 0 :
			  proof->kicks.avoidable;

	if ((repairs & ILB_REPAIR_IDLE_CORE) &&
	    remain * REMAIN_MAX > proof->kicks.total)
		return ILB_OUTCOME_FAILS;
	return did ? ILB_OUTCOME_WORKS : ILB_OUTCOME_NOTHING;
}

int ilb_fix_prove(struct ilb_proof *proof, const struct ilb_fix_site *site,
		  unsigned int repairs, struct ilb_error *error)
{
	struct ilb_fix_state before, after;
	uint64_t start;
	unsigned int i;
	int err;

	memset(proof, 0, sizeof(*proof));
	err = ilb_fix_read(&before, "", error);
	if (err)
		return err;
	start = now();
	watch(proof, site);
	proof->ns = now() - start;
	err = ilb_fix_read(&after, "", error);
	if (err)
		return err;
	for (i = 0; i < ILB_FIX_COUNTERS; i++)
		proof->count[i] = after.count[i] - before.count[i];
	/* CPUs that were lost already come back as it is loaded. */
	proof->count[ILB_FIX_REGISTERED] = after.count[ILB_FIX_REGISTERED];
	proof->outcome = ilb_outcome_judge(proof, repairs);
	return 0;
}
