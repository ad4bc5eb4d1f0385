#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: examples.py ILB SOURCE   The commands that man pages, README and
# tutorial show: those that only read are run, of the others the options are
# looked at; TAP.

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ilb, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
RUN = {"check", "report", "replay", "sim", "help", "--version"}
count = failed = 0


def report(name, good, *notes):
    global count, failed
    count += 1
    failed += not good
    print("ok" if good else "not ok", count, "-", name.replace("#", ""))
    if not good:
        for line in "\n".join(map(str, notes)).splitlines():
            print("#", line)


def of_page(text):
    """the lines of EXAMPLES that are typed"""
    text = re.search(r"^\.Sh EXAMPLES\n(.*?)(?=^\.Sh )", text, re.S | re.M)
    text = text.group(1) if text else ""
    blocks = re.findall(r"^\.Dl (.*)$", text, re.M)
    blocks += re.findall(r"^\.Bd.*?\n(.*?)^\.Ed", text, re.S | re.M)
    for block in blocks:
        yield from block.replace("\\e\n", "").replace("\\e", "\\").replace(
            "\\-", "-").splitlines()


def of_text(text):
    """the lines of indented blocks"""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    text = text.replace("\\\n", "")
    for line in re.findall(r"^    (\S.*)$", text, re.M):
        if re.search(r"(^|[ ])ilb [a-z-]", line):
            yield re.split(r"\s+#\s|\s{2,}->", line)[0]


def commands():
    for path in sorted(glob.glob(f"{source}/man/*.[15]")):
        with open(path, encoding="utf-8") as file:
            for line in of_page(file.read()):
                yield os.path.basename(path), line
    for path in ("README.md", "docs/tutorial.md", "docs/fix.md"):
        with open(f"{source}/{path}", encoding="utf-8") as file:
            for line in of_text(file.read()):
                yield path, line


def calls(line):
    """each call of ilb in a line, as a list of words"""
    words = shlex.split(line.removeprefix("$ "), comments=True)
    call = None
    for word in words:
        if word == "ilb":
            if call:
                yield call
            call = []
        elif word in ("&&", "||", "|", ";", "do", "done", ">"):
            if call is not None:
                yield call
            call = None
        elif call is not None:
            call.append(word.rstrip(";"))
            if word.endswith(";"):
                yield call
                call = None
    if call is not None:
        yield call


def run(command, folder, **kwargs):
    env = dict(os.environ, PATH=folder + "/bin:" + os.environ["PATH"])
    return subprocess.run(command, cwd=folder, env=env, timeout=280,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, check=False,
                          **kwargs)


def runs(line, found):
    """only reads, and needs nothing that is not here"""
    return (all(call and call[0] in RUN for call in found) and
            not re.search(r"\bperf\b|\bself\b|sleep", line) and
            ("jq" not in line or shutil.which("jq")))


def check(path, line, folder):
    found = list(calls(line))
    if not found:
        return
    if line.startswith("ilb check") and not re.search("-i|--topology", line):
        line += " -i ilb.data"  # whatever machine this is
    if runs(line, found):
        done = run(["bash", "-o", "pipefail", "-c", line.removeprefix("$ ")],
                   folder)
        report(f"{path}: {line}", done.returncode == 0 or
               ("--fail-on" in line and done.returncode == 1), done.stdout)
        return
    for call in found:
        # -h behind all options: what stands before it has been accepted.
        end = call.index("--") if "--" in call else len(call)
        if call[0] == "--version" or "--diff" in call:
            continue
        done = run([ilb] + call[:end] + ["-h"], folder)
        report(f"{path}: options of ilb {shlex.join(call)}",
               done.returncode == 0 and done.stdout.startswith("usage:"),
               done.stdout)


def prepare(folder):
    os.mkdir(folder + "/bin")
    os.symlink(ilb, folder + "/bin/ilb")
    os.symlink(source + "/tests", folder + "/tests")
    capture = source + "/tests/captures/6.12-pin16"
    for name in ("ilb.data", "before", "after"):
        os.symlink(capture, f"{folder}/{name}")
    for name in ("new", "ilb.vm"):
        os.mkdir(f"{folder}/{name}")
        os.symlink(capture, f"{folder}/{name}/ilb.data")
    os.symlink(capture, folder + "/data")
    shutil.copy(capture + "/topology.xml", folder + "/topo.xml")
    for path in glob.glob(f"{source}/man/*.1"):
        with open(path, encoding="utf-8") as file:
            # What a page shows of a file, its name just above.
            for name, text in re.findall(
                    r"^\.Pa (\S+\.json)$(?:\n\.?[\w ]+:?)*?\n"
                    r"\.Bd -literal[^\n]*\n({.*?)^\.Ed", file.read(),
                    re.S | re.M):
                with open(f"{folder}/{name}", "w", encoding="utf-8") as out:
                    out.write(text)


with tempfile.TemporaryDirectory(prefix="ilb-examples-") as scratch:
    prepare(scratch)
    seen = set()
    for where, what in commands():
        if what not in seen:
            seen.add(what)
            check(where, what, scratch)
report("there are examples", count > 40, count)
print(f"1..{count}")
sys.exit(1 if failed else 0)
