// SPDX-License-Identifier: GPL-2.0-only
/* Scenario files, and each of their variants, to plans. */

#include <stdlib.h>
#include <string.h>

#include "ilb/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void plan_one(const struct ilb_scenario *s, const char *variant)
{
	struct ilb_sim_plan *plan;
	struct ilb_error error;

	if (!ilb_scenario_plan(s, variant, &plan, &error))
		ilb_sim_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ilb_scenario *s;
	struct ilb_error error;
	const char *variant;
	unsigned int i;
	char *text;

	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!ilb_scenario_parse(&s, "fuzz.json", text, NULL, &error)) {
		plan_one(s, NULL);
		for (i = 0; (variant = ilb_scenario_variant(s, i)) && i < 4;
		     i++)
			plan_one(s, variant);
		ilb_scenario_free(s);
	}
	free(text);
	return 0;
}
