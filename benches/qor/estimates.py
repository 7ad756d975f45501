#!/usr/bin/env python3
"""Compares the resources that `info --device` estimates with those that Yosys counts, with the script of a project for Yosys.

Usage: estimates.py PROGRAM FOLDER MODEL... [--devices xcup,ecp5] [--stages 0,3] [--yosys yosys]

One line for each model, device and number of stages: look-up tables and flip-flops of Yosys and of the estimate, and the errors.
FOLDER keeps what Yosys printed, and a run continues from there. At the end: nine of ten errors of each device. `--record` writes the
tables into fit_data.json, from which `fit.py fit` takes the errors that the program states.
"""

import argparse
import hashlib
import json
import subprocess
from pathlib import Path

from fit import DATA, DEVICES, OPTIONS, SMALLEST, nine_of_ten, save
from flows import ROOT, count

TEMPLATE = ROOT / 'templates' / 'project' / 'yosys.ys'
FLIP_FLOPS = {'xcup': r'FD[RSCP]E$', 'xc7': r'FD[RSCP]E$', 'ecp5': r'TRELLIS_FF$', 'ice40': r'SB_DFF\w*$'}


def script(synthesis):
    """Returns the script of a project with this synthesis."""
    text = TEMPLATE.read_text().replace('rtl/{{ v.top }}.v', 'top.v').replace('{{ v.top }}', 'top')
    head = text.split('synth_{{')[0].split('\n', 1)[1]
    return f'{head}{synthesis} -top top\ntee -q -o stat.json stat -json\n'


def arguments_of(model, device, stages):
    """Returns the arguments for a model with sums, products and tables in logic."""
    return [model, *OPTIONS, '--rom-style', 'logic', '--pipeline', stages, '--device', DEVICES[device][0]]


def said(program, *arguments):
    """Returns what the program prints."""
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def body_of(rtl):
    """Returns Verilog without the lines that are comments."""
    return '\n'.join(line for line in rtl.splitlines() if not line.startswith('//'))


def counted(program, arguments, synthesis, yosys, folder):
    """Returns the cells of each kind."""
    rtl = said(program, *arguments, '--top', 'top', '--verilog', '-', '-q')
    body = body_of(rtl)
    kept = folder / (hashlib.sha256((body + script(synthesis) + yosys).encode()).hexdigest() + '.json')
    if not kept.exists():
        work = folder / 'work'
        work.mkdir(exist_ok=True)
        (work / 'top.v').write_text(rtl)
        (work / 'run.ys').write_text(script(synthesis))
        try:
            subprocess.run([yosys, '-q', '-s', 'run.ys'], cwd=work, check=True, capture_output=True, timeout=900)
        except subprocess.TimeoutExpired:
            return None
        text = (work / 'stat.json').read_text()
        kept.write_text(text[text.index('{'):])
    return json.loads(kept.read_text())['design']['num_cells_by_type']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('folder', type=Path)
    parser.add_argument('models', nargs='+')
    parser.add_argument('--devices', default=','.join(DEVICES))
    parser.add_argument('--stages', default='0,3')
    parser.add_argument('--yosys', default='yosys')
    parser.add_argument('--record', action='store_true')
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    errors, designs = {}, {}
    for device in options.devices.split(','):
        _, synthesis, tables = DEVICES[device]
        for model in options.models:
            for stages in options.stages.split(','):
                arguments = arguments_of(model, device, stages)
                cells = counted(options.program, arguments, synthesis, options.yosys, options.folder)
                if cells is None:
                    continue
                estimate = json.loads(said(options.program, 'info', *arguments, '--json'))['estimate']
                lut = sum(n * count(cells, f'({kind})$') for kind, n in tables.items())
                ff = count(cells, FLIP_FLOPS[device])
                name = Path(model).parent.name
                error = estimate['lut'] / lut - 1 if lut >= SMALLEST else None
                ff_error = estimate['ff'] / ff - 1 if ff else None
                shown = ' '.join('     -' if e is None else f'{e:+6.1%}' for e in (error, ff_error))
                print(f'{device:12} {name:14} {stages:>2} LUT {lut:6} {estimate["lut"]:6} FF {ff:6} {estimate["ff"]:6} {shown} '
                      f'{json.dumps(estimate["tables"])}', flush=True)
                if error is not None:
                    designs.setdefault(device, {})[f'{name}, {stages} stages'] = {'tool': lut, 'estimate': estimate['lut']}
                    errors.setdefault((device, 'LUT'), []).append(abs(error))
                if ff_error is not None:
                    errors.setdefault((device, 'FF'), []).append(abs(ff_error))
    if options.record:
        data = json.loads(DATA.read_text())
        for device, rows in designs.items():
            data[device]['designs'] = rows
        save(data)
    for (device, figure), found in errors.items():
        found.sort()
        print(f'{device} {figure}: {len(found)} designs, median {found[len(found) // 2]:.1%}, nine of ten within {nine_of_ten(found):.1%}, '
              f'largest {found[-1]:.1%}')


if __name__ == '__main__':
    main()
