#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: guest_stat.py ILB [-q QEMU] [IMAGE...]   "ilb stat" against a trace of
# the same window, on real kernels; TAP.
#
# In a guest "ilb record" watches "ilb stat", which watches a job. Here the
# trace's events of stat's window are counted again, line by line of what
# trace-cmd prints, and /proc/schedstat by a reading of its own. Boots the
# images given, else what "ilb vm fetch" left in the cache.

import json
import os
import re
import subprocess
import sys
import tempfile

ilb = os.path.abspath(sys.argv[1])
results = []
SLACK_US = 6
job = """
cat /proc/schedstat >schedstat.first
sleep 0.2
ilb workload pin --per-core -d 5 >/dev/null
sleep 0.2
cat /proc/schedstat >schedstat.last
"""
script = """
echo 1 >/proc/sys/kernel/sched_schedstats
cat >job.sh <<'X'
""" + job + """
X
cat >watch.sh <<'X'
sleep 1
exec ilb stat --json --functions -o stat.json -- sh ./job.sh
X
ilb record -o capture -- sh ./watch.sh 2>record.err
status=$?
ilb stat -I 0.5 -n 8 --json -o hotplug.json &
sleep 1.2
echo 0 >/sys/devices/system/cpu/cpu3/online
sleep 1
echo 1 >/sys/devices/system/cpu/cpu3/online
wait $! || status=9
exit $status
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
    """{(cpu, level): [columns]} and the version, the slow and simple way."""
    table, cpu = {}, None
    with open(path, encoding="ascii") as file:
        lines = [line.split() for line in file]
    for words in lines:
        if words[0].startswith("cpu"):
            cpu = int(words[0][3:])
        if words[0].startswith("domain"):
            table[cpu, int(words[0][6:])] = words[1:]
    return int(lines[0][1]), table


def attempts(folder):
    """lb_count per (level, idle type) between the first and the last text."""
    version, first = schedstat(os.path.join(folder, "schedstat.first"))
    _, last = schedstat(os.path.join(folder, "schedstat.last"))
    order = {15: ("idle", "busy", "newly-idle")}.get(
        version, ("busy", "idle", "newly-idle"))
    skip, each = (2, 11) if version == 17 else (1, 8)
    sums = {}
    for key, words in last.items():
        for i, kind in enumerate(order):
            at = skip + i * each
            more = int(words[at]) - int(first[key][at])
            sums[key[1], kind] = sums.get((key[1], kind), 0) + more
    return sums


def compare(name, folder):
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
    # Its window is a little larger than that between the two texts.
    least = attempts(folder)
    table = {(d["level"], d["idle_type"]): d["lb"] for d in stat["domains"]}
    report(f"{name}: load balancing as /proc/schedstat has it", set(least) ==
           set(table) and sum(least.values()) > 500 and
           all(least[k] <= table[k] <= least[k] * 1.2 + 200 for k in least),
           least, table)


def hotplug(name, folder):
    with open(os.path.join(folder, "hotplug.json"), encoding="ascii") as file:
        data = [json.loads(line) for line in file]
    report(f"{name}: a CPU that goes and comes leaves numbers sane",
           len(data) == 8 and all(
               0 <= d["utilisation"]["busy_pct"] <= 100 and
               0 < d["softirq"]["sched"] < 10000 and
               d["kicks"]["total"] < 5000 and
               all(x["lb"] < 100000 for x in d["domains"]) for d in data),
           *data)


def boot(name, *options):
    folder = f"out-{len(results)}"
    done = subprocess.run([ilb, "vm", *options, "--timeout", "200", "-o",
                           folder, "--", "sh", "-c", script], timeout=280,
                          check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    report(f"{name}: recorded", done.returncode == 0, done.stdout)
    if not done.returncode:
        compare(name, folder)
        hotplug(name, folder)


def main():
    args = sys.argv[2:]
    qemu = ["--qemu", args[1]] if args[:1] == ["-q"] else []
    images = [os.path.abspath(path) for path in args[2 * bool(qemu):]]
    if not images:
        machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(
            os.uname().machine)
        done = subprocess.run([ilb, "vm", "list"], check=False, text=True,
                              stdout=subprocess.PIPE)
        images = [line.split()[1] for line in done.stdout.splitlines()
                  if line.startswith(f"{machine} ") and "QEMU" not in line]
    if not images:
        print("1..0 # SKIP no kernels: ilb vm fetch 6.12")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for image in images:
            boot(os.path.basename(image), "--kernel", image, *qemu)
        os.chdir("/")
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


sys.exit(main())
