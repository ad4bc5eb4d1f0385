/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_MOMENTS_H
#define ILB_MOMENTS_H

#include <stdint.h>
#include "ilb/error.h"
#include "ilb/moment.h"

/**
 * DOC: moments - the file of a capture that holds exact moments
 *
 * Little-endian, versioned, every block with its size and a checksum, the
 * masks compressed; ilb-moments(5) has it byte by byte. Time is
 * CLOCK_MONOTONIC, as the trace beside it. A file without its last block was
 * cut and is an error, since its counts are then unknown.
 */

struct ilb_moments;
struct ilb_moments_writer;

/**
 * struct ilb_moments_header - what is known before the first moment
 * @nr_cpus: every mask has that many bits, 1 ... 8192
 * @start_ns: when watching began
 * @method: how they were read, one word of [a-z0-9_:-]: "raw_tp:csd_queue_cpu",
 *	"fentry:smp_call_function_single_async", "simulated"
 */
struct ilb_moments_header {
	unsigned int nr_cpus;
	uint64_t start_ns;
	char method[48];
};

/**
 * struct ilb_moments_totals - what is known after the last
 * @end_ns: when watching ended, at or after the last moment's time
 * @kicks: that were seen
 * @lost: of these, those whose moment could not be kept
 *
 * As the recorder counted them; nothing here depends on them.
 */
struct ilb_moments_totals {
	uint64_t end_ns;
	uint64_t kicks;
	uint64_t lost;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_moments_create() - begin a file; it must not exist
 *
 * Returns 0 and a writer that _commit() or _abandon() frees; -ILB_ERR_IO,
 * -ILB_ERR_NOMEM, or -ILB_ERR_BUG for a @header that is not as stated above.
 */
int ilb_moments_create(struct ilb_moments_writer **writer, const char *path,
		       const struct ilb_moments_header *header,
		       struct ilb_error *error);

/**
 * ilb_moments_append() - add one; times may go backwards by little (per-CPU
 * buffers): the writer keeps half a MiB of moments, and puts them in order
 * @moment: ->housekeeping, ->kind and ->assumed are not kept
 *
 * Returns 0, -ILB_ERR_IO (a full disk), -ILB_ERR_NOMEM; -ILB_ERR_BUG for a
 * moment older than that, or with a CPU at or above nr_cpus. After an error
 * only _abandon() may follow.
 */
int ilb_moments_append(struct ilb_moments_writer *writer,
		       const struct ilb_moment *moment,
		       struct ilb_error *error);

/**
 * ilb_moments_commit() - the last block, all of it on disk
 *
 * Frees @writer, whatever it returns: 0 or what _append() may return.
 */
int ilb_moments_commit(struct ilb_moments_writer *writer,
		       const struct ilb_moments_totals *totals,
		       struct ilb_error *error);

/** ilb_moments_abandon() - close, leave the file; NULL is fine. */
void ilb_moments_abandon(struct ilb_moments_writer *writer);

/**
 * ilb_moments_open() - open for reading; header and totals are checked
 * @nr_cpus: of the topology; another number is -ILB_ERR_MISMATCH
 *
 * Returns 0 and a reader that ilb_moments_close() frees; -ILB_ERR_NOENT,
 * -ILB_ERR_IO, -ILB_ERR_FORMAT, -ILB_ERR_MISMATCH, -ILB_ERR_UNSUPPORTED (a
 * later version), -ILB_ERR_NOMEM.
 */
int ilb_moments_open(struct ilb_moments **moments, const char *path,
		     unsigned int nr_cpus, struct ilb_error *error);

const struct ilb_moments_header *
ilb_moments_header(const struct ilb_moments *moments);
const struct ilb_moments_totals *
ilb_moments_totals(const struct ilb_moments *moments);

/** ilb_moments_kind() - of each of its moments: exact, or simulated */
enum ilb_moment_kind ilb_moments_kind(const struct ilb_moments *moments);

/**
 * ilb_moments_next() - the next moment, in time order
 * @moment: ->mask and ->idle are valid until the next call; ->housekeeping is
 *	left alone, the caller knows it
 *
 * Returns 1; 0 at the end; -ILB_ERR_FORMAT, -ILB_ERR_IO with @error filled.
 * After an error only _close() may follow.
 */
int ilb_moments_next(struct ilb_moments *moments, struct ilb_moment *moment,
		     struct ilb_error *error);

/** ilb_moments_close() - NULL is fine. */
void ilb_moments_close(struct ilb_moments *moments);

#ifdef __cplusplus
}
#endif
#endif
