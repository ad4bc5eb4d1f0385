// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments of the events that matter, in each of their forms: as the kernel
 * prints them, as trace-cmd's plugins do, and by field name (trace-cmd report
 * -R). A comm may hold any text, that of other arguments included: where it
 * ends is where everything that must follow does follow.
 */

#include "trace/text.h"

#define STATES		0xff	/* prev_state: 0 of these is runnable */

/* A tail is what follows a comm; it gets its own copy of the place. */
typedef int (*tail_fn)(struct ilb_text text, struct ilb_event *event);

static int at_end(struct ilb_text *text)
{
	return text->p == text->end || ilb_text_blank(*text->p);
}

static int read_hex(struct ilb_text *text, uint64_t max, uint64_t *value)
{
	const char *p = text->p;
	uint64_t v = 0, digit;

	for (; p < text->end; p++) {
		if (ilb_text_digit(*p))
			digit = (uint64_t)(*p - '0');
		else if ((unsigned char)((*p | 0x20) - 'a') < 6)
			digit = (uint64_t)((*p | 0x20) - 'a') + 10;
		else
			break;
		if (v > (max >> 4))
			return 0;
		v = v << 4 | digit;
	}
	if (p == text->p || v > max)
		return 0;
	text->p = p;
	*value = v;
	return 1;
}

/* Leading zeros do not make a number octal: "target_cpu=012". */
static int read_number(struct ilb_text *text, uint64_t max, uint64_t *value)
{
	struct ilb_text hex = *text;

	if (!ILB_TEXT_SKIP(&hex, "0x"))
		return ilb_text_decimal(text, max, value);
	if (!read_hex(&hex, max, value))
		return 0;
	*text = hex;
	return 1;
}

static int read_u32(struct ilb_text *text, uint32_t *value)
{
	uint64_t v;

	if (!read_number(text, UINT32_MAX, &v))
		return 0;
	*value = (uint32_t)v;
	return 1;
}

static int read_pid(struct ilb_text *text, int32_t *pid)
{
	uint64_t v;

	if (!read_number(text, INT32_MAX, &v))
		return 0;
	*pid = (int32_t)v;
	return 1;
}

/* That of a deadline task is -1. */
static int skip_prio(struct ilb_text *text)
{
	uint64_t ignored;

	ILB_TEXT_SKIP(text, "-");
	return read_number(text, UINT32_MAX, &ignored);
}

/* Letters, "R" and "R+" among them, or the bits. */
static int read_state(struct ilb_text *text, uint32_t *runnable)
{
	const char *start = text->p;
	uint64_t bits;

	if (read_number(text, UINT64_MAX, &bits)) {
		*runnable = !(bits & STATES);
		return 1;
	}
	while (text->p < text->end &&
	       ((unsigned char)((*text->p | 0x20) - 'a') < 26 ||
		*text->p == '|' || *text->p == '+'))
		text->p++;
	if (text->p == start)
		return 0;
	*runnable = *start == 'R';
	return 1;
}

/*
 * The length of the comm at @text, which @mark and then @tail follow; -1: none.
 * It is at most ILB_COMM_LEN - 1, which bounds the search.
 */
static int comm_length(struct ilb_text text, char mark, tail_fn tail,
		       struct ilb_event *event)
{
	const char *comm = text.p;

	for (; text.p < text.end && text.p - comm < ILB_COMM_LEN; text.p++) {
		if (!*text.p)
			return -1;
		if (*text.p == mark && tail(text, event))
			return (int)(text.p - comm);
	}
	return -1;
}

static int read_next_comm(struct ilb_text text, char mark, tail_fn tail,
			  struct ilb_event *event)
{
	int len = comm_length(text, mark, tail, event);

	if (len < 0)
		return 0;
	memset(event->u.sched_switch.next_comm, 0, ILB_COMM_LEN);
	memcpy(event->u.sched_switch.next_comm, text.p, (size_t)len);
	return 1;
}

/* "comm:12 [120]", from the colon on. */
static int read_plugin_task(struct ilb_text *text, int32_t *pid)
{
	return ILB_TEXT_SKIP(text, ":") && read_pid(text, pid) &&
	       ILB_TEXT_SKIP(text, " [") && skip_prio(text) &&
	       ILB_TEXT_SKIP(text, "]");
}

static int tail_next_plugin(struct ilb_text text, struct ilb_event *event)
{
	return read_plugin_task(&text, &event->u.sched_switch.next_pid) &&
	       text.p == text.end;
}

