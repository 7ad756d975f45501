#!/usr/bin/env python3
"""Compares the resources that `info --device` estimates with those that Yosys counts, with the script of a project for Yosys.

Usage: estimates.py PROGRAM FOLDER MODEL... [--devices ultrascale+,ecp5] [--stages 0,3] [--yosys yosys]

One line for each model, device and number of stages: look-up tables and flip-flops of Yosys and of the estimate, and the errors.
FOLDER keeps what Yosys printed, and a run continues from there. At the end: nine of ten errors of each device. `--record` writes the
tables into fit_data.json, from which `fit.py fit` takes the errors that the program states.
"""

import argparse
import hashlib
import json
import re
import subprocess
from pathlib import Path

TEMPLATE = Path(__file__).resolve().parents[2] / 'templates' / 'project' / 'yosys.ys'
DATA = Path(__file__).with_name('fit_data.json')
# Options of Yosys for the device, what counts as a table, and how many a cell is; what counts as a flip-flop.
DEVICES = {
    'ultrascale+': ('synth_xilinx -family xcup -noiopad -noclkbuf -nodsp -nobram -nosrl', {r'LUT[1-6]|INV': 1}, r'FD[RSCP]E'),
    '7series': ('synth_xilinx -family xc7 -noiopad -noclkbuf -nodsp -nobram -nosrl', {r'LUT[1-6]|INV': 1}, r'FD[RSCP]E'),
    'ecp5': ('synth_ecp5 -nodsp -nobram -nolutram', {r'LUT4': 1, r'CCU2C': 2}, r'TRELLIS_FF'),
    'ice40': ('synth_ice40 -nobram', {r'SB_LUT4': 1}, r'SB_DFF\w*'),
}


def script(synthesis):
    """Returns the script of a project with this synthesis."""
    text = TEMPLATE.read_text().replace('rtl/{{ v.top }}.v', 'top.v').replace('{{ v.top }}', 'top')
    head = text.split('synth_{{')[0].split('\n', 1)[1]
    return f'{head}{synthesis} -top top\ntee -q -o stat.json stat -json\n'


def counted(program, arguments, synthesis, yosys, folder):
    """Returns the cells of each kind."""
    rtl = subprocess.run([program, *arguments, '--top', 'top', '--verilog', '-', '-q'], check=True, capture_output=True, text=True).stdout
    body = '\n'.join(line for line in rtl.splitlines() if not line.startswith('//'))
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
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    errors, designs = {}, {}
    for device in asked.devices.split(','):
        synthesis, tables, flip_flop = DEVICES[device]
        for model in asked.models:
            for stages in asked.stages.split(','):
                arguments = [model, '-O2', '--use-dsp', 'no', '--rom-style', 'logic', '--pipeline', stages, '--device', device]
                cells = counted(asked.program, arguments, synthesis, asked.yosys, asked.folder)
                if cells is None:
                    continue
                said = subprocess.run([asked.program, 'info', *arguments, '--json'], check=True, capture_output=True, text=True).stdout
                estimate = json.loads(said)['estimate']
                lut = sum(n for kind, n in ((kind, cells[kind] * factor) for pattern, factor in tables.items()
                                            for kind in cells if re.fullmatch(pattern, kind)))
                ff = sum(cells[kind] for kind in cells if re.fullmatch(flip_flop, kind))
                name = Path(model).parent.name
                error = estimate['lut'] / lut - 1 if lut >= 20 else None
                ff_error = estimate['ff'] / ff - 1 if ff else None
                shown = ' '.join('     -' if e is None else f'{e:+6.1%}' for e in (error, ff_error))
                print(f'{device:12} {name:14} {stages:>2} LUT {lut:6} {estimate["lut"]:6} FF {ff:6} {estimate["ff"]:6} {shown} '
                      f'{json.dumps(estimate["tables"])}', flush=True)
                if error is not None:
                    fit_name = {'ultrascale+': 'xcup', '7series': 'xc7'}.get(device, device)
                    designs.setdefault(fit_name, {})[f'{name}, {stages} stages'] = {'tool': lut, 'estimate': estimate['lut']}
                    errors.setdefault((device, 'LUT'), []).append(abs(error))
                if ff_error is not None:
                    errors.setdefault((device, 'FF'), []).append(abs(ff_error))
    if asked.record:
        data = json.loads(DATA.read_text())
        for device, rows in designs.items():
            data[device]['designs'] = rows
        DATA.write_text(json.dumps(data, indent=1, sort_keys=True) + '\n')
    for (device, figure), found in errors.items():
        found.sort()
        print(f'{device} {figure}: {len(found)} designs, median {found[len(found) // 2]:.1%}, nine of ten within {found[len(found) * 9 // 10 - (len(found) % 10 == 0)]:.1%}, '
              f'largest {found[-1]:.1%}')


if __name__ == '__main__':
    main()
