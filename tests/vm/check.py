#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: check.py ILB EXCEPTIONS [options] [KERNEL...]   TAP.

  --smoke    one 6.12 guest and the pinned load only
  --long     64 CPUs, a minute of load, polling idle, of 6.12 and 7.3; and
             nothing else
  --arm64 F  an ilb for arm64, tried in a guest of its own
  --keep DIR leave the recordings in DIR, which is empty or new

Boots stock kernels (ilb vm), records loads there whose outcome is known
(ilb workload, ilb record), reads the recordings here (ilb report, replay). What
must come out is what the kernel's own rule says, never what an earlier run
of this program said. A kernel that cannot be had is skipped, with the reason.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

GUEST = "pack:2 [numa] l3:1 core:4 pu:2"
FULL = "nohz_full=1-3,9-15"
HOUSEKEEPING = {0, 4, 5, 6, 7, 8}
LONG = ("6.12", "7.3")
RULE = {"6.1": "lowest", "6.12": "lowest", "7.2": "lowest", "7.3": "idle-core"}

# The load is there before the recording begins and after it ends, so that
# none of its moments is one of starting or ending.
RECORD = """
record() {
	name=$1 seconds=$2
	shift 2
	ilb workload "$@" -d 3000 & load=$!
	sleep 1
	ilb record -o $name -d $seconds || exit
	kill $load
	wait $load
	return 0
}
"""
PLAIN = RECORD + """
record pin 6 pin || exit
record mix 6 mix || exit
"""
NOHZ_FULL = RECORD + """
record full 5 pin -C 4,6 || exit
ilb record -o lose -- sh -c 'ilb workload lose 10 -d 3; sleep 4' || exit
"""
# What takes exact moments away; lockdown comes last, since it stays.
REFUSALS = """
refused() {
	name=$1
	shift
	ilb record -d 1 -o not-made "$@" 2>refused.$name
	echo $? >>refused.$name
}
sysctl=/proc/sys/kernel
echo 2 >$sysctl/kptr_restrict
refused addresses --moments-only
echo 0 >$sysctl/kptr_restrict
mount -t securityfs none /sys/kernel/security
echo confidentiality >/sys/kernel/security/lockdown
refused lockdown --moments-only
refused lockdown-trace --no-bpf
ls -d not-made /sys/kernel/tracing/instances/ilb-* >left 2>/dev/null
true
"""

results = []


def check(name, good, detail=""):
    results.append(bool(good))
    print("%sok %d - %s" % ("" if good else "not ", len(results), name),
          flush=True)
    if not good:
        for line in str(detail).splitlines():
            print("#", line, flush=True)


def say(text):
    print("#", text, flush=True)


class Lab:
    """Boots guests; each leaves a folder of recordings."""

    def __init__(self, ilb, exceptions, folder):
        self.ilb, self.exceptions = ilb, exceptions
        self.folder = folder

    def fetch(self, *what):
        done = subprocess.run([self.ilb, "vm", "fetch", *what], text=True,
                              stderr=subprocess.PIPE, check=False,
                              stdout=subprocess.DEVNULL, timeout=900)
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["?"])[-1]
        return None

    def boot(self, name, kernel, script, *options, timeout=400):
        """The folder that came back, or None."""
        folder = os.path.join(self.folder, name)
        options = ["--topology", GUEST, *options, "--kernel", kernel,
                   "--timeout", str(timeout), "-o", folder]
        began = time.monotonic()
        done = subprocess.run(
            [self.ilb, "vm", *options, "--", "sh", "-c", script], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            timeout=timeout + 60)
        say("%s: %.0f s, status %d" % (name, time.monotonic() - began,
                                       done.returncode))
        check(name + ": the guest records", done.returncode == 0, done.stdout)
        return folder if done.returncode == 0 else None

    def read(self, verb, capture, *options):
        done = subprocess.run([self.ilb, verb, "--json", "-i", capture,
                               *options], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False,
                              timeout=300)
        if done.returncode:
            check("%s reads %s" % (verb, capture), False, done.stderr)
            return None
        return json.loads(done.stdout)


def percent(part, whole):
    return 100 * part / whole if whole else 0


def agreement(lab, name, path, rule, *pinned):
    """Every kick follows the rule of that kernel at the exact moment.

    A moment is read some time after the kernel chose. Of each exception the
    trace must show that CPUs changed meanwhile and that this explains it.
    Returns how many exceptions there are.
    """
    replay = lab.read("replay", path)
    if not replay:
        return 0
    policy = next(p for p in replay["policies"] if p["name"] == rule)
    say("%s: %s agrees in %d of %d kicks" % (name, rule, policy["agree"],
                                             policy["kicks"]))
    done = subprocess.run([lab.exceptions, rule, path, *pinned], text=True,
                          stdout=subprocess.PIPE, check=False, timeout=300)
    lines = done.stdout.splitlines()
    for line in lines:
        say("  " + line)
    check("%s: %s agrees in every kick but those that are understood" %
          (name, rule), done.returncode == 0 and policy["kicks"] > 0 and
          policy["agree"] >= 0.9 * policy["kicks"], done.stdout)
    return len(lines) - 1


