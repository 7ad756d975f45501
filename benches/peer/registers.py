"""Register bits at the same stages and the same stage delay: alkaid's RTLModel against ours.

Usage: registers.py [--stages 2-8] [--level 0] [--yosys] MODEL...
       registers.py --recipe 2.1,1.5 [--level 1] MODEL...     at alkaid's own latency cutoff and clock period (ns)
       registers.py --summary registers.md     the README's table, from the table that the first form printed

alkaid schedules the program (`RTLModel(comb, n_stages=N)`), writes it and saves what it scheduled: the whole program after
its own fusions (`model/comb.json.gz`) and the stages (`model/fsm.json.gz`). Its longest stage delay follows from the stages
by the latency fields (docs/alir.md, section 3, "Delays"). We then get the very program that it scheduled, the same number
of stages, that delay as the bound, input registers as it has them, and no optimisation. The last columns give our bits at the smallest possible stage delay. Every figure of ours is proved
to be the fewest, or the run fails, and with --yosys all are counted again by yosys on the emitted file. What alkaid cannot
do is listed. With --recipe it chooses the number of stages itself (`latency_cutoff`, `clock_period`, no uncertainty); ours has
at most as many, the number with the fewest bits, and no longer stage.
"""

import argparse
import gzip
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load(path: Path) -> dict:
    return json.loads(gzip.open(path).read())


def own_delays(ops: list) -> list[float]:
    """What each operation adds to a path, by the latency fields."""
    latency = [op[-2] for op in ops]
    added = lambda op, late: 0.0 if op[1] in (-1, 5) or not op[0] else max(0.0, late - max(latency[a] for a in op[0]))
    return [added(op, late) for op, late in zip(ops, latency)]


def longest_path(model: list) -> float:
    """The longest path of a program by its latency fields."""
    arrival: list[float] = []
    for op, own in zip(model[5], own_delays(model[5])):
        arrival.append(own + max((arrival[a] for a in op[0]), default=0.0))
    return max(arrival, default=0.0)


def stage_delay(fsm: dict) -> float:
    return max(longest_path(m['model'] if isinstance(m, dict) else m) for m in fsm['fsm']['logic'].values())


def peer_child(model: str, how: str, folder: str) -> None:
    """Runs in a process of its own: writes into the folder and prints the register bits. `how`: stages, or cutoff and period."""
    from alkaid.codegen import RTLModel
    from alkaid.types import CombLogic

    if ',' in how:
        cutoff, period = map(float, how.split(','))
        chosen = {'latency_cutoff': cutoff, 'clock_period': period, 'clock_uncertainty': 0.0}
    else:
        chosen = {'n_stages': int(how)}
    rtl = RTLModel(CombLogic.load(model), folder, print_latency=False, **chosen)
    rtl.write()
    print(json.dumps({'bits': rtl.reg_bits}))


def name_of(path: Path) -> str:
    """What a model is called in tables: jet_mlp/model.json.gz is jet_mlp, jet_mlp/model.sum3.json.gz jet_mlp.sum3."""
    stem = path.name.split('.json')[0]
    return path.parent.name + stem.removeprefix('model') if stem.startswith('model') else stem


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f'{" ".join(map(str, command))}\n{done.stderr}')
    return done.stdout


def yosys_bits(verilog: Path, top: str) -> int:
    """Bits of all flip-flops that yosys finds in a file."""
    script = f'read_verilog {verilog}; hierarchy -top {top}; proc; flatten; opt_clean; stat -width'
    cells = re.findall(r'^ +\$[a-z]*dff[a-z]*_(\d+) +(\d+)$', run('yosys', '-p', script), re.MULTILINE)
    return sum(int(width) * int(count) for width, count in cells)


def ours(program: Path, binary: Path, folder: str, yosys: bool, level: int, *options: str) -> dict:
    """Facts about our pipeline of the program."""
    verilog, sidecar = Path(folder) / 'ours.v', Path(folder) / 'ours.json'
    same = ('--register-inputs', f'-O{level}', *options)
    run(binary, program, '--verilog', verilog, '--interface', sidecar, '-q', *same)
    facts = json.loads(run(binary, 'info', program, '--json', *same))['pipeline']
    bits = json.loads(sidecar.read_text())['register_bits']
    if not bits == facts['register_bits'] == facts['register_bits_at_least']:
        raise SystemExit(f'{program} {options}: {bits} bits written, {facts}')
    if yosys and (counted := yosys_bits(verilog, 'ours')) != bits:
        raise SystemExit(f'{program} {options}: yosys counts {counted} bits, not {bits}')
    return facts


def at_recipe(model: str, args: argparse.Namespace) -> tuple[int, float, int, int, int]:
    """alkaid's stages, longest stage and bits by its own recipe; our stages and bits at no more of both."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(sys.executable, __file__, '--child', model, args.recipe, folder)
        bits = json.loads(done.splitlines()[-1])['bits']
        fsm = load(Path(folder) / 'model/fsm.json.gz')
        stages, delay = len(fsm['fsm']['logic']), stage_delay(fsm)
        program = Path(folder) / 'model/comb.json.gz'
        found = []
        for fewer in range(stages, 0, -1):
            try:
                options = ('--pipeline', str(fewer), '--max-stage-delay', repr(delay))
                found.append((ours(program, args.ours, folder, args.yosys, args.level, *options)['register_bits'], fewer))
            except SystemExit as refused:
                if '--max-stage-delay' not in str(refused) and 'stage delay' not in str(refused):
                    raise
                break
        best, with_stages = min(found)
        return stages, delay, bits, with_stages, best


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def print_summary(table: Path) -> None:
    """A line for each model: our bits as shares of alkaid's."""
    rows: dict[str, list[list[str]]] = {}
    for line in table.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if len(cells) == 8 and cells[1].isdigit():
            rows.setdefault(cells[0], []).append(cells)
    print('| model | stages | share of alkaid\'s bits: mean | smallest | largest |')
    print('|---|---|---|---|---|')
    for model, cells in rows.items():
        alkaid = [int(row[4]) / int(row[3]) for row in cells]
        shares = f'{mean(alkaid):.2f} | {min(alkaid):.2f} | {max(alkaid):.2f}'
        print(f'| {model} | {cells[0][1]} to {cells[-1][1]} | {shares} |')


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1] == '--summary':
        print_summary(Path(sys.argv[2]))
        return
    if len(sys.argv) > 1 and sys.argv[1] == '--child':
        peer_child(*sys.argv[2:5])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('models', nargs='+')
    parser.add_argument('--stages', default='2-8', help='first and last number of stages')
    parser.add_argument('--level', type=int, default=0, help='optimisation level of ours')
    parser.add_argument('--yosys', action='store_true', help='count the registers of each emitted file too')
    parser.add_argument('--ours', type=Path, default=ROOT / 'target/release/alir2hdl')
    parser.add_argument('--recipe', help="alkaid's latency cutoff and clock period in ns, as 2.1,1.5, instead of --stages")
    args = parser.parse_args()
    if args.recipe:
        print("| model | stages | longest stage | alkaid bits | our stages | our bits | ratio |\n|---|---|---|---|---|---|---|")
        for model in args.models:
            stages, delay, bits, fewer, best = at_recipe(model, args)
            print(f'| {name_of(Path(model))} | {stages} | {delay:.3f} | {bits} | {fewer} | {best} | {best / bits:.2f} |', flush=True)
        return
    first, last = map(int, args.stages.split('-'))
    print('| model | stages | stage delay | alkaid bits | our bits | ratio | smallest delay | our bits there |')
    print('|---|---|---|---|---|---|---|---|')
    ratios = []
    failed = []
    for model in args.models:
        path = Path(model)
        name = name_of(path)
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
                same = ours(program, args.ours, folder, args.yosys, args.level, *pipeline, '--max-stage-delay', repr(delay))
                best = ours(program, args.ours, folder, args.yosys, args.level, *pipeline)
            ratio = same['register_bits'] / bits
            ratios.append(ratio)
            print(
                f'| {name} | {stages} | {delay:.3f} | {bits} '
                f'| {same["register_bits"]} | {ratio:.2f} | {best["stage_delay"]:.3f} | {best["register_bits"]} |',
                flush=True,
            )
    if ratios:
        print(f'\nGeometric mean of {len(ratios)} ratios {mean(ratios):.3f}, largest {max(ratios):.3f}, smallest {min(ratios):.3f}.')
        if args.yosys:
            print(f'yosys counts the same register bits as we do in all {2 * len(ratios)} files.')
    for line in failed:
        print(f'\nalkaid could not: {line}')


if __name__ == '__main__':
    main()
