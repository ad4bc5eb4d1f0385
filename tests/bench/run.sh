#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: run.sh BUILD   All benchmarks; each line: name, value, unit, and the
# aim where there is one. Ratios are of what ran in turn in the same run. Takes
# some 8 minutes. Fails at the end if one of them failed; not being possible
# here (77) is no failure.
set -u
build=$1
here=$(dirname "$0")
failed=0

bench() {	# bench NAME COMMAND...
	name=$1
	shift
	begin=$(date +%s)
	"$@"
	status=$?
	case $status in
	0) how=done ;;
	77) how=skipped ;;
	*) how="failed ($status)"; failed=1 ;;
	esac
	echo "# bench $name: $how, $(($(date +%s) - begin)) s"
}

ninja -C "$build" --quiet tests/bench/bench-target \
	tests/bench/bench-narrow tests/bench/bench-registry \
	tests/bench/bpf-empty ilb || exit
bench target python3 "$here/target.py" "$build/tests/bench/bench-target" \
	"$build/bench"
bench narrow python3 "$here/narrow.py" "$build/tests/bench/bench-narrow" \
	"$build/bench"
bench registry "$build/tests/bench/bench-registry"
for name in report replay overhead; do
	bench $name python3 "$here/$name.py" "$build/ilb" "$build/bench"
done
bench sim python3 "$here/sim.py" "$build"
bench stat python3 "$here/stat.py" "$build"
exit $failed
