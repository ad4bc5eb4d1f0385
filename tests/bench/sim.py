#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What simulating costs: usage: sim.py BUILD; from the source's folder.

The engine's events per CPU second on 352 saturated CPUs; how many times faster
than time the pinned Vera scenario runs; wakeups and timers per CPU second
beside SimGrid's with the same sleepers, where SimGrid is installed; memory of
512 to 8192 CPUs. Each figure is the best of RUNS. Status 1: an aim is missed.
"""
import json
import os
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = os.path.join(HERE, "scenarios")
RUNS = 3
SECONDS = 300
PLATFORM = ('<?xml version="1.0"?><!DOCTYPE platform SYSTEM '
            '"https://simgrid.org/simgrid.dtd"><platform version="4.1">'
            '<zone id="z" routing="Full"><host id="host" speed="1Gf"/></zone>'
            '</platform>')

missed = []


def built(name):
    return not subprocess.run(
        ["ninja", "-C", BUILD, "--quiet", "tests/bench/" + name],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        timeout=SECONDS).returncode


def fields(line):
    words = line.split()
    return {k: float(v) for k, v in zip(words, words[1:])
            if v.replace(".", "").isdigit()}


def run(program, *args):
    done = subprocess.run([os.path.join(BUILD, "tests/bench", program), *args],
                          stdout=subprocess.PIPE, text=True, check=True,
                          timeout=SECONDS)
    line = done.stdout.strip()
    return fields(line[line.find(":") + 1:] if program == "sim" else
                  line[line.find(" ") + 1:])


def best(*args):
    return min((run(*args) for _ in range(RUNS)), key=lambda r: r["cpu_s"])


def say(name, value, unit, aim=None):
    good = aim is None or value >= aim
    print("%s %.2f %s%s" % (name, value, unit, "" if aim is None else
                            " (aim: %g%s)" % (aim, "" if good else
                                              ", missed")), flush=True)
    if not good:
        missed.append(name)


def speed():
    saturated = os.path.join(SCENARIOS, "saturated.json")
    for variant in ((), ("full",)):
        one = best("sim", saturated, *variant)
        say("sim-saturated" + "".join("-" + v for v in variant),
            one["timers_per_s"] / 1e6, "M events/CPU s", 5)
    one = best("sim", "mail-b")
    say("sim-vera-pinned", one["simulated_s"] / one["cpu_s"],
        "times real time", 10)


def beside_simgrid():
    own = best("sim", os.path.join(SCENARIOS, "timers.json"))
    say("sim-sleepers", own["wakeups_per_s"] / 1e6, "M wakeups/CPU s")
    if not built("simgrid"):
        print("sim-simgrid: SimGrid is not installed (libsimgrid-dev)")
        return
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as platform:
        platform.write(PLATFORM)
        platform.flush()
        for spread in ("0", "300000"):
            other = best("simgrid", platform.name, "1408", "50", spread)
            rate = other["wakeups_per_s"]
            say("simgrid-spread-" + spread, rate / 1e6, "M wakeups/CPU s")
            say("sim-over-simgrid-timers", own["timers_per_s"] / rate,
                "times, timers for timers")
            say("sim-over-simgrid-wakeups", own["wakeups_per_s"] / rate,
                "times, wakeups with all of a kernel's work for timers")


def memory():
    """What each CPU adds may not grow with their number."""
    added = {}
    with tempfile.TemporaryDirectory() as folder:
        for packs in (1, 4, 16):
            path = os.path.join(folder, "%d.json" % packs)
            with open(path, "w") as f:
                json.dump({
                    "machine": "pack:%d [numa] l3:1 core:256 pu:2" % packs,
                    "kernel": "linux-7.3", "duration": "20ms",
                    "workload": {"tasks": {"a": {
                        "instance": 512 * packs, "run": "1ms"}}}}, f)
            added[512 * packs] = run("sim", path)["max_rss_kb"]
    for cpus, kb in added.items():
        say("sim-memory-%d" % cpus, kb / 1024, "MiB")
    steps = [(added[2048] - added[512]) / 1536, (added[8192] - added[2048]) /
             6144]
    say("sim-memory-per-cpu", steps[1], "KiB")
    if steps[1] > 1.5 * steps[0]:
        missed.append("sim-memory: not linear")


def main():
    if not built("sim"):
        sys.exit("sim.py: cannot build tests/bench/sim in " + BUILD)
    for part in (speed, beside_simgrid, memory):
        try:
            part()
        except (subprocess.CalledProcessError,
                subprocess.TimeoutExpired) as failed:
            missed.append("%s: %s" % (part.__name__, failed))
    for name in missed:
        print("missed: " + name)
    sys.exit(bool(missed))


main()
