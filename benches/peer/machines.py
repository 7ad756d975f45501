"""Stateful designs: alkaid's RTL and ours, against the traces in Icarus, and what yosys makes of both.

    python machines.py [--binary target/release/alir2hdl] [FOLDER_OF_DESIGNS]

Runs in a venv with alkaid 0.8.2 and numpy; needs `iverilog` and `yosys`. Prints a Markdown table. For each design: register bits
as alkaid counts them and in our file, and LUTs and flip-flops of both after `synth_xilinx -family xcup`. A text whose outputs
differ from the trace in any row before a clock edge is called wrong; where the trace is undefined nothing is compared.
"""

import argparse
import gzip
import json
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def codes(rows: np.ndarray, types: list) -> list[int | None]:
    """Each row as the bits of a port, element 0 at the low end; nothing for a row that is not defined."""
    packed = []
    for row in rows.reshape(len(rows), -1):
        word, at = 0, 0
        for value, (signed, integers, fractionals) in zip(row, types, strict=True):
            width = int(signed) + integers + fractionals
            if np.isnan(value):
                word = None
                break
            word |= (int(value * 2.0**fractionals) & ((1 << width) - 1)) << at
            at += width
        packed.append(word)
    return packed


def width(types: list) -> int:
    return sum(int(s) + i + f for s, i, f in types)


def bench(top: str, meta: dict, folder: Path, clock: bool) -> tuple[str, dict]:
    """A testbench that applies the trace and prints all outputs just before each clock edge, and what they should be."""
    ports = {name: codes(np.load(folder / f'in.{name}.npy'), types) for name, types in meta['inputs'].items()}
    wanted = {name: codes(np.load(folder / f'before.{name}.npy'), types) for name, types in meta['outputs'].items()}
    lines = ['module tb;', '  reg clk = 0;']
    lines += [f'  reg [{width(t) - 1}:0] {n};' for n, t in meta['inputs'].items()]
    lines += [f'  wire [{width(t) - 1}:0] {n};' for n, t in meta['outputs'].items()]
    names = [*meta['inputs'], *meta['outputs']] + (['clk'] if clock else [])
    lines.append(f'  {top} dut (' + ', '.join(f'.{n}({n})' for n in names) + ');')
    lines.append('  initial begin')
    for t in range(meta['steps']):
        lines += [f"    {n} = {width(meta['inputs'][n])}'h{rows[t]:x};" for n, rows in ports.items()]
        shown = ' '.join(['%h'] * len(wanted))
        lines.append(f'    #1 $display("{shown}", {", ".join(wanted)}); #1 clk = 1; #1 clk = 0;')
    lines += ['  end', 'endmodule', '']
    return '\n'.join(lines), wanted


def follows(top: str, sources: list[Path], meta: dict, folder: Path, scratch: Path) -> bool:
    """Whether a text shows the trace in Icarus."""
    clock = re.search(rf'module {top}\b[^;]*\bclk\b', sources[0].read_text()) is not None
    text, wanted = bench(top, meta, folder, clock)
    (scratch / 'tb.v').write_text(text)
    subprocess.run(['iverilog', '-g2005', '-o', scratch / 'sim', scratch / 'tb.v', *sources], check=True)
    said = subprocess.run([scratch / 'sim'], check=True, capture_output=True, text=True).stdout.split('\n')
    for t in range(meta['steps']):
        found = said[t].split()
        for word, rows in zip(found, wanted.values(), strict=True):
            if rows[t] is not None and ('x' in word or int(word, 16) != rows[t]):
                return False
    return True


def cells(top: str, sources: list[Path]) -> tuple[int, int]:
    """LUTs and flip-flops; a SRL counts as a flip-flop for each bit that it delays by is not told, so none are made."""
    read = ' '.join(f'read_verilog {s};' for s in sources)
    script = f'{read} synth_xilinx -family xcup -noiopad -nosrl -nodsp -top {top} -flatten; stat -json'
    said = subprocess.run(['yosys', '-q', '-p', f'tee -q -o /dev/stdout {script.replace("stat -json", "")}', '-p',
                           'tee -o /dev/stdout stat -json'], check=True, capture_output=True, text=True).stdout
    stat = json.loads(said[said.index('{'): said.rindex('}') + 1])
    kinds = stat['modules'][f'\\{top}']['num_cells_by_type']
    luts = sum(n for kind, n in kinds.items() if re.fullmatch(r'LUT\d', kind))
    return luts, sum(n for kind, n in kinds.items() if kind.startswith('FD'))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('designs', nargs='?', type=Path, default=ROOT / 'tests/data/models/fsm')
    parser.add_argument('--binary', type=Path, default=ROOT / 'target/release/alir2hdl')
    args = parser.parse_args()
    from alkaid.codegen.rtl.rtl_model import RTLModel
    from alkaid.stateful import FSM

    print('| design | register bits: alkaid | ours | LUT: alkaid | ours | FF: alkaid | ours | trace: alkaid | ours |')
    print('|---|---|---|---|---|---|---|---|---|')
    for folder in sorted(p for p in args.designs.iterdir() if (p / 'fsm.json.gz').exists()):
        meta = json.loads((folder / 'meta.json').read_text())
        with tempfile.TemporaryDirectory() as scratch:
            scratch = Path(scratch)
            ours = scratch / f'{folder.name}.v'
            facts = scratch / 'facts.json'
            subprocess.run([args.binary, '-q', folder / 'fsm.json.gz', '--verilog', ours, '--interface', facts], check=True)
            bits = json.loads(facts.read_text())['register_bits']
            right = 'equal' if follows(folder.name, [ours], meta, folder, scratch) else 'WRONG'
            luts, flops = cells(folder.name, [ours])
            try:
                model = RTLModel(FSM.load(str(folder / 'fsm.json.gz')), scratch / 'peer', prj_name=folder.name)
                model.write()
                sources = sorted((scratch / 'peer/src').rglob('*.v'), key=lambda p: p.stem != folder.name)
                sources = [p for p in sources if not p.stem.endswith('_wrapper')]
                theirs = 'equal' if follows(folder.name, sources, meta, folder, scratch) else 'WRONG'
                peer = (model.reg_bits, *cells(folder.name, sources), theirs)
            except (ValueError, AssertionError) as error:
                peer = ('-', '-', '-', f'not written: {error}')
        print(f'| {folder.name} | {peer[0]} | {bits} | {peer[1]} | {luts} | {peer[2]} | {flops} | {peer[3]} | {right} |',
              flush=True)


if __name__ == '__main__':
    main()
