#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do the tests notice? usage: mutate.py ROOT [-j JOBS] [FILE...]

Changes one comparison, && or ||, or + 1 at a time in core/target.c,
core/index.c and model/nohz.c, or gives one kernel of model/behaviour.c the
other value of one feature; builds the tests that concern the file, and runs
them. Prints TAP: a line per mutant that survived, and what was expected to
(EQUIVALENT, with the reason). Takes minutes: not part of 'make check'.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

CC = os.environ.get("CC", "cc").split()
CFLAGS = ["-std=gnu11", "-O1", "-w", "-D_GNU_SOURCE", "-fno-strict-aliasing"]
# A test that takes longer than this hangs: by its own CPU time, as the machine
# may do other things; by the clock only where it waits for ever.
LIMITED = ["sh", "-c", 'ulimit -t 20 && exec "$0" "$@"']
TIMEOUT = 300

PROPERTY = ["tests/property/machine.c", "tests/property/oracle.c"]
WORLD = ["tests/unit/model_machine.c"]
# Per file: tests as (sources, arguments), the quickest to fail first.
TESTS = {
    "core/target.c": [
        (["tests/unit/target.c"], []),
        (["tests/property/target.c"] + PROPERTY, ["60000"]),
    ],
    "core/index.c": [
        (["tests/property/index.c"] + PROPERTY, ["60000"]),
        (["tests/unit/index_order.c"], ["1500"]),
    ],
    "model/nohz.c": [
        (["tests/unit/nohz.c"], []),
        (["tests/unit/behaviour.c"], []),
    ],
    # Without behaviour_rows.c, which has all values once more.
    "model/behaviour.c": [
        (["tests/unit/%s.c" % test] + WORLD, []) for test in
        ("behaviour", "tick", "balance_when", "balance_groups",
         "balance_pull", "wake_capacity", "domain")
    ],
}
# index_order.c includes core/index.c itself.
INCLUDES = {"tests/unit/index_order.c": "core/index.c"}

SWAP = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
        "&&": "||", "||": "&&", "+ 1": "+ 0", "- 1": "- 0", "++": "--",
        "--": "++"}
TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'
    |^[ \t]*\#[^\n]*(?:\\\n[^\n]*)*|->|<<=?|>>=?
    |(?P<op>==|!=|<=|>=|&&|\|\||<|>|\+\+|--|[+-][ ]1(?:U?L?)(?![\w.]))""",
                   re.S | re.M | re.X)

I = "core/index.c"
MORE = "takes more memory, and does the same with it"
PAST = "reads one past the end and drops it: for AddressSanitizer to find"
SETTLES = "settles what is settled: costs time, changes nothing"

# A feature of a kernel, and what negates it.
FEATURE = re.compile(r"^\t\t\.\w+ = (?P<op>\d|ILB_\w+),$|"
                     r"^\t\t\.target = (?P<rule>\".*\"),$", re.M)

# (file, the line as it stands, the operator): why no test can tell.
EQUIVALENT = {
    ("core/target.c", "if (n < ILB_CPUS_MAX)", "<"):
        "both stop growing long before an overflow, beyond any CPU",
    (I, "return (bits + ILB_WORD_BITS - 1U) / ILB_WORD_BITS;", "- 1U"): MORE,
    (I, "return LINE - 1 + aligned(sizeof(struct ilb_index)) +", "- 1"): MORE,
    (I, "for (cpu = 0; cpu < topology->nr_cpus; cpu++)", "<"): PAST,
    (I, "for (block = 0; block < index->nr_blocks; block++, extent++) {", "<"):
        PAST,
    (I, "for (n = 0; topology->smt && n < ILB_INDEX_SPAN; n++) {", "<"):
        "no block has a member there",
    (I, "return old && !(old & ~bits);", "&&"): SETTLES,
    (I, "if (!free_bits(old) && free_bits(old | bit))", "&&"): SETTLES,
    (I, "if (free_bits(old) && !free_bits(old & ~bit))", "&&"): SETTLES,
    (I, "if (index->topology->smt && core_is_marked(index, first))", "&&"):
        SETTLES,
    (I, "while (level < index->levels) {", "<"):
        "ends there all the same, as that level has no words (of three "
        "levels: reads one past the end)",
    (I, "if (cpu > choice->cpu)", ">"): "no CPU is in two blocks",
    (I, "} while (block < index->nr_blocks &&", "<"): PAST,
    (I, "} while (block < index->nr_blocks &&", "&&"):
        "looks into further blocks, all of whose CPUs are higher",
    (I, "index->extents[block].first < choice->cpu);", "<"):
        "no CPU is in two blocks",
}


def mutants(text):
    """(offset, operator, replacement, line number, line) of each."""
    for match in TOKEN.finditer(text):
        old = match.group("op")
        if not old:
            continue
        if old[0] in "+-" and old not in ("++", "--"):
            new = SWAP[old[:3]] + old[3:]
        else:
            new = SWAP[old]
        line = text.count("\n", 0, match.start()) + 1
        yield (match.start(), old, new, line,
               text.split("\n")[line - 1].strip())


def switches(text):
    """Likewise, of the features of each kernel."""
    for match in FEATURE.finditer(text):
        old = match.group("op") or match.group("rule")
        new = ("!" + old if match.group("op") else
               '"lowest"' if old == '"idle-core"' else '"idle-core"')
        line = text.count("\n", 0, match.start()) + 1
        yield (match.end() - 1 - len(old), old, new, line,
               match.group().strip())


def compile_to(root, source, to, extra=()):
    command = CC + CFLAGS + list(extra) + ["-I" + root, "-I" + root +
                                           "/include", "-c", source, "-o", to]
    return subprocess.run(command, capture_output=True, text=True)


class Bench:
    """Objects of everything but the mutant, made once."""

    def __init__(self, root, work, name):
        self.root, self.work, self.name = root, work, name
        self.objects = {}
        sources = ["core/" + f for f in os.listdir(root + "/core")
                   if f.endswith(".c")]
        sources += ["model/" + f for f in os.listdir(root + "/model")
                    if f.endswith(".c")]
        sources += sum((test[0] for test in TESTS[name]), [])
        for source in sources:
            to = work + "/" + source.replace("/", "_") + ".o"
            done = compile_to(root, root + "/" + source, to)
            if done.returncode:
                sys.exit("Bail out! " + done.stderr)
            self.objects[source] = to
        self.room = [self.objects[s] for s in sources
                     if s.startswith(("core/", "model/")) and s != name]

    def survives(self, text, number):
        """None if some test failed, else "survived"; "unbuilt"."""
        folder = "%s/%d" % (self.work, number)
        os.makedirs(folder + "/" + os.path.dirname(self.name))
        mutant = folder + "/" + self.name
        with open(mutant, "w") as f:
            f.write(text)
        try:
            if compile_to(self.root, mutant, folder + "/m.o").returncode:
                return "unbuilt"
            return self.run(folder)
        finally:
            shutil.rmtree(folder)

    def run(self, folder):
        for number, (sources, arguments) in enumerate(TESTS[self.name]):
            exe = "%s/test%d" % (folder, number)
            own = [self.objects[s] for s in sources]
            mutant = [folder + "/m.o"]
            if INCLUDES.get(sources[0]) == self.name:
                # The mutant's folder first, so that it is included.
                if compile_to(self.root, self.root + "/" + sources[0],
                              exe + ".o", ["-I" + folder]).returncode:
                    return "unbuilt"
                own, mutant = [exe + ".o"], []
            subprocess.run(CC + ["-o", exe] + own + mutant + self.room +
                           ["-lcmocka"], check=True, capture_output=True)
            try:
                done = subprocess.run(LIMITED + [exe] + arguments,
                                      timeout=TIMEOUT, capture_output=True)
            except subprocess.TimeoutExpired:
                return None
            if done.returncode:
                return None
        return "survived"


def examine(root, name, jobs):
    """(mutants, killed, [(line, text, old, new, verdict)])"""
    with open(root + "/" + name) as f:
        text = f.read()
    found = []
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(root, work, name)
        if bench.survives(text, 0) != "survived":
            sys.exit("Bail out! the tests of %s fail without a mutant" % name)
        find = switches if name == "model/behaviour.c" else mutants
        all_of_it = list(find(text))

        def one(item):
            number, (at, old, new, line, where) = item
            changed = text[:at] + new + text[at + len(old):]
            return line, where, old, new, bench.survives(changed, number)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for result in pool.map(one, enumerate(all_of_it, 1)):
                if result[4]:
                    found.append(result)
    return len(all_of_it), len(all_of_it) - len(found), found


def main():
    root, names, jobs = sys.argv[1], sys.argv[2:], 2
    if names[:1] == ["-j"]:
        jobs, names = int(names[1]), names[2:]
    names = names or list(TESTS)
    failed = False
    print("1..%d" % len(names))
    for number, name in enumerate(names, 1):
        total, killed, found = examine(root, name, jobs)
        bad = 0
        for line, where, old, new, verdict in found:
            reason = EQUIVALENT.get((name, where, old))
            bad += not reason
            print("# %s:%d: %s -> %s %s: %s\n#     %s"
                  % (name, line, old, new, verdict,
                     reason or "no test notices", where))
        print("%sok %d - %s: %d of %d mutants die, %d are equivalent, %d "
              "survive" % ("not " if bad else "", number, name, killed, total,
                           len(found) - bad, bad), flush=True)
        failed = failed or bad > 0
    sys.exit(failed)


main()
