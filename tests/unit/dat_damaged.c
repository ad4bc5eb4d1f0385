// SPDX-License-Identifier: GPL-2.0-only
/*
 * A damaged trace.dat gives one line, or all of its events: never a part of
 * them as if that were all, never a crash of this process, a hang, or a
 * process left behind.
 *
 * ILB_DAMAGE=N in the environment: N changed files of each kind.
 */

#include <errno.h>
#include <sys/wait.h>
#include "test.h"
#include "dat_file.h"
#include "trace/dat.h"
#include "ilb/source.h"

#define PATIENCE_MS	5000
#define EVENTS_MAX	100000	/* no sample has more */

static const char *const samples[] = {
	"7.3-v6.dat", "7.3-v7.dat", "7.3-v7-zstd.dat",
	"7.3-v6-instance.dat",
};

/* What came of reading. */
struct outcome {
	int result;
	uint64_t events;
	uint64_t digest;	/* of all that was read */
	struct ilb_error error;
};

static uint64_t digest(uint64_t hash, const struct ilb_event *event)
{
	const unsigned char *p = (const unsigned char *)event;
	size_t i;

	for (i = 0; i < sizeof(*event); i++)
		hash = (hash ^ p[i]) * 0x100000001b3ULL;
	return hash;
}

/* One line, which names the file, and no process left. */
static void check_outcome(const struct dat_file *f, const struct outcome *o)
{
	assert_true(o->events <= EVENTS_MAX);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	if (!o->result)
		return;
	assert_true(o->result == -ILB_ERR_FORMAT ||
		    o->result == -ILB_ERR_MISMATCH ||
		    o->result == -ILB_ERR_NOMEM);
	assert_null(strchr(o->error.text, '\n'));
	assert_true(strlen(o->error.text) > 20);
	if (o->result != -ILB_ERR_MISMATCH)
		assert_int_equal(strncmp(o->error.text, f->path,
					 strlen(f->path)), 0);
}

static struct outcome read_file(const struct dat_file *f)
{
	struct outcome o = { .digest = 0xcbf29ce484222325ULL };
	struct ilb_source *source;
	struct ilb_event event;

	o.result = ilb_dat_open_patience(&source, f->path, 16, PATIENCE_MS,
					 &o.error);
	if (!o.result) {
		while ((o.result = ilb_source_next(source, &event,
						   &o.error)) == 1) {
			o.events++;
			o.digest = digest(o.digest, &event);
		}
		ilb_source_close(source);
	}
	check_outcome(f, &o);
	return o;
}

static struct outcome read_changed(struct dat_file *f)
{
	dat_store(f, f->size);
	return read_file(f);
}

static unsigned int damage_count(unsigned int normally)
{
	const char *n = getenv("ILB_DAMAGE");

	return n ? (unsigned int)atoi(n) : normally;
}

/* Where the names of sections begin: a file may end there, see dat_layout.c. */
static size_t names_at(const struct dat_file *f)
{
	static const char names[] = "a section";
	const unsigned char *at = memmem(f->data, f->size, names,
					 sizeof(names));

	return at ? (size_t)(at - f->data) - 16 : SIZE_MAX;
}

/* Cut at every byte. */
static void truncated(void **state)
{
	static struct dat_file f;
	struct outcome whole, o;
	unsigned int i;
	size_t size;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		dat_load(&f, samples[i]);
		whole = read_changed(&f);
		assert_int_equal(whole.result, 0);
		for (size = f.size; size-- > 0; ) {
			assert_int_equal(ftruncate(f.fd, (off_t)size), 0);
			o = read_file(&f);
			if (size == names_at(&f)) {
				assert_int_equal(o.result, 0);
				assert_true(o.digest == whole.digest);
			} else if (o.result != -ILB_ERR_FORMAT) {
				fail_msg("%s: %zu of %zu bytes: %d",
					 samples[i], size, f.size, o.result);
			}
		}
		close(f.fd);
	}
}

/* A sequence that is the same everywhere. */
static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33);
}

/* Tell what happened, by the beginning of the reason. */
struct tally {
	unsigned int whole, changed, refused, damaged, crashed, hung, other;
};

static void count_outcome(struct tally *t, const struct outcome *o,
			  const struct outcome *whole)
{
	if (!o->result && o->digest == whole->digest)
		t->whole++;
	else if (!o->result)
		t->changed++;
	else if (strstr(o->error.text, "crashed"))
		t->crashed++;
	else if (strstr(o->error.text, "no progress"))
		t->hung++;
	else if (strstr(o->error.text, "libtracecmd"))
		t->refused++;
	else if (strstr(o->error.text, "damaged") ||
		 strstr(o->error.text, "cut"))
		t->damaged++;
	else
		t->other++;
}

static void flip_bits(const char *sample, unsigned int count)
{
	static struct dat_file f, good;
	struct tally t = { 0 };
	struct outcome whole, o;
	uint64_t seed = 2026;
	unsigned int i, bits;
	uint32_t at;

	dat_load(&good, sample);
	close(good.fd);
	dat_load(&f, sample);
	whole = read_changed(&f);
	for (i = 0; i < count; i++) {
		memcpy(f.data, good.data, f.size);
		for (bits = 1 + i % 3; bits; bits--) {
			at = next_random(&seed) % (uint32_t)f.size;
			f.data[at] ^= (unsigned char)
				      (1U << next_random(&seed) % 8);
		}
		o = read_changed(&f);
		count_outcome(&t, &o, &whole);
	}
	close(f.fd);
	print_message("# %s, %u files: %u whole, %u changed, %u damaged, %u refused, %u crashed, %u hung, %u other\n",
		      sample, count, t.whole, t.changed, t.damaged, t.refused,
		      t.crashed, t.hung, t.other);
	assert_true(t.damaged > 0);
}

