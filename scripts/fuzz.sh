#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: fuzz.sh SECONDS [TARGET...]   All fuzz targets (or these) in SECONDS of
# work on every CPU. First each runs until it has seen enough, or its share of
# the time is over; then they share what is left. Findings stop it, and are in
# build-fuzz/found/. Executions per target and their sum are printed last.
set -eu
build=build-fuzz
enough=50000

# One run of one target; its log counts the executions. For xargs, below.
if [ "$1" = run ]; then
	name=$2
	mkdir -p $build/corpus/"$name" $build/found
	log=$(mktemp $build/logs/"$name".XXXXXX)
	$build/tests/fuzz/fuzz-"$name" -max_total_time="$3" -runs="$4" \
		-rss_limit_mb=2048 -timeout=60 -verbosity=1 \
		-artifact_prefix=$build/found/"$name"- \
		$build/corpus/"$name" tests/fuzz/corpus/"$name" >"$log" 2>&1 &&
		exit
	tail -n 40 "$log"
	echo "fuzz: $name found something: $build/found/" >&2
	exit 255
fi

seconds=$1
shift
names=${*:-$(sed -n "/^fuzz_targets = \[/,/^\]/s/^  '\(.*\)',/\1/p" \
	tests/fuzz/meson.build)}
[ -f $build/build.ninja ] ||
	CC=clang meson setup $build -Dfuzz=true -Dbuildtype=debugoptimized \
		-Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args=-fsanitize=fuzzer-no-link >/dev/null
programs=
number=0
for name in $names; do
	programs="$programs tests/fuzz/fuzz-$name"
	number=$((number + 1))
done
ninja -C $build --quiet $programs
rm -rf $build/logs
mkdir $build/logs

cpus=$(nproc)
begin=$(date +%s)
all() {	# all LEFT RUNS: what LEFT seconds allow, at most RUNS of each
	share=$(($1 * cpus / number))
	[ $share -gt 0 ] || return 0
	echo "$names" | tr ' ' '\n' |
		xargs -P "$cpus" -I '{}' "$0" run '{}' $share "$2"
}
all "$seconds" $enough
all $((seconds - $(date +%s) + begin)) -1

sum=0
for name in $names; do
	runs=$(cat $build/logs/"$name".* |
		awk '/^Done [0-9]+ runs/ { n += $2 } END { printf "%d", n }')
	echo "fuzz $name: $runs executions"
	sum=$((sum + runs))
done
echo "fuzz: $sum executions of $number targets, no finding"
