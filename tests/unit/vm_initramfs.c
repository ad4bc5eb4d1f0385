// SPDX-License-Identifier: GPL-2.0-only
/* The initramfs is a newc archive as the kernel unpacks one. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vm/vm.h"
#include "test.h"

#define HEAD	110

/* Documentation/driver-api/early-userspace/buffer-format.rst */
struct entry {
	unsigned int mode, size;
	const char *name;
	const char *data;
};

static unsigned int field(const char *head, unsigned int nr)
{
	char text[9] = "";

	memcpy(text, head + 6 + 8 * nr, 8);
	return (unsigned int)strtoul(text, NULL, 16);
}

static const char *next_entry(const char *at, struct entry *e)
{
	unsigned int length = field(at, 11);

	assert_memory_equal(at, "070701", 6);
	e->mode = field(at, 1);
	e->size = field(at, 6);
	e->name = at + HEAD;
	assert_int_equal(e->name[length - 1], 0);
	e->data = at + ((HEAD + length + 3) & ~3U);
	return e->data + ((e->size + 3) & ~3U);
}

static void expect(const char **at, const char *name, unsigned int mode,
		   const char *data)
{
	struct entry e;

	*at = next_entry(*at, &e);
	assert_string_equal(e.name, name);
	assert_int_equal(e.mode, mode);
	assert_int_equal(e.size, strlen(data));
	assert_memory_equal(e.data, data, e.size);
}

static const char *map(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);

	assert_ptr_not_equal(data, MAP_FAILED);
	return data;
}

static void entries(void **state)
{
	char path[] = "/tmp/ilb-initramfs-XXXXXX", packed[64], command[128];
	struct ilb_initramfs image;
	struct ilb_error error;
	const char *at;
	int fd;

	(void)state;
	fd = mkstemp(path);
	assert_int_equal(write(fd, "module", 6), 6);
	close(fd);
	snprintf(packed, sizeof(packed), "%s.xz", path);
	snprintf(command, sizeof(command), "xz -k %s", path);
	assert_int_equal(system(command), 0);
	assert_int_equal(ilb_initramfs_open(&image, &error), 0);
	ilb_initramfs_folder(&image, "bin");
	ilb_initramfs_link(&image, "lib64", "lib");
	assert_int_equal(ilb_initramfs_data(&image, "a", 0600, "12345", 5,
					    &error), 0);
	assert_int_equal(ilb_initramfs_file(&image, "plain", 0755, path,
					    &error), 0);
	assert_int_equal(ilb_initramfs_file(&image, "packed", 0644, packed,
					    &error), 0);
	fd = ilb_initramfs_close(&image, &error);
	assert_true(fd >= 0);
	at = map(fd);
	expect(&at, "bin", 040755, "");
	expect(&at, "lib64", 0120777, "lib");
	expect(&at, "a", 0100600, "12345");
	expect(&at, "plain", 0100755, "module");
	expect(&at, "packed", 0100644, "module");
	expect(&at, "TRAILER!!!", 0, "");
	close(fd);
	unlink(path);
	unlink(packed);
}

static void bad_files(void **state)
{
	char path[] = "/tmp/ilb-initramfs-XXXXXX.xz";
	struct ilb_initramfs image;
	struct ilb_error error;
	int fd = mkstemps(path, 3);

	(void)state;
	assert_int_equal(write(fd, "\xfd" "7zXZ\0 no", 9), 9);
	close(fd);
	assert_int_equal(ilb_initramfs_open(&image, &error), 0);
	assert_int_equal(ilb_initramfs_file(&image, "m", 0644, path, &error),
			 -ILB_ERR_FORMAT);
	assert_int_equal(ilb_initramfs_file(&image, "m", 0644, "/nonexistent",
					    &error), -ILB_ERR_NOENT);
	assert_int_equal(ilb_initramfs_file(&image, "m", 0644, "/tmp",
					    &error), -ILB_ERR_FORMAT);
	close(ilb_initramfs_close(&image, &error));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries),
		cmocka_unit_test(bad_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
