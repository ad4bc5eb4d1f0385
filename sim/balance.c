// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine as the model of the balancer sees it, and what the balancer's
 * work costs: its clock goes on with each domain it tries.
 */

#include <stdlib.h>

#include "sim/sim.h"

/* Time that this pass has taken so far. */
static uint64_t spent(const struct ilb_sim *sim)
{
	const struct ilb_balance *b = &sim->balance;

	return (b->attempts - sim->pass_attempts) * sim->costs->attempt +
	       (b->looked_at - sim->pass_looked_at) * sim->costs->attempt_cpu +
	       (b->visits - sim->pass_visits) * sim->costs->visit;
}

static void pass_begins(struct ilb_sim *sim, unsigned int cpu)
{
	sim->balancing = cpu;
	sim->pass_attempts = sim->balance.attempts;
	sim->pass_looked_at = sim->balance.looked_at;
	sim->pass_visits = sim->balance.visits;
}

static uint64_t pass_ends(struct ilb_sim *sim)
{
	uint64_t ns = spent(sim);

	pass_begins(sim, ILB_CPU_NONE);
	return ns;
}

static uint64_t host_clock(void *context)
{
	struct ilb_sim *sim = context;

	return sim->now + spent(sim);
}

static int host_need_resched(void *context, unsigned int cpu)
{
	struct ilb_sim *sim = context;

	return sim->cpu[cpu].resched;
}

static int host_refresh(void *context, unsigned int cpu)
{
	struct ilb_sim *sim = context;
	const struct ilb_balance_cpu *b = &sim->balance_cpu[cpu];

	ilb_sim_average(sim, cpu);
	return b->load || b->util || b->runnable;
}

/* The last in the queue first; what runs is at the other end. */
static const struct ilb_sim_task *task_at(const struct ilb_sim *sim,
					  unsigned int cpu, unsigned int index)
{
	const struct ilb_sim_cpu *c = &sim->cpu[cpu];
	const struct ilb_sim_task *t = c->tail;

	for (; t && index; index--)
		t = t->prev;
	return t ? t : !index ? c->current : NULL;
}

static int host_task(void *context, unsigned int cpu, unsigned int index,
		     struct ilb_lb_task *task)
{
	struct ilb_sim *sim = context;
	const struct ilb_sim_task *t = task_at(sim, cpu, index);
	unsigned int nr = sim->rq[cpu].nr_running;

	if (!t)
		return 0;
	*task = (struct ilb_lb_task){
		.id = (uint64_t)(t - sim->task),
		.load = sim->balance_cpu[cpu].load / (nr ? nr : 1),
		.util = sim->balance_cpu[cpu].util / (nr ? nr : 1),
		.allowed = t->plan->allowed,
		.ran_ns = t->state == ILB_SIM_TASK_RUNNING ? sim->now
							   : t->ran_ns,
		.preferred_llc = ILB_CPU_NONE,
		.running = t->state == ILB_SIM_TASK_RUNNING,
	};
	return 1;
}

static void host_move(void *context, uint64_t id, unsigned int from,
		      unsigned int to)
{
	struct ilb_sim *sim = context;

	(void)from;
	ilb_sim_move(sim, &sim->task[id], to);
	if (to != sim->balancing && sim->cpu[to].resched)
		ilb_sim_ipi(sim, to);
}

static void host_push(void *context, unsigned int from, unsigned int to)
{
	struct ilb_sim *sim = context;

	(void)to;
	sim->cpu[from].pushes = 1;
	ilb_sim_ipi(sim, from);
}

static const struct ilb_host host = {
	.clock = host_clock,
	.need_resched = host_need_resched,
	.refresh = host_refresh,
	.task = host_task,
	.move = host_move,
	.push = host_push,
};

/* CPUs came up one after the other, and are not due in one jiffy. */
static void stagger(struct ilb_sim *sim)
{
	struct ilb_sched_domain *sd;
	unsigned int cpu, ms;

	ilb_for_each_cpu(cpu, sim->topology->online, sim->nr_cpus)
		for (sd = sim->domains.base[cpu]; sd; sd = sd->parent) {
			ms = ilb_random_below(&sim->random, sd->max_interval);
			sd->last_balance = (uint64_t)ms *
				sim->plan->kernel.hz / 1000;
		}
}

static int init_domains(struct ilb_sim *sim, struct ilb_error *error)
{
	const struct ilb_domains_setup setup = {
		.topology = sim->topology,
		.behaviour = &sim->plan->kernel.behaviour,
		.isolated = sim->plan->kernel.isolated,
	};
	int err;

	sim->domain_memory = malloc(ilb_domains_size(&setup));
	sim->packing = calloc(sim->nr_cpus, sizeof(*sim->packing));
	sim->unequal = calloc(sim->nr_cpus, sizeof(*sim->unequal));
	if (!sim->domain_memory || !sim->packing || !sim->unequal)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	err = ilb_domains_init(&sim->domains, &setup, sim->domain_memory);
	if (err)
		return ilb_fail(error, (enum ilb_err)-err,
				"%s: no scheduling domains for it: %s; please report it",
				sim->plan->machine.name, ilb_strerror(err));
	stagger(sim);
	ilb_domains_gates(&sim->domains, sim->packing, sim->unequal);
	return 0;
}

int ilb_sim_balance_init(struct ilb_sim *sim, struct ilb_error *error)
{
	struct ilb_balance_setup setup = {
		.nohz = &sim->nohz,
		.domains = &sim->domains,
		.host = &host,
		.context = sim,
		.hz = sim->plan->kernel.hz,
		.seed = sim->plan->seed,
		.scratch = sim->balance_scratch,
	};
	int err;

	err = init_domains(sim, error);
	if (err)
		return err;
	sim->balance_cpu = calloc(sim->nr_cpus, sizeof(*sim->balance_cpu));
	sim->llc = calloc(sim->nr_cpus, sizeof(*sim->llc));
	if (!sim->balance_cpu || !sim->llc)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	setup.cpus = sim->balance_cpu;
	setup.llcs = sim->llc;
	err = ilb_sim_nohz_init(sim, error);
	if (err)
		return err;
	ilb_balance_init(&sim->balance, &setup);
	pass_begins(sim, ILB_CPU_NONE);
	return 0;
}

void ilb_sim_balance_free(struct ilb_sim *sim)
{
	free(sim->domain_memory);
	free(sim->packing);
	free(sim->unequal);
	free(sim->balance_cpu);
	free(sim->llc);
}

uint64_t ilb_sim_balance(struct ilb_sim *sim, unsigned int cpu)
{
	uint64_t passes = sim->balance.ilb_passes, ns;

	pass_begins(sim, cpu);
	ilb_balance_softirq(&sim->balance, cpu);
	ns = pass_ends(sim) + sim->costs->softirq;
	if (sim->balance.ilb_passes != passes) {
		/* Flags at its begin, the mask, the next time at its end. */
		if (sim->lines.line) {
			ilb_sim_touch(sim, cpu, ILB_TOUCH_FIELDS_WRITE);
			ilb_sim_touch(sim, cpu, ILB_TOUCH_MASK_WALK);
		}
		sim->result.passes++;
		sim->result.pass_ns += ns;
	}
	return ns;
}

uint64_t ilb_sim_newidle(struct ilb_sim *sim, unsigned int cpu)
{
	pass_begins(sim, cpu);
	ilb_balance_newidle(&sim->balance, cpu);
	return pass_ends(sim);
}

void ilb_sim_push(struct ilb_sim *sim, unsigned int cpu)
{
	pass_begins(sim, ILB_CPU_NONE);
	ilb_balance_push(&sim->balance, cpu);
}
