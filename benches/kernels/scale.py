#!/usr/bin/env python3
"""Unrolled programs of many operations, from bytes to RTL: CPU seconds and peak memory.

    benches/kernels/scale.py --program target/release/alir2hdl [--runs 3] [SIZE ...]

The program mixes four values of 32 bits by sums, exclusive or and rotations, as hashes and ciphers do when their rounds are unrolled.
It is written as text, made bytes by `convert`, and Verilog is made of the bytes at the default level of optimisation. Each line: operations,
bytes, CPU seconds (user and system; the least of the runs), wall seconds of that run, peak memory, bytes of Verilog. Ends with exit code 1 if
a size takes more than 20 CPU seconds for a million operations, or more than 12 times the time of one a tenth as large.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZES = [100_000, 1_000_000]
LIMIT = 20.0
RATIO = 12.0


def unrolled(size):
    """The text of a program of `size` operations."""
    lines = ["llvlir 0"] + [f'in %{k} "v{k}": i32' for k in range(4)]
    state = [0, 1, 2, 3]
    for step in range(size):
        a, b, c, d = state
        number = step + 4
        if step % 3 == 0:
            lines.append(f"%{number} = add.i32 %{a}, %{b}")
            state[0] = number
        elif step % 3 == 1:
            lines.append(f"%{number} = xor.i32 %{d}, %{a}")
            state[3] = number
        else:
            lines.append(f"%{number} = roli.i32 %{d}, {(16, 12, 8, 7)[step // 3 % 4]}")
            state = [c, number, a, b]
    lines += [f'out "y{k}" = %{state[k]}' for k in range(4)]
    return "\n".join(lines) + "\n"


def measured(command):
    """CPU seconds, wall seconds and peak memory in MB of one run."""
    began = time.monotonic()
    job = subprocess.Popen(command)
    _, status, usage = os.wait4(job.pid, 0)
    job.returncode = os.waitstatus_to_exitcode(status)
    if job.returncode != 0:
        sys.exit(f"{command} ended with exit code {job.returncode}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - began, usage.ru_maxrss / 1024


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default=str(ROOT / "target/release/alir2hdl"))
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("sizes", nargs="*", type=int, default=SIZES)
    args = options.parse_args()
    found = {}
    print("| operations | bytes | CPU s | wall s | MB | bytes of Verilog |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        text, raw, verilog = folder / "kernel.llvlirs", folder / "kernel.llvlir", folder / "kernel.v"
        for size in args.sizes:
            text.write_text(unrolled(size))
            subprocess.run([args.program, "-q", "convert", text, raw], check=True)
            job = [args.program, "-q", raw, "--verilog", verilog]
            cpu, wall, memory = min(measured(job) for _ in range(args.runs))
            found[size] = cpu
            print(f"| {size:,} | {raw.stat().st_size:,} | {cpu:.2f} | {wall:.2f} | {memory:.0f} | {verilog.stat().st_size:,} |", flush=True)
    slow = [size for size, cpu in found.items() if cpu > LIMIT * max(size / 1_000_000, 1)]
    steep = [size for size, cpu in found.items() if size // 10 in found and cpu > RATIO * found[size // 10]]
    for size in found:
        if size // 10 in found:
            print(f"{size:,}: {found[size] / found[size // 10]:.1f} times {size // 10:,}")
    sys.exit(bool(slow or steep))


if __name__ == "__main__":
    main()
