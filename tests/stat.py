#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: stat.py ILB SCHEMA   The command "ilb stat", from outside; TAP.
#
# Watches this machine with what it has: as root with BPF, as nobody without.

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ilb, schema = map(os.path.abspath, sys.argv[1:3])
results = []
NOBODY = 65534
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
root = os.geteuid() == 0
# Two processes that wake each other all the time.
ping_pong = """
import os, sys, time
a, b = os.pipe(), os.pipe()
end = time.monotonic() + float(sys.argv[1])
if os.fork():
    while time.monotonic() < end:
        os.write(a[1], b"x")
        os.read(b[0], 1)
    os.close(a[1])
else:
    os.close(a[1])
    while os.read(a[0], 1):
        os.write(b[1], b"x")
"""


def report(name, good, *notes):
    results.append(bool(good))
    print("ok" if good else "not ok", len(results), "-", name, flush=True)
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print("#", line)


def run(*args, **more):
    done = subprocess.run([ilb, "stat", *args], timeout=60, check=False,
                          text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **more)
    return done.returncode, done.stdout, done.stderr


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def no_bpf():
    """Without CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN, but root."""
    import ctypes
    libc = ctypes.CDLL(None)
    for cap in (39, 38, 21):
        libc.prctl(24, cap, 0, 0, 0)


