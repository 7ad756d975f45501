"""How the time of our whole process grows with the size of a program.

Usage: scaling.py MODEL [SIZE ...]

Cuts MODEL (a large one, versions 3 or 4) to as many first operations as give about SIZE together with a tree of additions
over all values that would then have no reader, so that no operation is dead; its root is the only output. Writes Verilog of
three stages from each. Prints a Markdown table: CPU seconds (user + system), best of several runs, peak memory, bytes of
Verilog, and how many times the smallest that is. No peer takes part.
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
REPEAT = 3


def size_of_cut(ops: list, size: int) -> int:
    """How many first operations have `size` operations together with a tree over what they leave without a reader."""
    unread: set[int] = set()
    best = 1
    for index, op in enumerate(ops):
        unread.difference_update(op[0])
        unread.add(index)
        if index + 1 + len(unread) - 1 <= size:
            best = index + 1
    return best


def cut(model: list, size: int) -> list:
    ops = model[5][: size_of_cut(model[5], size)]
    read = {operand for op in ops for operand in op[0]}
    level = [i for i in range(len(ops)) if i not in read]
    while len(level) > 1:
        above = []
        for a, b in zip(level[::2], level[1::2]):
            (low, high, step), (low_b, high_b, step_b) = ops[a][3], ops[b][3]
            interval = [low + low_b, high + high_b, min(step, step_b)]
            above.append(len(ops))
            ops.append([[a, b], 0, [0], interval, max(ops[a][4], ops[b][4]) + 1.0, 1.0])
        level = above + (level[-1:] if len(level) % 2 else [])
    return [[model[0][0], 1], model[1], level, [0], [False], ops, *model[6:]]


def child(path: str, folder: str) -> None:
    """Runs in a process of its own, since a process's peak memory begins with that of the one that started it."""
    command = [OURS, path, '--verilog', f'{folder}/top.v', '--pipeline', '3', '--effort', 'fast', '-O0', '-q']
    started = subprocess.Popen(command)
    _, status, usage = os.wait4(started.pid, 0)
    print(json.dumps([status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))


def run(path: str, folder: str) -> tuple[float, int]:
    done = subprocess.run([sys.executable, __file__, '--child', path, folder], capture_output=True, text=True, check=True)
    status, seconds, kib = json.loads(done.stdout)
    if status != 0:
        raise SystemExit(f'exit status {status}')
    return seconds, kib


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] == '--child':
        return child(sys.argv[2], sys.argv[3])
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    with gzip.open(sys.argv[1]) as file:
        whole = json.load(file)
    sizes = [int(size) for size in sys.argv[2:]] or SIZES
    print('| operations | CPU s | MiB | MB of Verilog | times the smallest |')
    print('|---|---|---|---|---|')
    smallest = None
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            part = cut(whole['model'], size)
            path = f'{folder}/cut.json.gz'
            with gzip.open(path, 'wt', compresslevel=6) as file:
                json.dump({**whole, 'model': part}, file, separators=(',', ':'))
            runs = [run(path, folder) for _ in range(REPEAT)]
            seconds, kib = min(r[0] for r in runs), min(r[1] for r in runs)
            smallest = smallest or seconds
            text = os.path.getsize(f'{folder}/top.v') / 1e6
            times = seconds / smallest
            print(f'| {len(part[5]):,} | {seconds:.2f} | {kib / 1024:.0f} | {text:.1f} | {times:.1f} |', flush=True)


if __name__ == '__main__':
    main()
