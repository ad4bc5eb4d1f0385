#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What choosing a CPU costs: usage: target.py BENCH_TARGET WORKDIR

Runs bench-target, then once more under callgrind for the instructions of one
call. One line per machine, state and scan: name, nanoseconds, instructions,
idle tests; then the ratios that docs/performance.md has aims for.
"""
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys

TIMEOUT = 300
STATES_OF_AIMS = ("one-task-per-core", "one-task-per-core-all-in-mask")


def run(bench):
    """{(machine, state, scan): (ns, spread %, tests)}"""
    out = subprocess.run([bench], capture_output=True, text=True, check=True)
    lines = {}
    for line in out.stdout.splitlines():
        word = line.split()
        lines[tuple(word[1:4])] = (float(word[4]), float(word[6]),
                                   int(word[8]))
    return lines


def instructions(bench, work):
    """{(machine, state, scan): instructions of one call}; {} if not here."""
    if not shutil.which("valgrind"):
        return {}
    for name in glob.glob(work + "/callgrind.*"):
        os.unlink(name)
    try:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "-q",
             "--callgrind-out-file=" + work + "/callgrind", bench],
            capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        print("# no instructions: callgrind took more than %d s" % TIMEOUT)
        return {}
    if done.returncode:
        print("# no instructions: callgrind ended with %d" % done.returncode)
        return {}
    counts = {}
    for name in glob.glob(work + "/callgrind.*"):
        with open(name) as f:
            text = f.read()
        what = re.search(r"Client Request: (\S+) (\S+) (\S+)", text)
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
        if what and total:
            counts[what.groups()] = int(total.group(1))
    return {key: n - counts[key[:2] + ("nothing",)]
            for key, n in counts.items()}


def ratio(name, a, b, aim):
    print("target_%s %.2f ratio (%s)" % (name, a / b, aim))


def main():
    bench, work = sys.argv[1:3]
    os.makedirs(work, exist_ok=True)
    lines = run(bench)
    counts = instructions(bench, work)
    for key, (ns, _, tests) in lines.items():
        print("target_%s %.2f ns %s instructions %d tests"
              % ("_".join(key), ns, counts.get(key, "?"), tests))
    spread = [spread for _, spread, _ in lines.values()]
    print("target_noise %.1f %% (median distance of the quartiles; worst "
          "%.0f)" % (statistics.median(spread), max(spread)))
    over = []
    for machine, state in dict.fromkeys(key[:2] for key in lines):
        def ns(scan):
            return lines[machine, state, scan][0]
        if state in STATES_OF_AIMS:
            ratio("masks_vs_indexed_%s_%s" % (machine, state),
                  ns("mail-a-masks"), ns("indexed"),
                  "aim: 100 or more at 352 and 1024 CPUs")
            ratio("masks_vs_idle_core_%s_%s" % (machine, state),
                  ns("mail-a-masks"), ns("idle-core"),
                  "aim: 3 or more at 352 CPUs")
        over.append((ns("indexed") / ns("lowest"), machine, state))
    within = sum(r <= 1.2 for r, _, _ in over)
    print("target_indexed_within_1.2_of_lowest %d of %d states"
          % (within, len(over)))
    ratio("indexed_vs_lowest_worst", max(over)[0], 1,
          "%s %s; aim: 1.2 or less" % max(over)[1:])


if __name__ == "__main__":
    main()
