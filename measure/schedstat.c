// SPDX-License-Identifier: GPL-2.0-only
/*
 * The difference of two /proc/schedstat texts, as mail B's tables show it:
 * load balancing per domain level and idle type, summed over the CPUs.
 *
 * Versions: 15 (Linux 6.1), 16 (6.12: the idle types changed places) and 17
 * (7.2: domains have names, the imbalance comes in four kinds).
 *
 * Both texts list CPUs in ascending order, so they are walked side by side,
 * without memory for either.
 */

#include <stdio.h>
#include <string.h>

#include "ilb/error.h"
#include "ilb/measure.h"

/* A mask of 8192 CPUs has 2304 characters, 45 numbers have 945. */
#define LINE_LONGEST	8192U
#define CPU_COLUMNS	9U
#define REST_COLUMNS	12U	/* active balancing, exec, fork, wakeups */
#define COLUMNS_MAX	45U

/* Of one idle type; the order of version 17. */
enum column {
	LB, BALANCED, FAILED, IMB_LOAD, IMB_UTIL, IMB_TASK, IMB_MISFIT, GAINED,
	COLUMNS
};

/**
 * struct layout - what differs between versions
 * @per_type: columns of an idle type
 * @at: where each of ours is in them; -1: the version has none
 */
struct layout {
	unsigned int version;
	unsigned int per_type;
	enum ilb_idle_type types[ILB_IDLE_TYPES];
	int named;
	int at[COLUMNS];
};

static const struct layout layouts[] = {
	{ 15, 8, { ILB_IDLE_IDLE, ILB_IDLE_BUSY, ILB_IDLE_NEWLY }, 0,
	  { 0, 1, 2, 3, -1, -1, -1, 4 } },
	{ 16, 8, { ILB_IDLE_BUSY, ILB_IDLE_IDLE, ILB_IDLE_NEWLY }, 0,
	  { 0, 1, 2, 3, -1, -1, -1, 4 } },
	{ 17, 11, { ILB_IDLE_BUSY, ILB_IDLE_IDLE, ILB_IDLE_NEWLY }, 1,
	  { 0, 1, 2, 3, 4, 5, 6, 7 } },
};

struct level {
	char name[sizeof(((struct ilb_domain *)0)->name)];
	uint64_t n[ILB_IDLE_TYPES][COLUMNS];
};

/* A text that is being read, and the CPU where it stands. */
struct snapshot {
	const char *text;		/* the next line */
	const char *line, *end;		/* the current one */
	const struct layout *layout;
	uint64_t jiffies;
	int ended;
	unsigned int cpu;
	unsigned int nr_levels;
	struct level levels[ILB_DOMAINS_MAX];
};

/* Returns 1; 0 at the end of the text; -ILB_ERR_FORMAT for an endless line. */
static int next_line(struct snapshot *s)
{
	size_t n;

	if (!*s->text)
		return 0;
	n = strnlen(s->text, LINE_LONGEST + 1);
	s->line = s->text;
	s->end = memchr(s->text, '\n', n);
	if (s->end) {
		s->text = s->end + 1;
		return 1;
	}
	if (n > LINE_LONGEST)
		return -ILB_ERR_FORMAT;
	s->end = s->text = s->text + n;
	return 1;
}

/* If the line goes on with @word, go behind it. */
static int skip_word(struct snapshot *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->line) < n || memcmp(s->line, word, n))
		return 0;
	s->line += n;
	return 1;
}

static void skip_blanks(struct snapshot *s)
{
	while (s->line < s->end && *s->line == ' ')
		s->line++;
}

/* A number that ends with a blank or the line. */
static int number(struct snapshot *s, uint64_t *value)
{
	const char *first = s->line;
	unsigned int digit;

	*value = 0;
	for (; s->line < s->end && *s->line >= '0' && *s->line <= '9';
	     s->line++) {
		digit = (unsigned int)(*s->line - '0');
		if (*value > (UINT64_MAX - digit) / 10)
			return -ILB_ERR_FORMAT;
		*value = *value * 10 + digit;
	}
	if (s->line == first || (s->line < s->end && *s->line != ' '))
		return -ILB_ERR_FORMAT;
	skip_blanks(s);
	return 0;
}

/* Exactly @nr numbers up to the end of the line. */
static int numbers(struct snapshot *s, uint64_t *values, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (number(s, &values[i]))
			return -ILB_ERR_FORMAT;
	return s->line == s->end ? 0 : -ILB_ERR_FORMAT;
}

