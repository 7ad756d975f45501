#!/usr/bin/env python3
"""The whole comparison with alkaid 0.8.2 in one run: area and clock, combinational and in five stages. Writes RESULTS.md.

Usage: run.py [--models NAME,...] [--seeds 3] [--stages 5] [--cached] [--output FILE]

setup.sh makes what it needs. Small models come first; after each, what is known so far is written, so that a run may be
stopped. Results are cached by what they were made from (flows.py): a second run measures only what has changed.
"""

import argparse
import math
import subprocess
import sys
from pathlib import Path
from statistics import median

import flows
from flows import figures, place, synthesise
from qor import OURS, RESULTS, LARGE, SMALL, TABLES, cut, ours, ports, theirs

# What ours is told beside the objective: alkaid's files have no multiplier blocks here either (-nodsp).
OPTIONS = ['-O2', '--use-dsp', 'no']
# Files for ECP5 are written for its tables of four inputs.
FOR_ECP5 = ['--device', 'ecp5']
COMBINATIONAL = {
    'alkaid': lambda name, n, device: theirs(name, n, True),
    'alkaid, no fusion': lambda name, n, device: theirs(name, n, False),
    'ours': lambda name, n, device: ours(name, n, [*OPTIONS, *device]),
}
# One file for everything that is measured of a pipeline: its stages are cut by the delays of the device that is placed.
STAGED = [*OPTIONS, '--delay-model', 'device', *FOR_ECP5]
PIPELINED = {
    **COMBINATIONAL,
    'ours': lambda name, n, device: ours(name, n, STAGED),
    'ours, registers': lambda name, n, device: ours(name, n, [*STAGED, '--objective', 'registers']),
}

# The larger models are routed by nextpnr's second router: its first had not finished anomaly_ae after 20 CPU minutes, where all
# of the second's run takes 9.
ROUTER = {name: 'router2' for name in ['anomaly_ae', 'var_mul', *LARGE]}


def attempt(what, make):
    """`make()`, or None if the peer refuses the model or a tool runs out of time."""
    try:
        return make()
    except (subprocess.CalledProcessError, SystemExit) as e:
        print(f'{what}: {str(e).splitlines()[0][:120]}', file=sys.stderr, flush=True)
        return None


def measure(name, stages, seeds):
    """Every figure of a model: {table: {variant: {figure: number}}}."""
    found = {'xcup comb': {}, 'ecp5 comb': {}, 'stages': {}}
    for table, target, device in [('xcup comb', 'xcup', []), ('ecp5 comb', 'ecp5', FOR_ECP5)]:
        for label, source in COMBINATIONAL.items():
            verilog = attempt(f'{name} {label}', lambda: source(name, 0, device))
            result = verilog and attempt(f'{name} {label}', lambda: synthesise(verilog, 'model', target))
            found[table][label] = figures(result, target) if result else None
            print(name, table, label, found[table][label], file=sys.stderr, flush=True)
    for label, source in PIPELINED.items():
        verilog = attempt(f'{name} {label}', lambda: source(name, stages, []))
        result = verilog and attempt(f'{name} {label}', lambda: synthesise(verilog, 'model', 'xcup'))
        row = figures(result, 'xcup') if result else None
        verilog = row and attempt(f'{name} {label}', lambda: source(name, stages, FOR_ECP5))
        if verilog:
            router = ROUTER.get(name)
            seen = attempt(f'{name} {label}', lambda: place(verilog, 'model', *ports(verilog), True, seeds, router=router)) or []
            clocks = [run['mhz'] for run in seen if run]
            row['mhz'] = round(median(clocks), 1) if clocks else None
            row['seeds'] = len(clocks)
        found['stages'][label] = row
        print(name, stages, label, row, file=sys.stderr, flush=True)
    return found


def mean(ratios):
    return f'{math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}' if ratios else '-'


def ratio(row, mine, other, what):
    a, b = (row[k] and row[k].get(what) for k in (mine, other))
    return a / b if a and b else None


def shown(value):
    return '-' if value is None else f'{value:.3f}' if isinstance(value, float) and value < 20 else str(value)


