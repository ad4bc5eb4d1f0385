#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: record.py ILB COMPARE   The command "ilb record", from outside; TAP.
#
# Records this machine: needs root, tracefs and trace-cmd, else is skipped.

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ilb = os.path.abspath(sys.argv[1])
compare = os.path.abspath(sys.argv[2])
instances = "/sys/kernel/tracing/instances"
results = []
# Whoever runs the tests (nohup, a job in the background) may ignore them.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
parts = {"trace.dat", "topology.xml", "system.json", "softirqs.before",
         "softirqs.after"} | ({"schedstat.before", "schedstat.after"} if
                              os.path.exists("/proc/schedstat") else set())
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


def skip(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def report(name, good, *notes):
    results.append(bool(good))
    print("ok" if good else "not ok", len(results), "-", name, flush=True)
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print("#", line)


def run(*args, before=(), **more):
    done = subprocess.run([*before, ilb, "record", *args], timeout=100,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, **more)
    return done.returncode, done.stdout, done.stderr


def left():
    """Instances of recorders that are gone; of others, who may be at work."""
    return [name for name in os.listdir(instances)
            if re.fullmatch(r"ilb-\d+", name) and
            not os.path.exists(f"/proc/{name[4:]}")]


def clean(folder="."):
    return not left() and not [name for name in os.listdir(folder)
                               if ".ilb-" in name]


def measures(folder):
    done = subprocess.run([ilb, "report", "--json", "-i", folder],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=100)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def listed(folder):
    """What trace-cmd sees: the CPU of each event."""
    done = subprocess.run(["trace-cmd", "report",
                           os.path.join(folder, "trace.dat")],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=True, timeout=100)
    return [int(cpu) for cpu in re.findall(r"^ *\S.*?-\d+ +\[(\d+)\]",
                                           done.stdout, re.M)]


def counts(said):
    found = re.search(r" ([\d.]+) s, (\d+) events, [\d.]+ MB, (\d+) lost",
                      said)
    return (float(found[1]), int(found[2]), int(found[3])) if found else None


def a_second():
    got = run("-d", "1")
    said = counts(got[2])
    report("-d 1: exit 0, and nothing on standard output",
           got[0] == 0 and not got[1] and said, got)
    report("-d 1: takes a second", said and 1 <= said[0] < 2, got)
    report("-d 1: a whole capture", set(os.listdir("ilb.data")) == parts,
           os.listdir("ilb.data"))
    report("-d 1: nothing else is left", clean(), left(), os.listdir("."))
    report("-d 1: names the next step", "next: ilb report -i ilb.data\n" in
           got[2], got)
    facts = measures("ilb.data")
    report("-d 1: ilb report reads it, and knows the kicks",
           facts.get("capture", {}).get("kernel") == os.uname().release and
           facts["kicks"]["total"] >= 0 and
           facts["capture"]["unparsed"] == 0, facts.get("capture"))
    cpus = listed("ilb.data")
    report("-d 1: as many events as it says", said and said[1] == len(cpus),
           said, len(cpus))
    with open("ilb.data/system.json", encoding="utf-8") as file:
        system = json.load(file)
    report("-d 1: system.json", system["kernel"] == os.uname().release and
           system["hz"] > 0 and system["cpus"] and
           system["trace_clock"] == ("mono" if exact else "local") and
           "sched:sched_switch" in system["events"] and
           set(system["unfiltered"]) <= set(system["events"]) and
           system["symbols_hidden"] is False, system)
    mask = os.umask(0)
    os.umask(mask)
    report("-d 1: others may read it",
           os.stat("ilb.data").st_mode & 0o777 == 0o777 & ~mask,
           oct(os.stat("ilb.data").st_mode))


def names():
    first = os.stat("ilb.data/trace.dat").st_ino
    got = run("-d", "1")
    report("DIR exists: exit 3, the remedy", got[0] == 3 and "--force" in
           got[2] and got[2].count("\n") == 1 and clean(), got)
    report("DIR exists: it is as it was",
           os.stat("ilb.data/trace.dat").st_ino == first)
    got = run("-d", "0.1", "--force", "-o", "ilb.data/")
    report("--force: the earlier one is DIR.old", got[0] == 0 and
           os.stat("ilb.data.old/trace.dat").st_ino == first and
           os.stat("ilb.data/trace.dat").st_ino != first, got)
    second = os.stat("ilb.data/trace.dat").st_ino
    got = run("-d", "0.1", "--force")
    report("--force again: an older DIR.old goes", got[0] == 0 and clean() and
           os.stat("ilb.data.old/trace.dat").st_ino == second, got)
    os.mkdir("thesis")
    with open("thesis/text", "w", encoding="utf-8"):
        pass
    got = run("-d", "0.1", "--force", "-o", "thesis")
    report("--force: moves captures only", got[0] == 3 and
           os.listdir("thesis") == ["text"], got)
    got = run("-d", "0.1", "-o", "nowhere/x")
    report("DIR cannot be made: exit 3", got[0] == 3 and "nowhere" in got[2]
           and got[2].count("\n") == 1 and clean(), got)


def commands():
    got = run("-o", "c0", "--", "sh", "-c", "echo said; cat; exit 7",
              input="given\n")
    report("a command: its status and its own streams",
           got[0] == 7 and got[1] == "said\ngiven\n" and clean(), got)
    report("a failing command is recorded as well",
           measures("c0").get("capture"), got)
    got = run("-o", "c1", "--", "sh", "-c", "kill -KILL $$")
    report("a command that a signal ends: 128 + 9", got[0] == 137 and
           os.path.exists("c1"), got)
    got = run("-o", "c2", "--", "sh", "-c", "ulimit -n; kill -INT $$; echo no")
    report("it has the limits and signals that it would have",
           got[0] == 130 and got[1].split() == [subprocess.run(
               ["sh", "-c", "ulimit -n"], stdout=subprocess.PIPE, text=True,
               check=True).stdout.strip()], got)
    for want, command in ((127, "/nonexistent"), (126, "/proc")):
        got = run("-o", "c3", "--", command)
        report(f"exit {want}: {command} cannot be run, nothing is left",
               got[0] == want and command in got[2] and clean() and
               not os.path.exists("c3"), got)
    begin = time.monotonic()
    got = run("-d", "0.2", "-o", "c4", "--", "sh", "-c", "sleep 2; exit 5")
    said = counts(got[2])
    report("-d ends the recording, not the command", got[0] == 5 and said and
           said[0] < 1.5 and time.monotonic() - begin >= 2 and clean(), got)
    got = run("-d", "60", "-o", "c5", "--", "true")
    said = counts(got[2])
    report("the command ends the recording before -d does",
           got[0] == 0 and said and said[0] < 5, got)


def interrupted(number, command):
    name = f"{number.name}{'-command' if command else ''}"
    child = subprocess.Popen([ilb, "record", "-o", name, *command],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
    while child.poll() is None and not os.path.exists(
            f"{instances}/ilb-{child.pid}"):
        time.sleep(0.01)
    time.sleep(0.5)
    child.send_signal(number)
    said = child.communicate(timeout=60)
    want = 128 + number if command else 0
    report(f"{name}: exit {want}, saved, nothing left",
           child.returncode == want and clean() and
           set(os.listdir(name)) == parts, child.returncode, said, left())


def signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        interrupted(number, [])
        interrupted(number, ["--", "sleep", "60"])
    # Also when it comes while things are being set up.
    for delay in range(0, 100, 10):
        child = subprocess.Popen([ilb, "record", "-d", "9", "-o", "early"],
                                 stderr=subprocess.PIPE)
        time.sleep(delay / 1000)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=60)
        shutil.rmtree("early", ignore_errors=True)
        if not clean():
            break
    report("SIGTERM at any time: nothing left", clean(), delay, left())


def full_disk():
    # Too small for the buffers' files; for trace-cmd's; for its end.
    for size in ("64k", "1m", "4m"):
        os.mkdir("disk")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none",
                        "disk"], check=True)
        try:
            got = run("-o", "disk/x", "--", sys.executable, "-c", ping_pong,
                      "0.5")
            report(f"a disk of {size}: exit 125, one line, nothing left",
                   got[0] == 125 and got[2].count("\n") == 1 and
                   not os.listdir("disk") and clean(), got,
                   os.listdir("disk"), left())
        finally:
            subprocess.run(["umount", "disk"], check=True)
            os.rmdir("disk")