static int read_head(struct snapshot *s, const char *text)
{
	uint64_t version;
	unsigned int i;

	s->text = text;
	if (next_line(s) != 1 || !skip_word(s, "version ") ||
	    numbers(s, &version, 1))
		return -ILB_ERR_FORMAT;
	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].version == version)
			s->layout = &layouts[i];
	if (!s->layout)
		return -ILB_ERR_UNSUPPORTED;
	if (next_line(s) != 1 || !skip_word(s, "timestamp ") ||
	    numbers(s, &s->jiffies, 1))
		return -ILB_ERR_FORMAT;
	/* From here on, next_cpu() stands on the line that it has to read. */
	s->ended = next_line(s);
	if (s->ended < 0)
		return s->ended;
	s->ended = !s->ended;
	return 0;
}

/* The domain's name, or its number with "domain" where names are unknown. */
static int read_name(struct snapshot *s, struct level *level, uint64_t nr)
{
	size_t n;

	snprintf(level->name, sizeof(level->name), "domain%u",
		 (unsigned int)nr);
	if (!s->layout->named)
		return 0;
	for (n = 0; s->line < s->end && *s->line != ' '; n++, s->line++) {
		/* Printed later on: letters, digits and the like only. */
		if (n + 1 == sizeof(level->name) || *s->line <= ' ' ||
		    *s->line > '~')
			return -ILB_ERR_FORMAT;
		level->name[n] = *s->line;
	}
	level->name[n] = '\0';
	skip_blanks(s);
	return n ? 0 : -ILB_ERR_FORMAT;
}

/* The CPUs of the domain, in hexadecimal. */
static int skip_mask(struct snapshot *s)
{
	const char *first = s->line;

	while (s->line < s->end && strchr("0123456789abcdef,", *s->line))
		s->line++;
	if (s->line == first || (s->line < s->end && *s->line != ' '))
		return -ILB_ERR_FORMAT;
	skip_blanks(s);
	return 0;
}

static int read_domain(struct snapshot *s)
{
	const struct layout *l = s->layout;
	uint64_t nr, values[COLUMNS_MAX];
	struct level *level;
	unsigned int i, c;

	if (number(s, &nr) || nr != s->nr_levels || nr >= ILB_DOMAINS_MAX)
		return -ILB_ERR_FORMAT;
	level = &s->levels[s->nr_levels++];
	memset(level, 0, sizeof(*level));
	if (read_name(s, level, nr) || skip_mask(s) ||
	    numbers(s, values, l->per_type * ILB_IDLE_TYPES + REST_COLUMNS))
		return -ILB_ERR_FORMAT;
	for (i = 0; i < ILB_IDLE_TYPES; i++)
		for (c = 0; c < COLUMNS; c++)
			if (l->at[c] >= 0)
				level->n[l->types[i]][c] =
					values[i * l->per_type +
					       (unsigned int)l->at[c]];
	return 0;
}

/* Read a CPU with its domains; sets @ended where there is none any more. */
static int next_cpu(struct snapshot *s, int first)
{
	uint64_t cpu, values[CPU_COLUMNS];
	int more;

	if (s->ended) {
		s->cpu = ILB_CPU_NONE;
		return 0;
	}
	if (!skip_word(s, "cpu") || number(s, &cpu) || cpu >= ILB_CPUS_MAX ||
	    (!first && cpu <= s->cpu) || numbers(s, values, CPU_COLUMNS))
		return -ILB_ERR_FORMAT;
	s->cpu = (unsigned int)cpu;
	s->nr_levels = 0;
	for (more = next_line(s); more == 1; more = next_line(s)) {
		if (!skip_word(s, "domain"))
			return 0;
		if (read_domain(s))
			return -ILB_ERR_FORMAT;
	}
	s->ended = !more;
	return more;
}

struct sums {
	struct level levels[ILB_DOMAINS_MAX];
	unsigned int number[ILB_DOMAINS_MAX];	/* the level's */
	unsigned int nr;
	uint64_t any;				/* 0: nothing was counted */
};

/*
 * One entry per level and name: CPUs need not agree on what their lowest
 * domain is, and one CPU may have two that are called NUMA. Ordered by level.
 */
