#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: fuzz.sh SECONDS   Every fuzz target for so long; stops at a finding.
set -eu
seconds=$1
build=build-fuzz
[ -f $build/build.ninja ] ||
	CC=clang meson setup $build -Dfuzz=true -Dbuildtype=debugoptimized \
		-Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args=-fsanitize=fuzzer-no-link >/dev/null
ninja -C $build --quiet
for source in tests/fuzz/*.c; do
	name=$(basename "$source" .c)
	mkdir -p $build/corpus/"$name" $build/found
	log=$build/fuzz-$name.log
	$build/tests/fuzz/fuzz-"$name" -max_total_time="$seconds" \
		-rss_limit_mb=2048 -artifact_prefix=$build/found/"$name"- \
		$build/corpus/"$name" tests/fuzz/corpus/"$name" >"$log" 2>&1 || {
		tail -n 40 "$log"
		echo "fuzz: $name found something: $build/found/" >&2
		exit 1
	}
	echo "fuzz $name: $(sed -n 's/^Done \([0-9]* runs\).*/\1/p' "$log")"
done
