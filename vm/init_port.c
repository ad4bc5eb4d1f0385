// SPDX-License-Identifier: GPL-2.0-only
/*
 * The port is used without blocking: a blocking write waits for the host with
 * interrupts off, which would disturb what is measured.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vm/init.h"

#define PORTS		"/sys/class/virtio-ports"
#define PATIENCE_MS	30000
#define PAUSE_MS	10

static int is_ours(const char *port)
{
	char path[300], name[16] = "";
	FILE *file;
	int ours;

	snprintf(path, sizeof(path), PORTS "/%s/name", port);
	file = fopen(path, "re");
	if (!file)
		return 0;
	ours = fgets(name, sizeof(name), file) &&
	       !strcmp(name, ILB_PORT_NAME "\n");
	fclose(file);
	return ours;
}

static int look_for_port(void)
{
	struct dirent *entry;
	char path[300];
	int fd = -1;
	DIR *dir;

	dir = opendir(PORTS);
	if (!dir)
		return -1;
	while (fd < 0 && (entry = readdir(dir))) {
		if (!is_ours(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	}
	closedir(dir);
	return fd;
}

int ilb_port_open(void)
{
	int waited, fd;

	/* Devices are found in the background. */
	for (waited = 0; waited < PATIENCE_MS; waited += PAUSE_MS) {
		fd = look_for_port();
		if (fd >= 0)
			return fd;
		poll(NULL, 0, PAUSE_MS);
	}
	return -1;
}

static void write_all(int port, const char *data, size_t size)
{
	struct pollfd wait = { .fd = port, .events = POLLOUT };
	ssize_t n;

	while (size) {
		n = write(port, data, size);
		if (n > 0) {
			data += n;
			size -= (size_t)n;
			continue;
		}
		/* The host is not there yet: no event comes when it is. */
		if (poll(&wait, 1, PAUSE_MS) > 0 && (wait.revents & POLLHUP))
			poll(NULL, 0, PAUSE_MS);
	}
}

void ilb_port_send(int port, enum ilb_frame_type type, const void *data,
		   size_t size)
{
	char buffer[ILB_FRAME_MAX];
	const size_t room = sizeof(buffer) - sizeof(struct ilb_frame);
	struct ilb_frame head = { .type = type };
	const char *next = data;

	do {
		head.size = (uint32_t)(size < room ? size : room);
		memcpy(buffer, &head, sizeof(head));
		if (head.size)
			memcpy(buffer + sizeof(head), next, head.size);
		write_all(port, buffer, sizeof(head) + head.size);
		next += head.size;
		size -= head.size;
	} while (size);
}

void ilb_port_say(int port, enum ilb_frame_type type, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	ilb_port_send(port, type, line, strlen(line));
}
