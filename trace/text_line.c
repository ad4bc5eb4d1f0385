// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line of a text trace. The formats differ in front of the time, and agree
 * on "SECONDS.FRACTION: name: arguments":
 *
 *	    COMM-PID   [005]    39.134806: ...		trace-cmd report
 *	COMM-PID        5d..1.  39.134806: ...		trace-cmd report -l
 *	    COMM-PID   (TGID) [005] d..1. 39.134806: ...	tracefs
 *	    COMM   PID [005]    39.134806: system:name: ...	perf script
 *
 * A comm is 15 bytes of anything, blanks, colons and brackets included, so a
 * line is read backwards from the colon after its time. The first colon with
 * all of time, CPU and pid in front of it is the one: the shortest such text,
 * "1 [000] 1.000000:", does not fit into a comm, whereas arguments, which come
 * later, may quote whole lines (a write to trace_marker does).
 */

#include "trace/text.h"

#define NSEC_PER_SEC	1000000000U
#define MAX_SECONDS	(UINT64_MAX / NSEC_PER_SEC - 1)
#define MAX_CPU		9999999
#define MIN_FLAGS	4	/* irqs-off, need-resched, in irq, preempt */
#define MAX_TGID	16	/* "(   9816)" or "(-------)" */

static const char *before_blanks(const char *line, const char *p)
{
	while (p > line && ilb_text_blank(p[-1]))
		p--;
	return p;
}

static const char *before_word(const char *line, const char *p)
{
	while (p > line && !ilb_text_blank(p[-1]))
		p--;
	return p;
}

static const char *before_digits(const char *line, const char *p)
{
	while (p > line && ilb_text_digit(p[-1]))
		p--;
	return p;
}

static int read_between(const char *p, const char *end, uint64_t max,
			uint64_t *value)
{
	struct ilb_text text = { p, end };

	return ilb_text_decimal(&text, max, value) && text.p == end;
}

/* The *_before() return where their part begins, or NULL if it is not one. */

static const char *time_before(const char *line, const char *p, uint64_t *ns)
{
	const char *fraction = before_digits(line, p), *start;
	uint64_t seconds, part;

	if ((p - fraction != 6 && p - fraction != 9) || fraction == line ||
	    fraction[-1] != '.')
		return NULL;
	start = before_digits(line, fraction - 1);
	if (start == line || !ilb_text_blank(start[-1]))
		return NULL;
	if (!read_between(start, fraction - 1, MAX_SECONDS, &seconds) ||
	    !read_between(fraction, p, NSEC_PER_SEC - 1, &part))
		return NULL;
	*ns = seconds * NSEC_PER_SEC + (p - fraction == 6 ? part * 1000 : part);
	return start;
}

/* "[005]": three digits at least, which keeps it out of a comm. */
static const char *bracket_before(const char *line, const char *p,
				  uint64_t *cpu)
{
	const char *start;

	if (p == line || p[-1] != ']')
		return NULL;
	start = before_digits(line, p - 1);
	if (p - 1 - start < 3 || start - line < 2 || start[-1] != '[' ||
	    !ilb_text_blank(start[-2]))
		return NULL;
	return read_between(start, p - 1, MAX_CPU, cpu) ? start - 1 : NULL;
}

/* "[005]", "[005] d..1." or "5d..1.". */
static const char *cpu_before(const char *line, const char *p, uint64_t *cpu)
{
	struct ilb_text text;

	p = before_blanks(line, p);
	if (p > line && p[-1] == ']')
		return bracket_before(line, p, cpu);
	text.end = p;
	text.p = before_word(line, p);
	p = text.p;
	if (text.end - p < MIN_FLAGS)
		return NULL;
	if (!ilb_text_digit(*p))
		return bracket_before(line, before_blanks(line, p), cpu);
	if (!ilb_text_decimal(&text, MAX_CPU, cpu) ||
	    text.end - text.p < MIN_FLAGS)
		return NULL;
	return p;
}

