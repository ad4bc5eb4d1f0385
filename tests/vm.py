#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: vm.py ILB   The command "ilb vm", from outside; TAP.
#
# Needs no guest: a script stands in for QEMU and says what a guest might.

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ilb = os.path.abspath(sys.argv[1])
results = []
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)

# Says in frames, and on its console, what FAKE names.
fake_qemu = r"""#!/usr/bin/env python3
import os, re, struct, sys, time
if sys.argv[1:] == ["--version"]:
    print("QEMU emulator version", os.environ.get("FAKE_VERSION", "10.0.2"))
    sys.exit(0)
console = int(re.search(r"id=console,path=/proc/self/fd/(\d+)",
                        " ".join(sys.argv))[1])
with open("args", "w") as file:
    file.write("\n".join(sys.argv[1:]))
initrd = sys.argv[sys.argv.index("-initrd") + 1]
with open(initrd, "rb") as a, open("initrd", "wb") as b:
    b.write(a.read())
OUT, ERR, FILES, NOTE, FAILED, EXIT = 2, 3, 4, 5, 6, 7
def frame(kind, data, size=None):
    data = data if isinstance(data, bytes) else data.encode()
    os.write(1, struct.pack("<II", kind, size or len(data)) + data)
def entry(name, data=b"", mode=0o100644):
    name = name.encode() + b"\0"
    head = b"070701" + b"".join(b"%08X" % n for n in (
        1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0))
    def pad(text):
        return text + b"\0" * (-len(text) % 4)
    return pad(head + name) + pad(data)
def files(*entries):
    whole = b"".join(entries) + entry("TRAILER!!!")
    for i in range(0, len(whole), 1000):
        frame(FILES, whole[i:i + 1000])
tree = [entry("d", mode=0o40700), entry("d/a", b"x" * 5000),
        entry("l", b"d/a", 0o120777)]
def say(text):
    os.write(console, text.encode())
fake = os.environ["FAKE"]
say("[    0.0] Linux\r\n")
frame(1, "9.9.9")
if fake == "good":
    frame(OUT, "out\n"); frame(ERR, "err\n"); files(*tree)
    frame(EXIT, bytes([7]))
    time.sleep(100)
elif fake == "nothing":
    files(); frame(EXIT, b"\0")
elif fake == "panic":
    say("[    1.5] Kernel panic - not syncing: why\r\n")
elif fake == "hang":
    say("waits for ever\n"); time.sleep(100)
elif fake == "early":
    frame(OUT, "out\n"); files(*tree[:2])
elif fake == "cut":
    files(*tree[:2]); frame(FILES, entry("z", b"y" * 999)[:50])
elif fake == "garbage":
    frame(77, "x")
elif fake == "huge":
    frame(OUT, "x", 1 << 30)
elif fake == "climb":
    files(entry("../climbed", b"x")); frame(EXIT, b"\0"); time.sleep(9)
elif fake == "through":
    files(entry("s", b"/tmp", 0o120777), entry("s/ilb-vm-climbed", b"x"))
    frame(EXIT, b"\0"); time.sleep(9)
elif fake == "failed":
    frame(FAILED, "module x: no")
elif fake == "note":
    frame(NOTE, "is full"); files(); frame(EXIT, b"\0")
"""


def report(name, good, *notes):
    results.append(bool(good))
    print("ok" if good else "not ok", len(results), "-", name, flush=True)
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print("#", line)


