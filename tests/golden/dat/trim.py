#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cut a small trace.dat out of a big one, in any of the forms there are.

	trim.py CAPTURE OUTPUT FORM CPUS PAGES [instance]

CAPTURE is of version 7 with zstd inside. FORM is 6, 7 or 7-zstd; CPUS a comma
separated list, PAGES how many of each are kept. With "instance" the events
are those of a named buffer, and the top one is empty. Only formats and symbols
that a test needs are kept. The program zstd does the compression.

trace-cmd convert could make the forms, but 3.1.6 loses the first CPU where
one in between recorded nothing.
"""

import re
import struct
import subprocess
import sys

SYSTEMS = (b"sched", b"irq", b"timer", b"csd", b"ipi", b"power",
           b"irq_vectors", b"ilb")
EVENTS = re.compile(rb"name: (sched_switch|sched_wakeup|sched_wakeup_new|"
                    rb"sched_migrate_task|softirq_\w+|hrtimer_expire_entry|"
                    rb"tick_stop|csd_\w+|ipi_\w+|cpu_idle|enter_idle|trig|"
                    rb"exit_idle|nohz_ib|nohz_ib_ret|local_timer_entry|"
                    rb"call_function_single_entry|reschedule_entry)\n")
SYMBOLS = {b"nohz_csd_func", b"sched_ttwu_pending", b"tick_nohz_handler",
           b"tick_sched_timer", b"hrtimer_wakeup"}
HEADERS, FTRACE, FORMATS, KALLSYMS, PRINTK, CMDLINES = range(16, 22)
PIECE = 10 * 4096


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", "-c", *options], input=data,
                          stdout=subprocess.PIPE, check=True).stdout


class Capture:
    """Sections and pages of a file of version 7."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        at = self.data.index(b"\0", 18) + 1
        at = self.data.index(b"\0", at) + 1
        self.head = self.data[12:18]
        self.sections = {}
        self.pages = {}
        self.options = []
        options, = struct.unpack_from("<Q", self.data, at)
        while options:
            options = self.read_options(options)

    def section(self, at):
        _, flags, _, size = struct.unpack_from("<HHIQ", self.data, at)
        body = self.data[at + 16:at + 16 + size]
        return zstd(body[8:], "-d") if flags & 1 else body

    def read_options(self, at):
        body = self.section(at)
        at = 0
        while True:
            option, size = struct.unpack_from("<HI", body, at)
            value = body[at + 6:at + 6 + size]
            at += 6 + size
            if option == 0:
                return struct.unpack("<Q", value)[0]
            if option == 3:
                self.read_buffer(value)
            elif HEADERS <= option <= CMDLINES:
                self.sections[option] = self.section(
                    struct.unpack("<Q", value)[0])
            elif option in (4, 5):
                self.options.append((option, value))

    def read_buffer(self, value):
        at = value.index(b"\0", value.index(b"\0", 8) + 1) + 1
        _, count = struct.unpack_from("<II", value, at)
        for i in range(count):
            cpu, where, _ = struct.unpack_from("<IQQ", value, at + 8 + 20 * i)
            pieces, = struct.unpack_from("<I", self.data, where)
            where += 4
            pages = b""
            for _ in range(pieces):
                size, _ = struct.unpack_from("<II", self.data, where)
                pages += zstd(self.data[where + 8:where + 8 + size], "-d")
                where += 8 + size
            self.pages[cpu] = pages


def trim_formats(body):
    systems, = struct.unpack_from("<I", body)
    at = 4
    kept = []
    for _ in range(systems):
        end = body.index(b"\0", at)
        name = body[at:end]
        count, = struct.unpack_from("<I", body, end + 1)
        at = end + 5
        texts = []
        for _ in range(count):
            size, = struct.unpack_from("<Q", body, at)
            text = body[at + 8:at + 8 + size]
            at += 8 + size
            if name in SYSTEMS and EVENTS.match(text):
                texts.append(struct.pack("<Q", size) + text)
        if texts:
            kept.append(name + b"\0" + struct.pack("<I", len(texts)) +
                        b"".join(texts))
    return struct.pack("<I", len(kept)) + b"".join(kept)


def trim_kallsyms(body):
    # Each with the one behind it, where it ends.
    lines = sorted(body[4:].splitlines())
    kept = []
    for i, line in enumerate(lines):
        if line.split()[2] in SYMBOLS:
            kept += lines[i:i + 2]
    text = b"\n".join(kept) + b"\n"
    return struct.pack("<I", len(text)) + text


