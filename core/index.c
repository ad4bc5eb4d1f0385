// SPDX-License-Identifier: GPL-2.0-only
/*
 * The idle-core choice of Linux 7.3 out of an index of idle CPUs.
 *
 * No kernel has it. It keeps the two facts that find_new_ilb() asks each CPU
 * for, and what follows from them, where the question needs them: at the
 * lowest CPU that is a candidate.
 *
 * Memory orders. Three kinds of word are shared: a block's state (each CPU's
 * own two bits, which its events alone change), what is derived from states (a
 * block's whole, level 0 of a tree), and what is derived from the derived (the
 * levels above). Every write to any of them is a fully ordered
 * read-modify-write, and every decision is taken on loads that come after one
 * and are not moved before it. Two cases use that:
 *
 *  1. Who says it? An event writes its bit, then looks at its siblings' bits.
 *     When the last two threads of a core go idle at once, or one of them
 *     registers meanwhile, both write before they look, so at least one of
 *     them sees a whole core, and says so (store buffering: release and
 *     acquire would allow both to see the past).
 *     A CPU that stops being idle looks at what was said of its core instead
 *     of its siblings: when two stop at once, each could think that the other
 *     had ended the whole core before. What is said after it looked, was said
 *     by someone who looks again: case 2.
 *
 *  2. Does it still hold? Whoever says something, or finds it said already,
 *     looks again at what it was derived from, until the two agree; and
 *     whoever changes what something is derived from looks, after changing it,
 *     at whether something is to be said anew. Take the last change of what a
 *     bit is derived from. Whoever made it says what follows, or finds it
 *     said. Whoever writes to the bit after that looks again after writing, so
 *     sees this change, and says what follows from it too: the bit is true of
 *     the last change, which is the index's promise. Whether a word became
 *     empty or stopped being so is told by the value that the write itself
 *     returned: exactly one writer sees each transition, and goes up.
 *
 * A choice only loads, in whatever order: it tests what it found.
 *
 * All accesses to shared words, by function, and what each relies on:
 *
 *	raise, lower	fetch_add of state: an event begins here; full, so that
 *			it comes before all loads below (1). The load before
 *			it is of the CPU's own bit, which no one else writes
 *	core_is_idle	loads of siblings' state, after a fetch of the event
 *			(1), and again after each write of whole (2)
 *	core_is_marked	loads of whole, after lower's fetch (1)
 *	wanted		load of state, after core_is_idle: not older than what
 *			that loaded, as both come after the same fetch (2)
 *	set_bits	load, then fetch_or, of whole or a tree's word. Found
 *			said already, nothing is written: whoever unsays it
 *			later does so by a fetch, and looks again after that (2)
 *	clear_bits	load, then fetch_and, of the same; likewise
 *	candidates,	loads of what a word above is derived from, before and
 *	has_candidates	after that word is written or found right (2)
 *	next_block	loads of the trees, by choices and ilb_index_empty():
 *			no order, each may be stale
 *	sync_block, ilb_index_check()'s functions
 *			plain reads, by callers that know of no event under
 *			way
 *
 * ilb_fetch_*() and ilb_load() are sequentially consistent in C11's terms (in
 * the kernel: value-returning atomics, and READ_ONCE() beside them). Nothing
 * weaker is used: 1 is store buffering, which acquire and release allow.
 */

#include "core/env.h"
#include "ilb/error.h"
#include "ilb/index.h"

/*
 * The choice looks for one kind, then for the other: with one copy for both,
 * a quarter of its time is calls. Compilers do not do it when merely asked to.
 */
#define ALWAYS_INLINE	inline __attribute__((always_inline))

#define LINE		64U
#define LEVELS		3U	/* of bitmaps; enough for a block per CPU */

#define IDLE(bit)	(bit)
#define REGISTERED(bit)	((bit) << ILB_INDEX_SPAN)
#define IDLE_BITS	((1UL << ILB_INDEX_SPAN) - 1UL)

/* What is looked for: registered CPUs of whole cores, registered idle CPUs. */
enum kind { WHOLE, FREE, KINDS };

/* Bit p of each half of state, and of whole, is the CPU base + p. */
struct block {
	unsigned long state;
	unsigned long whole;
} __attribute__((aligned(LINE)));

