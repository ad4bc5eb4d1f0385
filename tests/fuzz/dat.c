// SPDX-License-Identifier: GPL-2.0-only
/* Files as trace.dat: their extent, their pages, the records by time. */

#include <event-parse.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/dat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_records(const struct ilb_dat_layout *layout, int fd)
{
	struct tep_record record = { .ref_count = 1 };
	struct ilb_dat_merge *merge;
	uint64_t last_ns = 0;

	if (ilb_dat_merge_new(&merge, layout, fd, 8, NULL))
		return;
	while (ilb_dat_merge_next(merge, &record, NULL) == 1) {
		volatile unsigned char *bytes = record.data;

		/* The whole record must be ours to read. */
		if (record.size > 0)
			(void)(bytes[0] + bytes[record.size - 1]);
		last_ns = record.ts;
	}
	(void)last_ns;
	ilb_dat_merge_free(merge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ilb_dat_layout layout = { 0 };
	struct ilb_error error = { "" };
	int fd = memfd_create("trace", MFD_CLOEXEC), err;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	err = ilb_dat_layout_read(&layout, fd, "fuzz", &error);
	if (err && !error.text[0])
		abort();
	if (!err)
		read_records(&layout, fd);
	ilb_dat_layout_free(&layout);
	close(fd);
	return 0;
}
