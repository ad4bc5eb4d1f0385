// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_write json|text SAMPLE: a sample's report on standard output, for
 * tests that are not in C. Without arguments: the names of the samples.
 */

#include <stdio.h>
#include <string.h>

#include "report_samples.h"

int main(int argc, char **argv)
{
	static struct sample sample;
	unsigned int i;

	if (argc != 3) {
		for (i = 0; sample_names[i]; i++)
			puts(sample_names[i]);
		return argc == 1 ? 0 : 2;
	}
	if (sample_make(&sample, argv[2]))
		return 2;
	if (!strcmp(argv[1], "json"))
		return ilb_report_json(stdout, &sample.report) ? 1 : 0;
	return ilb_report_text(stdout, &sample.report, 0, 0) ? 1 : 0;
}
