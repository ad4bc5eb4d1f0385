// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernels that were studied (Debian's 6.1.176, 6.12.95, 7.2.13 and 7.3.4),
 * each as a row of features.
 */

#include "core/env.h"
#include "ilb/behaviour.h"
#include "ilb/error.h"
#include "ilb/mask.h"

#define RELEASE(major, minor)	(1000U * (major) + (minor))

const struct ilb_behaviour ilb_behaviours[] = {
	{
		.name = "linux-6.1",
		.summary = "lowest idle CPU, counted mask",
		.release = RELEASE(6, 1),
		.target = "lowest",
		.mask_size = ILB_MASK_SIZE_COUNTED,
		.kick_order = ILB_KICK_ORDER_EMPTY_FIRST,
		.capacity_gate = ILB_CAPACITY_GATE_QUEUED,
		.packing_idle_core = 0,
		.pending_test = 0,
		.housekeeping = ILB_HOUSEKEEPING_MISC,
		.registration = ILB_REGISTRATION_NEWLY_STOPPED,
		.stop_after_idle_tick = 1,
		.designate_idle_core = 0,
		.smt_groups = 0,
		.serialize = ILB_SERIALIZE_BEFORE_DUE,
		.wake_idle_core = 0,
		.misfit_idle_core = 0,
		.asym_sibling = ILB_ASYM_SIBLING_DROPPED,
		.newidle_rate = 0,
		.next_kick = 1,
		.dropped_kick = ILB_DROPPED_KICK_CLEARED,
		.full_tick_stop = 1,
		.cache_balance = 0,
	},
	{
		.name = "linux-6.12",
		.summary = "as 6.1; balancing itself knows of idle cores",
		.release = RELEASE(6, 12),
		.target = "lowest",
		.mask_size = ILB_MASK_SIZE_COUNTED,
		.kick_order = ILB_KICK_ORDER_EMPTY_FIRST,
		.capacity_gate = ILB_CAPACITY_GATE_QUEUED,
		.packing_idle_core = 1,
		.pending_test = 1,
		.housekeeping = ILB_HOUSEKEEPING_MISC,
		.registration = ILB_REGISTRATION_NEWLY_STOPPED,
		.stop_after_idle_tick = 1,
		.designate_idle_core = 1,
		.smt_groups = 1,
		.serialize = ILB_SERIALIZE_BEFORE_DUE,
		.wake_idle_core = 0,
		.misfit_idle_core = 0,
		.asym_sibling = ILB_ASYM_SIBLING_DROPPED,
		.newidle_rate = 0,
		.next_kick = 1,
		.dropped_kick = ILB_DROPPED_KICK_CLEARED,
		.full_tick_stop = 1,
		.cache_balance = 0,
	},
	{
		.name = "linux-7.2",
		.summary = "no counter, time before the mask (mail D)",
		.release = RELEASE(7, 2),
		.target = "lowest",
		.mask_size = ILB_MASK_SIZE_DERIVED,
		.kick_order = ILB_KICK_ORDER_TIME_FIRST,
		.capacity_gate = ILB_CAPACITY_GATE_RUNNABLE,
		.packing_idle_core = 1,
		.pending_test = 1,
		.housekeeping = ILB_HOUSEKEEPING_KERNEL_NOISE,
		.registration = ILB_REGISTRATION_NEWLY_STOPPED,
		.stop_after_idle_tick = 1,
		.designate_idle_core = 1,
		.smt_groups = 1,
		.serialize = ILB_SERIALIZE_DESIGNATED,
		.wake_idle_core = 1,
		.misfit_idle_core = 1,
		.asym_sibling = ILB_ASYM_SIBLING_KEPT,
		.newidle_rate = 0,
		.next_kick = 1,
		.dropped_kick = ILB_DROPPED_KICK_CLEARED,
		.full_tick_stop = 1,
		.cache_balance = 0,
	},
	{
		.name = "linux-7.3",
		.summary = "prefers a fully idle core (mail A)",
		.release = RELEASE(7, 3),
		.target = "idle-core",
		.mask_size = ILB_MASK_SIZE_DERIVED,
		.kick_order = ILB_KICK_ORDER_TIME_FIRST,
		.capacity_gate = ILB_CAPACITY_GATE_RUNNABLE,
		.packing_idle_core = 1,
		.pending_test = 1,
		.housekeeping = ILB_HOUSEKEEPING_KERNEL_NOISE,
		.registration = ILB_REGISTRATION_NEWLY_STOPPED,
		.stop_after_idle_tick = 1,
		.designate_idle_core = 1,
		.smt_groups = 1,
		.serialize = ILB_SERIALIZE_DESIGNATED,
		.wake_idle_core = 1,
		.misfit_idle_core = 1,
		.asym_sibling = ILB_ASYM_SIBLING_KEPT,
		.newidle_rate = 1,
		.next_kick = 1,
		.dropped_kick = ILB_DROPPED_KICK_CLEARED,
		.full_tick_stop = 1,
		.cache_balance = 1,
	},
	{ .name = NULL },
};

