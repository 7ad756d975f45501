#!/usr/bin/env python3
"""Area and clock of our hardware against alkaid 0.8.2's for the same models, by open tools. Writes benches/qor/RESULTS.md.

Usage: qor.py [--models NAME,...] [--levels O1,O2] [--targets xcup,ecp5] [--stages 5] [--fmax] [--seeds 3] [--write]

setup.sh makes what it needs. Every synthesis is cached (see flows.py), one tool runs at a time, with low priority.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import flows
from flows import ROOT, WORK, cached, figures, place, synthesise

MODELS = ROOT / 'tests' / 'data' / 'models'
OURS = Path(os.environ.get('ALIR2HDL', ROOT / 'target' / 'release' / 'alir2hdl'))
# An environment with the peer that is there already, or our own.
PEER = Path(os.environ.get('PEER_PYTHON', WORK / 'venv' / 'bin' / 'python'))
SMALL = ['bit_logic', 'lut_heavy', 'sort_topk', 'var_mul', 'anomaly_ae', 'jet_mlp']
LARGE = ['conv_small', 'cmvm_64x64', 'mlp_8bit', 'mixer_particles']
RESULTS = Path(__file__).with_name('RESULTS.md')
# The section of it that tables.py writes.
TABLES = '## Tables alone'

# Run by the private environment's Python: model, folder, stages, ternary fusion.
WRITE_PEER = '''
import sys
from alkaid.codegen import RTLModel
from alkaid.types import CombLogic
model, folder, stages, fuse = sys.argv[1:]
comb = CombLogic.load(model)
RTLModel(comb, folder, "model", n_stages=int(stages), print_latency=False, ternary_fuse=fuse == "1").write()
'''


def model_file(name):
    """A model by its name in the tests' data, or a file."""
    return name if isinstance(name, Path) else MODELS / name / 'model.json.gz'


def theirs(name, stages, fuse):
    """Verilog of alkaid, all files as one, without the wrapper."""

    def make():
        with tempfile.TemporaryDirectory() as folder:
            command = [PEER, '-c', WRITE_PEER, model_file(name), folder, str(stages or -1), str(int(fuse))]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            files = sorted(f for f in Path(folder, 'src').rglob('*.v') if 'wrapper' not in f.name)
            return '\n'.join(f.read_text() for f in files)

    return cached(['alkaid 0.8.2', model_file(name).read_bytes().hex(), str(stages), str(fuse)], make)


