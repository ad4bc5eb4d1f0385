// SPDX-License-Identifier: GPL-2.0-only
/* Numbers as people read them. */

#include <inttypes.h>

#include "report/text.h"

struct ilb_word ilb_word_share(uint64_t part, uint64_t whole)
{
	struct ilb_word word = { "unknown" };
	double percent;

	if (!whole)
		return word;
	percent = 100.0 * (double)part / (double)whole;
	if (!part)
		snprintf(word.text, sizeof(word.text), "0 %%");
	else if (part == whole)
		snprintf(word.text, sizeof(word.text), "100 %%");
	else if (percent < 0.1)
		snprintf(word.text, sizeof(word.text), "<0.1 %%");
	else if (part < whole && percent > 99.9)
		snprintf(word.text, sizeof(word.text), ">99.9 %%");
	else
		snprintf(word.text, sizeof(word.text), "%.1f %%", percent);
	return word;
}

struct ilb_word ilb_word_time(uint64_t ns)
{
	struct ilb_word word;

	if (ns < 1000)
		snprintf(word.text, sizeof(word.text), "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(word.text, sizeof(word.text), "%.1f us",
			 (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(word.text, sizeof(word.text), "%.1f ms",
			 (double)ns / 1e6);
	else
		snprintf(word.text, sizeof(word.text), "%.2f s",
			 (double)ns / 1e9);
	return word;
}

struct ilb_word ilb_word_rate(uint64_t count, double seconds)
{
	struct ilb_word word;
	double rate = (double)count / seconds;
	int digits = rate >= 1000 || !count ? 0 : rate >= 10 ? 1 : 2;

	snprintf(word.text, sizeof(word.text), "%.*f", digits, rate);
	return word;
}
