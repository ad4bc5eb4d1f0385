#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: fix.py ILB   The command "ilb fix", as far as no kernel is changed.

Nothing is loaded here: tests/vm/fix.py does that, in guests. Where a module
could be loaded, it is one that is refused before the kernel is asked.
"""
import json
import os
import subprocess
import sys
import tempfile

ilb = os.path.abspath(sys.argv[1])
results = []


def report(name, good, *notes):
    results.append(bool(good))
    print("ok" if good else "not ok", len(results), "-", name)
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print("#", line)


def run(*args):
    done = subprocess.run([ilb, "fix", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def usage():
    for name, args, word in (
            ("no verb", [], "which one"),
            ("no such verb", ["banana"], "banana"),
            ("no such option", ["load", "--banana"], "--banana"),
            ("no value", ["load", "--policy"], "needs a value"),
            ("no such repair", ["load", "--repair", "idle_core"],
             "idle_core"),
            ("no such policy", ["load", "--policy", "far"], "far"),
            ("a policy without its repair",
             ["load", "--repair", "nohz-full", "--policy", "near"],
             "--policy"),
            ("-n is of trial", ["load", "-n", "5"], "not for 'load'"),
            ("--seed is of trial", ["status", "--seed", "5"], "--seed"),
            ("--json is not of enable", ["enable", "--json"], "--json"),
            ("--repair is not of status", ["status", "--repair",
                                           "idle-core"], "--repair"),
            ("too many words", ["unload", "now"], "now"),
            ("trial without a command", ["trial"], "no command"),
            ("one pair is none", ["trial", "-n", "1", "--", "true"], "-n"),
            ("too many pairs", ["trial", "-n", "1001", "--", "true"], "-n"),
            ("no number", ["trial", "-n", "x", "--", "true"], "-n 'x'"),
            ("no seed", ["trial", "--seed", "-1", "--", "true"], "--seed"),
            ("a line remains a line", ["a\nb"], "a?b")):
        code, out, err = run(*args)
        report(f"usage: {name}", code == 2 and not out and word in err and
               err.count("\n") == 1 and err.startswith("ilb fix: "), err)
    for option in ("-h", "--help"):
        for verb in ([], ["load"], ["trial"]):
            code, out, err = run(*verb, option)
            report(f"usage: {verb} {option}", code == 0 and not err and
                   out.startswith("usage: ilb fix load"), out, err)


def not_loaded():
    code, out, err = run("status")
    report("status: not loaded", code == 0 and "not loaded" in out and
           not err, out, err)
    code, out, err = run("status", "--json")
    report("status --json: not loaded", code == 0 and
           json.loads(out) == {"loaded": False}, out, err)
    for verb in ("enable", "disable", "unload"):
        code, out, err = run(verb)
        report(f"{verb}: not loaded", code == 4 and not out and
               "not loaded" in err and err.count("\n") == 1, err)


def needs():
    """Whatever this machine needs: a module that anybody can have written,
    or nothing to repair."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ilb_fix.ko")
        with open(path, "w", encoding="ascii") as file:
            file.write("no module")
        os.chmod(path, 0o666)
        marker = os.path.join(folder, "ran")
        for args, want in ((["load"], 4), (["load", "--dry-run"], 4),
                           (["load", "--repair", "idle-core"], 4),
                           (["load", "--repair", "nohz-full"], 4),
                           (["trial", "-n", "2"], 125)):
            command = ["--", "touch", marker] if args[0] == "trial" else []
            code, out, err = run(*args, "--module", path, *command)
            report(f"{args}: refused", code == want and
                   ("nothing to repair" in err or "may write" in err or
                    "owned by" in err) and err.count("\n") == 1, code, err)
        report("trial: without the module nothing runs",
               not os.path.exists(marker))


def plan():
    """The order, where this machine has something to repair."""
    code, out, err = run("trial", "--dry-run", "-n", "6", "--seed", "3",
                         "--json", "--", "/nonexistent")
    if code == 125 and "nothing to repair" in err:
        print("# skipped: the order of a trial; nothing to repair here")
        return
    order = json.loads(out)["order"]
    report("plan: each pair has both", code == 0 and len(order) == 12 and
           all(sorted(order[i:i + 2]) == ["off", "on"]
               for i in range(0, 12, 2)), out, err)
    again = run("trial", "--dry-run", "-n", "6", "--seed", "3", "--json",
                "--", "/nonexistent")
    report("plan: a seed is an order", again[1] == out, again[1])


if os.path.exists("/sys/module/ilb_fix"):
    print("1..0 # SKIP ilb_fix is loaded, which these tests leave alone")
    sys.exit(0)
usage()
not_loaded()
needs()
plan()
print(f"1..{len(results)}")
sys.exit(0 if all(results) else 1)
