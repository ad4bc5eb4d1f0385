#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: fix_soak.py ILB MODULES [--parts PARTS] [KERNEL...]   TAP.

MODULES as for fix.py. PARTS is some of
  soak     --cycles N (300) loads and unloads under load, half of them while a
           CPU goes and comes back; panic_on_warn=1
  hotplug  CPUs go and come back, --offlines N (500) with the module and N
           without, in turn: does it make the kernel warn more often?
  even     with the module and without in turn, 6 x --seconds S (20): nothing
           is lost with it
"""
import argparse
import sys

from fix_boot import COMMON, CYCLES, SMALL, Boot, check, run, warnings

# CPU 3 is of nohz_full and gets no tasks for long, as a busy host would starve
# them, of which the kernel warns.
# What is free while the module is not there: pages, and objects of kmalloc.
SOAK = COMMON + CYCLES + """
each_cycle() {
	[ $((done % 10)) = 0 ] || return 0
	echo 3 >/proc/sys/vm/drop_caches
	awk -v n=$done '/^(SUnreclaim|Percpu|VmallocUsed):/ { v[$1] = $2 }
		END { print n, v["SUnreclaim:"], v["Percpu:"],
			v["VmallocUsed:"] }' /proc/meminfo >>memory
	awk -v n=$done '/^kmalloc-/ { sum += $2 * $4 }
		END { print n, sum / 1024 }' /proc/slabinfo >>kmalloc
}
ilb workload pin -C 0 -d 5000 & pin=$!
taskset 7 ilb workload mix --bursts 1 --pairs 1 -d 5000 & mix=$!
limit=LIMIT
cycle CYCLES 2 PARAMETERS
kill $pin $mix
wait
dmesg >log
cut -d ' ' -f 1 /proc/uptime >uptime
"""

# 30 offlines a block: without, with, with, without, so that no drift of the
# machine's load falls on one side.
HOTPLUG = COMMON + """
block() {
	[ $1 = off ] || insmod $M idle_core=1 || exit
	n=0
	while [ $n -lt 30 ]; do
		cpu=/sys/devices/system/cpu/cpu$((n % 3 + 1))
		echo 0 >$cpu/online && echo 1 >$cpu/online || exit
		n=$((n + 1))
	done
	[ $1 = off ] || rmmod ilb_fix || exit
	dmesg -c >last
	echo $1 $n $(grep -c 'WARNING: ' last) >>blocks
	cat last >>log
	rm last
}
ilb workload pin -C 0 -d 5000 & pin=$!
ilb workload mix --bursts 2 --pairs 1 -d 5000 & mix=$!
blocks=0
while [ $((blocks * 30)) -lt OFFLINES ]; do
	read up idle </proc/uptime
	[ ${up%.*} -lt LIMIT ] || break
	block off; block on; block on; block off
	blocks=$((blocks + 2))
done
kill $pin $mix
wait
true
"""

# Blocks as long as there is time, each side first in turn; what they are is in
# "blocks". SMT off comes last, as it takes CPUs away.
EVEN = COMMON + """
late() { read up idle </proc/uptime; [ ${up%.*} -ge LIMIT ]; }
fix load load --repair idle-core --module $M --json
ilb workload pin -C 0,2,4,6 -d 5000 & load=$!
sleep 1
record full.enable
ilb fix disable || exit
record full.disable
kill $load
wait $load
ilb workload mix -d 5000 & load=$!
sleep 1
for pair in "disable enable" "enable disable" "disable enable"; do
	late && break
	for side in $pair; do
		ilb fix $side || exit
		blocks="$blocks $((n += 1)).$side"
		ilb record -o $n.$side -d SECONDS 2>$n.err || exit
	done