static void bits_flipped(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(samples); i++)
		flip_bits(samples[i], damage_count(60));
}

/* Lengths and counts of 4 GB and more, wherever there may be one. */
static void huge_lengths(void **state)
{
	static struct dat_file f, good;
	unsigned int i, step;
	size_t at;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		dat_load(&good, samples[i]);
		close(good.fd);
		dat_load(&f, samples[i]);
		step = getenv("ILB_DAMAGE") ? 11 : 307;
		for (at = 12; at + 8 < f.size; at += step) {
			memcpy(f.data, good.data, f.size);
			memset(f.data + at, 0xff, at & 1 ? 4 : 8);
			read_changed(&f);
		}
		close(f.fd);
	}
}

static void expect_error(struct dat_file *f, const char *reason)
{
	struct outcome o = read_changed(f);

	assert_int_equal(o.result, -ILB_ERR_FORMAT);
	if (!strstr(o.error.text, reason))
		fail_msg("'%s' does not say '%s'", o.error.text, reason);
}

static void headers(void **state)
{
	static struct dat_file f;

	(void)state;
	dat_load(&f, "7.3-v7.dat");
	f.data[10] = '8';
	expect_error(&f, "is of version 8; this build reads 6 and 7");
	f.data[10] = '\n';
	expect_error(&f, "is of version ?; this build");
	f.data[10] = '7';
	f.data[12] = 1;
	expect_error(&f, "other byte order");
	f.data[12] = 0;
	f.data[14] = 1;
	expect_error(&f, "page size cannot be right");
	f.data[14] = 0;
	memcpy(f.data + 18, "nope", 4);
	expect_error(&f, "was built without the compression 'nope'");
	f.data[3] = 'T';
	expect_error(&f, "is not a trace.dat");
	f.size = 0;
	expect_error(&f, "ends at byte 0");
	close(f.fd);
}

/* The second page of a CPU that has one. */
static unsigned char *second_page(struct dat_file *f)
{
	struct ilb_dat_layout layout;
	struct ilb_error error;
	uint64_t offset;

	dat_store(f, f->size);
	assert_int_equal(ilb_dat_layout_read(&layout, f->fd, f->path, &error),
			 0);
	assert_true(layout.cpus[0].size > 4096);
	offset = layout.cpus[0].offset + 4096;
	ilb_dat_layout_free(&layout);
	return f->data + offset;
}

/* What libtracecmd takes for the end of the page, or of the CPU. */
static void pages(void **state)
{
	static struct dat_file f;
	unsigned char *page, good[4096];
	uint32_t commit;

	(void)state;
	dat_load(&f, "7.3-v7.dat");
	page = second_page(&f);
	memcpy(good, page, sizeof(good));

	memset(page, 0, sizeof(good));
	expect_error(&f, "page 1 of CPU 0 cannot be right");

	memcpy(page, good, sizeof(good));
	commit = 5000;
	memcpy(page + 8, &commit, sizeof(commit));
	expect_error(&f, "page 1 of CPU 0 cannot be right");

	/* Bytes committed that end within a record. */
	memcpy(page, good, sizeof(good));
	page[8]--;
	expect_error(&f, "page 1 of CPU 0 cannot be right");

	/* A record of no length. */
	memcpy(page, good, sizeof(good));
	memset(page + 16, 0, 8);
	expect_error(&f, "page 1 of CPU 0 cannot be right");

	memcpy(page, good, sizeof(good));
	assert_int_equal(read_changed(&f).result, 0);
	close(f.fd);
}

/* Compressed pages that do not decompress to what the file says. */
static void pieces(void **state)
{
	struct ilb_dat_layout layout;
	static struct dat_file f;
	struct ilb_error error;
	uint64_t at;

	(void)state;
	dat_load(&f, "7.3-v7-zstd.dat");
	dat_store(&f, f.size);
	assert_int_equal(ilb_dat_layout_read(&layout, f.fd, f.path, &error),
			 0);
	assert_int_equal(layout.compressed, 1);
	at = layout.cpus[1].offset;
	ilb_dat_layout_free(&layout);

	f.data[at + 4 + 8 + 4] ^= 0x55;
	expect_error(&f, "page 0 of CPU 12 cannot be right");
	f.data[at + 4 + 8 + 4] ^= 0x55;
	f.data[at + 4 + 5] += 16;	/* one page more */
	expect_error(&f, "page 0 of CPU 12 cannot be right");
	f.data[at + 4 + 5] -= 16;
	f.data[at]++;			/* one piece more */
	expect_error(&f, "pages cannot be right");
	close(f.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers),
		cmocka_unit_test(pages),
		cmocka_unit_test(pieces),
		cmocka_unit_test(truncated),
		cmocka_unit_test(huge_lengths),
		cmocka_unit_test(bits_flipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
