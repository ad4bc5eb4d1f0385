// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's reader of kernel code: any bytes as one of its functions. The
 * first byte says which stock kernel's landmarks are looked for.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/site.h"
#include "tests/unit/kmod_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SAMPLES		(sizeof(kmod_samples) / sizeof(kmod_samples[0]))
#define SIZE_MAX_CODE	0x4000U

static void look(const struct kmod_sample *s, const struct ilb_code *code)
{
	const struct ilb_landmarks marks = {
		{ s->housekeeping_cpumask, 16, 4 },
		{ s->idle_cpu, 0, 4 },
		{ s->find_next_and_bit, 0, 4 },
		{ s->bitmap_and, 0, 4 },
		s->nohz,
	};
	const struct ilb_entry enter = { s->enter_idle.address, 0, 4 };
	struct ilb_site site = { 0 };
	unsigned long back = code->address;

	ilb_site_look(&site, s->arch, code, &marks);
	if (ilb_site_judge(&site) == ILB_SITE_FOUND &&
	    site.return_to - code->address > code->size)
		abort();
	if (s->arch->calls(code, &enter, &back) &&
	    back - code->address > code->size)
		abort();
	s->arch->jumps(code, &enter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kmod_sample *s;
	struct ilb_code code;
	unsigned char *bytes;

	if (size < 2 || size > SIZE_MAX_CODE)
		return 0;
	s = &kmod_samples[data[0] % SAMPLES];
	/* Of just its size, so that a look beyond it is seen. */
	bytes = malloc(size - 1);
	if (!bytes)
		return 0;
	memcpy(bytes, data + 1, size - 1);
	code.bytes = bytes;
	code.size = (unsigned int)size - 1;
	code.address = s->trigger.address;
	look(s, &code);
	free(bytes);
	return 0;
}
