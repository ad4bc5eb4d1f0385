#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: soak.sh [CYCLES]   In a guest that has ilb_fix.ko in /bin.
# Loads and unloads both repairs under load, CYCLES (50) times: in every fourth
# cycle a CPU goes and comes, one goes while the module goes, or all parameters
# change. Prints what a kernel that checks itself complains about.
cycles=${1:-50}
module=/bin/ilb_fix.ko
parameters=/sys/module/ilb_fix/parameters
cpus=$(nproc)

blink() {
	echo 0 >"/sys/devices/system/cpu/cpu$1/online"
	echo 1 >"/sys/devices/system/cpu/cpu$1/online"
}

change() {
	echo near >$parameters/policy
	for value in 1 0; do
		echo $value >$parameters/dry_run
		echo $((1 - value)) >$parameters/enable
	done
}

ilb workload mix -d 100000 >/dev/null 2>&1 &
load=$!
dmesg -c >boot.log
n=0
while [ $n -lt "$cycles" ]; do
	insmod $module idle_core=1 nohz_full=1 || exit 1
	going=
	case $((n % 4)) in
	1) blink $((1 + n / 4 % (cpus - 1))) ;;
	2) change ;;
	3) blink $((cpus - 1)) & going=$! ;;
	esac
	sleep 0.3
	cat $parameters/counters >counters
	rmmod ilb_fix || exit 1
	[ -z "$going" ] || wait $going
	dmesg -c >>soak.log
	n=$((n + 1))
done
kill $load
cat counters
cat /proc/lockdep_stats >lockdep 2>/dev/null
grep -E 'debug_locks|lock-classes' lockdep
echo "$n cycles; complaints:" \
	"$(grep -cE 'WARNING|BUG|INFO: |KASAN|suspicious' soak.log)"
! grep -E -A 30 'WARNING|BUG|INFO: |KASAN|suspicious' soak.log