static const char *before_tgid(const char *line, const char *p)
{
	const char *start = p;

	if (p == line || p[-1] != ')')
		return p;
	while (start > line && p - start < MAX_TGID && start[-1] != '(')
		start--;
	if (start == line || start[-1] != '(')
		return p;
	return before_blanks(line, start - 1);
}

/*
 * perf prints -1 for a task that is gone, in a column of its own; "-1" behind
 * a comm is init.
 */
static int gone(const char *line, const char *start, uint64_t pid)
{
	const char *minus = start - 1;

	if (pid != 1 || *minus != '-' || minus == line)
		return 0;
	return ilb_text_blank(minus[-1]) ||
	       (minus - line >= 3 && !memcmp(minus - 3, "-1/", 3));
}

/* What stands in front of the digits of a pid; it is not 0 for a line. */
static int behind_comm(const char *line, const char *start)
{
	const char *digits;

	if (start - line < 2)
		return 0;
	switch (start[-1]) {
	case '-':
		return 1;
	case '/':
		digits = before_digits(line, start - 1);
		return digits > line && (digits < start - 1) &&
		       (ilb_text_blank(digits[-1]) || digits[-1] == '-');
	case ' ':
	case '\t':
		return before_blanks(line, start) > line;
	}
	return 0;
}

/* "COMM-PID", "COMM PID" or "COMM PID/TID". */
static int pid_before(const char *line, const char *p, int32_t *pid)
{
	const char *start;
	uint64_t value;

	p = before_tgid(line, before_blanks(line, p));
	start = before_digits(line, p);
	if (!behind_comm(line, start) ||
	    !read_between(start, p, INT32_MAX, &value))
		return 0;
	*pid = gone(line, start, value) ? ILB_PID_UNKNOWN : (int32_t)value;
	return 1;
}

static int read_head(const char *line, const char *colon,
		     struct ilb_event *event)
{
	const char *p = time_before(line, colon, &event->time_ns);
	uint64_t cpu;

	if (!p)
		return 0;
	p = cpu_before(line, p, &cpu);
	if (!p || !pid_before(line, p, &event->pid))
		return 0;
	event->cpu = (uint32_t)cpu;
	return 1;
}

static int read_lost(struct ilb_text *text, struct ilb_event *event)
{
	uint64_t count;

	if (!ilb_text_decimal(text, UINT64_MAX, &count))
		return 0;
	event->type = ILB_EVENT_LOST;
	event->pid = ILB_PID_UNKNOWN;
	event->u.lost.count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
	return 1;
}

/* Lines that are events without "name:". */
static int read_nameless(struct ilb_text body, struct ilb_event *event)
{
	struct ilb_text rest = body;

	if (ILB_TEXT_SKIP(&rest, "PERF_RECORD_LOST lost "))
		return read_lost(&rest, event) && rest.p == rest.end ?
		       ILB_TEXT_LOST : ILB_TEXT_UNPARSED;
	/* The function tracer: "do_idle <-cpu_startup_entry". */
	rest.p = memchr(body.p, ' ', (size_t)(body.end - body.p));
	if (rest.p && rest.p > body.p && ILB_TEXT_SKIP(&rest, " <-") &&
	    rest.p < rest.end)
		return ILB_TEXT_EVENT;
	return ILB_TEXT_UNPARSED;
}

/* A printable word that ends with a colon. */
static int read_word(struct ilb_text *body, struct ilb_text *word)
{
	const char *p = body->p;

	while (p < body->end && (unsigned char)(*p - '!') < 0x5e && *p != ':')
		p++;
	if (p == body->p || p == body->end || *p != ':')
		return 0;
	word->p = body->p;
	word->end = p;
	body->p = p + 1;
	return 1;
}

/* What may stand between time and name: perf's period, "(+12)" of --ts-diff. */
static void skip_number(struct ilb_text *body)
{
	struct ilb_text text = *body;
	uint64_t ignored;
	int diff = ILB_TEXT_SKIP(&text, "(+");

	if (!ilb_text_decimal(&text, UINT64_MAX, &ignored) ||
	    (diff && !ILB_TEXT_SKIP(&text, ")")) || text.p == text.end ||
	    !ilb_text_blank(*text.p))
		return;
	ilb_text_skip_blanks(&text);
	*body = text;
}

