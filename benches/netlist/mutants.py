#!/usr/bin/env python3
"""Mutations of netlists: verdicts of `prove` against simulation in Icarus Verilog with the cell models of Yosys.

    benches/netlist/mutants.py ALIR2HDL --yosys PROGRAM[=SHARE]... [--count N] [--families LIST] [--cases FILE] [CASE...]

A CASE is MODEL[,OPTION...], with +h for a netlist with hierarchy. Each is written, synthesised for each family by each Yosys, proved
once, and mutated N times: a bit of a look-up table or of a ROM, exchanged carries or pins, a register's power-on value, reset value,
or the polarity of its enable or reset. `prove` may find equal what simulation finds equal, never what it finds different. The
counterexample of `prove` is simulated, too. SHARE holds the cell models of a Yosys. The exit code is 1 if a verdict is wrong.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import simulate
import table

# Cells with an opposite reset value, and the name of their reset port.
RESETS = [("FDRE", "R", "FDSE", "S"), ("FDCE", "CLR", "FDPE", "PRE"), ("SB_DFFESR", "R", "SB_DFFESS", "S"), ("SB_DFFSR", "R", "SB_DFFSS", "S"), ("SB_DFFER", "R", "SB_DFFES", "S"), ("SB_DFFR", "R", "SB_DFFS", "S"), ("DFFRE", "RESET", "DFFSE", "SET"), ("DFFR", "RESET", "DFFS", "SET"), ("DFFCE", "CLEAR", "DFFPE", "PRESET"), ("DFFC", "CLEAR", "DFFP", "PRESET")]
# Ports of carry cells that are exchanged.
CARRIES = {"CARRY4": [("DI", "S")], "CARRY8": [("DI", "S")], "CCU2C": [("A0", "CIN"), ("B1", "CIN"), ("A0", "C1")], "SB_CARRY": [("CI", "I0"), ("CI", "I1")], "ALU": [("CIN", "I0"), ("I1", "CIN")], "MISTRAL_ALUT_ARITH": [("CI", "A"), ("A", "D1"), ("B", "C")]}

# Data inputs of look-up tables, multiplexers and carry cells.
PINS = ["I0", "I1", "I2", "I3", "I4", "I5", "A", "B", "C", "D", "E", "F", "A0", "B0", "C0", "D0", "A1", "B1", "C1", "D1", "S", "S0", "SD", "BLUT", "ALUT"]
VERDICTS = {0: "proved", 1: "differs", 2: "refused", 5: "unknown", None: "time limit"}
LIBRARIES = {"xc7": "xilinx", "xcup": "xilinx", "intel_alm": "intel"}
SIMULATED = ["equal", "equal results", "differs", "unknown", "time limit", "not compiled"]


class Cells:
    """Instances of a netlist: text of each, with its cell and its place."""

    def __init__(self, text):
        self.text = text
        self.all = []
        for found in re.finditer(r"^  (\\\S+ |\w+) (?:#\((.*?)\n  \) )?(\\\S+ |\w+) ?\(\n(.*?)\n  \);", text, re.M | re.S):
            if found[1].strip() not in ("module", "assign"):
                self.all.append((found[1].strip(), found.start(), found.end()))

    def replaced(self, at, instance):
        _, start, end = self.all[at]
        return self.text[:start] + instance + self.text[end:]


def flipped(number, bit):
    """A Verilog number with one bit flipped; `None` if the bit is undefined."""
    size, base, digits = re.fullmatch(r"(\d+)'s?([hbd])([0-9a-fx]+)", number).groups()
    per = {"h": 4, "b": 1}.get(base)
    if per is None:
        return f"{size}'d{int(digits) ^ 1 << bit}"
    digits = digits.rjust(-(-int(size) // per), "0")
    at = len(digits) - 1 - bit // per
    if digits[at] == "x":
        return None
    digits = digits[:at] + format(int(digits[at], 16) ^ 1 << bit % per, "x") + digits[at + 1 :]
    return f"{size}'{base}{digits}"


def port(instance, name):
    return re.search(r"\." + name + r"\(((?:[^()]|\([^()]*\))*)\)", instance)


def mutations(cell, instance, rng):
    """Mutations of an instance with the kind of each."""
    for parameter in re.finditer(r"\.(INIT\w*|LUT_INIT|LUT\d?|INITVAL_\w+)\((\d+'s?[hbd][0-9a-fx]+)\)", instance):
        size = int(parameter[2].split("'")[0])
        register = "FF" in cell or re.match(r"FD[RSCP]E|DFF", cell)
        kind = "init" if register else "ROM bit" if "RAM" in cell or "ROM" in cell or "DP16KD" in cell else "LUT bit"
        number = flipped(parameter[2], rng.randrange(size))
        if number and not (cell.startswith("SRL")):
            yield kind, instance[: parameter.start(2)] + number + instance[parameter.end(2) :]
    for a, b in CARRIES.get(cell, []):
        first, second = port(instance, a), port(instance, b)
        if first and second and first[1] != second[1]:
            changes = sorted([(first.start(1), first.end(1), second[1]), (second.start(1), second.end(1), first[1])], reverse=True)
            mutated = instance
            for start, end, text in changes:
                mutated = mutated[:start] + text + mutated[end:]
            yield "carry", mutated
    for clear, clear_port, preset, preset_port in RESETS:
        for this, here, other, there in ((clear, clear_port, preset, preset_port), (preset, preset_port, clear, clear_port)):
            if cell == this and port(instance, here):
                text = instance.replace(f"  {this} ", f"  {other} ", 1)
                yield "reset value", re.sub(r"\." + here + r"\(", f".{there}(", text, count=1)
    if '.REGSET("' in instance:
        yield "reset value", instance.replace('"RESET"', '"?"').replace('"SET"', '"RESET"').replace('"?"', '"SET"')
    inputs = [found for name in PINS for found in [port(instance, name)] if found and found[1].strip() and "{" not in found[1]]
    if len(inputs) > 1 and re.search(r"LUT|CARRY|CCU2C|^ALU$|MUX|DSP|MULT", cell):
        first, second = sorted(rng.sample(inputs, 2), key=lambda found: found.start())
        if first[1] != second[1]:
            yield "pins", instance[: first.start(1)] + second[1] + instance[first.end(1) : second.start(1)] + first[1] + instance[second.end(1) :]
    is_register = re.match(r"FD[RSCP]E|SB_DFF|DFF|TRELLIS_FF|MISTRAL_FF", cell)
    for name in ("CE", "E", "ENA", "R", "S", "RESET", "SET", "CLR", "PRE", "CLEAR", "PRESET", "LSR", "SLOAD", "SCLR", "ACLR"):
        found = port(instance, name)
        if is_register and found and "'" not in found[1] and found[1].strip():
            yield "polarity", instance[: found.start(1)] + "~" + found[1] + instance[found.end(1) :]


def used_models(share, family, netlist, folder):
    """One file with the modules that a netlist uses: the libraries are long."""
    modules = {}
    for model in simulate.MODELS[family]:
        text = (pathlib.Path(share) / model).read_text()
        text = re.sub(r'`include "([^"]+)"', lambda found: next((p.read_text() for p in (pathlib.Path(share) / model).parent.glob("**/" + pathlib.Path(found[1]).name)), ""), text)
        heads = "".join(re.findall(r"^`(?:define|timescale).*\n(?:(?<=\\\n).*\n)*", text, re.M))
        modules.setdefault("", "")
        modules[""] += heads
        for found in re.finditer(r"^\s*(?:\(\*[^\n]*\*\)\s*)*module \\?([\w$]+).*?^\s*endmodule", text, re.M | re.S):
            modules[found[1]] = found[0]
    needed, stack = {}, [netlist]
    while stack:
        for name in set(re.findall(r"[\w$]+", stack.pop())):
            if name in modules and name not in needed:
                needed[name] = modules[name]
                stack.append(modules[name])
    # Yosys has no behaviour of some memories and multipliers: those are of the library of alir2hdl, as a second choice.
    ours = (pathlib.Path(__file__).parents[2] / f"crates/hdl/cells/{LIBRARIES.get(family, family)}.v").read_text()
    described = {found[1]: found[0] for found in re.finditer(r"^module (\w+).*?^endmodule", ours, re.M | re.S)}
    for name in set(re.findall(r"\w+", netlist)) & described.keys():
        if re.match(r"RAMB|DP16KD|MULT|DSP48|pROM|SP$", name) and not re.search(r"\b(assign|always)\b", needed.get(name, "")):
            needed[name] = described[name]
    # Processes without a change of their inputs have to run, too, and Icarus 12 aborts if an input is a constant net.
    text = re.sub(r"always @(\*|\(\*\))", "always_comb", "\n".join(needed.values()))
    text = re.sub(r"assign ([GVP]) = (?:1'b)?([01]);", r"reg value = 1'b\2; assign \1 = value;", text)
    path = folder / "cells.v"
    path.write_text(f"{modules['']}\n{text}\n")
    return path


def kept(args, name, mutant, rtl, why):
    """Keeps a mutant that needs a look."""
    folder = pathlib.Path(args.keep) / re.sub(r"[^A-Za-z0-9]+", "_", name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.v").write_text(mutant)
    (folder / "why").write_text(why)
    shutil.copy(rtl, folder)


def pair(args, yosys, share, case, family):
    """Mutates the netlist of one case, family and Yosys; returns a row, and counts of (kind, verdict, simulation)."""
    model, *options = case.split(",")
    flow = table.FLOWS[family]["+h" in options]
    label = f"{pathlib.Path(model).parent.name} {' '.join(options)}"
    options = [option for option in options if option != "+h"]
    model = str(pathlib.Path(model).resolve())
    head = f"| {label} | {family} | {pathlib.Path(yosys).name} |"
    rng = random.Random(f"{args.seed} {head}")
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rtl, net, log = folder / "dut.v", folder / "net.v", folder / "log"
        code, _, text = table.run([args.alir2hdl, model, *options, "--top", "dut", "--verilog", str(rtl)], 100, log)
        assert code == 0, text
        code, _, text = table.run([yosys, "-q", "-p", f"read_verilog dut.v; {flow} -top dut; write_verilog -noattr net.v"], 200, log)
        if code != 0:
            return f"{head} synthesis failed |", counts
        original = net.read_text()
        everything = original + " ".join(name for clear, _, preset, _ in RESETS for name in ("", clear, preset))
        models = used_models(share, family, everything, folder)
        prove = [args.alir2hdl, "prove", model, str(net), "--top", "dut", "--rtl", str(rtl)]

        def simulated(text, inputs=()):
            net.write_text(text)
            files = simulate.prepare(folder, family, rtl, "dut", share, inputs, args.samples)
            try:
                verdict, said = simulate.simulate(folder, [*files[:2], models], net, share, family, 40)
            except subprocess.TimeoutExpired:
                verdict, said = "time limit", ""
            return (verdict if verdict in SIMULATED else "not compiled"), said

        net.write_text(original)
        code, _, said = table.run(prove, args.limit, log)
        verdict, lines = simulated(original)
        if code != 0 or verdict != "equal":
            kept(args, f"{head} itself", original, rtl, f"{said}\n{lines}\n{model}\n")
            return f"{head} the netlist itself: {VERDICTS.get(code, code)}, simulation: {verdict} |", counts
        cells = Cells(original)
        choices = collections.defaultdict(list)
        for at, (cell, start, end) in enumerate(cells.all):
            for kind, text in mutations(cell, original[start:end], rng):
                choices[kind].append((at, text))
        seen = set()
        for _ in range(args.count * 4):
            if sum(counts.values()) == args.count or not choices:
                break
            # About a third of the mutants are bits of look-up tables.
            kind = "LUT bit" if "LUT bit" in choices and rng.random() < 0.2 else rng.choice(sorted(choices))
            at, text = rng.choice(choices[kind])
            if (at, text) in seen:
                continue
            seen.add((at, text))
            mutant = cells.replaced(at, text)
            net.write_text(mutant)
            code, _, said = table.run(prove, args.limit, log)
            verdict = VERDICTS.get(code, f"exit code {code}")
            simulation, lines = simulated(mutant, table.counterexample(said) if code == 1 else ())
            counts[kind, verdict, simulation] += 1
            if (verdict, simulation) not in (("proved", "equal"), ("proved", "equal results"), ("differs", "differs")):
                cell, start, end = cells.all[at]
                kept(args, f"{verdict} {simulation} {head} {len(seen)}", mutant, rtl, f"{kind}: {cell}\n{original[start:end]}\n{text}\n{said}\n{lines}\n{model}\n")
    found = collections.Counter()
    for (_, verdict, simulation), n in counts.items():
        found[verdict, simulation] += n
    return f"{head} {sum(counts.values())} | {', '.join(f'{verdict}/{simulation} {n}' for (verdict, simulation), n in sorted(found.items()))} |", counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("alir2hdl")
    parser.add_argument("--yosys", action="append", required=True)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--cases", dest="file", help="file with one case a line")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--families", default=",".join(table.FLOWS))
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds for a proof")
    parser.add_argument("--every", type=int, default=1, help="only every Nth pair of case and family; Yosys programs take turns")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", default="mutants")
    args = parser.parse_intermixed_args()
    args.alir2hdl = shutil.which(args.alir2hdl) or sys.exit(f"{args.alir2hdl}: not found")
    lines = pathlib.Path(args.file).read_text().splitlines() if args.file else []
    cases = args.cases + [line for line in lines if line and not line.startswith("#")]
    programs = []
    for yosys in args.yosys:
        program, _, share = yosys.partition("=")
        programs.append((shutil.which(program) or sys.exit(f"{program}: not found"), share or "/usr/share/yosys"))
    totals = collections.Counter()
    pairs = [(*program, case, family) for c, case in enumerate(cases) for f, family in enumerate(args.families.split(",")) for p, program in enumerate(programs) if (c + f + p) % args.every == 0]
    print("| case | family | Yosys | mutants | verdict of `prove`/simulation |\n|---|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(pair, args, *of) for of in pairs]
        for job in jobs:
            line, counts = job.result()
            print(line, flush=True)
            totals.update(counts)
    for which, title in ((1, "`prove`"), (0, "mutation")):
        print(f"\n| {title} | mutants | {' | '.join(f'simulation: {simulation}' for simulation in SIMULATED)} |\n|---{'|---' * (len(SIMULATED) + 1)}|")
        for name in sorted({key[which] for key in totals}):
            of = [sum(n for key, n in totals.items() if key[which] == name and key[2] == simulation) for simulation in SIMULATED]
            print(f"| {name} | {sum(of)} | {' | '.join(map(str, of))} |")
    wrong = sum(n for key, n in totals.items() if key[1:] == ("proved", "differs"))
    print(f"\n{sum(totals.values())} mutants, {wrong} proved wrongly")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
