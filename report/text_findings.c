// SPDX-License-Identifier: GPL-2.0-only
/* Findings: what, why, what to do; then in short what could not be judged. */

#include <string.h>

#include "report/text.h"

#define INDENT	6

static void print_part(struct ilb_text *text, const char *label,
		       const char *content)
{
	if (!content[0] || text->err)
		return;
	fprintf(text->out, "%*s%s: ", INDENT, "", label);
	ilb_print_begin(text, INDENT + (unsigned int)strlen(label) + 2, INDENT);
	ilb_print_add(text, "%s", content);
	ilb_print_end(text);
}

static void print_finding(struct ilb_text *text,
			  const struct ilb_finding *finding)
{
	unsigned int used;

	if (!text->err)
		fputs("  ", text->out);
	used = ilb_print_severity(text, finding->severity,
				 ilb_severity_name(finding->severity));
	ilb_print_begin(text, used + 2, INDENT);
	ilb_print_add(text, ": %s: %s", finding->id, finding->text);
	ilb_print_end(text);
	print_part(text, "CPUs", finding->cpus);
	print_part(text, "why", finding->why);
	print_part(text, "do", finding->remedy);
}

static int unjudged(const struct ilb_findings *findings, unsigned int i)
{
	return findings->finding[i].severity == ILB_UNKNOWN;
}

static int same_remedy(const struct ilb_findings *findings, unsigned int a,
		       unsigned int b)
{
	const struct ilb_finding *finding = findings->finding;

	return unjudged(findings, b) &&
	       !strcmp(finding[a].remedy, finding[b].remedy);
}

static int said_before(const struct ilb_findings *findings, unsigned int i)
{
	unsigned int before;

	for (before = 0; before < i; before++)
		if (same_remedy(findings, i, before))
			return 1;
	return 0;
}

/* One line for all that the same recording would tell. */
static void print_unjudged(struct ilb_text *text,
			   const struct ilb_findings *findings,
			   unsigned int first, unsigned int count)
{
	const char *remedy = findings->finding[first].remedy;
	unsigned int i;

	if (!text->err)
		fputs("  ", text->out);
	ilb_print_begin(text, 2, INDENT);
	ilb_print_add(text, "cannot judge: %s", findings->finding[first].id);
	for (i = first + 1; i < count; i++)
		if (same_remedy(findings, first, i))
			ilb_print_add(text, ", %s", findings->finding[i].id);
	if (remedy[0])
		ilb_print_add(text, ": %s", remedy);
	ilb_print_end(text);
}

void ilb_findings_print(struct ilb_text *text,
			const struct ilb_findings *findings)
{
	unsigned int count = findings->count, judged = 0, i;

	if (count > ILB_FINDINGS_MAX)
		count = ILB_FINDINGS_MAX;
	ilb_print_title(text, "Findings");
	for (i = 0; i < count; i++) {
		if (unjudged(findings, i))
			continue;
		print_finding(text, &findings->finding[i]);
		judged++;
	}
	if (!judged)
		ilb_print_line(text, 2, "none");
	for (i = 0; i < count; i++)
		if (unjudged(findings, i) && !said_before(findings, i))
			print_unjudged(text, findings, i, count);
}
