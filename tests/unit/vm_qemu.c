// SPDX-License-Identifier: GPL-2.0-only
/* What QEMU is told of a machine whose CPUs are many, and who can build it. */

#include <stdio.h>
#include <string.h>

#include "vm/vm.h"
#include "test.h"

#define REMAPS	"-device intel-iommu,intremap=on,eim=on "

static struct ilb_qemu qemu = { .program = (char *)"/bin/qemu", .major = 10 };

static void set_up(struct ilb_boot *boot, enum ilb_vm_arch arch,
		   const char *synthetic, int emulated)
{
	struct ilb_error error;

	memset(boot, 0, sizeof(*boot));
	boot->machine = ilb_vm_machine(arch);
	boot->qemu = &qemu;
	boot->image = "vmlinuz";
	boot->memory_mb = 1024;
	boot->initramfs = 11;
	boot->console = 10;
	boot->emulated = emulated;
	assert_int_equal(ilb_shape_read(&boot->shape, synthetic, boot->machine,
					&error), 0);
}

static const char *told(const struct ilb_boot *boot)
{
	static char text[4000];
	struct ilb_args args = { 0 };
	unsigned int i;

	ilb_qemu_args(boot, &args);
	assert_false(args.failed);
	*text = '\0';
	for (i = 0; i < args.nr; i++) {
		strncat(text, args.list[i], sizeof(text) - strlen(text) - 1);
		strncat(text, " ", sizeof(text) - strlen(text) - 1);
	}
	ilb_args_free(&args);
	return text;
}

static void few(void **state)
{
	struct ilb_boot boot;
	const char *text;

	(void)state;
	set_up(&boot, ILB_VM_AMD64, "pack:2 core:4 pu:2", 1);
	text = told(&boot);
	assert_non_null(strstr(text, "-machine q35 -accel tcg,thread=multi -cpu max,vendor=GenuineIntel -smp 16,"));
	assert_null(strstr(text, "iommu"));
	set_up(&boot, ILB_VM_AMD64, "core:4 pu:2", 0);
	assert_non_null(strstr(told(&boot),
			       "-machine q35 -accel kvm -cpu host -smp 8,"));
}

/* An id has whole bits for each level: 255 CPUs fit in one package, and 198 in
 * three of 33 cores do not. */
static void many(void **state)
{
	static const char *const all[] = {
		"pack:2 core:88 pu:2", "pack:3 core:33 pu:2",
		"pack:1 core:256 pu:1", "pack:1 die:3 core:33 pu:2",
	};
	struct ilb_boot boot;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		set_up(&boot, ILB_VM_AMD64, all[i], 1);
		assert_non_null(strstr(told(&boot), "-machine q35 -accel tcg,thread=multi -cpu max,vendor=GenuineIntel,+x2apic"));
		assert_non_null(strstr(told(&boot), REMAPS));
		set_up(&boot, ILB_VM_AMD64, all[i], 0);
		assert_non_null(strstr(told(&boot), "-machine q35,kernel-irqchip=split -accel kvm -cpu host,+x2apic"));
		assert_non_null(strstr(told(&boot), REMAPS));
	}
	set_up(&boot, ILB_VM_AMD64, "pack:1 core:255 pu:1", 1);
	assert_null(strstr(told(&boot), "x2apic"));
	set_up(&boot, ILB_VM_ARM64, "pack:2 core:88 pu:2", 1);
	assert_null(strstr(told(&boot), "x2apic"));
}

static void too_old(void **state)
{
	struct ilb_boot boot;
	struct ilb_error error;

	(void)state;
	qemu.major = 8;
	set_up(&boot, ILB_VM_AMD64, "pack:2 core:88 pu:2", 1);
	assert_int_equal(ilb_qemu_check(&boot, &error), -ILB_ERR_UNSUPPORTED);
	assert_string_equal(error.text, "/bin/qemu: QEMU 8 cannot give 352 CPUs the x2APIC ids that such a machine needs, 9 or later is needed; get it with: ilb vm fetch qemu");
	set_up(&boot, ILB_VM_AMD64, "pack:2 core:32 pu:2", 1);
	assert_int_equal(ilb_qemu_check(&boot, &error), 0);
	set_up(&boot, ILB_VM_ARM64, "pack:2 core:88 pu:2", 1);
	assert_int_equal(ilb_qemu_check(&boot, &error), 0);
	qemu.major = 9;
	set_up(&boot, ILB_VM_AMD64, "pack:2 core:88 pu:2", 1);
	assert_int_equal(ilb_qemu_check(&boot, &error), 0);
	qemu.major = 10;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few),
		cmocka_unit_test(many),
		cmocka_unit_test(too_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
