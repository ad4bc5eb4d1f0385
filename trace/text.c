// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text traces, line by line through a buffer of fixed size, so that a pipe
 * works as well as a file. What a line says is text_line.c's matter.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/source.h"
#include "trace/text.h"

#define BUFFER_SIZE	65536
#define PATIENCE	1000	/* lines; after that it is no trace */

/**
 * struct text - a source of text
 * @at, @fill: the unread part of @buffer
 * @eof: 1: nothing comes after @buffer
 * @skipping: 1: within a line that is too long, already counted
 * @recognised: 1: there was an event
 * @dat: 1: it begins as a trace.dat does
 * @header: 1: there was a trace's header; with nothing else, it is an empty one
 * @last_ns: time of the last event
 * @lost: type ILB_EVENT_LOST: waits for a time
 * @held: type ILB_EVENT_TYPES: none; else the event after @lost, due next
 */
struct text {
	struct ilb_source source;
	int fd;
	int eof;
	int skipping;
	int recognised;
	int dat;
	int header;
	uint64_t last_ns;
	struct ilb_event lost;
	struct ilb_event held;
	size_t at;
	size_t fill;
	char *path;
	char buffer[BUFFER_SIZE];
};

static int not_a_trace(struct text *text, struct ilb_error *error)
{
	if (text->dat)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"%s: is a trace.dat in a pipe, and must be a file; save it and name it with -i",
				text->path);
	if (!text->source.stats.bytes_read)
		return ilb_fail(error, ILB_ERR_FORMAT,
				"%s: is empty; see whether what writes it failed",
				text->path);
	return ilb_fail(error, ILB_ERR_FORMAT,
			"%s: no line of it looks like a trace; give a trace.dat file, or the text of trace-cmd report, of perf script -F comm,pid,tid,cpu,time,event,trace --ns, or of tracefs' trace file",
			text->path);
}

