#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: run.sh BUILD   All benchmarks; each line: name, value, unit.
set -u
build=$1
here=$(dirname "$0")
python3 "$here/report.py" "$build/ilb" "$build/bench"
status=$?
[ $status = 77 ] && status=0
exit $status
