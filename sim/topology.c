// SPDX-License-Identifier: GPL-2.0-only
/* topology.xml of a capture: the machine's topology once more, by hwloc. */

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include "sim/writer.h"

static int set_source(hwloc_topology_t topology, const char *spec)
{
	hwloc_topology_set_flags(topology,
				 HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	if (strchr(spec, ':'))
		return hwloc_topology_set_synthetic(topology, spec);
	return hwloc_topology_set_xml(topology, spec);
}

static int export(const char *spec, FILE *out)
{
	hwloc_topology_t topology;
	char *xml = NULL;
	int length = 0, err;

	if (hwloc_topology_init(&topology))
		return -1;
	err = set_source(topology, spec);
	if (!err)
		err = hwloc_topology_load(topology);
	if (!err)
		err = hwloc_topology_export_xmlbuffer(topology, &xml, &length,
						      0);
	/* The length counts the NUL. */
	if (!err && length > 1)
		err = fwrite(xml, 1, (size_t)length - 1, out) !=
		      (size_t)length - 1;
	if (xml)
		hwloc_free_xmlbuffer(topology, xml);
	hwloc_topology_destroy(topology);
	return err;
}

int ilb_sim_topology_write(const struct ilb_sim_machine *machine, FILE *out,
			   struct ilb_error *error)
{
	const char *spec = machine->topology_spec;
	char *whole;
	int err;

	err = export(spec, out);
	/* A description may end in its cores, but not for hwloc. */
	if (err && strchr(spec, ':')) {
		if (asprintf(&whole, "%s pu:1", spec) < 0)
			return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
		err = export(whole, out);
		free(whole);
	}
	if (!err)
		return 0;
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: hwloc cannot write this topology; simplify it",
			spec);
}
