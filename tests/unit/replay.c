// SPDX-License-Identifier: GPL-2.0-only
/* Policies over hand-made moments: agreement, what decides, who is best. */

#include <string.h>

#include "fixture.h"
#include "ilb/error.h"
#include "ilb/replay.h"

#define ALL	0xffUL

/*
 * Siblings are N and N + 1. In each of these CPU 6 kicks, and which rule chose
 * the target is said for the two that kernels have.
 */
struct hand_made {
	unsigned int kicker, target;
	unsigned long mask, idle;
};

/* 0 is busy: lowest has 1, idle-core 2. */
#define BY_LOWEST	{ 6, 1, 0x3f, 0x3e }
#define BY_IDLE_CORE	{ 6, 2, 0x3f, 0x3e }
#define BY_NEITHER	{ 6, 4, 0x3f, 0x3e }
#define OF_UNKNOWN	{ NOBODY, 1, 0x3f, 0x3e }
/* 0 and 1 are idle: both have 0. */
#define BY_BOTH		{ 6, 0, 0x3f, 0x3f }
#define BY_NO_RULE	{ 6, 3, 0x3f, 0x3f }
/* No core is idle: 1 for both, as a fallback. */
#define FALLBACK	{ 6, 1, 0x3f, 0x2a }
#define NOBODY_IDLE	{ 6, NOBODY, 0x3f, 0x00 }

struct replayed {
	struct ilb_replay *replay;
	const struct ilb_policy_result *result;
	int best;
	unsigned int disagreements, decisive_ones;
	struct ilb_disagreement last;
};

static void disagreement(void *context, const struct ilb_disagreement *d)
{
	struct replayed *r = context;

	r->disagreements++;
	r->decisive_ones += d->decisive != 0;
	r->last = *d;
	assert_int_not_equal(d->chosen, d->moment->target);
}

static void feed(struct ilb_replay *replay, const struct hand_made *h,
		 const unsigned long *housekeeping)
{
	const struct ilb_moment moment = {
		.kicker = h->kicker,
		.target = h->target,
		.mask = &h->mask,
		.idle = &h->idle,
		.housekeeping = housekeeping,
	};

	ilb_replay_moment(replay, &moment);
}

static void run(struct replayed *r, struct fixture *f,
		const unsigned long *what_if, const char *const *policies,
		const struct hand_made *moments, unsigned int nr)
{
	static const unsigned long all = ALL;
	struct ilb_replay_setup setup = {
		.topology = &f->topology,
		.policies = policies,
		.housekeeping = what_if,
		.disagreement = disagreement,
		.context = r,
	};
	struct ilb_error error;
	unsigned int i;

	memset(r, 0, sizeof(*r));
	while (policies[setup.nr_policies])
		setup.nr_policies++;
	assert_int_equal(ilb_replay_create(&r->replay, &setup, &error), 0);
	for (i = 0; i < nr; i++)
		feed(r->replay, &moments[i], &all);
	r->result = ilb_replay_results(r->replay, &r->best);
}

#define POLICIES(...)	(const char *const[]){ __VA_ARGS__, NULL }
#define RUN(r, f, policies, moments)					\
	run((r), (f), NULL, (policies), (moments), ARRAY_SIZE(moments))

static void agreement_is_with_the_kernels_target(void **state)
{
	static const struct hand_made moments[] = {
		BY_LOWEST, BY_LOWEST, BY_IDLE_CORE, BY_BOTH, BY_NEITHER,
	};
	struct replayed r;

	RUN(&r, *state, POLICIES("lowest", "idle-core"), moments);
	assert_string_equal(r.result[0].name, "lowest");
	assert_string_equal(r.result[1].name, "idle-core");
	assert_int_equal(r.result[0].kicks, 5);
	assert_int_equal(r.result[0].scored, 5);
	assert_int_equal(r.result[0].agree, 3);
	assert_int_equal(r.result[0].agree_decisive, 2);
	assert_int_equal(r.result[1].agree, 2);
	assert_int_equal(r.result[1].agree_decisive, 1);
	assert_int_equal(r.result[0].decisive, 4);
	assert_int_equal(r.result[1].decisive, 4);
	assert_int_equal(r.result[1].decisive_scored, 4);
	assert_int_equal(r.best, 0);
	ilb_replay_destroy(r.replay);
}

