#!/usr/bin/env python3
"""Proofs of netlists: models through our writer, Yosys and `prove`, as rows of a Markdown table.

    benches/netlist/table.py ALIR2HDL YOSYS [--case NAME=MODEL[,OPTION...]]... [--cases FILE] [MODEL...]

A MODEL is written with -O1 and -O2, combinational and in three stages; a case is written once, with its options. Each RTL file is
synthesised for each family. A row holds the verdict, CPU seconds of the proof (user), and the number of cells. A row that differs is
simulated in Icarus Verilog with the counterexample (simulate.py). Rows that are not proved and do not differ in simulation either are
listed at the end with their reason, and the exit code is 1. `--keep DIR` keeps the RTL and the netlist of each row that is not proved.
`--abc SECONDS` adds the CPU seconds of `yosys-abc -c "cec rtl.aig net.aig"` over AIGs of both (with Yosys' cell models); use it
with `--stages 0`. Netlists have neither DSPs nor memories then.
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

import simulate

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
    """Runs a command in the folder of its log; returns the exit code (`None` after `limit` CPU seconds), CPU seconds and standard output with errors."""
    shell = ["bash", "-c", f'ulimit -v 12000000 -t {int(limit)}; TIMEFORMAT="cpu %U"; time "$@"', "-", *command]
    done = subprocess.run(shell, cwd=log.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text, _, cpu = done.stdout.rpartition("cpu ")
    log.write_text(text)
    return None if done.returncode in (-9, -24, 137, 152) else done.returncode, float(cpu or 0), text


def counterexample(text):
    """Raw integer values of the inputs that `prove` printed."""
    line = re.search(r"inputs \(codes\): ([-\d ]+)", text)
    return [[int(code) for code in line[1].split()]] if line else []


def simulated(args, folder, family, text):
    """Verdict of a simulation alongside the RTL."""
    try:
        files = simulate.prepare(folder, family, folder / "dut.v", "dut", args.share, counterexample(text))
        return simulate.simulate(folder, files, folder / "net.v", args.share, family)[0]
    except (subprocess.TimeoutExpired, ValueError) as failure:
        return type(failure).__name__


def abc(args, folder, family):
    """CPU seconds of ABC's equivalence check of RTL and netlist, with its verdict if it is not "equivalent"."""
    for name, files in (("rtl", ["dut.v"]), ("net", [*(f"{args.share}/{file}" for file in simulate.MODELS[family]), "net.v"])):
        script = f"read_verilog {' '.join(files)}; hierarchy -top dut; proc; flatten; opt; memory_map; opt; techmap; opt; aigmap; opt_clean; write_aiger {name}.aig"
        if run([args.yosys, "-q", "-p", script], args.synthesis, folder / "log")[0] != 0:
            return "no AIG"
    code, cpu, text = run(["yosys-abc", "-q", "cec rtl.aig net.aig"], args.abc, folder / "log")
    return f"{cpu:.2f}" if "are equivalent" in text else f"time limit ({args.abc:.0f})" if code is None else f"{cpu:.2f}: undecided"


def row(args, name, model, options, family, hierarchical):
    """Returns a row of the table, its verdict, and the reason if it is a failure."""
    model = str(pathlib.Path(model).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rtl, net, log = folder / "dut.v", folder / "net.v", folder / "log"
        head = f"| {name} | {' '.join(options) or '-O1'}{' hierarchical' if hierarchical else ''} | {family} |"

        def failed(verdict, text):
            reason = next((line for line in text.strip().splitlines() if not line.startswith(("warning", "  help"))), "no message")
            return f"{head} {verdict} | | |", verdict, reason.replace(f"{folder}/", "")

        code, _, text = run([args.alir2hdl, model, *options, "--top", "dut", "--verilog", str(rtl)], 120, log)
        if code != 0:
            return failed("not written", text)
        flow = FLOWS[family][hierarchical]
        if args.abc:
            flow = flow.replace(" -dsp", "") if family == "ice40" else f"{flow} -nodsp -nobram"
        read = f"read_verilog dut.v; {flow} -top dut; write_verilog -noattr net.v"
        code, _, text = run([args.yosys, "-q", "-p", read], args.synthesis, log)
        if code != 0:
            return failed("synthesis: time limit" if code is None else "synthesis failed", "\n".join(text.strip().splitlines()[-1:]))
        cells = len(re.findall(r"^  (?!assign|module|input|output|wire|reg|inout|defparam)[\\A-Za-z_]\S* (?:#\(|\S+ \()", net.read_text(), re.M))
        command = [args.alir2hdl, "prove", model, str(net), "--top", "dut", "--rtl", str(rtl), *args.prove.split()]
        code, cpu, text = run(command, args.limit, log)
        verdict = VERDICTS.get(code, "time limit" if code is None else f"exit code {code}")
        reason = None if code == 0 else failed(verdict, text)[2]
        if code == 1:
            outcome = simulated(args, folder, family, text)
            verdict = f"differs (simulation: {outcome})"
            reason = None if outcome == "differs" else reason
        if code != 0 and args.keep:
            kept = pathlib.Path(args.keep) / re.sub(r"\W+", "_", head.strip("| "))
            kept.mkdir(parents=True, exist_ok=True)
            for file in (rtl, net, log):
                if file.exists():
                    shutil.copy(file, kept)
        compared = f" {abc(args, folder, family)} |" if args.abc else ""
        return f"{head} {verdict} | {cpu:.2f} | {cells} |{compared}", verdict, reason


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("alir2hdl")
    parser.add_argument("yosys")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--case", action="append", default=[], help="a model with options, +h for a hierarchical netlist")
    parser.add_argument("--cases", help="file with one case a line")
    parser.add_argument("--families", default=",".join(FLOWS))
    parser.add_argument("--levels", default="1,2")
    parser.add_argument("--stages", default="0,3")
    parser.add_argument("--synthesis", type=float, default=120, help="CPU seconds for a synthesis")
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds for a proof")
    parser.add_argument("--prove", default="--prove-effort normal", help="options of prove")
    parser.add_argument("--share", default="/usr/share/yosys", help="folder of the cell models of Yosys")
    parser.add_argument("--abc", type=float, help="CPU seconds for ABC")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep")
    args = parser.parse_args()
    args.alir2hdl, args.yosys = (shutil.which(tool) or sys.exit(f"{tool}: not found") for tool in (args.alir2hdl, args.yosys))
    rows = []
    lines = pathlib.Path(args.cases).read_text().splitlines() if args.cases else []
    for case in args.case + [line for line in lines if line and not line.startswith("#")]:
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
    print("| model | options | family | verdict | CPU s | cells |" + " ABC `cec` CPU s |" * bool(args.abc))
    print("|---" * (7 if args.abc else 6) + "|")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(row, args, *r[:3], family, r[3]) for r in rows for family in families]
        failures = []
        for job in jobs:
            line, verdict, reason = job.result()
            counts[verdict] += 1
            print(line, flush=True)
            if reason:
                failures.append(f"{line.split(' | ')[0]} | {' | '.join(line.strip('| ').split(' | ')[1:4])}: {reason}")
    print("\n" + ", ".join(f"{verdict} {n}" for verdict, n in counts.most_common()))
    for failure in failures:
        print(f"- {failure.strip('| ')}")
    print(f"children: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MB at most", file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
