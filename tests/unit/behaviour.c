// SPDX-License-Identifier: GPL-2.0-only
/* What each feature of a kernel changes, and that each kernel shows it. */

#include <stdio.h>
#include <string.h>

#include "ilb/error.h"
#include "nohz.h"

static unsigned int value_of(const struct ilb_behaviour *behaviour,
			     const struct ilb_feature *feature)
{
	unsigned int value;

	memcpy(&value, (const char *)behaviour + feature->offset,
	       sizeof(value));
	return value;
}

/* Each switch changes its own member and no other one. */
static void features_are_switched_alone(void **state)
{
	const struct ilb_feature *feature, *other;
	const struct ilb_behaviour *row = &ilb_behaviours[1];
	struct ilb_behaviour b;
	char text[64];
	unsigned int value;

	(void)state;
	for (feature = ilb_features; feature->name; feature++) {
		b = *row;
		value = !value_of(row, feature);
		snprintf(text, sizeof(text), "%s=%s", feature->name,
			 feature->values[value]);
		assert_int_equal(ilb_behaviour_set(&b, text), 0);
		for (other = ilb_features; other->name; other++)
			assert_int_equal(value_of(&b, other),
					 other == feature ? value :
					 value_of(row, other));
		assert_string_equal(b.target, row->target);
		snprintf(text, sizeof(text), "%s=%s", feature->name,
			 feature->values[!value]);
		assert_int_equal(ilb_behaviour_set(&b, text), 0);
		assert_memory_equal(&b, row, sizeof(b));
	}
}

static void the_target_is_set_too(void **state)
{
	struct ilb_behaviour b = ilb_behaviours[0];

	(void)state;
	assert_int_equal(ilb_behaviour_set(&b, "target=wrap:3"), 0);
	assert_string_equal(b.target, "wrap:3");
	b.target = ilb_behaviours[0].target;
	assert_memory_equal(&b, &ilb_behaviours[0], sizeof(b));
}

static void wrong_settings_change_nothing(void **state)
{
	static const struct {
		const char *text;
		int result;
	} wrong[] = {
		{ "", -ILB_ERR_SYNTAX },
		{ "kick-order", -ILB_ERR_SYNTAX },
		{ "target", -ILB_ERR_SYNTAX },
		{ "=", -ILB_ERR_NOENT },
		{ "kick=time-first", -ILB_ERR_NOENT },
		{ "kick-orders=time-first", -ILB_ERR_NOENT },
		{ "kick-order=", -ILB_ERR_RANGE },
		{ "kick-order=time", -ILB_ERR_RANGE },
		{ "kick-order=time-first ", -ILB_ERR_RANGE },
		{ "kick-order=1", -ILB_ERR_RANGE },
		{ "pending-test=derived", -ILB_ERR_RANGE },
	};
	struct ilb_behaviour b = ilb_behaviours[0];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		if (ilb_behaviour_set(&b, wrong[i].text) != wrong[i].result)
			fail_msg("'%s'", wrong[i].text);
	assert_memory_equal(&b, &ilb_behaviours[0], sizeof(b));
}

static unsigned long housekeeping(const char *kernel, unsigned long online,
				  const unsigned long *nohz_full,
				  const unsigned long *isolated_nohz)
{
	const struct ilb_behaviour *row;
	unsigned long mask;

	assert_int_equal(ilb_behaviour_find(kernel, &row), 0);
	ilb_behaviour_housekeeping(row, &online, nohz_full, isolated_nohz,
				   &mask, 16);
	return mask;
}

static void isolcpus_nohz_counts_with_kernel_noise_only(void **state)
{
	unsigned long full = 0xfe0e, isolated = 0x0030, all = 0xffff;

	(void)state;
	assert_int_equal(housekeeping("linux-6.12", all, NULL, NULL), all);
	assert_int_equal(housekeeping("linux-6.12", all, &full, NULL), 0x1f1);
	assert_int_equal(housekeeping("linux-6.12", all, &full, &isolated),
			 0x1f1);
	assert_int_equal(housekeeping("linux-7.2", all, &full, NULL), 0x1f1);
	assert_int_equal(housekeeping("linux-7.2", all, &full, &isolated),
			 0x1c1);
	assert_int_equal(housekeeping("linux-7.3", all, NULL, &isolated),
			 0xffcf);
}

