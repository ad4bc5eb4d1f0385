#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the README shows is what the program prints: readme.py ILB SOURCE"""
import os
import subprocess
import sys

ILB, SOURCE = map(os.path.abspath, sys.argv[1:])
os.chdir(SOURCE)
with open("README.md") as f:
    readme = f.read()
good = True
print("1..2")
for number, command in enumerate(("report", "replay"), 1):
    done = subprocess.run([ILB, command, "-i", "tests/captures/6.12-pin16"],
                          capture_output=True, text=True, check=True)
    shown = done.stdout in readme
    good = good and shown
    print("%sok %d - ilb %s in README.md" % ("" if shown else "not ", number,
                                             command))
sys.exit(not good)
