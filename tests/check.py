#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: check.py ILB SOURCE   The command "ilb check", from outside; TAP.

import json
import os
import subprocess
import sys
import tempfile

ilb, source = sys.argv[1:3]
guest = "pack:2 [numa] l3:1 core:4 pu:2"
vera = ("pack:2 [numa] l3:1 core:88 pu:2(indexes=" +
        ",".join(f"{c},{c + 176}" for c in range(176)) + ")")
results = []


def run(*args):
    done = subprocess.run([ilb, "check", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def report(name, good, *notes):
    results.append(bool(good))
    print("ok" if good else "not ok", len(results), "-", name)
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print("#", line)


def ask(*args):
    code, out, err = run("--json", *args)
    return json.loads(out) if code == 0 and not err else {}


def this_machine():
    got = run()
    facts = ask()
    report("this machine: text", got[0] == 0 and not got[2] and
           "For a recording" in got[1], got)
    report("this machine: its release, and all its CPUs",
           facts.get("kernel") == os.uname().release and
           facts.get("smt", {}).get("cores", 0) > 0 and
           len(facts.get("recording", [])) == 12, facts)
    wide = [line for line in got[1].splitlines() if len(line) > 80]
    report("this machine: at most 80 columns, no colours",
           not wide and "\033" not in got[1], *wide)


def captures():
    # What each kernel kicked most often while it was recorded.
    for name, busy, target in (("6.12-pin16", "0,2,4,6", 1),
                               ("6.1-pin16", "0,2,4,6", 1),
                               ("6.12-arm64-pin16", "0,2,4,6", 1),
                               ("7.3-pin16", "0,2,4,6", 8),
                               ("6.12-nohzfull16", "4,6", 5)):
        path = os.path.join(source, "tests/captures", name)
        job = ask("-i", path, "--busy", busy).get("busy", {})
        report(f"{name}: kicks go to CPU {target}",
               job.get("target") == target and
               job.get("on_busy_core") == (target != 8), job)
    facts = ask("-i", os.path.join(source, "tests/captures/6.12-pin16"),
                "--kernel", "7.3", "--busy", "0,2,4,6")
    report("a capture with another kernel", facts.get("rule") == "idle-core"
           and facts["busy"]["target"] == 8 and "recording" not in facts,
           facts)


def layouts():
    facts = ask("--topology", guest, "--kernel", "6.12", "--busy", "0,2,4,6")
    job = facts.get("busy", {})
    report("a layout that leaves the lowest core idle",
           job.get("layout") == "2,4,6,8" and job.get("layout_target") == 0
           and job.get("idle_core_target") == 8, facts)
    again = ask("--topology", guest, "--kernel", "6.12", "--busy",
                job.get("layout", "0"))
    report("asked again, it holds", again.get("busy", {}).get("target") == 0
           and again["busy"]["on_busy_core"] is False, again)
    facts = ask("--topology", vera, "--kernel", "linux-6.12", "--nohz-full",
                "1-175,177-351", "--busy", "0-86")
    report("Vera's numbering, nohz_full", facts.get("smt", {}).get(
        "sibling_distance") == 176 and facts["candidates"] == "176" and
        facts["timekeeper"] == 0 and facts["busy"]["layout"] == "1-87" and
        facts["busy"]["disturbs"] == "0", facts)
    report("unknown is absent", "isolated" not in facts and
           "hz" not in facts and "schedstats" not in facts, facts)


def a_shell_reads_it():
    busy = ",".join(str(c) for c in range(0, 176, 2))
    out = run("--topology", "pack:2 [numa] l3:1 core:88 pu:2", "--kernel",
              "6.12", "--busy", busy)[1]
    start = out.index("taskset")
    shell = subprocess.run(["sh", "-c", out[start:out.index("numactl")].
                            replace("taskset", "echo", 1)],
                           stdout=subprocess.PIPE, text=True)
    want = ",".join(str(c) for c in range(2, 178, 2))
    report("a shell reads the long list", shell.stdout.split() ==
           ["-c", want], out)
    report("long lists: at most 80 columns", max(map(len, out.splitlines()))
           <= 80, out)


def exits():
    pinned = ["--topology", guest, "--busy", "0,2,4,6", "--kernel"]
    fail = "--fail-on-busy-core"
    for want, args in ((1, pinned + ["6.12", fail]),
                       (0, pinned + ["7.3", fail]),
                       (0, pinned + ["6.12"]),
                       (2, [fail]),
                       (2, ["--busy"]),
                       (2, ["--busy", ""]),
                       (2, ["--busy", "0-x"]),
                       (2, ["--busy", "0,8191"]),
                       (2, ["--busy", "99999999999"]),
                       (2, ["--topology", guest]),
                       (2, ["--kernel", "banana"]),
                       (2, ["--kernel", "6.12", "--topology", guest,
                            "--nohz-full", "16"]),
                       (2, ["--housekeeping", ""]),
                       (2, ["--nonsense"]),
                       (2, ["0,2"]),
                       (3, ["-i", "/nonexistent"]),
                       (3, ["--topology", "/nonexistent", "--kernel", "6"
                            ".1"]),
                       (3, ["-o", "/nonexistent/x"]),
                       (0, ["-h"]),
                       (0, ["--help"])):
        got = run(*args)
        report(f"exit {want}: {' '.join(args)}", got[0] == want and
               (want < 2 or got[2].count("\n") == 1), got)


def output_file():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out")
        got = run("--json", "-o", path)
        with open(path, encoding="utf-8") as file:
            report("-o: a whole file", got == (0, "", "") and
                   "findings" in json.load(file) and
                   os.listdir(folder) == ["out"], got)
    full = subprocess.run(f"'{ilb}' check >/dev/full", shell=True,
                          stderr=subprocess.PIPE, text=True)
    report("a full disk is noticed", full.returncode == 3 and full.stderr,
           full)


this_machine()
captures()
layouts()
a_shell_reads_it()
exits()
output_file()
print(f"1..{len(results)}")
sys.exit(0 if all(results) else 1)