def told_apart(lab, name, path, rule):
    """The judge of exceptions does not understand the wrong rule's."""
    wrong = "idle-core" if rule == "lowest" else "lowest"
    done = subprocess.run([lab.exceptions, wrong, path], text=True,
                          stdout=subprocess.PIPE, check=False, timeout=300)
    check("%s: %s is not explained away" % (name, wrong),
          done.returncode == 1, done.stdout[-200:])


def trust(name, report, least=99):
    """The same moments, reconstructed from the trace beside."""
    found = report["capture"].get("reconstruction", {})
    say("%s: %s" % (name, found))
    check("%s: reconstructed moments are right in %d %% of bits" %
          (name, least), found.get("paired", 0) > 0 and
          found["mask_agree_pct"] >= least and
          found["idle_agree_pct"] >= least, found)


def recording(lab, name, path, rule, fewest, *pinned):
    """Its kicks; and of them, the exceptions."""
    report = lab.read("report", path)
    if not report:
        return None, 0
    kicks = report["kicks"]
    say("%s: %s kicks, %s on a busy core, %s avoidable, %s lost events" %
        (name, kicks["total"], kicks["on_busy_core"], kicks["avoidable"],
         report["capture"]["lost_events"]))
    check("%s: moments are exact" % name,
          report["capture"]["moments"] == "exact", report["capture"])
    check("%s: no event is lost" % name,
          report["capture"]["lost_events"] == 0, report["capture"])
    check("%s: at least %d kicks" % (name, fewest), kicks["total"] >= fewest,
          kicks["total"])
    exceptions = agreement(lab, name, path, rule, *pinned)
    trust(name, report)
    return kicks, exceptions


def pinned(lab, name, path, rule):
    """One task per core of node 0: whole cores are idle on node 1.

    Up to 7.2 a kick wakes a whole core only while no sibling of a busy one
    can be chosen; of each such kick the recording must show that.
    """
    lowest = rule == "lowest"
    kicks, exceptions = recording(lab, name, path, rule, 50,
                                  *["pinned"] * lowest)
    if not kicks:
        return
    told_apart(lab, name, path, rule)
    if lowest:
        whole = kicks["total"] - kicks["on_busy_core"]
        check("%s: every kick but those that are understood wakes a busy "
              "core's sibling, avoidably" % name,
              kicks["on_busy_core"] == kicks["avoidable"] and
              whole <= min(exceptions, 0.1 * kicks["total"]), kicks)
    else:
        check("%s: no kick wakes a busy core's sibling" % name,
              kicks["on_busy_core"] == kicks["avoidable"] == 0, kicks)


def mixed(lab, name, path, rule):
    kicks, _ = recording(lab, name, path, rule, 100)
    if kicks and rule != "lowest":
        check("%s: hardly a kick is avoidable" % name,
              percent(kicks["avoidable"], kicks["total"]) < 2, kicks)


def housekeeping(lab, name, path, rule):
    kicks, _ = recording(lab, name, path, rule, 50)
    if not kicks:
        return
    targets = {t["cpu"] for t in kicks["by_target"]}
    check("%s: only housekeeping CPUs are kicked" % name,
          targets <= HOUSEKEEPING, targets)
    if rule == "lowest":
        check("%s: nearly every kick wakes a busy core's sibling" % name,
              percent(kicks["on_busy_core"], kicks["total"]) > 90, kicks)


def lost(lab, name, path):
    report = lab.read("report", path)
    if not report:
        return
    found = [f for f in report["findings"] if f["id"] == "lost-nohz-full-cpu"]
    cpus = [str(f["evidence"]) + f["text"] for f in found]
    say("%s: %s" % (name, cpus))
    check("%s: lost-nohz-full-cpu names CPU 10" % name,
          any("10" in text for text in cpus), report["findings"])


def plain(lab, kernel):
    folder = lab.boot(kernel, kernel, PLAIN)
    if not folder:
        return
    pinned(lab, kernel + " pin", folder + "/pin", RULE[kernel])
    mixed(lab, kernel + " mix", folder + "/mix", RULE[kernel])


