// SPDX-License-Identifier: GPL-2.0-only
/* Measures in JSON. A part whose known flag is 0 is left out. */

#include <stdlib.h>

#include "ilb/error.h"
#include "report/json.h"
#include "report/view.h"

#define VICTIMS_MAX	1000U

/* Above the last bucket's border any ns fits: 2^64 ns are below 2^55 us. */
#define LAST_BORDER	55

static void set_ranking(struct ilb_json *json, json_t *object, const char *key,
			const uint64_t *kicks, unsigned int nr_cpus)
{
	struct ilb_rank *ranks;
	json_t *array, *entry;
	unsigned int nr, i;

	if (!kicks)
		return;
	if (ilb_rank_make(&ranks, &nr, kicks, nr_cpus)) {
		json->failed = 1;
		return;
	}
	array = json_array();
	for (i = 0; i < nr; i++) {
		entry = json_object();
		ilb_json_count(json, entry, "cpu", ranks[i].cpu);
		ilb_json_count(json, entry, "kicks", ranks[i].kicks);
		ilb_json_append(json, array, entry);
	}
	ilb_json_set(json, object, key, array);
	free(ranks);
}

static void set_placement(struct ilb_json *json, json_t *object,
			  const struct ilb_measures *measures)
{
	const struct ilb_kicks *kicks = &measures->kicks;

	ilb_json_count(json, object, "idle_cores_woken",
		       kicks->idle_cores_woken);
	ilb_json_count(json, object, "kicker_unknown", kicks->kicker_unknown);
	if (!kicks->total || ilb_view_placed(kicks)) {
		ilb_json_count(json, object, "same_core", kicks->same_core);
		ilb_json_count(json, object, "same_llc", kicks->same_llc);
		ilb_json_count(json, object, "same_node", kicks->same_node);
	}
	set_ranking(json, object, "by_target", kicks->by_target,
		    measures->nr_cpus);
	if (!kicks->total || kicks->kicker_unknown < kicks->total)
		set_ranking(json, object, "by_kicker", kicks->by_kicker,
			    measures->nr_cpus);
}

static void set_kicks(struct ilb_json *json, json_t *root,
		      const struct ilb_measures *measures)
{
	const struct ilb_kicks *kicks = &measures->kicks;
	double seconds = ilb_view_seconds(measures);
	json_t *object;

	if (!kicks->kicks_known)
		return;
	object = json_object();
	ilb_json_count(json, object, "total", kicks->total);
	if (seconds > 0)
		ilb_json_real(json, object, "per_second",
			      (double)kicks->total / seconds);
	ilb_json_count(json, object, "on_busy_core", kicks->on_busy_core);
	if (kicks->masks_known)
		ilb_json_count(json, object, "avoidable", kicks->avoidable);
	if (kicks->dropped_known)
		ilb_json_count(json, object, "dropped", kicks->dropped);
	if (kicks->masks_known)
		ilb_json_count(json, object, "fallback", kicks->fallback);
	if (ilb_view_no_target(measures))
		ilb_json_count(json, object, "no_target", kicks->no_target);
	set_placement(json, object, measures);
	ilb_json_set(json, root, "kicks", object);
}

static json_t *bucket_of(struct ilb_json *json, unsigned int bucket,
			 uint64_t count)
{
	unsigned int lt = bucket < ILB_HIST_LOG2 - 1 ? bucket : LAST_BORDER;
	json_t *object = json_object();

	ilb_json_count(json, object, "ge", bucket ? 1ULL << (bucket - 1) : 0);
	ilb_json_count(json, object, "lt", 1ULL << lt);
	ilb_json_count(json, object, "count", count);
	return object;
}

static json_t *buckets_of(struct ilb_json *json, const struct ilb_hist *hist)
{
	unsigned int first = 0, last = ILB_HIST_LOG2, i;
	json_t *array = json_array();

	while (last > 0 && !hist->log2_us[last - 1])
		last--;
	while (first < last && !hist->log2_us[first])
		first++;
	for (i = first; i < last; i++)
		ilb_json_append(json, array,
				bucket_of(json, i, hist->log2_us[i]));
	return array;
}

static json_t *hist_of(struct ilb_json *json, const struct ilb_hist *hist)
{
	json_t *object = json_object();

	ilb_json_count(json, object, "count", hist->count);
	if (hist->count) {
		ilb_json_real(json, object, "mean", (double)hist->sum_ns /
			      (double)hist->count / 1e3);
		ilb_json_us(json, object, "p50", ilb_hist_percentile(hist, 50));
		ilb_json_us(json, object, "p99", ilb_hist_percentile(hist, 99));
		ilb_json_us(json, object, "max", hist->max_ns);
	}
	ilb_json_set(json, object, "log2", buckets_of(json, hist));
	return object;
}

static void set_runs(struct ilb_json *json, json_t *root,
		     const struct ilb_runs *runs)
{
	json_t *object;

	if (!runs->known)
		return;
	object = json_object();
	ilb_json_count(json, object, "total", runs->total);
	ilb_json_set(json, object, "duration_us",
		     hist_of(json, &runs->duration));
	ilb_json_set(json, object, "latency_us", hist_of(json, &runs->latency));
	ilb_json_us(json, object, "disturbed_us", runs->disturbed_ns);
	ilb_json_set(json, root, "runs", object);
}

