#!/usr/bin/env python3
"""Widths at which the rows of products and divisions are proved, from the kernel's own meaning to the Verilog.

    benches/kernels/widths.py --program target/release/alir2hdl [--limit 120] [--widths 8,16,32] [ROW ...]

For each row a Markdown line: seconds of CPU of `prove` at each width, or why there is no proof ("time": not within the limit,
"open": the prover gave up before). A row is not tried at larger widths after two that were not proved.
"""

import argparse
from pathlib import Path

from proofs import ROOT, proved

ROWS = "mul mulu mulh mulhu div rem divu remu".split()
WIDTHS = "4,5,6,7,8,9,10,12,16,23,24,32,48,64,96,128"
TEXT = 'llvlir 0\nin %0 "a": iv{w}\nin %1 "b": iv{w}\n%2 = {row}.iv{w} %0, %1\nout "y" = %2\n'


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default=str(ROOT / "target/release/alir2hdl"))
    options.add_argument("--limit", type=int, default=120, help="seconds of CPU for a proof")
    options.add_argument("--widths", default=WIDTHS)
    options.add_argument("rows", nargs="*", default=ROWS)
    args = options.parse_args()
    program = str(Path(args.program).resolve())
    widths = [int(width) for width in args.widths.split(",")]
    print("| row | " + " | ".join(map(str, widths)) + " |\n|---|" + "---|" * len(widths))
    for row in args.rows:
        cells, missed = [], 0
        for width in widths:
            if missed == 2:
                cells.append("")
                continue
            seconds, verdict = proved(program, TEXT.format(w=width, row=row), args.limit)
            missed = 0 if verdict == "proved" else missed + 1
            cells.append(f"{seconds:.1f}" if verdict == "proved" else {"undecided": "open"}.get(verdict, verdict))
        print(f"| {row} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
