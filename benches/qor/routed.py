#!/usr/bin/env python3
"""Compares the clock periods that `info --device` estimates with those of nextpnr after routing.

Usage: routed.py PROGRAM MODEL... [--devices ecp5,ice40] [--stages 2,3,5] [--seeds 3] [--keep]

One line for each model, device and number of stages: the median period of several seeds of nextpnr between shift registers, the
estimate and its error. Designs that the device cannot hold or that nextpnr does not finish are left out. What tools made is kept
(flows.py), and a run continues from there. `--keep` adds the designs to those that fit.py fits. At the end: nine of ten errors of each device.
"""

import argparse
import json
from pathlib import Path
from statistics import median

from estimates import arguments_of, body_of, said
from fit import DATA, PLACERS, clock, nine_of_ten, save


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('models', nargs='+')
    parser.add_argument('--devices', default=','.join(PLACERS))
    parser.add_argument('--stages', default='2,3,5')
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--most-luts', type=int, default=7000, help='larger designs are left out')
    parser.add_argument('--keep', action='store_true')
    options = parser.parse_args()
    errors, kept = {}, {}
    for device in options.devices.split(','):
        for model in options.models:
            for stages in options.stages.split(','):
                arguments = arguments_of(model, device, stages)
                estimate = json.loads(said(options.program, 'info', *arguments, '--json'))['estimate']
                if estimate['lut'] > options.most_luts:
                    continue
                text = body_of(said(options.program, *arguments, '--top', 'model', '--verilog', '-', '-q'))
                interface = json.loads(said(options.program, *arguments, '--top', 'model', '--interface', '-', '-q'))
                widths = {side: max((e['lsb'] + e['width'] for e in interface[side]), default=0) for side in ('inputs', 'outputs')}
                periods = [clock(device, text, widths, seed, 900) for seed in range(1, options.seeds + 1)]
                periods = [period for period in periods if period]
                if not periods:
                    print(f'{device:6} {Path(model).parent.name:20} {stages:>2} not routed', flush=True)
                    continue
                found = median(periods)
                row = {'arguments': arguments, 'lut': estimate['lut'], 'period': found, **estimate['longest_path']}
                kept.setdefault(device, {})[f'{Path(model).parent.name}, {stages} stages'] = row
                error = estimate['period_ns'] / found - 1
                errors.setdefault(device, []).append(abs(error))
                print(f'{device:6} {Path(model).parent.name:20} {stages:>2} LUT {estimate["lut"]:5} routed {min(periods):6.2f} to {max(periods):6.2f}, '
                      f'median {found:6.2f} ns, estimate {estimate["period_ns"]:6.2f} ns {error:+6.1%}', flush=True)
    if options.keep:
        data = json.loads(DATA.read_text())
        for device, rows in kept.items():
            data[device].setdefault('routed', {}).update(rows)
        save(data)
    for device, found in errors.items():
        found.sort()
        print(f'{device}: {len(found)} designs, median {median(found):.1%}, nine of ten within {nine_of_ten(found):.1%}, largest {found[-1]:.1%}')


if __name__ == '__main__':
    main()
