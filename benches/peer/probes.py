"""The cases of one operation in which alkaid's RTL is known to leave its own interpreter, found by proof.

Usage: probes.py [--seconds S]

Each probe is a model of a few operations. alkaid writes its RTL, yosys reads it, `alir2hdl prove --via yosys` judges it; the
verdict expected of each probe is written beside it, so that this is a test of the prover as much as of the peer. Prints a
Markdown table; the exit code is 1 if any verdict is another one.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from prove import judged

# Name, intervals of the inputs, further operations (addresses, opcode, data, interval), slots of the outputs, tables, verdict.
S4 = [-8, 7, 1]
U4 = [0, 15, 1]
QUARTERS = [-8, 7.75, 0.25]
HALVES = [-8, 7.5, 0.5]
PROBES = [
    ('not, unsigned to unsigned', [U4], [([0], 9, [0], U4)], [1], [], 'proved'),
    ('not, unsigned to signed, one bit wider', [U4], [([0], 9, [0], [-16, 15, 1])], [1], [], 'proved'),
    ('not, unsigned to signed, same width', [U4], [([0], 9, [0], S4)], [1], [], 'proved'),
    ('not, signed to unsigned', [S4], [([0], 9, [0], U4)], [1], [], 'proved'),
    ('all, unsigned', [[0, 7.5, 0.5]], [([0], 9, [2], [0, 1, 1])], [1], [], 'proved'),
    ('all, signed', [S4], [([0], 9, [2], [0, 1, 1])], [1], [], 'proved'),
    ('any, signed', [S4], [([0], 9, [1], [0, 1, 1])], [1], [], 'proved'),
    ('mux, result coarser than an operand', [QUARTERS, S4], [([0, 1, 1], 6, [0], S4)], [2], [], 'differs'),
    ('mux, result finer than both', [S4, S4], [([0, 1, 1], 6, [0], HALVES)], [2], [], 'not written'),
    ('mux, narrow result wraps', [S4, S4], [([0, 1, 1], 6, [0], [-4, 3, 1])], [2], [], 'proved'),
    ('add, dropped low bits', [QUARTERS, QUARTERS], [([0, 1], 0, [0], [-16, 14, 1])], [2], [], 'proved'),
    ('subtract, dropped low bits', [QUARTERS, QUARTERS], [([0, 1], 1, [0], [-16, 15, 1])], [2], [], 'proved'),
    ('add, result finer than the operands', [S4, S4], [([0, 1], 0, [0], [-16, 15.75, 0.25])], [2], [], 'differs'),
    ('add, wraps beyond its interval', [S4, S4], [([0, 1], 0, [0], S4)], [2], [], 'proved'),
    ('sum, dropped low bits', [QUARTERS] * 3, [([0, 1, 2], 11, [1, 0, 0, 1, 1, 0], [-24, 23, 1])], [3], [], 'proved'),
    ('ReLU, overflow wraps', [S4], [([0], 2, [], [0, 3, 1])], [1], [], 'proved'),
    ('ReLU, result finer than its operand', [S4], [([0], 2, [], [0, 7.75, 0.25])], [1], [], 'differs'),
    ('ReLU, signed interval', [S4], [([0], 2, [], [-4, 3, 1])], [1], [], 'proved'),
    ('quantise, wider, signed to unsigned', [S4], [([0], 3, [0], [0, 63, 1])], [1], [], 'proved'),
    ('quantise, wider, unsigned', [U4], [([0], 3, [0], [0, 63, 1])], [1], [], 'not written'),
    ('quantise, result finer than its operand', [S4], [([0], 3, [0], QUARTERS)], [1], [], 'differs'),
    ('quantise, relative shift', [S4], [([0], 3, [2], [-16, 12, 4])], [1], [], 'proved'),
    ('negate, interval too narrow', [S4], [([0], -2, [], S4)], [1], [], 'proved'),
    ('negate, another step', [S4], [([0], -2, [], [-16, 16, 2])], [1], [], 'differs'),
    ('constant added, dropped low bits', [S4], [([0], 4, [1, 1], S4)], [1], [], 'proved'),
    ('product', [S4, U4], [([0, 1], 7, [], [-120, 105, 1])], [2], [], 'proved'),
    ('product, another step', [HALVES, HALVES], [([0, 1], 7, [], [-64, 64, 1])], [2], [], 'differs'),
    ('lookup, whole table', [[-4, 3, 1]], [([0], 8, [0], [0, 63, 1])], [1], [('sq', 1, [16, 9, 4, 1, 0, 1, 4, 9])], 'proved'),
    ('and, unsigned with signed', [U4, S4], [([0, 1], 10, [0, 0], U4)], [2], [], 'proved'),
    ('exclusive or, shifted', [S4, S4], [([0, 1], 10, [2, 2], [-32, 31, 1])], [2], [], 'proved'),
    ('or, result coarser than its operands', [HALVES, HALVES], [([0, 1], 10, [0, 1], S4)], [2], [], 'differs'),
]


def model(inputs, ops, outputs, tables):
    """A version 4 file: the inputs, then the operations."""
    reads = [[[], -1, [i], qint, 0.0, 0.0] for i, qint in enumerate(inputs)]
    records = reads + [[addr, code, data, qint, 1.0, 1.0] for addr, code, data, qint in ops]
    spec = lambda name, step, words: {
        'spec': {'hash': name, 'out_qint': {'min': min(words) * step, 'max': max(words) * step, 'step': step},
                 'inp_width': (len(words) - 1).bit_length()},
        'table': words,
    }
    body = [[len(inputs), len(outputs)], [0] * len(inputs), outputs, [0] * len(outputs), [False] * len(outputs), records,
            -1, -1, [spec(*table) for table in tables] or None]
    return {'meta': 'ALIRModel', 'spec_version': 4, 'model': body}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=int, default=60)
    args = parser.parse_args()
    print('| probe | verdict | what was found |')
    print('|---|---|---|')
    others = []
    with tempfile.TemporaryDirectory() as folder:
        for name, inputs, ops, outputs, tables, expected in PROBES:
            path = Path(folder, 'probe.json')
            path.write_text(json.dumps(model(inputs, ops, outputs, tables)))
            verdict, found = judged(str(path), 0, args.seconds)
            print(f'| {name} | {verdict} | {found.replace("|", "/")[:200]} |', flush=True)
            if verdict != expected:
                others.append(f'{name}: {verdict}, expected {expected}')
    print('\n'.join(others), file=sys.stderr)
    return int(bool(others))


if __name__ == '__main__':
    sys.exit(main())
