"""Builds a large model of equal parts, as a convolution has them: independent copies of a small model.

Usage: tiles.py MODEL COPIES OUT

MODEL is of version 3 or 4, without tables. OUT (.json.gz) has COPIES times its inputs, operations and outputs.
"""

import gzip
import json
import sys


def tiled(model: list, copies: int) -> list:
    (inputs, outputs), shifts, sources, out_shifts, signs, ops = model[:6]
    all_ops, all_sources = [], []
    for copy in range(copies):
        first = copy * len(ops)
        for operands, opcode, data, *rest in ops:
            data = [data[0] + copy * inputs] if opcode == -1 else data
            all_ops.append([[operand + first for operand in operands], opcode, data, *rest])
        all_sources += [source + first if source >= 0 else source for source in sources]
    shape = [inputs * copies, outputs * copies]
    return [shape, shifts * copies, all_sources, out_shifts * copies, signs * copies, all_ops, *model[6:]]


def main() -> None:
    path, copies, out = sys.argv[1:]
    with gzip.open(path, 'rt') as file:
        document = json.load(file)
    document['model'] = tiled(document['model'], int(copies))
    with gzip.open(out, 'wt') as file:
        json.dump(document, file)


main()
