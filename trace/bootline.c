// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel command line, as far as it sets CPUs apart: nohz_full=LIST and
 * isolcpus=[FLAG,...]LIST, read with the kernel's own tolerance.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "trace/bootline.h"

#define LIST_MAX	4096U

/*
 * The next parameter at *@text; blanks within double quotes belong to it.
 * What follows "--" is for init.
 */
static size_t next_param(const char **text)
{
	int quoted = 0;
	size_t n;

	while (isspace((unsigned char)**text))
		++*text;
	for (n = 0; (*text)[n]; n++) {
		if ((*text)[n] == '"')
			quoted = !quoted;
		else if (!quoted && isspace((unsigned char)(*text)[n]))
			break;
	}
	return n == 2 && !memcmp(*text, "--", 2) ? 0 : n;
}

/* "N" is the last CPU and "all" every one; a plain list has neither. */
static int expand(char *list, const char *text, size_t n, unsigned int last)
{
	size_t i, used = 0;
	int c = 0;

	for (i = 0; i < n; i++) {
		if (used + 16 > LIST_MAX)
			return -1;
		if (text[i] == '"')
			continue;
		if (n - i >= 3 && !memcmp(text + i, "all", 3)) {
			used += (size_t)sprintf(list + used, "0-%u", last);
			i += 2;
		} else if (text[i] == 'N' && !isalnum(c)) {
			used += (size_t)sprintf(list + used, "%u", last);
		} else {
			list[used++] = text[i];
		}
		c = (unsigned char)text[i];
	}
	list[used] = '\0';
	return 0;
}

/* CPUs beyond the machine's are common: people write 1-255 everywhere. */
static void add_list(unsigned long *mask, const char *text, size_t n,
		     unsigned int nr_cpus)
{
	unsigned long all[ILB_MASK_WORDS(ILB_CPUS_MAX)];
	char list[LIST_MAX];
	unsigned int cpu;

	if (expand(list, text, n, nr_cpus - 1) ||
	    ilb_cpulist_parse(list, all, ILB_CPUS_MAX))
		return;
	ilb_for_each_cpu(cpu, all, ILB_CPUS_MAX)
		if (cpu < nr_cpus)
			ilb_mask_set(mask, cpu);
}

static int is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(text, word, n);
}

/* Flags are words; the first thing that does not begin as one is the list. */
static void add_isolcpus(struct ilb_bootline *line, const char *text, size_t n,
			 unsigned int nr_cpus)
{
	int domain = 0, nohz = 0, flags = 0;
	const char *comma;
	size_t word;

	while (n && isalpha((unsigned char)*text)) {
		comma = memchr(text, ',', n);
		if (!comma)
			return;
		word = (size_t)(comma - text);
		if (is_word(text, word, "nohz"))
			flags = nohz = 1;
		else if (is_word(text, word, "domain"))
			flags = domain = 1;
		else if (is_word(text, word, "managed_irq"))
			flags = 1;
		text += word + 1;
		n -= word + 1;
	}
	if (nohz)
		add_list(line->nohz, text, n, nr_cpus);
	if (domain || !flags)
		add_list(line->domain, text, n, nr_cpus);
}

void ilb_bootline_parse(struct ilb_bootline *line, const char *text,
			unsigned int nr_cpus)
{
	static const char full[] = "nohz_full=", isol[] = "isolcpus=";
	size_t n;

	memset(line, 0, sizeof(*line));
	for (n = next_param(&text); n; n = next_param(&text)) {
		if (n >= sizeof(full) && !memcmp(text, full, sizeof(full) - 1))
			add_list(line->nohz_full, text + sizeof(full) - 1,
				 n - (sizeof(full) - 1), nr_cpus);
		if (n >= sizeof(isol) && !memcmp(text, isol, sizeof(isol) - 1))
			add_isolcpus(line, text + sizeof(isol) - 1,
				     n - (sizeof(isol) - 1), nr_cpus);
		text += n;
	}
}
