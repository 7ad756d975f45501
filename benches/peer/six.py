#!/usr/bin/env python3
"""Six models of usual kinds that no table of benches/results/benchmarks.md was tuned on, traced by alkaid.

    target/peer/bin/python benches/peer/six.py FOLDER

A tagger, a perceptron, a convolution, a constant matrix of 48 x 80, an attention of four tokens and the median of sixteen;
FOLDER/NAME/model.json.gz each, the same bytes in every run of alkaid 0.8.2. Weights are random with a fixed seed.
"""

import gzip
import sys
from pathlib import Path

import numpy as np
from alkaid.trace import FVArrayInput, HWConfig, trace


def ports(shape, integers, fraction):
    """Input ports and what they read: signed numbers of one format."""
    port = FVArrayInput(shape, HWConfig(1, -1, -1))
    of = lambda value: np.full(shape, value)
    return port, port.quantize(of(1), of(integers), of(fraction))


def weights(rng, *shape, bits=6):
    return np.round(rng.normal(0, 0.4, shape) * 2.0**bits) / 2.0**bits


def narrowed(x, integers, fraction, signed=0):
    of = lambda value: np.full(x.shape, value)
    return x.quantize(of(signed), of(integers), of(fraction), 'SAT', 'RND')


def tagger(rng):
    port, x = ports((16,), 3, 5)
    for size in (32, 24, 16):
        w = np.where(rng.random((x.shape[0], size)) < 0.4, weights(rng, x.shape[0], size, bits=4), 0)
        x = narrowed((x @ w).relu(), 3, 3)
    return port, x @ weights(rng, x.shape[0], 5, bits=4)


def perceptron(rng):
    port, x = ports((24,), 0, 7)
    x = narrowed((x @ weights(rng, 24, 32)).relu(), 2, 4)
    return port, narrowed(x @ weights(rng, 32, 10), 4, 4, signed=1)


def convolution(rng):
    port, x = ports((24, 3), 2, 4)
    kernel = weights(rng, 3 * 3, 6, bits=4)
    windows = [narrowed((x[i : i + 3].reshape(9) @ kernel).relu(), 2, 4) for i in range(22)]
    pooled = [np.maximum(a, b) for a, b in zip(windows[::2], windows[1::2])]
    return port, np.concatenate(pooled) @ weights(rng, 66, 5, bits=4)


def matrix(rng):
    port, x = ports((48,), 3, 4)
    return port, x @ rng.integers(-32, 32, (48, 80)).astype(float)


def attention(rng):
    """Four tokens of eight numbers: scores are products of variables, divided by nothing, cut at zero."""
    port, x = ports((4, 8), 1, 5)
    query, key, value = (narrowed(x @ weights(rng, 8, 6, bits=3), 2, 3, signed=1) for _ in range(3))
    rows = []
    for i in range(4):
        scores = [narrowed(np.sum(query[i] * key[j], axis=0, keepdims=True).relu(), 3, 3) for j in range(4)]
        rows.append(narrowed(sum(scores[j] * value[j] for j in range(4)), 5, 3, signed=1))
    return port, np.concatenate(rows)


def median(rng):
    """Sixteen numbers in order, and the sum of the two in the middle, by a sorting network of Batcher."""
    port, x = ports((16,), 7, 0)
    wires = [x[i : i + 1] for i in range(16)]
    step = 1
    while step < 16:
        half = step
        while half >= 1:
            for j in range(half % step, 16 - half, 2 * half):
                for i in range(min(half, 16 - j - half)):
                    a, b = i + j, i + j + half
                    if a // (2 * step) == b // (2 * step):
                        wires[a], wires[b] = np.minimum(wires[a], wires[b]), np.maximum(wires[a], wires[b])
            half //= 2
        step *= 2
    return port, np.concatenate([*wires, wires[7] + wires[8]])


def main():
    folder = Path(sys.argv[1])
    for number, make in enumerate((tagger, perceptron, convolution, matrix, attention, median)):
        comb = trace(*make(np.random.default_rng([27, number])))
        out = folder / make.__name__
        out.mkdir(parents=True, exist_ok=True)
        comb.save(out / 'model.json')
        text = (out / 'model.json').read_bytes()
        (out / 'model.json.gz').write_bytes(gzip.compress(text, mtime=0))
        (out / 'model.json').unlink()
        print(out, len(comb.ops), flush=True)


if __name__ == '__main__':
    main()