def ours(name, stages, options):
    """Our Verilog. Not cached: it takes milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        # alkaid's stages begin with a register, ours end with one; one more layer in front makes the two the same pipeline.
        pipeline = ['--pipeline', str(stages), '--register-inputs'] if stages else []
        command = [OURS, model_file(name), '--verilog', f'{folder}/top.v', '--top', 'model', '-q', *pipeline, *options]
        subprocess.run(command, check=True)
        return Path(folder, 'top.v').read_text()


def ports(verilog):
    """Bits of model_inp and model_out of the module `model`."""
    import re

    head = verilog[re.search(r'^module model\b', verilog, re.M).start():]
    width = lambda port: int(re.search(r'\[(\d+):0\]\s*' + port, head).group(1)) + 1
    return width('model_inp'), width('model_out')


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float('nan')


def cut(text, heading):
    """What stands before a section of RESULTS.md, the section, and what stands after it."""
    before, found, rest = text.partition(heading + '\n')
    end = rest.find('\n## ')
    inside, after = (rest[:end], rest[end:]) if end >= 0 else (rest, '')
    return before, found + inside, after


def area(names, variants, target, stages):
    """Rows of figures: {model: {variant: figures}}."""
    rows = {}
    for name in names:
        row = {}
        for label, source in variants:
            result = synthesise(source(name, stages), 'model', target)
            row[label] = figures(result, target) if result else None
            print(name, target, stages, label, row[label], flush=True, file=sys.stderr)
        rows[name] = row
    return rows


def show(value):
    return '-' if value is None else str(value)


def area_table(rows, variants, stages, what='lut'):
    labels = [label for label, _ in variants]
    lines = ['| model | ' + ' | '.join(labels) + ' | best of ours / default | / better |', '|---' * (len(labels) + 3) + '|']
    against_default, against_better = [], []
    for name, row in rows.items():
        cells = [show(row[label] and row[label][what]) for label in labels]
        peers = [row[label][what] for label in labels if label.startswith('alkaid') and row[label]]
        own = [row[label][what] for label in labels if not label.startswith('alkaid') and row[label]]
        ratios = ['-', '-']
        if peers and own and min(peers) > 0 and own[-1] > 0:
            # The last column of ours is the one that counts: the highest level that was measured.
            ratio = own[-1] / peers[0], own[-1] / min(peers)
            against_default.append(ratio[0])
            against_better.append(ratio[1])
            ratios = [f'{r:.3f}' for r in ratio]
        lines.append(f'| {name} | ' + ' | '.join(cells + ratios) + ' |')
    blank = ' |' * len(labels)
    lines.append(f'| **geometric mean** |{blank} **{mean(against_default):.3f}** | **{mean(against_better):.3f}** |')
    lines[0] = lines[0].replace('best of ours', labels[-1])
    return '\n'.join(lines)


def clock_table(names, variants, stages, seeds):
    labels = [label for label, _ in variants]
    lines = ['| model | ' + ' | '.join(f'{label} MHz' for label in labels) + ' |', '|---' * (len(labels) + 1) + '|']
    for name in names:
        cells = []
        for _, source in variants:
            verilog = source(name, stages)
            runs = place(verilog, 'model', *ports(verilog), bool(stages), seeds)
            clocks = [run['mhz'] for run in runs if run]
            cells.append(f'{median(clocks):.1f}' if clocks else 'does not place')
            print(name, stages, cells[-1], flush=True, file=sys.stderr)
        lines.append(f'| {name} | ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--models', default=','.join(SMALL))
    parser.add_argument('--all', action='store_true', help='also the large models: hours on one core the first time')
    parser.add_argument('--levels', default='O0,O1,O2')
    parser.add_argument('--targets', default='xcup,ecp5')
    parser.add_argument('--stages', type=int, default=0, help='pipeline stages; 0: combinational')
    parser.add_argument('--objective', default='delay', help="ours: the schedule's objective")
    parser.add_argument('--options', default='', help='more options for ours, separated by spaces')
    parser.add_argument('--fmax', action='store_true', help='also place with nextpnr-ecp5')
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--yosys', default=flows.YOSYS)
    parser.add_argument('--no-peer', action='store_true', help='measure ours alone')
    parser.add_argument('--write', action='store_true', help=f'write {RESULTS.name}; else print')
    args = parser.parse_args()
    flows.YOSYS = args.yosys

    variants = [] if args.no_peer else [
        ('alkaid', lambda name, stages: theirs(name, stages, True)),
        ('alkaid, no fusion', lambda name, stages: theirs(name, stages, False)),
    ]
    extra = args.options.split()
    if args.stages:
        extra += ['--pipeline-objective', args.objective]
    for level in args.levels.split(','):
        variants.append((f'-{level}', lambda name, stages, level=level: ours(name, stages, [f'-{level}', *extra])))
    names = SMALL + LARGE if args.all else args.models.split(',')
    parts = []
    for target in args.targets.split(','):
        rows = area(names, variants, target, args.stages)
        kind = f'{args.stages} stages' if args.stages else 'combinational'
        parts.append(f'### {target}, {kind}: LUT\n\n' + area_table(rows, variants, args.stages))
        if args.stages:
            parts.append(f'### {target}, {kind}: flip-flops\n\n' + area_table(rows, variants, args.stages, 'ff'))
    if args.fmax:
        parts.append('### nextpnr-ecp5, clock\n\n' + clock_table(names, variants, args.stages, args.seeds))
    text = '\n\n'.join(parts) + '\n'
    print(text)
    if args.write:
        head = RESULTS.read_text().split('<!-- tables -->')[0] if RESULTS.exists() else '# Area and clock\n\n'
        RESULTS.write_text(head + '<!-- tables -->\n\n' + text)


if __name__ == '__main__':
    main()
