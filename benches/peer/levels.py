"""What the optimisation levels cost: time and memory of our whole process at -O0, -O1 and -O2.

Usage: levels.py [--stages N] [--repeat K] [--ours PROGRAM] MODEL...

Seconds are of user and system together, from the model on disk to Verilog on disk with `--effort fast`, the least of several
runs; the levels take turns, so that all see the same load. Memory is the most that -O2 takes. Prints a Markdown table. No peer
takes part.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEVELS = ('-O0', '-O1', '-O2')


def child(command: list[str]) -> None:
    """Runs in a process of its own, since a process's peak memory begins with that of the one that started it."""
    started = subprocess.Popen(command)
    _, status, usage = os.wait4(started.pid, 0)
    print(json.dumps([status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))


def measured(binary: Path, model: Path, stages: int, level: str) -> tuple[float, float]:
    """CPU seconds, and MiB at most."""
    with tempfile.TemporaryDirectory() as folder:
        options = ('--verilog', f'{folder}/top.v', '--pipeline', str(stages), '--effort', 'fast', level, '-q')
        command = [sys.executable, __file__, '--child', binary, model, *options]
        status, seconds, size = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    if status != 0:
        raise SystemExit(f'{model}: exit status {status}')
    return seconds, size


def main() -> None:
    if sys.argv[1:2] == ['--child']:
        return child(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('models', nargs='+', type=Path)
    parser.add_argument('--stages', type=int, default=0)
    parser.add_argument('--repeat', type=int, default=5)
    parser.add_argument('--ours', type=Path, default=ROOT / 'target/release/alir2hdl')
    args = parser.parse_args()
    print('| model | operations | -O0 s | -O1 s | -O2 s | -O1 / -O0 | -O2 / -O0 | MiB at -O2 |')
    print('|---|---|---|---|---|---|---|---|')
    for model in args.models:
        count = json.loads(subprocess.check_output([args.ours, 'info', model, '--json']))['operations']
        turns = [[measured(args.ours, model, args.stages, level) for level in LEVELS] for _ in range(args.repeat)]
        plain, cheap, search = (min(run[0] for run in runs) for runs in zip(*turns))
        size = max(turn[2][1] for turn in turns)
        print(
            f'| {model.parent.name} | {count:,} | {plain:.4f} | {cheap:.4f} | {search:.4f} '
            f'| {cheap / plain:.1f} | {search / plain:.1f} | {size:.0f} |',
            flush=True,
        )


if __name__ == '__main__':
    main()
