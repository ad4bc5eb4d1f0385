// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry of tickless CPUs and the gates of a kick, as in Linux 6.1 to
 * 7.3 (fair.c: nohz_balance_enter_idle() to nohz_csd_func()).
 *
 * Where kernels differ the behaviour decides; the deliberate differences from
 * all of them are tagged, and told in docs/deviations.md.
 */

#include "core/env.h"
#include "ilb/nohz.h"

/* The base domain's imbalance_pct: SMT, or whatever is lowest without it. */
#define SMT_PCT		110U
#define OTHER_PCT	117U

/*
 * DEVIATION(races): one thread at a time, so that no two CPUs pass the same
 * gate in one jiffy and nothing changes while a mask is walked.
 */
static unsigned int nr_cpus(const struct ilb_nohz *nohz)
{
	return nohz->setup.topology->nr_cpus;
}

static int is_idle(const struct ilb_nohz *nohz, unsigned int cpu)
{
	return ilb_mask_test(nohz->setup.idle, cpu);
}

static int is_active(const struct ilb_nohz *nohz, unsigned int cpu)
{
	const struct ilb_nohz_setup *setup = &nohz->setup;

	return ilb_mask_test(setup->active ? setup->active
					   : setup->topology->online, cpu);
}

/* DEVIATION(domains): a CPU has all domains or none, and for good. */
static int has_domain(const struct ilb_nohz *nohz, unsigned int cpu)
{
	const unsigned long *isolated = nohz->setup.isolated;

	return !isolated || !ilb_mask_test(isolated, cpu);
}

/* The counter of @cpu's LLC. */
static unsigned int *nr_busy(struct ilb_nohz *nohz, unsigned int cpu)
{
	return &nohz->setup.nr_busy[nohz->setup.topology->llc[cpu]];
}

static void touch(const struct ilb_nohz *nohz, unsigned int cpu,
		  enum ilb_touch what)
{
	if (nohz->setup.touch)
		nohz->setup.touch(nohz->setup.context, cpu, what);
}

/* A counted mask is asked by its counter, as stale as that may be. */
static int mask_is_empty(const struct ilb_nohz *nohz, unsigned int cpu)
{
	if (nohz->setup.behaviour->mask_size == ILB_MASK_SIZE_COUNTED)
		return !nohz->nr_cpus;
	touch(nohz, cpu, ILB_TOUCH_MASK_EMPTY);
	return ilb_mask_empty(nohz->setup.mask, nr_cpus(nohz));
}

int ilb_nohz_init(struct ilb_nohz *nohz, const struct ilb_nohz_setup *setup,
		  uint64_t now)
{
	const struct ilb_topology *topology = setup->topology;
	struct ilb_nohz_cpu *c;
	unsigned int cpu;

	memset(nohz, 0, sizeof(*nohz));
	nohz->setup = *setup;
	nohz->next_balance = now;
	nohz->next_blocked = now;
	ilb_mask_zero(setup->mask, topology->nr_cpus);
	memset(setup->nr_busy, 0,
	       topology->nr_cpus * sizeof(*setup->nr_busy));
	for (cpu = 0; cpu < topology->nr_cpus; cpu++) {
		c = &setup->cpus[cpu];
		c->idle_balance = 0;
		c->pending = 0;
		c->run = 0;
		c->tick_stopped = 0;
		c->has_blocked = 0;
		if (ilb_mask_test(topology->online, cpu) &&
		    has_domain(nohz, cpu))
			++*nr_busy(nohz, cpu);
	}
	return ilb_policy_parse(&nohz->policy, setup->behaviour->target,
				topology->nr_cpus);
}

/* The atomic part of entering (@step 1) and of leaving (-1) the mask. */
static void count_mask(struct ilb_nohz *nohz, unsigned int cpu, int step)
{
	nohz->atomics++;
	touch(nohz, cpu, ILB_TOUCH_FIELDS_READ);
	touch(nohz, cpu, ILB_TOUCH_MASK_WRITE);
	touch(nohz, cpu, ILB_TOUCH_BUSY_WRITE);
	*nr_busy(nohz, cpu) -= (unsigned int)step;
	if (nohz->setup.behaviour->mask_size != ILB_MASK_SIZE_COUNTED)
		return;
	nohz->atomics++;
	touch(nohz, cpu, ILB_TOUCH_FIELDS_WRITE);
	nohz->nr_cpus += (unsigned int)step;
}

void ilb_nohz_enter_idle(struct ilb_nohz *nohz, unsigned int cpu)
{
	struct ilb_nohz_cpu *c = &nohz->setup.cpus[cpu];

	if (!is_active(nohz, cpu))
		return;
	c->has_blocked = 1;
	if (!c->tick_stopped) {
		if (!has_domain(nohz, cpu))
			return;
		c->tick_stopped = 1;
		ilb_mask_set(nohz->setup.mask, cpu);
		count_mask(nohz, cpu, 1);
		if (nohz->setup.behaviour->next_kick)
			nohz->needs_update = 1;
	}
	/* Also of a CPU that never left: it may have run in between. */
	touch(nohz, cpu, ILB_TOUCH_FIELDS_WRITE);
	nohz->has_blocked = 1;
}

