#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel module costs: usage: narrow.py BENCH_NARROW WORKDIR [KO]

Runs bench-narrow, then once more under callgrind for the instructions of one
kick. KO is a module for x86-64, build-kmod/ilb_fix.ko by default: of it, the
instructions of its hook for a caller that is not the balancer.
"""
import os
import re
import subprocess
import sys

from target import instructions, run


def foreign_call(module):
    """Instructions of hook() up to the first return, no jump taken."""
    done = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", module],
                          capture_output=True, text=True)
    body = re.search(r"<hook>:\n(.*?)\n\n", done.stdout + "\n\n", re.S)
    if done.returncode or not body:
        return None
    count = 0
    for line in body[1].splitlines():
        code = re.match(r"\s+[0-9a-f]+:\s+([a-z]\w*)", line)
        count += code is not None
        if re.search(r"x86_return_thunk", line):
            return count + 1    # the return in the thunk
        if code and code[1] == "ret":
            return count
    return None


def main():
    bench, work = sys.argv[1:3]
    module = sys.argv[3] if len(sys.argv) > 3 else "build-kmod/ilb_fix.ko"
    os.makedirs(work, exist_ok=True)
    counts = instructions(bench, work)
    for key, (ns, spread, tests) in run(bench).items():
        print("narrow_%s %.0f ns (quartiles %.0f %% apart) %s instructions "
              "%d tests" % ("_".join(key), ns, spread, counts.get(key, "?"),
                            tests))
    count = foreign_call(module) if os.path.exists(module) else None
    print("narrow_foreign_call %s instructions (of the hook alone; %s)"
          % (count or "?", module))


main()
