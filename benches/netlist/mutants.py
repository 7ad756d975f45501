#!/usr/bin/env python3
"""Mutations of netlists: verdicts of `prove` against simulation in Icarus Verilog with the cell models of Yosys.

    benches/netlist/mutants.py ALIR2HDL YOSYS --count N [--share DIR] [--families LIST] CASE...

A CASE is MODEL[,OPTION...]. Each is written, synthesised for each family, proved once, and mutated N times: a bit of a look-up table, an
exchanged carry, a register's power-on value, reset value or enable, a bit of a ROM. `prove` may find equal what simulation finds equal,
never what it finds different. The counterexample of `prove` is simulated, too. The exit code is 1 if a verdict is wrong.
"""

import argparse
import collections
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
    path = folder / "cells.v"
    path.write_text(modules[""] + "\n" + "\n".join(needed.values()) + "\n")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("alir2hdl")
    parser.add_argument("yosys")
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--families", default=",".join(table.FLOWS))
    parser.add_argument("--share", default="/usr/share/yosys")
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--keep", default="mutants")
    args = parser.parse_args()
    args.alir2hdl, args.yosys = (shutil.which(tool) or sys.exit(f"{tool}: not found") for tool in (args.alir2hdl, args.yosys))
    rng = random.Random(args.seed)
    totals, wrong = collections.Counter(), []
    print("| case | family | mutants | different: both | equal: both | only `prove` differs | wrongly proved | undecided | kinds |\n|---|---|---|---|---|---|---|---|---|")
    for case in args.cases:
        model, *options = case.split(",")
        model = str(pathlib.Path(model).resolve())
        for family in args.families.split(","):
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                rtl, net, log = folder / "dut.v", folder / "net.v", folder / "log"
                name = f"{pathlib.Path(model).parent.name} {' '.join(options)}"
                code, _, text = table.run([args.alir2hdl, model, *options, "--top", "dut", "--verilog", str(rtl)], 100, log)
                assert code == 0, text
                code, _, text = table.run([args.yosys, "-q", "-p", f"read_verilog dut.v; {table.FLOWS[family][0]} -top dut; write_verilog -noattr net.v"], 200, log)
                if code != 0:
                    print(f"| {name} | {family} | synthesis failed |", flush=True)
                    continue
                original = net.read_text()
                everything = original + "FDSE FDRE FDCE FDPE SB_DFFSS SB_DFFSR SB_DFFESS SB_DFFESR SB_DFFS SB_DFFR SB_DFFES SB_DFFER DFFS DFFR DFFSE DFFRE DFFP DFFC DFFPE DFFCE"
                models = used_models(args.share, family, everything, folder)
                prove = [args.alir2hdl, "prove", model, str(net), "--top", "dut", "--rtl", str(rtl)]

                def verdict_of(text, inputs=()):
                    net.write_text(text)
                    files = simulate.prepare(folder, family, rtl, "dut", args.share, inputs, args.samples)
                    return simulate.simulate(folder, [*files[:2], models], net, args.share, family)[0]

                net.write_text(original)
                code = table.run(prove, 100, log)[0]
                verdict = verdict_of(original)
                if code != 0 or verdict != "equal":
                    print(f"| {name} | {family} | the netlist itself: prove {code}, simulation {verdict} |", flush=True)
                    continue
                cells = Cells(original)
                choices = {}
                for at, (cell, start, end) in enumerate(cells.all):
                    for kind, text in mutations(cell, original[start:end], rng):
                        choices.setdefault(kind, []).append((at, text))
                counts, kinds, seen = collections.Counter(), collections.Counter(), set()
                for _ in range(args.count * 4):
                    if sum(kinds.values()) == args.count or not choices:
                        break
                    # Half of the mutants are bits of look-up tables.
                    kind = "LUT bit" if "LUT bit" in choices and rng.random() < 0.5 else rng.choice(sorted(choices))
                    at, text = rng.choice(choices[kind])
                    if (at, text) in seen:
                        continue
                    seen.add((at, text))
                    kinds[kind] += 1
                    mutant = cells.replaced(at, text)
                    net.write_text(mutant)
                    code, _, said = table.run(prove, 100, log)
                    verdict = verdict_of(mutant, table.counterexample(said) if code == 1 else ())
                    outcome = {(0, "equal"): "equal", (1, "differs"): "different", (1, "equal"): "only", (1, "unknown"): "different"}.get((code, verdict))
                    if outcome is None:
                        outcome = "wrong" if code == 0 and verdict == "differs" else "undecided" if code == 5 else f"{code} {verdict}"
                    counts[outcome] += 1
                    if outcome not in ("equal", "different"):
                        kept = pathlib.Path(args.keep) / f"{re.sub(r'[^A-Za-z0-9]+', '_', name)}_{family}_{len(seen)}_{outcome.replace(' ', '_')}"
                        kept.mkdir(parents=True, exist_ok=True)
                        (kept / "net.v").write_text(mutant)
                        (kept / "why").write_text(f"{kind}: {cells.all[at][0]}\n{original[cells.all[at][1]:cells.all[at][2]]}\n{text}\n{said}\n{model}\n")
                        shutil.copy(rtl, kept)
                    if outcome == "wrong":
                        wrong.append(f"{name} {family}: {kind}")
                others = {o: n for o, n in counts.items() if o not in ("different", "equal", "only", "wrong", "undecided")}
                print(f"| {name} | {family} | {sum(counts.values())} | {counts['different']} | {counts['equal']} | {counts['only']} | {counts['wrong']} | {counts['undecided']} | {', '.join(f'{k} {n}' for k, n in sorted(kinds.items()))}{f' {others}' if others else ''} |", flush=True)
                totals.update(counts)
                totals.update({f"kind {k}": n for k, n in kinds.items()})
    print("\n" + ", ".join(f"{what} {n}" for what, n in sorted(totals.items())))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
