#!/usr/bin/env python3
"""Verdicts of `prove` held against other programs: yosys and ABC, and the SMT solvers z3, bitwuzla and cvc5.

    benches/proof/solvers.py --program target/release/alir2hdl --out agree.tsv [--count 200] [--seed 1] GROUP=PATH...

A case is a model, a level, and the combinational Verilog that the program writes at this level, in every second case with one
place of it changed. The others read that text by yosys and compare it with the text of the same model at -O0 in a file of its
own: a miter whose one output is 1 where an output differs, as gates. ABC decides the gates as they are (`&cec`-like, by
`dcec` of the miter), the solvers decide the same gates as SMT-LIB 2. What a solver has not decided after --seconds is not
counted for or against it. One case where a solver and `prove` disagree ends the run with exit code 1.

Needs yosys and berkeley-abc on the PATH, and the Python packages z3-solver, bitwuzla and cvc5 for those that are to be asked
(what is not installed is named and left out). benches/proof/measure.py names the models.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from measure import is_machine, models, operations

CHANGES = [
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r"\? (\w+'d0) : ", r"? ~\1 : "),
    (r"'h([0-9a-f]*)0\b", r"'h\g<1>1"),
    (r"\[(\d+):(\d+)\];", lambda m: f"[{m[1]}:{m[2]}] ^ 1'd1;"),
    (r" \^ ", " | "),
    (r" & ", " | "),
    (r"{{(\d+){", lambda m: "{{%d{" % max(1, int(m[1]) - 1)),
]


def changed(text, rng):
    """The text with one place of its body changed, or nothing where none of the changes fits."""
    body = text.index(");\n")
    places = []
    for at, (pattern, _) in enumerate(CHANGES):
        places += [(at, m.start()) for m in re.finditer(pattern, text) if m.start() > body and "//" not in text[text.rfind("\n", 0, m.start()) : m.start()]]
    if not places:
        return None
    at, start = rng.choice(places)
    pattern, new = CHANGES[at]
    return text[:start] + re.sub(pattern, new, text[start:], count=1)


def miter(folder, gold, gate):
    """The miter of two texts as ASCII AIGER, by yosys; nothing where yosys does not read the second."""
    script = f"""
read_verilog {gold}
hierarchy -top gold
proc; memory_map; opt
design -stash a
read_verilog {gate}
hierarchy -top gate
proc; memory_map; opt
design -stash b
design -copy-from a -as gold gold
design -copy-from b -as gate gate
miter -equiv -flatten gold gate miter
hierarchy -top miter
techmap; opt; aigmap; opt_clean
write_aiger -ascii {folder}/miter.aag
write_aiger {folder}/miter.aig
"""
    (folder / "miter.ys").write_text(script)
    done = subprocess.run(["yosys", "-q", "-s", folder / "miter.ys"], capture_output=True, text=True, cwd=folder)
    return None if done.returncode else folder / "miter.aag"


def smt(aag):
    """The question whether the one output of an ASCII AIGER file can be 1, as SMT-LIB 2."""
    lines = aag.read_text().splitlines()
    _, inputs, latches, outputs, gates = map(int, lines[0].split()[1:6])
    assert latches == 0 and outputs == 1
    at = 1
    out = ["(set-logic QF_UF)"]
    for line in lines[at : at + inputs]:
        out.append(f"(declare-const x{int(line) // 2} Bool)")
    at += inputs
    top = int(lines[at])
    word = lambda lit: ("true" if lit else "false") if lit < 2 else f"(not x{lit // 2})" if lit & 1 else f"x{lit // 2}"
    for line in lines[at + 1 : at + 1 + gates]:
        gate, a, b = map(int, line.split())
        out.append(f"(define-fun x{gate // 2} () Bool (and {word(a)} {word(b)}))")
    return "\n".join([*out, f"(assert {word(top)})", "(check-sat)"])


Z3 = "import sys, z3; s = z3.Solver(); s.from_file(sys.argv[1]); print(s.check())"
BITWUZLA = """
import sys, bitwuzla
o = bitwuzla.Options(); t = bitwuzla.TermManager(); p = bitwuzla.Parser(t, o)
p.parse(sys.argv[1], True)
print(str(p.bitwuzla().check_sat()))
"""
CVC5 = """
import sys, cvc5
t = cvc5.TermManager(); s = cvc5.Solver(t); p = cvc5.InputParser(s)
p.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.argv[1])
m = p.getSymbolManager()
while True:
    c = p.nextCommand()
    if c.isNull(): break
    print(str(c.invoke(s, m)).strip())
