/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_VM_VM_H
#define ILB_VM_VM_H

/*
 * Inside of ilb vm:
 *
 *	run.c         the order of things
 *	arch.c        what differs between architectures
 *	shape.c       a topology as QEMU's arguments
 *	args.c        lists of arguments; running a program
 *	cache.c       kernels and QEMU in the cache folder
 *	qemu.c        which QEMU, and its command line
 *	library.c     the libraries that a program needs
 *	initramfs.c   a cpio archive in memory
 *	contents.c    what the guest holds
 *	guest.c       QEMU, and what comes out of it, until the guest ends
 *	results.c     a folder that appears whole or not at all
 *	fetch.c       packages of Debian's, into the cache
 *	init*.c       the guest's first process, a program of its own
 */

#include <stdint.h>
#include <sys/types.h>

#include "ilb/vm.h"
#include "vm/frame.h"

/* ---- arch.c ---- */

/**
 * struct ilb_vm_machine - an architecture
 * @name: Debian's name of it
 * @machine: ELF's
 * @qemu: the program
 * @package: Debian's package of it
 * @board: QEMU's -machine
 * @cpu: QEMU's -cpu when it emulates
 * @console: Linux's name of the first serial port
 * @emulated: kernel parameters under emulation
 * @dies: QEMU can have several in a package
 * @cpus_max: of that board
 */
struct ilb_vm_machine {
	const char *name;
	unsigned int machine;
	const char *qemu;
	const char *package;
	const char *board;
	const char *cpu;
	const char *console;
	const char *emulated;
	int dies;
	unsigned int cpus_max;
};

const struct ilb_vm_machine *ilb_vm_machine(enum ilb_vm_arch arch);

/* ---- args.c ---- */

/** struct ilb_args - NULL-terminated; @failed: out of memory at some point */
struct ilb_args {
	char **list;
	unsigned int nr;
	int failed;
};