void ilb_nohz_exit_idle(struct ilb_nohz *nohz, unsigned int cpu)
{
	struct ilb_nohz_cpu *c = &nohz->setup.cpus[cpu];

	if (!c->tick_stopped)
		return;
	c->tick_stopped = 0;
	ilb_mask_clear(nohz->setup.mask, cpu);
	count_mask(nohz, cpu, -1);
}

void ilb_nohz_stop_tick(struct ilb_nohz *nohz, unsigned int cpu,
			int was_stopped, int is_stopped)
{
	unsigned int registration = nohz->setup.behaviour->registration;

	if (!is_stopped)
		return;
	if (was_stopped && registration == ILB_REGISTRATION_NEWLY_STOPPED)
		return;
	ilb_nohz_enter_idle(nohz, cpu);
}

/* Is the base domain of @cpu its core? Isolated threads are in no domain. */
static int base_is_smt(const struct ilb_nohz *nohz, unsigned int cpu)
{
	const unsigned int *sibling = nohz->setup.topology->sibling;
	unsigned int thread;

	for (thread = sibling[cpu]; thread != cpu; thread = sibling[thread])
		if (has_domain(nohz, thread))
			return 1;
	return 0;
}

/* A task is here and capacity went to interrupts or higher classes. */
static int capacity_gate(const struct ilb_nohz *nohz, unsigned int cpu)
{
	const struct ilb_nohz_cpu *c = &nohz->setup.cpus[cpu];
	const struct ilb_topology *t = nohz->setup.topology;
	unsigned int full = t->capacity ? t->capacity[cpu] : 1024;
	unsigned int pct = base_is_smt(nohz, cpu) ? SMT_PCT : OTHER_PCT;
	unsigned int tasks = c->nr_runnable;

	if (nohz->setup.behaviour->capacity_gate == ILB_CAPACITY_GATE_QUEUED)
		tasks = c->nr_queued;
	return tasks && c->capacity * pct < full * 100;
}

static int core_is_idle(const struct ilb_nohz *nohz, unsigned int cpu)
{
	const unsigned int *sibling = nohz->setup.topology->sibling;
	unsigned int thread;

	for (thread = sibling[cpu]; thread != cpu; thread = sibling[thread])
		if (!is_idle(nohz, thread))
			return 0;
	return 1;
}

/* May priorities alone decide about @cpu? */
static int packing_usable(const struct ilb_nohz *nohz, unsigned int cpu)
{
	if (!nohz->setup.behaviour->packing_idle_core ||
	    nohz->setup.packing_smt)
		return 1;
	return core_is_idle(nohz, cpu);
}

/* A registered CPU of the domain on which the task would rather be. */
static int packing_gate(const struct ilb_nohz *nohz, unsigned int cpu)
{
	const struct ilb_nohz_setup *setup = &nohz->setup;
	unsigned int i;

	if (!setup->packing || setup->packing[cpu] == ILB_CPU_NONE)
		return 0;
	ilb_for_each_cpu(i, setup->mask, nr_cpus(nohz))
		if (setup->packing[i] == setup->packing[cpu] &&
		    setup->priority[i] > setup->priority[cpu] &&
		    packing_usable(nohz, i))
			return 1;
	return 0;
}

/* Gates f to j: is there a reason to balance? */
static enum ilb_gate balance_gate(struct ilb_nohz *nohz, unsigned int cpu)
{
	const struct ilb_nohz_cpu *c = &nohz->setup.cpus[cpu];

	if (c->nr_running >= 2)
		return ILB_GATE_RUNNING;
	if (capacity_gate(nohz, cpu))
		return ILB_GATE_CAPACITY;
	if (packing_gate(nohz, cpu))
		return ILB_GATE_PACKING;
	/* DEVIATION(balance-shared): past here there is only the LLC's. */
	if (nohz->setup.unequal && nohz->setup.unequal[cpu])
		return c->misfit_load ? ILB_GATE_MISFIT : ILB_GATE_NO_MISFIT;
	touch(nohz, cpu, ILB_TOUCH_BUSY_READ);
	return *nr_busy(nohz, cpu) > 1 ? ILB_GATE_LLC : ILB_GATE_NO_REASON;
}

static unsigned int gate_flags(enum ilb_gate gate)
{
	switch (gate) {
	case ILB_GATE_RUNNING:
	case ILB_GATE_CAPACITY:
	case ILB_GATE_PACKING:
	case ILB_GATE_MISFIT:
	case ILB_GATE_LLC:
		return ILB_KICK_STATS | ILB_KICK_BALANCE;
	default:
		return 0;
	}
}

