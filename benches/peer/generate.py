"""Time and memory to turn a model into Verilog: alkaid's RTLModel and write() against our whole process.

Usage: generate.py [--stages N] [--repeat K] [--wall] MODEL...

Each measurement runs in a process of its own. The peer's time starts after import and load and covers the constructor and
write(); its memory is what those two add to the process's peak. Ours is everything: reading, checking, scheduling, writing.
Seconds are CPU time; with --wall, wall time. ALIR2HDL is the program, by default the release build.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = Path(os.environ.get('ALIR2HDL', ROOT / 'target/release/alir2hdl'))


def peer_child(model: str, stages: int, wall: bool) -> None:
    """Runs in a process of its own: prints seconds and peak memory of alkaid's two calls."""
    now = time.perf_counter if wall else time.process_time
    from alkaid.codegen import RTLModel
    from alkaid.types import CombLogic

    comb = CombLogic.load(model)
    with tempfile.TemporaryDirectory() as folder:
        start = now()
        RTLModel(comb, folder, n_stages=stages, print_latency=False).write()
        seconds = now() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({'seconds': seconds, 'kib': peak}))


def peer(model: str, stages: int, wall: bool) -> dict:
    command = [sys.executable, __file__, '--child', model, str(stages), str(int(wall))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return {'error': done.stderr.strip().splitlines()[-1] if done.stderr else 'failed'}
    return json.loads(done.stdout.splitlines()[-1])


def ours(model: str, stages: int, wall: bool) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        command = [OURS, model, '--verilog', f'{folder}/top.v', '--pipeline', str(stages), '--effort', 'fast', '-O0', '-q']
        start = time.perf_counter()
        child = subprocess.Popen(command)
        _, status, usage = os.wait4(child.pid, 0)
        elapsed = time.perf_counter() - start
    if status != 0:
        return {'error': f'exit status {status}'}
    seconds = elapsed if wall else usage.ru_utime + usage.ru_stime
    return {'seconds': seconds, 'kib': usage.ru_maxrss}


def best(measure, repeat: int) -> dict:
    runs = [measure() for _ in range(repeat)]
    if 'error' in runs[0]:
        return runs[0]
    return {'seconds': min(r['seconds'] for r in runs), 'kib': min(r['kib'] for r in runs)}


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] == '--child':
        peer_child(sys.argv[2], int(sys.argv[3]), sys.argv[4] == '1')
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('models', nargs='+')
    parser.add_argument('--stages', type=int, default=3)
    parser.add_argument('--repeat', type=int, default=3)
    parser.add_argument('--wall', action='store_true')
    args = parser.parse_args()
    print('| model | alkaid s | ours s | times less | alkaid MiB | ours MiB |')
    print('|---|---|---|---|---|---|')
    for model in args.models:
        path = Path(model)
        name = path.parent.name if path.name.startswith('model.') else path.name.split('.')[0]
        mine = best(lambda: ours(model, args.stages, args.wall), args.repeat)
        theirs = best(lambda: peer(model, args.stages, args.wall), args.repeat)
        if 'error' in mine:
            raise SystemExit(f'{name}: {mine["error"]}')
        own = f'{mine["seconds"]:.4f}'
        memory = f'{mine["kib"] / 1024:.0f}'
        if 'error' in theirs:
            print(f'| {name} | {theirs["error"][:60]} | {own} | - | - | {memory} |')
            continue
        ratio = theirs['seconds'] / mine['seconds']
        print(f'| {name} | {theirs["seconds"]:.3f} | {own} | {ratio:.0f} | {theirs["kib"] / 1024:.0f} | {memory} |', flush=True)


if __name__ == '__main__':
    main()