def run(*args, **environment):
    done = subprocess.run([ilb, "vm", *args], timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def guest(fake, *args, **environment):
    return run("--qemu", "./qemu", *args, "--", "x", FAKE=fake,
               **environment)


def refused(name, code, said, *args, **environment):
    got = run(*args, **environment)
    report(f"{name}: exit {code}, one line that says why",
           got[0] == code and not got[1] and got[2].count("\n") == 1 and
           re.search(said, got[2]), got)


def clean():
    """Nothing of a run that failed is left."""
    return not [name for name in os.listdir(".") if name.startswith("ilb.vm")]


def arguments():
    refused("no command", 2, "no command: give one behind --")
    refused("no command behind --", 2, "--: no command follows it", "--")
    refused("a command without --", 2, "'ls'.* stands behind --", "ls")
    refused("an option that is none", 2, "'--kernal'", "--kernal", "6.1",
            "--", "x")
    refused("an architecture", 2, "--arch 'mips': not amd64 or arm64",
            "--arch", "mips", "--", "x")
    for value in ("0", "255", "-1", "1e3", "99999999999", ""):
        refused(f"--memory '{value}'", 2, f"--memory '{value}': not a number",
                "--memory", value, "--", "x")
    refused("--timeout 0", 2, "--timeout '0': not a number of seconds",
            "--timeout", "0", "--", "x")
    refused("fetch nothing", 2, "name 6.1, 6.12", "fetch")
    refused("fetch what there is not", 2, "'5.10': not 6.1, 6.12", "fetch",
            "5.10")
    refused("fetch two", 2, "one at a time", "fetch", "6.1", "6.12")
    refused("list with an argument", 2, "'x': takes no argument", "list",
            "x")


def machines():
    refused("no description", 2, "topology 'nonsense': not a description",
            "--topology", "nonsense", "--", "x")
    for text, why in (
            ("pack:1 l3:2 core:2 pu:2", "a die for each L3"),
            ("pack:1 l2:1 core:2 pu:2", "L1 or L2 other than one per core"),
            ("pack:1 [numa] [numa] core:2 pu:2", "share CPUs"),
            ("pack:1 numa:2 core:2 pu:2", "share an L3"),
            ("pack:1 group:2 core:2 pu:2", "groups"),
            ("pack:1 core:2 pu:2(indexes=0,2,1,3)", "indexes=")):
        refused(f"'{text}'", 125, why, "--topology", text, "--", "x")
    refused("too many CPUs", 125, "514 CPUs; .* 512 at most", "--arch",
            "arm64", "--topology", "core:257 pu:2", "--", "x")
    refused("dies on arm64", 125, "dies on this architecture", "--arch",
            "arm64", "--topology", "pack:1 die:2 core:2 pu:2", "--", "x")
    refused("nodes too small", 125, "8 NUMA nodes; each needs 64",
            "--memory", "256", "--topology", "pack:8 [numa] core:1 pu:1",
            "--", "x")


def missing():
    refused("no QEMU", 125, "not installed; get it with: ilb vm fetch qemu",
            "--", "x", PATH="/nowhere")
    refused("a QEMU that is not there", 125, "--qemu no/such: no such",
            "--qemu", "no/such", "--", "x")
    refused("an old QEMU", 125, "QEMU 7 .*get it with: ilb vm fetch qemu",
            "--qemu", "./qemu", "--", "x", FAKE_VERSION="7.2.5")
    refused("what is not QEMU", 125, "not QEMU", "--qemu", "/bin/echo",
            "--", "x")
    refused("no such kernel", 125,
            "kernel 6.1 for amd64: none .*ilb vm fetch 6.1$", "--qemu",
            "./qemu", "--kernel", "6.1", "--", "x")
    refused("9.9 is not the beginning of 9.10", 125, "kernel 9.1 for amd64: none",
            "--qemu", "./qemu", "--kernel", "9.1", "--", "x")
    refused("not a kernel", 125, "qemu: not a Linux kernel for amd64",
            "--qemu", "./qemu", "--kernel", "./qemu", "--", "x")
    refused("no such file to put in", 125, "no/such: No such file", "--qemu",
            "./qemu", "--with", "no/such", "--", "x")
    refused("no ilb to put in", 125, "no/such: No such file", "--qemu",
            "./qemu", "--ilb", "no/such", "--", "x")
    os.mkdir("here")
    refused("no place for the folder", 125,
            "no/where: cannot make it in no: No such file", "-o", "no/where",
            "--", "true")
    refused("a folder that exists", 125, "here: exists;", "--qemu",
            "./qemu", "-o", "here", "--", "x")
    refused("a cache that cannot be made", 3, "not an absolute path",
            "fetch", "6.1", ILB_VM_CACHE="relative")


def ends():
    got = guest("good")
    report("good: the command's status and streams", got[0] == 7 and
           got[1] == "out\n" and "err\n" in got[2] and
           "Linux 9.9.9, 16 CPUs" in got[2], got)
    with open("ilb.vm/l", encoding="utf-8") as file:
        report("good: its files, also through a link", file.read() ==
               "x" * 5000)
    subprocess.run(["rm", "-r", "ilb.vm"], check=True)
    got = guest("nothing")
    report("nothing: exit 0, no folder", got[0] == 0 and clean(), got)
    got = guest("note")
    report("note: is shown", got[0] == 0 and "ilb vm: is full\n" in got[2],
           got)
    got = guest("hang", "--timeout", "8")
    report("hang: 124, with the console", got[0] == 124 and clean() and
           "did not end within 8 s" in got[2] and
           "waits for ever\n" in got[2], got)
    for fake, why in (("panic", "Kernel panic - not syncing: why\n"),
                      ("early", "the guest ended"),
                      ("cut", "the guest ended"),
                      ("garbage", "what is no frame"),
                      ("huge", "what is no frame"),
                      ("failed", "the guest: module x: no\n"),
                      ("climb", r"\.\./climbed"),
                      ("through", "ilb-vm-climbed")):
        got = guest(fake)
        report(f"{fake}: 125, says why, leaves nothing", got[0] == 125 and
               clean() and re.search(why, got[2].splitlines(True)[-1]), got)
    report("climb, through: nothing outside", not os.path.exists(
        "climbed") and not os.path.exists("../climbed") and
        not os.path.exists("/tmp/ilb-vm-climbed"))


def interrupted():
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([ilb, "vm", "--qemu", "./qemu", "--", "x"],
                              env={**os.environ, "FAKE": "hang"},
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            process.stderr.readline()
            children = f"/proc/{process.pid}/task/{process.pid}/children"
            with open(children, encoding="utf-8") as file:
                child = int(file.read())
            process.send_signal(number)
            said = process.communicate(timeout=20)[1]
            report(f"{number.name}: ends the guest, says so, leaves nothing",
                   process.returncode == 128 + number and clean() and
                   "interrupted" in said and
                   not os.path.exists(f"/proc/{child}"), said)


def killed():
    with subprocess.Popen([ilb, "vm", "--qemu", "./qemu", "--", "x"],
                          env={**os.environ, "FAKE": "hang"},
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        process.stderr.readline()
        with open(f"/proc/{process.pid}/task/{process.pid}/children",
                  encoding="utf-8") as file:
            child = int(file.read())
        process.kill()
    for _ in range(100):
        try:
            with open(f"/proc/{child}/stat", encoding="utf-8") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            state = "Z"
        if state == "Z":
            break
        time.sleep(0.05)
    report("SIGKILL of ilb ends its guest, too", state == "Z", state)


def contents():
    guest("nothing", "--with", "./qemu", "--append", "nohz_full=1-3")
    with open("args", encoding="utf-8") as file:
        args = file.read().splitlines()
    report("--append: behind our own parameters",
           args[args.index("-append") + 1].endswith(" nohz_full=1-3"), args)
    report("without --kernel the newest, and 9.10 is newer than 9.9",
           "9.10.1" in args[args.index("-kernel") + 1], args)
    with open("initrd", "rb") as file:
        inside = file.read()
    report("the guest has ilb, its libraries, --with and the command",
           all(name + b"\0" in inside for name in (
               b"bin/ilb", b"init", b"bin/qemu", b"ilb/command",
               b"lib/libc.so.6", b"lib/ld-linux-x86-64.so.2")) or
           os.uname().machine != "x86_64")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("qemu", "w", encoding="utf-8") as file:
            file.write(fake_qemu)
        os.chmod("qemu", 0o755)
        cache = os.path.join(folder, "cache")
        os.environ["ILB_VM_CACHE"] = cache
        for release in ("9.9.9-cloud-amd64", "9.10.1-cloud-amd64"):
            boot = f"{cache}/amd64/{release}/boot"
            os.makedirs(boot)
            with open(f"{boot}/vmlinuz-{release}", "wb") as file:
                file.write(b"\0" * 0x202 + b"HdrS")
        for test in (arguments, machines, missing, ends, interrupted, killed,
                     contents):
            test()
        os.chdir("/")
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if os.uname().machine != "x86_64":
    print("1..0 # SKIP the stand-in is written for an amd64 machine")
    sys.exit(0)
sys.exit(main())
