"""Time and memory to turn a model into Verilog: alkaid's RTLModel and write() against our whole process.

Usage: generate.py [--stages N] [--repeat K] MODEL...

Each measurement runs in a process of its own. The peer's time starts after import and load and covers the constructor and
write(); its memory is what those two add to the process's peak. Ours is everything: reading, checking, scheduling, writing.
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
OURS = ROOT / 'target/release/alir2hdl'


def peer_child(model: str, stages: int) -> None:
    """Runs in a process of its own: prints CPU seconds and peak memory of alkaid's two calls."""
    from alkaid.codegen import RTLModel
    from alkaid.types import CombLogic

    comb = CombLogic.load(model)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        RTLModel(comb, folder, n_stages=stages, print_latency=False).write()
        seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({'seconds': seconds, 'kib': peak}))


def peer(model: str, stages: int) -> dict:
    done = subprocess.run([sys.executable, __file__, '--child', model, str(stages)], capture_output=True, text=True)
    if done.returncode != 0:
        return {'error': done.stderr.strip().splitlines()[-1] if done.stderr else 'failed'}
    return json.loads(done.stdout.splitlines()[-1])


def ours(model: str, stages: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        command = [OURS, model, '--verilog', f'{folder}/top.v', '--pipeline', str(stages), '--effort', 'fast', '-O0', '-q']
        child = subprocess.Popen(command)
        _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        return {'error': f'exit status {status}'}
    return {'seconds': usage.ru_utime + usage.ru_stime, 'kib': usage.ru_maxrss}


def best(measure, repeat: int) -> dict:
    runs = [measure() for _ in range(repeat)]
    if 'error' in runs[0]:
        return runs[0]
    return {'seconds': min(r['seconds'] for r in runs), 'kib': min(r['kib'] for r in runs)}


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] == '--child':
        peer_child(sys.argv[2], int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('models', nargs='+')
    parser.add_argument('--stages', type=int, default=3)
    parser.add_argument('--repeat', type=int, default=3)
    args = parser.parse_args()
    print('| model | alkaid s | ours s | times less | alkaid MiB | ours MiB |')
    print('|---|---|---|---|---|---|')
    for model in args.models:
        path = Path(model)
        name = path.parent.name if path.name.startswith('model.') else path.name.split('.')[0]
        mine = best(lambda: ours(model, args.stages), args.repeat)
        theirs = best(lambda: peer(model, args.stages), args.repeat)
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
