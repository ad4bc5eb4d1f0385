#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: cost.sh BUILD DIR KERNEL TOPOLOGY [ILB-VM-OPTION...]
# What an exact moment costs the CPU that kicks, as the kernel counts it, on a
# machine of that topology: four pinned tasks, watched for twenty seconds, and a
# capture of such moments, which becomes DIR/moments. A guest of 352 CPUs boots
# in a quarter of an hour under emulation; of its times only ratios to those
# of smaller machines mean something.
set -eu
build=$1 dir=$2 kernel=$3 topology=$4
shift 4
exec "$build/ilb" vm --kernel "$kernel" --topology "$topology" -o "$dir" \
	--timeout 3600 --with "$build/tests/unit/exact-watch" "$@" -- sh -c '
up() {
	echo "up $(cut -d" " -f1 /proc/uptime) s: $*"
}
up "$(nproc) CPUs"
# Visiting every CPU tells hwloc nothing here that sysfs does not.
export HWLOC_COMPONENTS=-x86
ilb workload pin -C 0,2,4,6 -d 3000 &
sleep 2
echo 1 >/proc/sys/kernel/bpf_stats_enabled
rule=lowest
case $(uname -r) in 7.[3-9]*) rule=idle-core ;; esac
exact-watch 20 $rule || up "a kick did not follow $rule"
up watched
echo 0 >/proc/sys/kernel/bpf_stats_enabled
ilb record --moments-only -d 20 -o moments
up recorded
kill $!
'