static void what_each_would_have_done(void **state)
{
	static const struct hand_made moments[] = {
		BY_LOWEST, BY_BOTH, FALLBACK, NOBODY_IDLE,
	};
	const struct ilb_policy_result *p;
	struct replayed r;

	RUN(&r, *state, POLICIES("lowest", "idle-core", "wrap:4"), moments);
	p = &r.result[0];			/* 1, 0, 1, nobody */
	assert_int_equal(p->on_busy_core, 2);
	assert_int_equal(p->avoidable, 1);
	assert_int_equal(p->fallback, 0);
	assert_int_equal(p->none, 1);
	assert_int_equal(p->agree, 4);
	assert_int_equal(p->idle_cores_woken, 1);
	assert_int_equal(p->same_llc, 0);
	assert_int_equal(p->same_node, 3);
	assert_int_equal(p->top, 2);
	assert_int_equal(p->top_cpu, 1);
	assert_int_equal(p->looked_at, 2 + 1 + 2 + 6);
	assert_int_equal(p->looked_at_max, 6);
	p = &r.result[1];			/* 2, 0, 1, nobody */
	assert_int_equal(p->on_busy_core, 1);
	assert_int_equal(p->avoidable, 0);
	assert_int_equal(p->fallback, 1);
	assert_int_equal(p->none, 1);
	assert_int_equal(p->idle_cores_woken, 2);
	assert_int_equal(p->top, 1);
	assert_int_equal(p->top_cpu, 0);	/* lowest of equals */
	p = &r.result[2];			/* 4, 4, 5, nobody */
	assert_string_equal(p->name, "wrap:4");
	assert_int_equal(p->on_busy_core, 1);
	assert_int_equal(p->same_llc, 3);
	assert_int_equal(p->top, 2);
	assert_int_equal(p->top_cpu, 4);
	assert_int_equal(p->agree, 1);
	ilb_replay_destroy(r.replay);
}

static void an_unknown_kicker_is_not_scored(void **state)
{
	static const struct hand_made moments[] = { OF_UNKNOWN, OF_UNKNOWN };
	static const struct hand_made one_more[] = { OF_UNKNOWN, BY_LOWEST };
	struct replayed r;

	RUN(&r, *state, POLICIES("lowest", "idle-core"), moments);
	assert_int_equal(r.result[0].kicks, 2);
	assert_int_equal(r.result[0].scored, 0);
	assert_int_equal(r.result[0].agree, 0);
	assert_int_equal(r.result[0].decisive, 2);
	assert_int_equal(r.result[0].decisive_scored, 0);
	assert_int_equal(r.result[0].on_busy_core, 2);
	assert_int_equal(r.result[0].same_node, 0);
	assert_int_equal(r.disagreements, 0);
	assert_int_equal(r.best, -1);
	ilb_replay_destroy(r.replay);
	RUN(&r, *state, POLICIES("lowest", "idle-core"), one_more);
	assert_int_equal(r.result[0].scored, 1);
	assert_int_equal(r.result[0].decisive_scored, 1);
	assert_int_equal(r.best, 0);
	ilb_replay_destroy(r.replay);
}

/* ---- decisive ---- */

/* CPUs 4 and 5 differ from both: no kernel has the rule, nothing follows. */
static void only_rules_of_kernels_decide(void **state)
{
	static const struct hand_made moments[] = { BY_BOTH, BY_LOWEST };
	struct replayed r;

	RUN(&r, *state, POLICIES("lowest", "wrap:4", "idle-core"), moments);
	assert_int_equal(r.result[0].decisive, 1);
	assert_int_equal(r.result[1].decisive, 1);
	assert_int_equal(r.result[2].decisive, 1);
	ilb_replay_destroy(r.replay);
}

static void with_fewer_than_two_of_them_all_listed_do(void **state)
{
	static const struct hand_made moments[] = { BY_BOTH, BY_LOWEST };
	struct replayed r;

	RUN(&r, *state, POLICIES("lowest", "wrap:4"), moments);
	assert_int_equal(r.result[0].decisive, 2);
	ilb_replay_destroy(r.replay);
	RUN(&r, *state, POLICIES("wrap:4", "wrap:5"), moments);
	assert_int_equal(r.result[0].decisive, 2);
	ilb_replay_destroy(r.replay);
	RUN(&r, *state, POLICIES("lowest"), moments);
	assert_int_equal(r.result[0].decisive, 0);
	ilb_replay_destroy(r.replay);
}