static void set_system(struct ilb_json *json, json_t *root,
		       const struct ilb_measures *measures)
{
	json_t *object;

	if (measures->contention.known) {
		object = json_object();
		ilb_json_count(json, object, "busy_sibling",
			       measures->contention.busy_sibling);
		ilb_json_count(json, object, "idle_sibling",
			       measures->contention.idle_sibling);
		ilb_json_set(json, root, "contention", object);
	}
	if (measures->softirq.known) {
		object = json_object();
		ilb_json_count(json, object, "sched", measures->softirq.sched);
		if (measures->softirq.time_known)
			ilb_json_us(json, object, "sched_time_us",
				    measures->softirq.sched_ns);
		if (measures->softirq.stranded_known)
			ilb_json_count(json, object, "stranded",
				       measures->softirq.stranded);
		ilb_json_set(json, root, "softirq", object);
	}
	if (measures->utilisation.known && ilb_view_cpu_ns(measures)) {
		object = json_object();
		ilb_json_percent(json, object, "busy_pct",
				 measures->utilisation.busy_ns,
				 ilb_view_cpu_ns(measures));
		ilb_json_set(json, root, "utilisation", object);
	}
}

static void set_ticks(struct ilb_json *json, json_t *root,
		      const struct ilb_measures *measures)
{
	json_t *object;

	if (measures->tick.known) {
		object = json_object();
		ilb_json_count(json, object, "stops", measures->tick.stops);
		ilb_json_count(json, object, "short_stops",
			       measures->tick.short_stops);
		ilb_json_set(json, root, "tick", object);
	}
	if (measures->every_tick.known) {
		object = json_object();
		ilb_json_count(json, object, "jiffies",
			       measures->every_tick.jiffies);
		ilb_json_count(json, object, "kicked",
			       measures->every_tick.kicked);
		ilb_json_percent(json, object, "kicked_pct",
				 measures->every_tick.kicked,
				 measures->every_tick.jiffies);
		ilb_json_set(json, root, "every_tick", object);
	}
}

static void set_waiting(struct ilb_json *json, json_t *root,
			const struct ilb_measures *measures)
{
	json_t *object;

	if (!measures->waiting.known)
		return;
	object = json_object();
	ilb_json_count(json, object, "stretches", measures->waiting.stretches);
	ilb_json_us(json, object, "total_us", measures->waiting.total_ns);
	if (measures->waiting.stretches) {
		ilb_json_us(json, object, "longest_us",
			    measures->waiting.longest_ns);
		ilb_json_count(json, object, "idle_cpu",
			       measures->waiting.idle_cpu);
		ilb_json_count(json, object, "waiting_cpu",
			       measures->waiting.waiting_cpu);
		if (measures->waiting.pid != ILB_PID_UNKNOWN)
			ilb_json_set(json, object, "pid",
				     json_integer(measures->waiting.pid));
	}
	ilb_json_set(json, root, "waiting", object);
}

static void set_lost_cpus(struct ilb_json *json, json_t *root,
			  const struct ilb_measures *measures)
{
	json_t *array, *object;
	unsigned int i;

	if (!measures->nr_lost_cpus)
		return;
	array = json_array();
	for (i = 0; i < measures->nr_lost_cpus; i++) {
		object = json_object();
		ilb_json_count(json, object, "cpu", measures->lost_cpus[i].cpu);
		ilb_json_us(json, object, "lost_us",
			    measures->lost_cpus[i].lost_ns);
		ilb_json_bool(json, object, "probed",
			      measures->lost_cpus[i].probed);
		ilb_json_append(json, array, object);
	}
	ilb_json_set(json, root, "lost_cpus", array);
}

static json_t *victim_of(struct ilb_json *json, const struct ilb_victim *victim)
{
	json_t *object = json_object();

	ilb_json_text(json, object, "comm", victim->comm, ILB_COMM_LEN);
	ilb_json_set(json, object, "pid", json_integer(victim->pid));
	ilb_json_count(json, object, "cpu", victim->cpu);
	if (victim->running_ns)
		ilb_json_us(json, object, "running_us", victim->running_ns);
	ilb_json_us(json, object, "disturbed_us", victim->disturbed_ns);
	ilb_json_percent(json, object, "disturbed_pct", victim->disturbed_ns,
			 victim->running_ns);
	ilb_json_count(json, object, "kicks", victim->kicks);
	return object;
}

static void set_victims(struct ilb_json *json, json_t *root,
			const struct ilb_measures *measures)
{
	json_t *array;
	unsigned int i;

	if (!measures->runs.known)
		return;
	array = json_array();
	for (i = 0; i < measures->nr_victims && i < VICTIMS_MAX; i++)
		ilb_json_append(json, array,
				victim_of(json, &measures->victims[i]));
	ilb_json_count(json, root, "nr_victims", measures->nr_victims);
	ilb_json_set(json, root, "victims", array);
}

void ilb_json_measures(struct ilb_json *json, json_t *root,
		       const struct ilb_measures *measures)
{
	set_kicks(json, root, measures);
	set_runs(json, root, &measures->runs);
	set_system(json, root, measures);
	set_victims(json, root, measures);
	set_ticks(json, root, measures);
	set_waiting(json, root, measures);
	set_lost_cpus(json, root, measures);
}