static struct level *entry(struct sums *sums, unsigned int number,
			   const char *name)
{
	unsigned int at, i;

	for (at = 0; at < sums->nr && sums->number[at] <= number; at++)
		if (sums->number[at] == number &&
		    !strcmp(sums->levels[at].name, name))
			return &sums->levels[at];
	if (sums->nr == ILB_DOMAINS_MAX)
		return NULL;
	for (i = sums->nr++; i > at; i--) {
		sums->levels[i] = sums->levels[i - 1];
		sums->number[i] = sums->number[i - 1];
	}
	memset(&sums->levels[at], 0, sizeof(sums->levels[at]));
	strcpy(sums->levels[at].name, name);
	sums->number[at] = number;
	return &sums->levels[at];
}

/* A CPU that is in both texts. A level that changed its name was rebuilt. */
static int add_cpu(struct sums *sums, const struct snapshot *before,
		   const struct snapshot *after)
{
	const struct level *b, *a;
	unsigned int i, type, c;
	struct level *to;

	for (i = 0; i < before->nr_levels && i < after->nr_levels; i++) {
		b = &before->levels[i];
		a = &after->levels[i];
		if (strcmp(b->name, a->name))
			continue;
		to = entry(sums, i, a->name);
		if (!to)
			return -ILB_ERR_FORMAT;
		for (type = 0; type < ILB_IDLE_TYPES; type++) {
			for (c = 0; c < COLUMNS; c++) {
				if (a->n[type][c] <= b->n[type][c])
					continue;
				to->n[type][c] += a->n[type][c] -
						  b->n[type][c];
				sums->any = 1;
			}
		}
	}
	return 0;
}

static int add_all(struct sums *sums, struct snapshot *before,
		   struct snapshot *after)
{
	int err;

	err = next_cpu(before, 1);
	if (!err)
		err = next_cpu(after, 1);
	while (!err && (before->cpu != ILB_CPU_NONE ||
			after->cpu != ILB_CPU_NONE)) {
		if (before->cpu < after->cpu) {
			err = next_cpu(before, 0);
			continue;
		}
		if (before->cpu > after->cpu) {
			err = next_cpu(after, 0);
			continue;
		}
		err = add_cpu(sums, before, after);
		if (!err)
			err = next_cpu(before, 0);
		if (!err)
			err = next_cpu(after, 0);
	}
	return err;
}

static void fill_domain(struct ilb_domain *domain, const struct level *level,
			unsigned int number)
{
	unsigned int type;

	memset(domain, 0, sizeof(*domain));
	strcpy(domain->name, level->name);
	domain->level = number;
	for (type = 0; type < ILB_IDLE_TYPES; type++) {
		domain->type[type].lb = level->n[type][LB];
		domain->type[type].balanced = level->n[type][BALANCED];
		domain->type[type].failed = level->n[type][FAILED];
		domain->type[type].gained = level->n[type][GAINED];
		domain->type[type].imb_load = level->n[type][IMB_LOAD];
		domain->type[type].imb_util = level->n[type][IMB_UTIL];
		domain->type[type].imb_task = level->n[type][IMB_TASK];
		domain->type[type].imb_misfit = level->n[type][IMB_MISFIT];
	}
}

int ilb_schedstat_diff(struct ilb_measures *measures, const char *before,
		       const char *after, unsigned int hz)
{
	struct snapshot b = { .text = NULL }, a = { .text = NULL };
	struct sums sums = { .nr = 0 };
	uint64_t jiffies;
	unsigned int i;
	int err;

	err = read_head(&b, before);
	if (!err)
		err = read_head(&a, after);
	/*
	 * Time that runs backwards is a reboot, or files that were swapped. A
	 * 32-bit kernel's jiffies wrap five minutes after boot: given up.
	 */
	if (!err && (a.layout != b.layout || a.jiffies < b.jiffies))
		err = -ILB_ERR_FORMAT;
	if (!err)
		err = add_all(&sums, &b, &a);
	if (err)
		return err;
	jiffies = a.jiffies - b.jiffies;
	for (i = 0; i < sums.nr; i++)
		fill_domain(&measures->domains[i], &sums.levels[i],
			    sums.number[i]);
	measures->nr_domains = sums.nr;
	measures->schedstat_counts = !sums.nr ? -1 : sums.any || !jiffies;
	measures->schedstat_s = hz ? (double)jiffies / hz : 0;
	return 0;
}
