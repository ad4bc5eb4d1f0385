// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU lists, policy names and kernel command lines. What is read of a list is
 * written and read again.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ilb/mask.h"
#include "ilb/target.h"
#include "trace/bootline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CPUS	300U

static void read_bootline(const char *text)
{
	static struct ilb_bootline line;

	ilb_bootline_parse(&line, text, CPUS);
	if (ilb_mask_next(line.nohz, ILB_CPUS_MAX, CPUS) < ILB_CPUS_MAX ||
	    ilb_mask_next(line.domain, ILB_CPUS_MAX, CPUS) < ILB_CPUS_MAX ||
	    ilb_mask_next(line.nohz_full, ILB_CPUS_MAX, CPUS) < ILB_CPUS_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned long mask[ILB_MASK_WORDS(CPUS)], again[ILB_MASK_WORDS(CPUS)];
	struct ilb_policy policy;
	char text[4096];
	char *copy = malloc(size + 1);

	memcpy(copy, data, size);
	copy[size] = '\0';
	if (!ilb_cpulist_parse(copy, mask, CPUS)) {
		if (ilb_cpulist_print(text, sizeof(text), mask, CPUS) >=
		    sizeof(text))
			abort();
		if (ilb_cpulist_parse(text, again, CPUS) ||
		    !ilb_mask_equal(mask, again, CPUS))
			abort();
	}
	if (!ilb_policy_parse(&policy, copy, CPUS) &&
	    (!policy.rule || policy.start >= CPUS))
		abort();
	read_bootline(copy);
	free(copy);
	return 0;
}
