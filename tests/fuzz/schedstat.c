// SPDX-License-Identifier: GPL-2.0-only
/* /proc/schedstat: a text against itself, or two with a '|' between them. */

#include <stdlib.h>
#include <string.h>

#include "ilb/error.h"
#include "ilb/measure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ilb_measures m;
	char *before = malloc(size + 1), *after;
	int result;

	if (!before)
		return 0;
	memcpy(before, data, size);
	before[size] = '\0';
	after = strchr(before, '|');
	if (after)
		*after++ = '\0';
	result = ilb_schedstat_diff(&m, before, after ? after : before, 250);
	if (result && result != -ILB_ERR_FORMAT &&
	    result != -ILB_ERR_UNSUPPORTED)
		abort();
	if (m.nr_domains > ILB_DOMAINS_MAX)
		abort();
	free(before);
	return 0;
}
