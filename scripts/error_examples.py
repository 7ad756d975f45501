#!/usr/bin/env python3
"""Examples of errors, warnings and notes: small files and a command that prints the code, and what corrects it.

usage: error_examples.py PROGRAM [CODE...]    runs examples, all by default; with codes, prints their output

Fails if an example does not print its code, if its corrected form prints it or fails, or if a code of docs/errors.md has neither
an example nor a reason in NO_EXAMPLE. scripts/build_docs.py shows the examples, with the real output, in the generated error index.
"""
import atexit
import concurrent.futures
import functools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JET = "examples/jet_mlp.json.gz"
# Longest time of an example.
SECONDS = 30
# Longest line of a JSON file.
WIDTH = 90
CONV = "examples/convolution_stream/conv.json.gz"
FSM = "examples/moving_average/moving_average.json"
INPUT = [[], -1, [0], [-8, 7.5, 0.5], 0, 0]
RELU = [[0], 2, [], [0, 7.5, 0.5], 1, 4]


def document(value, indent=""):
    """JSON in lines of up to 90 characters where its parts allow that."""
    line = json.dumps(value)
    if len(indent + line) <= WIDTH or not isinstance(value, (list, dict)):
        return line
    pairs = [(f"{json.dumps(key)}: ", part) for key, part in value.items()] if isinstance(value, dict) else [("", part) for part in value]
    lines = [""]
    for number, (key, part) in enumerate(pairs):
        text = key + document(part, indent + " ") + ("," if number + 1 < len(pairs) else "")
        is_free = "\n" not in lines[-1] + text and len(indent + lines[-1] + text) < WIDTH
        if lines[-1] and not is_free:
            lines.append("")
        lines[-1] += f" {text}" if lines[-1] else text
    ends = "{}" if isinstance(value, dict) else "[]"
    return ends[0] + f"\n{indent} ".join(lines) + ends[1]


def alir(ops=(INPUT, RELU), shape=(1, 1), out=(1,), shifts=(0,), version=4, meta="ALIRModel", tables=None, negs=(0,)):
    """A model file of a few operations."""
    model = [list(shape), list(shifts), list(out), [0] * len(out), list(negs), list(ops), 1, 1, tables]
    return document({"meta": meta, "spec_version": version, "model": model})


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


def npy(rows):
    """An npy file of 64-bit integers, or of doubles if the first number is one."""
    real = rows and isinstance(rows[0][0], float)
    shape = f"({len(rows)}, {len(rows[0])})" if rows else "(0, 0)"
    header = f"{{'descr': '{'<f8' if real else '<i8'}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = b"".join(struct.pack("<d" if real else "<q", value) for row in rows for value in row)
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def fsm(old, new):
    """The design of examples/moving_average with a part of its file replaced."""
    text = (ROOT / FSM).read_text()
    assert old in text, old
    return {"design.json": text.replace(old, new, 1)}, "alir2hdl check design.json"


def dais(ops=(), shape=(1, 1), version=2, meta="DAISModel", out=0):
    """A model file of version 2, of an input with values -8 to 7 and more operations; without a version if that is `None`."""
    first = [[number, -1, -1, 0, [-8, 7, 1], 0, 0] for number in range(shape[0])]
    ports = [[out] * shape[1], [0] * shape[1], [0] * shape[1]]
    model = [list(shape), [0] * shape[0], *ports, first + list(ops), 1, 1]
    return document(model if version is None else {"meta": meta, "spec_version": version, "model": model})


def words(*values):
    """A file of 32-bit words."""
    return b"".join(value.to_bytes(4, "little", signed=True) for value in values)


def word(at, value):
    """The file of ONE_INPUT with another word."""
    return words(*ONE_INPUT[:at], value, *ONE_INPUT[at + 1:])


def lookup(pad, bits=3):
    """Byte code of an input, of `bits` bits and a sign, and a look-up table of three entries."""
    return words(2, 0, 1, 1, 2, 1, 0, 1, 0, 0, -1, 0, -1, 0, 0, 1, bits, 0, 8, 0, -1, 0, pad, 0, 3, 0, 3, 2, 5, 6)


def lut(table, out=(0, 7, 1), interval=None, x=(0, 3, 1)):
    """A model file of one input and a look-up in a table."""
    spec = {"hash": "", "out_qint": dict(zip(("min", "max", "step"), out)), "inp_width": 2}
    ops = [op(INPUT, interval=list(x)), op(code=8, data=[0], interval=list(interval or out))]
    return alir(ops, tables=[{"spec": spec, "table": list(table)}])


def pipeline(*stages):
    """A file of the stages of a pipeline, each with these numbers of inputs and outputs."""
    return document([[json.loads(dais(shape=shape, version=None)) for shape in stages]])


def signal(name, types=((True, 7, 0),), port=False, rst=None, to=None, reg=False, view=None, index=None):
    """A signal of a stateful design."""
    return [name, port, types, rst, to, reg, None, "", None, view or [0, len(types)], index]


def design(*connections, logic=None):
    """A stateful design: connections of source, destination and, if it has one, enable."""
    conns = [dict(zip(("src", "dst", "enable_if", "alt_src"), (*connection, None, None))) for connection in connections]
    return check(document({"meta": "ALIRFSM", "spec_version": 4, "fsm": {"logic": logic or {}, "conns": conns}}))


def raw_kernel(data):
    """A kernel in the binary format of LLVLIR that `check` rejects."""
    return {"k.llvlir": b"LLVLIR" + bytes(data)}, "alir2hdl check k.llvlir"


def message(*fields):
    """A protobuf message of small numbers, names and messages, with the numbers of the fields."""
    data = b""
    for number, value in fields:
        if isinstance(value, int):
            data += bytes([number << 3, value])
        else:
            value = value.encode() if isinstance(value, str) else value
            data += bytes([number << 3 | 2, *([len(value)] if len(value) < 128 else [len(value) & 127 | 128, len(value) >> 7])]) + value
    return data


def onnx(weight, *operators):
    """An ONNX network of a vector of two elements, a matrix of two rows and one column, and further operators."""
    def port(name, *shape):
        dims = [(1, message((1, size))) for size in shape]
        return message((1, name), (2, message((1, message((1, 1), (2, message(*dims)))))))

    nodes = [message((1, "x"), (1, "w"), (2, "t0"), (4, "MatMul"))]
    nodes += [message((1, f"t{k}"), (2, f"t{k + 1}"), (4, name)) for k, name in enumerate(operators)]
    tensor = message((1, 2), (1, 1), (2, 1), (8, "w"), (9, struct.pack("<ff", weight, -weight)))
    ports = [(11, port("x", 1, 2)), (12, port(f"t{len(operators)}", 1, 1))]
    graph = message(*[(1, node) for node in nodes], (2, "net"), (5, tensor), *ports)
    return message((1, 8), (7, graph), (8, message((1, ""), (2, 13))))


