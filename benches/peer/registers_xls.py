"""Register bits and time of XLS (PyPI: xls-python) with alkaid's XLS back end, and ours beside them.

Usage: registers_xls.py [--stages 3] [--delays unit,sky130,asap7] MODEL...

XLS gets the program from alkaid, optimises it and cuts it by one of its own delay models (generator `pipeline`, inputs and
outputs in registers). Its delays are not those of the latency fields, so stages are the only thing that is the same: ours is
the pipeline of as many stages at the smallest stage delay. Both register counts are those of yosys on the emitted file. Times
are CPU seconds: of XLS the compilation alone, imported and loaded before; of ours the whole process.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from registers import ROOT, name_of, run, yosys_bits


def peer_child(model: str, stages: int, delays: str, path: str) -> None:
    """Runs in a process of its own: writes the Verilog and prints its seconds."""
    from alkaid.codegen.xls import XLSModel
    from alkaid.types import CombLogic

    program = XLSModel(CombLogic.load(model), 'xls')
    before = resource.getrusage(resource.RUSAGE_SELF)
    program.compile(
        path,
        scheduling_options=f'pipeline_stages: {stages} delay_model: "{delays}"',
        codegen_flags='generator: GENERATOR_KIND_PIPELINE flop_inputs: true flop_outputs: true module_name: "xls" '
        'use_system_verilog: false',
        with_delay_model=True,
    )
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({'seconds': after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime}))


def seconds_of(*command: str | Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] == '--child':
        peer_child(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('models', nargs='+')
    parser.add_argument('--stages', type=int, default=3)
    parser.add_argument('--delays', default='unit,sky130,asap7', help="XLS's delay models")
    parser.add_argument('--ours', type=Path, default=ROOT / 'target/release/alir2hdl')
    args = parser.parse_args()
    print('| model | stages | tool | register bits | CPU seconds |')
    print('|---|---|---|---|---|')
    for model in args.models:
        path = Path(model)
        name = name_of(path)
        with tempfile.TemporaryDirectory() as folder:
            verilog = Path(folder) / 'xls.v'
            for delays in args.delays.split(','):
                command = [sys.executable, __file__, '--child', model, str(args.stages), delays, verilog]
                done = subprocess.run(command, capture_output=True, text=True)
                row = f'| {name} | {args.stages} | XLS, {delays}'
                if done.returncode != 0:
                    print(f'{row} | {(done.stderr.strip().splitlines() or ["failed"])[-1][:120]} | - |', flush=True)
                    continue
                seconds = json.loads(done.stdout.splitlines()[-1])['seconds']
                print(f'{row} | {yosys_bits(verilog, "xls")} | {seconds:.2f} |', flush=True)
            verilog = Path(folder) / 'ours.v'
            options = ('--pipeline', str(args.stages), '--register-inputs', '-O0', '-q')
            seconds = seconds_of(args.ours, path, '--verilog', verilog, *options)
            print(f'| {name} | {args.stages} | alir2hdl -O0 | {yosys_bits(verilog, "ours")} | {seconds:.3f} |', flush=True)


if __name__ == '__main__':
    main()
