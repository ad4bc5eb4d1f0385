// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: CALL and JMP with a 32-bit displacement, and RIP-relative operands.
 *
 * Instructions are not decoded: every byte is tried as a start. That can only
 * err to the safe side, because nothing is patched where a call is found; the
 * result is compared with return addresses. Bytes inside of other
 * instructions that look like a call of the one function make two calls out
 * of one, which is refused. If the real call is not seen there is none, which
 * is refused. And a site that is never returned to changes nothing. Chance
 * would have to hit one opcode and a displacement out of 2^32: in a function
 * of 1000 bytes once in 10^8 kernels. A decoder would be a second program to
 * trust, for nothing.
 */

#include "core/env.h"
#include "kmod/arch.h"

#define OPCODE_CALL	0xe8
#define OPCODE_JMP	0xe9
#define BRANCH_SIZE	5U
#define DISP_SIZE	4U

/* Sign-extended by hand: a conversion would be up to the compiler. */
static unsigned long read_disp(const unsigned char *at)
{
	unsigned long low = at[0] | (unsigned long)at[1] << 8 |
			    (unsigned long)at[2] << 16 |
			    (unsigned long)at[3] << 24;

	return (low ^ 0x80000000UL) - 0x80000000UL;
}

static unsigned int count_branches(const struct ilb_code *code,
				   const struct ilb_entry *callee,
				   unsigned char opcode,
				   unsigned long *return_to)
{
	unsigned int at, n = 0;
	unsigned long next;

	for (at = 0; at + BRANCH_SIZE <= code->size; at++) {
		if (code->bytes[at] != opcode)
			continue;
		next = code->address + at + BRANCH_SIZE;
		if (!ilb_entry_hit(callee,
				   next + read_disp(code->bytes + at + 1)))
			continue;
		n++;
		if (return_to)
			*return_to = next;
	}
	return n;
}

static unsigned int x86_calls(const struct ilb_code *code,
			      const struct ilb_entry *callee,
			      unsigned long *return_to)
{
	return count_branches(code, callee, OPCODE_CALL, return_to);
}

static unsigned int x86_jumps(const struct ilb_code *code,
			      const struct ilb_entry *callee)
{
	return count_branches(code, callee, OPCODE_JMP, NULL);
}

/*
 * A displacement counts from the end of its instruction, which is its own end
 * in all loads; not where an immediate follows, and those are not counted.
 */
static unsigned int x86_loads(const struct ilb_code *code, unsigned long data)
{
	unsigned int at, n = 0;

	for (at = 0; at + DISP_SIZE <= code->size; at++)
		if (code->address + at + DISP_SIZE +
		    read_disp(code->bytes + at) == data)
			n++;
	return n;
}

const struct ilb_arch ilb_arch_x86 = {
	.name	= "x86-64",
	.calls	= x86_calls,
	.jumps	= x86_jumps,
	.loads	= x86_loads,
};