static int tail_prev_plugin(struct ilb_text text, struct ilb_event *event)
{
	return read_plugin_task(&text, &event->u.sched_switch.prev_pid) &&
	       ILB_TEXT_SKIP(&text, " ") &&
	       read_state(&text, &event->u.sched_switch.prev_runnable) &&
	       ILB_TEXT_SKIP(&text, " ==> ") &&
	       read_next_comm(text, ':', tail_next_plugin, event);
}

static int tail_next(struct ilb_text text, struct ilb_event *event)
{
	return ILB_TEXT_SKIP(&text, " next_pid=") &&
	       read_pid(&text, &event->u.sched_switch.next_pid) &&
	       ILB_TEXT_SKIP(&text, " next_prio=") && skip_prio(&text) &&
	       at_end(&text);
}

static int tail_prev(struct ilb_text text, struct ilb_event *event)
{
	if (!ILB_TEXT_SKIP(&text, " prev_pid=") ||
	    !read_pid(&text, &event->u.sched_switch.prev_pid) ||
	    !ILB_TEXT_SKIP(&text, " prev_prio=") || !skip_prio(&text) ||
	    !ILB_TEXT_SKIP(&text, " prev_state=") ||
	    !read_state(&text, &event->u.sched_switch.prev_runnable))
		return 0;
	ILB_TEXT_SKIP(&text, " ==>");
	return ILB_TEXT_SKIP(&text, " next_comm=") &&
	       read_next_comm(text, ' ', tail_next, event);
}

static int read_switch(struct ilb_text args, struct ilb_event *event)
{
	struct ilb_text fields = args;

	if (ILB_TEXT_SKIP(&fields, "prev_comm=") &&
	    comm_length(fields, ' ', tail_prev, event) >= 0)
		return 1;
	return comm_length(args, ':', tail_prev_plugin, event) >= 0;
}

/* Old kernels say whether the task was queued; later ones imply it. */
static int read_success(struct ilb_text *text, struct ilb_event *event)
{
	uint64_t success = 1;

	if (ILB_TEXT_SKIP(text, " success=") &&
	    !read_number(text, UINT32_MAX, &success))
		return 0;
	event->type = success ? ILB_EVENT_WAKEUP : ILB_EVENT_OTHER;
	return 1;
}

static int tail_wakeup(struct ilb_text text, struct ilb_event *event)
{
	return ILB_TEXT_SKIP(&text, " pid=") &&
	       read_pid(&text, &event->u.wakeup.pid) &&
	       ILB_TEXT_SKIP(&text, " prio=") && skip_prio(&text) &&
	       read_success(&text, event) &&
	       ILB_TEXT_SKIP(&text, " target_cpu=") &&
	       read_u32(&text, &event->u.wakeup.cpu) && at_end(&text);
}

static int tail_wakeup_plugin(struct ilb_text text, struct ilb_event *event)
{
	return read_plugin_task(&text, &event->u.wakeup.pid) &&
	       read_success(&text, event) && ILB_TEXT_SKIP(&text, " CPU:") &&
	       read_u32(&text, &event->u.wakeup.cpu) && text.p == text.end;
}

static int read_wakeup(struct ilb_text args, struct ilb_event *event)
{
	struct ilb_text fields = args;
	int found = ILB_TEXT_SKIP(&fields, "comm=") &&
		    comm_length(fields, ' ', tail_wakeup, event) >= 0;

	if (!found && comm_length(args, ':', tail_wakeup_plugin, event) < 0)
		return 0;
	if (event->type == ILB_EVENT_OTHER)
		memset(&event->u, 0, sizeof(event->u));
	return 1;
}

static int read_waking(struct ilb_text args, struct ilb_event *event)
{
	if (!read_wakeup(args, event))
		return 0;
	if (event->type == ILB_EVENT_WAKEUP)
		event->type = ILB_EVENT_WAKING;
	return 1;
}

static int tail_migrate(struct ilb_text text, struct ilb_event *event)
{
	return ILB_TEXT_SKIP(&text, " pid=") &&
	       read_pid(&text, &event->u.migrate.pid) &&
	       ILB_TEXT_SKIP(&text, " prio=") && skip_prio(&text) &&
	       ILB_TEXT_SKIP(&text, " orig_cpu=") &&
	       read_u32(&text, &event->u.migrate.from) &&
	       ILB_TEXT_SKIP(&text, " dest_cpu=") &&
	       read_u32(&text, &event->u.migrate.to) && at_end(&text);
}

static int read_migrate(struct ilb_text args, struct ilb_event *event)
{
	return ILB_TEXT_SKIP(&args, "comm=") &&
	       comm_length(args, ' ', tail_migrate, event) >= 0;
}

