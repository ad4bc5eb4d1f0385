#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: workload.py ILB   The command "ilb workload", from outside; TAP.
#
# What a run left behind is looked for among the processes of its own session,
# so that other runs on the machine do not matter.

import json
import os
import signal
import subprocess
import sys
import time

ilb = sys.argv[1]
allowed = sorted(os.sched_getaffinity(0))
two = allowed[:2]
two_list = ",".join(map(str, two))
results = []
# Whoever runs the tests (nohup, a job in the background) may ignore them.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)


def report(name, good, *notes):
    results.append(bool(good))
    print("ok" if good else "not ok", len(results), "-", name)
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print("#", line)


def run(*args):
    done = subprocess.run([ilb, "workload", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def start(*args):
    return subprocess.Popen([ilb, "workload", *args], start_new_session=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def stat(pid):
    """name, state, parent, session, ticks of CPU time; None if it is gone"""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    name = text[text.index("(") + 1:text.rindex(")")]
    rest = text[text.rindex(")") + 2:].split()
    return name, rest[0], int(rest[1]), int(rest[3]), sum(map(int,
                                                              rest[11:13]))


def wanted(pid):
    """seconds that it ran or waited for its CPU: others may use it, too"""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return sum(map(int, file.read().split()[:2])) / 1e9


def tasks_of(process):
    """pids of what runs in its session, but for itself, by name"""
    found = {}
    for entry in os.listdir("/proc"):
        facts = stat(entry) if entry.isdigit() else None
        if (facts and facts[3] == process.pid and facts[1] not in "ZX" and
                int(entry) != process.pid):
            found[facts[0]] = int(entry)
    return found


def wait_for(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def names_come(process, names):
    return wait_for(lambda: set(tasks_of(process)) == set(names))


def names_go(process):
    return wait_for(lambda: not tasks_of(process))


def finish(process):
    try:
        out, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        # Tasks that were left hold the pipe: end the session.
        os.killpg(process.pid, signal.SIGKILL)
        return "never", "", ""
    return process.returncode, out, err


def pin():
    process = start("pin", "-d", "2", "-C", two_list, "--json")
    good = names_come(process, [f"spin{cpu}" for cpu in two])
    tasks = tasks_of(process)
    report("pin: a task for each CPU, of its name", good, tasks)
    where = {name: os.sched_getaffinity(pid) for name, pid in tasks.items()}
    report("pin: each on its CPU only",
           where == {f"spin{cpu}": {cpu} for cpu in two}, where)
    before = {name: wanted(pid) for name, pid in tasks.items()}
    own = stat(process.pid)[4]
    begin = time.monotonic()
    time.sleep(1)
    length = time.monotonic() - begin
    used = {name: (wanted(pid) - before[name]) / length
            for name, pid in tasks.items()}
    own = stat(process.pid)[4] - own
    report("pin: both CPUs are wanted all the time", len(used) == len(two) and
           all(0.7 < share < 1.3 for share in used.values()), used)
    report("pin: the parent does nothing", own <= 1, own)
    code, out, err = finish(process)
    said = json.loads(out)
    report("pin: exit 0 on time, and a summary", code == 0 and not err and
           2 <= said["seconds"] < 5 and said["workload"] == "pin" and
           [t["cpu"] for t in said["tasks"]] == two, code, out, err)
    report("pin: loops per second", all(
        t["loops"] > 1000 and abs(t["loops_per_second"] * said["seconds"] /
                                  t["loops"] - 1) < 1e-3
        for t in said["tasks"]), out)
    report("pin: nothing is left", not tasks_of(process), tasks_of(process))


def default_cpus():
    first = set()
    node = "/sys/devices/system/node/node0/cpulist"
    for cpu in allowed:
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/"
        with open(path + "thread_siblings_list", encoding="ascii") as file:
            first.add(int(file.read().replace("-", ",").split(",")[0]))
    got = run("pin", "--dry-run")
    named = [int(line.split()[0][4:]) for line in got[1].splitlines()[1:]]
    one_node = not os.path.exists("/sys/devices/system/node/node1")
    report("pin: by default the first thread of each core of node 0",
           got[0] == 0 and named and set(named) <= first and
           (not one_node or set(named) == first), node, first, got)
    report("pin: --per-core 0 is the same, in both spellings",
           run("pin", "--per-core", "0", "--dry-run") == got ==
           run("pin", "--per-core=0", "--dry-run") ==
           run("pin", "--dry-run", "--per-core"), got)


def mix():
    want = ["burst0", "burst1", "ping0", "pong0"]
    args = ("mix", "--bursts", "2", "--pairs", "1")
    process = start(*args, "-d", "1", "--json")
    good = names_come(process, want)
    tasks = tasks_of(process)
    where = {name: os.sched_getaffinity(pid) for name, pid in tasks.items()}
    report("mix: names, and no task is pinned", good and
           all(cpus == set(allowed) for cpus in where.values()), where)
    code, out, err = finish(process)
    said = json.loads(out)
    loops = {t["name"]: t["loops"] for t in said["tasks"]}
    report("mix: all of them worked", code == 0 and not err and
           list(loops) == want and all(loops.values()), code, out, err)
    plan = run(*args, "--seed", "7", "--dry-run")
    report("mix: a seed gives the same plan again, another one another",
           plan[0] == 0 and plan == run(*args, "--seed", "7", "--dry-run") and
           plan[1].splitlines()[1:] != run(*args, "--seed", "8", "--dry-run")
           [1].splitlines()[1:], plan)
    lengths = [float(length) for line in plan[1].splitlines()[1:3]
               for length in line.split("ms ")[1].replace("/", " ")
               .split()[:-1]]
    report("mix: bursts run and sleep 2 to 22 ms", len(lengths) == 16 and
           len(set(lengths)) > 12 and
           all(2 <= length <= 22 for length in lengths), plan[1])


def idle():
    process = start("idle", "-d", "0.3", "--json")
    time.sleep(0.1)
    tasks = tasks_of(process)
    code, out, err = finish(process)
    said = json.loads(out)
    report("idle: no tasks, on time", code == 0 and not tasks and
           said["tasks"] == [] and 0.3 <= said["seconds"] < 2, tasks, out,
           err)


def lose():
    cpu = two[-1]
    leaver, sleeper = f"leaver{cpu}", f"sleeper{cpu}"
    begin = time.monotonic()
    process = start("lose", str(cpu), "-d", "5", "--force")
    good = names_come(process, [leaver, sleeper])
    pid = tasks_of(process).get(sleeper, 0)
    report("lose: two tasks on the CPU", good and all(
        os.sched_getaffinity(task) == {cpu}
        for task in tasks_of(process).values()), tasks_of(process))
    left = names_come(process, [sleeper])
    at = time.monotonic() - begin
    report("lose: one leaves after 0.4 s, the other runs",
           left and at >= 0.4 and (stat(pid)[1] == "R" or at >= 0.95),
           at, stat(pid))
    slept = wait_for(lambda: (stat(pid) or "??")[1] == "S")
    at = time.monotonic() - begin
    report("lose: which then sleeps, from 1 s on", slept and 1 <= at < 4,
           at, stat(pid))
    # The kernel may still book a tick or two of what it has used.
    before = stat(pid)
    time.sleep(0.5)
    after = stat(pid)
    report("lose: and stays asleep", after[1] == "S" and
           after[4] - before[4] <= 3, before, after)
    got = finish(process)
    report("lose: both gone, exit 0", got == (0, "", "") and
           not tasks_of(process), got)


def heal():
    cpu = two[-1]
    code, out, err = run("heal", str(cpu), "--json")
    said = json.loads(out or "{}")
    report("heal: a short run, on the CPU", code == 0 and not err and
           said["cpus"] == str(cpu) and said["seconds"] < 1.5 and
           said["tasks"][0]["loops"] > 0, code, out, err)


def ends():
    """Every way to end it early ends all tasks."""
    names = [f"spin{cpu}" for cpu in two]
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        process = start("pin", "-C", two_list, "-d", "60", "--json")
        good = names_come(process, names)
        process.send_signal(sig)
        gone = names_go(process)
        code, out, err = finish(process)
        said = json.loads(out) if out else {}
        report(f"{sig.name} to the parent leaves nothing", good and gone and
               code == -sig and not err and
               said.get("signal") == (None if sig == signal.SIGKILL else sig),
               good, gone, code, out, err)
    process = start("pin", "-C", two_list, "-d", "60")
    good = names_come(process, names)
    for pid in tasks_of(process).values():
        os.kill(pid, signal.SIGINT)
        os.kill(pid, signal.SIGTERM)
    time.sleep(0.1)
    good = good and set(tasks_of(process)) == set(names)
    os.killpg(process.pid, signal.SIGINT)
    got = finish(process)
    report("Ctrl-C, which reaches all, is not taken for a death",
           good and got == (-signal.SIGINT, "", ""), good, got)
    process = start("mix", "-d", "60")
    good = wait_for(lambda: "burst2" in tasks_of(process))
    os.kill(tasks_of(process)["burst2"], signal.SIGKILL)
    code, out, err = finish(process)
    report("a task that dies is named, exit 3, and nothing left", good and
           code == 3 and "burst2 died of signal 9" in err and
           err.count("\n") == 1 and not tasks_of(process), code, out, err)


def refused():
    absent = "4000"
    for args in (["pin", "-C", f"{two[0]},{absent}", "-d", "60"],
                 ["lose", absent, "--force"], ["heal", absent]):
        process = start(*args)
        code, out, err = finish(process)
        report(f"exit 4, nothing left: {' '.join(args)}", code == 4 and
               not out and err.startswith(f"ilb workload: CPU {absent} is "
                                          "not online") and
               err.count("\n") == 1 and not tasks_of(process), code, err)
    try:
        with open("/sys/devices/system/cpu/nohz_full",
                  encoding="ascii") as file:
            full = file.read().strip(" \n()")
    except FileNotFoundError:
        full = ""
    if full in ("", "null"):
        got = run("lose", str(two[0]))
        report("exit 4: lose without nohz_full", got[0] == 4 and
               "--force" in got[2] and got[2].count("\n") == 1, got)
    got = run("pin", "--per-core", "8000")
    report("exit 4: no such node", got[0] == 4 and "no such node" in got[2],
           got)


def exits():
    for want, args in ((2, []), (2, ["banana"]), (2, ["pin", "0"]),
                       (2, ["pin", "-d", "0"]), (2, ["pin", "-d", "x"]),
                       (2, ["pin", "-d", ""]), (2, ["pin", "-d", "-1"]),
                       (2, ["pin", "-d", "1e9"]), (2, ["pin", "-d", "1.2.3"]),
                       (2, ["pin", "-d", "nan"]), (2, ["idle", "-d", "1s"]),
                       (2, ["idle", "-d", "99999999999"]),
                       (2, ["pin", "-C", ""]), (2, ["pin", "-C", "3-1"]),
                       (2, ["pin", "-C", "9999"]), (2, ["pin", "-C"]),
                       (2, ["pin", "-C", "0", "--per-core"]),
                       (2, ["pin", "--per-core=x"]),
                       (2, ["pin", "--seed", "1"]),
                       (2, ["mix", "-C", "0"]), (2, ["mix", "--pairs", "-1"]),
                       (2, ["mix", "--bursts", "99999999999999999999999"]),
                       (2, ["mix", "--bursts", "0", "--pairs", "0"]),
                       (2, ["mix", "--seed", "0x10"]),
                       (2, ["idle", "--force"]), (2, ["lose"]),
                       (2, ["lose", "0", "1"]), (2, ["lose", "x"]),
                       (2, ["lose", "0", "-d", "1", "--force"]),
                       (2, ["heal", "0", "-d", "1"]), (2, ["heal", "8192"]),
                       (2, ["mix", "--dry-run", "--json"]),
                       (2, ["mix", "--nonsense"]),
                       (0, ["-h"]), (0, ["--help"]),
                       (0, ["mix", "--bursts", "0", "--dry-run"])):
        got = run(*args)
        report(f"exit {want}: {' '.join(args)}", got[0] == want and
               got[2].count("\n") == (want == 2), got)
    full = subprocess.run(f"'{ilb}' workload idle -d 0.01 --json >/dev/full",
                          shell=True, stderr=subprocess.PIPE, text=True)
    report("a full disk is noticed", full.returncode == 3 and full.stderr,
           full)


pin()
default_cpus()
mix()
idle()
lose()
heal()
ends()
refused()
exits()
print(f"1..{len(results)}")
sys.exit(0 if all(results) else 1)
