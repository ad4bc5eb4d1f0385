// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cache lines of the registry, as a protocol like MESI moves them between
 * cores: who writes a line has it alone, who reads it gets a copy from whoever
 * had it last. Lines are never evicted, and threads of a core share them.
 *
 * DEVIATION(lines): transfers take no time, so nobody waits for a line, and
 * what else is on it does not count.
 */

#include <stdlib.h>

#include "sim/sim.h"

#define LINE_BITS	512U	/* 64 bytes */

static enum ilb_sim_lines layout(const struct ilb_sim *sim)
{
	return sim->plan->lines;
}

static unsigned int nr_mask_lines(const struct ilb_sim *sim)
{
	if (layout(sim) == ILB_SIM_LINES_PER_LLC)
		return sim->nr_cpus;
	return (sim->nr_cpus + LINE_BITS - 1) / LINE_BITS;
}

/* One line of fields, those of the mask, and one for each LLC. */
static size_t nr_lines(const struct ilb_sim *sim)
{
	return 1 + (size_t)nr_mask_lines(sim) + sim->nr_cpus;
}

/* An LLC's lines are named after its lowest CPU; the others are not used. */
static int is_used(const struct ilb_sim *sim, size_t i)
{
	const struct ilb_topology *t = sim->topology;
	size_t masks = nr_mask_lines(sim);
	unsigned int cpu;

	if (i < 1 || (i <= masks && layout(sim) == ILB_SIM_LINES_GLOBAL))
		return 1;
	cpu = (unsigned int)(i <= masks ? i - 1 : i - 1 - masks);
	return ilb_mask_test(t->online, cpu) && t->llc[cpu] == cpu;
}

int ilb_sim_lines_init(struct ilb_sim *sim)
{
	size_t words = ILB_MASK_WORDS(sim->nr_cpus), i, used = 0;

	if (layout(sim) == ILB_SIM_LINES_NO)
		return 0;
	for (i = 0; i < nr_lines(sim); i++)
		used += (size_t)is_used(sim, i);
	sim->lines.line = calloc(nr_lines(sim), sizeof(*sim->lines.line));
	sim->lines.memory = calloc(used * words, sizeof(unsigned long));
	if (!sim->lines.line || !sim->lines.memory)
		return -ILB_ERR_NOMEM;
	for (used = 0, i = 0; i < nr_lines(sim); i++) {
		sim->lines.line[i].source = ILB_CPU_NONE;
		if (is_used(sim, i))
			sim->lines.line[i].sharers =
				sim->lines.memory + used++ * words;
	}
	return 0;
}

void ilb_sim_lines_free(struct ilb_sim *sim)
{
	free(sim->lines.line);
	free(sim->lines.memory);
}

static void count(struct ilb_sim *sim, enum ilb_sim_shared what,
		  unsigned int from, unsigned int to)
{
	const struct ilb_topology *t = sim->topology;
	enum ilb_sim_distance distance = ILB_SIM_FAR;

	if (from == ILB_CPU_NONE || from == to)
		return;
	if (t->llc[from] == t->llc[to])
		distance = ILB_SIM_NEAR;
	else if (t->node[from] == t->node[to])
		distance = ILB_SIM_NODE;
	sim->result.transfers[what][distance]++;
}

/* A copy that is shared has to be taken back: that, too, is a transfer. */
static void access_line(struct ilb_sim *sim, enum ilb_sim_shared what,
			struct ilb_sim_line *line, unsigned int cpu, int write)
{
	unsigned int core = sim->topology->core[cpu], from = line->source, c;

	if (ilb_mask_test(line->sharers, core)) {
		if (!write || line->dirty)
			return;
		/* From another of those who have it, if there is one. */
		ilb_for_each_cpu(c, line->sharers, sim->nr_cpus)
			if (c != core)
				from = c;
	}
	count(sim, what, from, core);
	if (write)
		ilb_mask_zero(line->sharers, sim->nr_cpus);
	ilb_mask_set(line->sharers, core);
	line->source = core;
	line->dirty = write;
}

static void fields(struct ilb_sim *sim, unsigned int cpu, int write)
{
	access_line(sim, ILB_SIM_FIELDS, &sim->lines.line[0], cpu, write);
}

static void busy(struct ilb_sim *sim, unsigned int cpu, int write)
{
	size_t i = 1 + (size_t)nr_mask_lines(sim) + sim->topology->llc[cpu];

	access_line(sim, ILB_SIM_BUSY, &sim->lines.line[i], cpu, write);
}

static void mask(struct ilb_sim *sim, unsigned int cpu, unsigned int of,
		 int write)
{
	unsigned int i = layout(sim) == ILB_SIM_LINES_PER_LLC ?
				 sim->topology->llc[of] :
				 of / LINE_BITS;

	access_line(sim, ILB_SIM_MASK, &sim->lines.line[1 + i], cpu, write);
}

static int llc_has(const struct ilb_sim *sim, unsigned int llc)
{
	unsigned int c;

	ilb_for_each_cpu(c, sim->mask, sim->nr_cpus)
		if (sim->topology->llc[c] == llc)
			return 1;
	return 0;
}

/* Each LLC cares for itself, and for others only if it has nobody. */
static void read_per_llc(struct ilb_sim *sim, unsigned int cpu)
{
	const struct ilb_topology *t = sim->topology;
	unsigned int c;

	mask(sim, cpu, cpu, 0);
	if (llc_has(sim, t->llc[cpu]))
		return;
	ilb_for_each_cpu(c, t->online, sim->nr_cpus)
		if (t->llc[c] == c)
			mask(sim, cpu, c, 0);
}

/* The mask, of which the lines up to that of CPU @last are read. */
static void read_mask(struct ilb_sim *sim, unsigned int cpu, unsigned int last)
{
	unsigned int c;

	if (layout(sim) == ILB_SIM_LINES_PER_LLC) {
		read_per_llc(sim, cpu);
		return;
	}
	for (c = 0; c < sim->nr_cpus && c <= last; c += LINE_BITS)
		mask(sim, cpu, c, 0);
}

void ilb_sim_touch(void *context, unsigned int cpu, enum ilb_touch what)
{
	struct ilb_sim *sim = context;

	switch (what) {
	case ILB_TOUCH_FIELDS_READ:
	case ILB_TOUCH_FIELDS_WRITE:
		fields(sim, cpu, what == ILB_TOUCH_FIELDS_WRITE);
		break;
	case ILB_TOUCH_MASK_WRITE:
		mask(sim, cpu, cpu, 1);
		break;
	case ILB_TOUCH_MASK_EMPTY:
		read_mask(sim, cpu, ilb_mask_next(sim->mask, sim->nr_cpus, 0));
		break;
	case ILB_TOUCH_MASK_WALK:
		read_mask(sim, cpu, sim->nr_cpus);
		break;
	case ILB_TOUCH_BUSY_READ:
	case ILB_TOUCH_BUSY_WRITE:
		busy(sim, cpu, what == ILB_TOUCH_BUSY_WRITE);
		break;
	}
}
