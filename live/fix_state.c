// SPDX-License-Identifier: GPL-2.0-only
/* The loaded module, by its parameters; and whether a machine needs it. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ilb/fix.h"
#include "live/live.h"
#include "trace/file.h"

#define MODULE		"/sys/module/ilb_fix"
#define SMALL_MAX	4096U

static int make_path(char *path, const char *root, const char *parameter)
{
	int n = snprintf(path, PATH_MAX, "%s" MODULE "/parameters/%s", root,
			 parameter);

	return n > 0 && n < PATH_MAX;
}

static int is_loaded(const char *root)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s" MODULE, root);

	return n > 0 && n < PATH_MAX && !access(path, F_OK);
}

/* The text of a parameter without its newline; free() it. */
static int read_text(char **text, const char *root, const char *parameter,
		     struct ilb_error *error)
{
	char path[PATH_MAX];
	int err;

	if (!make_path(path, root, parameter))
		return ilb_fail(error, ILB_ERR_IO, "%s: path too long", root);
	if (access(path, R_OK) && (errno == EACCES || errno == EPERM))
		return ilb_fail(error, ILB_ERR_PERM,
				"%s: only root may read it; run as root", path);
	err = ilb_file_read(text, NULL, path, SMALL_MAX, error);
	if (err == -ILB_ERR_NOENT)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: a module of that name without it, so not this ilb's; unload it: rmmod ilb_fix",
				path);
	if (!err)
		(*text)[strcspn(*text, "\n")] = '\0';
	return err;
}

static int read_switch(int *on, const char *root, const char *parameter,
		       struct ilb_error *error)
{
	char *text;
	int err = read_text(&text, root, parameter, error);

	if (err)
		return err;
	*on = !strcmp(text, "Y");
	if (!*on && strcmp(text, "N"))
		err = ilb_fail(error, ILB_ERR_FORMAT,
			       "ilb_fix: parameter %s is '%s', neither Y nor N; is it this ilb's module?",
			       parameter, text);
	free(text);
	return err;
}

static int take_counter(struct ilb_fix_state *state, const char *line)
{
	unsigned int i;
	size_t n;

	for (i = 0; i < ILB_FIX_COUNTERS; i++) {
		n = strlen(ilb_fix_counter_name(i));
		if (strncmp(line, ilb_fix_counter_name(i), n) ||
		    line[n] != ' ' || line[n + 1] < '0' || line[n + 1] > '9')
			continue;
		state->count[i] = strtoull(line + n + 1, NULL, 10);
		return 1;
	}
	return 0;
}

static int read_counters(struct ilb_fix_state *state, const char *root,
			 struct ilb_error *error)
{
	char path[PATH_MAX], *text, *line, *end;
	int err, found = 0;

	if (!make_path(path, root, "counters"))
		return ilb_fail(error, ILB_ERR_IO, "%s: path too long", root);
	err = ilb_file_read(&text, NULL, path, SMALL_MAX, error);
	if (err)
		return err;
	for (line = strtok_r(text, "\n", &end); line;
	     line = strtok_r(NULL, "\n", &end))
		found += take_counter(state, line);
	free(text);
	if (found == ILB_FIX_COUNTERS)
		return 0;
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: has %d of %d counters; is it this ilb's module?",
			path, found, ILB_FIX_COUNTERS);
}

static int read_repairs(struct ilb_fix_state *state, const char *root,
			struct ilb_error *error)
{
	int core = 0, full = 0, err;

	err = read_switch(&core, root, "idle_core", error);
	if (!err)
		err = read_switch(&full, root, "nohz_full", error);
	state->repairs = (core ? ILB_REPAIR_IDLE_CORE : 0U) |
			 (full ? ILB_REPAIR_NOHZ_FULL : 0U);
	return err;
}

int ilb_fix_read(struct ilb_fix_state *state, const char *root,
		 struct ilb_error *error)
{
	char *policy;
	int err;

