// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run as a capture: the events in the text of trace-cmd report -t, the
 * topology as hwloc writes it, and system.json.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/writer.h"

enum { TRACE, TOPOLOGY, SYSTEM, BEFORE, AFTER, FILES };

static const char *const names[FILES] = {
	"trace.txt", "topology.xml", "system.json", "schedstat.before",
	"schedstat.after",
};

struct ilb_sim_writer {
	const struct ilb_sim_plan *plan;
	char *dir;
	int fd;
	FILE *file[FILES];
	FILE *schedstat[2];
};

static int cannot(const struct ilb_sim_writer *w, const char *what,
		  struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_IO, "%s: cannot write %s: %s; choose another place",
			w->dir, what, strerror(errno));
}

static int open_files(struct ilb_sim_writer *w, struct ilb_error *error)
{
	int i, fd;

	for (i = 0; i < FILES; i++) {
		fd = openat(w->fd, names[i],
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		w->file[i] = fd < 0 ? NULL : fdopen(fd, "w");
		if (!w->file[i])
			return cannot(w, names[i], error);
	}
	w->schedstat[0] = w->file[BEFORE];
	w->schedstat[1] = w->file[AFTER];
	return 0;
}

static void write_list(FILE *out, const char *key, const unsigned long *mask,
		       unsigned int nr_cpus)
{
	unsigned int size = nr_cpus * 5 + 1;
	char *list = malloc(size);

	if (list)
		ilb_cpulist_print(list, size, mask, nr_cpus);
	fprintf(out, "  \"%s\": \"%s\",\n", key, list ? list : "");
	free(list);
}

static void write_capacities(FILE *out, const struct ilb_topology *t)
{
	unsigned int cpu;
	const char *comma = "";

	fprintf(out, "  \"capacities\": {");
	ilb_for_each_cpu(cpu, t->online, t->nr_cpus) {
		fprintf(out, "%s\"%u\": %u", comma, cpu, t->capacity[cpu]);
		comma = ", ";
	}
	fprintf(out, "},\n");
}

static void write_system(const struct ilb_sim_writer *w, FILE *out)
{
	const struct ilb_sim_kernel *k = &w->plan->kernel;
	const struct ilb_topology *t = w->plan->machine.topology;
	json_t *name = json_string(w->plan->name);
	char *note = json_dumps(name, JSON_ENCODE_ANY);
	unsigned int release = k->behaviour.release;

	fprintf(out, "{\n  \"kernel\": \"%u.%u.0-simulated\",\n  \"hz\": %u,\n",
		release / 1000, release % 1000, k->hz);
	write_list(out, "cpus", t->online, t->nr_cpus);
	write_list(out, "housekeeping", k->housekeeping, t->nr_cpus);
	write_list(out, "nohz_full", k->nohz_full, t->nr_cpus);
	write_list(out, "isolated", k->isolated, t->nr_cpus);
	if (t->capacity)
		write_capacities(out, t);
	fprintf(out, "  \"note\": %s\n}\n", note ? note : "\"\"");
	free(note);
	json_decref(name);
}

int ilb_sim_writer_create(struct ilb_sim_writer **writer, const char *dir,
			  const struct ilb_sim_plan *plan,
			  struct ilb_error *error)
{
	struct ilb_sim_writer *w;
	int err;

	if (mkdir(dir, 0777))
		return ilb_fail(error, errno == EEXIST ? ILB_ERR_MISMATCH
						       : ILB_ERR_IO,
				"%s: cannot make the folder: %s; name another",
				*dir ? dir : "capture ''", strerror(errno));
	w = calloc(1, sizeof(*w));
	if (w)
		w->dir = strdup(dir);
	if (!w || !w->dir) {
		rmdir(dir);
		free(w);
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	}
	w->plan = plan;
	w->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = w->fd < 0 ? cannot(w, "it", error) : open_files(w, error);
	if (!err)
		err = ilb_sim_topology_write(&plan->machine,
					     w->file[TOPOLOGY], error);
	if (err) {
		ilb_sim_writer_abandon(w);
		return err;
	}
	write_system(w, w->file[SYSTEM]);
	fprintf(w->file[TRACE], "cpus=%u\n",
		ilb_mask_weight(plan->machine.topology->online,
				plan->machine.topology->nr_cpus));
	*writer = w;
	return 0;
}

/* ---- events ---- */

static const char *comm_of(const struct ilb_sim_writer *w, int32_t pid)
{
	int32_t i = pid - ILB_SIM_FIRST_PID;

	return i >= 0 && (uint32_t)i < w->plan->nr_tasks
		       ? w->plan->tasks[i].comm : "<idle>";
}

static const char *func_of(uint32_t func)
{
	return func == ILB_FUNC_TTWU ? "sched_ttwu_pending" :
	       func == ILB_FUNC_NOHZ_CSD ? "nohz_csd_func" : "other";
}

static void print_switch(const struct ilb_sim_writer *w, FILE *out,
			 const struct ilb_event *e)
{
	char prev[ILB_COMM_LEN];
	int32_t pid = e->u.sched_switch.prev_pid;

	if (pid)
		snprintf(prev, sizeof(prev), "%s", comm_of(w, pid));
	else
		snprintf(prev, sizeof(prev), "swapper/%u", e->cpu);
	fprintf(out, "sched_switch:         %s:%d [120] %s ==> %s:%d [120]",
		prev, pid, e->u.sched_switch.prev_runnable ? "R" : "S",
		e->u.sched_switch.next_comm, e->u.sched_switch.next_pid);
}

static void print_wakeup(const struct ilb_sim_writer *w, FILE *out,
			 const struct ilb_event *e)
{
	fprintf(out, "sched_wakeup:         %s:%d [120] CPU:%03u",
		comm_of(w, e->u.wakeup.pid), e->u.wakeup.pid,
		e->u.wakeup.cpu);
}

static void print_softirq(FILE *out, const char *event,
			  const struct ilb_event *e)
{
	fprintf(out, "%-21s vec=%u [action=SCHED]", event, e->u.value);
}

static void print_csd(FILE *out, const char *event, const struct ilb_event *e)
{
	fprintf(out, "%-21s func=%s, csd=0x1", event, func_of(e->u.csd.func));
}

static void print_event(const struct ilb_sim_writer *w, FILE *out,
			const struct ilb_event *e)
{
	switch (e->type) {
	case ILB_EVENT_SWITCH:
		print_switch(w, out, e);
		break;
	case ILB_EVENT_WAKEUP:
		print_wakeup(w, out, e);
		break;
	case ILB_EVENT_MIGRATE:
		fprintf(out, "sched_migrate_task:   comm=%s pid=%d prio=120 orig_cpu=%u dest_cpu=%u",
			comm_of(w, e->u.migrate.pid), e->u.migrate.pid,
			e->u.migrate.from, e->u.migrate.to);
		break;
	case ILB_EVENT_TICK:
		fprintf(out, "hrtimer_expire_entry: hrtimer=0x1 now=%" PRIu64
			" function=tick_nohz_handler/0x0", e->time_ns);
		break;
	case ILB_EVENT_TICK_STOP:
		fprintf(out, "tick_stop:            success=%u dependency=NONE",
			e->u.value);
		break;
	case ILB_EVENT_CSD_QUEUE:
		fprintf(out, "csd_queue_cpu:        cpu=%u callsite=sim+0x0 func=%s csd=0x1",
			e->u.csd.cpu, func_of(e->u.csd.func));
		break;
	case ILB_EVENT_CSD_ENTRY:
		print_csd(out, "csd_function_entry:", e);
		break;
	case ILB_EVENT_CSD_EXIT:
		print_csd(out, "csd_function_exit:", e);
		break;
	case ILB_EVENT_SOFTIRQ_RAISE:
		print_softirq(out, "softirq_raise:", e);
		break;
	case ILB_EVENT_SOFTIRQ_ENTRY:
		print_softirq(out, "softirq_entry:", e);
		break;
	case ILB_EVENT_SOFTIRQ_EXIT:
		print_softirq(out, "softirq_exit:", e);
		break;
	case ILB_EVENT_IRQ_CALL:
		fprintf(out, "call_function_single_entry: vector=251");
		break;
	case ILB_EVENT_IDLE:
		fprintf(out, "cpu_idle:             state=%u cpu_id=%u",
			e->u.value, e->cpu);
		break;
	}
}

void ilb_sim_writer_event(struct ilb_sim_writer *w,
			  const struct ilb_event *e)
{
	FILE *out = w->file[TRACE];

	fprintf(out, "%16s-%-5d [%03u] %6" PRIu64 ".%09" PRIu64 ": ",
		comm_of(w, e->pid), e->pid, e->cpu, e->time_ns / 1000000000,
		e->time_ns % 1000000000);
	print_event(w, out, e);
	putc('\n', out);
}

/* ---- the end ---- */

FILE **ilb_sim_writer_schedstat(struct ilb_sim_writer *w)
{
	return w->schedstat;
}

static void forget(struct ilb_sim_writer *w)
{
	int i;

	for (i = 0; i < FILES; i++)
		if (w->file[i])
			fclose(w->file[i]);
	if (w->fd >= 0)
		close(w->fd);
	free(w->dir);
	free(w);
}

int ilb_sim_writer_commit(struct ilb_sim_writer *w, struct ilb_error *error)
{
	int i, err = 0, failed;

	for (i = 0; i < FILES && !err; i++) {
		failed = fflush(w->file[i]) || ferror(w->file[i]);
		if (fclose(w->file[i]) || failed)
			err = cannot(w, names[i], error);
		w->file[i] = NULL;
	}
	if (err) {
		ilb_sim_writer_abandon(w);
		return err;
	}
	forget(w);
	return 0;
}

void ilb_sim_writer_abandon(struct ilb_sim_writer *w)
{
	int i;

	if (!w)
		return;
	for (i = 0; i < FILES && w->fd >= 0; i++)
		unlinkat(w->fd, names[i], 0);
	rmdir(w->dir);
	forget(w);
}