/** ilb_args_add() - one more; errors are remembered in ->failed. */
void ilb_args_add(struct ilb_args *args, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** ilb_args_add_all() - each of a NULL-terminated list, as it is. */
void ilb_args_add_all(struct ilb_args *args, const char *const *list);

/** ilb_args_free() - any state, also all zero. */
void ilb_args_free(struct ilb_args *args);

/**
 * ilb_args_run() - run a program and wait for it
 * @dir: its working folder; NULL: ours
 * @output: its standard output; free() it. NULL: it goes to standard error
 *
 * Returns 0, -ILB_ERR_NOENT if there is no such program, or -ILB_ERR_IO with
 * its status in @error.
 */
int ilb_args_run(const struct ilb_args *args, const char *dir, char **output,
		 struct ilb_error *error);

/* ---- shape.c ---- */

/**
 * struct ilb_shape - a machine as QEMU can build it
 * @dies: per package
 * @cores: per die
 * @threads: per core
 * @nodes: NUMA nodes of consecutive CPUs, equal in size
 */
struct ilb_shape {
	unsigned int packages;
	unsigned int dies;
	unsigned int cores;
	unsigned int threads;
	unsigned int nodes;
	unsigned int cpus;
};

/** ilb_shape_read() - of hwloc's synthetic description. */
int ilb_shape_read(struct ilb_shape *shape, const char *synthetic,
		   const struct ilb_vm_machine *machine,
		   struct ilb_error *error);

/** ilb_shape_args() - -smp, -m and -numa. */
void ilb_shape_args(const struct ilb_shape *shape, unsigned int memory_mb,
		    const struct ilb_vm_machine *machine,
		    struct ilb_args *args);

/* ---- cache.c ---- */

/** struct ilb_kernel - of the cache, or a file given by name; free() both */
struct ilb_kernel {
	char *image;
	char *modules;		/* a folder; NULL: all is built in */
};

/** ilb_cache_path() - the cache folder, and what is in it; free() it. */
char *ilb_cache_path(const char *below, struct ilb_error *error);

/** ilb_cache_kernel() - @name as of struct ilb_vm_options. */
int ilb_cache_kernel(struct ilb_kernel *kernel, const char *name,
		     const struct ilb_vm_machine *machine,
		     struct ilb_error *error);

void ilb_kernel_free(struct ilb_kernel *kernel);

/** ilb_cache_remove() - a folder and all that is in it. */
void ilb_cache_remove(const char *path);

/* ---- qemu.c ---- */

/**
 * struct ilb_qemu - a QEMU
 * @program: its path
 * @root: where it was unpacked; NULL: it is installed
 * @major: its version
 */
struct ilb_qemu {
	char *program;
	char *root;
	unsigned int major;
};

/** ilb_qemu_find() - @program: NULL: the system's, or the cache's. */
int ilb_qemu_find(struct ilb_qemu *qemu, const char *program,
		  const struct ilb_vm_machine *machine,
		  struct ilb_error *error);

void ilb_qemu_free(struct ilb_qemu *qemu);

/**
 * struct ilb_boot - all that QEMU is told
 * @image: the kernel's file
 * @initramfs: a descriptor
 * @console: the number of the descriptor that QEMU will have for it
 * @emulated: no KVM
 */
struct ilb_boot {
	const struct ilb_vm_machine *machine;
	const struct ilb_qemu *qemu;
	struct ilb_shape shape;
	const char *image;
	const char *append;
	unsigned int memory_mb;
	int initramfs;
	int console;
	int emulated;
};

/** ilb_qemu_emulates() - 1 unless KVM is usable for that architecture. */
int ilb_qemu_emulates(enum ilb_vm_arch arch);

/** ilb_qemu_check() - can this QEMU build that machine? */
int ilb_qemu_check(const struct ilb_boot *boot, struct ilb_error *error);

/** ilb_qemu_args() - frames come out of its standard output. */
void ilb_qemu_args(const struct ilb_boot *boot, struct ilb_args *args);

/* ---- library.c ---- */

/**
 * struct ilb_libraries - what programs need
 * @machine: ELF's number of the architecture
 * @sysroot: "" or a folder
 * @paths: files, each once
 * @loader: the path that the programs name, such as
 *	/lib64/ld-linux-x86-64.so.2; NULL: all are static
 */
struct ilb_libraries {
	unsigned int machine;
	const char *sysroot;
	struct ilb_args paths;
	char *loader;
};

/**
 * ilb_libraries_add() - those that @program needs, and those that they need
 *
 * Returns 0, also for a file that is not ELF; -ILB_ERR_FORMAT for another
 * architecture; -ILB_ERR_NOENT for a library that is nowhere.
 */
int ilb_libraries_add(struct ilb_libraries *libraries, const char *program,
		      struct ilb_error *error);

void ilb_libraries_free(struct ilb_libraries *libraries);

/* ---- initramfs.c ---- */

struct archive;

/** struct ilb_initramfs - a cpio archive (newc) in memory */
struct ilb_initramfs {
	struct archive *archive;
	int fd;
};

int ilb_initramfs_open(struct ilb_initramfs *image, struct ilb_error *error);

void ilb_initramfs_folder(struct ilb_initramfs *image, const char *path);

void ilb_initramfs_link(struct ilb_initramfs *image, const char *path,
			const char *to);

/** ilb_initramfs_data() - a file of these bytes. */
int ilb_initramfs_data(struct ilb_initramfs *image, const char *path,
		       unsigned int mode, const void *data, size_t size,
		       struct ilb_error *error);

/** ilb_initramfs_file() - a copy; one that ends in .xz is unpacked. */
int ilb_initramfs_file(struct ilb_initramfs *image, const char *path,
		       unsigned int mode, const char *from,
		       struct ilb_error *error);

/** ilb_initramfs_close() - no more comes; the descriptor, or an error. */
int ilb_initramfs_close(struct ilb_initramfs *image, struct ilb_error *error);

/** ilb_initramfs_make() - all that @options ask for; a descriptor. */
int ilb_initramfs_make(const struct ilb_vm_options *options,
		       const struct ilb_kernel *kernel,
		       struct ilb_error *error);

/* ---- results.c ---- */

/** struct ilb_results - a folder in the making */
struct ilb_results {
	char *path;
	char *temporary;	/* NULL: not made */
	unsigned int files;
};

/** ilb_results_check() - may it be made? */
int ilb_results_check(const char *path, struct ilb_error *error);

/**
 * ilb_results_read() - unpack a cpio archive
 * @next: gives its next part, 0 at its end, -1 on errors
 */
int ilb_results_read(struct ilb_results *results, const char *path,
		     ssize_t (*next)(void *context, const void **part),
		     void *context, struct ilb_error *error);

/** ilb_results_publish() - give it its name, if there is anything in it. */
int ilb_results_publish(struct ilb_results *results, struct ilb_error *error);

/** ilb_results_discard() - what was not published; any state. */
void ilb_results_discard(struct ilb_results *results);

/* ---- guest.c ---- */

/** ilb_guest_run() - start QEMU, and do the rest of ilb_vm_run(). */
int ilb_guest_run(const struct ilb_vm_options *options, struct ilb_boot *boot,
		  struct ilb_vm_summary *summary, struct ilb_error *error);

#endif
