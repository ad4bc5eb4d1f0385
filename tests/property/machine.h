/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_PROPERTY_MACHINE_H
#define ILB_TESTS_PROPERTY_MACHINE_H

/*
 * Random machines and moments, from a seed alone. Everything is kept twice:
 * in the plain form that the oracle reads (labels, member lists, a byte per
 * CPU), and in the form that the library takes (tables of lowest CPUs, rings,
 * bitmaps). Both are made here, without the library's help.
 */

#include <stdint.h>

#include "ilb/target.h"

#define MACHINE_CPUS	ILB_CPUS_MAX
#define MACHINE_WORDS	ILB_MASK_WORDS(MACHINE_CPUS)

/**
 * struct machine - who shares what with whom
 * @core_of, @llc_of, @node_of: labels; equal labels share. The labels of
 *	cores are below 2 * MACHINE_CPUS, an offline CPU's are its own alone
 * @members, @members_start: the CPUs of core label l, ascending, are
 *	members[members_start[l]] up to but not including
 *	members[members_start[l + 1]]
 */
struct machine {
	unsigned int nr;
	unsigned int core_of[MACHINE_CPUS];
	unsigned int llc_of[MACHINE_CPUS];
	unsigned int node_of[MACHINE_CPUS];
	unsigned char online[MACHINE_CPUS];
	unsigned int members[MACHINE_CPUS];
	unsigned int members_start[2 * MACHINE_CPUS + 1];
	int smt;

	unsigned int core[MACHINE_CPUS], sibling[MACHINE_CPUS];
	unsigned int llc[MACHINE_CPUS], node[MACHINE_CPUS];
	unsigned long online_words[MACHINE_WORDS];
	struct ilb_topology topology;
};

/** struct moment - what is known when a CPU is to be chosen */
struct moment {
	unsigned int kicker;
	unsigned char mask[MACHINE_CPUS];
	unsigned char housekeeping[MACHINE_CPUS];
	unsigned char idle[MACHINE_CPUS];

	unsigned long mask_words[MACHINE_WORDS];
	unsigned long housekeeping_words[MACHINE_WORDS];
	unsigned long idle_words[MACHINE_WORDS];
	unsigned long scratch[MACHINE_WORDS + 1];
	struct ilb_view view;
};

/* The word behind the scratch mask, which no rule may touch. */
#define SCRATCH_GUARD	0x5aa5c33cUL

/** rng() - the next random number; xorshift64*, never seeded with 0. */
static inline uint64_t rng(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/** below() - a random number below @n, which is not 0. */
static inline unsigned int below(uint64_t *state, unsigned int n)
{
	return (unsigned int)((rng(state) >> 32) % n);
}

/** machine_make() - a random machine. */
void machine_make(struct machine *machine, uint64_t *state);

/** moment_make() - a random moment on @machine. */
void moment_make(struct moment *moment, const struct machine *machine,
		 uint64_t *state);

#endif
