#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: fix.py ILB MODULES [--parts PARTS] [--keep DIR] [KERNEL...]   TAP.

MODULES is a folder with 6.12.ko and so on, as scripts/kmod-guest.sh makes
them. Boots each kernel with "ilb vm" and uses "ilb fix" there. PARTS is some
of check (one boot, for make vm-check), loads, trials, nohz. Kicks are judged
from recordings, not from what the module or its command say.
"""
import argparse
import sys

from fix_boot import COMMON, CYCLES, SMALL, Boot, check, run, warnings

FULL = "nohz_full=1-3,9-15"
FULL_SMALL = "nohz_full=3"

# Both repairs on two cores: a task on CPU 0; CPU 3, of the other one, is lost.
CHECK = COMMON + CYCLES + """
ilb workload pin -C 0 -d 300 & pin=$!
ilb workload lose 3 -d 300 & lose=$!
sleep 3
record stock
fix load load --repair idle-core --repair nohz-full --module $M --json
record loaded
fix status status --json
fix unload unload
record unloaded
kill $pin $lose
wait
ilb workload mix --bursts 1 --pairs 1 -d 300 & load=$!
cycle 10 4 idle_core=1 nohz_full=1
kill $load
wait $load
dmesg >log
"""

# One pinned task per core of node 0, then of all cores.
LOADS = COMMON + """
cat -A /sys/devices/system/cpu/nohz_full >full.list
fix none status --json
cp $M /tmp/m.ko
fix open load --repair idle-core --module /tmp/m.ko
chmod g+w $M
fix group load --repair idle-core --module $M
chmod g-w $M
ilb workload pin --per-core -d 300 & load=$!
sleep 1
record stock
fix dry load --repair idle-core --module $M --dry-run --json
record dry
fix undry load --repair idle-core --json
record loaded
fix status status --json
fix text status
fix other load --repair nohz-full
fix off disable
record off
fix on enable
fix near load --repair idle-core --policy near --json
record near
fix unload unload
record unloaded
fix again unload
test ! -e /sys/module/ilb_fix; echo $? >gone.status
kill $load
wait $load
ilb workload pin -C 0,2,4,6,8,10,12,14 -d 300 & load=$!
sleep 1
fix full load --repair idle-core --module $M --json
kill $load
wait $load
true
"""

# It is loaded and disabled before the first one, and not loaded afterwards.
TRIALS = COMMON + """
fix first load --repair idle-core --module $M
fix leave disable
fix trial trial -n 3 --seed 1 --repair idle-core --json -- \
	ilb workload pin --per-core -d 2
fix kept status --json
fix plan trial --dry-run -n 6 --seed 1 --repair idle-core --json -- false
fix unload2 unload
fix failing trial -n 2 --repair idle-core --module $M -- sh -c 'exit 7'
fix after7 status --json
fix missing trial -n 2 --repair idle-core --module $M -- /nonexistent
ilb fix trial -n 2 --repair idle-core --module $M -- sleep 100 2>killed.err &
trial=$!
for i in $(seq 100); do test -e /sys/module/ilb_fix && break; sleep 0.2; done
sleep 2
test -e /sys/module/ilb_fix; echo $? >there.status
kill -TERM $trial
wait $trial
echo $? >killed.status
fix after15 status --json
true
"""

BUILT_IN = COMMON + """
fix core load --repair idle-core --module $M
fix default load --module $M
fix trial trial --repair idle-core --module $M -- true
true
"""

# CPU 10 is lost before, comes back with the module, and is lost after it.
LOSE = "sh -c 'ilb workload lose 10 -d 3; sleep 3'"
NOHZ = COMMON + f"""
ilb record -o stock -- {LOSE} 2>/dev/null
ilb workload lose 10 -d 12 & load=$!
sleep 3
fix load load --repair nohz-full --module $M --json &
while [ ! -e /sys/module/ilb_fix/parameters/counters ]; do sleep 0.05; done
read t0 idle </proc/uptime
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	grep -q '^registered 0$' /sys/module/ilb_fix/parameters/counters ||
		break
	sleep 0.05