/* What never changes stands apart from what bounces. */
struct extent {
	unsigned int base;
	unsigned int first;	/* lowest CPU; ascends with the blocks */
	unsigned long members;
};

struct line {
	unsigned long word;
} __attribute__((aligned(LINE)));

struct ilb_index {
	const struct ilb_topology *topology;
	unsigned int nr_blocks;
	unsigned int levels;
	unsigned int nr_words[LEVELS];
	struct line *tree[KINDS][LEVELS];
	struct block *blocks;
	struct extent *extents;
	unsigned int *block_of;		/* per CPU */
};

static unsigned int words(unsigned int bits)
{
	return (bits + ILB_WORD_BITS - 1U) / ILB_WORD_BITS;
}

/* The lowest CPU that is in one block with @cpu; at most @cpu. */
static unsigned int first_of_block(const struct ilb_topology *topology,
				   unsigned int cpu)
{
	unsigned int other = cpu - cpu % ILB_INDEX_SPAN;

	while (topology->llc[other] != topology->llc[cpu])
		other++;
	return other;
}

static unsigned int count_blocks(const struct ilb_topology *topology)
{
	unsigned int cpu, n = 0;

	for (cpu = 0; cpu < topology->nr_cpus; cpu++)
		n += first_of_block(topology, cpu) == cpu;
	return n;
}

/* The number of lines of one tree over @n blocks, and its levels. */
static unsigned int count_lines(unsigned int n, unsigned int *levels)
{
	unsigned int lines = 0;

	*levels = 0;
	do {
		n = words(n);
		lines += n;
		++*levels;
	} while (n > 1);
	return lines;
}

static unsigned long aligned(unsigned long size)
{
	return (size + LINE - 1UL) & ~(LINE - 1UL);
}

unsigned long ilb_index_size(const struct ilb_topology *topology)
{
	unsigned int n = count_blocks(topology), levels;

	return LINE - 1 + aligned(sizeof(struct ilb_index)) +
	       KINDS * count_lines(n, &levels) * sizeof(struct line) +
	       n * (sizeof(struct block) + sizeof(struct extent)) +
	       topology->nr_cpus * sizeof(unsigned int);
}

static void fill_extents(struct ilb_index *index)
{
	const struct ilb_topology *topology = index->topology;
	struct extent *extent;
	unsigned int cpu, first, n = 0;

	for (cpu = 0; cpu < topology->nr_cpus; cpu++) {
		first = first_of_block(topology, cpu);
		if (first == cpu) {
			extent = &index->extents[n];
			extent->base = cpu - cpu % ILB_INDEX_SPAN;
			extent->first = cpu;
			index->block_of[cpu] = n++;
		}
		index->block_of[cpu] = index->block_of[first];
		index->extents[index->block_of[cpu]].members |=
			1UL << (cpu % ILB_INDEX_SPAN);
	}
}

struct ilb_index *ilb_index_init(void *memory,
				 const struct ilb_topology *topology)
{
	unsigned long at = aligned((unsigned long)memory);
	struct ilb_index *index = (struct ilb_index *)at;
	unsigned int kind, level, n;

	memset(memory, 0, ilb_index_size(topology));
	index->topology = topology;
	index->nr_blocks = count_blocks(topology);
	count_lines(index->nr_blocks, &index->levels);
	at += aligned(sizeof(*index));
	for (kind = 0; kind < KINDS; kind++) {
		n = index->nr_blocks;
		for (level = 0; level < index->levels; level++) {
			n = words(n);
			index->nr_words[level] = n;
			index->tree[kind][level] = (struct line *)at;
			at += n * sizeof(struct line);
		}
	}
	index->blocks = (struct block *)at;
	at += index->nr_blocks * sizeof(struct block);
	index->extents = (struct extent *)at;
	at += index->nr_blocks * sizeof(struct extent);
	index->block_of = (unsigned int *)at;
	fill_extents(index);
	return index;
}

static unsigned long free_bits(unsigned long state)
{
	return state & state >> ILB_INDEX_SPAN & IDLE_BITS;
}

