// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of a trial, and what its times say.
 *
 * Runs come in pairs, one with the repair and one without, in an order that
 * is drawn for each pair: what drifts slowly (temperature, caches, other
 * load) meets both alike, and cancels in the pair's ratio. Times are compared
 * as ratios, hence logarithms. That an order was drawn is also all that the
 * permutation test rests on, so it stands beside the interval, which rests on
 * ratios that are about log-normal.
 */

#include <math.h>

#include "ilb/fix.h"
#include "sim/random.h"

#define WITHIN		0.95
#define P_MAX		0.05
#define EXACT_PAIRS	20U
#define DRAWS		100000U
#define SAME		1e-12	/* sums of the same terms, other rounding */

void ilb_trial_order(unsigned char *first, unsigned int pairs, uint64_t seed)
{
	struct ilb_random random = { .state = seed };
	unsigned int i;

	for (i = 0; i < pairs; i++)
		first[i] = (unsigned char)ilb_random_below(&random, 2);
}

/* ---- Student's distribution ---- */

/*
 * P(|T| <= t) for a whole number of degrees of freedom is a finite sum of
 * powers of the cosine of atan(t / sqrt(freedom)).
 */
static double within_angle(double angle, unsigned int freedom)
{
	double s = sin(angle), c = cos(angle), term, sum;
	unsigned int k;

	if (freedom % 2) {
		term = sum = freedom > 1 ? c : 0;
		for (k = 2; k + 1 < freedom; k += 2)
			sum += term *= c * c * k / (k + 1);
		return (angle + s * sum) * M_2_PI;
	}
	term = sum = 1;
	for (k = 1; k + 2 < freedom; k += 2)
		sum += term *= c * c * k / (k + 1);
	return s * sum;
}

double ilb_student_quantile(double within, unsigned int freedom)
{
	double low = 0, high = M_PI_2, middle;
	int i;

	for (i = 0; i < 60; i++) {
		middle = (low + high) / 2;
		if (within_angle(middle, freedom) < within)
			low = middle;
		else
			high = middle;
	}
	return tan(low) * sqrt(freedom);
}

/* ---- the permutation test ---- */

static double sum_of(const double *d, unsigned int pairs, uint64_t flips)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < pairs; i++)
		sum += flips >> i & 1 ? -d[i] : d[i];
	return sum;
}

/* The last pair's sign is not flipped: both halves are alike. */
static double p_exact(const double *d, unsigned int pairs, double least)
{
	uint64_t flips, all = 1ULL << (pairs - 1), far = 0;

	for (flips = 0; flips < all; flips++)
		far += fabs(sum_of(d, pairs, flips)) >= least;
	return (double)far / (double)all;
}

/* What was observed counts as one draw, so that p is never 0. */
static double p_drawn(const double *d, unsigned int pairs, double least,
		      uint64_t seed)
{
	struct ilb_random random = { .state = ~seed };
	unsigned int draw, i, far = 1;
	double sum;

	for (draw = 0; draw < DRAWS; draw++) {
		sum = 0;
		for (i = 0; i < pairs; i++)
			sum += ilb_random_below(&random, 2) ? -d[i] : d[i];
		far += fabs(sum) >= least;
	}
	return (double)far / (DRAWS + 1);
}

static double p_value(const double *d, unsigned int pairs, uint64_t seed)
{
	double least = fabs(sum_of(d, pairs, 0)) * (1 - SAME);

	return pairs <= EXACT_PAIRS ? p_exact(d, pairs, least) :
				      p_drawn(d, pairs, least, seed);
}

/* ---- the result ---- */

static double mean_of(const double *x, unsigned int n)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum += x[i];
	return sum / n;
}

static double error_of(const double *x, unsigned int n, double mean)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (n - 1) / n);
}

int ilb_trial_judge(struct ilb_trial_result *result, const double *off,
		    const double *on, unsigned int pairs, uint64_t seed)
{
	double d[ILB_TRIAL_MAX], logs[ILB_TRIAL_MAX];
	double mean, half;
	unsigned int i;

	if (pairs < ILB_TRIAL_MIN || pairs > ILB_TRIAL_MAX)
		return -ILB_ERR_RANGE;
	for (i = 0; i < pairs; i++) {
		if (!(off[i] > 0 && on[i] > 0))
			return -ILB_ERR_RANGE;
		logs[i] = log(on[i]);
		d[i] = log(off[i]) - logs[i];
	}
	mean = mean_of(d, pairs);
	half = ilb_student_quantile(WITHIN, pairs - 1) *
	       error_of(d, pairs, mean);
	result->pairs = pairs;
	result->on_s = exp(mean_of(logs, pairs));
	result->off_s = result->on_s * exp(mean);
	result->ratio = exp(mean);
	result->low = exp(mean - half);
	result->high = exp(mean + half);
	result->p = p_value(d, pairs, seed);
	result->supported = (result->low > 1 || result->high < 1) &&
			    result->p <= P_MAX;
	return 0;
}
