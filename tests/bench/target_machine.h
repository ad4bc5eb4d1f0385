/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TESTS_BENCH_TARGET_MACHINE_H
#define ILB_TESTS_BENCH_TARGET_MACHINE_H

#include "ilb/target.h"

#define BENCH_WORDS	ILB_MASK_WORDS(ILB_CPUS_MAX)

/**
 * struct bench_shape - a machine to measure on
 * @threads: of a core
 * @adjacent: 1: a core's threads follow each other; 0: thread t of core c is
 *	c + t * cores
 * @llc, @node: cores of each
 */
struct bench_shape {
	const char *name;
	unsigned int cores, threads;
	int adjacent;
	unsigned int llc, node;
};

/** struct bench_machine - the tables and one moment */
struct bench_machine {
	const struct bench_shape *shape;
	struct ilb_topology topology;
	struct ilb_view view;
	unsigned int core[ILB_CPUS_MAX], sibling[ILB_CPUS_MAX];
	unsigned int llc[ILB_CPUS_MAX], node[ILB_CPUS_MAX];
	unsigned long online[BENCH_WORDS], mask[BENCH_WORDS];
	unsigned long idle[BENCH_WORDS], scratch[BENCH_WORDS];
};

extern const struct bench_shape bench_shapes[];	/* ended by a NULL name */

/** enum bench_state - which CPUs are busy; CPU 0 kicks, so it is, always */
enum bench_state {
	BENCH_HALF_NODE,
	BENCH_HPC,
	BENCH_HPC_IN_MASK,
	BENCH_LAST_CORE,
	BENCH_ALL_IDLE,
	BENCH_RANDOM_10,
	BENCH_RANDOM_50,
	BENCH_RANDOM_90,
	BENCH_STATES,
};

extern const char *const bench_states[BENCH_STATES];

/** bench_build() - the machine of @shape, all idle. */
void bench_build(struct bench_machine *m, const struct bench_shape *shape);

/**
 * bench_set() - make the moment @state
 *
 * The mask is what it is a tick later: the idle CPUs. Only in
 * BENCH_HPC_IN_MASK are all CPUs in it, as where tasks run for less than a
 * tick.
 */
void bench_set(struct bench_machine *m, enum bench_state state);

/** bench_thread() - thread @t of core number @core. */
unsigned int bench_thread(const struct bench_shape *shape, unsigned int core,
			  unsigned int t);

#endif
