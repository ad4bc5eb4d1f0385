// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which QEMU, and its command line. The kernel's console is a serial port, the
 * frames have a virtio port of their own, so that neither is mixed into the
 * other. No file is named that would have to be removed: what QEMU reads and
 * writes are descriptors that it inherits.
 */

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm/vm.h"

/* 7.2 crashes Linux 6.12 under emulation. */
#define MAJOR_MIN	8

/* Beyond that, interrupts need x2APIC ids and an IOMMU that remaps them, which
 * an emulated CPU has since QEMU 9. */
#define APIC_ID_MAX	254
#define MAJOR_X2APIC	9

static char *in_path(const char *program)
{
	const char *path = getenv("PATH"), *end;
	char *full;

	for (path = path ? path : "/usr/bin"; *path; path = end + !!*end) {
		end = strchrnul(path, ':');
		if (asprintf(&full, "%.*s/%s", (int)(end - path), path,
			     program) < 0)
			return NULL;
		if (!access(full, X_OK))
			return full;
		free(full);
	}
	return NULL;
}

static char *in_cache(struct ilb_qemu *qemu,
		      const struct ilb_vm_machine *machine)
{
	char below[64], *program;

	snprintf(below, sizeof(below), "/%s", machine->package);
	qemu->root = ilb_cache_path(below, NULL);
	if (!qemu->root || asprintf(&program, "%s/usr/bin/%s", qemu->root,
				    machine->qemu) < 0)
		return NULL;
	if (!access(program, X_OK))
		return program;
	free(program);
	free(qemu->root);
	qemu->root = NULL;
	return NULL;
}

/* Its own libraries first, but only those that the system lacks are there. */
static void add_environment(const struct ilb_qemu *qemu, struct ilb_args *args)
{
	if (!qemu->root)
		return;
	ilb_args_add(args, "env");
	ilb_args_add(args, "LD_LIBRARY_PATH=%s/usr/lib/" ILB_TRIPLET
		     ":%s/lib/" ILB_TRIPLET, qemu->root, qemu->root);
}

static int read_version(struct ilb_qemu *qemu, struct ilb_error *error)
{
	struct ilb_args args = { 0 };
	char *text = NULL, *word;
	int err;

	add_environment(qemu, &args);
	ilb_args_add(&args, "%s", qemu->program);
	ilb_args_add(&args, "--version");
	err = ilb_args_run(&args, NULL, &text, error);
	ilb_args_free(&args);
	if (err)
		return err;
	word = strstr(text, "QEMU emulator version ");
	if (word)
		qemu->major = (unsigned int)strtoul(
				word + strlen("QEMU emulator version "), NULL,
				10);
	free(text);
	if (word)
		return 0;
	return ilb_fail(error, ILB_ERR_FORMAT, "%s: not QEMU", qemu->program);
}

static const char *remedy(const struct ilb_vm_machine *machine)
{
	return machine->dies ? "ilb vm fetch qemu" :
			       "ilb vm fetch qemu --arch arm64";
}

static int judge(struct ilb_qemu *qemu, const struct ilb_vm_machine *machine,
		 struct ilb_error *error)
{
	int err;

	if (!qemu->program)
		return ilb_fail(error, ILB_ERR_NOENT,
				"%s: not installed; get it with: %s",
				machine->qemu, remedy(machine));
	err = read_version(qemu, error);
	if (err || qemu->major >= MAJOR_MIN)
		return err;
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"%s: QEMU %u crashes newer kernels, %u or later is needed; get it with: %s",
			qemu->program, qemu->major, MAJOR_MIN, remedy(machine));
}

/* Fetching one says that the system's will not do. */
int ilb_qemu_find(struct ilb_qemu *qemu, const char *program,
		  const struct ilb_vm_machine *machine,
		  struct ilb_error *error)
{
	int err;

	memset(qemu, 0, sizeof(*qemu));
	if (program && strchr(program, '/'))
		qemu->program = strdup(program);
	else if (program)
		qemu->program = in_path(program);
	else
		qemu->program = in_cache(qemu, machine);
	if (!program && !qemu->program)
		qemu->program = in_path(machine->qemu);
	if (program && (!qemu->program || access(qemu->program, X_OK)))
		err = ilb_fail(error, ILB_ERR_NOENT,
			       "--qemu %s: no such program", program);
	else
		err = judge(qemu, machine, error);
	if (err)
		ilb_qemu_free(qemu);
	return err;
}

