// SPDX-License-Identifier: GPL-2.0-only
/*
 * Judgements over the measures: one function a finding. Each either adds its
 * finding, adds that the input cannot judge it, or is content.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ilb/findings.h"

#define MS	1000000.0
#define S	1000000000.0

/* A task that ran less is not judged by its share: 10 ms. */
#define VICTIM_MIN_NS	10000000ULL

struct judge {
	struct ilb_findings *findings;
	const struct ilb_findings_input *in;
	const struct ilb_measures *m;
	double span_s;
};

static struct ilb_finding *add(struct judge *j, const char *id,
			       enum ilb_severity severity)
{
	struct ilb_finding *f = &j->findings->finding[j->findings->count++];

	memset(f, 0, sizeof(*f));
	f->id = id;
	f->severity = severity;
	return f;
}

static void evidence(struct ilb_finding *f, const char *key, double value)
{
	f->evidence[f->nr_evidence].key = key;
	f->evidence[f->nr_evidence++].value = value;
}

#define SAY(field, ...)	snprintf((field), sizeof(field), __VA_ARGS__)

static void unknown(struct judge *j, const char *id, const char *what,
		    const char *needs)
{
	struct ilb_finding *f = add(j, id, ILB_UNKNOWN);

	SAY(f->text, "%s cannot be judged from this input", what);
	SAY(f->remedy, "%s", j->in->no_trace ?
	    "needs a trace; record without --moments-only" : needs);
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100.0 * part / whole : 0;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* A list that is too long ends after its last whole entry that fits. */
static void print_cpus(struct ilb_finding *f, const unsigned long *cpus,
		       unsigned int nr)
{
	unsigned int size = sizeof(f->cpus);

	if (ilb_cpulist_print(f->cpus, size, cpus, nr) >= size)
		*strrchr(f->cpus, ',') = '\0';
}

static const char record_kicks[] =
	"record csd:csd_queue_cpu (6.4 and later), or a probe on smp_call_function_single_async, or irq:softirq_raise with timer:hrtimer_expire_entry";

/* ---- ilb-on-busy-core ---- */

/* The task that lost the largest share of its time, or NULL. */
static const struct ilb_victim *worst_victim(const struct ilb_measures *m)
{
	const struct ilb_victim *worst = NULL;
	double share, worst_share = 0;
	unsigned int i;

	for (i = 0; i < m->nr_victims; i++) {
		if (m->victims[i].running_ns < VICTIM_MIN_NS)
			continue;
		share = percent((double)m->victims[i].disturbed_ns,
				(double)m->victims[i].running_ns);
		if (share <= worst_share)
			continue;
		worst_share = share;
		worst = &m->victims[i];
	}
	return worst;
}

static enum ilb_severity severity_of_share(double disturbed_pct)
{
	if (disturbed_pct >= 5)
		return ILB_SERIOUS;
	return disturbed_pct >= 1 ? ILB_WARNING : ILB_INFO;
}

/* A task's name may hold any byte; a text is one line. */
static void print_name(char name[ILB_COMM_LEN], const struct ilb_victim *v)
{
	unsigned int i;

	for (i = 0; i < ILB_COMM_LEN - 1 && v->comm[i]; i++)
		name[i] = (unsigned char)v->comm[i] < 0x20 ||
			  v->comm[i] == 0x7f ? '?' : v->comm[i];
	name[i] = '\0';
}

static void describe_victim(struct ilb_finding *f, const struct ilb_victim *v,
			    const char *kicks)
{
	double share = percent((double)v->disturbed_ns, (double)v->running_ns);
	char name[ILB_COMM_LEN];

	print_name(name, v);
	SAY(f->text,
	    "%s; %s (pid %d) on CPU %u was disturbed for %.1f %% of its running time",
	    kicks, name[0] ? name : "a task", v->pid, v->cpu, share);
	evidence(f, "worst_disturbed_pct", share);
	evidence(f, "worst_pid", v->pid);
}

static void on_busy_core(struct judge *j)
{
	const struct ilb_kicks *k = &j->m->kicks;
	const struct ilb_victim *v = worst_victim(j->m);
	enum ilb_severity severity = ILB_INFO;
	struct ilb_finding *f;
	char kicks[160];

	if (!k->kicks_known) {
		unknown(j, "ilb-on-busy-core", "where ILB kicks go",
			record_kicks);
		return;
	}
	if (!j->in->topology->smt || !k->on_busy_core)
		return;
	if (v)
		severity = severity_of_share(percent((double)v->disturbed_ns,
						     (double)v->running_ns));
	if (severity == ILB_INFO && k->on_busy_core * 100 < k->total)
		return;
	f = add(j, "ilb-on-busy-core", severity);
	SAY(kicks, "%" PRIu64 " of %" PRIu64 " ILB kicks woke the idle sibling of a busy core",
	    k->on_busy_core, k->total);
	evidence(f, "on_busy_core", (double)k->on_busy_core);
	evidence(f, "kicks", (double)k->total);
	if (k->masks_known)
		evidence(f, "avoidable", (double)k->avoidable);
	if (v)
		describe_victim(f, v, kicks);
	else
		SAY(f->text, "%s%s", kicks,
		    j->m->runs.known ? "" : "; the time that it cost is unknown");
	SAY(f->why,
	    "an awake sibling shares the core's resources; on most SMT parts that is cheap, on NVIDIA Vera full speed returns only 10240 cycles after the sibling is idle again");
	SAY(f->remedy,
	    "see what another rule would do with 'ilb replay' (Linux 7.3 and later prefer fully idle cores); keep the lowest housekeeping core idle ('ilb check --busy LIST')");
}

/* ---- ilb-one-cpu, ilb-every-tick ---- */

static void one_cpu(struct judge *j)
{
	const struct ilb_kicks *k = &j->m->kicks;
	unsigned int cpu, top = 0;
	struct ilb_finding *f;

	if (!k->kicks_known) {
		unknown(j, "ilb-one-cpu", "how ILB kicks spread over CPUs",
			record_kicks);
		return;
	}
	if (k->total < 100)
		return;
	for (cpu = 1; cpu < j->m->nr_cpus; cpu++)
		if (k->by_target[cpu] > k->by_target[top])
			top = cpu;
	if (k->by_target[top] * 10 < k->total * 9)
		return;
	f = add(j, "ilb-one-cpu", ILB_INFO);
	SAY(f->text, "CPU %u was the target of %.0f %% of the %" PRIu64 " kicks",
	    top, percent((double)k->by_target[top], (double)k->total),
	    k->total);
	SAY(f->cpus, "%u", top);
	evidence(f, "cpu", top);
	evidence(f, "share_pct",
		 percent((double)k->by_target[top], (double)k->total));
	SAY(f->why,
	    "the rules of Linux up to 7.3 scan from the lowest CPU, so one CPU is woken for all idle load balancing as long as it qualifies");
	SAY(f->remedy,
	    "keep latency-critical work and its siblings off CPU %u; 'ilb replay --policy round-robin,near' shows what spreading would do",
	    top);
}

static void every_tick(struct judge *j)
{
	uint64_t jiffies = j->m->every_tick.jiffies;
	uint64_t kicked = j->m->every_tick.kicked;
	struct ilb_finding *f;

	if (!j->m->every_tick.known) {
		unknown(j, "ilb-every-tick", "how many ticks send a kick",
			j->m->kicks.kicks_known ?
			"record timer:hrtimer_expire_entry, which tells the tick rate" :
			record_kicks);
		return;
	}
	if (jiffies < 100 || kicked * 10 < jiffies * 9)
		return;
	f = add(j, "ilb-every-tick", ILB_INFO);
	SAY(f->text, "a kick was sent in %.0f %% of the %" PRIu64 " ticks in which some CPU was busy",
	    percent((double)kicked, (double)jiffies), jiffies);
	evidence(f, "ticks", (double)jiffies);
	evidence(f, "kicked", (double)kicked);
	SAY(f->why,
	    "with many idle CPUs some CPU is due for balancing on nearly every tick, so nearly every tick wakes one to balance them all");
	SAY(f->remedy,
	    "a lower tick rate (CONFIG_HZ) lowers the rate; CPUs with isolcpus=domain neither kick nor are balanced");
}

/* ---- nohz_full ---- */

static void no_target(struct judge *j)
{
	unsigned int nr = j->m->nr_cpus;
	struct ilb_finding *f;
	unsigned int n;

	if (!j->in->nohz_full || ilb_mask_empty(j->in->nohz_full, nr))
		return;
	n = ilb_mask_weight(j->in->housekeeping, nr);
	/* A kick that was seen proves that housekeeping is not as given. */
	if (n > 1 || j->m->kicks.total)
		return;
	f = add(j, "no-housekeeping-target", ILB_SERIOUS);
	SAY(f->text,
	    "there is one housekeeping CPU, so no CPU can ever be the idle load balancer");
	print_cpus(f, j->in->housekeeping, nr);
	evidence(f, "housekeeping_cpus", n);
	SAY(f->why,
	    "with nohz_full the timekeeper, a housekeeping CPU, never stops its tick and so never qualifies: nobody balances for the CPUs whose tick is stopped");
	SAY(f->remedy,
	    "leave at least two CPUs, better two whole cores, out of nohz_full=");
}

static void list_lost(struct ilb_finding *f, const struct ilb_measures *m)
{
	unsigned long cpus[ILB_MASK_WORDS(ILB_CPUS_MAX)] = { 0 };
	unsigned int i;

	for (i = 0; i < m->nr_lost_cpus; i++)
		ilb_mask_set(cpus, m->lost_cpus[i].cpu);
	print_cpus(f, cpus, ILB_CPUS_MAX);
}

/* The first four, with their times. */
static void describe_lost(struct ilb_finding *f, const struct judge *j)
{
	const struct ilb_measures *m = j->m;
	char times[160] = "";
	unsigned int i;
	int n = 0;

	for (i = 0; i < m->nr_lost_cpus && i < 4; i++)
		n += snprintf(times + n, sizeof(times) - (size_t)n,
			      "%sCPU %u for %.1f s", i ? ", " : "",
			      m->lost_cpus[i].cpu,
			      (double)m->lost_cpus[i].lost_ns / S);
	SAY(f->text, "idle with the tick stopped, but missing from the idle mask: %s%s (of %.1f s)%s",
	    times, m->nr_lost_cpus > 4 ? " ..." : "", j->span_s,
	    m->probed ? "" :
	    "; without probes only losses that began in this trace are known");
}

static void lost_cpu(struct judge *j)
{
	const struct ilb_measures *m = j->m;
	double longest = 0, sum = 0;
	struct ilb_finding *f;
	unsigned int i;

	if (!j->in->nohz_full || ilb_mask_empty(j->in->nohz_full, m->nr_cpus))
		return;
	if (!m->tick.known && !m->probed) {
		unknown(j, "lost-nohz-full-cpu",
			"whether idle nohz_full CPUs are missing from the mask",
			"record timer:tick_stop and sched:sched_switch, or a probe on nohz_balance_enter_idle that reads the mask");
		return;
	}
	if (!m->nr_lost_cpus)
		return;
	for (i = 0; i < m->nr_lost_cpus; i++) {
		double s = (double)m->lost_cpus[i].lost_ns / S;

		sum += s;
		longest = s > longest ? s : longest;
	}
	f = add(j, "lost-nohz-full-cpu",
		longest >= 1 ? ILB_SERIOUS : ILB_WARNING);
	describe_lost(f, j);
	list_lost(f, m);
	evidence(f, "cpus", m->nr_lost_cpus);
	evidence(f, "lost_s", sum);
	evidence(f, "longest_s", longest);
	if (m->probed)
		evidence(f, "missing_from_start", m->missing_from_start);
	SAY(f->why,
	    "if the tick stops while a task runs, going idle does not enter the CPU in the mask: the idle load balancer does not see it, and queued tasks may not reach it for seconds");
	SAY(f->remedy,
	    "a short pinned task with an armed ITIMER_PROF restarts the tick and mostly heals the CPU, until the next time; no kernel up to 7.3 has the fix");
}

/* ---- work conservation, tick, softirqs, the trace itself ---- */

static void idle_while_waiting(struct judge *j)
{
	const struct ilb_measures *m = j->m;
	double longest_ms = (double)m->waiting.longest_ns / MS;
	enum ilb_severity severity = ILB_INFO;
	struct ilb_finding *f;

	if (!m->waiting.known) {
		unknown(j, "idle-while-waiting",
			"whether tasks wait beside idle CPUs",
			"record sched:sched_switch and sched:sched_wakeup");
		return;
	}
	if (!m->waiting.stretches)
		return;
	if (longest_ms >= 100)
		severity = longest_ms >= 1000 ? ILB_SERIOUS : ILB_WARNING;
	f = add(j, "idle-while-waiting", severity);
	SAY(f->text,
	    "%" PRIu64 " time%s a movable task waited over a tick while a CPU of the same cache was idle; longest %.1f ms: pid %d on CPU %u, CPU %u idle",
	    m->waiting.stretches, plural(m->waiting.stretches), longest_ms,
	    m->waiting.pid, m->waiting.waiting_cpu, m->waiting.idle_cpu);
	evidence(f, "stretches", (double)m->waiting.stretches);
	evidence(f, "longest_ms", longest_ms);
	evidence(f, "total_ms", (double)m->waiting.total_ns / MS);
	SAY(f->why,
	    "a CPU did nothing while work for it may have been there: balancing came late or not at all");
	SAY(f->remedy,
	    "look for lost-nohz-full-cpu and no-housekeeping-target; the affinity of the task may also have forbidden the idle CPU, which a trace does not show");
}

static void tick_churn(struct judge *j)
{
	const struct ilb_measures *m = j->m;
	double per_cpu_s = 0;
	struct ilb_finding *f;

	if (!m->tick.known) {
		unknown(j, "tick-churn", "for how long ticks stop",
			"record timer:tick_stop and sched:sched_switch");
		return;
	}
	if (j->span_s > 0 && m->recorded)
		per_cpu_s = (double)m->tick.short_stops / j->span_s / m->recorded;
	if (m->tick.short_stops * 2 < m->tick.stops || per_cpu_s < 10)
		return;
	f = add(j, "tick-churn", per_cpu_s >= 100 ? ILB_WARNING : ILB_INFO);
	SAY(f->text, "%" PRIu64 " of %" PRIu64 " tick stops ended within a tick (%.0f per CPU and second)",
	    m->tick.short_stops, m->tick.stops, per_cpu_s);
	evidence(f, "stops", (double)m->tick.stops);
	evidence(f, "short_stops", (double)m->tick.short_stops);
	evidence(f, "per_cpu_per_second", per_cpu_s);
	SAY(f->why,
	    "each stop and restart programs the timer (in a guest each is an exit) and may change the shared idle mask, for no tick saved");
	SAY(f->remedy,
	    "the governors menu and teo keep the tick when they expect a short idle (see /sys/devices/system/cpu/cpuidle/); or batch the wakeups of the workload");
}

static void stranded(struct judge *j)
{
	struct ilb_finding *f;

	if (!j->m->softirq.stranded_known) {
		unknown(j, "softirq-stranded",
			"whether SCHED softirqs are left behind in idle",
			"record irq:softirq_raise, irq:softirq_entry and power:cpu_idle");
		return;
	}
	if (!j->m->softirq.stranded)
		return;
	f = add(j, "softirq-stranded", ILB_WARNING);
	SAY(f->text, "%" PRIu64 " SCHED softirq%s raised but had not run when the CPU went idle",
	    j->m->softirq.stranded,
	    j->m->softirq.stranded == 1 ? " was" : "s were");
	evidence(f, "stranded", (double)j->m->softirq.stranded);
	SAY(f->why,
	    "balancing that was due did not happen then; the kernel may print 'NOHZ tick-stop error: ... handler #80'");
	SAY(f->remedy,
	    "reported at CPU offline, at suspend and when a sched_ext scheduler is unloaded; elsewhere report it to the scheduler's maintainers with this trace");
}

static void lost_events(struct judge *j)
{
	struct ilb_finding *f;

	if (!j->in->lost_events)
		return;
	f = add(j, "lost-events", ILB_SERIOUS);
	SAY(f->text, "the tracer lost %" PRIu64 " event%s: counts are too low, and states may be wrong for a while after each gap",
	    j->in->lost_events, plural(j->in->lost_events));
	evidence(f, "lost_events", (double)j->in->lost_events);
	SAY(f->why, "a missing switch or kick is not seen by any measure");
	SAY(f->remedy,
	    "record again with larger buffers (trace-cmd -b KB) or fewer events");
}

static const struct {
	const char *id;
	void (*judge)(struct judge *j);
} findings[] = {
	{ "lost-events", lost_events },
	{ "ilb-on-busy-core", on_busy_core },
	{ "no-housekeeping-target", no_target },
	{ "lost-nohz-full-cpu", lost_cpu },
	{ "idle-while-waiting", idle_while_waiting },
	{ "ilb-one-cpu", one_cpu },
	{ "ilb-every-tick", every_tick },
	{ "tick-churn", tick_churn },
	{ "softirq-stranded", stranded },
};

#define NR_FINDINGS	(sizeof(findings) / sizeof(findings[0]))

int ilb_finding_known(const char *id)
{
	size_t i;

	for (i = 0; i < NR_FINDINGS; i++)
		if (!strcmp(findings[i].id, id))
			return 1;
	return 0;
}

const char *ilb_severity_name(enum ilb_severity severity)
{
	static const char *const names[] = {
		[ILB_UNKNOWN] = "unknown",
		[ILB_INFO] = "info",
		[ILB_WARNING] = "warning",
		[ILB_SERIOUS] = "serious",
	};

	return names[severity];
}

/* Gravest first; of equals in the order of the table. */
static void sort(struct ilb_findings *list)
{
	struct ilb_finding f;
	unsigned int i, k;

	for (i = 1; i < list->count; i++) {
		f = list->finding[i];
		for (k = i; k && list->finding[k - 1].severity < f.severity;
		     k--)
			list->finding[k] = list->finding[k - 1];
		list->finding[k] = f;
	}
}

void ilb_findings_judge(struct ilb_findings *list,
			const struct ilb_findings_input *input)
{
	const struct ilb_measures *m = input->measures;
	struct judge j = {
		.findings = list,
		.in = input,
		.m = m,
		.span_s = (double)(m->end_ns - m->start_ns) / S,
	};
	size_t i;

	list->count = 0;
	for (i = 0; i < NR_FINDINGS; i++)
		findings[i].judge(&j);
	sort(list);
}
