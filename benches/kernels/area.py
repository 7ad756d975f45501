#!/usr/bin/env python3
"""Area of LLVLIR rows and programs against Verilog written by hand, by yosys (`synth_xilinx -family xcup -nodsp`).

    benches/kernels/area.py --program target/release/alir2hdl [NAME ...]

Each line: name, LUTs of ours at `-O2 --use-dsp no`, LUTs by hand (benches/kernels/hand), and carry blocks of both. Ends with exit
code 1 if one of ours takes more LUTs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "tests/data/llvlir"
PROGRAMS = ["crc32_byte", "normalise", "gray_bcd", "siphash", "cordic", "dct8", "popcount_sort"]
TWO = "add sub srl sll sra rol ror min max minu maxu mul mulh mulhu".split()
ONE = "popc clz ctz".split()


def kernels():
    """Texts by the names of the modules written by hand."""
    both = 'llvlir 0\nin %0 "a": i{w}\nin %1 "b": i{w}\n%2 = {op} %0, %1\nout "y" = %2\n'
    found = {row: both.format(w=32, op=f"{row}.i32") for row in TWO}
    found["cmps_lt"] = both.format(w=32, op="cmps.i32 lt,")
    found |= {f"{row}_16": both.format(w=16, op=f"{row}.i16") for row in ("divu", "remu")}
    found |= {row: f'llvlir 0\nin %0 "a": i32\n%1 = {row}.i32 %0\nout "y" = %1\n' for row in ONE}
    found |= {name: (DATA / name / "program.llvlirs").read_text() for name in PROGRAMS}
    return found


def area(verilog, top, folder):
    """LUTs and carry blocks."""
    stat = folder / "stat.json"
    script = f"read_verilog {verilog}; synth_xilinx -family xcup -nodsp -flatten -top {top}; tee -q -o {stat} stat -json"
    subprocess.run(["yosys", "-q", "-p", script], check=True, capture_output=True)
    cells = json.loads(stat.read_text())["modules"][f"\\{top}"]["num_cells_by_type"]
    return sum(n for cell, n in cells.items() if cell.startswith("LUT")), cells.get("CARRY4", 0) + cells.get("CARRY8", 0)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default=str(HERE.parents[1] / "target/release/alir2hdl"))
    options.add_argument("names", nargs="*")
    args = options.parse_args()
    larger = 0
    print("| kernel | LUT | by hand | carry | by hand |\n|---|---|---|---|---|")
    for name, text in kernels().items():
        if args.names and name not in args.names:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            source, verilog = folder / "kernel.llvlirs", folder / "kernel.v"
            source.write_text(text)
            job = [args.program, "-q", source, "-O2", "--use-dsp", "no", "--top", "made", "--verilog", verilog]
            subprocess.run(job, check=True)
            ours = area(verilog, "made", folder)
            hand = area(HERE / "hand" / ("programs.v" if name in PROGRAMS else "rows.v"), name, folder)
        larger += ours[0] > hand[0]
        print(f"| {name} | {ours[0]} | {hand[0]} | {ours[1]} | {hand[1]} |", flush=True)
    sys.exit(larger > 0)


if __name__ == "__main__":
    main()
