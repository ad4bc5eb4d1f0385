// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which rule a kernel has. find_new_ilb() is inlined everywhere, so its
 * release is all that tells; names can only contradict the release.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"

#define RELEASE(major, minor)	(1000UL * (major) + (minor))

/* A name that kernels have from one studied series on, or up to one. */
struct epoch {
	enum ilb_symbol symbol;
	const char *name;
	unsigned long after;	/* not in this release nor before; 0: none */
	unsigned long before;	/* not in this one nor later; 0: none */
};

static const struct epoch epochs[] = {
	{ ILB_SYMBOL_TRIGGER_OLD, "trigger_load_balance", 0, RELEASE(6, 12) },
	{ ILB_SYMBOL_TRIGGER, "sched_balance_trigger", RELEASE(6, 1), 0 },
	{ ILB_SYMBOL_BALANCE_SHARED, "sd_balance_shared", RELEASE(6, 12), 0 },
};

static void say(struct ilb_verdict *v, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct ilb_verdict *v, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(v->why, sizeof(v->why), format, args);
	va_end(args);
}

static const struct ilb_behaviour *newest(void)
{
	const struct ilb_behaviour *b = ilb_behaviours;

	while (b[1].name)
		b++;
	return b;
}

/* "6.12.95" to 6012; the text was read as a release before. */
static unsigned long release_of(const char *kernel)
{
	unsigned long major;
	char *end;

	if (!strncmp(kernel, "linux-", 6))
		kernel += 6;
	major = strtoul(kernel, &end, 10);
	return RELEASE(major, *end == '.' ? strtoul(end + 1, NULL, 10) : 0);
}

static const char *contradiction(const struct ilb_facts *facts)
{
	unsigned long release = release_of(facts->kernel);
	const struct epoch *e;

	for (e = epochs; e < epochs + sizeof(epochs) / sizeof(*e); e++) {
		if (facts->symbols[e->symbol] != ILB_ANSWER_YES)
			continue;
		if ((e->after && release <= e->after) ||
		    (e->before && release >= e->before))
			return e->name;
	}
	return NULL;
}

static void explain_guess(struct ilb_verdict *v, unsigned long release)
{
	v->certainty = ILB_CERTAINTY_GUESS;
	if (release > newest()->release)
		say(v, "a guess: newer than any kernel that was studied; taken for %s",
		    v->behaviour->name);
	else if (release == v->behaviour->release)
		say(v, "a guess: a release candidate of %s",
		    v->behaviour->name);
	else
		say(v, "a guess: this series was not studied; taken for %s, and the rule first changed in 7.3",
		    v->behaviour->name);
}

void ilb_verdict_find(struct ilb_verdict *verdict,
		      const struct ilb_facts *facts)
{
	const char *name;
	int found;

	memset(verdict, 0, sizeof(*verdict));
	found = ilb_behaviour_find(facts->kernel, &verdict->behaviour);
	if (found == -ILB_ERR_SYNTAX) {
		say(verdict, "unknown: %s", facts->kernel[0] ?
		    "this is no release of Linux" : "no release is known");
		return;
	}
	if (found < 0) {
		verdict->behaviour = ilb_behaviours;
		verdict->certainty = ILB_CERTAINTY_GUESS;
		say(verdict, "a guess: older than any kernel that was studied, and the rule first changed in 7.3");
	} else if (found) {
		explain_guess(verdict, release_of(facts->kernel));
	} else {
		verdict->certainty = ILB_CERTAINTY_RELEASE;
		say(verdict, "by its release; distributions may have changed it");
	}
	verdict->rule = verdict->behaviour->target;
	name = contradiction(facts);
	if (!name)
		return;
	verdict->certainty = ILB_CERTAINTY_GUESS;
	say(verdict, "a guess: the kernel has the name %s, which its release does not: its scheduler was changed",
	    name);
}

const char *ilb_certainty_name(enum ilb_certainty certainty)
{
	switch (certainty) {
	case ILB_CERTAINTY_GUESS:
		return "guess";
	case ILB_CERTAINTY_RELEASE:
		return "release";
	default:
		return "unknown";
	}
}

const char *ilb_answer_name(enum ilb_answer answer)
{
	switch (answer) {
	case ILB_ANSWER_NO:
		return "no";
	case ILB_ANSWER_YES:
		return "yes";
	default:
		return "unknown";
	}
}
