/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_CMD_CHECK_H
#define ILB_CMD_CHECK_H

/* ilb check: what its printers get. */

#include <stdio.h>

#include "ilb/check.h"

/**
 * struct ilb_check_report - all that is printed
 * @of: what the facts are of, for people: "this machine", "ilb.data"
 * @colour: 1: severities may be coloured
 */
struct ilb_check_report {
	const struct ilb_check *check;
	const struct ilb_facts *facts;
	const char *of;
	int colour;
};

/** ilb_check_print_text() - answers first, then evidence; 80 columns */
void ilb_check_print_text(FILE *out, const struct ilb_check_report *report);

/** ilb_check_print_json() - one object; 0, or -ILB_ERR_NOMEM */
int ilb_check_print_json(FILE *out, const struct ilb_check_report *report);

#endif
