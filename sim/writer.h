/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_SIM_WRITER_H
#define ILB_SIM_WRITER_H

#include "ilb/sim.h"

#define ILB_SIM_FIRST_PID	1000

/** ilb_sim_topology_write() - the topology of @machine as hwloc's XML */
int ilb_sim_topology_write(const struct ilb_sim_machine *machine, FILE *out,
			   struct ilb_error *error);

#endif
