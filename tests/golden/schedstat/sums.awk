# SPDX-License-Identifier: GPL-2.0-only
# awk -f sums.awk NAME.before NAME.after
#
# What ilb_schedstat_diff() should find, counted another way: all of both
# files is kept, and lines with the same CPU, level and name are subtracted.
# One line per level and idle type (0 busy, 1 idle, 2 newly idle):
#   LEVEL NAME TYPE lb balanced failed load util task misfit gained
FNR == 1	{ file++; version = $2 }
/^cpu/		{ cpu = $1 }
/^domain/ {
	level = substr($1, 7)
	name = version == 17 ? $2 : $1
	first = version == 17 ? 4 : 3
	per = version == 17 ? 11 : 8
	for (i = 0; i < 3; i++) {
		type = version == 15 && i < 2 ? 1 - i : i
		at = first + i * per
		for (c = 0; c < 8; c++) {
			col = at + c
			if (version < 17) {
				if (c >= 4 && c <= 6)
					continue
				if (c == 7)
					col = at + 4
			}
			key = cpu SUBSEP level SUBSEP name SUBSEP type SUBSEP c
			n[file, key] = $col
			keys[key]
		}
	}
	if (level > top)
		top = level
	names[level] = name
}
END {
	for (key in keys) {
		split(key, k, SUBSEP)
		d = n[2, key] - n[1, key]
		if (d > 0)
			sum[k[2], k[4], k[5]] += d
	}
	for (level = 0; level <= top; level++)
		for (type = 0; type < 3; type++) {
			printf "%d %s %d", level, names[level], type
			for (c = 0; c < 8; c++)
				printf " %d", sum[level, type, c]
			printf "\n"
		}
}
