#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the events of a text trace are, by regular expressions.

The slow and independent way, to compare the reader in C with:
    oracle.py TEXT > EVENTS
"""
import re
import sys

EVENT = r'(?P<name>\w+): *(?P<args>.*?)\s*$'
TIME = r'\s+(?P<time>\d+\.(?:\d{9}|\d{6})): +'
PERF = re.compile(
    r'^\s*\S.{0,15}?\s+(?:-?\d+/)?(?P<pid>-?\d+)\s+\[(?P<cpu>\d{3,})\]'
    + TIME + r'\w+:' + EVENT)
FTRACE = re.compile(
    r'^\s*\S.{0,14}?-(?P<pid>\d+)\s+(?:\([ 0-9-]+\) )?'
    r'(?:\[(?P<cpu>\d{3,})\](?: \S{4,})?|(?P<cpu2>\d+)\D\S{3,})'
    + TIME + EVENT)
LOST = re.compile(r'^CPU:(\d+) \[(?:LOST )?(\d+)? ?EVENTS(?: DROPPED)?\]$')
COMM = r'(.{0,15}?)'
PRIO = r'-?\d+'
SWITCH = (
    re.compile(rf'^prev_comm={COMM} prev_pid=(\d+) prev_prio={PRIO} prev_state='
               rf'(\S+)(?: ==>)? next_comm={COMM} next_pid=(\d+) next_prio={PRIO}$'),
    re.compile(rf'^{COMM}:(\d+) \[{PRIO}\] (\S+) ==> {COMM}:(\d+) \[{PRIO}\]$'))
WAKEUP = (
    re.compile(rf'^comm={COMM} pid=(\d+) prio={PRIO} target_cpu=(\d+)$'),
    re.compile(rf'^{COMM}:(\d+) \[{PRIO}\] CPU:(\d+)$'))
MIGRATE = re.compile(rf'^comm={COMM} pid=(\d+) prio={PRIO} orig_cpu=(\d+) dest_cpu=(\d+)$')
FUNC = {'nohz_csd_func': 'nohz', 'sched_ttwu_pending': 'ttwu'}
VALUE = {'tick_stop': ('tick_stop', 'success'), 'cpu_idle': ('idle', 'state'),
         'softirq_raise': ('raise', 'vec'), 'softirq_entry': ('entry', 'vec'),
         'softirq_exit': ('exit', 'vec')}
PROBE = {'enter_idle': 'p_enter', 'exit_idle': 'p_exit', 'trig': 'p_tick',
         'csd_send': 'p_send', 'csd_func': 'p_csd', 'nohz_ib': 'p_pass',
         'nohz_ib_ret': 'p_pass_end'}


def ns(text):
    seconds, part = text.split('.')
    return int(seconds) * 10**9 + int(part.ljust(9, '0'))


def key(args, name):
    found = re.search(rf'(?:^| ){name}=([^ ,]+)', args)
    return found.group(1) if found else None


def func(args, name='func'):
    return re.match(r'\w+', key(args, name)).group(0)


def runnable(state):
    return int(not int(state) & 255) if state.isdigit() else int(state[0] == 'R')


def probe(name, args):
    mask = key(args, 'mask')
    line = f'{PROBE[name]} {int(mask, 16):x}' if mask else f'{PROBE[name]} -'
    if name == 'csd_send':
        return f'{line} {key(args, "cpu")} {FUNC.get(func(args), "-")}'
    if name == 'nohz_ib':
        return f'{line} {int(key(args, "flags") or "0", 0)}'
    return line


def sched(name, args):
    if name == 'sched_switch':
        m = next(filter(None, (s.match(args) for s in SWITCH)))
        return f'switch {m[2]} {m[5]} {runnable(m[3])} {m[4]}'
    if name == 'sched_migrate_task':
        m = MIGRATE.match(args)
        return f'migrate {m[2]} {int(m[3])} {int(m[4])}'
    m = next(filter(None, (s.match(args) for s in WAKEUP)))
    return f'wakeup {m[2]} {int(m[3])}'


def arguments(name, args):
    if name in ('sched_switch', 'sched_wakeup', 'sched_wakeup_new',
                'sched_migrate_task'):
        return sched(name, args)
    if name in VALUE:
        kind, field = VALUE[name]
        return f'{kind} {key(args, field)}'
    if name in PROBE:
        return probe(name, args)
    if name == 'csd_queue_cpu':
        return f'csd_queue {key(args, "cpu")} {FUNC.get(func(args), "-")}'
    if name in ('csd_function_entry', 'csd_function_exit'):
        return f'csd_{name[13:]} {FUNC.get(func(args), "-")}'
    if name == 'hrtimer_expire_entry':
        tick = func(args, 'function') in ('tick_nohz_handler', 'tick_sched_timer')
        return 'tick' if tick else 'other'
    if name == 'call_function_single_entry' or (
            name == 'ipi_entry' and 'Function call' in args):
        return 'call'
    return 'other'


def main():
    lost = []
    with open(sys.argv[1], encoding='latin-1', newline='\n') as text:
        for line in text:
            m = LOST.match(line)
            if m:
                lost.append((int(m[1]), int(m[2] or 0)))
                continue
            m = PERF.match(line) or FTRACE.match(line)
            if not m:
                continue
            found = m.groupdict()
            for cpu, count in lost:
                print(ns(m['time']), cpu, -1, 'lost', count)
            lost = []
            print(ns(m['time']), int(found['cpu'] or found['cpu2']), m['pid'],
                  arguments(m['name'], m['args']))


main()
