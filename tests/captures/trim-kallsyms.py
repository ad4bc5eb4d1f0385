#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a capture small enough to commit: usage: trim-kallsyms.py IN.dat OUT.dat

Most of a trace.dat (format 7) is the kernel's symbol table. This keeps the
symbols whose names 'trace-cmd report' prints for this trace, each with its
successor so that no address is taken for another function, and leaves every
other byte of every section as it is. The two reports must be equal.
"""
import re
import struct
import subprocess
import sys

OPT_BUFFER, OPT_FIRST, OPT_KALLSYMS, OPT_LAST = 3, 16, 19, 21


def report(path):
    return subprocess.run(["trace-cmd", "report", "-t", "-i", path],
                          capture_output=True, check=True).stdout


def used_symbols(path):
    dump = subprocess.run(["trace-cmd", "dump", "--kallsyms", "-i", path],
                          capture_output=True, check=True).stdout.decode()
    lines = [line.split() for line in dump.splitlines()]
    symbols = sorted((int(w[0], 16), w[2], " ".join(w[1:])) for w in lines
                     if len(w) > 2 and re.fullmatch("[0-9a-f]{6,16}", w[0]))
    words = set(re.findall(r"[\w.]+", report(path).decode(errors="replace")))
    keep = set()
    for i, (_, name, _) in enumerate(symbols):
        if name in words:
            keep.update(symbols[i:i + 2])
    return "".join("%016x %s\n" % (s[0], s[2])
                   for s in sorted(keep)).encode()


def strings_end(data, pos, count):
    for _ in range(count):
        pos = data.index(b"\0", pos) + 1
    return pos


def trim(data, text):
    head = 3 + 7                          # magic, "tracing"
    pos = strings_end(data, head, 1)      # format
    if data[head:pos - 1] != b"7":
        sys.exit("not format 7")
    pos += 1 + 1 + 4                      # endian, long size, page size
    pos = strings_end(data, pos, 2)       # compression
    first = struct.unpack_from("<Q", data, pos)[0]
    body = pos + 8
    kallsyms, walk = None, body
    while walk < len(data):
        ident, flags, _, size = struct.unpack_from("<HHIQ", data, walk)
        if ident == OPT_KALLSYMS:
            kallsyms = (walk, walk + 16 + size)
            name = struct.unpack_from("<I", data, walk + 4)[0]
        walk += 16 + size
    start, end = kallsyms
    new = struct.pack("<I", len(text)) + text
    new = struct.pack("<HHIQ", OPT_KALLSYMS, 0, name, len(new)) + new
    shift = len(new) - (end - start)

    def moved(offset):
        return offset + shift if offset >= end else offset

    out = bytearray(data[:start] + new + data[end:])
    struct.pack_into("<Q", out, pos, moved(first))
    section = first
    while section:
        at, section = section + 16, 0
        option = None
        while option != 0:
            option, size = struct.unpack_from("<HI", data, at)
            at += 6
            places = []
            if OPT_FIRST <= option <= OPT_LAST or (option == 0 and size >= 8):
                places = [at]
            elif option == OPT_BUFFER:
                places = [at]
                p = strings_end(data, at + 8, 2)
                count = struct.unpack_from("<I", data, p + 4)[0]
                places += [p + 8 + 20 * i + 4 for i in range(count)]
            for place in places:
                value = struct.unpack_from("<Q", data, place)[0]
                if option == 0:
                    section = value
                if value:
                    struct.pack_into("<Q", out, moved(place), moved(value))
            at += size
    return bytes(out)


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as f:
        data = f.read()
    with open(target, "wb") as f:
        f.write(trim(data, used_symbols(source)))
    if report(source) != report(target):
        sys.exit(target + ": its report differs")


main()
