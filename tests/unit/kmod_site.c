// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the module finds the one call in stock kernels, and what it does not
 * take for it. Every piece of code lies in memory of its own, of just its
 * size, so that ASan sees a look beyond it.
 */

#include <stdlib.h>
#include <string.h>

#include "kmod_code.h"
#include "test.h"

static struct ilb_landmarks marks_of(const struct kmod_sample *s)
{
	struct ilb_landmarks marks = {
		{ s->housekeeping_cpumask, 0, 4 },
		{ s->idle_cpu, 0, 4 },
		{ s->find_next_and_bit, 0, 4 },
		{ s->bitmap_and, 0, 4 },
		s->nohz,
	};

	return marks;
}

/* A copy of the first @size bytes, to be changed at will. */
static struct ilb_code cut(const struct ilb_code *code, unsigned int size)
{
	struct ilb_code copy = *code;
	unsigned char *bytes = malloc(size);

	assert_true(bytes || !size);
	if (size)
		memcpy(bytes, code->bytes, size);
	copy.bytes = bytes;
	copy.size = size;
	return copy;
}

static void drop(struct ilb_code *code)
{
	free((void *)code->bytes);
}

static struct ilb_site look(const struct kmod_sample *s,
			    const struct ilb_code *code,
			    const struct ilb_landmarks *marks)
{
	struct ilb_site site = { 0 };

	ilb_site_look(&site, s->arch, code, marks);
	return site;
}

static enum ilb_site_verdict judge(const struct kmod_sample *s,
				   const struct ilb_code *code,
				   const struct ilb_landmarks *marks)
{
	struct ilb_site site = look(s, code, marks);

	return ilb_site_judge(&site);
}

static int is_7_3(const struct kmod_sample *s)
{
	return !strcmp(s->name, "x86 7.3");
}

static const struct kmod_sample *sample(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kmod_samples); i++)
		if (!strcmp(kmod_samples[i].name, name))
			return &kmod_samples[i];
	fail_msg("no sample %s", name);
	return NULL;
}

/* Offset of the instruction that calls housekeeping_cpumask(). */
static unsigned int call_at(const struct kmod_sample *s)
{
	unsigned int size = s->arch == &ilb_arch_x86 ? 5 : 4;

	return (unsigned int)(s->return_to - s->trigger.address) - size;
}

static void stock_kernels(void **state)
{
	const struct kmod_sample *s;
	struct ilb_landmarks marks;
	struct ilb_site site;
	struct ilb_code code;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(kmod_samples); i++) {
		s = &kmod_samples[i];
		marks = marks_of(s);
		code = cut(&s->trigger, s->trigger.size);
		site = look(s, &code, &marks);
		if (site.return_to != s->return_to)
			fail_msg("%s: returns to %lx, not %lx", s->name,
				 site.return_to, s->return_to);
		if (ilb_site_judge(&site) !=
		    (is_7_3(s) ? ILB_SITE_BUILT_IN : ILB_SITE_FOUND))
			fail_msg("%s: verdict %d", s->name,
				 (int)ilb_site_judge(&site));
		drop(&code);
	}
}

/* All of it cut off behind any byte: found once its proof is complete. */
static void truncated_anywhere(void **state)
{
	const struct kmod_sample *s;
	enum ilb_site_verdict verdict;
	struct ilb_landmarks marks;
	unsigned int i, size, end;
	struct ilb_code code;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(kmod_samples); i++) {
		s = &kmod_samples[i];
		marks = marks_of(s);
		end = (unsigned int)(s->return_to - s->trigger.address);
		for (size = 0; size < s->trigger.size; size++) {
			code = cut(&s->trigger, size);
			verdict = judge(s, &code, &marks);
			if ((verdict == ILB_SITE_NO_CALL) != (size < end) ||
			    (verdict == ILB_SITE_FOUND && is_7_3(s)))
				fail_msg("%s: %u bytes: verdict %d", s->name,
					 size, (int)verdict);
			drop(&code);
		}
	}
}

static void call_at_the_very_end(void **state)
{
	const struct kmod_sample *s = sample("x86 6.12");
	struct ilb_landmarks marks = marks_of(s);
	unsigned int size = call_at(s) + 5;
	struct ilb_code code = cut(&s->trigger, size);
	struct ilb_site site = look(s, &code, &marks);

	(void)state;
	assert_int_equal(site.asks, 1);
	assert_true(site.return_to == s->return_to);
	/* The idle mask is only loaded behind it. */
	assert_int_equal(ilb_site_judge(&site), ILB_SITE_NO_NOHZ);
	drop(&code);
}

