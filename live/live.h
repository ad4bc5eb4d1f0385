/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_LIVE_LIVE_H
#define ILB_LIVE_LIVE_H

/* Inside of live/: what its files share. */

#include "ilb/check.h"

/**
 * ilb_symbols_read() - which names of enum ilb_symbol a kernel has
 * @symbols: ILB_SYMBOLS answers, filled
 * @path: a file as /proc/kallsyms
 *
 * All are unknown if the file cannot be read or has no name. Names of data
 * are absent, too, where the kernel does not list them (CONFIG_KALLSYMS_ALL).
 */
void ilb_symbols_read(enum ilb_answer *symbols, const char *path);

/** ilb_facts_lack_ilb() - 1 if this kernel has, or uses, no ILB at all. */
int ilb_facts_lack_ilb(const struct ilb_facts *facts);

/**
 * ilb_findings_check() - fill check->findings; all else is filled
 *
 * Gravest first; what cannot be judged comes last.
 */
void ilb_findings_check(struct ilb_check *check,
			const struct ilb_facts *facts);

#endif