/* nohz_balancer_kick(): which flags, if any, and why. */
static void decide(struct ilb_nohz *nohz, unsigned int cpu, uint64_t now,
		   struct ilb_kick *kick)
{
	int empty_first = nohz->setup.behaviour->kick_order ==
			  ILB_KICK_ORDER_EMPTY_FIRST;

	kick->gate = ILB_GATE_IDLE;
	if (nohz->setup.cpus[cpu].idle_balance)
		return;
	ilb_nohz_exit_idle(nohz, cpu);
	touch(nohz, cpu, ILB_TOUCH_FIELDS_READ);
	kick->gate = ILB_GATE_EMPTY;
	if (empty_first && mask_is_empty(nohz, cpu))
		return;
	if (nohz->has_blocked && now > nohz->next_blocked)
		kick->flags = ILB_KICK_STATS;
	if (now < nohz->next_balance) {
		kick->gate = ILB_GATE_TIME;
	} else if (!empty_first && mask_is_empty(nohz, cpu)) {
		kick->flags = 0;
		return;
	} else {
		kick->gate = balance_gate(nohz, cpu);
		kick->flags |= gate_flags(kick->gate);
	}
	if (nohz->needs_update)
		kick->flags |= ILB_KICK_NEXT;
}

static struct ilb_choice find_new_ilb(struct ilb_nohz *nohz,
				      unsigned int kicker)
{
	struct ilb_view view;

	view.topology = nohz->setup.topology;
	view.mask = nohz->setup.mask;
	view.housekeeping = nohz->setup.housekeeping;
	view.idle = nohz->setup.idle;
	view.kicker = kicker;
	view.scratch = nohz->setup.scratch;
	return ilb_policy_choose(&nohz->policy, &view);
}

/* kick_ilb(): choose, and leave the flags with whom was chosen. */
static void send(struct ilb_nohz *nohz, unsigned int kicker, uint64_t now,
		 struct ilb_kick *kick)
{
	struct ilb_nohz_cpu *ilb;

	/* Even if nobody can be found: one full attempt per jiffy. */
	if (kick->flags & ILB_KICK_BALANCE) {
		touch(nohz, kicker, ILB_TOUCH_FIELDS_WRITE);
		nohz->next_balance = now + 1;
	}
	touch(nohz, kicker, ILB_TOUCH_MASK_WALK);
	kick->choice = find_new_ilb(nohz, kicker);
	if (kick->choice.cpu == ILB_CPU_NONE)
		return;
	ilb = &nohz->setup.cpus[kick->choice.cpu];
	if (nohz->setup.behaviour->pending_test &&
	    (ilb->pending & kick->flags) == kick->flags)
		return;
	nohz->atomics++;
	kick->sent = !(ilb->pending & ILB_KICK_MASK);
	ilb->pending |= kick->flags;
}

int ilb_nohz_tick(struct ilb_nohz *nohz, unsigned int cpu, uint64_t now,
		  struct ilb_kick *kick)
{
	struct ilb_nohz_cpu *c = &nohz->setup.cpus[cpu];

	memset(kick, 0, sizeof(*kick));
	kick->choice.cpu = ILB_CPU_NONE;
	kick->gate = ILB_GATE_NO_DOMAIN;
	c->idle_balance = is_idle(nohz, cpu);
	if (!has_domain(nohz, cpu) || !is_active(nohz, cpu))
		return 0;
	decide(nohz, cpu, now, kick);
	if (kick->flags)
		send(nohz, cpu, now, kick);
	return now >= c->next_balance;
}

unsigned int ilb_nohz_kicked(struct ilb_nohz *nohz, unsigned int cpu)
{
	struct ilb_nohz_cpu *c = &nohz->setup.cpus[cpu];
	unsigned int flags = c->pending;

	c->idle_balance = is_idle(nohz, cpu);
	if (!c->idle_balance && nohz->setup.behaviour->dropped_kick ==
				ILB_DROPPED_KICK_PENDING)
		return 0;
	nohz->atomics++;
	c->pending = 0;
	if (!c->idle_balance)
		return 0;
	c->run = flags;
	return flags;
}

static const char *const gate_names[] = {
	[ILB_GATE_NO_DOMAIN] = "no-domain",
	[ILB_GATE_IDLE] = "idle",
	[ILB_GATE_EMPTY] = "empty",
	[ILB_GATE_TIME] = "time",
	[ILB_GATE_RUNNING] = "running",
	[ILB_GATE_CAPACITY] = "capacity",
	[ILB_GATE_PACKING] = "packing",
	[ILB_GATE_MISFIT] = "misfit",
	[ILB_GATE_NO_MISFIT] = "no-misfit",
	[ILB_GATE_LLC] = "llc",
	[ILB_GATE_NO_REASON] = "no-reason",
};

const char *ilb_gate_name(enum ilb_gate gate)
{
	if ((unsigned int)gate > ILB_GATE_NO_REASON)
		return "unknown";
	return gate_names[gate];
}
