#!/usr/bin/env python3
"""Measures which method of `prove` decides what: the table of benches/results/proof.md.

    benches/proof/engines.py --program target/release/alir2hdl --alkaid /tmp/cv/bin/alkaid models=../shared/models/jet_mlp

Each argument is a group and a file or folder, as for measure.py. A model is taken with each design of DESIGNS (a state
machine with those of LEVELS), and with the Verilog of alkaid if `--alkaid` names it. The order is random but always the
same, and the run ends after `--minutes`.

The trace of a proof (ALIR2HDL_TRACE_PROOF) has a line for each method that was tried. A method may use others: the time
of `directly` contains that of its rounds.
"""

import argparse
import os
import random
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from measure import is_machine, models, run

DESIGNS = [
    (f"-O{level}", *options)
    for level in (0, 1, 2)
    for options in [("--verilog", "--pipeline", "0"), ("--vhdl", "--pipeline", "3"), ("--verilog", "--ii", "4")]
]
LEVELS = [("-O0", "--verilog"), ("-O1", "--vhdl"), ("-O2", "--verilog")]
ALKAID = ("alkaid", "--flavor", "verilog", "--n-stages", "2")
LINE = re.compile(r"trace (.*): (proved|open), (\d+) ticks, ([\d.]+) s$")


def tasks(arguments, with_alkaid):
    """Group, model, and options of a design."""
    for argument in arguments:
        group, root = argument.split("=", 1)
        for path in models(root):
            if is_machine(path):
                yield from ((group, path, design) for design in LEVELS)
                continue
            foreign = [ALKAID] if with_alkaid and path.name.startswith("model.json") else []
            yield from ((group, path, design) for design in DESIGNS + foreign)


def written(args, path, design, folder):
    """RTL files of a design, and more arguments of `prove`; no files if there is no such design."""
    if design == ALKAID:
        run([args.alkaid, "convert", str(path), str(folder), *design[1:]], 300)
        sources = sorted(p for p in folder.glob("src/**/*.v") if not p.name.endswith("_wrapper.v"))
        return [*map(str, sources)], ["--top", "model"]
    level, language, *options = design
    text = folder / ("out.vhd" if language == "--vhdl" else "out.v")
    _, code, _, _ = run([args.program, str(path), level, language, str(text), *options], 300)
    return [str(text)] if code == 0 else [], []


def proved(args, task, folder):
    """Name, verdict, CPU seconds and lines of the trace; `None` if there is no such design."""
    group, path, design = task
    files, more = written(args, path, design, folder)
    if not files:
        return None
    cpu, code, _, trace = run([args.program, "prove", str(path), *files, *more, "--threads", "1"], args.seconds)
    verdict = {0: "proved", 1: "differs", 5: "unknown"}.get(code, f"exit {code}")
    name = f"{group} {path.parent.name}/{path.name} {' '.join(design)}"
    return name, verdict, cpu, [m.groups() for m in map(LINE.match, trace.splitlines()) if m]


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("models", nargs="+", metavar="GROUP=PATH")
    ask.add_argument("--program", default="target/release/alir2hdl")
    ask.add_argument("--alkaid", help="program of alkaid, for RTL of another tool")
    ask.add_argument("--minutes", type=float, default=20, help="CPU time of all proofs")
    ask.add_argument("--seconds", type=int, default=60, help="CPU seconds for one file")
    ask.add_argument("--files", help="write verdict, CPU seconds and name of each file here")
    args = ask.parse_args()
    os.environ["ALIR2HDL_TRACE_PROOF"] = "1"
    every = list(tasks(args.models, args.alkaid))
    random.Random(22).shuffle(every)
    files, verdicts, total = [], defaultdict(int), 0.0
    methods = defaultdict(lambda: {"files": set(), "proved": [0, 0.0], "open": [0, 0.0]})
    for task in every:
        if total > 60 * args.minutes:
            break
        with tempfile.TemporaryDirectory() as scratch:
            found = proved(args, task, Path(scratch))
        if not found:
            continue
        name, verdict, cpu, trace = found
        total += cpu
        verdicts[verdict] += 1
        deciding = ", ".join(sorted({m for m, result, *_ in trace if result == "proved"}))
        files.append(f"{name}\t{verdict}\t{cpu:.2f}\t{deciding}")
        for method, result, _, seconds in trace:
            entry = methods[method]
            entry[result][0] += 1
            entry[result][1] += float(seconds)
            if result == "proved":
                entry["files"].add(name)
    if args.files:
        Path(args.files).write_text("\n".join(sorted(files)) + "\n")
    print(f"{len(files)} files of {len(every)}, {total:.0f} s of CPU: {dict(verdicts)}\n")
    print("| method | files | proved | seconds | open | seconds |")
    print("|---|---|---|---|---|---|")
    for method, entry in sorted(methods.items(), key=lambda item: -len(item[1]["files"])):
        (yes, spent), (no, lost) = entry["proved"], entry["open"]
        print(f"| {method} | {len(entry['files'])} | {yes:,} | {spent:.1f} | {no:,} | {lost:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
