"""Changed lines of RTL after an operation was inserted into a model, with the names of the earlier version.

Usage: names.py [--program PROGRAM] [--from model|rtl] [--places N] [--models NAME,...] [--list] [OPTION...]

Inserts a quantiser, a negation or a constant sum after three (N) operations of each model in tests/data/models, for
all readers of the operation, and counts the lines of `diff` between the RTL of both versions, without header comments.
`--from` is the file that `--names-from` gets. Further options are those of `generate`, such as --pipeline 3.
"""

import argparse
import gzip
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / 'tests/data/models'
MOST = 40
KINDS = ('quantiser', 'negation', 'constant')


def inserted(text: str, at: int, kind: str) -> str | None:
    """Returns the model with an operation after operation `at`; `None` if that operation has no suitable type."""
    model = json.loads(text)
    operations = model['model'][5]
    low, high, step = operations[at][3]
    if high <= low:
        return None
    if kind == 'quantiser':
        wide = 2 * step
        record = [[at], 3, [0], [low // wide * wide, high // wide * wide, wide], 0, 0]
    elif kind == 'negation':
        record = [[at], -2, [], [-high, -low, step], 0, 0]
    else:
        fractional_bits = 1 - math.frexp(step)[1]
        record = [[at], 4, [1, fractional_bits], [low + step, high + step, step], 0, 0]
    for operation in operations:
        operation[0] = [v + (v > at or (v == at and operation is not operations[at])) for v in operation[0]]
    operations.insert(at + 1, record)
    outputs = model['model'][2]
    model['model'][2] = [v + (v >= at) if v >= 0 else v for v in outputs]
    return json.dumps(model)


def generate(program: str, model: Path, rtl: Path, more: list[str]) -> bool:
    command = [program, str(model), '-o', str(rtl), '-q', '--top', 'm', *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f'{model}: {done.stderr.strip().splitlines()[:1]}', file=sys.stderr)
    return done.returncode == 0


def lines(rtl: Path) -> list[str]:
    comment = '--' if rtl.suffix == '.vhd' else '//'
    return [line for line in rtl.read_text().splitlines() if not line.startswith(comment)]


def changed(folder: Path, old: Path, new: Path) -> int:
    """Lines that `diff` marks, in both files."""
    for name, rtl in (('a', old), ('b', new)):
        (folder / name).write_text('\n'.join(lines(rtl)) + '\n')
    done = subprocess.run(['diff', folder / 'a', folder / 'b'], capture_output=True, text=True)
    return sum(line[:1] in '<>' for line in done.stdout.splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--program', default=str(ROOT / 'target/release/alir2hdl'))
    parser.add_argument('--from', dest='earlier', choices=('model', 'rtl'), default='rtl')
    parser.add_argument('--places', type=int, default=3)
    parser.add_argument('--models', default='*')
    parser.add_argument('--list', action='store_true', help='print every diff')
    args, more = parser.parse_known_args()
    counts: dict[str, list[int]] = {suffix: [] for suffix in ('v', 'sv', 'vhd')}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = [packed for name in args.models.split(',') for packed in MODELS.glob(f'{name}/model.json.gz')]
        for packed in sorted(models):
            text = gzip.decompress(packed.read_bytes()).decode()
            (folder / 'old.json').write_text(text)
            convert = [args.program, 'convert', 'old.json', 'current.json']
            subprocess.run(convert, cwd=folder, check=True, capture_output=True)
            text = (folder / 'current.json').read_text()
            size = len(json.loads(text)['model'][5])
            for suffix in counts:
                generate(args.program, folder / 'current.json', folder / f'old.{suffix}', more)
            for at in sorted({size // 10 + size * 8 * k // (10 * (args.places - 1)) for k in range(args.places)}):
                for kind in KINDS:
                    new = inserted(text, at, kind)
                    if new is None:
                        continue
                    (folder / 'new.json').write_text(new)
                    result = []
                    for suffix, of_suffix in counts.items():
                        old, rtl = folder / f'old.{suffix}', folder / f'new.{suffix}'
                        earlier = old if args.earlier == 'rtl' else folder / 'current.json'
                        if generate(args.program, folder / 'new.json', rtl, ['--names-from', str(earlier), *more]):
                            of_suffix.append(changed(folder, old, rtl))
                            result.append(of_suffix[-1])
                    if args.list:
                        print(packed.parent.name, at, kind, *result, flush=True)
    for suffix, of_suffix in counts.items():
        few = sum(count <= MOST for count in of_suffix)
        print(f'{suffix}: {few} of {len(of_suffix)} diffs with at most {MOST} lines, {sum(of_suffix)} lines together')


if __name__ == '__main__':
    main()
