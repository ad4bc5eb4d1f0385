/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_SIM_QUEUE_H
#define ILB_SIM_QUEUE_H

#include <stdint.h>

#define ILB_NEVER	UINT64_MAX
#define ILB_TIMER_NONE	(~0U)

/**
 * struct ilb_queue_node - an armed timer
 * @time: when it fires, ns
 * @order: what decides among equal times: CPU in the upper 16 bits, then the
 *	number of the arming
 * @id: which timer
 */
struct ilb_queue_node {
	uint64_t time;
	uint64_t order;
	unsigned int id;
};

/**
 * struct ilb_queue - timers in a total order: (time, CPU, sequence)
 * @heap: 4-ary; [0] fires next
 * @place: per timer: its index in @heap plus 1, 0: not armed
 * @nr: armed timers
 * @armings: so far
 * @firing: the timer that ilb_queue_next() handed out last, if it is still
 *	in the heap
 *
 * Timers are numbered from 0; each is armed once at most. So nothing is ever
 * allocated while the machine runs, and a timer can be moved or cancelled.
 */
struct ilb_queue {
	struct ilb_queue_node *heap;
	unsigned int *place;
	unsigned int nr;
	unsigned int firing;
	uint64_t armings;
};

/** ilb_queue_init() - room for @nr_timers; 0 or -ILB_ERR_NOMEM */
int ilb_queue_init(struct ilb_queue *queue, unsigned int nr_timers);
void ilb_queue_free(struct ilb_queue *queue);

/** ilb_queue_arm() - let @id fire at @time on @cpu; moves it if it is armed */
void ilb_queue_arm(struct ilb_queue *queue, unsigned int id, unsigned int cpu,
		   uint64_t time);

/** ilb_queue_cancel() - @id does not fire; it may be unarmed */
void ilb_queue_cancel(struct ilb_queue *queue, unsigned int id);

/**
 * ilb_queue_next() - the timer that fires next; it is unarmed by that
 * @time: when
 *
 * Returns its number, or ILB_TIMER_NONE if none is armed.
 */
unsigned int ilb_queue_next(struct ilb_queue *queue, uint64_t *time);

/** ilb_queue_armed() - 1 if @id is going to fire */
static inline int ilb_queue_armed(const struct ilb_queue *queue,
				  unsigned int id)
{
	return queue->place[id] && queue->firing != id;
}

#endif
