/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_INDEX_H
#define ILB_INDEX_H

#include "ilb/target.h"

/**
 * DOC: index - the idle-core choice without a scan
 *
 * A registry of idle CPUs that is ordered for one question: which is the
 * lowest registered CPU whose core is fully idle, and if there is none, the
 * lowest registered idle CPU? Its answer is that of the rule idle-core; its
 * time does not grow with the number of busy cores.
 *
 * Layout. CPUs are kept in blocks: those of one last-level cache whose ids
 * share a run of ILB_INDEX_SPAN ids. A block is a cache line, and only the
 * CPUs of its LLC write to it. Above the blocks is, for each of the two
 * questions, a tree of bitmaps: bit b of level 0 says that block b has a
 * candidate, bit w of the next level that word w of the one below is not
 * empty. Every word of a tree has a line of its own, and is written only when
 * a word below it becomes empty or stops being so.
 *
 * Events. Four, each of a CPU: it starts and stops running its idle task, and
 * it joins and leaves the set of those that may be chosen (the registry and
 * housekeeping). An event may be repeated; the second one does nothing. Events
 * of one CPU must not overlap each other; those of different CPUs may, and may
 * overlap any number of choices. No event waits for another (lock-free): it
 * starts a step again only after an event on the same core, or in the same
 * word, has changed what the step wrote down.
 *
 * What is exact. A CPU's own two bits, from the event's first write on.
 * Everything derived from them - that a core is whole, that a block or a word
 * has a candidate - is a function of them whenever no event is under way, and
 * otherwise wherever no event is under way that concerns it: those of the
 * core's own threads for the core, those of the block's CPUs for its bits.
 *
 * What may be stale. During an event, what is derived from its CPU, until the
 * event returns: a dozen instructions, with interrupts off in a kernel. And the
 * idle bit says that the idle task runs, while idle_cpu() is already false
 * once a wakeup is pending: stale until that CPU leaves its idle task.
 *
 * A candidate is tested as idle-core would test it, by ilb_idle() on it and on
 * its siblings, before it is returned; one that fails is passed over, for the
 * next. So staleness never returns a CPU that idle-core could not have
 * returned at the instant of these tests, but may pass over a core that is
 * becoming idle, as a scan does that has already passed it.
 *
 * Memory orders, of every access, are justified at the head of core/index.c;
 * tests/unit/index_order.c and index_race.c try them.
 */

#define ILB_INDEX_SPAN		(ILB_WORD_BITS / 2U)

struct ilb_index;

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_index_size() - bytes of memory that an index of @topology takes
 *
 * Some 400 for the machine, and 7 to 10 a CPU where LLCs own runs of ids;
 * 90 where every CPU has an LLC of its own.
 */
unsigned long ilb_index_size(const struct ilb_topology *topology);

/**
 * ilb_index_init() - make an index in @memory: every CPU busy, none registered
 * @memory: ilb_index_size() bytes, aligned for a pointer; the caller's
 * @topology: stays referenced, and must not change
 *
 * Returns the index; it lies in @memory and needs no end.
 */
struct ilb_index *ilb_index_init(void *memory,
				 const struct ilb_topology *topology);

/** ilb_index_enter_idle() - @cpu runs its idle task from now on. */
void ilb_index_enter_idle(struct ilb_index *index, unsigned int cpu);

/** ilb_index_exit_idle() - @cpu's idle task is about to be left. */
void ilb_index_exit_idle(struct ilb_index *index, unsigned int cpu);

/**
 * ilb_index_register() - @cpu may be chosen while it is idle
 *
 * For housekeeping CPUs that enter nohz.idle_cpus_mask. Others are never
 * registered here; they count as threads of their cores all the same.
 */
void ilb_index_register(struct ilb_index *index, unsigned int cpu);

/** ilb_index_unregister() - @cpu left nohz.idle_cpus_mask. */
void ilb_index_unregister(struct ilb_index *index, unsigned int cpu);

/**
 * ilb_index_sync() - the events that make the index that of @view
 *
 * For hosts that have masks instead of events: a CPU is idle if it is in
 * @view->idle, and registered if in @view->mask and @view->housekeeping. Takes
 * a step a block, and the events of the CPUs that changed; no other event may
 * be under way. User space only, as a view has no idle mask in the kernel.
 */
void ilb_index_sync(struct ilb_index *index, const struct ilb_view *view);

/**
 * ilb_index_choose() - the choice of idle-core
 * @view: for ilb_idle() only: no mask of it is read, nor its scratch
 *
 * With no event under way and an index that is up to date, cpu and fallback
 * are those of idle-core. looked_at counts the tests that were made here.
 */
struct ilb_choice ilb_index_choose(const struct ilb_index *index,
				   const struct ilb_view *view);

/**
 * ilb_index_empty() - is no registered CPU idle?
 *
 * The test before a kick, for which every registered CPU's idle bit or the
 * whole mask would have to be read otherwise. As stale as any other answer.
 */
int ilb_index_empty(const struct ilb_index *index);

/**
 * ilb_index_check() - does all that is derived follow from the CPUs' bits?
 *
 * For tests. Only without any event under way.
 *
 * Returns 0, or -ILB_ERR_BUG with *@cpu (may be NULL) set to the lowest CPU of
 * the first block that is wrong.
 */
int ilb_index_check(const struct ilb_index *index, unsigned int *cpu);

#ifdef __cplusplus
}
#endif
#endif
