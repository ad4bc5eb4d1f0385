// SPDX-License-Identifier: GPL-2.0-only
/* Text traces: any bytes, as one line and as the lines that they are. */

#include <stdlib.h>
#include <string.h>

#include "trace/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *line, size_t len)
{
	struct ilb_event event;
	int kind = ilb_text_line(line, len, &event);

	if (kind < ILB_TEXT_UNPARSED || kind > ILB_TEXT_LOST ||
	    event.type >= ILB_EVENT_TYPES)
		abort();
	if (kind == ILB_TEXT_ARGS && event.type != ILB_EVENT_OTHER)
		abort();
	if (event.type == ILB_EVENT_SWITCH &&
	    !memchr(event.u.sched_switch.next_comm, 0, ILB_COMM_LEN))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = (const char *)data, *end = line + size, *newline;

	check(line, size);
	while (line < end && (newline = memchr(line, '\n',
					       (size_t)(end - line)))) {
		check(line, (size_t)(newline - line));
		line = newline + 1;
	}
	check(line, (size_t)(end - line));
	return 0;
}
