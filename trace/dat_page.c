// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do the lengths in a page of the ring buffer add up?
 *
 * libtraceevent takes a record whose length is wrong for the end of the page,
 * and a blank page for one without records. So each page is walked once
 * before it gets it, and the records it then finds are counted.
 *
 * A page is the ring buffer's (Linux 3.10 to 7.3): a time stamp of 8 bytes, a
 * long of the kernel with the bytes committed and two flags, then records with
 * a head of 4 bytes: type or length in the low 5 bits, time in the others.
 * Events that were lost before are counted behind the bytes committed.
 */

#include <string.h>

#include "trace/dat.h"

#define COMMIT_MASK	0x07ffffffU
#define LOST		0x80000000U	/* before this page */
#define LOST_COUNTED	0x40000000U

enum {
	TYPE_LONG = 0,		/* length is in the next word */
	TYPE_DATA_MAX = 28,
	TYPE_PADDING,
	TYPE_TIME_EXTEND,
	TYPE_TIME_STAMP,
};

static uint32_t word(const unsigned char *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* Length of the record at @p, 0 if it has none; @room >= 4. */
static uint32_t record_length(const unsigned char *p, uint32_t room)
{
	uint32_t head = word(p), type = head & 31, length;

	if (type && type <= TYPE_DATA_MAX)
		return 4 + type * 4;
	if (type == TYPE_TIME_EXTEND || type == TYPE_TIME_STAMP)
		return 8;
	if (type == TYPE_PADDING && !(head >> 5))
		return room;
	if (room < 8)
		return 0;
	length = word(p + 4);
	if (length < 4 || length > room)
		return 0;
	return 4 + ((length + 3) & ~3U);
}

int ilb_dat_page_records(const unsigned char *page, uint64_t size,
			 uint32_t head)
{
	uint32_t at, end, length, type;
	int records = 0;

	if (size < head)
		return -1;
	end = head + (word(page + 8) & COMMIT_MASK);
	/* The kernel writes no blank page, a file system after a crash does. */
	if (end > size || (!word(page) && !word(page + 4) && end == head))
		return -1;
	for (at = head; at < end; at += length) {
		if (end - at < 4)
			return -1;
		length = record_length(page + at, end - at);
		if (!length || length > end - at)
			return -1;
		type = word(page + at) & 31;
		records += type <= TYPE_DATA_MAX;
	}
	return records;
}

int64_t ilb_dat_page_lost(const unsigned char *page, uint64_t size,
			  uint32_t head)
{
	uint32_t commit = word(page + 8), at = head + (commit & COMMIT_MASK);
	uint32_t count;

	if (!(commit & LOST))
		return 0;
	/* The count is a long; no one waits for its upper half. */
	if (!(commit & LOST_COUNTED) || at + sizeof(count) > size)
		return -1;
	count = word(page + at);
	return count ? (int64_t)count : -1;
}
