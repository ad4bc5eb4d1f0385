#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: run.sh [CC [ARGUMENT...]]
# Explores the models here in full, as they are, and with one thing left out,
# which has to be found. Prints TAP.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cc=${*:-cc}
if ! command -v spin >/dev/null; then
	echo "1..0 # SKIP spin is not installed (Debian: spin)"
	exit 0
fi
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 99
n=0
failed=0

# The number of errors; "?" if the search was not complete.
errors() { # MODEL [DEFINE...]
	model=$1
	shift
	rm -f pan*
	spin -a "$@" "$here/$model.pml" >log 2>&1 &&
		$cc -O0 -w -DSAFETY -DNOREDUCE -o pan pan.c >>log 2>&1 &&
		./pan -m100000 -w20 >>log 2>&1
	if grep -q 'max search depth too small\|out of memory' log; then
		echo '?'
		return
	fi
	sed -n 's/.*errors: \([0-9]*\)$/\1/p' log | grep . || echo '?'
}

verdict() { # DESCRIPTION ERRORS-EXPECTED MODEL [DEFINE...]
	what=$1
	expected=$2
	shift 2
	found=$(errors "$@")
	n=$((n + 1))
	states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' log)
	if [ "$found" = "$expected" ]; then
		echo "ok $n - $what ($states states)"
		return
	fi
	echo "not ok $n - $what"
	echo "# errors: $found, expected: $expected"
	sed 's/^/# /' log
	failed=1
}

echo 1..9
verdict "kick: every flag is taken, one interrupt at a time" 0 kick
verdict "kick: the lost kick of 2013 is found" 1 kick -DNO_CLEAR
verdict "kick: flags taken in two steps are found" 1 kick -DTWO_STEPS
verdict "kick: flags set in two steps are found" 1 kick -DPLAIN_OR
verdict "registry: a CPU that enters is never forgotten" 0 registry
verdict "registry: the missing NEXT kick of 2021 is found" 1 registry -DNO_NEXT
verdict "registry: a look at the mask before the flags is found" 1 \
	registry -DEARLY_LOOK
verdict "registry: flags set before the mask are found" 1 registry -DEARLY_FLAG
verdict "registry: an aborted pass that forgets is found" 1 registry -DNO_REARM
exit $failed