def no_types():
    """Root, on a kernel that does not describe its types."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x20000) or libc.mount(
            b"none", b"/", None, 0x44000, None) or libc.mount(
                b"none", b"/sys/kernel/btf", b"tmpfs", 0, None):
        raise OSError(ctypes.get_errno(), "no mounts of my own")


def softirqs():
    """SCHED softirqs, by a reading of our own."""
    with open("/proc/softirqs", encoding="ascii") as file:
        for line in file:
            if line.split()[0] == "SCHED:":
                return sum(map(int, line.split()[1:]))
    return 0


def usage():
    cases = [("-I", "x"), ("-I", "0"), ("-I", "1.2.3"), ("-I", ""),
             ("-I", "nan"), ("-n", "0", "-I", "1"), ("-n", "2"),
             ("-n", "-1", "-I", "1"), ("--",), ("--diff",),
             ("--diff", "a"), ("--nonsense",), ("-o", "")]
    bad = [(c, got) for c in cases for got in [run(*c)]
           if got[0] != 2 or got[1] or got[2].count("\n") != 1 or
           not got[2].startswith("ilb stat: ")]
    report("wrong usage is one line and status 2", not bad, *bad)


def commands():
    report("a command's status is passed on",
           run("--", "sh", "-c", "exit 7")[0] == 7)
    report("a signal's, too",
           run("--", "sh", "-c", "kill -9 $$")[0] == 137)
    got = run("--", "/nonexistent")
    report("a command that does not exist: 127, one line",
           got[0] == 127 and not got[1] and got[2].count("\n") == 1 and
           "/nonexistent" in got[2], *got)
    got = run("--", "/etc/passwd")
    report("a command that is none: 126", got[0] == 126, *got)


def summary():
    before = softirqs()
    got = run("--json", "--", sys.executable, "-c", ping_pong, "1")
    counted = softirqs() - before
    data = json.loads(got[1])
    report("a summary is one object", got[0] == 0 and
           data["command"] == "stat", *got)
    report("its time is the command's",
           0.9 < data["capture"]["duration_s"] < 5, data["capture"])
    here = data["softirq"]["sched"]
    report("SCHED softirqs are not more than /proc/softirqs counts",
           0 < here <= counted, here, counted)
    busy = data["utilisation"]["busy_pct"]
    report("the ping-pong keeps a CPU busy", 10 < busy <= 100, busy)
    if data["sources"]["softirq"].get("from", "").startswith("tp_btf"):
        us = data["softirq"]["sched_time_us"]
        report("they take time, but not all of it",
               0 < us < data["capture"]["duration_s"] * 1e6 *
               data["capture"]["nr_cpus"], us)
    return data


def valid(samples):
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        return
    with open(schema, encoding="ascii") as file:
        validator = Draft202012Validator(json.load(file))
    errors = [e.message for s in samples for e in validator.iter_errors(s)]
    report("JSON is as the schema has it", not errors, *errors)


def intervals():
    got = run("-I", "0.2", "-n", "3", "--json")
    lines = [json.loads(line) for line in got[1].splitlines()]
    report("three intervals, an object each", got[0] == 0 and
           len(lines) == 3, *got)
    times = [o["capture"] for o in lines]
    ends = [c["start_s"] + c["duration_s"] - times[0]["start_s"]
            for c in times]
    # One that is late on a busy machine makes the next one shorter.
    report("each ends when asked for, and begins where the last ended", all(
        0.2 * (i + 1) <= end < 0.2 * (i + 1) + 1
        for i, end in enumerate(ends)) and all(
            abs(c["start_s"] - times[0]["start_s"] - end) < 0.001
            for c, end in zip(times[1:], ends)), times)
    got = run("-I", "0.1", "-n", "3")
    lines = got[1].splitlines()
    report("three intervals, a heading and a line each", len(lines) == 4 and
           len({len(line.split()) for line in lines}) == 1, *got)
    got = run("-I", "0.1", "-n", "1", "--", "sh", "-c",
              "sleep 0.6; echo late; exit 3")
    report("a command that outlives them is waited for",
           got[0] == 3 and got[1].endswith("late\n"), *got)
    return [json.loads(line) for line in
            run("-I", "0.3", "-n", "2", "--json")[1].splitlines()]


def blocks_interrupts(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        blocked = re.search(r"SigBlk:\s*(\w+)", file.read()).group(1)
    return int(blocked, 16) & 1 << signal.SIGINT - 1


def interrupted():
    with subprocess.Popen([ilb, "stat"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as watch:
        end = time.monotonic() + 20
        while not blocks_interrupts(watch.pid) and time.monotonic() < end:
            time.sleep(0.05)
        watch.send_signal(signal.SIGINT)
        out = watch.communicate(timeout=30)[0]
    report("Ctrl-C ends it with the summary", watch.returncode == 0 and
           b"\nVerdict\n" in out and b"\nSources\n" in out, out)


def broken_pipe():
    done = subprocess.run(["sh", "-c", f"{ilb} stat -I 0.1 | head -n 2"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=30, check=False)
    report("a reader that leaves ends it, quietly",
           done.stdout.count(b"\n") == 2 and not done.stderr, done)
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([ilb, "stat", "-I", "0.1", "-n", "3"],
                              stdout=full, stderr=subprocess.PIPE,
                              timeout=30, check=False)
    report("a full disk: status 3, one line", done.returncode == 3 and
           done.stderr.count(b"\n") == 1, done)


def without_bpf():
    samples = []
    ways = [("without capabilities", no_bpf, "CAP_BPF"),
            ("as nobody", as_nobody, "BPF")]
    try:
        subprocess.run(["true"], preexec_fn=no_types, check=True)
        ways.append(("without BTF", no_types, "CONFIG_DEBUG_INFO_BTF"))
    except subprocess.SubprocessError:
        print("# no mounts of my own: without BTF is not tried")
    for name, way, needs in ways if root else []:
        got = run("--json", "--", "sleep", "0.3", preexec_fn=way)
        data = json.loads(got[1] or "{}")
        samples.append(data)
        report(f"{name}: kicks are unknown, not 0", got[0] == 0 and
               "kicks" not in data and "runs" not in data and
               "contention" not in data, *got)
        report(f"{name}: and it is said what they need",
               needs in data["sources"]["kicks"]["needs"], data["sources"])
        report(f"{name}: softirqs come from /proc, without their time",
               data["sources"]["softirq"]["from"] == "/proc/softirqs" and
               "sched" in data["softirq"] and
               "sched_time_us" not in data["softirq"] and
               data["sources"]["utilisation"]["from"] == "/proc/stat", data)
        text = run("--", "sleep", "0.1", preexec_fn=way)[1]
        report(f"{name}: the text says so", re.search(
            r"\n  kicks +unknown: needs ", text) and re.search(
                r"\n  time in them +unknown: needs ", text), text)
    return samples


def write(name, content):
    with open(name, "w", encoding="ascii") as file:
        file.write(content)


def diff():
    one = {"capture": {"duration_s": 2}, "kicks": {"total": 100,
           "on_busy_core": 0}, "runs": {"latency_us": {"mean": 5}},
           "domains": [{"name": "SMT", "level": 0, "idle_type": "idle",
                        "per_second": 10.0}]}
    two = {"capture": {"duration_s": 4}, "kicks": {"total": 50,
           "on_busy_core": 4}, "runs": {"latency_us": {"mean": 10}},
           "domains": [{"name": "SMT", "level": 0, "idle_type": "idle",
                        "per_second": 15.0}],
           "softirq": {"sched": 8}}
    write("a.json", json.dumps(one, indent=1))
    write("b.json", json.dumps(one) + "\n" + json.dumps(two) + "\n")
    got = run("--diff", "a.json", "b.json")
    rows = {re.split(r"  +", line.strip())[0]:
            re.split(r"  +", line.strip())[1:]
            for line in got[1].splitlines()}
    report("--diff: per second, of the last object, with ratios",
           got[0] == 0 and rows.get("kicks/s") == ["50.00", "12.50", "0.25x"]
           and rows.get("latency, mean us") == ["5.00", "10.00", "2.00x"] and
           rows.get("on a busy core/s") == ["0.00", "1.00", "-"] and
           rows.get("SCHED softirqs/s") == ["unknown", "2.00", "-"] and
           rows.get("LB/s, SMT idle") == ["10.00", "15.00", "1.50x"] and
           "runs/s" not in rows, *got)
    write("bad.json", '{"capture": ')
    write("empty.json", "")
    write("list.json", "[1]")
    write("tail.json", json.dumps(one) + '\n{"capture"')
    bad = []
    for name in ("bad.json", "empty.json", "list.json", "tail.json", "none"):
        got = run("--diff", "a.json", name)
        if got[0] != 3 or got[1] or got[2].count("\n") != 1 or \
                name not in got[2]:
            bad.append((name, got))
    report("--diff: files that are none, one line and status 3", not bad,
           *bad)
    write("nothing.json", "{}")
    got = run("--diff", "nothing.json", "nothing.json")
    report("--diff: nothing to compare is an error, not an empty table",
           got[0] == 3 and not got[1] and got[2].count("\n") == 1, *got)


def leftovers():
    if not root:
        return
    done = subprocess.run(["bpftool", "prog", "list"], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env={"PATH": os.environ["PATH"] + ":/usr/sbin"})
    report("nothing is left in the kernel",
           "on_softirq_end" not in done.stdout, done.stdout)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        usage()
        commands()
        samples = [summary(), *intervals()]
        interrupted()
        broken_pipe()
        samples += without_bpf()
        valid(samples)
        diff()
        try:
            leftovers()
        except OSError:
            pass
        os.chdir("/")
    print(f"1..{len(results)}")
    sys.exit(not all(results))


main()
