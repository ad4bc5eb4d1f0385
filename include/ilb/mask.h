/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_MASK_H
#define ILB_MASK_H

/**
 * DOC: CPU masks
 *
 * A mask is an array of unsigned long that the caller owns: bit c of the
 * array is CPU c, in the layout of the kernel's cpumask_bits(). It holds
 * ILB_MASK_WORDS(nr_cpus) words; bits at and above nr_cpus in the last word
 * are zero, and every function here keeps them so. @nr_cpus is 1 to
 * ILB_CPUS_MAX. No function allocates. A pointer may not be NULL unless its
 * function says so; masks of one call may be the same array.
 */

#define ILB_CPUS_MAX		8192U
#define ILB_CPU_NONE		(~0U)	/* no CPU, or an unknown one */
#define ILB_WORD_BITS		(8U * (unsigned int)sizeof(unsigned long))
#define ILB_MASK_WORDS(nr)	(((nr) + ILB_WORD_BITS - 1U) / ILB_WORD_BITS)

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_mask_test() - 1 if CPU @cpu is in @mask, else 0. @cpu < nr_cpus. */
static inline int ilb_mask_test(const unsigned long *mask, unsigned int cpu)
{
	return (mask[cpu / ILB_WORD_BITS] >> (cpu % ILB_WORD_BITS)) & 1UL;
}

/** ilb_mask_set() - put @cpu into @mask. @cpu < nr_cpus. */
static inline void ilb_mask_set(unsigned long *mask, unsigned int cpu)
{
	mask[cpu / ILB_WORD_BITS] |= 1UL << (cpu % ILB_WORD_BITS);
}

/** ilb_mask_clear() - take @cpu out of @mask. @cpu < nr_cpus. */
static inline void ilb_mask_clear(unsigned long *mask, unsigned int cpu)
{
	mask[cpu / ILB_WORD_BITS] &= ~(1UL << (cpu % ILB_WORD_BITS));
}

/** ilb_mask_zero() - make @mask empty. */
void ilb_mask_zero(unsigned long *mask, unsigned int nr_cpus);

/** ilb_mask_fill() - put CPUs 0 to @nr_cpus - 1 into @mask. */
void ilb_mask_fill(unsigned long *mask, unsigned int nr_cpus);

/** ilb_mask_copy() - @dst becomes @src. */
void ilb_mask_copy(unsigned long *dst, const unsigned long *src,
		   unsigned int nr_cpus);

/** ilb_mask_and() - @dst becomes the CPUs that are in @a and in @b. */
void ilb_mask_and(unsigned long *dst, const unsigned long *a,
		  const unsigned long *b, unsigned int nr_cpus);

/** ilb_mask_or() - @dst becomes the CPUs that are in @a or in @b. */
void ilb_mask_or(unsigned long *dst, const unsigned long *a,
		 const unsigned long *b, unsigned int nr_cpus);

/** ilb_mask_andnot() - @dst becomes the CPUs of @a that are not in @b. */
void ilb_mask_andnot(unsigned long *dst, const unsigned long *a,
		     const unsigned long *b, unsigned int nr_cpus);

/** ilb_mask_empty() - 1 if @mask has no CPU. */
int ilb_mask_empty(const unsigned long *mask, unsigned int nr_cpus);

/** ilb_mask_equal() - 1 if @a and @b hold the same CPUs. */
int ilb_mask_equal(const unsigned long *a, const unsigned long *b,
		   unsigned int nr_cpus);

/** ilb_mask_subset() - 1 if every CPU of @a is in @b. */
int ilb_mask_subset(const unsigned long *a, const unsigned long *b,
		    unsigned int nr_cpus);

/** ilb_mask_weight() - the number of CPUs in @mask. */
unsigned int ilb_mask_weight(const unsigned long *mask, unsigned int nr_cpus);

/**
 * ilb_mask_next() - the lowest CPU of @mask that is at least @from
 *
 * Returns the CPU, or a value >= @nr_cpus if there is none (also when @from
 * is not below @nr_cpus). ilb_for_each_cpu() is the loop over it.
 */
unsigned int ilb_mask_next(const unsigned long *mask, unsigned int nr_cpus,
			   unsigned int from);

/** ilb_mask_next_and() - as ilb_mask_next(), of CPUs in @a and in @b. */
unsigned int ilb_mask_next_and(const unsigned long *a, const unsigned long *b,
			       unsigned int nr_cpus, unsigned int from);

#define ilb_for_each_cpu(cpu, mask, nr)					\
	for ((cpu) = ilb_mask_next((mask), (nr), 0); (cpu) < (nr);	\
	     (cpu) = ilb_mask_next((mask), (nr), (cpu) + 1))

/**
 * ilb_cpulist_parse() - read a CPU list such as "0-3,8,10-15"
 * @text: the list; blanks and a newline at its end are allowed, "" is the
 *        empty set. NUL-terminated.
 * @mask: filled; its content is undefined after an error
 * @nr_cpus: CPUs that @mask has room for
 *
 * Also reads the kernel's "0-10:2/4" (the first 2 of each 4).
 *
 * Returns 0; -ILB_ERR_SYNTAX if @text is not a list or a range runs
 * backwards; -ILB_ERR_RANGE if it names a CPU >= @nr_cpus.
 */
int ilb_cpulist_parse(const char *text, unsigned long *mask,
		      unsigned int nr_cpus);

/**
 * ilb_cpulist_print() - write @mask as a list ("0-3,8"; "" when empty)
 * @text: buffer of @size bytes; always NUL-terminated if @size is not 0
 *
 * Returns the length of the whole list without its NUL; a value >= @size
 * means that @text was cut there (as snprintf() counts).
 */
unsigned int ilb_cpulist_print(char *text, unsigned int size,
			       const unsigned long *mask,
			       unsigned int nr_cpus);

#ifdef __cplusplus
}
#endif
#endif
