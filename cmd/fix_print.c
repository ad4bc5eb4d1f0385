// SPDX-License-Identifier: GPL-2.0-only
/* What ilb fix prints: state and proof, as text and as JSON. */

#include <inttypes.h>

#include "cmd/cmd.h"
#include "cmd/fix.h"

static const char *const outcomes[] = {
	[ILB_OUTCOME_NOTHING] = "nothing-to-change",
	[ILB_OUTCOME_WORKS] = "works",
	[ILB_OUTCOME_FAILS] = "fails",
};

static const char *const kinds[] = {
	[ILB_PROOF_COUNTERS] = "counters",
	[ILB_PROOF_TRACE] = "trace",
	[ILB_PROOF_EXACT] = "exact",
};

static const char *const sources[] = {
	[ILB_PROOF_COUNTERS] = "the module's own counters",
	[ILB_PROOF_TRACE] = "a trace, the mask reconstructed",
	[ILB_PROOF_EXACT] = "exact moments",
};

static const char *const meanings[ILB_FIX_COUNTERS] = {
	[ILB_FIX_CALLS] = "kicks that the module looked at",
	[ILB_FIX_NARROWED] = "avoidable: led to another CPU",
	[ILB_FIX_WOULD_NARROW] = "avoidable: left, as this is a dry run",
	[ILB_FIX_SAME] = "left: the kernel's choice is the policy's",
	[ILB_FIX_FALLBACK] = "fallback: no core was fully idle",
	[ILB_FIX_NO_TARGET] = "no CPU of the mask was idle",
	[ILB_FIX_NOT_READY] = "not judged",
	[ILB_FIX_REGISTERED] = "lost CPUs registered",
	[ILB_FIX_WOULD_REGISTER] = "lost CPUs left, as this is a dry run",
	[ILB_FIX_REFUSED] = "lost CPUs that the kernel did not register",
};

const char *ilb_fix_repairs_text(unsigned int repairs)
{
	static const char *const texts[] = {
		"none", "idle-core", "nohz-full", "idle-core, nohz-full",
	};

	return texts[repairs & 3];
}

int ilb_fix_fail(int err, const struct ilb_error *error)
{
	int code = ilb_cmd_fail("fix", err, error);

	return err == -ILB_ERR_UNSUPPORTED ? ILB_EXIT_DENIED : code;
}

/* ---- text ---- */

static int is_of(enum ilb_fix_counter counter, unsigned int repairs)
{
	return repairs & (counter < ILB_FIX_REGISTERED ?
			  ILB_REPAIR_IDLE_CORE : ILB_REPAIR_NOHZ_FULL);
}

void ilb_fix_print_state(FILE *out, const struct ilb_fix_state *state)
{
	unsigned int i;

	if (!state->loaded) {
		fputs("ilb_fix is not loaded: the kernel is as it was built\n",
		      out);
		return;
	}
	fprintf(out, "ilb_fix is loaded, %s%s\nrepairs: %s",
		state->enabled ? "enabled" : "disabled: all is left to the kernel",
		state->dry_run ? ", dry run: it counts and changes nothing" :
				 "",
		ilb_fix_repairs_text(state->repairs));
	if (state->repairs & ILB_REPAIR_IDLE_CORE)
		fprintf(out, " (policy %s)", state->policy);
	fputs("\nsince it was loaded, while enabled:\n", out);
	for (i = 0; i < ILB_FIX_COUNTERS; i++)
		if (is_of(i, state->repairs))
			fprintf(out, "  %10" PRIu64 "  %-14s %s\n",
				state->count[i], ilb_fix_counter_name(i),
				meanings[i]);
}

static void print_core(FILE *out, const struct ilb_proof *p)
{
	const uint64_t *count = p->count;

	if (p->kind != ILB_PROOF_COUNTERS)
		fprintf(out, "  kicks %" PRIu64 ", on busy cores %" PRIu64
			", avoidable %" PRIu64 "\n", p->kicks.total,
			p->kicks.on_busy_core, p->kicks.avoidable);
	fprintf(out, "  led to another CPU %" PRIu64
		", left as they were %" PRIu64 "\n", count[ILB_FIX_NARROWED],
		count[ILB_FIX_CALLS] - count[ILB_FIX_NARROWED]);
	if (count[ILB_FIX_WOULD_NARROW])
		fprintf(out, "  would have been led to another CPU %" PRIu64
			"\n", count[ILB_FIX_WOULD_NARROW]);
}

static void print_full(FILE *out, const uint64_t *count)
{
	fprintf(out, "  lost CPUs registered %" PRIu64 "\n",
		count[ILB_FIX_REGISTERED]);
	if (count[ILB_FIX_WOULD_REGISTER])
		fprintf(out, "  would have been registered %" PRIu64 "\n",
			count[ILB_FIX_WOULD_REGISTER]);
}