static unsigned long candidates(const struct ilb_index *index, enum kind kind,
				unsigned int block)
{
	const struct block *b = &index->blocks[block];

	return kind == WHOLE ? ilb_load(&b->whole)
			     : free_bits(ilb_load(&b->state));
}

/* What the bit @entry of @level of a tree has to say. */
static int has_candidates(const struct ilb_index *index, enum kind kind,
			  unsigned int level, unsigned int entry)
{
	if (!level)
		return candidates(index, kind, entry) != 0;
	return ilb_load(&index->tree[kind][level - 1][entry].word) != 0;
}

/* Returns 1 if @word stopped being empty. What is said already costs a load. */
static int set_bits(unsigned long *word, unsigned long bits)
{
	return (ilb_load(word) & bits) != bits && !ilb_fetch_or(word, bits);
}

/* Returns 1 if @word became empty. */
static int clear_bits(unsigned long *word, unsigned long bits)
{
	unsigned long old;

	if (!(ilb_load(word) & bits))
		return 0;
	old = ilb_fetch_and(word, ~bits);
	return old && !(old & ~bits);
}

/* Say whether @block has candidates, and upward as far as that tells. */
static void settle_tree(struct ilb_index *index, enum kind kind,
			unsigned int block)
{
	unsigned int level, entry = block;
	unsigned long *word, bit;
	int has, turned;

	for (level = 0; level < index->levels; level++) {
		word = &index->tree[kind][level][entry / ILB_WORD_BITS].word;
		bit = 1UL << (entry % ILB_WORD_BITS);
		turned = 0;
		do {
			has = has_candidates(index, kind, level, entry);
			turned |= has ? set_bits(word, bit)
				      : clear_bits(word, bit);
		} while (has_candidates(index, kind, level, entry) != has);
		if (!turned)
			return;
		entry /= ILB_WORD_BITS;
	}
}

static unsigned long bit_of(unsigned int cpu)
{
	return 1UL << (cpu % ILB_INDEX_SPAN);
}

/*
 * The threads of @first's core that follow each other in one block, from
 * *@thread on, which goes to the next, or back to @first after the last.
 */
static unsigned long piece(const struct ilb_index *index, unsigned int first,
			   unsigned int *thread)
{
	unsigned int block = index->block_of[*thread];
	unsigned long bits = 0;

	do {
		bits |= bit_of(*thread);
		*thread = index->topology->sibling[*thread];
	} while (*thread != first && index->block_of[*thread] == block);
	return bits;
}

/* Do all threads of @first's core run their idle task? */
static int core_is_idle(const struct ilb_index *index, unsigned int first)
{
	unsigned int thread = first;
	const struct block *b;
	unsigned long bits;

	do {
		b = &index->blocks[index->block_of[thread]];
		bits = IDLE(piece(index, first, &thread));
		if ((ilb_load(&b->state) & bits) != bits)
			return 0;
	} while (thread != first);
	return 1;
}

/* Is it said of some thread of @first's core that the core is whole? */
static int core_is_marked(const struct ilb_index *index, unsigned int first)
{
	unsigned int thread = first;
	const struct block *b;

	do {
		b = &index->blocks[index->block_of[thread]];
		if (ilb_load(&b->whole) & piece(index, first, &thread))
			return 1;
	} while (thread != first);
	return 0;
}

/* Of the threads @bits in @block: those to be marked. */
static unsigned long wanted(const struct ilb_index *index, unsigned int first,
			    unsigned int block, unsigned long bits)
{
	unsigned long state;

	if (!core_is_idle(index, first))
		return 0;
	state = ilb_load(&index->blocks[block].state);
	return state >> ILB_INDEX_SPAN & bits;
}

static void settle_core(struct ilb_index *index, unsigned int first)
{
	unsigned int block, thread = first;
	unsigned long bits, want, *whole;
	int turned;

	do {
		block = index->block_of[thread];
		bits = piece(index, first, &thread);
		whole = &index->blocks[block].whole;
		turned = 0;
		do {
			want = wanted(index, first, block, bits);
			turned |= set_bits(whole, want);
			turned |= clear_bits(whole, bits & ~want);
		} while (wanted(index, first, block, bits) != want);
		if (turned)
			settle_tree(index, WHOLE, block);
	} while (thread != first);
}

