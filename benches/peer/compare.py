#!/usr/bin/env python3
"""The whole command `alir2hdl run` against alkaid's CombLogic.predict, in CPU time, every value compared.

Usage: PYTHON benches/peer/compare.py [--binary target/release/alir2hdl] [--models tests/data/models] [NAME ...]

PYTHON is the interpreter of a virtual environment of its own with alkaid 0.8.2 in it:

    python3 -m venv /opt/peer && /opt/peer/bin/pip install alkaid==0.8.2

For each model: random samples (at least 5,000 distinct ones, and as many as alkaid needs a second of CPU time for), the
best of five runs on either side, once with one thread and once with two. Ours is the user and system time of the whole
process: loading the model, reading the npy file, running, writing the npy file. Theirs is the time of `predict` alone on
the array in memory. Then the time from model file to the first results of eight samples, both in a running
process: ours is `first_result` (`cargo build --release --example first_result`), which reads the model and runs the
samples; theirs the C++ path that reads JSON (`run_interp_json_file`, the Python name of `alir_interp_run_json_file`).
With --json the figures are printed for a machine.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

REPEATS = 5
NAMES = ["sort_topk", "var_mul", "anomaly_ae", "jet_mlp", "cmvm_64x64", "conv_small", "mlp_8bit", "mixer_particles"]


def own_cpu():
    """CPU time of this process, in seconds."""
    return time.process_time()


def child_cpu(command):
    """CPU time of a command, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timed(call):
    """CPU time and result of a call in this process."""
    before = own_cpu()
    result = call()
    return own_cpu() - before, result


def run_of(command, output):
    """CPU time of a command that makes a new file; removing the old one is not its work."""
    if os.path.exists(output):
        os.remove(output)
    return child_cpu(command)


def best(call):
    """The least of REPEATS calls that return a time."""
    return min(call() for _ in range(REPEATS))


def samples_of(comb, count, seed=1):
    """Random inputs inside the declared ranges, all rows distinct in all likelihood."""
    rng = np.random.default_rng(seed)
    columns = []
    for low, high, step in comb.inp_qint:
        low, high, step = float(low), float(high), float(step) or 1.0
        codes = rng.integers(round(low / step), round(high / step) + 1, count)
        columns.append(codes * step)
    return np.stack(columns, axis=1)


def compare(binary, folder, name, work, least_seconds):
    from alkaid.types import CombLogic

    # Ours reads the very file; theirs is loaded before its clock starts.
    path = os.path.join(folder, name, "model.json.gz")
    comb = CombLogic.load(path)
    count = 5000
    while True:
        inputs = samples_of(comb, count)
        seconds, _ = timed(lambda: comb.predict(inputs, n_threads=1))
        if seconds >= least_seconds:
            break
        count = math.ceil(count * max(1.2, min(20, 1.1 * least_seconds / max(seconds, 1e-3))))
    x, y = os.path.join(work, "x.npy"), os.path.join(work, "y.npy")
    np.save(x, inputs)
    row = {"model": name, "operations": len(comb.ops), "samples": count}
    for threads in (1, 2):
        expected = comb.predict(inputs, n_threads=threads)
        theirs = best(lambda: timed(lambda: comb.predict(inputs, n_threads=threads))[0])
        command = [binary, "run", path, "--quiet", "--input", x, "--output", y, "--threads", str(threads)]
        ours = best(lambda: run_of(command, y))
        got = np.load(y)
        if not np.array_equal(got, expected.reshape(got.shape)):
            sys.exit(f"{name}: {np.sum(got != expected.reshape(got.shape))} of {got.size} values differ")
        row[f"theirs_{threads}"], row[f"ours_{threads}"] = theirs, ours
        row[f"ratio_{threads}"] = theirs / ours
    row["values"] = int(got.size)
    return row


def first_result(binary, folder, name, work):
    """Seconds from model file to the first results, ours and theirs."""
    from alkaid._binary import alir_bin
    from alkaid.types import CombLogic

    path = os.path.join(folder, name, "model.json.gz")
    comb = CombLogic.load(path)
    inputs = samples_of(comb, 8)
    x = os.path.join(work, "x8.npy")
    np.save(x, inputs)
    flat = np.ascontiguousarray(inputs.ravel())
    calls = "20" if len(comb.ops) < 100_000 else "2"
    example = os.path.join(os.path.dirname(binary), "examples", "first_result")
    ours = best(lambda: float(subprocess.run([example, path, x, calls], check=True, capture_output=True).stdout))
    theirs = best(lambda: min(timed(lambda: alir_bin.run_interp_json_file(path, flat, 1))[0] for _ in range(int(calls))))
    return ours, theirs


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--binary", default="target/release/alir2hdl")
    parser.add_argument("--models", default="tests/data/models")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU time that alkaid's run takes at least")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--skip-first-result", action="store_true")
    args = parser.parse_args()
    rows = []
    # Beside the models' own disk the page cache is the same for both.
    with tempfile.TemporaryDirectory() as work:
        for name in args.names:
            row = compare(args.binary, args.models, name, work, args.seconds)
            if not args.skip_first_result:
                row["first_ours"], row["first_theirs"] = first_result(args.binary, args.models, name, work)
            rows.append(row)
            if not args.json:
                line = "{model:16} {operations:7} ops {samples:8} samples   1 thread {theirs_1:.3f} s / {ours_1:.3f} s = {ratio_1:5.1f}   2 threads {theirs_2:.3f} s / {ours_2:.3f} s = {ratio_2:5.1f}"
                if "first_ours" in row:
                    line += "   first result {first_theirs:.5f} s / {first_ours:.5f} s"
                print(line.format(**row), flush=True)
    means = {t: geometric_mean([r[f"ratio_{t}"] for r in rows]) for t in (1, 2)}
    if args.json:
        print(json.dumps({"rows": rows, "geometric_mean": means}, indent=1))
    else:
        print(f"geometric mean: {means[1]:.1f} times with one thread, {means[2]:.1f} with two; every value equal")


if __name__ == "__main__":
    main()
