#!/usr/bin/env python3
"""The whole comparison with alkaid 0.8.2: area and clock, combinational and in five stages. Writes measured.json and RESULTS.md.

Usage: run.py [--models NAME,...] [--seeds 3] [--stages 5] [--parts TABLE,...] [--ours | --report] [--yosys PROGRAM]

With --yosys the files are measured-VERSION.json and RESULTS-VERSION.md (VERSION: yosys-0.70) instead.

setup.sh makes what it needs. Small models come first; each figure is added to measured.json (with the commit that it is of) as soon
as it is known, so that a run may be stopped, and may be of some models or parts only: alkaid's files, and ours of a model whose
text has not changed, need not be measured again. Within a checkout results are also cached by what they were made from (flows.py).
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path
from statistics import median

import flows
from flows import figures, place, synthesise, version
from qor import OURS, RESULTS, LARGE, SMALL, TABLES, cut, ours, ports, theirs

# Options of ours besides the objective: alkaid's files have no multiplier blocks here either (-nodsp).
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
    'ours, registers': lambda name, n, device: ours(name, n, [*STAGED, '--pipeline-objective', 'registers']),
}

# Every figure that the tables show, by model, table and variant.
MEASURED = RESULTS.with_name('measured.json')
PARTS = ['xcup comb', 'ecp5 comb', 'stages', 'clock']

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


def combinational(name, table, label):
    """The area of a model without registers."""
    target, device = {'xcup comb': ('xcup', []), 'ecp5 comb': ('ecp5', FOR_ECP5)}[table]
    verilog = attempt(f'{name} {label}', lambda: COMBINATIONAL[label](name, 0, device))
    result = verilog and attempt(f'{name} {label}', lambda: synthesise(verilog, 'model', target))
    return {'lut': figures(result, target)['lut']} if result else None


def pipelined(name, label, stages):
    """The area of a model in stages."""
    verilog = attempt(f'{name} {label}', lambda: PIPELINED[label](name, stages, []))
    result = verilog and attempt(f'{name} {label}', lambda: synthesise(verilog, 'model', 'xcup'))
    found = figures(result, 'xcup') if result else None
    return found and {what: found[what] for what in ('lut', 'ff')}


def clock(name, label, stages, seeds):
    """The clock of a model in stages, and of how many seeds it is the median."""
    verilog = attempt(f'{name} {label}', lambda: PIPELINED[label](name, stages, FOR_ECP5))
    router = ROUTER.get(name)
    seen = verilog and attempt(f'{name} {label}', lambda: place(verilog, 'model', *ports(verilog), True, seeds, router=router))
    clocks = [run['mhz'] for run in seen or [] if run]
    return {'mhz': round(median(clocks), 1), 'seeds': len(clocks)} if clocks else None


def jobs(name, stages, seeds):
    """What there is to measure of a model: the part of the comparison, the table of measured.json, the variant and how."""
    for table in ('xcup comb', 'ecp5 comb'):
        for label in COMBINATIONAL:
            yield table, table, label, lambda table=table, label=label: combinational(name, table, label)
    for label in PIPELINED:
        yield 'stages', f'{stages} stages', label, lambda label=label: pipelined(name, label, stages)
    for label in PIPELINED:
        yield 'clock', f'{stages} stages', label, lambda label=label: clock(name, label, stages, seeds)


def commit():
    done = subprocess.run(['git', 'describe', '--always', '--dirty'], capture_output=True, text=True, cwd=RESULTS.parent)
    return done.stdout.strip()


def mean(ratios):
    return f'{math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}' if ratios else '-'


def ratio(row, mine, other, what):
    a, b = (row.get(k, {}).get(what) for k in (mine, other))
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
        return lambda row: row.get(label, {}).get('lut')

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
        return lambda row: row.get(label, {}).get(what)

    return [
        *[(label, figure(label)) for label in PIPELINED],
        *[(f'/ alkaid: {label}', lambda row, label=label: ratio(row, label, 'alkaid', what))
          for label in PIPELINED if label.startswith('ours')],
    ]


def tool_name():
    """The Yosys in use by name and number: 'Yosys 0.23'."""
    return ' '.join(version(flows.YOSYS).split()[:2])


def report(rows, measured, stages, seeds):
    comb = lambda key: {name: row.get(key, {}) for name, row in rows.items()}
    staged = comb(f'{stages} stages')
    return '\n\n'.join([
        '# Area and clock against alkaid 0.8.2',
        f'Written by `run.py` from {measured.name}, not by hand; `-` was not measured or not placed (Yosys held 12 and 14.9 GB for '
        'ECP5 files of alkaid\'s cmvm_64x64 and mlp_8bit when it was stopped). '
        f'LUTs: {tool_name()}, cells of `synth_xilinx -family xcup -flatten -noiopad '
        '-noclkbuf -nodsp -nobram -nosrl` (LUT1 to LUT6, INV, LUT memories) and of `synth_ecp5 -nodsp -nobram -nolutram` '
        '(LUT4, and two for each CCU2C). Flip-flops are those of the first, delay lines counted bit by bit. Clock: '
        f'nextpnr-ecp5, `--85k --speed 6`, between shift registers, median of {seeds} seeds, for {", ".join(ROUTER)} with '
        '`--router router2`. '
        f'Ours: `{" ".join(OPTIONS)}`, combinational for ECP5 also `{" ".join(FOR_ECP5)}`, in stages `{" ".join(STAGED)}` '
        f'(the same file for all three tables), {origins(rows)}.',
        '## Combinational, LUT, UltraScale+', table(comb('xcup comb'), area_columns()),
        '## Combinational, LUT4, ECP5', table(comb('ecp5 comb'), area_columns()),
        f'## {stages} stages, flip-flops', table(staged, stage_columns('ff')),
        f'## {stages} stages, LUT, UltraScale+', table(staged, stage_columns('lut')),
        f'## {stages} stages, clock in MHz, nextpnr-ecp5', table(staged, stage_columns('mhz')), fewer_seeds(staged, seeds),
    ]).rstrip('\n') + '\n'


def fewer_seeds(rows, seeds):
    """A remark about clocks from fewer seeds than the others."""
    few = [
        f'{name} {row[label]["seeds"]} ({label})'
        for name, row in rows.items() for label in PIPELINED if row.get(label, {}).get('seeds', seeds) < seeds
    ]
    return f'Fewer seeds, for want of time: {", ".join(few)}.' if few else ''


def origins(rows):
    """Which figures of ours are of which commit: most of one, and those that were measured again since."""
    found = {}
    for name, row in rows.items():
        for table, variants in row.items():
            for label, figure in variants.items():
                for what in ('lut', 'ff', 'mhz'):
                    if label.startswith('ours') and what in figure:
                        key = 'clock_of' if what == 'mhz' else 'of'
                        shown = 'clock' if what == 'mhz' else table
                        found.setdefault(figure[key], {}).setdefault(name, {})[shown] = True
    # The commit of most models first.
    order = sorted(found, key=lambda of: (-len(found[of]), of))
    parts = []
    for of in order:
        names = [f'{name} ({", ".join(tables)})' for name, tables in found[of].items()]
        parts.append(f'of {of}' if of == order[0] else f'of {of}: {", ".join(names)}')
    return '; '.join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--models', default=','.join(SMALL + LARGE))
    parser.add_argument('--stages', type=int, default=5)
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--parts', default=','.join(PARTS), help='what to measure of each model')
    parser.add_argument('--ours', action='store_true', help='measure ours only; alkaid stays as it was')
    parser.add_argument('--report', action='store_true', help='measure nothing: write what is known')
    parser.add_argument('--yosys', help='another Yosys than that of the path, with results of its own')
    args = parser.parse_args()
    measured, output = MEASURED, RESULTS
    if args.yosys:
        flows.YOSYS = args.yosys
        suffix = tool_name().lower().replace(' ', '-')
        measured, output = (file.with_stem(f'{file.stem}-{suffix}') for file in (MEASURED, RESULTS))
    if not args.report and not OURS.exists():
        sys.exit('run setup.sh first')
    _, tables, _ = cut(output.read_text() if output.exists() else '', TABLES)
    rows = json.loads(measured.read_text()) if measured.exists() else {}

    def write():
        measured.write_text(json.dumps(rows, indent=1) + '\n')
        output.write_text(report(rows, measured, args.stages, args.seeds) + (f'\n{tables.rstrip()}\n' if tables else ''))

    write()
    for name in [] if args.report else args.models.split(','):
        for part, key, label, make in jobs(name, args.stages, args.seeds):
            mine = label.startswith('ours')
            if part not in args.parts.split(',') or (args.ours and not mine):
                continue
            found = make()
            print(name, part, label, found, file=sys.stderr, flush=True)
            if found:
                of = {'clock_of' if part == 'clock' else 'of': commit()} if mine else {}
                rows.setdefault(name, {}).setdefault(key, {}).setdefault(label, {}).update(found, **of)
                write()


if __name__ == '__main__':
    main()
