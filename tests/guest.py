#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: guest.py ILB   "ilb vm" with real kernels and a real QEMU; TAP.
#
# Boots what "ilb vm fetch" left in the cache, each kernel once; a minute or
# so each under emulation. Where there is none, it is skipped.

import json
import os
import subprocess
import sys
import tempfile

ilb = os.path.abspath(sys.argv[1])
results = []
# One boot answers all: the machine, the streams, files, and the status.
script = """
uname -r
nproc
cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list
cat /sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list
cat /sys/devices/system/node/node1/cpulist
ilb --version
echo to-error >&2
head -c 300000 /dev/urandom >big && md5sum big >sum
ilb record -o capture -- ilb workload pin --per-core -d 2 || exit 1
sleep 1000 &
exit 7
"""


def report(name, good, *notes):
    results.append(bool(good))
    print("ok" if good else "not ok", len(results), "-", name, flush=True)
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print("#", line)


def run(*args):
    done = subprocess.run([ilb, *args], timeout=400, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


def boot(release):
    got = run("vm", "--kernel", release, "--timeout", "300", "-o", release,
              "--", "sh", "-c", script)
    report(f"{release}: the command's status", got[0] == 7, *got)
    if got[0] != 7:
        return
    said = got[1].splitlines()
    report(f"{release}: the machine asked for", said[:5] ==
           [release, "16", "0-1", "0-7", "8-15"], said)
    report(f"{release}: streams are kept apart", "to-error\n" in got[2] and
           "to-error" not in got[1] and "[    " not in got[1], got)
    done = subprocess.run(["md5sum", "-c", "sum"], cwd=release, check=False,
                          stdout=subprocess.DEVNULL)
    report(f"{release}: files are what they were", done.returncode == 0)
    told = run("report", "--json", "-i", release + "/capture")
    report(f"{release}: its capture has kicks", told[0] == 0 and
           json.loads(told[1])["kicks"]["total"] > 0, told)


def main():
    listed = run("vm", "list")[1].splitlines()
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
    kernels = [line.split()[1] for line in listed
               if line.startswith(f"{machine} ") and "QEMU" not in line]
    if not any(line.startswith(f"{machine}  QEMU") for line in listed):
        print("1..0 # SKIP no QEMU: ilb vm fetch qemu")
        return 0
    if not kernels:
        print("1..0 # SKIP no kernel in the cache: ilb vm fetch 6.12")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for release in kernels:
            boot(release)
        os.chdir("/")
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


sys.exit(main())
