#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: guest_stat.py ILB [--qemu QEMU] [--topology T] [--keep FOLDER]
#                      [--parts trace,hotplug,functions,lockdown]
#                      [IMAGE...]
# "ilb stat" against what else watches the same window, on real kernels; TAP.
#
# In a guest "ilb record" watches "ilb stat", which watches a job. Here the
# trace's events of stat's window are counted again, line by line of what
# trace-cmd prints, and /proc/schedstat by a reading of its own. Then perf,
# where it is installed, tells of functions. The last of them is booted once
# more for each kind of lockdown. Boots the images given, else what
# "ilb vm fetch" left in the cache.

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

results = []
SLACK_US = 6
job = """
cat /proc/schedstat >schedstat.first
sleep 0.2
ilb workload pin --per-core -d 5 >/dev/null
sleep 0.2
cat /proc/schedstat >schedstat.last
"""
begin = """
say() { read up rest </proc/uptime; echo "$up s: $*"; }
status=0
echo 1 >/proc/sys/kernel/sched_schedstats
cat /proc/kallsyms >symbols
"""
end = """
dmesg | grep -E 'WARNING|BUG|stall|lockup' >dmesg.bad
say end
exit $status
"""
trace = """
cat >job.sh <<'X'
""" + job + """
X
cat >watch.sh <<'X'
sleep 1
cat /proc/schedstat >schedstat.before
ilb stat --json -o stat.json -- sh ./job.sh
status=$?
cat /proc/schedstat >schedstat.after
exit $status
X
ilb record -o capture -- sh ./watch.sh 2>record.err || status=6
"""
hotplug = """
ilb stat -I 0.5 -n 8 --json -o hotplug.json &
sleep 1.2
echo 0 >/sys/devices/system/cpu/cpu3/online
sleep 1
echo 1 >/sys/devices/system/cpu/cpu3/online
wait $! || status=7
"""
functions = """
perf=
[ -x /bin/perf ] && perf="perf record -q -k mono -a -e cpu-clock -F 997
	-o perf.data --"
$perf ilb stat --json --functions -o functions.json -- \\
	ilb workload pin --per-core -d 3 >/dev/null || status=9
"""
locked = """
mount -t securityfs none /sys/kernel/security
cat /sys/kernel/security/lockdown
ilb stat --json --functions -o stat.json -- sleep 1
"""
LINE = re.compile(r"(.*)-(\d+) +\[(\d+)\].*? (\d+\.\d+): +(\w+): +(.*)")


def report(name, good, *notes):
    results.append(bool(good))
    print("ok" if good else "not ok", len(results), "-", name, flush=True)
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print("#", line)


def near(a, b, percent, slack=0):
    return abs(a - b) <= max(slack, max(a, b) * percent / 100)


def events(folder):
    done = subprocess.run(["trace-cmd", "report", "-t", "-i",
                           os.path.join(folder, "capture/trace.dat")],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True, text=True)
    for line in done.stdout.splitlines():
        match = LINE.match(line)
        if match:
            _, pid, cpu, when, name, rest = match.groups()
            yield int(pid), int(cpu), float(when), name, rest


def again(folder, start, end):
    """Kicks, targets, kicks on a busy core, SCHED softirqs and their time."""
    runs, kicks, targets, busy = {}, 0, {}, 0
    softirqs, softirq_s, at = 0, 0.0, {}
    for pid, cpu, when, name, rest in events(folder):
        # A sibling is the CPU beside it: so these guests are numbered.
        if name == "sched_switch":
            runs[cpu] = int(re.search(r"==> .*:(\d+) \[", rest).group(1))
        else:
            runs.setdefault(cpu, pid)
        if not start <= when <= end:
            continue
        if name == "csd_queue_cpu" and "nohz_csd_func" in rest:
            target = int(re.search(r"cpu=(\d+)", rest).group(1))
            kicks += 1
            targets[target] = targets.get(target, 0) + 1
            busy += runs.get(target ^ 1, 0) != 0
        elif name == "softirq_entry" and "SCHED" in rest:
            at[cpu] = when
        elif name == "softirq_exit" and "SCHED" in rest and cpu in at:
            softirqs += 1
            softirq_s += when - at.pop(cpu)
    return kicks, targets, busy, softirqs, softirq_s


def schedstat(path):
    """{(level, idle type): [lb, balanced, failed, gained]}, the slow way."""
    sums = {}
    with open(path, encoding="ascii") as file:
        lines = [line.split() for line in file]
    version = int(lines[0][1])
    order = {15: ("idle", "busy", "newly-idle")}.get(
        version, ("busy", "idle", "newly-idle"))
    skip, each, gained = (2, 11, 7) if version == 17 else (1, 8, 4)
    for words in lines:
        if not words[0].startswith("domain"):
            continue
        for i, kind in enumerate(order):
            key = int(words[0][6:]), kind
            at = 1 + skip + i * each
            row = [int(words[at + j]) for j in (0, 1, 2, gained)]
            sums[key] = [a + b for a, b in zip(row, sums.get(key, [0] * 4))]
    return sums