def net(op="linear", kernel="gemm_naive", more=(), **changed):
    """An IR v2 graph of one node, with inputs `x` and outputs `y`, and files of its weights and types."""
    vector, matrix = {"shape": [{"dim": "n"}], "resolved_shape": [2]}, {"shape": [{"dim": "n"}] * 2, "resolved_shape": [2, 2]}
    buffers = [{"name": name, "scope": "global", "role": role, "dtype": "fp32", **shape}
               for name, role, shape in (("x", "input", vector), ("w", "weight", matrix), ("y", "output", vector))]
    bindings = [{"arg": name, "buffer": name} for name in ("x", "w", "y") if name != "w" or op == "linear"]
    nodes = [{"layer": 0, "op": op, "kernel": kernel, "bindings": bindings}, *more]
    graph = {"version": 2, "config": {}, "dimensions": [{"id": 16, "name": "n", "value": 2}], "buffers": buffers, "nodes": nodes}
    types = {"format": "alir2hdl-quant", "version": 1, "default": {"weight": {"type": "s8.0"}, "table": {"type": "s8.7"}},
             "buffers": {"x": {"type": "s8.0"}, "y": {"type": "s16.7"}}}
    return {"net.json": document(graph), "q.json": document(types), "w.npy": MATRIX, **changed}


def relu(axes):
    """Files of a graph of one node from `x` with axes n and m to `y` with these axes."""
    files = net("relu", "relu_forward")
    graph = json.loads(files["net.json"])
    graph["dimensions"].append({"id": 17, "name": "m", "value": 3})
    graph["buffers"] = [{**graph["buffers"][k], "shape": [{"dim": name} for name in names], "resolved_shape": 6} for k, names in ((0, "nm"), (2, axes))]
    return {**files, "net.json": document(graph)}


NET = "alir2hdl generate net.json --quant q.json --weights w.npy -o out.v"
BYTE, BIT = (True, 7, 0), (False, 1, 0)
X, Y, RST, EN = signal("x", port=True), signal("y", port=True), signal("rst", [BIT], True), signal("en", [BIT], True)
# A block of one input and one output, and signals of its ports.
BLOCK = {"f": json.loads(alir([[[], -1, [0], [-128, 127, 1], 0, 0]], out=(0,)))["model"]}
F_IN, F_OUT = signal("INTERNAL_f_inp"), signal("INTERNAL_f_outp")
# Verilog of the model that alir() returns, combinational and with a clocked register.
PLAIN = """module m(input [4:0] model_inp, output [3:0] model_out);
assign model_out = model_inp[4] ? 4'd0 : model_inp[3:0];
endmodule
"""
NETLIST = ("module m(model_inp, model_out);\ninput [4:0] model_inp;\noutput [3:0] model_out;\n"
           + "".join(f"GATE u{k} (.A(model_inp[{k}]), .N(model_inp[4]), .Y(model_out[{k}]));\n" for k in range(4)) + "endmodule\n")
