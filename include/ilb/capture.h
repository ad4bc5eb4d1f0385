/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CAPTURE_H
#define ILB_CAPTURE_H

#include <stdint.h>

#include "ilb/error.h"
#include "ilb/topology.h"

/**
 * struct ilb_system - what system.json says; unknown parts are empty
 * @kernel: release ("6.12.95+deb12-cloud-amd64"), "" if unknown
 * @cmdline: kernel command line, "" if unknown
 * @trace_clock: of the trace, as tracefs names it ("mono"), "" if unknown
 * @hz: tick rate, 0 if unknown
 * @housekeeping: CPUs that may run the ILB. Never empty: where system.json
 *                has none, all but nohz_full's
 * @housekeeping_known: 1 if system.json had it
 * @nohz_full: tick may stop while a task runs; empty if unknown
 * @recorded: events that were recorded on all CPUs, whether or not any
 *            occurred, a bit per enum ilb_event_type; 0 if unknown
 * @recorded_cpus: online CPUs whose events were recorded; all where not told
 * @isolated: no sched domains: never in the mask; empty if unknown
 *
 * The masks have ILB_MASK_WORDS(topology nr_cpus) words.
 */
struct ilb_system {
	char kernel[96];
	char cmdline[2048];
	char trace_clock[16];
	unsigned int hz;
	uint32_t recorded;
	unsigned long *housekeeping;
	int housekeeping_known;
	unsigned long *nohz_full;
	unsigned long *isolated;
	unsigned long *recorded_cpus;
};

/**
 * struct ilb_capture - an opened capture: a folder, or a bare trace file
 * @path: as given
 * @trace: path of its trace file, NULL if it has none
 * @moments: path of its exact moments, NULL if it has none; a folder has one
 *	of the two at least
 * @topology, @system: always filled
 * @topology_from: for messages: "topology.xml", "pack:2 ...", "this machine"
 * @schedstat_before, @schedstat_after, @softirqs_before, @softirqs_after:
 *	text of these files, NULL where missing
 */
struct ilb_capture {
	char *path;
	char *trace;
	char *moments;
	struct ilb_topology topology;
	char *topology_from;
	struct ilb_system system;
	char *schedstat_before, *schedstat_after;
	char *softirqs_before, *softirqs_after;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_capture_open() - read all of a capture but its events
 * @path: a folder, or a trace file (a system.json or topology.xml beside a
 *        bare trace file is not looked for)
 * @topology: --topology: an XML file (hwloc v2), a synthetic description
 *            ("pack:2 [numa] l3:1 core:88 pu:2"), "self" for this machine, or
 *            NULL: the folder's topology.xml, an error for a bare file
 *
 * A file that is too large (topology 16 MiB, system.json and schedstat 1 MiB
 * and 64 MiB) is an error, not read.
 *
 * Returns 0 and a capture that ilb_capture_close() frees; or -ILB_ERR_NOENT,
 * -ILB_ERR_IO, -ILB_ERR_FORMAT, -ILB_ERR_SYNTAX, -ILB_ERR_MISMATCH (a CPU of
 * system.json is not in the topology), -ILB_ERR_UNSUPPORTED (hwloc too old
 * for the file), -ILB_ERR_NOMEM, with @error filled.
 */
int ilb_capture_open(struct ilb_capture **capture, const char *path,
		     const char *topology, struct ilb_error *error);

/** ilb_capture_close() - free; may be NULL. */
void ilb_capture_close(struct ilb_capture *capture);

/**
 * ilb_topology_load() - a topology by name, as ilb_capture_open() reads it
 * @spec: an XML file, a synthetic description, or "self"
 *
 * Synthetic descriptions number CPUs as hwloc does (siblings adjacent). A
 * topology without cores or without SMT information is accepted: every CPU
 * is then a core of its own and smt is 0.
 *
 * Returns 0 and a topology that ilb_topology_free() frees, or an error.
 */
int ilb_topology_load(struct ilb_topology **topology, const char *spec,
		      struct ilb_error *error);
void ilb_topology_free(struct ilb_topology *topology);

#ifdef __cplusplus
}
#endif
#endif