def table(rows, columns):
    """Markdown: a column is (title, function of a row); means stand under those whose title begins with a slash."""
    lines = ['| model | ' + ' | '.join(title for title, _ in columns) + ' |', '|---' * (len(columns) + 1) + '|']
    seen = {title: [] for title, _ in columns}
    for name, row in rows.items():
        values = [cell(row) for _, cell in columns]
        for (title, _), value in zip(columns, values):
            if value is not None:
                seen[title].append(value)
        lines.append(f'| {name} | ' + ' | '.join(shown(v) for v in values) + ' |')
    means = [f'**{mean(seen[title])}**' if title.startswith('/') else '' for title, _ in columns]
    return '\n'.join(lines) + '\n| **geometric mean** | ' + ' | '.join(means) + ' |'


def area_columns():
    def figure(label):
        return lambda row: row[label] and row[label]['lut']

    def better(row):
        ratios = [ratio(row, 'ours', peer, 'lut') for peer in ('alkaid', 'alkaid, no fusion')]
        return max((r for r in ratios if r), default=None)

    return [
        *[(label, figure(label)) for label in COMBINATIONAL],
        ('/ default', lambda row: ratio(row, 'ours', 'alkaid', 'lut')),
        ('/ better', better),
    ]


def stage_columns(what):
    def figure(label):
        return lambda row: row[label] and row[label].get(what)

    return [
        *[(label, figure(label)) for label in PIPELINED],
        *[(f'/ alkaid: {label}', lambda row, label=label: ratio(row, label, 'alkaid', what))
          for label in PIPELINED if label.startswith('ours')],
    ]


def report(rows, stages, seeds):
    comb = lambda key: {name: row[key] for name, row in rows.items()}
    staged = comb('stages')
    commit = subprocess.run(['git', 'describe', '--always', '--dirty'], capture_output=True, text=True, cwd=RESULTS.parent)
    origin = 'Put together by `run.py --cached` from kept results' if flows.cached.only else 'Written by `run.py` in one run'
    return '\n\n'.join([
        '# Area and clock against alkaid 0.8.2',
        f'{origin}, not by hand. LUTs: Yosys, cells of `synth_xilinx -family xcup -flatten -noiopad '
        '-noclkbuf -nodsp -nobram -nosrl` (LUT1 to LUT6, INV, LUT memories) and of `synth_ecp5 -nodsp -nobram -nolutram` '
        '(LUT4, and two for each CCU2C). Flip-flops are those of the first, delay lines counted bit by bit. Clock: '
        f'nextpnr-ecp5, `--85k --speed 6`, between shift registers, median of {seeds} seeds, for {", ".join(ROUTER)} with '
        '`--router router2`; `-` where it was not placed. '
        f'Ours: `{" ".join(OPTIONS)}`, combinational for ECP5 also `{" ".join(FOR_ECP5)}`, in stages `{" ".join(STAGED)}` '
        f'(the same file for all three tables), of {commit.stdout.strip()}.',
        '## Combinational, LUT, UltraScale+', table(comb('xcup comb'), area_columns()),
        '## Combinational, LUT4, ECP5', table(comb('ecp5 comb'), area_columns()),
        f'## {stages} stages, flip-flops', table(staged, stage_columns('ff')),
        f'## {stages} stages, LUT, UltraScale+', table(staged, stage_columns('lut')),
        f'## {stages} stages, clock in MHz, nextpnr-ecp5', table(staged, stage_columns('mhz')), fewer_seeds(staged, seeds),
    ]).rstrip('\n') + '\n'


def fewer_seeds(rows, seeds):
    """A remark about clocks from fewer seeds than the others."""
    found = {name: [row[label]['seeds'] for label in PIPELINED if row[label] and row[label].get('seeds')] for name, row in rows.items()}
    few = [f'{name} {min(counts)}' for name, counts in found.items() if counts and min(counts) < seeds]
    return f'Fewer seeds, for want of time: {", ".join(few)}.' if few else ''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--models', default=','.join(SMALL + LARGE))
    parser.add_argument('--stages', type=int, default=5)
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--cached', action='store_true', help='only what was measured before; the rest is left out')
    parser.add_argument('--output', type=Path, default=RESULTS, help=f'default: {RESULTS.name} beside this script')
    args = parser.parse_args()
    flows.cached.only = args.cached
    if not OURS.exists():
        sys.exit('run setup.sh first')
    _, tables, _ = cut(args.output.read_text() if args.output.exists() else '', TABLES)
    rows = {}
    for name in args.models.split(','):
        rows[name] = measure(name, args.stages, args.seeds)
        args.output.write_text(report(rows, args.stages, args.seeds) + (f'\n{tables.rstrip()}\n' if tables else ''))


if __name__ == '__main__':
    main()
