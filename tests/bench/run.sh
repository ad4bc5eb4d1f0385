#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: run.sh BUILD   All benchmarks; each line: name, value, unit.
set -u
build=$1
here=$(dirname "$0")
ninja -C "$build" --quiet tests/bench/bench-target \
	tests/bench/bench-narrow tests/bench/bench-registry || exit
python3 "$here/target.py" "$build/tests/bench/bench-target" "$build/bench" ||
	exit
python3 "$here/narrow.py" "$build/tests/bench/bench-narrow" "$build/bench" ||
	exit
"$build/tests/bench/bench-registry" || exit
failed=0
for bench in report replay overhead; do
	python3 "$here/$bench.py" "$build/ilb" "$build/bench"
	status=$?
	[ $status = 0 ] || [ $status = 77 ] || failed=$status
done
python3 "$here/sim.py" "$build" || failed=$?
python3 "$here/stat.py" "$build"
status=$?
[ $status = 0 ] || [ $status = 77 ] || failed=$status
exit $failed
