// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: exact-watch SECONDS RULE
 *
 * Watches this machine's kicks and says, of each that RULE would have sent
 * elsewhere, what was known; then how many there were. For guests, whose
 * kernel's rule is known. Status 1: a kick did not follow RULE.
 */

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ilb/capture.h"
#include "ilb/target.h"
#include "live/exact.h"

struct watch {
	struct ilb_topology *topology;
	struct ilb_policy policy;
	unsigned long housekeeping[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	unsigned long scratch[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	uint64_t seen, followed, outside, busy, kicker_idle, flags[16];
};

static void print_exception(struct watch *w, const struct ilb_moment *m,
			    unsigned int choice)
{
	unsigned int nr = w->topology->nr_cpus;
	char mask[400], idle[400];

	ilb_cpulist_print(mask, sizeof(mask), m->mask, nr);
	ilb_cpulist_print(idle, sizeof(idle), m->idle, nr);
	printf("exception at %" PRIu64 ": kicker %u target %u flags %x, rule says %d; mask %s idle %s\n",
	       m->time_ns, m->kicker, m->target, m->flags, (int)choice, mask,
	       idle);
}

static void take(void *context, const struct ilb_moment *m)
{
	struct watch *w = context;
	struct ilb_view view = {
		.topology = w->topology, .mask = m->mask, .idle = m->idle,
		.housekeeping = w->housekeeping, .kicker = m->kicker,
		.scratch = w->scratch,
	};
	struct ilb_choice choice = ilb_policy_choose(&w->policy, &view);

	w->seen++;
	w->flags[m->flags & 15]++;
	w->outside += !ilb_mask_test(m->mask, m->target);
	w->busy += !ilb_mask_test(m->idle, m->target);
	w->kicker_idle += ilb_mask_test(m->idle, m->kicker);
	if (choice.cpu == m->target)
		w->followed++;
	else
		print_exception(w, m, choice.cpu);
}

static void watch(struct ilb_exact *exact, double seconds)
{
	struct pollfd fd = { .fd = ilb_exact_fd(exact), .events = POLLIN };
	struct ilb_error error;
	time_t end = time(NULL) + (time_t)(seconds + 0.5);

	while (time(NULL) < end) {
		poll(&fd, 1, 200);
		if (ilb_exact_read(exact, &error) < 0)
			puts(error.text);
	}
	ilb_exact_stop(exact);
	ilb_exact_read(exact, &error);
}

static void print_counts(const struct watch *w, const struct ilb_exact *exact)
{
	struct ilb_exact_counts counts;
	unsigned int i;

	ilb_exact_counts(exact, &counts);
	printf("%s: %u CPUs, kicks %" PRIu64 " lost %" PRIu64 " read %" PRIu64
	       " followed %" PRIu64 " target-outside-mask %" PRIu64
	       " target-busy %" PRIu64 " kicker-idle %" PRIu64
	       " runs %" PRIu64 " run_ns %" PRIu64 " flags",
	       ilb_exact_method(exact), w->topology->nr_cpus, counts.kicks,
	       counts.lost, w->seen, w->followed, w->outside, w->busy,
	       w->kicker_idle, counts.runs, counts.run_ns);
	for (i = 0; i < 16; i++)
		if (w->flags[i])
			printf(" %x:%" PRIu64, i, w->flags[i]);
	puts("");
}

int main(int argc, char **argv)
{
	static struct watch w;
	struct ilb_exact *exact;
	struct ilb_error error;

	if (argc != 3)
		return 2;
	if (ilb_topology_load(&w.topology, "self", &error) ||
	    ilb_policy_parse(&w.policy, argv[2], w.topology->nr_cpus) ||
	    ilb_exact_open(&exact, w.topology->nr_cpus, take, &w, &error)) {
		puts(error.text);
		return 3;
	}
	ilb_mask_fill(w.housekeeping, w.topology->nr_cpus);
	watch(exact, atof(argv[1]));
	print_counts(&w, exact);
	ilb_exact_close(exact);
	ilb_topology_free(w.topology);
	return w.followed != w.seen;
}
