#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What replaying costs: usage: replay.py ILB WORKDIR [EVENTS]

Makes a trace of at least EVENTS (10 million) events out of a capture: its pages
over and over, each time later. Reads that with ilb report and with ilb replay
of all policies, in turn; CPU time of all processes, and the most memory of
their own, for the trace and for one of a tenth. One line each: name, value,
unit, and the aim.
"""
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys

from cost import cost

HERE = os.path.dirname(os.path.abspath(__file__))
CAPTURE = os.path.join(HERE, "..", "captures", "7.3-mix16")
ROUNDS = 3
OPTION_DONE, OPTION_BUFFER = 0, 3
PAUSE_NS = 100000000	# between one time and the next


def skip(why):
    print("# skipped: " + why, flush=True)
    sys.exit(77)


def unpack_string(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def find_buffer(data):
    """Where option BUFFER, of the uncompressed trace.dat 7 @data, starts."""
    if data[3:12] != b"tracing7\0" or data[12] != 0:
        skip("trace-cmd does not write little-endian trace.dat 7")
    _, at = unpack_string(data, 18)
    _, at = unpack_string(data, at)
    section, = struct.unpack_from("<Q", data, at)
    while section:
        at = section + 16
        option = None
        while option != OPTION_DONE:
            option, size = struct.unpack_from("<HI", data, at)
            at += 6
            if option == OPTION_BUFFER:
                return at
            if option != OPTION_DONE:
                at += size
        section, = struct.unpack_from("<Q", data, at)
    sys.exit("replay.py: the trace has no buffer")


def cpus_of(data, buffer):
    """(size of a page, place of the table, [(offset, size)] of the CPUs)."""
    at = buffer + 8
    for _ in ("name", "clock"):
        _, at = unpack_string(data, at)
    page, count = struct.unpack_from("<II", data, at)
    at += 8
    parts = [struct.unpack_from("<QQ", data, at + 20 * n + 4)
             for n in range(count)]
    return page, at, parts


def times_of(data, page, parts):
    return [struct.unpack_from("<Q", data, at)[0]
            for offset, size in parts
            for at in range(offset, offset + size, page)]


def repeat(data, path, times):
    """Write @data with one more section, which has its pages @times over."""
    buffer = find_buffer(data)
    page, table, parts = cpus_of(data, buffer)
    stamps = times_of(data, page, parts)
    period = max(stamps) - min(stamps) + PAUSE_NS
    head = bytearray(data)
    struct.pack_into("<Q", head, buffer, len(head))
    at = len(head) + 16
    at += -at % page
    end = at + times * sum(size for _, size in parts)
    head += struct.pack("<HHIQ", OPTION_BUFFER, 0, 0, end - len(head) - 16)
    head += bytes(at - len(head))
    for n, (_, size) in enumerate(parts):
        struct.pack_into("<QQ", head, table + 20 * n + 4, at, size * times)
        at += size * times
    with open(path, "wb") as out:
        out.write(head)
        for offset, size in parts:
            for n in range(times):
                out.write(later(data[offset:offset + size], page, n * period))


def later(pages, page, by):
    pages = bytearray(pages)
    for at in range(0, len(pages), page):
        stamp, = struct.unpack_from("<Q", pages, at)
        struct.pack_into("<Q", pages, at, stamp + by)
    return pages


def events_of(ilb, capture):
    out = subprocess.run([ilb, "report", "-i", capture, "--json"],
                         capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    return int(re.search(r'"events":\s*(\d+)', out.stdout).group(1))


def make(work, name, times):
    """A capture folder like CAPTURE, with the trace @times over."""
    folder = os.path.join(work, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for other in ("topology.xml", "system.json"):
        shutil.copy(os.path.join(CAPTURE, other), folder)
    plain = os.path.join(work, "plain.dat")
    try:
        subprocess.run(["trace-cmd", "convert", "--compression", "none", "-i",
                        os.path.join(CAPTURE, "trace.dat"), "-o", plain],
                       check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as why:
        skip("needs trace-cmd with convert: %s" % why)
    with open(plain, "rb") as f:
        repeat(f.read(), os.path.join(folder, "trace.dat"), times)
    os.remove(plain)
    return folder


def commands(ilb, folder):
    return {"report": [ilb, "report", "-i", folder],
            "replay": [ilb, "replay", "-p", "all", "-i", folder]}


def main():
    ilb, work = sys.argv[1:3]
    least = int(sys.argv[3]) if len(sys.argv) > 3 else 10000000
    os.makedirs(work, exist_ok=True)
    events = events_of(ilb, CAPTURE)
    times = -(-least // events)
    tenth = make(work, "replay-tenth", -(-times // 10))
    _, small = cost(commands(ilb, tenth)["replay"])
    shutil.rmtree(tenth)
    whole = make(work, "replay-whole", times)
    found = events_of(ilb, whole)
    if found != events * times:
        # trace-cmd 3.1.6 loses whole CPUs of some traces.
        sys.exit("replay.py: made %d events, ilb reads %d"
                 % (events * times, found))
    seconds = {"report": [], "replay": []}
    most = 0
    for _ in range(ROUNDS):
        for name, command in commands(ilb, whole).items():
            cpu, memory = cost(command)
            seconds[name].append(cpu)
            most = max(most, memory) if name == "replay" else most
    shutil.rmtree(whole)
    report, replay = (statistics.median(seconds[name])
                      for name in ("report", "replay"))
    print("replay_events %d events" % found)
    print("replay_time %.2f s (report alone: %.2f s)" % (replay, report))
    print("replay_vs_report %.2f ratio (aim: at most 1.3)" % (replay / report))
    print("replay_rss_anon %.1f MB (aim: that of a tenth, %.1f MB, and 1)"
          % (most / 1024, small / 1024))


main()
