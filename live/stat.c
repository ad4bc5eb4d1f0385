// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watching from beginning to end. At the end of an interval each source adds
 * its part to the same struct: exact moments through the meter, as a report
 * does; then what BPF counted; then /proc, for what is still unknown.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "ilb/check.h"
#include "ilb/stat.h"
#include "live/exact.h"
#include "live/record.h"
#include "live/stat.h"

#define WAKE_NS		500000000ULL	/* moments must not overflow */

struct session {
	const struct ilb_stat_options *options;
	struct ilb_error *error;
	struct ilb_facts *facts;
	struct ilb_site *site;
	struct ilb_topology *topology;
	struct ilb_capture capture;
	struct ilb_machine *machine;
	struct ilb_meter *meter;
	struct ilb_exact *exact;
	struct ilb_exact_counts counts;		/* at the last interval */
	struct ilb_stat_kernel *kernel;
	struct ilb_proc proc;
	struct ilb_sampler *sampler;
	struct ilb_functions functions;
	struct ilb_source_of sources[ILB_PARTS];
	struct ilb_child child;
	int signals;		/* signalfd */
	sigset_t mask;		/* to go back to */
	int stopped;
	uint64_t from_ns;	/* of this interval */
	unsigned int shown;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* ---- setting up ---- */

static void describe(struct session *s)
{
	struct ilb_capture *c = &s->capture;
	struct ilb_verdict verdict;

	ilb_verdict_find(&verdict, s->facts);
	ilb_site_settle(s->site, s->facts, s->topology, verdict.behaviour);
	c->path = (char *)"this machine";
	c->topology = *s->topology;
	memcpy(c->system.kernel, s->facts->kernel, sizeof(c->system.kernel));
	c->system.hz = s->facts->hz;
	c->system.housekeeping = s->site->housekeeping;
	c->system.housekeeping_known = s->facts->nohz_full_known;
	c->system.nohz_full = s->site->nohz_full;
	c->system.isolated = s->site->isolated;
}

static int look_around(struct session *s)
{
	int err;

	s->facts = calloc(1, sizeof(*s->facts));
	s->site = calloc(1, sizeof(*s->site));
	if (!s->facts || !s->site)
		return ilb_fail(s->error, ILB_ERR_NOMEM, "out of memory");
	ilb_facts_gather(s->facts, "");
	err = ilb_topology_load(&s->topology, "self", s->error);
	if (!err)
		describe(s);
	return err;
}

/*
 * SIGPIPE is left alone: when nobody reads any more, this ends, and what is in
 * the kernel ends with it.
 */
static int catch_signals(struct session *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &s->mask);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals >= 0)
		return 0;
	return ilb_fail(s->error, ILB_ERR_IO, "no signalfd: %s",
			strerror(errno));
}

/* A meter for one interval. Its machine never hears of an event. */
static int open_meter(struct session *s)
{
	const struct ilb_machine_setup machine = {
		.topology = s->topology,
		.housekeeping = s->site->housekeeping,
		.hz = s->facts->hz,
	};
	struct ilb_meter_setup meter = {
		.topology = s->topology,
		.housekeeping = s->site->housekeeping,
	};

	if (!s->machine)
		s->machine = ilb_machine_create(&machine);
	meter.machine = s->machine;
	s->meter = s->machine ? ilb_meter_create(&meter) : NULL;
	if (s->meter)
		return 0;
	return ilb_fail(s->error, ILB_ERR_NOMEM, "out of memory");
}

static void take_moment(void *context, const struct ilb_moment *moment)
{
	struct session *s = context;
	struct ilb_moment with = *moment;

	with.housekeeping = s->site->housekeeping;
	ilb_meter_moment(s->meter, &with);
}

