"""Estimated clocks of five stages, before and after a change of the program, for benches/results/estimates.md.

    clock.py --before PROGRAM --after PROGRAM --models FOLDER [FOLDER ...] [--prove] [--place N] > table.md

Each FOLDER holds `model.json` or `model.json.gz`. Rows: stages cut by the file's latency fields, by the device's delays as PROGRAM
`before` cuts them, and as `after` does, all estimated by the program that cut them; the fewest stages with which `after` is as fast as
`before` is with five. Every schedule's certificate is checked by the program that makes it (it ends with an error otherwise). `--prove`
also writes and proves the Verilog of `after`; `--place N` places both for ECP5 with N seeds (`setup.sh` fetches nextpnr; `--nextpnr`
names another).
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import flows

DEVICES = ['ultrascale+', '7series']
COMMON = ['-O2', '--use-dsp', 'no']


def call(program, arguments, timeout=900):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=timeout)


def pipeline(program, model, device, stages, delays):
    """The estimate and the register bits of a pipeline."""
    done = call(program, ['info', model, *COMMON, '--device', device, '--pipeline', stages, '--delay-model', delays, '--json'])
    if done.returncode != 0:
        raise SystemExit(f'{program} info {model}: {done.stderr}')
    found = json.loads(done.stdout)
    table = found['pipeline']
    return found['estimate']['clock_mhz'], table['register_bits'], table['register_bits_at_least']


def sweep(program, model, device, last):
    done = call(program, ['info', model, *COMMON, '--device', device, '--delay-model', 'device', f'--sweep={last}', '--json'])
    return [(row['stages'], row['on_device']['clock_mhz']) for row in json.loads(done.stdout)['sweep']]


def text(program, model, device, prove):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, 'top.v')
        asked = [model, *COMMON, '--device', device, '--delay-model', 'device', '--pipeline', 5, '--top', 'top', '--verilog', out]
        done = call(program, asked + (['--prove'] if prove else []), timeout=1800)
        return done.returncode, out.read_text() if out.exists() else ''


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--before', required=True)
    parser.add_argument('--after', required=True)
    parser.add_argument('--models', nargs='+', type=Path, required=True)
    parser.add_argument('--prove', action='store_true')
    parser.add_argument('--place', type=int, default=0)
    parser.add_argument('--nextpnr', type=Path)
    given = parser.parse_args()
    if given.nextpnr:
        flows.NEXTPNR = given.nextpnr
    print('| model | device | fields: MHz, bits | before: MHz, bits | after: MHz, bits | gain | stages for the same MHz | proved |')
    print('|---|---|---|---|---|---|---|---|')
    gains = {device: [] for device in DEVICES}
    for folder in given.models:
        model = next(path for path in (folder / 'model.json', folder / 'model.json.gz') if path.exists())
        for device in DEVICES:
            fields = pipeline(given.after, model, device, 5, 'latency-fields')
            before = pipeline(given.before, model, device, 5, 'device')
            after = pipeline(given.after, model, device, 5, 'device')
            rows = sweep(given.after, model, device, 5)
            same = next((stages for stages, mhz in rows if mhz >= before[0]), '-')
            proved = '-'
            if given.prove:
                status, _ = text(given.after, model, device, True)
                proved = {0: 'yes', 3: 'open'}.get(status, f'exit {status}')
            gain = after[0] / before[0]
            gains[device].append(gain)
            cells = [f'{mhz}, {bits:,}' for mhz, bits, _ in (fields, before, after)]
            exact = '' if after[1] == after[2] else f' (at least {after[2]:,})'
            print(f'| {folder.name} | {device} | {cells[0]} | {cells[1]} | {cells[2]}{exact} | {gain:.3f} | {same} | {proved} |', flush=True)
    for device, all_gains in gains.items():
        print(f'\nGeometric mean of the gains, {device}: {statistics.geometric_mean(all_gains):.3f}, least {min(all_gains):.3f}', flush=True)
    if given.place:
        print('\n| model, ECP5, five stages | before: MHz | after: MHz | estimate before | estimate after |\n|---|---|---|---|---|')
        for folder in given.models:
            model = next(path for path in (folder / 'model.json', folder / 'model.json.gz') if path.exists())
            placed = []
            for program in (given.before, given.after):
                _, verilog = text(program, model, 'ecp5', False)
                widths = [int(verilog.split(f'{side} [')[1].split(':')[0]) + 1 for side in ('input', 'output')]
                clocks = flows.place(verilog, 'top', *widths, True, given.place)
                placed.append([clock['mhz'] for clock in clocks if clock])
            estimates = [pipeline(program, model, 'ecp5', 5, 'device')[0] for program in (given.before, given.after)]
            shown = [f'{statistics.median(clocks):.1f}' if clocks else '-' for clocks in placed]
            print(f'| {folder.name} | {shown[0]} | {shown[1]} | {estimates[0]} | {estimates[1]} |', flush=True)


if __name__ == '__main__':
    sys.exit(main())
