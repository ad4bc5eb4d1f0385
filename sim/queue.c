// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of timers. A timer that fires is mostly armed again at once (a
 * tick, the next piece of work), so it stays at the top of the heap while it
 * is handled and is only moved down: one pass instead of two.
 */

#include <stdlib.h>

#include "ilb/error.h"
#include "sim/queue.h"

#define ARITY		4U
#define CPU_SHIFT	48

int ilb_queue_init(struct ilb_queue *q, unsigned int nr_timers)
{
	q->heap = calloc(nr_timers, sizeof(*q->heap));
	q->place = calloc(nr_timers, sizeof(*q->place));
	q->nr = 0;
	q->armings = 0;
	q->firing = ILB_TIMER_NONE;
	return q->heap && q->place ? 0 : -ILB_ERR_NOMEM;
}

void ilb_queue_free(struct ilb_queue *q)
{
	free(q->heap);
	free(q->place);
}

/* Compared at once: which of two is first cannot be predicted. */
static inline int before(const struct ilb_queue_node *a,
			 const struct ilb_queue_node *b)
{
	return ((unsigned __int128)a->time << 64 | a->order) <
	       ((unsigned __int128)b->time << 64 | b->order);
}

static inline void put(struct ilb_queue *q, unsigned int i,
		       const struct ilb_queue_node *node)
{
	q->heap[i] = *node;
	q->place[node->id] = i + 1;
}

static void sift_up(struct ilb_queue *q, unsigned int i,
		    const struct ilb_queue_node *node)
{
	unsigned int parent;

	for (; i; i = parent) {
		parent = (i - 1) / ARITY;
		if (!before(node, &q->heap[parent]))
			break;
		put(q, i, &q->heap[parent]);
	}
	put(q, i, node);
}

static inline unsigned int first_of_four(const struct ilb_queue *q,
					 unsigned int i)
{
	const struct ilb_queue_node *h = &q->heap[i];
	unsigned int a = (unsigned int)before(&h[1], &h[0]);
	unsigned int b = 2 + (unsigned int)before(&h[3], &h[2]);

	return i + (before(&h[b], &h[a]) ? b : a);
}

/* The earliest child of @i, q->nr if it has none. */
static inline unsigned int first_child(const struct ilb_queue *q,
				       unsigned int i)
{
	unsigned int child = i * ARITY + 1, end = child + ARITY, best = child;

	if (end <= q->nr)
		return first_of_four(q, child);
	if (child >= q->nr)
		return q->nr;
	end = q->nr;
	while (++child < end)
		if (before(&q->heap[child], &q->heap[best]))
			best = child;
	return best;
}

static void sift_down(struct ilb_queue *q, unsigned int i,
		      const struct ilb_queue_node *node)
{
	unsigned int child;

	for (;; i = child) {
		child = first_child(q, i);
		if (child == q->nr || !before(&q->heap[child], node))
			break;
		put(q, i, &q->heap[child]);
	}
	put(q, i, node);
}

static void settle(struct ilb_queue *q, unsigned int i,
		   const struct ilb_queue_node *node)
{
	if (i && before(node, &q->heap[(i - 1) / ARITY]))
		sift_up(q, i, node);
	else
		sift_down(q, i, node);
}

void ilb_queue_arm(struct ilb_queue *q, unsigned int id, unsigned int cpu,
		   uint64_t time)
{
	struct ilb_queue_node node = {
		.time = time,
		.order = (uint64_t)cpu << CPU_SHIFT | q->armings++,
		.id = id,
	};

	if (q->firing == id)
		q->firing = ILB_TIMER_NONE;
	if (q->place[id])
		settle(q, q->place[id] - 1, &node);
	else
		sift_up(q, q->nr++, &node);
}

static void take_out(struct ilb_queue *q, unsigned int id)
{
	unsigned int i = q->place[id] - 1;
	struct ilb_queue_node last = q->heap[--q->nr];

	q->place[id] = 0;
	if (i != q->nr)
		settle(q, i, &last);
}

void ilb_queue_cancel(struct ilb_queue *q, unsigned int id)
{
	if (q->place[id] && q->firing != id)
		take_out(q, id);
}

unsigned int ilb_queue_next(struct ilb_queue *q, uint64_t *time)
{
	if (q->firing != ILB_TIMER_NONE) {
		take_out(q, q->firing);
		q->firing = ILB_TIMER_NONE;
	}
	if (!q->nr)
		return ILB_TIMER_NONE;
	q->firing = q->heap[0].id;
	*time = q->heap[0].time;
	return q->firing;
}
