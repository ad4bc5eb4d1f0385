// SPDX-License-Identifier: GPL-2.0-only
/*
 * A record of the ring buffer becomes an event.
 *
 * What an event id means, and where its fields are, is in the file, and is
 * looked up once per id; per record there are only a table and a few loads.
 * libtraceevent's own accessors look a field up by name each time, and cost
 * more than all the rest of reading.
 */

#include <stdlib.h>
#include <string.h>

#include <event-parse.h>
#include <trace-seq.h>

#include "trace/dat.h"

#define FIELDS_MAX	4
#define FUNCTIONS	256	/* cached; a trace has a few dozen */
#define NOT_RUNNABLE	0xff	/* states of a task that sleeps or is dead */

/* Where a number or a text is in a record; size 0: this kernel has none. */
struct field {
	uint16_t offset;
	uint8_t size;
	uint8_t is_signed;
	uint8_t is_dynamic;
};

struct kind;

struct translator {
	const struct kind *kind;	/* NULL: no such event */
	struct tep_event *event;
	uint32_t min_size;
	struct field fields[FIELDS_MAX];
};

/* What matters of an address: what it is the start of. */
struct function_entry {
	uint64_t address;
	uint32_t function;
	uint32_t used;
};

struct ilb_dat_events {
	struct tep_handle *tep;
	struct translator *translators;
	unsigned int nr;		/* highest event id + 1 */
	struct field type;
	struct field pid;
	uint32_t min_size;		/* of type and pid */
	struct function_entry functions[FUNCTIONS];
};

struct record {
	struct ilb_dat_events *events;
	const struct translator *translator;
	struct tep_record *tep;
	const unsigned char *data;
};

/*
 * An event of interest. Fields whose name begins with '?' may be missing, all
 * others must be there.
 */
struct kind {
	const char *system;
	const char *name;
	uint32_t type;
	int (*translate)(const struct record *r, struct ilb_event *event);
	const char *fields[FIELDS_MAX];
};

static uint64_t number_at(const unsigned char *p, struct field f)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (f.size) {
	case 8:
		memcpy(&u64, p, sizeof(u64));
		return u64;
	case 4:
		memcpy(&u32, p, sizeof(u32));
		return f.is_signed ? (uint64_t)(int64_t)(int32_t)u32 : u32;
	case 2:
		memcpy(&u16, p, sizeof(u16));
		return f.is_signed ? (uint64_t)(int64_t)(int16_t)u16 : u16;
	case 1:
		return f.is_signed ? (uint64_t)(int64_t)(int8_t)*p : *p;
	}
	return 0;
}

static uint64_t number(const struct record *r, unsigned int i)
{
	const struct field *f = &r->translator->fields[i];

	return number_at(r->data + f->offset, *f);
}

static int has(const struct record *r, unsigned int i)
{
	return r->translator->fields[i].size != 0;
}

/* The text of a field, cut to fit; the event has zeros where it goes. */
static int copy_comm(const struct record *r, unsigned int i, char *to)
{
	const struct field *f = &r->translator->fields[i];
	uint32_t offset = f->offset, size = f->size, where;

	if (f->is_dynamic) {
		memcpy(&where, r->data + f->offset, sizeof(where));
		offset = where & 0xffff;
		size = where >> 16;
		if (offset + size > (uint32_t)r->tep->size)
			return 0;
	}
	if (size > ILB_COMM_LEN - 1)
		size = ILB_COMM_LEN - 1;
	memcpy(to, r->data + offset, strnlen((const char *)r->data + offset,
					     size));
	return 1;
}

