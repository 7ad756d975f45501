#!/usr/bin/env python3
"""The whole command `alir2hdl run` against alkaid's `predict`, one thread each, on any models; every value compared.

    target/peer/bin/python benches/peer/six.py target/six
    target/peer/bin/python benches/peer/others.py FOLDER ... [--ours target/release/alir2hdl] [--work 5e8] [--only NAME ...]

Each FOLDER holds NAME/model.json.gz. A model runs on WORK / operations random samples inside its declared ranges. Ours is the
user and system time of the whole process, from the files on disk to the npy file on disk; alkaid's that of `predict` alone on the
array in memory. The two take turns, and the least of REPEATS of each counts. Prints a Markdown table with the program's commit.
"""

import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from compare import samples_of, timed

ROOT = Path(__file__).resolve().parents[2]


def child(command):
    """User and system seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def measured(binary, path, samples, repeats, folder):
    """Seconds of alkaid's, and user and system seconds of ours."""
    from alkaid.types import CombLogic

    comb = CombLogic.load(str(path))
    count = max(1, int(samples / len(comb.ops)))
    # Drawn as whole rows of a smaller set where there are many: drawing takes longer than running.
    drawn = samples_of(comb, min(count, 50_000))
    inputs = np.ascontiguousarray(np.resize(drawn, (count, drawn.shape[1])))
    x, y = f'{folder}/x.npy', f'{folder}/y.npy'
    np.save(x, inputs)
    theirs, ours = [], []
    for _ in range(repeats):
        seconds, expected = timed(lambda: comb.predict(inputs, n_threads=1))
        theirs.append(seconds)
        if os.path.exists(y):
            os.remove(y)
        ours.append(child([binary, 'run', path, '--quiet', '--input', x, '--output', y, '--threads', '1']))
    got = np.load(y)
    if not np.array_equal(got, expected.reshape(got.shape)):
        sys.exit(f'{path}: {np.sum(got != expected.reshape(got.shape))} of {got.size} values differ')
    row = 8 * (inputs.shape[1] + got.shape[1])
    return len(comb.ops), count, row, min(theirs), min(ours, key=sum)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folders', nargs='+', type=Path)
    parser.add_argument('--ours', type=Path, default=ROOT / 'target/release/alir2hdl')
    parser.add_argument('--work', type=float, default=5e8)
    parser.add_argument('--repeats', type=int, default=5)
    parser.add_argument('--only', nargs='*')
    args = parser.parse_args()
    commit = subprocess.check_output(['git', '-C', ROOT, 'rev-parse', '--short', 'HEAD'], text=True).strip()
    print(f'Program of commit {commit}.\n')
    print('| `run` | operations | samples | file bytes a sample | alkaid s | ours s | of it in the kernel | times less |')
    print('|---|---|---|---|---|---|---|---|')
    ratios = []
    with tempfile.TemporaryDirectory(dir=os.environ.get('TMPDIR', '/tmp')) as folder:
        for path in sorted(p for f in args.folders for p in f.glob('*/model.json.gz')):
            name = path.parent.name
            if args.only and name not in args.only:
                continue
            operations, count, row, theirs, (user, kernel) = measured(args.ours, path, args.work, args.repeats, folder)
            ratios.append(theirs / (user + kernel))
            print(
                f'| {name} | {operations:,} | {count:,} | {row:,} | {theirs:.3f} | {user + kernel:.3f} | {kernel:.3f} '
                f'| {ratios[-1]:.1f} |',
                flush=True,
            )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f'\nGeometric mean of {len(ratios)}: {mean:.1f}, the least {min(ratios):.1f}; every value equal.')


if __name__ == '__main__':
    main()