void ilb_qemu_free(struct ilb_qemu *qemu)
{
	free(qemu->program);
	free(qemu->root);
	memset(qemu, 0, sizeof(*qemu));
}

int ilb_qemu_emulates(enum ilb_vm_arch arch)
{
	int fd;

	if (arch != ilb_vm_arch_native())
		return 1;
	fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd < 0;
}

/* Each level has whole bits of the id. */
static unsigned int bits_for(unsigned int n)
{
	unsigned int bits = 0;

	while (1U << bits < n)
		bits++;
	return bits;
}

static int needs_x2apic(const struct ilb_boot *boot)
{
	const struct ilb_shape *s = &boot->shape;
	unsigned int core = bits_for(s->threads);
	unsigned int die = core + bits_for(s->cores);
	unsigned int package = die + bits_for(s->dies);
	uint64_t last = ((uint64_t)(s->packages - 1) << package) +
			((uint64_t)(s->dies - 1) << die) +
			((uint64_t)(s->cores - 1) << core) + s->threads - 1;

	return boot->machine->machine == EM_X86_64 && last > APIC_ID_MAX;
}

int ilb_qemu_check(const struct ilb_boot *boot, struct ilb_error *error)
{
	if (!needs_x2apic(boot) || boot->qemu->major >= MAJOR_X2APIC)
		return 0;
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"%s: QEMU %u cannot give %u CPUs the x2APIC ids that such a machine needs, %u or later is needed; get it with: %s",
			boot->qemu->program, boot->qemu->major,
			boot->shape.cpus, MAJOR_X2APIC,
			remedy(boot->machine));
}

static void add_processor(const struct ilb_boot *boot, struct ilb_args *args)
{
	const struct ilb_vm_machine *machine = boot->machine;
	int many = needs_x2apic(boot);

	ilb_args_add(args, "-machine");
	ilb_args_add(args, "%s%s", machine->board,
		     many && !boot->emulated ? ",kernel-irqchip=split" : "");
	ilb_args_add(args, "-accel");
	ilb_args_add(args, "%s", boot->emulated ? "tcg,thread=multi" :
		     "kvm");
	ilb_args_add(args, "-cpu");
	/* QEMU 10 aborts when a guest asks for the leaf that has dies; what
	 * shares an L3 is told by another one. */
	ilb_args_add(args, "%s%s%s", boot->emulated ? machine->cpu : "host",
		     many ? ",+x2apic" : "",
		     boot->shape.dies > 1 ? ",level=0x1e" : "");
	if (many) {
		ilb_args_add(args, "-device");
		ilb_args_add(args, "intel-iommu,intremap=on,eim=on");
	}
}

static void add_kernel(const struct ilb_boot *boot, struct ilb_args *args)
{
	ilb_args_add(args, "-kernel");
	ilb_args_add(args, "%s", boot->image);
	ilb_args_add(args, "-initrd");
	ilb_args_add(args, "/proc/self/fd/%d", boot->initramfs);
	ilb_args_add(args, "-append");
	ilb_args_add(args, "console=%s panic=-1 nowatchdog%s%s%s",
		     boot->machine->console,
		     boot->emulated ? boot->machine->emulated : "",
		     boot->append ? " " : "",
		     boot->append ? boot->append : "");
}

void ilb_qemu_args(const struct ilb_boot *boot, struct ilb_args *args)
{
	static const char *const fixed[] = {
		"-nodefaults", "-no-user-config", "-display", "none",
		"-no-reboot", "-monitor", "none",
		"-chardev", "file,id=frames,path=/proc/self/fd/1",
		"-device", "virtio-serial-pci",
		"-device", "virtserialport,chardev=frames,name=" ILB_PORT_NAME,
		"-serial", "chardev:console", NULL,
	};

	add_environment(boot->qemu, args);
	ilb_args_add(args, "%s", boot->qemu->program);
	if (boot->qemu->root) {
		ilb_args_add(args, "-L");
		ilb_args_add(args, "%s/usr/share/qemu", boot->qemu->root);
		ilb_args_add(args, "-L");
		ilb_args_add(args, "%s/usr/share/seabios", boot->qemu->root);
	}
	add_processor(boot, args);
	ilb_shape_args(&boot->shape, boot->memory_mb, boot->machine, args);
	ilb_args_add(args, "-chardev");
	ilb_args_add(args, "file,id=console,path=/proc/self/fd/%d",
		     boot->console);
	ilb_args_add_all(args, fixed);
	add_kernel(boot, args);
}
