// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's root is a cpio archive in memory, not compressed: a guest under
 * emulation would take longer to unpack it than the host to hand it over. All
 * libraries lie in /lib, where every dynamic linker looks.
 */

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/vm.h"

#define FILE_MAX	(1ULL << 30)
#define CHUNK		65536


static int failed(struct ilb_initramfs *image, struct ilb_error *error)
{
	return ilb_fail(error, ILB_ERR_IO, "the guest's files: %s",
			archive_error_string(image->archive));
}

int ilb_initramfs_open(struct ilb_initramfs *image, struct ilb_error *error)
{
	image->fd = memfd_create("ilb-initramfs", MFD_CLOEXEC);
	if (image->fd < 0)
		return ilb_fail(error, ILB_ERR_IO, "the guest's files: %s",
				strerror(errno));
	image->archive = archive_write_new();
	if (image->archive &&
	    !archive_write_set_format_cpio_newc(image->archive) &&
	    !archive_write_open_fd(image->archive, image->fd))
		return 0;
	archive_write_free(image->archive);
	close(image->fd);
	return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
}

static int add_entry(struct ilb_initramfs *image, const char *path,
		     unsigned int mode, size_t size, const char *link)
{
	struct archive_entry *entry = archive_entry_new();
	int err;

	if (!entry)
		return -1;
	archive_entry_set_pathname(entry, path);
	archive_entry_set_mode(entry, (mode_t)mode);
	archive_entry_set_size(entry, (int64_t)size);
	if (link)
		archive_entry_set_symlink(entry, link);
	err = archive_write_header(image->archive, entry);
	archive_entry_free(entry);
	return err;
}

void ilb_initramfs_folder(struct ilb_initramfs *image, const char *path)
{
	add_entry(image, path, S_IFDIR | 0755, 0, NULL);
}

void ilb_initramfs_link(struct ilb_initramfs *image, const char *path,
			const char *to)
{
	add_entry(image, path, S_IFLNK | 0777, 0, to);
}

int ilb_initramfs_data(struct ilb_initramfs *image, const char *path,
		       unsigned int mode, const void *data, size_t size,
		       struct ilb_error *error)
{
	if (add_entry(image, path, S_IFREG | mode, size, NULL) ||
	    archive_write_data(image->archive, data, size) != (ssize_t)size)
		return failed(image, error);
	return 0;
}

static int copy(struct ilb_initramfs *image, const char *path,
		unsigned int mode, const char *from, struct ilb_error *error)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC), err;
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st)) {
		err = ilb_fail(error, ILB_ERR_NOENT, "%s: %s", from,
			       strerror(errno));
	} else if (!S_ISREG(st.st_mode) || !st.st_size ||
		   (uint64_t)st.st_size > FILE_MAX) {
		err = ilb_fail(error, ILB_ERR_FORMAT,
			       "%s: not a file of 1 byte to 1 GB", from);
	} else {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
			    fd, 0);
		if (data == MAP_FAILED) {
			err = ilb_fail(error, ILB_ERR_IO, "%s: %s", from,
				       strerror(errno));
		} else {
			err = ilb_initramfs_data(image, path, mode, data,
						 (size_t)st.st_size, error);
			munmap(data, (size_t)st.st_size);
		}
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* All that @in has; NULL on errors. */
static char *read_all(struct archive *in, size_t *size)
{
	char *data = NULL, *grown;
	ssize_t n = 1;

	for (*size = 0; n > 0 && *size < FILE_MAX; *size += (size_t)n) {
		grown = realloc(data, *size + CHUNK);
		if (!grown)
			break;
		data = grown;
		n = archive_read_data(in, data + *size, CHUNK);
		if (n < 0)
			break;
	}
	if (!n)
		return data;
	free(data);
	return NULL;
}

static int unpack(struct ilb_initramfs *image, const char *path,
		  unsigned int mode, const char *from, struct ilb_error *error)
{
	struct archive *in = archive_read_new();
	struct archive_entry *entry;
	char *data = NULL;
	size_t size = 0;
	int err;

	if (in && !archive_read_support_filter_xz(in) &&
	    !archive_read_support_format_raw(in) &&
	    !archive_read_open_filename(in, from, CHUNK) &&
	    !archive_read_next_header(in, &entry))
		data = read_all(in, &size);
	if (data)
		err = ilb_initramfs_data(image, path, mode, data, size, error);
	else
		err = ilb_fail(error, ILB_ERR_FORMAT, "%s: cannot unpack it: %s",
			       from, in && archive_error_string(in) ?
			       archive_error_string(in) : "out of memory");
	free(data);
	archive_read_free(in);
	return err;
}

int ilb_initramfs_file(struct ilb_initramfs *image, const char *path,
		       unsigned int mode, const char *from,
		       struct ilb_error *error)
{
	size_t n = strlen(from);

	if (n > 3 && !strcmp(from + n - 3, ".xz"))
		return unpack(image, path, mode, from, error);
	return copy(image, path, mode, from, error);
}

int ilb_initramfs_close(struct ilb_initramfs *image, struct ilb_error *error)
{
	int fd = image->fd, err = 0;

	if (archive_write_close(image->archive))
		err = failed(image, error);
	archive_write_free(image->archive);
	if (!err)
		return fd;
	close(fd);
	return err;
}
