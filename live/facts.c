// SPDX-License-Identifier: GPL-2.0-only
/* Facts of this machine, from what anybody may read in /proc and /sys. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "live/live.h"
#include "trace/bootline.h"
#include "trace/file.h"

#define SMALL_MAX	65536U	/* a line or a list */
#define LARGE_MAX	(4U << 20)	/* a configuration, a list of events */
#define HZ_MAX		10000

struct reader {
	struct ilb_facts *facts;
	const char *root;
	struct ilb_bootline boot;
};

/* Returns 0 if the path is too long to be one. */
static int make_path(const struct reader *r, char *path, const char *name)
{
	int n = snprintf(path, PATH_MAX, "%s%s", r->root, name);

	return n > 0 && n < PATH_MAX;
}

/* The text of a file, NULL if there is none to be had; free() it. */
static char *slurp(const struct reader *r, const char *name, size_t max)
{
	char path[PATH_MAX];
	char *text;

	if (!make_path(r, path, name) ||
	    ilb_file_read(&text, NULL, path, max, NULL))
		return NULL;
	return text;
}

static int exists(const struct reader *r, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return make_path(r, path, name) && !stat(path, &st);
}

/* The first line, fit for a terminal; "" if there is none. */
static void copy_line(char *to, size_t size, const char *from)
{
	size_t i;

	for (i = 0; from && from[i] && from[i] != '\n' && i < size - 1; i++)
		to[i] = (unsigned char)from[i] < 0x20 || from[i] == 0x7f ?
			'?' : from[i];
	to[i] = '\0';
}

static void read_line(const struct reader *r, char *to, size_t size,
		      const char *name)
{
	char *text = slurp(r, name, SMALL_MAX);

	copy_line(to, size, text);
	free(text);
}

/* Returns 1 if @name holds a whole number and nothing else. */
static int read_number(const struct reader *r, const char *name, long *value)
{
	char line[32], *end;

	read_line(r, line, sizeof(line), name);
	errno = 0;
	*value = strtol(line, &end, 10);
	return end != line && !*end && !errno;
}

/*
 * Returns 1 if @name holds a list of CPUs; "(null)" stands for none, padded to
 * as many columns as there are CPUs.
 */
static int read_list(const struct reader *r, const char *name,
		     unsigned long *mask)
{
	char *text = slurp(r, name, SMALL_MAX);
	int known = 0;

	if (text && !strncmp(text + strspn(text, " "), "(null)", 6))
		text[0] = '\0';
	if (text)
		known = !ilb_cpulist_parse(text, mask, ILB_CPUS_MAX);
	if (!known)
		ilb_mask_zero(mask, ILB_CPUS_MAX);
	free(text);
	return known;
}

/* ---- the command line ---- */

/* As the kernel's kstrtobool() reads it. */
static int is_off(const char *value)
{
	return *value == 'n' || *value == 'N' || *value == '0' ||
	       ((*value == 'o' || *value == 'O') &&
		(value[1] == 'f' || value[1] == 'F'));
}

/* The last nohz= counts; what follows "--" is not the kernel's. */
static enum ilb_answer find_nohz_off(const char *line)
{
	enum ilb_answer off = ILB_ANSWER_NO;
	size_t n;

	for (;;) {
		line += strspn(line, " \t\n");
		n = strcspn(line, " \t\n");
		if (!n || (n == 2 && !memcmp(line, "--", 2)))
			return off;
		if (n > 5 && !memcmp(line, "nohz=", 5))
			off = is_off(line + 5) ? ILB_ANSWER_YES :
						 ILB_ANSWER_NO;
		line += n;
	}
}

static unsigned int count_possible(const struct reader *r)
{
	unsigned long possible[ILB_WIDE_WORDS];
	unsigned int cpu, nr_cpus = ILB_CPUS_MAX;

	if (!read_list(r, "/sys/devices/system/cpu/possible", possible))
		return nr_cpus;
	ilb_for_each_cpu(cpu, possible, ILB_CPUS_MAX)
		nr_cpus = cpu + 1;
	return nr_cpus;
}

static int read_cmdline(struct reader *r)
{
	char *line = slurp(r, "/proc/cmdline", SMALL_MAX);

	memset(&r->boot, 0, sizeof(r->boot));
	if (!line)
		return 0;
	ilb_bootline_parse(&r->boot, line, count_possible(r));
	r->facts->nohz_off = find_nohz_off(line);
	free(line);
	return 1;
}

/* ---- CPUs that are set apart ---- */

