#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The events of a trace.dat, one a line, by way of trace-cmd's text.

An independent reading, to compare the reader of trace.dat with: it shares
neither the fields' offsets nor the merging nor the decompression with it.
Lines are those of tests/unit/dat_format.h.

	events.py TRACE.DAT > TRACE.events
"""

import re
import subprocess
import sys

LINE = re.compile(r"^ *(.*)-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): "
                  r"([^ :]+): *(.*)$")
LOST = re.compile(r"^CPU:(\d+) \[(\d+|)[^\]]*EVENTS DROPPED\]")
SWITCH = re.compile(r"prev_comm=.* prev_pid=(-?\d+) prev_prio=-?\d+ "
                    r"prev_state=(\S+) ==> next_comm=(.*) "
                    r"next_pid=(\d+) next_prio=-?\d+$")
FUNCS = {"nohz_csd_func": 1, "sched_ttwu_pending": 2}
VALUES = {
    "tick_stop": ("tick_stop", r"success=(\d+)"),
    "softirq_raise": ("softirq_raise", r"vec=(\d+)"),
    "softirq_entry": ("softirq_entry", r"vec=(\d+)"),
    "softirq_exit": ("softirq_exit", r"vec=(\d+)"),
    "cpu_idle": ("idle", r"state=(\d+)"),
}
PROBES = {
    "enter_idle": "probe_enter", "exit_idle": "probe_exit",
    "trig": "probe_tick", "csd_send": "probe_send",
    "csd_func": "probe_csd", "nohz_ib": "probe_pass",
    "nohz_ib_ret": "probe_pass_end",
}
TICKS = {"tick_nohz_handler", "tick_sched_timer"}


def func(text):
    """The number of the function that a text names, offset or not."""
    name = re.search(r"func=([a-z_]\w*)", text)
    return FUNCS.get(name.group(1), 0) if name else 0


def probe(name, text):
    mask = re.search(r"mask=0x([0-9a-f]+)", text)
    cpu = flags = 0
    if name == "csd_send":
        cpu = int(re.search(r"\bcpu=(\d+)", text).group(1))
    if name == "nohz_ib":
        found = re.search(r"flags=(\S+)", text)
        flags = int(found.group(1), 0) if found else 0
    return "%s %d %d %d %d %x" % (
        PROBES[name], cpu, func(text) if name == "csd_send" else 0, flags,
        bool(mask), int(mask.group(1), 16) if mask else 0)


def sched(name, text):
    if name == "sched_switch":
        prev, state, comm, pid = SWITCH.match(text).groups()
        return "switch %s %d %s %s" % (prev, state[0] == "R", pid, comm)
    pid = re.search(r" pid=(\d+)", text).group(1)
    if name == "sched_migrate_task":
        return "migrate %s %s %s" % (
            pid, re.search(r"orig_cpu=(\d+)", text).group(1),
            re.search(r"dest_cpu=(\d+)", text).group(1))
    return "wakeup %s %d" % (
        pid, int(re.search(r"target_cpu=(\d+)", text).group(1)))


def translate(name, text):
    if name in ("sched_switch", "sched_wakeup", "sched_wakeup_new",
                "sched_migrate_task"):
        return sched(name, text)
    if name in VALUES:
        kind, pattern = VALUES[name]
        return "%s %s" % (kind, re.search(pattern, text).group(1))
    if name in PROBES:
        return probe(name, text)
    if name == "csd_queue_cpu":
        return "csd_queue %s %d" % (
            re.search(r"cpu=(\d+)", text).group(1), func(text))
    if name in ("csd_function_entry", "csd_function_exit"):
        return "csd_%s 0 %d" % (name.split("_")[-1], func(text))
    if name == "call_function_single_entry" or (
            name == "ipi_entry" and "Function call interrupts" in text):
        return "irq_call"
    if name == "hrtimer_expire_entry":
        found = re.search(r"function=(\S+)", text)
        return "tick" if found.group(1) in TICKS else "other"
    return "other"


def main():
    report = subprocess.run(
        ["trace-cmd", "report", "-t", "-N", "-i", sys.argv[1]],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    lost = {}
    for line in report.stdout.decode(errors="replace").splitlines():
        found = LOST.match(line)
        if found:
            lost[int(found.group(1))] = int(found.group(2) or 0)
            continue
        found = LINE.match(line)
        if not found:
            continue
        _, pid, cpu, sec, nsec, name, text = found.groups()
        when = int(sec) * 10 ** 9 + int(nsec)
        cpu = int(cpu)
        if cpu in lost:
            print(when, cpu, -1, "lost", lost.pop(cpu))
        print(when, cpu, pid, translate(name, text))


if __name__ == "__main__":
    main()
