/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_RECORD_H
#define ILB_RECORD_H

#include <stdint.h>
#include <sys/types.h>

#include "ilb/error.h"

/**
 * DOC: record - make a capture of the running machine
 *
 * Events go to a tracefs instance of its own, and exact moments come from a
 * BPF program; both, and the probes that were set, are gone again when
 * ilb_record_run() returns, whatever happened. Nobody else's tracing is
 * touched. The capture appears whole under its name, or not at all.
 */

#define ILB_BUFFER_KB_MIN	64U
#define ILB_BUFFER_KB_MAX	(4U << 20)

/**
 * struct ilb_record_options - what to record
 * @dir: the folder to make
 * @duration_ns: 0: until the command ends, or SIGINT, SIGTERM or SIGHUP
 * @cpus: a list such as "0-3,8"; NULL: all
 * @buffer_kb: per CPU, within the bounds above; 0: 8 MiB, less where that
 *	would be more than an eighth of the memory
 * @force: if @dir is a capture, move it to DIR.old; an older one goes
 * @moments_only: no trace; exact moments, which need BPF, and counts
 * @no_bpf: no exact moments; not with @moments_only
 * @no_probes: set no probes, and record none. Where the moments themselves are
 *	recorded, probes add little
 * @command: NULL-terminated, run with the caller's standard streams; NULL: none
 * @progress: called twice a second while recording, with the nanoseconds so
 *	far; may be NULL
 */
struct ilb_record_options {
	const char *dir;
	uint64_t duration_ns;
	const char *cpus;
	unsigned int buffer_kb;
	int force;
	int moments_only;
	int no_bpf;
	int no_probes;
	char *const *command;
	void (*progress)(void *context, uint64_t ns);
	void *context;
};

/** enum ilb_record_schedstats - did /proc/schedstat count? */
enum ilb_record_schedstats {
	ILB_SCHEDSTATS_NONE,		/* the kernel cannot */
	ILB_SCHEDSTATS_OFF,		/* and could not be switched on */
	ILB_SCHEDSTATS_ON,
};

/**
 * struct ilb_record_summary - what was recorded
 * @duration_ns: from the start of tracing to its end
 * @events: recorded and kept
 * @lost: overwritten before they could be fetched, or dropped
 * @bytes: of the trace
 * @kicks: seen by the BPF program; from all CPUs, whatever CPUs are traced
 * @lost_moments: of these, those that could not be kept
 * @no_moments: why there are no exact moments, one line; "" there are, or
 *	none were wanted
 * @missing: events that this kernel lacks, "a:b, c:d"; "" none
 * @unfiltered: events that it could not filter, likewise
 * @no_probes: why a probe that was wanted could not be set; "" all were
 * @symbols_hidden: addresses of functions are not shown to this user, so that
 *	kicks cannot be told from other calls
 * @schedstats: enum ilb_record_schedstats
 * @command: of a command that still runs, else 0: see ilb_record_wait()
 * @status: of a command that ended, as a shell shows it (128 + its signal);
 *	126 or 127, as of env(1), if it could not be run
 */
struct ilb_record_summary {
	uint64_t duration_ns;
	uint64_t events;
	uint64_t lost;
	uint64_t bytes;
	uint64_t kicks;
	uint64_t lost_moments;
	char no_moments[512];
	char missing[512];
	char unfiltered[256];
	char no_probes[200];
	int symbols_hidden;
	enum ilb_record_schedstats schedstats;
	pid_t command;
	int status;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_record_run() - record, until it is time to end
 * @summary: filled, in part also on errors (@command, @status)
 *
 * SIGINT, SIGTERM and SIGHUP end the recording, which is then saved. One that
 * was sent to this process (rather than by a terminal) is passed on to the
 * command. The caller must have one thread.
 *
 * Returns 0; -ILB_ERR_RANGE (a CPU that is not online), -ILB_ERR_SYNTAX (no
 * list of CPUs), -ILB_ERR_MISMATCH (@dir exists), -ILB_ERR_PERM,
 * -ILB_ERR_UNSUPPORTED (no tracefs, no trace-cmd, no BPF for @moments_only),
 * -ILB_ERR_NOENT (the command could not be run), -ILB_ERR_IO, -ILB_ERR_NOMEM,
 * with @error filled and nothing left behind.
 */
int ilb_record_run(const struct ilb_record_options *options,
		   struct ilb_record_summary *summary,
		   struct ilb_error *error);

/** ilb_record_wait() - wait for a command that still runs; its status. */
int ilb_record_wait(struct ilb_record_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
