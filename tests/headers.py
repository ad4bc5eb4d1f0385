#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: headers.py SOURCE MAP LIBRARY   Every public header compiles alone, as
# C and as C++, and the library exports what they declare, no less and no
# more; TAP.

import glob
import os
import re
import shutil
import subprocess
import sys

source, versions, library = sys.argv[1:4]
headers = sorted(glob.glob(f"{source}/include/ilb/*.h"))
count = failed = 0


def report(name, good, *notes):
    global count, failed
    count += 1
    failed += not good
    print("ok" if good else "not ok", count, "-", name)
    if not good:
        for line in "\n".join(map(str, notes)).splitlines():
            print("#", line)


def run(*command, text=None):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120,
                          check=False)


def alone(compiler, *flags):
    for header in headers:
        name = os.path.basename(header)
        done = run(compiler, *flags, "-Wall", "-Wextra", "-Werror",
                   "-fsyntax-only", f"-I{source}/include", "-",
                   text=f'#include <ilb/{name}>\n#include <ilb/{name}>\n')
        report(f"{name}, {flags[1]}", done.returncode == 0, done.stdout)


def declared():
    """functions and arrays of the headers, without what is inline"""
    found = set()
    for header in headers:
        with open(header, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        text = re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.S | re.M)
        text = re.sub(r"static inline.*?^}", "", text, flags=re.S | re.M)
        text = re.sub(r"{[^{}]*}", "", re.sub(r'extern "C" {', "", text))
        found |= set(re.findall(r"\b(ilb_\w+)\s*\(", text))
        found |= set(re.findall(r"^extern const [^;]*?\b(ilb_\w+)(?:\[\w*\])?;",
                                text, re.M))
    return found


for compiler, flags in (("cc", ("-x", "c", "-std=gnu11")),
                        ("c++", ("-x", "c++", "-std=c++17"))):
    if shutil.which(compiler):
        alone(compiler, *flags)
with open(versions, encoding="utf-8") as file:
    listed = set(re.findall(r"^\t(ilb_\w+);$", file.read(), re.M))
said = declared()
report("libilb.map has what the headers declare", said == listed,
       "not listed:", sorted(said - listed), "not declared:",
       sorted(listed - said))
# Of a line of nm, such as "0000000000001139 T ilb_mask_empty@@ILB_0".
exported = {line.split()[-1].split("@")[0] for line in run(
    "nm", "-D", "--defined-only", library).stdout.splitlines()}
report("the library exports that", exported - {"ILB_0"} == listed,
       sorted(exported ^ listed))
print(f"1..{count}")
sys.exit(1 if failed else 0)
