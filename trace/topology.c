// SPDX-License-Identifier: GPL-2.0-only
/*
 * A topology by name. hwloc reads it in a child process: an XML file that was
 * tampered with makes hwloc crash, abort or run for long, and then only the
 * child is lost. Tables come back through a pipe and are checked here.
 */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/file.h"
#include "trace/topology.h"

#define XML_MAX		(16U << 20)
#define CHILD_SECONDS	10
#define SELF_SECONDS	300	/* hundreds of CPUs, emulated, take a minute */
#define CHILD_BYTES	(1UL << 30)

/* What the child sends first; the tables follow where @err is 0. */
struct reply {
	int32_t err;
	uint32_t nr_cpus;
	int32_t smt;
	char text[sizeof(((struct ilb_error *)0)->text)];
};

static void limit(int resource, rlim_t value)
{
	struct rlimit rl;

	if (getrlimit(resource, &rl))
		return;
	if (value < rl.rlim_max)
		rl.rlim_max = value;
	rl.rlim_cur = rl.rlim_max;
	setrlimit(resource, &rl);
}

/*
 * RLIMIT_DATA counts what the parent had mapped, too, hence this: private
 * writable memory by now, from the sixth number of statm (in pages).
 */
static unsigned long data_bytes(void)
{
	unsigned long pages = 0;
	FILE *statm;

	statm = fopen("/proc/self/statm", "re");
	if (!statm)
		return 0;
	if (fscanf(statm, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		pages = 0;
	fclose(statm);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

/*
 * The caller's handlers are not for this process: one that jumps (a test
 * runner's) would go on with the caller's work.
 */
static void reset_signals(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What this machine says of itself is no attack. */
static int seconds_for(const struct ilb_hwloc_input *in)
{
	return in->kind == ILB_HWLOC_SELF ? SELF_SECONDS : CHILD_SECONDS;
}

static void limit_child(const struct ilb_hwloc_input *in)
{
	unsigned long data = data_bytes();

	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, (rlim_t)seconds_for(in));
	if (data)
		limit(RLIMIT_DATA, data + CHILD_BYTES);
}

static void send_all(int fd, const void *data, size_t size)
{
	const char *p = data;
	ssize_t n;

	while (size) {
		n = write(fd, p, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		p += n;
		size -= (size_t)n;
	}
}

static void __attribute__((noreturn))
run_child(const struct ilb_hwloc_input *input, int fd)
{
	struct ilb_tables *tables = NULL;
	struct ilb_error error = { "" };
	struct reply reply = { 0, 0, 0, "" };

	/* Where stderr was closed, the pipe may have got its number. */
	if (fd <= STDERR_FILENO)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	reset_signals();
	limit_child(input);
	reply.err = ilb_hwloc_read(&tables, input, &error);
	memcpy(reply.text, error.text, sizeof(reply.text));
	if (!reply.err) {
		reply.nr_cpus = tables->topology.nr_cpus;
		reply.smt = tables->topology.smt;
	}
	send_all(fd, &reply, sizeof(reply));
	if (!reply.err)
		send_all(fd, tables->online,
			 ilb_tables_bytes(reply.nr_cpus));
	_exit(0);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Returns 0; -ETIME when @deadline passed; -EPIPE when the child is gone. */
static int receive(int fd, void *data, size_t size, int64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char *to = data;
	int64_t left;
	ssize_t n;

	while (size) {
		left = deadline - now_ms();
		if (left <= 0)
			return -ETIME;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = read(fd, to, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EPIPE;
		to += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Returns as receive() does, or -ENOMEM; *@tables is NULL if @reply has err. */
static int receive_tables(struct ilb_tables **tables, struct reply *reply,
			  const struct ilb_hwloc_input *in, int fd)
{
	int64_t deadline = now_ms() + seconds_for(in) * 1000;
	int err;

	*tables = NULL;
	err = receive(fd, reply, sizeof(*reply), deadline);
	if (err || reply->err)
		return err;
	if (!reply->nr_cpus || reply->nr_cpus > ILB_CPUS_MAX)
		return -EPIPE;
	*tables = ilb_tables_alloc(reply->nr_cpus);
	if (!*tables)
		return -ENOMEM;
	(*tables)->topology.smt = reply->smt;
	err = receive(fd, (*tables)->online, ilb_tables_bytes(reply->nr_cpus),
		      deadline);
	if (err) {
		free(*tables);
		*tables = NULL;
	}
	return err;
}

/* Why no answer came: @err of receive_tables(), and how the child ended. */
static int no_answer(const struct ilb_hwloc_input *in, int err, int status,
		     struct ilb_error *error)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (err == -ENOMEM)
		return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
				in->name);
	if (err == -ETIME || sig == SIGXCPU || sig == SIGKILL)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: hwloc does not get done with it in %d s; save it again with `lstopo FILE.xml`",
				in->name, seconds_for(in));
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: hwloc crashes on it (signal %d); save it again with `lstopo FILE.xml`",
			in->name, sig);
}

static int check(const struct ilb_tables *t, const char *name,
		 struct ilb_error *error)
{
	unsigned long full[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	unsigned int cpu = 0, nr_cpus = t->topology.nr_cpus;

	ilb_mask_fill(full, nr_cpus);
	if (!ilb_mask_empty(t->online, nr_cpus) &&
	    ilb_mask_subset(t->online, full, nr_cpus) &&
	    !ilb_topology_check(&t->topology, &cpu))
		return 0;
	return ilb_fail(error, ILB_ERR_BUG,
			"%s: its tables contradict each other at CPU %u; please report it, with this topology",
			name, cpu);
}

/* The child was at the mercy of its input: what it sent is input, too. */
static int accept_reply(struct ilb_tables *tables, struct reply *reply,
			const char *name, struct ilb_error *error)
{
	if (!reply->err)
		return check(tables, name, error);
	reply->text[sizeof(reply->text) - 1] = '\0';
	if (reply->err > 0 || reply->err < -ILB_ERR_BUG)
		reply->err = -ILB_ERR_BUG;
	return ilb_fail(error, (enum ilb_err)-reply->err, "%s", reply->text);
}

static int read_answer(struct ilb_topology **topology,
		       const struct ilb_hwloc_input *in, int fd, pid_t pid,
		       struct ilb_error *error)
{
	struct ilb_tables *tables;
	struct reply reply;
	int err, status = 0;

	err = receive_tables(&tables, &reply, in, fd);
	if (err == -ETIME)
		kill(pid, SIGKILL);
	close(fd);
	/* Where the caller ignores SIGCHLD there is no status: 0 will do. */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (err)
		return no_answer(in, err, status, error);
	err = accept_reply(tables, &reply, in->name, error);
	if (err)
		free(tables);
	else
		*topology = &tables->topology;
	return err;
}

static int ask_child(struct ilb_topology **topology,
		     const struct ilb_hwloc_input *in, struct ilb_error *error)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return ilb_fail(error, ILB_ERR_IO, "%s: cannot make a pipe: %s",
				in->name, strerror(errno));
	/* What the caller has not printed yet is not the child's to print. */
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		run_child(in, fds[1]);
	}
	close(fds[1]);
	if (pid > 0)
		return read_answer(topology, in, fds[0], pid, error);
	close(fds[0]);
	return ilb_fail(error, ILB_ERR_IO, "%s: cannot start a process: %s",
			in->name, strerror(errno));
}

/* The number in version="..." of the first tag topology; 0 if it has none. */
static unsigned long xml_version(const char *tag)
{
	static const char attribute[] = " version=\"";
	const char *end = strchr(tag, '>');
	const char *version = strstr(tag, attribute);

	if (!end || !version || version > end)
		return 0;
	return strtoul(version + sizeof(attribute) - 1, NULL, 10);
}

static int check_xml(const struct ilb_hwloc_input *in, struct ilb_error *error)
{
	unsigned int own = hwloc_get_api_version() >> 16;
	unsigned long version;
	const char *tag;

	tag = strncmp(in->text, "<?xml", 5) ? NULL :
					      strstr(in->text, "<topology");
	if (!tag)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: is not a topology that lstopo wrote; save one with `lstopo FILE.xml`",
				in->name);
	version = xml_version(tag);
	if (version <= own)
		return 0;
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"%s: written by hwloc %lu, the installed hwloc is %u; save it with `lstopo --export-xml-flags v%u FILE.xml`",
			in->name, version, own, own);
}

static int load_xml(struct ilb_topology **topology, const char *path,
		    struct ilb_error *error)
{
	struct ilb_hwloc_input in = { ILB_HWLOC_XML, path, NULL, 0 };
	char *text;
	int err;

	err = ilb_file_read(&text, &in.size, path, XML_MAX, error);
	if (err)
		return err;
	in.text = text;
	err = check_xml(&in, error);
	if (!err)
		err = ask_child(topology, &in, error);
	free(text);
	return err;
}

/* CPUs of a description: all its numbers outside of brackets, multiplied. */
static unsigned int count_synthetic(const char *spec)
{
	unsigned long nr = 1, arity;
	int nested = 0;
	char last = ' ';

	for (; *spec; last = *spec++) {
		if (strchr("[(", *spec))
			nested++;
		else if (strchr("])", *spec))
			nested--;
		if (nested || !isdigit((unsigned char)*spec) ||
		    (last != ':' && last != ' '))
			continue;
		arity = strtoul(spec, NULL, 10);
		nr = arity > ILB_CPUS_MAX ? ILB_CPUS_MAX + 1 : nr * arity;
		if (nr > ILB_CPUS_MAX)
			break;
	}
	return (unsigned int)nr;
}

/*
 * A machine without SMT may be described down to its cores; hwloc wants every
 * description to end in CPUs. Returns 1 if "core:N" is the end.
 */
static int ends_in_cores(const char *spec)
{
	const char *last = strrchr(spec, ' ');

	last = last ? last + 1 : spec;
	return !strncasecmp(last, "core:", 5) && last[5] &&
	       strspn(last + 5, "0123456789") == strlen(last + 5);
}

static int load_synthetic(struct ilb_topology **topology, const char *spec,
			  struct ilb_error *error)
{
	struct ilb_hwloc_input in = { ILB_HWLOC_SYNTHETIC, spec, spec, 0 };
	char *whole = NULL;
	int err;

	/* hwloc would make an object for each, however many. */
	if (count_synthetic(spec) > ILB_CPUS_MAX)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"'%s': has more CPUs than %u; describe a smaller machine",
				spec, ILB_CPUS_MAX);
	if (ends_in_cores(spec)) {
		if (asprintf(&whole, "%s pu:1", spec) < 0)
			return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
		in.text = whole;
	}
	err = ask_child(topology, &in, error);
	free(whole);
	return err;
}

int ilb_topology_load(struct ilb_topology **topology, const char *spec,
		      struct ilb_error *error)
{
	static const struct ilb_hwloc_input self = {
		ILB_HWLOC_SELF, "this machine", NULL, 0
	};
	struct stat st;

	if (!strcmp(spec, "self"))
		return ask_child(topology, &self, error);
	if (!stat(spec, &st))
		return load_xml(topology, spec, error);
	if (strchr(spec, ':'))
		return load_synthetic(topology, spec, error);
	if (errno != ENOENT && errno != ENOTDIR)
		return ilb_fail(error, ILB_ERR_IO,
				"%s: cannot open: %s; check the path and its permissions",
				spec, strerror(errno));
	return ilb_fail(error, ILB_ERR_NOENT,
			"%s: no such file; name an XML file of lstopo, a description as 'pack:2 core:8 pu:2', or self",
			*spec ? spec : "topology ''");
}