/* The value of an argument whose own values hold no blank. */
static int find_key(struct ilb_text args, const char *key, size_t len,
		    struct ilb_text *value)
{
	while (!ilb_text_skip(&args, key, len)) {
		args.p = memchr(args.p, ' ', (size_t)(args.end - args.p));
		if (!args.p)
			return 0;
		args.p++;
	}
	*value = args;
	return 1;
}

#define FIND(args, literal, value) \
	find_key(args, literal, sizeof(literal) - 1, value)

static int read_value(struct ilb_text *value, uint32_t *number)
{
	return read_u32(value, number) && at_end(value);
}

static int read_success_value(struct ilb_text args, struct ilb_event *event)
{
	return FIND(args, "success=", &args) &&
	       read_value(&args, &event->u.value);
}

static int read_state_value(struct ilb_text args, struct ilb_event *event)
{
	return FIND(args, "state=", &args) && read_value(&args, &event->u.value);
}

static int read_vector(struct ilb_text args, struct ilb_event *event)
{
	return FIND(args, "vec=", &args) && read_value(&args, &event->u.value);
}

static int symbol_is(struct ilb_text symbol, const char *name, size_t len)
{
	return (size_t)(symbol.end - symbol.p) == len &&
	       !memcmp(symbol.p, name, len);
}

#define SYMBOL_IS(symbol, literal) \
	symbol_is(symbol, literal, sizeof(literal) - 1)

static int ends_symbol(char c)
{
	return c == '+' || c == '/' || c == ',' || c == '.' || c == '[' ||
	       ilb_text_blank(c);
}

/*
 * The symbol of "func=nohz_csd_func+0x0": without offset, module and what a
 * compiler appends behind a dot. An address that was not resolved could be any
 * function, so it does not count as readable.
 */
static int read_symbol(struct ilb_text value, struct ilb_text *symbol)
{
	const char *p = value.p;

	while (p < value.end && !ends_symbol(*p))
		p++;
	symbol->p = value.p;
	symbol->end = p;
	return p > value.p && !ilb_text_digit(*value.p) && *value.p != '(';
}

static int read_func(struct ilb_text args, uint32_t *func)
{
	struct ilb_text symbol;

	if (!FIND(args, "func=", &args) || !read_symbol(args, &symbol))
		return 0;
	if (SYMBOL_IS(symbol, "nohz_csd_func"))
		*func = ILB_FUNC_NOHZ_CSD;
	else if (SYMBOL_IS(symbol, "sched_ttwu_pending"))
		*func = ILB_FUNC_TTWU;
	else
		*func = ILB_FUNC_OTHER;
	return 1;
}

static int read_csd_queue(struct ilb_text args, struct ilb_event *event)
{
	struct ilb_text cpu;

	return FIND(args, "cpu=", &cpu) &&
	       read_value(&cpu, &event->u.csd.cpu) &&
	       read_func(args, &event->u.csd.func);
}

static int read_csd(struct ilb_text args, struct ilb_event *event)
{
	return read_func(args, &event->u.csd.func);
}

static int read_hrtimer(struct ilb_text args, struct ilb_event *event)
{
	struct ilb_text symbol;

	if (!FIND(args, "function=", &args) || !read_symbol(args, &symbol))
		return 0;
	if (!SYMBOL_IS(symbol, "tick_nohz_handler") &&
	    !SYMBOL_IS(symbol, "tick_sched_timer"))
		event->type = ILB_EVENT_OTHER;
	return 1;
}

/* x86's own vector; its number does not matter, half a line does. */
static int read_call(struct ilb_text args, struct ilb_event *event)
{
	uint32_t ignored;

	(void)event;
	return FIND(args, "vector=", &args) && read_value(&args, &ignored);
}

/* arm64: "(Function call interrupts)", or with "reason=" before it. */
static int read_ipi(struct ilb_text args, struct ilb_event *event)
{
	if (args.p == args.end)
		return 0;
	if (!ILB_TEXT_SKIP(&args, "("))
		ILB_TEXT_SKIP(&args, "reason=");
	if (!ILB_TEXT_SKIP(&args, "Function call interrupts"))
		event->type = ILB_EVENT_OTHER;
	return 1;
}

