"""What the search for the fewest register bits takes: time, memory, and how far from the proven fewest it ends.

Usage: effort.py [--stages 2-8] [--efforts normal,max] [--runs 3] MODEL...

A row is a model at one effort; time and memory are those of its worst number of stages, the gap too. Seconds are of user and
system together, of the whole process from the file on disk (read, unpacked, checked) to the checked netlist and its interface
file, the best of several runs; "without" is the same without a search (`--effort fast`).
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

from registers import ROOT


def measured(binary: Path, model: Path, *options: str) -> tuple[float, float, str]:
    """CPU seconds, MiB at most, and what the program says."""
    with tempfile.TemporaryDirectory() as folder:
        command = [binary, model, '--interface', Path(folder) / 'x.json', '-O0', *options]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
            said = child.stderr.read()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f'{model}: {said}')
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, said


def gap(said: str) -> str:
    if '(the fewest possible)' in said:
        return '0'
    return said.split('(at most ')[1].split(' above')[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('models', nargs='+', type=Path)
    parser.add_argument('--stages', default='2-8', help='first and last number of stages')
    parser.add_argument('--efforts', default='normal,max')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--ours', type=Path, default=ROOT / 'target/release/alir2hdl')
    args = parser.parse_args()
    first, last = map(int, args.stages.split('-'))
    print('| model | operations | effort | CPU seconds | at stages | without | MiB | stages proved | largest gap |')
    print('|---|---|---|---|---|---|---|---|---|')
    for model in args.models:
        count = json.loads(subprocess.check_output([args.ours, 'info', model, '--json']))['operations']
        for effort in args.efforts.split(','):
            rows = []
            for stages in range(first, last + 1):
                options = ('--pipeline', str(stages), '--register-inputs')
                runs = [measured(args.ours, model, *options, '--effort', effort) for _ in range(args.runs)]
                without = min(measured(args.ours, model, *options, '--effort', 'fast')[0] for _ in range(args.runs))
                seconds, size = min(run[0] for run in runs), max(run[1] for run in runs)
                rows.append((seconds, stages, without, size, gap(runs[0][2])))
            seconds, stages, without, _, _ = max(rows)
            proved = sum(row[4] == '0' for row in rows)
            worst = max((row[4] for row in rows), key=lambda text: float(text.split()[0]))
            size = max(row[3] for row in rows)
            print(
                f'| {model.parent.name} | {count} | {effort} | {seconds:.2f} | {stages} | {without:.2f} | {size:.0f} '
                f'| {proved} of {len(rows)} | {worst} |',
                flush=True,
            )


if __name__ == '__main__':
    main()
