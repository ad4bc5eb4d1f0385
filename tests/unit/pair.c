// SPDX-License-Identifier: GPL-2.0-only
/* Kicks of a trace and exact moments: which belong together, which do not. */

#include <stdlib.h>
#include <string.h>

#include "ilb/pair.h"
#include "test.h"

#define CPUS	8
#define MS	1000000ULL
#define OUT_MAX	20000
#define ALWAYS	UINT64_MAX

/* All CPUs but 7, which is offline, are in the topology. */
static unsigned long online[1] = { 0x7f }, housekeeping[1] = { 0x0f };
static const struct ilb_topology topology = {
	.nr_cpus = CPUS, .online = online,
};

struct run {
	struct ilb_pair *pair;
	const struct ilb_pair_counts *counts;
	struct ilb_moment out[OUT_MAX];
	unsigned int nr;
};

static void on_moment(void *context, const struct ilb_moment *moment)
{
	struct run *r = context;

	assert_true(r->nr < OUT_MAX);
	assert_true(!r->nr || r->out[r->nr - 1].time_ns <= moment->time_ns);
	assert_ptr_equal(moment->housekeeping, housekeeping);
	r->out[r->nr++] = *moment;
}

static int set_up(void **state)
{
	struct run *r = calloc(1, sizeof(*r));
	struct ilb_pair_setup setup = { .topology = &topology,
		.housekeeping = housekeeping, .moment = on_moment,
		.context = r };

	assert_non_null(r);
	r->pair = ilb_pair_create(&setup);
	assert_non_null(r->pair);
	r->counts = ilb_pair_counts(r->pair);
	ilb_pair_span(r->pair, 0, ALWAYS);
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	struct run *r = *state;

	ilb_pair_destroy(r->pair);
	free(r);
	return 0;
}

static void add(struct run *r, enum ilb_moment_kind kind, uint64_t time_ns,
		unsigned int kicker, unsigned int target)
{
	unsigned long mask[1] = { 0x3c }, idle[1] = { 0x3f };
	const struct ilb_moment moment = { .time_ns = time_ns,
		.kicker = kicker, .target = target, .kind = kind,
		.mask = mask, .idle = idle,
		.housekeeping = kind == ILB_MOMENT_EXACT ? NULL :
							   housekeeping };

	/* What was reconstructed lacks 2 in the mask; 1, 3 and 7 in idle. */
	if (kind != ILB_MOMENT_EXACT) {
		mask[0] = 0x38;
		idle[0] = 0xb5;
	}
	ilb_pair_add(r->pair, &moment);
}

#define KICK(at, kicker, target)	\
	add(r, ILB_MOMENT_RECONSTRUCTED, at, kicker, target)
#define EXACT(at, kicker, target)	\
	add(r, ILB_MOMENT_EXACT, at, kicker, target)

static void expect(struct run *r, uint64_t paired, uint64_t moments,
		   uint64_t kicks)
{
	ilb_pair_finish(r->pair);
	assert_int_equal(r->counts->paired, paired);
	assert_int_equal(r->counts->unpaired_moments, moments);
	assert_int_equal(r->counts->unpaired_kicks, kicks);
	assert_int_equal(r->nr, paired + moments + kicks);
}

static void one_kick(void **state)
{
	struct run *r = *state;

	KICK(1000, 1, 2);
	EXACT(2000, 1, 2);
	expect(r, 1, 0, 0);
	assert_int_equal(r->out[0].kind, ILB_MOMENT_EXACT);
	assert_int_equal(r->out[0].time_ns, 2000);
	/* Of 7 CPUs online. */
	assert_int_equal(r->counts->bits, 7);
	assert_int_equal(r->counts->mask_agree, 6);
	assert_int_equal(r->counts->idle_agree, 5);
}

static void not_the_same(void **state)
{
	struct run *r = *state;

	KICK(1000, 1, 2);
	EXACT(1000, 1, 3);
	EXACT(1000, 2, 2);
	KICK(1000, ILB_CPU_NONE, 4);
	expect(r, 0, 2, 2);
}

static void kicker_unknown(void **state)
{
	struct run *r = *state;

	EXACT(1000, 1, 2);
	EXACT(1000, 1, 3);
	KICK(1900, ILB_CPU_NONE, 2);
	expect(r, 1, 1, 0);
	assert_int_equal(r->out[0].kicker, 1);
}

static void too_far(void **state)
{
	struct run *r = *state;

	KICK(0, 1, 2);
	EXACT(ILB_PAIR_NS, 1, 2);
	KICK(1000 * MS, 1, 2);
	EXACT(1000 * MS + ILB_PAIR_NS + 1, 1, 2);
	expect(r, 1, 1, 1);
}

/* The second has no moment: the third's must not go to it. */
static void moment_lost(void **state)
{
	struct run *r = *state;

	KICK(4 * MS, 1, 2);
	EXACT(4 * MS + 10, 1, 2);
	KICK(8 * MS, 1, 2);
	KICK(12 * MS, 1, 2);
	EXACT(12 * MS + 10, 1, 2);
	expect(r, 2, 0, 1);
	assert_int_equal(r->out[1].time_ns, 8 * MS);
	assert_int_equal(r->out[1].kind, ILB_MOMENT_RECONSTRUCTED);
}

static void kick_lost(void **state)
{
	struct run *r = *state;

	EXACT(4 * MS - 10, 1, 2);
	KICK(4 * MS, 1, 2);
	EXACT(8 * MS - 10, 1, 2);
	EXACT(12 * MS - 10, 1, 2);
	KICK(12 * MS, 1, 2);
	expect(r, 2, 1, 0);
}

