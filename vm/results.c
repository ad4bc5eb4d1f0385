// SPDX-License-Identifier: GPL-2.0-only
/*
 * What came out of a guest: unpacked under another name, renamed when it is
 * whole. The archive's paths stay below that folder, whatever they say.
 */

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/vm.h"

#define FLAGS	(ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_SYMLINKS | \
		 ARCHIVE_EXTRACT_SECURE_NODOTDOT | \
		 ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS)

/* The heads that init_files.c sends: MAGIC, 13 numbers of 8 hex digits. */
#define HEAD		110U
#define MAGIC		"070701"
#define AT_NUMBERS	6U
#define AT_SIZE		54U
#define AT_NAME_SIZE	94U

struct source {
	ssize_t (*next)(void *context, const void **part);
	void *context;
	char head[HEAD + 1];
	size_t have;		/* bytes of the head */
	uint64_t skip;		/* bytes before the next head */
};

/* The folder that @path will be made in; free() it. */
static char *parent_of(const char *path)
{
	char *parent = strdup(path), *slash;
	size_t n = parent ? strlen(parent) : 0;

	while (n > 1 && parent[n - 1] == '/')
		parent[--n] = '\0';
	slash = parent ? strrchr(parent, '/') : NULL;
	if (parent && !slash) {
		free(parent);
		return strdup(".");
	}
	if (slash)
		slash[slash == parent] = '\0';
	return parent;
}

int ilb_results_check(const char *path, struct ilb_error *error)
{
	struct stat st;
	char *parent;
	int err = 0;

	if (!lstat(path, &st))
		return ilb_fail(error, ILB_ERR_MISMATCH,
				"%s: exists; remove it, or give another name with -o",
				path);
	parent = parent_of(path);
	if (!parent)
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	if (access(parent, W_OK | X_OK))
		err = ilb_fail(error, ILB_ERR_IO,
			       "%s: cannot make it in %s: %s; give another name with -o",
			       path, parent, strerror(errno));
	free(parent);
	return err;
}

static int begin(struct ilb_results *results, const char *path,
		 struct ilb_error *error)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	results->path = strndup(path, n);
	if (!results->path || asprintf(&results->temporary, "%s.ilb-%ld",
				       results->path, (long)getpid()) < 0) {
		results->temporary = NULL;
		return ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	}
	if (!mkdir(results->temporary, 0777))
		return 0;
	ilb_fail(error, ILB_ERR_IO, "%s: cannot make it: %s",
		 results->temporary, strerror(errno));
	free(results->temporary);
	results->temporary = NULL;
	return -ILB_ERR_IO;
}

/* Known to be digits. */
static uint64_t number_at(const char *text)
{
	char digits[9];

	memcpy(digits, text, 8);
	digits[8] = '\0';
	return strtoull(digits, NULL, 16);
}

static int check_head(struct source *source)
{
	uint64_t name, size;

	source->head[HEAD] = '\0';
	if (memcmp(source->head, MAGIC, AT_NUMBERS) ||
	    strspn(source->head + AT_NUMBERS, "0123456789abcdefABCDEF") !=
	    HEAD - AT_NUMBERS)
		return -1;
	name = number_at(source->head + AT_NAME_SIZE);
	size = number_at(source->head + AT_SIZE);
	if (name > PATH_MAX)
		return -1;
	source->skip = ((HEAD + name + 3) & ~3ULL) - HEAD +
		       ((size + 3) & ~3ULL);
	source->have = 0;
	return 0;
}

/*
 * libarchive makes room for a name of any length, reads other formats, and
 * looks for the next head where one has anything but digits.
 */
static int check_part(struct source *source, const char *part, size_t size)
{
	size_t n;

	for (; size; part += n, size -= n) {
		n = source->skip < size ? (size_t)source->skip : size;
		source->skip -= n;
		if (n)
			continue;
		n = HEAD - source->have < size ? HEAD - source->have : size;
		memcpy(source->head + source->have, part, n);
		source->have += n;
		if (source->have == HEAD && check_head(source))
			return -1;
	}
	return 0;
}

static la_ssize_t give(struct archive *in, void *context, const void **part)
{
	struct source *source = context;
	ssize_t n = source->next(source->context, part);

	if (n < 0)
		archive_set_error(in, EIO, "the guest ended early");
	if (n > 0 && check_part(source, *part, (size_t)n)) {
		archive_set_error(in, EILSEQ, "not as ilb sends them");
		return -1;
	}
	return n;
}

