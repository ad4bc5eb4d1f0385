// SPDX-License-Identifier: GPL-2.0-only
/* A topology becomes QEMU's arguments, or is refused. */

#include <stdio.h>
#include <string.h>

#include "vm/vm.h"
#include "test.h"

struct good {
	enum ilb_vm_arch arch;
	const char *synthetic;
	const char *args;
};

static const struct good goods[] = {
	{ ILB_VM_AMD64, "pack:2 [numa] l3:1 core:4 pu:2",
	  "-smp 16,sockets=2,dies=1,cores=4,threads=2 -m 1024M "
	  "-object memory-backend-ram,id=node0,size=512M "
	  "-numa node,nodeid=0,cpus=0-7,memdev=node0 "
	  "-object memory-backend-ram,id=node1,size=512M "
	  "-numa node,nodeid=1,cpus=8-15,memdev=node1 " },
	{ ILB_VM_AMD64, "core:3 pu:1",
	  "-smp 3,sockets=1,dies=1,cores=3,threads=1 -m 1024M " },
	{ ILB_VM_AMD64, "pack:1 die:2 l3:1 core:2 pu:2",
	  "-smp 8,sockets=1,dies=2,cores=2,threads=2 -m 1024M " },
	{ ILB_VM_AMD64, "pack:1 die:3 [numa] l3:1 l2:2 l1:1 core:1 pu:1",
	  "-smp 6,sockets=1,dies=3,cores=2,threads=1 -m 1023M "
	  "-object memory-backend-ram,id=node0,size=341M "
	  "-numa node,nodeid=0,cpus=0-1,memdev=node0 "
	  "-object memory-backend-ram,id=node1,size=341M "
	  "-numa node,nodeid=1,cpus=2-3,memdev=node1 "
	  "-object memory-backend-ram,id=node2,size=341M "
	  "-numa node,nodeid=2,cpus=4-5,memdev=node2 " },
	{ ILB_VM_AMD64, "numa:1 pack:2 core:2 pu:1",
	  "-smp 4,sockets=2,dies=1,cores=2,threads=1 -m 1024M " },
	{ ILB_VM_ARM64, "pack:1 core:2 pu:4",
	  "-smp 8,sockets=1,cores=2,threads=4 -m 1024M " },
};

static const char *const bad[] = {
	"pack:1 l3:2 core:2 pu:2",
	"pack:1 l3:1 l2:1 core:2 pu:2",
	"l4:1 pack:2 core:2 pu:2",
	"pack:1 core:2 [numa] pu:2",
	"pack:1 [numa] [numa] core:2 pu:2",
	"pack:1 group:2 core:2 pu:2",
	"core:2 pack:2 pu:1",
	"pack:1 core:2 pu:2(indexes=0,2,1,3)",
};

static void joined(char *text, size_t size, const struct ilb_args *args)
{
	unsigned int i;

	*text = '\0';
	for (i = 0; i < args->nr; i++) {
		strncat(text, args->list[i], size - strlen(text) - 1);
		strncat(text, " ", size - strlen(text) - 1);
	}
}

static void expressible(void **state)
{
	const struct ilb_vm_machine *machine;
	struct ilb_args args = { 0 };
	struct ilb_shape shape;
	struct ilb_error error;
	char text[2000];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(goods); i++) {
		machine = ilb_vm_machine(goods[i].arch);
		assert_int_equal(ilb_shape_read(&shape, goods[i].synthetic,
						machine, &error), 0);
		ilb_shape_args(&shape, 1024, machine, &args);
		joined(text, sizeof(text), &args);
		assert_string_equal(text, goods[i].args);
		ilb_args_free(&args);
	}
}

static void refused(void **state)
{
	struct ilb_shape shape;
	struct ilb_error error;
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		err = ilb_shape_read(&shape, bad[i],
				     ilb_vm_machine(ILB_VM_AMD64), &error);
		if (err != -ILB_ERR_UNSUPPORTED)
			print_message("# %s\n", bad[i]);
		assert_int_equal(err, -ILB_ERR_UNSUPPORTED);
		assert_non_null(strstr(error.text, bad[i]));
	}
	assert_int_equal(ilb_shape_read(&shape, "no topology",
					ilb_vm_machine(ILB_VM_AMD64), &error),
			 -ILB_ERR_SYNTAX);
	assert_int_equal(ilb_shape_read(&shape, "core:257 pu:2",
					ilb_vm_machine(ILB_VM_ARM64), &error),
			 -ILB_ERR_UNSUPPORTED);
	assert_int_equal(ilb_shape_read(&shape, "pack:1 die:2 core:1 pu:1",
					ilb_vm_machine(ILB_VM_ARM64), &error),
			 -ILB_ERR_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressible),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
