/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_SIM_RANDOM_H
#define ILB_SIM_RANDOM_H

#include <stdint.h>

/** struct ilb_random - a stream of numbers that a seed determines */
struct ilb_random {
	uint64_t state;
};

/**
 * ilb_random_next() - 64 bits
 *
 * A Weyl sequence and a finaliser (the splitmix64 construction): one addition
 * and two multiplications, any seed is a good one.
 */
static inline uint64_t ilb_random_next(struct ilb_random *random)
{
	uint64_t x = random->state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/** ilb_random_below() - 0 to @limit - 1; @limit below 2^32, and not 0 */
static inline uint32_t ilb_random_below(struct ilb_random *random,
					uint32_t limit)
{
	return (uint32_t)((ilb_random_next(random) >> 32) * limit >> 32);
}

#endif
