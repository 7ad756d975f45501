#!/usr/bin/env python3
"""Simulation of a netlist alongside the RTL that it was made from, in Icarus Verilog with the cell models of Yosys.

    benches/netlist/simulate.py FAMILY RTL NETLIST [--share /usr/share/yosys] [--top dut] [--inputs CODES]... [--samples N]

The RTL is one that alir2hdl wrote: its header comment states the elements of the ports. Both get the same random inputs, enables and
resets. Where an output bit of the RTL is known, the netlist's has to be equal; with a valid flag, data outputs in the enabled clocks of a
result only: where the flag is 1, and in the rest of the initiation interval. The last line is `equal`, `equal results` (bits with the
opposite value where no result is), `differs` (such a bit of a result) or `unknown` (an undefined bit); the exit code is 0, 0, 1 or 3.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

MODELS = {
    "xc7": ["xilinx/cells_sim.v"],
    "xcup": ["xilinx/cells_sim.v"],
    "ecp5": ["ecp5/cells_sim.v"],
    "ice40": ["ice40/cells_sim.v"],
    "gowin": ["gowin/cells_sim.v"],
    "intel_alm": [f"intel_alm/common/{name}_sim.v" for name in ("alm", "dff", "dsp", "mem", "misc")],
}
CONTROLS = {"clk", "rst", "rst_n", "ce", "valid_in"}


class Interface:
    """Ports of the top module, and the bits of each element of the inputs."""

    def __init__(self, text, top):
        self.ports = re.findall(r"^\s*(input|output)\s+(?:wire|reg)?\s*(?:signed\s*)?(?:\[(\d+):0\])?\s*(\w+)", text.split(f"module {top} ")[1].split(");")[0], re.M)
        self.ports = [(direction, int(high or 0) + 1, name) for direction, high, name in self.ports]
        interval = re.search(r"^// latency .*initiation interval (\d+)", text, re.M)
        self.interval = int(interval[1]) if interval else 1
        self.data = [(width, name) for direction, width, name in self.ports if direction == "input" and name not in CONTROLS]
        self.elements = []
        # An input without bits has a raw integer value, too.
        for empty, name, high, low in re.findall(r"^//\s+(?:(inp\[\d+\]: always 0, no bits)|\S+: (\w+)\[(\d+)(?::(\d+))?\], [su])", text, re.M):
            if empty:
                self.elements.append((self.data[0][1], 0, 0))
            elif any(name == port for _, port in self.data):
                low = int(low or high)
                self.elements.append((name, low, int(high) - low + 1))

    def packed(self, codes):
        """Returns the input bits of raw integer values, one an element."""
        words = dict.fromkeys((name for _, name in self.data), 0)
        for (name, low, width), code in zip(self.elements, codes, strict=True):
            words[name] |= (code & (1 << width) - 1) << low
        return self.concatenated(words)

    def concatenated(self, words):
        value = 0
        for width, name in self.data:
            value = value << width | words[name]
        return value

    @property
    def width(self):
        return sum(width for width, _ in self.data)


def random_value(width, elements, rng):
    """Random bits, or random elements of few kinds of values: small, extreme, equal."""
    if rng.random() < 0.3 or not elements:
        return {}, rng.getrandbits(width)
    words, shared = {}, rng.getrandbits(64)
    kind = rng.randrange(4)
    for name, low, size in elements:
        code = [rng.getrandbits(size), rng.randrange(-4, 5), rng.choice([0, -1, 1 << size >> 1, (1 << size >> 1) - 1]), shared + rng.randrange(-1, 2)][kind]
        words[name] = words.get(name, 0) | (code & (1 << size) - 1) << low
    return words, None


def testbench(interface, top, vectors, is_clocked):
    names = {name for _, _, name in interface.ports}
    reset = next((name for name in ("rst", "rst_n") if name in names), None)
    active = 0 if reset == "rst_n" else 1
    lines = ["`timescale 1ns/1ps", "module tb;", f"reg [{interface.width - 1}:0] vectors [0:{len(vectors) - 1}];", f"reg [{interface.width - 1}:0] v;", "integer i, bad, unknown, known, idle;"]
    for direction, width, name in interface.ports:
        if direction == "input":
            lines.append(f"reg [{width - 1}:0] {name};" if name in CONTROLS else f"wire [{width - 1}:0] {name};")
        else:
            lines.append(f"wire [{width - 1}:0] rtl_{name}, net_{name};")
    lines.append("assign {" + ", ".join(name for _, name in interface.data) + "} = v;")
    for module, prefix in (("rtl_" + top, "rtl_"), (top, "net_")):
        ports = ", ".join(f".{name}({name if direction == 'input' else prefix + name})" for direction, _, name in interface.ports)
        lines.append(f"{module} u_{prefix} ({ports});")
    # Data outputs are compared while a result is valid; `age` counts the enabled clocks since its flag.
    gated = "valid_out" in names
    lines.append("integer age; task check; begin")
    for direction, width, name in interface.ports:
        if direction == "output":
            a, b = f"rtl_{name}", f"net_{name}"
            is_result = "1" if not gated or name in ("valid_out", "ready") else f"rtl_valid_out === 1'b1 || age < {interface.interval}"
            lines.append(f"""if ({is_result}) begin known = known + ((^{a}) !== 1'bx);
if (((({a} ^ {b}) & ~({a} ^ {a})) | 0) !== 0 && {a} !== {b}) begin : c_{name} integer k;
  for (k = 0; k < {width}; k = k + 1) if ({a}[k] !== 1'bx && {a}[k] !== {b}[k]) begin
    if ({b}[k] === 1'bx || {b}[k] === 1'bz) begin if (unknown < 5) $display("unknown bit %0d of {name} at vector %0d %0t", k, i, $time); unknown = unknown + 1; end
    else begin if (bad < 20) $display("bit %0d of {name} at vector %0d %0t: rtl %b netlist %b", k, i, $time, {a}[k], {b}[k]); bad = bad + 1; end
  end
end end else if ({a} !== {b} && ^({a} ^ {b}) !== 1'bx) idle = idle + 1;""")
    lines.append("end endtask")
    lines.append('initial begin age = 1000000; bad = 0; unknown = 0; known = 0; idle = 0; $readmemh("vectors.hex", vectors); v = vectors[0];')
    if is_clocked:
        lines.append("clk = 0;" + (" ce = 1;" if "ce" in names else "") + (" valid_in = 1;" if "valid_in" in names else "") + (f" {reset} = {active};" if reset else ""))
    lines.append(f"for (i = 0; i < {len(vectors)}; i = i + 1) begin v = vectors[i];")
    if is_clocked:
        # Resets come in pairs of clocks: a reset that is not an enabled clock clears what it touches, too.
        if reset:
            lines.append(f"{reset} = (i < 4 || (i > 200 && $urandom % 64 == 0)) ? {active} : {1 - active};")
        for name in ("ce", "valid_in"):
            if name in names:
                lines.append(f"{name} = i < 8 || i > {len(vectors) - 160} || $urandom % 4 != 0;")
        enabled = "ce" if "ce" in names else "1"
        counts = f"if ({enabled}) age = rtl_valid_out === 1'b1 ? 1 : age + 1;" if gated else ""
        if gated and reset:
            counts = f"if ({reset} == {active}) age = 1000000; else {counts}"
        lines.append(f"#4; if (i > 4) check; {counts} #1 clk = 1; #4; if (i > 4) check; #1 clk = 0;")
    else:
        lines.append("#10 check;")
    lines.append('end $display("checks with known outputs %0d", known); $display("opposite bits %0d, unknown bits %0d", bad, unknown); if (bad) $display("differs"); else if (idle) $display("equal results"); else if (unknown) $display("unknown"); else $display("equal"); $finish; end endmodule')
    return "\n".join(lines) + "\n"


def prepare(folder, family, rtl, top, share, inputs=(), samples=400, seed=1):
    """Writes testbench, vectors and the renamed RTL; returns the files to compile with a netlist."""
    text = pathlib.Path(rtl).read_text()
    interface = Interface(text, top)
    is_clocked = any(name == "clk" for _, _, name in interface.ports)
    rng = random.Random(seed)
    vectors = [0, (1 << interface.width) - 1]
    for codes in inputs:
        vectors += [interface.packed(codes)] * (120 if is_clocked else 1)
    wanted = [interface.packed(codes) for codes in inputs]
    while len(vectors) < samples + len(inputs) * 120:
        words, value = random_value(interface.width, interface.elements, rng)
        value = interface.concatenated({name: words.get(name, 0) for _, name in interface.data}) if value is None else value
        vectors += [value] * (1 if not is_clocked or rng.random() < 0.6 else rng.choice([2, 50]))
        # A counterexample may need another sample before it.
        vectors += wanted if rng.random() < 0.5 else []
    (folder / "vectors.hex").write_text("".join(f"{value:x}\n" for value in vectors))
    (folder / "tb.v").write_text(testbench(interface, top, vectors, is_clocked))
    # The modules of the RTL are renamed: a hierarchical netlist has modules of the same names.
    modules = re.findall(r"^module (\w+)", text, re.M)
    (folder / "rtl.v").write_text(re.sub(r"\b(" + "|".join(modules) + r")\b(?=[\s#(]|$)", r"rtl_\1", text))
    return [folder / "tb.v", folder / "rtl.v", *(pathlib.Path(share) / model for model in MODELS[family])]


def simulate(folder, files, netlist, share, family, limit=300):
    """Compiles and runs; returns the last line and all lines."""
    command = ["iverilog", "-g2012", "-DNO_ICE40_DEFAULT_ASSIGNMENTS", "-o", "sim", "-s", "tb", *(f"-I{pathlib.Path(share) / pathlib.Path(m).parent}" for m in MODELS[family]), *map(str, files), str(netlist)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit)
    if done.returncode:
        return "not compiled", done.stderr
    done = subprocess.run(["vvp", "-n", "sim"], cwd=folder, capture_output=True, text=True, timeout=limit)
    lines = done.stdout.strip().splitlines()
    return (lines or ["no result"])[-1], done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=MODELS)
    parser.add_argument("rtl")
    parser.add_argument("netlist")
    parser.add_argument("--share", default="/usr/share/yosys")
    parser.add_argument("--top", default="dut")
    parser.add_argument("--inputs", action="append", default=[], help="raw integer values, separated by commas or spaces")
    parser.add_argument("--samples", type=int, default=400)
    args = parser.parse_args()
    inputs = [[int(code) for code in re.split(r"[,\s]+", codes.strip())] for codes in args.inputs]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = prepare(folder, args.family, args.rtl, args.top, args.share, inputs, args.samples)
        verdict, text = simulate(folder, files, pathlib.Path(args.netlist).resolve(), args.share, args.family)
    print(text.strip())
    sys.exit({"equal": 0, "equal results": 0, "differs": 1, "unknown": 3}.get(verdict, 2))


if __name__ == "__main__":
    main()
