/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_NOHZ_H
#define ILB_NOHZ_H

#include <stdint.h>
#include "ilb/behaviour.h"
#include "ilb/target.h"

/**
 * DOC: nohz - who is registered as tickless, and who kicks whom
 *
 * The registry (nohz.idle_cpus_mask and its company) and the decision that
 * each tick takes (nohz_balancer_kick(), kick_ilb(), nohz_csd_func()), for the
 * kernel that a struct ilb_behaviour describes. What the kicked CPU then
 * balances is not here.
 *
 * All memory belongs to the host, which also keeps the facts that the model
 * only reads: what runs where, and who is idle. One thread at a time. Times
 * are in jiffies, which never wrap.
 */

/** enum ilb_kick_flag - what a kicked CPU has to do */
enum ilb_kick_flag {
	ILB_KICK_BALANCE = 1 << 0,	/* balance; never without STATS */
	ILB_KICK_STATS = 1 << 1,	/* refresh blocked load */
	ILB_KICK_NEWILB = 1 << 2,	/* own flag of a CPU that goes idle */
	ILB_KICK_NEXT = 1 << 3,		/* fold next_balance */
};

#define ILB_KICK_MASK	(ILB_KICK_BALANCE | ILB_KICK_STATS | ILB_KICK_NEXT)

/**
 * enum ilb_gate - what ended the decision of one tick
 * @ILB_GATE_NO_DOMAIN: the CPU is isolated or not active
 * @ILB_GATE_IDLE: an idle CPU's tick does not kick
 * @ILB_GATE_EMPTY: no CPU is registered
 * @ILB_GATE_TIME: no balancing is due; STATS and NEXT may be
 * @ILB_GATE_RUNNING: two or more tasks here
 * @ILB_GATE_CAPACITY: a task here, and capacity lost to others than it
 * @ILB_GATE_PACKING: a registered CPU is better by asym packing
 * @ILB_GATE_MISFIT: the task here needs a larger CPU
 * @ILB_GATE_NO_MISFIT: unequal CPUs and no misfit: no reason to balance
 * @ILB_GATE_LLC: two or more CPUs of this LLC are not registered
 * @ILB_GATE_NO_REASON: none of these
 */
enum ilb_gate {
	ILB_GATE_NO_DOMAIN,
	ILB_GATE_IDLE,
	ILB_GATE_EMPTY,
	ILB_GATE_TIME,
	ILB_GATE_RUNNING,
	ILB_GATE_CAPACITY,
	ILB_GATE_PACKING,
	ILB_GATE_MISFIT,
	ILB_GATE_NO_MISFIT,
	ILB_GATE_LLC,
	ILB_GATE_NO_REASON,
};

/**
 * enum ilb_touch - an access to memory that CPUs share
 * @ILB_TOUCH_FIELDS_READ: times, flags, the counter and the pointer to the
 *	mask are on one cache line
 * @ILB_TOUCH_FIELDS_WRITE: likewise
 * @ILB_TOUCH_MASK_WRITE: the CPU's own bit
 * @ILB_TOUCH_MASK_EMPTY: is no bit set?
 * @ILB_TOUCH_MASK_WALK: all of the mask
 * @ILB_TOUCH_BUSY_READ: the LLC's count of CPUs that are not registered
 * @ILB_TOUCH_BUSY_WRITE: likewise
 */
enum ilb_touch {
	ILB_TOUCH_FIELDS_READ,
	ILB_TOUCH_FIELDS_WRITE,
	ILB_TOUCH_MASK_WRITE,
	ILB_TOUCH_MASK_EMPTY,
	ILB_TOUCH_MASK_WALK,
	ILB_TOUCH_BUSY_READ,
	ILB_TOUCH_BUSY_WRITE,
};

/**
 * struct ilb_nohz_cpu - one runqueue, as far as kicks look at it
 * @nr_running: tasks of any class. The host's, like the next five
 * @nr_queued: fair tasks, those of delayed dequeue included
 * @nr_runnable: fair tasks without these
 * @capacity: what is left for fair tasks; at most the CPU's own capacity
 * @misfit_load: not 0 if its task needs a larger CPU
 * @next_balance: when its own domains are due
 * @idle_balance: was it idle at its last tick or kick? The model's, like the
 *	rest
 * @pending: enum ilb_kick_flag set by kickers and not handled yet
 * @run: flags that its next SCHED softirq works on
 * @tick_stopped: it is in the mask
 * @has_blocked: its blocked load may have to decay
 */
struct ilb_nohz_cpu {
	unsigned int nr_running;
	unsigned int nr_queued;
	unsigned int nr_runnable;
	unsigned int capacity;
	unsigned long misfit_load;
	uint64_t next_balance;
	int idle_balance;
	unsigned int pending;
	unsigned int run;
	int tick_stopped;
	int has_blocked;
};

