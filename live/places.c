// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the kernel keeps what is read of it, from its own description of its
 * types. Whether nohz.idle_cpus_mask is a mask or a pointer to one depends on
 * how the kernel was configured, and reading the one as the other yields
 * nonsense that looks like a mask.
 */

#include <bpf/btf.h>
#include <string.h>
#include <unistd.h>

#include "live/places.h"

static const struct btf_member *find_member(const struct btf *btf,
					    const struct btf_type *type,
					    const char *name)
{
	const struct btf_member *m = btf_members(type);
	unsigned int i, n = btf_vlen(type);
	const char *is;

	for (i = 0; i < n; i++) {
		is = btf__name_by_offset(btf, m[i].name_off);
		if (is && !strcmp(is, name))
			return &m[i];
	}
	return NULL;
}

static int byte_offset(const struct btf_type *type,
		       const struct btf_member *member, unsigned int *offset)
{
	unsigned int bits = btf_member_bit_offset(type,
				(unsigned int)(member - btf_members(type)));

	*offset = bits / 8;
	return !(bits % 8);
}

/* The struct of the variable nohz has no name. */
static void find_mask(struct ilb_places *places, const struct btf *btf)
{
	const struct btf_type *type, *is;
	const struct btf_member *member;
	unsigned int id, n = btf__type_cnt(btf);

	for (id = 1; id < n; id++) {
		type = btf__type_by_id(btf, id);
		if (!btf_is_struct(type))
			continue;
		member = find_member(btf, type, "idle_cpus_mask");
		if (!member || !byte_offset(type, member, &places->mask))
			continue;
		is = btf__type_by_id(btf, (unsigned int)
				     btf__resolve_type(btf, member->type));
		places->mask_indirect = is && btf_is_ptr(is);
		places->has_mask = is && (btf_is_ptr(is) || btf_is_array(is) ||
					  btf_is_struct(is));
		return;
	}
}

static void find_call(struct ilb_places *places, const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "__call_single_data",
					BTF_KIND_STRUCT);
	const struct btf_type *type;
	const struct btf_member *member;

	if (id < 0)
		return;
	type = btf__type_by_id(btf, (unsigned int)id);
	member = find_member(btf, type, "func");
	places->has_func = member && byte_offset(type, member, &places->func);
}

void ilb_places_find(struct ilb_places *places, const char *path)
{
	struct btf *btf;

	*places = (struct ilb_places){ 0 };
	/* It complains on its own. */
	if (access(path, R_OK))
		return;
	btf = btf__parse(path, NULL);
	if (!btf)
		return;
	find_mask(places, btf);
	find_call(places, btf);
	btf__free(btf);
}
