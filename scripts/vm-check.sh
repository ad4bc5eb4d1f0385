#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: vm-check.sh BUILD smoke|check|long
# Stock kernels in guests: smoke is one 6.12 and takes a minute or two; check is
# two boots of each kernel and one of arm64; long has more CPUs, a longer load
# and polling idle.
# Kernels and QEMU are fetched once, see ilb-vm(1). Ends with the totals.
set -u
cd "$(dirname "$0")/.."
build=$1
case $2 in
smoke) set -- --smoke ;;
check) set -- ;;
long) set -- --long ;;
*) echo "vm-check.sh: no '$2'" >&2; exit 2 ;;
esac
if [ $# = 0 ]; then
	if scripts/cross.sh arm64 >build-arm64.log 2>&1; then
		set -- "$@" --arm64 build-arm64/ilb
	else
		echo "# arm64 is left out: $(tail -n 1 build-arm64.log)"
	fi
fi
exec python3 tests/vm/check.py "$build/ilb" "$build/tests/golden/exceptions" \
	"$@"
