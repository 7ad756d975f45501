"""alkaid's own RTL of our models, proved or refuted: its files through yosys (`alir2hdl prove --via yosys`).

Usage: prove.py [--stages N] [--seconds S] MODEL...

Each row says what the peer wrote, what the proof found, and for a difference the inputs that show it. A file that the peer cannot
write, and a reading of yosys that takes longer than S seconds, are rows too. Prints a Markdown table.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def ours() -> Path:
    built = [ROOT / 'target' / kind / 'alir2hdl' for kind in ('release', 'debug')]
    found = [path for path in built if path.exists()]
    if not found:
        raise SystemExit('build alir2hdl first: cargo build --release')
    return max(found, key=lambda path: path.stat().st_mtime)


def write(model: str, stages: int, folder: str) -> None:
    """Runs in a process of its own."""
    from alkaid.codegen import RTLModel
    from alkaid.types import CombLogic

    RTLModel(CombLogic.load(model), folder, prj_name='peer', n_stages=stages, print_latency=False).write()


def judged(model: str, stages: int, seconds: int) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        child = [sys.executable, __file__, '--child', model, str(stages), folder]
        done = subprocess.run(child, capture_output=True, text=True)
        if done.returncode != 0:
            return 'not written', (done.stderr.strip().splitlines() or ['failed'])[-1]
        files = [str(f) for f in sorted(Path(folder).glob('src/**/*.v')) if not f.name.endswith('_wrapper.v')]
        command = [str(ours()), 'prove', model, *files, '--via', 'yosys', '--top', 'peer', '--json']
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return 'open', f'not read and decided within {seconds} s'
        if not done.stdout:
            return 'refused', done.stderr.strip().splitlines()[0]
        report = json.loads(done.stdout)
        found = report.get('counterexample')
        if found:
            inputs = ' '.join(str(code) for code in found['inputs'])
            return 'differs', f'output {found["output"]}: {found["found"]} for {found["expected"]}; inputs (codes) {inputs}'
        return report['verdict'], report.get('reason', f'latency {report["latency"]}')


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] == '--child':
        write(sys.argv[2], int(sys.argv[3]), sys.argv[4])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('models', nargs='+')
    parser.add_argument('--stages', type=int, default=0)
    parser.add_argument('--seconds', type=int, default=300)
    args = parser.parse_args()
    print('| model | stages | verdict | what was found |')
    print('|---|---|---|---|')
    for model in args.models:
        path = Path(model)
        name = path.parent.name if path.name.startswith('model.') else path.name.split('.')[0]
        verdict, found = judged(model, args.stages, args.seconds)
        print(f'| {name} | {args.stages} | {verdict} | {found.replace("|", "/")[:300]} |', flush=True)


if __name__ == '__main__':
    main()
