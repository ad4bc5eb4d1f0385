#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Exact moments in captures: usage: moments.py ILB MOMENTS_OF SOURCE; TAP.

MOMENTS_OF writes what is reconstructed from a trace as if it were exact: with
it the program must print what it prints without, and say how the two agree.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ILB, MOMENTS_OF, SOURCE = map(os.path.abspath, sys.argv[1:4])
CAPTURES = os.path.join(SOURCE, "tests/captures")
PIN = "6.12-pin16"
SECONDS = 30

results = []
folder = ""


def check(name, good, *notes):
    results.append(bool(good))
    print("%sok %d - %s" % ("" if good else "not ", len(results), name))
    if not good:
        for note in notes:
            print("#", str(note)[:2000].replace("\n", "\n# "))
    sys.stdout.flush()


def ilb(*args):
    return subprocess.run([ILB, *args], timeout=SECONDS, capture_output=True,
                          text=True)


def fails(name, done, *says):
    check(name, done.returncode == 3 and not done.stdout and
          re.fullmatch(r"ilb( [a-z]+)?: [^\n]+; [^\n]+\n", done.stderr) and
          all(say in done.stderr for say in says), done, says)


def capture(name, of=PIN, moments_of=None, trace=True, clock="mono",
            **options):
    """A copy of a capture with moments beside its trace, or instead of it."""
    path = os.path.join(folder, name)
    shutil.copytree(os.path.join(CAPTURES, of), path)
    subprocess.run([MOMENTS_OF, os.path.join(CAPTURES, moments_of or of),
                    os.path.join(path, "moments"),
                    *("%s=%d" % option for option in options.items())],
                   timeout=SECONDS, check=True)
    system = os.path.join(path, "system.json")
    with open(system, encoding="utf-8") as file:
        content = json.load(file)
    content["trace_clock"] = clock
    with open(system, "w", encoding="utf-8") as file:
        json.dump(content, file)
    if not trace:
        os.unlink(os.path.join(path, "trace.dat"))
    return path


def report(path, *args, verb="report"):
    done = ilb(verb, "-i", path, "--json", *args)
    if done.returncode:
        check("%s %s" % (verb, path), False, done)
        return {"capture": {}, "kicks": {}}
    found = json.loads(done.stdout)
    errors = [] if VALIDATOR is None else [
        str(error.message) for error in VALIDATOR.iter_errors(found)]
    check("%s %s: as the schema says" % (verb, os.path.basename(path)),
          not errors, *errors)
    return found


def validator():
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        return None
    with open(os.path.join(SOURCE, "docs/ilb.schema.json"),
              encoding="ascii") as file:
        return Draft202012Validator(json.load(file))


VALIDATOR = validator()


def apart(found):
    """(what the moments' origin changes, all else)"""
    origin = {key: found["capture"].pop(key, None)
              for key in ("path", "moments", "assumed", "reconstruction",
                          "lost_moments")}
    for list_of in ("findings", "cannot_judge"):
        found.pop(list_of, None)
    return origin, found


def beside():
    for name in sorted(os.listdir(CAPTURES)):
        plain = os.path.join(CAPTURES, name)
        if not os.path.isdir(plain):
            continue
        path = capture("beside-" + name, of=name)
        for verb, args in (("report", ()), ("replay", ("-p", "all"))):
            without = report(plain, *args, verb=verb)
            got = report(path, *args, verb=verb)
            total = got["kicks"]["total"]
            origin, rest = apart(got)
            check("%s %s: as without moments" % (verb, name),
                  rest == apart(without)[1] and total > 10, rest)
            check("%s %s: and exact" % (verb, name),
                  origin["moments"] == "exact" and not origin["assumed"] and
                  origin["reconstruction"] == {
                      "paired": total, "unpaired_kicks": 0,
                      "unpaired_moments": 0, "outside_moments": 0,
                      "mask_agree_pct": 100, "idle_agree_pct": 100}, origin)
            check("%s %s: --ignore-moments" % (verb, name),
                  ilb(verb, "-i", path, "--ignore-moments").stdout.replace(
                      path, plain).split() ==
                  ilb(verb, "-i", plain).stdout.split())


def pairs(path):
    found = report(path)
    return found["kicks"], found["capture"]["reconstruction"]


