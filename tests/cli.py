#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The program from outside: usage: cli.py ILB SOURCE; TAP.

What holds for every input, good or bad: no signal, no hang; exit 0 with all of
the output, or another status with one line on stderr that says what is wrong
with what, and what to do.
"""
import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ILB, SOURCE = map(os.path.abspath, sys.argv[1:3])
CAPTURES = os.path.join(SOURCE, "tests/captures")
PIN = os.path.join(CAPTURES, "6.12-pin16")
TEXT = os.path.join(SOURCE, "tests/golden/text")
GUEST = "pack:2 [numa] l3:1 core:4 pu:2"
VERBS = ("check", "report", "replay")
SECONDS = 20
NOBODY = 65534

results = []
folder = ""


class Done:
    """What a run of the program left: code, out, err (bytes)."""

    def __init__(self, args, code, out, err):
        self.args, self.code, self.out, self.err = args, code, out, err

    def __str__(self):
        return "%s: exit %s, %d bytes, %r" % (
            " ".join(map(repr, self.args)), self.code, len(self.out),
            self.err[:600])

    def text(self):
        return self.out.decode()

    def json(self):
        return json.loads(self.out)


def ilb(*args, stdin=b"", program=None, **options):
    options.setdefault("stdout", subprocess.PIPE)
    if isinstance(stdin, bytes):
        options["input"] = stdin
    else:
        options["stdin"] = stdin
    try:
        done = subprocess.run([program or ILB, *args], timeout=SECONDS,
                              stderr=subprocess.PIPE, **options)
    except subprocess.TimeoutExpired:
        return Done(args, "none after %d s" % SECONDS, b"", b"")
    return Done(args, done.returncode, done.stdout or b"", done.stderr)


def check(name, good, *notes):
    results.append(bool(good))
    print("%sok %d - %s" % ("" if good else "not ", len(results), name))
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print("#", line)
    sys.stdout.flush()


def skip(name, why):
    results.append(True)
    print("ok %d - %s # SKIP %s" % (len(results), name, why))


def one_line(done, code):
    """Nothing but a line 'ilb VERB: OBJECT: REASON; REMEDY' and @code."""
    return done.code == code and done.out == b"" and re.fullmatch(
        rb"ilb( [a-z]+)?: [^\0-\x1f\x7f]+; [^\0-\x1f\x7f]+\n", done.err)


def fails(name, done, code, *says):
    check(name, one_line(done, code) and
          all(say in done.err.decode() for say in says),
          done, "expected: exit %d, %s" % (code, says))


def write(name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def copy(name, **changed):
    """A copy of PIN whose files are replaced: trace_dat=..., or left out."""
    path = os.path.join(folder, name)
    os.makedirs(path)
    for file in ("trace.dat", "topology.xml", "system.json"):
        data = changed.get(file.replace(".", "_"),
                           read(os.path.join(PIN, file)))
        if data is not None:
            write(os.path.join(name, file), data)
    return path


# ---- the command line ----

def helps():
    got = ilb()
    check("alone: usage on stderr", got.code == 2 and not got.out and
          all(verb in got.err.decode() for verb in VERBS), got)
    for args in (["-h"], ["--help"], ["help"]):
        got = ilb(*args)
        check("%s: usage" % args[0], got.code == 0 and not got.err and
              got.out.startswith(b"usage: ilb COMMAND"), got)
    got = ilb("--version")
    check("--version", got.code == 0 and not got.err and
          re.fullmatch(r"ilb \d+\.\d+\.\d+\n(  \w+ +(yes|no) .*\n)+",
                       got.text()), got)
    for verb in VERBS:
        short = ilb(verb, "-h")
        check(verb + " -h", short.code == 0 and not short.err and
              short.text().startswith("usage: ilb " + verb), short)
        check(verb + " -h: its options fit 80 columns",
              max(map(len, short.text().splitlines())) < 80, short.out)
        check("help " + verb + ": the same where there is no terminal",
              ilb("help", verb).out == short.out == ilb(verb, "--help").out)
    got = ilb("report", "-i", "/no/such", "-h", "--banana")
    check("-h ends it", got.code == 0 and not got.err, got)


def wrong_usage():
    fails("no such command", ilb("banana"), 2, "'banana'", "'ilb -h'")
    fails("no command in no name", ilb(""), 2, "''")
    fails("no help for it either", ilb("help", "banana"), 2, "'banana'")
    fails("a command stays one line", ilb("a\nb\033[1m"), 2, "'a?b?[1m'")
    for verb in VERBS:
        see = "see 'ilb %s -h'" % verb
        for args, says in (
                (["--banana"], "'--banana': no such option"),
                (["--json", "-Zq"], "'-Z': no such option"),
                (["--json=3"], "'--json=3': takes no value"),
                (["-i"], "'-i': needs a value"),
                (["-o"], "'-o': needs a value"),
                (["--topology"], "'--topology': needs a value"),
                (["ban\nana"], "'ban?ana'")):
            fails("%s %r" % (verb, args), ilb(verb, *args), 2, says, see)
    for verb, args, says in (
            ("report", ["--fail-on", "banana"], "banana"),
            ("report", ["--settle", "3 weeks"], "'3 weeks'"),
            ("report", ["--settle", ""], "''"),
            ("report", ["--recovery", "-1us"], "'-1us'"),
            ("report", ["--recovery", "nan"], "'nan'"),
            ("report", ["--recovery", "1e300s"], "'1e300s'"),
            ("replay", ["-p", "banana"], "'banana'"),
            ("replay", ["-p", "lowest,,near"], "''"),
            ("replay", ["-p", "wrap:9x"], "'wrap:9x'"),
            ("replay", ["-p", ",".join(["near"] * 99)], "policies"),
            ("replay", ["--settle", "x"], "'x'"),
            ("replay", ["--housekeeping", "0-x"], "'0-x'"),
            ("replay", ["--housekeeping", ""], "''"),
            ("replay", ["--json", "--list-disagreements"], "--json")):
        fails("%s %s %.20r" % (verb, args[0], args[-1]),
              ilb(verb, "-i", PIN, *args), 2, says)
    fails("a policy's CPU that is not in the capture",
          ilb("replay", "-i", PIN, "-p", "wrap:99"), 3, "wrap:99", "0-15")
    fails("housekeeping CPUs that are not in the capture",
          ilb("replay", "-i", PIN, "--housekeeping", "0,99"), 3, "0,99",
          "0-15")


def fail_on():
    for capture, args, code in (
            ("6.12-pin16", ["ilb-on-busy-core"], 1),
            ("7.3-pin16", ["ilb-on-busy-core"], 0),
            ("6.12-pin16", ["lost-events"], 0),
            ("6.12-pin16", ["lost-events", "ilb-on-busy-core"], 1)):
        options = [word for id in args for word in ("--fail-on", id)]
        path = os.path.join(CAPTURES, capture)
        got = ilb("report", "-i", path, *options)
        plain = ilb("report", "-i", path)
        check("%s --fail-on %s: %d" % (capture, " ".join(args), code),
              got.code == code and not got.err and got.out == plain.out, got)


# ---- what cannot be read ----

def no_input():
    fails("the default input is missing", ilb("report", cwd=folder), 3,
          "ilb.data", "-i")
    fails("a named input is missing", ilb("replay", "-i", "/no/such"), 3,
          "/no/such", "-i")
    path = write("file", "x")
    fails("an input below a file", ilb("report", "-i", path + "/x"), 3, path)
    os.mkdir(os.path.join(folder, "hollow"))
    fails("a folder without a trace",
          ilb("report", "-i", os.path.join(folder, "hollow")), 3, "/hollow",
          "trace.dat")
    fails("a folder without a topology",
          ilb("report", "-i", copy("no-topology", topology_xml=None)), 3,
          "no-topology", "--topology")
    fails("a bare trace without a topology",
          ilb("report", "-i", PIN + "/trace.dat"), 3, "trace.dat",
          "--topology")
    for name in ("/dev/null", "/dev/zero", "/"):
        fails(name + " as a trace", ilb(
            "report", "-i", name, "--topology", GUEST), 3, name)
    long = "x" * 250 + "/" + "y" * 200
    fails("a name of 450 characters", ilb("report", "-i", long), 3, long)


def no_trace():
    for name, data, says in (
            ("empty", b"", "empty"),
            ("text", b"It was a dark and stormy night.\n" * 50, "trace-cmd"),
            ("noise", random.Random(1).randbytes(50000), "trace-cmd"),
            ("zeros", bytes(100000), "trace-cmd"),
            ("magic", b"\x17\x08\x44tracing", ""),
            ("version", b"\x17\x08\x44tracing99\0" + bytes(9999), "99"),
            ("other-magic", b"\x17\x08\x45" + read(
                PIN + "/trace.dat")[3:], "trace-cmd")):
        path = write(name, data)
        fails("no trace: " + name, ilb("report", "-i", path, "--topology",
                                       GUEST), 3, path, says)
        for file in ("trace_dat", "trace_txt"):
            where = os.path.join(folder, "in-" + name, file)
            os.makedirs(where)
            shutil.copy(path, os.path.join(where, file.replace("_", ".")))
            shutil.copy(PIN + "/topology.xml", where)
            fails("%s as %s" % (name, file),
                  ilb("report", "-i", where), 3, where)
    for name, data in (("nothing", b""), ("zeros", bytes(10 ** 8)),
                       ("no trace", b"hello\n")):
        fails("stdin: " + name, ilb("report", "-i", "-", "--topology", GUEST,
                                    stdin=data), 3, "stdin")


def cut():
    whole = read(PIN + "/trace.dat")
    path = copy("cut")
    step = len(whole) // 33
    for size in [1, 2, 9, 10, 13, 20, 60, 4096] + [
            n * step for n in range(1, 33)] + [len(whole) - 1]:
        write("cut/trace.dat", whole[:size])
        fails("trace.dat of %d bytes, cut to %d" % (len(whole), size),
              ilb("report", "--json", "-i", path), 3, "cut/trace.dat")


def sane(done):
    """All of a report, whatever numbers it has."""
    report = done.json()
    kicks, capture = report.get("kicks", {}), report["capture"]
    total = kicks.get("total", 0)
    return (not done.err and capture["events"] > 0 and
            0 <= capture.get("unparsed", 0) <= capture["events"] and
            0 <= kicks.get("avoidable", 0) <= kicks.get("on_busy_core", 0) <=
            total <= capture["events"])


def flipped(name, trace, verb, flips, seed):
    """Every run with one bit changed, half of them in the first 4 KiB."""
    dice = random.Random(seed)
    path = copy(name)
    bad, codes = [], {}
    for i in range(flips):
        data = bytearray(trace)
        at = dice.randrange(len(data) if i % 2 else 4096)
        data[at] ^= 1 << dice.randrange(8)
        write(os.path.join(name, "trace.dat"), bytes(data))
        got = ilb(verb, "--json", "-i", path)
        codes[got.code] = codes.get(got.code, 0) + 1
        if not (sane(got) if got.code == 0 else one_line(got, 3)):
            bad.append("byte %d: %s" % (at, got))
    check("%s: %d bits flipped, one at a time: exits %s" % (
        name, flips, sorted(codes.items())), not bad, *bad)
    check(name + ": some damage was found, some was not",
          set(codes) == {0, 3}, codes)


def flips():
    flipped("flip-6.1", read(CAPTURES + "/6.1-pin16/trace.dat"), "report",
            120, 61)
    flipped("flip-6.12", read(PIN + "/trace.dat"), "replay", 80, 612)


# ---- a trace and its machine ----

def topologies():
    trace = PIN + "/trace.dat"
    for verb in ("report", "replay"):
        fails(verb + ": CPUs that the topology has not",
              ilb(verb, "-i", trace, "--topology", "core:4 pu:2"), 3, trace,
              "CPU", "0-7", "topology of the machine")
    fails("CPUs of system.json that the topology has not",
          ilb("report", "-i", PIN, "--topology", "core:8"), 3,
          "system.json", "CPU 8", "core:8", "0-7")
    got = ilb("report", "-i", PIN, "--topology", "core:16")
    check("without SMT: says so", got.code == 0 and not got.err and
          "No core has two CPUs" in got.text(), got)
    kicks = ilb("report", "-i", PIN, "--topology", "core:16",
                "--json").json()["kicks"]
    check("without SMT: no kick is on a busy core", kicks["total"] == 377 and
          kicks["on_busy_core"] == 0 and kicks["avoidable"] == 0, kicks)
    got = ilb("replay", "-i", PIN, "--topology", "core:16")
    check("without SMT: replay", got.code == 0 and not got.err, got)
    for spec in ("core:x", "core:", "pack:2 core:", "core:0 pu:2", "foo:16",
                 "pack:-1 pu:2", "[numa]:", ":",
                 "core:4096 pu:4", "pu:99999999999999999999"):
        fails("--topology %r" % spec,
              ilb("report", "-i", trace, "--topology", spec), 3, spec)
    fails("--topology ''", ilb("report", "-i", trace, "--topology", ""), 3,
          "topology ''")
    for spec in ("/no/such.xml", "/", "/dev/null", trace, "/dev/zero"):
        fails("--topology " + spec, ilb("report", "-i", trace, "--topology",
                                        spec), 3, spec)
    xml = read(PIN + "/topology.xml")
    for name, data, says in (
            ("newer", xml.replace(b'version="2.0"', b'version="9.0"', 1),
             ("written by hwloc 9", "--export-xml-flags")),
            ("half", xml[:len(xml) // 2], ()), ("empty", b"", ()),
            ("other", b'<?xml version="1.0"?>\n<html></html>\n', ("lstopo",))):
        fails("topology.xml: " + name,
              ilb("report", "-i", copy("xml-" + name, topology_xml=data)), 3,
              "topology.xml", *says)


def systems():
    good = json.loads(read(PIN + "/system.json"))
    for key, value in (("kernel", 6), ("hz", "250"), ("hz", -1), ("hz", 2.5),
                       ("cpus", 16), ("cpus", "0-"), ("cpus", "0-99999"),
                       ("housekeeping", [0]), ("housekeeping", "x"),
                       ("nohz_full", {}), ("isolated", True),
                       ("cmdline", 1)):
        path = copy("system-%s-%d" % (key, len(results)),
                    system_json=json.dumps({**good, key: value}))
        fails("system.json: %s: %s" % (key, json.dumps(value)),
              ilb("report", "-i", path), 3, "system.json", '"%s"' % key)
    for name, data in (("list", "[]"), ("half", '{"hz": 2'), ("text", "x"),
                       ("deep", "[" * 100000), ("empty", "")):
        fails("system.json: " + name, ilb("report", "-i", copy(
            "system-" + name, system_json=data)), 3, "system.json")
    got = ilb("report", "-i", copy("system-less", system_json=None))
    check("no system.json", got.code == 0 and not got.err and
          "kernel unknown" in got.text(), got)


# ---- text ----

def brief(args, stdin=b""):
    """What every format must agree on; None where ilb failed."""
    report = ilb("report", *args, "--json", stdin=stdin)
    replay = ilb("replay", *args, "--json", stdin=stdin)
    if report.code or replay.code or report.err or replay.err:
        return str(report) + str(replay)
    kicks, replay = report.json()["kicks"], replay.json()
    return ({key: kicks[key] for key in (
        "total", "by_target", "by_kicker", "on_busy_core", "avoidable")},
        replay["best"], [(p["name"], p["agree"], p["agree_decisive"])
                         for p in replay["policies"]])


def trace_cmd():
    tool = shutil.which("trace-cmd")
    if not tool:
        skip("the text of trace-cmd report", "trace-cmd is not installed")
        return
    topology = ["--topology", PIN + "/topology.xml"]
    want = brief(["-i", PIN + "/trace.dat", *topology])
    for args in ([], ["-l"], ["-t"], ["-t", "-l"]):
        text = subprocess.run([tool, "report", *args, PIN + "/trace.dat"],
                              stdout=subprocess.PIPE, check=True,
                              stderr=subprocess.DEVNULL).stdout
        name = " ".join(["trace-cmd report", *args])
        got = brief(["-i", write("report.txt", text), *topology])
        check(name + ": the kicks of trace.dat", got[0] == want[0], got, want)
        if "-t" in args:
            check(name + ": its agreement", got == want, got, want)
        check(name + ": the same through a pipe",
              brief(["-i", "-", *topology], text) == got)
    fifo(text, topology, got)


def fifo(text, topology, want):
    path = os.path.join(folder, "fifo")
    os.mkfifo(path)

    def feed(data):
        try:
            with open(path, "wb") as file:
                file.write(data)
        except BrokenPipeError:
            pass

    def through(data, *args):
        feeder = threading.Thread(target=feed, args=(data,), daemon=True)
        feeder.start()
        got = ilb("report", *args, "-i", path, *topology)
        feeder.join(SECONDS)
        return got

    check("the same through a FIFO", through(text, "--json").json()["kicks"]
          ["total"] == want[0]["total"])
    fails("nothing through a FIFO", through(b""), 3, path, "empty")
    fails("a trace.dat through a FIFO", through(read(PIN + "/trace.dat")), 3,
          path, "pipe")


def standard_input():
    path = PIN + "/trace.dat"
    topology = ["--topology", PIN + "/topology.xml"]
    with open(path, "rb") as file:
        got = ilb("report", "-i", "-", *topology, "--json", stdin=file)
    check("a trace.dat on stdin", got.code == 0 and
          got.json()["kicks"]["total"] == 377, got)
    fails("a trace.dat through a pipe", ilb("report", "-i", "-", *topology,
                                            stdin=read(path)), 3, "stdin",
          "pipe")


def halves():
    """A text that ends within a line: that line is not understood."""
    text = read(TEXT + "/report-t.txt").splitlines(keepends=True)[:9]
    whole = b"".join(text)
    bad = []
    for size in range(len(whole) - 180, len(whole)):
        got = ilb("report", "-i", "-", "--topology", "core:16", "--json",
                  stdin=whole[:size])
        if got.code or got.err or got.json()["capture"]["unparsed"] > 1:
            bad.append("%d bytes: %s" % (size, got))
    check("a text cut at each of its last 180 bytes", not bad, *bad)
    got = ilb("report", "-i", "-", "--topology", "core:16", "--json",
              stdin=b"".join(text) + text[-1][:60])
    check("half a line is counted", got.code == 0 and
          got.json()["capture"]["unparsed"] == 1, got)


def backwards():
    lines = read(TEXT + "/report-t.txt").splitlines(keepends=True)
    lines[100], lines[200] = lines[200], lines[100]
    path = write("backwards.txt", b"".join(lines))
    args = ["-i", path, "--topology", "core:16"]
    got = ilb("report", *args)
    count = ilb("report", *args, "--json").json()["capture"]["backwards"]
    # All from the later line on, and the earlier one, held at its time.
    check("times that go backwards are counted", got.code == 0 and
          count == 100, count)
    check("and the text says so",
          re.search(r"time ran backwards +100 times", got.text()), got.out)


# ---- output ----

def unprivileged(*args, **options):
    """As a user that owns nothing; where we are not root, as we are."""
    program = os.path.join(folder, "ilb")
    if not os.path.exists(program):
        shutil.copy(ILB, program)

    def drop():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    if os.getuid() == 0:
        options["preexec_fn"] = drop
    return ilb(*args, program=program, **options)


def no_privilege():
    path = copy("nobody")
    got = unprivileged("report", "-i", path, "--json")
    check("an unprivileged user: report", got.code == 0 and not got.err and
          got.json()["kicks"]["total"] == 377, got)
    got = unprivileged("replay", "-i", path)
    check("an unprivileged user: replay", got.code == 0 and not got.err, got)
    got = unprivileged("check")
    check("an unprivileged user: check", got.code == 0 and not got.err, got)
    for name in ("trace.dat", "topology.xml", "system.json"):
        secret = copy("secret-" + name)
        os.chmod(os.path.join(secret, name), 0)
        fails("an unreadable " + name, unprivileged("report", "-i", secret),
              3, name, "Permission denied")
    os.chmod(path, 0)
    fails("an unreadable folder", unprivileged("report", "-i", path), 3,
          "Permission denied")
    os.chmod(path, 0o755)
    path = os.path.join(folder, "read-only")
    os.mkdir(path, 0o555)
    fails("-o into a folder that is read-only",
          unprivileged("report", "-i", PIN_COPY, "-o", path + "/x"), 3,
          path + "/x", "Permission denied", "-o")
    os.chmod(path, 0o777)
    file = write("read-only/mine", "mine")
    os.chmod(file, 0o444)
    fails("-o of a file that is read-only",
          unprivileged("report", "-i", PIN_COPY, "-o", file), 3, file,
          "Permission denied")
    check("and it is as it was", read(file) == b"mine" and
          os.listdir(path) == ["mine"], os.listdir(path))


def full():
    # As nobody: a program that renames over a device must fail, not succeed.
    for verb in VERBS:
        args = [verb] if verb == "check" else [verb, "-i", PIN_COPY]
        fails(verb + " -o /dev/full",
              unprivileged(*args, "-o", "/dev/full"), 3, "/dev/full",
              "No space left")
        with open("/dev/full", "wb") as device:
            for extra in ([], ["--json"], ["-h"]):
                fails("%s %s >/dev/full" % (verb, "".join(extra)),
                      ilb(*args, *extra, stdout=device), 3,
                      "standard output", "No space left")
    with open("/dev/full", "wb") as device:
        fails("--version >/dev/full", ilb("--version", stdout=device), 3,
              "standard output")


def files():
    path = os.path.join(folder, "outputs")
    os.mkdir(path)
    name = os.path.join(path, "out")

    def left():
        return {file: read(os.path.join(path, file))
                for file in os.listdir(path)}

    want = ilb("report", "-i", PIN, "--json").out
    got = ilb("report", "-i", PIN, "--json", "-o", name)
    check("-o: a file, the same as stdout", got.code == 0 and not got.out and
          not got.err and left() == {"out": want}, got)
    mask = os.umask(0)
    os.umask(mask)
    check("its mode is as the umask says",
          os.stat(name).st_mode & 0o777 == 0o666 & ~mask)
    write("outputs/out", "old")
    os.chmod(name, 0o600)
    for args in (["-i", "/no/such"], ["-i", PIN, "--banana"],
                 ["-i", PIN, "--topology", "core:8"]):
        got = ilb("report", *args, "-o", name)
        check("-o: %s leaves the old file" % args[-1], got.code in (2, 3) and
              left() == {"out": b"old"}, got)
    got = ilb("report", "-i", PIN, "--json", "-o", name)
    check("-o: replaces a file and keeps its mode", got.code == 0 and
          left() == {"out": want} and
          os.stat(name).st_mode & 0o777 == 0o600, got)
    link = os.path.join(path, "link")
    write("target", "old")
    os.symlink("../target", link)
    got = ilb("report", "-i", PIN, "--json", "-o", link)
    check("-o: through a symbolic link", got.code == 0 and
          os.path.islink(link) and read(link) == want, got)
    os.unlink(link)
    for bad, says in ((path + "/no/x", "No such file"), (path, "directory"),
                      (name + "/x", "Not a directory"), ("", "-o")):
        fails("-o %r" % bad[-8:], ilb("report", "-i", PIN, "-o", bad,
                                      cwd=path), 3, bad, says)
    check("-o: nothing is left behind", left() == {"out": want}, left())


def out_fifo():
    path = os.path.join(folder, "out-fifo")
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(read(path)),
                              daemon=True)
    reader.start()
    done = ilb("report", "-i", PIN, "-o", path)
    reader.join(SECONDS)
    check("-o: a FIFO is written, not replaced", done.code == 0 and
          os.path.exists(path) and not os.path.isfile(path) and
          got == [ilb("report", "-i", PIN).out], done)


def closed():
    ends = os.pipe()
    os.close(ends[0])
    for args in (["report", "-i", PIN], ["replay", "-i", PIN, "--json"],
                 ["check"]):
        got = ilb(*args, stdout=ends[1])
        check(args[0] + ": nobody reads: SIGPIPE, without noise",
              got.code == -signal.SIGPIPE and not got.err, got)
        fails(args[0] + ": nobody reads, SIGPIPE ignored",
              ilb(*args, stdout=ends[1], restore_signals=False), 3,
              "standard output", "Broken pipe")
    os.close(ends[1])
    shell = "'%s' report -i '%s' | head -n 1" % (ILB, PIN)
    got = subprocess.run(shell, shell=True, capture_output=True, check=False)
    check("| head -n 1", got.stdout.startswith(b"ilb report: ") and
          got.stdout.count(b"\n") == 1 and not got.stderr, got)
    for fd, code in ((0, 0), (1, 3), (2, 0)):
        got = ilb("report", "-i", PIN, stdin=None,
                  preexec_fn=lambda: os.close(fd))
        check("descriptor %d is closed" % fd, got.code == code and
              (fd == 1) == (got.out == b""), got)
    fails("stdin is closed and asked for",
          ilb("report", "-i", "-", "--topology", GUEST, stdin=None,
              preexec_fn=lambda: os.close(0)), 3, "stdin")


def on_terminal(env):
    """What the program prints on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    done = ilb("report", "-i", PIN, stdout=theirs, env={**os.environ, **env})
    os.close(theirs)
    text = b""
    try:
        while True:
            piece = os.read(ours, 65536)
            if not piece:
                break
            text += piece
    except OSError:
        pass
    os.close(ours)
    return done, text


