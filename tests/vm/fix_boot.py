# SPDX-License-Identifier: GPL-2.0-only
"""What fix.py and fix_soak.py share: guests that have the module."""
import json
import os
import subprocess
import tempfile
import time

SMALL = ("--topology", "pack:2 [numa] l3:1 core:1 pu:2")

# Warnings of stock kernels, by where they come from. The first is a nohz_full
# CPU that got no time for three seconds, which happens where QEMU emulates on a
# busy host; the second, from 6.12 on, is docs/fix.md's.
STOCK_WARNINGS = ("sched_tick_remote", "sched_cpu_dying")

results = []

# A root in memory may be anybody's to write, which "ilb fix" does not accept.
COMMON = """
M=/bin/SERIES.ko
chmod 755 /
fix() {
	name=$1
	shift
	ilb fix "$@" >$name.out 2>$name.err
	echo $? >$name.status
}
record() { ilb record --moments-only -o $1 -d 2 2>/dev/null || exit; }
"""

# cycle N H PARAMETER...: N loads and unloads, every Hth while a CPU goes and
# comes back; fewer once the guest is up for $limit seconds. Its results are the
# numbers of both. A warning panics, except as a CPU goes where there is a fair
# server, of which stock kernels warn then (docs/fix.md): that is in the log.
CYCLES = """
cycle() {
	cycles=$1 every=$2 done=0 offlines=0
	servers=/sys/kernel/debug/sched/fair_server
	panic=/proc/sys/kernel/panic_on_warn
	saved=$(cat $panic)
	shift 2
	while [ $done -lt $cycles ]; do
		read up idle </proc/uptime
		[ ${up%.*} -lt ${limit:-1000000} ] || break
		insmod $M "$@" || exit
		done=$((done + 1))
		if [ $((done % every)) = 0 ]; then
			cpu=/sys/devices/system/cpu/cpu$((offlines % 3 + 1))
			[ ! -e $servers ] || echo 0 >$panic
			echo 0 >$cpu/online || exit
			echo $saved >$panic
			echo 1 >$cpu/online || exit
			offlines=$((offlines + 1))
		fi
		cat /sys/module/ilb_fix/parameters/counters >>counted
		rmmod ilb_fix || exit
		each_cycle
	done
	echo $done $offlines >cycles
}
each_cycle() { :; }
"""


def check(name, good, detail=""):
    results.append(bool(good))
    print("%sok %d - %s" % ("" if good else "not ", len(results), name),
          flush=True)
    if not good:
        for line in str(detail).splitlines():
            print("#", line, flush=True)


class Boot:
    """One guest's folder."""

    def __init__(self, args, series, kind, script, *options,
                 append="panic_on_warn=1", timeout=285):
        self.ilb = args.ilb
        self.folder = os.path.join(args.keep, series + kind)
        module = os.path.join(args.modules, series + ".ko")
        began = time.monotonic()
        done = subprocess.run(
            [self.ilb, "vm", "--kernel", series, "--timeout", str(timeout),
             "--append", append, "--with", module,
             *options, "-o", self.folder, "--", "sh", "-c",
             script.replace("SERIES", series)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=timeout + 100, check=False)
        print("# %s%s: %.0f s" % (series, kind, time.monotonic() - began))
        self.lives = done.returncode == 0
        check(f"{series}{kind}: the guest lives", self.lives, done.stdout)

    def read(self, name):
        try:
            with open(os.path.join(self.folder, name),
                      encoding="utf-8") as file:
                return file.read()
        except OSError:
            return ""

    def status(self, name):
        return int(self.read(name + ".status") or -1)

    def said(self, name):
        return self.read(name + ".err") + self.read(name + ".out")

    def json(self, name):
        try:
            return json.loads(self.read(name + ".out"))
        except ValueError:
            return {}

    def report(self, name):
        done = subprocess.run([self.ilb, "report", "--json", "-i",
                               os.path.join(self.folder, name)],
                              stdout=subprocess.PIPE, text=True,
                              timeout=100, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def kicks(self, name):
        k = self.report(name).get("kicks", {})
        return k.get("total", 0), k.get("avoidable", -1)


def warnings(boot, name):
    """Of the guest's log, which its script leaves as "log"."""
    lines = [line for line in boot.read("log").splitlines()
             if "WARNING: " in line or "BUG: " in line]
    own = [line for line in lines if any(w in line for w in STOCK_WARNINGS)]
    for line in own:
        print("# the kernel's own:", line)
    check(f"{name}: the module causes no warning", boot.read("log") and
          lines == own, "\n".join(lines))


def had(args, series):
    """Whether there is a module for it; says so if not."""
    if os.path.exists(os.path.join(args.modules, series + ".ko")):
        return True
    print(f"# {series}: skipped, {args.modules} has no {series}.ko")
    return False


def run(parser, kernels, one):
    """one(args, kernel) for each; the exit status."""
    parser.add_argument("ilb", type=os.path.abspath)
    parser.add_argument("modules", type=os.path.abspath)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--keep", type=os.path.abspath)
    args = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        args.keep = args.keep or folder
        os.makedirs(args.keep, exist_ok=True)
        for series in args.kernels or kernels:
            if had(args, series):
                one(args, series)
    print(f"1..{len(results)}")
    print("%d passed, %d failed" % (sum(results), results.count(False)))
    return 0 if all(results) else 1
