// SPDX-License-Identifier: GPL-2.0-only
/*
 * When CPUs balance: the periodic pass over the domains of one CPU and the
 * idle load balancer's pass over all registered ones, as in Linux 6.1 to 7.3
 * (sched_balance_domains(), _nohz_idle_balance(); before 6.9
 * rebalance_domains()).
 *
 * What one attempt does is in pull.c, where it looks in busiest.c.
 */

#include "core/env.h"
#include "model/lb.h"

#define NS_PER_S		1000000000ULL
#define NR_MIGRATE		32U
#define MIGRATION_COST_NS	500000ULL
#define BLOCKED_PERIOD_MS	32U

void ilb_balance_init(struct ilb_balance *balance,
		      const struct ilb_balance_setup *setup)
{
	unsigned int cpu, nr = setup->nohz->setup.topology->nr_cpus;
	struct ilb_balance_cpu *c;

	memset(balance, 0, sizeof(*balance));
	balance->setup = *setup;
	if (!setup->nr_migrate)
		balance->setup.nr_migrate = NR_MIGRATE;
	if (!setup->migration_cost_ns)
		balance->setup.migration_cost_ns = MIGRATION_COST_NS;
	balance->serializing = ILB_CPU_NONE;
	balance->online = ilb_mask_weight(
		setup->nohz->setup.topology->online, nr);
	balance->dice = setup->seed;
	for (cpu = 0; cpu < nr; cpu++) {
		c = &setup->cpus[cpu];
		c->max_cost = balance->setup.migration_cost_ns;
		c->avg_idle = 2 * c->max_cost;
		c->idle_stamp = 0;
		c->refreshed = 0;
		c->push_to = ILB_CPU_NONE;
		memset(&setup->llcs[cpu], 0, sizeof(setup->llcs[cpu]));
	}
}

uint64_t ilb_balance_jiffies(const struct ilb_balance *balance)
{
	return balance->setup.host->clock(balance->setup.context) /
	       (NS_PER_S / balance->setup.hz);
}

void ilb_balance_queued(struct ilb_balance *balance, unsigned int cpu)
{
	if (ilb_lb_queue(balance, cpu)->nr_running > 1)
		balance->overloaded = 1;
}

/* Rounded up, as the kernel does. */
static uint64_t ms_to_jiffies(const struct ilb_balance *b, uint64_t ms)
{
	return (ms * b->setup.hz + 999) / 1000;
}

int ilb_lb_core_idle(const struct ilb_balance *b, unsigned int cpu)
{
	const unsigned int *sibling = ilb_lb_topology(b)->sibling;
	unsigned int thread;

	for (thread = sibling[cpu]; thread != cpu; thread = sibling[thread])
		if (!ilb_lb_is_idle(b, thread))
			return 0;
	return 1;
}

void ilb_lb_refresh(struct ilb_balance *b, unsigned int cpu)
{
	b->setup.cpus[cpu].refreshed = ilb_balance_jiffies(b);
	if (!b->setup.host->refresh(b->setup.context, cpu))
		ilb_lb_queue(b, cpu)->has_blocked = 0;
}

uint64_t ilb_lb_interval(const struct ilb_balance *b,
			 const struct ilb_sched_domain *sd, int busy)
{
	uint64_t most = (uint64_t)b->setup.hz * b->online / 10;
	uint64_t ms = sd->balance_interval, interval;

	if (busy)
		ms *= sd->busy_factor;
	interval = ms_to_jiffies(b, ms);
	/* So that a busy CPU's levels are not all due in the same jiffy. */
	if (busy && interval)
		interval--;
	if (interval > most)
		interval = most;
	return interval ? interval : 1;
}

int ilb_lb_decay(const struct ilb_balance *b, struct ilb_sched_domain *sd)
{
	uint64_t now = ilb_balance_jiffies(b);

	if (now <= sd->last_decay + b->setup.hz)
		return 0;
	sd->max_newidle_cost = sd->max_newidle_cost * 253 / 256;
	sd->last_decay = now;
	return 1;
}

/* The periodic pass */

/* One CPU's pass, with what it learns on its way up. */
struct pass {
	struct ilb_balance *b;
	unsigned int cpu;
	enum ilb_idle_type idle;
	int busy;
	int go_on;
	int decayed;
	uint64_t next, cost;
};