REGISTERED = """module m(input clk, input [4:0] model_inp, output reg [3:0] model_out);
wire gated = clk & model_inp[0];
always @(posedge clk) model_out <= model_inp[4] ? 4'd0 : model_inp[3:0];
endmodule
"""
# `%1 = neg.i8 %0`, after edition and flags.
NEG = (1, 1, 0x61, 0, 2, 1, 0x3E, 2, 1, 1, 1, 0x79, 0, 1)
# Byte code of version 2: header, one input of -8 to 7, one output.
ONE_INPUT = (2, 0, 1, 1, 1, 0, 0, 0, 0, 0, -1, 0, -1, 0, 0, 1, 3, 0)
MATRIX = npy([[1, -3], [5, 7]])
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
    "N0704": command("alir2hdl run m.json x.csv", m__json=alir(), x__csv="1\n100\n"),
    "E0710": command(f"alir2hdl run {JET} examples/jet_mlp.csv --trace 999999"),
    "E0801": command(f"alir2hdl generate {JET} -o out.v --enable"),
    "W0801": command(f"alir2hdl generate {JET} -o out.v --rom-style block"),
    "E0802": command(f"alir2hdl generate {JET}"),
    "W0803": command(f"alir2hdl generate {JET} -o out.v --pipeline 2 --clk-name clock"),
    "N0803": command(f"alir2hdl info {JET} --clock-period 8"),
    "W0804": command("alir2hdl generate m.json -o out.v --pipeline 9", m__json=alir()),
    "W0805": command("alir2hdl project m.json -o build --flow vivado --device xc7z020", m__json=alir()),
    "W0806": command(f"alir2hdl project {JET} -o build --flow vivado,yosys --device xcku5p,lfe5u-25f --freq 150"),
    "W0807": command(f"alir2hdl project {JET} -o build --flow yosys --device ice40up5k --freq 20"),
    "W0808": command("alir2hdl project m.json -o build --flow vivado --board pynq-z2 --clock-period 3", m__json=alir()),
    "E0803": command(f"alir2hdl generate {JET} -o out.v --packing 8"),
    "E0804": command(f"alir2hdl generate {FSM} -o out.v --pipeline 2"),
    "E0805": command(f"alir2hdl project {JET} -o examples"),
    "E0810": command(f"alir2hdl generate {JET} -o out.v --ii 9999"),
    "W0810": command(f"alir2hdl generate {JET} -o out.v --ii 2 --ii-engine fold"),
    "W0811": command(f"alir2hdl generate {JET} -o out.v --device 7series --delay-model width --clock-period 3"),
    "E0811": command(f"alir2hdl info {JET} --nodes layer=0"),
    "E0815": command(f"alir2hdl generate {CONV} -o out.v --ii 4 --ii-engine fold --ii-share 99"),
    "E0816": command(f"alir2hdl generate {CONV} -o out.v --ii 4 --pipeline 3"),
    "E0818": command("alir2hdl generate m.json -o out.v --ii auto --max-luts 0", m__json=alir()),
    "E0819": command(f"alir2hdl generate {CONV} -o out.v --ii 25 --ii-engine fold --max-latency 3"),
    "E0903": command("alir2hdl prove m.json m.v", m__json=alir(), m__v="module m; real x; endmodule\n"),
    "E0904": command("alir2hdl prove m.json m.v", m__json=alir(),
                     m__v="module m(input [4:0] model_inp, output [3:0] model_out);\nwire a = ~a;\nassign model_out = {4{a}};\nendmodule\n"),
    "E0911": command(f"alir2hdl prove {JET} {JET}"),
    "E1006": command("alir2hdl verify m.json --lang verilog --sim ghdl", m__json=alir()),
    "E1009": command("alir2hdl verify m.json --rtl m.v --sim iverilog", m__json=alir(), m__v="module m(input a, output b); assign b = a; endmodule\n"),
    "E1106": command(f"alir2hdl convert {JET} out.xyz"),
    "E1109": command(f"alir2hdl convert {JET} out.llvlir"),
    "E1201": command("alir2hdl report examples"),
    "E1408": kernel(IN + 'j.local "x"\n' + OUT),
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
    "E1409": kernel(IN + "%2 = neg.i7 %0\n" + OUT),
    "E1411": kernel(IN + "%x0 = splati.v3.i8 1, %m0\n" + OUT),
    "E1414": kernel('in %0 "": i8\n' + OUT),
    "E1419": kernel('in %0 "a": i8\nin %x0 "x": v16.i8\n%m0 = mvm %0\n%x1 = add.v16.i8 %x0, %x0, %m0\n' + OUT),
    "E1421": kernel(IN + "%2 = cmps.i8 less, %0, %0\n" + OUT),
    "E1423": kernel('in %0 "a": iv12\n%1 = bswap.iv12 %0\n' + OUT),
    "E1426": kernel('in %0 "a": iv512\n%1 = div.iv512 %0, %0\n' + OUT),
    "E1429": kernel(IN + 'label.local "t"\nword.i8 1\nlabel.local "t"\nword.i8 2\n' + OUT),
    "E1430": kernel(IN + '%a0 = consta.local "t"\n' + OUT),
    "E1431": kernel(IN + 'label.local "t"\nlabel.local "u"\nword.i8 1\n%a0 = consta.local "t"\n' + OUT),
    "E1432": kernel(IN + 'array.3.i8 h"0102"\n' + OUT),
    "E1434": kernel(IN + "word.i8 1\nword.i16 2\n" + OUT),
    "E1436": kernel(IN + 'label.local "t"\nword.i8 1\n%a0 = consta.local "t"\n%2 = ld.i16 %a0, 0, 0\n' + OUT),
    "E1401": command("alir2hdl check k.llvlir", k__llvlir="LLVMIR"),
    "E1402": command("alir2hdl check k.llvlirs", k__llvlirs="llvlir 1\n"),
    "E1442": command("alir2hdl check examples/llvlir/crc32.llvlirs --max-ops 10"),
    "E1501": command("alir2hdl info w.npy --input-type s8.0", w__npy=npy([])),
    "E1502": command("alir2hdl generate w.npy --input-type s8.0 -o out.v --max-adders 1", w__npy=MATRIX),
    "E1503": command("alir2hdl generate w.npy --input-type s8.0 -o out.v --cmvm-latency 0", w__npy=MATRIX),
    "E1505": command("alir2hdl generate w.npy -o out.v", w__npy=MATRIX),
    "E1506": command(f"alir2hdl generate {JET} -o out.v --cmvm-latency 9"),
    "E0413": fsm('"INTERNAL_step_inp"', '"INTERNAL_stop_inp"'),
    "E0420": command("alir2hdl check design.json", design__json='{"meta": "ALIRFSM", "spec_version": 4}'),
    "E0421": fsm('"spec_version": 4', '"spec_version": 9') if '"spec_version": 4' in (ROOT / FSM).read_text() else fsm('"spec_version":4', '"spec_version":9'),
    "E0101": command("alir2hdl check m.json.gz", m__json__gz=(ROOT / JET).read_bytes()[:1000]),
    "E0102": command("alir2hdl check m.json.gz", m__json__gz=b"\x1f\x8b" + bytes(40)),
    "E0103": command("alir2hdl check m.json.gz", m__json__gz=(ROOT / JET).read_bytes() + b"more"),
    "E0104": command(f"alir2hdl check {JET} --max-bytes 1000"),
    "E0005": command("alir2hdl check m.json", m__json=alir().encode("utf-16")),
    "E0114": check("[" * 300),
    "E0133": check(alir(out=(1 << 70,))),
    "E0202": command("alir2hdl check examples/softmax_tables/softmax.json.gz --max-table-entries 10"),
    "E0203": check(alir([INPUT, op(addr=[0, 0], code=0, data=[99999], interval=[-8, 7.5, 0.5])])),
    "E0211": command(f"alir2hdl check {JET} --max-width 4"),
    "E0502": command(f"alir2hdl info {JET} --pipeline 9999999"),
    "E0602": command(f"alir2hdl generate {JET} -o out.v --pipeline 2 --port clk=model_inp"),
    "E0704": command("alir2hdl run k.llvlirs x.csv --codes -o y.npy", k__llvlirs='llvlir 0\nin %0 "a": i128\nout "y" = %0\n', x__csv="1\n"),
    "E0707": command("alir2hdl run m.json x.csv", x__csv="3.5\n", m__json=alir([INPUT, op(code=8, data=[0], interval=[0, 1, 1])], tables=[{"spec": {"hash": "", "out_qint": {"min": 0, "max": 1, "step": 1}, "inp_width": 5}, "table": [0, 1]}])),
    "E0303": command(f"alir2hdl generate {JET} -o out.v --assume-intervals --prove"),
    "E0912": command("alir2hdl prove m.json m.v --witness m.json", m__json=alir(), m__v="module m; endmodule\n"),
    "E0913": command(f"alir2hdl prove {JET} m.v", m__v=b"\x1f\x8b" + bytes(40)),
    "E2002": command("alir2hdl check net.json", net__json='{"version": 1, "dimensions": [], "buffers": [], "nodes": []}'),
    "E0820": command("alir2hdl check net.onnx", net__onnx=(ROOT / "examples/perceptron.onnx").read_bytes()[:9000]),
    "E2001": command("alir2hdl check net.json", net__json='{"version": 2, "dimensions": 1, "buffers": [], "nodes": []'),
    "E2004": command("alir2hdl generate net.json --weights w.npy -o out.v", **net()),
    "E2010": command(f"alir2hdl calibrate {JET} --samples examples/jet_mlp.csv --bits 8 -o q.json"),
    "N0001": command("alir2hdl check m.json --max-problems 1", m__json=alir([INPUT, op(addr=[5]), op(addr=[6]), op(addr=[7])])),
    "E0138": check(dais([[0, 0, 10, 1 << 32, [-8, 7, 1], 0, 0]])),
    "E0141": command("alir2hdl check m.json --max-width 64", m__json=alir([op(INPUT, interval=[0, (1 << 70) - 1, 1]), RELU])),
    "E0143": check(pipeline((1, 2), (3, 1))),
    "E0150": command("alir2hdl check m.bin", m__bin=words(*ONE_INPUT[:17])),
    "E0151": command("alir2hdl check m.bin", m__bin=words(*ONE_INPUT, 5)),
    "E0152": command("alir2hdl check m.bin", m__bin=words(0, 0, 2, 1, 1, *[0] * 14)),
    "E0153": command("alir2hdl check m.bin --format words", m__bin=word(2, -1)),
    "E0154": command("alir2hdl check m.bin --format words", m__bin=word(0, 3)),
    "E0155": command("alir2hdl check m.bin", m__bin=word(15, 2)),
    "E0156": command("alir2hdl check m.bin", m__bin=lookup(-1)),
    "N0101": check(dais(meta="ALIRModel", version=4)),
    "N0102": check(alir()[:-1] + ', "comment": "by hand"}'),
    "N0103": check(dais([[0, -1, -2, 0, [0, 7, 1], 0, 0]], version=None)),
    "N0104": check(pipeline((1, 1), (1, 1))),
    "E0204": check(lut([0, 4, 9, 7])),
    "E0206": command("alir2hdl check m.json --max-shift 2", m__json=alir([op(INPUT, interval=[-1, 0.875, 0.125]), RELU])),
    "E0212": check(alir([INPUT, op(code=9, data=[0], interval=[-8, 7.75, 0.25])])),
    "E0213": check(lut([0, 1, 2, 3], interval=(0, 7, 0.5))),
    "E0214": check(lut([])),
    "E0215": check(lut([0, 1, 2, 3, 4])),
    "E0216": check(lut([0, 1, 2], x=(2, 3, 1))),
    "E0302": command("alir2hdl verify m.json --assume-intervals --input x.csv --sim iverilog", m__json=alir([op(INPUT, interval=[-8, 6, 0.5]), RELU]), x__csv="7\n"),
    "E0505": command(f"alir2hdl info {JET} --clock-period -1"),
    "E0709": command(f"alir2hdl run {JET} examples/jet_mlp.csv --codes --on-error nan"),
    "E0711": command(f"alir2hdl run {FSM} in", **{"in/x.npy": npy([[1], [2]]), "in/ce.npy": npy([[1], [1]]), "in/rst.npy": npy([[0]])}),
    "E0712": command(f"alir2hdl run {JET}"),
    "E0713": command("alir2hdl run examples/llvlir/crc32.llvlirs x.npy", x__npy=npy([[0.0, 1.5]])),
    "W0701": command("alir2hdl run m.json x.csv --on-error skip", m__json=alir(), x__csv="1\nnan\n"),
    "N0701": command("alir2hdl run m.json x.csv", m__json=alir([op(INPUT, interval=[-2**60, 2**60 - 1, 1]), op(interval=[0, 2**60 - 1, 1])]), x__csv="9007199254740993\n"),
    "N0702": command(f"alir2hdl run design.json examples/moving_average/samples", design__json=(ROOT / FSM).read_text().replace("[0.0], true", "null, true").replace('["rst", true, [[false, 1, 0]], null, null, false, null, "r", null, [0, 1], null], null, true', "null, null, true")),
    "W0802": command(f"alir2hdl generate {JET} --verilog out.vhd"),
    "E0807": command("alir2hdl prove m.json a.v b.vhd", m__json=alir(), a__v=PLAIN, b__vhd="entity e is end;\n"),
    "E0917": command("alir2hdl prove m.json -f files.f", m__json=alir(), files__f="+nonsense+1\n"),
    "E0813": command("alir2hdl check examples/perceptron.onnx --max-bytes 1000"),
    "E0814": command("PATH=tools:$PATH alir2hdl view m.json -o view.html --open", m__json=alir(), **{"tools/xdg-open": "#!/bin/sh\nexit 3\n"}),
    "E0817": command("alir2hdl generate k.llvlirs -o out.v --ii 2 --ii-engine serial", k__llvlirs='llvlir 0\nin %0 "a": i64\n%1 = add.i64 %0, %0\nout "y" = %1\n'),
    "E0901": command("alir2hdl convert a.aag b.aig", a__aag="aag 1 1 0 1 0\n2\n5\n"),
    "E0902": command("alir2hdl convert a.aignet b.aig", a__aignet=words(0, 0, 2)),
    "E0907": command(f"alir2hdl generate {JET} -o out.v --assume-intervals\nalir2hdl prove {JET} out.v"),
    "E0908": command(f"alir2hdl generate m.json -o out.v\nalir2hdl prove m.json out.v --solver true", m__json=alir()),
    "E0910": command(f"alir2hdl prove m.json m.v --via yosys", m__json=alir(), m__v="module m(input [4:0] model_inp, output [3:0] model_out\nendmodule\n"),
    "E0909": command("alir2hdl prove m.json m.v --via yosys", m__json=alir(), m__v=REGISTERED.replace("posedge clk", "posedge gated")),
    "E0930": command("alir2hdl prove m.json m.v", m__json=alir(), m__v="module m(input [3:0] a, output [3:0] b);\nassign b = a;\nendmodule\n"),
    "E0914": command("alir2hdl prove m.json m.v", m__json=alir(), m__v=NETLIST),
    "E0401": design((signal("x", [BYTE, BYTE], True), signal("INTERNAL_f_inp", [BYTE, BYTE])), (F_OUT, Y), logic=BLOCK),
    "E0402": design((F_OUT, Y), logic=BLOCK),
    "E0404": design((X, signal("q", reg=True, to=[1, 2])), (signal("q", reg=True, to=[1, 2]), Y)),
    "E0405": design((X, signal("q", reg=True, rst=RST)), (signal("q", reg=True, rst=RST), Y)),
    "E0406": design((signal("x", [BYTE, BYTE], True, view=[1, 3]), signal("y", [BYTE, BYTE], True))),
    "E0407": design((signal("x", [BYTE, BYTE], True, view=[0, 1], index=[signal("i", [(True, 1, 0)], True), 1]), Y)),
    "E0408": design((X, signal("q", reg=True, to=[0]), signal("en", port=True)), (signal("q", reg=True, to=[0]), Y)),
    "E0409": design((signal("x", [BYTE, BYTE], True), Y)),
    "E0410": design((X, F_IN), (X, F_OUT), (F_OUT, Y), logic=BLOCK),
    "E0411": design((X, Y, EN)),
    "E0412": design((X, Y), (signal("z", port=True), Y)),
    "E0414": design((signal("w"), signal("w")), (signal("w"), Y)),
    "E0415": design((signal("x", [BYTE, (True, 8, 0)], True, view=[0, 1], index=[signal("i", [BIT], True), 1]), Y)),
    "E0422": design((X, Y), (signal("x", [(True, 8, 0)], True), signal("z", [(True, 8, 0)], True))),
    "E0423": design((signal("x", [(True, 70000, 0)], True), Y)),
    "E0424": design((X, signal("q", reg=True, to=[0.5])), (signal("q", reg=True, to=[0.5]), Y)),
    "E1403": raw_kernel((0, 1, *NEG)),
    "E1404": raw_kernel((0, 0, *NEG[:-1])),
    "E1405": raw_kernel((0, 0, *NEG, 0)),
    "E1406": raw_kernel((0, 0, 0x81, 0, *NEG[1:])),
    "E1407": raw_kernel((0, 0, *NEG[:6], 0x99, 2, *NEG[7:])),
    "E1412": raw_kernel((0, 0, *NEG[:5], 1, 9, 2, 1, 0x74, *NEG[-5:])),
    "E1413": raw_kernel((0, 0, *NEG[:3], 3, *NEG[4:])),
    "E1416": raw_kernel((0, 0, *NEG[:8], 0, *NEG[9:])),
    "E1422": kernel(IN + 'label.local "t"\nword.i8 1\n%a0 = consta.local "t"\n%2 = ld.i8 %a0, 0, 16\n' + OUT),
    "E1427": kernel('in %x0 "x": v2.i8\nin %m0 "m": m2\n%x1 = pair.add.v2.i8.2 %x0, %m0\nout "y" = %x1\n'),
    "E1428": kernel('in %x0 "x": v16.i8\nin %0 "p": i64\nin %m0 "m": m16\n%x1 = permute_8x8.v16.i8 %x0, %0, %m0\nout "y" = %x1\n'),
    "E1433": kernel(IN + 'ustring "\\xff"\n' + OUT),
    "E1435": command("alir2hdl check k.llvlirs --max-table-entries 2", k__llvlirs="llvlir 0\n" + IN + "word.i8 1\nword.i8 2\nword.i8 3\n" + OUT),
    "E0812": command("alir2hdl run examples/quantised_network/network.onnx x.csv", x__csv=",".join(["nan"] + ["0"] * 11) + "\n"),
    "E1001": command("ALIR2HDL_IVERILOG=missing alir2hdl verify m.json --sim iverilog", m__json=alir()),
    "E1002": command("ALIR2HDL_IVERILOG=./iverilog alir2hdl verify m.json --sim iverilog", m__json=alir(), iverilog="#!/bin/sh\necho unknown option\nexit 2\n"),
    "E1003": command("ALIR2HDL_IVERILOG=./iverilog alir2hdl verify m.json --sim iverilog --timeout 1", m__json=alir(), iverilog="#!/bin/sh\n[ $1 = -V ] || exec sleep 9\n"),
    "E1004": command("ALIR2HDL_IVERILOG=./iverilog alir2hdl verify m.json --sim iverilog", m__json=alir(), iverilog="#!/bin/sh\nkill -SEGV $$\n"),
    "E1007": command("alir2hdl verify m.json --sim iverilog --keep wave", m__json=alir(), **{"wave/iverilog/notes.txt": "mine"}),
    "E1008": command("alir2hdl verify m.json --sim iverilog --input x.csv --expect y.csv", m__json=alir(), x__csv="1\n2\n", y__csv="1\n"),
    "E1010": command("alir2hdl verify m.json --sim iverilog --rtl m.v", m__json=alir(), m__v=PLAIN.replace("?", "!")),
    "E1011": command("alir2hdl verify m.json --codes", m__json=alir()),
    "E1012": command("alir2hdl project m.json -o build --input x.csv --expect y.csv", m__json=alir(), x__csv="1\n2\n", y__csv="1\n3\n"),
    "E1101": command("alir2hdl convert m.bin m.json", m__bin=word(17, 60)),
    "E1103": command("alir2hdl convert m.bin m.json", m__bin=lookup(1 << 30, bits=31)),
    "E1105": command("alir2hdl convert m.json m.bin --to bytecode4", m__json=alir([op(INPUT, interval=[0, 2.0**-200, 2.0**-200]), op(interval=[0, 2.0**-200, 2.0**-200])])),
    "E1107": command("alir2hdl convert a.aag m.json", a__aag="aag 1 1 0 1 0\n2\n2\n"),
    "E1108": command("alir2hdl convert k.llvlirs k.aig", k__llvlirs='llvlir 0\nin %0 "a": iv1024\nin %1 "b": iv1024\n%2 = mul.iv1024 %0, %1\n' + "".join(f"%{n + 1} = mul.iv1024 %{n}, %1\n" for n in range(2, 22)) + 'out "y" = %22\n'),
    "W1202": command("alir2hdl report build", **{"build/u.rpt": "| Tool Version : Vivado v.2024.1\n| Command      : report_utilization\n| Device : a\n", "build/stat.json": '{"modules": {}}'}),
    "E1202": command("PATH=$PWD/tools:$PATH alir2hdl explore m.json -o sweep --pipeline 1,2 --run", m__json=alir(), **{"tools/snakemake": "#!/bin/sh\necho out of memory\nexit 1\n"}),
    "E1504": command("alir2hdl generate w.npy --input-type s8.0 -o out.v", w__npy=npy([[1e-300], [1e300]])),
    "E1508": command("alir2hdl generate w.npy --input-type s8.0 -o out.v --cmvm-latency nan", w__npy=MATRIX),
    "E2003": command(f"{NET} --nodes layer=9", **net()),
    "W2001": command(NET + " --nodes layer=0", **net(more=[{"layer": 1, "op": "relu", "kernel": "relu", "condition": "turbo", "bindings": [{"arg": "x", "buffer": "y"}, {"arg": "y", "buffer": "y"}]}])),
    "W2002": command(NET, **relu("mn")),
    "E2005": command(NET, **net(**{"w.npy": MATRIX[:-8]})),
    "E2006": command(NET, **net(op="kv_cache", kernel="kv_cache_store")),
    "E2007": command(f"{NET} --max-adders 1", **net()),
    "E2008": command("alir2hdl generate net.json --quant q.json -o out.v", **net()),
    "E2009": command(f"{NET} --max-table-bits 6", **net(op="sigmoid", kernel="sigmoid_forward")),
    "N0820": command("alir2hdl generate net.onnx --input-type s8.0 -o out.v", net__onnx=onnx(3, "Softmax")),
    "W0820": command("alir2hdl generate net.onnx --input-type s8.0 -o out.v", net__onnx=onnx(0.1)),
}


