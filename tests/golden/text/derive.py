#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The events of report-*.txt as tracefs' trace file and perf script print them.

Flags come from the latency columns, arguments from the fields (-R), but for
what -R does not resolve. Writes tracefs.txt (microseconds) and perf.txt.
"""
import re

SYSTEM = {'sched': 'sched', 'csd_f': 'csd', 'csd_q': 'csd', 'ipi': 'ipi',
          'softirq': 'irq', 'tick': 'timer', 'hrtimer': 'timer',
          'cpu_idle': 'power', 'local': 'irq_vectors', 'call': 'irq_vectors',
          'resched': 'irq_vectors'}
STATES = {0: 'R', 1: 'S', 2: 'D', 16: 'X', 32: 'Z', 128: 'I', 256: 'R+'}
LINE = re.compile(r'^ *(.*)-(\d+) +\[(\d+)\] +(\d+\.\d+): (\w+): +(.*)$')


def system(name):
    for start, value in SYSTEM.items():
        if name.startswith(start) and name != 'csd_func':
            return value
    return 'ilb'


def arguments(name, plain, raw):
    if not name.startswith('sched_'):
        return plain
    return re.sub(r'prev_state=(\d+)',
                  lambda m: f'prev_state={STATES[int(m[1])]} ==>', raw)


with open('report-t.txt') as plain, open('report-t-l.txt') as latency, \
        open('report-R-t.txt') as raw, open('tracefs.txt', 'w') as tracefs, \
        open('perf.txt', 'w') as perf:
    print('# tracer: nop\n#', file=tracefs)
    print('#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION',
          file=tracefs)
    for p, l, r in zip(plain, latency, raw):
        m = LINE.match(p)
        if not m:
            continue
        comm, pid, cpu, time, name, args = m.groups()
        args = arguments(name, args, LINE.match(r)[6])
        flags = re.search(r'-\d+ +\d+(\S+) +\d+\.', l)[1]
        print(f'{comm:>16}-{pid:7} [{cpu}] {flags} {float(time):12.6f}: '
              f'{name}: {args}', file=tracefs)
        comm = 'swapper' if pid == '0' else comm
        name = system(name) + ':' + name
        print(f'{comm:>16} {pid:>5} [{cpu}] {time:>15}: {name:>33}: {args}',
              file=perf)