/* An IPI's reason is the address of a text that only the file's tables know. */
static uint32_t classify_reason(const struct record *r)
{
	uint32_t function = ILB_DAT_OTHER;
	struct trace_seq s;

	trace_seq_init(&s);
	tep_print_event(r->events->tep, &s, r->tep, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	if (s.buffer && strstr(s.buffer, "Function call interrupts"))
		function = ILB_DAT_IPI_CALL;
	trace_seq_destroy(&s);
	return function;
}

static uint32_t find_function(const struct record *r, unsigned int i,
			      int is_reason)
{
	uint64_t address = number(r, i);
	struct function_entry *e = &r->events->functions[
		(address >> 4 ^ address >> 12) % FUNCTIONS];

	if (!e->used || e->address != address) {
		e->function = is_reason ? classify_reason(r) :
			      ilb_dat_symbols_find(r->events->tep, address);
		e->address = address;
		e->used = 1;
	}
	return e->function;
}

/* The function of a cross call: 0 if the file has no name for it. */
static int set_func(const struct record *r, unsigned int i, uint32_t *func)
{
	uint32_t function = find_function(r, i, 0);

	*func = function == ILB_DAT_NOHZ_CSD ? ILB_FUNC_NOHZ_CSD :
		function == ILB_DAT_TTWU ? ILB_FUNC_TTWU : ILB_FUNC_OTHER;
	return function != ILB_DAT_UNKNOWN;
}

static int translate_other(const struct record *r, struct ilb_event *event)
{
	(void)r;
	(void)event;
	return 1;
}

static int translate_switch(const struct record *r, struct ilb_event *event)
{
	event->u.sched_switch.prev_pid = (int32_t)number(r, 0);
	event->u.sched_switch.next_pid = (int32_t)number(r, 2);
	/* The bit above these says "preempted": it stays runnable. */
	event->u.sched_switch.prev_runnable =
		!(number(r, 1) & NOT_RUNNABLE);
	return copy_comm(r, 3, event->u.sched_switch.next_comm);
}

static int translate_wakeup(const struct record *r, struct ilb_event *event)
{
	event->u.wakeup.pid = (int32_t)number(r, 0);
	event->u.wakeup.cpu = (uint32_t)number(r, 1);
	return 1;
}

static int translate_migrate(const struct record *r, struct ilb_event *event)
{
	event->u.migrate.pid = (int32_t)number(r, 0);
	event->u.migrate.from = (uint32_t)number(r, 1);
	event->u.migrate.to = (uint32_t)number(r, 2);
	return 1;
}

static int translate_hrtimer(const struct record *r, struct ilb_event *event)
{
	uint32_t function = find_function(r, 0, 0);

	if (function == ILB_DAT_TICK)
		event->type = ILB_EVENT_TICK;
	return function != ILB_DAT_UNKNOWN;
}

static int translate_value(const struct record *r, struct ilb_event *event)
{
	event->u.value = (uint32_t)number(r, 0);
	return 1;
}

static int translate_csd_queue(const struct record *r, struct ilb_event *event)
{
	event->u.csd.cpu = (uint32_t)number(r, 1);
	return set_func(r, 0, &event->u.csd.func);
}

static int translate_csd(const struct record *r, struct ilb_event *event)
{
	return set_func(r, 0, &event->u.csd.func);
}

static int translate_ipi(const struct record *r, struct ilb_event *event)
{
	if (find_function(r, 0, 1) == ILB_DAT_IPI_CALL)
		event->type = ILB_EVENT_IRQ_CALL;
	return 1;
}

static int translate_probe(const struct record *r, struct ilb_event *event)
{
	event->u.probe.has_mask = (uint32_t)has(r, 0);
	event->u.probe.mask = number(r, 0);
	event->u.probe.flags = (uint32_t)number(r, 1);
	return 1;
}

static int translate_send(const struct record *r, struct ilb_event *event)
{
	event->u.probe.has_mask = (uint32_t)has(r, 0);
	event->u.probe.mask = number(r, 0);
	event->u.probe.cpu = (uint32_t)number(r, 1);
	return set_func(r, 2, &event->u.probe.func);
}

static const struct kind other = {
	NULL, NULL, ILB_EVENT_OTHER, translate_other, { NULL },
};

static const struct kind kinds[] = {
	{ "sched", "sched_switch", ILB_EVENT_SWITCH, translate_switch,
	  { "prev_pid", "prev_state", "next_pid", "next_comm" } },
	{ "sched", "sched_wakeup", ILB_EVENT_WAKEUP, translate_wakeup,
	  { "pid", "target_cpu" } },
	{ "sched", "sched_wakeup_new", ILB_EVENT_WAKEUP, translate_wakeup,
	  { "pid", "target_cpu" } },
	{ "sched", "sched_waking", ILB_EVENT_WAKING, translate_wakeup,
	  { "pid", "target_cpu" } },
	{ "sched", "sched_migrate_task", ILB_EVENT_MIGRATE, translate_migrate,
	  { "pid", "orig_cpu", "dest_cpu" } },
	{ "timer", "hrtimer_expire_entry", ILB_EVENT_OTHER, translate_hrtimer,
	  { "function" } },
	{ "timer", "tick_stop", ILB_EVENT_TICK_STOP, translate_value,
	  { "success" } },
	{ "csd", "csd_queue_cpu", ILB_EVENT_CSD_QUEUE, translate_csd_queue,
	  { "func", "cpu" } },
	{ "csd", "csd_function_entry", ILB_EVENT_CSD_ENTRY, translate_csd,
	  { "func" } },
	{ "csd", "csd_function_exit", ILB_EVENT_CSD_EXIT, translate_csd,
	  { "func" } },
	{ "irq", "softirq_raise", ILB_EVENT_SOFTIRQ_RAISE, translate_value,
	  { "vec" } },
	{ "irq", "softirq_entry", ILB_EVENT_SOFTIRQ_ENTRY, translate_value,
	  { "vec" } },
	{ "irq", "softirq_exit", ILB_EVENT_SOFTIRQ_EXIT, translate_value,
	  { "vec" } },
	{ "irq_vectors", "call_function_single_entry", ILB_EVENT_IRQ_CALL,
	  translate_other, { NULL } },
	{ "ipi", "ipi_entry", ILB_EVENT_OTHER, translate_ipi, { "reason" } },
	{ "power", "cpu_idle", ILB_EVENT_IDLE, translate_value, { "state" } },
	{ "ilb", "enter_idle", ILB_EVENT_PROBE_ENTER, translate_probe,
	  { "?mask" } },
	{ "ilb", "exit_idle", ILB_EVENT_PROBE_EXIT, translate_probe,
	  { "?mask" } },
	{ "ilb", "trig", ILB_EVENT_PROBE_TICK, translate_probe,
	  { "?mask" } },
	{ "ilb", "csd_send", ILB_EVENT_PROBE_SEND, translate_send,
	  { "?mask", "cpu", "func" } },
	{ "ilb", "csd_func", ILB_EVENT_PROBE_CSD, translate_probe,
	  { "?mask" } },
	{ "ilb", "nohz_ib", ILB_EVENT_PROBE_PASS, translate_probe,
	  { "?mask", "?flags" } },
	{ "ilb", "nohz_ib_ret", ILB_EVENT_PROBE_PASS_END, translate_probe,
	  { "?mask" } },
};

/* Take over where a field is; 0 if it is nothing that can be read here. */
static int set_field(struct field *to, const struct tep_format_field *from,
		     int is_text)
{
	int is_number = from->size == 1 || from->size == 2 ||
			from->size == 4 || from->size == 8;

	if (from->offset < 0 || from->offset > UINT16_MAX || from->size < 1 ||
	    from->size > UINT8_MAX || (!is_number && !is_text) ||
	    (from->flags & TEP_FIELD_IS_RELATIVE))
		return 0;
	to->is_dynamic = !!(from->flags & TEP_FIELD_IS_DYNAMIC);
	if (to->is_dynamic && (!is_text || from->size != 4))
		return 0;
	if (!is_text && (from->flags & TEP_FIELD_IS_STRING))
		return 0;
	to->offset = (uint16_t)from->offset;
	to->size = (uint8_t)from->size;
	to->is_signed = !!(from->flags & TEP_FIELD_IS_SIGNED);
	return 1;
}

static const struct kind *find_kind(const struct tep_event *event)
{
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, event->name) &&
		    !strcmp(kinds[i].system, event->system))
			return &kinds[i];
	return &other;
}