static void every_disagreement_is_handed_over(void **state)
{
	static const struct hand_made moments[] = {
		BY_LOWEST, BY_NEITHER, BY_NO_RULE, BY_BOTH, OF_UNKNOWN,
	};
	struct replayed r;

	RUN(&r, *state, POLICIES("lowest", "idle-core"), moments);
	assert_int_equal(r.disagreements, 1 + 2 + 2);
	assert_int_equal(r.decisive_ones, 1 + 2);
	assert_string_equal(r.last.policy, "idle-core");
	assert_int_equal(r.last.chosen, 0);
	assert_int_equal(r.last.decisive, 0);
	ilb_replay_destroy(r.replay);
}

/* ---- best ---- */

static int best_of(struct fixture *f, const char *const *policies,
		   const struct hand_made *moments, unsigned int nr)
{
	struct replayed r;

	run(&r, f, NULL, policies, moments, nr);
	ilb_replay_destroy(r.replay);
	return r.best;
}

#define BEST(f, policies, moments)					\
	best_of((f), (policies), (moments), ARRAY_SIZE(moments))

static void the_best_agrees_most_where_it_matters(void **state)
{
	static const struct hand_made idle_core[] = {
		BY_IDLE_CORE, BY_IDLE_CORE, BY_LOWEST, BY_BOTH,
	};
	static const struct hand_made tied[] = { BY_IDLE_CORE, BY_LOWEST };
	static const struct hand_made never_differ[] = { BY_BOTH, BY_BOTH };
	static const struct hand_made neither[] = { BY_NEITHER };
	const char *const *two = POLICIES("lowest", "idle-core");
	struct fixture *f = *state;

	assert_int_equal(BEST(f, two, idle_core), 1);
	assert_int_equal(BEST(f, two, tied), -1);
	assert_int_equal(BEST(f, two, never_differ), 0);
	assert_int_equal(BEST(f, two, neither), -1);
	assert_int_equal(best_of(f, two, NULL, 0), -1);
}

/* Equal, and with the same choices throughout: the first will do. */
static void twins_do_not_spoil_the_best(void **state)
{
	static const struct hand_made moments[] = { BY_IDLE_CORE, BY_BOTH };
	struct fixture *f = *state;

	assert_int_equal(BEST(f, POLICIES("lowest", "idle-core-v2",
					  "idle-core"), moments), 1);
	assert_int_equal(BEST(f, POLICIES("idle-core", "idle-core-v1"),
			      moments), 0);
}

/* Equal on what is decisive: then all moments count. */
static void ties_are_broken_by_all_moments(void **state)
{
	static const struct hand_made moments[] = {
		BY_BOTH, BY_BOTH, { 6, 4, 0x3f, 0x3f },
	};
	static const struct hand_made decisive[] = {
		BY_LOWEST, { 6, 4, 0x3f, 0x3f }, { 6, 4, 0x3f, 0x3f },
	};
	const char *const *three = POLICIES("wrap:4", "lowest", "idle-core");
	struct fixture *f = *state;

	assert_int_equal(BEST(f, three, moments), 1);
	/* But not what is decisive: wrap:4 agrees more often, elsewhere. */
	assert_int_equal(BEST(f, three, decisive), 1);
}

static void the_best_may_be_asked_for_or_not(void **state)
{
	static const struct hand_made moments[] = { BY_LOWEST };
	struct replayed r;

	RUN(&r, *state, POLICIES("lowest"), moments);
	assert_ptr_equal(ilb_replay_results(r.replay, NULL), r.result);
	assert_int_equal(r.result[0].top, 1);
	ilb_replay_destroy(r.replay);
	ilb_replay_destroy(NULL);
}

/* ---- what if ---- */

static void other_housekeeping_cpus_can_be_assumed(void **state)
{
	static const struct hand_made moments[] = { BY_LOWEST };
	static const unsigned long upper = 0x38, sibling = 0x02;
	const char *const *two = POLICIES("lowest", "idle-core");
	struct replayed r;

	run(&r, *state, &upper, two, moments, 1);
	assert_int_equal(r.result[0].top_cpu, 3);
	assert_int_equal(r.result[0].on_busy_core, 0);
	assert_int_equal(r.result[0].agree, 0);
	ilb_replay_destroy(r.replay);
	/* Nothing else qualifies, so it is not avoidable any more. */
	run(&r, *state, &sibling, two, moments, 1);
	assert_int_equal(r.result[1].top_cpu, 1);
	assert_int_equal(r.result[1].fallback, 1);
	assert_int_equal(r.result[0].on_busy_core, 1);
	assert_int_equal(r.result[0].avoidable, 0);
	ilb_replay_destroy(r.replay);
}