done
echo $blocks >blocks
kill $load
wait $load
ilb fix enable || exit
echo off >/sys/devices/system/cpu/smt/control
ilb workload pin -C 0 -d 5000 & load=$!
sleep 1
fix before status --json
sleep 3
fix after status --json
kill $load
wait $load
fix unload unload
fix refused load --repair idle-core --module $M
insmod $M idle_core=1 2>insmod
echo $? >insmod.status
dmesg >log
"""


def filled(script, **values):
    for name, value in values.items():
        script = script.replace(name, str(value))
    return script


def columns(boot, name):
    rows = [[float(x) for x in line.split()]
            for line in boot.read(name).splitlines()]
    return list(zip(*rows)) or [()] * 4


def slope(x, y):
    """Least squares: of y per x, and its standard error."""
    n, mx, my = len(x), sum(x) / len(x), sum(y) / len(y)
    sxx = sum((a - mx) ** 2 for a in x)
    b = sum((a - mx) * (c - my) for a, c in zip(x, y)) / sxx
    rest = sum((c - my - b * (a - mx)) ** 2 for a, c in zip(x, y))
    return b, (rest / (n - 2) / sxx) ** 0.5


def flat(name, unit, x, y):
    """It does not grow: after the first cycles, which fill what stays."""
    x, y = x[2:], y[2:]
    if len(x) < 4:
        print(f"# {name}: too few cycles to tell")
        return
    grows, error = slope(x, y)
    print(f"# {name}: {y[0]:.0f} {unit} at cycle {x[0]:.0f}, {y[-1]:.0f} at "
          f"{x[-1]:.0f}; {grows * 1024:+.0f} B a cycle (error "
          f"{error * 1024:.0f})")
    check(f"{name} stays flat", grows - 3 * error <= 0 or grows < 0.25,
          list(zip(x, y)))


def soak(args, series):
    both = "nohz_full=1" if series == "7.3" else "idle_core=1 nohz_full=1"
    boot = Boot(args, series, "-soak", filled(
        SOAK, CYCLES=args.cycles, LIMIT=args.limit, PARAMETERS=both), *SMALL,
        append="panic_on_warn=1 nohz_full=3 log_buf_len=4M",
        timeout=args.limit + 300)
    if not boot.lives:
        return
    print(f"# {series}: cycles, offlines: {boot.read('cycles').split()}, "
          f"guest {boot.read('uptime').strip()} s")
    warnings(boot, series)
    count = {}
    for line in boot.read("counted").splitlines():
        name, value = line.split()
        count[name] = count.get(name, 0) + int(value)
    print(f"# {series}: meanwhile {count}")
    check(f"{series}: the hook is called meanwhile",
          count.get("calls", 0) > args.cycles, count)
    check(f"{series}: every load, unload and hotplug succeeds",
          boot.read("cycles").split() == [str(args.cycles),
                                          str(args.cycles // 2)])
    memory = columns(boot, "memory")
    for i, name in enumerate(("SUnreclaim", "Percpu", "VmallocUsed")):
        flat(f"{series} {name}", "kB", memory[0], memory[i + 1])
    flat(f"{series} kmalloc", "kB", *columns(boot, "kmalloc")[:2])


def hotplug(args, series):
    if series == "7.3":
        return
    boot = Boot(args, series, "-hotplug", filled(
        HOTPLUG, OFFLINES=args.offlines, LIMIT=args.limit), *SMALL,
        append="log_buf_len=4M", timeout=args.limit + 300)
    if not boot.lives:
        return
    count = {"off": [0, 0], "on": [0, 0]}
    for line in boot.read("blocks").splitlines():
        side, offlines, warnings = line.split()
        count[side][0] += int(offlines)
        count[side][1] += int(warnings)
    for side, (offlines, warnings) in count.items():
        print(f"# {series}: module {side}: {warnings} warnings in {offlines} "
              "offlines")
    warnings(boot, series)
    # Fisher's exact test would say the same of such small numbers.
    excess = count["on"][1] - count["off"][1]
    check(f"{series}: the module does not make warnings likelier",
          count["on"][0] >= args.offlines and
          excess <= 2 * (sum(c[1] for c in count.values())) ** 0.5, count)


def waiting(report):
    return report.get("waiting", {}).get("total_us", float("nan")) / 1e6


def sum_of(reports, read):
    return sum(read(report) for report in reports)


def blocks(args, boot, series):
    sides = {"off": [], "on": []}
    for name in boot.read("blocks").split():
        report = boot.report(name)
        if not report:
            check(f"{series} {name}: can be read", False)
            return
        sides["on" if "enable" in name else "off"].append(report)
    if not sides["on"]:
        check(f"{series}: there was time for blocks", False)
        return
    seconds, runs, kicks, avoidable, waits = ({
        side: sum_of(reports, read) for side, reports in sides.items()}
        for read in (lambda r: r["capture"]["duration_s"],
                     lambda r: r["runs"]["total"],
                     lambda r: r["kicks"]["total"],
                     lambda r: r["kicks"]["avoidable"], waiting))
    rate = {side: runs[side] / seconds[side] for side in sides}
    for side, reports in sides.items():
        print(f"# {series} module {side}: {seconds[side]:.0f} s, "
              f"{rate[side]:.2f} ILB runs/s (" + ", ".join(
                  "%.2f" % (r["runs"]["total"] / r["capture"]["duration_s"])
                  for r in reports) + f"), avoidable {avoidable[side]} of "
              f"{kicks[side]} kicks, runnable while a CPU idles "
              f"{waits[side]:.3f} s (" + ", ".join(
                  "%.3f" % waiting(r) for r in reports) + ")")
    check(f"{series}: ILB runs per second within 5 % of stock",
          abs(rate["on"] / rate["off"] - 1) <= 0.05, rate)
    check(f"{series}: at most 1 % avoidable under a mix",
          kicks["on"] > 300 and avoidable["on"] <= 0.01 * kicks["on"] and
          avoidable["off"] > 0.02 * kicks["off"], (avoidable, kicks))
    # Blocks of one side differ by so much on their own.
    spread = max(max(map(waiting, r)) - min(map(waiting, r))
                 for r in sides.values())
    check(f"{series}: no more time runnable while a CPU idles",
          waits["on"] - waits["off"] <= max(spread, 0.05 * waits["off"]),
          (waits, spread))


def others(boot, series):
    targets = {}
    for name in ("full.disable", "full.enable"):
        kicks = boot.report(name).get("kicks", {})
        total = kicks.get("total", 0)
        targets[name] = {t["cpu"]: t["kicks"] / total
                         for t in kicks.get("by_target", [])}
        print(f"# {series} all cores busy, {name}: {total} kicks, "
              f"{targets[name]}")
    stock, fixed = targets.values()
    check(f"{series}: all cores busy: the same targets", stock and all(
        abs(stock.get(cpu, 0) - fixed.get(cpu, 0)) < 0.05
        for cpu in set(stock) | set(fixed)), targets)
    before, after = (boot.json(name).get("counters", {})
                     for name in ("before", "after"))
    print(f"# {series} SMT off, loaded: {before} {after}")
    check(f"{series}: SMT off while it is loaded: it changes nothing",
          after and after["calls"] > before["calls"] and
          after["narrowed"] == before["narrowed"], (before, after))
    check(f"{series}: SMT off: refused", boot.status("refused") == 4 and
          "two CPUs online" in boot.said("refused") and boot.status("insmod") == 1 and
          "No such device" in boot.read("insmod"),
          boot.said("refused") + boot.read("insmod"))


def even(args, series):
    if series == "7.3":
        return
    boot = Boot(args, series, "-even", filled(
        EVEN, SECONDS=args.seconds, LIMIT=args.limit), "--topology",
        "pack:2 [numa] l3:1 core:2 pu:2", "--memory", "4096", append="",
        timeout=args.limit + 300)
    if boot.lives:
        blocks(args, boot, series)
        others(boot, series)
        warnings(boot, series)


PARTS = {"soak": soak, "hotplug": hotplug, "even": even}


def one(args, series):
    for part in args.parts.split(","):
        PARTS[part](args, series)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--parts", default="soak,hotplug,even")
    parser.add_argument("--cycles", type=int, default=300)
    parser.add_argument("--offlines", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--limit", type=int, default=3600,
                        help="seconds, after which soak and hotplug end")
    return run(parser, ("6.1", "6.12", "7.2"), one)


sys.exit(main())