def between(folder, first, last):
    """The difference of two texts."""
    before = schedstat(os.path.join(folder, first))
    after = schedstat(os.path.join(folder, last))
    return {key: [a - b for a, b in zip(row, before[key])]
            for key, row in after.items()}


def check_trace(name, folder):
    with open(os.path.join(folder, "stat.json"), encoding="ascii") as file:
        stat = json.load(file)
    start = stat["capture"]["start_s"]
    end = start + stat["capture"]["duration_s"]
    kicks, targets, busy, softirqs, softirq_s = again(folder, start, end)
    ours = stat["kicks"]
    here = {e["cpu"]: e["kicks"] for e in ours["by_target"]}
    print("#", name, "kicks", ours["total"], kicks, "busy",
          ours["on_busy_core"], busy, "softirqs", stat["softirq"], softirqs,
          softirq_s * 1e6, "moments", stat["capture"]["moments"])
    if kicks:
        report(f"{name}: kicks as in the trace, within 1 %",
               ours["total"] > 50 and near(ours["total"], kicks, 1, 2),
               ours["total"], kicks)
        report(f"{name}: targets as in the trace, within 1 %", all(
            near(here.get(cpu, 0), targets.get(cpu, 0), 1, 2)
            for cpu in set(here) | set(targets)), here, targets)
        report(f"{name}: on a busy core as in the trace, within 1 %",
               near(ours["on_busy_core"], busy, 1, 3),
               ours["on_busy_core"], busy)
    else:
        report(f"{name}: no csd events, and kicks all the same",
               ours["total"] > 50 and
               stat["sources"]["kicks"]["from"].startswith("fentry"), ours)
    # What runs between the two clocks of one tracepoint is the other tracer:
    # some us under emulation, each time.
    report(f"{name}: SCHED softirqs as in the trace, their time within 2 %",
           near(stat["softirq"]["sched"], softirqs, 1, 2) and
           near(stat["softirq"]["sched_time_us"], softirq_s * 1e6, 2,
                SLACK_US * softirqs),
           stat["softirq"], softirqs, softirq_s * 1e6)
    report(f"{name}: runs, and victims with a running time",
           stat["runs"]["total"] > 50 and
           all(v.get("running_us", 1) > 0 for v in stat["victims"]),
           stat["runs"], stat["victims"])
    # Its window lies around that of two texts, and within that of two others.
    least = between(folder, "schedstat.first", "schedstat.last")
    most = between(folder, "schedstat.before", "schedstat.after")
    table = {(d["level"], d["idle_type"]):
             [d["lb"], d["balanced"], d["failed"], d["gained"]]
             for d in stat["domains"]}
    report(f"{name}: load balancing as /proc/schedstat has it",
           set(least) == set(table) and
           sum(row[0] for row in least.values()) > 500 and
           all(low <= here <= high for key in least for low, here, high in
               zip(least[key], table[key], most[key])), least, table, most)
    missing = {key: s for key, s in stat["sources"].items()
               if not s.get("from") or s.get("needs")}
    report(f"{name}: each part has its source", not missing, missing)


def check_hotplug(name, folder):
    with open(os.path.join(folder, "hotplug.json"), encoding="ascii") as file:
        data = [json.loads(line) for line in file]
    report(f"{name}: a CPU that goes and comes leaves numbers sane",
           len(data) == 8 and all(
               0 <= d["utilisation"]["busy_pct"] <= 100 and
               0 < d["softirq"]["sched"] < 10000 and
               d["kicks"]["total"] < 5000 and
               all(x["lb"] < 100000 for x in d["domains"]) for d in data),
           *data)


def window(stat):
    start = stat["capture"]["start_s"]
    return start, start + stat["capture"]["duration_s"]


def symbols(folder):
    with open(os.path.join(folder, "symbols"), encoding="ascii") as file:
        return [line.split() for line in file]


def addresses(folder, names):
    """{name: (from, to)} of what the guest's kernel lists."""
    rows = symbols(folder)
    places = sorted({int(row[0], 16) for row in rows})
    return {row[2]: (int(row[0], 16), next(
        p for p in places if p > int(row[0], 16)))
            for row in rows if row[2] in names}


def sampled(folder, start, end):
    """Where perf's samples were, in the window."""
    done = subprocess.run(["perf", "script", "-F", "time,ip", "-i",
                           os.path.join(folder, "perf.data")], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False)
    rows = [line.split()[:2] for line in done.stdout.splitlines()]
    return [int(row[1], 16) for row in rows
            if len(row) == 2 and start <= float(row[0].strip(":")) <= end]


