"""How the time of our whole process grows with the size of a program.

Usage: scaling.py MODEL [SIZE ...]

Cuts MODEL (a large one, versions 3 or 4) to its first SIZE operations, whose outputs are up to 64 values that nothing else
reads, and writes Verilog of three stages from each. Prints a Markdown table: CPU seconds (user + system), best of
several runs, peak memory, and how much more than the smallest size that is. No peer takes part.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

OURS = Path(__file__).resolve().parents[2] / 'target/release/alir2hdl'
SIZES = [100_000, 200_000, 500_000, 1_000_000]
OUTPUTS = 64
REPEAT = 3


def cut(model: list, size: int) -> list:
    ops = model[5][:size]
    read = {operand for op in ops for operand in op[0]}
    outputs = [i for i in range(len(ops)) if i not in read][-OUTPUTS:]
    n = len(outputs)
    shape = [model[0][0], n]
    return [shape, model[1], outputs, [0] * n, [False] * n, ops, *model[6:]]


def run(path: str, folder: str) -> tuple[float, int]:
    command = [OURS, path, '--verilog', f'{folder}/top.v', '--pipeline', '3', '--effort', 'fast', '-O0', '-q']
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f'exit status {status}')
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    with gzip.open(sys.argv[1]) as file:
        whole = json.load(file)
    sizes = [int(size) for size in sys.argv[2:]] or SIZES
    print('| operations | CPU s | MiB | times the smallest |')
    print('|---|---|---|---|')
    smallest = None
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = f'{folder}/cut.json.gz'
            with gzip.open(path, 'wt', compresslevel=6) as file:
                json.dump({**whole, 'model': cut(whole['model'], size)}, file, separators=(',', ':'))
            runs = [run(path, folder) for _ in range(REPEAT)]
            seconds, kib = min(r[0] for r in runs), min(r[1] for r in runs)
            smallest = smallest or seconds
            print(f'| {size:,} | {seconds:.2f} | {kib / 1024:.0f} | {seconds / smallest:.1f} |', flush=True)


if __name__ == '__main__':
    main()
