/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_TRACE_MOMENTS_FORMAT_H
#define ILB_TRACE_MOMENTS_FORMAT_H

/*
 * Inside of a moments file, as ilb-moments(5) has it: what its reader and its
 * writer share. Offsets are in bytes; numbers are little-endian.
 */

#include <stddef.h>
#include <stdint.h>

#include "ilb/moments.h"

#define ILB_MOMENTS_MAGIC	"ILBMOMS\n"
#define ILB_MOMENTS_VERSION	1U

#define ILB_MOMENTS_HEADER	84U	/* its size; within it: */
#define ILB_MOMENTS_AT_VERSION	8U
#define ILB_MOMENTS_AT_SIZE	12U
#define ILB_MOMENTS_AT_NR_CPUS	16U
#define ILB_MOMENTS_AT_ZERO	20U
#define ILB_MOMENTS_AT_START	24U
#define ILB_MOMENTS_AT_METHOD	32U
#define ILB_MOMENTS_AT_CRC	80U

#define ILB_MOMENTS_TAG_MOMENTS	0x534d4f4dU	/* "MOMS" */
#define ILB_MOMENTS_TAG_END	0x21444e45U	/* "END!" */

/* A block: these, then its payload. */
#define ILB_MOMENTS_BLOCK	20U
#define ILB_MOMENTS_AT_RECORDS	4U
#define ILB_MOMENTS_AT_STORED	8U
#define ILB_MOMENTS_AT_RAW	12U
#define ILB_MOMENTS_AT_CHECK	16U

/* A record: these, then the words of the mask, then those of the idle set. */
#define ILB_MOMENTS_RECORD	24U
#define ILB_MOMENTS_AT_KICKER	8U
#define ILB_MOMENTS_AT_TARGET	12U
#define ILB_MOMENTS_AT_FLAGS	16U
#define ILB_MOMENTS_AT_SPARE	20U

/* The payload of the last block, stored as it is. */
#define ILB_MOMENTS_TOTALS	32U
#define ILB_MOMENTS_AT_KICKS	8U
#define ILB_MOMENTS_AT_LOST	16U
#define ILB_MOMENTS_AT_NUMBER	24U

/* No block is larger than that, unpacked: it bounds the reader's memory. */
#define ILB_MOMENTS_RAW_MAX	(1U << 20)

static inline uint32_t ilb_get32(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

static inline uint64_t ilb_get64(const unsigned char *at)
{
	return ilb_get32(at) | (uint64_t)ilb_get32(at + 4) << 32;
}

static inline void ilb_put32(unsigned char *at, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static inline void ilb_put64(unsigned char *at, uint64_t value)
{
	ilb_put32(at, (uint32_t)value);
	ilb_put32(at + 4, (uint32_t)(value >> 32));
}

/** ilb_moments_words() - 64-bit words of one mask */
static inline unsigned int ilb_moments_words(unsigned int nr_cpus)
{
	return (nr_cpus + 63) / 64;
}

/** ilb_moments_record_size() - bytes of one record */
static inline unsigned int ilb_moments_record_size(unsigned int nr_cpus)
{
	return ILB_MOMENTS_RECORD + 2 * 8 * ilb_moments_words(nr_cpus);
}

/** ilb_moments_header_ok() - 1 if @header is as its kernel-doc says */
int ilb_moments_header_ok(const struct ilb_moments_header *header);

/**
 * ilb_moments_record_ok() - 1 if a record's CPUs are below @nr_cpus
 *
 * What readers take for granted of a moment; writers keep to it too.
 */
int ilb_moments_record_ok(const unsigned char *record, unsigned int nr_cpus);

/** ilb_moments_pack() - @moment becomes a record */
void ilb_moments_pack(unsigned char *record, const struct ilb_moment *moment,
		      unsigned int nr_cpus);

/**
 * ilb_moments_unpack() - a record becomes @moment
 * @mask, @idle: ILB_MASK_WORDS(@nr_cpus) words each, which @moment points to
 */
void ilb_moments_unpack(struct ilb_moment *moment, unsigned long *mask,
			unsigned long *idle, const unsigned char *record,
			unsigned int nr_cpus);

/** ilb_moments_crc() - CRC-32 as in zlib, gzip and PNG */
uint32_t ilb_moments_crc(const unsigned char *bytes, size_t size);

/** ilb_moments_check() - of a block: its header's first 16 bytes and @raw */
uint32_t ilb_moments_check(const unsigned char *block,
			   const unsigned char *raw, size_t size);

#endif
