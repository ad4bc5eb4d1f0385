// SPDX-License-Identifier: GPL-2.0-only
/*
 * Topologies by name: the tables are compared with what the description says
 * (arithmetic on CPU numbers), and with the kernel's own files for "self".
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ilb/capture.h"
#include "test.h"
#include "trace/file.h"
#include "trace/topology.h"

#define PIN16	ILB_GOLDEN "/topology/pin16.xml"
#define OFFLINE	ILB_GOLDEN "/topology/offline.xml"

static struct ilb_topology *load(const char *spec)
{
	struct ilb_topology *t = NULL;
	struct ilb_error error = { "" };

	if (ilb_topology_load(&t, spec, &error))
		fail_msg("%s", error.text);
	assert_int_equal(ilb_topology_check(t, NULL), 0);
	return t;
}

/* Threads of a core are @stride apart; caches and nodes are @block long. */
static void expect_regular(const struct ilb_topology *t, unsigned int nr_cpus,
			   unsigned int (*core)(unsigned int),
			   unsigned int (*node)(unsigned int))
{
	unsigned int cpu;

	assert_int_equal(t->nr_cpus, nr_cpus);
	assert_int_equal(ilb_mask_weight(t->online, nr_cpus), nr_cpus);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		assert_int_equal(t->core[cpu], core(cpu));
		assert_int_equal(t->node[cpu], node(cpu));
		assert_int_equal(t->llc[cpu], node(cpu));
	}
	assert_null(t->capacity);
	assert_int_equal(t->smt, 1);
}

static unsigned int even(unsigned int cpu)
{
	return cpu & ~1U;
}

static unsigned int eights(unsigned int cpu)
{
	return cpu & ~7U;
}

static void xml_of_the_captures(void **state)
{
	struct ilb_topology *t = load(PIN16);
	unsigned int cpu;

	(void)state;
	expect_regular(t, 16, even, eights);
	for (cpu = 0; cpu < 16; cpu++)
		assert_int_equal(t->sibling[cpu], cpu ^ 1);
	ilb_topology_free(t);
}

static void synthetic_numbers_siblings_adjacent(void **state)
{
	struct ilb_topology *t = load("pack:2 [numa] l3:1 core:4 pu:2");

	(void)state;
	expect_regular(t, 16, even, eights);
	ilb_topology_free(t);
}

static void cores_alone_have_a_cpu_each(void **state)
{
	static const char *const specs[] = {
		"pack:2 [numa] l3:1 core:8", "Core:16",
	};
	struct ilb_topology *t;
	unsigned int i, cpu;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(specs); i++) {
		t = load(specs[i]);
		assert_int_equal(t->nr_cpus, 16);
		assert_int_equal(t->smt, 0);
		for (cpu = 0; cpu < 16; cpu++) {
			assert_int_equal(t->core[cpu], cpu);
			assert_int_equal(t->llc[cpu], i ? 0 : cpu / 8 * 8);
		}
		ilb_topology_free(t);
	}
}

static unsigned int vera_core(unsigned int cpu)
{
	return cpu % 176;
}

static unsigned int vera_node(unsigned int cpu)
{
	return cpu % 176 / 88 * 88;
}

static void indexes_give_strided_rings(void **state)
{
	struct ilb_topology *t;
	unsigned int cpu;

	(void)state;
	t = load("pack:2 [numa] l3:1 core:88 pu:2(indexes=2*176:176*1)");
	expect_regular(t, 352, vera_core, vera_node);
	for (cpu = 0; cpu < 352; cpu++)
		assert_int_equal(t->sibling[cpu], (cpu + 176) % 352);
	ilb_topology_free(t);
}

static void expect_table(const unsigned int *table, const unsigned int *want,
			 unsigned int nr, const char *name)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr; cpu++)
		if (table[cpu] != want[cpu])
			fail_msg("%s of CPU %u: %u, not %u", name, cpu,
				 table[cpu], want[cpu]);
}

/* CPU 2 and 7 are offline; CPU 4 is closed to processes, and online. */
static void offline_cpus_are_alone(void **state)
{
	static const unsigned int core[] = { 0, 0, 2, 3, 4, 4, 6, 7 };
	static const unsigned int wide[] = { 0, 0, 2, 0, 4, 4, 4, 7 };
	struct ilb_topology *t = load(OFFLINE);

	(void)state;
	assert_int_equal(t->nr_cpus, 8);
	assert_int_equal(t->online[0], 0x7b);
	expect_table(t->core, core, 8, "core");
	expect_table(t->llc, wide, 8, "llc");
	expect_table(t->node, wide, 8, "node");
	ilb_topology_free(t);
}

