// SPDX-License-Identifier: GPL-2.0-only
/* Records of a moments file, to and from masks of whatever word size. */

#include <string.h>
#include <zlib.h>

#include "trace/moments_format.h"

int ilb_moments_header_ok(const struct ilb_moments_header *header)
{
	size_t length = strnlen(header->method, sizeof(header->method));

	return header->nr_cpus && header->nr_cpus <= ILB_CPUS_MAX && length &&
	       length < sizeof(header->method) &&
	       strspn(header->method, "abcdefghijklmnopqrstuvwxyz"
				      "0123456789_:-") == length;
}

static int cpu_ok(uint32_t cpu, unsigned int nr_cpus)
{
	return cpu < nr_cpus || cpu == ILB_CPU_NONE;
}

int ilb_moments_record_ok(const unsigned char *record, unsigned int nr_cpus)
{
	unsigned int words = ilb_moments_words(nr_cpus);
	const unsigned char *mask = record + ILB_MOMENTS_RECORD;
	const unsigned char *idle = mask + 8 * (size_t)words;
	uint64_t beyond = nr_cpus % 64 ? ~0ULL << nr_cpus % 64 : 0;

	return cpu_ok(ilb_get32(record + ILB_MOMENTS_AT_KICKER), nr_cpus) &&
	       cpu_ok(ilb_get32(record + ILB_MOMENTS_AT_TARGET), nr_cpus) &&
	       !ilb_get32(record + ILB_MOMENTS_AT_SPARE) &&
	       !((ilb_get64(mask + 8 * (words - 1)) |
		  ilb_get64(idle + 8 * (words - 1))) & beyond);
}

/* unsigned long may be half a word of the file. */
static void pack_mask(unsigned char *at, const unsigned long *mask,
		      unsigned int nr_cpus)
{
	unsigned int i, bit;

	memset(at, 0, 8 * (size_t)ilb_moments_words(nr_cpus));
	for (i = 0; i < ILB_MASK_WORDS(nr_cpus); i++)
		for (bit = 0; bit < ILB_WORD_BITS; bit += 32)
			ilb_put32(at + (i * ILB_WORD_BITS + bit) / 8,
				  (uint32_t)(mask[i] >> bit));
}

static void unpack_mask(unsigned long *mask, const unsigned char *at,
			unsigned int nr_cpus)
{
	unsigned int i, bit;

	for (i = 0; i < ILB_MASK_WORDS(nr_cpus); i++) {
		mask[i] = 0;
		for (bit = 0; bit < ILB_WORD_BITS; bit += 32)
			mask[i] |= (unsigned long)ilb_get32(
				at + (i * ILB_WORD_BITS + bit) / 8) << bit;
	}
}

void ilb_moments_pack(unsigned char *record, const struct ilb_moment *moment,
		      unsigned int nr_cpus)
{
	unsigned char *mask = record + ILB_MOMENTS_RECORD;

	ilb_put64(record, moment->time_ns);
	ilb_put32(record + ILB_MOMENTS_AT_KICKER, moment->kicker);
	ilb_put32(record + ILB_MOMENTS_AT_TARGET, moment->target);
	ilb_put32(record + ILB_MOMENTS_AT_FLAGS, moment->flags);
	ilb_put32(record + ILB_MOMENTS_AT_SPARE, 0);
	pack_mask(mask, moment->mask, nr_cpus);
	pack_mask(mask + 8 * (size_t)ilb_moments_words(nr_cpus), moment->idle,
		  nr_cpus);
}

void ilb_moments_unpack(struct ilb_moment *moment, unsigned long *mask,
			unsigned long *idle, const unsigned char *record,
			unsigned int nr_cpus)
{
	const unsigned char *words = record + ILB_MOMENTS_RECORD;

	unpack_mask(mask, words, nr_cpus);
	unpack_mask(idle, words + 8 * (size_t)ilb_moments_words(nr_cpus),
		    nr_cpus);
	moment->time_ns = ilb_get64(record);
	moment->kicker = ilb_get32(record + ILB_MOMENTS_AT_KICKER);
	moment->target = ilb_get32(record + ILB_MOMENTS_AT_TARGET);
	moment->flags = ilb_get32(record + ILB_MOMENTS_AT_FLAGS);
	moment->assumed = 0;
	moment->mask = mask;
	moment->idle = idle;
}

uint32_t ilb_moments_crc(const unsigned char *bytes, size_t size)
{
	return (uint32_t)crc32(0, bytes, (uInt)size);
}

uint32_t ilb_moments_check(const unsigned char *block,
			   const unsigned char *raw, size_t size)
{
	uLong crc = crc32(0, block, ILB_MOMENTS_AT_CHECK);

	return (uint32_t)crc32(crc, raw, (uInt)size);
}