def tables_apart(text):
    """Lines that are no table's: those begin with a row of words in capitals.
    """
    table = False
    for line in text.splitlines():
        if re.fullmatch(r"  +[A-Z-]+( ?[A-Z-]+)*(  +[A-Z1-]+( [A-Z]+)*)+",
                        line):
            table = True
        elif not line:
            table = False
        if not table:
            yield line


def looks():
    for capture in sorted(os.listdir(CAPTURES)):
        path = os.path.join(CAPTURES, capture)
        if not os.path.isdir(path):
            continue
        for verb in ("report", "replay"):
            got = ilb(verb, "-i", path)
            wide = [line for line in tables_apart(got.text())
                    if len(line) > 100]
            check("%s %s: no escapes, at most 100 columns" % (verb, capture),
                  got.code == 0 and not got.err and b"\033" not in got.out and
                  not wide, got, *wide)


def colours():
    env = {"NO_COLOR": "", "TERM": "xterm"}
    try:
        done, coloured = on_terminal(env)
    except OSError as error:
        skip("colours on a terminal", error)
        return
    check("a terminal: colours", done.code == 0 and b"\033[" in coloured)
    plain = re.sub(rb"\033\[[0-9;]*m", b"", coloured)
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        done, text = on_terminal({**env, name: value})
        check("a terminal, %s=%s: none" % (name, value), done.code == 0 and
              text == plain)