/* Whatever fails here makes parts unknown, and is said there. */
static void open_sources(struct session *s)
{
	struct ilb_source_of *masks = &s->sources[ILB_PART_MASKS];
	struct ilb_error error = { "" };

	if (ilb_exact_open(&s->exact, s->topology->nr_cpus, take_moment, s,
			   &error))
		snprintf(masks->needs, sizeof(masks->needs), "%s",
			 error.text);
	else
		snprintf(masks->from, sizeof(masks->from), "%s",
			 ilb_exact_method(s->exact));
	ilb_stat_kernel_open(&s->kernel, s->topology, s->sources, &error);
	ilb_proc_take(&s->proc, NULL, s->facts->hz, s->sources);
}

static int sample(struct session *s)
{
	if (!s->options->functions)
		return 0;
	if (!ilb_sampler_open(&s->sampler, &s->functions, s->topology))
		return 0;
	return ilb_fail(s->error, ILB_ERR_NOMEM, "out of memory");
}

static int set_up(struct session *s)
{
	int err;

	err = catch_signals(s);
	if (!err && s->options->command)
		err = ilb_child_prepare(&s->child, s->options->command,
					&s->mask, s->error);
	if (!err)
		err = open_meter(s);
	if (!err)
		err = sample(s);
	if (!err)
		open_sources(s);
	return err;
}

/* ---- an interval ---- */

/* What must not overflow. */
static int read_buffers(struct session *s)
{
	int n;

	if (s->sampler)
		ilb_sampler_read(s->sampler, &s->functions);
	n = s->exact ? ilb_exact_read(s->exact, s->error) : 0;

	return n < 0 ? n : 0;
}

static void take_exact(struct session *s, struct ilb_moments_totals *totals,
		       uint64_t end_ns)
{
	struct ilb_exact_counts counts;

	memset(totals, 0, sizeof(*totals));
	ilb_meter_exact(s->meter, s->exact ? ILB_MOMENT_EXACT :
			ILB_MOMENT_RECONSTRUCTED, s->exact != NULL,
			s->from_ns, end_ns);
	if (!s->exact)
		return;
	ilb_exact_counts(s->exact, &counts);
	totals->end_ns = end_ns;
	totals->kicks = counts.kicks - s->counts.kicks;
	totals->lost = counts.lost - s->counts.lost;
	s->counts = counts;
}

static int take_measures(struct session *s, uint64_t end_ns,
			 struct ilb_measures **measures)
{
	struct ilb_measures *m = ilb_meter_finish(s->meter);
	uint64_t all_ns;

	*measures = m;
	if (!m)
		return ilb_fail(s->error, ILB_ERR_NOMEM, "out of memory");
	if (!s->exact) {
		m->kicks.kicks_known = 0;
		m->kicks.masks_known = 0;
	}
	if (s->kernel && ilb_stat_kernel_take(s->kernel, m))
		return ilb_fail(s->error, ILB_ERR_NOMEM, "out of memory");
	ilb_proc_take(&s->proc, m, s->facts->hz, s->sources);
	/* The counts are read a little later than the clock. */
	all_ns = (end_ns - s->from_ns) * m->recorded;
	if (m->utilisation.busy_ns > all_ns)
		m->utilisation.busy_ns = all_ns;
	if (m->schedstat_s <= 0)
		m->schedstat_s = (double)(m->end_ns - m->start_ns) / 1e9;
	return 0;
}

static int end_interval(struct session *s)
{
	struct ilb_moments_totals totals;
	struct ilb_report report = {
		.command = "stat",
		.capture = &s->capture,
		.hz = s->facts->hz,
		.sources = s->sources,
		.functions = s->sampler ? &s->functions : NULL,
		.compact = s->options->interval_ns != 0,
		.best = -1,
	};
	struct ilb_measures *measures;
	uint64_t end_ns;
	int err;

	err = read_buffers(s);
	if (err)
		return err;
	/* What takes long comes first: counts and clock are of one moment. */
	if (s->kernel)
		ilb_stat_kernel_settle(s->kernel);
	end_ns = now();
	take_exact(s, &totals, end_ns);
	err = take_measures(s, end_ns, &measures);
	if (!err) {
		report.measures = measures;
		report.moments = s->exact ? &totals : NULL;
		err = s->options->interval(s->options->context, &report,
					   s->error);
	}
	ilb_meter_destroy(s->meter);
	s->meter = NULL;
	ilb_sampler_start(&s->functions);
	s->from_ns = end_ns;
	s->shown++;
	return err ? err : open_meter(s);
}

