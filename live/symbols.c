// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/kallsyms: anybody may read the names, if not the addresses. It is
 * long (5 to 20 MB), so it goes through a buffer, line by line.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/live.h"

#define BUFFER		65536U
#define TOTAL_MAX	(256UL << 20)
#define NAME_LENGTH	511U	/* KSYM_NAME_LEN, less its NUL */

static const char *const names[ILB_SYMBOLS] = {
	[ILB_SYMBOL_ENTER_IDLE] = "nohz_balance_enter_idle",
	[ILB_SYMBOL_TRIGGER_OLD] = "trigger_load_balance",
	[ILB_SYMBOL_TRIGGER] = "sched_balance_trigger",
	[ILB_SYMBOL_BALANCE_SHARED] = "sd_balance_shared",
	[ILB_SYMBOL_NOHZ] = "nohz",
	[ILB_SYMBOL_CSD_QUEUE] = "__traceiter_csd_queue_cpu",
	[ILB_SYMBOL_KPROBE] = "register_kprobe",
};

struct scan {
	enum ilb_answer *symbols;
	unsigned long lines;
};

/* "ffffffff810d1a40 t name" and for modules "\t[module]". */
static void take_line(struct scan *s, const char *line, size_t n)
{
	const char *type = memchr(line, ' ', n);
	const char *name, *end;
	size_t left;
	int i;

	if (!type || (size_t)(line + n - type) < 4 || type[2] != ' ')
		return;
	name = type + 3;
	left = (size_t)(line + n - name);
	/* Modules come last, and none of these names is theirs. */
	end = memchr(name, '\t', left);
	if (end || left > NAME_LENGTH)
		return;
	s->lines++;
	for (i = 0; i < ILB_SYMBOLS; i++)
		if (strlen(names[i]) == left && !memcmp(names[i], name, left))
			s->symbols[i] = ILB_ANSWER_YES;
}

/* Returns how much of @text is left over: the start of a line. */
static size_t take_lines(struct scan *s, char *text, size_t n)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', n))) {
		take_line(s, line, (size_t)(end - line));
		n -= (size_t)(end - line) + 1;
		line = end + 1;
	}
	memmove(text, line, n);
	return n;
}

static void scan_file(struct scan *s, int fd)
{
	static const size_t room = BUFFER;
	char text[BUFFER];
	size_t length = 0, total = 0;
	ssize_t n;

	while (total < TOTAL_MAX) {
		n = read(fd, text + length, room - length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		total += (size_t)n;
		length = take_lines(s, text, length + (size_t)n);
		/* A line as long as the buffer is no symbol. */
		if (length == room)
			length = 0;
	}
}

void ilb_symbols_read(enum ilb_answer *symbols, const char *path)
{
	struct scan s = { .symbols = symbols };
	struct stat st;
	int fd, i;

	for (i = 0; i < ILB_SYMBOLS; i++)
		symbols[i] = ILB_ANSWER_UNKNOWN;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		scan_file(&s, fd);
	close(fd);
	for (i = 0; s.lines && i < ILB_SYMBOLS; i++)
		if (symbols[i] == ILB_ANSWER_UNKNOWN)
			symbols[i] = ILB_ANSWER_NO;
}
