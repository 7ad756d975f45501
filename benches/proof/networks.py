#!/usr/bin/env python3
"""Random networks shaped like trained ones, traced by alkaid: what the proof is measured on and was never tuned for.

    .venv/bin/python benches/proof/networks.py FOLDER COUNT SEED

Runs with alkaid 0.8.2 through its public interface. Every weight has a precision of its own (0 to 8 bits, many are
pruned), every activation a width of its own with WRAP or SAT and truncation or rounding, integer bits up to two below
what the interval asks for. Families: dense layers, residuals, mixers, sums over sets, convolutions with max pooling,
auto-encoders with their error, products of variables, tables.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
from alkaid.trace import FVArrayInput, HWConfig, trace


def weights(rng, shape, dense):
    """Weights of a precision each, as a layer that learned its bit widths has them."""
    bits = rng.integers(0, 9, shape)
    w = np.round(rng.normal(0, 0.5, shape) * 2.0**bits) / 2.0**bits
    w = np.clip(w, -4, 4)
    return np.where(rng.random(shape) < dense, w, 0.0)


def quantized(rng, x):
    """Each element with a format of its own."""
    k, i, f = (np.asarray(part) for part in x.kif)
    fewer = rng.integers(0, 3, x.shape) * (rng.random(x.shape) < 0.4)
    i = np.minimum(i, 12) - fewer
    f = np.minimum(f, rng.integers(0, 7, x.shape))
    gone = rng.random(x.shape) < 0.06
    i, f = np.where(gone, 0, np.maximum(i, -f)), np.where(gone, 0, f)
    k = np.where(gone, 0, k)
    overflow = "SAT" if rng.random() < 0.35 else "WRAP"
    rounding = "RND" if rng.random() < 0.4 else "TRN"
    return x.quantize(k, i, f, overflow, rounding)


def dense(rng, x, outputs, fraction=0.5):
    y = x @ weights(rng, (x.shape[-1], outputs), fraction)
    bits = rng.integers(0, 6, outputs)
    return y + np.round(rng.normal(0, 0.5, outputs) * 2.0**bits) / 2.0**bits


def layer(rng, x, outputs, fraction=0.5):
    y = dense(rng, x, outputs, fraction)
    y = y.relu() if rng.random() < 0.85 else np.abs(y)
    return quantized(rng, y)


def mlp(rng, x, size):
    for _ in range(int(rng.integers(1, 4))):
        x = layer(rng, x, size)
    return dense(rng, x, int(rng.integers(3, 11)))


def res(rng, x, size):
    x = layer(rng, x, size)
    for _ in range(int(rng.integers(1, 3))):
        x = quantized(rng, x + layer(rng, x, size, 0.4))
    return dense(rng, x, 5)


def mixer(rng, x, size):
    rows = 4
    x = x[: x.shape[0] // rows * rows].reshape(rows, -1)
    mixed = layer(rng, x.transpose(), rows).transpose()
    x = quantized(rng, x + mixed) if rng.random() < 0.5 else mixed
    x = layer(rng, x, max(size // 3, 3))
    return dense(rng, x.ravel(), 5, 0.4)


def sets(rng, x, size):
    x = x[: x.shape[0] // 4 * 4].reshape(4, -1)
    x = layer(rng, x, max(size // 2, 4))
    return dense(rng, quantized(rng, np.sum(x, axis=0)), 4)


def conv(rng, x, size):
    kernel = weights(rng, (3, 1, max(size // 5, 2)), 0.8)
    windows = [x[i : i + 3] @ kernel[:, 0, :] for i in range(0, x.shape[0] - 2)]
    pooled = [np.maximum(a, b) for a, b in zip(windows[::2], windows[1::2])]
    joined = np.concatenate([quantized(rng, p.relu()) for p in pooled])
    return dense(rng, joined, 4, 0.4)


def enc(rng, x, size):
    x = quantized(rng, x)
    y = layer(rng, layer(rng, x, size), max(size // 3, 2))
    y = dense(rng, layer(rng, y, size), x.shape[0])
    d = quantized(rng, x - y)
    return np.sum(np.abs(d), axis=0, keepdims=True) if rng.random() < 0.6 else d


def prod(rng, x, size):
    a, b = layer(rng, x, 6), quantized(rng, dense(rng, x, 6))
    return dense(rng, quantized(rng, a * b), 4)


def table(rng, x, size):
    y = quantized(rng, dense(rng, x, min(size, 8)))
    k, i, f = (np.asarray(p) for p in y.kif)
    small = np.clip(i, -1, 2), np.clip(f, 0, 3)
    y = y.quantize(k, *small, "SAT", "RND")
    y = np.tanh(y) if rng.random() < 0.5 else np.sin(y)
    y = y.quantize(1, 1, int(rng.integers(3, 7)), "WRAP", "RND")
    return dense(rng, y, 4)


FAMILIES = [mlp, res, mixer, sets, conv, enc, prod, table]


def network(family, rng):
    """One traced network of a family."""
    inputs = int(rng.integers(8, 25))
    ports = FVArrayInput(inputs, HWConfig(1, -1, -1))
    x = ports.quantize(np.ones(inputs, int), rng.integers(0, 4, inputs), rng.integers(1, 6, inputs))
    return trace(ports, family(rng, x, int(rng.integers(5, 25))))


def main():
    folder, count, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for number in range(count):
        family = FAMILIES[number % len(FAMILIES)]
        for attempt in range(50):
            try:
                comb = network(family, np.random.default_rng([seed, number] + [attempt] * (attempt > 0)))
                break
            except (KeyError, StopIteration):
                # alkaid 0.8.2 fails to trace some products of variables, and arrays of constants: another one is drawn.
                continue
        else:
            sys.exit(f"network {number}: alkaid traced none of 50")
        out = folder / f"{seed}_{number:02}_{family.__name__}"
        out.mkdir(parents=True, exist_ok=True)
        comb.save(out / "model.json")
        text = (out / "model.json").read_bytes()
        (out / "model.json.gz").write_bytes(gzip.compress(text, mtime=0))
        (out / "model.json").unlink()
        print(out, len(comb.ops), flush=True)


if __name__ == "__main__":
    main()