static void one_housekeeping_cpu_is_kept(void **state)
{
	unsigned long all = 0xffff;

	(void)state;
	assert_int_equal(housekeeping("linux-7.3", 0xfff4, &all, NULL), 4);
	assert_int_equal(housekeeping("linux-7.3", 0, &all, NULL), 0);
}

/* Features: the same scenario, seen with either value. */

/* One thread of core 2 is busy; the other is lowest, core 3 is idle. */
static unsigned int see_target(struct host *h)
{
	settle(h, 0xf0);
	run_tasks(h, 0, 2);
	run_tasks(h, 5, 1);
	ilb_nohz_tick(&h->nohz, 0, NOW, &h->kick);
	return h->kick.choice.cpu;
}

/* Two CPUs enter, one of them leaves. */
static unsigned int see_atomics(struct host *h)
{
	settle(h, 0xc0);
	ilb_nohz_exit_idle(&h->nohz, 6);
	return (unsigned int)h->nohz.atomics;
}

/* Nobody is registered, nothing is due but blocked load. */
static unsigned int see_stats_kick(struct host *h)
{
	h->nohz.next_balance = NOW + 1;
	h->nohz.has_blocked = 1;
	h->nohz.next_blocked = NOW - 1;
	run_tasks(h, 0, 1);
	ilb_nohz_tick(&h->nohz, 0, NOW, &h->kick);
	return h->kick.flags;
}

/* Capacity is lost, and the only fair task sleeps with its dequeue delayed. */
static unsigned int see_delayed_task(struct host *h)
{
	settle(h, 0xfe);
	run_tasks(h, 0, 1);
	h->cpus[0].nr_runnable = 0;
	h->cpus[0].capacity = 100;
	ilb_nohz_tick(&h->nohz, 0, NOW, &h->kick);
	return h->kick.gate;
}

/* The better CPU's sibling is busy. */
static unsigned int see_packing(struct host *h)
{
	settle(h, 0xfe);
	prefer_cpu_6(h);
	run_tasks(h, 0, 1);
	run_tasks(h, 7, 1);
	ilb_nohz_tick(&h->nohz, 0, NOW, &h->kick);
	return h->kick.gate;
}

/* The atomic writes of a kick that asks for what is asked for already. */
static unsigned int see_second_kick(struct host *h)
{
	uint64_t before;

	settle(h, 0xf0);
	run_tasks(h, 0, 2);
	ilb_nohz_tick(&h->nohz, 0, NOW, &h->kick);
	before = h->nohz.atomics;
	ilb_nohz_tick(&h->nohz, 0, NOW + 1, &h->kick);
	assert_int_equal(h->kick.flags, BALANCE);
	assert_false(h->kick.sent);
	return (unsigned int)(h->nohz.atomics - before);
}

/* CPUs 2-7 are isolated from the tick alone. */
static unsigned int see_housekeeping(struct host *h)
{
	unsigned long isolated_nohz = 0xfc;

	ilb_behaviour_housekeeping(&h->behaviour, h->online, NULL,
				   &isolated_nohz, h->housekeeping, NR);
	settle(h, 0xfc);
	run_tasks(h, 0, 2);
	ilb_nohz_tick(&h->nohz, 0, NOW, &h->kick);
	return h->kick.choice.cpu;
}

static unsigned int see_registration(struct host *h)
{
	ilb_nohz_stop_tick(&h->nohz, 3, 1, 1);
	return (unsigned int)h->mask[0];
}

/* A CPU entered whose domains are due before the next full kick. */
static unsigned int see_next_kick(struct host *h)
{
	ilb_nohz_enter_idle(&h->nohz, 5);
	h->nohz.has_blocked = 0;
	h->nohz.next_balance = NOW + 60;
	run_tasks(h, 0, 1);
	ilb_nohz_tick(&h->nohz, 0, NOW, &h->kick);
	return h->kick.flags;
}