def much():
    # It fetches in time whatever comes, unless it does not run.
    got = run("-o", "lost", "--buffer-size", "64", "--", "sh", "-c",
              'kill -STOP $PPID; "$@"; kill -CONT $PPID', "-",
              sys.executable, "-c", ping_pong, "1")
    said = counts(got[2])
    facts = measures("lost").get("capture", {})
    report("small buffers: the loss is said first", got[0] == 0 and said and
           said[2] > 0 and re.match(r"ilb record: \d+ events were LOST",
                                    got[2]), got)
    report("small buffers: the report knows of it",
           facts.get("lost_events", 0) > 0, facts)
    got = run("-o", "woken", "--buffer-size", "512", "--", sys.executable,
              "-c", ping_pong, "2")
    said = counts(got[2])
    report("buffers that fill many times a second are fetched as often",
           got[0] == 0 and said and said[1] > 5000 and said[2] < said[1], got)
    got = run("-o", "long", "--", sys.executable, "-c", ping_pong, "3")
    said = counts(got[2])
    cpus = listed("long")
    report("more than fits a quarter: fetched meanwhile, none twice",
           got[0] == 0 and said and said[1] == len(cpus) and
           said[1] + said[2] > 20000, got, len(cpus))


def cpus():
    got = run("-d", "1", "-o", "one", "-C", "0")
    report("-C 0: no events of others", got[0] == 0 and
           set(listed("one")) == {0} and measures("one"), got)
    with open("one/system.json", encoding="utf-8") as file:
        several = json.load(file)["cpus"] != "0"
    text = subprocess.run([ilb, "report", "-i", "one"], check=False, text=True,
                          stdout=subprocess.PIPE, timeout=100).stdout
    report("-C 0: the report says that others were not recorded",
           several == ("CPUs not recorded" in text), text)
    last = max(os.sched_getaffinity(0))
    if last:
        got = run("-d", "1", "-o", "last", "-C", str(last))
        report(f"-C {last}: keeps its number", got[0] == 0 and
               set(listed("last")) == {last} and measures("last"), got)
    got = run("-d", "1", "-o", "none", "-C", "0,8191")
    report("-C beyond the machine: exit 2, both are named", got[0] == 2 and
           "CPU 8191" in got[2] and "has CPUs 0" in got[2] and clean(), got)


