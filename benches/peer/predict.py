#!/usr/bin/env python3
"""`Model.predict` against alkaid's `CombLogic.predict` in one process: float64 arrays in memory, one thread each.

    python benches/peer/predict.py [--threads N] [--seconds S] FOLDER...

Every `model.json(.gz)` below the folders is run on 4e9 / 8 / operations samples (at most so many that the arrays have 1 GB). Prints
a line for each model: operations, seconds of both (the best of three), their ratio, and the time that `x.copy(), y.copy()` takes as a part of ours.
The last line is the geometric mean, and how many models miss 3x and 0.4 of the copying time.
"""

import argparse
import math
import sys
import time
from pathlib import Path

import numpy as np
from alkaid.types import CombLogic

from alir2hdl import Model


def best(call, rounds=3):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folders", nargs="+", type=Path)
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--work", type=float, default=5e8, help="samples times operations")
    arguments.add_argument("--operations", type=int, default=10**9, help="leave out larger models")
    chosen = arguments.parse_args()
    files = sorted({file for folder in chosen.folders for file in folder.rglob("model.json*")}, key=lambda f: f.stat().st_size)
    ratios, missed = [], []
    for file in files:
        try:
            comb = CombLogic.load(file)
        except Exception as error:
            print(f"{file.parent.name}: alkaid does not read it: {error}", file=sys.stderr)
            continue
        operations = len(comb.ops)
        if operations > chosen.operations:
            continue
        model = Model.load(file)
        columns = model.n_inputs + model.n_outputs
        samples = int(min(max(chosen.work / operations, 1000), 1e9 / 8 / columns))
        x = np.random.default_rng(1).uniform(-8, 8, (samples, model.n_inputs))
        try:
            theirs, reference = best(lambda: comb.predict(x, n_threads=chosen.threads), 2)
        except Exception as error:
            print(f"{file.parent.name}: alkaid does not run it: {type(error).__name__} {error}", file=sys.stderr)
            continue
        try:
            ours, y = best(lambda: model.predict(x, threads=chosen.threads))
        except alir2hdl.InputError as error:
            print(f"{file.parent.name}: refused: {error}", file=sys.stderr)
            continue
        if not np.array_equal(y, reference):
            print(f"{file.parent.name}: {np.count_nonzero((y != reference).any(1))} samples differ", file=sys.stderr)
            continue
        copied, _ = best(lambda: (x.copy(), y.copy()))
        ratio = theirs / ours
        ratios.append(ratio)
        if ratio < 3 and copied / ours < 0.4:
            missed.append(file.parent.name)
        print(f"{file.parent.name:24} {operations:7} ops {samples:9} samples {theirs:8.3f} s {ours:8.3f} s {ratio:6.2f}x"
              f" copy {copied / ours:5.2f}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(ratios)} models, geometric mean {mean:.2f}x; neither 3x nor 0.4 of copying: {', '.join(missed) or 'none'}")


if __name__ == "__main__":
    import alir2hdl

    main()