/* Find the fields of an event of interest; 0 if one of them is missing. */
static int set_fields(struct translator *t)
{
	const struct tep_format_field *from;
	uint32_t end;
	unsigned int i;
	const char *name;
	int optional;

	for (i = 0; i < FIELDS_MAX && t->kind->fields[i]; i++) {
		name = t->kind->fields[i];
		optional = *name == '?';
		from = tep_find_field(t->event, name + optional);
		if (!from && optional)
			continue;
		if (!from || !set_field(&t->fields[i], from,
					!strcmp(name, "next_comm")))
			return 0;
		end = t->fields[i].offset + (uint32_t)t->fields[i].size;
		if (end > t->min_size)
			t->min_size = end;
	}
	return 1;
}

/* An event without a field it should have: too strange to be translated. */
static int translate_strange(const struct record *r, struct ilb_event *event)
{
	(void)r;
	(void)event;
	return 0;
}

static const struct kind strange = {
	NULL, NULL, ILB_EVENT_OTHER, translate_strange, { NULL },
};

static void set_translator(struct ilb_dat_events *events,
			   struct tep_event *event)
{
	struct translator *t;

	if (event->id < 0 || (unsigned int)event->id >= events->nr ||
	    !event->name || !event->system)
		return;
	t = &events->translators[event->id];
	t->event = event;
	t->kind = find_kind(event);
	t->min_size = events->min_size;
	if (!set_fields(t))
		t->kind = &strange;
}

