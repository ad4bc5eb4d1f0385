// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kicks of a trace and exact moments, in one queue by time. What is at its head
 * waits until all that it, or a rival for its partner, could belong to is in
 * the queue; then those closest to each other become pairs.
 */

#include <stdlib.h>

#include "ilb/pair.h"

#define WAITING_MAX	2048U	/* a power of two */

/* One that waits; its masks are in the queue's own storage. */
struct item {
	struct ilb_moment moment;
	unsigned long *mask, *idle;
	int paired;
};

struct ilb_pair {
	struct ilb_pair_setup setup;
	unsigned int nr_cpus;
	uint64_t start_ns, end_ns;
	struct item *item;
	unsigned long *words;
	unsigned int head, count;
	int by_target;		/* the trace does not know the kickers */
	struct ilb_pair_counts counts;
};

struct ilb_pair *ilb_pair_create(const struct ilb_pair_setup *setup)
{
	struct ilb_pair *p = calloc(1, sizeof(*p));
	unsigned int words, i;

	if (!p)
		return NULL;
	p->setup = *setup;
	p->nr_cpus = setup->topology->nr_cpus;
	p->end_ns = UINT64_MAX;
	words = ILB_MASK_WORDS(p->nr_cpus);
	p->item = calloc(WAITING_MAX, sizeof(*p->item));
	p->words = calloc((size_t)WAITING_MAX * 2 * words, sizeof(*p->words));
	if (!p->item || !p->words) {
		ilb_pair_destroy(p);
		return NULL;
	}
	for (i = 0; i < WAITING_MAX; i++) {
		p->item[i].mask = p->words + (size_t)i * 2 * words;
		p->item[i].idle = p->item[i].mask + words;
	}
	return p;
}

void ilb_pair_destroy(struct ilb_pair *p)
{
	if (!p)
		return;
	free(p->words);
	free(p->item);
	free(p);
}

void ilb_pair_span(struct ilb_pair *p, uint64_t start_ns, uint64_t end_ns)
{
	p->start_ns = start_ns;
	p->end_ns = end_ns;
}

static struct item *nth(const struct ilb_pair *p, unsigned int i)
{
	return &p->item[(p->head + i) & (WAITING_MAX - 1)];
}

static int exact(const struct item *item)
{
	return item->moment.kind == ILB_MOMENT_EXACT ||
	       item->moment.kind == ILB_MOMENT_SIMULATED;
}

/* Nothing related to them comes between a pair. */
static int related(const struct ilb_pair *p, const struct item *a,
		   const struct item *b)
{
	return p->by_target ? a->moment.target == b->moment.target :
			      a->moment.kicker == b->moment.kicker;
}

static uint64_t apart(const struct item *a, const struct item *b)
{
	return a->moment.time_ns > b->moment.time_ns ?
	       a->moment.time_ns - b->moment.time_ns :
	       b->moment.time_ns - a->moment.time_ns;
}

/* They, neighbours among those related, can be the same kick. */
static int fit(const struct item *a, const struct item *b)
{
	unsigned int x = a->moment.kicker, y = b->moment.kicker;

	return !a->paired && !b->paired && exact(a) != exact(b) &&
	       a->moment.target == b->moment.target &&
	       (x == y || x == ILB_CPU_NONE || y == ILB_CPU_NONE) &&
	       apart(a, b) <= ILB_PAIR_NS;
}

/* The related one next to the @i-th, in this direction; @i: none, or no fit. */
static unsigned int neighbour(const struct ilb_pair *p, unsigned int i,
			      unsigned int step)
{
	const struct item *own = nth(p, i);
	unsigned int k;

	for (k = i + step; k < p->count; k += step) {
		if (related(p, own, nth(p, k)))
			return fit(own, nth(p, k)) ? k : i;
		if (apart(own, nth(p, k)) > ILB_PAIR_NS)
			break;
	}
	return i;
}

/*
 * The closer neighbour of the @i-th that fits; the earlier of equals, which
 * ends every walk from one to its closest. @i itself: none.
 */
static unsigned int closest(const struct ilb_pair *p, unsigned int i)
{
	unsigned int before = neighbour(p, i, -1U);
	unsigned int after = neighbour(p, i, 1);

	if (before == i)
		return after;
	if (after == i)
		return before;
	return apart(nth(p, i), nth(p, after)) <
	       apart(nth(p, i), nth(p, before)) ? after : before;
}

static uint64_t equal_bits(const struct ilb_pair *p, const unsigned long *a,
			   const unsigned long *b)
{
	const unsigned long *online = p->setup.topology->online;
	uint64_t bits = 0;
	unsigned int i;

	for (i = 0; i < ILB_MASK_WORDS(p->nr_cpus); i++)
		bits += (unsigned int)__builtin_popcountl(
				~(a[i] ^ b[i]) & online[i]);
	return bits;
}

static void make_pair(struct ilb_pair *p, struct item *a, struct item *b)
{
	a->paired = b->paired = 1;
	p->counts.paired++;
	p->counts.bits += ilb_mask_weight(p->setup.topology->online,
					  p->nr_cpus);
	p->counts.mask_agree += equal_bits(p, a->mask, b->mask);
	p->counts.idle_agree += equal_bits(p, a->idle, b->idle);
}

/*
 * From the head to its closest, and on to the closest of that, until two are
 * each other's closest: a pair. Again, until the head has a partner or nobody
 * is left for it.
 */
static void settle(struct ilb_pair *p)
{
	unsigned int a, b, c;

	while (!nth(p, 0)->paired) {
		a = 0;
		b = closest(p, a);
		if (b == a)
			return;
		while ((c = closest(p, b)) != a) {
			a = b;
			b = c;
		}
		make_pair(p, nth(p, a), nth(p, b));
	}
}

/* Of a pair only the exact moment goes on. */
static int goes_on(struct ilb_pair *p, const struct item *item)
{
	uint64_t time_ns = item->moment.time_ns;

	if (item->paired)
		return exact(item);
	if (!exact(item)) {
		p->counts.unpaired_kicks++;
		return 1;
	}
	if (time_ns < p->start_ns || time_ns > p->end_ns) {
		p->counts.outside++;
		return 0;
	}
	p->counts.unpaired_moments++;
	return 1;
}

static void take(struct ilb_pair *p)
{
	struct item *item = nth(p, 0);

	settle(p);
	if (goes_on(p, item))
		p->setup.moment(p->setup.context, &item->moment);
	p->head = (p->head + 1) & (WAITING_MAX - 1);
	p->count--;
}

void ilb_pair_add(struct ilb_pair *p, const struct ilb_moment *moment)
{
	struct item *item;

	/* Its partner may be ILB_PAIR_NS away, a rival as far from that. */
	while (p->count &&
	       nth(p, 0)->moment.time_ns + 2 * ILB_PAIR_NS < moment->time_ns)
		take(p);
	if (p->count == WAITING_MAX)
		take(p);
	item = nth(p, p->count++);
	item->paired = 0;
	item->moment = *moment;
	ilb_mask_copy(item->mask, moment->mask, p->nr_cpus);
	ilb_mask_copy(item->idle, moment->idle, p->nr_cpus);
	item->moment.mask = item->mask;
	item->moment.idle = item->idle;
	if (exact(item))
		item->moment.housekeeping = p->setup.housekeeping;
	else if (moment->kicker == ILB_CPU_NONE)
		p->by_target = 1;
}

void ilb_pair_finish(struct ilb_pair *p)
{
	while (p->count)
		take(p);
}

const struct ilb_pair_counts *ilb_pair_counts(const struct ilb_pair *p)
{
	return &p->counts;
}
