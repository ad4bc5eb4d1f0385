// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shares of functions: which addresses are theirs, what is counted of a ring
 * of samples, and how often the error that is printed holds the truth.
 */

#include <math.h>
#include <unistd.h>

#include "test.h"
#include "live/stat_functions.c"
#include "report/view.h"

#define RING	(PAGES * 4096U)

static struct ilb_sampler sampler;
static struct ilb_functions functions;

static int forget(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	memset(&functions, 0, sizeof(functions));
	return 0;
}

/* ---- where they are ---- */

static int ranges_of(const char *symbols)
{
	char path[] = "/tmp/ilb-symbols-XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, symbols, strlen(symbols)),
			 strlen(symbols));
	close(fd);
	err = find_ranges(&sampler, &functions, path);
	unlink(path);
	return err;
}

static void expect_range(unsigned int function, const char *name,
			 uint64_t from, uint64_t to)
{
	assert_string_equal(functions.function[function].name, name);
	assert_int_equal(functions.function[function].listed, 1);
	assert_int_equal(sampler.range[function].from, from);
	assert_int_equal(sampler.range[function].to, to);
}

/* In no order; an end is the next symbol, whatever that is. */
static void each_ends_where_the_next_begins(void **state)
{
	(void)state;
	assert_int_equal(ranges_of("9000 T last\n"
				   "1000 T nohz_balance_enter_idle\n"
				   "5000 t _nohz_idle_balance\n"
				   "0900 T before\n"
				   "1800 d data_after\n"
				   "5000 t alias\n"
				   "5100 t in_a_module\t[some]\n"
				   "1a00 t far\n"), 0);
	expect_range(0, "nohz_balance_enter_idle", 0x1000, 0x1800);
	expect_range(3, "_nohz_idle_balance", 0x5000, 0x5100);
	assert_int_equal(functions.function[1].listed, 0);
	assert_int_equal(functions.function[2].listed, 0);
}

/* Where both are listed, the one has been inlined into nobody. */
static void the_first_name_goes_before_the_second(void **state)
{
	(void)state;
	assert_int_equal(ranges_of("3000 t kick_ilb\n"
				   "3100 T nohz_balancer_kick\n"
				   "3900 T end\n"), 0);
	expect_range(2, "kick_ilb", 0x3000, 0x3100);
	forget(NULL);
	assert_int_equal(ranges_of("3100 T nohz_balancer_kick\n"
				   "3900 T end\n"), 0);
	expect_range(2, "nohz_balancer_kick", 0x3100, 0x3900);
}

/* What nobody but root reads. */
static void addresses_of_zero_are_none(void **state)
{
	(void)state;
	assert_int_equal(ranges_of("0 t kick_ilb\n"
				   "0 T nohz_balance_enter_idle\n"), -1);
	assert_int_equal(find_ranges(&sampler, &functions, "/none"), -1);
}

/* ---- what is counted ---- */

static char *memory;		/* a page of control, and a ring */
static uint64_t written;

static void put_bytes(const void *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		memory[4096 + written++ % RING] = ((const char *)bytes)[i];
}

static void put_record(uint32_t type, uint64_t first, uint64_t second,
		       uint16_t size)
{
	const uint64_t body[6] = { first, second };
	const struct perf_event_header header = { type, 0, size };

	put_bytes(&header, sizeof(header));
	put_bytes(body, size - sizeof(header));
}

static uint64_t ring_samples[ILB_FUNCTIONS + 1];

/* Counts for itself what it writes. */
static void put_samples(unsigned int nr)
{
	static const uint64_t from[] = { 0x1000, 0x2000, 0x3000, 0x5000 };
	unsigned int i, f;
	uint64_t ip;

	for (i = 0; i < nr; i++) {
		ip = 0xf00 + (i * 2654435761U) % 0x5000;
		put_record(PERF_RECORD_SAMPLE, ip, 0, 16);
		ring_samples[ILB_FUNCTIONS]++;
		for (f = 0; f < ILB_FUNCTIONS; f++)
			ring_samples[f] += ip >= from[f] &&
					   ip < from[f] + 0x100;
	}
}

