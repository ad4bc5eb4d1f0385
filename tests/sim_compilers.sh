#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The simulator decides the same whatever compiled it: builds it with gcc and
# clang, at -O0 and -O2, and compares the digests of runs. TAP.
#
#	sim_compilers.sh SOURCE_ROOT

set -u
cd "$1" || exit 99
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
inc=$(pkg-config --cflags hwloc jansson libtracecmd) || exit 99
flags="$inc -std=gnu11 -D_GNU_SOURCE -fno-strict-aliasing -I. -Iinclude"
sources="tests/bench/sim.c sim/*.c core/*.c model/*.c"
libs=$(pkg-config --cflags --libs hwloc jansson libtracecmd libtraceevent \
	libzstd zlib) || exit 99
# What reads decides nothing: once is enough.
for file in trace/*.c; do
	# shellcheck disable=SC2086
	gcc $flags -c "$file" -o "$tmp/$(basename "$file").o" || exit 99
done
capture=$PWD/tests/captures/6.12-mix16
cat >"$tmp/recorded.json" <<EOF || exit 99
{"machine": {"topology": "$capture/topology.xml"}, "kernel": "linux-7.3",
 "workload": {"recorded": {"capture": "$capture"}}}
EOF
n=0
failed=0
first=
for cc in gcc clang; do
	for level in -O0 -O2; do
		n=$((n + 1))
		name="$cc $level: the same runs"
		if ! command -v $cc >/dev/null; then
			echo "ok $n - $name # SKIP no $cc here"
			continue
		fi
		# shellcheck disable=SC2086
		digests=$($cc $flags $level $sources "$tmp"/*.o -o "$tmp/sim" $libs &&
			for s in guest-pin epyc-mix xeon-pingpong lost-kick \
				vera-asym-gemm "$tmp/recorded.json"; do
				"$tmp/sim" "$s" || echo failed
			done | sed 's/.*digest //')
		first=${first:-$digests}
		if [ -n "$digests" ] && [ "$digests" = "$first" ] &&
		   [ "${digests#*failed}" = "$digests" ]; then
			echo "ok $n - $name"
		else
			echo "not ok $n - $name"
			echo "$digests" | sed 's/^/# /'
			failed=1
		fi
	done
done
echo "1..$n"
exit $failed