static void set_idle(struct pass *pass, enum ilb_idle_type idle)
{
	pass->idle = idle;
	pass->busy = idle != ILB_IDLE_IDLE &&
		     !pass->b->setup.cpus[pass->cpu].only_idle;
}

/* Must it, and may it not, be the only CPU that balances? (up to 6.x) */
static int locked_out(const struct ilb_balance *b,
		      const struct ilb_sched_domain *sd)
{
	return (sd->span->flags & ILB_SD_SERIALIZE) &&
	       ilb_lb_behaviour(b)->serialize == ILB_SERIALIZE_BEFORE_DUE &&
	       b->serializing != ILB_CPU_NONE;
}

/* One level; 0: there is no point in the ones above it. */
static int balance_level(struct pass *pass, struct ilb_sched_domain *sd)
{
	struct ilb_balance *b = pass->b;
	int decayed = ilb_lb_decay(b, sd);
	uint64_t interval;

	pass->decayed |= decayed;
	pass->cost += sd->max_newidle_cost;
	if (!pass->go_on)
		return decayed;
	interval = ilb_lb_interval(b, sd, pass->busy);
	if (!locked_out(b, sd) &&
	    ilb_balance_jiffies(b) >= sd->last_balance + interval) {
		if (ilb_lb_run(b, pass->cpu, sd, pass->idle, &pass->go_on))
			set_idle(pass, ilb_lb_is_idle(b, pass->cpu) ?
				       ILB_IDLE_IDLE : ILB_IDLE_BUSY);
		sd->last_balance = ilb_balance_jiffies(b);
		interval = ilb_lb_interval(b, sd, pass->busy);
	}
	if (sd->last_balance + interval < pass->next)
		pass->next = sd->last_balance + interval;
	return 1;
}

static void balance_domains(struct ilb_balance *b, unsigned int cpu,
			    enum ilb_idle_type idle)
{
	uint64_t farthest = ilb_balance_jiffies(b) + 60 * b->setup.hz;
	struct pass pass = { .b = b, .cpu = cpu, .go_on = 1,
			     .next = farthest };
	struct ilb_balance_cpu *c = &b->setup.cpus[cpu];
	struct ilb_sched_domain *sd;

	set_idle(&pass, idle);
	for (sd = b->setup.domains->base[cpu]; sd; sd = sd->parent)
		if (!balance_level(&pass, sd))
			break;
	if (pass.decayed)
		c->max_cost = pass.cost > b->setup.migration_cost_ns ?
			      pass.cost : b->setup.migration_cost_ns;
	if (pass.next != farthest)
		ilb_lb_queue(b, cpu)->next_balance = pass.next;
}

/* The idle load balancer's pass */

/* Does @cpu still carry load that decays? */
static int still_blocked(struct ilb_balance *b, unsigned int cpu)
{
	const struct ilb_nohz *nohz = b->setup.nohz;

	if (!ilb_lb_queue(b, cpu)->has_blocked ||
	    !ilb_mask_test(nohz->setup.mask, cpu))
		return 0;
	if (ilb_balance_jiffies(b) <= b->setup.cpus[cpu].refreshed)
		return 1;
	ilb_lb_refresh(b, cpu);
	return ilb_lb_queue(b, cpu)->has_blocked;
}

struct ilb_pass {
	struct ilb_balance *b;
	unsigned int self, flags;
	uint64_t next;
	int has_next, blocked;
};

/* On behalf of @cpu; 0: this CPU has better things to do. */
static int visit(struct ilb_pass *pass, unsigned int cpu)
{
	struct ilb_balance *b = pass->b;
	struct ilb_nohz_cpu *c = ilb_lb_queue(b, cpu);

	b->visits++;
	if (!ilb_lb_is_idle(b, cpu))
		return 1;
	if (!ilb_lb_is_idle(b, pass->self) &&
	    b->setup.host->need_resched(b->setup.context, pass->self))
		return 0;
	if (pass->flags & ILB_KICK_STATS)
		pass->blocked |= still_blocked(b, cpu);
	if (ilb_balance_jiffies(b) >= c->next_balance &&
	    (pass->flags & ILB_KICK_BALANCE))
		balance_domains(b, cpu, ILB_IDLE_IDLE);
	if (c->next_balance < pass->next) {
		pass->next = c->next_balance;
		pass->has_next = 1;
	}
	return 1;
}

