#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ilb sim from outside: usage: sim.py ILB; TAP."""
import json
import os
import subprocess
import sys
import tempfile

ILB = os.path.abspath(sys.argv[1])
SECONDS = 60

results = []


def ilb(*args):
    return subprocess.run([ILB, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=SECONDS, text=True)


def check(name, good, *notes):
    results.append(bool(good))
    print("%sok %d - %s" % ("" if good else "not ", len(results), name))
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print("#", line)
    sys.stdout.flush()


def write(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(content if isinstance(content, str) else json.dumps(content))
    return path


def guest(release):
    return {
        "machine": "guest16",
        "kernel": release,
        "workload": {"tasks": {"spin": {
            "instance": 4, "cpus": [0, 2, 4, 6], "pin": "cpu",
            "run": "100ms"}}},
        "duration": "1s",
    }


def report_shape(folder):
    for release, share in (("linux-6.12", 1), ("linux-7.3", 0)):
        path = write(folder, release + ".json", guest(release))
        done = ilb("sim", "--json", path)
        kicks = json.loads(done.stdout)["kicks"] if not done.returncode else {}
        check("%s: kicks on a busy core: %s" % (release,
                                                "all" if share else "none"),
              kicks.get("total", 0) > 200 and
              kicks["on_busy_core"] == share * kicks["total"], done, kicks)


def capture(folder):
    """What is written says what was printed, and replays exactly."""
    path = write(folder, "capture.json", guest("linux-6.12"))
    data = os.path.join(folder, "data")
    done = ilb("sim", "--json", "--capture", data, path)
    again = ilb("report", "--json", "--settle", "0", "-i", data)
    check("a capture can be reported", not again.returncode, again)
    own, read = json.loads(done.stdout), json.loads(again.stdout)
    # A trace cannot show a kick that found nobody.
    own["kicks"].pop("no_target")
    for part in ("kicks", "runs", "contention", "softirq", "victims",
                 "domains"):
        check("report of the capture: the same " + part,
              own.get(part) == read.get(part) and part in own,
              own.get(part), read.get(part))
    check("simulated moments are called so",
          own["capture"]["moments"] == "simulated")
    check("all lines are understood", read["capture"]["unparsed"] == 0)
    done = ilb("replay", "--json", "--settle", "0", "-i", data, "-p",
               "lowest,idle-core")
    policies = json.loads(done.stdout)["policies"]
    check("replay finds the rule in every kick",
          policies[0]["agree"] == policies[0]["kicks"] > 0 and
          policies[1]["agree"] == 0, policies)
    done = ilb("sim", "--capture", data, path)
    check("a folder that exists is left alone", done.returncode == 3 and
          "cannot make the folder" in done.stderr, done)


def recorded(folder):
    """A run's capture as the load of another: as much of it, as often."""
    scenario = guest("linux-6.12")
    scenario["workload"]["tasks"]["short"] = {
        "instance": 6, "run": 700, "sleep": 2900, "jitter_ppm": 200000}
    data = os.path.join(folder, "load")
    path = write(folder, "load.json", scenario)
    done = ilb("sim", "--json", "--capture", data, path)
    first = json.loads(done.stdout)
    scenario["workload"] = {"recorded": {"capture": "load", "cpus": "seen"}}
    del scenario["duration"]
    path = write(folder, "again.json", scenario)
    done = ilb("sim", "--json", path)
    if done.returncode:
        check("recorded arrivals", False, done)
        return
    again = json.loads(done.stdout)
    check("recorded: as long", abs(again["capture"]["duration_s"] -
                                   first["capture"]["duration_s"]) < 0.01,
          again["capture"])
    check("recorded: kicks go where they went",
          again["kicks"]["on_busy_core"] == again["kicks"]["total"] and
          abs(again["kicks"]["total"] - first["kicks"]["total"]) <
          0.05 * first["kicks"]["total"], first["kicks"], again["kicks"])
    ran = {}
    for name, of in (("first", data), ("again", os.path.join(folder, "2"))):
        if name == "again":
            ilb("sim", "--capture", of, path)
        with open(os.path.join(of, "trace.txt")) as f:
            ran[name] = sum(": sched_wakeup:" in line for line in f)
    check("recorded: as many wakeups", abs(ran["again"] - ran["first"]) <
          0.02 * ran["first"] > 20, ran)


def seeds(folder):
    scenario = guest("linux-7.3")
    scenario["workload"]["tasks"] = {"a": {
        "instance": 30, "run": 500, "sleep": 700, "jitter_ppm": 200000}}
    path = write(folder, "seeds.json", scenario)
    one, two, other = (ilb("sim", "--seed", s, path).stdout
                       for s in ("1", "1", "2"))
    check("the same seed, the same bytes", one == two and "digest" in one)
    check("another seed, another run", one != other)
    done = ilb("sim", "--check-determinism", "--json", path)
    check("--check-determinism", not done.returncode, done)


def variants(folder):
    scenario = guest("linux-6.12")
    scenario["variants"] = {"stock": {}, "new": {"policy": "idle-core"}}
    path = write(folder, "variants.json", scenario)
    rows = json.loads(ilb("sim", "--json", path).stdout)["variants"]
    check("variants: one row each", [r["name"] for r in rows] ==
          ["stock", "new"] and rows[0]["on_busy_core"] == rows[0]["kicks"] > 0
          and rows[1]["on_busy_core"] == 0, rows)
    done = ilb("sim", path)
    check("variants fit on a screen", not done.returncode and
          max(map(len, done.stdout.splitlines())) <= 100 and
          len(done.stdout.splitlines()) < 24, done.stdout)
    done = ilb("sim", "--variant", "new", path)
    check("--variant: a whole report", "Verdict" in done.stdout, done)
    done = ilb("sim", "--variant", "nwe", path)
    check("--variant: none of that name", done.returncode == 3, done)


def errors(folder):
    bad = guest("linux-6.12")
    bad["workload"]["tasks"]["spin"]["instnce"] = 4
    path = write(folder, "bad.json", json.dumps(bad, indent=1))
    done = ilb("sim", path)
    check("an unknown key: status 3, one line, line number, remedy",
          done.returncode == 3 and done.stderr.count("\n") == 1 and
          "bad.json:" in done.stderr and '"instance"' in done.stderr and
          not done.stdout, done)
    for args, code in (((), 2), (("a", "b"), 2), (("--seed", "x", "a"), 2),
                       (("nonesuch",), 3), (("--nonesuch", "a"), 2),
                       (("/dev/null",), 3), ((folder,), 3)):
        done = ilb("sim", *args)
        check("status of %s" % (args,), done.returncode == code and
              done.stderr.count("\n") == 1, done)


def shipped():
    """Every shipped scenario is read, and runs."""
    lines = ilb("sim", "--list").stdout.split("\n\n")[0].splitlines()[1:]
    names = [line.split()[0] for line in lines]
    check("--list: shipped scenarios", "vera-gemm" in names, names)
    for name in names:
        done = ilb("sim", name)
        check("shipped: " + name, not done.returncode and not done.stderr,
              done)


def pairs():
    """Two bugs of Linux that were mended: what they cost is seen."""
    for name, kicks in (("lost-kick", 2), ("next-kick", 10)):
        done = ilb("sim", "--json", name)
        fixed, buggy = json.loads(done.stdout)["variants"]
        check(name + ": the bug loses kicks",
              buggy["kicks"] * kicks < fixed["kicks"], done.stdout)
        if name == "next-kick":
            check(name + ": CPUs idle for longer while tasks wait",
                  buggy["wasted_ns"] > 1.02 * fixed["wasted_ns"] and
                  buggy["work_ns"] < fixed["work_ns"], done.stdout)
        if name == "lost-kick":
            check(name + ": by one kick that came too late",
                  (fixed["dropped"], buggy["dropped"]) == (1, 1), done.stdout)


def mail_b():
    """Attempts per second; docs/validation.md has what is not reached."""
    report = json.loads(ilb("sim", "--json", "mail-b").stdout)
    seconds = report["capture"]["duration_s"]
    rate = {(d["name"], d["idle_type"]): d["lb"] / seconds
            for d in report["domains"]}
    rate["SCHED", "softirqs"] = report["softirq"]["sched"] / seconds
    for key, mail, percent in ((("SMT", "idle"), 67041, 3),
                               (("SMT", "busy"), 1408, 3),
                               (("NUMA", "idle"), 415, 8),
                               (("SMT", "newly-idle"), 33, 10),
                               (("MC", "newly-idle"), 33, 10),
                               (("NUMA", "newly-idle"), 33, 10),
                               (("SCHED", "softirqs"), 2625, 5)):
        check("mail B: %s %s within %d %%" % (*key, percent),
              abs(rate[key] - mail) * 100 <= mail * percent, rate)


def guests():
    """Recorded guests' pinned load; what differs is in docs/validation.md."""
    captures = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                            "captures")
    for name, points in (("6.1-pin16", 5), ("6.12-pin16", 15),
                         ("6.12-arm64-pin16", 7), ("7.3-pin16", 7)):
        shares = []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "guest.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({
                    "machine": "guest16",
                    "kernel": {"release": "linux-" + name.split("-")[0],
                               "hz": 250},
                    "workload": {"tasks": {"spin": {
                        "instance": 4, "cpus": [0, 2, 4, 6], "pin": "cpu",
                        "run": "100ms"}}},
                    "duration": "6s"}, file)
            for command in (("report", "--json", "-i",
                             os.path.join(captures, name)),
                            ("sim", "--json", path)):
                kicks = json.loads(ilb(*command).stdout)["kicks"]
                shares.append({t["cpu"]: 100 * t["kicks"] / kicks["total"]
                               for t in kicks["by_target"]})
        guest, simulated = shares
        main_target = max(guest, key=guest.get)
        check("%s: targets, within %d points" % (name, points),
              set(simulated) <= set(guest) and
              abs(simulated.get(main_target, 0) - guest[main_target])
              <= points, guest, simulated)


def main():
    with tempfile.TemporaryDirectory() as folder:
        report_shape(folder)
        capture(folder)
        recorded(folder)
        seeds(folder)
        variants(folder)
        errors(folder)
    pairs()
    mail_b()
    guests()
    shipped()
    print("1..%d" % len(results))
    sys.exit(not all(results))


main()
