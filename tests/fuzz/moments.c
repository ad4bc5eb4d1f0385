// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of moments. Checksums are made right first: guessing them is not what
 * a fuzzer is for, and behind them the reader must still trust nothing.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/moments_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend_header(unsigned char *bytes)
{
	ilb_put32(bytes + ILB_MOMENTS_AT_CRC,
		  ilb_moments_crc(bytes, ILB_MOMENTS_AT_CRC));
}

static void mend_end(unsigned char *bytes, size_t size)
{
	unsigned char *at = bytes + size - ILB_MOMENTS_TOTALS;
	unsigned char *block = at - ILB_MOMENTS_BLOCK;

	ilb_put32(block + ILB_MOMENTS_AT_CHECK,
		  ilb_moments_check(block, at, ILB_MOMENTS_TOTALS));
}

/* Returns the size of the block, 0 if there is no next one. */
static size_t mend_block(unsigned char *block, size_t left)
{
	static unsigned char raw[ILB_MOMENTS_RAW_MAX];
	size_t stored, got;

	if (left < ILB_MOMENTS_BLOCK)
		return 0;
	stored = ilb_get32(block + ILB_MOMENTS_AT_STORED);
	if (stored > left - ILB_MOMENTS_BLOCK)
		return 0;
	got = ZSTD_decompress(raw, sizeof(raw), block + ILB_MOMENTS_BLOCK,
			      stored);
	if (!ZSTD_isError(got))
		ilb_put32(block + ILB_MOMENTS_AT_CHECK,
			  ilb_moments_check(block, raw, got));
	return ILB_MOMENTS_BLOCK + stored;
}

static void mend(unsigned char *bytes, size_t size)
{
	size_t at = ILB_MOMENTS_HEADER, end, step;

	if (size < ILB_MOMENTS_HEADER + ILB_MOMENTS_BLOCK + ILB_MOMENTS_TOTALS)
		return;
	end = size - ILB_MOMENTS_BLOCK - ILB_MOMENTS_TOTALS;
	mend_header(bytes);
	mend_end(bytes, size);
	while ((step = mend_block(bytes + at, end - at)))
		at += step;
}

static void check(const struct ilb_moment *moment, unsigned int nr_cpus,
		  uint64_t last_ns)
{
	unsigned int beyond = nr_cpus % ILB_WORD_BITS;
	unsigned int last = ILB_MASK_WORDS(nr_cpus) - 1;

	if (moment->time_ns < last_ns ||
	    (moment->kicker >= nr_cpus && moment->kicker != ILB_CPU_NONE) ||
	    (moment->target >= nr_cpus && moment->target != ILB_CPU_NONE))
		abort();
	if (beyond && (moment->mask[last] | moment->idle[last]) >> beyond)
		abort();
}

static void read_moments(const char *path, unsigned int nr_cpus)
{
	struct ilb_error error = { "" };
	struct ilb_moment moment;
	struct ilb_moments *m;
	uint64_t last_ns = 0;
	int got;

	got = ilb_moments_open(&m, path, nr_cpus, &error);
	if (!got) {
		while ((got = ilb_moments_next(m, &moment, &error)) == 1) {
			check(&moment, nr_cpus, last_ns);
			last_ns = moment.time_ns;
		}
		ilb_moments_close(m);
	}
	if ((got && !error.text[0]) || got == -ILB_ERR_BUG ||
	    strchr(error.text, '\n'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *bytes = malloc(size + 1);
	int fd = memfd_create("moments", MFD_CLOEXEC);
	unsigned int nr_cpus = 4;
	char path[32];

	if (!bytes || fd < 0)
		abort();
	memcpy(bytes, data, size);
	mend(bytes, size);
	if (size >= ILB_MOMENTS_HEADER)
		nr_cpus = ilb_get32(bytes + ILB_MOMENTS_AT_NR_CPUS) %
			  (ILB_CPUS_MAX + 1);
	if (write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_moments(path, nr_cpus ? nr_cpus : 1);
	close(fd);
	free(bytes);
	return 0;
}