static int read_body(struct ilb_text body, struct ilb_event *event)
{
	struct ilb_text system = { body.p, body.p }, name;

	ilb_text_skip_blanks(&body);
	skip_number(&body);
	if (!read_word(&body, &name))
		return read_nameless(body, event);
	if (body.p < body.end && !ilb_text_blank(*body.p)) {
		system = name;
		if (!read_word(&body, &name))
			return ILB_TEXT_UNPARSED;
	}
	ilb_text_skip_blanks(&body);
	return ilb_text_args(system, name, body, event);
}

/* "CPU:5 [LOST 123 EVENTS]", "CPU:5 [123 EVENTS DROPPED]", without number. */
static int read_lost_line(struct ilb_text text, struct ilb_event *event)
{
	uint64_t cpu;
	int lost, counted;

	if (!ILB_TEXT_SKIP(&text, "CPU:") ||
	    !ilb_text_decimal(&text, MAX_CPU, &cpu) ||
	    !ILB_TEXT_SKIP(&text, " ["))
		return ILB_TEXT_UNPARSED;
	lost = ILB_TEXT_SKIP(&text, "LOST ");
	counted = read_lost(&text, event);
	if (counted && !ILB_TEXT_SKIP(&text, " "))
		return ILB_TEXT_UNPARSED;
	if (!(lost ? ILB_TEXT_SKIP(&text, "EVENTS]") :
		     ILB_TEXT_SKIP(&text, "EVENTS DROPPED]")) ||
	    text.p != text.end)
		return ILB_TEXT_UNPARSED;
	event->type = ILB_EVENT_LOST;
	event->cpu = (uint32_t)cpu;
	return ILB_TEXT_LOST;
}

/* trace-cmd's "cpus=16", "version = 6" and "CPU 3 is empty". */
static int is_header(struct ilb_text text)
{
	uint64_t ignored;

	if (ILB_TEXT_SKIP(&text, "# tracer: "))
		return 1;
	if (ILB_TEXT_SKIP(&text, "cpus=") || ILB_TEXT_SKIP(&text, "version = "))
		return ilb_text_decimal(&text, UINT32_MAX, &ignored) &&
		       text.p == text.end;
	return ILB_TEXT_SKIP(&text, "CPU ") &&
	       ilb_text_decimal(&text, MAX_CPU, &ignored) &&
	       ILB_TEXT_SKIP(&text, " is empty") && text.p == text.end;
}

static int read_other(struct ilb_text text, struct ilb_event *event)
{
	int kind;

	memset(event, 0, sizeof(*event));
	event->pid = ILB_PID_UNKNOWN;
	ilb_text_skip_blanks(&text);
	if (text.p == text.end)
		return ILB_TEXT_BLANK;
	if (is_header(text))
		return ILB_TEXT_HEADER;
	if (*text.p == '#')
		return ILB_TEXT_BLANK;
	kind = read_lost_line(text, event);
	if (kind == ILB_TEXT_UNPARSED)
		memset(event, 0, sizeof(*event));
	return kind;
}

/*
 * A trace's own comments may hold anything, and so may the comm that begins a
 * line of -l; those look different, but for one that was made for this.
 */
static int is_comment(struct ilb_text text)
{
	return ILB_TEXT_SKIP(&text, "#") &&
	       (text.p == text.end || *text.p == ' ');
}

int ilb_text_line(const char *line, size_t len, struct ilb_event *event)
{
	struct ilb_text text = { line, line + len };
	const char *colon = line;

	memset(event, 0, sizeof(*event));
	while (text.end > line &&
	       (ilb_text_blank(text.end[-1]) || text.end[-1] == '\r'))
		text.end--;
	if (is_comment(text))
		return read_other(text, event);
	while ((colon = memchr(colon, ':', (size_t)(text.end - colon)))) {
		text.p = ++colon;
		if (text.p < text.end && ilb_text_blank(*text.p) &&
		    read_head(line, colon - 1, event))
			return read_body(text, event);
	}
	text.p = line;
	return read_other(text, event);
}
