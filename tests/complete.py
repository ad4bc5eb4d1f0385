#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: complete.py ILB SOURCE   Completions of bash, zsh and fish, and that
# -h, completion and man page of a command know the same options; TAP.

import os
import re
import shutil
import subprocess
import sys

ilb, source = os.path.abspath(sys.argv[1]), sys.argv[2]
count = failed = 0


def report(name, good, *notes):
    global count, failed
    count += 1
    failed += not good
    print("ok" if good else "not ok", count, "-", name)
    if not good:
        for line in "\n".join(map(str, notes)).splitlines():
            print("#", line)


def run(*args, **kwargs):
    return subprocess.run(args, stdout=subprocess.PIPE, text=True, timeout=60,
                          stderr=subprocess.STDOUT, check=False,
                          **kwargs).stdout


def candidates(*words):
    return [line.split("\t")[0]
            for line in run(ilb, "complete", *words).splitlines()]


def options_in(text):
    """-x and --xyz at the beginning of a line of -h"""
    found = set()
    for line in text.splitlines():
        match = re.match(r"  (?:(-\w)\b)?,?\s*(--[a-z-]+)?", line)
        found |= {option for option in match.groups() if option} if match \
            else set()
    return found


verbs = [verb for verb in candidates("") if verb not in ("help", "--version")]
report("the commands are those of ilb -h", len(verbs) >= 9 and all(
    re.search(rf"^  {verb} ", run(ilb, "-h"), re.M) for verb in verbs), verbs)
for verb in verbs:
    said = set(candidates(verb, "-")) - {"-h", "--help"}
    shown = options_in(run(ilb, verb, "-h")) - {"-h", "--help"}
    report(f"{verb}: -h shows what is completed", said and said == shown,
           said ^ shown)
    page = ""
    # What reads captures is described once.
    for name in [verb] + ["report"] * (verb == "replay"):
        with open(f"{source}/man/ilb-{name}.1", encoding="utf-8") as file:
            page += file.read().replace(", Fl", "Fl")
    flags = {"-" + word for line in page.splitlines()
             if line.startswith(".It Fl ")
             for word in re.findall(r"(?:Fl|,) (-?[\w-]+)", line)}
    missing = {option for option in said if option not in flags}
    report(f"{verb}: its man page has them all", not missing, missing)

for words, wanted, unwanted in (
        (["fix", "trial", "-"], "--seed", None),
        (["fix", "status", "-"], "--json", "--seed"),
        (["fix", "load", "--repair", ""], "nohz-full", "load"),
        (["fix", ""], "unload", "idle-core"),
        (["replay", "--policy", ""], "near", "<file>"),
        (["replay", "-i", ""], "<file>", "near"),
        (["vm", "fetch", ""], "6.12", "list"),
        (["vm", "--arch", "arm64", "--", ""], "<command>", "6.12"),
        (["record", "-o", ""], "<dir>", "<file>"),
        (["sim", ""], "mail-b", None),
        (["workload", "lose", "-"], "--force", "--pairs"),
        (["help", ""], "stat", "help")):
    said = candidates(*words)
    report("after " + " ".join(words), wanted in said and
           (unwanted is None or unwanted not in said), said)

path = os.path.dirname(ilb) + os.pathsep + os.environ["PATH"]
env = dict(os.environ, PATH=path, LC_ALL="C")
bash = f"""source {source}/completions/ilb.bash
try() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ilb 2>/dev/null
echo "${{COMPREPLY[*]}}"; }}
try ilb rec
try ilb fix load --repair no
try ilb replay --list-
try ilb report -i {source}/READ
try ilb help vm
"""
report("bash", run("bash", "-c", bash, env=env).splitlines() == [
    "record", "nohz-full", "--list-policies --list-disagreements",
    f"{source}/README.md", "vm"], run("bash", "-c", bash, env=env))
if shutil.which("zsh"):
    said = run("zsh", "-n", f"{source}/completions/_ilb")
    report("zsh", said == "", said)
if shutil.which("fish"):
    fish = (f"source {source}/completions/ilb.fish; "
            "complete -C 'ilb fix load --repair no'; complete -C 'ilb recor'")
    said = run("fish", "-c", fish, env=env)
    report("fish", "nohz-full" in said and "record" in said, said)
print(f"1..{count}")
sys.exit(1 if failed else 0)
