// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU lists as the kernel and taskset write them: "0-3,8", "0-10:2/4".
 */

#include "core/env.h"
#include "ilb/error.h"
#include "ilb/mask.h"

static int blank_(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* A number at *text; larger ones than any CPU stop growing, still > any. */
static int number_(const char **text, unsigned int *value)
{
	const char *p = *text;
	unsigned int n = 0;

	if (*p < '0' || *p > '9')
		return -ILB_ERR_SYNTAX;
	for (; *p >= '0' && *p <= '9'; p++)
		if (n <= ILB_CPUS_MAX)
			n = n * 10 + (unsigned int)(*p - '0');
	*text = p;
	*value = n;
	return 0;
}

struct range_ {
	unsigned int first, last, used, group;
};

/* "A", "A-B" or "A-B:USED/GROUP" at *text. */
static int range_(const char **text, struct range_ *range)
{
	if (number_(text, &range->first))
		return -ILB_ERR_SYNTAX;
	range->last = range->first;
	range->used = range->group = 1;
	if (**text != '-')
		return 0;
	++*text;
	if (number_(text, &range->last) || range->last < range->first)
		return -ILB_ERR_SYNTAX;
	if (**text != ':')
		return 0;
	++*text;
	if (number_(text, &range->used) || *(*text)++ != '/' ||
	    number_(text, &range->group))
		return -ILB_ERR_SYNTAX;
	if (!range->group || range->used > range->group || !range->used)
		return -ILB_ERR_SYNTAX;
	return 0;
}

int ilb_cpulist_parse(const char *text, unsigned long *mask,
		      unsigned int nr_cpus)
{
	struct range_ range;
	unsigned int cpu;
	int err;

	ilb_mask_zero(mask, nr_cpus);
	while (blank_(*text))
		text++;
	while (*text) {
		err = range_(&text, &range);
		if (err)
			return err;
		if (range.last >= nr_cpus)
			return -ILB_ERR_RANGE;
		for (cpu = range.first; cpu <= range.last; cpu++)
			if ((cpu - range.first) % range.group < range.used)
				ilb_mask_set(mask, cpu);
		if (*text == ',' && text[1] && !blank_(text[1])) {
			text++;
			continue;
		}
		while (blank_(*text))
			text++;
		if (*text)
			return -ILB_ERR_SYNTAX;
	}
	return 0;
}

struct out_ {
	char *text;
	unsigned int size, length;
};

static void put_(struct out_ *out, char c)
{
	if (out->length + 1 < out->size)
		out->text[out->length] = c;
	out->length++;
}

static void put_number_(struct out_ *out, unsigned int value)
{
	char digits[10];
	int n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n)
		put_(out, digits[--n]);
}

unsigned int ilb_cpulist_print(char *text, unsigned int size,
			       const unsigned long *mask,
			       unsigned int nr_cpus)
{
	struct out_ out = { text, size, 0 };
	unsigned int first, last;

	first = ilb_mask_next(mask, nr_cpus, 0);
	while (first < nr_cpus) {
		for (last = first; last + 1 < nr_cpus; last++)
			if (!ilb_mask_test(mask, last + 1))
				break;
		if (out.length)
			put_(&out, ',');
		put_number_(&out, first);
		if (last > first) {
			put_(&out, '-');
			put_number_(&out, last);
		}
		first = ilb_mask_next(mask, nr_cpus, last + 1);
	}
	if (size)
		text[out.length < size ? out.length : size - 1] = '\0';
	return out.length;
}
