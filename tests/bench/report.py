#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Speed and memory of 'ilb report': usage: report.py ILB WORKDIR [EVENTS]

Records a trace of this machine (make-trace.sh) and a perf.data of the same
load, then reads them in turn with ilb report, trace-cmd report and perf sched
timehist: events per second of CPU time (user and system, of all processes),
and ilb's own memory (RssAnon: libtracecmd maps the file). One line each:
name, value, unit, and the aim where there is one.
"""
import os
import re
import statistics
import subprocess
import sys

from cost import cost

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 3


def note(text):
    print("# " + text, flush=True)


def skip(why):
    note("skipped: " + why)
    sys.exit(77)


def record(work, events):
    trace, perf = work + "/trace.dat", work + "/perf.data"
    if not os.path.exists(trace):
        note("recording a trace of at least %d events" % events)
        done = subprocess.run([HERE + "/make-trace.sh", trace, str(events)])
        if done.returncode:
            skip("no trace could be recorded here")
    if not os.path.exists(perf):
        note("recording the same load with perf sched record")
        done = subprocess.run(
            ["perf", "sched", "record", "-o", perf, "perf", "bench", "sched",
             "messaging", "-g", "10", "-l", "400"], capture_output=True)
        if done.returncode:
            return trace, None
    return trace, perf


def events_of_perf(perf):
    stats = subprocess.run(["perf", "report", "-i", perf, "--stats"],
                           capture_output=True, text=True).stdout
    found = re.search(r"SAMPLE events:\s*(\d+)", stats)
    return int(found.group(1)) if found else 0


def events_of_trace(ilb, trace):
    out = subprocess.run([ilb, "report", "-i", trace, "--topology", "self",
                          "--json"], capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    return int(re.search(r'"events":\s*(\d+)', out.stdout).group(1))


def main():
    ilb, work = sys.argv[1:3]
    events = int(sys.argv[3]) if len(sys.argv) > 3 else 1500000
    os.makedirs(work, exist_ok=True)
    trace, perf = record(work, events)
    count = events_of_trace(ilb, trace)
    commands = {
        "ilb": ([ilb, "report", "-i", trace, "--topology", "self"], count),
        "replay": ([ilb, "replay", "-i", trace, "--topology", "self"], count),
        "trace-cmd": (["trace-cmd", "report", "-i", trace], count),
    }
    if perf:
        commands["timehist"] = (["perf", "sched", "timehist", "-i", perf],
                                events_of_perf(perf))
    rates = {name: [] for name in commands}
    most = 0
    for _ in range(ROUNDS):
        for name, (command, n) in commands.items():
            try:
                seconds, memory = cost(command)
            except subprocess.CalledProcessError as why:
                skip(str(why))
            rates[name].append(n / seconds)
            if name == "ilb":
                most = max(most, memory)
    rate = {name: statistics.median(r) for name, r in rates.items()}
    print("report_events %d events" % count)
    for name in rate:
        print("report_rate_%s %.0f events/s" % (name, rate[name]))
    print("report_vs_trace_cmd %.2f ratio (aim: 5 or more)"
          % (rate["ilb"] / rate["trace-cmd"]))
    if perf:
        print("report_vs_timehist %.2f ratio (aim: 1.3 or more)"
              % (rate["ilb"] / rate["timehist"]))
    print("report_rss_anon %.1f MB (aim: under 64)" % (most / 1024))


main()