# Corrections of examples: pairs of old and new text, in the command or in a file, or a dictionary of whole files.
CORRECTED = {
    "E0138": [("4294967296", "4")],
    "E0141": [(" --max-width 64", "")],
    "E0143": [{"m.json": pipeline((1, 2), (2, 1))}],
    "E0150": [{"m.bin": words(*ONE_INPUT)}],
    "E0151": [{"m.bin": words(*ONE_INPUT)}],
    "E0153": [{"m.bin": words(*ONE_INPUT)}],
    "E0154": [{"m.bin": words(*ONE_INPUT)}],
    "E0155": [{"m.bin": words(*ONE_INPUT)}],
    "E0156": [{"m.bin": lookup(0)}],
    "N0101": [('"spec_version": 4', '"spec_version": 2')],
    "N0102": [(', "comment": "by hand"', "")],
    "E0204": [("9, 7]", "5, 7]")],
    "E0206": [("[-1, 0.875, 0.125]", "[-1, 0.75, 0.25]")],
    "E0212": [("7.75, 0.25", "7.5, 0.5")],
    "E0213": [("[0, 7, 0.5]", "[0, 7, 1]")],
    "E0214": [('"table": []', '"table": [0, 1, 2, 3]')],
    "E0215": [("[0, 1, 2, 3, 4]", "[0, 1, 2, 3]")],
    "E0216": [("[0, 1, 2]", "[0, 1]")],
    "E0302": [(" --assume-intervals", "")],
    "E0401": [(", [true, 7, 0]", ""), ("[0, 2]", "[0, 1]"), (", [true, 7, 0]", ""), ("[0, 2]", "[0, 1]")],
    "E0402": [{"m.json": design((X, F_IN), (F_OUT, Y), logic=BLOCK)[0]["m.json"]}],
    "E0404": [("[1, 2]", "[1]")] * 2,
    "E0405": [{"m.json": design((X, signal("q", reg=True, rst=RST, to=[0])), (signal("q", reg=True, rst=RST, to=[0]), Y))[0]["m.json"]}],
    "E0406": [("[1, 3]", "[0, 2]")],
    "E0407": [("true, 1, 0", "false, 1, 0")],
    "E0408": [('"en", true, [[true, 7, 0]]', '"en", true, [[false, 1, 0]]')],
    "E0409": [("[0, 2]", "[0, 1]")],
    "E0410": [{"m.json": design((X, F_IN), (F_OUT, Y), logic=BLOCK)[0]["m.json"]}],
    "E0411": [('"alt_src": null', '"alt_src": ' + json.dumps(signal("z", port=True)))],
    "E0412": [('"dst": ["y"', '"dst": ["v"')],
    "E0414": [('"src": ["w"', '"src": ["x"'), ("false", "true")],
    "E0415": [("[true, 8, 0]", "[true, 7, 0]")],
    "E0422": [("true, 8, 0", "true, 7, 0")] * 2,
    "E0423": [("70000", "7")],
    "E0424": [("[0.5]", "[1]")] * 2,
    "E0505": [("-1", "5")],
    "E0709": [(" --codes", "")],
    "E0711": [{"in/rst.npy": npy([[0], [0]])}],
    "E0712": [(JET, f"{JET} examples/jet_mlp.csv")],
    "E0713": [{"x.npy": npy([[0, 1]])}],
    "W0701": [("nan", "2")],
    "W0802": [("--verilog", "--vhdl")],
    "E0807": [("a.v b.vhd", "a.v")],
    "E0917": [{"files.f": "a.v\n", "a.v": PLAIN}],
    "E0812": [("nan", "0")],
    "E0813": [("1000", "1000000")],
    "E0814": [(" --open", "")],
    "E0817": [("--ii 2", "--ii 8")],
    "N0820": [{"net.onnx": onnx(3)}],
    "W0820": [{"net.onnx": onnx(3)}],
    "E0901": [("2\n5", "2\n3")],
    "E0902": [{"a.aignet": words(0, 0)}],
    "E0907": [(" --assume-intervals", "")],
    "E0908": [("--solver true", "--solver cadical")],
    "E0909": [("posedge gated", "posedge clk")],
    "E0910": [{"m.v": PLAIN}],
    "E0930": [{"m.v": PLAIN}],
    "E0914": [("m.v", "m.v --cells cells.v"), {"cells.v": "module GATE(input A, N, output Y);\nassign Y = A & ~N;\nendmodule\n"}],
    "E1001": [("ALIR2HDL_IVERILOG=missing ", "")],
    "E1002": [("ALIR2HDL_IVERILOG=./iverilog ", "")],
    "E1003": [("ALIR2HDL_IVERILOG=./iverilog ", "")],
    "E1004": [("ALIR2HDL_IVERILOG=./iverilog ", "")],
    "E1007": [("--keep wave", "--keep other")],
    "E1008": [{"y.csv": "1\n2\n"}],
    "E1010": [("!", "?")],
    "E1011": [("--codes", "--codes --input x.csv --sim iverilog"), {"x.csv": "1\n2\n"}],
    "E1012": [("1\n3", "1\n2")],
    "E1101": [{"m.bin": word(17, 20)}],
    "E1103": [{"m.bin": lookup(1 << 10, bits=31)}],
    "E1105": [("m.bin --to bytecode4", "m.bin --to bytecode2")],
    "E1107": [("m.json", "a.aig")],
    "E1108": [("convert k.llvlirs k.aig", "generate k.llvlirs -o out.v")],
    "E1403": [{"k.llvlir": b"LLVLIR" + bytes((0, 0, *NEG))}],
    "E0001": [("missing.json.gz", JET)],
    "E0002": [("--pipelin", "--pipeline")],
    "E0003": [(f"--verilog {JET}", "--verilog out.v")],
    "E0004": [(" E9999", "")],
    "E0005": [{"m.json": alir()}],
    "E0104": [(" --max-bytes 1000", "")],
    "E0106": [{"m.json": alir()}],
    "E0110": [{"m.json": alir()}],
    "E0111": [{"m.json": alir()}],
    "E0112": [("null]} []", "null]}")],
    "E0113": [("NaN", "7.5")],
    "E0114": [{"m.json": alir()}],
    "E0115": [("crc32/run.sh", "llvlir/crc32.llvlirs")],
    "E0120": [('["0"]', "[0]")],
    "E0121": [('"Model"', '"ALIRModel"')],
    "E0122": [('"spec_version": 7', '"spec_version": 4')],
    "E0123": [{"m.json": alir()}],
    "E0124": [{"m.json": alir()}],
    "E0125": [{"m.json": alir()}],
    "E0126": [("[2, 1]", "[1, 1]")],
    "E0127": [("0.5], 1]]", "0.5], 1, 4]]")],
    "E0128": [("[0], 77", "[0], 2")],
    "E0129": [("9, [5]", "9, [0]")],
    "E0130": [("[0, 0], 2", "[0], 2")],
    "E0131": [("2, [1, 2]", "2, []")],
    "E0132": [("11, [2, 0]", "11, [1, 0]")],
    "E0133": [(str(1 << 70), "1")],
    "E0134": [("1e400", "1")],
    "E0135": [("7.5, 0.3", "7.5, 0.5")],
    "E0136": [("[8, 7.5", "[-8, 7.5")],
    "E0137": [("7.3", "7.5")],
    "E0139": [("[[-1], 2", "[[0], 2")],
    "E0140": [("[2],", "[0],")],
    "E0142": [("[-8, 7.5]", "[-8, 7.5, 0.5]")],
    "E0201": [(" --max-ops 100", "")],
    "E0202": [(" --max-table-entries 10", "")],
    "E0203": [("[99999]", "[1]")],
    "E0207": [("[[1], 2", "[[0], 2")],
    "E0208": [("-1, [3]", "-1, [0]")],
    "E0209": [("8, [0]", "2, []")],
    "E0211": [(" --max-width 4", "")],
    "E0217": [("[9]", "[1]")],
    "E0301": [("simplfy", "simplify")],
    "E0303": [(" --prove", "")],
    "E0413": [("INTERNAL_stop_inp", "INTERNAL_step_inp")],
    "E0420": [{"design.json": design((X, Y))[0]["m.json"]}],
    "E0421": [('"spec_version": 9', '"spec_version": 4')],
    "E0501": [("-1", "2")],
    "E0502": [("9999999", "9")],
    "E0503": [("0.5", "1.5")],
    "E0504": [(" --pipeline 2", "")],
    "E0506": [("0.9", "20")],
    "E0601": [("--top module", "--top jet")],
    "N0601": [("module.v", "jet.v")],
    "E0602": [("clk=model_inp", "clk=clock")],
    "E0611": [("--axis-width 7", "--axis-width 512")],
    "E0701": [("gz examples", "gz examples/jet_mlp.csv")],
    "E0702": [("x.npy", "examples/jet_mlp.csv")],
    "E0703": [("x.csv", "examples/jet_mlp.csv")],
    "E0704": [("y.npy", "y.csv")],
    "E0705": [("y.xyz", "y.csv")],
    "E0706": [("nan", "2")],
    "E0707": [("x.csv", "x.csv --lookup-miss zero")],
    "N0703": [("volts", "# volts")],
    "N0704": [("100", "7")],
    "E0710": [("999999", "9")],
    "E0801": [("--enable", "--enable --pipeline 2")],
    "W0801": [(" --rom-style block", "")],
    "E0802": [(JET, f"{JET} -o out.v")],
    "W0803": [("--clk-name clock", "--port clk=clock")],
    "N0803": [("--clock", "--device ecp5 --clock")],
    "W0804": [("--pipeline 9", "--pipeline 1")],
    "W0805": [("xc7z020", "xc7z020clg400-1")],
    "W0806": [("xcku5p,lfe5u-25f", "lfe5u-25f,xcku5p")],
    "W0807": [("--device ice40up5k", "--device lfe5u-25f")],
    "W0808": [("--clock-period 3", "--clock-period 10")],
    "E0803": [("--packing 8", "--wrapper axis --packing 16")],
    "E0804": [(" --pipeline 2", "")],
    "E0805": [("-o examples", "-o build")],
    "E0810": [("9999", "4")],
    "W0810": [(" --ii 2 --ii-engine fold", "")],
    "W0811": [(" --delay-model width", "")],
    "E0811": [(" --nodes layer=0", "")],
    "E0815": [("99", "90")],
    "E0816": [(" --pipeline 3", "")],
    "E0818": [("--max-luts 0", "--max-luts 4")],
    "E0819": [("latency 3", "latency 29")],
    "E0820": [("net.onnx", "examples/perceptron.onnx")],
    "E0903": [{"m.v": PLAIN}],
    "E0904": [{"m.v": PLAIN}],
    "E0911": [("prove", "diff")],
    "E0912": [(" --witness m.json", ""), {"m.v": PLAIN}],
    "E0913": [("alir2hdl prove", f"alir2hdl generate {JET} -o m.v\nalir2hdl prove")],
    "E1006": [("ghdl", "iverilog")],
    "E1009": [{"m.v": PLAIN}],
    "E1106": [("out.xyz", "out.json")],
    "E1109": [(JET, "examples/llvlir/crc32.llvlirs")],
    "E1401": [{"k.llvlir": b"LLVLIR" + bytes((0, 0, *NEG))}],
    "E1402": [("llvlir 1\n", "llvlir 0\n" + IN + OUT)],
    "E1404": [{"k.llvlir": b"LLVLIR" + bytes((0, 0, *NEG))}],
    "E1405": [{"k.llvlir": b"LLVLIR" + bytes((0, 0, *NEG))}],
    "E1406": [{"k.llvlir": b"LLVLIR" + bytes((0, 0, *NEG))}],
    "E1407": [{"k.llvlir": b"LLVLIR" + bytes((0, 0, *NEG))}],
    "E1408": [('j.local "x"\n', "")],
    "E1409": [("neg.i7", "neg.i8")],
    "E1410": [("iv0", "iv3")],
    "E1411": [("%x0 = splati.v3.i8", "%m0 = mvm %0\n%x0 = splati.v4.i8")],
    "E1412": [{"k.llvlir": b"LLVLIR" + bytes((0, 0, *NEG[:5], 1, 9, 0, 1, 0x74, *NEG[-5:]))}],
    "E1413": [{"k.llvlir": b"LLVLIR" + bytes((0, 0, *NEG))}],
    "E1414": [('""', '"a"')],
    "E1415": [('%1 "a"', '%1 "b"')],
    "E1416": [{"k.llvlir": b"LLVLIR" + bytes((0, 0, *NEG))}],
    "E1417": [("%7", "%0")],
    "E1418": [("%2 = xor.i16 %0", "%2 = zext.i16.i8 %0\n%3 = xor.i16 %2")],
    "E1419": [("%m0 = mvm %0", "%1 = zext.i16.i8 %0\n%m0 = mvm %1")],
    "E1420": [("300", "100")],
    "E1421": [("less", "lt")],
    "E1422": [("0, 16", "0, 0")],
    "E1423": [("iv12", "iv16")] * 2,
    "E1424": [("zext.i8.i16", "trunc.i8.i16")],
    "E1425": [("trunc.i16.i8", "zext.i16.i8")],
    "E1426": [("check k.llvlirs", "check k.llvlirs --max-division 512")],
    "E1427": [("v2", "v4")] * 2,
    "E1428": [("permute_8x8", "permute_16x4")],
    "E1429": [('label.local "t"\nword.i8 2', 'label.local "u"\nword.i8 2')],
    "E1430": [("%a0 =", 'label.local "t"\nword.i8 1\n%a0 =')],
    "E1431": [('label.local "u"\n', "")],
    "E1432": [("array.3", "array.2")],
    "E1433": [("ustring", "astring")],
    "E1434": [("word.i16 2", "word.i8 2")],
    "E1435": [(" --max-table-entries 2", "")],
    "E1436": [("ld.i16", "ld.i8")],
    "E1437": [{"k.llvlirs": "llvlir 0\n" + IN + OUT}],
    "E1438": [("in a\n", IN + OUT)],
    "E1439": [("shl.i8", "sll.i8")],
    "E1440": [("%0, %0", "%0")],
    "E1441": [("%5", "%2")],
    "E1442": [(" --max-ops 10", "")],
    "E1501": [{"w.npy": MATRIX}],
    "E1502": [("--max-adders 1", "--max-adders 12")],
    "E1503": [("--cmvm-latency 0", "--cmvm-latency 3")],
    "E1504": [{"w.npy": npy([[1e-3], [1e3]])}],
    "E1505": [("w.npy", "w.npy --input-type s8.0")],
    "E1506": [(" --cmvm-latency 9", "")],
    "E1508": [("nan", "3")],
    "E2001": [{"net.json": net()["net.json"]}],
    "E2002": [{"net.json": net()["net.json"]}],
    "E2003": [("layer=9", "layer=0")],
    "W2002": [{"net.json": relu("nm")["net.json"]}],
    "E2004": [("net.json", "net.json --quant q.json")],
    "E2005": [{"w.npy": MATRIX}],
    "E2006": [{"net.json": net()["net.json"]}],
    "E2007": [("--max-adders 1", "--max-adders 12")],
    "E2008": [("q.json", "q.json --weights w.npy")],
    "E2009": [("bits 6", "bits 8")],
    "E2010": [(f"{JET} --samples examples/jet_mlp.csv", "net.json --weights w.npy --samples x.npy"), {"x.npy": npy([[1, 2], [3, 4]]), **net()}],
}

