// SPDX-License-Identifier: GPL-2.0-only
/* Kicks, from moments alone: the words on_busy_core and avoidable live here. */

#include "measure/meter.h"

/* All other threads of @cpu's core are idle. */
static int rest_idle(const struct ilb_topology *t, const unsigned long *idle,
		     unsigned int cpu)
{
	unsigned int s;

	for (s = t->sibling[cpu]; s != cpu; s = t->sibling[s])
		if (!ilb_mask_test(idle, s))
			return 0;
	return 1;
}

static void count_placement(struct ilb_kicks *k, const struct ilb_topology *t,
			    const struct ilb_moment *moment)
{
	unsigned int target = moment->target, kicker = moment->kicker;

	if (kicker == ILB_CPU_NONE) {
		k->kicker_unknown++;
		return;
	}
	k->by_kicker[kicker]++;
	k->same_core += t->core[target] == t->core[kicker];
	k->same_llc += t->llc[target] == t->llc[kicker];
	k->same_node += t->node[target] == t->node[kicker];
}

/*
 * The kicks of one jiffy count once. They are sent from ticks, which all have
 * the same phase, but where the trace clock has it is unknown: kicks closer
 * than half a period belong together.
 */
static void count_jiffy(struct ilb_meter *meter,
			const struct ilb_moment *moment)
{
	uint64_t since_ns = moment->time_ns - meter->jiffy_ns;

	if (meter->m.every_tick.kicked &&
	    since_ns < ilb_meter_period(meter) / 2)
		return;
	meter->jiffy_ns = moment->time_ns;
	meter->m.every_tick.kicked++;
}

void ilb_meter_moment(struct ilb_meter *meter, const struct ilb_moment *moment)
{
	const struct ilb_topology *t = meter->topology;
	struct ilb_kicks *k = &meter->m.kicks;
	const struct ilb_view view = {
		.topology = t,
		.mask = moment->mask,
		.housekeeping = moment->housekeeping,
		.idle = moment->idle,
		.kicker = moment->kicker,
		.scratch = meter->scratch,
	};
	struct ilb_choice best;
	int whole_core;

	k->assumed += moment->assumed != 0;
	if (moment->target == ILB_CPU_NONE) {
		k->no_target++;
		return;
	}
	k->total++;
	k->by_target[moment->target]++;
	count_placement(k, t, moment);
	count_jiffy(meter, moment);
	best = ilb_policy_choose(&meter->idle_core, &view);
	k->fallback += best.fallback;
	whole_core = rest_idle(t, moment->idle, moment->target);
	k->idle_cores_woken += whole_core;
	if (whole_core)
		return;
	k->on_busy_core++;
	k->avoidable += best.cpu != ILB_CPU_NONE && !best.fallback;
}