/**
 * struct ilb_nohz_setup - the host's side
 * @topology: the machine
 * @behaviour: the kernel
 * @housekeeping: CPUs that may run the ILB
 * @active: CPUs that the scheduler may use, some of the online ones; NULL: all
 *	of these
 * @isolated: CPUs without domains (isolcpus=domain); NULL: none
 * @idle: CPUs for which idle_cpu() holds; the host keeps it up to date
 * @packing: per CPU: the lowest CPU of its highest domain with asym packing,
 *	ILB_CPU_NONE for a CPU without one. NULL: no asym packing
 * @priority: per CPU: higher is better to pack tasks on. With @packing only
 * @packing_smt: 1 if these domains are SMT cores
 * @unequal: per CPU: 1 if some domain of it spans every capacity of the
 *	machine, of which there are two or more. NULL: capacities are equal
 * @cpus: memory for one entry per CPU; the host's members filled
 * @nr_busy: memory for one counter per CPU
 * @mask, @scratch: memory for one mask each
 * @touch: told of every enum ilb_touch of @cpu, before it is done; NULL: nobody
 * @context: for it
 *
 * Everything stays referenced. All arrays and masks are for
 * @topology->nr_cpus CPUs.
 */
struct ilb_nohz_setup {
	const struct ilb_topology *topology;
	const struct ilb_behaviour *behaviour;
	const unsigned long *housekeeping;
	const unsigned long *active;
	const unsigned long *isolated;
	const unsigned long *idle;
	const unsigned int *packing;
	const int *priority;
	int packing_smt;
	const unsigned char *unequal;
	struct ilb_nohz_cpu *cpus;
	unsigned int *nr_busy;
	unsigned long *mask;
	unsigned long *scratch;
	void (*touch)(void *context, unsigned int cpu, enum ilb_touch what);
	void *context;
};

/**
 * struct ilb_nohz - the kernel's struct nohz and what belongs to it
 * @setup: as given
 * @policy: who is chosen
 * @next_balance: earliest time that is worth a full kick
 * @next_blocked: blocked load is due after this time
 * @has_blocked: some registered CPU's blocked load may have to decay
 * @needs_update: a CPU registered and @next_balance does not know of it
 * @nr_cpus: CPUs in the mask, where the kernel counts them, else 0
 * @atomics: atomic writes to memory that CPUs share: mask, counter and kick
 *	flags; their cache lines bounce (mail D)
 *
 * setup.nr_busy[c] of the lowest CPU c of an LLC: its CPUs that have a domain
 * and are not registered.
 */
struct ilb_nohz {
	struct ilb_nohz_setup setup;
	struct ilb_policy policy;
	uint64_t next_balance;
	uint64_t next_blocked;
	int has_blocked;
	int needs_update;
	unsigned int nr_cpus;
	uint64_t atomics;
};

/**
 * struct ilb_kick - what a tick decided
 * @flags: enum ilb_kick_flag, 0: no kick
 * @gate: what ended the decision
 * @choice: who was chosen, if @flags is not 0
 * @sent: 1: @choice.cpu is to be interrupted, ilb_nohz_kicked() runs there. 0
 *	with a CPU chosen: a kick is under way to it, which takes these flags
 *	along
 */
struct ilb_kick {
	unsigned int flags;
	enum ilb_gate gate;
	struct ilb_choice choice;
	int sent;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_nohz_init() - an empty registry at time @now
 *
 * Returns 0, or what ilb_policy_parse() says of the behaviour's target.
 */
int ilb_nohz_init(struct ilb_nohz *nohz, const struct ilb_nohz_setup *setup,
		  uint64_t now);

/** ilb_nohz_enter_idle() - nohz_balance_enter_idle(): @cpu registers. */
void ilb_nohz_enter_idle(struct ilb_nohz *nohz, unsigned int cpu);

/**
 * ilb_nohz_exit_idle() - nohz_balance_exit_idle(): @cpu leaves the mask
 *
 * For CPUs that stop being active; a busy tick does it itself.
 */
void ilb_nohz_exit_idle(struct ilb_nohz *nohz, unsigned int cpu);

/**
 * ilb_nohz_stop_tick() - idle @cpu asked to stop its tick
 * @was_stopped: 1 if it was stopped before
 * @is_stopped: 1 if it is now
 *
 * Registers @cpu if the behaviour says so; a nohz_full CPU whose tick stopped
 * while it was busy is lost in every kernel (mail C).
 */
void ilb_nohz_stop_tick(struct ilb_nohz *nohz, unsigned int cpu,
			int was_stopped, int is_stopped);

/**
 * ilb_nohz_tick() - the last part of a tick: sched_balance_trigger()
 * @kick: filled
 *
 * Latches whether @cpu is idle, then decides on a kick.
 *
 * Returns 1 if @cpu's own domains are due (it raises its SCHED softirq).
 */
int ilb_nohz_tick(struct ilb_nohz *nohz, unsigned int cpu, uint64_t now,
		  struct ilb_kick *kick);

/**
 * ilb_nohz_kicked() - nohz_csd_func(): the kick arrives on @cpu
 *
 * Returns the flags for its SCHED softirq; 0: it is not idle any more, and
 * the kick is dropped.
 */
unsigned int ilb_nohz_kicked(struct ilb_nohz *nohz, unsigned int cpu);

/** ilb_gate_name() - "time", "llc" ...; never NULL. */
const char *ilb_gate_name(enum ilb_gate gate);

#ifdef __cplusplus
}
#endif
#endif
