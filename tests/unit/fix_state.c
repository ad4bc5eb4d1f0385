// SPDX-License-Identifier: GPL-2.0-only
/* The loaded module, in a made-up /sys; and who needs it. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ilb/fix.h"
#include "test.h"

#define PARAMETERS	"/sys/module/ilb_fix/parameters"
#define COUNTERS	"calls 21\nnarrowed 6\nwould_narrow 5\nsame 4\n"	\
			"fallback 3\nno_target 2\nnot_ready 1\n"		\
			"registered 18446744073709551615\nwould_register 9\n"	\
			"refused 8"

struct fixture {
	char root[32];
	struct ilb_error error;
	struct ilb_fix_state state;
};

static void put(const struct fixture *f, const char *name, const char *text)
{
	char command[1000];

	snprintf(command, sizeof(command),
		 "mkdir -p $(dirname %s%s) && printf '%%s\\n' '%s' >%s%s",
		 f->root, name, text, f->root, name);
	assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->root, "/tmp/ilb-fix-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	put(f, PARAMETERS "/idle_core", "Y");
	put(f, PARAMETERS "/nohz_full", "N");
	put(f, PARAMETERS "/enable", "Y");
	put(f, PARAMETERS "/dry_run", "N");
	put(f, PARAMETERS "/policy", "near");
	put(f, PARAMETERS "/counters", COUNTERS);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[64];
	int failed;

	snprintf(command, sizeof(command), "rm -r %s", f->root);
	failed = system(command);
	free(f);
	return failed;
}

static int read_it(struct fixture *f)
{
	return ilb_fix_read(&f->state, f->root, &f->error);
}

static void reads(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_it(f), 0);
	assert_true(f->state.loaded && f->state.enabled);
	assert_false(f->state.dry_run);
	assert_int_equal(f->state.repairs, ILB_REPAIR_IDLE_CORE);
	assert_string_equal(f->state.policy, "near");
	assert_int_equal(f->state.count[ILB_FIX_CALLS], 21);
	assert_int_equal(f->state.count[ILB_FIX_NARROWED], 6);
	assert_int_equal(f->state.count[ILB_FIX_WOULD_NARROW], 5);
	assert_true(f->state.count[ILB_FIX_REGISTERED] == UINT64_MAX);
	assert_int_equal(f->state.count[ILB_FIX_REFUSED], 8);
}

static void not_loaded(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ilb_fix_read(&f->state, "/nonexistent", &f->error),
			 0);
	assert_false(f->state.loaded);
	assert_int_equal(ilb_fix_write("/nonexistent", "enable", "N",
				       &f->error), -ILB_ERR_UNSUPPORTED);
	assert_non_null(strstr(f->error.text, "ilb fix load"));
}

/* A module of that name that is another, or damaged. */
static void foreign(void **state)
{
	static const char *const bad[][2] = {
		{ "enable", "maybe" }, { "enable", "" }, { "counters", "" },
		{ "counters", "calls 1" }, { "counters", "calls x\nnarrowed" },
	};
	struct fixture *f = *state;
	char name[80];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(name, sizeof(name), PARAMETERS "/%s", bad[i][0]);
		put(f, name, bad[i][1]);
		assert_int_equal(read_it(f), -ILB_ERR_FORMAT);
		assert_true(f->state.loaded);
		put(f, PARAMETERS "/enable", "Y");
		put(f, PARAMETERS "/counters", COUNTERS);
		assert_int_equal(read_it(f), 0);
	}
	snprintf(name, sizeof(name), "%s" PARAMETERS "/dry_run", f->root);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(read_it(f), -ILB_ERR_FORMAT);
}

static void first_line(const struct fixture *f, const char *name, char *line)
{
	char path[120];
	FILE *file;

	snprintf(path, sizeof(path), "%s" PARAMETERS "/%s", f->root, name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, 40, file));
	fclose(file);
}

/* What was enabled, near and no dry run becomes that again. */
static void restores(void **state)
{
	struct fixture *f = *state;
	struct ilb_fix_state before;
	char line[40];

	assert_int_equal(read_it(f), 0);
	before = f->state;
	put(f, PARAMETERS "/enable", "N");
	put(f, PARAMETERS "/dry_run", "Y");
	put(f, PARAMETERS "/policy", "----");
	assert_int_equal(ilb_fix_restore(&before, f->root, &f->error), 0);
	first_line(f, "enable", line);
	assert_int_equal(line[0], 'Y');
	first_line(f, "dry_run", line);
	assert_int_equal(line[0], 'N');
	first_line(f, "policy", line);
	assert_memory_equal(line, "near", 4);
}

/* ---- who needs it ---- */

static enum ilb_answer need(const char *kernel, const char *machine,
			    unsigned long nohz_full, enum ilb_repair repair)
{
	struct ilb_facts *facts = calloc(1, sizeof(*facts));
	struct ilb_check *check = calloc(1, sizeof(*check));
	struct ilb_topology *topology;
	struct ilb_fix_need need;

	assert_non_null(facts);
	assert_non_null(check);
	assert_int_equal(ilb_topology_load(&topology, machine, NULL), 0);
	strcpy(facts->kernel, kernel);
	facts->nohz_full[0] = nohz_full;
	facts->nohz_full_known = 1;
	ilb_check_judge(check, facts, topology, NULL);
	ilb_fix_judge_need(&need, repair, facts, check);
	assert_true(need.text[0]);
	ilb_topology_free(topology);
	free(check);
	free(facts);
	return need.answer;
}

#define SMT	"pack:2 [numa] l3:1 core:4 pu:2"
#define FLAT	"pack:2 [numa] l3:1 core:4 pu:1"

static void needs(void **state)
{
	const enum ilb_repair core = ILB_REPAIR_IDLE_CORE;
	const enum ilb_repair full = ILB_REPAIR_NOHZ_FULL;

	(void)state;
	assert_int_equal(need("6.1.0-50", SMT, 0, core), ILB_ANSWER_YES);
	assert_int_equal(need("7.2.12", SMT, 0, core), ILB_ANSWER_YES);
	assert_int_equal(need("6.6.3", SMT, 0, core), ILB_ANSWER_YES);
	assert_int_equal(need("6.12.95", FLAT, 0, core), ILB_ANSWER_NO);
	assert_int_equal(need("7.3.4", SMT, 0, core), ILB_ANSWER_NO);
	assert_int_equal(need("7.9", SMT, 0, core), ILB_ANSWER_UNKNOWN);
	assert_int_equal(need("banana", SMT, 0, core), ILB_ANSWER_UNKNOWN);
	assert_int_equal(need("7.3.4", SMT, 0xfe, full), ILB_ANSWER_YES);
	assert_int_equal(need("6.12.95", SMT, 0, full), ILB_ANSWER_NO);
	/* Only CPUs that the machine lacks. */
	assert_int_equal(need("6.12.95", SMT, 1UL << 40, full),
			 ILB_ANSWER_NO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_loaded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(foreign, set_up, tear_down),
		cmocka_unit_test_setup_teardown(restores, set_up, tear_down),
		cmocka_unit_test(needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