static void read_cpus(struct reader *r)
{
	struct ilb_facts *f = r->facts;
	unsigned long set[ILB_WIDE_WORDS];
	int booted = read_cmdline(r);

	f->nohz_full_known = read_list(r, "/sys/devices/system/cpu/nohz_full",
				       f->nohz_full);
	/* A kernel that cannot do it does not have the file. */
	if (!f->nohz_full_known)
		f->nohz_full_known =
			exists(r, "/sys/devices/system/cpu/online") &&
			!exists(r, "/sys/devices/system/cpu/nohz_full");
	ilb_mask_andnot(f->nohz_only, r->boot.nohz, r->boot.nohz_full,
			ILB_CPUS_MAX);
	ilb_mask_and(f->nohz_only, f->nohz_only, f->nohz_full, ILB_CPUS_MAX);

	f->isolated_known = read_list(r, "/sys/devices/system/cpu/isolated",
				      f->isolated);
	if (!f->isolated_known) {
		ilb_mask_copy(f->isolated, r->boot.domain, ILB_CPUS_MAX);
		f->isolated_known = booted;
	}
	/* Partitions of cpusets have no domains either. */
	if (read_list(r, "/sys/fs/cgroup/cpuset.cpus.isolated", set))
		ilb_mask_or(f->isolated, f->isolated, set, ILB_CPUS_MAX);
}

/* ---- the configuration ---- */

/* The value of "KEY=", ended by a newline; NULL if there is none. */
static const char *find_option(const char *config, const char *key)
{
	size_t n = strlen(key);

	while (config) {
		if (!strncmp(config, key, n) && config[n] == '=')
			return config + n + 1;
		config = strchr(config, '\n');
		if (config)
			config++;
	}
	return NULL;
}

static enum ilb_answer has_option(const char *config, const char *key)
{
	const char *value = find_option(config, key);

	return value && *value == 'y' ? ILB_ANSWER_YES : ILB_ANSWER_NO;
}

static int is_release(const char *kernel)
{
	const char *c;

	for (c = kernel; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._+~-", *c))
			return 0;
	return c != kernel;
}

static void read_config(struct reader *r)
{
	struct ilb_facts *f = r->facts;
	char name[sizeof("/boot/config-") + sizeof(f->kernel)];
	const char *value;
	char *config;
	long hz;

	if (!is_release(f->kernel))
		return;
	snprintf(name, sizeof(name), "/boot/config-%s", f->kernel);
	config = slurp(r, name, LARGE_MAX);
	/* Something else under that name says nothing. */
	if (!config || !find_option(config, "CONFIG_HZ")) {
		free(config);
		return;
	}
	f->config_nohz = has_option(config, "CONFIG_NO_HZ_COMMON");
	f->config_smt = has_option(config, "CONFIG_SCHED_SMT");
	f->config_nohz_full = has_option(config, "CONFIG_NO_HZ_FULL");
	value = find_option(config, "CONFIG_HZ");
	hz = strtol(value, NULL, 10);
	if (hz >= 1 && hz <= HZ_MAX) {
		f->hz = (unsigned int)hz;
		f->hz_from = ILB_HZ_CONFIG;
	}
	free(config);
}

/* The coarse clock advances with the tick. */
static void ask_clock(struct ilb_facts *f)
{
	struct timespec t;

	if (f->hz || clock_getres(CLOCK_MONOTONIC_COARSE, &t) || t.tv_sec ||
	    t.tv_nsec < 1000000000L / HZ_MAX)
		return;
	f->hz = (unsigned int)((1000000000L + t.tv_nsec / 2) / t.tv_nsec);
	f->hz_from = ILB_HZ_CLOCK;
}

/* ---- what recording wants ---- */

static void read_events(struct ilb_facts *f, const char *events)
{
	static const char event[] = "csd:csd_queue_cpu";
	const size_t n = sizeof(event) - 1;
	const char *line = events;

	f->csd_events = ILB_ANSWER_NO;
	while (line) {
		if (!strncmp(line, event, n) &&
		    (line[n] == '\n' || !line[n]))
			f->csd_events = ILB_ANSWER_YES;
		line = strchr(line, '\n');
		if (line)
			line++;
	}
}

/* Returns 1 if tracefs is at @name, and sets what is known of it. */
static int try_tracefs(struct reader *r, const char *name)
{
	char path[PATH_MAX];
	char *events;
	int fd;

	if (!make_path(r, path, name))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && errno == EACCES && r->facts->tracefs <
	    ILB_TRACEFS_DENIED)
		r->facts->tracefs = ILB_TRACEFS_DENIED;
	if (fd < 0)
		return 0;
	close(fd);
	events = slurp(r, name, LARGE_MAX);
	if (!events)
		return 0;
	r->facts->tracefs = ILB_TRACEFS_READABLE;
	read_events(r->facts, events);
	free(events);
	return 1;
}

/* Is it mounted at its own place? debugfs, around the other, is closed. */
static void read_tracefs(struct reader *r)
{
	char *systems;

	if (try_tracefs(r, "/sys/kernel/tracing/available_events") ||
	    r->facts->tracefs == ILB_TRACEFS_DENIED)
		return;
	systems = slurp(r, "/proc/filesystems", SMALL_MAX);
	if (systems)
		r->facts->tracefs = strstr(systems, "\ttracefs\n") ?
			ILB_TRACEFS_UNMOUNTED : ILB_TRACEFS_UNSUPPORTED;
	free(systems);
	if (r->facts->tracefs == ILB_TRACEFS_UNMOUNTED)
		try_tracefs(r, "/sys/kernel/debug/tracing/available_events");
}

