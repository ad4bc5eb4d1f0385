#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: check.sh BUILD [meson test options]
# Runs the tests of a build; ends with the totals.
set -u
build=$1
shift
meson test -C "$build" --no-rebuild --print-errorlogs "$@"
status=$?
python3 "$(dirname "$0")/totals.py" "$build/meson-logs/testlog.junit.xml" ||
	status=1
exit $status