/* Fields that every event has, and has at the same place. */
static int set_common(struct ilb_dat_events *events, struct tep_event *event)
{
	const struct tep_format_field *type, *pid;
	uint32_t end;

	type = tep_find_common_field(event, "common_type");
	pid = tep_find_common_field(event, "common_pid");
	if (!type || !pid || !set_field(&events->type, type, 0) ||
	    !set_field(&events->pid, pid, 0))
		return 0;
	end = events->type.offset + (uint32_t)events->type.size;
	events->min_size = events->pid.offset + (uint32_t)events->pid.size;
	if (end > events->min_size)
		events->min_size = end;
	return 1;
}

struct ilb_dat_events *ilb_dat_events_new(struct tep_handle *tep)
{
	struct ilb_dat_events *events = calloc(1, sizeof(*events));
	struct tep_event *event;
	int i, nr = tep_get_events_count(tep);

	if (!events || nr < 1 || !set_common(events, tep_get_event(tep, 0)))
		goto fail;
	events->tep = tep;
	for (i = 0; i < nr; i++) {
		event = tep_get_event(tep, i);
		if (event->id >= (int)events->nr && event->id <= UINT16_MAX)
			events->nr = (unsigned int)event->id + 1;
	}
	events->translators = calloc(events->nr ? events->nr : 1,
				     sizeof(*events->translators));
	if (!events->translators)
		goto fail;
	for (i = 0; i < nr; i++)
		set_translator(events, tep_get_event(tep, i));
	return events;
fail:
	free(events);
	return NULL;
}

int ilb_dat_events_translate(struct ilb_dat_events *events,
			     struct tep_record *record,
			     struct ilb_event *event)
{
	struct record r = { .events = events, .tep = record,
			    .data = record->data };
	uint64_t id;

	memset(event, 0, sizeof(*event));
	event->type = ILB_EVENT_OTHER;
	event->pid = ILB_PID_UNKNOWN;
	if (record->size < (int)events->min_size)
		return 0;
	id = number_at(r.data + events->type.offset, events->type);
	if (id >= events->nr || !events->translators[id].kind)
		return 0;
	event->pid = (int32_t)number_at(r.data + events->pid.offset,
					events->pid);
	r.translator = &events->translators[id];
	if (record->size < (int)r.translator->min_size)
		return 0;
	event->type = r.translator->kind->type;
	return r.translator->kind->translate(&r, event);
}
