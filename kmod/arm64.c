// SPDX-License-Identifier: GPL-2.0-only
/*
 * arm64: BL and B, and data reached through ADRP. Compilers address the data
 * of a file from a common anchor, so that "nohz" is an anchor plus an offset,
 * the anchor in a register: known register values are followed.
 *
 * Followed in the order of addresses, as if nothing ever jumped. A value that
 * is lost that way is a reference that is not counted; with none counted the
 * kernel is refused.
 */

#include "core/env.h"
#include "kmod/arch.h"

#define INSN_SIZE	4U
#define NR_REGS		32
#define UNKNOWN		0UL

/* BL clobbers x0-x18 and the link register. */
#define LAST_CLOBBERED	18
#define LINK_REGISTER	30

static unsigned int read_insn(const struct ilb_code *code, unsigned int at)
{
	const unsigned char *b = code->bytes + at;

	return b[0] | (unsigned int)b[1] << 8 | (unsigned int)b[2] << 16 |
	       (unsigned int)b[3] << 24;
}

static unsigned long sign_extend(unsigned long value, unsigned int bits)
{
	unsigned long sign = 1UL << (bits - 1);

	return (value ^ sign) - sign;
}

static int is_bl(unsigned int insn)
{
	return insn >> 26 == 0x25;
}

static int is_b(unsigned int insn)
{
	return insn >> 26 == 0x05;
}

static unsigned long branch_target(unsigned int insn, unsigned long pc)
{
	return pc + sign_extend((insn & 0x3ffffffUL) << 2, 28);
}

static unsigned int count_branches(const struct ilb_code *code,
				   const struct ilb_entry *callee,
				   int (*wanted)(unsigned int insn),
				   unsigned long *return_to)
{
	unsigned int at, insn, n = 0;

	for (at = 0; at + INSN_SIZE <= code->size; at += INSN_SIZE) {
		insn = read_insn(code, at);
		if (!wanted(insn) ||
		    !ilb_entry_hit(callee,
				   branch_target(insn, code->address + at)))
			continue;
		n++;
		if (return_to)
			*return_to = code->address + at + INSN_SIZE;
	}
	return n;
}

static unsigned int arm64_calls(const struct ilb_code *code,
				const struct ilb_entry *callee,
				unsigned long *return_to)
{
	return count_branches(code, callee, is_bl, return_to);
}

static unsigned int arm64_jumps(const struct ilb_code *code,
				const struct ilb_entry *callee)
{
	return count_branches(code, callee, is_b, NULL);
}

static unsigned long adrp_page(unsigned int insn, unsigned long pc)
{
	unsigned long pages = ((insn >> 3) & 0x1ffffcUL) | (insn >> 29 & 3);

	return (pc & ~0xfffUL) + (sign_extend(pages, 21) << 12);
}

static void forget_clobbered(unsigned long *value)
{
	unsigned int reg;

	for (reg = 0; reg <= LAST_CLOBBERED; reg++)
		value[reg] = UNKNOWN;
	value[LINK_REGISTER] = UNKNOWN;
}

/*
 * Take @insn into account in @value. Returns the address that it computes or
 * loads from, if known.
 */
static unsigned long follow(unsigned int insn, unsigned long pc,
			    unsigned long *value)
{
	unsigned int rd = insn & 31, rn = insn >> 5 & 31;
	unsigned long base = value[rn], imm = insn >> 10 & 0xfff;

	if (is_bl(insn)) {
		forget_clobbered(value);
	} else if ((insn & 0x9f000000) == 0x90000000) {	/* adrp */
		value[rd] = adrp_page(insn, pc);
	} else if ((insn & 0xffc00000) == 0x91000000) {	/* add #imm12 */
		value[rd] = base ? base + imm : UNKNOWN;
		return value[rd];
	} else if ((insn & 0xffc00000) == 0xf9400000) {	/* ldr #imm12 * 8 */
		value[rd] = UNKNOWN;
		return base ? base + imm * 8 : UNKNOWN;
	}
	return UNKNOWN;
}

static unsigned int arm64_loads(const struct ilb_code *code,
				unsigned long data)
{
	unsigned long value[NR_REGS] = { UNKNOWN };
	unsigned int at, n = 0;

	for (at = 0; at + INSN_SIZE <= code->size; at += INSN_SIZE)
		if (follow(read_insn(code, at), code->address + at, value) ==
		    data)
			n++;
	return n;
}

const struct ilb_arch ilb_arch_arm64 = {
	.name	= "arm64",
	.calls	= arm64_calls,
	.jumps	= arm64_jumps,
	.loads	= arm64_loads,
};
