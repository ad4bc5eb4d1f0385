#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a woken sibling has to cost for mail A's figures.

usage: sim_smt.py ILB

Runs the shipped scenario vera-gemm with other speeds beside an awake sibling
and other recovery times. First the gain of the idle-core rule over stock, for
a grid of them; then, for each speed, the recovery with which the gain is that
of SGEMM, and what nohz_full and an ad hoc GEMM are predicted to gain with it.
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

ILB = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
SPEEDS = (256, 512, 563, 768)
RECOVERIES = (0, 3103, 10000, 30000, 100000, 300000, 600000, 1000000)
SGEMM = 6.861 / 5.246
SECONDS = 120


def load(path):
    with open(os.path.join(ROOT, path)) as f:
        return json.load(f)


def gains(scenario, speed, recovery, variants):
    """Gain of each of @variants over stock."""
    scenario = copy.deepcopy(scenario)
    scenario["machine"] = dict(load("machines/vera.json"),
                               smt_speed=[1024, speed],
                               recovery="%dns" % recovery)
    scenario["duration"] = "300ms"
    scenario["variants"] = {v: scenario["variants"][v]
                            for v in ("stock", *variants)}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(scenario, f)
        f.flush()
        done = subprocess.run([ILB, "sim", "--json", f.name], check=True,
                              stdout=subprocess.PIPE, timeout=SECONDS)
    rows = json.loads(done.stdout)["variants"]
    return [r["work_ns"] / rows[0]["work_ns"] for r in rows[1:]]


def fit(scenario, speed):
    """Recovery for the gain of SGEMM; None: no recovery is long enough."""
    low, high = 0, 1000000
    if gains(scenario, speed, high, ["idle-core"])[0] < SGEMM:
        return None
    while high - low > 2000:
        middle = (low + high) // 2
        if gains(scenario, speed, middle, ["idle-core"])[0] < SGEMM:
            low = middle
        else:
            high = middle
    return high


def main():
    sgemm, adhoc = load("scenarios/vera-gemm.json"), \
        load("scenarios/vera-adhoc-gemm.json")
    print("gain of idle-core over stock; mail A: %.2f and %.2f" %
          (SGEMM, 9.4 / 6.2))
    print("speed \\ recovery us" + "".join("%8.1f" % (r / 1000)
                                          for r in RECOVERIES))
    for speed in SPEEDS:
        print("%4d of 1024        " % speed +
              "".join("%8.3f" % gains(sgemm, speed, r, ["idle-core"])[0]
                      for r in RECOVERIES), flush=True)
    print("\nspeed  fitted recovery us  idle-core  nohz_full    both   ad hoc")
    print("mail A                         %8.3f   %8.3f%8.3f %8.3f" %
          (SGEMM, 6.953 / 5.246, 6.984 / 5.246, 9.4 / 6.2))
    for speed in SPEEDS:
        recovery = fit(sgemm, speed)
        if recovery is None:
            print("%5d  none up to a kick's distance" % speed)
            continue
        print("%5d  %18.0f     %8.3f   %8.3f%8.3f" % (
            speed, recovery / 1000,
            *gains(sgemm, speed, recovery,
                   ["idle-core", "nohz_full", "both"])),
            "%8.3f" % gains(adhoc, speed, recovery, ["idle-core"])[0],
            flush=True)


main()
