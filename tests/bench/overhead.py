#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a recording costs the load that is recorded, and the machine.

usage: overhead.py ILB WORKDIR [-n ROUNDS] [--also ILB]
       overhead.py ILB WORKDIR --guest [-n ROUNDS] [--kernel RELEASE] [--qemu FILE]

Runs 'perf bench sched pipe' and 'messaging' in short rounds, each under
nothing, ilb record, ilb record --moments-only, and perf sched record, in an
order that turns; --also adds another build of ilb. A round's cost is against
the same round under nothing: the median counts, with its quartiles. There are
two costs: time by the clock, and CPU time of the load itself, which is the
steadier one on a machine that does other things, too.

With --guest only nothing and --moments-only, in a guest of 'ilb vm': for
kernels that this machine does not run. Then also the moments of a pinned load,
in bytes per hour.

One line each: name, value, unit. Needs root, perf, tracefs and trace-cmd.
"""
import argparse
import json
import os
import re
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import time

LOADS = {
    "pipe": (["-l", "40000"], 40000),
    "messaging": (["-g", "4", "-l", "150"], 4 * 20 * 20 * 150 // 2),
}
RECORDS = {"lost": 2, "sample": 9}


def note(text):
    print("# " + text, flush=True)


def skip(why):
    note("skipped: " + why)
    sys.exit(77)


def own_time(pid):
    """Seconds that a thread ran, as the scheduler counts them."""
    try:
        with open("/proc/%d/schedstat" % pid, encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9
    except (OSError, IndexError):
        return 0.0


def total_time(text):
    found = re.search(r"Total time:\s*([\d.]+)", text)
    return float(found.group(1)) if found else None


def cpu_seconds(usage):
    return usage.ru_utime + usage.ru_stime


def inside(name, path):
    """The load, as a command of the recorder: what it took, into PATH."""
    parent = os.getppid()
    before = own_time(parent)
    done = subprocess.run(["perf", "bench", "sched", name] + LOADS[name][0],
                          stdout=subprocess.PIPE, text=True, check=True)
    result = {"wall": total_time(done.stdout),
              "recorder": own_time(parent) - before}
    result["load"] = cpu_seconds(resource.getrusage(resource.RUSAGE_CHILDREN))
    result["all"] = result["load"] + cpu_seconds(
        resource.getrusage(resource.RUSAGE_SELF))
    with open(path, "w", encoding="ascii") as file:
        json.dump(result, file)


def perf_counts(path):
    """(events, lost, bytes) of a perf.data: its records, one by one."""
    with open(path, "rb") as file:
        data = file.read()
    at, size = struct.unpack_from("<QQ", data, 40)
    end, events, lost = at + size, 0, 0
    while at + 8 <= end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == RECORDS["sample"]:
            events += 1
        elif kind == RECORDS["lost"]:
            lost += struct.unpack_from("<Q", data, at + 16)[0]
        if not length:
            break
        at += length
    return events, lost, os.path.getsize(path)


def ilb_counts(said, folder):
    """(events, lost, bytes) of a trace, or of moments."""
    for pattern, name in ((r" (\d+) events, .* (\d+) lost", "trace.dat"),
                          (r" (\d+) kicks, (\d+) moments lost", "moments")):
        path = os.path.join(folder, name)
        found = re.search(pattern, said)
        if found and os.path.exists(path):
            return (int(found.group(1)), int(found.group(2)),
                    os.path.getsize(path))
    return 0, 0, 0


class Bench:
    def __init__(self, ilb, work, also):
        self.work, self.result = work, work + "/result.json"
        self.modes = {"nothing": [],
                      "ilb": [ilb, "record", "-o", work + "/c", "--"]}
        if also:
            self.modes["also"] = [also] + self.modes["ilb"][1:]
        moments = self.modes["ilb"][:-1] + ["--moments-only", "--"]
        why = self.refused(moments + ["true"])
        if why:
            note("moments-only: not here: %s" % why)
        else:
            self.modes["moments"] = moments
        self.modes["perf"] = ["perf", "sched", "record", "-o",
                              work + "/perf.data"]

    def clean(self):
        shutil.rmtree(self.work + "/c", ignore_errors=True)
        for name in ("perf.data", "perf.data.old", "result.json"):
            if os.path.exists(os.path.join(self.work, name)):
                os.remove(os.path.join(self.work, name))

    def refused(self, command):
        self.clean()
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True,
                              check=False, timeout=60)
        return done.stderr.strip() if done.returncode else ""

    def counts(self, mode, said):
        if mode == "perf":
            return perf_counts(self.work + "/perf.data")
        return ilb_counts(said, self.work + "/c")

    def nearly_empty(self, mode):
        """Bytes of a file with few events: formats, names of functions."""
        self.clean()
        done = subprocess.run(self.modes[mode] + ["true"], check=True,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        return self.counts(mode, done.stderr)[2]

    def once(self, mode, load):
        self.clean()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            self.modes[mode] + [sys.executable, os.path.abspath(__file__),
                                "--inside", load, self.result],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            check=False, timeout=300)
        if done.returncode:
            skip("%s under %s failed: %s" % (load, mode, done.stderr.strip()))
        with open(self.result, encoding="ascii") as file:
            got = json.load(file)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        got["recorder_all"] = (cpu_seconds(after) - cpu_seconds(before) -
                               got["all"])
        got["events"], got["lost"], got["bytes"] = self.counts(mode,
                                                               done.stderr)
        return got

    def rounds(self, load, count):
        names = list(self.modes)
        got = {name: [] for name in names}
        for i in range(count):
            for name in names[i % len(names):] + names[:i % len(names)]:
                got[name].append(self.once(name, load))
        self.clean()
        return got


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def tell_cost(name, got, base, what):
    cost = [100 * (a[what] / b[what] - 1) for a, b in zip(got, base)]
    middle, low, high = quartiles(cost)
    print("%s %+.1f %% (quartiles %+.1f ... %+.1f)" % (name, middle, low,
                                                       high))
    return middle


def tell(load, got, fixed):
    ops, base = LOADS[load][1], got["nothing"]
    costs = {}
    print("overhead_%s_rate_nothing %.0f ops/s" % (
        load, ops / statistics.median(r["wall"] for r in base)))
    for mode, rounds in got.items():
        name = "overhead_%s_%s" % (load, mode)
        if mode == "nothing":
            continue
        for what, label in (("wall", "clock"), ("load", "cpu")):
            costs[mode, what] = tell_cost("%s_%s" % (name, label), rounds,
                                          base, what)
        for what, label in (("recorder", "recorder_meanwhile"),
                            ("recorder_all", "recorder_in_all")):
            share = [100 * r[what] / r["load"] for r in rounds]
            print("%s_%s %.1f %% of the load's CPU time" % (
                name, label, statistics.median(share)))
        events = sum(r["events"] for r in rounds)
        print("%s_lost %d events, beside %d" % (
            name, sum(r["lost"] for r in rounds), events))
        if events:
            size = sum(r["bytes"] - fixed[mode] for r in rounds)
            print("%s_bytes %.1f per event, and %.1f MB" % (
                name, size / events, fixed[mode] / 1e6))
    for what, label in (("wall", "clock"), ("load", "cpu")):
        if costs["perf", what] > 0:
            print("overhead_%s_ilb_vs_perf_%s %.2f ratio (aim: 0.5 or less)"
                  % (load, label, costs["ilb", what] / costs["perf", what]))


# ---- in a guest, which has a shell but no Python ----

TOPOLOGY = "pack:1 [numa] l3:1 core:4 pu:2"
GUEST = """
ilb record --moments-only -o pin -- ilb workload pin --per-core -d 6 2>&1
ls -l pin/moments
i=0
while [ $i -lt %d ]; do
    for load in "pipe -l 1000" "messaging -g 1 -l 5"; do
        echo "= nothing $load"; perf bench sched $load
        echo "= moments $load"
        ilb record --moments-only --force -o /tmp/m -- perf bench sched $load
    done
    i=$((i + 1))
