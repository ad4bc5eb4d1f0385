/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TICK_H
#define ILB_TICK_H

#include <stdint.h>
#include "ilb/nohz.h"

/**
 * DOC: tick - when a CPU's tick stops, and when it runs again
 *
 * The part of tick-sched.c that decides about the registry of nohz.h. The
 * host runs the idle loop and calls, per CPU and in this order:
 *
 *	ilb_tick_idle_enter()		the idle task is picked
 *	  ilb_tick_idle_stop()		before each sleep in the loop
 *	  ilb_tick_fired()		a tick's interrupt, here or while busy
 *	ilb_tick_idle_exit()		a task is about to run
 *	ilb_tick_irq_exit()		an interrupt ends while a task runs
 *
 * and lets an interrupt come at @next_ns of the CPU. Times are in ns.
 */

/** enum ilb_governor - who decides that the tick should stop */
enum ilb_governor {
	ILB_GOVERNOR_NONE,	/* no choice of idle states */
	ILB_GOVERNOR_MENU,
	ILB_GOVERNOR_TEO,
	ILB_GOVERNOR_OTHER,	/* always says yes: ladder */
};

/**
 * struct ilb_idle_guess - what a governor expects of one sleep
 * @predicted_ns: its length
 * @polling: 1 if the chosen idle state is the polling one
 * @wakeups, @early: teo: recent wakeups, and those of them that came within
 *	the length of a tick
 * @forced: idle injection or suspend-to-idle: no governor is asked
 */
struct ilb_idle_guess {
	uint64_t predicted_ns;
	int polling;
	unsigned int wakeups, early;
	int forced;
};

/**
 * struct ilb_tick_cpu - one CPU's tick
 * @next_timer_ns: first timer of this CPU, UINT64_MAX for none. The host's,
 *	like the next five
 * @need_resched: it is about to leave the idle loop
 * @softirq_pending: one that should have run by now
 * @needs_tick: RCU, irq_work or the timer softirq want the next tick
 * @refuses: its timers cannot be left alone now
 * @depends: nohz_full only: what but two fair tasks needs the tick: a deadline
 *	task, two of SCHED_RR, bandwidth limits, perf and posix timers
 * @next_ns: when its interrupt comes; UINT64_MAX: never. The model's, like
 *	the rest
 * @stopped: the tick does not run
 * @in_idle: between idle_enter and idle_exit
 * @got_tick: since the last idle_stop a tick came, in idle
 * @idle_since_ns: when the tick last stopped in idle
 * @idle_stops: how often it did
 */
struct ilb_tick_cpu {
	uint64_t next_timer_ns;
	int need_resched;
	int softirq_pending;
	int needs_tick;
	int refuses;
	int depends;
	uint64_t next_ns;
	int stopped;
	int in_idle;
	int got_tick;
	uint64_t idle_since_ns;
	uint64_t idle_stops;
};

/**
 * struct ilb_tick_setup - the host's side; stays referenced
 * @nohz: the registry; its setup has the machine and the kernel
 * @nohz_full: CPUs of nohz_full=; NULL: none
 * @timekeeper: the CPU that keeps jiffies; with @nohz_full it never stops
 * @governor: enum ilb_governor
 * @tick_ns: 10^9 / HZ
 * @skew: 1: skew_tick=1, ticks of different CPUs do not coincide
 * @cpus: memory for one entry per CPU; the host's members filled
 */
struct ilb_tick_setup {
	struct ilb_nohz *nohz;
	const unsigned long *nohz_full;
	unsigned int timekeeper;
	enum ilb_governor governor;
	uint64_t tick_ns;
	int skew;
	struct ilb_tick_cpu *cpus;
};

/** struct ilb_tick - every CPU's tick */
struct ilb_tick {
	struct ilb_tick_setup setup;
};

#ifdef __cplusplus
extern "C" {
#endif

/** ilb_tick_init() - all ticks run, and nobody is in idle */
void ilb_tick_init(struct ilb_tick *tick, const struct ilb_tick_setup *setup,
		   uint64_t now_ns);

/** ilb_tick_after() - the first tick of @cpu after @now_ns, if it runs */
uint64_t ilb_tick_after(const struct ilb_tick *tick, unsigned int cpu,
			uint64_t now_ns);

/** ilb_tick_idle_enter() - @cpu enters the idle loop. */
void ilb_tick_idle_enter(struct ilb_tick *tick, unsigned int cpu);

/**
 * ilb_tick_idle_stop() - one pass of the idle loop: stop the tick or keep it
 * @guess: of the governor; NULL: it has nothing to say (ILB_GOVERNOR_NONE)
 *
 * Registers @cpu where the behaviour says so.
 *
 * Returns 1 if the tick is stopped now, be it since before.
 */
int ilb_tick_idle_stop(struct ilb_tick *tick, unsigned int cpu,
		       uint64_t now_ns, const struct ilb_idle_guess *guess);

/**
 * ilb_tick_fired() - the interrupt at @next_ns came
 *
 * Returns 1 if it is a tick: ilb_nohz_tick() is next. 0: a timer of a CPU
 * whose tick is stopped.
 */
int ilb_tick_fired(struct ilb_tick *tick, unsigned int cpu, uint64_t now_ns);

/**
 * ilb_tick_idle_exit() - @cpu leaves the idle loop
 *
 * Its tick runs again; a nohz_full CPU's only if something depends on it.
 */
void ilb_tick_idle_exit(struct ilb_tick *tick, unsigned int cpu,
			uint64_t now_ns);

/**
 * ilb_tick_irq_exit() - an interrupt ends on @cpu, which is not in idle
 *
 * A nohz_full CPU's tick stops if nothing depends on it any more, and runs
 * again if something does. No other CPU's tick changes.
 */
void ilb_tick_irq_exit(struct ilb_tick *tick, unsigned int cpu,
		       uint64_t now_ns);

#ifdef __cplusplus
}
#endif
#endif
