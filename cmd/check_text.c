// SPDX-License-Identifier: GPL-2.0-only
/*
 * ilb check for people: answers first, then findings, the evidence, and what
 * recording wants. Nothing is wider than 80 columns, so that it survives a
 * mail; a command to copy is continued with a backslash.
 */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/check.h"
#include "ilb/target.h"

#define WIDTH		78U
#define LABEL		14U

/* ---- lines ---- */

/*
 * Words of @text from column @from on, further lines from column @indent on.
 * A long list of CPUs may be broken behind a comma.
 */
static void put_words(FILE *out, unsigned int from, unsigned int indent,
		      const char *text)
{
	unsigned int column = from;
	size_t n, list;
	int glue = 1;

	while (*text) {
		n = strcspn(text, " ");
		list = strcspn(text, ",");
		if (n > 40 && list < n)
			n = list + 1;
		if (column + !glue + n > WIDTH && column > indent) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			glue = 1;
		}
		column += (unsigned int)fprintf(out, "%s%.*s",
						glue ? "" : " ", (int)n, text);
		text += n;
		glue = *text != ' ';
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void put(FILE *out, unsigned int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void put(FILE *out, unsigned int indent, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return;
	fprintf(out, "%*s", (int)indent, "");
	put_words(out, indent, indent, text);
	free(text);
}

static void put_fact(FILE *out, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void put_fact(FILE *out, const char *label, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return;
	fprintf(out, "  %-*s", (int)LABEL, label);
	put_words(out, LABEL + 2, LABEL + 2, text);
	free(text);
}

/* A list of CPUs of any length; "none" where it is empty. free() it. */
static char *list(const struct ilb_check *check, const unsigned long *mask)
{
	unsigned int nr_cpus = check->site.topology->nr_cpus;
	unsigned int length = ilb_cpulist_print(NULL, 0, mask, nr_cpus);
	char *text = malloc(length + 1);

	if (!text || !length) {
		free(text);
		return strdup("none");
	}
	ilb_cpulist_print(text, length + 1, mask, nr_cpus);
	return text;
}

static const char *or_none(const char *text)
{
	return text ? text : "?";
}

static const char *plural(const char *cpus)
{
	return strpbrk(cpus, ",-") ? "s" : "";
}

/* ---- answers ---- */

static const char *describe_rule(const char *rule)
{
	const struct ilb_rule *r;

	if (!strcmp(rule, "lowest"))
		return "the lowest idle CPU, whatever its siblings do";
	if (!strcmp(rule, "idle-core"))
		return "the lowest idle CPU of a fully idle core, if there is one";
	for (r = ilb_rules; r->name; r++)
		if (!strcmp(r->name, rule))
			return r->summary;
	return "by a rule of its own";
}

static void put_rule(FILE *out, const struct ilb_check_report *r)
{
	const struct ilb_verdict *v = &r->check->verdict;
	const char *kernel = r->facts->kernel;

	if (!strncmp(kernel, "linux-", 6))
		kernel += 6;
	if (v->rule) {
		put(out, 0, "Linux %s kicks %s (rule %s).", kernel,
		    describe_rule(v->rule), v->rule);
		put(out, 0, "How sure: %s.", v->why);
	} else {
		put(out, 0, "The rule of this kernel is %s.", v->why);
	}
}

static void put_smt(FILE *out, const struct ilb_smt *smt)
{
	if (smt->threads_max < 2)
		put(out, 0, "No SMT (%u core%s): a kick can wake no sibling of a busy CPU.",
		    smt->cores, smt->cores == 1 ? "" : "s");
	else if (smt->threads_min == smt->threads_max)
		put(out, 0, "SMT is on: %u cores of %u threads.", smt->cores,
		    smt->threads_max);
	else
		put(out, 0, "SMT is on: %u cores of %u to %u threads.",
		    smt->cores, smt->threads_min, smt->threads_max);
}

/* ---- the job ---- */

static void put_aim(FILE *out, const struct ilb_check *check,
		    const struct ilb_aim *aim, const char *who)
{
	char *cpus;

	if (aim->target == ILB_CPU_NONE) {
		put(out, 2, "%s nobody: no CPU that can be the ILB is idle.",
		    who);
		return;
	}
	cpus = list(check, aim->disturbs);
	if (aim->on_busy_core)
		put(out, 2, "%s CPU %u, on a core of the job: it disturbs CPU%s %s.",
		    who, aim->target, plural(or_none(cpus)), or_none(cpus));
	else
		put(out, 2, "%s CPU %u, whose core is otherwise idle.", who,
		    aim->target);
	free(cpus);
}

/* A shell joins what a backslash and a newline part, if nothing indents. */
static void put_command(FILE *out, const char *command, const char *cpus)
{
	unsigned int column;
	size_t n;

	column = (unsigned int)fprintf(out, "      %s ", command);
	while (*cpus) {
		n = strcspn(cpus, ",");
		if (cpus[n])
			n++;
		if (column + n > WIDTH) {
			fputs("\\\n", out);
			column = 0;
		}
		column += (unsigned int)fprintf(out, "%.*s", (int)n, cpus);
		cpus += n;
	}
	fputc('\n', out);
}

static void put_move(FILE *out, const struct ilb_check *check)
{
	const struct ilb_layout *l = &check->layout;
	char *left = list(check, l->left), *taken = list(check, l->taken);
	char *cpus = list(check, l->cpus);

	put(out, 2, "To keep it away without touching the kernel use CPU%s %s instead of %s%s%s%s:",
	    plural(or_none(taken)), or_none(taken), or_none(left),
	    l->kind == ILB_LAYOUT_SIBLINGS ? " (the same cores)" : "",
	    l->other_node ? " (on another node)" : "",
	    l->other_kind ? " (which was set apart for something else)" : "");
	put_command(out, "taskset -c", or_none(cpus));
	put_command(out, "numactl -C", or_none(cpus));
	put_aim(out, check, &l->aim, "Asked again, the rule then chooses");
	free(left);
	free(taken);
	free(cpus);
}

static void put_no_layout(FILE *out, const struct ilb_check *check)
{
	char *left = list(check, check->layout.left);

	if (ilb_mask_empty(check->layout.left, check->site.topology->nr_cpus))
		put(out, 2, "No layout keeps it away.");
	else
		put(out, 2, "No layout of as many CPUs on as many cores keeps it away; leaving CPU%s %s idle would.",
		    plural(or_none(left)), or_none(left));
	free(left);
}

static void put_layout(FILE *out, const struct ilb_check *check)
{
	switch (check->layout.kind) {
	case ILB_LAYOUT_SIBLINGS:
	case ILB_LAYOUT_CORES:
		put_move(out, check);
		return;
	case ILB_LAYOUT_NONE:
		put_no_layout(out, check);
		return;
	default:
		return;
	}
}

/* A CPU with nohz_full and one task has no tick, an isolated one no domain. */
static int job_kicks_nobody(const struct ilb_check *check)
{
	unsigned int nr_cpus = check->site.topology->nr_cpus;
	unsigned long apart[ILB_WIDE_WORDS];

	ilb_mask_or(apart, check->site.nohz_full, check->site.isolated,
		    nr_cpus);
	return ilb_mask_subset(check->busy, apart, nr_cpus);
}

/* One line, however many CPUs they are. */
static void put_busy(FILE *out, const struct ilb_check *check)
{
	char *cpus = list(check, check->busy);
	unsigned int nr_cpus = check->site.topology->nr_cpus;
	size_t n;

	fputc('\n', out);
	if (cpus && strlen(cpus) > 40) {
		for (n = 36; n && cpus[n] != ','; n--)
			;
		cpus[n] = '\0';
		put(out, 0, "With %u CPUs busy (%s, ...), and all others idle:",
		    ilb_mask_weight(check->busy, nr_cpus), cpus);
	} else {
		put(out, 0, "With CPU%s %s busy, and all others idle:",
		    plural(or_none(cpus)), or_none(cpus));
	}
	free(cpus);
}

static void put_comparison(FILE *out, const struct ilb_check *check)
{
	const char *rule = check->verdict.rule;

	if (rule && (!strcmp(rule, "idle-core") ||
		     check->aim.target == ILB_CPU_NONE))
		return;
	if (rule && check->aim.target == check->aim_idle_core.target)
		put(out, 2, "Linux 7.3's rule would choose the same CPU.");
	else
		put_aim(out, check, &check->aim_idle_core,
			"Linux 7.3's rule would choose");
}

static void put_job(FILE *out, const struct ilb_check *check)
{
	unsigned int nr_cpus = check->site.topology->nr_cpus;

	put_busy(out, check);
	if (check->verdict.rule)
		put_aim(out, check, &check->aim, "Kicks go to");
	put_comparison(out, check);
	if (job_kicks_nobody(check))
		put(out, 2, "All these CPUs have nohz_full or are isolated: with one task each they kick nobody, but others do.");
	if (check->site.timekeeper != ILB_CPU_NONE &&
	    ilb_mask_weight(check->site.housekeeping, nr_cpus) > 1)
		put(out, 2, "CPU %u is taken for the timekeeper, which is never chosen; another housekeeping CPU may be it.",
		    check->site.timekeeper);
	if (check->verdict.rule)
		put_layout(out, check);
}

/* ---- findings ---- */

static void put_findings(FILE *out, const struct ilb_check_report *r)
{
	static const char *const colours[] = { "2", "36", "33", "31" };
	const struct ilb_findings *list = &r->check->findings;
	const struct ilb_finding *f;

	if (!list->count)
		return;
	fputs("\nFindings\n", out);
	for (f = list->finding; f < list->finding + list->count; f++) {
		if (r->colour)
			fprintf(out, "  \033[%sm%-8s\033[0m ",
				colours[f->severity],
				ilb_severity_name(f->severity));
		else
			fprintf(out, "  %-8s ",
				ilb_severity_name(f->severity));
		fprintf(out, "%s\n", f->id);
		put(out, 11, "%s.", f->text);
		if (f->why[0])
			put(out, 11, "Why: %s.", f->why);
		if (f->remedy[0])
			put(out, 11, "Do: %s.", f->remedy);
	}
}

/* ---- evidence ---- */

static void put_siblings(FILE *out, const struct ilb_check_report *r)
{
	const struct ilb_smt *smt = &r->check->smt;
	const char *control = r->facts->smt_control;

	if (smt->threads_max < 2)
		put_fact(out, "siblings", "none%s%s", *control ?
			 "; smt/control says " : "", control);
	else if (smt->stride == 1)
		put_fact(out, "siblings", "numbered next to each other (N, N+1)");
	else if (smt->stride)
		put_fact(out, "siblings", "numbered %u apart (N, N+%u)",
			 smt->stride, smt->stride);
	else
		put_fact(out, "siblings", "numbered irregularly");
}

static void put_set(FILE *out, const struct ilb_check *check,
		    const char *label, const unsigned long *mask, int known)
{
	char *cpus = list(check, mask);

	put_fact(out, label, "%s", known ? or_none(cpus) :
					   "unknown, taken for none");
	free(cpus);
}

static void put_tick(FILE *out, const struct ilb_facts *f)
{
	static const char *const from[] = {
		[ILB_HZ_UNKNOWN] = "",
		[ILB_HZ_CONFIG] = " (from the kernel's configuration)",
		[ILB_HZ_CLOCK] = " (from the coarse clock's resolution)",
		[ILB_HZ_CAPTURE] = " (from system.json)",
	};

	if (f->hz)
		put_fact(out, "tick", "%u Hz%s", f->hz, from[f->hz_from]);
	else
		put_fact(out, "tick", "unknown");
}

static void put_config(FILE *out, const struct ilb_facts *f)
{
	if (f->config_nohz == ILB_ANSWER_UNKNOWN)
		put_fact(out, "configuration", "not readable in /boot");
	else
		put_fact(out, "configuration", "NO_HZ_COMMON %s, SCHED_SMT %s, NO_HZ_FULL %s",
			 ilb_answer_name(f->config_nohz),
			 ilb_answer_name(f->config_smt),
			 ilb_answer_name(f->config_nohz_full));
}

/* What is there; what is not says less, as kernels are trimmed. */
static void put_symbols(FILE *out, const struct ilb_facts *f)
{
	static const struct {
		enum ilb_symbol symbol;
		const char *text;
	} told[] = {
		{ ILB_SYMBOL_TRIGGER_OLD,
		  "trigger_load_balance (before 6.12)" },
		{ ILB_SYMBOL_TRIGGER, "sched_balance_trigger (after 6.1)" },
		{ ILB_SYMBOL_BALANCE_SHARED, "sd_balance_shared (after 6.12)" },
	};
	char text[160] = "";
	size_t i, n = 0;

	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (f->symbols[told[i].symbol] == ILB_ANSWER_YES)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "%s%s", n ? ", " : "",
					      told[i].text);
	if (n)
		put_fact(out, "names", "%s", text);
	else
		put_fact(out, "names", f->symbols[ILB_SYMBOL_ENTER_IDLE] ==
			 ILB_ANSWER_UNKNOWN ? "/proc/kallsyms not readable" :
			 "none that tells the kernel's age");
}

static void put_evidence(FILE *out, const struct ilb_check_report *r)
{
	const struct ilb_check *check = r->check;
	const struct ilb_site *site = &check->site;
	const struct ilb_facts *f = r->facts;

	fprintf(out, "\nEvidence (%s)\n", r->of);
	put_set(out, check, "online", site->online, 1);
	put_siblings(out, r);
	put_set(out, check, "housekeeping", site->housekeeping, 1);
	put_set(out, check, "nohz_full", site->nohz_full,
		f->nohz_full_known);
	put_set(out, check, "isolated", site->isolated, f->isolated_known);
	put_set(out, check, "can be ILB", site->candidates, 1);
	put_tick(out, f);
	if (!f->this_machine)
		return;
	put_fact(out, "schedstats", "%s",
		 f->schedstats_built_in == ILB_ANSWER_NO ? "not built in" :
		 f->schedstats == ILB_ANSWER_YES ? "on" :
		 f->schedstats == ILB_ANSWER_NO ? "off" : "unknown");
	put_config(out, f);
	put_symbols(out, f);
}

static void put_needs(FILE *out, const struct ilb_check *check)
{
	const struct ilb_need *n = check->needs;

	if (!check->nr_needs)
		return;
	fputs("\nFor a recording (trace-cmd, perf)\n", out);
	for (; n < check->needs + check->nr_needs; n++) {
		fprintf(out, "  %-20s %-8s %s\n", n->what,
			ilb_answer_name(n->available), n->purpose);
		if (n->remedy)
			put(out, 32, "%s", n->remedy);
	}
}

void ilb_check_print_text(FILE *out, const struct ilb_check_report *report)
{
	put_rule(out, report);
	put_smt(out, &report->check->smt);
	if (report->check->has_job)
		put_job(out, report->check);
	put_findings(out, report);
	put_evidence(out, report);
	put_needs(out, report->check);
}
