#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: coverage.sh   Lines that the tests (unit, golden) execute: a line per
# room, then the files with the least in the rooms that have an aim. Fails where
# an aim is missed. What other suites execute (cmd, vm) is not counted.
# For clang: CC=clang GCOV="llvm-cov gcov" coverage.sh
set -eu
build=build-coverage
here=$(cd "$(dirname "$0")" && pwd)
: "${CC:=gcc}" "${GCOV:=gcov}"
export CC

# The processes that read traces end by _exit(), which writes no counts.
mkdir -p $build
"$CC" -O2 -c "$here/coverage_exit.c" -o $build/exit.o
if [ ! -f $build/build.ninja ]; then
	link="['--coverage', '-Wl,--wrap=_exit', '$PWD/$build/exit.o']"
	meson setup $build --buildtype=debug -Db_coverage=true \
		-Db_lundef=false -Dc_link_args="$link" >$build/log ||
		{ cat $build/log; exit 1; }
fi
ninja -C $build --quiet >$build/log || { cat $build/log; exit 1; }
find $build -name '*.gcda' -delete
meson test -C $build --no-rebuild --print-errorlogs --suite unit \
	--suite golden >$build/log 2>&1 || { cat $build/log; exit 1; }

# Objects of the libraries alone: tests may compile a source in another way.
cd $build
find libilb.a.p libilbcore.a.p libilbmodel.a.p -name '*.gcno' |
	xargs $GCOV -n 2>/dev/null |
awk -v aims="core 95 model 95 trace 90 replay 90" '
BEGIN {
	n = split(aims, word, " ")
	for (i = 1; i < n; i += 2)
		aim[word[i]] = word[i + 1]
}
/^File / {
	file = $2
	gsub(/\047/, "", file)
	sub(/^(\.\.\/)+/, "", file)
	# Headers and generated files belong to no room.
	known = file ~ /^[a-z]+\/[^\/]*\.c$/
}
/^Lines executed:/ && known {
	split($0, part, /[:% ]+/)
	lines = part[5]
	hit = int(part[3] * lines / 100 + 0.5)
	room = file
	sub(/\/.*/, "", room)
	all[room] += lines
	done[room] += hit
	share[file] = 100 * hit / lines
	left[file] = lines - hit
	known = 0
}
END {
	for (room in all) {
		percent = 100 * done[room] / all[room]
		missed = room in aim && percent < aim[room]
		failed += missed
		printf "1 coverage %-8s %5.1f %% of %5d lines%s%s\n", room,
			percent, all[room],
			room in aim ? " (aim: " aim[room] ")" : "",
			missed ? " MISSED" : ""
		rooms++
	}
	for (file in share) {
		room = file
		sub(/\/.*/, "", room)
		if (room in aim && left[file])
			printf "2 %5.1f %% %4d lines not executed: %s\n",
				share[file], left[file], file
	}
	if (!rooms)
		print "3 coverage: gcov has told nothing"
	if (failed || !rooms)
		print "4"
}' | LC_ALL=C sort -k1,1n -k2,2 | awk '
$1 == 2 && ++shown > 15 { next }
$1 == 4 { failed = 1; next }
{ sub(/^[0-9] /, ""); print }
END { exit failed }'
