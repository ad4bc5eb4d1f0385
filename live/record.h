/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_LIVE_RECORD_H
#define ILB_LIVE_RECORD_H

/*
 * Inside of the recorder:
 *
 *	record.c           the order of things, and when it ends
 *	record_tracefs.c   the instance: buffers, events, filters, counts
 *	record_probes.c    the probes that it records besides
 *	record_drain.c     what it holds goes to a file per CPU
 *	record_command.c   the command, held back until tracing is on
 *	record_assemble.c  the files become a trace.dat
 *	record_moments.c   exact moments, by BPF
 *	record_folder.c    a folder that appears whole or not at all
 *	record_system.c    topology.xml and system.json
 */

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "ilb/check.h"
#include "ilb/moments.h"
#include "ilb/record.h"

struct ilb_exact;
struct tracefs_instance;

/* ---- record_probes.c ---- */

#define ILB_PROBES_MAX	5

struct tracefs_dynevent;

/**
 * struct ilb_probes - probes of the event system "ilb"
 * @names: those to be recorded, NULL between them
 * @made: those that are ours to remove
 * @lock: while @locked
 */
struct ilb_probes {
	const char *names[ILB_PROBES_MAX];
	struct tracefs_dynevent *made[ILB_PROBES_MAX];
	int lock, locked;
};

/** ilb_probes_create() - as many as possible; fills @summary->no_probes. */
void ilb_probes_create(struct ilb_probes *probes,
		       struct ilb_record_summary *summary);

/**
 * ilb_probes_destroy() - remove what was made; any state, also all zero
 *
 * After the instance that recorded them, and after the trace has its formats.
 */
int ilb_probes_destroy(struct ilb_probes *probes, struct ilb_error *error);

/* ---- record_tracefs.c ---- */

/**
 * struct ilb_instance - a private place for events
 * @handle: NULL: none
 * @cpus: those recorded, ILB_WIDE_WORDS words
 * @nr_cpus: of the machine
 * @clock: as tracefs calls it; NULL: the kernel's default
 * @probes: to be recorded as well
 * @events: that it records, "a:b, c:d"
 * @page: bytes that the kernel hands over at once
 */
struct ilb_instance {
	struct tracefs_instance *handle;
	char name[32];
	const unsigned long *cpus;
	unsigned int nr_cpus;
	const char *clock;
	const struct ilb_probes *probes;
	char events[1024];
	size_t page;
};

/**
 * ilb_instance_create() - an instance with everything set, tracing off
 * @instance: ->cpus, ->nr_cpus, ->probes and ->clock are given
 * @summary: ->missing and ->unfiltered are filled
 */
int ilb_instance_create(struct ilb_instance *instance, unsigned int buffer_kb,
			struct ilb_record_summary *summary,
			struct ilb_error *error);

/** ilb_instance_switch() - tracing on or off. */
int ilb_instance_switch(struct ilb_instance *instance, int on,
			struct ilb_error *error);

/** ilb_instance_count() - ->events and ->lost; before the last are fetched. */
int ilb_instance_count(const struct ilb_instance *instance,
		       struct ilb_record_summary *summary,
		       struct ilb_error *error);

/** ilb_instance_destroy() - remove it; any state. None of its files is open. */
int ilb_instance_destroy(struct ilb_instance *instance,
			 struct ilb_error *error);

/** ilb_stats_value() - of "KEY: VALUE" in the text of a stats file; or 0. */
uint64_t ilb_stats_value(const char *text, const char *key);

/* ---- record_drain.c ---- */

/**
 * struct ilb_drain - a file per CPU, "cpu0" and so on
 * @ready: epoll of all CPUs' buffers
 */
struct ilb_drain {
	const struct ilb_instance *instance;
	const char *folder;
	int *raw, *file;
	int pipe[2], ready;
	size_t chunk;
	char *page;
	uint64_t bytes;
};

int ilb_drain_open(struct ilb_drain *drain, const struct ilb_instance *from,
		   const char *folder, struct ilb_error *error);

/**
 * ilb_drain_fd() - readable when a buffer is quarter full, for poll(2); -1: none
 *
 * Linux before 6.1 says so when there is any event.
 */
int ilb_drain_fd(const struct ilb_drain *drain);

/** ilb_drain_some() - while tracing: of CPUs whose buffer is quarter full. */
int ilb_drain_some(struct ilb_drain *drain, struct ilb_error *error);

/** ilb_drain_rest() - all; tracing is off. */
int ilb_drain_rest(struct ilb_drain *drain, struct ilb_error *error);

/** ilb_drain_close() - any state, also all zero. */
void ilb_drain_close(struct ilb_drain *drain);

/* ---- record_moments.c ---- */

/** struct ilb_watch - exact moments in the making; all zero: none */
struct ilb_watch {
	struct ilb_exact *exact;
	struct ilb_moments_writer *writer;
	struct ilb_error *error;
	unsigned int nr_cpus;
	uint64_t start_ns, end_ns, kept, lost_before;
	int err;	/* of the writer, within a read */
};

