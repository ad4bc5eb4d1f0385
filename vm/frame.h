/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_VM_FRAME_H
#define ILB_VM_FRAME_H

/*
 * What the guest's first process tells the host, in order, through one
 * virtio-serial port: a head, then @size bytes. Both sides are little-endian.
 */

#include <stdint.h>

#define ILB_PORT_NAME	"ilb"

/* At most so much in one frame: what the guest's driver takes at once. */
#define ILB_FRAME_MAX	32768U

/* Where the initramfs keeps what only the first process reads; below "/". */
#define ILB_GUEST_MODULES	"ilb/modules"	/* a folder, in load order */
#define ILB_GUEST_COMMAND	"ilb/command"	/* arguments, each ends in \0 */

/**
 * enum ilb_frame_type - what a frame holds
 * @ILB_FRAME_BOOTED: the release of the kernel; the command starts now
 * @ILB_FRAME_OUTPUT: the command's standard output
 * @ILB_FRAME_ERROR: its standard error
 * @ILB_FRAME_FILES: the next part of a cpio archive (newc) of /work
 * @ILB_FRAME_NOTE: a line for the user, without the newline
 * @ILB_FRAME_FAILED: a line: why the guest cannot go on; the last frame
 * @ILB_FRAME_EXIT: the command's status as a byte; the last frame
 */
enum ilb_frame_type {
	ILB_FRAME_BOOTED = 1,
	ILB_FRAME_OUTPUT,
	ILB_FRAME_ERROR,
	ILB_FRAME_FILES,
	ILB_FRAME_NOTE,
	ILB_FRAME_FAILED,
	ILB_FRAME_EXIT,
};

struct ilb_frame {
	uint32_t type;
	uint32_t size;
};

#endif
