#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Record a trace.dat of at least EVENTS events from this machine.
#
#	make-trace.sh OUTPUT EVENTS
#
# It records into an instance of its own and dumps that at the end: a reader
# at work while recording would fill the trace with itself. Needs root, tracefs,
# trace-cmd, and perf or hackbench; exits 77 where one of these is missing.

set -eu

usage="usage: make-trace.sh OUTPUT EVENTS"
[ $# -eq 2 ] || { echo "$usage" >&2; exit 2; }
output=$1
events=$2
case $events in
''|*[!0-9]*) echo "make-trace.sh: '$events' is not a number; $usage" >&2
	exit 2;;
esac

skip()
{
	echo "make-trace.sh: $1" >&2
	exit 77
}

[ "$(id -u)" -eq 0 ] || skip "needs root, to record"
command -v trace-cmd > /dev/null || skip "needs trace-cmd; install it"
tracing=/sys/kernel/tracing
[ -e $tracing/instances ] || mount -t tracefs nodev $tracing 2> /dev/null ||
	skip "needs tracefs; mount it on $tracing"
if command -v perf > /dev/null; then
	load="perf bench sched messaging -g 10 -l 200"
elif command -v hackbench > /dev/null; then
	load="hackbench -g 10 -l 200"
else
	skip "needs perf or hackbench, to have something to record"
fi

instance=$tracing/instances/ilb-bench-$$
dir=$(mktemp -d "${TMPDIR:-/tmp}/ilb-bench-XXXXXX")

cleanup()
{
	[ ! -d "$instance" ] || echo 0 > "$instance/tracing_on" || :
	[ ! -d "$instance" ] || echo 0 > "$instance/events/enable" || :
	[ ! -d "$instance" ] || rmdir "$instance" || :
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# Sum of what each CPU's buffer holds, and of what it lost.
count()
{
	cat "$instance"/per_cpu/cpu*/stats |
		awk -v what="$1:" '$1 == what { n += $2 } END { print n + 0 }'
}

mkdir "$instance" || skip "cannot make an instance of tracefs"
cpus=$(ls -d "$instance"/per_cpu/cpu* | wc -l)
# 40 bytes an event, and the CPUs do not take equal shares.
echo $((events * 80 / 1024 / cpus + 8192)) > "$instance/buffer_size_kb"
for event in sched/sched_switch sched/sched_wakeup irq/softirq_raise \
	     irq/softirq_entry irq/softirq_exit timer/hrtimer_expire_entry \
	     csd timer/tick_stop; do
	[ ! -e "$instance/events/$event/enable" ] ||
		echo 1 > "$instance/events/$event/enable"
done

while [ "$(count entries)" -lt "$events" ]; do
	$load > "$dir/load" 2>&1
	[ "$(count overrun)" -eq 0 ] || break
done
echo 0 > "$instance/tracing_on"
recorded=$(count entries)
if [ "$recorded" -lt "$events" ]; then
	echo "make-trace.sh: the buffers hold only $recorded events; ask for fewer" >&2
	exit 1
fi

for cpu in "$instance"/per_cpu/cpu*; do
	# A pipe that is empty would block: it ends with EAGAIN instead.
	dd if="$cpu/trace_pipe_raw" of="$dir/trace.${cpu##*/}" bs=4096 \
		iflag=nonblock 2> /dev/null || :
done
trace-cmd restore -o "$dir/trace.dat" "$dir"/trace.cpu* > "$dir/restore" 2>&1 || {
	cat "$dir/restore" >&2
	exit 1
}
mv "$dir/trace.dat" "$output"
echo "make-trace.sh: $output: $recorded events, $(wc -c < "$output") bytes"