def trim_printk(body):
    text = b"".join(line + b"\n" for line in body[4:].splitlines()
                    if b"interrupts" in line)
    return struct.pack("<I", len(text)) + text


def write_v6(capture, sections, pages, instance):
    out = bytearray(b"\x17\x08\x44tracing6\0" + capture.head)
    for section in sections:
        out += sections[section]
    count = max(pages) + 1
    tables = []
    out += struct.pack("<I", count) + b"options  \0"
    for option, value in capture.options:
        out += struct.pack("<HI", option, len(value)) + value
    if instance:
        value = b"cut\0"
        out += struct.pack("<HI", 3, 8 + len(value))
        tables.append(len(out))
        out += bytes(8) + value
    out += struct.pack("<H", 0)
    starts = []
    for _ in range(1 + instance):
        out += b"flyrecord\0"
        starts.append(len(out))
        out += bytes(16 * count)
        if len(starts) == 1:
            clock = dict(capture.options)[4]
            out += struct.pack("<Q", len(clock)) + clock
    if instance:
        struct.pack_into("<Q", out, tables[0], starts[1] - 10)
    for cpu in range(count):
        out += bytes(-len(out) % 4096)
        data = pages.get(cpu, b"")
        struct.pack_into("<QQ", out, starts[-1] + 16 * cpu, len(out),
                         len(data))
        out += data
    return out


def pack(data, compress):
    if not compress:
        return data
    pieces = [data[i:i + PIECE] for i in range(0, len(data), PIECE)]
    out = struct.pack("<I", len(pieces))
    for piece in pieces:
        packed = zstd(piece, "-19")
        out += struct.pack("<II", len(packed), len(piece)) + packed
    return out


def write_v7(capture, sections, pages, instance, compress):
    out = bytearray(b"\x17\x08\x44tracing7\0" + capture.head)
    out += b"zstd\x001.5.4\0" if compress else b"none\0\0"
    first = len(out)
    out += bytes(8)
    where = {}
    for section, body in sections.items():
        where[section] = len(out)
        size = len(body)
        if compress:
            body = zstd(body, "-19")
            body = struct.pack("<II", len(body), size) + body
        out += struct.pack("<HHIQ", section, compress, 0, len(body)) + body
    buffer = len(out)
    out += struct.pack("<HHIQ", 3, compress, 0, 0)
    table = b""
    for cpu, data in pages.items():
        out += bytes(-len(out) % 4096)
        data = pack(data, compress)
        table += struct.pack("<IQQ", cpu, len(out),
                             len(data) - (4 if compress else 0))
        out += data
    struct.pack_into("<Q", out, buffer + 8, len(out) - buffer - 16)
    struct.pack_into("<Q", out, first, len(out))
    options = b"".join(struct.pack("<HIQ", section, 8, at)
                       for section, at in where.items())
    for option, value in capture.options:
        options += struct.pack("<HI", option, len(value)) + value
    value = struct.pack("<Q", buffer) + (b"cut\0" if instance else b"\0")
    value += b"local\0" + struct.pack("<II", 4096, len(pages)) + table
    options += struct.pack("<HI", 3, len(value)) + value
    options += struct.pack("<HIQ", 0, 8, 0)
    out += struct.pack("<HHIQ", 0, 0, 0, len(options)) + options
    strings = b"a section\0"
    return out + struct.pack("<HHIQ", 15, 0, 0, len(strings)) + strings


def main():
    source, output, form, cpus, count = sys.argv[1:6]
    instance = sys.argv[6:] == ["instance"]
    capture = Capture(source)
    sections = {id: capture.sections[id] for id in (HEADERS, FTRACE)}
    sections[FTRACE] = struct.pack("<I", 0)
    sections[FORMATS] = trim_formats(capture.sections[FORMATS])
    sections[KALLSYMS] = trim_kallsyms(capture.sections[KALLSYMS])
    sections[PRINTK] = trim_printk(capture.sections[PRINTK])
    sections[CMDLINES] = struct.pack("<Q", 0)
    pages = {cpu: capture.pages[cpu][:int(count) * 4096]
             for cpu in map(int, cpus.split(","))}
    if form == "6":
        out = write_v6(capture, sections, pages, instance)
    else:
        out = write_v7(capture, sections, pages, instance, form == "7-zstd")
    with open(output, "wb") as file:
        file.write(out)


if __name__ == "__main__":
    main()
