// SPDX-License-Identifier: GPL-2.0-only
/* Finding find_new_ilb() where it has no name. */

#include "core/env.h"
#include "kmod/site.h"

void ilb_site_look(struct ilb_site *site, const struct ilb_arch *arch,
		   const struct ilb_code *code,
		   const struct ilb_landmarks *marks)
{
	unsigned int asks = arch->calls(code, &marks->housekeeping_cpumask,
					&site->return_to);

	if (!asks)
		return;
	site->asks += asks;
	site->idle_tests += arch->calls(code, &marks->idle_cpu, NULL);
	site->walks += arch->calls(code, &marks->find_next_and_bit, NULL);
	site->masks += arch->calls(code, &marks->bitmap_and, NULL);
	site->nohz += arch->loads(code, marks->nohz);
}

enum ilb_site_verdict ilb_site_judge(const struct ilb_site *site)
{
	if (!site->asks)
		return ILB_SITE_NO_CALL;
	if (site->asks > 1)
		return ILB_SITE_NOT_UNIQUE;
	if (!site->nohz)
		return ILB_SITE_NO_NOHZ;
	if (site->masks)
		return ILB_SITE_BUILT_IN;
	if (site->idle_tests != 1 || !site->walks)
		return ILB_SITE_UNKNOWN;
	return ILB_SITE_FOUND;
}
