#!/usr/bin/env python3
"""What the pass `linear` does to the area of the ten named models, by yosys for UltraScale+ (`xcup`).

    benches/cmvm/linear.py [--program target/release/alir2hdl] [MODEL ...]

Each model is written with `--use-dsp no`, once with the passes of `-O2` and once with the same passes but for `linear`, and synthesised; the
text with `linear` is proved. Columns: look-up tables without and with the pass, their ratio, the verdict, and the processor time of the proof. Synthesis is kept in target/qor/cache (see benches/qor).
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'qor'))
import flows  # noqa: E402
import qor  # noqa: E402


def passes_of(program, level):
    listed = subprocess.run([program, 'passes'], check=True, capture_output=True, text=True).stdout
    return re.search(rf'^-O{level}: (.*)$', listed, re.M).group(1).split(', ')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('models', nargs='*', default=[*qor.SMALL, 'mixer_particles', 'cmvm_64x64', 'conv_small', 'mlp_8bit'])
    parser.add_argument('--program', type=Path, default=qor.OURS)
    given = parser.parse_args()
    program = given.program.resolve()
    whole = passes_of(program, 2)
    without = [name for name in whole if name != 'linear']
    print('| model | LUT without | LUT with | ratio | proof | s |\n|---|---|---|---|---|---|')
    ratios = []
    for name in given.models:
        model = qor.model_file(name)
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for passes in (without, whole):
                text = Path(folder, 'top.v')
                subprocess.run([program, model, '--verilog', text, '--top', 'model', '-q', '--use-dsp', 'no',
                                '--passes', ','.join(passes)], check=True)
                result = flows.synthesise(text.read_text(), 'model', 'xcup', 6000)
                found.append(flows.figures(result, 'xcup')['lut'] if result else None)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            code = subprocess.run([program, 'prove', model, text, '-q'], capture_output=True).returncode
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        verdict = {0: 'proved', 3: 'unknown', 1: 'differs'}.get(code, f'exit {code}')
        ratio = found[1] / found[0] if all(found) else None
        ratios += [ratio] if ratio else []
        shown = ['-' if x is None else f'{x:,}' for x in found]
        print(f'| {name} | {shown[0]} | {shown[1]} | {"-" if ratio is None else f"{ratio:.3f}"} | '
              f'{verdict} | {seconds:.1f} |', flush=True)
    print(f'\nGeometric mean {qor.mean(ratios):.3f}, largest {max(ratios):.3f}')


if __name__ == '__main__':
    os.chdir(flows.ROOT)
    main()
