/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_KMOD_ARCH_H
#define ILB_KMOD_ARCH_H

/**
 * DOC: arch - all that the module knows of an instruction set
 *
 * Functions are read, never changed: a copy of a function's bytes is searched
 * for direct branches to a known function and for references to known data.
 * x86.c and arm64.c each fill one struct ilb_arch; both are built into the
 * unit tests.
 */

/**
 * struct ilb_code - one function, as it was read
 * @bytes, @size: the copy. Nothing outside of it is looked at
 * @address: where its first byte runs
 */
struct ilb_code {
	const unsigned char *bytes;
	unsigned int size;
	unsigned long address;
};

/**
 * struct ilb_entry - a function that branches may go to
 * @address: as the symbol table has it
 * @before: bytes in front of it that belong to it: call thunks are put there
 * @after: size of a landing pad, which a direct branch may skip
 */
struct ilb_entry {
	unsigned long address;
	unsigned int before, after;
};

/**
 * struct ilb_arch - how to read an instruction set
 * @name: of the architecture
 * @calls: number of direct calls of @callee in @code. *@return_to (may be
 *	NULL) becomes the return address of the last one
 * @jumps: number of direct unconditional jumps to @callee: tail calls
 * @loads: number of places that take the address @data or load from it
 */
struct ilb_arch {
	const char *name;
	unsigned int (*calls)(const struct ilb_code *code,
			      const struct ilb_entry *callee,
			      unsigned long *return_to);
	unsigned int (*jumps)(const struct ilb_code *code,
			      const struct ilb_entry *callee);
	unsigned int (*loads)(const struct ilb_code *code, unsigned long data);
};

extern const struct ilb_arch ilb_arch_x86;
extern const struct ilb_arch ilb_arch_arm64;

/** ilb_entry_hit() - 1 if a branch to @to enters @entry. */
static inline int ilb_entry_hit(const struct ilb_entry *entry,
				unsigned long to)
{
	return to - (entry->address - entry->before) <=
	       entry->before + entry->after;
}

#endif