def moments():
    got = run("-d", "2", "-o", "both", "--", sys.executable, "-c", ping_pong,
              "1.5")
    if exact:
        told = subprocess.run([compare, "both"], stdout=subprocess.PIPE,
                              text=True, check=False, timeout=60)
        report("moments and trace tell of the same kicks",
               got[0] == 0 and told.returncode == 0, got, told.stdout)
        report("kicks are counted", re.search(r"; \d+ kicks, 0 moments lost\n",
                                              got[2]), got)
    else:
        report("no exact moments: goes on, one line says why",
               got[0] == 0 and got[2].count("no exact moments: ") == 1 and
               set(os.listdir("both")) == parts, got, os.listdir("both"))
    got = run("-d", "1", "-o", "only", "--moments-only", env={
        "PATH": "/nonexistent"})
    if exact:
        report("--moments-only: no trace, and no trace-cmd is needed",
               got[0] == 0 and "kicks" in got[2] and "events" not in got[2]
               and set(os.listdir("only")) == parts - {"trace.dat"} and
               clean(), got)
    else:
        report("--moments-only without them: exit 4, one line, nothing left",
               got[0] == 4 and got[2].count("\n") == 1 and clean() and
               not os.path.exists("only"), got)
    got = run("-d", "0.3", "-o", "trace", "--no-bpf")
    with open("trace/system.json", encoding="utf-8") as file:
        system = json.load(file)
    report("--no-bpf: a trace only, and no word of kicks", got[0] == 0 and
           "moments" not in os.listdir("trace") and "moments" not in got[2]
           and system["trace_clock"] == "local", got, system)


def usage():
    for args in (["-d", "0"], ["-d", "x"], ["-d", "-1"], ["-d", "nan"],
                 ["-d", "1e3"], ["-d", ""], ["-d", "1.2.3"], ["-d"],
                 ["-d", "999999999999"], ["--buffer-size", "0"],
                 ["--buffer-size", "63"], ["--buffer-size", "99999999999"],
                 ["-C", "x"], ["-C", ""], ["--"], ["--nonsense"],
                 ["-o", ""], ["--moments-only", "--no-bpf"],
                 ["--moments-only", "-C", "0"]):
        got = run(*args)
        report(f"exit 2: {' '.join(args)}", got[0] == 2 and
               got[2].count("\n") == 1 and clean(), got)
    report("-h", run("-h")[0] == 0 and "usage:" in run("-h")[1])


def denied():
    path = os.environ["PATH"]
    got = run("-d", "1", "-o", "d", env={"PATH": "/nonexistent"})
    report("no trace-cmd: exit 4, the remedy", got[0] == 4 and
           "install" in got[2] and clean(), got)
    got = run("-o", "d", "--", "true", env={"PATH": "/nonexistent"})
    report("the same with a command: 125", got[0] == 125, got)
    got = run("-d", "1", "-o", "d", before=[
        "unshare", "-m", "sh", "-c",
        "umount -a -t tracefs; umount /sys/kernel/debug 2>/dev/null;"
        'exec "$@"', "-"])
    report("tracefs is not mounted: exit 4, the command", got[0] == 4 and
           "mount -t tracefs" in got[2] and clean(), got)
    os.mkdir("open")
    os.chmod("open", 0o777)
    shutil.copy(ilb, "open/ilb")
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534",
                           "--clear-groups", "./ilb", "record", "-d", "1"],
                          stderr=subprocess.PIPE, text=True, cwd="open",
                          env={"PATH": path}, check=False, timeout=60)
    report("not root: exit 4, what would do", done.returncode == 4 and
           "root" in done.stderr and done.stderr.count("\n") == 1 and clean(),
           done)
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534",
                           "--clear-groups", "./ilb", "record", "-d", "1",
                           "--moments-only"], stderr=subprocess.PIPE,
                          text=True, cwd="open", env={"PATH": path},
                          check=False, timeout=60)
    report("not root, --moments-only: exit 4, what would do",
           done.returncode == 4 and done.stderr.count("\n") == 1 and
           ("CAP_SYSLOG" in done.stderr or "without BPF" in done.stderr or
            "CONFIG_" in done.stderr) and clean("open"), done)


