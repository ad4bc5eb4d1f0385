// SPDX-License-Identifier: GPL-2.0-only
/* In place of exact.c where ilb is built without BPF: none can be opened. */

#include <stddef.h>

#include "live/exact.h"

int ilb_exact_open(struct ilb_exact **exact, unsigned int nr_cpus,
		   void (*moment)(void *context,
				  const struct ilb_moment *moment),
		   void *context, struct ilb_error *error)
{
	(void)nr_cpus;
	(void)moment;
	(void)context;
	*exact = NULL;
	return ilb_fail(error, ILB_ERR_UNSUPPORTED,
			"this ilb was built without BPF; build it where clang, bpftool and libbpf are installed");
}

const char *ilb_exact_method(const struct ilb_exact *exact)
{
	(void)exact;
	return "";
}

int ilb_exact_fd(const struct ilb_exact *exact)
{
	(void)exact;
	return -1;
}

int ilb_exact_read(struct ilb_exact *exact, struct ilb_error *error)
{
	(void)exact;
	(void)error;
	return 0;
}

void ilb_exact_stop(struct ilb_exact *exact)
{
	(void)exact;
}

void ilb_exact_counts(const struct ilb_exact *exact,
		      struct ilb_exact_counts *counts)
{
	(void)exact;
	*counts = (struct ilb_exact_counts){ 0 };
}

void ilb_exact_close(struct ilb_exact *exact)
{
	(void)exact;
}