/** ilb_watch_open() - as ilb_exact_open(). The others do nothing without it. */
int ilb_watch_open(struct ilb_watch *watch, unsigned int nr_cpus,
		   struct ilb_error *error);

/** ilb_watch_start() - keep what happens from @now_ns, in @folder/moments. */
int ilb_watch_start(struct ilb_watch *watch, const char *folder,
		    uint64_t now_ns, struct ilb_error *error);

/** ilb_watch_fd() - readable when some came, for poll(2); -1: none. */
int ilb_watch_fd(const struct ilb_watch *watch);

int ilb_watch_read(struct ilb_watch *watch, struct ilb_error *error);

/** ilb_watch_stop() - none after @now_ns; what came is kept by _finish(). */
void ilb_watch_stop(struct ilb_watch *watch, uint64_t now_ns);

/** ilb_watch_finish() - the file is whole; ->kicks and ->lost_moments. */
int ilb_watch_finish(struct ilb_watch *watch,
		     struct ilb_record_summary *summary,
		     struct ilb_error *error);

/** ilb_watch_close() - any state, also all zero. */
void ilb_watch_close(struct ilb_watch *watch);

/* ---- record_command.c ---- */

/** struct ilb_child - a command; pid 0: none, or it ended */
struct ilb_child {
	pid_t pid;
	int go, failed;
	int status;
};

/** ilb_child_prepare() - a process that waits, with signal mask @mask. */
int ilb_child_prepare(struct ilb_child *child, char *const *command,
		      const sigset_t *mask, struct ilb_error *error);

/** ilb_child_start() - let it run the command; an error sets ->status. */
int ilb_child_start(struct ilb_child *child, const char *name,
		    struct ilb_error *error);

/** ilb_child_ended() - 1, and ->status, if it ended by now. */
int ilb_child_ended(struct ilb_child *child);

/** ilb_child_abandon() - end one that was not started; any state. */
void ilb_child_abandon(struct ilb_child *child);

/** ilb_wait_status() - a status of waitpid() as a shell shows it. */
int ilb_wait_status(int status);

/* ---- record_assemble.c ---- */

/** ilb_assemble_check() - is there a trace-cmd? */
int ilb_assemble_check(struct ilb_error *error);

/**
 * ilb_assemble() - make @folder/trace.dat of @folder/cpu0 ..., and remove those
 * @at_least: bytes that it must have
 */
int ilb_assemble(const char *folder, unsigned int nr_cpus, uint64_t at_least,
		 struct ilb_error *error);

/* ---- record_folder.c ---- */

/**
 * struct ilb_folder - a capture in the making
 * @path: as it will be called
 * @temporary: as it is called until then; NULL: not made
 */
struct ilb_folder {
	char *path;
	char *temporary;
	int force;
};

/** ilb_folder_create() - make the temporary one beside @path. */
int ilb_folder_create(struct ilb_folder *folder, const char *path, int force,
		      struct ilb_error *error);

/** ilb_folder_write() - make a file in it, on disk. */
int ilb_folder_write(const struct ilb_folder *folder, const char *name,
		     const char *text, size_t size, struct ilb_error *error);

/** ilb_folder_copy() - a file of /proc; none is made where that is missing. */
int ilb_folder_copy(const struct ilb_folder *folder, const char *name,
		    const char *from, struct ilb_error *error);

/** ilb_folder_publish() - all of it to disk, then its name. */
int ilb_folder_publish(struct ilb_folder *folder, struct ilb_error *error);

/** ilb_folder_discard() - remove what was not published; free; any state. */
void ilb_folder_discard(struct ilb_folder *folder);

/* ---- record_system.c ---- */

/** ilb_record_topology() - write @folder/topology.xml. */
int ilb_record_topology(const char *folder, struct ilb_error *error);

/**
 * struct ilb_recorded - what system.json says of the recording
 * @cpus: those recorded; NULL: all
 * @events, @unfiltered: "a:b, c:d"; @unfiltered are some of @events
 * @clock: of the trace; NULL: there is none, and no events either
 * @symbols_hidden: as in struct ilb_record_summary
 */
struct ilb_recorded {
	const unsigned long *cpus;
	const char *events;
	const char *unfiltered;
	const char *clock;
	int symbols_hidden;
};

/**
 * ilb_system_write() - the text of system.json; free() it
 * @root: as of ilb_facts_gather()
 */
int ilb_system_write(char **text, const struct ilb_facts *facts,
		     const struct ilb_topology *topology, const char *root,
		     const struct ilb_recorded *recorded,
		     struct ilb_error *error);

/** ilb_kallsyms_hidden() - 1 if the addresses in @path are all 0, or none. */
int ilb_kallsyms_hidden(const char *path);

#endif