done 2>&1
"""


def guest(args):
    rounds = args.n or 5
    perf = os.path.realpath(shutil.which("perf"))
    command = [args.ilb, "vm", "--with", perf, "--topology", TOPOLOGY,
               "-o", args.work + "/guest"]
    shutil.rmtree(args.work + "/guest", ignore_errors=True)
    for name in ("kernel", "qemu"):
        if getattr(args, name):
            command += ["--" + name, getattr(args, name)]
    with open(args.work + "/guest.txt", "w+", encoding="utf-8") as said:
        done = subprocess.run(command + ["--", "sh", "-c", GUEST % rounds],
                              stdout=said, check=False, timeout=1200)
        said.seek(0)
        text = said.read()
    if done.returncode:
        skip("the guest failed: " + text[-500:])
    tell_moments(text)
    got = {}
    for part in ("\n" + text).split("\n= ")[1:]:
        if total_time(part):
            mode, load = part.split()[:2]
            got.setdefault(load, {}).setdefault(mode, []).append(
                {"wall": total_time(part)})
    for load, modes in got.items():
        tell_cost("overhead_guest_%s_moments_clock" % load, modes["moments"],
                  modes["nothing"], "wall")


def tell_moments(text):
    found = re.search(r"([\d.]+) s; (\d+) kicks, (\d+) moments lost", text)
    size = re.search(r"(\d+) \w+ +\d+ +[\d:]+ pin/moments", text)
    if not found or not size:
        skip("no moments: " + text[-500:])
    seconds, kicks = float(found.group(1)), int(found.group(2))
    print("moments_pin_kicks %.1f per second (%s lost)" % (
        kicks / seconds, found.group(3)))
    print("moments_pin_bytes %.1f per kick" % (int(size.group(1)) / kicks))
    print("moments_pin_hour %.1f MB" % (
        int(size.group(1)) / seconds * 3600 / 1e6))


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--inside":
        inside(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("ilb", type=os.path.abspath)
    parser.add_argument("work", type=os.path.abspath)
    parser.add_argument("-n", type=int)
    parser.add_argument("--also", type=os.path.abspath)
    parser.add_argument("--guest", action="store_true")
    parser.add_argument("--kernel", help="as of ilb vm; likewise --qemu")
    parser.add_argument("--qemu")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    if not shutil.which("perf"):
        skip("needs perf; install it")
    if args.guest:
        guest(args)
        return
    if os.geteuid():
        skip("needs root, to record")
    begin = time.monotonic()
    bench = Bench(args.ilb, args.work, args.also)
    fixed = {mode: bench.nearly_empty(mode) for mode in bench.modes
             if mode != "nothing"}
    for load in LOADS:
        tell(load, bench.rounds(load, args.n or 9), fixed)
    note("overhead: took %.0f s" % (time.monotonic() - begin))


main()