#define AT(member)	offsetof(struct ilb_behaviour, member)
#define NO_YES		{ "no", "yes" }

const struct ilb_feature ilb_features[] = {
	{ "mask-size", { "counted", "derived" },
	  "how an empty mask is known", AT(mask_size) },
	{ "kick-order", { "empty-first", "time-first" },
	  "order of the first gates of a kick", AT(kick_order) },
	{ "capacity-gate", { "queued", "runnable" },
	  "tasks of which the capacity gate wants one", AT(capacity_gate) },
	{ "packing-idle-core", NO_YES,
	  "asym packing counts fully idle cores only", AT(packing_idle_core) },
	{ "pending-test", NO_YES,
	  "pending kick flags are not set again", AT(pending_test) },
	{ "housekeeping", { "misc", "kernel-noise" },
	  "housekeeping type that may run the ILB", AT(housekeeping) },
	{ "registration", { "newly-stopped", "stopped" },
	  "idle stops of the tick that enter the mask", AT(registration) },
	{ "stop-after-idle-tick", NO_YES,
	  "without idle states one tick passes first",
	  AT(stop_after_idle_tick) },
	{ "designate-idle-core", NO_YES,
	  "should_we_balance() prefers idle cores", AT(designate_idle_core) },
	{ "smt-groups", NO_YES,
	  "SMT cores are groups of their own kind", AT(smt_groups) },
	{ "serialize", { "before-due", "designated" },
	  "where one CPU alone balances across nodes", AT(serialize) },
	{ "wake-idle-core", NO_YES,
	  "wakeups on unequal CPUs prefer idle cores", AT(wake_idle_core) },
	{ "misfit-idle-core", NO_YES,
	  "misfit tasks go to fully idle cores only", AT(misfit_idle_core) },
	{ "asym-sibling", { "dropped", "kept" },
	  "groups of unequal CPUs prefer an even spread", AT(asym_sibling) },
	{ "newidle-rate", NO_YES,
	  "newly idle CPUs balance by rate and by luck", AT(newidle_rate) },
	{ "next-kick", NO_YES,
	  "a kick folds next_balance of CPUs that entered", AT(next_kick) },
	{ "dropped-kick", { "pending", "cleared" },
	  "flags of a kick whose target has woken", AT(dropped_kick) },
	{ "full-tick-stop", NO_YES,
	  "nohz_full CPUs stop their tick while busy", AT(full_tick_stop) },
	{ "cache-balance", NO_YES,
	  "tasks are gathered in their LLC", AT(cache_balance) },
	{ NULL, { NULL, NULL }, NULL, 0 },
};

/* The rest of @text after @prefix, or NULL. */
static const char *after(const char *text, const char *prefix)
{
	for (; *prefix; text++, prefix++)
		if (*text != *prefix)
			return NULL;
	return text;
}

/* A number of at most three digits at *text, which RELEASE() has room for. */
static int parse_number(const char **text, unsigned int *value)
{
	unsigned int n = 0, digits = 0;

	for (; **text >= '0' && **text <= '9'; ++*text, digits++) {
		if (digits == 3)
			return -ILB_ERR_SYNTAX;
		n = 10 * n + (unsigned int)(**text - '0');
	}
	*value = n;
	return digits ? 0 : -ILB_ERR_SYNTAX;
}