	memset(state, 0, sizeof(*state));
	state->loaded = is_loaded(root);
	if (!state->loaded)
		return 0;
	err = read_repairs(state, root, error);
	if (!err)
		err = read_switch(&state->enabled, root, "enable", error);
	if (!err)
		err = read_switch(&state->dry_run, root, "dry_run", error);
	if (!err)
		err = read_text(&policy, root, "policy", error);
	if (err)
		return err;
	snprintf(state->policy, sizeof(state->policy), "%s", policy);
	free(policy);
	return read_counters(state, root, error);
}

int ilb_fix_write(const char *root, const char *parameter, const char *value,
		  struct ilb_error *error)
{
	char path[PATH_MAX];
	size_t length = strlen(value);
	ssize_t n;
	int fd, number;

	if (!make_path(path, root, parameter))
		return ilb_fail(error, ILB_ERR_IO, "%s: path too long", root);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : write(fd, value, length);
	number = errno;
	if (fd >= 0)
		close(fd);
	if (n == (ssize_t)length)
		return 0;
	if (number == EACCES || number == EPERM)
		return ilb_fail(error, ILB_ERR_PERM,
				"%s: only root may write it; run as root",
				path);
	if (number == ENOENT)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"ilb_fix: it is not loaded; ilb fix load");
	return ilb_fail(error, ILB_ERR_IO, "%s: cannot set it to '%s': %s; see dmesg",
			path, value, strerror(number));
}

int ilb_fix_restore(const struct ilb_fix_state *before, const char *root,
		    struct ilb_error *error)
{
	int err;

	if (!before->loaded)
		return ilb_module_unload(error);
	err = ilb_fix_write(root, "policy", before->policy, error);
	if (!err)
		err = ilb_fix_write(root, "dry_run",
				    before->dry_run ? "Y" : "N", error);
	if (!err)
		err = ilb_fix_write(root, "enable",
				    before->enabled ? "Y" : "N", error);
	return err;
}

/* ---- is it needed? ---- */

static void set(struct ilb_fix_need *need, enum ilb_answer answer,
		const char *text)
{
	need->answer = answer;
	snprintf(need->text, sizeof(need->text), "%s", text);
}

static void judge_idle_core(struct ilb_fix_need *need,
			    const struct ilb_check *check)
{
	const struct ilb_verdict *v = &check->verdict;
	int sure = v->certainty == ILB_CERTAINTY_RELEASE;

	if (check->smt.threads_max < 2)
		return set(need, ILB_ANSWER_NO, "no core has two CPUs online");
	if (!v->rule)
		return set(need, ILB_ANSWER_UNKNOWN,
			   "this kernel's rule is not known");
	if (!strcmp(v->rule, "lowest"))
		return set(need, ILB_ANSWER_YES, sure ?
			   "this kernel chooses the lowest idle CPU, on a busy core or not" :
			   "this kernel is taken for one that chooses the lowest idle CPU, on a busy core or not");
	if (sure)
		return set(need, ILB_ANSWER_NO,
			   "this kernel has the rule built in: it prefers fully idle cores by itself");
	set(need, ILB_ANSWER_UNKNOWN,
	    "this kernel may have the rule built in; the module looks");
}

static void judge_nohz_full(struct ilb_fix_need *need,
			    const struct ilb_facts *facts,
			    const struct ilb_check *check)
{
	if (facts->config_nohz_full == ILB_ANSWER_NO)
		return set(need, ILB_ANSWER_NO,
			   "this kernel was built without NO_HZ_FULL");
	if (!facts->nohz_full_known)
		return set(need, ILB_ANSWER_UNKNOWN,
			   "which CPUs have nohz_full is not known");
	if (ilb_mask_empty(check->site.nohz_full,
			   check->site.topology->nr_cpus))
		return set(need, ILB_ANSWER_NO, "no CPU has nohz_full");
	set(need, ILB_ANSWER_YES,
	    "a nohz_full CPU whose tick stopped under a task does not register when it goes idle");
}

void ilb_fix_judge_need(struct ilb_fix_need *need, enum ilb_repair repair,
			const struct ilb_facts *facts,
			const struct ilb_check *check)
{
	if (ilb_facts_lack_ilb(facts))
		set(need, ILB_ANSWER_NO,
		    "this kernel uses no idle load balancer");
	else if (repair == ILB_REPAIR_IDLE_CORE)
		judge_idle_core(need, check);
	else
		judge_nohz_full(need, facts, check);
}