/* More into the buffer, behind the unread part; 0 or an error. */
static int fill_buffer(struct text *text, struct ilb_error *error)
{
	ssize_t got;

	memmove(text->buffer, text->buffer + text->at, text->fill - text->at);
	text->fill -= text->at;
	text->at = 0;
	do {
		got = read(text->fd, text->buffer + text->fill,
			   BUFFER_SIZE - text->fill);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return ilb_fail(error, ILB_ERR_IO,
				"%s: cannot read: %s; see that it is there until the end",
				text->path, strerror(errno));
	if (!text->source.stats.bytes_read)
		text->dat = ilb_source_is_dat(text->buffer, (size_t)got);
	text->eof = !got;
	text->fill += (size_t)got;
	text->source.stats.bytes_read += (uint64_t)got;
	return 0;
}

/* Without a newline in sight: a part of a line that is too long is dropped. */
static void drop_long(struct text *text)
{
	if (text->fill - text->at <= ILB_TEXT_LINE_MAX && !text->skipping)
		return;
	if (!text->skipping)
		text->source.stats.unparsed++;
	text->skipping = 1;
	text->at = text->fill;
}

static int too_long(struct text *text, size_t len)
{
	if (text->skipping) {
		text->skipping = 0;
		return 1;
	}
	if (len <= ILB_TEXT_LINE_MAX)
		return 0;
	text->source.stats.unparsed++;
	return 1;
}

/* An endless file that is no trace must end nevertheless. */
static int out_of_patience(const struct text *text)
{
	return !text->recognised &&
	       (text->dat || text->source.stats.unparsed >= PATIENCE ||
		text->source.stats.bytes_read >
		(uint64_t)PATIENCE * ILB_TEXT_LINE_MAX);
}

/* Returns 1 and a line; 0 at the end; or an error. */
static int next_line(struct text *text, struct ilb_text *line,
		     struct ilb_error *error)
{
	const char *newline;
	int result;

	for (;;) {
		line->p = text->buffer + text->at;
		newline = memchr(line->p, '\n', text->fill - text->at);
		if (!newline && !text->eof) {
			drop_long(text);
			if (out_of_patience(text))
				return not_a_trace(text, error);
			result = fill_buffer(text, error);
			if (result)
				return result;
			continue;
		}
		if (!newline && text->at == text->fill)
			return 0;
		line->end = newline ? newline : text->buffer + text->fill;
		text->at = (size_t)(line->end - text->buffer) + !!newline;
		if (!too_long(text, (size_t)(line->end - line->p)))
			return 1;
	}
}

static uint64_t lost_count(const struct ilb_event *event)
{
	return event->u.lost.count ? event->u.lost.count : 1;
}

static int hand_out(struct text *text, struct ilb_event *event)
{
	text->last_ns = event->time_ns;
	return 1;
}

/* The loss that waits, now that its time is known. */
static int hand_out_lost(struct text *text, uint64_t time_ns,
			 struct ilb_event *event)
{
	*event = text->lost;
	event->time_ns = time_ns;
	text->lost.type = ILB_EVENT_OTHER;
	return hand_out(text, event);
}

/*
 * Most lines about losses tell no time: it is that of the next event. Should
 * two follow each other, then the first gets the time of what came before.
 */
static int take_lost(struct text *text, struct ilb_event *event)
{
	struct ilb_event before = text->lost;

	text->source.stats.lost += lost_count(event);
	if (event->time_ns)
		return hand_out(text, event);
	text->lost = *event;
	if (before.type != ILB_EVENT_LOST)
		return 0;
	*event = before;
	event->time_ns = text->last_ns;
	return 1;
}

static int take_event(struct text *text, struct ilb_event *event)
{
	text->source.stats.events++;
	if (text->lost.type != ILB_EVENT_LOST)
		return hand_out(text, event);
	text->held = *event;
	return hand_out_lost(text, event->time_ns, event);
}

/* Returns 1 if the line gave an event. */
static int take_line(struct text *text, struct ilb_text line,
		     struct ilb_event *event)
{
	int kind = ilb_text_line(line.p, (size_t)(line.end - line.p), event);

	if (kind == ILB_TEXT_UNPARSED || kind == ILB_TEXT_ARGS)
		text->source.stats.unparsed++;
	if (kind == ILB_TEXT_UNPARSED || kind == ILB_TEXT_BLANK)
		return 0;
	if (kind == ILB_TEXT_HEADER) {
		text->header = 1;
		return 0;
	}
	text->recognised = 1;
	if (kind == ILB_TEXT_LOST)
		return take_lost(text, event);
	return take_event(text, event);
}

static int text_next(struct ilb_source *source, struct ilb_event *event,
		     struct ilb_error *error)
{
	struct text *text = (struct text *)source;
	struct ilb_text line = { NULL, NULL };
	int result;

	if (text->held.type != ILB_EVENT_TYPES) {
		*event = text->held;
		text->held.type = ILB_EVENT_TYPES;
		return hand_out(text, event);
	}
	while ((result = next_line(text, &line, error)) == 1) {
		if (take_line(text, line, event))
			return 1;
		if (out_of_patience(text))
			return not_a_trace(text, error);
	}
	if (result)
		return result;
	if (text->lost.type == ILB_EVENT_LOST)
		return hand_out_lost(text, text->last_ns, event);
	if (text->recognised || (text->header && !source->stats.unparsed))
		return 0;
	return not_a_trace(text, error);
}

static void text_close(struct ilb_source *source)
{
	struct text *text = (struct text *)source;

	if (text->fd > STDIN_FILENO)
		close(text->fd);
	free(text->path);
	free(text);
}

static const struct ilb_source_ops text_ops = {
	.next = text_next,
	.close = text_close,
};

int ilb_text_open(struct ilb_source **source, const char *path, int fd,
		  uint64_t size, unsigned int nr_cpus, struct ilb_error *error)
{
	struct text *text = calloc(1, sizeof(*text));
	char *copy = strdup(path);

	if (!text || !copy) {
		free(copy);
		free(text);
		if (fd > STDIN_FILENO)
			close(fd);
		return ilb_fail(error, ILB_ERR_NOMEM, "%s: out of memory",
				path);
	}
	text->source.ops = &text_ops;
	text->source.nr_cpus = nr_cpus;
	text->source.stats.bytes_total = size;
	text->fd = fd;
	text->path = copy;
	text->held.type = ILB_EVENT_TYPES;
	*source = &text->source;
	return 0;
}
