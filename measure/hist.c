// SPDX-License-Identifier: GPL-2.0-only
/*
 * Durations in fixed memory. A cell is a power of two's sixteenth: values
 * below 16 have one each, above them the four bits after the leading one
 * choose it.
 */

#include "ilb/hist.h"

#define PER_OCTAVE	16U
#define OCTAVE_BITS	4U

static unsigned int top_bit(uint64_t value)
{
	return 63U - (unsigned int)__builtin_clzll(value);
}

static unsigned int cell_of(uint64_t ns)
{
	unsigned int shift;

	if (ns < PER_OCTAVE)
		return (unsigned int)ns;
	shift = top_bit(ns) - OCTAVE_BITS;
	return (shift + 1) * PER_OCTAVE +
	       (unsigned int)((ns >> shift) % PER_OCTAVE);
}

static uint64_t middle_of(unsigned int cell)
{
	unsigned int shift;
	uint64_t low;

	if (cell < PER_OCTAVE)
		return cell;
	shift = cell / PER_OCTAVE - 1;
	low = (uint64_t)(PER_OCTAVE + cell % PER_OCTAVE) << shift;
	return low + ((1ULL << shift) >> 1);
}

static unsigned int log2_of(uint64_t ns)
{
	uint64_t us = ns / 1000;
	unsigned int bucket = us ? top_bit(us) + 1 : 0;

	return bucket < ILB_HIST_LOG2 ? bucket : ILB_HIST_LOG2 - 1;
}

static void add_saturated(uint64_t *counter, uint64_t value)
{
	if (__builtin_add_overflow(*counter, value, counter))
		*counter = UINT64_MAX;
}

void ilb_hist_add(struct ilb_hist *hist, uint64_t ns)
{
	uint32_t *cell = &hist->cell[cell_of(ns)];

	add_saturated(&hist->count, 1);
	add_saturated(&hist->sum_ns, ns);
	add_saturated(&hist->log2_us[log2_of(ns)], 1);
	if (*cell < UINT32_MAX)
		++*cell;
	if (ns > hist->max_ns)
		hist->max_ns = ns;
}

/*
 * By the cells' own sum, not by count: where cells are saturated the two
 * differ, and the walk must end inside the array.
 */
static uint64_t in_cells(const struct ilb_hist *hist)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < ILB_HIST_CELLS; i++)
		sum += hist->cell[i];
	return sum;
}

uint64_t ilb_hist_percentile(const struct ilb_hist *hist, unsigned int percent)
{
	uint64_t rank, seen = 0, value;
	unsigned int i;

	if (percent >= 100)
		return hist->max_ns;
	rank = (in_cells(hist) * percent + 99) / 100;
	if (!rank)
		rank = 1;
	for (i = 0; i < ILB_HIST_CELLS; i++) {
		seen += hist->cell[i];
		if (seen < rank)
			continue;
		value = middle_of(i);
		return value < hist->max_ns ? value : hist->max_ns;
	}
	return 0;
}
