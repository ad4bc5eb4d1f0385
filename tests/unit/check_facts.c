// SPDX-License-Identifier: GPL-2.0-only
/* Facts from trees that look like /proc and /sys, good and hostile ones. */

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define RELEASE	"6.12.95+deb12-cloud-amd64"

static char root[64];

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/ilb-facts-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int unlink_one(const char *path, const struct stat *st, int flag,
		      struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int remove_root(void **state)
{
	(void)state;
	return nftw(root, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_path(char *path, const char *name)
{
	char *slash;

	snprintf(path, PATH_MAX, "%s%s", root, name);
	for (slash = path + strlen(root) + 1; (slash = strchr(slash, '/'));
	     slash++) {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			fail_msg("%s: %s", path, strerror(errno));
		*slash = '/';
	}
}

static void put_bytes(const char *name, const char *text, size_t n)
{
	char path[PATH_MAX];
	FILE *file;

	make_path(path, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

static void put_good_cpus(void)
{
	put("/proc/sys/kernel/osrelease", RELEASE "\n");
	put("/proc/cmdline",
	    "quiet nohz_full=1-3 isolcpus=nohz,domain,5 nohz=on\n");
	put("/sys/devices/system/cpu/online", "0-7\n");
	put("/sys/devices/system/cpu/possible", "0-7\n");
	put("/sys/devices/system/cpu/nohz_full", "1-3,5\n");
	put("/sys/devices/system/cpu/isolated", "5\n");
	put("/sys/fs/cgroup/cpuset.cpus.isolated", "6\n");
	put("/sys/devices/system/cpu/smt/control", "on\n");
}

static void put_good_kernel(void)
{
	put("/boot/config-" RELEASE,
	    "#\nCONFIG_NO_HZ_COMMON=y\n# CONFIG_NO_HZ_FULL is not set\n"
	    "CONFIG_HZ_250=y\nCONFIG_HZ=250\nCONFIG_SCHED_SMT=y\n");
	put("/proc/kallsyms",
	    "0000000000000000 T sched_balance_trigger\n"
	    "0000000000000000 T nohz_balance_enter_idle\n"
	    "0000000000000000 T __pfx_register_kprobe\n"
	    "0000000000000000 T __traceiter_csd_queue_cpu\n"
	    "0000000000000000 d nohz\n"
	    "0000000000000000 t trigger_load_balance\t[some_module]\n"
	    "0000000000000000 t register_kprobe");
	put("/proc/sys/kernel/sched_schedstats", "1\n");
	put("/proc/sys/kernel/perf_event_paranoid", "2\n");
	put("/proc/filesystems", "nodev\tproc\nnodev\ttracefs\n\text4\n");
	put("/sys/kernel/tracing/available_events",
	    "csd:csd_queue_cpu2\ncsd:csd_queue_cpu\nsched:sched_switch\n");
	put("/sys/kernel/btf/vmlinux", "x");
	put("/sys/kernel/security/lockdown",
	    "none [integrity] confidentiality\n");
	put("/proc/self/status",
	    "Name:\tx\nCapPrm:\tffffffffffffffff\nCapEff:\t0000004000000004\n"
	    "CapBnd:\t0\n");
}

static void a_good_tree(void **state)
{
	struct ilb_facts f;

	(void)state;
	put_good_cpus();
	put_good_kernel();
	ilb_facts_gather(&f, root);
	assert_string_equal(f.kernel, RELEASE);
	expect_list(f.nohz_full, "1-3,5", "nohz_full");
	expect_list(f.nohz_only, "5", "nohz_only");
	expect_list(f.isolated, "5-6", "isolated");
	assert_int_equal(f.nohz_full_known & f.isolated_known, 1);
	assert_int_equal(f.housekeeping_known, 0);
	assert_int_equal(f.nohz_off, ILB_ANSWER_NO);
	assert_int_equal(f.hz, 250);
	assert_int_equal(f.hz_from, ILB_HZ_CONFIG);
	assert_int_equal(f.config_nohz, ILB_ANSWER_YES);
	assert_int_equal(f.config_smt, ILB_ANSWER_YES);
	assert_int_equal(f.config_nohz_full, ILB_ANSWER_NO);
	assert_string_equal(f.smt_control, "on");
	assert_int_equal(f.schedstats, ILB_ANSWER_YES);
	assert_int_equal(f.tracefs, ILB_TRACEFS_READABLE);
	assert_int_equal(f.csd_events, ILB_ANSWER_YES);
	assert_int_equal(f.btf, ILB_ANSWER_YES);
	assert_string_equal(f.lockdown, "integrity");
	assert_int_equal(f.perf_paranoid, 2);
	assert_int_equal(f.caps_known, 1);
	assert_true(f.caps == 0x4000000004ULL);
}

/* Booted without nohz_full: none, and that is known. */
static void nobody_has_nohz_full(void **state)
{
	struct ilb_facts f;

	(void)state;
	put_good_cpus();
	put("/sys/devices/system/cpu/nohz_full", "          (null)\n");
	ilb_facts_gather(&f, root);
	assert_int_equal(f.nohz_full_known, 1);
	assert_true(ilb_mask_empty(f.nohz_full, ILB_CPUS_MAX));
}

static void names_of_a_good_tree(void **state)
{
	struct ilb_facts f;

	(void)state;
	put_good_kernel();
	ilb_facts_gather(&f, root);
	assert_int_equal(f.symbols[ILB_SYMBOL_TRIGGER], ILB_ANSWER_YES);
	assert_int_equal(f.symbols[ILB_SYMBOL_ENTER_IDLE], ILB_ANSWER_YES);
	assert_int_equal(f.symbols[ILB_SYMBOL_CSD_QUEUE], ILB_ANSWER_YES);
	assert_int_equal(f.symbols[ILB_SYMBOL_NOHZ], ILB_ANSWER_YES);
	/* A module's; one of another name; a line that is not whole. */
	assert_int_equal(f.symbols[ILB_SYMBOL_TRIGGER_OLD], ILB_ANSWER_NO);
	assert_int_equal(f.symbols[ILB_SYMBOL_KPROBE], ILB_ANSWER_NO);
	assert_int_equal(f.symbols[ILB_SYMBOL_BALANCE_SHARED], ILB_ANSWER_NO);
}

/* isolcpus=nohz CPUs may run the ILB up to 6.12, and may not from 7.2 on. */
static void who_can_be_the_ilb(void **state)
{
	struct machine m;

	(void)state;
	put_good_cpus();
	start_machine(&m, 8);
	link_machine(&m);
	ilb_facts_gather(&m.facts, root);
	judge(&m, RELEASE, NULL);
	expect_list(m.check.site.housekeeping, "0,4-7", "housekeeping");
	expect_list(m.check.site.candidates, "4,7", "candidates");
	judge(&m, "7.3.4", NULL);
	expect_list(m.check.site.housekeeping, "0,4,6-7", "housekeeping");
	assert_int_equal(m.check.site.timekeeper, 0);
}

static void an_empty_tree_knows_nothing(void **state)
{
	struct ilb_facts f, none;
	struct ilb_need needs[ILB_NEEDED_COUNT];
	unsigned int i;

	(void)state;
	memset(&none, 0, sizeof(none));
	none.this_machine = 1;
	none.perf_paranoid = INT32_MAX;
	ilb_facts_gather(&f, root);
	assert_memory_equal(&f, &none, sizeof(f));
	ilb_needs_judge(needs, &f);
	for (i = 0; i < ILB_NEEDED_COUNT; i++) {
		assert_int_equal(needs[i].available, ILB_ANSWER_UNKNOWN);
		assert_non_null(needs[i].remedy);
	}
}

struct hostile_case {
	const char *name, *text;
};

static const struct hostile_case hostiles[] = {
	{ "/proc/sys/kernel/osrelease", "../../../../etc/passwd\n" },
	{ "/proc/sys/kernel/osrelease", "6.12\033[2J\n" },
	{ "/sys/devices/system/cpu/nohz_full", "0-99999999999\n" },
	{ "/sys/devices/system/cpu/nohz_full", "3-1" },
	{ "/sys/devices/system/cpu/isolated", "1,,2\n" },
	{ "/sys/devices/system/cpu/possible", "banana\n" },
	{ "/sys/devices/system/cpu/smt/control",
	  "a-control-word-that-is-longer-than-any-kernel-writes\n" },
	{ "/proc/sys/kernel/sched_schedstats", "1x\n" },
	{ "/proc/sys/kernel/perf_event_paranoid", "99999999999999999999\n" },
	{ "/sys/kernel/security/lockdown", "[" },
	{ "/sys/kernel/security/lockdown", "]none[\n" },
	{ "/proc/self/status", "\nCapEff:" },
	{ "/proc/self/status", "\nCapEff:\t-1\n" },
	{ "/proc/self/status", "\nCapEff:\tfffffffffffffffff\n" },
	{ "/proc/kallsyms", "\n\n \n  \n   \nx t\n0 t \n" },
	{ "/sys/kernel/tracing/available_events", "" },
	{ "/proc/cmdline", "nohz= nohz_full= isolcpus= -- nohz=off" },
};

/* Nothing is believed of what is damaged, and nothing else is lost. */
static void hostile_content_is_unknown(void **state)
{
	const struct hostile_case *c;
	struct ilb_facts f;

	(void)state;
	for (c = hostiles; c < hostiles + ARRAY_SIZE(hostiles); c++)
		put(c->name, c->text);
	put("/boot/config-x", "CONFIG_HZ=250\n");
	ilb_facts_gather(&f, root);
	assert_string_equal(f.kernel, "6.12?[2J");
	assert_int_equal(f.hz, 0);
	assert_true(ilb_mask_empty(f.nohz_full, ILB_CPUS_MAX));
	assert_int_equal(f.nohz_full_known, 0);
	assert_true(ilb_mask_empty(f.isolated, ILB_CPUS_MAX));
	assert_int_equal(strlen(f.smt_control), sizeof(f.smt_control) - 1);
	assert_int_equal(f.schedstats, ILB_ANSWER_UNKNOWN);
	assert_int_equal(f.perf_paranoid, INT32_MAX);
	assert_string_equal(f.lockdown, "");
	assert_int_equal(f.caps_known, 0);
	assert_int_equal(f.symbols[ILB_SYMBOL_NOHZ], ILB_ANSWER_UNKNOWN);
	assert_int_equal(f.nohz_off, ILB_ANSWER_NO);
	assert_int_equal(f.csd_events, ILB_ANSWER_NO);
}

/* A release is a part of a path: no way out of /boot. */
static void a_release_is_no_path(void **state)
{
	struct ilb_facts f;

	(void)state;
	put("/boot/config-x/y", "CONFIG_HZ=250\n");
	put("/secret", "CONFIG_HZ=250\nCONFIG_NO_HZ_COMMON=y\n");
	put("/proc/sys/kernel/osrelease", "x/../../secret\n");
	ilb_facts_gather(&f, root);
	assert_int_equal(f.hz, 0);
	assert_int_equal(f.config_nohz, ILB_ANSWER_UNKNOWN);
}

static void odd_files_do_not_stop_it(void **state)
{
	static const char *const names[] = {
		"/proc/kallsyms", "/proc/cmdline",
		"/sys/kernel/tracing/available_events",
		"/sys/devices/system/cpu/nohz_full",
	};
	char path[PATH_MAX];
	struct ilb_facts f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		make_path(path, names[i]);
		assert_int_equal(i % 2 ? mkdir(path, 0755) :
					 mkfifo(path, 0644), 0);
	}
	put("/sys/devices/system/cpu/online", "0\n");
	ilb_facts_gather(&f, root);
	assert_int_equal(f.symbols[ILB_SYMBOL_NOHZ], ILB_ANSWER_UNKNOWN);
	assert_int_equal(f.nohz_full_known, 0);
	assert_int_not_equal(f.tracefs, ILB_TRACEFS_READABLE);
	put_bytes("/proc/sys/kernel/osrelease", "6.1\0evil", 8);
	ilb_facts_gather(&f, root);
	assert_string_equal(f.kernel, "");
}

/* A line longer than the buffer, and names on both sides of its edges. */
static void long_lists_of_names(void **state)
{
	static const char line[] = "0000000000000000 t some_function\n";
	static const char wanted[] = "0 T nohz_balance_enter_idle\n";
	const size_t size = 400000;
	char *text = malloc(size + 64);
	struct ilb_facts f;
	size_t n, at;

	(void)state;
	assert_non_null(text);
	for (at = 65500; at < 65570; at++) {
		for (n = 0; n + sizeof(line) < size; n += sizeof(line) - 1)
			memcpy(text + n, line, sizeof(line) - 1);
		/* Blanks that belong to no name, so that it starts at @at. */
		memset(text + at - 40, '\n', 40);
		memcpy(text + at, wanted, sizeof(wanted) - 1);
		put_bytes("/proc/kallsyms", text, n);
		ilb_facts_gather(&f, root);
		assert_int_equal(f.symbols[ILB_SYMBOL_ENTER_IDLE],
				 ILB_ANSWER_YES);
	}
	memset(text, 'x', size);
	memcpy(text + size, "\n0 T nohz_balance_enter_idle\n", 29);
	put_bytes("/proc/kallsyms", text, size + 29);
	ilb_facts_gather(&f, root);
	assert_int_equal(f.symbols[ILB_SYMBOL_ENTER_IDLE], ILB_ANSWER_YES);
	free(text);
}

struct boot_case {
	const char *line;
	enum ilb_answer off;
};

static const struct boot_case boots[] = {
	{ "nohz=off", ILB_ANSWER_YES },
	{ "a nohz=0\n", ILB_ANSWER_YES },
	{ "nohz=n b", ILB_ANSWER_YES },
	{ "nohz=off nohz=on", ILB_ANSWER_NO },
	{ "xnohz=off", ILB_ANSWER_NO },
	{ "nohz_full=1 -- nohz=off", ILB_ANSWER_NO },
	{ "", ILB_ANSWER_NO },
};

static void nohz_on_the_command_line(void **state)
{
	const struct boot_case *c;
	struct machine m;

	(void)state;
	start_machine(&m, 2);
	link_machine(&m);
	for (c = boots; c < boots + ARRAY_SIZE(boots); c++) {
		put("/proc/cmdline", c->line);
		ilb_facts_gather(&m.facts, root);
		if (m.facts.nohz_off != c->off)
			fail_msg("%s: %d", c->line, (int)m.facts.nohz_off);
		judge(&m, "6.12", "0");
		assert_int_equal(!!find(&m, "no-ilb"),
				 c->off == ILB_ANSWER_YES);
		assert_int_equal(m.check.aim.target,
				 c->off == ILB_ANSWER_YES ? ILB_CPU_NONE : 1);
	}
}

static void tracefs_in_its_states(void **state)
{
	struct ilb_need needs[ILB_NEEDED_COUNT];
	struct ilb_facts f;

	(void)state;
	put("/proc/filesystems", "nodev\tproc\n");
	ilb_facts_gather(&f, root);
	assert_int_equal(f.tracefs, ILB_TRACEFS_UNSUPPORTED);
	put("/proc/filesystems", "nodev\ttracefs\n");
	ilb_facts_gather(&f, root);
	assert_int_equal(f.tracefs, ILB_TRACEFS_UNMOUNTED);
	ilb_needs_judge(needs, &f);
	assert_non_null(strstr(needs[ILB_NEEDED_TRACEFS].remedy,
			       "mount -t tracefs"));
	put("/sys/kernel/debug/tracing/available_events", "a:b\n");
	ilb_facts_gather(&f, root);
	assert_int_equal(f.tracefs, ILB_TRACEFS_READABLE);
	assert_int_equal(f.csd_events, ILB_ANSWER_NO);
}

#define test(name)	cmocka_unit_test_setup_teardown(name, make_root, \
							remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_good_tree),
		test(nobody_has_nohz_full),
		test(names_of_a_good_tree),
		test(who_can_be_the_ilb),
		test(an_empty_tree_knows_nothing),
		test(hostile_content_is_unknown),
		test(a_release_is_no_path),
		test(odd_files_do_not_stop_it),
		test(long_lists_of_names),
		test(nohz_on_the_command_line),
		test(tracefs_in_its_states),
	};

	return cmocka_run_group_tests_name("check_facts", tests, NULL, NULL);
}
