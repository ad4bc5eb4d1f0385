// SPDX-License-Identifier: GPL-2.0-only
/* Reports made by hand: what measure/, findings and replay/ may hand over. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_samples.h"

static void fill_capture(struct sample *sample)
{
	struct ilb_capture *capture = &sample->capture;

	sample->online[0] = 0xffff;
	sample->housekeeping[0] = 0x0f0f;
	snprintf(sample->path, sizeof(sample->path), "ilb.data");
	capture->path = sample->path;
	capture->topology.nr_cpus = SAMPLE_CPUS;
	capture->topology.online = sample->online;
	capture->topology.smt = 1;
	capture->system.housekeeping = sample->housekeeping;
	capture->system.housekeeping_known = 1;
	capture->system.nohz_full = sample->none;
	capture->system.isolated = sample->none;
	capture->system.hz = 250;
	snprintf(capture->system.kernel, sizeof(capture->system.kernel),
		 "6.12.95+deb12-cloud-amd64");
	sample->report.capture = capture;
	sample->report.hz = 250;
}

static void fill_source(struct sample *sample)
{
	sample->source.events = 123456;
	sample->source.unparsed = 7;
	sample->source.backwards = 2;
	sample->report.source = &sample->source;
}

static void fill_kicks(struct sample *sample)
{
	struct ilb_kicks *kicks = &sample->measures.kicks;
	unsigned int cpu;

	kicks->kicks_known = kicks->masks_known = kicks->dropped_known = 1;
	kicks->total = kicks->on_busy_core = kicks->avoidable = 377;
	kicks->dropped = 12;
	kicks->same_core = 101;
	kicks->same_llc = kicks->same_node = 377;
	kicks->assumed = 5;
	for (cpu = 0; cpu < 14; cpu++)
		sample->by_target[cpu] = 10 + cpu / 2;
	sample->by_target[14] = 377 - 182;
	sample->by_kicker[0] = 376;
	sample->by_kicker[9] = 1;
	kicks->by_target = sample->by_target;
	kicks->by_kicker = sample->by_kicker;
}

static void fill_runs(struct sample *sample)
{
	struct ilb_runs *runs = &sample->measures.runs;
	unsigned int i;

	runs->known = 1;
	runs->total = 365;
	runs->disturbed_ns = 120345678;
	for (i = 0; i < 365; i++) {
		ilb_hist_add(&runs->latency, 900 + 37 * i);
		ilb_hist_add(&runs->duration, 20000 + 700 * i + 3 * i * i);
	}
}

static void fill_victims(struct sample *sample)
{
	struct ilb_victim *victim;
	unsigned int i;

	for (i = 0; i < SAMPLE_VICTIMS; i++) {
		victim = &sample->victims[i];
		snprintf(victim->comm, sizeof(victim->comm), "spin%u", i);
		victim->pid = 400 + (int)i;
		victim->cpu = i % SAMPLE_CPUS;
		victim->running_ns = 6500000000;
		victim->disturbed_ns = 201500000 - 1000 * i;
		victim->kicks = 200 - i / 10;
	}
	sample->measures.victims = sample->victims;
	sample->measures.nr_victims = 12;
}

static void fill_domain(struct ilb_domain *domain, const char *name,
			unsigned int level)
{
	unsigned int type;

	snprintf(domain->name, sizeof(domain->name), "%s", name);
	domain->level = level;
	for (type = 0; type < ILB_IDLE_TYPES; type++) {
		domain->type[type].lb = 68482 / (level + type + 1);
		domain->type[type].balanced = 1408;
		domain->type[type].failed = 33;
		domain->type[type].gained = type;
		domain->type[type].imb_load = 90210;
		domain->type[type].imb_task = 17;
	}
}

static void fill_system(struct sample *sample)
{
	struct ilb_measures *measures = &sample->measures;

	measures->contention.known = measures->softirq.known = 1;
	measures->softirq.time_known = 1;
	measures->contention.busy_sibling = 1103;
	measures->contention.idle_sibling = 3815;
	measures->softirq.stranded_known = 1;
	measures->softirq.sched = 2625;
	measures->softirq.sched_ns = 98765432;
	measures->utilisation.known = measures->every_tick.known = 1;
	measures->utilisation.busy_ns = 27300000000;
	measures->every_tick.jiffies = 1700;
	measures->every_tick.kicked = 377;
	measures->tick.known = measures->waiting.known = 1;
	measures->tick.stops = 900;
	measures->tick.short_stops = 40;
	measures->waiting.stretches = 3;
	measures->waiting.longest_ns = 12000000;
	measures->waiting.total_ns = 20000000;
	measures->waiting.idle_cpu = 4;
	measures->waiting.waiting_cpu = 2;
	measures->waiting.pid = 777;
	sample->lost_cpus[0] = (struct ilb_lost_cpu){ 3, 2500000000, 1 };
	sample->lost_cpus[1] = (struct ilb_lost_cpu){ 9, 90000000, 0 };
	measures->lost_cpus = sample->lost_cpus;
	measures->nr_lost_cpus = 2;
	fill_domain(&measures->domains[0], "SMT", 0);
	fill_domain(&measures->domains[1], "domain1", 1);
	measures->nr_domains = 2;
	measures->schedstat_counts = 1;
	measures->schedstat_s = 6.875;
}

static struct ilb_finding *add_finding(struct sample *sample, const char *id,
				       enum ilb_severity severity,
				       const char *remedy)
{
	struct ilb_findings *findings = &sample->findings;
	struct ilb_finding *finding = &findings->finding[findings->count++];

	finding->id = id;
	finding->severity = severity;
	snprintf(finding->text, sizeof(finding->text),
		 "What %s found, said in a sentence that is long enough to be"
		 " wrapped at eighty columns", id);
	snprintf(finding->why, sizeof(finding->why), "It costs time.");
	snprintf(finding->remedy, sizeof(finding->remedy), "%s", remedy);
	return finding;
}

static void fill_findings(struct sample *sample)
{
	struct ilb_finding *finding;

	finding = add_finding(sample, "ilb-on-busy-core", ILB_SERIOUS,
			      "Try ilb fix trial.");
	finding->evidence[0].key = "kicks.on_busy_core";
	finding->evidence[0].value = 377;
	finding->evidence[1].key = "disturbed_pct";
	finding->evidence[1].value = 3.1;
	finding->evidence[2].key = "not-a-number";
	finding->evidence[2].value = NAN;
	finding->nr_evidence = 3;
	snprintf(finding->cpus, sizeof(finding->cpus), "1,3,5");
	add_finding(sample, "ilb-one-cpu", ILB_WARNING, "Spread it.");
	add_finding(sample, "tick-churn", ILB_UNKNOWN,
		    "record timer:tick_stop");
	add_finding(sample, "lost-nohz-full-cpu", ILB_UNKNOWN,
		    "record timer:tick_stop");
	add_finding(sample, "softirq-stranded", ILB_UNKNOWN,
		    "record irq:softirq_raise");
	sample->report.findings = &sample->findings;
}

static void fill_measures(struct sample *sample)
{
	struct ilb_measures *measures = &sample->measures;

	measures->nr_cpus = measures->cpus = SAMPLE_CPUS;
	measures->recorded = SAMPLE_CPUS;
	measures->start_ns = 1000000000;
	measures->end_ns = 7820000000;
	measures->kind = ILB_MOMENT_PROBED;
	sample->report.measures = measures;
}

static void make_full(struct sample *sample)
{
	fill_capture(sample);
	fill_source(sample);
	fill_measures(sample);
	fill_kicks(sample);
	fill_runs(sample);
	fill_victims(sample);
	fill_system(sample);
	fill_findings(sample);
}

static void make_exact(struct sample *sample)
{
	make_full(sample);
	sample->measures.kind = ILB_MOMENT_EXACT;
	sample->moments = (struct ilb_moments_totals){ .kicks = 380,
						       .lost = 3 };
	sample->pair = (struct ilb_pair_counts){ .paired = 370,
		.unpaired_kicks = 7, .unpaired_moments = 2, .outside = 5,
		.bits = 5920, .mask_agree = 5919, .idle_agree = 5800 };
	sample->report.moments = &sample->moments;
	sample->report.pair = &sample->pair;
}

static void make_unknown(struct sample *sample)
{
	fill_capture(sample);
	sample->capture.system.kernel[0] = '\0';
	sample->report.hz = 0;
	fill_measures(sample);
	sample->measures.end_ns = sample->measures.start_ns = 0;
	sample->measures.schedstat_counts = -1;
}

static void make_null(struct sample *sample)
{
	(void)sample;
}

static void make_empty(struct sample *sample)
{
	make_full(sample);
	memset(&sample->measures.kicks, 0, sizeof(sample->measures.kicks));
	sample->measures.kicks.kicks_known = 1;
	sample->measures.kicks.masks_known = 1;
	sample->measures.kicks.dropped_known = 1;
	memset(&sample->measures.runs, 0, sizeof(sample->measures.runs));
	sample->measures.runs.known = 1;
	sample->measures.nr_victims = 0;
	sample->measures.nr_domains = 0;
	sample->measures.nr_lost_cpus = 0;
	sample->measures.waiting.stretches = 0;
	sample->findings.count = 0;
}

static const struct ilb_policy_result results[SAMPLE_POLICIES] = {
	{ .name = "lowest", .kicks = 2205, .scored = 2205, .agree = 1040,
	  .decisive = 1160, .decisive_scored = 1160, .agree_decisive = 3,
	  .on_busy_core = 1164, .avoidable = 1160, .fallback = 4,
	  .looked_at = 3210, .looked_at_max = 12, .idle_cores_woken = 1041,
	  .same_llc = 1500, .same_node = 1500, .top = 803, .top_cpu = 1 },
	{ .name = "idle-core", .kicks = 2205, .scored = 2205, .agree = 2186,
	  .decisive = 1160, .decisive_scored = 1160, .agree_decisive = 1149,
	  .on_busy_core = 9, .fallback = 9, .looked_at = 9210,
	  .looked_at_max = 16, .idle_cores_woken = 2196, .same_llc = 1200,
	  .same_node = 1200, .top = 701, .top_cpu = 2 },
	{ .name = "idle-core-v1", .kicks = 2205, .scored = 2205, .agree = 2186,
	  .decisive = 1160, .decisive_scored = 1160, .agree_decisive = 1149,
	  .on_busy_core = 9, .fallback = 9, .looked_at = 12210,
	  .looked_at_max = 31, .idle_cores_woken = 2196, .same_llc = 1200,
	  .same_node = 1200, .top = 701, .top_cpu = 2 },
	{ .name = "wrap:8", .kicks = 2205, .scored = 2205, .agree = 20,
	  .decisive = 1160, .decisive_scored = 1160, .agree_decisive = 10,
	  .none = 5, .looked_at = 2210, .looked_at_max = 9,
	  .idle_cores_woken = 2100, .same_llc = 100, .same_node = 100,
	  .top = 2000, .top_cpu = 8 },
};

static void make_replay(struct sample *sample)
{
	fill_capture(sample);
	fill_source(sample);
	memcpy(sample->policies, results, sizeof(results));
	sample->report.command = "replay";
	sample->report.policies = sample->policies;
	sample->report.nr_policies = SAMPLE_POLICIES;
	sample->report.best = 1;
}

static void make_what_if(struct sample *sample)
{
	make_replay(sample);
	sample->report.what_if = "0,8";
}

static void make_no_kicker(struct sample *sample)
{
	unsigned int i;

	make_replay(sample);
	sample->report.best = -1;
	for (i = 0; i < SAMPLE_POLICIES; i++) {
		sample->policies[i].scored = 0;
		sample->policies[i].decisive_scored = 0;
		sample->policies[i].agree = 0;
		sample->policies[i].agree_decisive = 0;
		sample->policies[i].same_llc = 0;
		sample->policies[i].same_node = 0;
	}
}

/* Escapes, a bell, half a character, an overlong one, a surrogate. */
static const char nasty[] = "\033[2J\a\n\t\\\"\xc3\xa4\xff\xc0\xaf\xed\xa0\x80"
			    "\xf0\x9f\x92\xa3\xe2\x82";