struct llc_case {
	const char *spec;
	unsigned int core[8], llc[8], node[8];
	int smt;
};

static const struct llc_case llcs[] = {
	/* Without a cache: the package. Without cores: each CPU is one. */
	{ "pack:2 pu:4", { 0, 1, 2, 3, 4, 5, 6, 7 },
	  { 0, 0, 0, 0, 4, 4, 4, 4 }, { 0 }, 0 },
	/* Without a package: the machine. */
	{ "pu:8", { 0, 1, 2, 3, 4, 5, 6, 7 }, { 0 }, { 0 }, 0 },
	/* No L3: L2 it is, here of two cores. */
	{ "pack:1 l2:2 l1:2 core:1 pu:2", { 0, 0, 2, 2, 4, 4, 6, 6 },
	  { 0, 0, 0, 0, 4, 4, 4, 4 }, { 0 }, 1 },
	/* A cache of each core's own is the last level, too. */
	{ "pack:1 core:4 l2:1 pu:2", { 0, 0, 2, 2, 4, 4, 6, 6 },
	  { 0, 0, 2, 2, 4, 4, 6, 6 }, { 0 }, 1 },
	/* Sub-NUMA clusters: an L3 over two nodes is cut. */
	{ "l3:1 group:2 [numa] core:2 pu:2", { 0, 0, 2, 2, 4, 4, 6, 6 },
	  { 0, 0, 0, 0, 4, 4, 4, 4 }, { 0, 0, 0, 0, 4, 4, 4, 4 }, 1 },
	/* Memory of the whole machine beside that of the packages. */
	{ "[numa] pack:2 [numa] l3:1 core:2 pu:2", { 0, 0, 2, 2, 4, 4, 6, 6 },
	  { 0, 0, 0, 0, 4, 4, 4, 4 }, { 0, 0, 0, 0, 4, 4, 4, 4 }, 1 },
	/* Two caches per node: a node of more than one cache. */
	{ "pack:1 [numa] l3:2 core:2 pu:2", { 0, 0, 2, 2, 4, 4, 6, 6 },
	  { 0, 0, 0, 0, 4, 4, 4, 4 }, { 0 }, 1 },
	/* SMT4, numbered across. */
	{ "pack:1 l3:1 core:2 pu:4(indexes=0,2,4,6,1,3,5,7)",
	  { 0, 1, 0, 1, 0, 1, 0, 1 }, { 0 }, { 0 }, 1 },
};

static void last_level_caches_and_nodes(void **state)
{
	struct ilb_topology *t;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(llcs); i++) {
		t = load(llcs[i].spec);
		assert_int_equal(t->nr_cpus, 8);
		expect_table(t->core, llcs[i].core, 8, llcs[i].spec);
		expect_table(t->llc, llcs[i].llc, 8, llcs[i].spec);
		expect_table(t->node, llcs[i].node, 8, llcs[i].spec);
		assert_int_equal(t->smt, llcs[i].smt);
		ilb_topology_free(t);
	}
}

static void holes_in_the_numbers(void **state)
{
	struct ilb_topology *t = load("core:2 pu:2(indexes=1,70,4,3)");

	(void)state;
	assert_int_equal(t->nr_cpus, 71);
	assert_int_equal(ilb_mask_weight(t->online, 71), 4);
	assert_int_equal(t->core[70], 1);
	assert_int_equal(t->sibling[70], 1);
	assert_int_equal(t->sibling[1], 70);
	assert_int_equal(t->core[4], 3);
	assert_int_equal(t->core[0], 0);
	ilb_topology_free(t);
}

static void restrict_renames_the_sets(void **state)
{
	static const unsigned int core[] = { 0, 1, 2, 2, 4, 5, 6, 7 };
	static const unsigned int wide[] = { 0, 1, 1, 1, 4, 5, 6, 6 };
	struct ilb_topology *t = load("pack:2 [numa] l3:1 core:2 pu:2");
	unsigned long online = 0xce;

	(void)state;
	ilb_topology_restrict(t, &online);
	assert_int_equal(ilb_topology_check(t, NULL), 0);
	assert_int_equal(t->online[0], 0xce);
	expect_table(t->core, core, 6, "core");
	expect_table(t->llc, wide, 8, "llc");
	expect_table(t->node, wide, 8, "node");
	assert_int_equal(t->smt, 1);
	online = 0x4a;
	ilb_topology_restrict(t, &online);
	assert_int_equal(ilb_topology_check(t, NULL), 0);
	assert_int_equal(t->smt, 0);
	ilb_topology_free(t);
}

