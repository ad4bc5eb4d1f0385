/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_UNIT_TEST_H
#define ILB_TESTS_UNIT_TEST_H

/* What cmocka needs in front of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/*
 * A test that cannot run here prints "# skipped: WHY" and returns: cmocka's
 * skip() is "not ok" in TAP, which its readers take for a failure.
 */

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif
