"""Register bits at the same stages and the same stage delay: alkaid's RTLModel against ours.

Usage: registers.py [--stages 2-8] MODEL...

alkaid schedules the program (`RTLModel(comb, n_stages=N)`), writes it and saves what it scheduled: the whole program after
its own fusions (`model/comb.json.gz`) and the stages (`model/fsm.json.gz`). Its longest stage delay follows from the stages
by the latency fields (docs/alir.md, section 3, "Delays"). We then get the very program that it scheduled, the same number
of stages, that delay as the bound, input registers as it has them, and no optimisation. A second column gives our bits at
the smallest possible stage delay. What alkaid cannot do is listed.
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


def load(path: Path) -> dict:
    return json.loads(gzip.open(path).read())


def longest_path(model: list) -> float:
    """The longest path of a program by its latency fields."""
    ops = model[5]
    latency = [op[-2] for op in ops]
    arrival: list[float] = []
    for op, late in zip(ops, latency):
        addr, opcode = op[0], op[1]
        own = 0.0 if opcode in (-1, 5) or not addr else max(0.0, late - max(latency[a] for a in addr))
        arrival.append(own + max((arrival[a] for a in addr), default=0.0))
    return max(arrival, default=0.0)


def stage_delay(fsm: dict) -> float:
    return max(longest_path(m['model'] if isinstance(m, dict) else m) for m in fsm['fsm']['logic'].values())


def peer_child(model: str, stages: int, folder: str) -> None:
    """Runs in a process of its own: writes into the folder and prints the register bits."""
    from alkaid.codegen import RTLModel
    from alkaid.types import CombLogic

    rtl = RTLModel(CombLogic.load(model), folder, n_stages=stages, print_latency=False)
    rtl.write()
    print(json.dumps({'bits': rtl.reg_bits}))


def ours(program: Path, binary: Path, folder: str, *options: str) -> dict:
    sidecar = Path(folder) / 'ours.json'
    command = [binary, program, '--verilog', Path(folder) / 'ours.v', '--interface', sidecar]
    command += ['--register-inputs', '-O0', '-q', *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f'{program}: {done.stderr}')
    return json.loads(sidecar.read_text())


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] == '--child':
        peer_child(sys.argv[2], int(sys.argv[3]), sys.argv[4])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('models', nargs='+')
    parser.add_argument('--stages', default='2-8', help='first and last number of stages')
    parser.add_argument('--ours', type=Path, default=ROOT / 'target/release/alir2hdl')
    args = parser.parse_args()
    first, last = map(int, args.stages.split('-'))
    print('| model | stages | stage delay | alkaid bits | our bits | ratio | smallest delay | our bits there |')
    print('|---|---|---|---|---|---|---|---|')
    ratios = []
    failed = []
    for model in args.models:
        path = Path(model)
        name = path.parent.name if path.name.startswith('model.') else path.name.split('.')[0]
        for stages in range(first, last + 1):
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, __file__, '--child', model, str(stages), folder]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode != 0:
                    failed.append(f'{name}, {stages} stages: {(done.stderr.strip().splitlines() or ["failed"])[-1]}')
                    continue
                bits = json.loads(done.stdout.splitlines()[-1])['bits']
                program = Path(folder) / 'model/comb.json.gz'
                delay = stage_delay(load(Path(folder) / 'model/fsm.json.gz'))
                pipeline = ('--pipeline', str(stages))
                same = ours(program, args.ours, folder, *pipeline, '--max-stage-delay', repr(delay))
                best = ours(program, args.ours, folder, *pipeline)
            ratio = same['register_bits'] / bits
            ratios.append(ratio)
            smallest = max(s['delay'] for s in best['stages'])
            print(
                f'| {name} | {stages} | {delay:.3f} | {bits} | {same["register_bits"]} | {ratio:.2f} '
                f'| {smallest:.3f} | {best["register_bits"]} |',
                flush=True,
            )
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f'\nGeometric mean of {len(ratios)} ratios {mean:.3f}, largest {max(ratios):.3f}, smallest {min(ratios):.3f}.')
    for line in failed:
        print(f'\nalkaid could not: {line}')


if __name__ == '__main__':
    main()