/* The kernel says the same about this machine. */
static void self_is_as_sysfs_says(void **state)
{
	static const char root[] = "/sys/devices/system/cpu";
	unsigned long mask[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	struct ilb_topology *t = load("self");
	char path[128], *text;
	unsigned int cpu, first;

	(void)state;
	snprintf(path, sizeof(path), "%s/online", root);
	if (ilb_file_read(&text, NULL, path, 65536, NULL)) {
		print_message("# skipped: no sysfs\n");
		return;
	}
	assert_int_equal(ilb_cpulist_parse(text, mask, t->nr_cpus), 0);
	free(text);
	assert_true(ilb_mask_equal(mask, t->online, t->nr_cpus));
	ilb_for_each_cpu(cpu, t->online, t->nr_cpus) {
		snprintf(path, sizeof(path),
			 "%s/cpu%u/topology/thread_siblings_list", root, cpu);
		if (ilb_file_read(&text, NULL, path, 65536, NULL))
			continue;
		assert_int_equal(ilb_cpulist_parse(text, mask, t->nr_cpus), 0);
		free(text);
		first = ilb_mask_next(mask, t->nr_cpus, 0);
		assert_int_equal(t->core[cpu], first);
	}
	ilb_topology_free(t);
}

struct bad_case {
	const char *spec;
	int result;
	const char *says;
};

static const struct bad_case bad_specs[] = {
	{ "nowhere.xml", -ILB_ERR_NOENT, "nowhere.xml: no such file" },
	{ "pack:2 foo:3", -ILB_ERR_SYNTAX, "unknown object type at 'foo:3'" },
	{ "pack:2 l3:2", -ILB_ERR_SYNTAX, "non-PU type for last level" },
	{ "core:", -ILB_ERR_SYNTAX, "number of objects at ''" },
	{ "core:4x", -ILB_ERR_SYNTAX, "'core:4x': neither a file nor" },
	{ "", -ILB_ERR_NOENT, "topology '': no such file" },
	{ "core:2 pu:2(indexes=0,4,1,5)x", -ILB_ERR_SYNTAX, "type at 'x'" },
	{ "core:2 pu:4(indexes=0,4,1,5)", -ILB_ERR_SYNTAX, "Missing comma" },
	{ "core:8192 pu:2", -ILB_ERR_UNSUPPORTED, "more CPUs than 8192" },
	{ "core:99999999 pu:99999999999999999999", -ILB_ERR_UNSUPPORTED,
	  "more CPUs than 8192" },
	{ "pu:2(indexes=1,8192)", -ILB_ERR_UNSUPPORTED, "has a CPU 8192" },
	{ "/", -ILB_ERR_FORMAT, "/: is not a file" },
};

static void expect_failure(const struct bad_case *c, const char *spec)
{
	struct ilb_topology *t = NULL;
	struct ilb_error error = { "" };
	int result = ilb_topology_load(&t, spec, &error);

	if (result != c->result || !strstr(error.text, c->says))
		fail_msg("%s: %d, '%s'", spec, result, error.text);
	assert_null(t);
	assert_null(strchr(error.text, '\n'));
}

static void specs_that_are_refused(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad_specs); i++)
		expect_failure(&bad_specs[i], bad_specs[i].spec);
}

static char tmp[] = "/tmp/ilb-test-hwloc-XXXXXX";