static void make_hostile(struct sample *sample)
{
	struct sample *s = sample;
	unsigned int i;

	make_full(s);
	snprintf(s->capture.system.kernel, sizeof(s->capture.system.kernel),
		 "6.12%s", nasty);
	memset(s->path, 'p', sizeof(s->path) - 1);
	memcpy(s->path + 100, nasty, sizeof(nasty) - 1);
	for (i = 0; i < SAMPLE_VICTIMS; i++)
		snprintf(s->victims[i].comm, sizeof(s->victims[i].comm), "%s",
			 nasty + i % (sizeof(nasty) - 1));
	s->measures.nr_victims = SAMPLE_VICTIMS;
	s->victims[0].running_ns = 0;
	snprintf(s->findings.finding[0].text,
		 sizeof(s->findings.finding[0].text), "%s%200s", nasty, "x");
	memset(s->findings.finding[1].text, 'y',
	       sizeof(s->findings.finding[1].text) - 1);
	s->source.lost = UINT64_MAX;
	s->measures.kicks.total = UINT64_MAX;
	s->by_target[3] = UINT64_MAX;
	s->measures.end_ns = UINT64_MAX;
	ilb_hist_add(&s->measures.runs.duration, UINT64_MAX);
	s->measures.runs.duration.log2_us[40] = UINT64_MAX;
	s->measures.domains[0].type[0].lb = UINT64_MAX;
	memset(s->measures.domains[0].name, 'N',
	       sizeof(s->measures.domains[0].name));
	s->measures.schedstat_s = NAN;
}

static const struct {
	const char *name;
	void (*make)(struct sample *sample);
} makers[] = {
	{ "full", make_full },
	{ "exact", make_exact },
	{ "unknown", make_unknown },
	{ "null", make_null },
	{ "empty", make_empty },
	{ "replay", make_replay },
	{ "what-if", make_what_if },
	{ "no-kicker", make_no_kicker },
	{ "hostile", make_hostile },
};

const char *const sample_names[] = {
	"full", "exact", "unknown", "null", "empty", "replay", "what-if",
	"no-kicker", "hostile", NULL,
};

int sample_make(struct sample *sample, const char *name)
{
	unsigned int i;

	memset(sample, 0, sizeof(*sample));
	sample->report.command = "report";
	sample->report.best = -1;
	for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		if (strcmp(makers[i].name, name))
			continue;
		makers[i].make(sample);
		return 0;
	}
	return -1;
}
