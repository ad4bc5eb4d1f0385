// SPDX-License-Identifier: GPL-2.0-only
/* Histograms by powers of two, drawn as bpftrace's users know them. */

#include <inttypes.h>
#include <string.h>

#include "report/text.h"

#define LABEL_WIDTH	16
#define COUNT_WIDTH	8
#define BAR_MIN		10U
#define BAR_MAX		50U
/* Indent, label, blank, count, blank and the two borders. */
#define AROUND_BAR	(2U + LABEL_WIDTH + 1U + COUNT_WIDTH + 1U + 2U)

/* "512", "1K", "2M": 1024 each, as the buckets are powers of two. */
static struct ilb_word power_of_two(unsigned int bit)
{
	struct ilb_word word;

	snprintf(word.text, sizeof(word.text), "%u%.1s", 1U << bit % 10,
		 &"\0KMGTPE"[bit / 10]);
	return word;
}

static struct ilb_word label_of(unsigned int bucket)
{
	struct ilb_word word;

	if (!bucket)
		snprintf(word.text, sizeof(word.text), "[0, 1)");
	else if (bucket == ILB_HIST_LOG2 - 1)
		snprintf(word.text, sizeof(word.text), "[%.10s, ...)",
			 power_of_two(bucket - 1).text);
	else
		snprintf(word.text, sizeof(word.text), "[%.10s, %.10s)",
			 power_of_two(bucket - 1).text,
			 power_of_two(bucket).text);
	return word;
}

static uint64_t most_of(const struct ilb_hist *hist)
{
	uint64_t most = 0;
	unsigned int i;

	for (i = 0; i < ILB_HIST_LOG2; i++)
		if (hist->log2_us[i] > most)
			most = hist->log2_us[i];
	return most;
}

/* A count that is not 0 shows: at least one sign. */
static unsigned int bar_of(uint64_t count, uint64_t most, unsigned int width)
{
	unsigned int bar;

	bar = (unsigned int)((double)count / (double)most * width);
	if (!bar && count)
		return 1;
	return bar < width ? bar : width;
}

static unsigned int bar_width(const struct ilb_text *text)
{
	if (text->width < AROUND_BAR + BAR_MIN)
		return BAR_MIN;
	if (text->width > AROUND_BAR + BAR_MAX)
		return BAR_MAX;
	return text->width - AROUND_BAR;
}

void ilb_histogram_print(struct ilb_text *text, const struct ilb_hist *hist)
{
	static const char signs[] =
		"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";
	unsigned int first = 0, last = ILB_HIST_LOG2 - 1, width, i;
	uint64_t most = most_of(hist);

	if (text->err || !most)
		return;
	width = bar_width(text);
	while (!hist->log2_us[first])
		first++;
	while (!hist->log2_us[last])
		last--;
	for (i = first; i <= last; i++)
		fprintf(text->out, "  %-*s %*" PRIu64 " |%-*.*s|\n",
			LABEL_WIDTH, label_of(i).text, COUNT_WIDTH,
			hist->log2_us[i], (int)width,
			(int)bar_of(hist->log2_us[i], most, width), signs);
}