/* ---- watching ---- */

static void take_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		s->stopped = 1;
		/* A terminal has told the command as well. */
		if (s->child.pid && info.ssi_code <= 0)
			kill(s->child.pid, (int)info.ssi_signo);
	}
	if (ilb_child_ended(&s->child))
		s->stopped = 1;
}

/* Until a signal, a quarter of the buffer of moments, or @end_ns (0: never). */
static int wait_until(struct session *s, uint64_t end_ns)
{
	struct pollfd fds[2] = {
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = s->exact ? ilb_exact_fd(s->exact) : -1,
		  .events = POLLIN },
	};
	struct timespec wait = { .tv_sec = 3600 };
	uint64_t left = now(), ns = WAKE_NS;

	left = end_ns > left ? end_ns - left : 0;
	if (end_ns && left < ns)
		ns = left;
	if (end_ns || s->exact || s->sampler) {
		wait.tv_sec = (time_t)(ns / 1000000000U);
		wait.tv_nsec = (long)(ns % 1000000000U);
	}
	if (ppoll(fds, 2, &wait, NULL) < 0 && errno != EINTR)
		return ilb_fail(s->error, ILB_ERR_IO, "poll: %s",
				strerror(errno));
	take_signals(s);
	return read_buffers(s);
}

static int follow(struct session *s)
{
	const struct ilb_stat_options *o = s->options;
	uint64_t end_ns = o->interval_ns ? s->from_ns + o->interval_ns : 0;
	int err = 0;

	while (!err && !s->stopped) {
		err = wait_until(s, end_ns);
		if (err || s->stopped || !end_ns || now() < end_ns)
			continue;
		err = end_interval(s);
		if (o->count && s->shown >= o->count)
			return err;
		/* Without drift; after a suspend, not many at once. */
		end_ns += o->interval_ns;
		if (end_ns < now())
			end_ns = now() + o->interval_ns;
	}
	return err ? err : end_interval(s);
}

static int watch(struct session *s)
{
	int err = 0;

	/* What came while the sources were opened is not of the interval. */
	err = read_buffers(s);
	ilb_meter_destroy(s->meter);
	s->meter = NULL;
	if (!err)
		err = open_meter(s);
	if (s->exact)
		ilb_exact_counts(s->exact, &s->counts);
	ilb_sampler_start(&s->functions);
	if (s->kernel)
		ilb_stat_kernel_start(s->kernel);
	s->from_ns = now();
	if (!err && s->child.pid)
		err = ilb_child_start(&s->child, s->options->command[0],
				      s->error);
	return err ? err : follow(s);
}

static void tear_down(struct session *s)
{
	ilb_child_abandon(&s->child);
	ilb_exact_close(s->exact);
	ilb_stat_kernel_close(s->kernel);
	ilb_sampler_close(s->sampler);
	ilb_meter_destroy(s->meter);
	ilb_machine_destroy(s->machine);
	ilb_proc_free(&s->proc);
	if (s->signals >= 0) {
		close(s->signals);
		sigprocmask(SIG_SETMASK, &s->mask, NULL);
	}
	ilb_topology_free(s->topology);
	free(s->site);
	free(s->facts);
}

int ilb_stat_run(const struct ilb_stat_options *options, int *status,
		 struct ilb_error *error)
{
	struct session s = {
		.options = options,
		.error = error,
		.signals = -1,
		.proc = { .root = "" },
	};
	struct ilb_record_summary summary = { .command = 0 };
	int err;

	err = look_around(&s);
	if (!err)
		err = set_up(&s);
	if (!err)
		err = watch(&s);
	tear_down(&s);
	summary.command = s.child.pid;
	summary.status = s.child.status;
	*status = ilb_record_wait(&summary);
	return err;
}
