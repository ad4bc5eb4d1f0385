// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU bitmaps over words that the caller owns, laid out as the kernel's
 * cpumask so that the module can hand over its own.
 */

#include "core/env.h"
#include "ilb/mask.h"

/* The valid bits of the word that holds CPU nr_cpus - 1. */
static unsigned long last_word_(unsigned int nr_cpus)
{
	unsigned int used = nr_cpus % ILB_WORD_BITS;

	return used ? (1UL << used) - 1UL : ~0UL;
}

void ilb_mask_zero(unsigned long *mask, unsigned int nr_cpus)
{
	memset(mask, 0, ILB_MASK_WORDS(nr_cpus) * sizeof(*mask));
}

void ilb_mask_fill(unsigned long *mask, unsigned int nr_cpus)
{
	unsigned int words = ILB_MASK_WORDS(nr_cpus);

	memset(mask, 0xff, words * sizeof(*mask));
	mask[words - 1] = last_word_(nr_cpus);
}

void ilb_mask_copy(unsigned long *dst, const unsigned long *src,
		   unsigned int nr_cpus)
{
	unsigned int i;

	for (i = 0; i < ILB_MASK_WORDS(nr_cpus); i++)
		dst[i] = src[i];
}

void ilb_mask_and(unsigned long *dst, const unsigned long *a,
		  const unsigned long *b, unsigned int nr_cpus)
{
	unsigned int i;

	for (i = 0; i < ILB_MASK_WORDS(nr_cpus); i++)
		dst[i] = a[i] & b[i];
}

void ilb_mask_or(unsigned long *dst, const unsigned long *a,
		 const unsigned long *b, unsigned int nr_cpus)
{
	unsigned int i;

	for (i = 0; i < ILB_MASK_WORDS(nr_cpus); i++)
		dst[i] = a[i] | b[i];
}

void ilb_mask_andnot(unsigned long *dst, const unsigned long *a,
		     const unsigned long *b, unsigned int nr_cpus)
{
	unsigned int i;

	for (i = 0; i < ILB_MASK_WORDS(nr_cpus); i++)
		dst[i] = a[i] & ~b[i];
}

int ilb_mask_empty(const unsigned long *mask, unsigned int nr_cpus)
{
	unsigned int i;

	for (i = 0; i < ILB_MASK_WORDS(nr_cpus); i++)
		if (mask[i])
			return 0;
	return 1;
}

int ilb_mask_equal(const unsigned long *a, const unsigned long *b,
		   unsigned int nr_cpus)
{
	unsigned int i;

	for (i = 0; i < ILB_MASK_WORDS(nr_cpus); i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

int ilb_mask_subset(const unsigned long *a, const unsigned long *b,
		    unsigned int nr_cpus)
{
	unsigned int i;

	for (i = 0; i < ILB_MASK_WORDS(nr_cpus); i++)
		if (a[i] & ~b[i])
			return 0;
	return 1;
}

/*
 * Not __builtin_popcountl(): without an instruction for it that becomes a
 * call into libgcc, which a freestanding build does not have.
 */
static unsigned int weight_(unsigned long word)
{
	unsigned int n = 0;

	for (; word; word &= word - 1)
		n++;
	return n;
}

unsigned int ilb_mask_weight(const unsigned long *mask, unsigned int nr_cpus)
{
	unsigned int i, n = 0;

	for (i = 0; i < ILB_MASK_WORDS(nr_cpus); i++)
		n += weight_(mask[i]);
	return n;
}

unsigned int ilb_mask_next_and(const unsigned long *a, const unsigned long *b,
			       unsigned int nr_cpus, unsigned int from)
{
	unsigned int i, words = ILB_MASK_WORDS(nr_cpus);
	unsigned long word;

	if (from >= nr_cpus)
		return nr_cpus;
	i = from / ILB_WORD_BITS;
	word = a[i] & b[i] & (~0UL << (from % ILB_WORD_BITS));
	while (!word) {
		if (++i == words)
			return nr_cpus;
		word = a[i] & b[i];
	}
	return i * ILB_WORD_BITS + (unsigned int)__builtin_ctzl(word);
}

unsigned int ilb_mask_next(const unsigned long *mask, unsigned int nr_cpus,
			   unsigned int from)
{
	return ilb_mask_next_and(mask, mask, nr_cpus, from);
}
