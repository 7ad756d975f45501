#!/usr/bin/env python3
"""How our time and memory grow up to ten million operations, on a made-up program.

    python3 benches/peer/growth.py [--ours target/release/alir2hdl] [SIZE ...]

The program is layers of 64 sums of 16 bits that wrap, each of two neighbours of the layer before, so that every operation is read.
Each size goes from JSON on disk to Verilog of three stages on disk (`--effort fast -O0`). Prints CPU seconds (user and system), peak
memory, and both by operation. No peer takes part.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 64


def write_model(path, size):
    """A version 4 file of `size` operations, inputs included, a layer at a time."""
    interval = '[-32768.0,32767.0,1.0]'
    layers = max(2, size // WIDTH)
    ids = lambda first: list(range(first, first + WIDTH))
    zeros = [0] * WIDTH
    with open(path, 'w') as file:
        outputs = ids((layers - 1) * WIDTH)
        head = f'[[{WIDTH},{WIDTH}],{zeros},{outputs},{zeros},{[False] * WIDTH},['.replace('False', 'false')
        file.write('{"meta":"ALIRModel","spec_version":4,"model":' + head)
        file.write(','.join(f'[[],-1,[{p}],{interval},0.0,0.0]' for p in range(WIDTH)))
        for layer in range(1, layers):
            before = (layer - 1) * WIDTH
            for p in range(WIDTH):
                file.write(f',[[{before + p},{before + (p + 1) % WIDTH}],0,[0],{interval},{layer}.0,1.0]')
        file.write('],-1,-1,null]}')
    return layers * WIDTH


def main():
    if sys.argv[1:2] == ['--child']:
        # In a process of its own, since a process's peak memory begins with that of the one that started it.
        started = subprocess.Popen(sys.argv[2:])
        _, status, usage = os.wait4(started.pid, 0)
        print(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('sizes', nargs='*', type=int, default=[10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument('--ours', type=Path, default=ROOT / 'target/release/alir2hdl')
    args = parser.parse_args()
    print('| operations | CPU s | us an operation | MiB | bytes an operation | MB of Verilog |\n|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory() as folder:
        for size in args.sizes:
            model, text = f'{folder}/model.json', f'{folder}/top.v'
            count = write_model(model, size)
            options = ['--verilog', text, '--pipeline', '3', '--effort', 'fast', '-O0', '-q', '--max-ops', str(2 * count)]
            command = [sys.executable, __file__, '--child', args.ours, model, *options]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            status, seconds, kib = (float(word) for word in done.stdout.split())
            if status:
                sys.exit(f'{count} operations: wait status {status:.0f}\n{done.stderr}')
            print(
                f'| {count:,} | {seconds:.2f} | {1e6 * seconds / count:.2f} | {kib / 1024:.0f} | {1024 * kib / count:.0f} '
                f'| {os.path.getsize(text) / 1e6:.1f} |',
                flush=True,
            )


if __name__ == '__main__':
    main()
