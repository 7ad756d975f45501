#!/usr/bin/env python3
"""Examples of errors, warnings and notes: small files and a command that prints the code.

usage: error_examples.py PROGRAM    runs all examples; fails if one does not print its code

scripts/build_docs.py shows them, with the real output, in the generated error index.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JET = "examples/jet_mlp.json.gz"
CONV = "examples/convolution_stream/conv.json.gz"
FSM = "examples/moving_average/moving_average.json"
INPUT = [[], -1, [0], [-8, 7.5, 0.5], 0, 0]
RELU = [[0], 2, [], [0, 7.5, 0.5], 1, 4]


def alir(ops=(INPUT, RELU), shape=(1, 1), out=(1,), shifts=(0,), version=4, meta="ALIRModel", tables=None, negs=(0,)):
    """A model file of a few operations."""
    model = [list(shape), list(shifts), list(out), [0] * len(out), list(negs), list(ops), 1, 1, tables]
    return json.dumps({"meta": meta, "spec_version": version, "model": model})


def op(of=RELU, **changed):
    """An operation with other fields: addr, code, data, interval, latency."""
    names = ["addr", "code", "data", "interval", "latency", "cost"]
    return [changed.get(name, value) for name, value in zip(names, of)]


def check(text):
    """A file that `check` rejects."""
    return {"m.json": text}, "alir2hdl check m.json"


def kernel(body):
    """A kernel in the text format of LLVLIR that `check` rejects."""
    return {"k.llvlirs": "llvlir 0\n" + body}, "alir2hdl check k.llvlirs"


def command(text, **files):
    """A command, with files of which `__` in the name stands for a dot."""
    return {name.replace("__", "."): content for name, content in files.items()}, text


IN = 'in %0 "a": i8\nin %1 "b": i16\n'
OUT = 'out "y" = %0\n'

EXAMPLES = {
    "E0001": command("alir2hdl check missing.json.gz"),
    "E0002": command(f"alir2hdl info {JET} --pipelin 3"),
    "E0003": command(f"alir2hdl generate {JET} --verilog {JET}"),
    "E0004": command("alir2hdl explain E9999"),
    "E0106": check(""),
    "E0110": check('{"meta": "ALIRModel", x}'),
    "E0111": check('{"meta": "ALIRModel"'),
    "E0112": check(alir() + " []"),
    "E0113": check(alir([op(INPUT, interval=[-8, float("nan"), 0.5]), RELU])),
    "E0115": command("alir2hdl check examples/crc32/run.sh"),
    "E0120": check(alir(shifts=("0",))),
    "E0121": check(alir(meta="Model")),
    "E0122": check(alir(version=7)),
    "E0123": check('{"meta": "ALIRModel", "spec_version": 4}'),
    "E0124": check('{"meta": "ALIRModel", "meta": "ALIRModel", "spec_version": 4, "model": []}'),
    "E0125": check('{"meta": "ALIRModel", "spec_version": 4, "model": [[1, 1], [0]]}'),
    "E0126": check(alir(shape=(2, 1))),
    "E0127": check(alir([INPUT, RELU[:5]])),
    "E0128": check(alir([INPUT, op(code=77)])),
    "E0129": check(alir([INPUT, op(code=9, data=[5])])),
    "E0130": check(alir([INPUT, op(addr=[0, 0])])),
    "E0131": check(alir([INPUT, op(data=[1, 2])])),
    "E0132": check(alir([INPUT, op(code=11, data=[2, 0])])),
    "E0135": check(alir([op(INPUT, interval=[-8, 7.5, 0.3]), RELU])),
    "E0136": check(alir([op(INPUT, interval=[8, 7.5, 0.5]), RELU])),
    "E0137": check(alir([op(INPUT, interval=[-8, 7.3, 0.5]), RELU])),
    "E0139": check(alir([INPUT, op(addr=[-1])])),
    "E0140": check(alir(negs=(2,))),
    "E0142": check(alir([op(INPUT, interval=[-8, 7.5]), RELU])),
    "E0201": command(f"alir2hdl check {JET} --max-ops 100"),
    "E0134": check(alir([INPUT, op(latency=1e400)]).replace("Infinity", "1e400")),
    "E0207": check(alir([INPUT, op(addr=[1])])),
    "E0208": check(alir([op(INPUT, data=[3]), RELU])),
    "E0209": check(alir([INPUT, op(code=8, data=[0])])),
    "E0217": check(alir(out=(9,))),
    "E0301": command(f"alir2hdl info {JET} --passes simplfy"),
    "E0501": command(f"alir2hdl info {JET} --max-stage-delay -1"),
    "E0503": command(f"alir2hdl info {JET} --max-stage-delay 0.5"),
    "E0504": command(f"alir2hdl info {JET} --pipeline 2 --max-stage-delay 2"),
    "E0506": command(f"alir2hdl info {JET} --device ice40 --clock-period 0.9"),
    "E0601": command(f"alir2hdl generate {JET} -o out.v --top module"),
    "N0601": command(f"alir2hdl generate {JET} -o module.v"),
    "E0611": command(f"alir2hdl generate {JET} -o out.v --wrapper axis --axis-width 7"),
    "E0701": command(f"alir2hdl run {JET} examples"),
    "E0702": command(f"alir2hdl run {JET} x.npy", x__npy="no array"),
    "E0703": command(f"alir2hdl run {JET} x.csv", x__csv="1,2\n3,4\n"),
    "E0705": command(f"alir2hdl run {JET} examples/jet_mlp.csv -o y.xyz"),
    "E0706": command("alir2hdl run m.json x.csv", m__json=alir(), x__csv="1\nnan\n"),
    "N0703": command("alir2hdl run m.json x.csv", m__json=alir(), x__csv="volts\n1\n"),
    "E0710": command(f"alir2hdl run {JET} examples/jet_mlp.csv --trace 999999"),
    "E0801": command(f"alir2hdl generate {JET} -o out.v --enable"),
    "W0801": command(f"alir2hdl generate {JET} -o out.v --rom-style block"),
    "E0802": command(f"alir2hdl generate {JET}"),
    "W0803": command(f"alir2hdl generate {JET} -o out.v --pipeline 2 --clk-name clock"),
    "N0803": command(f"alir2hdl info {JET} --clock-period 8"),
    "W0804": command("alir2hdl generate m.json -o out.v --pipeline 9", m__json=alir()),
    "E0803": command(f"alir2hdl generate {JET} -o out.v --packing 8"),
    "E0804": command(f"alir2hdl generate {FSM} -o out.v --pipeline 2"),
    "E0805": command(f"alir2hdl project {JET} -o examples"),
    "E0810": command(f"alir2hdl generate {JET} -o out.v --ii 9999"),
    "W0810": command(f"alir2hdl generate {JET} -o out.v --ii 2 --ii-engine fold"),
    "E0811": command(f"alir2hdl info {JET} --nodes layer=0"),
    "E0815": command(f"alir2hdl generate {CONV} -o out.v --ii 4 --ii-engine fold --ii-share 99"),
    "E0816": command(f"alir2hdl generate {CONV} -o out.v --ii 4 --pipeline 3"),
    "E0818": command("alir2hdl generate m.json -o out.v --ii auto --max-luts 0", m__json=alir()),
    "E0819": command(f"alir2hdl generate {CONV} -o out.v --ii 25 --ii-engine fold --max-latency 3"),
    "E0903": command("alir2hdl prove m.json m.v", m__json=alir(), m__v="module m; real x; endmodule\n"),
    "E0904": command("alir2hdl prove m.json m.v", m__json=alir(),
                     m__v="module m(input [4:0] model_inp, output [3:0] model_out);\nwire a = ~a;\nassign model_out = {4{a}};\nendmodule\n"),
    "E0911": command(f"alir2hdl prove {JET} {JET}"),
    "E1006": command(f"alir2hdl verify {JET} --lang verilog --sim ghdl"),
    "E1009": command("alir2hdl verify m.json --rtl m.v --sim iverilog", m__json=alir(), m__v="module m(input a, output b); assign b = a; endmodule\n"),
    "E1106": command(f"alir2hdl convert {JET} out.xyz"),
    "E1109": command(f"alir2hdl convert {JET} out.llvlir"),
    "E1201": command("alir2hdl report examples"),
    "E1408": kernel(IN + "j.local \"x\"\n"),
    "E1410": kernel("in %0 \"a\": iv0\n" + OUT),
    "E1415": kernel('in %0 "a": i8\nin %1 "a": i8\n' + OUT),
    "E1417": kernel(IN + "%2 = neg.i8 %7\n" + OUT),
    "E1418": kernel(IN + "%2 = xor.i16 %0, %1\n" + OUT),
    "E1420": kernel(IN + "%2 = addi.i8 %0, 300\n" + OUT),
    "E1424": kernel(IN + "%2 = zext.i8.i16 %1\n" + OUT),
    "E1425": kernel(IN + "%2 = trunc.i16.i8 %0\n" + OUT),
    "E1437": kernel(IN),
    "E1438": kernel("in a\n"),
    "E1439": kernel(IN + "%2 = shl.i8 %0, %0\n" + OUT),
    "E1440": kernel(IN + "%2 = neg.i8 %0, %0\n" + OUT),
    "E1441": kernel(IN + "%5 = neg.i8 %0\n" + OUT),
    "E2001": command("alir2hdl check net.json", net__json='{"version": 2, "dimensions": 1, "buffers": [], "nodes": []'),
    "E2004": command("alir2hdl generate examples/quantised_network/net.json -o out.v"),
    "E2010": command(f"alir2hdl calibrate {JET} --samples examples/jet_mlp.csv --bits 8 -o q.json"),
}


def run(code, program):
    """Command and output of an example."""
    files, text = EXAMPLES[code]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples", ignore=shutil.ignore_patterns("build"))
        for name, content in files.items():
            (Path(folder) / name).write_text(content)
        environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
        done = subprocess.run(text.split(" "), cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    shown = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    at = next((number for number, line in enumerate(shown) if f"[{code}]" in line or code in line), None)
    if at is None:
        return files, text, None, "\n".join(shown[:6])
    end = at + 1
    while end < len(shown) and shown[end].startswith(" "):
        end += 1
    return files, text, "\n".join(shown[at:end]), ""


def main():
    program, failed = Path(sys.argv[1]).resolve(), 0
    for code in EXAMPLES:
        _, text, output, other = run(code, program)
        if output is None:
            failed += 1
            print(f"{code}: {text}\n  printed instead: {other[:300]}")
    print(f"{len(EXAMPLES)} examples, {failed} do not print their code")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