static void write_tmp(const char *text, size_t size)
{
	FILE *f = fopen(tmp, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/* pin16.xml with @from replaced by @to, once. */
struct edit_case {
	const char *from, *to;
	struct bad_case want;
};

static const struct edit_case edits[] = {
	{ "<?xml", "<?yml", { "", -ILB_ERR_FORMAT, "not a topology" } },
	{ "<topology ", "<toplogy ", { "", -ILB_ERR_FORMAT,
	  "not a topology" } },
	{ "version=\"2.0\"", "version=\"9.0\"", { "", -ILB_ERR_UNSUPPORTED,
	  "written by hwloc 9" } },
	{ "type=\"Core\"", "type=\"Bore\"", { "", -ILB_ERR_FORMAT,
	  "unrecognized object type string Bore" } },
	{ "type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"0\"",
	  { "", -ILB_ERR_FORMAT, "has CPU 0 twice" } },
	{ "type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"77777\"",
	  { "", -ILB_ERR_UNSUPPORTED, "has a CPU 77777" } },
	{ "</object>", "", { "", -ILB_ERR_FORMAT, "hwloc" } },
};

static void xml_that_is_refused(void **state)
{
	char *text, *at, *edited;
	unsigned int i;
	size_t size;

	(void)state;
	assert_int_equal(ilb_file_read(&text, &size, PIN16, 1 << 20, NULL), 0);
	edited = malloc(size + 64);
	assert_non_null(edited);
	for (i = 0; i < ARRAY_SIZE(edits); i++) {
		at = strstr(text, edits[i].from);
		assert_non_null(at);
		snprintf(edited, size + 64, "%.*s%s%s", (int)(at - text), text,
			 edits[i].to, at + strlen(edits[i].from));
		write_tmp(edited, strlen(edited));
		expect_failure(&edits[i].want, tmp);
	}
	write_tmp(text, 3000);
	expect_failure(&edits[6].want, tmp);
	free(edited);
	free(text);
}

static void larger_than_its_limit(void **state)
{
	static const struct bad_case want = {
		"", -ILB_ERR_FORMAT, "larger than the 16384 KiB"
	};

	(void)state;
	assert_int_equal(truncate(tmp, (16 << 20) + 1), 0);
	expect_failure(&want, tmp);
}

static uint32_t rnd(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/*
 * Whatever is done to a file: an answer that holds its promises, or a line of
 * text. ILB_ROUNDS=2000 for more of them.
 */
static void mutations_never_hurt(void **state)
{
	unsigned int i, k, rounds = 60, good = 0, crashed = 0;
	const char *more = getenv("ILB_ROUNDS");
	struct ilb_topology *t;
	struct ilb_error error;
	char *text, *copy;
	uint32_t seed = 1;
	size_t size, n;
	int err;

	(void)state;
	if (more)
		rounds = (unsigned int)atoi(more);
	assert_int_equal(ilb_file_read(&text, &size, PIN16, 1 << 20, NULL), 0);
	copy = malloc(size);
	assert_non_null(copy);
	for (i = 0; i < rounds; i++) {
		memcpy(copy, text, size);
		n = rnd(&seed) % 4 ? size : rnd(&seed) % size;
		for (k = rnd(&seed) % 4; n && k < 4; k++)
			copy[rnd(&seed) % n] = rnd(&seed) % 8 ?
				(char)('0' + rnd(&seed) % 10) :
				(char)(1 + rnd(&seed) % 255);
		write_tmp(copy, n);
		error.text[0] = '\0';
		err = ilb_topology_load(&t, tmp, &error);
		if (err == -ILB_ERR_BUG || (err && !error.text[0]))
			fail_msg("round %u: %d '%s'", i, err, error.text);
		crashed += err && strstr(error.text, "crashes");
		good += !err;
		if (err)
			continue;
		assert_int_equal(ilb_topology_check(t, NULL), 0);
		ilb_topology_free(t);
	}
	print_message("# %u mutations: %u still good, %u crash hwloc\n",
		      rounds, good, crashed);
	assert_true(good && good < rounds);
	free(copy);
	free(text);
}

static int make_tmp(void **state)
{
	int fd = mkstemp(tmp);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_tmp(void **state)
{
	(void)state;
	return unlink(tmp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xml_of_the_captures),
		cmocka_unit_test(synthetic_numbers_siblings_adjacent),
		cmocka_unit_test(cores_alone_have_a_cpu_each),
		cmocka_unit_test(indexes_give_strided_rings),
		cmocka_unit_test(offline_cpus_are_alone),
		cmocka_unit_test(last_level_caches_and_nodes),
		cmocka_unit_test(holes_in_the_numbers),
		cmocka_unit_test(restrict_renames_the_sets),
		cmocka_unit_test(self_is_as_sysfs_says),
		cmocka_unit_test(specs_that_are_refused),
		cmocka_unit_test(xml_that_is_refused),
		cmocka_unit_test(larger_than_its_limit),
		cmocka_unit_test(mutations_never_hurt),
	};

	return cmocka_run_group_tests_name("hwloc", tests, make_tmp,
					   remove_tmp);
}