static void read_all(void)
{
	struct ring ring = {
		.page = (struct perf_event_mmap_page *)(void *)memory,
	};

	ring.page->data_head = written;
	read_ring(&sampler, &ring, &functions);
	assert_int_equal(ring.page->data_tail, written);
}

static void start_at(uint64_t position)
{
	unsigned int i;

	memory = calloc(1, 4096 + RING);
	assert_non_null(memory);
	written = position;
	((struct perf_event_mmap_page *)(void *)memory)->data_tail = position;
	memset(ring_samples, 0, sizeof(ring_samples));
	sampler.page = 4096;
	for (i = 0; i < ILB_FUNCTIONS; i++) {
		sampler.range[i].from = (i + 1 + (i == 3)) * 0x1000;
		sampler.range[i].to = sampler.range[i].from + 0x100;
	}
}

static void expect_samples(void)
{
	unsigned int i;

	assert_int_equal(functions.samples, ring_samples[ILB_FUNCTIONS]);
	for (i = 0; i < ILB_FUNCTIONS; i++) {
		assert_true(ring_samples[i] > 0);
		assert_int_equal(functions.function[i].samples,
				 ring_samples[i]);
	}
}

/* The ring's end lies in the middle of a record, as often as it comes. */
static void samples_across_the_end(void **state)
{
	unsigned int i;

	(void)state;
	start_at(RING - 1000 * 16 - 8);
	for (i = 0; i < 5; i++) {
		put_samples(7000);
		read_all();
	}
	expect_samples();
	free(memory);
}

/* Throttling, lost samples and whatever else the kernel may say. */
static void other_records_are_none(void **state)
{
	(void)state;
	start_at(0);
	put_samples(2000);
	put_record(PERF_RECORD_LOST, 0x1000, 41, 24);
	put_record(PERF_RECORD_THROTTLE, 0x1000, 0x1000, 40);
	put_samples(2000);
	put_record(PERF_RECORD_LOST, 0x2000, 1, 24);
	read_all();
	expect_samples();
	assert_int_equal(functions.lost, 42);
	ilb_sampler_start(&functions);
	assert_int_equal(functions.samples + functions.lost, 0);
	free(memory);
}

/* It must neither hang nor go on where no record is. */
static void a_record_of_no_size_ends_it(void **state)
{
	(void)state;
	start_at(0);
	put_samples(2000);
	put_record(PERF_RECORD_SAMPLE, 0x1000, 0, 8);
	put_bytes(&(struct perf_event_header){ PERF_RECORD_SAMPLE, 0, 0 }, 8);
	put_bytes("12345678", 8);
	read_all();
	assert_int_equal(functions.samples, ring_samples[ILB_FUNCTIONS] + 1);
	free(memory);
}

/* ---- the error ---- */

static double probability(double n, double k, double p)
{
	return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) +
		   k * log(p) + (n - k) * log1p(-p));
}

/* How often share and error hold @p, summed over all outcomes. */
static double coverage(uint64_t n, double p)
{
	double percent, error, sum = 0;
	uint64_t k;

	for (k = 0; k <= n && (double)k < (double)n * p * 3 + 60; k++) {
		error = ilb_view_error_pct(k, n, &percent);
		if (fabs(percent - 100 * p) <= error)
			sum += probability((double)n, (double)k, p);
	}
	return sum;
}

static void the_error_holds_the_truth_19_times_of_20(void **state)
{
	static const double expected[] = { 0.1, 0.5, 1, 2, 3, 5, 10, 30, 100 };
	static const uint64_t numbers[] = { 997, 5000, 40000 };
	unsigned int i, k;
	double part;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		for (k = 0; k < ARRAY_SIZE(expected); k++) {
			part = coverage(numbers[i], expected[k] /
					(double)numbers[i]);
			assert_true(part > 0.944);
			/* Of many, it is no wider than it must be. */
			assert_true(expected[k] < 30 || part < 0.96);
		}
}

#define TEST(f)	cmocka_unit_test_setup(f, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_ends_where_the_next_begins),
		TEST(the_first_name_goes_before_the_second),
		TEST(addresses_of_zero_are_none),
		TEST(samples_across_the_end),
		TEST(other_records_are_none),
		TEST(a_record_of_no_size_ends_it),
		TEST(the_error_holds_the_truth_19_times_of_20),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