/* One of @cpu's two bits appears; the other events of @cpu are over. */
static void raise(struct ilb_index *index, unsigned int cpu, unsigned long bit)
{
	unsigned int block = index->block_of[cpu];
	unsigned int first = index->topology->core[cpu];
	unsigned long *state = &index->blocks[block].state;
	unsigned long old;

	if (ilb_load(state) & bit)
		return;
	old = ilb_fetch_add(state, bit);
	if (!free_bits(old) && free_bits(old | bit))
		settle_tree(index, FREE, block);
	if (index->topology->smt && core_is_idle(index, first))
		settle_core(index, first);
}

static void lower(struct ilb_index *index, unsigned int cpu, unsigned long bit)
{
	unsigned int block = index->block_of[cpu];
	unsigned int first = index->topology->core[cpu];
	unsigned long *state = &index->blocks[block].state;
	unsigned long old;

	if (!(ilb_load(state) & bit))
		return;
	old = ilb_fetch_add(state, 0UL - bit);
	if (free_bits(old) && !free_bits(old & ~bit))
		settle_tree(index, FREE, block);
	if (index->topology->smt && core_is_marked(index, first))
		settle_core(index, first);
}

void ilb_index_enter_idle(struct ilb_index *index, unsigned int cpu)
{
	raise(index, cpu, IDLE(bit_of(cpu)));
}

void ilb_index_exit_idle(struct ilb_index *index, unsigned int cpu)
{
	lower(index, cpu, IDLE(bit_of(cpu)));
}

void ilb_index_register(struct ilb_index *index, unsigned int cpu)
{
	raise(index, cpu, REGISTERED(bit_of(cpu)));
}

void ilb_index_unregister(struct ilb_index *index, unsigned int cpu)
{
	lower(index, cpu, REGISTERED(bit_of(cpu)));
}

/* The ILB_INDEX_SPAN bits of @mask from CPU @base on. */
static unsigned long bits_at(const unsigned long *mask, unsigned int base)
{
	return mask[base / ILB_WORD_BITS] >> (base % ILB_WORD_BITS) &
	       IDLE_BITS;
}

static void sync_block(struct ilb_index *index, unsigned int block,
		       unsigned long state)
{
	unsigned int base = index->extents[block].base;
	unsigned long changed = index->blocks[block].state ^ state;
	unsigned long bit;
	unsigned int n, cpu;

	for (; changed; changed &= changed - 1) {
		n = (unsigned int)__builtin_ctzl(changed);
		bit = 1UL << n;
		cpu = base + n % ILB_INDEX_SPAN;
		if (state & bit)
			raise(index, cpu, bit);
		else
			lower(index, cpu, bit);
	}
}

void ilb_index_sync(struct ilb_index *index, const struct ilb_view *view)
{
	const struct extent *extent = index->extents;
	unsigned long idle, registered;
	unsigned int block;

	for (block = 0; block < index->nr_blocks; block++, extent++) {
		idle = bits_at(view->idle, extent->base) & extent->members;
		registered = bits_at(view->mask, extent->base) &
			     bits_at(view->housekeeping, extent->base) &
			     extent->members;
		sync_block(index, block, IDLE(idle) | REGISTERED(registered));
	}
}

/*
 * The lowest block at or after @from with candidates, or ILB_CPU_NONE: up to
 * a level that has something further on, and down from there. An upper bit
 * whose word turns out to be empty is stale, and the way goes up again.
 */
static ALWAYS_INLINE unsigned int
next_block(const struct ilb_index *index, enum kind kind, unsigned int from)
{
	unsigned int at, level = 0;
	unsigned long word;

	while (level < index->levels) {
		at = from / ILB_WORD_BITS;
		if (at >= index->nr_words[level])
			break;
		word = ilb_load(&index->tree[kind][level][at].word) &
		       ~0UL << (from % ILB_WORD_BITS);
		if (!word) {
			from = at + 1;
			level++;
			continue;
		}
		from = at * ILB_WORD_BITS +
		       (unsigned int)__builtin_ctzl(word);
		if (!level)
			return from;
		from *= ILB_WORD_BITS;
		level--;
	}
	return ILB_CPU_NONE;
}