def entry_offset(path):
    """Where in an ELF64 file its first instruction is."""
    with open(path, "rb") as file:
        data = file.read()
    entry, headers = struct.unpack_from("<QQ", data, 24)
    size, count = struct.unpack_from("<HH", data, 54)
    for at in range(headers, headers + size * count, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ",
                                                                 data, at)
        if kind == 1 and address <= entry < address + length:
            return entry - address + offset
    return 0


def uprobe(line):
    # Not "a" of open(): that seeks, which this file refuses.
    file = os.open("/sys/kernel/tracing/uprobe_events",
                   os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


def recorded(folder):
    """The probes in it, by system.json and by trace-cmd."""
    with open(os.path.join(folder, "system.json"), encoding="utf-8") as file:
        events = json.load(file)["events"]
    text = subprocess.run(["trace-cmd", "report", f"{folder}/trace.dat"],
                          stdout=subprocess.PIPE, text=True, check=False,
                          stderr=subprocess.DEVNULL).stdout
    return ({name[4:] for name in events if name.startswith("ilb:")},
            set(re.findall(r" (trig|exit_idle|test): ", text)))


def probes():
    """Made by another hand: one that will do, one that does not, another."""
    true = os.path.realpath(shutil.which("true"))
    at = f"{true}:{entry_offset(true):#x}"
    mine = [f"p:ilb/trig {at} mask=+0(%sp):x64", f"p:ilb/exit_idle {at}",
            f"p:ilb/test {at}"]
    events = "/sys/kernel/tracing/events/ilb"
    if os.path.exists(events):
        report("probes # SKIP somebody has set some", True)
        return
    try:
        for line in mine:
            uprobe(line)
    except OSError as why:
        report(f"probes # SKIP {why}", True)
        return
    try:
        got = run("-o", "probed", "--", true)
        names = recorded("probed")
        report("probes that are there, and will do, are recorded",
               got[0] == 0 and "trig" in names[0] and names[1] == {"trig"} and
               not names[0] & {"test", "exit_idle"}, got, names)
        report("and are there afterwards", {"trig", "exit_idle", "test"} ==
               {name for name in os.listdir(events)
                if os.path.isdir(f"{events}/{name}")}, os.listdir(events))
        got = run("-o", "bare", "--no-probes", "--", true)
        names = recorded("bare")
        report("--no-probes: none, and none is missed", got[0] == 0 and
               names == (set(), set()) and "probes:" not in got[2],
               got, names)
    finally:
        for name in ("trig", "exit_idle", "test"):
            uprobe(f"-:ilb/{name}")
    lacking = not os.path.exists("/sys/kernel/tracing/kprobe_events")
    got = run("-o", "own", "--", true)
    report("probes: set and removed, or said why not", got[0] == 0 and
           lacking == ("  probes: " in got[2]) and
           lacking != bool(recorded("own")[0]) and
           not os.path.exists(events), got, recorded("own"))


def taken():
    got = run("-d", "1", "-o", "t", before=[
        "sh", "-c", f'mkdir {instances}/ilb-$$ && exec "$@"', "-"])
    names_left = left()
    report("its name is taken: exit 3, the other one stays", got[0] == 3 and
           len(names_left) == 1 and names_left[0] in got[2], got, names_left)
    for name in names_left:
        os.rmdir(os.path.join(instances, name))


if os.geteuid():
    skip("needs root, to record")
if not os.path.isdir(instances):
    skip("needs tracefs; mount it on /sys/kernel/tracing")
if not shutil.which("trace-cmd"):
    skip("needs trace-cmd")
if left():
    skip(f"{left()} was left by a recorder that was killed; remove it")
with tempfile.TemporaryDirectory() as home:
    os.chmod(home, 0o755)
    os.chdir(home)
    exact = run("-d", "0.1", "-o", "try", "--moments-only")[0] == 0
    print("# exact moments:", "yes" if exact else "cannot be had here")
    parts |= {"moments"} if exact else set()
    for part in (a_second, names, commands, signals, full_disk, much, cpus,
                 moments, usage, denied, probes, taken):
        part()
    os.chdir("/")
print(f"1..{len(results)}")
sys.exit(0 if all(results) else 1)