def same_bytes():
    for verb in ("report", "replay"):
        for args in ([], ["--json"]):
            runs = {ilb(verb, "-i", PIN, *args).out for _ in range(3)}
            check("%s %s: the same bytes each time" % (verb, "".join(args)),
                  len(runs) == 1 and runs != {b""})
    runs = {ilb("replay", "-i", CAPTURES + "/6.12-nohzfull16",
                "--list-disagreements").out for _ in range(2)}
    check("--list-disagreements: the same bytes each time", len(runs) == 1)


def schema():
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        skip("JSON as the schema says", "python3-jsonschema is not installed")
        return
    validator = Draft202012Validator(json.loads(
        read(os.path.join(SOURCE, "docs/ilb.schema.json"))))
    for capture in sorted(os.listdir(CAPTURES)):
        path = os.path.join(CAPTURES, capture)
        if not os.path.isdir(path):
            continue
        for args in (["report"], ["report", "--topology", "core:16"],
                     ["replay", "-p", "all", "--housekeeping", "0-7"]):
            got = ilb(*args, "-i", path, "--json")
            errors = [str(e.message) for e in
                      validator.iter_errors(got.json())]
            check("%s %s: as the schema says" % (capture, " ".join(args)),
                  not errors, *errors)


os.environ.pop("NO_COLOR", None)
with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o755)
    PIN_COPY = copy("pin")
    for part in (helps, wrong_usage, fail_on, no_input, no_trace, cut, flips,
                 topologies, systems, trace_cmd, standard_input, halves,
                 backwards, no_privilege, full, files, out_fifo, closed,
                 looks, colours, same_bytes, schema):
        part()
print("1..%d" % len(results))
sys.exit(0 if all(results) else 1)