/* A probe begins with its address: "(ffffffffa9927554)", "__probe_ip=...". */
static int read_probe(struct ilb_text args, struct ilb_event *event)
{
	struct ilb_text value = args;

	if (ILB_TEXT_SKIP(&value, "(")) {
		if (!memchr(value.p, ')', (size_t)(value.end - value.p)))
			return 0;
	} else if (!ILB_TEXT_SKIP(&value, "__probe_")) {
		return 0;
	}
	if (!FIND(args, "mask=", &value))
		return 1;
	event->u.probe.has_mask = 1;
	return read_number(&value, UINT64_MAX, &event->u.probe.mask) &&
	       at_end(&value);
}

static int read_probe_send(struct ilb_text args, struct ilb_event *event)
{
	struct ilb_text cpu;

	return read_probe(args, event) && FIND(args, "cpu=", &cpu) &&
	       read_value(&cpu, &event->u.probe.cpu) &&
	       read_func(args, &event->u.probe.func);
}

static int read_probe_pass(struct ilb_text args, struct ilb_event *event)
{
	struct ilb_text flags;

	if (!read_probe(args, event))
		return 0;
	return !FIND(args, "flags=", &flags) ||
	       read_value(&flags, &event->u.probe.flags);
}

struct kind {
	const char *system;
	const char *name;
	unsigned int system_len;
	unsigned int len;
	uint32_t type;
	int (*read)(struct ilb_text args, struct ilb_event *event);
};

#define KIND(system, name, type, read) \
	{ system, name, sizeof(system) - 1, sizeof(name) - 1, \
	  ILB_EVENT_##type, read }

/* The frequent ones first. */
static const struct kind kinds[] = {
	KIND("timer", "hrtimer_expire_entry", TICK, read_hrtimer),
	KIND("ilb", "trig", PROBE_TICK, read_probe),
	KIND("ilb", "exit_idle", PROBE_EXIT, read_probe),
	KIND("irq", "softirq_raise", SOFTIRQ_RAISE, read_vector),
	KIND("irq", "softirq_entry", SOFTIRQ_ENTRY, read_vector),
	KIND("irq", "softirq_exit", SOFTIRQ_EXIT, read_vector),
	KIND("power", "cpu_idle", IDLE, read_state_value),
	KIND("sched", "sched_switch", SWITCH, read_switch),
	KIND("sched", "sched_wakeup", WAKEUP, read_wakeup),
	KIND("sched", "sched_wakeup_new", WAKEUP, read_wakeup),
	KIND("sched", "sched_waking", WAKING, read_waking),
	KIND("sched", "sched_migrate_task", MIGRATE, read_migrate),
	KIND("timer", "tick_stop", TICK_STOP, read_success_value),
	KIND("csd", "csd_queue_cpu", CSD_QUEUE, read_csd_queue),
	KIND("csd", "csd_function_entry", CSD_ENTRY, read_csd),
	KIND("csd", "csd_function_exit", CSD_EXIT, read_csd),
	KIND("irq_vectors", "call_function_single_entry", IRQ_CALL, read_call),
	KIND("ipi", "ipi_entry", IRQ_CALL, read_ipi),
	KIND("ilb", "enter_idle", PROBE_ENTER, read_probe),
	KIND("ilb", "csd_send", PROBE_SEND, read_probe_send),
	KIND("ilb", "csd_func", PROBE_CSD, read_probe),
	KIND("ilb", "nohz_ib", PROBE_PASS, read_probe_pass),
	KIND("ilb", "nohz_ib_ret", PROBE_PASS_END, read_probe),
};

static const struct kind *find_kind(struct ilb_text system,
				    struct ilb_text name)
{
	size_t len = (size_t)(name.end - name.p), i;
	const struct kind *kind;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		kind = &kinds[i];
		if (kind->len != len || memcmp(kind->name, name.p, len))
			continue;
		if (system.p == system.end ||
		    symbol_is(system, kind->system, kind->system_len))
			return kind;
	}
	return NULL;
}

uint32_t ilb_text_event_type(const char *system, const char *name)
{
	struct ilb_text s = { system, system + strlen(system) };
	struct ilb_text n = { name, name + strlen(name) };
	const struct kind *kind = find_kind(s, n);

	return kind ? kind->type : ILB_EVENT_OTHER;
}

int ilb_text_args(struct ilb_text system, struct ilb_text name,
		  struct ilb_text args, struct ilb_event *event)
{
	const struct kind *kind = find_kind(system, name);

	if (!kind)
		return ILB_TEXT_EVENT;
	event->type = kind->type;
	if (kind->read(args, event))
		return ILB_TEXT_EVENT;
	event->type = ILB_EVENT_OTHER;
	memset(&event->u, 0, sizeof(event->u));
	return ILB_TEXT_ARGS;
}