# Codes without an example.
NO_EXAMPLE = {
    "E0000": "An internal error.",
    "E0105": "Needs a disk that fails.",
    "E0205": "Files with such numbers are rejected before, with E0113 or E0134.",
    "E0210": "Files with such a sum are rejected before, with E0130.",
    "E0403": "In a file, equal names are the same signal; programs that build designs through the library can cause it.",
    "E0590": "An internal error.",
    "E0591": "An internal error.",
    "E0690": "An internal error.",
    "E0708": "Needs Ctrl-C during a run.",
    "E0905": "Needs a computer out of memory.",
    "E0906": "Needs a model whose proof exceeds the limit; no small one is known.",
    "E1005": "Needs a full disk.",
    "E1102": "No file is known that causes it: readers split such constants.",
    "E1507": "An internal error.",
}


def codes():
    """The codes of docs/errors.md."""
    return re.findall(r"^\| ([EWN]\d{4}) \|", (ROOT / "docs/errors.md").read_text(), re.M)


def corrected(code):
    """Files and command of the corrected form of an example, and the edits of each file; `None` if there is none.

    An edit is a pair of texts, or `None` if the whole file is another one.
    """
    if code not in CORRECTED:
        return None
    files, text = EXAMPLES[code]
    files, edits = dict(files), {}
    for change in CORRECTED[code]:
        if isinstance(change, dict):
            files.update(change)
            edits.update({name: [None] for name in change})
            continue
        old, new = change
        name = next((name for name, content in files.items() if isinstance(content, type(old)) and old in content), None)
        if name is not None:
            files[name] = files[name].replace(old, new, 1)
            edits.setdefault(name, []).append(change)
        elif old in text:
            text = text.replace(old, new, 1)
        else:
            raise ValueError(f"{old!r} is neither in a file nor in the command")
    return files, text, edits