def refusals(lab, kernel, folder):
    """One line with reason and remedy, status 4, and nothing left behind."""
    for name, words in (("addresses", ("/proc/kallsyms", "CAP_SYSLOG")),
                        ("lockdown", ("lockdown",)),
                        ("lockdown-trace", ("lockdown",))):
        with open("%s/refused.%s" % (folder, name), encoding="utf-8") as file:
            said = file.read().splitlines()
        check("%s: record without %s says why" % (kernel, name),
              len(said) == 2 and said[1] == "4" and
              all(word in said[0] for word in words), said)
    with open(folder + "/left", encoding="utf-8") as file:
        check(kernel + ": a refused recording leaves nothing",
              not file.read())


def nohz_full(lab, kernel):
    folder = lab.boot(kernel + "-full", kernel, NOHZ_FULL + REFUSALS,
                      "--append", FULL)
    if not folder:
        return
    refusals(lab, kernel, folder)
    housekeeping(lab, kernel + " nohz_full", folder + "/full", RULE[kernel])
    if kernel in ("6.1", "7.3"):
        lost(lab, kernel + " lose", folder + "/lose")


def smoke(lab, kernel):
    folder = lab.boot(kernel, kernel, RECORD + "record pin 4 pin\n")
    if folder:
        pinned(lab, kernel + " pin", folder + "/pin", RULE[kernel])


def arm64(lab, ilb):
    folder = lab.boot("6.12-arm64", "6.12", RECORD + "record pin 5 pin\n",
                      "--arch", "arm64", "--ilb", ilb)
    if folder:
        pinned(lab, "6.12 arm64 pin", folder + "/pin", "lowest")


def wide(lab, kernel):
    """64 CPUs: a task on every second core of node 0."""
    folder = lab.boot(kernel + "-64", kernel, RECORD +
                      "record pin 6 pin -C 0,4,8,12,16,20,24,28\n",
                      "--topology", "pack:2 [numa] l3:1 core:16 pu:2",
                      "--memory", "4096", timeout=900)
    if folder:
        recording(lab, kernel + " 64 CPUs", folder + "/pin", RULE[kernel], 50)


def soak(lab, kernel):
    """A minute of everything: no event is lost."""
    folder = lab.boot(kernel + "-soak", kernel, RECORD +
                      "record mix 60 mix --bursts 6 --pairs 6\n", timeout=900)
    if folder:
        recording(lab, kernel + " soak", folder + "/mix", RULE[kernel], 1000)


def polling(lab, kernel):
    """idle=poll keeps the tick, so that nobody is registered or kicked."""
    folder = lab.boot(kernel + "-poll", kernel, RECORD +
                      "record pin 4 pin -C 0\n", "--topology",
                      "pack:1 core:2 pu:2", "--append", "idle=poll")
    report = lab.read("report", folder + "/pin") if folder else None
    if report:
        check(kernel + " idle=poll: nobody is kicked",
              report["kicks"]["total"] == 0, report["kicks"])


def skip(name, why):
    print("ok %d - %s # SKIP %s" % (len(results) + 1, name, why), flush=True)
    results.append(True)


def qemu_is_old(program):
    try:
        said = subprocess.run([program, "--version"], text=True, check=True,
                              stdout=subprocess.PIPE).stdout
    except OSError:
        return True
    return int(re.search(r"version (\d+)", said)[1]) < 8


def had(lab, kernel, *arch):
    """A kernel, and where the system's is too old a QEMU; else skipped."""
    why = lab.fetch(kernel, *arch)
    program = "aarch64" if arch else "x86_64"
    if not why and qemu_is_old("qemu-system-" + program):
        why = lab.fetch("qemu", *arch)
    if why:
        skip(" ".join((kernel, *arch)), why)
    return not why


def run(lab, options):
    kinds = [plain, nohz_full]
    kernels = list(RULE)
    if options.smoke:
        kinds, kernels = [smoke], ["6.12"]
    elif options.long:
        kinds, kernels = [wide, soak, polling], LONG
    for kernel in options.kernels or kernels:
        if had(lab, kernel):
            for kind in kinds:
                kind(lab, kernel)
    if options.arm64 and had(lab, "6.12", "--arch", "arm64"):
        arm64(lab, os.path.abspath(options.arm64))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ilb")
    parser.add_argument("exceptions")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--arm64", metavar="ILB")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("kernels", nargs="*")
    options = parser.parse_intermixed_args()
    folder = options.keep or tempfile.mkdtemp(prefix="ilb-vm-")
    os.makedirs(folder, exist_ok=True)
    lab = Lab(os.path.abspath(options.ilb),
              os.path.abspath(options.exceptions), folder)
    try:
        run(lab, options)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print("1..%d" % len(results))
    print("%d passed, %d failed" % (sum(results), results.count(False)))
    sys.exit(not all(results))


main()
