#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: vm-check.sh BUILD smoke|check|long
# Stock kernels in guests: smoke is one 6.12 and takes a minute or two; check is
# two boots of each kernel, one of arm64, and one with the kernel module where
# it can be built; long has more CPUs, a longer load, polling idle, and soaks
# the module.
# Kernels and QEMU are fetched once, see ilb-vm(1). Ends with the totals.
set -u
cd "$(dirname "$0")/.." || exit
build=$1 kind=$2
case $kind in
smoke) set -- --smoke ;;
check) set -- ;;
long) set -- --long ;;
*) echo "vm-check.sh: no '$kind'" >&2; exit 2 ;;
esac
if [ "$kind" = check ]; then
	if scripts/cross.sh arm64 >build-arm64.log 2>&1; then
		set -- "$@" --arm64 build-arm64/ilb
	else
		echo "# arm64 is left out: $(tail -n 1 build-arm64.log)"
	fi
fi
totals=$(mktemp)
failed=0

check() {	# a program that ends with its totals
	{ python3 "$@" || echo failed >"$totals.failed"; } | tee "$totals.out"
	[ ! -e "$totals.failed" ] || failed=1
	grep '^[0-9]* passed, [0-9]* failed$' "$totals.out" >>"$totals"
	rm -f "$totals.failed" "$totals.out"
}

modules() {	# those that can be built; what is left out is said
	for kernel in 6.1 6.12 7.2 7.3; do
		log=$build/kmod-$kernel.log
		if scripts/kmod-guest.sh "$build" $kernel >"$log" 2>&1; then
			kernels="$kernels $kernel"
		else
			echo "# ilb fix on $kernel is left out:" \
				"$(tail -n 1 "$log")"
		fi
	done
}

check tests/vm/check.py "$build/ilb" "$build/tests/golden/exceptions" "$@"
kernels=
[ "$kind" = smoke ] || modules
set -- "$build/ilb" "$build/kmod"
# shellcheck disable=SC2086
case $kind${kernels:+-modules} in
check-modules) check tests/vm/fix.py "$@" --parts check $kernels ;;
long-modules)
	check tests/vm/fix.py "$@" $kernels
	check tests/vm/fix_soak.py "$@" $kernels
	;;
esac
awk '{ passed += $1; failed += $3 }
	END { print passed + 0 " passed, " failed + 0 " failed" }' "$totals"
rm "$totals"
exit $failed
