/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ILB_VM_INIT_H
#define ILB_VM_INIT_H

#include <stddef.h>

#include "vm/frame.h"

/*
 * Inside of the guest's first process:
 *
 *	init.c        mounts, modules, the command and its output
 *	init_port.c   frames to the host
 *	init_files.c  /work as a cpio archive
 */

/** ilb_port_open() - the descriptor of the port, or -1 after 30 seconds. */
int ilb_port_open(void);

/** ilb_port_send() - one frame, or as many as @size needs, in order. */
void ilb_port_send(int port, enum ilb_frame_type type, const void *data,
		   size_t size);

/** ilb_port_say() - a line in a frame. */
void ilb_port_say(int port, enum ilb_frame_type type, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** ilb_files_send() - all that is below @path. */
void ilb_files_send(int port, const char *path);

#endif