done
read t1 idle </proc/uptime
echo $t0 $t1 >times
wait
ilb record -o loaded -- {LOSE} 2>/dev/null
fix status status --json
fix unload unload
ilb record -o unloaded -- {LOSE} 2>/dev/null
true
"""


def avoidable_share(boot, series, recordings, within=3):
    for name, share in recordings:
        total, avoidable = boot.kicks(name)
        print(f"# {series} {name}: {avoidable} of {total} kicks avoidable")
        check(f"{series} {name}: about {share} % of the kicks avoidable",
              total > 20 and abs(100 * avoidable / total - share) <= within,
              (total, avoidable))


def loading(boot, series):
    check(f"{series}: not loaded at first", boot.status("none") == 0 and
          boot.json("none") == {"loaded": False}, boot.said("none"))
    for name in ("dry", "undry", "near"):
        proof = boot.json(name).get("proof", {})
        check(f"{series} {name}: proved by exact moments",
              boot.status(name) == 0 and proof.get("method") == "exact" and
              proof.get("outcome") == "works", boot.said(name))
    state = boot.json("status")
    count = state.get("counters", {})
    check(f"{series}: status", state.get("enabled") is True and
          state.get("dry_run") is False and count["narrowed"] > 0 and
          count["would_narrow"] > 0 and count["calls"] == sum(
              count[c] for c in ("narrowed", "would_narrow", "same",
                                 "fallback", "no_target", "not_ready")),
          boot.said("status"))
    check(f"{series}: with other repairs it is refused",
          boot.status("other") == 4, boot.said("other"))
    check(f"{series}: unloaded, nothing is left", boot.status("unload") ==
          boot.status("gone") == 0 and boot.status("again") == 4,
          boot.said("again"))
    full = boot.json("full")
    count = full.get("proof", {}).get("counters", {})
    check(f"{series}: all cores busy: every choice is the kernel's own",
          boot.status("full") == 0 and count.get("narrowed") == 0 and
          count.get("fallback", 0) > 10, boot.said("full"))
    check(f"{series}: a file or folder that others may write is refused",
          boot.status("open") == boot.status("group") == 4 and
          "/tmp" in boot.said("open") and "group" in boot.said("group"),
          boot.said("open") + boot.said("group"))


def trials(boot, series):
    trial = boot.json("trial")
    runs = trial.get("runs", [])
    sums = {on: [sum(r["kicks"][k] for r in runs if r["repair_on"] == on)
                 for k in ("total", "avoidable")] for on in (False, True)
            if runs and "kicks" in runs[0]}
    print(f"# {series} trial: off, on: {sums}, {trial.get('result')}")
    check(f"{series} trial: each pair has both", [sorted(trial["order"][i:i +
          2]) for i in (0, 2, 4)] == [["off", "on"]] * 3 if trial else 0,
          boot.said("trial"))
    # A run begins and ends with kicks that no pinned task is beside.
    order = boot.json("plan").get("order", [])
    check(f"{series} trial: a dry run prints the order, and runs nothing",
          boot.status("plan") == 0 and len(order) == 12 and
          order[:6] == trial.get("order"), boot.said("plan"))
    check(f"{series} trial: kicks move with the repair", len(sums) == 2 and
          sums[False][0] > 20 and sums[True][0] > 20 and
          sums[False][1] >= 0.6 * sums[False][0] and
          sums[True][1] <= 0.02 * sums[True][0], boot.said("trial"))
    check(f"{series} trial: runs of a fixed time do not differ",
          trial.get("result", {}).get("supported") is False,
          trial.get("result"))
    unknown = trial.get("unknown", {})
    check(f"{series} trial: what is unknown says what it needs",
          unknown.get("disturbed", "").startswith("needs a trace") and
          all(("cycles" in r) != ("cycles" in unknown) and
              r.get("cycles") != 0 for r in runs), unknown)
    check(f"{series} trial: it was loaded and disabled, and is again",
          boot.json("kept").get("enabled") is False and
          boot.json("kept").get("policy") == "idle-core",
          boot.said("kept"))
    check(f"{series} trial: a failing command's status, and unloaded",
          boot.status("failing") == 7 and
          boot.json("after7") == {"loaded": False}, boot.said("failing"))
    check(f"{series} trial: no such command", boot.status("missing") == 127,
          boot.said("missing"))
    check(f"{series} trial: killed in the middle, and unloaded",
          boot.status("there") == 0 and boot.status("killed") == 143 and
          boot.json("after15") == {"loaded": False}, boot.read("killed.err"))


def lost(boot, name):
    cpus = {c["cpu"]: c for c in boot.report(name).get("lost_cpus", [])}
    print(f"# {boot.folder} {name}: lost {cpus}")
    return 10 in cpus


def nohz(boot, series):
    check(f"{series}: CPU 10 is lost on the stock kernel",
          lost(boot, "stock"))
    check(f"{series}: not with the module", not lost(boot, "loaded") and
          boot.json("status").get("counters", {}).get("registered", 0) > 0,
          boot.said("status"))
    check(f"{series}: after unloading again", lost(boot, "unloaded"))
    times = boot.read("times").split()
    print(f"# {series}: registered after", times)
    check(f"{series}: one lost before is registered within 0.5 s",
          len(times) == 2 and float(times[1]) - float(times[0]) <= 0.5,
          times)
    check(f"{series}: loading proves it", boot.status("load") == 0 and
          boot.json("load").get("proof", {}).get("outcome") == "works",
          boot.said("load"))


def short(boot, series):
    # Whatever else runs for a moment is on the only core that is idle.
    avoidable_share(boot, series, (("stock", 100), ("unloaded", 100)), 25)
    avoidable_share(boot, series, (("loaded", 0),))
    for name in ("stock", "loaded", "unloaded"):
        kicks = boot.report(name).get("kicks", {})
        targets = {t["cpu"] for t in kicks.get("by_target", [])}
        check(f"{series} {name}: only housekeeping CPUs are kicked",
              targets and targets <= {0, 1, 2}, targets)
    check(f"{series}: loading proves it", boot.status("load") == 0 and
          boot.json("load").get("proof", {}).get("outcome") == "works" and
          boot.json("status").get("counters", {}).get("registered", 0) > 0,
          boot.said("load"))
    check(f"{series}: unloaded", boot.status("unload") == 0,
          boot.said("unload"))
    warnings(boot, series)
    check(f"{series}: loaded and unloaded ten times under load",
          boot.read("cycles").split() == ["10", "2"], boot.read("cycles"))


def built_in(args, series):
    boot = Boot(args, series, "", BUILT_IN)
    if not boot.lives:
        return
    for name, status in (("core", 4), ("default", 4), ("trial", 125)):
        check(f"{series} {name}: refused kindly", boot.status(name) == status
              and "built in" in boot.said(name) and
              boot.said(name).count("\n") == 1, boot.said(name))


def one(args, series):
    if "check" in args.parts and series != "7.3":
        boot = Boot(args, series, "-check", CHECK, *SMALL, append=FULL_SMALL,
                    timeout=900)
        if boot.lives:
            short(boot, series)
    if series == "7.3" and "loads" in args.parts:
        built_in(args, series)
    elif "loads" in args.parts:
        boot = Boot(args, series, "", LOADS)
        if boot.lives:
            loading(boot, series)
            avoidable_share(boot, series, (
                ("stock", 100), ("dry", 100), ("loaded", 0), ("off", 100),
                ("near", 0), ("unloaded", 100)))
    if series != "7.3" and "trials" in args.parts:
        boot = Boot(args, series, "-trials", TRIALS)
        if boot.lives:
            trials(boot, series)
    if "nohz" in args.parts:
        boot = Boot(args, series, "-nohz", NOHZ,
                    append="panic_on_warn=1 " + FULL)
        if boot.lives:
            nohz(boot, series)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--parts", default="loads,trials,nohz")
    return run(parser, ("6.1", "6.12", "7.2", "7.3"), one)


sys.exit(main())