/* MAJOR.MINOR and whatever follows that is not part of a number or word. */
static int parse_release(const char **text, unsigned int *release)
{
	unsigned int major, minor;
	char next;

	if (parse_number(text, &major) || *(*text)++ != '.' ||
	    parse_number(text, &minor))
		return -ILB_ERR_SYNTAX;
	next = **text;
	if (next != '\0' && next != '.' && next != '-' && next != '+' &&
	    next != '~' && next != '_')
		return -ILB_ERR_SYNTAX;
	*release = RELEASE(major, minor);
	return 0;
}

static int is_candidate(const char *text)
{
	for (; *text; text++)
		if (after(text, "-rc") || after(text, "~rc"))
			return 1;
	return 0;
}

int ilb_behaviour_find(const char *release_or_name,
		       const struct ilb_behaviour **row)
{
	const char *text = after(release_or_name, "linux-");
	const struct ilb_behaviour *b, *found = NULL;
	unsigned int release, wanted;

	if (!text)
		text = release_or_name;
	if (parse_release(&text, &release))
		return -ILB_ERR_SYNTAX;
	wanted = release;
	if (release == RELEASE(7, 0) || release == RELEASE(7, 1))
		wanted = RELEASE(7, 2);
	for (b = ilb_behaviours; b->name; b++)
		if (b->release <= wanted)
			found = b;
	if (!found)
		return -ILB_ERR_UNSUPPORTED;
	*row = found;
	return found->release != release || is_candidate(text);
}

static int same_text(const char *a, const char *b)
{
	const char *rest = after(a, b);

	return rest && *rest == '\0';
}

/* The feature that "NAME=" stands for, *value behind the "=". */
static const struct ilb_feature *find_feature(const char *text,
					      const char **value)
{
	const struct ilb_feature *feature;
	const char *rest;

	for (feature = ilb_features; feature->name; feature++) {
		rest = after(text, feature->name);
		if (!rest || *rest != '=')
			continue;
		*value = rest + 1;
		return feature;
	}
	return NULL;
}

static int has_equals_sign(const char *text)
{
	while (*text && *text != '=')
		text++;
	return *text == '=';
}

int ilb_behaviour_set(struct ilb_behaviour *behaviour, const char *text)
{
	const struct ilb_feature *feature;
	const char *value = after(text, "target=");
	unsigned int i;

	if (!has_equals_sign(text))
		return -ILB_ERR_SYNTAX;
	if (value) {
		behaviour->target = value;
		return 0;
	}
	feature = find_feature(text, &value);
	if (!feature)
		return -ILB_ERR_NOENT;
	for (i = 0; i < 2; i++) {
		if (!same_text(value, feature->values[i]))
			continue;
		*(unsigned int *)((char *)behaviour + feature->offset) = i;
		return 0;
	}
	return -ILB_ERR_RANGE;
}

void ilb_behaviour_housekeeping(const struct ilb_behaviour *behaviour,
				const unsigned long *online,
				const unsigned long *nohz_full,
				const unsigned long *isolated_nohz,
				unsigned long *housekeeping,
				unsigned int nr_cpus)
{
	ilb_mask_copy(housekeeping, online, nr_cpus);
	if (nohz_full)
		ilb_mask_andnot(housekeeping, housekeeping, nohz_full,
				nr_cpus);
	/* With MISC, isolcpus=nohz takes the tick away and nothing else. */
	if (isolated_nohz &&
	    behaviour->housekeeping == ILB_HOUSEKEEPING_KERNEL_NOISE)
		ilb_mask_andnot(housekeeping, housekeeping, isolated_nohz,
				nr_cpus);
	/* DEVIATION(boot-cpu): the lowest is taken for the boot CPU. */
	if (ilb_mask_empty(housekeeping, nr_cpus) &&
	    ilb_mask_next(online, nr_cpus, 0) < nr_cpus)
		ilb_mask_set(housekeeping, ilb_mask_next(online, nr_cpus, 0));
}
