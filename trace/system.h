/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TRACE_SYSTEM_H
#define ILB_TRACE_SYSTEM_H

#include <stddef.h>

#include "ilb/capture.h"

/**
 * ilb_system_parse() - system.json, and what follows from it
 * @system: filled; ilb_system_free() frees it, after an error, too
 * @topology: of ilb_topology_load(). CPUs that "cpus" leaves out become
 *            offline in it, and it gets "capacities"
 * @text: @size bytes of JSON; NULL: there is no file, all is unknown
 * @name, @topology_from: for messages
 *
 * Without "nohz_full" and "isolated" the kernel command line tells them;
 * without "housekeeping" it is every online CPU but nohz_full's.
 *
 * Returns 0, -ILB_ERR_FORMAT, -ILB_ERR_MISMATCH or -ILB_ERR_NOMEM.
 */
int ilb_system_parse(struct ilb_system *system, struct ilb_topology *topology,
		     const char *text, size_t size, const char *name,
		     const char *topology_from, struct ilb_error *error);

/** ilb_system_free() - free what @system points to. */
void ilb_system_free(struct ilb_system *system);

#endif