static void no_call(void **state)
{
	const struct kmod_sample *s;
	struct ilb_landmarks marks;
	struct ilb_code code;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(kmod_samples); i++) {
		s = &kmod_samples[i];
		marks = marks_of(s);
		code = cut(&s->trigger, s->trigger.size);
		/* Another target. */
		((unsigned char *)code.bytes)[call_at(s) + 1] ^= 0x40;
		assert_int_equal(judge(s, &code, &marks), ILB_SITE_NO_CALL);
		drop(&code);
	}
}

/* A jump to it returns elsewhere. */
static void tail_call(void **state)
{
	const struct kmod_sample *s = sample("x86 6.1");
	struct ilb_landmarks marks = marks_of(s);
	struct ilb_code code = cut(&s->trigger, s->trigger.size);

	(void)state;
	((unsigned char *)code.bytes)[call_at(s)] = 0xe9;
	assert_int_equal(judge(s, &code, &marks), ILB_SITE_NO_CALL);
	drop(&code);
	s = sample("arm64 6.12");
	marks = marks_of(s);
	code = cut(&s->trigger, s->trigger.size);
	((unsigned char *)code.bytes)[call_at(s) + 3] &= 0x7f;
	assert_int_equal(judge(s, &code, &marks), ILB_SITE_NO_CALL);
	drop(&code);
}

static void two_calls(void **state)
{
	const struct kmod_sample *s;
	struct ilb_landmarks marks;
	struct ilb_code code;
	struct ilb_site site;
	unsigned char *bytes;
	unsigned int i, at;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(kmod_samples); i++) {
		s = &kmod_samples[i];
		marks = marks_of(s);
		at = call_at(s);
		code = cut(&s->trigger, s->trigger.size);
		/* Eight bytes in front: that much farther away. */
		bytes = (unsigned char *)code.bytes;
		memcpy(bytes + at - 8, bytes + at, 5);
		if (s->arch == &ilb_arch_x86)
			bytes[at - 8 + 1] = (unsigned char)(bytes[at + 1] + 8);
		else
			bytes[at - 8] = (unsigned char)(bytes[at] + 2);
		assert_true(bytes[at - 8] >= 2 && bytes[at - 7] >= 8);
		assert_int_equal(judge(s, &code, &marks),
				 ILB_SITE_NOT_UNIQUE);
		drop(&code);
		/* The same in two functions. */
		site = look(s, &s->trigger, &marks);
		ilb_site_look(&site, s->arch, &s->trigger, &marks);
		assert_int_equal(ilb_site_judge(&site), ILB_SITE_NOT_UNIQUE);
	}
}

static void no_nohz(void **state)
{
	const struct kmod_sample *s;
	struct ilb_landmarks marks;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(kmod_samples); i++) {
		s = &kmod_samples[i];
		marks = marks_of(s);
		marks.nohz += 0x100000;
		assert_int_equal(judge(s, &s->trigger, &marks),
				 ILB_SITE_NO_NOHZ);
	}
}

/* Other ways to choose, as a compiler or another kernel may have them. */
static void unknown_shapes(void **state)
{
	const struct kmod_sample *s;
	struct ilb_landmarks marks;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(kmod_samples); i++) {
		s = &kmod_samples[i];
		marks = marks_of(s);
		if (is_7_3(s)) {
			/* 7.3's two tests remain, whatever the mask is. */
			marks.bitmap_and.address += 0x100000;
			assert_int_equal(judge(s, &s->trigger, &marks),
					 ILB_SITE_UNKNOWN);
			continue;
		}
		marks.idle_cpu.address += 0x100000;
		assert_int_equal(judge(s, &s->trigger, &marks),
				 ILB_SITE_UNKNOWN);
		marks = marks_of(s);
		marks.find_next_and_bit.address += 0x100000;
		assert_int_equal(judge(s, &s->trigger, &marks),
				 ILB_SITE_UNKNOWN);
		marks = marks_of(s);
		marks.bitmap_and = marks.idle_cpu;
		assert_int_equal(judge(s, &s->trigger, &marks),
				 ILB_SITE_BUILT_IN);
	}
}