/* The CPUs of the mask, from the one after this one, which comes last. */
static int visit_all(struct ilb_pass *pass)
{
	const unsigned long *mask = pass->b->setup.nohz->setup.mask;
	unsigned int nr = ilb_lb_topology(pass->b)->nr_cpus;
	unsigned int cpu;

	for (cpu = ilb_mask_next(mask, nr, pass->self + 1); cpu < nr;
	     cpu = ilb_mask_next(mask, nr, cpu + 1))
		if (!visit(pass, cpu))
			return 0;
	for (cpu = ilb_mask_next(mask, nr, 0); cpu <= pass->self && cpu < nr;
	     cpu = ilb_mask_next(mask, nr, cpu + 1))
		if (!visit(pass, cpu))
			return 0;
	return 1;
}

static void idle_balance(struct ilb_balance *b, unsigned int self,
			 unsigned int flags)
{
	struct ilb_nohz *nohz = b->setup.nohz;
	uint64_t now = ilb_balance_jiffies(b);
	struct ilb_pass pass = { .b = b, .self = self, .flags = flags,
				 .next = now + 60 * b->setup.hz };

	b->ilb_passes++;
	/* Before looking, so that who registers meanwhile is not forgotten. */
	if (flags & ILB_KICK_STATS)
		nohz->has_blocked = 0;
	if (flags & ILB_KICK_NEXT)
		nohz->needs_update = 0;
	if (visit_all(&pass)) {
		if (pass.has_next)
			nohz->next_balance = pass.next;
		if (flags & ILB_KICK_STATS)
			nohz->next_blocked = now + ms_to_jiffies(b,
							BLOCKED_PERIOD_MS);
	} else {
		b->ilb_aborts++;
		if (flags & ILB_KICK_STATS)
			pass.blocked = 1;
		if (flags & ILB_KICK_NEXT)
			nohz->needs_update = 1;
	}
	if (pass.blocked)
		nohz->has_blocked = 1;
}

void ilb_balance_softirq(struct ilb_balance *balance, unsigned int cpu)
{
	struct ilb_nohz_cpu *c = ilb_lb_queue(balance, cpu);
	unsigned int flags = c->run;

	c->run = 0;
	/* Its own domains are among those of all, if it is registered. */
	if (flags && c->idle_balance) {
		idle_balance(balance, cpu, flags);
		return;
	}
	ilb_lb_refresh(balance, cpu);
	balance_domains(balance, cpu, c->idle_balance ? ILB_IDLE_IDLE :
						       ILB_IDLE_BUSY);
}

void ilb_balance_idle_enter(struct ilb_balance *balance, unsigned int cpu)
{
	struct ilb_llc *llc = ilb_lb_llc(balance, cpu);
	struct ilb_nohz_cpu *c = ilb_lb_queue(balance, cpu);
	unsigned int pending = c->pending;

	if (llc && ilb_lb_topology(balance)->smt &&
	    ilb_lb_core_idle(balance, cpu))
		llc->has_idle_cores = 1;
	c->pending &= ~(unsigned int)ILB_KICK_NEWILB;
	if (pending == ILB_KICK_NEWILB &&
	    !balance->setup.host->need_resched(balance->setup.context, cpu))
		idle_balance(balance, cpu, ILB_KICK_STATS);
}

void ilb_balance_woken(struct ilb_balance *balance, unsigned int cpu)
{
	struct ilb_balance_cpu *c = &balance->setup.cpus[cpu];
	int64_t slept;

	if (!c->idle_stamp)
		return;
	slept = (int64_t)(balance->setup.host->clock(balance->setup.context) -
			  c->idle_stamp);
	c->avg_idle = (uint64_t)((int64_t)c->avg_idle +
				 (slept - (int64_t)c->avg_idle) / 8);
	if (c->avg_idle > 2 * c->max_cost)
		c->avg_idle = 2 * c->max_cost;
	c->idle_stamp = 0;
}
