#!/usr/bin/env python3
"""Proofs of netlists: models through our writer, Yosys and `prove`, as rows of a Markdown table.

    benches/netlist/table.py ALIR2HDL YOSYS [--case NAME=MODEL[,OPTION...]]... [MODEL...]

A MODEL is written with -O1 and -O2, combinational and in three stages; a case is written once, with its options. Each RTL file is
synthesised for each family. A row holds the verdict, CPU seconds of the proof (user), and the number of cells. `--keep DIR` keeps
the RTL and the netlist of each row that is not proved.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

FLOWS = {
    "xc7": ("synth_xilinx -noiopad -flatten", "synth_xilinx -noiopad"),
    "xcup": ("synth_xilinx -family xcup -noiopad -flatten", "synth_xilinx -family xcup -noiopad"),
    "ecp5": ("synth_ecp5", "synth_ecp5 -noflatten"),
    "ice40": ("synth_ice40 -dsp", "synth_ice40 -dsp -noflatten"),
    "gowin": ("synth_gowin -noiopads", "synth_gowin -noiopads -noflatten"),
    "intel_alm": ("synth_intel_alm -noiopad", "synth_intel_alm -noiopad -noflatten"),
}
VERDICTS = {0: "proved", 1: "differs", 2: "refused", 5: "undecided"}


def run(command, limit, log):
    """Runs a command in the folder of its log; returns the exit code (`None` after the time limit), CPU seconds and standard output with errors."""
    shell = ["bash", "-c", 'ulimit -v 12000000; TIMEFORMAT="cpu %U"; time "$@"', "-", *command]
    try:
        done = subprocess.run(shell, timeout=limit, cwd=log.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except subprocess.TimeoutExpired:
        return None, limit, ""
    text, _, cpu = done.stdout.rpartition("cpu ")
    log.write_text(text)
    return done.returncode, float(cpu or 0), text


def row(args, name, model, options, family, hierarchical):
    model = str(pathlib.Path(model).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rtl, net, log = folder / "dut.v", folder / "net.v", folder / "log"
        head = f"| {name} | {' '.join(options) or '-O1'}{' hierarchical' if hierarchical else ''} | {family} |"
        code, _, text = run([args.alir2hdl, model, *options, "--top", "dut", "--verilog", str(rtl)], 120, log)
        if code != 0:
            return f"{head} not written: {text.strip().splitlines()[:1]} | | |"
        read = f"read_verilog dut.v; {FLOWS[family][hierarchical]} -top dut; write_verilog -noattr net.v"
        code, _, text = run([args.yosys, "-q", "-p", read], args.synthesis, log)
        if code != 0:
            return f"{head} synthesis: {'time limit' if code is None else (text.strip().splitlines() or [code])[-1]} | | |"
        cells = len(re.findall(r"^  (?!assign|module|input|output|wire|reg|inout|defparam)[\\A-Za-z_]\S* (?:#\(|\S+ \()", net.read_text(), re.M))
        command = [args.alir2hdl, "prove", model, str(net), "--top", "dut", "--rtl", str(rtl), "--work", str(args.work)]
        code, cpu, text = run(command, args.limit, log)
        if code != 0 and args.keep:
            kept = pathlib.Path(args.keep) / re.sub(r"\W+", "_", head.strip("| "))
            kept.mkdir(parents=True, exist_ok=True)
            for file in (rtl, net, log):
                if file.exists():
                    shutil.copy(file, kept)
            (kept / "command").write_text(" ".join(command))
        return f"{head} {VERDICTS.get(code, 'time limit' if code is None else code)} | {cpu:.2f} | {cells} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("alir2hdl")
    parser.add_argument("yosys")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--case", action="append", default=[], help="a model with options, +h for a hierarchical netlist")
    parser.add_argument("--families", default=",".join(FLOWS))
    parser.add_argument("--levels", default="1,2")
    parser.add_argument("--stages", default="0,3")
    parser.add_argument("--synthesis", type=float, default=120, help="seconds for a synthesis")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a proof")
    parser.add_argument("--work", type=int, default=1_000_000_000, help="budget of a proof (ticks)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep")
    args = parser.parse_args()
    args.alir2hdl, args.yosys = (shutil.which(tool) or sys.exit(f"{tool}: not found") for tool in (args.alir2hdl, args.yosys))
    rows = []
    for case in args.case:
        name, _, rest = case.partition("=")
        model, *options = rest.split(",")
        hierarchical = "+h" in options
        rows.append((name, model, [o for o in options if o != "+h"], hierarchical))
    for model in args.models:
        path = pathlib.Path(model)
        stem = path.parent.name if path.name.startswith("model.") else path.name.split(".")[0]
        stem = f"fuzz {stem}" if stem.isdigit() else stem
        for level in args.levels.split(","):
            for stages in args.stages.split(","):
                rows.append((stem, model, [f"-O{level}"] + (["--pipeline", stages] if stages != "0" else []), False))
    families = args.families.split(",")
    counts = collections.Counter()
    print("| model | options | family | verdict | CPU s | cells |\n|---|---|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(row, args, *r[:3], family, r[3]) for r in rows for family in families]
        for job in jobs:
            line = job.result()
            counts[line.split("|")[4].split(":")[0].strip()] += 1
            print(line, flush=True)
    print("\n" + ", ".join(f"{verdict} {n}" for verdict, n in counts.most_common()))
    print(f"children: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MB at most", file=sys.stderr)


if __name__ == "__main__":
    main()