/* A kick finds its target awake; is the next one sent? */
static unsigned int see_dropped_kick(struct host *h)
{
	settle(h, 0xf0);
	run_tasks(h, 0, 2);
	ilb_nohz_tick(&h->nohz, 0, NOW, &h->kick);
	assert_true(h->kick.sent);
	run_tasks(h, 4, 1);
	assert_int_equal(ilb_nohz_kicked(&h->nohz, 4), 0);
	run_tasks(h, 4, 0);
	ilb_nohz_tick(&h->nohz, 0, NOW + 1, &h->kick);
	assert_int_equal(h->kick.choice.cpu, 4);
	return (unsigned int)h->kick.sent;
}

struct feature_case {
	const char *settings[2];
	unsigned int (*see)(struct host *h);
	unsigned int seen[2];
	/* Which of the two each row shows. */
	unsigned int rows[4];
};

static const struct feature_case features[] = {
	{ { "target=lowest", "target=idle-core" },
	  see_target, { 4, 6 }, { 0, 0, 0, 1 } },
	{ { "mask-size=counted", "mask-size=derived" },
	  see_atomics, { 6, 3 }, { 0, 0, 1, 1 } },
	{ { "kick-order=empty-first", "kick-order=time-first" },
	  see_stats_kick, { 0, ILB_KICK_STATS }, { 0, 0, 1, 1 } },
	{ { "capacity-gate=queued", "capacity-gate=runnable" },
	  see_delayed_task, { ILB_GATE_CAPACITY, ILB_GATE_NO_REASON },
	  { 0, 0, 1, 1 } },
	{ { "packing-idle-core=no", "packing-idle-core=yes" },
	  see_packing, { ILB_GATE_PACKING, ILB_GATE_NO_REASON },
	  { 0, 1, 1, 1 } },
	{ { "pending-test=no", "pending-test=yes" },
	  see_second_kick, { 1, 0 }, { 0, 1, 1, 1 } },
	{ { "housekeeping=misc", "housekeeping=kernel-noise" },
	  see_housekeeping, { 2, ILB_CPU_NONE }, { 0, 0, 1, 1 } },
	{ { "registration=newly-stopped", "registration=stopped" },
	  see_registration, { 0, 8 }, { 0, 0, 0, 0 } },
	{ { "next-kick=no", "next-kick=yes" },
	  see_next_kick, { 0, ILB_KICK_NEXT }, { 1, 1, 1, 1 } },
	{ { "dropped-kick=pending", "dropped-kick=cleared" },
	  see_dropped_kick, { 0, 1 }, { 1, 1, 1, 1 } },
};

static void expect_feature(const struct feature_case *f,
			   const struct ilb_behaviour *behaviour,
			   unsigned int value)
{
	unsigned int seen;
	struct host h;

	describe(&h);
	start(&h, behaviour);
	seen = f->see(&h);
	if (seen != f->seen[value])
		fail_msg("%s with %s: %u, not %u", behaviour->name,
			 f->settings[value], seen, f->seen[value]);
}

static void each_feature_alone_makes_its_difference(void **state)
{
	struct ilb_behaviour b;
	const struct feature_case *f;
	unsigned int i, row, other;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(features); i++) {
		f = &features[i];
		assert_int_not_equal(f->seen[0], f->seen[1]);
		for (row = 0; row < 4; row++) {
			expect_feature(f, &ilb_behaviours[row], f->rows[row]);
			other = !f->rows[row];
			b = ilb_behaviours[row];
			assert_int_equal(ilb_behaviour_set(&b,
						f->settings[other]), 0);
			expect_feature(f, &b, other);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(features_are_switched_alone),
		cmocka_unit_test(the_target_is_set_too),
		cmocka_unit_test(wrong_settings_change_nothing),
		cmocka_unit_test(isolcpus_nohz_counts_with_kernel_noise_only),
		cmocka_unit_test(one_housekeeping_cpu_is_kept),
		cmocka_unit_test(each_feature_alone_makes_its_difference),
	};

	return cmocka_run_group_tests_name("behaviour", tests, NULL, NULL);
}
