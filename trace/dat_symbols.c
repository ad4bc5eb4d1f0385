// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel functions whose addresses mean something in a trace.
 *
 * A trace.dat holds all of /proc/kallsyms, and libtracecmd has libtraceevent
 * keep every name: some 100,000, which took half of the time of a report on
 * 1.5 million events. A handful is needed. So the call that libtracecmd makes
 * for it is answered here: the linker takes a program's own definition before
 * a library's. If it ever did not, nothing would change but the time.
 */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "trace/dat.h"

static const struct {
	const char *name;
	enum ilb_dat_function function;
} known[] = {
	{ "nohz_csd_func", ILB_DAT_NOHZ_CSD },
	{ "sched_ttwu_pending", ILB_DAT_TTWU },
	{ "tick_nohz_handler", ILB_DAT_TICK },	/* 6.10 and later */
	{ "tick_sched_timer", ILB_DAT_TICK },	/* before */
};

#define NR_KNOWN	(sizeof(known) / sizeof(known[0]))

/* Compilers add suffixes to names of static functions: .isra.0, .llvm.123 */
static int is_named(const char *name, size_t length, const char *function)
{
	size_t n = strlen(function);

	return length >= n && !memcmp(name, function, n) &&
	       (length == n || name[n] == '.');
}

static enum ilb_dat_function find_name(const char *name, size_t length)
{
	unsigned int i;

	for (i = 0; i < NR_KNOWN; i++)
		if (is_named(name, length, known[i].name))
			return known[i].function;
	return ILB_DAT_OTHER;
}

/*
 * One line: "ffffffff81000000 T name", perhaps with a module behind it.
 * Returns 1 if it has the address of a known function; kernel.kptr_restrict
 * makes all of them 0.
 */
static int read_line(struct tep_handle *tep, const char *line, size_t length)
{
	const char *blank = memchr(line, ' ', length), *name;
	unsigned long long address;
	char copy[64];
	size_t n;

	if (!blank || blank - line + 3 >= (ptrdiff_t)length)
		return 0;
	name = blank + 3;
	/* Nearly all lines end here. */
	if (*name != 'n' && *name != 's' && *name != 't')
		return 0;
	n = strcspn(name, " \t\n");
	if (n >= sizeof(copy) || find_name(name, n) == ILB_DAT_OTHER)
		return 0;
	address = strtoull(line, NULL, 16);
	if (!address)
		return 0;
	memcpy(copy, name, n);
	copy[n] = '\0';
	tep_register_function(tep, copy, address, NULL);
	return 1;
}

/*
 * libtraceevent's, for libtracecmd. Addresses that are none of the known
 * functions still have a name, "other", if the file has names at all.
 */
int tep_parse_kallsyms(struct tep_handle *tep, const char *kallsyms)
{
	const char *line = kallsyms, *end;
	char other[] = "other";
	int found = 0;

	for (; (end = strchr(line, '\n')); line = end + 1)
		found |= read_line(tep, line, (size_t)(end - line));
	if (!found)
		return 0;
	tep_register_function(tep, other, 1, NULL);
	tep_register_function(tep, other, ~0ULL - 1, NULL);
	return 0;
}

enum ilb_dat_function ilb_dat_symbols_find(struct tep_handle *tep,
					   uint64_t address)
{
	const char *name = tep_find_function(tep, address);

	if (!name)
		return ILB_DAT_UNKNOWN;
	if (tep_find_function_address(tep, address) != address)
		return ILB_DAT_OTHER;
	return find_name(name, strlen(name));
}