void ilb_fix_print_proof(FILE *out, const struct ilb_proof *proof,
			 unsigned int repairs)
{
	static const char *const says[] = {
		[ILB_OUTCOME_NOTHING] = "loaded; nothing to change was seen, so nothing is proved:\nlook again under load with 'ilb fix status'",
		[ILB_OUTCOME_WORKS] = "loaded, and it works",
		[ILB_OUTCOME_FAILS] = "loaded, but it does NOT work: avoidable kicks remain;\n'ilb fix unload' takes it out, and please report this",
	};

	fprintf(out, "watched for %.1f s (%s):\n", (double)proof->ns / 1e9,
		sources[proof->kind]);
	if (proof->why[0])
		fprintf(out, "  no better way: %s\n", proof->why);
	if (repairs & ILB_REPAIR_IDLE_CORE)
		print_core(out, proof);
	if (repairs & ILB_REPAIR_NOHZ_FULL)
		print_full(out, proof->count);
	fprintf(out, "%s\n", says[proof->outcome]);
}

/* ---- JSON ---- */

static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX :
			    (json_int_t)value);
}

json_t *ilb_fix_json_repairs(unsigned int repairs)
{
	json_t *array = json_array();

	if (repairs & ILB_REPAIR_IDLE_CORE)
		json_array_append_new(array, json_string("idle-core"));
	if (repairs & ILB_REPAIR_NOHZ_FULL)
		json_array_append_new(array, json_string("nohz-full"));
	return array;
}

json_t *ilb_fix_json_counters(const uint64_t *count)
{
	json_t *o = json_object();
	unsigned int i;

	for (i = 0; i < ILB_FIX_COUNTERS; i++)
		json_object_set_new(o, ilb_fix_counter_name(i),
				    number(count[i]));
	return o;
}

json_t *ilb_fix_json_kicks(const struct ilb_fix_kicks *kicks)
{
	json_t *o = json_object();

	json_object_set_new(o, "total", number(kicks->total));
	json_object_set_new(o, "on_busy_core", number(kicks->on_busy_core));
	json_object_set_new(o, "avoidable", number(kicks->avoidable));
	return o;
}

json_t *ilb_fix_json_state(const struct ilb_fix_state *state)
{
	json_t *o = json_object();

	json_object_set_new(o, "loaded", json_boolean(state->loaded));
	if (!state->loaded)
		return o;
	json_object_set_new(o, "repairs",
			    ilb_fix_json_repairs(state->repairs));
	if (state->repairs & ILB_REPAIR_IDLE_CORE)
		json_object_set_new(o, "policy", json_string(state->policy));
	json_object_set_new(o, "enabled", json_boolean(state->enabled));
	json_object_set_new(o, "dry_run", json_boolean(state->dry_run));
	json_object_set_new(o, "counters",
			    ilb_fix_json_counters(state->count));
	return o;
}

json_t *ilb_fix_json_proof(const struct ilb_proof *proof)
{
	json_t *o = json_object();

	json_object_set_new(o, "method", json_string(kinds[proof->kind]));
	if (proof->why[0])
		json_object_set_new(o, "no_better", json_string(proof->why));
	json_object_set_new(o, "outcome",
			    json_string(outcomes[proof->outcome]));
	json_object_set_new(o, "watched_s",
			    json_real((double)proof->ns / 1e9));
	if (proof->kind != ILB_PROOF_COUNTERS)
		json_object_set_new(o, "kicks",
				    ilb_fix_json_kicks(&proof->kicks));
	json_object_set_new(o, "counters",
			    ilb_fix_json_counters(proof->count));
	return o;
}

json_t *ilb_fix_json_load(const struct ilb_fix_state *state,
			  const struct ilb_proof *proof, const char *path)
{
	json_t *o = json_object();

	json_object_set_new(o, "command", json_string("fix load"));
	/* A file name may hold any byte, JSON only UTF-8. */
	if (path && json_object_set_new(o, "module", json_string(path)))
		json_object_set_new(o, "module", json_string("?"));
	json_object_set_new(o, "state", ilb_fix_json_state(state));
	json_object_set_new(o, "proof", ilb_fix_json_proof(proof));
	return o;
}

int ilb_fix_print_json(FILE *out, json_t *root, struct ilb_error *error)
{
	int err = !root || json_dumpf(root, out, JSON_INDENT(2) |
				      JSON_REAL_PRECISION(9) |
				      JSON_ENSURE_ASCII) ||
		  fputc('\n', out) == EOF;

	json_decref(root);
	/* What could not be written shows in the stream. */
	return err && !ferror(out) ?
	       ilb_fail(error, ILB_ERR_NOMEM, "out of memory") : 0;
}