/* ---- errors ---- */

static int create(struct fixture *f, const char *const *policies,
		  unsigned int nr, struct ilb_error *error)
{
	const struct ilb_replay_setup setup = {
		.topology = &f->topology,
		.policies = policies,
		.nr_policies = nr,
	};
	struct ilb_replay *replay = NULL;
	int err;

	memset(error, 0, sizeof(*error));
	err = ilb_replay_create(&replay, &setup, error);
	if (err)
		assert_null(replay);
	ilb_replay_destroy(replay);
	return err;
}

static void wrong_names_are_named(void **state)
{
	static const struct {
		const char *name;
		int err;
		const char *says;
	} tests[] = {
		{ "wrap:7", 0, "" },
		{ "wrap:8", -ILB_ERR_RANGE, "0-7" },
		{ "wrap:99999999999999999999", -ILB_ERR_RANGE, "0-7" },
		{ "wrap", -ILB_ERR_SYNTAX, "'wrap:CPU'" },
		{ "lowest:3", -ILB_ERR_SYNTAX, "'wrap:CPU'" },
		{ "highest", -ILB_ERR_NOENT, "--list-policies" },
		{ "", -ILB_ERR_NOENT, "policy ''" },
		{ "low\nest", -ILB_ERR_NOENT, "low?est" },
	};
	const char *policies[2] = { "lowest" };
	struct ilb_error error;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		policies[1] = tests[i].name;
		assert_int_equal(create(*state, policies, 2, &error),
				 tests[i].err);
		assert_non_null(strstr(error.text, tests[i].says));
		assert_int_equal(create(*state, policies, 1, &error), 0);
	}
}

static void there_are_1_to_32_policies(void **state)
{
	const char *policies[33];
	struct ilb_error error;
	unsigned int i;

	for (i = 0; i < 33; i++)
		policies[i] = i % 2 ? "lowest" : "idle-core";
	assert_int_equal(create(*state, policies, 32, &error), 0);
	assert_int_equal(create(*state, policies, 33, &error),
			 -ILB_ERR_RANGE);
	assert_non_null(strstr(error.text, "33"));
	assert_non_null(strstr(error.text, "32"));
	assert_int_equal(create(*state, policies, 0, &error),
			 -ILB_ERR_RANGE);
}

/* The last of 32 must have its bit among the candidates. */
static void the_32nd_policy_decides_too(void **state)
{
	static const struct hand_made moments[] = { BY_LOWEST };
	const char *policies[33] = { NULL };
	struct replayed r;
	unsigned int i;

	for (i = 0; i < 31; i++)
		policies[i] = "idle-core";
	policies[31] = "lowest";
	RUN(&r, *state, policies, moments);
	assert_int_equal(r.result[31].decisive, 1);
	assert_int_equal(r.best, 31);
	assert_int_equal(r.disagreements, 31);
	ilb_replay_destroy(r.replay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(agreement_is_with_the_kernels_target),
		FIXTURE_TEST(what_each_would_have_done),
		FIXTURE_TEST(an_unknown_kicker_is_not_scored),
		FIXTURE_TEST(only_rules_of_kernels_decide),
		FIXTURE_TEST(with_fewer_than_two_of_them_all_listed_do),
		FIXTURE_TEST(every_disagreement_is_handed_over),
		FIXTURE_TEST(the_best_agrees_most_where_it_matters),
		FIXTURE_TEST(twins_do_not_spoil_the_best),
		FIXTURE_TEST(ties_are_broken_by_all_moments),
		FIXTURE_TEST(the_best_may_be_asked_for_or_not),
		FIXTURE_TEST(other_housekeeping_cpus_can_be_assumed),
		FIXTURE_TEST(wrong_names_are_named),
		FIXTURE_TEST(there_are_1_to_32_policies),
		FIXTURE_TEST(the_32nd_policy_decides_too),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
