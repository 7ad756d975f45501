#!/usr/bin/env python3
"""Lookup tables alone: each table of a model as a module of its own, as alkaid 0.8.2 writes it and as we do.

Usage: tables.py [--model lut_heavy] [--options='-O2 --rom-style lut'] [--targets xcup,ecp5] [--tables 0,3] [--no-peer] [--write]

A table's module is a program of two operations: an input of the type that the table's first reader has, and the lookup. LUT and wide
multiplexer cells both count. setup.sh makes what this needs; every synthesis is cached (flows.py). With --write the tables replace the
section of their name in RESULTS.md.
"""

import argparse
import gzip
import json
import sys
import tempfile
from pathlib import Path

import qor
from flows import figures, synthesise

INPUT, LOOKUP = -1, 8
# What ours is told of a target: xcup's tables of six inputs are what it takes for granted.
DEVICE = {'xcup': [], 'ecp5': ['--device', 'ecp5']}


def programs(name):
    """(table, program with nothing but its lookup) for each table that is read."""
    whole = json.loads(gzip.decompress(qor.model_file(name).read_bytes()))
    ops, tables = whole['model'][5], whole['model'][8] or []
    for index, table in enumerate(tables):
        reader = next((op for op in ops if op[1] == LOOKUP and op[2][0] == index), None)
        if reader is None:
            continue
        operand = [[], INPUT, [0], ops[reader[0][0]][3], 0.0, 0.0]
        lookup = [[0], LOOKUP, [0], *reader[3:]]
        model = [[1, 1], [0], [1], [0], [False], [operand, lookup], *whole['model'][6:8], [table]]
        yield index, {**whole, 'model': model}


def cells(verilog, target):
    result = synthesise(verilog, 'model', target)
    found = figures(result, target)
    return found['lut'], found['mux']


def measured(args, target):
    """The table of one target, as text."""
    wanted = [int(t) for t in args.tables.split(',') if t]
    lines = [f'### {target}', '', f'| table | words | alkaid | {args.options} | ratio |', '|---|---|---|---|---|']
    ratios, totals = [], [0, 0]
    for index, program in programs(args.model):
        if wanted and index not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, 'model.json.gz')
            file.write_bytes(gzip.compress(json.dumps(program).encode(), mtime=0))
            own = cells(qor.ours(file, 0, [*args.options.split(), *DEVICE[target]]), target)
            peer = (0, 0) if args.no_peer else cells(qor.theirs(file, 0, True), target)
        ratio = ''
        if not args.no_peer:
            ratios.append(sum(own) / sum(peer))
            ratio = f'{ratios[-1]:.3f}'
        totals = [totals[0] + sum(peer), totals[1] + sum(own)]
        words = len(program['model'][8][0]['table'])
        lines.append(f'| {index} | {words} | {peer[0]} + {peer[1]} | {own[0]} + {own[1]} | {ratio} |')
        print(target, lines[-1], file=sys.stderr, flush=True)
    if ratios:
        mean = f'{totals[1] / totals[0]:.3f}; geometric mean {qor.mean(ratios):.3f}, greatest {max(ratios):.3f}'
        lines.append(f'| **all** | | {totals[0]} | {totals[1]} | {mean} |')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--model', default='lut_heavy')
    parser.add_argument('--options', default='-O2 --rom-style lut', help='options for ours, separated by spaces')
    parser.add_argument('--targets', default='xcup,ecp5')
    parser.add_argument('--tables', default='', help='indices; all if empty')
    parser.add_argument('--no-peer', action='store_true', help='measure ours alone')
    parser.add_argument('--write', action='store_true', help=f'into {qor.RESULTS.name}; else print')
    args = parser.parse_args()
    intro = (
        f'Each table of {args.model} as a module of its own, by `tables.py --write`: LUT and wide multiplexer cells (xcup: LUT1 to '
        f'LUT6, INV, LUT memories + MUXF; ecp5: LUT4 + PFUMX, L6MUX21). Ours: `{args.options}`, with `--device ecp5` for that target.'
    )
    text = '\n\n'.join([qor.TABLES, intro, *(measured(args, target) for target in args.targets.split(','))]) + '\n'
    print(text)
    if args.write:
        before, _, after = qor.cut(qor.RESULTS.read_text(), qor.TABLES)
        qor.RESULTS.write_text(f'{before.rstrip()}\n\n{text}{after}')


if __name__ == '__main__':
    sys.exit(main())