/* The host stopped CPU 1 between the two, then two ticks came at once. */
static void stopped_between(void **state)
{
	struct run *r = *state;

	KICK(4 * MS, 1, 2);
	EXACT(24 * MS, 1, 2);
	KICK(25 * MS, 1, 2);
	EXACT(25 * MS + 10, 1, 2);
	expect(r, 2, 0, 0);
}

/* A walk over three rivals, each closer than the one before. */
static void rivals(void **state)
{
	struct run *r = *state;

	EXACT(0 * MS, 1, 2);
	KICK(8 * MS, 1, 2);
	EXACT(12 * MS, 1, 2);
	KICK(14 * MS, 1, 2);
	expect(r, 2, 0, 0);
	assert_int_equal(r->out[0].time_ns, 0);
	assert_int_equal(r->out[1].time_ns, 12 * MS);
}

/* Two at one distance: the earlier; and no walk without an end. */
static void same_distance(void **state)
{
	struct run *r = *state;
	unsigned int i;

	for (i = 0; i < 99; i++) {
		if (i % 2)
			KICK(MS * i, 1, 2);
		else
			EXACT(MS * i, 1, 2);
	}
	expect(r, 49, 1, 0);
	assert_int_equal(r->out[49].time_ns, 98 * MS);
}

static void outside(void **state)
{
	struct run *r = *state;

	ilb_pair_span(r->pair, 10 * MS, ALWAYS);
	EXACT(8 * MS, 1, 2);		/* left out */
	EXACT(9 * MS, 1, 3);		/* its kick is in the trace */
	KICK(10 * MS, 1, 3);
	EXACT(10 * MS, 1, 2);
	ilb_pair_span(r->pair, 10 * MS, 20 * MS);
	EXACT(20 * MS, 1, 2);
	EXACT(21 * MS, 1, 2);		/* left out */
	expect(r, 1, 2, 0);
	assert_int_equal(r->counts->outside, 2);
}

static void settled_in_time(void **state)
{
	struct run *r = *state;

	KICK(0, 1, 2);
	EXACT(2 * ILB_PAIR_NS, 1, 2);
	assert_int_equal(r->nr, 0);
	EXACT(2 * ILB_PAIR_NS + 1, 1, 2);
	assert_int_equal(r->nr, 1);
	expect(r, 0, 2, 1);
}

/* Thousands within ILB_PAIR_NS: memory has an end, the counts have not. */
static void flood(void **state)
{
	struct run *r = *state;
	unsigned int i;

	for (i = 0; i < 9000; i++)
		KICK(i, 1, 2);
	for (i = 0; i < 10; i++)
		EXACT(9000, 1, 2);
	expect(r, 1, 9, 8999);
}

/* What another kick, or another target, comes between are no pair. */
static void not_neighbours(void **state)
{
	struct run *r = *state;

	KICK(1000, 1, 2);
	KICK(2000, 1, 3);
	EXACT(2010, 1, 3);
	EXACT(3000, 1, 2);
	expect(r, 1, 1, 1);
}

/* ---- any losses ---- */

struct seen {
	uint64_t time_ns;
	enum ilb_moment_kind kind;
	unsigned int kicker, target;
};

struct losses {
	struct seen seen[6000];
	unsigned int nr;
	uint64_t both, kicks, moments;
};

static unsigned int dice(unsigned int sides)
{
	return (unsigned int)random() % sides;
}

static void see(struct losses *l, uint64_t time_ns, enum ilb_moment_kind kind,
		unsigned int kicker, unsigned int target)
{
	l->seen[l->nr++] = (struct seen){ time_ns, kind, kicker, target };
}

/* The moment is read within 1 ms of the record; one of 16 of either is lost. */
static void tick(struct losses *l, uint64_t time_ns, unsigned int cpu)
{
	unsigned int target = 6 + dice(2);
	int kick = dice(16) > 0, exact = dice(16) > 0;

	l->both += kick && exact;
	l->kicks += kick && !exact;
	l->moments += !kick && exact;
	if (kick)
		see(l, time_ns, ILB_MOMENT_RECONSTRUCTED, cpu, target);
	if (exact)
		see(l, time_ns + dice(1000000), ILB_MOMENT_EXACT, cpu, target);
}

static int by_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* CPUs 0-5 kick in ticks of 4 ms, each at its own phase. */
static void losses(void **state)
{
	struct losses *l = calloc(1, sizeof(*l));
	struct run *r = *state;
	unsigned int i, cpu;

	assert_non_null(l);
	srandom(7);
	for (i = 1; i < 400; i++)
		for (cpu = 0; cpu < 6; cpu++)
			tick(l, i * 4 * MS + cpu * 600000 + dice(200000), cpu);
	qsort(l->seen, l->nr, sizeof(l->seen[0]), by_time);
	for (i = 0; i < l->nr; i++)
		add(r, l->seen[i].kind, l->seen[i].time_ns, l->seen[i].kicker,
		    l->seen[i].target);
	ilb_pair_finish(r->pair);
	assert_int_equal(r->counts->paired + r->counts->unpaired_kicks,
			 l->both + l->kicks);
	assert_int_equal(r->counts->paired + r->counts->unpaired_moments,
			 l->both + l->moments);
	/*
	 * Every true pair, and of two successive ticks that lost one each,
	 * which look like a pair, some.
	 */
	assert_in_range(r->counts->paired, l->both, l->both + l->both / 100);
	assert_int_equal(r->nr, l->both + l->kicks + l->moments -
			 (r->counts->paired - l->both));
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(one_kick),
		TEST(not_the_same),
		TEST(kicker_unknown),
		TEST(too_far),
		TEST(moment_lost),
		TEST(kick_lost),
		TEST(stopped_between),
		TEST(rivals),
		TEST(same_distance),
		TEST(outside),
		TEST(settled_in_time),
		TEST(flood),
		TEST(not_neighbours),
		TEST(losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