/* Who does not ask is not looked at. */
static void other_functions(void **state)
{
	const struct kmod_sample *s = sample("x86 6.12");
	struct ilb_landmarks marks = marks_of(s);
	struct ilb_site site = look(s, &s->stop_tick, &marks);

	(void)state;
	assert_int_equal(ilb_site_judge(&site), ILB_SITE_NO_CALL);
	ilb_site_look(&site, s->arch, &s->trigger, &marks);
	ilb_site_look(&site, s->arch, &s->stop_tick, &marks);
	assert_int_equal(ilb_site_judge(&site), ILB_SITE_FOUND);
	assert_true(site.return_to == s->return_to);
}

static void who_registers(void **state)
{
	const struct kmod_sample *s;
	struct ilb_entry enter;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(kmod_samples); i++) {
		s = &kmod_samples[i];
		enter = (struct ilb_entry){ s->enter_idle.address, 0, 4 };
		if (s->arch->calls(&s->stop_tick, &enter, NULL) +
		    s->arch->jumps(&s->stop_tick, &enter) != 1)
			fail_msg("%s", s->name);
		if (!s->arch->loads(&s->enter_idle, s->nohz) ||
		    s->arch->loads(&s->stop_tick, s->nohz))
			fail_msg("%s: loads of nohz", s->name);
	}
}

/* Through a thunk in front, behind a landing pad, and no byte farther. */
static void entries(void **state)
{
	const struct ilb_entry plain = { 0x2000, 0, 0 };
	const struct ilb_entry wide = { 0x2000, 16, 4 };
	const struct ilb_entry lowest = { 0, 0, 4 };

	(void)state;
	assert_true(ilb_entry_hit(&plain, 0x2000));
	assert_false(ilb_entry_hit(&plain, 0x1fff));
	assert_false(ilb_entry_hit(&plain, 0x2001));
	assert_true(ilb_entry_hit(&wide, 0x1ff0));
	assert_true(ilb_entry_hit(&wide, 0x2004));
	assert_false(ilb_entry_hit(&wide, 0x1fef));
	assert_false(ilb_entry_hit(&wide, 0x2005));
	assert_false(ilb_entry_hit(&lowest, ~0UL));
}

/* CALL backward and forward, over the end of the address space too. */
static void distances(void **state)
{
	static const unsigned char back[] = { 0xe8, 0xfb, 0xff, 0xff, 0xff };
	static const unsigned char ahead[] = { 0xe8, 0x00, 0x00, 0x00, 0x10 };
	static const unsigned char bl[] = { 0xff, 0xff, 0xff, 0x97 };
	struct ilb_code code = { back, sizeof(back), 0xffffffffff000000UL };
	struct ilb_entry to = { 0xffffffffff000000UL, 0, 0 };

	(void)state;
	assert_int_equal(ilb_arch_x86.calls(&code, &to, NULL), 1);
	code.bytes = ahead;
	to.address = 0x0f000005UL;
	assert_int_equal(ilb_arch_x86.calls(&code, &to, NULL), 1);
	code.bytes = bl;
	code.size = sizeof(bl);
	to.address = 0xfffffffffefffffcUL;
	assert_int_equal(ilb_arch_arm64.calls(&code, &to, NULL), 1);
	assert_int_equal(ilb_arch_arm64.jumps(&code, &to), 0);
}

/* Noise: no call in it, and no byte outside of it. */
static void noise(void **state)
{
	const struct kmod_sample *s;
	struct ilb_landmarks marks;
	unsigned int i, k, seed = 1;
	struct ilb_code code;

	(void)state;
	for (i = 0; i < 20000; i++) {
		s = &kmod_samples[i % ARRAY_SIZE(kmod_samples)];
		marks = marks_of(s);
		code = cut(&s->trigger, i % 67);
		for (k = 0; k < code.size; k++) {
			seed = seed * 1103515245U + 12345U;
			((unsigned char *)code.bytes)[k] =
				(unsigned char)(seed >> 16);
		}
		assert_int_equal(judge(s, &code, &marks), ILB_SITE_NO_CALL);
		s->arch->loads(&code, marks.nohz);
		s->arch->jumps(&code, &marks.idle_cpu);
		drop(&code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stock_kernels),
		cmocka_unit_test(truncated_anywhere),
		cmocka_unit_test(call_at_the_very_end),
		cmocka_unit_test(no_call),
		cmocka_unit_test(tail_call),
		cmocka_unit_test(two_calls),
		cmocka_unit_test(no_nohz),
		cmocka_unit_test(unknown_shapes),
		cmocka_unit_test(other_functions),
		cmocka_unit_test(who_registers),
		cmocka_unit_test(entries),
		cmocka_unit_test(distances),
		cmocka_unit_test(noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
