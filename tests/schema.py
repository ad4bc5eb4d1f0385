#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""JSON against its schema, and the schema against what it must reject.

schema.py SCHEMA MANPAGE REPORT_WRITE FIX_WRITE: these print hand-made reports,
and what "ilb fix" prints; each of the latter names its definition.
A schema that accepts everything would pass the first half; so every sample is
mutated at every place: a key added, a value of another type, a key removed.
"""
import copy
import json
import re
import subprocess
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print('1..0 # SKIP python3-jsonschema is not installed')
    sys.exit(77)

# Whose removal leaves a valid report: what may be unknown.
OPTIONAL = {
    'capture': {'path', 'kernel', 'hz', 'cpus', 'nr_cpus', 'housekeeping',
                'housekeeping_known', 'moments', 'assumed', 'start_s',
                'duration_s',
                'events', 'lost_events', 'unparsed', 'backwards',
                'lost_moments', 'reconstruction'},
    'kicks': {'per_second', 'dropped', 'no_target', 'by_target', 'by_kicker'},
    'softirq': {'stranded', 'sched_time_us'},
    'victims[]': {'running_us', 'disturbed_pct'},
    'every_tick': {'kicked_pct'},
    'waiting': {'pid'},
    'domains[]': {'per_second'},
    'findings[]': {'cpus'},
    'cannot_judge[]': {'cpus'},
    **{f'sources.{part}': {'from', 'needs'} for part in (
        'kicks', 'moments', 'runs', 'contention', 'softirq', 'utilisation',
        'domains')},
    '': {'functions', 'sources', 'kicks', 'contention', 'softirq', 'utilisation', 'tick',
         'every_tick', 'waiting', 'lost_cpus', 'domains', 'policies', 'best',
         'what_if'},
}
# The same, of what "ilb fix" prints.
FIX_OPTIONAL = {
    'fix_status': {'': {'policy'}},
    'fix_load': {'': {'module'}, 'state': {'policy'},
                 'proof': {'no_better', 'kicks'}},
    'fix_trial': {'runs[]': {'kicks', 'counters'},
                  'unknown': {'kicks', 'cycles'}},
}
OTHER_TYPE = {dict: [], list: {}, str: 1, int: 'x', float: 'x', bool: 'x'}

count = 0
failed = 0


def check(good, what):
    global count, failed
    count += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {count} - {what}')


def sample(write, name):
    out = subprocess.run([write, 'json', name], check=True,
                         stdout=subprocess.PIPE).stdout
    # ASCII only, one object, one newline, no key twice, no NaN.
    out.decode('ascii')
    assert out.endswith(b'}\n')
    return json.loads(out, object_pairs_hook=unique, parse_constant=refuse)


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f'a key twice in {keys}')
    return dict(pairs)


def refuse(constant):
    raise ValueError(f'{constant} is not JSON')


def places(value, path=()):
    """Every place in a document, as a path of keys and indices."""
    yield path, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from places(child, path + (key,))
    elif isinstance(value, list):
        for index, child in enumerate(value[:2]):
            yield from places(child, path + (index,))


def parent_of(document, path):
    for step in path[:-1]:
        document = document[step]
    return document


def name_of(path):
    """'victims[]' for ('victims', 3)."""
    text = ''
    for step in path:
        text += '[]' if isinstance(step, int) else ('.' if text else '') + step
    return text


def mutants(document, optional):
    for path, value in list(places(document)):
        if 'evidence' in path[:-1]:
            continue
        if path:
            mutant = copy.deepcopy(document)
            parent_of(mutant, path)[path[-1]] = OTHER_TYPE[type(value)]
            yield f'{name_of(path)} of another type', mutant
        if isinstance(value, dict) and path[-1:] != ('evidence',):
            mutant = copy.deepcopy(document)
            target = mutant
            for step in path:
                target = target[step]
            target['surplus'] = 1
            yield f'{name_of(path)} with a surplus key', mutant
        if type(value) in (int, float) and path[-1] != 'pid':
            mutant = copy.deepcopy(document)
            parent_of(mutant, path)[path[-1]] = -1
            yield f'{name_of(path)} negative', mutant
        if path and isinstance(path[-1], str) and \
                path[-1] not in optional.get(name_of(path[:-1]), ()):
            mutant = copy.deepcopy(document)
            del parent_of(mutant, path)[path[-1]]
            yield f'{name_of(path)} missing', mutant


def without(document, optional):
    """The document without each optional key in turn: still valid."""
    for path, _ in list(places(document)):
        if path and path[-1] in optional.get(name_of(path[:-1]), ()):
            rest = copy.deepcopy(document)
            del parent_of(rest, path)[path[-1]]
            if path[-1] == 'policies':
                rest.pop('best', None)
                rest.pop('what_if', None)
            yield name_of(path), rest


def check_sums(name, report):
    """What a reader may rely on, recomputed from the numbers themselves."""
    kicks = report.get('kicks', {})
    for key in ('by_target', 'by_kicker'):
        ranks = [(-e['kicks'], e['cpu']) for e in kicks.get(key, [])]
        check(ranks == sorted(ranks), f'{name}: {key} is in order')
    if name == 'full':
        check(sum(e['kicks'] for e in kicks['by_target']) == kicks['total'],
              f'{name}: by_target sums up to total')
        for key in ('duration_us', 'latency_us'):
            hist = report['runs'][key]
            buckets = hist['log2']
            check(sum(b['count'] for b in buckets) == hist['count'] and
                  buckets[0]['count'] and buckets[-1]['count'] and
                  all(a['lt'] == b['ge'] for a, b in
                      zip(buckets, buckets[1:])) and
                  buckets[-1]['ge'] <= hist['max'] < buckets[-1]['lt'],
                  f'{name}: {key} is one histogram without holes')
        rate = kicks['total'] / report['capture']['duration_s']
        check(abs(kicks['per_second'] - rate) < 1e-9,
              f'{name}: per_second is total / duration_s')


def keys_of(schema, node, name='The object', room=''):
    """(object, key, type) of everything that the schema names."""
    def whole(part):
        return schema['$defs'][part['$ref'].split('/')[-1]] \
            if '$ref' in part else part

    node = whole(node)
    if node['type'] == 'array':
        yield from keys_of(schema, node['items'], name, room)
    for key, value in node.get('properties', {}).items():
        yield name, key, whole(value)['type']
        yield from keys_of(schema, value, room + key, room)


def all_keys(schema):
    yield from keys_of(schema, schema)
    for name in FIX_OPTIONAL:
        yield from keys_of(schema, schema['$defs'][name],
                           name.replace('_', ' '), 'fix ')


def described_in(text):
    """The same, of the manual: .Ss lists the objects with the same keys."""
    objects = []
    for line in text.splitlines():
        if line.startswith('.Ss '):
            objects = line[4:].split(', ')
        item = re.fullmatch(r'\.It Cm (\w+) Pq (\w+)', line)
        if item:
            yield from ((name, *item.groups()) for name in objects)


def check_manual(schema, manual):
    with open(manual, encoding='ascii') as page:
        text = page.read()
    described, named = set(described_in(text)), set(all_keys(schema))
    check(described == named and len(named) > 100,
          'ilb-json(5) describes every key and no other: '
          f'missing {sorted(named - described)}, '
          f'surplus {sorted(described - named)}')
    example = re.search(r'^\.Bd -literal\n(.*?)^\.Ed', text, re.M | re.S)
    return json.loads(example.group(1))


def validator_of(schema, definition):
    if definition:
        schema = {'$schema': schema['$schema'], '$defs': schema['$defs'],
                  '$ref': '#/$defs/' + definition}
    return Draft202012Validator(schema)


def names_of(write):
    return subprocess.run([write], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.splitlines()


def try_sample(validator, write, name, optional):
    """How many mutants, and reports with a key left out, were tried."""
    tried = spared = 0
    report = sample(write, name)
    errors = [e.message for e in validator.iter_errors(report)]
    check(not errors, f'{name} is valid {errors[:3]}')
    if optional is OPTIONAL:
        check_sums(name, report)
        # A thousand victims add nothing but time.
        report.get('victims', [])[2:] = []
    for what, rest in without(report, optional):
        spared += 1
        if not validator.is_valid(rest):
            check(False, f'{name} without {what} is rejected')
    for what, mutant in mutants(report, optional):
        tried += 1
        if validator.is_valid(mutant):
            check(False, f'{name}: {what} is accepted')
    return tried, spared


def main():
    schema_path, manual, write, fix_write = sys.argv[1:5]
    with open(schema_path, encoding='ascii') as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = validator_of(schema, None)
    names = names_of(write)
    check(len(names) >= 8, 'there are samples')
    counts = [try_sample(validator, write, name, OPTIONAL) for name in names]
    tried, spared = map(sum, zip(*counts))
    check(tried > 1000, f'{tried} mutants were tried')
    check(spared > 100, f'{spared} keys that may be unknown were left out')
    names = names_of(fix_write)
    counts = [try_sample(validator_of(schema, name.split()[0]), fix_write,
                         name, FIX_OPTIONAL[name.split()[0]])
              for name in names]
    check({name.split()[0] for name in names} == set(FIX_OPTIONAL) and
          sum(tried for tried, _ in counts) > 300 and
          sum(spared for _, spared in counts) > 10,
          f'ilb fix: {counts} mutants and keys left out')
    check(validator.is_valid(check_manual(schema, manual)),
          "the manual's example is valid")
    print(f'1..{count}')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
