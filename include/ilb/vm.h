/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_VM_H
#define ILB_VM_H

#include <stddef.h>
#include <stdio.h>

#include "ilb/error.h"

/**
 * DOC: vm - stock kernels under QEMU, with the SMT and NUMA one asks for
 *
 * A guest holds an unchanged kernel of Debian's and an initramfs made for the
 * occasion: ilb, the programs asked for, the libraries they need, and a first
 * process that runs one command. Nothing of the host is mounted in it.
 *
 * Kernels, and where need be QEMU, lie in a cache folder: ILB_VM_CACHE, else
 * $XDG_CACHE_HOME/ilb/vm, else $HOME/.cache/ilb/vm.
 */

#define ILB_VM_TOPOLOGY		"pack:2 [numa] l3:1 core:4 pu:2"
#define ILB_VM_MEMORY_MIN	256U
#define ILB_VM_MEMORY_MAX	(1U << 22)
#define ILB_VM_WITH_MAX		64

/** enum ilb_vm_arch - the processor of a guest */
enum ilb_vm_arch {
	ILB_VM_AMD64,
	ILB_VM_ARM64,
	ILB_VM_ARCHES,
};

/**
 * struct ilb_vm_options - what to boot and what to run there
 * @kernel: a release or its beginning ("6.12"), looked up in the cache, or the
 *	file of an image (with a '/'); NULL: the newest in the cache
 * @topology: hwloc's synthetic description; NULL: ILB_VM_TOPOLOGY
 * @arch: the guest's
 * @append: further kernel parameters; NULL: none
 * @memory_mb: within the bounds above; 0: enough for that many CPUs
 * @timeout_s: from the start to the end of the guest
 * @dir: what the command leaves in its working folder becomes this folder; it
 *	must not exist; none is made if the command leaves nothing
 * @qemu: the program; NULL: the system's or the cache's
 * @ilb: the ilb to put in; NULL: this one. What runs first in the guest lies
 *	beside it (libexec)
 * @sysroot: where libraries (and busybox and trace-cmd) of a foreign
 *	architecture are; NULL: beside the folder of @ilb, as FOLDER.sysroot,
 *	if it is there, else "/"
 * @with: files to put in; ILB_VM_WITH_MAX at most
 * @nr_with: how many
 * @command: NULL-terminated
 * @booted: called when the command is about to start; may be NULL
 */
struct ilb_vm_options {
	const char *kernel;
	const char *topology;
	enum ilb_vm_arch arch;
	const char *append;
	unsigned int memory_mb;
	unsigned int timeout_s;
	const char *dir;
	const char *qemu;
	const char *ilb;
	const char *sysroot;
	const char *with[ILB_VM_WITH_MAX];
	unsigned int nr_with;
	char *const *command;
	void (*booted)(const char *release, unsigned int cpus, int emulated,
		       double seconds);
};

/**
 * struct ilb_vm_summary - how it went
 * @status: of the command, as a shell shows it; 124: it took too long; 128 and
 *	the signal that interrupted ilb; 125: any other failure
 * @files: entries written to the folder
 */
struct ilb_vm_summary {
	int status;
	unsigned int files;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ilb_vm_run() - boot, run the command, fetch its files
 * @summary: filled, also on errors
 *
 * The command's output goes to standard output and standard error as it comes.
 * SIGINT, SIGTERM and SIGHUP end the guest. Nothing is left behind but the
 * folder. The caller must have one thread.
 *
 * Returns 0 when the command ended, whatever its status; -ILB_ERR_SYNTAX (no
 * topology), -ILB_ERR_UNSUPPORTED (a topology that QEMU cannot express, an old
 * QEMU), -ILB_ERR_NOENT (no QEMU, kernel or file), -ILB_ERR_MISMATCH (the
 * folder exists), -ILB_ERR_FORMAT (not a kernel, not a program of that
 * architecture), -ILB_ERR_IO (also: the guest panicked, or hung),
 * -ILB_ERR_NOMEM, with @error filled.
 */
int ilb_vm_run(const struct ilb_vm_options *options,
	       struct ilb_vm_summary *summary, struct ilb_error *error);

/**
 * ilb_vm_fetch() - get a kernel, or QEMU, from Debian into the cache
 * @what: "6.1", "6.12", "7.2", "7.3" or "qemu"
 *
 * Through apt, with a state of its own: needs no root and installs nothing.
 * Signatures are checked. Prints what it does to standard error.
 *
 * Returns 0, also if the newest is there already; else an error.
 */
int ilb_vm_fetch(const char *what, enum ilb_vm_arch arch,
		 struct ilb_error *error);

/** ilb_vm_list() - print the kernels in the cache, and QEMU. */
int ilb_vm_list(FILE *out, struct ilb_error *error);

/** ilb_vm_arch_find() - "amd64" or "arm64"; else ILB_VM_ARCHES. */
enum ilb_vm_arch ilb_vm_arch_find(const char *name);

/** ilb_vm_arch_native() - of this program; ILB_VM_ARCHES: another. */
enum ilb_vm_arch ilb_vm_arch_native(void);

#ifdef __cplusplus
}
#endif
#endif
