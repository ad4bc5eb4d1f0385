// SPDX-License-Identifier: GPL-2.0-only
/* "kernel" and "policy" of a scenario: what software the machine runs. */

#include <string.h>

#include "ilb/target.h"
#include "sim/scenario.h"

#define HZ_DEFAULT	250

static int find_row(struct ilb_input *j, const char *release,
		    struct ilb_sim_kernel *kernel)
{
	const struct ilb_behaviour *row;
	const char *names[16];
	unsigned int i;

	if (ilb_behaviour_find(release, &row) >= 0) {
		kernel->behaviour = *row;
		return 0;
	}
	for (i = 0; i < 15 && ilb_behaviours[i].name; i++)
		names[i] = ilb_behaviours[i].name;
	names[i] = NULL;
	return ilb_input_fail_at(j, "release", ILB_ERR_FORMAT,
		"there is no kernel '%s'; the nearest is \"%s\"", release,
		ilb_input_nearest(release, names));
}

static int set_feature(struct ilb_input *j, const char *text,
		       struct ilb_sim_kernel *kernel)
{
	int err = ilb_behaviour_set(&kernel->behaviour, text);

	/* A rule is kept by reference, and the text goes away. */
	if (!err && !strncmp(text, "target=", 7)) {
		snprintf(kernel->target, sizeof(kernel->target), "%s",
			 text + 7);
		kernel->behaviour.target = kernel->target;
	}
	if (!err)
		return 0;
	return ilb_input_fail_at(j, "features", (enum ilb_err)-err,
		"'%s' is no feature=value of the model; `ilb sim --list` has them",
		text);
}

static int read_features(struct ilb_input *j, const json_t *object,
			 struct ilb_sim_kernel *kernel)
{
	const json_t *array = json_object_get(object, "features");
	const json_t *item;
	size_t i;
	int err;

	if (array && !json_is_array(array))
		return ilb_input_fail_at(j, "features", ILB_ERR_FORMAT,
			"is not a list of \"feature=value\"");
	json_array_foreach(array, i, item) {
		if (!json_is_string(item))
			return ilb_input_fail_at(j, "features", ILB_ERR_FORMAT,
				"item %zu is not \"feature=value\"", i + 1);
		err = set_feature(j, json_string_value(item), kernel);
		if (err)
			return err;
	}
	return 0;
}

static int read_masks(struct ilb_input *j, const json_t *object,
		      struct ilb_sim_plan *plan)
{
	const struct ilb_topology *t = plan->machine.topology;
	struct ilb_sim_kernel *k = &plan->kernel;
	unsigned int nr = t->nr_cpus;
	int err, there = 0;

	err = ilb_input_cpus(j, object, "nohz_full", k->nohz_full, t->online,
			    nr, NULL);
	if (!err)
		err = ilb_input_cpus(j, object, "isolated", k->isolated,
				    t->online, nr, NULL);
	if (!err)
		err = ilb_input_cpus(j, object, "housekeeping",
				    k->housekeeping, t->online, nr, &there);
	if (err)
		return err;
	if (!there)
		ilb_behaviour_housekeeping(&k->behaviour, t->online,
					   k->nohz_full, NULL,
					   k->housekeeping, nr);
	if (!ilb_mask_empty(k->housekeeping, nr))
		return 0;
	return ilb_input_fail_at(j, "housekeeping", ILB_ERR_RANGE,
				"has no CPU; leave one at least");
}

static int read_object(struct ilb_input *j, const json_t *object,
		       struct ilb_sim_plan *plan)
{
	static const char *const keys[] = {
		"release", "features", "hz", "nohz_full", "isolated",
		"housekeeping", NULL
	};
	const char *release = NULL;
	int64_t hz = HZ_DEFAULT;
	int err;

	err = ilb_input_check_keys(j, object, keys);
	if (!err)
		err = ilb_input_string(j, object, "release", &release);
	if (!err && !release)
		err = ilb_input_fail(j, ILB_ERR_FORMAT,
			"has no \"release\"; say \"linux-6.12\" or so");
	if (!err)
		err = find_row(j, release, &plan->kernel);
	if (!err)
		err = read_features(j, object, &plan->kernel);
	if (!err)
		err = ilb_input_number(j, object, "hz", 24, 10000, &hz);
	plan->kernel.hz = (unsigned int)hz;
	return err ? err : read_masks(j, object, plan);
}

/* The rule may come from anywhere: here it has to be one. */
static int check_target(struct ilb_input *j, const json_t *root,
			struct ilb_sim_plan *plan)
{
	struct ilb_sim_kernel *k = &plan->kernel;
	struct ilb_policy policy;
	const char *names[32], *rule = NULL;
	unsigned int i;
	int err;

	err = ilb_input_string(j, root, "policy", &rule);
	if (err)
		return err;
	if (rule) {
		snprintf(k->target, sizeof(k->target), "%s", rule);
		k->behaviour.target = k->target;
	}
	err = ilb_policy_parse(&policy, k->behaviour.target,
			       plan->machine.topology->nr_cpus);
	if (!err)
		return 0;
	for (i = 0; i < 31 && ilb_rules[i].name; i++)
		names[i] = ilb_rules[i].name;
	names[i] = NULL;
	return ilb_input_fail_at(j, rule ? "policy" : "kernel",
		(enum ilb_err)-err, "there is no rule '%s' here; the nearest is \"%s\"",
		k->behaviour.target,
		ilb_input_nearest(k->behaviour.target, names));
}

int ilb_scenario_kernel(struct ilb_input *j, const json_t *root,
			struct ilb_sim_plan *plan)
{
	unsigned int words = ILB_MASK_WORDS(plan->machine.topology->nr_cpus);
	const json_t *kernel = json_object_get(root, "kernel");
	json_t *object;
	int err;

	plan->kernel.housekeeping = ilb_plan_alloc(plan, 3 * (size_t)words,
						   sizeof(unsigned long));
	if (!plan->kernel.housekeeping)
		return ilb_fail(j->error, ILB_ERR_NOMEM, "out of memory");
	plan->kernel.nohz_full = plan->kernel.housekeeping + words;
	plan->kernel.isolated = plan->kernel.nohz_full + words;
	if (json_is_string(kernel))
		object = json_pack("{s:s}", "release",
				   json_string_value(kernel));
	else
		object = json_is_object(kernel) ? json_incref((json_t *)kernel)
						: NULL;
	if (!object)
		return ilb_input_fail_at(j, "kernel", ILB_ERR_FORMAT,
			"is missing, or neither a name nor an object; say \"linux-6.12\" or so");
	ilb_input_enter(j, "kernel");
	err = read_object(j, object, plan);
	json_decref(object);
	if (err)
		return err;
	j->depth--;
	return check_target(j, root, plan);
}
