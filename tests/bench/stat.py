#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What watching costs: usage: stat.py BUILD [ROUNDS [LOOPS]]

'perf bench sched pipe' on one CPU, which does nothing but switch tasks, and
'perf bench sched messaging', alone and while the machine is watched by: ilb
stat; ftrace, of the same events;
perf sched record; bpftrace, with a script that counts SMT contention. In
turns within each round, so that a noisy machine is as noisy for all. The cost
is that of CPU time (user and system) per operation, the least of all rounds,
against that without a watcher. Then what a run of each of ilb's BPF programs takes,
from the kernel's own statistics, less what these say of a program that does
nothing: measuring costs more than these programs. One line each: name, value,
unit, and the aim where there is one. Needs root.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TRACING = "/sys/kernel/tracing"
INSTANCE = TRACING + "/instances/ilb-bench"
BPF_STATS = "/proc/sys/kernel/bpf_stats_enabled"
EVENTS = ("sched/sched_switch", "irq/softirq_entry", "irq/softirq_exit",
          "csd/csd_queue_cpu", "csd/csd_function_entry")
# As people do it: who runs where in a map, siblings looked up at each switch.
CONTENTION = """
tracepoint:sched:sched_switch {
	@runs[cpu] = args->next_pid;
	if (args->prev_pid == 0 && args->next_pid != 0) {
		if (@runs[cpu ^ 1] != 0) { @busy = count(); }
		else { @idle = count(); }
	}
}
tracepoint:irq:softirq_entry /args->vec == 7/ { @at[cpu] = nsecs; }
tracepoint:irq:softirq_exit /args->vec == 7 && @at[cpu]/ {
	@time = sum(nsecs - @at[cpu]); delete(@at[cpu]);
}
"""


def note(text):
    print("# " + text, flush=True)


def skip(why):
    note("skipped: " + why)
    sys.exit(77)


def bpftool():
    return shutil.which("bpftool",
                        path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def programs():
    done = subprocess.run([bpftool(), "prog", "show", "-j"], check=True,
                          stdout=subprocess.PIPE)
    return {p["name"]: p for p in json.loads(done.stdout) if "name" in p}


class Nothing:
    name = "none"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Watcher:
    """A program that runs beside the benchmark, until it is interrupted."""

    def __init__(self, name, command, ready):
        self.name, self.command, self.ready = name, command, ready

    def __enter__(self):
        self.process = subprocess.Popen(self.command,
                                        stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while not self.ready() and time.monotonic() < end:
            if self.process.poll() is not None:
                sys.exit("%s: ended with %d" % (self.name,
                                                self.process.returncode))
            time.sleep(0.1)
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


class Ftrace:
    name = "ftrace"

    @staticmethod
    def put(name, text):
        with open(INSTANCE + "/" + name, "w", encoding="ascii") as file:
            file.write(text)

    def __enter__(self):
        os.mkdir(INSTANCE)
        for event in EVENTS:
            if os.path.exists("%s/events/%s" % (INSTANCE, event)):
                self.put("events/%s/enable" % event, "1")
        return self

    def __exit__(self, *_):
        os.rmdir(INSTANCE)


def watchers(ilb, folder):
    found = [Nothing(), Watcher("ilb stat", [ilb, "stat", "-I", "1"],
                                lambda: "on_switch" in programs())]
    found.append(Ftrace())
    data = os.path.join(folder, "perf.data")
    found.append(Watcher("perf sched record",
                         ["perf", "sched", "record", "-o", data],
                         lambda: os.path.exists(data)))
    if shutil.which("bpftrace"):
        found.append(Watcher("bpftrace", ["bpftrace", "-e", CONTENTION],
                             lambda: "sched_switch" in programs()))
    else:
        note("no bpftrace: left out")
    return found


def perf_bench(name, loops):
    """CPU time of one operation, in us."""
    command = ["perf", "bench", "sched", name, "-l", str(loops)]
    if name == "pipe":
        command = ["taskset", "-c", "0"] + command
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, child.returncode, after = os.wait4(child.pid, 0)
    return (after.ru_utime + after.ru_stime) / loops * 1e6


def compare(ilb, name, rounds, loops):
    with tempfile.TemporaryDirectory() as folder:
        kinds = watchers(ilb, folder)
        costs = {kind.name: [] for kind in kinds}
        for turn in range(rounds):
            # Another order each time: what comes first is not always cold.
            for kind in kinds[turn % len(kinds):] + kinds[:turn % len(kinds)]:
                with kind:
                    costs[kind.name].append(perf_bench(name, loops))
    # The least of each: what else runs on the machine only adds.
    base = min(costs.pop("none"))
    print("%s.alone %.3f us/op" % (name, base))
    for watcher, values in costs.items():
        more = min(values) - base
        aim = " (aim: under 1)" if watcher == "ilb stat" and \
            name == "pipe" else ""
        switch = ", %+.0f ns/switch" % (more * 500) if name == "pipe" else ""
        print("%s.%s %+.2f %%%s%s" % (name, watcher.replace(" ", "-"),
                                      100 * more / base, switch, aim))


def nothing(build, loops):
    """What a run takes that takes no time."""
    with subprocess.Popen([os.path.join(build, "tests/bench/bpf-empty"), "4"],
                          stdout=subprocess.PIPE, text=True) as empty:
        perf_bench("pipe", loops)
        return float(empty.communicate()[0])


def per_run(build, ilb, loops):
    with open(BPF_STATS, "r+", encoding="ascii") as file:
        was = file.read().strip()
        file.seek(0)
        file.write("1")
    try:
        with Watcher("ilb stat", [ilb, "stat", "-I", "1"],
                     lambda: "on_switch" in programs()):
            perf_bench("pipe", loops)
            found = programs()
        zero = nothing(build, loops)
    finally:
        with open(BPF_STATS, "w", encoding="ascii") as file:
            file.write(was)
    print("bpf.nothing %.1f ns/run, taken off below" % zero)
    for name, program in sorted(found.items()):
        if not name.startswith("on_") or not program.get("run_cnt"):
            continue
        aim = " (aim: under 100)" if name == "on_switch" else ""
        print("bpf.%s %.1f ns/run%s, %d runs" % (
            name, program["run_time_ns"] / program["run_cnt"] - zero, aim,
            program["run_cnt"]))


def main():
    build = os.path.abspath(sys.argv[1])
    ilb = os.path.join(build, "ilb")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    loops = int(sys.argv[3]) if len(sys.argv) > 3 else 200000
    subprocess.run(["ninja", "-C", build, "tests/bench/bpf-empty"], check=True,
                   stdout=subprocess.DEVNULL)
    if os.geteuid():
        skip("not root")
    if not shutil.which("perf") or not bpftool():
        skip("no perf or no bpftool")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        skip("this kernel has no BTF")
    per_run(build, ilb, loops)
    compare(ilb, "pipe", rounds, loops)
    # 20 senders to 20 receivers in each of ten groups.
    compare(ilb, "messaging", rounds, max(1, loops // 4000))


main()