def check_functions(name, folder):
    with open(os.path.join(folder, "functions.json"),
              encoding="ascii") as file:
        stat = json.load(file)
    ours = stat.get("functions", {"share": []})
    names = {share["name"] for share in ours["share"]}
    report(f"{name}: functions of the balancer are found", names >= {
        "nohz_balance_enter_idle", "nohz_balance_exit_idle"}, stat)
    if not os.path.exists(os.path.join(folder, "perf.data")):
        return
    theirs = sampled(folder, *window(stat))
    places = addresses(folder, names)
    bad = []
    for share in ours["share"]:
        low, high = places[share["name"]]
        part = sum(low <= ip < high for ip in theirs) / max(1, len(theirs))
        error = 196 * math.sqrt(max(part, 4 / (len(theirs) + 4)) /
                                (len(theirs) + 4))
        print("#", name, share, "%.3f %% of %d" % (100 * part, len(theirs)))
        # Two samples of one thing: 19 of 20 for each, 99 for both.
        if abs(share["pct"] - 100 * part) > share["error_pct"] + error:
            bad.append((share, part, error))
    report(f"{name}: as many samples as perf takes, and the same shares",
           near(ours["samples"], len(theirs), 10) and len(theirs) > 1000 and
           not bad, ours, len(theirs), *bad)


def run(folder, what, args, *options):
    done = subprocess.run([ilb, "vm", *options, *args, "--timeout", "230",
                           "-o", folder, "--", "sh", "-c", what], timeout=280,
                          check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    print("#", "\n# ".join(done.stdout.splitlines()), flush=True)
    return done.returncode


PARTS = {
    "trace": (trace, check_trace),
    "hotplug": (hotplug, check_hotplug),
    "functions": (functions, check_functions),
}


def boot(name, image, folder, args, parts):
    folder = os.path.join(folder, name)
    perf = shutil.which("perf") if "functions" in parts else None
    script = begin + "".join(f"say {part}\n{PARTS[part][0]}"
                             for part in parts) + end
    status = run(folder, script, args, "--kernel", image,
                 *(["--with", perf] if perf else []))
    report(f"{name}: watched", status == 0, status)
    if status:
        return
    for part in parts:
        PARTS[part][1](name, folder)
    with open(os.path.join(folder, "dmesg.bad"), encoding="ascii") as file:
        said = file.read()
    report(f"{name}: nothing that the kernel complains about", not said, said)


def lock_down(name, image, folder, args, mode):
    """Where reading the kernel is forbidden it is said; 0 is no answer."""
    folder = os.path.join(folder, f"{name}-{mode}")
    status = run(folder, locked, args, "--kernel", image, "--append",
                 f"lockdown={mode}")
    report(f"{name}, {mode}: watched", status == 0, status)
    if status:
        return
    with open(os.path.join(folder, "stat.json"), encoding="ascii") as file:
        stat = json.load(file)
    sources = stat["sources"]
    print("#", name, mode, sources)
    bpf = ("kicks", "moments", "runs", "contention")
    if mode == "integrity":
        report(f"{name}, {mode}: all works", all(
            sources[key].get("from") for key in bpf) and "kicks" in stat and
               "functions" in stat, stat)
    else:
        report(f"{name}, {mode}: what is unknown names lockdown", all(
            "lockdown" in sources[key].get("needs", "") for key in bpf) and
               not {"kicks", "runs", "contention", "functions"} & set(stat) and
               sources["softirq"]["from"] == "/proc/softirqs", stat)
    report(f"{name}, {mode}: schedstats that are off are unknown",
           "sched_schedstats=1" in sources["domains"].get("needs", ""),
           sources)


def cached():
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
    done = subprocess.run([ilb, "vm", "list"], check=False, text=True,
                          stdout=subprocess.PIPE)
    return [line.split()[1] for line in done.stdout.splitlines()
            if line.startswith(f"{machine} ") and "QEMU" not in line]


def main():
    images = options.images or cached()
    if not images:
        print("1..0 # SKIP no kernels: ilb vm fetch 6.12")
        return 0
    more = [text for name in ("qemu", "topology") if getattr(options, name)
            for text in ("--" + name, getattr(options, name))]
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        parts = [part for part in PARTS if part in options.parts]
        for image in images if parts else ():
            boot(os.path.basename(image), image, folder, more, parts)
        modes = "confidentiality", "integrity"
        for mode in modes if "lockdown" in options.parts else ():
            lock_down(os.path.basename(images[-1]), images[-1], folder, more,
                      mode)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


parser = argparse.ArgumentParser()
parser.add_argument("ilb", type=os.path.abspath)
parser.add_argument("images", nargs="*")
parser.add_argument("--qemu")
parser.add_argument("--topology")
parser.add_argument("--keep", type=os.path.abspath)
parser.add_argument("--parts", type=lambda text: text.split(","),
                    default=[*PARTS, "lockdown"])
options = parser.parse_intermixed_args()
ilb = options.ilb
sys.exit(main())
