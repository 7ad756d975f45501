"""Hardware that takes a sample every K clocks beside hardware that takes one every clock: area, proof, simulation.

    benches/reuse/reuse.py target/release/alir2hdl [-m MODELS] [ROW ...]

A row is MODEL:K, as conv_small:8; without any all rows of ROWS. MODELS holds a folder for each model with
model.json.gz. Both modules are made with the same options and synthesised by yosys for UltraScale+ (`xcup`); counted
are look-up tables, inverters and shift registers, multiplexers included. Each file is proved, and simulated in every
simulator that `alir2hdl verify` finds, in Verilog and, of models up to SMALL operations, in VHDL. The engine is the one
that the program chooses, unless --engine names one. The model marked
`info` is too large for synthesis: its figures are the estimates of `alir2hdl info`. Results of yosys are kept under
target/qor/cache, so that a run after a change measures only what the change touched.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'qor'))
import flows  # noqa: E402

OPTIONS = ['-O2', '--use-dsp', 'no']
SMALL = 2500
VECTORS = '300'
# Multiplications go into tables (OPTIONS too), so that what is compared is one thing; shift registers may be made.
flows.SYNTHESIS['xcup-srl'] = 'synth_xilinx -family xcup -flatten -noiopad -noclkbuf -nodsp -nobram -top {top}'

# Model, interval, share of the tables that is the goal.
ROWS = [
    ('conv_small', 4, 0.36),
    ('conv_small', 8, 0.26),
    ('conv_small', 25, 0.15),
    ('jet_mlp', 16, 0.30),
    ('mlp_8bit', 20, 0.21),
    ('var_mul', 8, 0.35),
    ('mixer_particles', 18, 0.40),
]
BY_INFO = [('scale_deepsets', 8, 0.15), ('scale_deepsets', 16, 0.08)]


def tool(program, *arguments, allowed=(0,)):
    """Exit code, output, CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in allowed:
        raise SystemExit(f'{" ".join(map(str, arguments))}: exit {done.returncode}\n{done.stderr[-2000:]}')
    return done.returncode, done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cells(program, model, options, folder):
    """What yosys makes of the model with these options."""
    file = Path(folder, 'top.v')
    tool(program, model, *OPTIONS, *options, '--top', 'top', '--verilog', file, '-q')
    text = file.read_text()
    # The head names the call, which is no part of what is measured.
    bare = '\n'.join(line for line in text.splitlines() if not line.startswith('//'))
    found = flows.synthesise(bare, 'top', 'xcup-srl')
    if found is None:
        return None
    of = lambda pattern: flows.count(found['cells'], pattern)
    return {'lut': of(r'LUT[1-6]$'), 'inv': of(r'INV$'), 'srl': of(r'SRL'), 'ff': of(r'FD[RSCP]E(_1)?$'), 'mux': of(r'MUXF[789]$')}


def proved(program, model, k, folder, language):
    file = Path(folder, f'p.{"v" if language == "verilog" else "vhd"}')
    tool(program, model, *OPTIONS, '--ii', k, f'--{language}', file, '-q')
    code, _, seconds = tool(program, 'prove', model, file, allowed=(0, 1, 5))
    return {0: 'proved', 1: 'DIFFERS'}.get(code, 'open') + f' ({seconds:.0f} s)'


def simulated(program, model, k, language):
    _, said, _ = tool(program, 'verify', model, *OPTIONS, '--ii', k, '--vectors', VECTORS, '--lang', language, '--json',
                      allowed=(0, 1))
    runs = json.loads(said)['simulations']
    return ', '.join(f'{run["simulator"]} {run["result"]}' for run in runs)


def made(row):
    """Copies, multiplexer bits and registers, or what takes their place bit by bit."""
    if row['engine'] == 'serial':
        return f'{row["full_adders"]:,} full adders, {row["bits_per_clock"]} bit a clock | - | {row["register_bits"]:,}'
    return (f'{row["copies"]} of {row["blocks"]} | {row["multiplexer_bits"]:,} '
            f'| {row["planned_register_bits"]:,} ({row["planned_register_bits_at_least"]:,})')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program', type=lambda path: str(Path(path).resolve()))
    parser.add_argument('-m', '--models', type=Path, default=Path(__file__).resolve().parents[2] / 'tests/data/models')
    parser.add_argument('--engine', choices=['auto', 'fold', 'serial'], default='auto')
    parser.add_argument('--area-only', action='store_true', help='neither proofs nor simulations')
    parser.add_argument('rows', nargs='*')
    arguments = parser.parse_intermixed_args()
    wanted = lambda name, k: not arguments.rows or f'{name}:{k}' in arguments.rows
    print('| model | K | engine | LUT + INV + SRL | of K = 1 | goal | FF | copies | mux bits | register bits (at least) | latency (at least) | proof | simulated |')
    print('|---|---|---|---|---|---|---|---|---|---|---|---|---|')
    OPTIONS.extend(['--ii-engine', arguments.engine] if arguments.engine != 'auto' else [])
    for name, k, goal in [row for row in ROWS if wanted(*row[:2])]:
        model = arguments.models / name / 'model.json.gz'
        with tempfile.TemporaryDirectory() as folder:
            before, after = cells(arguments.program, model, ['--ii', 1], folder), cells(arguments.program, model, ['--ii', k], folder)
            _, said, _ = tool(arguments.program, 'info', model, *OPTIONS, '--ii', k, '--json')
            facts = json.loads(said)
            row = facts['intervals'][0]
            languages = ['verilog', 'vhdl'] if facts['operations'] <= SMALL else ['verilog']
            if arguments.area_only:
                proofs = sims = ['-']
            else:
                proofs = [proved(arguments.program, model, k, folder, language) for language in languages]
                sims = [simulated(arguments.program, model, k, language) for language in languages]
        if before is None or after is None:
            print(f'| {name} | {k} | yosys took too long |')
            continue
        total = lambda c: c['lut'] + c['inv'] + c['srl']
        print(f'| {name} | {k} | {row["engine"]} | {after["lut"]:,} + {after["inv"]:,} + {after["srl"]:,} | {total(after) / total(before):.3f} of {total(before):,} '
              f'| {goal:.2f} | {after["ff"]:,} | {made(row)} '
              f'| {row["latency"]} ({row["latency_at_least"]}) | {"; ".join(proofs)} | {"; ".join(sims)} |', flush=True)
    for name, k, goal in [row for row in BY_INFO if wanted(*row[:2])]:
        model = arguments.models / name / 'model.json.gz'
        if not model.exists():
            print(f'| {name} | {k} | not there: give its folder with -m |')
            continue
        _, said, seconds = tool(arguments.program, 'info', model, *OPTIONS[1:], '--ii', k, '--json')
        facts = json.loads(said)
        row, one = facts['intervals'][0], facts['every_clock']
        print(f'| {name} (info) | {k} | {row["engine"]} | {row["estimate"]["lut"]:,} | {row["estimate"]["lut"] / one["lut"]:.3f} of {one["lut"]:,} | {goal:.2f} '
              f'| {row["estimate"]["ff"]:,} | {made(row)} '
              f'| {row["latency"]} ({row["latency_at_least"]}) | {seconds:.1f} s of CPU | - |', flush=True)


main()