"""


def asked(command, seconds):
    """What a program says within a limit of CPU time."""
    limit = ["prlimit", f"--cpu={seconds}"]
    return subprocess.run([*limit, *command], capture_output=True, text=True).stdout


def solvers(folder, seconds):
    """Who says what of the miter: True for equal, False for different, None for undecided."""
    question = folder / "miter.smt2"
    question.write_text(smt(folder / "miter.aag"))
    said = {}
    abc = asked(["berkeley-abc", "-q", f"read {folder}/miter.aig; dprove; print_status"], seconds)
    said["abc"] = True if "UNSATISFIABLE" in abc or "Networks are equivalent" in abc else False if "SATISFIABLE" in abc else None
    for name, code in [("z3", Z3), ("bitwuzla", BITWUZLA), ("cvc5", CVC5)]:
        answer = asked([sys.executable, "-c", code, question], seconds).lower().split()
        said[name] = True if "unsat" in answer or "result.unsat" in answer else False if "sat" in answer or "result.sat" in answer else None
    return said


def one(args, rng, path, level, folder):
    """A case: what `prove` says, and what the others say."""
    write = [args.program, str(path), "-q", "--verilog"]
    for name, more in [("gold", ["-O0"]), ("gate", [f"-O{level}"])]:
        done = subprocess.run([*write, f"{folder}/{name}.v", "--top", name, *more], capture_output=True, text=True)
        if done.returncode:
            return None
    gate = folder / "gate.v"
    mutant = rng.random() < 0.5
    if mutant:
        text = changed(gate.read_text(), rng)
        if text is None:
            return None
        gate.write_text(text)
    proved = subprocess.run([args.program, "prove", str(path), str(gate), "--top", "gate", "--json"], capture_output=True, text=True)
    try:
        verdict = json.loads(proved.stdout)["verdict"]
    except (ValueError, KeyError):
        return None
    if miter(folder, folder / "gold.v", gate) is None:
        return None
    return mutant, verdict, solvers(folder, args.seconds)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("models", nargs="+", metavar="GROUP=PATH")
    ask.add_argument("--program", default="target/release/alir2hdl")
    ask.add_argument("--out", required=True)
    ask.add_argument("--count", type=int, default=200)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--most", type=int, default=600, help="operations of a model")
    ask.add_argument("--seconds", type=int, default=20, help="CPU seconds of one solver for one case")
    args = ask.parse_args()
    args.program = str(Path(args.program).resolve())
    paths = [path for argument in args.models for path in models(argument.split("=", 1)[1]) if not is_machine(path)]
    paths = [path for path in paths if 0 < operations(args.program, path) <= args.most]
    rng = random.Random(args.seed)
    counts, bad = Counter(), 0
    with open(args.out, "w") as out, tempfile.TemporaryDirectory() as scratch:
        done = 0
        while done < args.count:
            path, level = rng.choice(paths), rng.choice("012")
            case = one(args, rng, path, level, Path(scratch))
            if case is None:
                continue
            done += 1
            mutant, verdict, said = case
            wrong = [n for n, v in said.items() if v is not None and verdict != "unknown" and v != (verdict == "proved")]
            bad += bool(wrong)
            counts[verdict] += 1
            for name, value in said.items():
                word = "undecided" if value is None else "prove undecided" if verdict == "unknown" else "disagrees" if name in wrong else "agrees"
                counts[f"{name} {word}"] += 1
            answers = " ".join(f"{n}={v}" for n, v in said.items())
            print(path, f"-O{level}", "changed" if mutant else "as written", verdict, answers, *wrong, sep="\t", file=out, flush=True)
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
