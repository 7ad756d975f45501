#!/usr/bin/env python3
"""Proves each row of LLVLIR and each real program: CPU seconds and verdicts, from the program's own meaning to the Verilog.

    benches/kernels/proofs.py --program target/release/alir2hdl --width 32 --limit 60 --out table.tsv [--rows DIV,...]

Rows: of every row the programs of tests/data/llvlir/rows with values of `--width` bits, the one with the most input bits.
Each line of the result: row or program, seconds of CPU, verdict (proved, differs, undecided, time). Without --rows the real programs
come behind, each within 120 s.
"""

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data/llvlir"


def rows(width):
    """For every row the program of this width with the most input bits: name and text."""
    best = {}
    with gzip.open(DATA / "rows/rows.jsonl.gz", "rt") as lines:
        for line in lines:
            case = json.loads(line)
            words = case["name"].split()
            if f"w{width}" not in words[1:2] and not any(word.endswith(f"w{width}") for word in words[1:]):
                continue
            before = best.get(words[0])
            if before is None or case["inp_bits"] > before["inp_bits"]:
                best[words[0]] = case
    return {name: case["text"] for name, case in sorted(best.items())}


def proved(program, source, limit):
    """CPU seconds and verdict of one job."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.llvlirs"
        path.write_text(source)
        verilog = Path(folder) / "kernel.v"
        made = subprocess.run([program, "-q", path, "--verilog", verilog], capture_output=True, text=True)
        if made.returncode != 0:
            return 0.0, "not made"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        bound = lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        job = subprocess.run([program, "prove", path, verilog], capture_output=True, text=True, preexec_fn=bound)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        verdict = {0: "proved", 1: "differs"}.get(job.returncode, "time" if job.returncode < 0 else "undecided")
        return seconds, verdict


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default=str(ROOT / "target/release/alir2hdl"))
    options.add_argument("--width", type=int, default=32)
    options.add_argument("--limit", type=int, default=60, help="seconds of CPU for a row")
    options.add_argument("--rows", default="", help="only rows whose names begin so, with commas between")
    options.add_argument("--out", default="-")
    args = options.parse_args()
    out = sys.stdout if args.out == "-" else open(args.out, "w")
    wanted = tuple(part for part in args.rows.split(",") if part)
    jobs = [(name, text, args.limit) for name, text in rows(args.width).items() if name.startswith(wanted or "")]
    if not wanted:
        programs = sorted(path for path in DATA.iterdir() if (path / "program.llvlirs").is_file())
        jobs += [(path.name, (path / "program.llvlirs").read_text(), 120) for path in programs]
    verdicts = {}
    for name, text, limit in jobs:
        seconds, verdict = proved(args.program, text, limit)
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
        print(f"{name}\t{seconds:.2f}\t{verdict}", file=out, flush=True)
    print("\t".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items())), file=sys.stderr)


if __name__ == "__main__":
    main()