def incomplete():
    kicks = report(os.path.join(CAPTURES, PIN))["kicks"]
    total = kicks["total"]
    got, pair = pairs(capture("drop", drop=10))
    check("each tenth is missing: those are reconstructed",
          got == kicks and pair["unpaired_kicks"] == total // 10 and
          pair["paired"] == total - total // 10 and
          pair["unpaired_moments"] == 0, got, pair)
    # No further than two kicks of one CPU are apart: a CPU reads the moment
    # of one before it sends the next.
    got, pair = pairs(capture("shift", shift=20000))
    check("a little later", got == kicks and pair["paired"] == total,
          got, pair)
    got, pair = pairs(capture("extra", extra=10))
    check("kicks that the trace lacks",
          got["total"] == total + total // 10 and pair["paired"] == total and
          pair["unpaired_moments"] == total // 10, got, pair)
    got, pair = pairs(capture("before", before=7))
    check("moments from before the trace",
          got == kicks and pair["outside_moments"] == 7, got, pair)
    got, pair = pairs(capture("idle", idle=1))
    check("an idle set that was not reconstructed right",
          got["total"] == total and
          abs(pair["idle_agree_pct"] - 100 * 15 / 16) < 1e-9 and
          pair["mask_agree_pct"] == 100, got, pair)


def in_words():
    path = capture("words", drop=10, idle=2)
    text = ilb("report", "-i", path).stdout
    flat = " ".join(text.split())
    check("text: exact, and how far the trace alone can be trusted",
          "moments: exact)" in flat and re.search(
              r"right in 100 % of the mask and 9\d\.\d % of the idle set, at "
              r"the \d+ kicks with an exact moment; \d+ have none and are "
              r"reconstructed; of exact moments 0 are", flat), text)
    plain = ilb("report", "-i", os.path.join(CAPTURES, PIN)).stdout
    check("text: nothing of it without moments",
          "reconstruction  " not in plain)
    text = ilb("report", "-i", capture("lost", lost=5, drop=10)).stdout
    check("text: lost moments come first",
          text.startswith("WARNING: of ") and
          "the exact moments of 5 were lost; the trace" in
          " ".join(text.split()), text)
    check("JSON: lost moments",
          report(os.path.join(folder, "lost"))["capture"]["lost_moments"] == 5)


def alone():
    without = report(os.path.join(CAPTURES, PIN))
    path = capture("alone", trace=False, clock="local")
    got = report(path)
    same = ("total", "on_busy_core", "avoidable", "fallback", "by_target",
            "by_kicker", "same_core", "same_llc", "idle_cores_woken")
    check("moments alone: kicks are the same",
          all(got["kicks"][key] == without["kicks"][key] for key in same) and
          abs(got["capture"]["duration_s"] -
              without["capture"]["duration_s"]) < 1e-6 and
          got["capture"]["moments"] == "exact", got["kicks"])
    check("moments alone: no more than that",
          not {"runs", "victims", "contention", "softirq", "utilisation",
               "tick", "every_tick", "waiting", "lost_cpus"} & set(got) and
          not {"events", "lost_events"} & set(got["capture"]) and
          "dropped" not in got["kicks"], sorted(got))
    check("moments alone: nor is more judged",
          {"idle-while-waiting", "tick-churn", "softirq-stranded",
           "ilb-every-tick"} == {f["id"] for f in got["cannot_judge"]} and
          all(f["remedy"] == "needs a trace; record without --moments-only"
              for f in got["cannot_judge"]), got["cannot_judge"])
    text = ilb("report", "-i", path).stdout
    check("moments alone: text",
          text.count("unknown: needs") >= 6 and
          all("unknown: needs a trace" in line for line in text.splitlines()
              if "unknown: needs" in line and "attempts" not in line) and
          "cannot judge" in text, text)
    check("moments alone: replay", apart(report(path, verb="replay"))[1][
        "policies"] == report(os.path.join(CAPTURES, PIN),
                              verb="replay")["policies"])
    text = ilb("report", "-i", capture("alone-lost", trace=False,
                                       lost=5)).stdout
    check("moments alone: lost ones", text.startswith("WARNING: of ") and
          "counts below are too low" in text, text)
    fails("moments alone, ignored", ilb("report", "-i", path,
                                        "--ignore-moments"),
          "nothing but moments", "leave out --ignore-moments")
    os.unlink(os.path.join(path, "system.json"))
    fails("moments of another machine",
          ilb("report", "-i", path, "--topology", "core:8 pu:1"),
          "16 CPUs", "8")


def not_of_one_recording():
    fails("a clock that is not theirs",
          ilb("report", "-i", capture("clock", clock="local")),
          "moments", "local", "--ignore-moments")
    fails("kicks of another recording",
          ilb("report", "-i", capture("target", target=1)),
          "moments", "--ignore-moments")
    found = report(capture("other", moments_of="6.12-mix16"))
    total = found["kicks"]["total"]
    pair = found["capture"]["reconstruction"]
    check("moments of another time are left out",
          pair["outside_moments"] > 10 and pair["unpaired_kicks"] == total and
          "mask_agree_pct" not in pair and
          found["capture"]["moments"] == "probed", found["capture"])


def damaged():
    path = capture("damaged")
    file = os.path.join(path, "moments")
    with open(file, "rb") as moments:
        whole = moments.read()
    right = ilb("report", "-i", path).stdout
    dice = random.Random(3)
    wrong = []
    for _ in range(40):
        data = bytearray(whole)
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        with open(file, "wb") as moments:
            moments.write(data)
        done = ilb("report", "-i", path)
        one_line = re.fullmatch(r"ilb report: [^\n]+; [^\n]+\n", done.stderr)
        if done.stdout != right and not (
                done.returncode in (3, 4) and not done.stdout and one_line):
            wrong.append(done)
    check("a bit that is another: an error, or no matter", not wrong, *wrong)
    with open(file, "wb") as moments:
        moments.write(whole[:-1])
    fails("cut", ilb("replay", "-i", path), "moments: damaged at byte",
          "record it again")
    check("cut, and ignored", ilb("replay", "-i", path,
                                  "--ignore-moments").returncode == 0)


with tempfile.TemporaryDirectory() as folder:
    for part in (beside, incomplete, in_words, alone, not_of_one_recording,
                 damaged):
        part()
print("1..%d" % len(results))
sys.exit(0 if all(results) else 1)