/* Who made it in the guest is nobody here; the owner can always remove it. */
static void adapt(struct archive_entry *entry)
{
	mode_t mode = archive_entry_mode(entry);
	mode_t least = S_ISDIR(mode) ? 0700 : 0600;

	archive_entry_set_mode(entry, (mode & (S_IFMT | 0777)) | least);
}

/* What init_files.c sends. A device of root's would be one of the host. */
static int is_sent(struct archive_entry *entry)
{
	mode_t type = archive_entry_filetype(entry);

	return S_ISREG(type) || S_ISDIR(type) || S_ISLNK(type);
}

static int copy_data(struct archive *in, struct archive *out)
{
	const void *data;
	int64_t offset;
	size_t size;
	int err;

	while (!(err = archive_read_data_block(in, &data, &size, &offset)))
		if (archive_write_data_block(out, data, size, offset))
			return -1;
	return err == ARCHIVE_EOF ? 0 : -1;
}

static int write_entry(struct archive *in, struct archive *out,
		       struct archive_entry *entry)
{
	adapt(entry);
	return archive_write_header(out, entry) || copy_data(in, out) ||
	       archive_write_finish_entry(out);
}

static int unpack(struct ilb_results *results, struct archive *in,
		  struct archive *out, struct ilb_error *error)
{
	struct archive_entry *entry;
	const char *why;
	int err;

	while (!(err = archive_read_next_header(in, &entry))) {
		if (!is_sent(entry))
			return ilb_fail(error, ILB_ERR_FORMAT,
					"%s: the guest's files: %s is no file, folder or link; leave it out",
					results->path,
					archive_entry_pathname(entry));
		if (write_entry(in, out, entry)) {
			why = archive_error_string(out);
			return ilb_fail(error, ILB_ERR_IO, "%s/%s: %s",
					results->path,
					archive_entry_pathname(entry),
					why ? why : archive_error_string(in));
		}
		results->files++;
	}
	if (err == ARCHIVE_EOF)
		return 0;
	return ilb_fail(error, ILB_ERR_IO, "%s: the guest's files: %s",
			results->path, archive_error_string(in));
}

/* libarchive refuses links on the way to an absolute path: so go there. */
static int unpack_there(struct ilb_results *results, struct archive *in,
			struct archive *out, struct ilb_error *error)
{
	int back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (back < 0 || chdir(results->temporary)) {
		err = ilb_fail(error, ILB_ERR_IO, "%s: %s", results->temporary,
			       strerror(errno));
	} else {
		err = unpack(results, in, out, error);
		if (archive_write_close(out) && !err)
			err = ilb_fail(error, ILB_ERR_IO, "%s: %s",
				       results->path,
				       archive_error_string(out));
		if (fchdir(back) && !err)
			err = ilb_fail(error, ILB_ERR_IO, "%s",
				       strerror(errno));
	}
	if (back >= 0)
		close(back);
	return err;
}

int ilb_results_read(struct ilb_results *results, const char *path,
		     ssize_t (*next)(void *context, const void **part),
		     void *context, struct ilb_error *error)
{
	struct source source = { .next = next, .context = context };
	struct archive *in, *out;
	int err;

	err = begin(results, path, error);
	if (err)
		return err;
	in = archive_read_new();
	out = archive_write_disk_new();
	if (!in || !out || archive_read_support_format_cpio(in) ||
	    archive_write_disk_set_options(out, FLAGS))
		err = ilb_fail(error, ILB_ERR_NOMEM, "out of memory");
	else if (archive_read_open(in, &source, NULL, give, NULL))
		err = ilb_fail(error, ILB_ERR_IO, "%s: the guest's files: %s",
			       path, archive_error_string(in));
	else
		err = unpack_there(results, in, out, error);
	archive_read_free(in);
	archive_write_free(out);
	return err;
}

int ilb_results_publish(struct ilb_results *results, struct ilb_error *error)
{
	if (!results->temporary)
		return 0;
	if (!results->files) {
		ilb_results_discard(results);
		return 0;
	}
	if (renameat2(AT_FDCWD, results->temporary, AT_FDCWD, results->path,
		      RENAME_NOREPLACE) &&
	    (errno != EINVAL || rename(results->temporary, results->path)))
		return ilb_fail(error, ILB_ERR_IO,
				"%s: cannot give the folder its name: %s",
				results->path, strerror(errno));
	free(results->temporary);
	results->temporary = NULL;
	return 0;
}

void ilb_results_discard(struct ilb_results *results)
{
	if (results->temporary)
		ilb_cache_remove(results->temporary);
	free(results->temporary);
	free(results->path);
	results->temporary = results->path = NULL;
}