@functools.cache
def copied_examples():
    """A temporary folder with a copy of examples/, which commands may read."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    shutil.copytree(ROOT / "examples", Path(folder) / "examples", ignore=shutil.ignore_patterns("build"))
    return folder


def execute(files, text, program):
    """Runs commands in a folder with files and examples, until one fails: exit code and output. Files with `#!` are executable."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(Path(copied_examples()) / "examples")
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            path.chmod(0o755 if content[:2] in ("#!", b"#!") else 0o644)
        environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
        try:
            done = subprocess.run(["sh", "-e", "-c", text], cwd=folder, env=environment, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return None, f"nothing within {SECONDS} s"
    return done.returncode, (done.stdout + done.stderr).replace(folder, ".")


def run(code, program):
    """Files, command and message of an example; the message is `None` if the code is not in the output, which comes last."""
    files, text = EXAMPLES[code]
    _, output = execute(files, text, program)
    shown = [line for line in output.splitlines() if line.strip()]
    at = next((number for number, line in enumerate(shown) if f"[{code}]" in line or code in line), None)
    if at is None:
        return files, text, None, output
    after = next((n for n in range(at + 1, len(shown)) if re.match(r"(error|warning|note|bug)\[", shown[n])), len(shown))
    end = max(n for n in range(at, after) if n == at or shown[n].startswith(" "))
    return files, text, "\n".join(shown[at:end + 1]), ""


def dump(name, content):
    """Lines of a console that show a file; none for a long one. Arrays of npy are shown by what writes them."""
    if len(content) > 2000 or not isinstance(content, str) and len(content) > 200:
        return []
    if isinstance(content, str):
        return [f"$ cat {name}", content.rstrip()]
    shape = [int(size) for size in re.findall(rb"\d+", content[content.find(b"'shape'"):content.find(b")")])]
    if name.endswith(".npy") and len(shape) == 2 and len(content) % 64 == shape[0] * shape[1] * 8 % 64:
        values = [value for value, in struct.iter_unpack("<d" if b"<f8" in content else "<q", content[10 + content[8]:])]
        rows = [values[row * shape[1]:(row + 1) * shape[1]] for row in range(shape[0])]
        shown = f"numpy.zeros(({shape[0]}, {shape[1]}), int)" if not values else rows
        return [f"$ python3 -c 'import numpy; numpy.save(\"{name}\", {shown})'"]
    kind = "d4" if name.endswith(".bin") else "x1"
    shown = subprocess.run(["od", "-An", f"-t{kind}"], input=content, capture_output=True, check=True).stdout.decode()
    return [f"$ od -An -t{kind} {name}", shown.rstrip()]


def lacks_tool(code, output):
    """Returns `True` if an example did not run because a simulator or another program is not installed."""
    return code != "E1001" and "[E1001]" in output


def problems(code, program):
    """Problems of an example. With ALLOW_MISSING, as for scripts/test.sh, tools may be missing."""
    _, text, output, other = run(code, program)
    if lacks_tool(code, other) and os.environ.get("ALLOW_MISSING"):
        return []
    if output is None:
        return [f"{code}: {text}\n  printed instead: {other[:300]}"]
    if code not in CORRECTED:
        return []
    try:
        files, text, _ = corrected(code)
    except ValueError as error:
        return [f"{code}, corrected: {error}"]
    status, output = execute(files, text, program)
    if lacks_tool("", output) and os.environ.get("ALLOW_MISSING"):
        return []
    if status != 0 or f"[{code}]" in output:
        return [f"{code}, corrected: {text}\n  exit code {status}: {output[:300]}"]
    return []


def main():
    program, named = Path(sys.argv[1]).resolve(), sys.argv[2:]
    for code in named:
        for title, example in (("example", EXAMPLES[code]), ("corrected", corrected(code))):
            if example is None:
                continue
            files, text, *_ = example
            shown = [line for name, content in files.items() for line in dump(name, content)]
            print(f"--- {code}, {title}:", *shown, f"$ {text}", execute(files, text, program)[1], sep="\n")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failed = [line for lines in pool.map(lambda code: problems(code, program), named or EXAMPLES) for line in lines]
    listed = codes()
    failed += [f"{code}: neither an example nor a reason" for code in listed if code not in EXAMPLES and code not in NO_EXAMPLE]
    failed += [f"{code}: not in docs/errors.md" for code in [*EXAMPLES, *NO_EXAMPLE] if code not in listed]
    failed += [f"{code}: an example and a reason" for code in NO_EXAMPLE if code in EXAMPLES]
    for line in failed:
        print(line)
    print(f"{len(EXAMPLES)} examples, {len(CORRECTED)} with a correction, {len(NO_EXAMPLE)} codes without; {len(failed)} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