static ALWAYS_INLINE int
still_is(const struct ilb_view *view, enum kind kind, unsigned int cpu,
	 struct ilb_choice *choice)
{
	choice->looked_at++;
	if (!ilb_idle(view, cpu))
		return 0;
	return kind == FREE || ilb_view_core_idle(view, cpu, choice);
}

/* The lowest CPU of @block that is what the index says, if below choice's. */
static ALWAYS_INLINE void
look_into(const struct ilb_index *index, const struct ilb_view *view,
	  enum kind kind, unsigned int block, struct ilb_choice *choice)
{
	unsigned long bits = candidates(index, kind, block);
	unsigned int cpu;

	for (; bits; bits &= bits - 1) {
		cpu = index->extents[block].base +
		      (unsigned int)__builtin_ctzl(bits);
		if (cpu > choice->cpu)
			return;
		if (still_is(view, kind, cpu, choice)) {
			choice->cpu = cpu;
			return;
		}
	}
}

/*
 * Blocks ascend by their lowest CPU, and overlap only where LLCs share a run
 * of ids: mostly the first block that has a CPU is the last to be looked into.
 */
static ALWAYS_INLINE void
look_for(const struct ilb_index *index, const struct ilb_view *view,
	 enum kind kind, struct ilb_choice *choice)
{
	unsigned int block = 0;

	do {
		block = next_block(index, kind, block);
		if (block == ILB_CPU_NONE)
			return;
		look_into(index, view, kind, block, choice);
		block++;
	} while (block < index->nr_blocks &&
		 index->extents[block].first < choice->cpu);
}

struct ilb_choice ilb_index_choose(const struct ilb_index *index,
				   const struct ilb_view *view)
{
	struct ilb_choice choice = { ILB_CPU_NONE, 0, 0 };

	if (index->topology->smt)
		look_for(index, view, WHOLE, &choice);
	if (choice.cpu != ILB_CPU_NONE)
		return choice;
	look_for(index, view, FREE, &choice);
	choice.fallback = index->topology->smt && choice.cpu != ILB_CPU_NONE;
	return choice;
}

int ilb_index_empty(const struct ilb_index *index)
{
	return next_block(index, FREE, 0) == ILB_CPU_NONE;
}

static int state_has(const struct ilb_index *index, unsigned int cpu,
		     unsigned long bit)
{
	return (index->blocks[index->block_of[cpu]].state & bit) != 0;
}

/* By its definition, a thread at a time: what a block's whole has to be. */
static unsigned long whole_of(const struct ilb_index *index,
			      unsigned int block)
{
	const struct extent *extent = &index->extents[block];
	const struct ilb_topology *topology = index->topology;
	unsigned int cpu, thread, n;
	unsigned long whole = 0;

	for (n = 0; topology->smt && n < ILB_INDEX_SPAN; n++) {
		if (!(extent->members >> n & 1UL))
			continue;
		cpu = thread = extent->base + n;
		while (state_has(index, thread, IDLE(bit_of(thread)))) {
			thread = topology->sibling[thread];
			if (thread != cpu)
				continue;
			if (state_has(index, cpu, REGISTERED(bit_of(cpu))))
				whole |= 1UL << n;
			break;
		}
	}
	return whole;
}

/* Does every bit above @block say what is below it? */
static int block_ok(const struct ilb_index *index, unsigned int block)
{
	unsigned int level, kind, entry;
	unsigned long word;

	if (index->blocks[block].whole != whole_of(index, block))
		return 0;
	for (kind = 0; kind < KINDS; kind++) {
		entry = block;
		for (level = 0; level < index->levels; level++) {
			word = index->tree[kind][level]
					  [entry / ILB_WORD_BITS].word;
			if ((int)(word >> (entry % ILB_WORD_BITS) & 1UL) !=
			    has_candidates(index, (enum kind)kind, level,
					   entry))
				return 0;
			entry /= ILB_WORD_BITS;
		}
	}
	return 1;
}

int ilb_index_check(const struct ilb_index *index, unsigned int *cpu)
{
	unsigned int block;

	for (block = 0; block < index->nr_blocks; block++) {
		if (block_ok(index, block))
			continue;
		if (cpu)
			*cpu = index->extents[block].first;
		return -ILB_ERR_BUG;
	}
	return 0;
}
