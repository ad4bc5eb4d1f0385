// SPDX-License-Identifier: GPL-2.0-only
/* Where probes read, from types as kernels of three configurations have them. */

#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "live/places.h"
#include "test.h"

enum mask { MASK_POINTER, MASK_ARRAY, MASK_STRUCT, MASK_NONE };

struct kernel {
	struct btf *btf;
	int ulong, pointer, cpumask;
};

static void add_basics(struct kernel *k)
{
	int array;

	k->ulong = btf__add_int(k->btf, "unsigned long", 8, 0);
	array = btf__add_array(k->btf, k->ulong, k->ulong, 4);
	k->cpumask = btf__add_struct(k->btf, "cpumask", 32);
	btf__add_field(k->btf, "bits", array, 0, 0);
	k->pointer = btf__add_ptr(k->btf, k->cpumask);
}

/* A typedef, as in the kernel: cpumask_var_t. */
static int mask_type(const struct kernel *k, enum mask mask)
{
	int type = mask == MASK_POINTER ? k->pointer :
		   mask == MASK_ARRAY ? btf__add_array(k->btf, k->ulong,
						       k->cpumask, 1) :
					k->cpumask;

	return btf__add_typedef(k->btf, "cpumask_var_t", type);
}

/* The member @mask at byte @at of a struct without a name. */
static void add_nohz(const struct kernel *k, enum mask mask, unsigned int at)
{
	int type = mask_type(k, mask);

	btf__add_struct(k->btf, NULL, 64);
	btf__add_field(k->btf, mask == MASK_NONE ? "other" : "idle_cpus_mask",
		       type, at * 8, 0);
}

static void add_call(const struct kernel *k, unsigned int at)
{
	btf__add_struct(k->btf, "__call_single_data", 32);
	btf__add_field(k->btf, "func", k->pointer, at * 8, 0);
}

static struct ilb_places find(const void *data, size_t size)
{
	char path[] = "/tmp/ilb-btf-XXXXXX";
	int fd = mkstemp(path);
	struct ilb_places places;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
	ilb_places_find(&places, path);
	unlink(path);
	return places;
}

static struct ilb_places places_of(enum mask mask, unsigned int at,
				   unsigned int func)
{
	struct kernel k = { .btf = btf__new_empty() };
	struct ilb_places places;
	const void *data;
	__u32 size;

	assert_non_null(k.btf);
	add_basics(&k);
	add_nohz(&k, mask, at);
	if (func)
		add_call(&k, func);
	data = btf__raw_data(k.btf, &size);
	places = find(data, size);
	btf__free(k.btf);
	return places;
}

static void a_mask_off_the_stack_is_a_pointer(void **state)
{
	struct ilb_places p = places_of(MASK_POINTER, 8, 16);

	(void)state;
	assert_true(p.has_mask && p.mask_indirect);
	assert_int_equal(p.mask, 8);
	assert_true(p.has_func);
	assert_int_equal(p.func, 16);
}

static void a_small_mask_is_in_the_struct(void **state)
{
	struct ilb_places p = places_of(MASK_ARRAY, 16, 24);

	(void)state;
	assert_true(p.has_mask && !p.mask_indirect);
	assert_int_equal(p.mask, 16);
	assert_int_equal(p.func, 24);
	p = places_of(MASK_STRUCT, 0, 24);
	assert_true(p.has_mask && !p.mask_indirect);
}

static void what_is_not_there_is_not_known(void **state)
{
	static const char junk[64] = "\x9f\xeb\x01 and nothing that follows";
	struct ilb_places p = places_of(MASK_NONE, 0, 0);

	(void)state;
	assert_false(p.has_mask || p.has_func);
	p = find(junk, sizeof(junk));
	assert_false(p.has_mask || p.has_func);
	p.has_mask = 1;
	ilb_places_find(&p, "/nonexistent/vmlinux");
	assert_false(p.has_mask || p.has_func);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mask_off_the_stack_is_a_pointer),
		cmocka_unit_test(a_small_mask_is_in_the_struct),
		cmocka_unit_test(what_is_not_there_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