/* "none [integrity] confidentiality" */
static void read_lockdown(struct reader *r)
{
	char line[64], *open, *close;

	read_line(r, line, sizeof(line), "/sys/kernel/security/lockdown");
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!close)
		return;
	*close = '\0';
	copy_line(r->facts->lockdown, sizeof(r->facts->lockdown), open + 1);
}

static void read_caps(struct reader *r)
{
	static const char key[] = "\nCapEff:";
	char *text = slurp(r, "/proc/self/status", SMALL_MAX);
	char *line = text ? strstr(text, key) : NULL;
	char *end;

	if (line) {
		line += sizeof(key) - 1;
		line += strspn(line, " \t");
		errno = 0;
		r->facts->caps = strtoull(line, &end, 16);
		r->facts->caps_known = isxdigit((unsigned char)*line) &&
				       *end == '\n' && !errno;
	}
	free(text);
}

static void read_schedstats(struct reader *r)
{
	static const char name[] = "/proc/sys/kernel/sched_schedstats";
	struct ilb_facts *f = r->facts;
	long value;

	if (read_number(r, name, &value)) {
		f->schedstats_built_in = ILB_ANSWER_YES;
		f->schedstats = value ? ILB_ANSWER_YES : ILB_ANSWER_NO;
	} else if (exists(r, "/proc/sys/kernel/osrelease") &&
		   !exists(r, name)) {
		f->schedstats = f->schedstats_built_in = ILB_ANSWER_NO;
	}
}

static void read_recording(struct reader *r)
{
	struct ilb_facts *f = r->facts;
	char path[PATH_MAX];
	long value;

	if (make_path(r, path, "/proc/kallsyms"))
		ilb_symbols_read(f->symbols, path);
	read_line(r, f->smt_control, sizeof(f->smt_control),
		  "/sys/devices/system/cpu/smt/control");
	read_schedstats(r);
	read_tracefs(r);
	if (exists(r, "/sys/kernel/btf/vmlinux"))
		f->btf = ILB_ANSWER_YES;
	else if (exists(r, "/sys/kernel"))
		f->btf = ILB_ANSWER_NO;
	read_lockdown(r);
	if (read_number(r, "/proc/sys/kernel/perf_event_paranoid", &value) &&
	    value >= -1 && value <= 100)
		f->perf_paranoid = (int32_t)value;
	read_caps(r);
}

static void forget_kernel(struct ilb_facts *f)
{
	f->config_nohz = f->config_smt = f->config_nohz_full =
		ILB_ANSWER_UNKNOWN;
	memset(f->symbols, 0, sizeof(f->symbols));
}

void ilb_facts_gather(struct ilb_facts *facts, const char *root)
{
	struct reader r = { .facts = facts, .root = root };

	memset(facts, 0, sizeof(*facts));
	facts->this_machine = 1;
	facts->perf_paranoid = INT32_MAX;
	read_line(&r, facts->kernel, sizeof(facts->kernel),
		  "/proc/sys/kernel/osrelease");
	read_cpus(&r);
	read_config(&r);
	read_recording(&r);
	if (!*root)
		ask_clock(facts);
}

void ilb_facts_from_capture(struct ilb_facts *facts,
			    const struct ilb_capture *capture)
{
	const struct ilb_system *system = &capture->system;
	unsigned int nr_cpus = capture->topology.nr_cpus;

	memset(facts, 0, sizeof(*facts));
	facts->perf_paranoid = INT32_MAX;
	copy_line(facts->kernel, sizeof(facts->kernel), system->kernel);
	facts->hz = system->hz;
	facts->hz_from = system->hz ? ILB_HZ_CAPTURE : ILB_HZ_UNKNOWN;
	ilb_mask_copy(facts->nohz_full, system->nohz_full, nr_cpus);
	ilb_mask_copy(facts->isolated, system->isolated, nr_cpus);
	ilb_mask_copy(facts->housekeeping, system->housekeeping, nr_cpus);
	/* It is never empty: where it is not said, it was derived. */
	facts->housekeeping_known = 1;
	facts->nohz_full_known = system->cmdline[0] ||
		!ilb_mask_empty(facts->nohz_full, ILB_CPUS_MAX);
	facts->isolated_known = system->cmdline[0] ||
		!ilb_mask_empty(facts->isolated, ILB_CPUS_MAX);
	if (system->cmdline[0])
		facts->nohz_off = find_nohz_off(system->cmdline);
}

void ilb_facts_rename(struct ilb_facts *facts, const char *kernel)
{
	copy_line(facts->kernel, sizeof(facts->kernel), kernel);
	forget_kernel(facts);
}
